/* The memory of a context; what other folders use of it is in core.h. */
#ifndef LSP_CORE_MEMORY_H
#define LSP_CORE_MEMORY_H

#include "core.h"

/* Are blocks that were given back kept for the next call? */
#if defined(__SANITIZE_ADDRESS__)
#define LSP_KEEP_BLOCKS 0 /* so that the sanitizer sees every use after the end */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LSP_KEEP_BLOCKS 0
#endif
#endif
#ifndef LSP_KEEP_BLOCKS
#define LSP_KEEP_BLOCKS 1
#endif

/* The allocator of a context that was given none. */
void *lsp_default_alloc(void *user, size_t bytes, lsp_where where);
void lsp_default_free(void *user, void *memory, size_t bytes, lsp_where where);

void lsp_memory_trim(lsp_ctx *ctx);  /* gives back what is kept */
void lsp_memory_close(lsp_ctx *ctx); /* gives back everything */

#endif
