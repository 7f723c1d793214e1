/* C = A*B on the GPU where B is nearly dense, so C is made in strips of 32 columns; and where no row has two products.
 * Skipped without a GPU. */
#include "tests/products.h"

/* Is the product made in strips? */
static bool is_dense_b(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options) {
    lsp_csr a = upload(ctx, A), b = upload(ctx, B);
    lsp_spgemm_plan *plan = NULL;
    must(ctx, lsp_spgemm_plan_create(ctx, &a, &b, &options, &plan));
    const bool so = plan->gpu->dense_b.strips > 0;
    lsp_spgemm_plan_destroy(plan);
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b);
    return so;
}

Test(device_dense_b, have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const struct {
        recipe A, B;
        lsp_spgemm_options options;
        bool is_dense_b;
    } cases[] = {
        /* rows, cols, entries, types, sorted, wild, dense row, dense column, band */
        {{40, 50, 30, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0},
         {50, 32, 20, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0},
         {0},
         true},
        {{40, 50, 30, LSP_I32, LSP_I32, LSP_F64, true, true, -1, -1, 0},
         {50, 33, 20, LSP_I32, LSP_I32, LSP_F64, true, true, -1, -1, 0},
         {.types.rowptr_type = LSP_I64},
         true},
        {{30, 90, 60, LSP_I64, LSP_I64, LSP_F64, false, true, 7, -1, 0}, /* A unsorted, columns twice */
         {90, 140, 30, LSP_I64, LSP_I64, LSP_F64, true, true, -1, -1, 0},
         {.types.col_type = LSP_I64},
         true},
        {{30, 90, 60, LSP_I32, LSP_I32, LSP_F32, true, true, -1, 89, 0},
         {90, 1100, 200, LSP_I32, LSP_I32, LSP_F32, true, false, 3, 1099, 0}, /* 35 strips */
         {.semiring = LSP_MIN_PLUS},
         true},
        {{60, 60, 15, LSP_I32, LSP_I32, LSP_F64, true, false, 30, -1, 0},
         {60, 200, 40, LSP_I32, LSP_I32, LSP_F64, true, true, 9, -1, 0},
         {.semiring = LSP_MAX_TIMES},
         true},
        {{60, 60, 15, LSP_I32, LSP_I32, LSP_NONE, true, false, 30, -1, 0},
         {60, 200, 40, LSP_I32, LSP_I32, LSP_NONE, true, false, 9, -1, 0},
         {0},
         true},
        {{60, 60, 15, LSP_I32, LSP_I32, LSP_F64, true, false, 30, -1, 0},
         {60, 200, 40, LSP_I32, LSP_I32, LSP_F32, true, true, 9, -1, 0},
         {.semiring = LSP_PLUS_PAIR},
         true},
        {{60, 60, 40, LSP_I32, LSP_I32, LSP_F64, true, true, 30, -1, 0},
         {200, 60, 40, LSP_I32, LSP_I32, LSP_F64, true, true, 9, -1, 0},
         {.transpose_b = true, .semiring = LSP_OR_AND},
         true},
        {{60, 60, 40, LSP_I32, LSP_I32, LSP_F64, true, true, 30, -1, 0}, /* B has columns twice */
         {60, 200, 40, LSP_I32, LSP_I32, LSP_F64, false, true, 9, -1, 0},
         {0},
         false},
        {{60, 60, 40, LSP_I32, LSP_I32, LSP_F64, true, true, 30, -1, 0}, /* B is not dense */
         {60, 2000, 40, LSP_I32, LSP_I32, LSP_F64, true, true, -1, -1, 0},
         {0},
         false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char what[40];
        lsp_csr A = make(&cases[k].A, 300 + k), B = make(&cases[k].B, 400 + k);
        snprintf(what, sizeof what, "case %zu", k);
        cr_assert(is_dense_b(ctx, &A, &B, cases[k].options) == cases[k].is_dense_b, "%s", what);
        check_product(ctx, &A, &B, cases[k].options, what);
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

/* Rows of A of 0 to 100 entries, on both sides of the 16 and 32 entries that a step takes. Some lead to empty rows of
 * B, or to rows of B without a strip. */
Test(device_dense_b, of_rows_of_any_length_have_the_bits_of_the_reference) {
    enum { LENGTHS = 101, COLS = 70 };
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int kind = 0; kind < 3; kind++) { /* all rows of B have entries; a third has none; a third lacks a strip */
        static int32_t a_rowptr[LENGTHS + 1], a_col[LENGTHS * LENGTHS], b_rowptr[LENGTHS + 1], b_col[LENGTHS * COLS];
        static double a_val[LENGTHS * LENGTHS], b_val[LENGTHS * COLS];
        int32_t a_nnz = 0, b_nnz = 0;
        uint64_t state = 5;
        for (int i = 0; i < LENGTHS; i++) {
            for (int k = 0; k < i; k++) {
                a_val[a_nnz] = test_value(false, &state);
                a_col[a_nnz++] = (k * 7 + i) % LENGTHS;
            }
            for (int j = 0; j < COLS; j++) {
                const bool out = kind > 0 && i % 3 == 1 && (kind == 1 || j / 32 == i / 3 % 3);
                if (!out && test_below(&state, 4) > 0) {
                    b_val[b_nnz] = test_value(false, &state);
                    b_col[b_nnz++] = j;
                }
            }
            a_rowptr[i + 1] = a_nnz, b_rowptr[i + 1] = b_nnz;
        }
        const lsp_csr A = {LENGTHS, LENGTHS, a_nnz, a_rowptr, a_col, a_val, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
        const lsp_csr B = {LENGTHS, COLS, b_nnz, b_rowptr, b_col, b_val, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
        cr_assert(is_dense_b(ctx, &A, &B, (lsp_spgemm_options){0}));
        check_product(ctx, &A, &B, (lsp_spgemm_options){0}, kind == 0 ? "full" : kind == 1 ? "empty rows" : "strips");
    }
    lsp_ctx_destroy(ctx);
}

/* If memory is short, C is made without the tables. */
Test(device_dense_b, are_not_kept_where_memory_is_short) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const recipe left = {300, 40, 4, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    const recipe dense = {40, 640, 300, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&left, 1), B = make(&dense, 2), a = upload(ctx, &A), b = upload(ctx, &B), right = {0};
    must(ctx, lsp_spgemm(ctx, &A, &B, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &right, NULL));
    bool with = false, without = false;
    must(ctx, lsp_ctx_trim(ctx));
    lsp_ctx_info held;
    must(ctx, lsp_ctx_get_info(ctx, &held));
    const int64_t bytes = right.nnz * 12;
    for (int64_t more = bytes; more < bytes + 400000;
         more += getenv("LSP_TEST_REDUCED") ? 24000 : 8000) { /* the tables take 54,400 */
        lsp_spgemm_plan *plan = NULL;
        lsp_csr C = {0};
        must(ctx, lsp_ctx_set_max_bytes(ctx, held.cuda_bytes + more));
        must(ctx, lsp_spgemm_plan_create(ctx, &a, &b, NULL, &plan));
        const lsp_status status = lsp_spgemm_execute(plan, &a, &b, &C);
        if (status == LSP_OK) {
            *(plan->gpu->dense_b.C ? &with : &without) = true;
            must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
            lsp_csr here = download(ctx, &C);
            same(ctx, &here, &right, "a budget");
            lsp_csr_free(ctx, &here);
        } else {
            must_fail(ctx, LSP_ERR_MEMORY, "bytes", status);
        }
        lsp_csr_free(ctx, &C);
        lsp_spgemm_plan_destroy(plan);
        must(ctx, lsp_ctx_trim(ctx));
    }
    cr_assert(with && without, "with strips %d, without %d", with, without);
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b), lsp_csr_free(ctx, &right), drop(&A), drop(&B);
    lsp_ctx_destroy(ctx);
}

/* Enough rows that a warp takes 32 of them. A row of B has one entry or none. Each row of A leads to at most one row of
 * B with an entry; its other entries lead to empty rows. */
Test(device_dense_b, rows_of_one_product_have_the_bits_of_the_reference) {
    enum { ROWS = 170001, INNER = 5000, COLS = 900 };
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static int32_t a_rowptr[ROWS + 1], a_col[2 * ROWS], b_rowptr[INNER + 1], b_col[INNER];
    static double a_val[2 * ROWS], b_val[INNER];
    int32_t a_nnz = 0, b_nnz = 0;
    uint64_t state = 2;
    for (int k = 0; k < INNER; k++) { /* every third row is empty */
        if (k % 3 < 2) {
            b_val[b_nnz] = test_value(true, &state);
            b_col[b_nnz++] = (int32_t)test_below(&state, COLS);
        }
        b_rowptr[k + 1] = b_nnz;
    }
    for (int i = 0; i < ROWS; i++) {
        const int kind = (int)test_below(&state, 6);
        for (int e = 0; e < (kind == 0 ? 0 : kind == 1 ? 2 : 1); e++) {
            const int32_t group = 3 * (int32_t)test_below(&state, INNER / 3);
            const bool leads = kind == 1 ? e == i % 2 : kind > 2;
            a_val[a_nnz] = test_value(true, &state);
            a_col[a_nnz++] = leads ? group + i % 2 : group + 2;
        }
        a_rowptr[i + 1] = a_nnz;
    }
    lsp_csr A = {ROWS, INNER, a_nnz, a_rowptr, a_col, a_val, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
    lsp_csr B = {INNER, COLS, b_nnz, b_rowptr, b_col, b_val, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
    check_product(ctx, &A, &B, (lsp_spgemm_options){0}, "single products");
    check_product(ctx, &A, &B, (lsp_spgemm_options){.types = {.rowptr_type = LSP_I64, .col_type = LSP_I64}}, "wide");
    check_product(ctx, &A, &B, (lsp_spgemm_options){.semiring = LSP_MIN_PLUS, .types.val_type = LSP_F32}, "least");
    A.val = B.val = NULL, A.val_type = B.val_type = LSP_NONE;
    check_product(ctx, &A, &B, (lsp_spgemm_options){0}, "patterns");
    lsp_ctx_destroy(ctx);
}
