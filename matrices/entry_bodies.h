/* What functions of this room do to one entry of a matrix, or to one row or entry of two, on both devices. bodies.h
 * lists it. */
#pragma once

#include "csr/facts.h"
#include "csr/plans.h"
#include "each.h"
#include "forms/forms.h"
#include "values/number.h"

LSP_BEGIN_DECLS

/* A's values by factors of rows and of columns; NULL: there are none. */
typedef struct scaling {
    lsp_csr A;
    const void *rows, *cols;
} scaling;
LSP_BODY_FUNCTION int64_t whole_factor(lsp_type type, const void *factors, int64_t i) {
    return factors ? lsp_value_of(type, factors, i).whole : 1;
}
LSP_BODY_FUNCTION void scale_value(lsp_type type, const void *factors, int64_t i, double x[2]) {
    if (factors) {
        const lsp_value v = lsp_value_of(type, factors, i);
        const double factor[2] = {v.re, v.im};
        lsp_scale_number(type, x, factor);
    }
}
LSP_ENTRY_BODY(scale, scaling) {
    const lsp_value v = lsp_value_of(t.val, a->A.val, k);
    const int64_t j = a->cols ? lsp_col_of(t, &a->A, k) : 0;
    if (lsp_is_integer(t.val)) {
        const uint64_t row = (uint64_t)whole_factor(t.val, a->rows, i), col = (uint64_t)whole_factor(t.val, a->cols, j);
        const lsp_value product = {0, 0, (int64_t)((uint64_t)v.whole * row * col)};
        lsp_value_set(t.val, a->A.val, k, product);
    } else {
        double x[2] = {v.re, v.im};
        scale_value(t.val, a->rows, i, x);
        scale_value(t.val, a->cols, j, x);
        lsp_value_set(t.val, a->A.val, k, lsp_value_from(lsp_settled(x[0]), lsp_settled(x[1])));
    }
}
/* The first whose product does not fit its type, an integer. */
LSP_ENTRY_BODY(scale_too_wide, scaling) {
    const int64_t x = lsp_value_of(t.val, a->A.val, k).whole, row = whole_factor(t.val, a->rows, i);
    if (!lsp_scale_fits(t.val, row, x, whole_factor(t.val, a->cols, lsp_col_of(t, &a->A, k)))) {
        lsp_tell_first(f, 0, (uint64_t)k);
    }
}

/* A diagonal matrix B of these values; NULL: ones. */
typedef struct laying {
    lsp_csr B;
    const void *diagonal;
} laying;
LSP_ITEM_BODY(lay_diagonal, laying) {
    const lsp_value one = {1, 0, 1};
    lsp_index_set(a->B.rowptr, a->B.rowptr_type, i + 1, i + 1);
    lsp_index_set(a->B.col, a->B.col_type, i, i);
    lsp_value_set(t.val, a->B.val, i, a->diagonal ? lsp_value_of(t.val, a->diagonal, i) : one);
}

/* ---- checks ---- */

LSP_ITEM_BODY(row_falls, lsp_csr) {
    if (lsp_csr_rowptr(a, i) > lsp_csr_rowptr(a, i + 1)) {
        lsp_tell_first(f, 0, (uint64_t)i);
    }
}
typedef struct seeking {
    lsp_csr A;
    int64_t entry;
    bool strictly;
} seeking;
/* Tells one entry: its row, its column, and its value if that is an integer. */
LSP_ITEM_BODY(spot, seeking) {
    const int64_t row = LSP_FIRST(0, a->A.rows, middle, lsp_csr_rowptr(&a->A, middle + 1) > a->entry);
    lsp_tell_first(f, 0, (uint64_t)row);
    lsp_tell_first(f, 1, (uint64_t)lsp_csr_col(&a->A, a->entry));
    lsp_tell_flags(f, (uint64_t)lsp_value_of(a->A.val_type, a->A.val, a->entry).whole);
}
/* The first row whose columns do not ascend or, `strictly`, repeat. */
LSP_ENTRY_BODY(unsorted, seeking) {
    const int64_t before = k > lsp_csr_rowptr(&a->A, i) ? lsp_col_of(t, &a->A, k - 1) : -1;
    if (before + a->strictly > lsp_col_of(t, &a->A, k)) {
        lsp_tell_first(f, 0, (uint64_t)i);
    }
}

