/* Template by cpu/each_value.h: makes rows of C in one pass. */
#define NAME(f) LSP_PASTE(f, VALUE_SUFFIX)

/* The values of the factors, and one of A. */
#define FACTORS                                                                                                        \
    const lsp_semiring semiring = run->semiring;                                                                       \
    const VALUE *restrict a_val = run->A->val_type == run->type ? run->A->val : NULL, *restrict b_val = run->B->val
#define FACTOR(e) ((VALUE)(a_val != NULL ? a_val[e] : A_VALUE(run->A, e)))

/* Writes factor * row k of B to C. Returns its entries; -1 if its columns do not ascend or one comes twice. */
static __attribute__((noinline)) int64_t NAME(scaled_row)(const lsp_spgemm_run *run, int64_t e, int64_t at,
                                                          int64_t *products) {
    const int32_t k = ((const int32_t *)run->A->col)[e], *b_rowptr = run->B->rowptr;
    const int32_t begin = b_rowptr[k], n = b_rowptr[k + 1] - begin, *b_col = (const int32_t *)run->B->col + begin;
    int32_t *restrict col = (int32_t *)run->col + at, rises = -1; /* by its sign */
    if (n > run->B->cols) {
        return -1; /* there may be no room */
    }
    for (int32_t q = 0; q < n; q++) {
        rises &= q > 0 ? b_col[q - 1] - b_col[q] : -1;
        col[q] = b_col[q];
    }
    FACTORS;
    const VALUE factor = FACTOR(e);
    VALUE *restrict val = VALUES(run->val, at);
    for (int32_t q = 0; HAS_VALUES && q < n; q++) {
        val[q] = FMA(factor, b_val[begin + q], NOTHING);
    }
    *products = n;
    return rises < 0 ? n : -1;
}

/* Adds the products of the entries begin .. end-1 of A to the sums of their columns. LSP_ONE_MARKS: marks the columns,
 * and returns the tops as bits. No branch depends on columns. LSP_ONE_LIST: lists them in `columns`, and returns their
 * number. Sums are NOTHING at first, but for a list, which begins each itself. */
ALWAYS uint64_t NAME(add_products)(const lsp_spgemm_run *run, bool narrow, bool near, lsp_spgemm_way way, int64_t begin,
                                   int64_t end, uint32_t *restrict columns, int64_t *products) {
    const lsp_csr a = *run->A, b = *run->B; /* copies: a store to a mark may change anything else in memory */
    const bool far = run->far;
    const int shift = near ? 6 : lsp_top_shift(run->B->cols);
    uint8_t *restrict marks = run->marks, *restrict blocks = run->blocks;
    uint64_t found = 0;
    int64_t all = 0;
    FACTORS;
    VALUE *restrict sums = run->sums;
    for (int64_t e = begin; e < end; e++) {
        const int64_t k = COLUMN(a, e), start = ROWPTR(b, k), stop = ROWPTR(b, k + 1);
        const VALUE factor = FACTOR(e);
        if (far) {
            fetch_ahead(run->A, run->B, TYPE(a.col_type), TYPE(b.rowptr_type), TYPE(b.col_type), sizeof(VALUE),
                        HAS_VALUES, e);
        }
        all += stop - start;
        for (int64_t q = start; q < stop; q++) {
            const uint32_t j = (uint32_t)COLUMN(b, q);
            if (way == LSP_ONE_MARKS) {
                marks[j] = 1;
                found |= (uint64_t)1 << (j >> shift);
            }
            if (way == LSP_ONE_MARKS && !near) {
                blocks[j / 64] = 1;
            }
            if (way == LSP_ONE_LIST && marks[j] == 0) {
                marks[j] = 1;
                columns[found++] = j;
                if (HAS_VALUES) {
                    sums[j] = FMA(factor, b_val[q], NOTHING);
                }
            } else if (HAS_VALUES) {
                sums[j] = FMA(factor, b_val[q], sums[j]);
            }
        }
    }
    *products = all;
    return found;
}

/* Writes the columns of a block, as bits, and their sums to C. Sets the sums to NOTHING. Returns their number. */
ALWAYS int64_t NAME(write_block)(const lsp_spgemm_run *run, bool narrow, int64_t block, uint64_t columns, int64_t at) {
    const int64_t begin = at;
    for (; columns != 0; columns &= columns - 1, at++) {
        const int64_t j = 64 * block + __builtin_ctzll(columns);
        lsp_index_set(run->col, TYPE(run->C.col_type), at, j);
        if (HAS_VALUES) {
            const lsp_semiring semiring = run->semiring;
            VALUE *sum = (VALUE *)run->sums + j;
            ((VALUE *)run->val)[at] = *sum;
            *sum = NOTHING;
        }
    }
    return at - begin;
}

