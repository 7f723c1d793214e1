/* C = A*B: the interface of the room's top. What lies below it is in job.h. */
#pragma once

#include "job.h"

LSP_BEGIN_DECLS

/* Checks the options of a product of matrices in that place. Of the filter it reads the struct alone, not the mask. */
lsp_status lsp_spgemm_check_options(lsp_ctx *ctx, const lsp_spgemm_options *options, lsp_where where);
/* Checks the rules of value types, and finds the type of C's values. Complex values: LSP_PLUS_TIMES alone sums them,
 * and they do not become real. Real values do not become integers. Options and headers were checked. */
lsp_status lsp_spgemm_check_values(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   lsp_type *type);
/* Checks A, B and the options, but reads no array, and writes what the product is to *job. `names` are those of A and B
 * in error messages. */
lsp_status lsp_spgemm_resolve(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                              const lsp_spgemm_options *options, lsp_spgemm_plan *job);

/* lsp_spgemm_plan_create with other names for A and B in error messages. */
lsp_status lsp_spgemm_plan_as(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                              const lsp_spgemm_options *options, lsp_spgemm_plan **plan);

/* Is (R*A)*P to be made, or R*(A*P)? And with what options? C has the common type of all three factors, unless another
 * was asked for, and the inner product has C's type: so no value depends on the order. Integers are LSP_I64 in between,
 * so that only C must fit a narrower type. Only C is filtered. The arrays of the factors need not be checked yet. */
typedef struct lsp_triple_order {
    bool left_first;
    lsp_spgemm_options inner, outer;
} lsp_triple_order;
lsp_status lsp_spgemm_order(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                            const lsp_spgemm_options *options, lsp_triple_order *order);

/* ---- C = op(A)*op(B) by one call: plan.c, blocks.c ---- */

/* lsp_spgemm with a prepared filter (lsp_filter_prepare_mask), by a plan that is not kept. C before the filter must fit
 * the memory. C is empty before; what it is after a failure, the caller frees. _uncut with C NULL only fills the info;
 * it refuses factors of a GPU that are too large for kernels. _at_once cuts them. */
lsp_status lsp_spgemm_uncut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                            lsp_csr *C, lsp_spgemm_info *info);
lsp_status lsp_spgemm_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                              lsp_csr *C, lsp_spgemm_info *info);
/* Drops entries of a product, in place. */
lsp_status lsp_spgemm_filter_made(lsp_ctx *ctx, const lsp_filter *filter, lsp_csr *C, lsp_spgemm_info *info);
/* Puts a begin before a reason, which may lose its end. */
void lsp_spgemm_begin_reason(lsp_spgemm_info *info, const char *begin);

/* ---- C in blocks: blocks.c ---- */

/* What blocks of C are made of, one after another. */
typedef struct lsp_spgemm_maker {
    lsp_ctx *ctx;
    const lsp_spgemm_options *options; /* of a block; the filter is prepared, and its mask is that of all of C */
    const lsp_csr *A;                  /* op(A) if `by_rows`, else its transpose, which the options then transpose */
    bool by_rows;
    const lsp_csr *right;        /* the block's columns of op(B), or their transpose. It is multiplied where they lie */
    lsp_spgemm_info info, block; /* of all blocks made, of the last one */
} lsp_spgemm_maker;
/* C = the rows rows[0] .. rows[1]-1 and columns cols[0] .. cols[1]-1, which are all of `right`. */
lsp_status lsp_spgemm_make_block(lsp_spgemm_maker *m, const int64_t rows[2], const int64_t cols[2], lsp_csr *C);

/* Blocks that stay in memory. _keep takes one over. _join: C = a grid of rows x cols blocks, which were kept column by
 * column, in these types. _drop frees all. */
typedef struct lsp_spgemm_blocks {
    lsp_ctx *ctx;
    lsp_csr *C;
    int64_t count, capacity;
} lsp_spgemm_blocks;
lsp_status lsp_spgemm_keep_block(lsp_spgemm_blocks *kept, lsp_csr *block);
lsp_status lsp_spgemm_join_blocks(const lsp_spgemm_blocks *kept, int64_t rows, int64_t cols, const lsp_csr_types *types,
                                  lsp_csr *C);
void lsp_spgemm_drop_blocks(const lsp_spgemm_blocks *kept);

/* ---- C in blocks of rows: stream.c ---- */

/* Who takes the rows of a streamed product, and how. */
typedef struct lsp_spgemm_receiver {
    lsp_spgemm_blocks *kept; /* NULL, or where they stay */
    lsp_spgemm_sink sink;    /* else; NULL: they are only counted */
    void *user;
    int64_t block_bytes; /* most bytes of a block; 0: chosen */
    bool stays_cuda;     /* blocks that were made on a GPU stay in GPU memory, wherever A and B lie */
} lsp_spgemm_receiver;
/* lsp_spgemm_stream, and its checks, which find the type of C's values. */
lsp_status lsp_spgemm_check_stream(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   int64_t block_bytes, lsp_type *type);
lsp_status lsp_spgemm_stream_to(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                const lsp_spgemm_receiver *to, lsp_spgemm_info *info);

LSP_END_DECLS
