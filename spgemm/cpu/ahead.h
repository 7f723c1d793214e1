/* Prefetches for factors that are larger than the cache. */
#pragma once

#include "core/vector.h"
#include "matrices/matrices.h"

/* At entry e of A: prefetches the row of B that is needed 8 entries later, with the first lines of its values, and the
 * row pointer that is needed 16 entries later. The types are constants, or those of the matrices. */
ALWAYS void fetch_ahead(const lsp_csr *A, const lsp_csr *B, lsp_type a_col, lsp_type b_rowptr, lsp_type b_col,
                        size_t value_bytes, int value_lines, int64_t e) {
    enum { AHEAD = 8, LINE = 64 };
    if (e + 2 * AHEAD < A->nnz) {
        const int64_t next = lsp_index_at(A->col, a_col, e + AHEAD), later = lsp_index_at(A->col, a_col, e + 2 * AHEAD);
        const int64_t p = lsp_index_at(B->rowptr, b_rowptr, next);
        __builtin_prefetch((const char *)B->rowptr + (size_t)later * (b_rowptr == LSP_I32 ? 4 : 8));
        __builtin_prefetch((const char *)B->col + (size_t)p * (b_col == LSP_I32 ? 4 : 8));
        for (int line = 0; line < value_lines; line++) {
            __builtin_prefetch((const char *)B->val + (size_t)p * value_bytes + line * LINE);
        }
    }
}
