/* libsparse/spgemm.h: products of sparse matrices. Part of libsparse.h, which states the rules for all functions. */
#ifndef LIBSPARSE_SPGEMM_H
#define LIBSPARSE_SPGEMM_H

#include "mtx.h"
#include "semiring.h"

LSP_BEGIN_DECLS

/* ---- options ----------------------------------------------------------------------------------------------------- */

typedef enum lsp_spgemm_method {
    LSP_SPGEMM_AUTO = 0,
    LSP_SPGEMM_REFERENCE = 1, /* the specification: one thread, one dense accumulator, no tricks */
    LSP_SPGEMM_SORT = 2,      /* expand, segmented sort, compress */
    LSP_SPGEMM_MASK = 3       /* computes only entries of options->filter.mask, which must be set; no complement */
} lsp_spgemm_method;

typedef struct lsp_spgemm_options {
    lsp_spgemm_method method;
    lsp_semiring semiring;
    bool transpose_a, transpose_b;
    lsp_csr_types types; /* of C. val_type LSP_NONE: the wider type of A and B; if both are patterns, a pattern, but
                            LSP_F64 for LSP_PLUS_PAIR without drop_values. LSP_C64 if A or B is complex; C may be
                            LSP_C64 for real ones too. An integer type if neither is real or complex. C lies where A
                            and B do; another `place` is refused. But for factors on the host LSP_PLACE_CUDA makes the
                            context's GPU multiply in lsp_spgemm_stream and with a filter */
    lsp_filter filter;   /* chooses the entries of C that stay; not for plans. Entries outside a mask are not computed,
                            unless the mask is much larger than the product or `complement` is set */
    int64_t reserved[LSP_RESERVED];
} lsp_spgemm_options;

typedef struct lsp_spgemm_info {
    lsp_spgemm_method method;
    const char *method_name; /* "reference", "sort", "mask" */
    char reason[160];        /* why */
    int64_t products;        /* multiplications */
    int64_t nnz_bound;       /* nnz(C) is at most this */
    int64_t nnz;             /* nnz(C); -1 until executed */
    int64_t max_row_products;
    int64_t blocks;        /* blocks of rows into which the product is cut to stay within the budget */
    int64_t scratch_bytes; /* taken during execution, without A, B and C */
    int64_t bound_bytes;   /* of C at nnz_bound */
    int64_t plan_bytes;    /* held by the plan now, wherever they lie; grows with its first uses. 0: no plan */
    int passes;            /* over the factors: 1, or 2 if C's rows are counted before they are made */
    int64_t reserved[LSP_RESERVED - 2];
} lsp_spgemm_info;

/* ---- one call ---------------------------------------------------------------------------------------------------- */

/* C = op(A)*op(B), with the bits of a plan. Its arrays may have room for an eighth more entries than C has. The caller
 * frees C. `options` and `info` may be NULL. On a GPU, factors of 2^31 entries or rows and more are cut into blocks,
 * and C is put together from theirs: then both lie in memory at once, and the bounds in `info` may be larger than
 * needed. LSP_ERR_UNSUPPORTED names a row of op(A) or a column of op(B) with 2^31 entries or more, or an inner
 * dimension of 2^31 or more.
 *
 *     lsp_spgemm(ctx, &A, &B, NULL, &C, NULL); */
LSP_API lsp_status lsp_spgemm(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                              lsp_csr *C, lsp_spgemm_info *info);

/* Says how lsp_spgemm would make C, without making it: `info` as of that call, with nnz -1, but plan_bytes are those
 * that a plan holds before its first use. Takes as long as making a plan. No filter; on a GPU, factors as of a plan. */
LSP_API lsp_status lsp_spgemm_explain(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                      const lsp_spgemm_options *options, lsp_spgemm_info *info);

/* C = R*A*P, as (R*A)*P if R*A takes fewer multiplications than A*P, else as R*(A*P). LSP_MAX_TIMES and LSP_PLUS_PAIR
 * do not associate: they always give (R*A)*P. R NULL: P transposed. C has the common type of all three factors unless
 * options->types says another, and so has the inner product; of integers the inner product is LSP_I64, so that only C
 * must fit its type. `info` (may be NULL) is of the product made last; it counts the multiplications of both, and its
 * reason says which was made first. */
LSP_API lsp_status lsp_spgemm_triple(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                                     const lsp_spgemm_options *options, lsp_csr *C, lsp_spgemm_info *info);

/* ---- plans: for products whose structure stays while values change ----------------------------------------------- */

typedef struct lsp_spgemm_plan lsp_spgemm_plan;

/* Inspects A and B (both on the host or both on the context's GPU, any order of columns, duplicates allowed), counts
 * products and chooses a method. Checks both matrices as lsp_csr_check does. The plan belongs to the context and holds
 * no copy of A or B: structure and sizes must be the same at execution, values may change. LSP_ERR_UNSUPPORTED for
 * LSP_C64 in another semiring than LSP_PLUS_TIMES; on a GPU also for the reference, for factors of 2^31 entries or rows
 * and more, and for an inner dimension beyond 2^31. Waits for the GPU. */
