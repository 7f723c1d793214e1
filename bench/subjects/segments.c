/* The workloads of `segsort` on the host: offsets by name, keys and values, and the check of a result. */
#include "segments.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16 };

/* Segments of `length` items each; the last takes the rest. */
static int32_t *uniform(int64_t n, int64_t length, int64_t *segments) {
    *segments = (n + length - 1) / length;
    int32_t *offsets = malloc((size_t)(*segments + 1) * sizeof *offsets);
#pragma omp parallel for
    for (int64_t s = 0; s < (offsets ? *segments : 0); s++) {
        offsets[s] = (int32_t)(s * length);
    }
    if (offsets) {
        offsets[*segments] = (int32_t)n;
    }
    return offsets;
}

/* The given number of segments; their lengths differ by at most one. */
static int32_t *small(int64_t n, int64_t segments) {
    int32_t *offsets = malloc((size_t)(segments + 1) * sizeof *offsets);
    for (int64_t s = 0; offsets && s <= segments; s++) {
        offsets[s] = (int32_t)(n * s / segments);
    }
    return offsets;
}

/* The first length whose cumulative weight reaches the share u. */
static int32_t zipf_length(const double *cumulative, int32_t longest, double u) {
    const double reach = u * cumulative[longest - 1];
    int32_t low = 0, high = longest - 1;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (cumulative[middle] >= reach) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low + 1;
}

/* Draws lengths until they add up to n. The draws of a batch are made in parallel, then added one after the other. */
static int32_t *zipf(int64_t n, double alpha, int32_t longest, int64_t *segments, int64_t *draws) {
    enum { BATCH = 1 << 20 };
    double *cumulative = malloc((size_t)longest * sizeof *cumulative), total = 0;
    int32_t *offsets = malloc((size_t)(n + 1) * sizeof *offsets), *lengths = malloc(BATCH * sizeof *lengths), *less;
    int64_t end = 0, count = 0;
    if (cumulative && offsets && lengths) {
        for (int32_t l = 1; l <= longest; l++) {
            cumulative[l - 1] = total += pow(l, -alpha);
        }
        while (end < n) {
            const int64_t base = count;
#pragma omp parallel for
            for (int64_t k = 0; k < BATCH; k++) {
                lengths[k] = zipf_length(cumulative, longest, (double)(bench_draw(1, base + k) >> 11) * 0x1p-53);
            }
            for (int64_t k = 0; k < BATCH && end < n; k++) {
                offsets[count++] = (int32_t)end;
                end += lengths[k];
            }
        }
        offsets[count] = (int32_t)n;
        *segments = *draws = count;
        less = realloc(offsets, (size_t)(count + 1) * sizeof *offsets);
        offsets = less ? less : offsets;
    } else {
        free(offsets);
        offsets = NULL;
    }
    free(lengths);
    free(cumulative);
    return offsets;
}

int32_t *bench_segments_make(const char *name, int64_t *n, int64_t *segments, int64_t *draws) {
    char *at;
    *draws = 0;
    if (strncmp(name, "uniform_", 8) == 0) {
        return uniform(*n, name[8] == 'N' ? *n : strtoll(name + 8, NULL, 10), segments);
    }
    if (strncmp(name, "zipf_", 5) == 0) {
        const double alpha = strtod(name + 5, &at);
        return zipf(*n, alpha, (int32_t)strtol(at + 1, NULL, 10), segments, draws);
    }
    *n = strtoll(name + strlen("small_"), &at, 10);
    *segments = strtoll(at + 1, NULL, 10);
    return small(*n, *segments);
}

int64_t bench_segments_longest(const int32_t *offsets, int64_t segments) {
    int32_t longest = 0;
#pragma omp parallel for reduction(max : longest)
    for (int64_t s = 0; s < segments; s++) {
        longest = offsets[s + 1] - offsets[s] > longest ? offsets[s + 1] - offsets[s] : longest;
    }
    return longest;
}

void bench_segments_fill(const lsp_segsort_args *a, bench_keys keys, int64_t draws) {
    const int32_t *offsets = a->offsets;
#pragma omp parallel for
    for (int64_t begin = 0; begin < a->n; begin += BLOCK) {
        int64_t s = bench_segment_of(offsets, 0, a->segments, begin);
        for (int64_t i = begin; i < begin + BLOCK && i < a->n; i++) {
            while (offsets[s + 1] <= i) {
                s++;
            }
            bench_put_item(a, bench_key(keys, draws, offsets, s, i), i);
        }
    }
}

void bench_segments_check(const lsp_segsort_args *a, bool stable, bench_verdict *verdict) {
    const int32_t *offsets = a->offsets;
    long long place = LLONG_MAX, order = LLONG_MAX, unstable = LLONG_MAX;
    unsigned long long in = 0, out = 0;
#pragma omp parallel for reduction(min : place, order, unstable) reduction(+ : in, out)
    for (int64_t begin = 0; begin < a->n; begin += BLOCK) {
        int64_t s = bench_segment_of(offsets, 0, a->segments, begin);
        for (int64_t i = begin; i < begin + BLOCK && i < a->n; i++) {
            while (offsets[s + 1] <= i) {
                s++;
            }
            const int fault = bench_fault(a, stable, s, i);
            place = fault == BENCH_PLACE && i < place ? i : place;
            order = fault == BENCH_ORDER && i < order ? i : order;
            unstable = fault == BENCH_STABLE && i < unstable ? i : unstable;
            in += bench_hash(a, stable, false, s, i);
            out += bench_hash(a, stable, true, s, i);
        }
    }
    *verdict = (bench_verdict){.first = {place, order, unstable}, .hash_in = in, .hash_out = out};
}
