/* The tables of limits that choose a GPU's method and the shape of its split: the shipped one, and a caller's own. */
#include "slab_sort/gpu/table.h"
#include "core/cuda.h"
#include "segsort/gpu/table.h"
#include <limits.h>

/* As `sparse-bench sort --tune` printed it on an NVIDIA H100, but for shapes and samples, which prototypes found. For
 * every GPU. */
static const lsp_sort_table shipped = {.ranks_longest = {4096, 2048, 4096, 2048},
                                       .split_shortest = {8193, 16385, 16385, 16385},
                                       .split_longest = {1572864, 524288, 1048576, 524288},
                                       .shape_longest = {8192, 65536, 131072, 524288, 1048576, 2097152},
                                       .samples = {8, 8, 8, 16, 16, 16}};

const lsp_sort_table *lsp_sort_table_of(lsp_ctx *ctx) {
    const lsp_sort_table *own = ctx->tables[LSP_TABLE_SORT];
    return own != NULL ? own : &shipped;
}

/* The largest power of two up to x, which is at least 1. */
static int power_below(int64_t x) { return 1 << (lsp_bits((uint64_t)x) - 1); }

lsp_sort_cut lsp_sort_cut_of(lsp_ctx *ctx, int64_t n, bool direct) {
    enum { BLOCKS_MOST = 128 };
    const lsp_sort_table *table = lsp_sort_table_of(ctx);
    const int most = (int)lsp_min(power_below(lsp_cuda_get_chip(ctx)->sms), BLOCKS_MOST);
    const int shapes = LSP_SORT_SHAPES - !direct;
    for (int shape = 0; shape < shapes && n <= INT_MAX / 2; shape++) {
        const int threads = lsp_sort_threads(shape), room = threads * lsp_sort_words(shape);
        const int wanted = power_below(2 * lsp_max(lsp_ceil_div(n, threads), 1) - 1); /* rounded up */
        const int blocks = wanted < most ? wanted : most, buckets = shape < LSP_SORT_SHAPES - 1 ? blocks : 2 * blocks;
        const int64_t mean = lsp_ceil_div(n, buckets);
        /* Where a block has no room for 4 times the mean, a larger sample keeps buckets nearer to it: with room for 2
         * and 32 samples for each bucket, one of 2000 random inputs has a bucket without room. */
        const int64_t share = 4 * mean > room ? LSP_SORT_SAMPLES_MOST : table->samples[shape];
        if ((n <= table->shape_longest[shape] || shape == shapes - 1) && 2 * mean <= room) {
            return (lsp_sort_cut){shape, blocks, buckets,
                                  (int)lsp_min(blocks * share, 4 * threads) * (buckets / blocks)};
        }
    }
    return (lsp_sort_cut){.shape = -1};
}

static lsp_status check_limits(lsp_ctx *ctx, const lsp_sort_table *table) {
    for (int k = 0; k < LSP_SORT_KINDS; k++) {
        LSP_REQUIRE(table->ranks_longest[k] >= 0 && table->ranks_longest[k] <= LSP_SORT_RANKS_MOST, LSP_ERR_ARGUMENT,
                    "ranks_longest[%d] is %d: 0 to %d are offered", k, table->ranks_longest[k], LSP_SORT_RANKS_MOST);
        LSP_REQUIRE(table->split_shortest[k] >= 0 && table->split_longest[k] >= 0, LSP_ERR_ARGUMENT,
                    "split_shortest[%d] is %d and split_longest[%d] %d: neither can be negative", k,
                    table->split_shortest[k], k, table->split_longest[k]);
    }
    for (int s = 0; s < LSP_SORT_SHAPES; s++) {
        const int before = s > 0 ? table->shape_longest[s - 1] : 0, samples = table->samples[s];
        LSP_REQUIRE(table->shape_longest[s] >= before, LSP_ERR_ARGUMENT,
                    "shape_longest[%d] is %d: below %d, the limit before it", s, table->shape_longest[s], before);
        LSP_REQUIRE(samples >= 1 && samples <= LSP_SORT_SAMPLES_MOST && (samples & (samples - 1)) == 0,
                    LSP_ERR_ARGUMENT, "samples[%d] is %d: powers of two up to %d are offered", s, samples,
                    LSP_SORT_SAMPLES_MOST);
    }
    return LSP_OK;
}

lsp_status lsp_sort_set_table(lsp_ctx *ctx, const lsp_sort_table *table) {
    LSP_ENTER(ctx);
    LSP_TRY(lsp_sort_table_place(ctx, ctx));
    LSP_TRY(table != NULL ? check_limits(ctx, table) : LSP_OK);
    return lsp_sort_keep_table(ctx, LSP_TABLE_SORT, table, sizeof *table);
}

lsp_status lsp_sort_get_table(lsp_ctx *ctx, lsp_sort_table *table) {
    LSP_ENTER(ctx);
    LSP_TRY(lsp_sort_table_place(ctx, table));
    *table = *lsp_sort_table_of(ctx);
    return LSP_OK;
}
