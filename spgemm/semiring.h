/* A product joined to a sum in any semiring but LSP_PLUS_TIMES, which is a fused multiply-add. */
#ifndef LSP_SPGEMM_SEMIRING_H
#define LSP_SPGEMM_SEMIRING_H

#include "libsparse.h"

#define LSP_JOIN(type, suffix)                                                                                         \
    static inline __attribute__((always_inline)) type join_##suffix(lsp_semiring semiring, type a, type b, type sum) { \
        const type product = semiring == LSP_MIN_PLUS ? a + b : a * b;                                                 \
        switch (semiring) {                                                                                            \
        case LSP_MIN_PLUS:                                                                                             \
            return product < sum || product != product ? product : sum;                                                \
        case LSP_MAX_TIMES:                                                                                            \
            return product > sum || product != product ? product : sum;                                                \
        case LSP_OR_AND:                                                                                               \
            return a != 0 && b != 0 ? 1 : sum;                                                                         \
        default:                                                                                                       \
            return sum + 1;                                                                                            \
        }                                                                                                              \
    }
LSP_JOIN(float, f32)
LSP_JOIN(double, f64)

#endif
