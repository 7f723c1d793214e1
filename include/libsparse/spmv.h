/* libsparse/spmv.h: sparse matrix times vectors. Part of libsparse.h, which states the rules for all functions. */
#ifndef LIBSPARSE_SPMV_H
#define LIBSPARSE_SPMV_H

#include "cache_model.h"
#include "matrix.h"
#include "semiring.h"

LSP_BEGIN_DECLS

/* How a product is carried out. The method may change the order in which a row is summed, so the last bits; the same
 * method always gives the same bits. On a CPU LSP_SPMV_AUTO looks at the matrix and at the figures of one thread of a
 * common processor, or those of lsp_cache_model_set_figures: neither the threads nor the machine change bits. */
typedef enum lsp_spmv_method {
    LSP_SPMV_AUTO = 0,
    LSP_SPMV_REFERENCE, /* the specification: one host thread, each row in its order */
    LSP_SPMV_ROWS,      /* CSR as it is: threads own consecutive rows */
    LSP_SPMV_EQUAL,     /* CSR as it is: threads own equal numbers of entries, for rows of very different lengths */
    LSP_SPMV_GATHER,    /* the paper's two steps: a gather of x by column (in `passes` passes), then sums of rows */
    LSP_SPMV_DIAGONALS, /* plans: slices of 32 rows, entries by column minus row. For grids */
    LSP_SPMV_BLOCKS,    /* plans: the same for dense blocks of 2 to 4 rows and columns. For several unknowns a node */
    LSP_SPMV_LENGTHS,   /* plans: slices of 32 rows of similar length. For rows of very different lengths */
    LSP_SPMV_PROPAGATE, /* plans: products in the order of columns first, brought to their rows afterwards, both through
                           shared memory or a cache. For random columns and an x far beyond the cache */
    LSP_SPMV_PACKED     /* plans: the rows that have entries, by the method that suits them. For many empty rows */
} lsp_spmv_method;
enum { LSP_SPMV_METHODS = 10 };

/* "auto", "reference", "rows", "equal", "gather", "diagonals", "blocks", "lengths", "propagate", "packed"; "?" for a
 * number that is no method. The methods are 0 .. LSP_SPMV_METHODS-1. */
LSP_API const char *lsp_spmv_method_name(lsp_spmv_method method);

typedef struct lsp_spmv_options {
    bool transpose; /* op(A) = A^T. Without a plan each call transposes A first, and waits for a GPU */
    lsp_semiring semiring;
    lsp_type type;          /* of x, y and all sums: LSP_F32 or LSP_F64. LSP_NONE: as the values, LSP_F64 for a pattern.
                               It may be wider than the values, not narrower */
    int64_t vectors;        /* columns of X and Y, 0: one */
    bool by_columns;        /* several vectors: each is contiguous. Otherwise the row i of X or Y is contiguous */
    lsp_spmv_method method; /* LSP_SPMV_AUTO unless a certain one is wanted */
    int passes;             /* of LSP_SPMV_GATHER, 0: the cache model chooses */
    int64_t expected_calls; /* of a plan; 0: many. If they are too few to pay, it takes CSR as it is */
    int64_t reserved[LSP_RESERVED];
} lsp_spmv_options;

/* Y = alpha*op(A)*X + beta*Y. A semiring other than LSP_PLUS_TIMES takes alpha = 1 and beta = 0, or beta = 1: then what
 * is in Y joins the sum. For LSP_OR_AND any number in Y but 0 counts as 1, and the result is 0 or 1. An empty row gives
 * the value of an empty sum: 0; infinity for LSP_MIN_PLUS, and minus infinity for LSP_MAX_TIMES. */
typedef struct lsp_spmv_vectors {
    double alpha, beta;             /* beta = 0: Y is not read, even if it holds NaN */
    const void *alpha_at, *beta_at; /* not NULL: the factor is read there instead, by the kernel on a GPU. One number of
                                       the type of x, where A lies */
    const void *x;                  /* op(A).cols elements, of each vector */
    void *y;                        /* op(A).rows; does not overlap x */
    int64_t x_stride, y_stride;     /* elements from row to row, or with by_columns from vector to vector; 0: dense */
    int64_t reserved[LSP_RESERVED];
} lsp_spmv_vectors;

