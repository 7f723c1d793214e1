/* What the machine is and how much of it is free. */
#ifndef LSP_CORE_MACHINE_H
#define LSP_CORE_MACHINE_H

#include "core.h"

int64_t lsp_machine_memory(void);           /* bytes this process may use in all */
int64_t lsp_machine_available_memory(void); /* bytes still free for it, control group limits heeded */
void lsp_machine_name(char *name, size_t bytes);

#endif
