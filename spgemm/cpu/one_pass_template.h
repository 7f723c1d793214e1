/* Template by VALUE, FMA and NOTHING, the sum before its first product: makes rows of C in a window of all columns. */
#define NAME(f) LSP_PASTE(f, VALUE_SUFFIX)

/* Writes factor * row k of B to C. Returns its entries; -1 if its columns do not ascend or one comes twice. */
ALWAYS int64_t NAME(scaled_row)(const lsp_spgemm_run *run, int64_t e, int64_t at) {
    const lsp_csr *A = run->A, *B = run->B;
    const int32_t k = ((const int32_t *)A->col)[e], begin = ((const int32_t *)B->rowptr)[k];
    const int32_t n = ((const int32_t *)B->rowptr)[k + 1] - begin, *b_col = (const int32_t *)B->col + begin;
    int32_t *restrict col = (int32_t *)run->col + at, rises = -1; /* by its sign */
    for (int32_t q = 0; q < n; q++) {
        rises &= q > 0 ? b_col[q - 1] - b_col[q] : -1;
        col[q] = b_col[q];
    }
#if HAS_VALUES
    const lsp_semiring semiring = run->semiring;
    const VALUE factor = A_VALUE(A, e), *restrict b_val = (const VALUE *)B->val + begin;
    VALUE *restrict val = (VALUE *)run->val + at;
    (void)semiring;
    for (int32_t q = 0; q < n; q++) {
        const VALUE product = FMA(factor, b_val[q], NOTHING);
        val[q] = SETTLED(product);
    }
#else
    (void)A;
#endif
    return rises < 0 ? n : -1;
}

/* Adds the products of the entries begin .. end-1 of A in a window of up to 64 blocks of columns, and writes the row to
 * C's entries from `at` on. Returns its entries. No branch depends on columns: sums that have not begun are NOTHING. */
ALWAYS int64_t NAME(near_row)(const lsp_spgemm_run *run, int64_t begin, int64_t end, int64_t at, int64_t *products) {
    const lsp_csr *A = run->A, *B = run->B;
    const int32_t *a_col = A->col, *b_rowptr = B->rowptr, *b_col = B->col;
    uint8_t *restrict touched = run->touched;
    int32_t *restrict col = (int32_t *)run->col + at;
    uint64_t blocks = 0; /* touched */
    int64_t n = 0;
#if HAS_VALUES
    const lsp_semiring semiring = run->semiring;
    const VALUE *restrict a_val = A->val_type == run->type ? A->val : NULL, *restrict b_val = B->val;
    VALUE *restrict sums = run->sums, *restrict val = (VALUE *)run->val + at;
    (void)semiring;
#endif
    for (int64_t e = begin; e < end; e++) {
        const int32_t k = a_col[e], start = b_rowptr[k], stop = b_rowptr[k + 1];
#if HAS_VALUES
        const VALUE factor = a_val != NULL ? a_val[e] : A_VALUE(A, e);
#endif
        *products += stop - start;
        for (int32_t q = start; q < stop; q++) {
            const uint32_t j = (uint32_t)b_col[q];
            touched[j] = 1;
            blocks |= (uint64_t)1 << j / 64;
#if HAS_VALUES
            sums[j] = FMA(factor, b_val[q], sums[j]);
#endif
        }
    }
    for (; blocks != 0; blocks &= blocks - 1) {
        const int32_t first = 64 * (int32_t)__builtin_ctzll(blocks);
        for (uint64_t mask = touched_mask(touched + first); mask != 0; mask &= mask - 1, n++) {
            const int32_t j = first + __builtin_ctzll(mask);
            col[n] = j;
#if HAS_VALUES
            val[n] = SETTLED(sums[j]);
            sums[j] = NOTHING;
#endif
        }
        memset(touched + first, 0, 64);
    }
    return n;
}

#if HAS_VALUES
/* Keeps the largest of the n columns of a row, in any order, and the marks and sums of those alone. Returns their
 * number. */
static int64_t NAME(keep_largest)(const lsp_spgemm_run *run, uint32_t *columns, int64_t n) {
    VALUE *sums = run->sums;
    const lsp_semiring semiring = run->semiring;
    lsp_ranked *heap = run->heap;
    int64_t kept = 0;
    (void)semiring;
    for (int64_t r = 0; r < n; r++) {
        const uint32_t j = columns[r];
        const lsp_ranked entry = {RANK(SETTLED(sums[j])), j};
        int64_t leaves = j;
        run->touched[j] = 0;
        if (entry.rank >= run->least && kept < run->largest) {
            lsp_top_append(heap, kept++, entry);
            continue;
        }
        if (entry.rank >= run->least && lsp_leaves_first(heap[0], entry)) {
            leaves = heap[0].k;
            lsp_top_replace(heap, kept, entry);
        }
        sums[leaves] = NOTHING;
    }
    for (int64_t r = 0; r < kept; r++) {
        columns[r] = (uint32_t)heap[r].k;
        run->touched[heap[r].k] = 1;
    }
    return kept;
}
#endif

/* Makes rows until the next one may not fit. The sums need no state between rows: the mark of a column says if its sum
 * has begun. But if `near` or `top`, they are NOTHING. */
