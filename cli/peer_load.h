/* Loads NVIDIA's libraries at run time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads "cusparse" or "cublas": a version that this program was built for, on the path or in /usr/local/cuda. Returns
 * NULL and writes a message to `why` if there is none. */
void *peer_load(const char *name, char *why, size_t why_bytes);

/* Finds function `name` and writes its address to *to, the place of a pointer. Returns false and writes a message. */
bool peer_resolve(void *library, const char *name, void *to, char *why, size_t why_bytes);
