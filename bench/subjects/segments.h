/* The keys and values that `segsort` sorts, and the check of a result, defined once for the host and the GPU
 * (segments.c, device.cu). A value is the position of its item in the input. So each output item alone shows whether
 * order, stability and pairing are right, and a sum of hashes shows whether an item is missing. Offsets are int32,
 * without gaps. */
#pragma once

#include "libsparse.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __CUDACC__
#define BENCH_BOTH __host__ __device__
#else
#define BENCH_BOTH
#endif

/* ---- random numbers: splitmix64; its state is a counter, so draw k needs no earlier draws ---- */

#define BENCH_GAMMA UINT64_C(0x9E3779B97F4A7C15)

static inline BENCH_BOTH uint64_t bench_mix(uint64_t z) {
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}
/* Draw k (0, 1, ...) of the generator with this seed. */
static inline BENCH_BOTH uint64_t bench_draw(uint64_t seed, int64_t k) {
    return bench_mix(bench_mix(seed + BENCH_GAMMA) + (uint64_t)(k + 1) * BENCH_GAMMA);
}

/* ---- segments ---- */

/* The segment of item i, which must lie in one of the segments first .. last-1. */
static inline BENCH_BOTH int64_t bench_segment_of(const int32_t *offsets, int64_t first, int64_t last, int64_t i) {
    while (last - first > 1) {
        const int64_t middle = first + (last - first) / 2;
        if (offsets[middle] <= i) {
            first = middle;
        } else {
            last = middle;
        }
    }
    return first;
}

/* ---- keys ---- */

typedef enum bench_keys {
    BENCH_RANDOM = 0,
    BENCH_DISTINCT16 = 1, /* 16 different keys, from zero to all ones */
    BENCH_HALF_EQUAL = 2, /* every other draw gives the same key */
    BENCH_SORTED = 3,     /* floor(p * 2^32 / length) at place p of the segment */
    BENCH_REVERSED = 4,
    BENCH_EQUAL = 5,
    BENCH_SKEWED = 6 /* as many keys of each length in bits: 1 to 32 fewer than the type has */
} bench_keys;

/* Key i as 64 bits; a 32-bit key is their upper half. `draws`: random numbers that the lengths have used. */
static inline BENCH_BOTH uint64_t bench_key(bench_keys keys, int64_t draws, const int32_t *offsets, int64_t s,
                                            int64_t i) {
    const uint64_t draw = bench_draw(1, draws + i);
    const uint64_t length = (uint64_t)(offsets[s + 1] - offsets[s]), place = (uint64_t)(i - offsets[s]);
    switch (keys) {
    case BENCH_DISTINCT16:
        return (draw >> 60) * UINT64_C(0x1111111111111111);
    case BENCH_HALF_EQUAL:
        return draw & 1 ? UINT64_C(1) << 63 : draw;
    case BENCH_SORTED:
        return ((place << 32) / length) << 32;
    case BENCH_REVERSED:
        return (((length - 1 - place) << 32) / length) << 32;
    case BENCH_EQUAL:
        return UINT64_C(42) << 40;
    case BENCH_SKEWED:
        return draw >> bench_mix(draw) % 32;
    default:
        return draw;
    }
}

/* Writes key and value of item i. A float key is the 32 bits themselves, made finite: an exponent of all ones loses its
 * lowest bit. */
static inline BENCH_BOTH void bench_put_item(const lsp_segsort_args *a, uint64_t key, int64_t i) {
    uint32_t upper = (uint32_t)(key >> 32);
    if (a->key_type == LSP_F32 && (upper >> 23 & 0xFF) == 0xFF) {
        upper ^= UINT32_C(1) << 23;
    }
    if (a->key_type == LSP_U64) {
        ((uint64_t *)a->keys)[i] = key;
    } else {
        ((uint32_t *)a->keys)[i] = upper;
    }
    if (a->value_bytes == 8) {
        ((uint64_t *)a->values)[i] = (uint64_t)i;
    } else if (a->value_bytes == 4) {
        ((uint32_t *)a->values)[i] = (uint32_t)i;
    }
}

/* ---- the check ---- */

