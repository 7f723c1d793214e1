/* Matrices on the GPU transposed, permuted, expanded and made of triples: what the host gives, bit by bit. Skipped
 * without a GPU. */
#include "tests/orders.h"
#include "tests/there.h"

static const int64_t sizes[][3] = {{0, 0, 0},    {0, 7, 0},       {7, 0, 0},      {4, 4, 0},
                                   {1, 1, 1},    {5, 3, 40},      {60, 60, 500},  {50, 1, 99},
                                   {1, 50, 999}, {3, 2000, 4000}, {30, 9, 12000}, {700, 900, 30000}};
enum { size_count = sizeof sizes / sizeof *sizes };

static void *items_there(lsp_ctx *ctx, const void *array, int64_t n, lsp_type type) {
    return array && n > 0 ? array_there(ctx, array, n * (int64_t)lsp_type_bytes(type)) : NULL;
}

Test(device_convert, transposes_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t += pace()) {
            lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], test_types(t), 2), B, right;
            lsp_csr a = moved(ctx, &A, LSP_CUDA);
            must(ctx, lsp_csr_transpose(ctx, &A, &right));
            must(ctx, lsp_csr_transpose(ctx, &a, &B));
            must_be_the_hosts(ctx, &B, &right);
            must(ctx, lsp_csr_sort(ctx, &A)); /* sorted, with columns that repeat */
            must(ctx, lsp_csr_sort(ctx, &a));
            must(ctx, lsp_csr_transpose(ctx, &A, &right));
            must(ctx, lsp_csr_transpose(ctx, &a, &a)); /* in its own place */
            must_be_the_hosts(ctx, &a, &right);
            lsp_csr_free(ctx, &A);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* Sorted rows, no column twice: the bins' kind. */
Test(device_convert, transposes_of_sorted_rows_are_those_of_the_host) {
    static const char *const names[] = {"poisson2d:60", "stencil27:9", "er:3000:9",  "er:90000:1",
                                        "rmat:9:6",     "er:40:30",    "perm:30000", "er:9:0"};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int t = 0; t < test_combinations; t += pace()) {
            lsp_csr_types types = test_types(t);
            types.drop_values = types.val_type == LSP_NONE;
            const bool pairs = types.val_type == LSP_C64;
            lsp_csr G, A, right, B;
            must(ctx, lsp_generate(ctx, names[i], 1, NULL, &G));
            if (pairs) { /* real values do not become complex */
                G.val_type = LSP_NONE;
                lsp_free(ctx, G.val);
                G.val = NULL;
            }
            must(ctx, lsp_csr_copy(ctx, &G, &types, &A));
            for (int64_t k = 0; k < A.nnz; k++) {
                test_set_value(&A, k, (double)(k % 1000), (double)-k);
            }
            lsp_csr a = moved(ctx, &A, LSP_CUDA);
            must(ctx, lsp_csr_transpose(ctx, &A, &right));
            must(ctx, lsp_csr_transpose(ctx, &a, &B));
            must_be_the_hosts(ctx, &B, &right);
            lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &G);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* A grid's matrix, but entry (r, r + 1) is at (r, r + 2): one without a mirror, which no sample of first and last
 * entries of rows shows. Sums of columns go the same way. */
Test(device_convert, one_entry_without_a_mirror_is_found) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int t = 0; t < test_combinations; t += pace()) {
        const lsp_csr_types types = test_types(t);
        lsp_csr G, A, right, B;
        must(ctx, lsp_generate(ctx, "poisson2d:40", 1, NULL, &G));
        G.val_type = LSP_NONE;
        lsp_free(ctx, G.val);
        G.val = NULL;
        must(ctx, lsp_csr_copy(ctx, &G, &types, &A));
        for (int64_t k = 0; k < A.nnz; k++) {
            test_set_value(&A, k, (double)(k % 1000), (double)-k);
        }
        const int64_t r = 555, k = lsp_csr_rowptr(&A, r) + 3;
        cr_assert_eq(lsp_csr_col(&A, k), r + 1);
        lsp_index_set(A.col, A.col_type, k, r + 2);
        lsp_csr a = moved(ctx, &A, LSP_CUDA);
        must(ctx, lsp_csr_transpose(ctx, &A, &right));
        must(ctx, lsp_csr_transpose(ctx, &a, &B));
        must_be_the_hosts(ctx, &B, &right);
        lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &G);
    }
    lsp_ctx_destroy(ctx);
}