LSP_API lsp_status lsp_spgemm_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                          const lsp_spgemm_options *options, lsp_spgemm_plan **plan);
LSP_API void lsp_spgemm_plan_destroy(lsp_spgemm_plan *plan);
LSP_API lsp_status lsp_spgemm_plan_get_info(const lsp_spgemm_plan *plan, lsp_spgemm_info *info);

/* C = op(A)*op(B), rows sorted, no column twice. Each entry is summed in the order of A's columns as stored: the first
 * product is rounded, the others (LSP_PLUS_TIMES) are added by fused multiply-add. So every method gives the same bits.
 * A sum that happens to be zero stays; a sum that is NaN becomes the quiet NaN without sign. Values are first converted
 * to the type of C's values; a pattern counts as ones. Complex values (LSP_C64) are multiplied plainly, without
 * conjugation, and a real one has the imaginary part 0. Each part of a complex sum s begins at -0, and each product a*b
 * is added by two fused multiply-adds a part, which round twice:
 *     re(s) = fma(-im(a), im(b), fma(re(a), re(b), re(s))),  im(s) = fma(im(a), re(b), fma(re(a), im(b), im(s))).
 * So infinities give NaN where these formulas do; each part that is NaN becomes the quiet NaN without sign. nnz(C) is
 * counted before C is allocated: if C does not fit the budget, LSP_ERR_MEMORY names the bytes it needs, and nothing was
 * multiplied. On a GPU the call waits for a check of the structure and, the first time, for nnz(C); when it returns,
 * the stream may still fill C, unless C is of LSP_I32. The caller frees C.
 *
 * Integers (a C of LSP_I32, LSP_I64 or LSP_BOOL): factors are widened to LSP_I64, and all semirings compute modulo
 * 2^64: INT64_MAX is no infinity for LSP_MIN_PLUS. C of LSP_I32 that does not fit gives LSP_ERR_OVERFLOW; ask for
 * LSP_I64. */
LSP_API lsp_status lsp_spgemm_execute(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C);

/* Computes the values of C again, for other values of A and B. C comes from lsp_spgemm_execute of this plan and keeps
 * its structure. On failure its values are lost. On a GPU the second use of a plan keeps the place of each product in
 * its row of C, one or two bytes, where rows are alike and those of B have two entries or more. Else it keeps the
 * places of both factors, eight bytes, if entries have few products. Both only if they fit a quarter of the free
 * memory. Later calls then search nothing. Finding the places takes as long as two to four refills; for both factors,
 * up to twenty. On a CPU the first use keeps the place of each product, one or two bytes, within the same quarter; that
 * takes as long as one or two refills at most. */
LSP_API lsp_status lsp_spgemm_refill(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C);

/* The plans of lsp_spgemm_triple. They belong to the context. As with lsp_spgemm_plan, structure and sizes of all
 * factors must be the same at execution, values may change; _refill computes the values of C again. R is NULL in all
 * calls of a plan or in none. A plan holds R, where it is P transposed, and the inner product. `options` may be NULL;
 * filters are not for plans. */
typedef struct lsp_spgemm_triple_plan lsp_spgemm_triple_plan;
LSP_API lsp_status lsp_spgemm_triple_plan_create(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                                                 const lsp_spgemm_options *options, lsp_spgemm_triple_plan **plan);
LSP_API void lsp_spgemm_triple_plan_destroy(lsp_spgemm_triple_plan *plan);
/* `inner` and `outer`: of the product made first and of the other. Either may be NULL. The plan's own matrices count as
 * plan_bytes of `inner`. */
LSP_API lsp_status lsp_spgemm_triple_plan_get_info(const lsp_spgemm_triple_plan *plan, lsp_spgemm_info *inner,
                                                   lsp_spgemm_info *outer);
LSP_API lsp_status lsp_spgemm_triple_execute(lsp_spgemm_triple_plan *plan, const lsp_csr *R, const lsp_csr *A,
                                             const lsp_csr *P, lsp_csr *C);
LSP_API lsp_status lsp_spgemm_triple_refill(lsp_spgemm_triple_plan *plan, const lsp_csr *R, const lsp_csr *A,
                                            const lsp_csr *P, lsp_csr *C);

/* ---- many products in one call ----------------------------------------------------------------------------------- */

