/* Rows of C<M> = A*B for one instruction set. The columns of the mask's row are entered in a table. Each product looks
 * its column up: most products that the mask excludes cost one load, and the others are added, in the order of A's
 * entries, to the sum of the mask's entry. If a row of B is much longer than the mask's row, the mask's columns are
 * searched in the row of B instead. */
#include "complex.h"
#include "core/isa.h"
#include "cpu.h"
#include "integer.h"
#include "masked.h"
#include <string.h>

enum { CANDIDATES = 256 };

/* The mask's row at hand, and its table. */
typedef struct mask_row {
    int64_t begin, entries; /* of the mask */
    uint32_t *slots, base;
    int64_t last; /* slot */
    uint64_t factor;
    int shift; /* a column is in the first free slot from (column * factor) >> shift on */
} mask_row;

/* An entry of A: its value, as a double if it is real; or its number if values are complex, so that all take 8 bytes.
 */
typedef union left_factor {
    double real;
    int64_t whole, entry;
} left_factor;

/* An entry of A, the values of both factors, and the sums that products are added to. */
typedef struct joining {
    left_factor a;
    const void *a_val; /* used for complex values */
    const void *val;   /* of B */
    void *sums;        /* of the mask's row */
    uint8_t *touched;
    lsp_semiring semiring;
} joining;

ALWAYS int64_t slot_of(const mask_row *row, int64_t column) {
    return (int64_t)((uint64_t)column * row->factor >> row->shift);
}
/* The number of the entry in a slot. A number of row->entries or more means: the slot is free in this row. */
ALWAYS uint32_t entry_in(const mask_row *row, int64_t slot) { return row->slots[slot] - row->base; }

/* Entry p of B's row joins the sum beside entry t of the mask's row. */
ALWAYS void join(lsp_type type, bool plus_times, const joining *j, int64_t t, int64_t p) {
    j->touched[t] = 1;
    if (type == LSP_F64) {
        double *sum = (double *)j->sums + t;
        const double b = ((const double *)j->val)[p];
        *sum = plus_times ? fma(j->a.real, b, *sum) : join_f64(j->semiring, j->a.real, b, *sum);
    } else if (type == LSP_F32) {
        float *sum = (float *)j->sums + t;
        const float a = (float)j->a.real, b = ((const float *)j->val)[p];
        *sum = plus_times ? fmaf(a, b, *sum) : join_f32(j->semiring, a, b, *sum);
    } else if (type == LSP_I64) {
        int64_t *sum = (int64_t *)j->sums + t;
        const int64_t b = ((const int64_t *)j->val)[p];
        *sum = plus_times ? integer_fma(j->a.whole, b, *sum) : join_i64(j->semiring, j->a.whole, b, *sum);
    } else if (type == LSP_C64) {
        complex_value *sum = (complex_value *)j->sums + t;
        *sum = complex_fma(((const complex_value *)j->a_val)[j->a.entry], ((const complex_value *)j->val)[p], *sum);
    }
}

/* Enters the columns of the mask's row i in the table, each once. */
static mask_row open_row(const lsp_csr *mask, lsp_mask_table *table, int64_t i) {
    const int64_t begin = lsp_index_at(mask->rowptr, mask->rowptr_type, i);
    const int64_t entries = lsp_index_at(mask->rowptr, mask->rowptr_type, i + 1) - begin;
    const int64_t size = lsp_mask_slots(entries, mask->cols);
    const bool hashed = size < mask->cols;
    if ((int64_t)UINT32_MAX - table->base < entries) {
        memset(table->slots, 0, (size_t)table->size * sizeof *table->slots);
        table->base = 1;
    }
    const mask_row row = {.begin = begin,
                          .entries = entries,
                          .slots = table->slots,
                          .base = table->base,
                          .last = size - 1,
                          .factor = hashed ? 0x9E3779B97F4A7C15u : 1,
                          .shift = hashed ? 64 - __builtin_ctzll((uint64_t)size) : 0};
    table->base += (uint32_t)entries;
    for (int64_t t = 0, before = -1; t < entries; t++) {
        const int64_t column = lsp_index_at(mask->col, mask->col_type, begin + t);
        int64_t slot = slot_of(&row, column);
        if (column == before) {
            continue;
        }
        while (entry_in(&row, slot) < entries) {
            slot = (slot + 1) & row.last;
        }
        row.slots[slot] = row.base + (uint32_t)t;
        before = column;
    }
    return row;
}

/* Products whose slot is not free. They are collected first and added later: a branch for each product would often be
 * mispredicted. */
typedef struct candidates {
    int64_t n;
    left_factor a[CANDIDATES];
    int64_t at[CANDIDATES]; /* of B */
    uint32_t entry[CANDIDATES];
} candidates;