/* Mirrored entries in the corners of a matrix whose other rows are empty. */
Test(device_convert, corners_of_an_empty_matrix_are_transposed) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    enum { n = 100000 };
    for (int t = 0; t < test_combinations; t += pace()) {
        const lsp_csr_types types = test_types(t);
        lsp_csr A, right, B;
        must(ctx, lsp_csr_create(ctx, n, n, 4, &types, &A));
        for (int64_t i = 0; i < n; i++) {
            lsp_index_set(A.rowptr, A.rowptr_type, i + 1, i < n - 1 ? 2 : 4);
        }
        for (int k = 0; k < 4; k++) {
            lsp_index_set(A.col, A.col_type, k, k % 2 ? n - 1 : 0);
            test_set_value(&A, k, k + 1, -k);
        }
        lsp_csr a = moved(ctx, &A, LSP_CUDA);
        must(ctx, lsp_csr_transpose(ctx, &A, &right));
        must(ctx, lsp_csr_transpose(ctx, &a, &B));
        must_be_the_hosts(ctx, &B, &right);
        lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &A);
    }
    lsp_ctx_destroy(ctx);
}

/* n x n: the diagonal, a full row and a full column. */
Test(device_convert, an_arrow_is_transposed) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const int64_t lengths[] = {70, 900, 20000}; /* the last one fills no bin evenly */
    for (int c = 0; c < 3; c++) {
        const int64_t n = lengths[c];
        lsp_csr A, right, B;
        must(ctx, lsp_csr_create(ctx, n, n, 3 * n - 2, &(lsp_csr_types){.val_type = LSP_F64}, &A));
        for (int64_t i = 0, k = 0; i < n; i++) {
            const int64_t last = i == 0 ? n : 2;
            for (int64_t e = 0; e < last; e++, k++) {
                lsp_index_set(A.col, A.col_type, k, i == 0 ? e : e * i);
                ((double *)A.val)[k] = (double)k;
            }
            lsp_index_set(A.rowptr, A.rowptr_type, i + 1, k);
        }
        lsp_csr a = moved(ctx, &A, LSP_CUDA);
        must(ctx, lsp_csr_transpose(ctx, &A, &right));
        must(ctx, lsp_csr_transpose(ctx, &a, &B));
        must_be_the_hosts(ctx, &B, &right);
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_convert, permutations_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t += pace()) {
            lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], test_types(t), 4), B, right;
            lsp_csr a = moved(ctx, &A, LSP_CUDA);
            const lsp_type type = t % 3 ? A.col_type : LSP_I64;
            void *rows = c % 3 == 1 ? NULL : test_order(A.rows, type, 5);
            void *cols = c % 3 == 2 ? NULL : test_order(A.cols, type, 6);
            void *rows_there = items_there(ctx, rows, A.rows, type), *cols_there = items_there(ctx, cols, A.cols, type);
            must(ctx, lsp_csr_permute(ctx, &A, rows, cols, type, &right));
            must(ctx, lsp_csr_permute(ctx, &a, rows_there, cols_there, type, &B));
            must_be_the_hosts(ctx, &B, &right);
            lsp_free(ctx, rows_there), lsp_free(ctx, cols_there);
            free(rows), free(cols);
            lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a);
        }
    }
    lsp_ctx_destroy(ctx);
}

