/* A small matrix in a caller's own arrays, and the bytes that a context holds. */
#pragma once

#include "matrices.h"

/* A = diag(1, 2, 3). */
typedef struct diagonal {
    int32_t rowptr[4], col[3];
    double val[3];
    lsp_csr A;
} diagonal;

static inline diagonal three(void) { return (diagonal){.rowptr = {0, 1, 2, 3}, .col = {0, 1, 2}, .val = {1, 2, 3}}; }
static inline lsp_csr *view(diagonal *d) {
    d->A = TEST_CSR(3, 3, d->rowptr, d->col, d->val);
    return &d->A;
}

static inline int64_t bytes_in_use(lsp_ctx *ctx) {
    lsp_ctx_info info;
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_get_info(ctx, &info));
    return info.host_bytes;
}
