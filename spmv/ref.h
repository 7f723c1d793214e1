/* The reference row by row, and what a call on the host says of a malformed matrix. */
#ifndef LSP_SPMV_REF_H
#define LSP_SPMV_REF_H

#include "spmv.h"

/* The rows begin .. end-1 of y. An entry whose column is outside the matrix is left out, and *outside is lowered to its
 * number, atomically. */
void lsp_spmv_ref_rows(const lsp_spmv_job *job, int64_t begin, int64_t end, int64_t *outside);

/* LSP_OK if `outside` is the number of no entry, else LSP_ERR_FORMAT and a sentence. */
lsp_status lsp_spmv_tell_outside(lsp_ctx *ctx, const lsp_spmv_job *job, int64_t outside);

#endif