/* ---- two matrices compared ---- */

typedef struct comparing {
    lsp_csr A, B;
    int64_t entries; /* that both have */
    bool mixed;      /* their values are of two types */
} comparing;
/* Where the patterns part: the first row that ends elsewhere, the first entry of another column. Up to both, entries of
 * one number are in one row. */
LSP_ITEM_BODY(differs, comparing) {
    if (i < a->A.rows && lsp_csr_rowptr(&a->A, i + 1) != lsp_csr_rowptr(&a->B, i + 1)) {
        lsp_tell_first(f, 0, (uint64_t)i);
    }
    if (i < a->entries && lsp_csr_col(&a->A, i) != lsp_csr_col(&a->B, i)) {
        lsp_tell_first(f, 1, (uint64_t)i);
    }
}
/* Tells the largest relative distance as bits, which order numbers from 0 on, the first entry of A that has it, and a
 * flag if bits differ. */
LSP_BODY_FUNCTION void compare_values(const comparing *a, const lsp_kind t, int64_t k, int64_t b, lsp_found *f) {
    const lsp_type of_a = a->mixed ? a->A.val_type : t.val, of_b = a->mixed ? a->B.val_type : t.val;
    const size_t bytes = lsp_value_bytes(of_a);
    const lsp_value x = lsp_value_of(of_a, a->A.val, k), y = lsp_value_of(of_b, a->B.val, b);
    if (of_a == of_b && (lsp_is_integer(of_a) ? x.whole == y.whole : lsp_same_bits(a->A.val, k, a->B.val, b, bytes))) {
        return;
    }
    const double rel = lsp_is_integer(of_a) && lsp_is_integer(of_b) ? lsp_relative_whole(x.whole, y.whole)
                                                                    : lsp_relative(x.re, x.im, y.re, y.im);
    uint64_t apart;
    memcpy(&apart, &rel, sizeof apart);
    lsp_tell_flags(f, 1);
    lsp_tell_most(f, apart, (uint64_t)k);
}
LSP_ITEM_BODY(apart, comparing) { compare_values(a, t, i, i, f); }
/* The same of entries with one column, in sorted rows; equal columns are partners in their order. */
LSP_ENTRY_BODY(apart_by_column, comparing) {
    const int64_t column = lsp_col_of(t, &a->A, k), end = lsp_csr_rowptr(&a->B, i + 1);
    const int64_t rank = k - LSP_FIRST(lsp_csr_rowptr(&a->A, i), k, middle, lsp_col_of(t, &a->A, middle) >= column);
    const int64_t b = rank + LSP_FIRST(lsp_csr_rowptr(&a->B, i), end, middle, lsp_csr_col(&a->B, middle) >= column);
    if (b < end && lsp_csr_col(&a->B, b) == column) {
        compare_values(a, t, k, b, f);
    }
}
/* Which symmetry is lost: B = A^T; both have sorted rows and no duplicates. */
LSP_ITEM_BODY(lost, comparing) {
    unsigned lost =
        i < a->A.rows && lsp_csr_rowptr(&a->A, i + 1) != lsp_csr_rowptr(&a->B, i + 1) ? (unsigned)LSP_LOST_PATTERN : 0u;
    if (i < a->entries) {
        const lsp_value x = lsp_value_of(t.val, a->A.val, i), y = lsp_value_of(t.val, a->B.val, i);
        lost |= lsp_csr_col(&a->A, i) != lsp_csr_col(&a->B, i) ? (unsigned)LSP_LOST_PATTERN : 0u;
        lost |= lsp_is_integer(t.val) ? lsp_lost_whole((uint64_t)x.whole, (uint64_t)y.whole)
                                      : lsp_lost_number(x.re, x.im, y.re, y.im);
    }
    lsp_tell_flags(f, lost);
}

/* ---- other forms ---- */

