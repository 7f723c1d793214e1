/* Memory of a context that several structs share, and memory that changes its owner. */
#include "cuda.h"
#include "memory.h"

/* ---- memory that several structs share ---- */

void lsp_make_joint(lsp_ctx *ctx, void *const arrays[3], int64_t sharers) {
    for (int a = 0; a < 3; a++) {
        lsp_block *block = lsp_block_find(ctx, arrays[a]);
        if (block) {
            block->group = arrays[0];
            block->sharers = sharers;
        }
    }
}

lsp_joint lsp_joint_at(const lsp_ctx *ctx, const void *address) {
    const uintptr_t at = (uintptr_t)address;
    for (size_t i = 0; i < ctx->used_slots; i++) {
        const lsp_block *block = &ctx->used[i];
        if (block->group && at >= (uintptr_t)block->memory && at - (uintptr_t)block->memory < block->bytes) {
            const lsp_block *first = &ctx->used[lsp_block_slot(ctx, block->group)];
            return (lsp_joint){.group = block->group, .bytes = first->bytes, .sharers = block->sharers};
        }
    }
    return (lsp_joint){0};
}

void lsp_free_joint(lsp_ctx *ctx, const void *group) {
    for (size_t i = 0; group && i < ctx->used_slots;) {
        if (ctx->used[i].group == group) {
            ctx->used[i].group = NULL;
            lsp_free(ctx, ctx->used[i].memory);
            i = 0; /* lsp_free may have moved the others */
        } else {
            i++;
        }
    }
}

/* ---- memory that changes its owner ---- */

lsp_status lsp_adopt(lsp_ctx *ctx, lsp_where where, void *const arrays[3], void (*release)(void *user, void *memory),
                     void *user) {
    enum { most = 3 };
    if (!lsp_block_room(ctx, most)) {
        return lsp_fail(ctx, LSP_ERR_MEMORY, "out of host memory: no room for the list of %zu pieces of memory",
                        ctx->used_count + most);
    }
    for (int i = 0; i < most; i++) {
        if (arrays[i]) {
            lsp_block_put(ctx,
                          (lsp_block){.memory = arrays[i], .where = where, .release = release, .release_user = user});
        }
    }
    return LSP_OK;
}

bool lsp_adopted(const lsp_ctx *ctx, const void *memory) {
    const lsp_block *block = lsp_block_find(ctx, memory);
    return block && block->release;
}

/* The default allocator's `user` is the context. Its host memory is freed without one; for GPU memory, `user` becomes
 * the number of the GPU. */
static void free_detached(void *user, void *memory, size_t bytes, lsp_where where) {
    if (where == LSP_CUDA) {
        lsp_cuda_free_detached((int)(intptr_t)user, memory);
    } else {
        lsp_default_free(NULL, memory, bytes, where);
    }
}

lsp_array lsp_detach(lsp_ctx *ctx, const void *memory) {
    const lsp_block *used = lsp_block_find(ctx, memory);
    if (!used) {
        return (lsp_array){0};
    }
    const lsp_block block = lsp_block_take(ctx, used);
    lsp_allocator allocator = ctx->options.allocator;
    if (allocator.free == lsp_default_free) {
        allocator = (lsp_allocator){.free = free_detached, .user = (void *)(intptr_t)ctx->options.ordinal};
    }
    ctx->space[block.where].used -= (int64_t)block.bytes;
    return (lsp_array){.memory = block.memory, .bytes = block.bytes, .where = block.where, .allocator = allocator};
}
