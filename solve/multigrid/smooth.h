/* Inside solve/multigrid: the vector step of a smoother, on either device. */
#pragma once

#include "core/core.h"

LSP_BEGIN_DECLS

/* d = c * inverse * r + beta * old; x += d. The residual r is b - w, where w = A x; b NULL: it is w itself; zero: x is
 * 0 and was not written, and r is b. r is kept in w if `keep`. old NULL: beta is 0. d NULL: it is not stored. */
typedef struct lsp_smooth {
    const void *b, *inverse, *old;
    void *w, *d, *x;
    double c, beta;
    bool zero, keep;
} lsp_smooth;

/* For n numbers of LSP_F32 or LSP_F64. On a GPU it waits for nothing. */
lsp_status lsp_smooth_cpu(lsp_ctx *ctx, int64_t n, lsp_type type, const lsp_smooth *step);
lsp_status lsp_smooth_cuda(lsp_ctx *ctx, int64_t n, lsp_type type, const lsp_smooth *step);

LSP_END_DECLS
