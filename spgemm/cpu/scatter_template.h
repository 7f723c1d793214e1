/* Template by COL, VALUE and RANK: adds each product of a row, in the order of A's entries, where its rank says. */
#define NAME(f) ROW_NAME(LSP_PASTE(f, RANK_SUFFIX))

/* Adds the products of one to three entries of A whose rows of B have the same columns. */
#define ADD_ALL(place_column)                                                                                          \
    for (int64_t q = 0; q < n; q++) {                                                                                  \
        const int64_t place = at + rank[q];                                                                            \
        place_column;                                                                                                  \
        PLACE_SUM;                                                                                                     \
    }
ALWAYS void NAME(add_all)(const lsp_spgemm_job *job, int64_t e, int together, b_row b, const RANK *rank, int64_t at,
                          bool columns) {
    const COL *col = (const COL *)job->B.col + b.begin;
    const int64_t n = b.end - b.begin;
#if HAS_VALUES
    const ROW_NAME(factors) f = ROW_NAME(factors_at)(job, e, together);
    VALUE *sum = job->C->val;
#define PLACE_SUM sum[place] = ROW_NAME(add)(&f, together, q, sum[place])
#else
    (void)e, (void)together;
#define PLACE_SUM (void)place
#endif
    if (!columns) {
        ADD_ALL((void)col)
    } else if (job->C->col_type == LSP_I32) {
        ADD_ALL(((int32_t *)job->C->col)[place] = (int32_t)col[q])
    } else {
        ADD_ALL(((int64_t *)job->C->col)[place] = col[q])
    }
}
#undef ADD_ALL
#undef PLACE_SUM

ALWAYS const char *NAME(scatter)(const lsp_spgemm_pass *pass, const row_extent *row, const RANK *rank, int64_t at,
                                 bool columns) {
    const lsp_spgemm_job *job = pass->job;
    int together;
    for (int64_t e = row->begin; e < row->end; e += together) {
        const b_row b = b_row_of(job, e);
        together = COL_NAME(together_at)(pass, e, row->end);
        if (columns) {
            COL_NAME(fetch_ahead)(pass, e, HAS_VALUES * sizeof(VALUE));
        }
        if (together == 1) {
            NAME(add_all)(job, e, 1, b, rank, at, columns);
        } else if (together == 2) {
            NAME(add_all)(job, e, 2, b, rank, at, columns);
        } else {
            NAME(add_all)(job, e, 3, b, rank, at, columns);
        }
        rank += together * (b.end - b.begin);
    }
    return (const char *)rank;
}

#undef NAME
#undef RANK
#undef RANK_SUFFIX
