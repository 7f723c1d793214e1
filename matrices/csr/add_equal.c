/* C = alpha*A + beta*B of equal pattern and real values: one pass compares, checks and copies the columns and sums the
 * values. Its inner loops are in add_kernel.c. */
#include "add.h"

enum { bypass_from = 4 << 20 }; /* bytes; a C of this size or more is stored past the cache */

static void add_rows(void *data, int64_t begin, int64_t end) {
    addition *s = data;
    if (!LSP_ISA_PICK(s->isa, lsp_add_equal)(s, begin, end)) {
        __atomic_store_n(&s->bad, 1, __ATOMIC_RELAXED);
    }
}

lsp_status lsp_csr_add_equal(lsp_ctx *ctx, addition *s, const lsp_csr_types *types, bool *done) {
    lsp_status status = LSP_OK;
    const lsp_csr *A = s->A;
    lsp_csr_types fit;
    *done = false;
    LSP_TRY(lsp_csr_resolve(ctx, A->cols, A->nnz, LSP_NONE, types, &fit));
    if (!s->equal_rowptr || A->nnz == 0 || A->cols == 0 || A->val_type != s->B->val_type || A->val_type == LSP_C64 ||
        A->rowptr_type != A->col_type || A->rowptr_type != fit.rowptr_type || A->col_type != fit.col_type ||
        s->B->col_type != fit.col_type) {
        goto done;
    }
    LSP_TRY(lsp_csr_create(ctx, A->rows, A->cols, A->nnz, types, s->C));
    s->bypass = A->nnz * (int64_t)(lsp_type_bytes(A->col_type) + lsp_type_bytes(A->val_type)) >= bypass_from;
    lsp_csr_for_rows(ctx, A, add_rows, s);
    *done = s->bad == 0;
    if (!*done) {
        lsp_csr_free(ctx, s->C);
        s->bad = 0;
    }
done:
    return status;
}
