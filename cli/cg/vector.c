/* Dense vectors as matrices of one column: so the library's own functions copy them to a GPU and write them. */
#include "cg.h"

lsp_status cg_vector_make(lsp_ctx *ctx, int64_t n, lsp_type type, lsp_csr *v) {
    lsp_status status = lsp_csr_create(ctx, n, 1, n, &(lsp_csr_types){.val_type = type}, v);
    for (int64_t i = 0; i <= n && status == LSP_OK; i++) {
        if (v->rowptr_type == LSP_I32) {
            ((int32_t *)v->rowptr)[i] = (int32_t)i;
        } else {
            ((int64_t *)v->rowptr)[i] = i;
        }
    }
    for (int64_t i = 0; i < n && status == LSP_OK; i++) {
        if (v->col_type == LSP_I32) {
            ((int32_t *)v->col)[i] = 0;
        } else {
            ((int64_t *)v->col)[i] = 0;
        }
        cg_vector_set(v, i, 0);
    }
    return status;
}

double cg_vector_get(const lsp_csr *v, int64_t i) {
    return v->val_type == LSP_F32 ? (double)((const float *)v->val)[i] : ((const double *)v->val)[i];
}

void cg_vector_set(lsp_csr *v, int64_t i, double value) {
    if (v->val_type == LSP_F32) {
        ((float *)v->val)[i] = (float)value;
    } else {
        ((double *)v->val)[i] = value;
    }
}
