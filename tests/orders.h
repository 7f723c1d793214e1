/* A random permutation of 0 .. n-1, for the tests; the caller frees it. */
#pragma once

#include "matrices.h"

static inline void *test_order(int64_t n, lsp_type type, uint64_t seed) {
    void *order = malloc((size_t)n * lsp_type_bytes(type) + 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t j = test_below(&seed, i + 1);
        if (i > 0) {
            lsp_index_set(order, type, i, lsp_index_at(order, type, j));
        }
        lsp_index_set(order, type, j, i);
    }
    return order;
}