/* A's entries, copied into rows of B or into the dense array D. */
typedef struct copying {
    lsp_csr A, B;
    int64_t *next;  /* of each row of A: where its entries go in B */
    int64_t offset; /* of columns */
    int64_t number; /* of A's first entry, where values of B are `numbered` */
    bool numbered;
    lsp_dense D;
} copying;
LSP_ITEM_BODY(add_length, copying) { a->next[i] += lsp_csr_rowptr(&a->A, i + 1) - lsp_csr_rowptr(&a->A, i); }
LSP_BODY_FUNCTION void copy_value(lsp_type to_type, void *to, int64_t at, lsp_type type, const void *from, int64_t k) {
    if (to_type == type) {
        lsp_move_value(to, at, from, k, lsp_value_bytes(type));
    } else {
        lsp_value_set(to_type, to, at, lsp_value_of(type, from, k));
    }
}
LSP_ENTRY_BODY(stack_entry, copying) {
    const int64_t to = a->next[i] + k - lsp_csr_rowptr(&a->A, i);
    lsp_index_set(a->B.col, a->B.col_type, to, lsp_col_of(t, &a->A, k) + a->offset);
    if (a->numbered) {
        lsp_place_set(a->B.val, a->B.val_type == lsp_place_type(true), to, a->number + k);
    } else {
        copy_value(a->B.val_type, a->B.val, to, t.val, a->A.val, k);
    }
}
typedef struct listing { /* of triples */
    lsp_csr A;
    void *row, *col, *val;
    lsp_type type; /* of row and col */
} listing;
LSP_ENTRY_BODY(list_row, listing) { lsp_index_set(a->row, a->type, k, i); }
LSP_ENTRY_BODY(list_entry, listing) {
    list_row_body(a, t, i, k, f);
    lsp_index_set(a->col, a->type, k, lsp_col_of(t, &a->A, k));
    lsp_move_value(a->val, k, a->A.val, k, lsp_value_bytes(t.val));
}
/* Where row i of A begins among triples that are sorted by row. */
LSP_ITEM_BODY(start_row, listing) {
    const int64_t first = LSP_FIRST(0, a->A.nnz, middle, lsp_index_at(a->row, a->type, middle) >= i);
    lsp_index_set(a->A.rowptr, a->A.rowptr_type, i, first);
}
/* Element i, counted along the lines, becomes 0. */
LSP_ITEM_BODY(clear_element, lsp_dense) {
    const int64_t length = a->by_columns ? a->rows : a->cols;
    const lsp_value zero = {0, 0, 0};
    lsp_value_set(t.val, a->val, i / length * a->stride + i % length, zero);
}
LSP_ENTRY_BODY(store_entry, copying) {
    const int64_t j = lsp_col_of(t, &a->A, k), at = a->D.by_columns ? j * a->D.stride + i : i * a->D.stride + j;
    copy_value(a->D.val_type, a->D.val, at, t.val, a->A.val, k);
}

/* ---- the structure of a sum by a plan: csr/add_plan.c ---- */

typedef struct summing {
    lsp_csr P, C;
    bool wide; /* places are wide */
    const void *heads;
    void *starts;
} summing;
LSP_ENTRY_BODY(take_head, summing) {
    const int64_t place = lsp_csr_rowptr(&a->P, i) + k - lsp_csr_rowptr(&a->C, i);
    const int64_t head = lsp_index_at(a->heads, a->P.rowptr_type, place);
    lsp_index_set(a->C.col, a->C.col_type, k, lsp_csr_col(&a->P, head));
    if (a->starts) {
        lsp_place_set(a->starts, a->wide, k, head);
        if (k == a->C.nnz - 1) {
            lsp_place_set(a->starts, a->wide, k + 1, a->P.nnz);
        }
    }
}

/* C's values, alpha*A + beta*B, all of one type: entry by entry, or by the sources of a plan, whose places are wide if
 * the type of indices is LSP_I64. */
typedef struct addend {
    const void *val;
    int64_t first; /* the source that is entry 0 */
    double factor;
} addend;
typedef struct adding {
    addend of[2];
    void *val; /* of C */
    lsp_csr_sources from;
} adding;
LSP_ITEM_BODY(add_equal, adding) {
    const lsp_value x = lsp_term(t.val, t.val, a->of[0].val, i, a->of[0].factor);
    lsp_term_set(t.val, a->val, i, lsp_term_sum(t.val, x, lsp_term(t.val, t.val, a->of[1].val, i, a->of[1].factor)));
}
/* Most entries have one or two sources, in no order that a processor foresees: so on the host, tables take the place of
 * branches. -0.0 is the one number that changes no sum. */
