/* Values of matrices on the GPU: scaled, mapped, reduced, multiplied entry by entry, and diagonals. The bits are those
 * of the host. Skipped without a GPU. */
#include "tests/planned.h"
#include "tests/there.h"

static const int64_t sizes[][3] = {{0, 0, 0},     {0, 5, 0},     {5, 0, 0},       {4, 4, 0},      {7, 5, 30},
                                   {60, 70, 900}, {3, 9, 20000}, {900, 40, 2000}, {50, 900, 9000}};
enum { size_count = sizeof sizes / sizeof *sizes };

/* Values that overflow, cancel and are no numbers. */
static void set_odd_values(const lsp_csr *A, uint64_t seed) {
    static const double odd[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e300, -1e-300, 0.1};
    for (int64_t k = 0; k < A->nnz; k++) {
        const int64_t pick = test_below(&seed, 60);
        const double usual = 1 / ((double)test_below(&seed, 1000) - 300.5);
        test_set_value(A, k, pick < 8 ? odd[pick] : usual, 0.25 - usual);
    }
}

/* Runs body(A on the host, a on the GPU) for all sizes and types. */
#define EACH_MATRIX(body)                                                                                              \
    for (int c = 0; c < size_count; c++) {                                                                             \
        for (int t = c % pace(); t < test_combinations; t += pace()) {                                                 \
            lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], test_types(t), 2);                 \
            set_odd_values(&A, (uint64_t)t);                                                                           \
            lsp_csr a = moved(ctx, &A, LSP_CUDA);                                                                      \
            body;                                                                                                      \
            lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a);                                                              \
        }                                                                                                              \
    }

static void must_scale_alike(lsp_ctx *ctx, lsp_csr *A, lsp_csr *a) {
    const int64_t bytes = (int64_t)lsp_type_bytes(A->val_type);
    void *rows = calloc((size_t)A->rows + 1, 16), *cols = calloc((size_t)A->cols + 1, 16);
    for (int64_t i = 0; i < lsp_max(A->rows, A->cols); i++) {
        if (i < A->rows) {
            lsp_value_set(A->val_type, rows, i, lsp_value_from(1 / (double)(i + 3), (double)i));
        }
        if (i < A->cols) {
            lsp_value_set(A->val_type, cols, i, lsp_value_from((double)(i % 7) - 3, -1));
        }
    }
    void *rows_there = array_there(ctx, rows, A->rows * bytes), *cols_there = array_there(ctx, cols, A->cols * bytes);
    must(ctx, lsp_csr_scale(ctx, A, rows, cols));
    must(ctx, lsp_csr_scale(ctx, a, rows_there, cols_there));
    must(ctx, lsp_csr_scale(ctx, A, NULL, cols));
    must(ctx, lsp_csr_scale(ctx, a, NULL, cols_there));
    must_match(ctx, a, A);
    lsp_free(ctx, rows_there), lsp_free(ctx, cols_there);
    free(rows), free(cols);
}

static void must_map_alike(lsp_ctx *ctx, lsp_csr *A, lsp_csr *a) {
    for (int f = 0; f < LSP_FUNCTIONS; f++) {
        const bool offered =
            A->val_type != LSP_C64 || (f != LSP_APPLY_SQRT && f != LSP_APPLY_SIGN && f != LSP_APPLY_POWER);
        if (offered) {
            must(ctx, lsp_csr_apply(ctx, A, (lsp_function)f, -3));
            must(ctx, lsp_csr_apply(ctx, a, (lsp_function)f, -3));
            must_match(ctx, a, A);
            set_odd_values(A, (uint64_t)f);
            must(ctx,
                 lsp_cuda_copy(ctx, a->val, LSP_CUDA, A->val, LSP_HOST, A->nnz * (int64_t)lsp_type_bytes(A->val_type)));
        }
    }
}

Test(device_values, are_scaled_and_mapped_as_on_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    EACH_MATRIX(if (A.val_type != LSP_NONE) {
        must_map_alike(ctx, &A, &a);
        must_scale_alike(ctx, &A, &a);
    })
    lsp_ctx_destroy(ctx);
}

static void must_reduce_alike(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *a) {
    for (int r = 0; r < LSP_REDUCTIONS; r++) {
        for (int axis = 0; axis < 3; axis++) {
            if (A->val_type == LSP_C64 && (r == LSP_REDUCE_MIN || r == LSP_REDUCE_MAX)) {
                continue;
            }
            const int64_t n = axis == LSP_REDUCE_ALL ? 1 : axis == LSP_REDUCE_EACH_ROW ? A->rows : A->cols;
            char *here = calloc((size_t)n + 1, 16), *back = calloc((size_t)n + 1, 16);
            void *there = array_there(ctx, here, n * 16);
            must(ctx, lsp_csr_reduce(ctx, A, (lsp_reduction)r, (lsp_axis)axis, here));
            must(ctx, lsp_csr_reduce(ctx, a, (lsp_reduction)r, (lsp_axis)axis, there));
            must(ctx, lsp_cuda_copy(ctx, back, LSP_HOST, there, LSP_CUDA, n * 16));
            cr_assert(memcmp(here, back, (size_t)n * 16) == 0, "reduction %d, axis %d", r, axis);
            lsp_free(ctx, there);
            free(here), free(back);
        }
    }
}

