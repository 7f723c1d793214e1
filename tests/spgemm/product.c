/* C = A*B: results worked out by hand, a dense and naive oracle, then the fast code against the reference, bit by bit.
 */
#include "tests/products.h"

/* ---- the oracle: for each place of C, all entries of A's row, and for each all entries of B's row ---- */

static double value_of(const lsp_csr *A, int64_t p, lsp_type type) {
    double value = lsp_value_at(A, p).re;
    return type == LSP_F32 ? (double)(float)value : value;
}

static lsp_csr oracle(const lsp_csr *A, const lsp_csr *B, lsp_type type) {
    int64_t nnz = 0;
    lsp_csr C = {.rows = A->rows, .cols = B->cols, .rowptr_type = LSP_I64, .col_type = LSP_I64, .val_type = type};
    C.rowptr = calloc((size_t)A->rows + 1, 8);
    C.col = calloc((size_t)(A->rows * B->cols) + 1, 8);
    C.val = calloc((size_t)(A->rows * B->cols) + 1, 8);
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t j = 0; j < B->cols; j++) {
            bool there = false;
            double sum = 0;
            for (int64_t p = lsp_index_at(A->rowptr, A->rowptr_type, i);
                 p < lsp_index_at(A->rowptr, A->rowptr_type, i + 1); p++) {
                int64_t k = lsp_index_at(A->col, A->col_type, p);
                for (int64_t q = lsp_index_at(B->rowptr, B->rowptr_type, k);
                     q < lsp_index_at(B->rowptr, B->rowptr_type, k + 1); q++) {
                    if (lsp_index_at(B->col, B->col_type, q) == j) {
                        double a = value_of(A, p, type), b = value_of(B, q, type);
                        sum = type == LSP_F32
                                  ? (double)(there ? fmaf((float)a, (float)b, (float)sum) : (float)a * (float)b)
                                  : (there ? fma(a, b, sum) : a * b);
                        there = true;
                    }
                }
            }
            if (there) {
                sum = isnan(sum) ? (double)NAN : sum;
                ((int64_t *)C.col)[nnz] = j;
                if (type == LSP_F32) {
                    ((float *)C.val)[nnz] = (float)sum;
                } else {
                    ((double *)C.val)[nnz] = sum;
                }
                nnz++;
            }
        }
        ((int64_t *)C.rowptr)[i + 1] = nnz;
    }
    C.nnz = nnz;
    return C;
}

