/* Predicts the seconds of every method: until the model is there, all bytes of A and the vectors at the speed of a
 * copy, for CSR as it is. */
#include "spmv.h"

void lsp_spmv_predict(const lsp_cache_figures *figures, const lsp_spmv_job *job, const lsp_spmv_facts *facts,
                      lsp_spmv_choice *choice) {
    const lsp_csr *A = &job->A;
    const double item = (double)lsp_type_bytes(job->options.type) * (double)job->options.vectors;
    const double entry = (double)(lsp_type_bytes(A->col_type) + lsp_type_bytes(A->val_type));
    const double bytes = (double)A->nnz * entry + (double)A->rows * (8 + item) + (double)A->cols * item;
    (void)facts;
    choice->seconds[LSP_SPMV_ROWS] = figures->start_seconds + bytes / figures->copy_rate;
}
