/* What an engine on the CPU makes of the sum of a row: y = alpha*sum + beta*y, or in another semiring the join of both.
 * The reference and all engines write y by these functions. */
#ifndef LSP_SPMV_FINISH_H
#define LSP_SPMV_FINISH_H

#include "spmv.h"

/* `y`: read unless beta is 0. */
#define LSP_SPMV_FINISH(type, suffix)                                                                                  \
    static inline __attribute__((always_inline)) void finish_##suffix(lsp_semiring semiring, type alpha, type beta,    \
                                                                      type sum, type *y) {                             \
        if (semiring == LSP_PLUS_TIMES) {                                                                              \
            *y = beta == 0 ? alpha * sum : alpha * sum + beta * *y;                                                    \
        } else if (beta == 0) {                                                                                        \
            *y = sum;                                                                                                  \
        } else if (lsp_semiring_product(semiring) == LSP_PRODUCT_BOTH) {                                               \
            *y = *y != 0 || sum != 0;                                                                                  \
        } else if (lsp_semiring_join(semiring) == LSP_JOIN_LEAST) {                                                    \
            *y = LSP_DO_LEAST(*y, sum);                                                                                \
        } else if (lsp_semiring_join(semiring) == LSP_JOIN_LARGEST) {                                                  \
            *y = LSP_DO_LARGEST(*y, sum);                                                                              \
        } else {                                                                                                       \
            *y = *y + sum;                                                                                             \
        }                                                                                                              \
    }
LSP_SPMV_FINISH(float, f32)
LSP_SPMV_FINISH(double, f64)

#endif