#ifdef __CUDA_ARCH__
#define CHOSEN(type, second, x, y) ((second) ? (y) : (x))
#else
#define CHOSEN(type, second, x, y) ((const type[2]){(x), (y)}[second])
#endif
LSP_BODY_FUNCTION lsp_value source_of_sum(const adding *a, const lsp_kind t, int64_t k) {
    const int64_t p = lsp_place_at(a->from.sources, t.index == LSP_I64, k);
#ifdef __CUDA_ARCH__
    const addend of = p >= a->from.nnz_a ? a->of[1] : a->of[0];
#else
    const addend of = a->of[p >= a->from.nnz_a];
#endif
    return lsp_term(t.val, t.val, of.val, p - of.first, of.factor);
}
LSP_ITEM_BODY(add_sources, adding) {
    const int64_t k = lsp_place_at(a->from.starts, t.index == LSP_I64, i);
    const int64_t stop = lsp_place_at(a->from.starts, t.index == LSP_I64, i + 1);
    const bool two = stop - k > 1;
    const lsp_value next = source_of_sum(a, t, k + two);
    const lsp_value other = {CHOSEN(double, two, -0.0, next.re), CHOSEN(double, two, -0.0, next.im),
                             two ? next.whole : 0};
    lsp_value sum = lsp_term_sum(t.val, source_of_sum(a, t, k), other);
    for (int64_t more = k + 2; more < stop; more++) {
        sum = lsp_term_sum(t.val, sum, source_of_sum(a, t, more));
    }
    lsp_term_set(t.val, a->val, i, sum);
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
    return lsp_kept(t, a->window.low <= at && at <= a->window.high, j - a->window.shift);
}
/* Is |value k| at most the tolerance? A NaN is not. */
LSP_BODY_FUNCTION bool is_small(lsp_type type, const void *val, int64_t k, double tolerance) {
    const lsp_value v = lsp_value_of(type, val, k);
    return lsp_is_integer(type) ? lsp_whole_within(v.whole, tolerance) : lsp_magnitude(type, v) <= tolerance;
}
LSP_KEEP_BODY(filter, keeping) {
    const int64_t j = lsp_col_of(t, &a->A, k);
    const bool small = a->drop && is_small(t.val, a->A.val, k, a->tolerance);
    const bool masked = a->mask.rowptr != NULL && lsp_has_entry(&a->mask, i, j) == a->complement;
    return lsp_kept(t, !small && !masked, j);
}
LSP_ENTRY_BODY(mark, keeping) { a->stays[k] = filter_body(a, t, i, k) >= 0; }
LSP_KEEP_BODY(taken, keeping) { return lsp_kept(t, a->stays[k], lsp_col_of(t, &a->A, k)); }
LSP_KEEP_BODY(renamed, keeping) {
    const int64_t j = lsp_col_of(t, &a->A, k);
    return a->places ? lsp_index_at(a->places, a->places_type, j) : j;
}
LSP_KEEP_BODY(picked, keeping) {
    const int64_t j = lsp_col_of(t, &a->A, k);
    const bool stays = t.pass == LSP_PASS_COLUMN || (a->bits[j / 32] >> j % 32 & 1) != 0;
    return lsp_kept(t, stays, stays ? lsp_index_at(a->places, a->places_type, j) : 0);
}

/* Rows with more than `largest` entries: the ranks of those that stay are sorted, the largest first, and places[k] is
 * the entry that comes k-th then. An entry that has gone has rank 0. */
