/* Counts of LSP_PLUS_PAIR above 2^24, where a float holds no odd numbers: every method must give the same bits, on both
 * devices. */
#pragma once

#include "products.h"

enum { PAIRS = 4097, ALL_PAIRS = PAIRS * PAIRS }; /* an odd number above 2^24 */

/* C must have one row: ALL_PAIRS in column 0 and, unless `alone`, the number of A's entries in column 2. */
static inline void check_pairs(lsp_ctx *ctx, lsp_csr *C, lsp_type type, bool alone, const char *what) {
    lsp_csr here = *C;
    if (C->where == LSP_CUDA) {
        here = download(ctx, C);
        must(ctx, lsp_csr_free(ctx, C));
    }
    cr_assert(here.nnz == (alone ? 1 : 2) && here.val_type == type, "%s: %lld entries", what, (long long)here.nnz);
    const double all = type == LSP_F32 ? (double)(float)ALL_PAIRS : ALL_PAIRS;
    cr_assert(type == LSP_NONE || lsp_value_at(&here, 0).re == all, "%s: %.0f, not %.0f", what,
              lsp_value_at(&here, 0).re, all);
    cr_assert(alone || lsp_value_at(&here, 1).re == (type == LSP_NONE ? 1 : PAIRS), "%s", what);
    must(ctx, lsp_csr_free(ctx, &here));
}

static inline lsp_status check_rows_of_pairs(void *user, int64_t first_row, const lsp_csr *rows) {
    lsp_csr copy;
    (void)first_row;
    must((lsp_ctx *)user, lsp_csr_copy((lsp_ctx *)user, rows, NULL, &copy));
    check_pairs((lsp_ctx *)user, &copy, LSP_F32, false, "a block of rows");
    return LSP_OK;
}

/* Executes a plan, executes it again (a GPU then remembers the factors for a replay), and updates the values. */
static inline void check_pairs_of_plan(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B) {
    const lsp_spgemm_options options = {.semiring = LSP_PLUS_PAIR, .types.val_type = LSP_F32};
    lsp_spgemm_plan *plan;
    lsp_spgemm_info info;
    lsp_csr C, again;
    must(ctx, lsp_spgemm_plan_create(ctx, A, B, &options, &plan));
    must(ctx, lsp_spgemm_execute(plan, A, B, &C));
    must(ctx, lsp_spgemm_refill(plan, A, B, &C));
    must(ctx, lsp_spgemm_execute(plan, A, B, &again));
    must(ctx, lsp_spgemm_plan_get_info(plan, &info));
    cr_assert(info.nnz == 2 && info.scratch_bytes >= 2 * 8 && info.bound_bytes == 2 * 4 + info.nnz_bound * (4 + 4));
    lsp_spgemm_plan_destroy(plan);
    check_pairs(ctx, &C, LSP_F32, false, "values alone");
    check_pairs(ctx, &again, LSP_F32, false, "a plan used again");
}

static inline void check_counts(lsp_ctx *ctx, lsp_where where, bool reduced) {
    int32_t *zeros = calloc(PAIRS + 1, 4), a_rows[] = {0, PAIRS}, b_rows[] = {0, PAIRS + 1, PAIRS + 1}, one[] = {0, 1};
    lsp_csr A = {1, 2, PAIRS, a_rows, zeros, NULL, LSP_I32, LSP_I32, LSP_NONE, LSP_HOST};
    int32_t *last = calloc(PAIRS + 1, 4);
    last[PAIRS] = 2;
    lsp_csr B = {2, 3, PAIRS + 1, b_rows, last, NULL, LSP_I32, LSP_I32, LSP_NONE, LSP_HOST};
    lsp_csr M = {1, 3, 1, one, zeros, NULL, LSP_I32, LSP_I32, LSP_NONE, LSP_HOST}, C;
    const bool there = where == LSP_CUDA;
    const int64_t before = ctx->space[where].used;
    lsp_csr a = there ? upload(ctx, &A) : A, b = there ? upload(ctx, &B) : B, m = there ? upload(ctx, &M) : M;
    lsp_spgemm_options options = {.semiring = LSP_PLUS_PAIR, .types.val_type = LSP_F32};
    if (!reduced) {
        check_pairs_of_plan(ctx, &a, &b);
    }
    options.filter.mask = &m;
    must(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, NULL));
    check_pairs(ctx, &C, LSP_F32, true, "a mask");
    for (int way = 0; !reduced && way < 3; way++) { /* f32; a pattern, if it is asked for; counts in f64 */
        const lsp_type types[] = {LSP_F32, LSP_NONE, LSP_F64};
        options = (lsp_spgemm_options){.semiring = LSP_PLUS_PAIR};
        options.types.val_type = way == 0 ? LSP_F32 : LSP_NONE;
        options.types.drop_values = way == 1;
        must(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, NULL));
        check_pairs(ctx, &C, types[way], false, "at once");
    }
    if (!reduced) {
        options = (lsp_spgemm_options){.semiring = LSP_PLUS_PAIR, .types.val_type = LSP_F32};
        must(ctx, lsp_spgemm_stream(ctx, &a, &b, &options, 0, check_rows_of_pairs, ctx, NULL));
        options.filter =
            (lsp_filter){.drop = true, .tolerance = (double)(float)ALL_PAIRS}; /* drops the rounded count */
        must(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, NULL));
        cr_assert(C.nnz == 0, "a filter saw a count before it was rounded");
        must(ctx, lsp_csr_free(ctx, &C));
    }
    if (there) {
        lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b), lsp_csr_free(ctx, &m);
    }
    cr_assert_eq(ctx->space[where].used, before, "bytes are lost");
    free(zeros), free(last);
}
