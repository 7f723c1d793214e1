/* The memory of a context. Every piece in use, output or scratch, is a block in a hash table. A freed block is kept for
 * the next call, because fresh pages cost more than most kernels. Used and kept bytes together stay below 1.25 times
 * the largest use so far plus 16 MiB, and never exceed the budget. */
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

/* ---- the blocks in use: open addressing, at most half full; a slot without memory is empty ---- */

size_t lsp_block_slot(const lsp_ctx *ctx, const void *memory) {
    const size_t mask = ctx->used_slots - 1;
    size_t slot = (size_t)(((uint64_t)(uintptr_t)memory / align * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
    while (ctx->used[slot].memory && ctx->used[slot].memory != memory) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

bool lsp_block_room(lsp_ctx *ctx, size_t more) {
    const size_t before = ctx->used_slots, slots = before ? 2 * before : 64;
    lsp_block *const old = ctx->used;
    if (2 * (ctx->used_count + more) <= before) {
        return true;
    }
    lsp_block *wider = hook_alloc(ctx, slots * sizeof *wider, LSP_HOST);
    if (!wider) {
        return false;
    }
    memset(wider, 0, slots * sizeof *wider);
    ctx->used = wider;
    ctx->used_slots = slots;
    for (size_t i = 0; i < before; i++) {
        if (old[i].memory) {
            wider[lsp_block_slot(ctx, old[i].memory)] = old[i];
        }
    }
    if (old) {
        hook_free(ctx, old, before * sizeof *old, LSP_HOST);
    }
    return true;
}

static lsp_block *block_at(const lsp_ctx *ctx, const void *memory) { return &ctx->used[lsp_block_slot(ctx, memory)]; }

void lsp_block_put(lsp_ctx *ctx, lsp_block block) {
    block.next = block.holder ? block.holder->blocks : NULL;
    block.before = NULL;
    if (block.holder) {
        block.holder->blocks = block.memory;
        if (block.next) {
            block_at(ctx, block.next)->before = block.memory;
        }
    }
    *block_at(ctx, block.memory) = block;
    ctx->used_count++;
}

/* Takes it out of its plan's list. */
static void let_go(lsp_ctx *ctx, const lsp_block *block) {
    if (block->next) {
        block_at(ctx, block->next)->before = block->before;
    }
    if (block->before) {
        block_at(ctx, block->before)->next = block->next;
    } else if (block->holder) {
        block->holder->blocks = block->next;
    }
}

/* Blocks behind it move up if their search would end at its slot. */
lsp_block lsp_block_take(lsp_ctx *ctx, const lsp_block *taken) {
    const lsp_block block = *taken;
    const size_t slot = (size_t)(taken - ctx->used), mask = ctx->used_slots - 1;
    let_go(ctx, taken);
    ctx->used[slot] = (lsp_block){0};
    ctx->used_count--;
    for (size_t next = (slot + 1) & mask; ctx->used[next].memory; next = (next + 1) & mask) {
        const lsp_block moved = ctx->used[next];
        ctx->used[next] = (lsp_block){0};
        ctx->used[lsp_block_slot(ctx, moved.memory)] = moved;
    }
    return block;
}

/* ---- the blocks that are kept ---- */

static lsp_block take_kept(lsp_ctx *ctx, int i) {
    const lsp_block block = ctx->kept[i];
    ctx->kept_count--;
    memmove(ctx->kept + i, ctx->kept + i + 1, (size_t)(ctx->kept_count - i) * sizeof *ctx->kept);
    ctx->space[block.where].kept -= (int64_t)block.bytes;
    return block;
}

static void drop_kept(lsp_ctx *ctx, int i) {
    const lsp_block block = take_kept(ctx, i);
    give_back(ctx, &block);
}

static void keep(lsp_ctx *ctx, lsp_block block) {
    if (ctx->kept_count == LSP_MOST_KEPT) {
        drop_kept(ctx, 0);
    }
    ctx->kept[ctx->kept_count++] = block;
    ctx->space[block.where].kept += (int64_t)block.bytes;
}

/* Frees kept blocks of `where`, the oldest first, until at most `most` bytes are kept. */
static void trim_to(lsp_ctx *ctx, lsp_where where, int64_t most) {
    for (int i = 0; i < ctx->kept_count && ctx->space[where].kept > most;) {
        if (ctx->kept[i].where != where) {
            i++;
        } else {
            drop_kept(ctx, i);
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

void lsp_memory_close(lsp_ctx *ctx) {
    for (size_t i = 0; i < ctx->used_slots; i++) {
        if (ctx->used[i].memory) {
            give_back(ctx, &ctx->used[i]);
        }
    }
    lsp_memory_trim(ctx);
    if (ctx->used) {
        hook_free(ctx, ctx->used, ctx->used_slots * sizeof *ctx->used, LSP_HOST);
    }
    if (ctx->scratch) {
        hook_free(ctx, ctx->scratch, ctx->scratch_capacity * sizeof *ctx->scratch, LSP_HOST);
    }
}

/* ---- allocation ---- */

/* The smallest kept block of `bytes` to 1.5 * `bytes` bytes; -1 if no block fits. */
static int find_kept(const lsp_ctx *ctx, lsp_where where, size_t bytes) {
    int best = -1;
    for (int i = 0; i < ctx->kept_count; i++) {
        const lsp_block *block = &ctx->kept[i];
        if (block->where == where && block->bytes >= bytes && block->bytes <= bytes + bytes / 2 &&
            (best < 0 || block->bytes < ctx->kept[best].bytes)) {
            best = i;
        }
    }
    return best;
}

/* *block = one of the allocator. */
static lsp_status take_fresh(lsp_ctx *ctx, lsp_where where, size_t bytes, lsp_block *block) {
    const lsp_space *space = &ctx->space[where];
    const int64_t most = ctx->options.max_bytes, wanted = (int64_t)bytes;
    if (most > 0 && space->used > most - wanted) {
        return lsp_fail(ctx, LSP_ERR_MEMORY, "%s more are needed beside %s in use: %s together, and the budget is %s",
                        lsp_size(wanted).text, lsp_size(space->used).text, lsp_size(space->used + wanted).text,
                        lsp_size(most).text);
    }
    trim_to(ctx, where, most_kept(ctx, where, wanted));
    void *fresh = hook_alloc(ctx, bytes, where);
    if (!fresh && space->kept > 0) {
        trim_to(ctx, where, 0);
        fresh = hook_alloc(ctx, bytes, where);
    }
    if (!fresh) {
        return lsp_fail(ctx, LSP_ERR_MEMORY, "out of %s memory: %s more are needed beside %s in use",
                        where == LSP_CUDA ? "GPU" : "host", lsp_size(wanted).text, lsp_size(space->used).text);
    }
    *block = (lsp_block){.memory = fresh, .bytes = bytes, .where = where};
    return LSP_OK;
}

static lsp_status take_block(lsp_ctx *ctx, lsp_where where, size_t bytes, lsp_plan_life *holder, void **memory) {
    lsp_space *space = &ctx->space[where];
    lsp_block block;
    const int kept = find_kept(ctx, where, bytes);
    LSP_REQUIRE(lsp_block_room(ctx, 1), LSP_ERR_MEMORY,
                "out of host memory: no room for the list of %zu pieces of memory", ctx->used_count + 1);
    if (kept >= 0) {
        block = take_kept(ctx, kept);
    } else {
        LSP_TRY(take_fresh(ctx, where, bytes, &block));
    }
    block.holder = holder;
    lsp_block_put(ctx, block);
    space->used += (int64_t)block.bytes;
    space->peak = lsp_max(space->peak, space->used);
    space->high = lsp_max(space->high, space->used);
    *memory = block.memory;
    return LSP_OK;
}

static lsp_status allocate(lsp_ctx *ctx, lsp_where where, int64_t count, size_t item_bytes, lsp_plan_life *holder,
                           void **memory) {
    int64_t bytes;
    if (lsp_go_on(ctx) != LSP_OK) {
        return LSP_ERR_CANCELLED;
    }
    if (count < 0 || !lsp_mul(count, (int64_t)item_bytes, &bytes) || !lsp_add(bytes, align - 1, &bytes)) {
        return lsp_fail(ctx, LSP_ERR_OVERFLOW, "%lld items of %zu bytes are more than can be addressed",
                        (long long)count, item_bytes);
    }
    if (count == 0 || item_bytes == 0) {
        *memory = NULL;
        return LSP_OK;
    }
    return take_block(ctx, where, (size_t)bytes / align * align, holder, memory);
}

lsp_status lsp_alloc(lsp_ctx *ctx, lsp_where where, int64_t count, size_t item_bytes, void **memory) {
    return allocate(ctx, where, count, item_bytes, ctx->holder, memory);
}

lsp_block *lsp_block_find(const lsp_ctx *ctx, const void *memory) {
    lsp_block *block = memory && ctx->used_slots > 0 ? &ctx->used[lsp_block_slot(ctx, memory)] : NULL;
    return block && block->memory && !block->group ? block : NULL;
}

bool lsp_owns(const lsp_ctx *ctx, const void *memory) { return lsp_block_find(ctx, memory) != NULL; }

int64_t lsp_bytes_at(const lsp_ctx *ctx, const void *memory) {
    const lsp_block *block = lsp_block_find(ctx, memory);
    return block ? (int64_t)block->bytes : 0;
}

void lsp_free(lsp_ctx *ctx, void *memory) {
    const lsp_block *found = ctx ? lsp_block_find(ctx, memory) : NULL;
    if (!found) {
        return;
    }
    const lsp_block block = lsp_block_take(ctx, found);
    if (block.release) {
        give_back(ctx, &block);
    } else {
        ctx->space[block.where].used -= (int64_t)block.bytes;
        keep(ctx, block);
        trim_to(ctx, block.where, most_kept(ctx, block.where, 0));
    }
}

void lsp_memory_leave(const lsp_memory_owner *owner) {
    void *memory;
    memcpy(&memory, owner->pointer, sizeof memory);
    lsp_free(owner->ctx, memory);
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
    lsp_status status = allocate(ctx, where, count, item_bytes, NULL, memory);
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
