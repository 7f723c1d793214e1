/* What is made of a suffix array, and its checks, on both devices: what happens to one place of it, to one symbol, to
 * one pattern. At the end THE list: a line becomes a loop of the host and a kernel. */
#pragma once

#include "core/each.h"
#include "suffix_array.h"

LSP_BEGIN_DECLS

/* ---- the text and its array ---- */

LSP_BODY_FUNCTION int64_t lsp_suffix_at(const lsp_deriving *a, const lsp_kind t, int64_t r) {
    return lsp_index_at(a->suffixes, t.index, r);
}
LSP_BODY_FUNCTION bool lsp_is_suffix(const lsp_deriving *a, int64_t i) { return (uint64_t)i < (uint64_t)a->n; }
LSP_BODY_FUNCTION uint32_t lsp_text_at(const lsp_deriving *a, int64_t i) {
    return lsp_symbol_at(a->symbols, a->symbol_bytes, i);
}
/* Is i the end of the text, or does a string begin there? */
LSP_BODY_FUNCTION bool lsp_is_border(const lsp_deriving *a, int64_t i) {
    return i >= a->n || (a->first != NULL && lsp_is_first(a->first, i));
}
/* The type of a->places: a constant where that of the array is LSP_I32, which is never narrower. */
LSP_BODY_FUNCTION lsp_type lsp_places_type(const lsp_deriving *a, const lsp_kind t) {
    return t.index == LSP_I32 ? LSP_I32 : a->place_type;
}