ALWAYS int64_t NAME(make_rows)(lsp_spgemm_run *run, bool narrow, bool far, bool near, bool top) {
    const arrays a = arrays_of(run->A), b = arrays_of(run->B), c = arrays_of(run->C);
    const int64_t most = run->most, capacity = run->capacity, base = run->base, last = run->last, cols = run->B->cols;
    uint8_t *restrict touched = run->touched;
    void *c_col = run->col;
#if HAS_VALUES
    const lsp_semiring semiring = run->semiring;
    VALUE *restrict sums = run->sums, *restrict val = run->val;
    const VALUE *restrict a_val = run->A->val_type == run->type ? run->A->val : NULL;
    const VALUE *restrict b_val = run->B->val;
    (void)semiring;
#endif
    int64_t at = 0, i = run->next, begin = ROWPTR(a, i), all = 0, bound = 0, longest = run->max_row_products;
    while (i < last) {
        const int64_t end = ROWPTR(a, i + 1), room = top ? cols : lsp_min(most, capacity - at);
        int64_t n = 0, products = 0, copied = -1;
        bool fits = !top || lsp_min(run->largest, cols) <= capacity - at;
        /* insertion leaves them there */
        uint32_t *columns = narrow && !top ? (uint32_t *)c_col + at : run->columns[0];
        if (narrow && !top && end - begin == 1) {
            products = ROWPTR(b, COLUMN(a, begin) + 1) - ROWPTR(b, COLUMN(a, begin));
            copied = products <= lsp_min(room, cols) ? NAME(scaled_row)(run, begin, at) : -1;
        }
        if (near && copied < 0) {
            fits = cols <= room || entries_of(run, begin, end) <= room;
            products = 0;
            copied = fits ? NAME(near_row)(run, begin, end, at, &products) : 0;
        }
        if (copied < 0) {
            products = 0;
            for (int64_t e = fits ? begin : end; e < end; e++) {
                const int64_t k = COLUMN(a, e), start = ROWPTR(b, k), stop = ROWPTR(b, k + 1);
#if HAS_VALUES
                const VALUE factor = a_val != NULL ? a_val[e] : A_VALUE(run->A, e);
#endif
                if (far) {
                    fetch_ahead(narrow, &a, &b, run->B->val, sizeof(VALUE), e, run->A->nnz);
                }
                products += stop - start;
                if (n + stop - start > room && entries_of(run, begin, end) > room) {
                    fits = false;
                    break;
                }
#if HAS_VALUES
                if (top && e + 2 < run->A->nnz) {
                    fetch_row(narrow, &b, run->B->val, sizeof(VALUE), COLUMN(a, e + 2));
                }
                for (int64_t q = start; top && q < stop; q++) { /* without a branch that depends on columns */
                    const uint32_t j = (uint32_t)COLUMN(b, q);
                    columns[n] = j;
                    n += 1 - touched[j];
                    touched[j] = 1;
                    sums[j] = FMA(factor, b_val[q], sums[j]);
                }
#endif
                for (int64_t q = start; !top && q < stop; q++) {
                    const uint32_t j = (uint32_t)COLUMN(b, q);
                    if (touched[j] == 0) {
                        touched[j] = 1;
                        columns[n++] = j;
#if HAS_VALUES
                        sums[j] = FMA(factor, b_val[q], NOTHING);
                    } else {
                        sums[j] = FMA(factor, b_val[q], sums[j]);
#endif
                    }
                }
            }
        }
        if (!fits) {
            for (int64_t r = 0; r < n; r++) {
                touched[columns[r]] = 0;
            }
            break;
        }
        all += products;
        bound += lsp_min(products, cols);
        longest = lsp_max(longest, products);
#if HAS_VALUES
        n = top ? NAME(keep_largest)(run, columns, n) : n;
#endif
        const uint32_t *sorted = columns; /* n is 0 if the row is made */
        if (n <= FEW) {
            insert(columns, n);
        } else {
            sorted = in_order(run, columns, n);
        }
        for (int64_t r = 0; r < n; r++) {
            const uint32_t j = sorted[r];
            touched[j] = 0;
            if (narrow) {
                ((int32_t *)c_col)[at + r] = (int32_t)j;
            } else {
                lsp_index_set(c_col, c.col_type, at + r, j);
            }
#if HAS_VALUES
            val[at + r] = SETTLED(sums[j]);
            if (top) {
                sums[j] = NOTHING;
            }
#endif
        }
        n = copied < 0 ? n : copied;
        at += n;
        i++;
        if (narrow) {
            ((int32_t *)c.rowptr)[i] = (int32_t)(base + at);
        } else {
            lsp_index_set(c.rowptr, c.rowptr_type, i, base + at);
        }
        begin = end;
    }
    run->next = i;
    run->products += all;
    run->nnz_bound += bound;
    run->max_row_products = longest;
    return at;
}

static int64_t NAME(rows)(lsp_spgemm_run *run) {
    const lsp_csr *A = run->A, *B = run->B;
    const bool narrow = A->rowptr_type == LSP_I32 && A->col_type == LSP_I32 && B->rowptr_type == LSP_I32 &&
                        B->col_type == LSP_I32 && run->C->rowptr_type == LSP_I32 && run->C->col_type == LSP_I32;
    const bool near = narrow && run->window <= LSP_RUN_NEAR && run->largest == 0;
#if HAS_VALUES
    const lsp_semiring semiring = run->semiring;
    (void)semiring;
    const bool clear = near || run->largest > 0;
    for (int64_t j = 0; clear && !run->cleared && j < run->window; j++) {
        ((VALUE *)run->sums)[j] = NOTHING;
    }
    run->cleared = clear;
#endif
    return run->next == run->last       ? 0
           : run->largest > 0 && narrow ? NAME(make_rows)(run, true, true, false, true)
           : run->largest > 0           ? NAME(make_rows)(run, false, true, false, true)
           : !narrow                    ? NAME(make_rows)(run, false, true, false, false)
           : near                       ? NAME(make_rows)(run, true, false, true, false)
           : run->far                   ? NAME(make_rows)(run, true, true, false, false)
                                        : NAME(make_rows)(run, true, false, false, false);
}

#undef NAME
#undef VALUE
#undef VALUE_SUFFIX
#undef FMA
#undef NOTHING
