/* Moves through shared memory by a plan: chooses tiles and bins, prepares a map, and starts both phases. */
#include "core/scan.h"
#include "kernel_runs.cuh"
#include "kernel_stage.cuh"

enum {
    STEP = 64,               /* elements: sizes of tiles and bins are multiples */
    MOST_ELEMENTS = 1 << 16, /* places have 16 bits */
    STATIC_BYTES = 1024,     /* room for a kernel's own shared memory, and what the system takes of each block */
    GOOD_RUN = 8             /* elements of a run that make it good enough */
};

gather_cut gather_cut_by(unsigned size) {
    gather_cut cut = {};
    cut.size = size;
    cut.shift = (unsigned)__builtin_ctz(size);
    const unsigned odd = size >> cut.shift;
    if (odd == 1) {
        cut.shift--;
        cut.magic = 1u << 31;
    } else {
        cut.after = (unsigned)lsp_bits(odd) - 1;
        cut.magic = (unsigned)(((uint64_t)1 << (32 + cut.after)) / odd + 1);
    }
    return cut;
}

/* ---- sizes ---- */

unsigned gather_most_elements(lsp_ctx *ctx, size_t element_bytes, int blocks) {
    const lsp_cuda_chip *chip = lsp_cuda_get_chip(ctx);
    const int64_t bytes = lsp_min(chip->shared_block_bytes, chip->shared_sm_bytes / blocks) - STATIC_BYTES;
    return bytes > 0 ? (unsigned)lsp_min(bytes / (int64_t)element_bytes / STEP * STEP, MOST_ELEMENTS) : 0;
}

unsigned gather_even_size(lsp_ctx *ctx, int64_t total, unsigned most) {
    const int64_t sms = lsp_cuda_get_chip(ctx)->sms, waves = lsp_max(lsp_ceil_div(total, sms * most), 1);
    int64_t least = STEP; /* long enough for good runs, whatever the number of blocks */
    while (least < most && least * least < GOOD_RUN * total) {
        least += STEP;
    }
    const int64_t even = lsp_ceil_div(lsp_ceil_div(total, waves * sms), STEP) * STEP;
    return (unsigned)lsp_min(lsp_max(even, least), most);
}

/* Two blocks a multiprocessor, one computing while the other waits, unless their runs are short. */
static bool choose_sizes(lsp_ctx *ctx, gather_stage *stage, size_t most_bytes) {
    const int64_t total = lsp_max(stage->sources, stage->dests);
    const size_t bin_bytes = most_bytes + stage->marks;
    const int64_t half = gather_most_elements(ctx, bin_bytes, 2);
    const int blocks = half * half / GOOD_RUN >= total ? 2 : 1;
    const unsigned tile = gather_most_elements(ctx, most_bytes, blocks);
    const unsigned bin = gather_most_elements(ctx, bin_bytes, blocks);
    if (tile == 0 || bin == 0) {
        return false;
    }
    stage->sizes.tile = gather_even_size(ctx, stage->sources, tile);
    stage->sizes.bin = gather_even_size(ctx, stage->dests, bin);
    stage->sizes.threads = STAGE_NT / blocks;
    return true;
}

static int64_t runs_bytes(const gather_stage *stage) {
    return 8 * stage->tiles + 2 * (int64_t)stage->sizes.bin + 8 * (int64_t)(stage->sizes.bin / 32);
}

bool lsp_gather_stage_fits(lsp_ctx *ctx, int64_t sources, int64_t dests, int64_t moved, size_t most_bytes,
                           gather_stage *stage) {
    *stage = gather_stage{};
    stage->sources = sources;
    stage->dests = dests;
    stage->moved = moved;
    stage->marks = moved < dests;
    if (moved == 0 || lsp_max(sources, dests) > INT32_MAX || !choose_sizes(ctx, stage, most_bytes)) {
        return false;
    }
    stage->tiles = lsp_ceil_div(sources, stage->sizes.tile);
    stage->bins = lsp_ceil_div(dests, stage->sizes.bin);
    return runs_bytes(stage) <= lsp_cuda_get_chip(ctx)->shared_block_bytes - STATIC_BYTES &&
           stage->tiles * stage->bins <= lsp_max(moved, 1 << 16);
}

/* ---- preparation ---- */

template <typename I>
static lsp_status make_runs(lsp_ctx *ctx, const gather_stage *stage, const void *map, int64_t *lengths) {
    LSP_TRY(lsp_allow_shared(ctx, kernel_count_runs<I>, (size_t)runs_bytes(stage)));
    LSP_TRY(lsp_allow_shared(ctx, kernel_write_runs<I>, (size_t)runs_bytes(stage)));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_runs<I>, stage->bins, RUNS_NT, (size_t)stage->tiles * 4, *stage,
                       (const I *)map, lengths + 1, stage->bin_begin + 1));
    LSP_TRY(lsp_cuda_scan_async(ctx, lengths + 1, stage->tiles * stage->bins, NULL));
    LSP_TRY(lsp_cuda_scan_async(ctx, stage->bin_begin + 1, stage->bins, NULL));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_tile_begins, lsp_blocks_for(ctx, stage->tiles + 1, RUNS_NT, 1), RUNS_NT, 0, *stage,
                       lengths));
    return LSP_LAUNCH(ctx, kernel_write_runs<I>, stage->bins, RUNS_NT, (size_t)runs_bytes(stage), *stage,
                      (const I *)map, lengths);
}

