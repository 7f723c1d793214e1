/* THE bodies of this room: what a function does to one item or one entry, on both devices. A new function adds its body
 * and a line to the list at the end. */
#pragma once

#include "csr/plans.h"
#include "each.h"
#include "forms/forms.h"
#include "values/number.h"

LSP_BEGIN_DECLS

/* ---- arrays of indices ---- */

typedef struct indexing {
    const void *from;
    void *to;
    lsp_type type;
    int64_t first, less, limit;
} indexing;
/* array[i] = x where other threads may store too. */
LSP_BODY_FUNCTION void lsp_index_store(void *array, lsp_type type, int64_t i, int64_t x) {
#ifdef __CUDA_ARCH__
    lsp_index_set(array, type, i, x);
#else
    if (type == LSP_I32) {
        __atomic_store_n((int32_t *)array + i, (int32_t)x, __ATOMIC_RELAXED);
    } else {
        __atomic_store_n((int64_t *)array + i, x, __ATOMIC_RELAXED);
    }
#endif
}

/* to[i] = i. */
LSP_ITEM_BODY(count_up, indexing) { lsp_index_set(a->to, t.index, i, i); }
/* to[i] = from[first + i] - less. */
LSP_ITEM_BODY(shift, indexing) {
    lsp_index_set(a->to, t.index, i, lsp_index_at(a->from, t.index, a->first + i) - a->less);
}
/* The first item outside 0 .. limit-1. */
LSP_ITEM_BODY(outside, indexing) {
    if ((uint64_t)lsp_index_at(a->from, t.index, i) >= (uint64_t)a->limit) {
        lsp_tell_first(f, 0, (uint64_t)i);
    }
}

/* The inverse of an order of 0 .. limit-1, if it is one: each item finds itself. */
LSP_ITEM_BODY(seat, indexing) {
    const int64_t place = lsp_index_at(a->from, t.index, i);
    if ((uint64_t)place < (uint64_t)a->limit) {
        lsp_index_store(a->to, t.index, place, i);
    }
}
LSP_ITEM_BODY(misplaced, indexing) {
    const int64_t place = lsp_index_at(a->from, t.index, i);
    if ((uint64_t)place >= (uint64_t)a->limit || lsp_index_at(a->to, t.index, place) != i) {
        lsp_tell_first(f, 0, (uint64_t)i);
    }
}

/* Was the bit of column j set before? Many threads set bits. */
LSP_BODY_FUNCTION bool lsp_set_bit(unsigned *bits, int64_t j) {
    const unsigned bit = 1u << j % 32;
#ifdef __CUDA_ARCH__
    return (atomicOr(&bits[j / 32], bit) & bit) != 0;
#else
    return (__atomic_fetch_or(&bits[j / 32], bit, __ATOMIC_RELAXED) & bit) != 0;
#endif
}
/* The places of the columns in a list, whose indices are in range, and which columns it has. Flags: see LSP_LIST_TWICE.
 */
typedef struct placing {
    const void *list;
    unsigned *bits; /* of the columns; zeros before */
    void *places;
} placing;
LSP_ITEM_BODY(place, placing) {
    const int64_t j = lsp_index_at(a->list, t.index, i);
    const bool twice = lsp_set_bit(a->bits, j), falls = i > 0 && lsp_index_at(a->list, t.index, i - 1) > j;
    lsp_index_store(a->places, t.index, j, i);
    lsp_tell_flags(f, (twice ? (unsigned)LSP_LIST_TWICE : 0u) | (falls ? (unsigned)LSP_LIST_FALLS : 0u));
}

/* ---- triples ---- */

LSP_ITEM_BODY(triple_outside, lsp_coo) {
    if ((uint64_t)lsp_index_at(a->row, t.index, i) >= (uint64_t)a->rows ||
        (uint64_t)lsp_index_at(a->col, t.index, i) >= (uint64_t)a->cols) {
        lsp_tell_first(f, 0, (uint64_t)i);
    }
}

/* ---- values ---- */

typedef struct valuing {
    const void *from;
    void *to;
    const void *places;
    bool wide;
} valuing;
/* to[i] = from[places[i]]. */
LSP_ITEM_BODY(take_value, valuing) {
    lsp_move_value(a->to, i, a->from, lsp_place_at(a->places, a->wide, i), lsp_value_bytes(t.val));
}
/* The first that is NaN or infinite. */
LSP_ITEM_BODY(not_finite, valuing) {
    const lsp_value v = lsp_value_of(t.val, a->from, i);
    if (!isfinite(v.re) || !isfinite(v.im)) {
        lsp_tell_first(f, 0, (uint64_t)i);
    }
}
/* The first LSP_I64 that does not fit LSP_I32. */
LSP_ITEM_BODY(too_wide, valuing) {
    const int64_t x = ((const int64_t *)a->from)[i];
    if (x != (int32_t)x) {
        lsp_tell_first(f, 0, (uint64_t)i);
    }
}

/* ---- entries that stay ---- */

