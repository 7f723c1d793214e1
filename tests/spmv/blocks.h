/* Matrices of dense blocks, for the tests of plans by diagonals. */
#pragma once

#include "cases.h"
#include "spmv/diagonals.h"

static const request usual = {.val_type = LSP_F64, .type = LSP_F64, .alpha = 1, .seed = 3};

/* Each entry of A becomes a dense b x b block; `more` empty rows and columns follow. Values are small integers. */
static inline lsp_csr make_blocks(lsp_ctx *ctx, const char *name, int b, int64_t more, lsp_csr_types types) {
    lsp_csr A, B;
    must(ctx, lsp_generate(ctx, name, 1, &types, &A));
    must(ctx, lsp_csr_create(ctx, A.rows * b + more, A.cols * b + more, A.nnz * b * b, &types, &B));
    int64_t to = 0;
    for (int64_t i = 0; i < B.rows; i++) {
        for (int64_t k = 0; i < A.rows * b && k < lsp_csr_rowptr(&A, i / b + 1) - lsp_csr_rowptr(&A, i / b); k++) {
            for (int j = 0; j < b; j++, to++) {
                lsp_index_set(B.col, B.col_type, to, lsp_csr_col(&A, lsp_csr_rowptr(&A, i / b) + k) * b + j);
                test_set_value(&B, to, (double)(to % 13 - 6), 0);
            }
        }
        lsp_index_set(B.rowptr, B.rowptr_type, i + 1, to);
    }
    must(ctx, lsp_csr_free(ctx, &A));
    return B;
}
