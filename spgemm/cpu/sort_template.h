/* Template by COL and WORD: expands a row into words and sorts them. A word holds a product's column, minus the row's
 * smallest, in its upper bits, and the product's number in the row, its slot, in the lower ones. */
#define NAME(f) COL_NAME(LSP_PASTE(f, WORD_SUFFIX))

/* Writes the words of the row's products in the order of A's entries. With slot_bits 0 a word is a column alone: enough
 * for counting. */
static void NAME(expand)(const lsp_spgemm_pass *pass, const row_extent *row, int slot_bits, WORD *words) {
    const lsp_spgemm_job *job = pass->job;
    const COL *col = job->B.col;
    const WORD low = (WORD)row->low;
    const uint64_t next = slot_bits > 0;
    uint64_t slot = 0;
    for (int64_t e = row->begin; e < row->end; e++) {
        const b_row b = b_row_of(job, e);
        COL_NAME(look_ahead)(pass, e, 0);
#if defined(__AVX512BW__) && defined(SHORT_WORDS)
        if (!row->piece) {
            words = expand_run(col + b.begin, b.end - b.begin, (uint32_t)low, slot_bits, (uint32_t)slot, words);
            slot += next * (uint64_t)(b.end - b.begin);
            continue;
        }
#endif
        for (int64_t p = b.begin; p < b.end; p++) {
            if (!outside(row, col[p])) {
                *words++ = ((WORD)col[p] - low) << slot_bits | (WORD)slot;
                slot += next;
            }
        }
    }
}

/* Writes the rank of each slot. Returns the number of different columns. */
#define RANK_ALL(type)                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
        rank += i > 0 && (sorted[i] ^ sorted[i - 1]) >> slot_bits != 0;                                                \
        ((type *)(void *)ranks)[(size_t)(sorted[i] & slot_mask)] = (type)rank;                                         \
    }
static int64_t NAME(rank_all)(const WORD *sorted, int64_t n, int slot_bits, char *ranks, int rank_bytes) {
    const WORD slot_mask = ((WORD)1 << slot_bits) - 1;
    uint32_t rank = 0;
    if (rank_bytes == 1) {
        RANK_ALL(uint8_t)
    } else if (rank_bytes == 2) {
        RANK_ALL(uint16_t)
    } else {
        RANK_ALL(uint32_t)
    }
    return (int64_t)rank + 1;
}
#undef RANK_ALL

static int64_t NAME(sort_row)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, const row_extent *row,
                              char *ranks, int rank_bytes, int slot_bits) {
    const int bits = lsp_bits((uint64_t)(row->high - row->low));
    NAME(expand)(pass, row, slot_bits, work->words);
    const WORD *sorted = work->words;
#if defined(__AVX512BW__) && defined(SHORT_WORDS)
    if (row->products <= 32) {
        sort_few_words(work->words, row->products);
    } else
#endif
    {
        sorted = pass->sort[WORD_KIND](work->words, work->spare, row->products, slot_bits, slot_bits + bits);
    }
    if (ranks != NULL) {
        return NAME(rank_all)(sorted, row->products, slot_bits, ranks, rank_bytes);
    }
    int64_t count = 1;
    for (int64_t i = 1; i < row->products; i++) {
        count += sorted[i] != sorted[i - 1];
    }
    return count;
}

#undef NAME
#undef WORD
#undef WORD_SUFFIX
#undef WORD_KIND