Test(device_values, are_reduced_as_on_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    EACH_MATRIX(must_reduce_alike(ctx, &A, &a))
    lsp_ctx_destroy(ctx);
}

/* Rows of up to 8 entries, and some that a warp joins, that are queued, that have several pieces. */
/* Columns of every length, each row ascending: A's columns are joined in bins. */
Test(device_values, are_reduced_as_on_the_host_where_columns_fit_bins) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    enum { cols = 13, most = 4200 };
    for (int t = 0; t < test_combinations; t += LSP_EMULATED ? 3 * pace() : pace()) {
        const lsp_csr_types types = test_types(t);
        const int64_t rows = types.val_type == LSP_C64 ? 2500 : most;
        lsp_csr A, a;
        int64_t nnz = 0;
        must(ctx, lsp_csr_create(ctx, rows, cols, 2 * rows + cols * 2, &types, &A));
        for (int64_t i = 0; i < rows; i++) {
            for (int j = 0; j < cols; j++) {
                if (i % (1 << j) == 0) {
                    lsp_index_set(A.col, A.col_type, nnz++, j);
                }
            }
            lsp_index_set(A.rowptr, A.rowptr_type, i + 1, nnz);
        }
        cr_assert(nnz <= A.nnz);
        A.nnz = nnz;
        set_odd_values(&A, (uint64_t)t);
        a = moved(ctx, &A, LSP_CUDA);
        must_reduce_alike(ctx, &A, &a);
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a);
    }
    lsp_ctx_destroy(ctx);
}
/* The diagonal, a full row and a full column: entries are mirrored, and a column has several pieces. */
Test(device_values, are_reduced_as_on_the_host_where_entries_are_mirrored) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    enum { n = 5000 };
    for (int t = 0; t < test_combinations; t += LSP_EMULATED ? 3 * pace() : pace()) {
        const lsp_csr_types types = test_types(t);
        lsp_csr A, a;
        must(ctx, lsp_csr_create(ctx, n, n, 3 * n - 2, &types, &A));
        for (int64_t i = 0, k = 0; i < n; i++) {
            for (int64_t e = 0; e < (i == 0 ? n : 2); e++) {
                lsp_index_set(A.col, A.col_type, k++, i == 0 ? e : e * i);
            }
            lsp_index_set(A.rowptr, A.rowptr_type, i + 1, k);
        }
        set_odd_values(&A, (uint64_t)t);
        a = moved(ctx, &A, LSP_CUDA);
        must_reduce_alike(ctx, &A, &a);
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_values, are_reduced_as_on_the_host_where_few_rows_are_long) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const int64_t few[] = {0, 3, 8, 1, 5}, longer[] = {9, 70, 100, 513, 700, 4097, 9000};
    for (int t = 0; t < test_combinations; t += pace()) {
        int32_t *rowptr = calloc(1001, sizeof *rowptr);
        for (int i = 0; i < 1000; i++) {
            rowptr[i + 1] = rowptr[i] + (int32_t)(i % 140 == 33 ? longer[i / 140 % 7] : few[i % 5]);
        }
        lsp_csr A = test_random_csr(ctx, 1000, 50, rowptr[1000], test_types(t), 4);
        for (int i = 0; i <= 1000; i++) {
            lsp_index_set(A.rowptr, A.rowptr_type, i, rowptr[i]);
        }
        set_odd_values(&A, (uint64_t)t);
        lsp_csr a = moved(ctx, &A, LSP_CUDA);
        must_reduce_alike(ctx, &A, &a);
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a), free(rowptr);
    }
    lsp_ctx_destroy(ctx);
}

static void must_have_the_diagonal(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *a) {
    const int64_t n = lsp_min(A->rows, A->cols);
    const lsp_type type = A->val_type == LSP_NONE ? LSP_F64 : A->val_type;
    void *here = calloc((size_t)n + 1, 16), *there = array_there(ctx, NULL, n * 16);
    lsp_csr D, d;
    must(ctx, lsp_csr_diagonal(ctx, A, here));
    must(ctx, lsp_csr_diagonal(ctx, a, there));
    must(ctx, lsp_csr_from_diagonal(ctx, n, here, type, LSP_HOST, &D));
    must(ctx, lsp_csr_from_diagonal(ctx, n, there, type, LSP_CUDA, &d));
    must_match(ctx, &d, &D);
    lsp_csr_free(ctx, &D), lsp_csr_free(ctx, &d);
    must(ctx, lsp_csr_from_diagonal(ctx, n, NULL, A->val_type, LSP_HOST, &D));
    must(ctx, lsp_csr_from_diagonal(ctx, n, NULL, A->val_type, LSP_CUDA, &d));
    must_match(ctx, &d, &D);
    lsp_csr_free(ctx, &D), lsp_csr_free(ctx, &d);
    lsp_free(ctx, there), free(here);
}