/* C[i] = op(A[i])*op(B[i]) for 0 <= i < count, with the bits of lsp_spgemm: for many small products, which take longer
 * one by one. On a GPU it is one product of all together; on a CPU a thread makes each of up to 4096 columns. All
 * matrices lie in one place; all A have the types of A[0], and all B those of B[0]; sizes may differ. All C have the
 * same types, which fit the largest. `options` may be NULL and has no filter. `info` (may be NULL) is of all products
 * together. C must be another array than A and B. On a GPU, all A together, and all B, have up to 2^31 - 1 rows and
 * entries. Waits for the GPU.
 *
 * The products share their memory: lsp_spgemm_batch_free frees all of them, and lsp_csr_free refuses each.
 *     lsp_spgemm_batch(ctx, 1000, A, B, NULL, C, NULL);
 *     lsp_spgemm_batch_free(ctx, 1000, C); */
LSP_API lsp_status lsp_spgemm_batch(lsp_ctx *ctx, int64_t count, const lsp_csr *A, const lsp_csr *B,
                                    const lsp_spgemm_options *options, lsp_csr *C, lsp_spgemm_info *info);

/* Frees the products of a batch, all at once, and zeroes C[0 .. count-1]. A product that another call has replaced is
 * freed like any matrix of the context. Returns LSP_ERR_ARGUMENT and frees nothing if C are not all products of a
 * batch. Zeroed products alone, or count 0, do nothing. */
LSP_API lsp_status lsp_spgemm_batch_free(lsp_ctx *ctx, int64_t count, lsp_csr *C);

/* The plan of a batch: it belongs to the context, and holds a copy of all A and B. Sizes and types are the same in each
 * call. The structure is read when the plan is made, and not again: _execute and _refill take values alone, without a
 * look at row pointers and columns. _refill computes the values of the products of an _execute of this plan again. */
typedef struct lsp_spgemm_batch_plan lsp_spgemm_batch_plan;
LSP_API lsp_status lsp_spgemm_batch_plan_create(lsp_ctx *ctx, int64_t count, const lsp_csr *A, const lsp_csr *B,
                                                const lsp_spgemm_options *options, lsp_spgemm_batch_plan **plan);
LSP_API void lsp_spgemm_batch_plan_destroy(lsp_spgemm_batch_plan *plan);
LSP_API lsp_status lsp_spgemm_batch_plan_get_info(const lsp_spgemm_batch_plan *plan, lsp_spgemm_info *info);
LSP_API lsp_status lsp_spgemm_batch_execute(lsp_spgemm_batch_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                            lsp_csr *C);
LSP_API lsp_status lsp_spgemm_batch_refill(lsp_spgemm_batch_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C);

/* ---- products larger than memory --------------------------------------------------------------------------------- */

/* Receives the rows first_row, first_row + 1, ... of C. The matrix `rows` is valid during the call only. A status other
 * than LSP_OK ends the product, which then returns it. */
typedef lsp_status (*lsp_spgemm_sink)(void *user, int64_t first_row, const lsp_csr *rows);

/* C = op(A)*op(B) in blocks of rows, in order, each handed to `sink` before the next begins: to count, filter, reduce
 * or write a C larger than memory. A block takes at most block_bytes before it is filtered (0: a size that suits the
 * memory), unless one row alone takes more. There is at least one block; it has no rows if C has none. The bits are
 * those of lsp_spgemm. If A and B are on the GPU, so is each block. If they are on the host and options->types.place is
 * LSP_PLACE_CUDA, the context's GPU multiplies: B must fit its memory, A and C need not, and blocks come back to the
 * host. `options` and `info` may be NULL. */
LSP_API lsp_status lsp_spgemm_stream(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                     const lsp_spgemm_options *options, int64_t block_bytes, lsp_spgemm_sink sink,
                                     void *user, lsp_spgemm_info *info);

/* C = op(A)*op(B) into a Matrix Market file, as lsp_mtx_write does, but in blocks. It multiplies twice, because the
 * file names the number of entries first. `file` may be NULL; a symmetry in it gives LSP_ERR_UNSUPPORTED. */
LSP_API lsp_status lsp_spgemm_write(lsp_ctx *ctx, const char *path, const lsp_csr *A, const lsp_csr *B,
                                    const lsp_spgemm_options *options, int64_t block_bytes,
                                    const lsp_mtx_write_options *file, lsp_spgemm_info *info);

/* ---- products on several devices or in several processes --------------------------------------------------------- */

/* Cuts the rows of C = op(A)*op(B) into `parts` blocks of about equal work: part p has the rows first_row[p] ..
 * first_row[p + 1]-1, perhaps none. first_row has parts + 1 elements, on the host. The work of a row is 1, and 1 for
 * each entry of op(A) and each product; no filter is looked at. The rows of a part times op(B) are its rows of C, with
 * the same bits. `options` may be NULL. Waits for a GPU.
 *     lsp_spgemm_cut(ctx, &A, &B, NULL, 2, first);
 *     lsp_csr_block(ctx, &A, first[1], first[2] - first[1], 0, A.cols, &lower);
 *     lsp_spgemm(ctx, &lower, &B, NULL, &lower_part_of_C, NULL); */
LSP_API lsp_status lsp_spgemm_cut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                  int parts, int64_t *first_row);

LSP_END_DECLS
#endif
