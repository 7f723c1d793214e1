/* MKL, loaded at run time: from the file that LSP_BENCH_MKL names, else libmkl_rt.so where the system finds it. */
#pragma once

#include "peers.h"
#include <stddef.h>

/* False: not loaded. `why` says the reason; it is "" if LSP_BENCH_MKL is not set. */
#if BENCH_HAVE_MKL
bool peer_mkl_load(char *why, size_t why_bytes);
const char *peer_mkl_version(void); /* NULL: not loaded */
#else
#define peer_mkl_load(why, why_bytes) ((void)(why), (void)(why_bytes), false)
static inline const char *peer_mkl_version(void) { return NULL; }
#endif

extern const peer_product peer_mkl, peer_mkl_update; /* usable once it is loaded */