Test(device_values, have_the_diagonals_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    EACH_MATRIX(must_have_the_diagonal(ctx, &A, &a))
    lsp_ctx_destroy(ctx);
}

static void must_multiply_alike(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *a, int t) {
    for (int u = 0; u < test_combinations; u += 3) {
        lsp_csr B = test_random_csr(ctx, A->rows, A->cols, A->nnz, test_types(u), 3 + (uint64_t)t), C, c;
        lsp_csr b = moved(ctx, &B, LSP_CUDA);
        must(ctx, lsp_csr_hadamard(ctx, A, &B, &C));
        must(ctx, lsp_csr_hadamard(ctx, a, &b, &c));
        must_match(ctx, &c, &C);
        lsp_csr_free(ctx, &B), lsp_csr_free(ctx, &b), lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &c);
    }
}

Test(device_values, are_multiplied_entry_by_entry_as_on_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    EACH_MATRIX(must_multiply_alike(ctx, &A, &a, t))
    lsp_ctx_destroy(ctx);
}

Test(device_values, on_another_device_are_refused) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip(), *host = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){.val_type = LSP_F64}, 1), C = {.rows = 42};
    lsp_csr a = moved(ctx, &A, LSP_CUDA);
    double x[8];
    const int32_t beyond = 4;
    must_fail(host, LSP_ERR_DEVICE, "A lies on the GPU", lsp_csr_scale(host, &a, NULL, NULL));
    must_fail(host, LSP_ERR_DEVICE, "A lies on the GPU", lsp_csr_reduce(host, &a, LSP_REDUCE_SUM, LSP_REDUCE_ALL, x));
    must_fail(host, LSP_ERR_DEVICE, "A lies on the GPU", lsp_csr_diagonal(host, &a, x));
    must_fail(ctx, LSP_ERR_ARGUMENT, "different places", lsp_csr_hadamard(ctx, &a, &A, &C));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "on the host only", lsp_csr_each_row(ctx, &a, NULL, NULL));
    cr_assert(lsp_csr_from_diagonal(host, 3, NULL, LSP_F64, LSP_CUDA, &C) != LSP_OK);
    must(ctx, lsp_cuda_copy(ctx, (int32_t *)a.col + 3, LSP_CUDA, &beyond, LSP_HOST, sizeof beyond));
    must_fail(ctx, LSP_ERR_FORMAT, "column", lsp_csr_scale(ctx, &a, NULL, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "column", lsp_csr_hadamard(ctx, &a, &a, &C));
    const double before[4] = {1, 2, 3, 4};
    void *there = array_there(ctx, before, sizeof before);
    must_fail(ctx, LSP_ERR_FORMAT, "column 4 is not in 0 .. 3", lsp_csr_diagonal(ctx, &a, there));
    for (int axis = 0; axis < 3; axis++) {
        must_fail(ctx, LSP_ERR_FORMAT, "column", lsp_csr_reduce(ctx, &a, LSP_REDUCE_SUM, (lsp_axis)axis, there));
    }
    must(ctx, lsp_cuda_copy(ctx, x, LSP_HOST, there, LSP_CUDA, sizeof before));
    cr_assert(memcmp(x, before, sizeof before) == 0, "results of a matrix that is none");
    lsp_free(ctx, there);
    cr_assert(C.rows == 42 && C.rowptr == NULL);
    lsp_ctx_destroy(host), lsp_ctx_destroy(ctx);
}

Test(device_values, memory_that_does_not_suffice_leaves_outputs_alone) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_csr A = test_random_csr(ctx, 300, 300, 4000, (lsp_csr_types){.val_type = LSP_F64}, 3),
            a = moved(ctx, &A, LSP_CUDA);
    void *sums = array_there(ctx, NULL, 300 * 8);
    lsp_status status = LSP_ERR_MEMORY;
    for (int64_t budget = 4096; status != LSP_OK; budget += budget / 8) {
        const lsp_ctx_options options = {.device = LSP_CUDA, .max_bytes = budget};
        lsp_ctx *small = NULL;
        lsp_csr C = {.rows = 42};
        cr_assert(budget < 1 << 30);
        must(ctx, lsp_ctx_create(&small, &options, NULL, 0));
        status = lsp_csr_hadamard(small, &a, &a, &C);
        cr_assert(status == LSP_OK || (status == LSP_ERR_MEMORY && C.rows == 42 && !C.rowptr));
        status = status == LSP_OK ? lsp_csr_reduce(small, &a, LSP_REDUCE_NORM2, LSP_REDUCE_EACH_COL, sums) : status;
        lsp_ctx_destroy(small);
    }
    lsp_ctx_destroy(ctx);
}