Test(device_convert, an_order_that_is_no_permutation_is_refused) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const struct {
        int32_t rows[3], cols[4];
        const char *why;
    } bad[] = {{{0, 3, 1}, {0, 1, 2, 3}, "order of the rows holds 3, not in 0 .. 2"},
               {{0, -1, 1}, {0, 1, 2, 3}, "order of the rows holds -1, not in 0 .. 2"},
               {{0, 0, 9}, {0, 1, 2, 3}, "order of the rows holds 0 twice"},
               {{0, 1, 2}, {0, 2, 1, 2}, "order of the columns holds 2 twice"},
               {{0, 1, 2}, {9, 2, 2, 2}, "order of the columns holds 9, not in 0 .. 3"}};
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){0}, 1), B = {.rows = 42};
    lsp_csr a = moved(ctx, &A, LSP_CUDA);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        void *rows = items_there(ctx, bad[i].rows, 3, LSP_I32), *cols = items_there(ctx, bad[i].cols, 4, LSP_I32);
        must_fail(ctx, LSP_ERR_ARGUMENT, bad[i].why, lsp_csr_permute(ctx, &A, bad[i].rows, bad[i].cols, LSP_I32, &B));
        must_fail(ctx, LSP_ERR_ARGUMENT, bad[i].why, lsp_csr_permute(ctx, &a, rows, cols, LSP_I32, &B));
        lsp_free(ctx, rows), lsp_free(ctx, cols);
    }
    cr_assert(B.rows == 42 && !B.rowptr);
    lsp_ctx_destroy(ctx);
}

/* Values whose sums depend on the order, infinities and NaN. */
static void set_odd_values(const lsp_csr *A) {
    static const double odd[] = {1e16, 1, -1e16, INFINITY, -INFINITY, 0.1, -0.0, 3e-7, NAN};
    uint64_t state = 99;
    for (int64_t k = 0; k < A->nnz; k++) {
        test_set_value(A, k, odd[test_below(&state, k % 50 == 0 ? 9 : 3)], odd[test_below(&state, 8)]);
    }
}

Test(device_convert, whole_matrices_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const int64_t squares[][2] = {{0, 0}, {1, 1}, {1, 30}, {12, 200}, {200, 150}, {300, 4000}};
    for (int c = 0; c < 6; c++) {
        for (int t = 0; t < test_combinations; t += pace()) {
            for (int symmetry = 0; symmetry < 4; symmetry++) {
                const int64_t n = squares[c][0];
                lsp_csr A = test_random_csr(ctx, n, n, squares[c][1], test_types(t), 7), B, right;
                set_odd_values(&A);
                lsp_csr a = moved(ctx, &A, LSP_CUDA);
                must(ctx, lsp_csr_expand(ctx, &A, (lsp_symmetry)symmetry, &right));
                must(ctx, lsp_csr_expand(ctx, &a, (lsp_symmetry)symmetry, &B));
                must_be_the_hosts(ctx, &B, &right);
                lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a);
            }
        }
    }
    lsp_ctx_destroy(ctx);
}

/* The entries of A as triples in a random order, on the host. */
static lsp_coo shuffled(const lsp_csr *A, lsp_type index_type) {
    const size_t index_bytes = lsp_type_bytes(index_type), val_bytes = lsp_type_bytes(A->val_type);
    int64_t *order = test_order(A->nnz, LSP_I64, 9);
    char *row = malloc((size_t)A->nnz * index_bytes + 1), *col = malloc((size_t)A->nnz * index_bytes + 1);
    char *val = val_bytes ? malloc((size_t)A->nnz * val_bytes + 1) : NULL;
    for (int64_t k = 0; k < A->nnz; k++) {
        lsp_index_set(row, index_type, k, lsp_csr_row_of(A, order[k]));
        lsp_index_set(col, index_type, k, lsp_csr_col(A, order[k]));
        lsp_move_value(val, k, A->val, order[k], val_bytes);
    }
    free(order);
    return (lsp_coo){A->rows, A->cols, A->nnz, row, col, val, index_type, A->val_type, LSP_HOST};
}
static lsp_coo triples_there(lsp_ctx *ctx, const lsp_coo *A) {
    lsp_coo there = *A;
    there.row = items_there(ctx, A->row, A->nnz, A->index_type);
    there.col = items_there(ctx, A->col, A->nnz, A->index_type);
    there.val = items_there(ctx, A->val, A->nnz, A->val_type);
    there.where = LSP_CUDA;
    return there;
}
static void drop_triples(lsp_ctx *ctx, lsp_coo *here, lsp_coo *there) {
    free((void *)here->row), free((void *)here->col), free((void *)here->val);
    lsp_free(ctx, (void *)there->row), lsp_free(ctx, (void *)there->col), lsp_free(ctx, (void *)there->val);
}

