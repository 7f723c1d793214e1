/* libsparse/matrix_forms.h: parts of matrices, matrices put together, and other forms: triples, columns, dense arrays,
 * arrays of another owner. Part of libsparse.h, which states the rules for all functions. */
#ifndef LIBSPARSE_MATRIX_FORMS_H
#define LIBSPARSE_MATRIX_FORMS_H

#include "matrix.h"

LSP_BEGIN_DECLS

/* ---- parts: on the host and on the GPU; B lies where A does, and the caller frees it ----------------------------- */

/* B = rows first_row .. first_row+rows-1 and columns first_col .. first_col+cols-1 of A, entries in their order. Waits
 * for a GPU. */
LSP_API lsp_status lsp_csr_block(lsp_ctx *ctx, const lsp_csr *A, int64_t first_row, int64_t rows, int64_t first_col,
                                 int64_t cols, lsp_csr *B);

/* Which rows or columns: `count` indices in any order, repeats allowed. `list` NULL: all. */
typedef struct lsp_index_list {
    const void *list; /* lies where the matrix does */
    int64_t count;    /* ignored without a list */
    lsp_type type;    /* LSP_I32 or LSP_I64 */
} lsp_index_list;

/* B[i][j] = A[rows[i]][cols[j]]. With a list of columns the rows of B are sorted by column; otherwise entries keep
 * their order. LSP_ERR_ARGUMENT names the first index that is out of range. Waits for a GPU. */
LSP_API lsp_status lsp_csr_extract(lsp_ctx *ctx, const lsp_csr *A, const lsp_index_list *rows,
                                   const lsp_index_list *cols, lsp_csr *B);

typedef enum lsp_triangle { LSP_TRIANGLE_LOWER = 0, LSP_TRIANGLE_UPPER = 1 } lsp_triangle;

/* B = the entries with column - row <= diagonal (LSP_TRIANGLE_LOWER) or column - row >= diagonal (LSP_TRIANGLE_UPPER),
 * in their order. diagonal 0 keeps the main diagonal; LSP_TRIANGLE_LOWER with -1 and LSP_TRIANGLE_UPPER with 1 leave it
 * out. Waits for a GPU. */
LSP_API lsp_status lsp_csr_triangle(lsp_ctx *ctx, const lsp_csr *A, lsp_triangle triangle, int64_t diagonal,
                                    lsp_csr *B);

/* ---- matrices put together --------------------------------------------------------------------------------------- */

/* B = the blocks side by side and below one another: blocks[r * block_cols + c] is the block in block row r and block
 * column c, NULL for zeros. Blocks of one block row have equal rows, those of one block column equal cols; each block
 * row and block column has at least one block that tells its size. Values have the widest of all types (a pattern
 * counts as ones, unless all are patterns). All lie in one place, and B lies there. Waits for a GPU.
 *     lsp_csr_stack(ctx, (const lsp_csr *[]){&A, &B}, 1, 2, &C);      // C = [A B] */
LSP_API lsp_status lsp_csr_stack(lsp_ctx *ctx, const lsp_csr *const *blocks, int64_t block_rows, int64_t block_cols,
                                 lsp_csr *B);

/* ---- other forms: on the host and on the GPU --------------------------------------------------------------------- */

/* B = the triples of A in the order of its entries, in arrays of the context. Indices have A's column type, or LSP_I64
 * if a row needs it. The caller frees the arrays with lsp_coo_free. Waits for a GPU. */
LSP_API lsp_status lsp_csr_to_coo(lsp_ctx *ctx, const lsp_csr *A, lsp_coo *B);

/* Frees the arrays of triples that the context made, and zeroes *A, as lsp_csr_free does. */
LSP_API lsp_status lsp_coo_free(lsp_ctx *ctx, lsp_coo *A);

/* A dense matrix: element (i, j) is val[i * stride + j], or with by_columns val[j * stride + i]. A plain view; the
 * arrays belong to the caller. */
typedef struct lsp_dense {
    int64_t rows, cols;
    int64_t stride; /* elements from row to row, or from column to column; 0: dense */
    void *val;
    lsp_type val_type; /* any type of a matrix but LSP_NONE */
    bool by_columns;
    lsp_where where;
} lsp_dense;

/* Fills the elements of D with those of A, and zero where A has none. Entries at the same place are summed in their
 * order. D has A's size, and A's value type (any for a pattern), and lies where A does. Waits for a GPU. */
LSP_API lsp_status lsp_csr_to_dense(lsp_ctx *ctx, const lsp_csr *A, const lsp_dense *D);

/* B = the elements of D that are not 0 (NaN is not), rows sorted, in the narrowest indices that fit. Waits for a GPU.
 */
LSP_API lsp_status lsp_dense_to_csr(lsp_ctx *ctx, const lsp_dense *D, lsp_csr *B);

/* A matrix in compressed sparse columns: column j holds the entries colptr[j] .. colptr[j+1]-1. A plain view. */
typedef struct lsp_csc {
    int64_t rows, cols, nnz;
    void *colptr;
    void *row;
    void *val;
    lsp_type colptr_type, row_type, val_type; /* as those of lsp_csr */
    lsp_where where;
} lsp_csc;

/* The rows of A^T are the columns of A: the same arrays, read as the transposed matrix. Costs nothing. */
static inline lsp_csr lsp_csc_transposed(const lsp_csc *A) {
    lsp_csr T;
    T.rows = A->cols, T.cols = A->rows, T.nnz = A->nnz;
    T.rowptr = A->colptr, T.col = A->row, T.val = A->val;
    T.rowptr_type = A->colptr_type, T.col_type = A->row_type, T.val_type = A->val_type;
    T.where = A->where;
    return T;
}

/* The conversions sort: rows of B by column, columns of B by row. Waits for a GPU. */
LSP_API lsp_status lsp_csc_to_csr(lsp_ctx *ctx, const lsp_csc *A, lsp_csr *B);
LSP_API lsp_status lsp_csr_to_csc(lsp_ctx *ctx, const lsp_csr *A, lsp_csc *B);

/* Frees the arrays of a matrix that the context made, and zeroes *A, as lsp_csr_free does. */
LSP_API lsp_status lsp_csc_free(lsp_ctx *ctx, lsp_csc *A);

/* ---- arrays that change their owner: for NumPy, PyTorch and C++ -------------------------------------------------- */

/* Takes the arrays of A, which the context made, out of the context: it forgets them, and they outlive it. *A becomes
 * zero. arrays[0], [1] and [2] are its rowptr, col and val; each is freed once, by lsp_array_free. On a GPU it waits
 * for the stream. LSP_ERR_ARGUMENT if an array is not one of this context's. */
LSP_API lsp_status lsp_csr_detach(lsp_ctx *ctx, lsp_csr *A, lsp_array arrays[3]);

/* Gives the caller's arrays of A to the context, which owns them from now on as if it had made them: lsp_csr_free, or
 * the end of the context, calls release(user, array) for each array that is not NULL, once, in the caller's thread.
 * On a GPU it waits for the stream before. A is checked as lsp_csr_check does. On failure nothing changes its owner. */
LSP_API lsp_status lsp_csr_adopt(lsp_ctx *ctx, const lsp_csr *A, void (*release)(void *user, void *array), void *user);

LSP_END_DECLS
#endif
