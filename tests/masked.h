/* What a product under a mask must be, for the tests of masks. */
#pragma once

#include "stream_sink.h"

/* How much a round of tests has seen: a test of nothing would pass. */
typedef struct witness {
    int64_t kept, forbidden, untouched;
} witness;

/* The product by the reference without a mask; then the entries outside the mask are dropped. */
static inline lsp_csr right_one(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options,
                                witness *seen) {
    const lsp_filter filter = options.filter;
    lsp_csr whole = {0}, right = {0};
    options.filter = (lsp_filter){0};
    options.method = LSP_SPGEMM_REFERENCE;
    must(ctx, lsp_spgemm(ctx, A, B, &options, &whole, NULL));
    must(ctx, lsp_csr_filter(ctx, &whole, &filter, &right));
    seen->kept += right.nnz;
    seen->forbidden += whole.nnz - right.nnz;
    seen->untouched += lsp_max(filter.mask->nnz - right.nnz, 0);
    lsp_csr_free(ctx, &whole);
    return right;
}
