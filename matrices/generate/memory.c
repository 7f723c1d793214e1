/* Checks, before anything is allocated, that the matrix a generator is about to make fits the memory. */
#include "generate.h"

lsp_status lsp_generate_check_memory(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t entries) {
    lsp_csr_types fit;
    lsp_status status = lsp_csr_resolve(ctx, cols, entries, LSP_F64, NULL, &fit);
    return status == LSP_OK ? lsp_csr_check_memory(ctx, rows, entries, &fit) : status;
}