Test(device_convert, triples_become_the_rows_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t += pace()) {
            lsp_csr R = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], test_types(t), 8), B, right;
            set_odd_values(&R);
            lsp_coo here = shuffled(&R, R.col_type), there = triples_there(ctx, &here);
            lsp_csr_types given = test_types(t ^ 3);
            given.place = LSP_PLACE_HOST;
            int64_t duplicates = -1, expected = -2;
            must(ctx, lsp_coo_to_csr(ctx, &here, NULL, &right, &expected));
            must(ctx, lsp_coo_to_csr(ctx, &there, NULL, &B, &duplicates));
            must_be_the_hosts(ctx, &B, &right);
            cr_assert_eq(duplicates, expected);
            must(ctx, lsp_coo_to_csr(ctx, &here, &given, &right, NULL));
            must(ctx, lsp_coo_to_csr(ctx, &there, &given, &B, NULL));
            must_be_same(ctx, &right, &B);
            lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &B), lsp_csr_free(ctx, &R);
            drop_triples(ctx, &here, &there);
        }
    }
    lsp_ctx_destroy(ctx);
}

Test(device_convert, what_is_wrong_is_refused) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip(), *host = test_ctx(1);
    int64_t row[] = {0, 1, 2, 3}, col[] = {0, 1, 5, 9};
    lsp_coo here = {3, 3, 4, row, col, NULL, LSP_I64, LSP_NONE, LSP_HOST}, there = triples_there(ctx, &here);
    lsp_csr B = {.rows = 42};
    int64_t duplicates = 42;
    const char *why = "triple 2 is at row 2, column 5: outside 3 x 3";
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_coo_to_csr(ctx, &here, NULL, &B, &duplicates));
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_coo_to_csr(ctx, &there, NULL, &B, &duplicates));
    must_fail(host, LSP_ERR_DEVICE, "the triples lie on the GPU", lsp_coo_to_csr(host, &there, NULL, &B, &duplicates));
    there.where = (lsp_where)7;
    must_fail(ctx, LSP_ERR_ARGUMENT, "place 7", lsp_coo_to_csr(ctx, &there, NULL, &B, &duplicates));
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){0}, 1), a = moved(ctx, &A, LSP_CUDA);
    must_fail(host, LSP_ERR_DEVICE, "A lies on the GPU", lsp_csr_transpose(host, &a, &B));
    must_fail(host, LSP_ERR_DEVICE, "A lies on the GPU", lsp_csr_permute(host, &a, NULL, NULL, LSP_NONE, &B));
    must_fail(host, LSP_ERR_DEVICE, "A lies on the GPU", lsp_csr_expand(host, &a, LSP_SYMMETRY_GENERAL, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "no mirror image", lsp_csr_expand(ctx, &a, LSP_SYMMETRY_SKEW, &B));
    const int32_t beyond = 4;
    must(ctx, lsp_cuda_copy(ctx, (int32_t *)a.col + 3, LSP_CUDA, &beyond, LSP_HOST, sizeof beyond));
    why = "column 4 is not in 0 .. 3";
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_csr_transpose(ctx, &a, &B));
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_csr_permute(ctx, &a, NULL, NULL, LSP_NONE, &B));
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_csr_expand(ctx, &a, LSP_SYMMETRY_GENERAL, &B));
    cr_assert(B.rows == 42 && !B.rowptr && duplicates == 42);
    lsp_ctx_destroy(host), lsp_ctx_destroy(ctx);
}

