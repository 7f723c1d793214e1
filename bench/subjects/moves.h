/* The indices and elements that `gather` and `scatter` move, and the check of a result, defined once for the host and
 * the GPU. An element's 4-byte words tell its position in the source, so each result shows alone whether it is right.
 */
#pragma once

#include "segments.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_move {
    int64_t n; /* indices, and elements of the indexed array; a power of two, at most 2^31 */
    int bytes; /* of an element: 4, 8 or 16 */
    bool scatter;
    const int32_t *index;
    const uint32_t *from;
    uint32_t *to;
} bench_move;

/* Word k of the element at position i. */
static inline BENCH_BOTH uint32_t bench_move_word(int64_t i, int k) { return (uint32_t)i ^ 0x9E3779B9u * (uint32_t)k; }

static inline BENCH_BOTH void bench_move_put(uint32_t *array, int bytes, int64_t i) {
    for (int k = 0; k < bytes / 4; k++) {
        array[i * (bytes / 4) + k] = bench_move_word(i, k);
    }
}

/* Did the move of position i go wrong? A gather must bring the element index[i]. At index[i] a scatter must leave the
 * element of a position that has this index. */
static inline BENCH_BOTH bool bench_move_fault(const bench_move *m, int64_t i) {
    const int words = m->bytes / 4;
    const uint32_t *found = m->to + (m->scatter ? (int64_t)m->index[i] : i) * words;
    const int64_t source = found[0];
    bool fault = m->scatter ? source >= m->n || m->index[source] != m->index[i] : source != m->index[i];
    for (int k = 1; k < words; k++) {
        fault = fault || found[k] != bench_move_word(source, k);
    }
    return fault;
}

/* moves.c: writes n = 2^bits indices of a pattern: "random", "permutation", "sequential", "local", "partsB" (2^B
 * partitions) or "zipf". false: out of memory. */
bool bench_move_fill(const char *pattern, int bits, int32_t *index);

#ifdef __cplusplus
}
#endif
