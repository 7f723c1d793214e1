/* LSP_SPMV_LENGTHS, which exists on a GPU: rows of similar length side by side, for rows of very different lengths. */
#ifndef LSP_SPMV_LENGTHS_H
#define LSP_SPMV_LENGTHS_H

#include "spmv.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const lsp_spmv_engine lsp_spmv_lengths_cuda;

/* *slots: the entries with padding that a plan of A would store. A is checked. Waits. */
lsp_status lsp_spmv_length_slots_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t *slots);

/* Prepares a plan of this method so that the sectors of x read most often are in shared memory, `popular` of them at
 * most, whether it pays or not. For tests. */
lsp_status lsp_spmv_lengths_hold_cuda(lsp_spmv_plan *plan, int64_t popular);

#ifdef __cplusplus
}
#endif
#endif