Test(spgemm, both_methods_give_known_answers) {
    lsp_ctx *ctx = test_ctx(2);
    int32_t a_rows[] = {0, 2, 2, 3}, a_cols[] = {2, 0, 1}, b_rows[] = {0, 2, 3, 5}, b_cols[] = {0, 3, 1, 3, 0};
    double a_vals[] = {2, 3, -1}, b_vals[] = {1, 10, 7, 100, 5};
    lsp_csr A = {3, 3, 3, a_rows, a_cols, a_vals, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
    lsp_csr B = {3, 4, 5, b_rows, b_cols, b_vals, LSP_I32, LSP_I32, LSP_F64, LSP_HOST}, C = {0};
    int32_t rows[] = {0, 2, 2, 3}, cols[] = {0, 3, 1};
    double vals[] = {13, 230, -7};
    lsp_csr right = {3, 4, 3, rows, cols, vals, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
    for (int method = 0; method <= 2; method++) {
        lsp_spgemm_info info;
        must(ctx, lsp_spgemm(ctx, &A, &B, &(lsp_spgemm_options){.method = (lsp_spgemm_method)method}, &C, &info));
        cr_assert(C.rowptr_type == LSP_I32 && C.col_type == LSP_I32);
        same(ctx, &C, &right, "by hand");
        cr_assert(info.products == 5 && info.nnz == 3 && info.nnz_bound == 5 && info.max_row_products == 4);
        cr_assert(strcmp(info.method_name, method == LSP_SPGEMM_REFERENCE ? "reference" : "sort") == 0);
        lsp_csr_free(ctx, &C);
    }
    /* (1e16 + 1) - 1e16 is 0 in this order and 1 in others; -0 * 1 is -0; an entry whose sum is 0 stays */
    int32_t one_row[] = {0, 3}, three[] = {0, 1, 2}, heads[] = {0, 1, 2, 3}, zeros[] = {0, 0, 0};
    double ones[] = {1, 1, 1}, order[] = {1e16, 1, -1e16}, negative[] = {-0.0, -0.0, -0.0};
    lsp_csr row = {1, 3, 3, one_row, three, ones, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
    lsp_csr column = {3, 1, 3, heads, zeros, order, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
    for (int method = 0; method <= 2; method++) {
        lsp_spgemm_options options = {.method = (lsp_spgemm_method)method};
        column.val = order;
        must(ctx, lsp_spgemm(ctx, &row, &column, &options, &C, NULL));
        cr_assert(C.nnz == 1 && *(double *)C.val == 0.0);
        lsp_csr_free(ctx, &C);
        column.val = negative;
        must(ctx, lsp_spgemm(ctx, &row, &column, &options, &C, NULL));
        cr_assert(C.nnz == 1 && *(double *)C.val == 0.0 && signbit(*(double *)C.val));
        lsp_csr_free(ctx, &C);
    }
    lsp_ctx_destroy(ctx);
}

Test(spgemm, small_products_equal_the_naive_oracle_in_every_type) {
    uint64_t state = 11;
    for (int isa = 0; isa <= 2; isa++) {
        lsp_ctx *ctx = test_ctx(2);
        ctx->isa = (lsp_isa)lsp_min(isa, (int)ctx->isa);
        for (int round = 0; round < 600; round++) {
            int64_t rows = test_below(&state, 12), inner = test_below(&state, 12), cols = test_below(&state, 90);
            recipe a = {rows,
                        inner,
                        test_below(&state, 6),
                        index_type(&state),
                        index_type(&state),
                        value_type(&state),
                        test_below(&state, 2),
                        test_below(&state, 3) == 0,
                        -1,
                        -1,
                        0};
            recipe b = {inner,
                        cols,
                        test_below(&state, 9),
                        index_type(&state),
                        index_type(&state),
                        value_type(&state),
                        test_below(&state, 2),
                        a.wild,
                        -1,
                        -1,
                        0};
            lsp_csr A = make(&a, test_random(&state)), B = make(&b, test_random(&state)), C = {0}, turned_a, turned_b;
            lsp_spgemm_options options = {.method = (lsp_spgemm_method)(round % 3)};
            options.types = (lsp_csr_types){.rowptr_type = test_below(&state, 2) ? index_type(&state) : LSP_NONE,
                                            .col_type = test_below(&state, 2) ? index_type(&state) : LSP_NONE,
                                            .val_type = value_type(&state),
                                            .drop_values = test_below(&state, 5) == 0};
            lsp_type widest = A.val_type > B.val_type ? A.val_type : B.val_type;
            lsp_type type = options.types.drop_values            ? LSP_NONE
                            : options.types.val_type != LSP_NONE ? options.types.val_type
                                                                 : widest;
            lsp_csr right = oracle(&A, &B, type);
            must(ctx, lsp_spgemm(ctx, &A, &B, &options, &C, NULL));
            must(ctx, lsp_csr_check(ctx, &C, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE));
            cr_assert(C.rowptr_type == (options.types.rowptr_type ? options.types.rowptr_type : LSP_I32));
            cr_assert(C.col_type == (options.types.col_type ? options.types.col_type : LSP_I32));
            same(ctx, &C, &right, "straight");
            lsp_csr_free(ctx, &C);
            drop(&right);

            options.transpose_a = round & 4, options.transpose_b = round & 8;
            must(ctx, lsp_csr_transpose(ctx, &A, &turned_a));
            must(ctx, lsp_csr_transpose(ctx, &B, &turned_b));
            lsp_csr back_a = {0}, back_b = {0};
            must(ctx, lsp_csr_transpose(ctx, &turned_a, &back_a));
            must(ctx, lsp_csr_transpose(ctx, &turned_b, &back_b));
            right = oracle(options.transpose_a ? &back_a : &A, options.transpose_b ? &back_b : &B, type);
            must(ctx, lsp_spgemm(ctx, options.transpose_a ? &turned_a : &A, options.transpose_b ? &turned_b : &B,
                                 &options, &C, NULL));
            same(ctx, &C, &right, "transposed");
            lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &turned_a), lsp_csr_free(ctx, &turned_b);
            lsp_csr_free(ctx, &back_a), lsp_csr_free(ctx, &back_b);
            drop(&right), drop(&A), drop(&B);
        }
        lsp_ctx_destroy(ctx);
    }
}

/* Compares the sort's product with the reference's, for every instruction set, thread count and given budget. */
static void check_everywhere(const lsp_csr *A, const lsp_csr *B, const int64_t *budgets, int budget_count) {
    static const int threads[] = {1, 2, 3, 5};
    lsp_ctx *plain = test_ctx(1);
    lsp_csr right = {0};
    must(plain, lsp_spgemm(plain, A, B, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &right, NULL));
    for (int isa = 0; isa <= 2; isa++) {
        for (int t = 0; t < 4; t++) {
            for (int b = 0; b < budget_count; b++) {
                lsp_ctx *ctx = test_ctx(threads[t]);
                lsp_csr C = {0};
                char what[80];
                ctx->isa = (lsp_isa)lsp_min(isa, (int)ctx->isa);
                /* C, the plan's pointers and blocks, and the bytes that the allocator adds by rounding up */
                int64_t bytes = 16 * (A->rows + 1) + right.nnz * 16 + 8 * 1100 + 4096;
                must(ctx, lsp_ctx_set_max_bytes(ctx, budgets[b] == 0 ? 0 : bytes + budgets[b]));
                snprintf(what, sizeof what, "isa %d, %d threads, budget %lld", isa, threads[t], (long long)budgets[b]);
                must(ctx, lsp_spgemm(ctx, A, B, &(lsp_spgemm_options){.method = LSP_SPGEMM_SORT}, &C, NULL));
                same(ctx, &C, &right, what);
                lsp_ctx_destroy(ctx);
            }
        }
    }
    lsp_ctx_destroy(plain);
}

Test(spgemm, all_threads_budgets_and_instruction_sets_give_the_bits_of_the_reference) {
    static const recipe recipes[] = {
        /* rows, cols, entries, types, sorted, wild, dense row, dense column, band */
        {6000, 6000, 8, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0},   /* sorted rows, by all threads */
        {3000, 3000, 8, LSP_I64, LSP_I64, LSP_F64, false, true, -1, -1, 0},   /* unsorted, duplicates */
        {3000, 3000, 8, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 9},   /* a band: windows */
        {1500, 1500, 30, LSP_I32, LSP_I64, LSP_F32, true, false, -1, -1, 0},  /* long rows */
        {2000, 2000, 4, LSP_I32, LSP_I32, LSP_F64, true, false, 1234, -1, 0}, /* one dense row */
        {1200, 1200, 2, LSP_I32, LSP_I32, LSP_F64, true, false, -1, 77, 0},   /* one dense column */
        {900, 900, 3, LSP_I64, LSP_I32, LSP_F32, false, true, 3, 5, 0},       /* both, unsorted */
        {3000, 3000, 5, LSP_I32, LSP_I32, LSP_NONE, true, false, -1, -1, 0},  /* a pattern */
        {700, 700, 0, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0},     /* nothing at all */
    };
    static const int64_t budgets[] = {0, 1 << 16, 1 << 12};
    for (size_t k = 0; k < sizeof recipes / sizeof *recipes; k++) {
        lsp_csr A = make(&recipes[k], 100 + k);
        check_everywhere(&A, &A, budgets, 3);
        drop(&A);
    }
    /* few rows, columns far apart: wide words, and too many windows to try one after the other */
    recipe a = {40, 60, 12, LSP_I32, LSP_I32, LSP_F64, true, false, 7, -1, 0};
    recipe b = {60, (int64_t)1 << 50, 25, LSP_I64, LSP_I64, LSP_F64, false, false, -1, -1, 0};
    b.cols = 1 << 20;
    lsp_csr A = make(&a, 1), B = make(&b, 2);
    check_everywhere(&A, &B, budgets, 3);
    drop(&A), drop(&B);
}

/* Row i has the blocks of dof columns at i / dof * step + offset[..], except those outside the matrix. */
typedef struct stencil {
    int64_t rows, cols, step, dof;
    const int64_t *offset;
    int count;
    lsp_type index_type, val_type;
    bool wild;
} stencil;

static lsp_csr make_stencil(const stencil *s, uint64_t seed) {
    uint64_t state = seed;
    const size_t most = (size_t)(s->rows * s->count * s->dof) + 1;
    lsp_csr A = {.rows = s->rows,
                 .cols = s->cols,
                 .rowptr_type = s->index_type,
                 .col_type = s->index_type,
                 .val_type = s->val_type};
    A.rowptr = calloc((size_t)s->rows + 1, 8), A.col = calloc(most, 8);
    A.val = s->val_type == LSP_NONE ? NULL : calloc(most, 8);
    for (int64_t i = 0; i < s->rows; i++) {
        for (int64_t k = 0; k < s->count * s->dof; k++) {
            int64_t j = (i / s->dof * s->step + s->offset[k / s->dof]) * s->dof + k % s->dof;
            if (j >= 0 && j < s->cols) {
                double value = test_value(s->wild, &state);
                lsp_index_set(A.col, A.col_type, A.nnz, j);
                if (s->val_type == LSP_F32) {
                    ((float *)A.val)[A.nnz] = (float)value;
                } else if (s->val_type == LSP_F64) {
                    ((double *)A.val)[A.nnz] = value;
                }
                A.nnz++;
            }
        }
        lsp_index_set(A.rowptr, A.rowptr_type, i + 1, A.nnz);
    }
    return A;
}

Test(spgemm, rows_that_repeat_others_give_the_bits_of_the_reference) {
    static const int64_t budgets[] = {0, 1 << 14};
    static const int64_t cross[] = {-40, -1, 0, 1, 40}, box[] = {-31, -30, -29, -1, 0, 1, 29, 30, 31};
    static const int64_t turned[] = {5, -3, 0, 17}, twice[] = {0, 7, 7}, one[] = {3}, line[] = {0, 1, 2, 300};
    static const stencil stencils[] = {
        {1600, 1600, 1, 1, cross, 5, LSP_I32, LSP_F64, false}, {1600, 1600, 1, 1, cross, 5, LSP_I64, LSP_F32, true},
        {900, 900, 1, 1, box, 9, LSP_I32, LSP_NONE, false},    {1200, 1200, 1, 2, box, 9, LSP_I32, LSP_F64, true},
        {1200, 1200, 1, 3, cross, 5, LSP_I32, LSP_F64, false}, {1200, 1200, 1, 3, box, 9, LSP_I64, LSP_F32, false},
        {1500, 1500, 1, 5, box, 9, LSP_I32, LSP_F64, false},   {800, 800, 1, 1, turned, 4, LSP_I32, LSP_F64, false},
        {800, 800, 1, 1, twice, 3, LSP_I32, LSP_F64, true},    {800, 800, 1, 1, one, 1, LSP_I32, LSP_F64, false},
        {800, 800, 0, 1, line, 4, LSP_I32, LSP_F64, false},    {900, 900, 0, 3, line, 3, LSP_I32, LSP_F64, true},
        {2000, 2000, 1, 200, one, 1, LSP_I32, LSP_F64, false},
    };
    for (size_t k = 0; k < sizeof stencils / sizeof *stencils; k++) {
        lsp_csr A = make_stencil(&stencils[k], 200 + k);
        check_everywhere(&A, &A, budgets, 2);
        drop(&A);
    }
    /* rows of A lead to rows of B that are 7 to 10 further; rows of B are shifted by 252 to 256 columns */
    for (int64_t step = 7; step <= 10; step++) {
        for (int64_t distance = 252; distance <= 256; distance++) {
            const stencil a = {120, 1300, step, 1, line, 3, LSP_I32, LSP_F64, false};
            const stencil b = {1300, 1300 * distance, distance, 1, line, 4, LSP_I32, LSP_F64, false};
            lsp_csr A = make_stencil(&a, 1), B = make_stencil(&b, 2);
            check_everywhere(&A, &B, budgets, 1);
            drop(&A), drop(&B);
        }
    }
}

/* Each row of C has n products, from two rows of B of half of them each. n is near every limit of a method. */
Test(spgemm, rows_of_any_number_of_products_give_the_bits_of_the_reference) {
    static const int64_t limits[] = {1, 8, 16, 32, 64, 256, 1024, 8192, 65536}, budgets[] = {0};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        for (int64_t n = lsp_max(limits[k] - 1, 1); n <= limits[k] + 1; n++) {
            for (int wide = 0; wide < 2; wide++) { /* columns that fit a window, or not */
                uint64_t state = (uint64_t)n;
                const int64_t cols = wide ? 64 * n + 7 : n / 3 + 2;
                lsp_csr A = {.rows = 3, .cols = 2, .nnz = 4, .rowptr_type = LSP_I32, .col_type = LSP_I32};
                lsp_csr B = {.rows = 2, .cols = cols, .nnz = n, .rowptr_type = LSP_I32, .col_type = LSP_I32};
                int32_t a_rows[] = {0, 2, 4, 4}, a_cols[] = {0, 1, 1, 0}, b_rows[] = {0, (int32_t)(n / 2), (int32_t)n};
                double a_vals[] = {1.5, -0.3, 7, 1e-3};
                A.val_type = B.val_type = LSP_F64;
                A.rowptr = a_rows, A.col = a_cols, A.val = a_vals, B.rowptr = b_rows;
                B.col = malloc((size_t)n * 4), B.val = malloc((size_t)n * 8);
                for (int64_t p = 0; p < n; p++) {
                    ((int32_t *)B.col)[p] = (int32_t)test_below(&state, cols);
                    ((double *)B.val)[p] = test_value(false, &state);
                }
                check_everywhere(&A, &B, budgets, 1);
                free(B.col), free(B.val);
            }
        }
    }
}

Test(spgemm, columns_beyond_32_and_60_bits_are_ordinary) {
    lsp_ctx *ctx = test_ctx(2);
    for (int bits = 40; bits <= 62; bits += 11) {
        far_columns *f = make_far_columns(bits);
        lsp_csr C = {0};
        for (int budget = 0; budget < 2; budget++) {
            must(ctx, lsp_ctx_set_max_bytes(ctx, budget == 0 ? 0 : 100000));
            must(ctx, lsp_spgemm(ctx, &f->A, &f->B, NULL, &C, NULL));
            check_far_columns(f, &C);
            lsp_csr_free(ctx, &C);
        }
        must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
        must_fail(ctx, LSP_ERR_MEMORY, "",
                  lsp_spgemm(ctx, &f->A, &f->B, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &C, NULL));
        free(f);
    }
    lsp_ctx_destroy(ctx);
}

Test(spgemm, identity_and_permutation_move_rows_and_columns) {
    lsp_ctx *ctx = test_ctx(2);
    enum { N = 500 };
    recipe r = {N, N, 7, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 3), C = {0};
    int32_t rows[N + 1], cols[N];
    double ones[N];
    for (int i = 0; i <= N; i++) {
        rows[i] = i;
        cols[i % N] = i % N, ones[i % N] = 1;
    }
    lsp_csr P = {N, N, N, rows, cols, ones, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
    must(ctx, lsp_spgemm(ctx, &P, &A, NULL, &C, NULL));
    same(ctx, &C, &A, "I*A");
    lsp_csr_free(ctx, &C);
    must(ctx, lsp_spgemm(ctx, &A, &P, NULL, &C, NULL));
    same(ctx, &C, &A, "A*I");
    lsp_csr_free(ctx, &C);
    for (int i = 0; i < N; i++) {
        cols[i] = N - 1 - i;
    }
    must(ctx, lsp_spgemm(ctx, &P, &P, NULL, &C, NULL));
    for (int i = 0; i < N; i++) {
        cr_assert(((int32_t *)C.col)[i] == i && ((double *)C.val)[i] == 1);
    }
    drop(&A);
    lsp_ctx_destroy(ctx);
}
