/* The indices of `gather` and `scatter`. */
#include "moves.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOCAL_BITS = 12 }; /* of a block of the pattern "local" */

/* A permutation of 0 .. 2^bits - 1: multiplications by odd numbers and shifts can be undone. */
static uint64_t permuted(uint64_t i, int bits, uint64_t seed) {
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    const int half = (bits + 1) / 2;
    i = (i + seed) & mask;
    for (int round = 0; round < 3; round++) {
        i = i * (bench_mix(seed + (uint64_t)round) | 1) & mask;
        i ^= i >> half;
    }
    return i;
}

/* An index is the next one of a random range; the ranges are as long as they are drawn often. */
static bool fill_partitions(int parts_bits, int64_t n, int32_t *index) {
    const int shift = 64 - parts_bits;
    int64_t *next = calloc(((size_t)1 << parts_bits) + 1, sizeof *next);
    for (int64_t i = 0; next && i < n; i++) {
        next[(bench_draw(5, i) >> shift) + 1]++;
    }
    for (int64_t p = 0; next && p < 1 << parts_bits; p++) {
        next[p + 1] += next[p];
    }
    for (int64_t i = 0; next && i < n; i++) {
        index[i] = (int32_t)next[bench_draw(5, i) >> shift]++;
    }
    free(next);
    return next != NULL;
}

bool bench_move_fill(const char *pattern, int bits, int32_t *index) {
    const int64_t n = INT64_C(1) << bits;
    if (strncmp(pattern, "parts", 5) == 0) {
        const int parts_bits = (int)strtol(pattern + 5, NULL, 10);
        return fill_partitions(parts_bits < bits ? parts_bits : bits, n, index);
    }
    const int local_bits = bits < LOCAL_BITS ? bits : LOCAL_BITS;
    const char kind = pattern[0];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const uint64_t draw = bench_draw(3, i), in_block = (uint64_t)i >> local_bits;
        const double uniform = (double)(draw >> 11) * 0x1p-53;
        const uint64_t rank = (uint64_t)fmin(exp2(uniform * bits), (double)n - 1); /* a Zipf distribution, s = 1 */
        index[i] = (int32_t)(kind == 'r'   ? draw >> (64 - bits)
                             : kind == 'p' ? permuted((uint64_t)i, bits, 7)
                             : kind == 'l' ? in_block << local_bits | permuted((uint64_t)i, local_bits, in_block)
                             : kind == 'z' ? permuted(rank, bits, 11)
                                           : (uint64_t)i);
    }
    return true;
}
