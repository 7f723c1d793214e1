/* C = A*B: the interface of the room's top. What lies below it is in job.h. */
#pragma once

#include "job.h"

LSP_BEGIN_DECLS

/* Checks the options of a product of matrices in that place. Of the filter it reads the struct alone, not the mask. */
lsp_status lsp_spgemm_check_options(lsp_ctx *ctx, const lsp_spgemm_options *options, lsp_where where);
/* Checks the rules of value types. Complex values: LSP_PLUS_TIMES alone sums them, and they do not become real. Real
 * values do not become integers. The options and the headers of A and B were checked. */
lsp_status lsp_spgemm_check_values(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options);
/* Checks A, B and the options. `names` are those of A and B in error messages. _headers reads no array. */
lsp_status lsp_spgemm_check_headers(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                                    const lsp_spgemm_options *options);
lsp_status lsp_spgemm_check_operands(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                                     const lsp_spgemm_options *options);
/* Checks that A has the place, sizes, types and arrays of the matrix that the plan was made for. Does not check the
 * hash of its structure. */
lsp_status lsp_spgemm_check_outline(lsp_spgemm_plan *plan, const char *name, const lsp_spgemm_outline *planned,
                                    const lsp_csr *A);
/* Checks that C, whose values are to be computed again, has the sizes, types and arrays of this plan's product. */
lsp_status lsp_spgemm_check_result(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, const lsp_csr *C);
lsp_spgemm_outline lsp_spgemm_outline_of(const lsp_csr *A, uint64_t structure);

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

/* lsp_spgemm with a filter. */
lsp_status lsp_spgemm_filtered(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                               lsp_csr *C, lsp_spgemm_info *info);

/* lsp_spgemm_stream, and its checks. */
lsp_status lsp_spgemm_check_stream(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   int64_t block_bytes);
lsp_status lsp_spgemm_stream_to(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                const lsp_spgemm_receiver *to, lsp_spgemm_info *info);

LSP_END_DECLS
