/* Where segments lie, for the tests of segsort. */
#pragma once

#include "core/core.h"
#include "tests/support.h"

typedef struct layout {
    const char *name;
    int64_t n, segments, length;
    int64_t *offsets, *ends; /* NULL if the form has none */
} layout;

static inline void layout_free(layout *where) { free(where->offsets), free(where->ends), *where = (layout){0}; }

/* Segments of these lengths one after another, with a few free items before the first and behind the last. */
static inline layout layout_of(const char *name, const int64_t *lengths, int64_t segments) {
    layout made = {.name = name, .segments = segments, .offsets = malloc((size_t)(segments + 1) * sizeof(int64_t))};
    made.offsets[0] = segments % 4;
    for (int64_t s = 0; s < segments; s++) {
        made.offsets[s + 1] = made.offsets[s] + lengths[s];
    }
    made.n = made.offsets[segments] + segments % 3;
    return made;
}

static inline void shuffle(int64_t *items, int64_t n, uint64_t *state) {
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = test_below(state, i + 1), swap = items[i];
        items[i] = items[j];
        items[j] = swap;
    }
}

/* Segments of these lengths as begins and ends: in random order, some with gaps between them. */
static inline layout layout_of_pairs(const char *name, const int64_t *lengths, int64_t segments, uint64_t seed) {
    layout made = {.name = name, .segments = segments};
    size_t bytes = (size_t)lsp_max(segments, 1) * sizeof(int64_t);
    int64_t *order = malloc(bytes);
    made.offsets = malloc(bytes), made.ends = malloc(bytes);
    for (int64_t s = 0; s < segments; s++) {
        order[s] = s;
    }
    shuffle(order, segments, &seed);
    for (int64_t i = 0; i < segments; i++) {
        made.n += test_below(&seed, 3) == 0 ? test_below(&seed, 6) : 0;
        made.offsets[order[i]] = made.n;
        made.ends[order[i]] = made.n += lengths[order[i]];
    }
    made.n += 2;
    free(order);
    return made;
}

static inline layout layout_of_length(const char *name, int64_t n, int64_t length) {
    return (layout){.name = name, .n = n, .segments = lsp_ceil_div(n, length), .length = length};
}
