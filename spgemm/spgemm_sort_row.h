/* Template by COL, VALUE and WORD: a row by expand, sort, compress. A word is a product's column, less the smallest of
 * the row, above its slot; the slot leads to the product's two factors after the sort. */
#define NAME(f) ROW_NAME(LSP_PASTE(f, WORD_SUFFIX))

/* Sums each run of equal columns into one entry of C. */
static int64_t NAME(compress)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, const row_extent *row,
                              const WORD *sorted, int64_t at) {
    const int slot_bits = HAS_VALUES ? lsp_bits((uint64_t)row->products - 1) : 0;
    int64_t last = at - 1;
#if HAS_VALUES
    const WORD slot_mask = ((WORD)1 << slot_bits) - 1;
    const VALUE *a = work->a, *b = work->b;
    VALUE *val = job->C->val, sum = 0;
#endif
    (void)work;
    for (int64_t i = 0; i < row->products; i++) {
        const bool first = i == 0 || (sorted[i] >> slot_bits) != (sorted[i - 1] >> slot_bits);
        last += first; /* no branch: whether a column is new cannot be guessed */
        lsp_index_set(job->C->col, job->C->col_type, last, row->low + (int64_t)(sorted[i] >> slot_bits));
#if HAS_VALUES
        const size_t slot = (size_t)(sorted[i] & slot_mask);
        sum = FMA(a[slot], b[slot], first ? NOTHING : sum);
        val[last] = SETTLED(sum);
#endif
    }
    return last + 1 - at;
}

/* Writes (or, counting, only counts) the row's entries at `at`; returns how many. */
static int64_t NAME(sort_row)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, const row_extent *row,
                              int64_t at) {
    const COL *col = job->B.col;
    const int slot_bits = HAS_VALUES ? lsp_bits((uint64_t)row->products - 1) : 0;
    const int bits = lsp_bits((uint64_t)(row->high - row->low));
    WORD *words = work->words;
    int64_t slot = 0;
    for (int64_t e = row->begin; e < row->end; e++) {
        const b_row b = b_row_of(job, e);
#if HAS_VALUES
        const VALUE a = (VALUE)lsp_spgemm_value_at(&job->A, e);
        for (int64_t p = b.begin; p < b.end; p++) {
            if (outside(row, col[p])) {
                continue;
            }
            words[slot] = (WORD)(col[p] - row->low) << slot_bits | (WORD)slot;
            ((VALUE *)work->a)[slot] = a;
            ((VALUE *)work->b)[slot++] = ((const VALUE *)job->B.val)[p];
        }
#else
        for (int64_t p = b.begin; p < b.end; p++) {
            if (!outside(row, col[p])) {
                words[slot++] = (WORD)(col[p] - row->low);
            }
        }
#endif
    }
    const WORD *sorted = job->sort[WORD_KIND](words, work->spare, row->products, slot_bits, slot_bits + bits);
    if (job->counting) {
        int64_t count = 1;
        for (int64_t i = 1; i < row->products; i++) {
            count += (sorted[i] >> slot_bits) != (sorted[i - 1] >> slot_bits);
        }
        return count;
    }
    return NAME(compress)(job, work, row, sorted, at);
}

#undef NAME
#undef WORD
#undef WORD_SUFFIX
#undef WORD_KIND