/* What a product took, or a plan. Of a product without a plan: method, passes, reason and stored_entries; the rest is 0
 * unless the model was asked. */
typedef struct lsp_spmv_info {
    lsp_spmv_method method;
    int passes;               /* of LSP_SPMV_GATHER, else 1 */
    char reason[160];         /* why */
    double predicted_seconds; /* of one call */
    double rows_seconds;      /* what the model predicts for CSR as it is */
    double plan_seconds;      /* measured: the making of the plan */
    int64_t pays_after;       /* calls after which the plan has saved its making, as predicted; 0: it costs nothing */
    int64_t plan_bytes;       /* held by the plan, wherever they lie */
    int64_t stored_entries;   /* entries with the padding of the method; nnz if it has none */
    double seconds[LSP_SPMV_METHODS]; /* predicted for each method; 0: not offered for this matrix */
    int64_t reserved[LSP_RESERVED];
} lsp_spmv_info;

/* ---- one call ---------------------------------------------------------------------------------------------------- */

/* Rows may have any order of columns, and a column twice. `options` and `info` may be NULL. A, x and y lie in one
 * place. On a GPU the call waits for nothing and can be captured in a CUDA graph once the context has worked on a
 * matrix of that size, unless options->transpose is set. Calls remember whether rows at this address have very
 * different lengths: if other row pointers are written there, the last bits of sums may differ from those of a first
 * call. lsp_spmv(ctx, &A, NULL, &(lsp_spmv_vectors){.alpha = 1, .x = x, .y = y}, NULL); Row pointers that fall, or do
 * not go from 0 to nnz, give LSP_ERR_FORMAT and leave y as it was. On a GPU only the kernels see them: the next
 * lsp_ctx_sync returns LSP_ERR_ARGUMENT, and what is in y means nothing.
 *
 * Entries whose column is outside the matrix are left out: y is written, and the call returns LSP_ERR_FORMAT with the
 * position of one of them; on a GPU the next lsp_ctx_sync returns LSP_ERR_ARGUMENT. A transposed product, and a plan,
 * check all of A before, and write nothing. */
LSP_API lsp_status lsp_spmv(lsp_ctx *ctx, const lsp_csr *A, const lsp_spmv_options *options,
                            const lsp_spmv_vectors *vectors, lsp_spmv_info *info);

/* ---- plans: for a matrix that is used again ---------------------------------------------------------------------- */

typedef struct lsp_spmv_plan lsp_spmv_plan;

/* Reads A once, checks it as lsp_csr_check does, and prepares products with it. LSP_SPMV_ROWS, _EQUAL, _GATHER and
 * _PACKED read the arrays of A in each call, so these must stay as they are while the plan exists; the other methods,
 * and a transposed plan, hold a copy. Where memory does not suffice for the copy that LSP_SPMV_AUTO would make, it
 * takes LSP_SPMV_ROWS. The plan belongs to the context. `options` may be NULL. Waits for a GPU. */
LSP_API lsp_status lsp_spmv_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_spmv_options *options,
                                        lsp_spmv_plan **plan);
LSP_API void lsp_spmv_plan_destroy(lsp_spmv_plan *plan);
LSP_API lsp_status lsp_spmv_plan_get_info(const lsp_spmv_plan *plan, lsp_spmv_info *info);

/* On a GPU it allocates nothing, waits for nothing and can be captured in a CUDA graph. */
LSP_API lsp_status lsp_spmv_execute(lsp_spmv_plan *plan, const lsp_spmv_vectors *vectors);

/* Takes new values from A, which has the structure and the types of the plan's matrix: only sizes are compared. Later
 * calls read the arrays of this A, where the plan does not hold a copy. Waits for nothing. */
LSP_API lsp_status lsp_spmv_update(lsp_spmv_plan *plan, const lsp_csr *A);

LSP_END_DECLS
#endif
