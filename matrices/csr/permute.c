/* B[i][j] = A[row_order[i]][col_order[j]]: rows are copied in the new order, columns renamed by the inverse order, and
 * rows sorted again. */
#include "matrices/csr/gpu/gpu.h"

enum { least_share = 1 << 15 };

/* inverse[order[i]] = i, both of `type` and where A lies. Checks that `order` is a permutation of 0 .. n-1. NULL stays
 * NULL. */
static lsp_status invert(lsp_ctx *ctx, const char *what, const void *order, lsp_type type, lsp_where where, int64_t n,
                         void **inverse) {
    *inverse = NULL;
    if (!order) {
        return LSP_OK;
    }
    LSP_REQUIRE(lsp_aligned(order, type), LSP_ERR_ARGUMENT, "the order of the %s is not aligned to its items: %p", what,
                order);
    LSP_TRY(lsp_scratch_at(ctx, where, n, lsp_type_bytes(type), inverse));
    if (where == LSP_CUDA) {
        return lsp_csr_on_gpu.csr_invert(ctx, what, order, type, n, *inverse);
    }
    if (n > 0) {
        memset(*inverse, 0xff, (size_t)n * lsp_type_bytes(type)); /* -1: not seen yet */
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t place = lsp_index_at(order, type, i);
        LSP_REQUIRE(place >= 0 && place < n, LSP_ERR_ARGUMENT, "the order of the %s holds %lld, not in 0 .. %lld", what,
                    (long long)place, (long long)(n - 1));
        LSP_REQUIRE(lsp_index_at(*inverse, type, place) < 0, LSP_ERR_ARGUMENT, "the order of the %s holds %lld twice",
                    what, (long long)place);
        lsp_index_set(*inverse, type, place, i);
    }
    return LSP_OK;
}

typedef struct permutation {
    const lsp_csr *A;
    const void *row_order, *new_col;
    lsp_type order_type;
    const lsp_csr *B;
    int64_t *starts; /* of B's rows */
} permutation;

static int64_t source_row(const permutation *p, int64_t i) {
    return p->row_order ? lsp_index_at(p->row_order, p->order_type, i) : i;
}

/* Fills the rows begin .. end-1 of B. */
LSP_INLINE void fill_rows(lsp_type val_type, lsp_type col_type, const permutation *p, const lsp_csr *B, int64_t begin,
                          int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        int64_t row = source_row(p, i), to = lsp_csr_rowptr(B, i), stop = lsp_csr_rowptr(p->A, row + 1);
        for (int64_t k = lsp_csr_rowptr(p->A, row); k < stop; k++, to++) {
            int64_t column = lsp_index_at(p->A->col, col_type, k);
            lsp_index_set(B->col, col_type, to, p->new_col ? lsp_index_at(p->new_col, p->order_type, column) : column);
            lsp_move_value(B->val, to, p->A->val, k, lsp_value_bytes(val_type));
        }
    }
}
LSP_SHARE(fill_share, const permutation, p,
          LSP_WITH_BOTH(p->B->val_type, p->B->col_type, fill_rows, p, p->B, begin, end))

static void count_share(void *data, int64_t begin, int64_t end) {
    const permutation *p = data;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = source_row(p, i);
        p->starts[i + 1] = lsp_csr_rowptr(p->A, row + 1) - lsp_csr_rowptr(p->A, row);
    }
}

static lsp_status permute(lsp_ctx *ctx, permutation *p, lsp_csr *B) {
    const lsp_csr *A = p->A;
    const lsp_csr_types types = lsp_types_of(A);
    if (A->where == LSP_CUDA) {
        LSP_TRY(lsp_csr_on_gpu.csr_reorder(ctx, A, p->row_order, p->new_col, p->order_type, B));
        return lsp_csr_sort_rows(ctx, B);
    }
    LSP_TRY(LSP_SCRATCH(ctx, A->rows + 1, &p->starts));
    lsp_for_shares(ctx, A->rows, least_share, count_share, p);
    lsp_prefix_sum(ctx, p->starts, A->rows);
    LSP_TRY(lsp_csr_create_rows(ctx, A->rows, A->cols, p->starts, &types, B));
    p->B = B;
    lsp_csr_for_rows(ctx, B, fill_share, p);
    return lsp_csr_sort_rows(ctx, B);
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
    LSP_TRY(permute(ctx, &(permutation){.A = A, .row_order = row_order, .new_col = new_col, .order_type = order_type},
                    &made));
    return lsp_csr_put(ctx, B, &made, B == A);
}
