/* The rows of a product cut into parts: every row once, about equal work, and the bits of the whole product. */
#include "tests/batches.h"

enum { PARTS_MOST = 130 };

/* The work of row i of op(A)*op(B), by a plain loop. A and B are on the host. */
static int64_t work_of(const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options, int64_t i) {
    int64_t work = 1;
    for (int64_t r = 0; r < A->rows; r++) {
        for (int64_t k = lsp_csr_rowptr(A, r); k < lsp_csr_rowptr(A, r + 1); k++) {
            const int64_t row = options->transpose_a ? lsp_csr_col(A, k) : r;
            const int64_t inner = options->transpose_a ? r : lsp_csr_col(A, k);
            if (row != i) {
                continue;
            }
            work += 1 + (options->transpose_b ? 0 : lsp_csr_rowptr(B, inner + 1) - lsp_csr_rowptr(B, inner));
            for (int64_t j = 0; options->transpose_b && j < B->nnz; j++) {
                work += lsp_csr_col(B, j) == inner;
            }
        }
    }
    return work;
}

/* Parts follow one another, and each is as near to its share as the longest row allows. */
static void check_cut(const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options, int parts,
                      const int64_t *first) {
    const int64_t rows = options->transpose_a ? A->cols : A->rows;
    int64_t *work = calloc((size_t)rows + 1, sizeof *work), all = 0, longest = 0;
    for (int64_t i = 0; i < rows; i++) {
        work[i] = work_of(A, B, options, i);
        all += work[i];
        longest = lsp_max(longest, work[i]);
    }
    cr_assert(first[0] == 0 && first[parts] == rows);
    for (int p = 0; p < parts; p++) {
        int64_t mine = 0;
        cr_assert(first[p] <= first[p + 1], "part %d: rows %lld to %lld", p, (long long)first[p],
                  (long long)first[p + 1]);
        for (int64_t i = first[p]; i < first[p + 1]; i++) {
            mine += work[i];
        }
        cr_assert(llabs(mine - all / parts) <= longest + 1, "part %d of %d has %lld of %lld, the longest row %lld", p,
                  parts, (long long)mine, (long long)all, (long long)longest);
    }
    free(work);
}

/* The product by parts, put together. The mask has C's rows, so it is cut with them. */
static void multiply_parts(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                           int parts, const int64_t *first, lsp_csr *C) {
    lsp_csr turned = {0}, rows, mask = {0}, made[PARTS_MOST];
    const lsp_csr *list[PARTS_MOST], *whole = A;
    lsp_spgemm_options how = *options;
    if (options->transpose_a) {
        must(ctx, lsp_csr_transpose(ctx, A, &turned));
        whole = &turned;
        how.transpose_a = false;
    }
    for (int p = 0; p < parts; p++) {
        must(ctx, lsp_csr_block(ctx, whole, first[p], first[p + 1] - first[p], 0, whole->cols, &rows));
        if (options->filter.mask) {
            must(ctx, lsp_csr_block(ctx, options->filter.mask, first[p], first[p + 1] - first[p], 0,
                                    options->filter.mask->cols, &mask));
            how.filter.mask = &mask;
        }
        must(ctx, lsp_spgemm(ctx, &rows, B, &how, &made[p], NULL));
        list[p] = &made[p];
        lsp_csr_free(ctx, &rows), lsp_csr_free(ctx, &mask);
    }
    must(ctx, lsp_csr_stack(ctx, list, parts, 1, C));
    for (int p = 0; p < parts; p++) {
        lsp_csr_free(ctx, &made[p]);
    }
    lsp_csr_free(ctx, &turned);
}

static void try_cut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options, bool masked,
                    int parts) {
    int64_t first[PARTS_MOST + 1];
    lsp_csr a = there(ctx) ? upload(ctx, A) : *A, b = there(ctx) ? upload(ctx, B) : *B, mask = {0}, whole, joined;
    must(ctx, lsp_spgemm_cut(ctx, &a, &b, &options, parts, first));
    check_cut(A, B, &options, parts, first);
    if (masked) { /* every second entry or so of the product itself */
        must(ctx, lsp_spgemm(ctx, &a, &b, &options, &whole, NULL));
        must(ctx, lsp_csr_filter(ctx, &whole, &(lsp_filter){.largest = 3}, &mask));
        lsp_csr_free(ctx, &whole);
        options.filter.mask = &mask;
    }
    must(ctx, lsp_spgemm(ctx, &a, &b, &options, &whole, NULL));
    multiply_parts(ctx, &a, &b, &options, parts, first, &joined);
    lsp_csr_difference d;
    must(ctx, lsp_csr_compare(ctx, &whole, &joined, &d));
    cr_assert(d.same_bits, "%d parts: row %lld", parts, (long long)d.row);
    lsp_csr_free(ctx, &whole), lsp_csr_free(ctx, &joined), lsp_csr_free(ctx, &mask);
    if (there(ctx)) {
        lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b);
    }
}

