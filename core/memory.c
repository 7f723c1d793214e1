/* The memory of a context. Every piece, output or scratch, is a block in one table. A freed block is kept for the next
 * call, because fresh pages cost more than most kernels. Used and kept bytes together stay below 1.25 times the largest
 * use so far plus 16 MiB, and never exceed the budget. */
#include "memory.h"
#include "cuda.h"
#include "machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    align = 64,
    huge_page = 2 << 20,
    keep_more = 16 << 20,    /* the 16 MiB above: small differences in size must not free large blocks */
    huge_from = 4 << 20,     /* blocks of this size and more ask for huge pages */
    checked_from = 64 << 20, /* blocks of this size and more are first compared with the free memory */
};

/* ---- the default allocator ---- */

/* Maps pages that begin at a multiple of a huge page, and unmaps the pages mapped only for that alignment. */
static void *map_huge(size_t bytes) {
    size_t mapped = bytes + huge_page;
    char *start = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return NULL;
    }
    size_t before = (huge_page - (uintptr_t)start % huge_page) % huge_page;
    char *aligned = start + before;
    if (before > 0) {
        munmap(start, before);
    }
    if (mapped - before > bytes) {
        munmap(aligned + bytes, mapped - before - bytes);
    }
    (void)madvise(aligned, bytes, MADV_HUGEPAGE);
    return aligned;
}

static size_t whole_pages(size_t bytes) { return (bytes + 4095) & ~(size_t)4095; }

void *lsp_default_alloc(void *user, size_t bytes, lsp_where where) {
    if (where == LSP_CUDA) {
        return lsp_cuda_malloc(user, bytes);
    }
    if (bytes >= checked_from && (int64_t)bytes > lsp_machine_available_memory()) {
        return NULL; /* the system would grant it and kill the process when it touches the pages */
    }
    if (LSP_KEEP_BLOCKS && bytes >= huge_from) {
        return map_huge(whole_pages(bytes));
    }
    void *memory = NULL; /* aligned_alloc needs a multiple of the alignment */
    return posix_memalign(&memory, align, bytes) == 0 ? memory : NULL;
}

void lsp_default_free(void *user, void *memory, size_t bytes, lsp_where where) {
    if (where == LSP_CUDA) {
        lsp_cuda_free(user, memory);
    } else if (LSP_KEEP_BLOCKS && bytes >= huge_from) {
        munmap(memory, whole_pages(bytes));
    } else {
        free(memory);
    }
}

/* ---- blocks ---- */

static void *hook_alloc(lsp_ctx *ctx, size_t bytes, lsp_where where) {
    return ctx->options.allocator.alloc(ctx->options.allocator.user, bytes, where);
}
static void hook_free(lsp_ctx *ctx, void *memory, size_t bytes, lsp_where where) {
    ctx->options.allocator.free(ctx->options.allocator.user, memory, bytes, where);
}

/* Doubles a table's capacity if one more item does not fit. False: out of memory. */
static bool grow(lsp_ctx *ctx, void **table, size_t *capacity, size_t count, size_t item_bytes) {
    if (count < *capacity) {
        return true;
    }
    size_t more = *capacity ? 2 * *capacity : 64;
    void *wider = hook_alloc(ctx, more * item_bytes, LSP_HOST);
    if (!wider) {
        return false;
    }
    if (*table) {
        memcpy(wider, *table, *capacity * item_bytes);
        hook_free(ctx, *table, *capacity * item_bytes, LSP_HOST);
    }
    *table = wider;
    *capacity = more;
    return true;
}

/* Gives a block back to its owner, the allocator or a caller. A caller may use its array elsewhere at once, so the GPU
 * must be done with it. */
static void give_back(lsp_ctx *ctx, const lsp_block *block) {
    if (!block->release) {
        hook_free(ctx, block->memory, block->bytes, block->where);
        return;
    }
    if (block->where == LSP_CUDA) {
        (void)lsp_cuda_wait(ctx);
    }
    block->release(block->release_user, block->memory);
}

