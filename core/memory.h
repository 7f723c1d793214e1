/* The memory of a context, for files of core; core.h has the part for other rooms. */
#pragma once

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

/* The blocks in use. _slot: the slot of an address, or the empty one where it would be, once there are slots. _find:
 * the block that begins at this address and is not shared, or NULL. _take: takes it out of the table, where others may
 * move. _room: makes room for a few more; false: out of memory. _put: there is room. */
size_t lsp_block_slot(const lsp_ctx *ctx, const void *memory);
lsp_block *lsp_block_find(const lsp_ctx *ctx, const void *memory);
lsp_block lsp_block_take(lsp_ctx *ctx, const lsp_block *block);
bool lsp_block_room(lsp_ctx *ctx, size_t more);
void lsp_block_put(lsp_ctx *ctx, lsp_block block);

void lsp_plans_outlive(lsp_ctx *ctx); /* the context ends before its plans: takes their structs out of the blocks */
void lsp_memory_trim(lsp_ctx *ctx);   /* frees the kept blocks */
void lsp_memory_close(lsp_ctx *ctx);  /* frees all blocks */
