/* B = the entries of A in a window of columns, which may move with the rows: a block of columns, a triangle. The rows'
 * entries in the window are counted, a prefix sum gives the rows of B, and each row is filled. */
#include "matrices/forms/gpu/gpu.h"
#include "matrices/matrices.h"

typedef struct windowing {
    const lsp_csr *A, *B;
    const lsp_window *window;
    int64_t *starts; /* of B's rows */
} windowing;

LSP_INLINE bool inside(const lsp_window *w, int64_t from, int64_t column) {
    return w->low <= column - from && column - from <= w->high;
}

LSP_INLINE void count_rows(lsp_type col_type, const windowing *w, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const int64_t stop = lsp_csr_rowptr(w->A, i + 1), from = w->window->diagonal ? i : 0;
        int64_t count = 0;
        for (int64_t k = lsp_csr_rowptr(w->A, i); k < stop; k++) {
            count += inside(w->window, from, lsp_index_at(w->A->col, col_type, k));
        }
        w->starts[i + 1] = count;
    }
}
LSP_SHARE(count_share, const windowing, w, LSP_WITH_INDEX(w->A->col_type, count_rows, w, begin, end))

LSP_INLINE void fill_rows(lsp_type val_type, lsp_type col_type, const windowing *w, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const int64_t stop = lsp_csr_rowptr(w->A, i + 1), from = w->window->diagonal ? i : 0;
        int64_t to = w->starts[i];
        for (int64_t k = lsp_csr_rowptr(w->A, i); k < stop && to < w->starts[i + 1]; k++) {
            const int64_t column = lsp_index_at(w->A->col, col_type, k);
            if (inside(w->window, from, column)) {
                lsp_index_set(w->B->col, col_type, to, column - w->window->shift);
                lsp_move_value(w->B->val, to++, w->A->val, k, lsp_value_bytes(val_type));
            }
        }
    }
}
LSP_SHARE(fill_share, const windowing, w, LSP_WITH_BOTH(w->A->val_type, w->A->col_type, fill_rows, w, begin, end))

static lsp_status window_here(lsp_ctx *ctx, const lsp_csr *A, const lsp_window *window, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr_types types = lsp_types_like(A, window->cols, A->nnz);
    windowing w = {.A = A, .B = B, .window = window};
    LSP_TRY(LSP_SCRATCH(ctx, A->rows + 1, &w.starts));
    lsp_csr_for_rows(ctx, A, count_share, &w);
    lsp_prefix_sum(ctx, w.starts, A->rows);
    LSP_TRY(lsp_csr_create_rows(ctx, A->rows, window->cols, w.starts, &types, B));
    lsp_csr_for_rows(ctx, A, fill_share, &w);
    return LSP_OK;
}

lsp_status lsp_csr_window(lsp_ctx *ctx, const lsp_csr *A, const lsp_window *window, lsp_csr *B) {
    return A->where == LSP_CUDA ? lsp_forms_on_gpu.csr_window(ctx, A, window, B) : window_here(ctx, A, window, B);
}

lsp_status lsp_csr_triangle(lsp_ctx *ctx, const lsp_csr *A, lsp_triangle triangle, int64_t diagonal, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the triangle is NULL");
    LSP_REQUIRE(triangle == LSP_TRIANGLE_LOWER || triangle == LSP_TRIANGLE_UPPER, LSP_ERR_ARGUMENT,
                "%d is neither LSP_TRIANGLE_LOWER nor LSP_TRIANGLE_UPPER", (int)triangle);
    LSP_TRY(lsp_csr_window(ctx, A,
                           &(lsp_window){.low = triangle == LSP_TRIANGLE_LOWER ? INT64_MIN : diagonal,
                                         .high = triangle == LSP_TRIANGLE_LOWER ? diagonal : INT64_MAX,
                                         .cols = A->cols,
                                         .diagonal = true},
                           &made));
    return lsp_csr_put(ctx, B, &made, B == A);
}
