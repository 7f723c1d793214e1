/* The vector loops for one type of vectors, T. Included by kernels.c. Every loop goes over a piece of the vectors,
 * eight numbers at a time, then one at a time. Lane k of a sum adds the numbers k, k + 8, ... of the piece, so the bits
 * depend on the piece alone. */

typedef T NAME(packed) __attribute__((vector_size(WIDTH * sizeof(T))));

ALWAYS wide NAME(load)(const T *from) {
    NAME(packed) x;
    memcpy(&x, from, sizeof x);
    return __builtin_convertvector(x, wide);
}
/* Stores *x and returns it as it was rounded. */
ALWAYS wide NAME(store_at)(T *to, const wide *x) {
    const NAME(packed) rounded = __builtin_convertvector(*x, NAME(packed));
    memcpy(to, &rounded, sizeof rounded);
    return __builtin_convertvector(rounded, wide);
}
ALWAYS double NAME(store_one)(T *to, double x) {
    *to = (T)x;
    return (double)*to;
}

#define PLUS(c, a, b) ((c) + (a) * (b))
#define SUM(k, a, b) sums[k] += (a) * (b)

#define LSP_LOOP_BODY(name) ALWAYS void NAME(name##_wide)(const lsp_solve_loop *v, int64_t i, wide sums[3])
#define NUMBER wide
#define LOAD(name) NAME(load)((const T *)v->name + i)
#define STORE(name, x)                                                                                                 \
    ({                                                                                                                 \
        const wide stored_ = (x);                                                                                      \
        NAME(store_at)((T *)v->name + i, &stored_);                                                                    \
    })
#include "solve/loop_bodies.h"

#define LSP_LOOP_BODY(name) ALWAYS void NAME(name##_one)(const lsp_solve_loop *v, int64_t i, double sums[3])
#define NUMBER double
#define LOAD(name) ((double)((const T *)v->name)[i])
#define STORE(name, x) NAME(store_one)((T *)v->name + i, (x))
#include "solve/loop_bodies.h"
#undef PLUS
#undef SUM

/* The vectors and factors are a copy on the stack, so that what a loop writes cannot change them. */
#define KERNEL(id, name, count)                                                                                        \
    static void NAME(name)(const lsp_solve_loop *loop, int64_t begin, int64_t end, double sums[3]) {                   \
        const lsp_solve_loop v = *loop;                                                                                \
        wide lanes[LANES / WIDTH][3] = {{{0}}};                                                                        \
        int64_t i = begin;                                                                                             \
        for (; i + LANES <= end; i += LANES) {                                                                         \
            for (int part = 0; part < LANES / WIDTH; part++) {                                                         \
                NAME(name##_wide)(&v, i + part * WIDTH, lanes[part]);                                                  \
            }                                                                                                          \
        }                                                                                                              \
        for (int lane = 0; i < end; i++, lane++) {                                                                     \
            wide *const part = lanes[lane / WIDTH];                                                                    \
            double one[3] = {part[0][lane % WIDTH], part[1][lane % WIDTH], part[2][lane % WIDTH]};                     \
            NAME(name##_one)(&v, i, one);                                                                              \
            for (int k = 0; k < 3; k++) {                                                                              \
                part[k][lane % WIDTH] = one[k];                                                                        \
            }                                                                                                          \
        }                                                                                                              \
        for (int k = 0; k < 3; k++) {                                                                                  \
            sums[k] = add_lanes(lanes, k);                                                                             \
        }                                                                                                              \
    }
LSP_SOLVE_LOOPS(KERNEL)
#undef KERNEL
#undef T
#undef NAME