/* Takes a block out of the table; the others keep their order. */
static lsp_block take_out(lsp_ctx *ctx, size_t i) {
    const lsp_block block = ctx->blocks[i];
    ctx->block_count--;
    memmove(ctx->blocks + i, ctx->blocks + i + 1, (ctx->block_count - i) * sizeof *ctx->blocks);
    return block;
}

static void drop_block(lsp_ctx *ctx, size_t i) {
    const lsp_block block = take_out(ctx, i);
    ctx->space[block.where].kept -= (int64_t)block.bytes;
    give_back(ctx, &block);
}

/* Frees kept blocks of `where`, the oldest first, until at most `most` bytes are kept. */
static void trim_to(lsp_ctx *ctx, lsp_where where, int64_t most) {
    for (size_t i = 0; i < ctx->block_count && ctx->space[where].kept > most;) {
        if (ctx->blocks[i].used || ctx->blocks[i].where != where) {
            i++;
        } else {
            drop_block(ctx, i);
        }
    }
}

/* The most bytes that may stay kept if `wanted` more are taken. */
static int64_t most_kept(const lsp_ctx *ctx, lsp_where where, int64_t wanted) {
    const lsp_space *space = &ctx->space[where];
    int64_t held = space->high + space->high / 4 + keep_more;
    if (ctx->options.max_bytes > 0) {
        held = lsp_min(held, ctx->options.max_bytes);
    }
    return LSP_KEEP_BLOCKS ? lsp_max(held - space->used - wanted, 0) : 0;
}

void lsp_memory_trim(lsp_ctx *ctx) {
    trim_to(ctx, LSP_HOST, 0);
    trim_to(ctx, LSP_CUDA, 0);
}

/* ---- plans: they may outlive the context ---- */

void lsp_plan_begin(lsp_plan_life *life, lsp_ctx **ctx, void *plan) {
    *life = (lsp_plan_life){.ctx = ctx, .plan = plan, .next = (*ctx)->plans, .link = &(*ctx)->plans};
    if (life->next) {
        life->next->link = &life->next;
    }
    (*ctx)->plans = life;
}

void lsp_plan_free(lsp_plan_life *life) {
    lsp_ctx *ctx = *life->ctx;
    if (!ctx) {
        life->allocator.free(life->allocator.user, life->plan, life->bytes, LSP_HOST);
        return;
    }
    *life->link = life->next;
    if (life->next) {
        life->next->link = life->link;
    }
    lsp_free(ctx, life->plan);
}

/* The context is being destroyed before this plan: takes the plan's struct out of the context's blocks. */
static void release_plan(lsp_ctx *ctx, lsp_plan_life *life) {
    size_t i = 0;
    while (ctx->blocks[i].memory != life->plan) {
        i++;
    }
    life->allocator = ctx->options.allocator;
    life->bytes = take_out(ctx, i).bytes;
    *life->ctx = NULL;
}

void lsp_memory_close(lsp_ctx *ctx) {
    for (lsp_plan_life *life = ctx->plans; life; life = life->next) {
        release_plan(ctx, life);
    }
    for (size_t i = 0; i < ctx->block_count; i++) {
        give_back(ctx, &ctx->blocks[i]);
    }
    if (ctx->blocks) {
        hook_free(ctx, ctx->blocks, ctx->block_capacity * sizeof *ctx->blocks, LSP_HOST);
    }
    if (ctx->scratch) {
        hook_free(ctx, ctx->scratch, ctx->scratch_capacity * sizeof *ctx->scratch, LSP_HOST);
    }
}

/* The smallest kept block of `bytes` to 1.5 * `bytes` bytes; block_count if no block fits. */
static size_t find_kept(const lsp_ctx *ctx, lsp_where where, size_t bytes) {
    size_t best = ctx->block_count;
    for (size_t i = 0; i < ctx->block_count; i++) {
        const lsp_block *block = &ctx->blocks[i];
        if (!block->used && block->where == where && block->bytes >= bytes && block->bytes <= bytes + bytes / 2 &&
            (best == ctx->block_count || block->bytes < ctx->blocks[best].bytes)) {
            best = i;
        }
    }
    return best;
}

