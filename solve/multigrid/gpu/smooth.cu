/* The vector step of a smoother on a GPU: one kernel. */
#include "core/launch.cuh"
#include "solve/multigrid/smooth.h"

enum { NT = 256 };

template <typename T>
static __global__ void __launch_bounds__(NT)
    kernel_smooth(int64_t n, const T *__restrict__ b, const T *__restrict__ inverse, const T *old, T *w, T *d, T *x,
                  T c, T beta, bool zero, bool keep) {
    EACH_ITEM(i, n, NT) {
        const T r = !b ? w[i] : zero ? b[i] : b[i] - w[i];
        const T step = old ? fma(beta, old[i], c * inverse[i] * r) : c * inverse[i] * r;
        const T moved = zero ? step : x[i] + step; /* `old` may be x */
        if (keep) {
            w[i] = r;
        }
        if (d) {
            d[i] = step;
        }
        x[i] = moved;
    }
}

template <typename T> static lsp_status smooth(lsp_ctx *ctx, int64_t n, const lsp_smooth *s) {
    return LSP_LAUNCH_EACH(ctx, kernel_smooth<T>, n, NT, n, (const T *)s->b, (const T *)s->inverse, (const T *)s->old,
                           (T *)s->w, (T *)s->d, (T *)s->x, (T)s->c, (T)s->beta, s->zero, s->keep);
}

extern "C" lsp_status lsp_smooth_cuda(lsp_ctx *ctx, int64_t n, lsp_type type, const lsp_smooth *step) {
    return type == LSP_F64 ? smooth<double>(ctx, n, step) : smooth<float>(ctx, n, step);
}
