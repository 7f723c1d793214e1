/* Transposed products: the matrix, and the places of its entries in the one that the caller gave. */
#ifndef LSP_SPMV_TRANSPOSE_H
#define LSP_SPMV_TRANSPOSE_H

#include "spmv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* T = A^T, where A lies; the caller frees it. A is checked. Waits for a GPU. */
lsp_status lsp_spmv_transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *T);
/* Sets plan->transposed and plan->places from plan->given. On failure the plan's end frees what was made. */
lsp_status lsp_spmv_transpose_plan(lsp_spmv_plan *plan);
/* The bytes of both. */
int64_t lsp_spmv_transposed_bytes(const lsp_spmv_plan *plan);
/* plan->transposed takes the values of A, which is like plan->given. */
lsp_status lsp_spmv_take_values(lsp_spmv_plan *plan, const lsp_csr *A);

/* val[k] = k on the GPU, and places[k] = val[k] as an index. n > 0. */
lsp_status lsp_spmv_number_cuda(lsp_ctx *ctx, double *val, int64_t n);
lsp_status lsp_spmv_places_cuda(lsp_ctx *ctx, void *places, lsp_type type, const double *val, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
