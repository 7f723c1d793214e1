/* libsparse/matrix.h: matrices by rows. Part of libsparse.h, which states the rules for all functions. */
#ifndef LIBSPARSE_MATRIX_H
#define LIBSPARSE_MATRIX_H

#include "core.h"

LSP_BEGIN_DECLS

/* ---- the struct -------------------------------------------------------------------------------------------------- */

/* A matrix in compressed sparse rows (CSR): row i holds the entries rowptr[i] .. rowptr[i+1]-1. The struct is a plain
 * view. Its arrays belong to the user, or to the context that made them; then lsp_csr_free or the end of the context
 * frees them. rowptr has rows+1 entries even when rows is 0; col and val may be NULL when nnz is 0. */
typedef struct lsp_csr {
    int64_t rows, cols, nnz;
    void *rowptr;
    void *col;
    void *val;            /* NULL exactly when val_type is LSP_NONE (or nnz is 0) */
    lsp_type rowptr_type; /* LSP_I32 or LSP_I64 */
    lsp_type col_type;    /* LSP_I32 or LSP_I64 */
    lsp_type val_type;    /* LSP_NONE, LSP_F32, LSP_F64, LSP_C64, LSP_I32, LSP_I64 or LSP_BOOL */
    lsp_where where;
} lsp_csr;

/* Where a matrix to be made shall lie. Its source is the matrix, or the triples, that it is made from. */
typedef enum lsp_place {
    LSP_PLACE_SOURCE = 0, /* where the source lies; on the host if there is none */
    LSP_PLACE_HOST = 1,
    LSP_PLACE_CUDA = 2
} lsp_place;

/* LSP_PLACE_CUDA or LSP_PLACE_HOST. */
static inline lsp_place lsp_place_of(lsp_where where) { return where == LSP_CUDA ? LSP_PLACE_CUDA : LSP_PLACE_HOST; }

/* Types and place of a matrix to be made. All zero: the narrowest indices that fit, values as the source has them,
 * where the source lies. */
typedef struct lsp_csr_types {
    lsp_type rowptr_type; /* LSP_NONE: LSP_I32 while nnz < 2^31 */
    lsp_type col_type;    /* LSP_NONE: LSP_I32 while cols <= 2^31 */
    lsp_type val_type;    /* LSP_NONE: as the source */
    bool drop_values;     /* make a pattern, whatever the source has */
    lsp_place place;      /* 0: where the source lies; on the host if there is none */
} lsp_csr_types;

/* ---- making, freeing, checking ----------------------------------------------------------------------------------- */

/* Allocates a matrix in the context. rowptr is all zero; col and val are not set. `types->val_type` LSP_NONE makes a
 * pattern. The caller frees it with lsp_csr_free. */
LSP_API lsp_status lsp_csr_create(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t nnz, const lsp_csr_types *types,
                                  lsp_csr *A);

/* Frees the arrays of a matrix that the context made, and zeroes *A. NULL or a zeroed *A does nothing. Returns
 * LSP_ERR_ARGUMENT and leaves *A alone if an array is not one of this context's, or if *A shares its memory with other
 * products of a batch (lsp_spgemm_batch_free). The context keeps the memory for its next call; lsp_ctx_trim gives it
 * back to the system. */
LSP_API lsp_status lsp_csr_free(lsp_ctx *ctx, lsp_csr *A);

enum { LSP_CHECK_SORTED = 1, LSP_CHECK_UNIQUE = 2, LSP_CHECK_FINITE = 4 };

/* Checks that A is a matrix: sizes, types, pointers not NULL, rowptr[0] = 0, rowptr never falling, rowptr[rows] = nnz,
 * columns in range. `flags` asks for more: columns ascending in each row, no column twice in a row, values finite.
 * LSP_ERR_FORMAT names the first offending row. Reads every entry once. Waits for a GPU. */
LSP_API lsp_status lsp_csr_check(lsp_ctx *ctx, const lsp_csr *A, unsigned flags);

/* ---- conversions: each makes a new matrix B, which the caller frees ---------------------------------------------- */

/* B = A in other types or in another place. LSP_ERR_OVERFLOW if an index or an integer does not fit. f64 to f32 rounds
 * to nearest; a pattern becomes ones; integers become reals, to f32 by way of f64, but reals no integers; C64 takes
 * only C64 or a pattern. Waits if A or B is on a GPU. `types` may be NULL.
 *     lsp_csr_copy(ctx, &A, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &on_gpu); */
LSP_API lsp_status lsp_csr_copy(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr_types *types, lsp_csr *B);

/* B = A^T (not conjugated), columns sorted; entries at the same place stay in order. B lies where A does. Waits for a
 * GPU. */
LSP_API lsp_status lsp_csr_transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);

/* Sorts each row of A by column, in place; the sort is stable. On the host and on the GPU. */
LSP_API lsp_status lsp_csr_sort(lsp_ctx *ctx, lsp_csr *A);

