/* Integers in the CPU's kernels: sums and products modulo 2^64, so that no order of them matters. */
#pragma once

#include "core/vector.h"
#include <stdint.h>

/* sum + a*b. Unsigned, because signed numbers must not overflow. */
ALWAYS int64_t integer_fma(int64_t a, int64_t b, int64_t sum) {
    return (int64_t)((uint64_t)sum + (uint64_t)a * (uint64_t)b);
}