/* Collects the candidates among a times entries p .. end-1 of B's row. The caller has checked that they fit. */
ALWAYS void ask_for_each(lsp_type col_type, const mask_row *row, const void *col, left_factor a, int64_t p, int64_t end,
                         candidates *c) {
    int64_t n = c->n;
    for (; p < end; p++) {
        const uint32_t entry = entry_in(row, slot_of(row, lsp_index_at(col, col_type, p)));
        c->a[n] = a;
        c->at[n] = p;
        c->entry[n] = entry;
        n += entry < row->entries;
    }
    c->n = n;
}

/* Finds the mask's entry with this column, starting from t, the entry in the column's slot. Returns row->entries or
 * more if there is none. */
ALWAYS int64_t find_entry(const lsp_csr *mask, const mask_row *row, int64_t column, int64_t t) {
    for (int64_t slot = slot_of(row, column);
         t < row->entries && lsp_index_at(mask->col, mask->col_type, row->begin + t) != column;
         t = entry_in(row, slot)) {
        slot = (slot + 1) & row->last;
    }
    return t;
}

/* Adds the candidates whose column the mask has. */
ALWAYS void add_candidates(lsp_type col_type, lsp_type type, bool plus_times, const lsp_masked_pass *pass,
                           const mask_row *row, joining *j, candidates *c) {
    for (int64_t k = 0; k < c->n; k++) {
        int64_t t = c->entry[k];
        if (row->shift > 0) {
            t = find_entry(pass->mask, row, lsp_index_at(pass->job->B.col, col_type, c->at[k]), t);
        }
        if (t < row->entries) {
            j->a = c->a[k];
            join(type, plus_times, j, t, c->at[k]);
        }
    }
    c->n = 0;
}

typedef struct row_part { /* entries p .. end-1 of B, in one row */
    const void *col;
    int64_t p, end;
} row_part;

/* For a short row of the mask: searches its columns in B's row, which ascends, and adds the products found. */
ALWAYS void look_for_each(lsp_type col_type, lsp_type type, bool plus_times, const lsp_csr *mask, const mask_row *row,
                          row_part of_b, const joining *j) {
    const void *col = of_b.col;
    const int64_t end = of_b.end;
    int64_t p = of_b.p;
    for (int64_t t = 0, before = -1; t < row->entries && p < end; t++) {
        const int64_t column = lsp_index_at(mask->col, mask->col_type, row->begin + t);
        for (int64_t n = end - p;
             column != before && n > 0;) { /* binary search for the first column that is not below */
            const int64_t half = n / 2;
            const bool below = lsp_index_at(col, col_type, p + half) < column;
            p = below ? p + half + 1 : p;
            n = below ? n - half - 1 : half;
        }
        for (; p < end && lsp_index_at(col, col_type, p) == column; p++) {
            join(type, plus_times, j, t, p);
        }
        before = column;
    }
}

/* Is it faster to search the mask's entries in a row of B of this length? */
ALWAYS bool is_short(int64_t entries, int64_t length) {
    enum { STEP = 2 }; /* lookups in the table that take as long as one step of a search */
    return entries < length / STEP && entries * STEP * (64 - __builtin_clzll((uint64_t)length)) < length;
}

ALWAYS void begin_sums(lsp_type type, lsp_semiring semiring, void *sums, int64_t n) {
    const double empty = lsp_semiring_empty(semiring);
    for (int64_t t = 0; t < n && type == LSP_F64; t++) {
        ((double *)sums)[t] = empty;
    }
    for (int64_t t = 0; t < n && type == LSP_F32; t++) {
        ((float *)sums)[t] = (float)empty;
    }
    for (int64_t t = 0; t < n && type == LSP_C64; t++) {
        ((complex_value *)sums)[t] = COMPLEX_NOTHING;
    }
    for (int64_t t = 0; t < n && type == LSP_I64; t++) {
        ((int64_t *)sums)[t] = lsp_semiring_empty_i64(semiring);
    }
}

/* Every NaN becomes the same. */
ALWAYS void end_sums(lsp_type type, void *sums, int64_t n) {
    for (int64_t t = 0; t < n && type == LSP_F64; t++) {
        const double x = ((double *)sums)[t];
        ((double *)sums)[t] = x != x ? (double)NAN : x;
    }
    for (int64_t t = 0; t < n && type == LSP_F32; t++) {
        const float x = ((float *)sums)[t];
        ((float *)sums)[t] = x != x ? (float)NAN : x;
    }
    for (int64_t t = 0; t < n && type == LSP_C64; t++) {
        ((complex_value *)sums)[t] = complex_settled(((complex_value *)sums)[t]);
    }
}

/* What a few entries of A later will be asked for, if B is far: the row of B, and before that where it begins. */
ALWAYS void fetch_ahead(lsp_type col_type, const lsp_masked_pass *pass, int64_t e) {
    enum { AHEAD = 8 };
    const lsp_csr *A = &pass->job->A, *B = &pass->job->B;
    if (pass->far && e + 2 * AHEAD < A->nnz) {
        const int64_t next = lsp_index_at(A->col, A->col_type, e + AHEAD);
        const int64_t later = lsp_index_at(A->col, A->col_type, e + 2 * AHEAD);
        const int64_t p = lsp_index_at(B->rowptr, B->rowptr_type, next);
        __builtin_prefetch((const char *)B->rowptr + (size_t)later * (B->rowptr_type == LSP_I32 ? 4 : 8));
        __builtin_prefetch((const char *)B->col + (size_t)p * (col_type == LSP_I32 ? 4 : 8));
    }
}