TEST_ON_BOTH(spgemm_cut, parts_have_equal_work_and_the_bits_of_the_whole) {
    const int count = there(ctx) ? 8 : 24;
    for (int kind = 0; kind < count; kind++) {
        const bool turn_a = kind & 1, turn_b = kind & 2;
        recipe of_a = {90, 70, 4, LSP_I32, LSP_I64, kind % 3 ? LSP_F64 : LSP_NONE, kind & 4, kind % 5 == 0, -1, -1, 0};
        recipe of_b = of_a;
        of_a.dense_row = turn_a || kind % 7 ? -1 : 50; /* one row with most of the products */
        of_a.rows = turn_a ? 70 : 90, of_a.cols = turn_a ? 90 : 70;
        of_b.rows = turn_b ? 60 : 70, of_b.cols = turn_b ? 70 : 60;
        lsp_csr A = make(&of_a, 7 + (uint64_t)kind), B = make(&of_b, 70 + (uint64_t)kind);
        const lsp_spgemm_options options = {.transpose_a = turn_a,
                                            .transpose_b = turn_b,
                                            .semiring = kind % 4 == 3 ? LSP_MIN_PLUS : LSP_PLUS_TIMES,
                                            .filter.largest = kind % 6 == 5 ? 2 : 0};
        for (int parts = 1; parts <= PARTS_MOST; parts = parts * 5 + 1 - parts % 2) { /* 130: more than rows */
            try_cut(ctx, &A, &B, options, kind % 4 == 1, parts);
        }
        try_cut(ctx, &A, &B, options, kind % 4 == 1, PARTS_MOST);
        drop(&A), drop(&B);
    }
}

TEST_ON_BOTH(spgemm_cut, a_row_with_all_products_and_matrices_without_rows_are_cut_too) {
    const recipe like = {1, 40, 30, LSP_I64, LSP_I32, LSP_F64, true, false, 0, -1, 0};
    recipe empty = like, long_rows = like;
    empty.rows = 0, long_rows.rows = 40;
    lsp_csr one = make(&like, 3), none = make(&empty, 4), B = make(&long_rows, 5);
    for (int parts = 1; parts < 6; parts++) {
        try_cut(ctx, &one, &B, (lsp_spgemm_options){0}, false, parts);
        try_cut(ctx, &none, &B, (lsp_spgemm_options){0}, false, parts);
    }
    drop(&one), drop(&none), drop(&B);
}

Test(spgemm_cut, nonsense_is_refused) {
    lsp_ctx *ctx = test_ctx(1);
    int64_t first[3] = {4711, 4711, 4711};
    const recipe r = {6, 5, 2, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 1), bad = A, far = A;
    int32_t cols[100];
    for (int k = 0; k < 100; k++) {
        cols[k] = 77;
    }
    bad.col = cols, far.where = LSP_CUDA;
    const lsp_spgemm_options turned = {.transpose_a = true};
    must_fail(ctx, LSP_ERR_ARGUMENT, "0 parts", lsp_spgemm_cut(ctx, &A, &A, &turned, 0, first));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_cut(ctx, &A, &A, &turned, 2, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_cut(ctx, NULL, &A, NULL, 2, first));
    must_fail(ctx, LSP_ERR_ARGUMENT, "6 x 5", lsp_spgemm_cut(ctx, &A, &A, NULL, 2, first));
    must_fail(ctx, LSP_ERR_FORMAT, "77", lsp_spgemm_cut(ctx, &bad, &A, &turned, 2, first));
    must_fail(ctx, LSP_ERR_DEVICE, "GPU", lsp_spgemm_cut(ctx, &far, &far, &turned, 2, first));
    cr_assert_eq(lsp_spgemm_cut(NULL, &A, &A, &turned, 2, first), LSP_ERR_ARGUMENT);
    cr_assert(first[0] == 4711 && first[2] == 4711);
    drop(&A);
    lsp_ctx_destroy(ctx);
}

static lsp_status cut_failing(lsp_ctx *ctx, void *data) {
    int64_t first[3] = {4711, 4711, 4711};
    const lsp_spgemm_options turned = {.transpose_a = true};
    const lsp_status status = lsp_spgemm_cut(ctx, data, data, &turned, 2, first);
    cr_assert(status == LSP_OK ? first[2] == 40 : first[0] == 4711 && first[2] == 4711);
    return status;
}

Test(spgemm_cut, failing_allocations_leave_nothing_behind) {
    const recipe r = {50, 40, 5, LSP_I32, LSP_I32, LSP_F64, false, false, -1, -1, 0};
    lsp_csr A = make(&r, 9);
    test_failing_memory(2, cut_failing, &A);
    drop(&A);
}