typedef struct ranking {
    lsp_csr A;
    int64_t largest;
    uint8_t *stays;
    uint64_t *ranks;
    int64_t *places;
    void *ends; /* of the rows, of the type of row pointers; a row that is not sorted ends where it begins */
} ranking;
LSP_BODY_FUNCTION bool is_ranked(const ranking *a, int64_t i) {
    return lsp_csr_rowptr(&a->A, i + 1) - lsp_csr_rowptr(&a->A, i) > a->largest;
}
LSP_ITEM_BODY(end_ranks, ranking) {
    lsp_index_set(a->ends, a->A.rowptr_type, i, lsp_csr_rowptr(&a->A, i + is_ranked(a, i)));
}
/* Orders values by size, above 0; all NaN are equal, above infinity. */
LSP_BODY_FUNCTION uint64_t entry_rank(lsp_type type, const void *val, int64_t k) {
    const lsp_value v = lsp_value_of(type, val, k);
    const double size = lsp_is_integer(type) ? 0 : lsp_magnitude(type, v);
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    return lsp_is_integer(type) ? lsp_whole_size(v.whole) + 1 : size == size ? bits | (uint64_t)1 << 63 : UINT64_MAX;
}
LSP_ENTRY_BODY(rank_entry, ranking) {
    if (is_ranked(a, i)) {
        a->ranks[k] = a->stays[k] ? entry_rank(t.val, a->A.val, k) : 0;
    }
}
LSP_ENTRY_BODY(drop_ranked, ranking) {
    if (k - lsp_csr_rowptr(&a->A, i) >= a->largest) {
        a->stays[a->places[k]] = 0;
    }
}

LSP_KEEP_BODY(off_diagonal, keeping) {
    const int64_t j = lsp_col_of(t, &a->A, k);
    return lsp_kept(t, j != i, j);
}

/* Lengths of wanted rows behind a 0, and what turns an entry of them into one of A: the rows, in any order, are asked
 * once where they begin. */
LSP_ITEM_BODY(row_length, lsp_taking) {
    const int64_t row = i == 0 ? 0 : a->rows ? lsp_index_at(a->rows, a->rows_type, i - 1) : i - 1;
    const int64_t begin = lsp_csr_rowptr(&a->A, row);
    a->starts[i] = i == 0 ? 0 : lsp_csr_rowptr(&a->A, row + 1) - begin;
    if (i > 0 && a->shift) {
        a->shift[i - 1] = begin;
    }
}
LSP_ITEM_BODY(row_shift, lsp_taking) { a->shift[i] -= a->starts[i]; }

/* Entries of A as often as row `column` of P has entries: these are their columns in B. */
typedef struct repeating {
    lsp_csr A, P, B;
    int64_t *starts; /* of what each entry becomes */
} repeating;
LSP_ITEM_BODY(count_repeats, repeating) {
    const int64_t j = i > 0 ? lsp_csr_col(&a->A, i - 1) : 0;
    a->starts[i] = i > 0 ? lsp_csr_rowptr(&a->P, j + 1) - lsp_csr_rowptr(&a->P, j) : 0;
}
LSP_ITEM_BODY(repeat_rows, repeating) {
    lsp_index_set(a->B.rowptr, a->B.rowptr_type, i, a->starts[lsp_csr_rowptr(&a->A, i)]);
}
LSP_ENTRY_BODY(repeat_entry, repeating) {
    const int64_t j = lsp_col_of(t, &a->A, k), first = lsp_csr_rowptr(&a->P, j), n = a->starts[k + 1] - a->starts[k];
    for (int64_t r = 0; r < n; r++) {
        lsp_index_set(a->B.col, a->B.col_type, a->starts[k] + r, lsp_csr_col(&a->P, first + r));
        lsp_move_value(a->B.val, a->starts[k] + r, a->A.val, k, lsp_value_bytes(t.val));
    }
}

/* The first entry of each run of equal columns, in sorted rows; and what becomes of it, the sum of its run. */
LSP_KEEP_BODY(run_head, keeping) {
    const int64_t j = lsp_col_of(t, &a->A, k);
    const bool goes = k > lsp_csr_rowptr(&a->A, i) && lsp_col_of(t, &a->A, k - 1) == j;
    return lsp_kept(t, !goes, j);
}
typedef struct running {
    lsp_csr A, B;
    const int64_t *heads; /* of B's entries, in A */
} running;
LSP_ITEM_BODY(sum_run, running) {
    int64_t k = a->heads[i];
    const int64_t end = i + 1 < a->B.nnz ? a->heads[i + 1] : a->A.nnz;
    lsp_move_value(a->B.val, i, a->A.val, k, lsp_value_bytes(t.val));
    while (++k < end) {
        lsp_value_add(t.val, a->B.val, i, a->A.val, k);
    }
}

LSP_END_DECLS