ALWAYS void do_row(lsp_type col_type, lsp_type type, bool plus_times, const lsp_masked_pass *pass, const mask_row *row,
                   int64_t i) {
    const lsp_csr *A = &pass->job->A, *B = &pass->job->B;
    joining j = {.a_val = A->val,
                 .val = B->val,
                 .sums = type == LSP_NONE ? NULL : (char *)pass->sums + (size_t)row->begin * lsp_type_bytes(type),
                 .touched = pass->touched + row->begin,
                 .semiring = pass->job->semiring};
    candidates c;
    begin_sums(type, j.semiring, j.sums, row->entries);
    c.n = 0;
    for (int64_t e = lsp_index_at(A->rowptr, A->rowptr_type, i); e < lsp_index_at(A->rowptr, A->rowptr_type, i + 1);
         e++) {
        const int64_t k = lsp_index_at(A->col, A->col_type, e);
        int64_t p = lsp_index_at(B->rowptr, B->rowptr_type, k);
        const int64_t end = lsp_index_at(B->rowptr, B->rowptr_type, k + 1);
        const left_factor a = type == LSP_C64   ? (left_factor){.entry = e}
                              : type == LSP_I64 ? (left_factor){.whole = ((const int64_t *)A->val)[e]}
                                                : (left_factor){.real = lsp_spgemm_value_at(A, e)};
        fetch_ahead(col_type, pass, e);
        if (pass->job->ascending && is_short(row->entries, end - p)) {
            add_candidates(col_type, type, plus_times, pass, row, &j, &c);
            j.a = a;
            look_for_each(col_type, type, plus_times, pass->mask, row, (row_part){B->col, p, end}, &j);
            continue;
        }
        for (int64_t next; p < end; p = next) {
            if (c.n > CANDIDATES / 2) {
                add_candidates(col_type, type, plus_times, pass, row, &j, &c);
            }
            next = lsp_min(end, p + CANDIDATES / 2 - 1);
            ask_for_each(col_type, row, B->col, a, p, next, &c);
        }
    }
    add_candidates(col_type, type, plus_times, pass, row, &j, &c);
    end_sums(type, j.sums, row->entries);
}

static void do_row_none(const lsp_masked_pass *pass, const mask_row *row, int64_t i) {
    if (pass->job->B.col_type == LSP_I32) {
        do_row(LSP_I32, LSP_NONE, true, pass, row, i);
    } else {
        do_row(LSP_I64, LSP_NONE, true, pass, row, i);
    }
}
#define DO_ROW(type, suffix)                                                                                           \
    static void do_row_##suffix(const lsp_masked_pass *pass, const mask_row *row, int64_t i) {                         \
        const bool narrow = pass->job->B.col_type == LSP_I32;                                                          \
        if (pass->job->semiring != LSP_PLUS_TIMES) {                                                                   \
            do_row(pass->job->B.col_type, type, false, pass, row, i);                                                  \
        } else if (narrow) {                                                                                           \
            do_row(LSP_I32, type, true, pass, row, i);                                                                 \
        } else {                                                                                                       \
            do_row(LSP_I64, type, true, pass, row, i);                                                                 \
        }                                                                                                              \
    }
DO_ROW(LSP_F32, f32)
DO_ROW(LSP_F64, f64)
DO_ROW(LSP_C64, c64)
DO_ROW(LSP_I64, i64)

void LSP_ISA_NAME(lsp_spgemm_masked_rows)(const lsp_masked_pass *pass, lsp_mask_table *table, int64_t first,
                                          int64_t last) {
    const lsp_type type = pass->job->type;
    for (int64_t i = first; i < last; i++) {
        const int64_t begin = lsp_index_at(pass->mask->rowptr, pass->mask->rowptr_type, i);
        const int64_t entries = lsp_index_at(pass->mask->rowptr, pass->mask->rowptr_type, i + 1) - begin;
        if (entries > 0) {
            memset(pass->touched + begin, 0, (size_t)entries);
        }
        if (entries == 0 || pass->products[i + 1] == 0) {
            continue;
        }
        const mask_row row = open_row(pass->mask, table, i);
        if (type == LSP_NONE) {
            do_row_none(pass, &row, i);
        } else if (type == LSP_F32) {
            do_row_f32(pass, &row, i);
        } else if (type == LSP_C64) {
            do_row_c64(pass, &row, i);
        } else if (type == LSP_I64) {
            do_row_i64(pass, &row, i);
        } else {
            do_row_f64(pass, &row, i);
        }
    }
}
