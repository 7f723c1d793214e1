/* The memory of a context; what other folders use of it is in core.h. */
#ifndef LSP_CORE_MEMORY_H
#define LSP_CORE_MEMORY_H

#include "core.h"

/* The allocator of a context that was given none. */
void *lsp_default_alloc(void *user, size_t bytes, lsp_where where);
void lsp_default_free(void *user, void *memory, size_t bytes, lsp_where where);

void lsp_memory_trim(lsp_ctx *ctx);  /* gives back what is kept */
void lsp_memory_close(lsp_ctx *ctx); /* gives back everything */

#endif
