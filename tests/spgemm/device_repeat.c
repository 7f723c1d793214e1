/* C = A*B on the GPU where rows repeat, as on grids: neighbouring rows have the same columns, or all of them shifted.
 * Skipped without a GPU. */
#include "core/cuda.h"
#include "tests/products.h"

/* A grid. Each node is joined to the nodes at most `reach` away in x and in y, and has `unknowns` rows. Columns are
 * `step` apart, and `gap` more where a new line begins. */
static lsp_csr make_grid(int64_t wide, int64_t high, int64_t reach, int64_t unknowns, int64_t step, int64_t gap,
                         lsp_type type) {
    const int64_t nodes = wide * high, most = (2 * reach + 1) * (2 * reach + 1) * unknowns, rows = nodes * unknowns;
    int32_t *rowptr = calloc((size_t)rows + 1, 4), *col = malloc((size_t)(rows * most) * 4), nnz = 0;
    uint64_t state = 3;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t x = i / unknowns % wide, y = i / unknowns / wide;
        for (int64_t at = lsp_max(y - reach, 0); at <= lsp_min(y + reach, high - 1); at++) {
            for (int64_t near = lsp_max(x - reach, 0); near <= lsp_min(x + reach, wide - 1); near++) {
                for (int64_t k = 0; k < unknowns; k++) {
                    col[nnz++] = (int32_t)(((at * wide + near) * unknowns + k) * step + at * gap);
                }
            }
        }
        rowptr[i + 1] = nnz;
    }
    void *val = type == LSP_NONE ? NULL : malloc((size_t)nnz * lsp_type_bytes(type));
    for (int32_t p = 0; p < nnz && val; p++) {
        const double value = (double)test_below(&state, 1 << 30) / (1 << 29) - 1;
        if (type == LSP_F64) {
            ((double *)val)[p] = value;
        } else {
            ((float *)val)[p] = (float)value;
        }
    }
    return (lsp_csr){rows, rows * step + high * gap, nnz, rowptr, col, val, LSP_I32, LSP_I32, type, LSP_HOST};
}