static lsp_status take_block(lsp_ctx *ctx, lsp_where where, size_t bytes, void **memory) {
    lsp_space *space = &ctx->space[where];
    size_t i = find_kept(ctx, where, bytes);
    if (i < ctx->block_count) {
        space->kept -= (int64_t)ctx->blocks[i].bytes;
    } else {
        int64_t most = ctx->options.max_bytes, wanted = (int64_t)bytes;
        if (most > 0 && space->used > most - wanted) {
            return lsp_fail(ctx, LSP_ERR_MEMORY,
                            "%s more are needed beside %s in use: %s together, and the budget is %s",
                            lsp_size(wanted).text, lsp_size(space->used).text, lsp_size(space->used + wanted).text,
                            lsp_size(most).text);
        }
        trim_to(ctx, where, most_kept(ctx, where, wanted));
        void *fresh = grow(ctx, (void **)&ctx->blocks, &ctx->block_capacity, ctx->block_count, sizeof *ctx->blocks)
                          ? hook_alloc(ctx, bytes, where)
                          : NULL;
        if (!fresh && space->kept > 0) {
            trim_to(ctx, where, 0);
            fresh = hook_alloc(ctx, bytes, where);
        }
        if (!fresh) {
            return lsp_fail(ctx, LSP_ERR_MEMORY, "out of %s memory: %s more are needed beside %s in use",
                            where == LSP_CUDA ? "GPU" : "host", lsp_size(wanted).text, lsp_size(space->used).text);
        }
        i = ctx->block_count++;
        ctx->blocks[i] = (lsp_block){.memory = fresh, .bytes = bytes, .where = where};
    }
    ctx->blocks[i].used = true;
    space->used += (int64_t)ctx->blocks[i].bytes;
    space->peak = lsp_max(space->peak, space->used);
    space->high = lsp_max(space->high, space->used);
    *memory = ctx->blocks[i].memory;
    return LSP_OK;
}

lsp_status lsp_alloc(lsp_ctx *ctx, lsp_where where, int64_t count, size_t item_bytes, void **memory) {
    int64_t bytes;
    if (count < 0 || !lsp_mul(count, (int64_t)item_bytes, &bytes) || !lsp_add(bytes, align - 1, &bytes)) {
        return lsp_fail(ctx, LSP_ERR_OVERFLOW, "%lld items of %zu bytes are more than can be addressed",
                        (long long)count, item_bytes);
    }
    if (count == 0 || item_bytes == 0) {
        *memory = NULL;
        return LSP_OK;
    }
    return take_block(ctx, where, (size_t)bytes / align * align, memory);
}

static lsp_block *find_used(const lsp_ctx *ctx, const void *memory) {
    for (size_t i = memory ? ctx->block_count : 0; i-- > 0;) {
        if (ctx->blocks[i].memory == memory && ctx->blocks[i].used && !ctx->blocks[i].group) {
            return &ctx->blocks[i];
        }
    }
    return NULL;
}

bool lsp_owns(const lsp_ctx *ctx, const void *memory) { return find_used(ctx, memory) != NULL; }

void lsp_free(lsp_ctx *ctx, void *memory) {
    lsp_block *block = find_used(ctx, memory);
    if (block && block->release) {
        const lsp_block adopted = take_out(ctx, (size_t)(block - ctx->blocks));
        give_back(ctx, &adopted);
    } else if (block) {
        lsp_space *space = &ctx->space[block->where];
        block->used = false;
        space->used -= (int64_t)block->bytes;
        space->kept += (int64_t)block->bytes;
        trim_to(ctx, block->where, most_kept(ctx, block->where, 0));
    }
}

/* ---- memory that several structs share ---- */

void lsp_make_joint(lsp_ctx *ctx, void *const arrays[3], int64_t sharers) {
    for (int a = 0; a < 3; a++) {
        lsp_block *block = find_used(ctx, arrays[a]);
        if (block) {
            block->group = arrays[0];
            block->sharers = sharers;
        }
    }
}

lsp_joint lsp_joint_at(const lsp_ctx *ctx, const void *address) {
    const uintptr_t at = (uintptr_t)address;
    for (size_t i = ctx->block_count; i-- > 0;) {
        const lsp_block *block = &ctx->blocks[i];
        if (block->group && at >= (uintptr_t)block->memory && at - (uintptr_t)block->memory < block->bytes) {
            return (lsp_joint){.group = block->group, .sharers = block->sharers};
        }
    }
    return (lsp_joint){0};
}

