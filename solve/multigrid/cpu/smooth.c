/* The vector step of a smoother, by all threads. */
#include "core/isa.h"
#include "smooth_kernel.h"

enum { LEAST = 1 << 14 }; /* numbers from which on a thread pays */

lsp_status lsp_smooth_cpu(lsp_ctx *ctx, int64_t n, lsp_type type, const lsp_smooth *step) {
    lsp_for_shares(ctx, n, LEAST, LSP_ISA_PICK(ctx->isa, lsp_smooth_kernel_of)(type), (void *)step);
    return LSP_OK;
}