Test(device_repeats, rows_that_repeat_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const struct {
        int64_t wide, high, reach, unknowns, step;
        lsp_type type;
        int64_t gap;
    } grids[] = {{90, 3, 5, 1, 1, LSP_F64, 0},    {20, 20, 2, 1, 1, LSP_F64, 0},    {40, 4, 3, 1, 1, LSP_F32, 0},
                 {8, 6, 1, 2, 1, LSP_F64, 0},     {8, 6, 1, 3, 1, LSP_F64, 0},      {6, 5, 1, 4, 1, LSP_F32, 0},
                 {6, 4, 1, 5, 1, LSP_F64, 0},     {5, 4, 1, 7, 1, LSP_F64, 0},      {6, 6, 1, 3, 1, LSP_NONE, 0},
                 {40, 4, 3, 1, 37, LSP_F64, 0},   {30, 5, 2, 1, 200, LSP_F64, 0},   {6, 6, 1, 3, 300, LSP_F32, 0},
                 {40, 4, 3, 1, 900, LSP_F64, 0},  {40, 3, 12, 1, 33, LSP_F64, 0},   {40, 3, 12, 1, 130, LSP_F64, 0},
                 {700, 1, 25, 1, 1, LSP_F64, 0},  {40, 4, 3, 1, 1, LSP_F64, 90000}, {8, 6, 1, 3, 1, LSP_F64, 16384},
                 {6, 4, 1, 5, 1, LSP_F32, 50000}, {40, 9, 4, 1, 1, LSP_NONE, 20000}};
    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
        for (int change = 0; change < 4; change++) { /* no change; two rows differ; an empty row; a column twice */
            char what[40];
            if (getenv("LSP_TEST_REDUCED") != NULL && change != (int)k % 4) {
                continue;
            }
            lsp_csr A = make_grid(grids[k].wide, grids[k].high, grids[k].reach, grids[k].unknowns, 1, 0, grids[k].type);
            lsp_csr B = make_grid(grids[k].wide, grids[k].high, grids[k].reach, grids[k].unknowns, grids[k].step,
                                  grids[k].gap, grids[k].type);
            int32_t *rowptr = B.rowptr, *col = B.col;
            const int64_t middle = B.rows / 2;
            if (change == 1) {
                col[rowptr[middle + 1] - 1] = (int32_t)B.cols - 1;
                ((int32_t *)A.col)[((int32_t *)A.rowptr)[A.rows / 3]] = 0;
            } else if (change == 2) {
                const int32_t begin = rowptr[middle], length = rowptr[middle + 1] - begin;
                memmove(col + begin, col + begin + length, (size_t)(B.nnz - begin - length) * 4);
                for (int64_t i = middle + 1; i <= B.rows; i++) {
                    rowptr[i] -= length;
                }
                B.nnz -= length;
            } else if (change == 3) {
                col[rowptr[middle] + 1] = col[rowptr[middle]];
            }
            snprintf(what, sizeof what, "grid %zu, change %d", k, change);
            check_product(ctx, &A, &B, (lsp_spgemm_options){0}, what);
            if (change == 0 && grids[k].step == 1 && grids[k].gap == 0) {
                check_product(ctx, &A, &A, (lsp_spgemm_options){.types.col_type = LSP_I64}, what);
            }
            drop(&A), drop(&B);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* Groups of 64 rows, with empty rows between them. In a group, each row has the columns of the row before plus one.
 * Some rows differ: they lack the last entry, have it in another column, or have one entry more. */
static lsp_csr make_neighbours(int64_t rows, int64_t cols, const int32_t (*steps)[12], int kinds, int apart, int jump,
                               lsp_type type) {
    int32_t *rowptr = calloc((size_t)rows + 1, 4), *col = malloc((size_t)(rows / apart + 64) * 12 * 4), nnz = 0;
    uint64_t state = 8;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t group = i / 64, first = group * jump % (cols / 2) + i % 64;
        const int32_t *its = steps[group / apart % kinds];
        const int64_t unlike = group / apart % 3 == 2 ? i % 64 : 0;
        for (int k = 0; its[k] >= 0 && group % apart == 0; k++) {
            const bool last = its[k + 1] < 0;
            if (!last || unlike != 5) {
                col[nnz++] = (int32_t)(first + its[k] + (last && unlike == 20) * 64);
            }
            if (last && unlike == 40) {
                col[nnz++] = (int32_t)(first + its[k] + 5);
            }
        }
        rowptr[i + 1] = nnz;
    }
    void *val = type == LSP_NONE ? NULL : malloc((size_t)nnz * 8);
    for (int32_t p = 0; p < nnz && val; p++) {
        const double value = test_value(true, &state);
        type == LSP_F64 ? (void)(((double *)val)[p] = value) : (void)(((float *)val)[p] = (float)value);
    }
    return (lsp_csr){rows, cols, nnz, rowptr, col, val, LSP_I32, LSP_I32, type, LSP_HOST};
}

/* Enough rows for this chip that a warp takes 32 of them; with `fewer` rows it takes 16. */
Test(device_repeats, rows_that_are_their_neighbours_shifted_have_the_bits_of_the_reference) {
    enum { INNER = 2000, KINDS = 6 };
    static const int32_t steps[KINDS][12] = {{0, 1, 2, -1},
                                             {0, 35, -1},
                                             {0, 1, 2, 3, 40, -1},
                                             {0, 9, 70, 90, 110, 200, 310, 500, 700, 800, -1},
                                             {0, -1},
                                             {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1}};
    static const int32_t b_steps[][1][12] = {
        {{0, 1, 2, 3, 4, -1}},
        {{0, 30, 31, -1}},
        {{7, 5, 5, 0, -1}}, /* unsorted, a column twice */
        {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1}},
        {{0, 50, 90, 300, 310, 400, -1}},
        {{0, 1, 1, 1, 1, 1, -1}}}; /* the last column of a row is the first one of the next row */
    static const lsp_type types[] = {LSP_F64, LSP_F32, LSP_NONE, LSP_F64, LSP_F64, LSP_F64};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t sms = lsp_cuda_get_chip(ctx)->sms, rows = 1288 * sms, fewer = 758 * sms;
    for (int k = 0; k < 6; k++) {
        char what[40];
        lsp_csr A = make_neighbours(k == 3 ? fewer : rows, INNER, steps, KINDS, 50, 13, types[k]);
        lsp_csr B = make_neighbours(INNER, 2 * INNER, b_steps[k], 1, 1, k == 1 ? 0 : 64, types[k]);
        snprintf(what, sizeof what, "rows of B of kind %d", k);
        check_product(ctx, &A, &B, (lsp_spgemm_options){.semiring = k == 4 ? LSP_MIN_PLUS : LSP_PLUS_TIMES}, what);
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}