/* B[i][j] = A[row_order[i]][col_order[j]], columns sorted. An order is a permutation of 0 .. size-1 (checked);
 * NULL keeps the order. Both orders are of `order_type`: LSP_I32, LSP_I64, or LSP_NONE for the type of A's columns.
 * Orders and B lie where A does. Waits for a GPU. */
LSP_API lsp_status lsp_csr_permute(lsp_ctx *ctx, const lsp_csr *A, const void *row_order, const void *col_order,
                                   lsp_type order_type, lsp_csr *B);

typedef enum lsp_symmetry {
    LSP_SYMMETRY_GENERAL = 0,
    LSP_SYMMETRY_SYMMETRIC = 1, /* A = A^T */
    LSP_SYMMETRY_SKEW = 2,      /* A = -A^T */
    LSP_SYMMETRY_HERMITIAN = 3  /* A = conj(A)^T */
} lsp_symmetry;

/* B = the whole matrix, where A holds one triangle: every entry off the diagonal also appears at its mirrored place,
 * negated (LSP_SYMMETRY_SKEW) or conjugated (LSP_SYMMETRY_HERMITIAN). Rows are sorted. If A has entries on both sides
 * of the diagonal, entries that meet are summed; a sum that is NaN becomes the quiet NaN without sign. B lies where A
 * does. Waits for a GPU. */
LSP_API lsp_status lsp_csr_expand(lsp_ctx *ctx, const lsp_csr *A, lsp_symmetry symmetry, lsp_csr *B);

/* C = alpha*A + beta*B, rows sorted, no column twice. Values have the wider of both types; a pattern counts as ones,
 * and a real value beside LSP_C64 has the imaginary part 0. alpha and beta scale both parts; for a sum of integers they
 * must be whole numbers that fit LSP_I64, else LSP_ERR_ARGUMENT. If A and B are patterns, C is their union for any
 * alpha and beta. Entries of the same column are summed in order, those of A first; a sum that is NaN becomes the quiet
 * NaN without sign. A and B lie in one place, and C lies there too. */
LSP_API lsp_status lsp_csr_add(lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B, lsp_csr *C);

/* Chooses the entries that stay. All zero: all entries stay. The tests apply in the order of the fields. */
typedef struct lsp_filter {
    const lsp_csr *mask; /* not NULL: entries stay where the mask has one, whatever its value. The mask has the shape
                            of the matrix and lies in the same place */
    bool complement;     /* entries stay where the mask has none; only with a mask */
    bool drop;           /* entries with |value| <= tolerance are dropped */
    double tolerance;    /* 0 or more; 0 without `drop` */
    int64_t largest;     /* above 0: in each row at most this many entries stay, those of largest |value|; among equal
                            ones the first stay */
    int64_t reserved[LSP_RESERVED];
} lsp_filter;

/* B = the entries of A that stay, in their order, where A lies. Sizes of integers are exact. A NaN counts as larger
 * than all numbers; entries of a pattern count as ones. |value| of C64 is the modulus that LSP_APPLY_ABS gives
 * (matrix_values.h), the same on every device; it is NaN if a part is. */
LSP_API lsp_status lsp_csr_filter(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B);

/* Triples in any order. Indices count from 0; val NULL makes a pattern. */
typedef struct lsp_coo {
    int64_t rows, cols, nnz;
    const void *row;
    const void *col;
    const void *val;
    lsp_type index_type; /* of row and col: LSP_I32 or LSP_I64 */
    lsp_type val_type;
    lsp_where where; /* where the arrays lie */
} lsp_coo;

/* B = the matrix of the triples, rows sorted. Triples at the same place are summed in their order, in the type asked
 * for (integers in LSP_I64); a sum that is no number is the quiet NaN without sign. `*duplicates` (may be NULL) says
 * how many were merged into others. LSP_ERR_FORMAT names the first triple outside the matrix. `types` may be NULL.
 * Waits for a GPU. */
LSP_API lsp_status lsp_coo_to_csr(lsp_ctx *ctx, const lsp_coo *A, const lsp_csr_types *types, lsp_csr *B,
                                  int64_t *duplicates);

/* ---- plans: for sums and transposes whose structure stays while values change ----------------------------------- */

typedef struct lsp_csr_transpose_plan lsp_csr_transpose_plan;
typedef struct lsp_csr_add_plan lsp_csr_add_plan;

/* Each reads the structure of its matrices once, and checks them. A plan belongs to the context and holds no copy of a
 * matrix: structure and sizes must be the same in each later call, values may change. Waits for a GPU. */
LSP_API lsp_status lsp_csr_transpose_plan_create(lsp_ctx *ctx, const lsp_csr *A, lsp_csr_transpose_plan **plan);
LSP_API lsp_status lsp_csr_add_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr_add_plan **plan);
LSP_API void lsp_csr_transpose_plan_destroy(lsp_csr_transpose_plan *plan);
LSP_API void lsp_csr_add_plan_destroy(lsp_csr_add_plan *plan);

