/* libsparse/matrix_values.h: the values of a matrix scaled, mapped, combined and reduced; diagonals. Part of
 * libsparse.h, which states the rules for all functions. All of it works on the host and on the GPU. */
#ifndef LIBSPARSE_MATRIX_VALUES_H
#define LIBSPARSE_MATRIX_VALUES_H

#include "matrix.h"

LSP_BEGIN_DECLS

/* ---- in place ---------------------------------------------------------------------------------------------------- */

/* A[i][j] = (rows[i] * A[i][j]) * cols[j], in place. `rows` and `cols` hold A->rows and A->cols values of A's type,
 * where A lies; NULL stands for ones. Integers are left as they are if a result does not fit. Not for patterns. Waits
 * for a GPU, as A is checked. */
LSP_API lsp_status lsp_csr_scale(lsp_ctx *ctx, lsp_csr *A, const void *rows, const void *cols);

typedef enum lsp_function {
    LSP_APPLY_ABS = 0,    /* |a|; of C64 with imaginary part 0 */
    LSP_APPLY_NEGATE = 1, /* -a */
    LSP_APPLY_RECIPROCAL, /* 1/a */
    LSP_APPLY_SQRT,       /* not for C64 */
    LSP_APPLY_SIGN,       /* -1, 0 or 1, NaN stays; not for C64 */
    LSP_APPLY_CONJUGATE,  /* changes C64 alone */
    LSP_APPLY_MULTIPLY,   /* parameter * a */
    LSP_APPLY_ADD,        /* a + parameter */
    LSP_APPLY_POWER,   /* pow(a, parameter); not for C64. Integers from -64 to 64 by repeated multiplication, with the
                    same bits on every device; others as the math library of the device gives them */
    LSP_APPLY_CONSTANT /* parameter, whatever a is */
} lsp_function;
enum { LSP_FUNCTIONS = 10 };

/* Applies a function to each stored value, in place. f32 values are computed in f64 and rounded once. Not for patterns.
 * A result that is NaN becomes the quiet NaN without sign. Integers have no LSP_APPLY_RECIPROCAL and no LSP_APPLY_SQRT,
 * a whole parameter, from 0 on for LSP_APPLY_POWER, and stay as they are if a result does not fit. Waits for a GPU. */
LSP_API lsp_status lsp_csr_apply(lsp_ctx *ctx, lsp_csr *A, lsp_function function, double parameter);

/* Changes the values val[0] .. val[n-1] of row `row`, whose columns are col[0] .. col[n-1] in A's index type. A status
 * other than LSP_OK ends the walk. */
typedef lsp_status (*lsp_row_fn)(void *user, int64_t row, int64_t n, const void *col, void *val);

/* Calls f for each row that has entries, in order, in the caller's thread. A lies on the host. If f fails,
 * lsp_csr_each_row returns its status, and the rows before keep their new values. */
LSP_API lsp_status lsp_csr_each_row(lsp_ctx *ctx, lsp_csr *A, lsp_row_fn f, void *user);

/* ---- entrywise product ------------------------------------------------------------------------------------------- */

/* C[i][j] = A[i][j] * B[i][j] where both have an entry (Hadamard product), rows sorted, no column twice. Values have
 * the wider of both types; a pattern counts as ones, and two patterns give a pattern. Entries of one matrix at the same
 * place are summed first, in their order. A and B lie in one place, and C lies there too. Waits for a GPU. */
LSP_API lsp_status lsp_csr_hadamard(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr *C);

/* ---- reductions -------------------------------------------------------------------------------------------------- */

typedef enum lsp_reduction {
    LSP_REDUCE_SUM = 0,
    LSP_REDUCE_MIN,     /* NaN if one value is NaN; infinity of no values. Not for C64 */
    LSP_REDUCE_MAX,     /* minus infinity of no values */
    LSP_REDUCE_COUNT,   /* the number of entries */
    LSP_REDUCE_NORM1,   /* sum of |a| */
    LSP_REDUCE_NORM2,   /* sqrt of the sum of |a|^2 */
    LSP_REDUCE_NORM_MAX /* largest |a|; 0 of no values */
} lsp_reduction;
enum { LSP_REDUCTIONS = 7 };

typedef enum lsp_axis {
    LSP_REDUCE_EACH_ROW = 0,
    LSP_REDUCE_EACH_COL = 1,
    LSP_REDUCE_ALL = 2 /* all entries together */
} lsp_axis;

/* Reduces the stored entries of each row, of each column, or all together, into A->rows, A->cols or 1 results, which
 * lie where A does. A result is an int64_t for LSP_REDUCE_COUNT; two doubles for sums of C64; a double for norms of C64
 * and of integers and for everything else of patterns (ones); an int64_t for sums (modulo 2^64), least and largest of
 * integers, INT64_MAX and INT64_MIN if there are none; otherwise it has the type of the values. f32 is summed in f64
 * and rounded once. The order of a sum depends on the number of its entries alone, so its bits are the same on every
 * device and for any number of threads. Waits for a GPU. */
LSP_API lsp_status lsp_csr_reduce(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, lsp_axis axis,
                                  void *results);

/* ---- diagonals --------------------------------------------------------------------------------------------------- */

/* diagonal[i] = A[i][i], for i below the smaller of rows and cols; entries at the same place are summed in their order,
 * and a place without an entry gives 0. `diagonal` is of A's value type (f64 for a pattern), where A lies. Waits. */
LSP_API lsp_status lsp_csr_diagonal(lsp_ctx *ctx, const lsp_csr *A, void *diagonal);

/* B = the n x n matrix with this diagonal; zeros are stored too. `diagonal` holds n values of `val_type`, which is
 * any type of values, and lies in `where`; NULL stands for ones: the identity, or with val_type LSP_NONE its pattern.
 * B has the narrowest indices that fit and lies in `where`. */
LSP_API lsp_status lsp_csr_from_diagonal(lsp_ctx *ctx, int64_t n, const void *diagonal, lsp_type val_type,
                                         lsp_where where, lsp_csr *B);

LSP_END_DECLS
#endif