/* Writes the row whose columns are marked to C's entries from `at` on. Sets the marks to 0. Returns its entries. */
ALWAYS int64_t NAME(write_marked)(const lsp_spgemm_run *run, bool narrow, bool near, uint64_t tops, int64_t at) {
    const int shift = near ? 6 : lsp_top_shift(run->B->cols) - 6;
    const int64_t begin = at;
    for (; tops != 0; tops &= tops - 1) {
        const int64_t first = (int64_t)__builtin_ctzll(tops);
        if (near) {
            uint8_t *marks = run->marks + 64 * first;
            at += NAME(write_block)(run, narrow, first, touched_mask(marks), at);
            memset(marks, 0, 64);
            continue;
        }
        for (int64_t w = first << shift; w < (first + 1) << shift; w += 64) {
            uint64_t blocks = touched_mask(run->blocks + w);
            if (blocks != 0) {
                memset(run->blocks + w, 0, 64);
            }
            for (; blocks != 0; blocks &= blocks - 1) {
                const int64_t block = w + __builtin_ctzll(blocks);
                uint8_t *marks = run->marks + 64 * block;
                at += NAME(write_block)(run, narrow, block, touched_mask(marks), at);
                memset(marks, 0, 64);
            }
        }
    }
    return at - begin;
}

/* Writes the row whose n columns are listed in C's entries from `at` on. Sets its marks to 0. */
ALWAYS void NAME(write_listed)(const lsp_spgemm_run *run, uint32_t *columns, int64_t n, int64_t at) {
    enum { FEW = 24 }; /* that are inserted one by one */
    if (n > FEW) {
        const int shift = lsp_top_shift(run->B->cols);
        uint64_t tops = 0;
        for (int64_t r = 0; r < n; r++) {
            tops |= (uint64_t)1 << (columns[r] >> shift);
            run->blocks[columns[r] / 64] = 1;
        }
        NAME(write_marked)(run, true, false, tops, at);
        return;
    }
    uint8_t *restrict marks = run->marks;
    const VALUE *restrict sums = run->sums;
    VALUE *restrict val = VALUES(run->val, at);
    insert(columns, n);
    for (int64_t r = 0; r < n; r++) {
        const uint32_t j = columns[r];
        marks[j] = 0;
        if (HAS_VALUES) {
            val[r] = sums[j];
        }
    }
}

/* Writes the row whose columns are those of B's rows begin .. end-1 of A. Returns its entries. */
ALWAYS int64_t NAME(write_united)(const lsp_spgemm_run *run, int64_t begin, int64_t end, int64_t at) {
    const int32_t *a_col = run->A->col;
    uint64_t all[LSP_RUN_NEAR / 64] = {0};
    int64_t n = 0;
    for (int64_t e = begin; e < end; e++) {
        unite(all, run->dense + a_col[e] * run->words, run->words);
    }
    for (int64_t w = 0; w < run->words; w++) {
        n += NAME(write_block)(run, true, w, all[w], at + n);
    }
    return n;
}

/* Makes every NaN of the first n entries the same one. */
ALWAYS void NAME(settle)(const lsp_spgemm_run *run, int64_t n) {
    VALUE *val = run->val;
    for (int64_t r = 0; HAS_VALUES && r < n; r++) {
        const VALUE sum = val[r];
        val[r] = SETTLED(sum);
    }
}

/* Keeps the largest of the n entries of C from `at` on, in order. Returns their number. */
static int64_t NAME(keep_largest)(const lsp_spgemm_run *run, int64_t at, int64_t n) {
    const lsp_type type = run->C.col_type;
    VALUE *val = (VALUE *)run->val + at;
    int64_t most = 0, kept = 0;
    for (int64_t r = 0; r < n; r++) {
        const lsp_ranked entry = {RANK_OF(val[r]), r};
        if (entry.rank >= run->least && most < run->largest) {
            lsp_top_append(run->heap, most++, entry);
        } else if (entry.rank >= run->least && lsp_leaves_first(run->heap[0], entry)) {
            lsp_top_replace(run->heap, most, entry);
        }
    }
    for (int64_t r = 0; r < n && kept < most; r++) {
        const lsp_ranked entry = {RANK_OF(val[r]), r};
        if (entry.rank >= run->least && !lsp_leaves_first(entry, run->heap[0])) {
            lsp_index_set(run->col, type, at + kept, lsp_index_at(run->col, type, at + r));
            val[kept++] = val[r];
        }
    }
    return kept;
}

/* Make the row of the entries begin .. end-1 of A, in C's entries from `at` on. Return its entries. */
#define ROW(name, ...)                                                                                                 \
    __VA_ARGS__ int64_t NAME(name)(const lsp_spgemm_run *run, int64_t begin, int64_t end, int64_t at, int64_t *products)