typedef struct lsp_csr_plan_info {
    int64_t nnz;        /* entries of the result */
    int64_t plan_bytes; /* memory that the plan holds, wherever it lies */
    char reason[160];   /* what the plan keeps, and why */
    int64_t reserved[LSP_RESERVED];
} lsp_csr_plan_info;
LSP_API lsp_status lsp_csr_transpose_plan_get_info(const lsp_csr_transpose_plan *plan, lsp_csr_plan_info *info);
LSP_API lsp_status lsp_csr_add_plan_get_info(const lsp_csr_add_plan *plan, lsp_csr_plan_info *info);

/* B = A^T, and C = alpha*A + beta*B, with the bits of lsp_csr_transpose and lsp_csr_add. The caller frees the result.
 */
LSP_API lsp_status lsp_csr_transpose_execute(lsp_csr_transpose_plan *plan, const lsp_csr *A, lsp_csr *B);
LSP_API lsp_status lsp_csr_add_execute(lsp_csr_add_plan *plan, double alpha, const lsp_csr *A, double beta,
                                       const lsp_csr *B, lsp_csr *C);

/* Computes the values of a result again, for other values of its operands. The result comes from an execution of
 * this plan and keeps its structure. Its values may be those of an operand only in sums of one pattern whose rows
 * ascend strictly. Waits for nothing; on a GPU it allocates nothing, and can be captured in a CUDA graph, unless
 * A, B or the sum has integers of another type than LSP_I64. */
LSP_API lsp_status lsp_csr_transpose_refill(lsp_csr_transpose_plan *plan, const lsp_csr *A, lsp_csr *B);
LSP_API lsp_status lsp_csr_add_refill(lsp_csr_add_plan *plan, double alpha, const lsp_csr *A, double beta,
                                      const lsp_csr *B, lsp_csr *C);

/* ---- facts ------------------------------------------------------------------------------------------------------- */

typedef struct lsp_csr_stats {
    int64_t empty_rows, empty_cols;
    int64_t min_row, max_row, max_col; /* entries in the shortest row, the longest row, the longest column */
    double mean_row, stddev_row;
    int64_t histogram[64];             /* [0]: empty rows; [k]: rows of 2^(k-1) .. 2^k - 1 entries */
    int64_t lower_bandwidth;           /* largest row - column over all entries, at least 0 */
    int64_t upper_bandwidth;           /* largest column - row over all entries, at least 0 */
    int64_t diagonal;                  /* entries on the diagonal */
    int64_t unsorted_rows, duplicates; /* rows whose columns do not ascend; entries whose column occurred before */
    int64_t zeros, not_finite;         /* entries that are 0; entries that are NaN or infinite */
    bool square;
    bool pattern_symmetric;          /* square, and every entry has a mirror */
    bool symmetric, skew, hermitian; /* and the value of every mirror agrees exactly */
    int64_t products;                /* multiplications of A*A; -1 unless square */
    int64_t product_nnz_bound;       /* sum over rows of min(products, cols): nnz(A*A) is at most this */
    int64_t reserved[LSP_RESERVED];
} lsp_csr_stats;

/* Fills *stats. Costs one transpose. Waits for a GPU. */
LSP_API lsp_status lsp_csr_get_stats(lsp_ctx *ctx, const lsp_csr *A, lsp_csr_stats *stats);

typedef struct lsp_csr_difference {
    bool same_shape;   /* rows and cols are equal */
    bool same_pattern; /* and every rowptr and col */
    bool same_bits;    /* and every value, bit for bit; of LSP_BOOL all bytes but 0 are equal */
    int64_t row, col;  /* where the pattern first differs or the relative error is largest; -1 if nowhere */
    double max_rel;    /* max |a-b| / max(|a|,|b|) over the common pattern; two NaN count 0, one NaN infinite */
} lsp_csr_difference;

/* Compares two matrices in one place, entry by entry as they are stored. If patterns differ, max_rel compares the r-th
 * entry of A at a place with the r-th of B there. Waits for a GPU. */
LSP_API lsp_status lsp_csr_compare(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr_difference *difference);

/* ---- generators -------------------------------------------------------------------------------------------------- */

/* Makes a matrix by name, on the host. It is the same on every machine for the same seed; published figures use seed 1.
 * Names: poisson2d:K stencil27:K fem3:K er:N:D rmat:SCALE:EF web:N:ALPHA:DMAX perm:N nascg:CLASS (S W A B C D E),
 * and the factors of a multigrid on the first three: amg:K:PART amg27:K:PART amgfem3:K:PART, PART T (aggregates), P
 * (smoothed) or R (P transposed).
 * `types` may be NULL: f64, narrowest indices. LSP_ERR_ARGUMENT says what is wrong with a name.
 *     lsp_generate(ctx, "poisson2d:100", 1, NULL, &A); */
LSP_API lsp_status lsp_generate(lsp_ctx *ctx, const char *spec, uint64_t seed, const lsp_csr_types *types, lsp_csr *A);

LSP_END_DECLS
#endif
