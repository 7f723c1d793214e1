/* B = the elements of a dense array that are not 0. The rows are cut into pieces; the elements of each piece are
 * counted, a prefix sum gives their places, and each piece is read again to fill B. */
#include "forms.h"
#include "matrices/gpu/gpu.h"

enum {
    piece_length = 1 << 13, /* elements: so that one long row is work for all threads, and stays in the cache */
    least_share = 1 << 15,
};

typedef struct gathering {
    const lsp_dense *D; /* by rows */
    const lsp_csr *B;
    int64_t pieces;  /* of a row; at least 1 */
    int64_t *starts; /* of the pieces' entries in B */
} gathering;

/* Its row, its first column, and the one behind its last. */
typedef struct piece {
    int64_t row, begin, end;
} piece;
static piece piece_of(const gathering *g, int64_t p) {
    const int64_t begin = p % g->pieces * piece_length;
    return (piece){p / g->pieces, begin, lsp_min(begin + piece_length, g->D->cols)};
}

LSP_INLINE bool is_entry(lsp_type type, const void *val, int64_t at) {
    const lsp_value v = lsp_value_of(type, val, at);
    return !(v.re == 0 && v.im == 0); /* a NaN is not 0 */
}

LSP_INLINE void count_pieces(lsp_type type, const gathering *g, int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; p++) {
        const piece at = piece_of(g, p);
        int64_t count = 0;
        for (int64_t j = at.begin; j < at.end; j++) {
            count += is_entry(type, g->D->val, at.row * g->D->stride + j);
        }
        g->starts[p + 1] = count;
    }
}
LSP_SHARE(count_share, const gathering, g, LSP_WITH_VALUE(g->D->val_type, count_pieces, g, begin, end))

LSP_INLINE void fill_pieces(lsp_type type, const gathering *g, int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; p++) {
        const piece at = piece_of(g, p);
        int64_t to = g->starts[p];
        for (int64_t j = at.begin; j < at.end && to < g->starts[p + 1]; j++) {
            const int64_t from = at.row * g->D->stride + j;
            if (is_entry(type, g->D->val, from)) {
                lsp_index_set(g->B->col, g->B->col_type, to, j);
                lsp_move_value(g->B->val, to++, g->D->val, from, lsp_value_bytes(type));
            }
        }
        if (at.end == g->D->cols) { /* the row's last piece */
            lsp_index_set(g->B->rowptr, g->B->rowptr_type, at.row + 1, to);
        }
    }
}
LSP_SHARE(fill_share, const gathering, g, LSP_WITH_VALUE(g->D->val_type, fill_pieces, g, begin, end))

static lsp_status gather_here(lsp_ctx *ctx, const lsp_dense *D, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    gathering g = {.D = D, .B = B, .pieces = lsp_max(lsp_ceil_div(D->cols, piece_length), 1)};
    const int64_t all = D->rows * g.pieces; /* rows of no columns are checked to be few enough, others lie in memory */
    const int64_t least = lsp_max(least_share / lsp_max(lsp_min(D->cols, piece_length), 1), 1);
    LSP_TRY(LSP_SCRATCH(ctx, all + 1, &g.starts));
    lsp_for_shares(ctx, all, least, count_share, &g);
    lsp_prefix_sum(ctx, g.starts, all);
    LSP_TRY(lsp_csr_create(ctx, D->rows, D->cols, g.starts[all], &(lsp_csr_types){.val_type = D->val_type}, B));
    lsp_for_shares(ctx, all, least, fill_share, &g);
    return LSP_OK;
}

/* An array by columns is the transposed array by rows. */
static lsp_status gather_columns(lsp_ctx *ctx, const lsp_dense *D, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, T);
    lsp_dense by_rows = *D;
    by_rows.rows = D->cols, by_rows.cols = D->rows, by_rows.by_columns = false;
    LSP_REQUIRE(D->cols <= INT64_MAX / 16, LSP_ERR_OVERFLOW, "D has %lld columns: more than can be addressed",
                (long long)D->cols);
    LSP_TRY(D->where == LSP_CUDA ? lsp_matrices_on_gpu.dense_gather(ctx, &by_rows, &T)
                                 : gather_here(ctx, &by_rows, &T));
    LSP_TRY(lsp_csr_transpose(ctx, &T, B));
    return lsp_csr_retype(ctx, NULL, B);
}

lsp_status lsp_dense_to_csr(lsp_ctx *ctx, const lsp_dense *D, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, made);
    lsp_dense fit;
    LSP_TRY(lsp_dense_check(ctx, D, &fit));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the matrix is NULL");
    LSP_TRY(D->by_columns          ? gather_columns(ctx, &fit, &made)
            : D->where == LSP_CUDA ? lsp_matrices_on_gpu.dense_gather(ctx, &fit, &made)
                                   : gather_here(ctx, &fit, &made));
    return lsp_csr_put(ctx, B, &made, false);
}
