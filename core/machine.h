/* The machine's name and memory. */
#pragma once

#include "core.h"

int64_t lsp_machine_memory(void);           /* bytes that this process may use in all */
int64_t lsp_machine_available_memory(void); /* bytes still free, within the limits of the control group */
void lsp_machine_name(char *name, size_t bytes);