typedef struct keeping {
    lsp_csr A, mask; /* mask: rows sorted; rowptr NULL: none */
    lsp_window window;
    bool complement, drop;
    double tolerance;
    uint8_t *stays;     /* of each entry */
    const void *places; /* of each column; of type places_type */
    lsp_type places_type;
    const unsigned *bits; /* of the columns that are wanted */
} keeping;
LSP_KEEP_BODY(window, keeping) {
    const int64_t j = lsp_col_of(t, &a->A, k), at = j - (a->window.diagonal ? i : 0);
    return a->window.low <= at && at <= a->window.high ? j - a->window.shift : LSP_GONE;
}
/* Is |value k| at most the tolerance? A NaN is not. */
LSP_BODY_FUNCTION bool is_small(lsp_type type, const void *val, int64_t k, double tolerance) {
    const lsp_value v = lsp_value_of(type, val, k);
    return lsp_is_integer(type) ? lsp_whole_within(v.whole, tolerance)
                                : (type == LSP_C64 ? lsp_modulus(v.re, v.im) : fabs(v.re)) <= tolerance;
}
LSP_KEEP_BODY(filter, keeping) {
    const int64_t j = lsp_col_of(t, &a->A, k);
    const bool small = a->drop && is_small(t.val, a->A.val, k, a->tolerance);
    const bool masked = a->mask.rowptr != NULL && lsp_has_entry(&a->mask, i, j) == a->complement;
    return small || masked ? LSP_GONE : j;
}
LSP_ENTRY_BODY(mark, keeping) { a->stays[k] = filter_body(a, t, i, k) >= 0; }
LSP_KEEP_BODY(taken, keeping) { return a->stays[k] ? lsp_col_of(t, &a->A, k) : LSP_GONE; }
LSP_KEEP_BODY(renamed, keeping) {
    const int64_t j = lsp_col_of(t, &a->A, k);
    return a->places ? lsp_index_at(a->places, a->places_type, j) : j;
}
LSP_KEEP_BODY(picked, keeping) {
    const int64_t j = lsp_col_of(t, &a->A, k);
    return (a->bits[j / 32] >> j % 32 & 1) == 0 ? LSP_GONE : t.asks ? 0 : lsp_index_at(a->places, a->places_type, j);
}

/* THE list. */
#define LSP_BODIES(ITEM, ENTRY, KEEP)                                                                                  \
    ITEM(count_up, indexing)                                                                                           \
    ITEM(shift, indexing)                                                                                              \
    ITEM(seat, indexing)                                                                                               \
    ITEM(misplaced, indexing)                                                                                          \
    ITEM(outside, indexing)                                                                                            \
    ITEM(place, placing)                                                                                               \
    ITEM(triple_outside, lsp_coo)                                                                                      \
    ITEM(take_value, valuing)                                                                                          \
    ITEM(not_finite, valuing)                                                                                          \
    ITEM(too_wide, valuing)                                                                                            \
    ENTRY(mark, keeping)                                                                                               \
    KEEP(window, keeping)                                                                                              \
    KEEP(filter, keeping)                                                                                              \
    KEEP(taken, keeping)                                                                                               \
    KEEP(renamed, keeping)                                                                                             \
    KEEP(picked, keeping)

/* clang-format off */
#define LSP_BODY_HOST(name, arguments) lsp_each_host lsp_body_##name##_host;
#define LSP_BODY_ITEM(name, arguments) lsp_each_cuda *name;
#define LSP_BODY_ENTRY(name, arguments) lsp_entry_cuda *name;
#define LSP_BODY_KEEP(name, arguments) lsp_keep_cuda *name;
/* clang-format on */
LSP_BODIES(LSP_BODY_HOST, LSP_BODY_HOST, LSP_BODY_HOST)
typedef struct lsp_bodies_table { /* of the GPU; NULL in a build without CUDA */
    LSP_BODIES(LSP_BODY_ITEM, LSP_BODY_ENTRY, LSP_BODY_KEEP)
} lsp_bodies_table;
extern const lsp_bodies_table lsp_bodies_on_gpu;

/* Calls a body by its name: LSP_EACH(ctx, where, count_up, (lsp_each_job){...}), and so on. */
#define LSP_EACH(ctx, where, name, ...)                                                                                \
    lsp_each_item((ctx), (where), lsp_body_##name##_host, lsp_bodies_on_gpu.name, __VA_ARGS__)
#define LSP_EACH_FIRST(ctx, where, name, first, ...)                                                                   \
    lsp_each_first((ctx), (where), lsp_body_##name##_host, lsp_bodies_on_gpu.name, __VA_ARGS__, (first))
#define LSP_EACH_ENTRY(ctx, name, ...)                                                                                 \
    lsp_each_entry((ctx), lsp_body_##name##_host, lsp_bodies_on_gpu.name, __VA_ARGS__)
#define LSP_KEEP(ctx, name, B, ...)                                                                                    \
    lsp_keep_entries((ctx), lsp_body_##name##_host, lsp_bodies_on_gpu.name, __VA_ARGS__, (B))

LSP_END_DECLS