/* array[i] = min(array[i], x), by any thread. */
LSP_BODY_FUNCTION void lsp_index_lower(void *array, lsp_type type, int64_t i, int64_t x) {
#ifdef __CUDA_ARCH__
    if (type == LSP_I32) {
        atomicMin((int *)array + i, (int)x);
    } else {
        atomicMin((long long *)array + i, (long long)x);
    }
#else
    int32_t *narrow = (int32_t *)array + i, seen = INT32_MIN;
    if (type == LSP_I32) {
        seen = __atomic_load_n(narrow, __ATOMIC_RELAXED);
    } else {
        lsp_lower((int64_t *)array + i, x);
    }
    while (x < seen &&
           !__atomic_compare_exchange_n(narrow, &seen, (int32_t)x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
#endif
}

/* The largest symbol of 4 bytes. */
LSP_ITEM_BODY(largest_symbol, lsp_deriving) { lsp_tell_most(f, ((const uint32_t *)a->symbols)[i], 0); }

/* ---- checks ---- */

/* The suffix at place r; or -1, and tells as the first number that this place holds none. */
LSP_BODY_FUNCTION int64_t lsp_suffix_or_tell(const lsp_deriving *a, const lsp_kind t, int64_t r, lsp_found *f) {
    const int64_t suffix = lsp_suffix_at(a, t, r);
    if (lsp_is_suffix(a, suffix)) {
        return suffix;
    }
    lsp_tell_first(f, 0, (uint64_t)r);
    return -1;
}
LSP_ITEM_BODY(no_suffix, lsp_deriving) { (void)lsp_suffix_or_tell(a, t, i, f); }

/* Tells the lowest suffix that stands twice as the second number. */
LSP_ITEM_BODY(suffix_twice, lsp_deriving) {
    const int64_t suffix = lsp_suffix_or_tell(a, t, i, f);
    if (suffix >= 0 && lsp_set_bit(a->seen, suffix)) {
        lsp_tell_first(f, 1, (uint64_t)suffix);
    }
}

/* places[suffix] = its place; of several, any one. */
LSP_ITEM_BODY(put_place, lsp_deriving) {
    const int64_t suffix = lsp_suffix_or_tell(a, t, i, f);
    if (suffix >= 0) {
        lsp_index_store(a->places, lsp_places_type(a, t), suffix, i);
    }
}
/* After put_place: of several, the first. */
LSP_ITEM_BODY(lower_place, lsp_deriving) {
    const int64_t suffix = lsp_suffix_or_tell(a, t, i, f);
    if (suffix >= 0) {
        lsp_index_lower(a->places, lsp_places_type(a, t), suffix, i);
    }
}
/* The first place that holds no suffix, or one that was put elsewhere. */
LSP_ITEM_BODY(other_place, lsp_deriving) {
    const int64_t suffix = lsp_suffix_or_tell(a, t, i, f);
    if (suffix >= 0 && lsp_index_at(a->places, lsp_places_type(a, t), suffix) != i) {
        lsp_tell_first(f, 0, (uint64_t)i);
    }
}

/* The place of what follows symbol i. -1: its string ends. */
LSP_BODY_FUNCTION int64_t lsp_place_behind(const lsp_deriving *a, const lsp_kind t, int64_t i) {
    return lsp_is_border(a, i + 1) ? -1 : lsp_index_at(a->places, lsp_places_type(a, t), i + 1);
}
/* The first place whose suffix comes before the one at the place before. Suffixes that end with their first symbol are
 * ordered by their strings. */
LSP_ITEM_BODY(out_of_order, lsp_deriving) {
    if (i > 0) {
        const int64_t before = lsp_suffix_at(a, t, i - 1), suffix = lsp_suffix_at(a, t, i);
        const uint32_t x = lsp_text_at(a, before), y = lsp_text_at(a, suffix);
        const int64_t p = lsp_place_behind(a, t, before), q = lsp_place_behind(a, t, suffix);
        if (!(x < y || (x == y && (p < q || (p < 0 && q < 0 && before < suffix))))) {
            lsp_tell_first(f, 0, (uint64_t)i);
        }
    }
}

/* ---- common prefixes ---- */

/* places[suffix] = the suffix before it, -1: none. */
LSP_ITEM_BODY(put_before, lsp_deriving) {
    const int64_t suffix = lsp_suffix_or_tell(a, t, i, f);
    if (suffix >= 0) {
        lsp_index_store(a->places, lsp_places_type(a, t), suffix, i == 0 ? -1 : lsp_suffix_at(a, t, i - 1));
    }
}
/* From the order of the text to that of the array. */
LSP_ITEM_BODY(order_prefix, lsp_deriving) {
    const int64_t length = i == 0 ? 0 : lsp_index_at(a->places, lsp_places_type(a, t), lsp_suffix_at(a, t, i));
    lsp_index_set(a->out, t.index, i, length);
}

/* ---- the Burrows-Wheeler transform ---- */

/* Tells the primary index as the second number. */
LSP_ITEM_BODY(find_primary, lsp_deriving) {
    if (lsp_suffix_or_tell(a, t, i, f) == 0) {
        lsp_tell_first(f, 1, (uint64_t)i + 1);
    }
}
LSP_ITEM_BODY(transform, lsp_deriving) {
    const int64_t suffix = lsp_suffix_at(a, t, i), at = i + 1 - (i + 1 > a->primary);
    if (suffix > 0) {
        lsp_symbol_set(a->out, a->symbol_bytes, at, lsp_text_at(a, suffix - 1));
    }
    if (i == 0) {
        lsp_symbol_set(a->out, a->symbol_bytes, 0, lsp_text_at(a, a->n - 1));
    }
}
LSP_ITEM_BODY(widen_symbol, lsp_deriving) { a->keys[i] = lsp_text_at(a, i); }

/* ---- searches ---- */

typedef struct lsp_searching {
    lsp_deriving text;
    const void *symbols;   /* of the patterns */
    const int64_t *starts; /* likewise */
    int64_t *first, *count;
} lsp_searching;

/* Compares a suffix with a pattern whose first *same symbols agree with it, and raises *same. Negative: the suffix
 * comes before all suffixes that begin with the pattern; 0: it begins with it. */
LSP_BODY_FUNCTION int lsp_compare_pattern(const lsp_searching *a, int64_t suffix, int64_t begin, int64_t end,
                                          int64_t *same) {
    int64_t k = *same;
    int order = 0;
    while (order == 0 && begin + k < end) {
        if (k > 0 && lsp_is_border(&a->text, suffix + k)) {
            order = -1;
        } else {
            const uint32_t x = lsp_text_at(&a->text, suffix + k);
            const uint32_t y = lsp_symbol_at(a->symbols, a->text.symbol_bytes, begin + k);
            order = (x > y) - (x < y);
            k += order == 0;
        }
    }
    *same = k;
    return order;
}
/* The first place from `low` on whose suffix compares at least as `least` (0: begins with the pattern or comes behind;
 * 1: comes behind), or the number of suffixes. */
LSP_BODY_FUNCTION int64_t lsp_find_pattern(const lsp_searching *a, const lsp_kind t, int64_t begin, int64_t end,
                                           int64_t low, int least) {
    int64_t same_low = 0, same_high = 0; /* symbols that the suffixes around the range share with the pattern */
    int64_t high = a->text.n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        int64_t same = same_low < same_high ? same_low : same_high;
        if (lsp_compare_pattern(a, lsp_suffix_at(&a->text, t, middle), begin, end, &same) >= least) {
            high = middle;
            same_high = same;
        } else {
            low = middle + 1;
            same_low = same;
        }
    }
    return low;
}
LSP_ITEM_BODY(search_pattern, lsp_searching) {
    const int64_t begin = a->starts[i], end = a->starts[i + 1], found = lsp_find_pattern(a, t, begin, end, 0, 0);
    a->first[i] = found;
    a->count[i] = lsp_find_pattern(a, t, begin, end, found, 1) - found;
}

/* ---- THE list ---- */

#define LSP_SUFFIX_BODIES(ITEM)                                                                                        \
    ITEM(largest_symbol, lsp_deriving)                                                                                 \
    ITEM(no_suffix, lsp_deriving)                                                                                      \
    ITEM(suffix_twice, lsp_deriving)                                                                                   \
    ITEM(put_place, lsp_deriving)                                                                                      \
    ITEM(lower_place, lsp_deriving)                                                                                    \
    ITEM(other_place, lsp_deriving)                                                                                    \
    ITEM(out_of_order, lsp_deriving)                                                                                   \
    ITEM(put_before, lsp_deriving)                                                                                     \
    ITEM(order_prefix, lsp_deriving)                                                                                   \
    ITEM(find_primary, lsp_deriving)                                                                                   \
    ITEM(transform, lsp_deriving)                                                                                      \
    ITEM(widen_symbol, lsp_deriving)                                                                                   \
    ITEM(search_pattern, lsp_searching)

LSP_SUFFIX_BODIES(LSP_BODY_HOST)
typedef struct lsp_suffix_bodies_table { /* of the GPU; NULL in a build without CUDA */
    LSP_SUFFIX_BODIES(LSP_BODY_ITEM)
} lsp_suffix_bodies_table;
extern const lsp_suffix_bodies_table lsp_suffix_bodies_on_gpu;
#define LSP_BODIES_ON_GPU lsp_suffix_bodies_on_gpu

LSP_END_DECLS