lsp_status lsp_gather_stage_make(lsp_ctx *ctx, gather_list map, size_t most_bytes, gather_stage *stage) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t count = stage->tiles * stage->bins, moved = stage->moved;
    int64_t *lengths = NULL;
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, stage->tiles + 1, sizeof *stage->tile_begin, (void **)&stage->tile_begin));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, stage->bins + 1, sizeof *stage->bin_begin, (void **)&stage->bin_begin));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, moved, sizeof *stage->place_in_tile, (void **)&stage->place_in_tile));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, moved, sizeof *stage->place_in_bin, (void **)&stage->place_in_bin));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, moved / 32 + stage->bins + 1, sizeof *stage->runs, (void **)&stage->runs));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, count, sizeof *stage->shift, (void **)&stage->shift));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, moved, most_bytes, &stage->staged));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, count + 1, &lengths));
    LSP_TRY(lsp_cuda_clear(ctx, lengths, sizeof *lengths));
    LSP_TRY(lsp_cuda_clear(ctx, stage->bin_begin, sizeof *stage->bin_begin));
#define MAKE(I) make_runs<I>(ctx, stage, map.at, lengths)
    LSP_TRY(GATHER_BY_INDEX(map.type, MAKE));
#undef MAKE
    return LSP_OK;
}

/* ---- a call ---- */

template <typename U, bool ONE, bool MARKS>
static lsp_status start_bins(lsp_ctx *ctx, const gather_stage *stage, const lsp_column *column) {
    const size_t shared = (size_t)stage->sizes.bin * (column->bytes + MARKS);
    void (*kernel)(gather_stage, const U *, U *, unsigned) = kernel_bins<U, ONE, MARKS>;
    LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
    return LSP_LAUNCH(ctx, kernel, stage->bins, stage->sizes.threads, shared, *stage, (const U *)stage->staged,
                      (U *)column->to, (unsigned)(column->bytes / sizeof(U)));
}

template <typename U, bool ONE>
static lsp_status start_fill(lsp_ctx *ctx, const gather_stage *stage, const lsp_column *column) {
    return stage->marks ? start_bins<U, ONE, true>(ctx, stage, column) : start_bins<U, ONE, false>(ctx, stage, column);
}

template <typename U, bool ONE>
static lsp_status start_tiles(lsp_ctx *ctx, const gather_stage *stage, const lsp_column *column) {
    const size_t shared = (size_t)stage->sizes.tile * column->bytes;
    void (*kernel)(gather_stage, const U *, U *, unsigned) = kernel_tiles<U, ONE>;
    LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
    return LSP_LAUNCH(ctx, kernel, stage->tiles, stage->sizes.threads, shared, *stage, (const U *)column->from,
                      (U *)stage->staged, (unsigned)(column->bytes / sizeof(U)));
}

lsp_status lsp_gather_stage_fill(lsp_ctx *ctx, const gather_stage *stage, size_t unit, const lsp_column *column) {
#define START(U)                                                                                                       \
    (column->bytes == sizeof(U) ? start_fill<U, true>(ctx, stage, column) : start_fill<U, false>(ctx, stage, column))
    return GATHER_BY_UNIT(unit, START);
#undef START
}

static lsp_status gather_tiles(lsp_ctx *ctx, const gather_stage *stage, size_t unit, const lsp_column *column) {
#define START(U)                                                                                                       \
    (column->bytes == sizeof(U) ? start_tiles<U, true>(ctx, stage, column) : start_tiles<U, false>(ctx, stage, column))
    return GATHER_BY_UNIT(unit, START);
#undef START
}

lsp_status lsp_gather_stage_own(lsp_ctx *ctx, const gather_stage *stage, int *owner) {
    const size_t shared = (size_t)stage->sizes.bin * sizeof *owner;
    LSP_TRY(lsp_allow_shared(ctx, kernel_own, shared));
    return LSP_LAUNCH(ctx, kernel_own, stage->bins, stage->sizes.threads, shared, *stage,
                      (const unsigned *)stage->staged, owner);
}

lsp_status lsp_gather_stage_run(lsp_ctx *ctx, const gather_stage *stage, const lsp_column *column) {
    const size_t unit = gather_unit(column);
    LSP_TRY(gather_tiles(ctx, stage, unit, column));
    return lsp_gather_stage_fill(ctx, stage, unit, column);
}
