/* B[i][j] = A[row_order[i]][col_order[j]]: rows are copied in the new order, columns renamed by the inverse order, and
 * rows sorted again. */
#include "core/cuda.h"
#include "matrices/bodies.h"

/* Names the first item that is out of range or came before. */
static lsp_status refuse(lsp_ctx *ctx, const char *what, const void *order, lsp_type type, lsp_where where, int64_t n) {
    const int64_t bytes = n * (int64_t)lsp_type_bytes(type);
    uint8_t *seen;
    void *copy;
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, n, &seen));
    if (where == LSP_CUDA) {
        LSP_TRY(lsp_scratch_at(ctx, LSP_HOST, bytes, 1, &copy));
        LSP_TRY(lsp_cuda_copy(ctx, copy, LSP_HOST, order, LSP_CUDA, bytes));
        order = copy;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t place = lsp_index_at(order, type, i);
        LSP_REQUIRE(place >= 0 && place < n, LSP_ERR_ARGUMENT, "the order of the %s holds %lld, not in 0 .. %lld", what,
                    (long long)place, (long long)(n - 1));
        LSP_REQUIRE(seen[place]++ == 0, LSP_ERR_ARGUMENT, "the order of the %s holds %lld twice", what,
                    (long long)place);
    }
    return LSP_OK;
}

/* inverse[order[i]] = i, both of `type` and where A lies. Checks that `order` is a permutation of 0 .. n-1. NULL stays
 * NULL. */
static lsp_status invert(lsp_ctx *ctx, const char *what, const void *order, lsp_type type, lsp_where where, int64_t n,
                         void **inverse) {
    int64_t first;
    *inverse = NULL;
    if (!order) {
        return LSP_OK;
    }
    LSP_REQUIRE(lsp_aligned(order, type), LSP_ERR_ARGUMENT, "the order of the %s is not aligned to its items: %p", what,
                order);
    LSP_TRY(lsp_scratch_at(ctx, where, n, lsp_type_bytes(type), inverse));
    const lsp_each_job job = {
        .args = &(indexing){.from = order, .to = *inverse, .limit = n}, .n = n, .kind = {.index = type}};
    LSP_TRY(LSP_EACH(ctx, where, seat, job));
    LSP_TRY(LSP_EACH_FIRST(ctx, where, misplaced, &first, job));
    return first == n ? LSP_OK : refuse(ctx, what, order, type, where, n);
}

lsp_status lsp_csr_permute(lsp_ctx *ctx, const lsp_csr *A, const void *row_order, const void *col_order,
                           lsp_type order_type, lsp_csr *B) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, made);
    void *new_row, *new_col;
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the permuted matrix is NULL");
    LSP_REQUIRE(order_type == LSP_NONE || order_type == LSP_I32 || order_type == LSP_I64, LSP_ERR_ARGUMENT,
                "orders of type %s: LSP_I32 or LSP_I64 is needed", lsp_type_name(order_type));
    order_type = order_type == LSP_NONE ? A->col_type : order_type;
    LSP_TRY(invert(ctx, "rows", row_order, order_type, A->where, A->rows, &new_row));
    LSP_TRY(invert(ctx, "columns", col_order, order_type, A->where, A->cols, &new_col));
    const lsp_csr_types types = lsp_types_of(A);
    const keeping a = {.A = *A, .places = new_col, .places_type = order_type};
    LSP_TRY(LSP_KEEP(ctx, renamed, &made,
                     (lsp_keep){.args = &a,
                                .A = A,
                                .rows = row_order,
                                .rows_type = order_type,
                                .row_count = A->rows,
                                .cols = A->cols,
                                .all = true,
                                .rowless = true,
                                .types = &types}));
    LSP_TRY(lsp_csr_sort_rows(ctx, &made));
    return lsp_csr_put(ctx, B, &made, B == A);
}