Test(device_convert, rows_that_are_none_are_refused) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const struct {
        int64_t rowptr[4];
        const char *why;
    } bad[] = {{{1, 1, 2, 3}, "P: rowptr[0] is 1"},
               {{0, 1, 2, 9}, "P: rowptr[3] is 9"},
               {{0, 3, 2, 3}, "P, row 1 ends"},
               {{0, INT64_MIN, INT64_MAX, 3}, "P, row 0 ends"}};
    int64_t rowptr[] = {0, 1, 2, 3}, col[] = {0, 1, 2};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const lsp_csr A = {3, 5, 3, rowptr, col, NULL, LSP_I64, LSP_I64, LSP_NONE, LSP_HOST};
        lsp_csr a = moved(ctx, &A, LSP_CUDA), B = {.rows = 42};
        must(ctx, lsp_cuda_copy(ctx, a.rowptr, LSP_CUDA, bad[i].rowptr, LSP_HOST, sizeof bad[i].rowptr));
        must_fail(ctx, LSP_ERR_FORMAT, bad[i].why, lsp_csr_transpose_as(ctx, "P", &a, &B));
        cr_assert(B.rows == 42 && !B.rowptr);
        lsp_csr_free(ctx, &a);
    }
    lsp_ctx_destroy(ctx);
}

/* ---- a budget that ends anywhere ---- */

static lsp_status convert(lsp_ctx *ctx, int step, const lsp_csr *a, const lsp_coo *triples, const void *order,
                          lsp_csr *B) {
    return step == 0   ? lsp_csr_transpose(ctx, a, B)
           : step == 1 ? lsp_csr_permute(ctx, a, order, order, LSP_NONE, B)
           : step == 2 ? lsp_csr_expand(ctx, a, LSP_SYMMETRY_SYMMETRIC, B)
                       : lsp_coo_to_csr(ctx, triples, NULL, B, NULL);
}

Test(device_convert, memory_that_does_not_suffice_leaves_the_output_alone) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int unique = 0; unique < 2; unique++) {
        lsp_csr A = test_random_csr(ctx, 300, 300, 4000, (lsp_csr_types){.val_type = LSP_F64}, 3);
        lsp_coo here = shuffled(&A, LSP_I32), there = triples_there(ctx, &here);
        int32_t *order = test_order(300, LSP_I32, 4);
        if (unique) {
            must(ctx, lsp_csr_sort(ctx, &A));
            must(ctx, lsp_csr_sum_duplicates(ctx, &A, NULL));
        }
        lsp_csr a = moved(ctx, &A, LSP_CUDA);
        void *order_there = items_there(ctx, order, 300, LSP_I32);
        for (int step = 0; step < 4; step++) {
            lsp_status status = LSP_ERR_MEMORY;
            for (int64_t budget = 4096; status != LSP_OK; budget += budget / 8) {
                const lsp_ctx_options options = {.device = LSP_CUDA, .max_bytes = budget};
                lsp_ctx *small = NULL;
                lsp_csr B = {.rows = 42};
                cr_assert(budget < 1 << 30);
                must(ctx, lsp_ctx_create(&small, &options, NULL, 0));
                status = convert(small, step, &a, &there, order_there, &B);
                cr_assert(status == LSP_OK || (status == LSP_ERR_MEMORY && B.rows == 42 && !B.rowptr), "step %d: %s",
                          step, lsp_last_error(small));
                lsp_ctx_destroy(small);
            }
        }
        lsp_free(ctx, order_there), free(order);
        drop_triples(ctx, &here, &there);
        lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &A);
    }
    lsp_ctx_destroy(ctx);
}