typedef ROW(row);
ROW(near_row, ALWAYS) {
    const uint64_t tops = NAME(add_products)(run, true, true, LSP_ONE_MARKS, begin, end, NULL, products);
    return NAME(write_marked)(run, true, true, tops, at);
}
ROW(blocked_row, ALWAYS) {
    const uint64_t tops = NAME(add_products)(run, true, false, LSP_ONE_MARKS, begin, end, NULL, products);
    return NAME(write_marked)(run, true, false, tops, at);
}
ROW(wide_row, ALWAYS) { /* wide indices */
    const uint64_t tops = NAME(add_products)(run, false, false, LSP_ONE_MARKS, begin, end, NULL, products);
    return NAME(write_marked)(run, false, false, tops, at);
}
ROW(dense_row, ALWAYS) {
    (void)NAME(add_products)(run, true, true, LSP_ONE_DENSE, begin, end, NULL, products);
    return NAME(write_united)(run, begin, end, at);
}
ROW(brief_row, ALWAYS) {
    uint32_t *columns = (uint32_t *)run->col + at;
    const int64_t n = (int64_t)NAME(add_products)(run, true, false, LSP_ONE_LIST, begin, end, columns, products);
    NAME(write_listed)(run, columns, n, at);
    return n;
}
ROW(listed_row, static __attribute__((noinline))) { /* alone it has registers enough */
    return NAME(brief_row)(run, begin, end, at, products);
}
#undef ROW

ALWAYS int64_t NAME(make_rows)(lsp_spgemm_run *run, bool narrow, NAME(row) * make_row) {
    const lsp_csr a = *run->A, c = run->C;
    const int64_t base = run->base, last = run->last, cols = run->B->cols;
    int64_t at = 0, i = run->next, begin = ROWPTR(a, i), all = 0, bound = 0, longest = run->max_row_products;
    for (; i < last; i++) {
        const int64_t end = ROWPTR(a, i + 1), room = run->capacity - at;
        int64_t products = 0, n = -1;
        if (cols > room && (end - begin) * run->longest > room && entries_of(run, i) > room) {
            break;
        }
        if (narrow && end - begin == 1) {
            n = NAME(scaled_row)(run, begin, at, &products);
        }
        n = n < 0 ? make_row(run, begin, end, at, &products) : n;
        n = HAS_VALUES && run->largest > 0 ? NAME(keep_largest)(run, at, n) : n;
        at += n;
        all += products;
        bound += lsp_min(products, cols);
        longest = lsp_max(longest, products);
        lsp_index_set(c.rowptr, TYPE(c.rowptr_type), i + 1, base + at);
        begin = end;
    }
    NAME(settle)(run, at);
    run->next = i;
    run->products += all;
    run->nnz_bound += bound;
    run->max_row_products = longest;
    return at;
}

#define ROWS(name, narrow, row)                                                                                        \
    static __attribute__((noinline)) int64_t NAME(name)(lsp_spgemm_run * run) {                                        \
        return NAME(make_rows)(run, narrow, NAME(row));                                                                \
    }
ROWS(near_rows, true, near_row)
ROWS(blocked_rows, true, blocked_row)
ROWS(wide_rows, false, wide_row)
ROWS(dense_rows, true, dense_row)
ROWS(listed_rows, true, listed_row)
ROWS(brief_rows, true, brief_row)
#undef ROWS

static int64_t NAME(rows)(lsp_spgemm_run *run) {
    const lsp_csr *A = run->A, *B = run->B;
    const bool narrow = A->rowptr_type == LSP_I32 && A->col_type == LSP_I32 && B->rowptr_type == LSP_I32 &&
                        B->col_type == LSP_I32 && run->C.rowptr_type == LSP_I32 && run->C.col_type == LSP_I32;
    const bool near = B->cols <= LSP_RUN_NEAR, list = narrow && run->way == LSP_ONE_LIST;
    const bool brief = (double)A->nnz * (double)B->nnz < 16.0 * (double)A->rows * (double)B->rows; /* products a row */
    const lsp_semiring semiring = run->semiring;
    for (int64_t j = 0; HAS_VALUES && !list && !run->cleared && j < run->window; j++) {
        ((VALUE *)run->sums)[j] = NOTHING;
    }
    run->cleared = !list;
    return run->next == run->last      ? 0
           : !narrow                   ? NAME(wide_rows)(run)
           : list                      ? (brief ? NAME(brief_rows) : NAME(listed_rows))(run)
           : run->way == LSP_ONE_DENSE ? NAME(dense_rows)(run)
           : near                      ? NAME(near_rows)(run)
                                       : NAME(blocked_rows)(run);
}

#undef NAME
#undef FACTORS
#undef FACTOR
#undef VALUE
#undef VALUE_SUFFIX
#undef FMA
#undef NOTHING
