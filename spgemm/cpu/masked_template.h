/* Template by cpu/each_value.h: makes rows of C<M>. */
#define NAME(f) LSP_PASTE(f, VALUE_SUFFIX)

/* What the products of a row join. */
typedef struct NAME(joining) {
    const VALUE *val; /* of B */
    VALUE *sums;      /* of the mask's row */
    uint8_t *touched;
    lsp_semiring semiring;
} NAME(joining);

/* a times entry p of B joins the sum beside entry t of the mask's row. */
ALWAYS void NAME(add_at)(const NAME(joining) * j, VALUE a, int64_t t, int64_t p) {
    const lsp_semiring semiring = j->semiring;
    j->touched[t] = 1;
    if (HAS_VALUES) {
        j->sums[t] = FMA(a, j->val[p], j->sums[t]);
    }
}

/* Products whose slot is not free. They are collected first and added later: a branch for each product would often be
 * mispredicted. */
typedef struct NAME(candidates) {
    int64_t n;
    VALUE a[CANDIDATES];
    int64_t at[CANDIDATES]; /* of B */
    uint32_t entry[CANDIDATES];
} NAME(candidates);

/* Collects the candidates among a times entries p .. end-1 of B's row. The caller has checked that they fit. */
ALWAYS void NAME(ask_for_each)(lsp_type col_type, const mask_row *row, const void *col, VALUE a, int64_t p, int64_t end,
                               NAME(candidates) * c) {
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

/* Adds the candidates whose column the mask has. */
ALWAYS void NAME(add_candidates)(lsp_type col_type, const lsp_masked_pass *pass, const mask_row *row,
                                 const NAME(joining) * j, NAME(candidates) * c) {
    for (int64_t k = 0; k < c->n; k++) {
        int64_t t = c->entry[k];
        if (row->shift > 0) {
            t = find_entry(pass->mask, row, lsp_index_at(pass->job->B.col, col_type, c->at[k]), t);
        }
        if (t < row->entries) {
            NAME(add_at)(j, c->a[k], t, c->at[k]);
        }
    }
    c->n = 0;
}

/* For a short row of the mask: searches its columns in entries p .. end-1, a row of B that ascends, and adds a times
 * those found. */
ALWAYS void NAME(look_for_each)(lsp_type col_type, const lsp_masked_pass *pass, const mask_row *row, VALUE a, int64_t p,
                                int64_t end, const NAME(joining) * j) {
    const void *col = pass->job->B.col;
    const lsp_csr *mask = pass->mask;
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
            NAME(add_at)(j, a, t, p);
        }
        before = column;
    }
}

/* Makes row i of C. */
ALWAYS void NAME(do_row)(lsp_type col_type, const lsp_masked_pass *pass, const mask_row *row, int64_t i) {
    const lsp_csr *A = &pass->job->A, *B = &pass->job->B;
    const lsp_semiring semiring = pass->job->semiring;
    const NAME(joining) j = {.val = B->val,
                             .sums = VALUES(pass->sums, row->begin),
                             .touched = pass->touched + row->begin,
                             .semiring = semiring};
    NAME(candidates) c;
    c.n = 0;
    for (int64_t t = 0; HAS_VALUES && t < row->entries; t++) {
        j.sums[t] = NOTHING;
    }
    for (int64_t e = lsp_index_at(A->rowptr, A->rowptr_type, i); e < lsp_index_at(A->rowptr, A->rowptr_type, i + 1);
         e++) {
        const int64_t k = lsp_index_at(A->col, A->col_type, e);
        int64_t p = lsp_index_at(B->rowptr, B->rowptr_type, k);
        const int64_t end = lsp_index_at(B->rowptr, B->rowptr_type, k + 1);
        const VALUE a = A_VALUE(A, e);
        if (lsp_is_far(B)) {
            fetch_ahead(A, B, A->col_type, B->rowptr_type, col_type, 0, 0, e);
        }
        if (pass->job->ascending && is_short(row->entries, end - p)) {
            NAME(add_candidates)(col_type, pass, row, &j, &c);
            NAME(look_for_each)(col_type, pass, row, a, p, end, &j);
            continue;
        }
        for (int64_t next; p < end; p = next) {
            if (c.n > CANDIDATES / 2) {
                NAME(add_candidates)(col_type, pass, row, &j, &c);
            }
            next = lsp_min(end, p + CANDIDATES / 2 - 1);
            NAME(ask_for_each)(col_type, row, B->col, a, p, next, &c);
        }
    }
    NAME(add_candidates)(col_type, pass, row, &j, &c);
    for (int64_t t = 0; HAS_VALUES && t < row->entries; t++) {
        const VALUE sum = j.sums[t];
        j.sums[t] = SETTLED(sum);
    }
}
/* The loop is here, so that the mask's row is in registers. */
static void NAME(do_rows)(const lsp_masked_pass *pass, lsp_mask_table *table, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) {
        const int64_t begin = lsp_index_at(pass->mask->rowptr, pass->mask->rowptr_type, i);
        const int64_t entries = lsp_index_at(pass->mask->rowptr, pass->mask->rowptr_type, i + 1) - begin;
        if (entries > 0) {
            memset(pass->touched + begin, 0, (size_t)entries);
        }
        if (entries > 0 && pass->job->rowptr[i + 1] > 0) {
            const mask_row row = open_row(pass->mask, table, i);
            LSP_WITH_INDEX(pass->job->B.col_type, NAME(do_row), pass, &row, i);
        }
    }
}

#undef NAME
#undef VALUE
#undef VALUE_SUFFIX
#undef FMA
#undef NOTHING
