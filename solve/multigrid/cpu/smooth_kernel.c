/* The vector step of a smoother, compiled once for each instruction set. Products and sums are rounded one by one, so
 * all sets give the same bits. */
#include "smooth_kernel.h"
#include "core/isa.h"

/* Numbers of type V at i: a vector of 64 bytes, or one number. */
#define AT(V, vector) (*(V *)((vector) + i))
#define STEP(V)                                                                                                        \
    {                                                                                                                  \
        V r = AT(const V, from);                                                                                       \
        if (b != NULL && !s->zero) {                                                                                   \
            r -= AT(V, w);                                                                                             \
        }                                                                                                              \
        if (s->keep) {                                                                                                 \
            AT(V, w) = r;                                                                                              \
        }                                                                                                              \
        r = c * AT(const V, inverse) * r;                                                                              \
        if (old != NULL) {                                                                                             \
            r += beta * AT(const V, old);                                                                              \
        }                                                                                                              \
        if (d != NULL) {                                                                                               \
            AT(V, d) = r;                                                                                              \
        }                                                                                                              \
        if (!s->zero) {                                                                                                \
            r += AT(V, x);                                                                                             \
        }                                                                                                              \
        AT(V, x) = r;                                                                                                  \
    }
#define KERNEL(T, name)                                                                                                \
    typedef T name##_numbers __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));                          \
    static void name(void *step, int64_t begin, int64_t end) {                                                         \
        const lsp_smooth *s = step;                                                                                    \
        enum { LANES = 64 / sizeof(T) };                                                                               \
        const T *b = s->b, *inverse = s->inverse, *old = s->old, c = (T)s->c, beta = (T)s->beta;                       \
        T *w = s->w, *d = s->d, *x = s->x;                                                                             \
        const T *from = b != NULL ? b : w;                                                                             \
        int64_t i = begin;                                                                                             \
        for (; i + LANES <= end; i += LANES)                                                                           \
            STEP(name##_numbers)                                                                                       \
        for (; i < end; i++)                                                                                           \
            STEP(T)                                                                                                    \
    }

KERNEL(double, smooth_f64)
KERNEL(float, smooth_f32)

lsp_smooth_kernel LSP_ISA_NAME(lsp_smooth_kernel_of)(lsp_type type) {
    return type == LSP_F64 ? smooth_f64 : smooth_f32;
}
