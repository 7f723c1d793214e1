/* Memory of a context that several structs share, memory that changes its owner, and arrays without an owner. */
#include "cuda.h"
#include "memory.h"
#include <string.h>

/* ---- memory that several structs share ---- */

void lsp_make_joint(lsp_ctx *ctx, void *const *arrays, int64_t n, int64_t sharers) {
    for (int64_t a = 0; a < n; a++) {
        lsp_block *block = lsp_block_find(ctx, arrays[a]);
        if (block) {
            block->group = arrays[0];
            block->sharers = sharers;
        }
    }
}

lsp_joint lsp_joint_at(const lsp_ctx *ctx, const void *address) {
    const uintptr_t at = (uintptr_t)address;
    const size_t slot = ctx->used_slots > 0 && address ? lsp_block_slot(ctx, address) : 0; /* a block may begin there */
    for (size_t n = 0; n < ctx->used_slots; n++) {
        const size_t i = (slot + n) % ctx->used_slots;
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
            /* lsp_free may have moved another to this place, but none to one before */
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

/* ---- arrays ---- */

static lsp_status check_where(lsp_ctx *ctx, lsp_where where) {
    LSP_REQUIRE(where == LSP_HOST || where == LSP_CUDA, LSP_ERR_ARGUMENT, "there is no place %d for an array",
                (int)where);
    LSP_REQUIRE(where == LSP_HOST || ctx->options.device == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the context works on the host: it has no arrays on a GPU");
    return LSP_OK;
}

lsp_status lsp_array_create(lsp_ctx *ctx, size_t bytes, lsp_where where, lsp_array *array) {
    void *memory;
    LSP_REQUIRE(ctx && array, LSP_ERR_ARGUMENT, "the context or the place for the array is NULL");
    LSP_TRY(check_where(ctx, where));
    LSP_REQUIRE(bytes <= INT64_MAX, LSP_ERR_OVERFLOW, "%zu bytes are more than can be addressed", bytes);
    LSP_TRY(lsp_alloc(ctx, where, (int64_t)bytes, 1, &memory));
    const lsp_status status = where == LSP_CUDA ? lsp_cuda_wait(ctx) : LSP_OK; /* then any stream may use the memory */
    if (status == LSP_OK) {
        *array = memory ? lsp_detach(ctx, memory) : (lsp_array){.where = where};
    } else {
        lsp_free(ctx, memory);
    }
    return status;
}

lsp_status lsp_array_copy(lsp_ctx *ctx, void *to, lsp_where to_where, const void *from, lsp_where from_where,
                          size_t bytes) {
    LSP_REQUIRE(ctx && (bytes == 0 || (to && from)), LSP_ERR_ARGUMENT, "the context or one of the arrays is NULL");
    LSP_TRY(check_where(ctx, to_where));
    LSP_TRY(check_where(ctx, from_where));
    LSP_REQUIRE(bytes <= INT64_MAX, LSP_ERR_OVERFLOW, "%zu bytes are more than can be addressed", bytes);
    const uintptr_t at = (uintptr_t)to, source = (uintptr_t)from;
    LSP_REQUIRE(to_where != from_where || at - source >= bytes || bytes == 0, LSP_ERR_ARGUMENT, "both arrays overlap");
    LSP_REQUIRE(to_where != from_where || source - at >= bytes || bytes == 0, LSP_ERR_ARGUMENT, "both arrays overlap");
    if (to_where == LSP_CUDA || from_where == LSP_CUDA) {
        LSP_TRY(lsp_cuda_copy(ctx, to, to_where, from, from_where, (int64_t)bytes));
    } else if (bytes > 0) {
        memcpy(to, from, bytes);
    }
    return LSP_OK;
}

void lsp_array_free(lsp_array *array) {
    if (array) {
        const lsp_array old = *array;
        *array = (lsp_array){0};
        if (old.memory) {
            old.allocator.free(old.allocator.user, old.memory, old.bytes, old.where);
        }
    }
}
