/* What functions of this room do to one item of an array, on both devices. bodies.h lists it. */
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
    int64_t first, less, limit;
} indexing;
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

/* to[i], an int64_t, = from[i - 1]; 0 for the first. */
LSP_ITEM_BODY(size_behind, indexing) { ((int64_t *)a->to)[i] = i > 0 ? lsp_index_at(a->from, t.index, i - 1) : 0; }
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
    double parameter;
    lsp_function function;
    lsp_symmetry symmetry;
} valuing;
/* to[i] = from[places[i]]. */
LSP_ITEM_BODY(take_value, valuing) {
    lsp_move_value(a->to, i, a->from, lsp_place_at(a->places, a->wide, i), lsp_value_bytes(t.val));
}
/* to[i] = its mirror. Signs are turned bit by bit: that of a NaN too, on every device. */
LSP_BODY_FUNCTION void turn_sign(void *val, int64_t i, size_t bytes) {
    uint32_t sign = 0;
    const int64_t high = (i + 1) * (int64_t)bytes / 4 - 1; /* the word that has the sign */
    lsp_move_value(&sign, 0, val, high, sizeof sign);
    sign ^= 1u << 31;
    lsp_move_value(val, high, &sign, 0, sizeof sign);
}
LSP_ITEM_BODY(mirror_value, valuing) {
    const bool skew = a->symmetry == LSP_SYMMETRY_SKEW;
    if (t.val == LSP_I64 && skew) {
        ((uint64_t *)a->to)[i] = 0 - ((const uint64_t *)a->to)[i];
    } else if (t.val == LSP_C64) {
        turn_sign(a->to, 2 * i + 1, sizeof(double));
    }
    if (skew && !lsp_is_integer(t.val) && t.val != LSP_NONE) {
        turn_sign(a->to, t.val == LSP_C64 ? 2 * i : i, t.val == LSP_F32 ? sizeof(float) : sizeof(double));
    }
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

/* Of list i, a row of A or all entries: its length, or the reduction of that many ones. */
typedef struct counting {
    lsp_csr A;
    lsp_reduction reduction;
    bool all;
    void *results;
} counting;
LSP_ITEM_BODY(count_list, counting) {
    const int64_t n = a->all ? a->A.nnz : lsp_csr_rowptr(&a->A, i + 1) - lsp_csr_rowptr(&a->A, i);
    if (a->reduction == LSP_REDUCE_COUNT) {
        ((int64_t *)a->results)[i] = n;
    } else {
        ((double *)a->results)[i] = lsp_reduce_ones(a->reduction, n);
    }
}

/* to[i] = function(to[i]): a loop for each function. */
LSP_BODY_FUNCTION void map_value(lsp_function function, const valuing *a, lsp_type type, int64_t i) {
    lsp_value v = lsp_value_of(type, a->to, i);
    double x[2] = {v.re, v.im};
    if (lsp_is_integer(type)) {
        v.whole = lsp_map_whole(function, a->parameter, v.whole);
    } else {
        lsp_map(function, a->parameter, x, type == LSP_C64);
        v = lsp_value_from(lsp_settled(x[0]), lsp_settled(x[1]));
    }
    lsp_value_set(type, a->to, i, v);
}
#define LSP_MAPS(M, ...)                                                                                               \
    M(ABS, __VA_ARGS__)                                                                                                \
    M(NEGATE, __VA_ARGS__)                                                                                             \
    M(RECIPROCAL, __VA_ARGS__)                                                                                         \
    M(SQRT, __VA_ARGS__)                                                                                               \
    M(SIGN, __VA_ARGS__)                                                                                               \
    M(CONJUGATE, __VA_ARGS__)                                                                                          \
    M(MULTIPLY, __VA_ARGS__)                                                                                           \
    M(ADD, __VA_ARGS__)                                                                                                \
    M(POWER, __VA_ARGS__)                                                                                              \
    M(CONSTANT, __VA_ARGS__)
#define LSP_MAP_BODY(f, ...)                                                                                           \
    LSP_ITEM_BODY(map_##f, valuing) { map_value(LSP_APPLY_##f, a, t.val, i); }
LSP_MAPS(LSP_MAP_BODY, )
/* The first whose result does not fit its type, an integer. */
LSP_ITEM_BODY(map_too_wide, valuing) {
    if (!lsp_map_fits(t.val, a->function, a->parameter, lsp_value_of(t.val, a->to, i).whole)) {
        lsp_tell_first(f, 0, (uint64_t)i);
    }
}

LSP_END_DECLS
