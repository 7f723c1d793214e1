/* Template by COL: counts the columns of a row in a window, a mark for each column between the first and the last one.
 * A column's rank is the number of marks below it. */

/* Marks the columns of a row: of cpu/fill_template.h, for a pattern. */
#define touch_window LSP_PASTE(COL_NAME(add_window), _none)
static void touch_window(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, const row_extent *row);

/* The ranks of the products of one row of B. rank_of NULL: C's row has every column from `low` on. */
ALWAYS void COL_NAME(find_ranks)(const COL *col, int64_t n, int64_t low, const uint32_t *rank_of, char *ranks,
                                 int rank_bytes) {
    for (int64_t q = 0; q < n; q++) {
        set_rank(ranks, rank_bytes, q, rank_of ? rank_of[col[q] - low] : (uint32_t)(col[q] - low));
    }
}

/* Does what sorted_row does. A row whose ranks are wanted is not a piece. */
static int64_t COL_NAME(window_row)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, const row_extent *row,
                                    char *ranks, int rank_bytes) {
    const lsp_spgemm_job *job = pass->job;
    const COL *col = job->B.col;
    uint32_t *rank_of = work->window, count = 0;
    touch_window(pass, work, row);
    for (int64_t j = 0; j <= row->high - row->low; j += 64) {
        uint64_t columns = touched_mask(work->touched + j);
        if (columns == 0) {
            continue;
        }
        memset(work->touched + j, 0, 64);
        if (ranks == NULL) {
            count += (uint32_t)__builtin_popcountll(columns);
            continue;
        }
        for (; columns != 0; columns &= columns - 1) {
            rank_of[j + __builtin_ctzll(columns)] = count++;
        }
    }
    const int64_t low = row->low;
    const bool full = count == row->high - low + 1;
    int together;
    for (int64_t e = ranks ? row->begin : row->end; e < row->end; e += together) {
        const b_row b = b_row_of(job, e);
        const size_t bytes = (size_t)((b.end - b.begin) * rank_bytes);
        if (full) {
            COL_NAME(find_ranks)(col + b.begin, b.end - b.begin, low, NULL, ranks, rank_bytes);
        } else {
            COL_NAME(find_ranks)(col + b.begin, b.end - b.begin, low, rank_of, ranks, rank_bytes);
        }
        together = COL_NAME(together_at)(pass, e, row->end);
        for (int t = 1; t < together; t++) {
            memcpy(ranks + t * (int64_t)bytes, ranks, bytes);
        }
        ranks += together * (int64_t)bytes;
    }
    return count;
}
#undef touch_window