/* Key i as an unsigned number that compares as the key does. */
static inline BENCH_BOTH uint64_t bench_number(lsp_type type, const void *keys, int64_t i) {
    if (type == LSP_U64) {
        return ((const uint64_t *)keys)[i];
    }
    const uint32_t key = ((const uint32_t *)keys)[i];
    return type == LSP_U32 ? key : key >> 31 ? ~key : key | UINT32_C(1) << 31;
}
static inline BENCH_BOTH int64_t bench_position(size_t bytes, const void *values, int64_t i) {
    return bytes == 8 ? ((const int64_t *)values)[i] : (int64_t)((const uint32_t *)values)[i];
}

enum { BENCH_PLACE, BENCH_ORDER, BENCH_STABLE, BENCH_FAULTS, BENCH_NO_FAULT = BENCH_FAULTS };

/* The fault of output item i in segment s. */
static inline BENCH_BOTH int bench_fault(const lsp_segsort_args *a, bool stable, int64_t s, int64_t i) {
    const int32_t *offsets = (const int32_t *)a->offsets;
    const uint64_t key = bench_number(a->key_type, a->keys_out, i);
    const int64_t from = a->value_bytes ? bench_position(a->value_bytes, a->values_out, i) : 0;
    if (a->first > 0 && i - offsets[s] >= a->first) {
        return BENCH_NO_FAULT; /* a sort of first items may leave anything here */
    }
    if (a->value_bytes &&
        (from < offsets[s] || from >= offsets[s + 1] || bench_number(a->key_type, a->keys, from) != key)) {
        return BENCH_PLACE;
    }
    if (i == offsets[s]) {
        return BENCH_NO_FAULT;
    }
    const uint64_t before = bench_number(a->key_type, a->keys_out, i - 1);
    if (before > key) {
        return BENCH_ORDER;
    }
    const bool tie = stable && a->value_bytes && before == key;
    return tie && bench_position(a->value_bytes, a->values_out, i - 1) >= from ? BENCH_STABLE : BENCH_NO_FAULT;
}

/* A hash of input or output item i. Its sum over all items differs before and after a sort if items were lost or
 * duplicated. If only first items are sorted, it is 0 for items that are not before the last one of them, or are it. */
static inline BENCH_BOTH uint64_t bench_hash(const lsp_segsort_args *a, bool stable, bool out, int64_t s, int64_t i) {
    const int32_t *offsets = (const int32_t *)a->offsets;
    const uint64_t number = bench_number(a->key_type, out ? a->keys_out : a->keys, i);
    const int64_t place = a->value_bytes ? bench_position(a->value_bytes, out ? a->values_out : a->values, i) : 0;
    const int64_t last = offsets[s] + a->first - 1;
    if (a->first > 0 && last + 1 < offsets[s + 1]) {
        const uint64_t limit = bench_number(a->key_type, a->keys_out, last);
        const bool tie =
            number == limit && stable && a->value_bytes && place <= bench_position(a->value_bytes, a->values_out, last);
        if ((out && i > last) || (number >= limit && !tie)) {
            return 0;
        }
    }
    return bench_mix(a->value_bytes ? (uint64_t)place + BENCH_GAMMA : number + bench_mix((uint64_t)s + BENCH_GAMMA));
}

typedef struct bench_verdict {
    long long first[BENCH_FAULTS]; /* the first item with each fault; LLONG_MAX: none */
    unsigned long long hash_in, hash_out;
} bench_verdict;

/* ---- on the host: segments.c ---- */

/* The offsets of a workload: "uniform_256", "uniform_N", "zipf_1.0_2000", "small_1024_10". "small" sets *n too. *draws:
 * random numbers used. NULL: out of memory. */
int32_t *bench_segments_make(const char *name, int64_t *n, int64_t *segments, int64_t *draws);
void bench_segments_fill(const lsp_segsort_args *a, bench_keys keys, int64_t draws);
void bench_segments_check(const lsp_segsort_args *a, bool stable, bench_verdict *verdict);
int64_t bench_segments_longest(const int32_t *offsets, int64_t segments);

#ifdef __cplusplus
}
#endif
