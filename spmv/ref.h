/* The reference row by row, and what a call on the host says of a malformed matrix. */
#ifndef LSP_SPMV_REF_H
#define LSP_SPMV_REF_H

#include "spmv.h"

/* The lowest row whose pointers are wrong, and the lowest entry whose column is; INT64_MAX: none. */
typedef struct lsp_spmv_faults {
    int64_t row, entry;
} lsp_spmv_faults;

/* The rows begin .. end-1 of y, or those before the first row whose pointers are wrong. Faults are lowered atomically.
 * */
void lsp_spmv_ref_rows(const lsp_spmv_job *job, int64_t begin, int64_t end, lsp_spmv_faults *faults);

/* LSP_OK, or LSP_ERR_FORMAT and a sentence. */
lsp_status lsp_spmv_tell_faults(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_spmv_faults *faults);

#endif
