/* The n largest of many ranked things, in a heap whose first one is the next to leave. Among equal ones the first stay.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct lsp_ranked {
    uint64_t rank;
    int64_t k; /* which one, in order */
} lsp_ranked;

/* An integer that orders sizes, which are 0 or more; all NaN are equal, above infinity. */
static inline uint64_t lsp_rank_of(double size) {
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    return size == size ? bits : UINT64_MAX;
}

/* The size that has this rank, unless it is a NaN. */
static inline double lsp_size_of(uint64_t rank) {
    double size;
    memcpy(&size, &rank, sizeof size);
    return size;
}

static inline bool lsp_leaves_first(lsp_ranked a, lsp_ranked b) {
    return a.rank < b.rank || (a.rank == b.rank && a.k > b.k);
}

/* Puts a thing into the full heap of n things, in place of the first one. */
static inline void lsp_top_replace(lsp_ranked *heap, int64_t n, lsp_ranked entry) {
    int64_t at = 0;
    for (int64_t child = 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && lsp_leaves_first(heap[child + 1], heap[child]);
        if (!lsp_leaves_first(heap[child], entry)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

/* Puts a thing into a heap of n things, which then has n + 1. */
static inline void lsp_top_append(lsp_ranked *heap, int64_t n, lsp_ranked entry) {
    int64_t at = n;
    for (; at > 0 && lsp_leaves_first(entry, heap[(at - 1) / 2]); at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = entry;
}
