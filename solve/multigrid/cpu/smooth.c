/* The vector step of a smoother, by all threads. */
#include "core/isa.h"
#include "smooth_kernel.h"

enum { LEAST = 1 << 14 }; /* numbers from which on a thread pays */

typedef struct smoothing {
    const lsp_smooth *step;
    lsp_smooth_kernel kernel;
} smoothing;

static void do_share(void *data, int64_t begin, int64_t end) {
    const smoothing *s = data;
    s->kernel(s->step, begin, end);
}

lsp_status lsp_smooth_cpu(lsp_ctx *ctx, int64_t n, lsp_type type, const lsp_smooth *step) {
    smoothing s = {step, LSP_ISA_PICK(ctx->isa, lsp_smooth_kernel_of)(type)};
    lsp_for_shares(ctx, n, LEAST, do_share, &s);
    return LSP_OK;
}
