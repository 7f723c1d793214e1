/* Rows sorted by column on the GPU: a segmented sort whose segments are the rows. */
#include "gpu.h"
#include "matrices/matrices.h"

static lsp_status sort(lsp_ctx *ctx, const lsp_csr *A) {
    lsp_segsort_args args = {0};
    args.n = A->nnz;
    args.segments = A->rows;
    args.offsets = A->rowptr;
    args.offset_type = A->rowptr_type;
    args.key_type = A->col_type == LSP_I64 ? LSP_U64 : LSP_U32;
    args.value_bytes = lsp_type_bytes(A->val_type);
    args.keys = args.keys_out = A->col;
    args.values = args.values_out = A->val;
    args.where = LSP_CUDA;
    return A->nnz > 0 ? lsp_segsort(ctx, &args, NULL) : LSP_OK;
}

lsp_status lsp_csr_sort_cuda(lsp_ctx *ctx, lsp_csr *A) {
    return A->val_type == LSP_BOOL ? lsp_csr_sort_bytes(ctx, A, sort) : sort(ctx, A);
}
