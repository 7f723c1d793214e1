/* Products on the GPU with a factor of more than 2^31 entries, against sums that are known. LSP_SLOW_TESTS=1 takes that
 * size if 48 GiB of a GPU are free (less than a minute on an H100); otherwise the same products are small, and the
 * limit of a factor is lowered. Skipped without a GPU. */
#include "core/cuda.h"
#include "tests/products.h"

enum { COLS = 128, HALF = 64 };

/* The factor: row i has the columns 0 .. 63 if i is even, 64 .. 127 if it is odd. A pattern. */
static lsp_csr make_tall(lsp_ctx *ctx, int64_t rows) {
    enum { CHUNK = 1 << 22 };
    const lsp_csr_types types = {LSP_I64, LSP_I32, LSP_NONE, true, LSP_PLACE_CUDA};
    int64_t *starts = malloc(CHUNK * sizeof *starts);
    int32_t *columns = malloc(CHUNK * sizeof *columns);
    lsp_csr A;
    must(ctx, lsp_csr_create(ctx, rows, COLS, rows * HALF, &types, &A));
    for (int64_t first = 0; first <= rows; first += CHUNK) {
        const int64_t count = lsp_min(CHUNK, rows + 1 - first);
        for (int64_t i = 0; i < count; i++) {
            starts[i] = (first + i) * HALF;
        }
        must(ctx, lsp_cuda_copy(ctx, (int64_t *)A.rowptr + first, LSP_CUDA, starts, LSP_HOST, 8 * count));
    }
    for (int64_t k = 0; k < CHUNK; k++) {
        columns[k] = (int32_t)(k % COLS);
    }
    for (int64_t first = 0; first < A.nnz; first += CHUNK) {
        const int64_t count = lsp_min(CHUNK, A.nnz - first);
        must(ctx, lsp_cuda_copy(ctx, (int32_t *)A.col + first, LSP_CUDA, columns, LSP_HOST, 4 * count));
    }
    free(starts), free(columns);
    return A;
}

/* The number of rows. The factor has a little more than 2^31 entries in a slow test, else few. */
static int64_t take_size(lsp_ctx *ctx) {
    const char *slow = getenv("LSP_SLOW_TESTS");
    const bool large = slow && *slow && !LSP_EMULATED && lsp_available_bytes(ctx, LSP_CUDA) >= (int64_t)48 << 30;
    if (!large) {
        must(ctx, lsp_spgemm_set_most(ctx, 9000));
    }
    return large ? ((int64_t)1 << 25) + 1001 : 301;
}

/* The factor on the left: cut by rows. B[k][j] = (k + 1) * (j + 1). */
static void check_left(lsp_ctx *ctx, const lsp_csr *A) {
    int32_t rowptr[COLS + 1] = {0}, col[2 * COLS];
    float val[2 * COLS];
    for (int k = 0; k < 2 * COLS; k++) {
        rowptr[k / 2 + 1] = 2 * (k / 2 + 1);
        col[k] = k % 2;
        val[k] = (float)((k / 2 + 1) * (k % 2 + 1));
    }
    const lsp_csr B = {COLS, 2, 2 * COLS, rowptr, col, val, LSP_I32, LSP_I32, LSP_F32, LSP_HOST};
    lsp_csr b = upload(ctx, &B), C = {0};
    lsp_spgemm_info info;
    must(ctx, lsp_spgemm(ctx, A, &b, NULL, &C, &info));
    cr_assert(info.blocks > 1 && info.products == 2 * A->nnz && C.nnz == 2 * A->rows, "%s", info.reason);
    lsp_csr here = download(ctx, &C);
    for (int64_t k = 0; k < here.nnz; k++) {
        const int64_t i = k / 2, j = k % 2;
        const float sum = (float)((i % 2 == 0 ? 64 * 65 / 2 : 128 * 129 / 2 - 64 * 65 / 2) * (j + 1));
        cr_assert(lsp_csr_rowptr(&here, i) == 2 * i && lsp_csr_col(&here, k) == j && ((float *)here.val)[k] == sum,
                  "row %lld: %g, not %g", (long long)i, (double)((float *)here.val)[k], (double)sum);
    }
    lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &b);
}

/* The factor on the right: cut by columns. Row r of A has 1 in column r, and 2 in the last two columns. */
static void check_right(lsp_ctx *ctx, const lsp_csr *B) {
    int64_t rowptr[] = {0, 3, 6, 9, 12}, col[12];
    double val[12];
    for (int k = 0; k < 12; k++) {
        col[k] = k % 3 == 0 ? k / 3 : B->rows - k % 3;
        val[k] = k % 3 == 0 ? 1 : 2;
    }
    const lsp_csr A = {4, B->rows, 12, rowptr, col, val, LSP_I64, LSP_I64, LSP_F64, LSP_HOST};
    lsp_csr a = upload(ctx, &A), C = {0};
    lsp_spgemm_info info;
    must(ctx, lsp_spgemm(ctx, &a, B, NULL, &C, &info));
    cr_assert(info.blocks > 1 && info.products == 12 * HALF && C.nnz == 4 * COLS, "%s", info.reason);
    lsp_csr here = download(ctx, &C);
    for (int64_t k = 0; k < here.nnz; k++) {
        const int64_t r = k / COLS, j = k % COLS;
        const double sum = 2 + (r % 2 == j / HALF);
        cr_assert(lsp_csr_col(&here, k) == j && ((double *)here.val)[k] == sum, "(%lld, %lld): %g, not %g",
                  (long long)r, (long long)j, ((double *)here.val)[k], sum);
    }
    lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &a);
}

/* The factor on the right, transposed: cut by rows. A has one entry: column 70 of the factor is a row of C. */
static void check_turned(lsp_ctx *ctx, const lsp_csr *B) {
    int32_t rowptr[] = {0, 1}, col[] = {70};
    float val[] = {3};
    const lsp_csr A = {1, COLS, 1, rowptr, col, val, LSP_I32, LSP_I32, LSP_F32, LSP_HOST};
    const lsp_spgemm_options options = {.transpose_b = true};
    lsp_csr a = upload(ctx, &A), C = {0};
    lsp_spgemm_info info;
    must(ctx, lsp_spgemm(ctx, &a, B, &options, &C, &info));
    cr_assert(info.blocks > 1 && C.nnz == B->rows / 2 && C.cols == B->rows, "%s", info.reason);
    lsp_csr here = download(ctx, &C);
    for (int64_t k = 0; k < here.nnz; k++) {
        cr_assert(lsp_csr_col(&here, k) == 2 * k + 1 && ((float *)here.val)[k] == 3);
    }
    lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &a);
}

Test(device_large, products_with_more_than_2_to_the_31_entries_have_the_sums_that_are_known) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_csr A = make_tall(ctx, take_size(ctx));
    check_left(ctx, &A);
    check_right(ctx, &A);
    check_turned(ctx, &A);
    lsp_csr_free(ctx, &A);
    lsp_ctx_destroy(ctx);
}
