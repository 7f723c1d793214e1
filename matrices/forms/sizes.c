/* Sizes of matrices made of parts of another, for both devices. */
#include "forms.h"

lsp_status lsp_check_total(lsp_ctx *ctx, const lsp_wide_sum *sum, int64_t rows, int64_t cols) {
    return lsp_wide_sum_fits(sum)
               ? LSP_OK
               : lsp_fail(ctx, LSP_ERR_OVERFLOW,
                          "the %lld rows and %lld columns wanted have 2^62 entries or more, with their repeats",
                          (long long)rows, (long long)cols);
}
