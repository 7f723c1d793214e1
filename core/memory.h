/* The memory of a context, for files of core; core.h has the part for other rooms. */
#ifndef LSP_CORE_MEMORY_H
#define LSP_CORE_MEMORY_H

#include "core.h"

/* Are freed blocks kept for the next call? Not under the address sanitizer, which must see every use after free. */
#if defined(__SANITIZE_ADDRESS__)
#define LSP_KEEP_BLOCKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LSP_KEEP_BLOCKS 0
#endif
#endif
#ifndef LSP_KEEP_BLOCKS
#define LSP_KEEP_BLOCKS 1
#endif

/* The allocator of a context whose options have none; `user` is the context. */
void *lsp_default_alloc(void *user, size_t bytes, lsp_where where);
void lsp_default_free(void *user, void *memory, size_t bytes, lsp_where where);

void lsp_memory_trim(lsp_ctx *ctx);  /* frees the kept blocks */
void lsp_memory_close(lsp_ctx *ctx); /* frees all blocks */

#endif