void lsp_free_joint(lsp_ctx *ctx, const void *group) {
    for (size_t i = group ? ctx->block_count : 0; i-- > 0;) {
        if (ctx->blocks[i].group == group) {
            ctx->blocks[i].group = NULL;
            lsp_free(ctx, ctx->blocks[i].memory);
            i = ctx->block_count; /* lsp_free may have moved the others */
        }
    }
}

/* ---- memory that changes its owner ---- */

lsp_status lsp_adopt(lsp_ctx *ctx, lsp_where where, void *const arrays[3], void (*release)(void *user, void *memory),
                     void *user) {
    enum { most = 3 };
    if (!grow(ctx, (void **)&ctx->blocks, &ctx->block_capacity, ctx->block_count + most - 1, sizeof *ctx->blocks)) {
        return lsp_fail(ctx, LSP_ERR_MEMORY, "out of host memory: no room for the list of %zu pieces of memory",
                        ctx->block_count + most);
    }
    for (int i = 0; i < most; i++) {
        if (arrays[i]) {
            ctx->blocks[ctx->block_count++] = (lsp_block){
                .memory = arrays[i], .where = where, .used = true, .release = release, .release_user = user};
        }
    }
    return LSP_OK;
}

bool lsp_adopted(const lsp_ctx *ctx, const void *memory) {
    const lsp_block *block = find_used(ctx, memory);
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
    const lsp_block *used = find_used(ctx, memory);
    if (!used) {
        return (lsp_array){0};
    }
    const lsp_block block = take_out(ctx, (size_t)(used - ctx->blocks));
    lsp_allocator allocator = ctx->options.allocator;
    if (allocator.free == lsp_default_free) {
        allocator = (lsp_allocator){.free = free_detached, .user = (void *)(intptr_t)ctx->options.ordinal};
    }
    ctx->space[block.where].used -= (int64_t)block.bytes;
    return (lsp_array){.memory = block.memory, .bytes = block.bytes, .where = block.where, .allocator = allocator};
}

/* ---- scratch ---- */

size_t lsp_scratch_mark(const lsp_ctx *ctx) { return ctx->scratch_count; }

void lsp_scratch_release(lsp_ctx *ctx, size_t mark) {
    while (ctx->scratch_count > mark) {
        lsp_free(ctx, ctx->scratch[--ctx->scratch_count]);
    }
}

lsp_status lsp_scratch_at(lsp_ctx *ctx, lsp_where where, int64_t count, size_t item_bytes, void **memory) {
    if (!grow(ctx, (void **)&ctx->scratch, &ctx->scratch_capacity, ctx->scratch_count, sizeof *ctx->scratch)) {
        return lsp_fail(ctx, LSP_ERR_MEMORY, "out of host memory: no room for the list of %zu pieces of scratch",
                        ctx->scratch_count + 1);
    }
    lsp_status status = lsp_alloc(ctx, where, count, item_bytes, memory);
    if (status == LSP_OK && *memory) {
        ctx->scratch[ctx->scratch_count++] = *memory;
    }
    return status;
}

lsp_status lsp_scratch_bytes(lsp_ctx *ctx, int64_t count, size_t item_bytes, bool zero, void **memory) {
    lsp_status status = lsp_scratch_at(ctx, LSP_HOST, count, item_bytes, memory);
    if (status == LSP_OK && zero && *memory) {
        memset(*memory, 0, (size_t)count * item_bytes);
    }
    return status;
}

int64_t lsp_available_bytes(lsp_ctx *ctx, lsp_where where) {
    if (ctx->options.max_bytes > 0) {
        return lsp_max(ctx->options.max_bytes - ctx->space[where].used, 0);
    }
    if (where == LSP_HOST) {
        return lsp_machine_available_memory() + ctx->space[LSP_HOST].kept;
    }
    int64_t total = 0, available = 0;
    return lsp_cuda_describe(ctx, NULL, 0, &total, &available) == LSP_OK ? available + ctx->space[LSP_CUDA].kept : 0;
}
