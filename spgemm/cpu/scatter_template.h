/* Template by COL, VALUE and RANK: adds each product of a row, in the order of A's entries, where its rank says. */
#define NAME(f) ROW_NAME(LSP_PASTE(f, RANK_SUFFIX))

/* Adds the products of one to three entries of A whose rows of B have the same columns. */
#define ADD_ALL(place_column)                                                                                          \
    for (int64_t q = 0; q < n; q++) {                                                                                  \
        const int64_t place = at + rank[q];                                                                            \
        place_column;                                                                                                  \
        if (HAS_VALUES) {                                                                                              \
            sum[place] = ROW_NAME(add)(&f, together, q, sum[place]);                                                   \
        }                                                                                                              \
    }
ALWAYS void NAME(add_all)(const lsp_spgemm_job *job, int64_t e, int together, b_row b, const RANK *rank, int64_t at,
                          bool columns) {
    const COL *col = (const COL *)job->B.col + b.begin;
    const int64_t n = b.end - b.begin;
    const ROW_NAME(factors) f = ROW_NAME(factors_at)(job, e, together);
    VALUE *sum = job->C->val;
    if (!columns) {
        ADD_ALL((void)col)
    } else if (job->C->col_type == LSP_I32) {
        ADD_ALL(((int32_t *)job->C->col)[place] = (int32_t)col[q])
    } else {
        ADD_ALL(((int64_t *)job->C->col)[place] = col[q])
    }
}
#undef ADD_ALL

ALWAYS const char *NAME(scatter)(const lsp_spgemm_pass *pass, const row_extent *row, const RANK *rank, int64_t at,
                                 bool columns) {
    const lsp_spgemm_job *job = pass->job;
    int together;
    for (int64_t e = row->begin; e < row->end; e += together) {
        const b_row b = b_row_of(job, e);
        together = COL_NAME(together_at)(pass, e, row->end);
        if (columns) {
            COL_NAME(look_ahead)(pass, e, HAS_VALUES * sizeof(VALUE));
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

/* Computes the values of cleared rows from row i on, as long as their ranks have this type. Returns the next row, and
 * in *kept and *next the ranks of the last row and of the next one. Columns are not read. */
static int64_t NAME(replay)(const lsp_spgemm_pass *pass, int64_t i, int64_t last, kept_ranks *kept, char **next) {
    enum { WAY = LSP_WAY_KEPT | (int)sizeof(RANK) / 2 * LSP_WAY_RANK };
    const lsp_spgemm_job *job = pass->job;
    const lsp_csr A = job->A, B = job->B;
    const VALUE *a = A.val, *b = B.val;
    const int64_t *rowptr = job->rowptr;
    const uint8_t *ways = pass->ways;
    const RANK *rank = (const void *)kept->ranks;
    char *ranks = *next;
    VALUE *c = job->C->val;
    ROW_NAME(factors) f = {.semiring = job->semiring};
    for (; i < last; i++) {
        if (rowptr[i] == rowptr[i + 1]) {
            continue;
        }
        const bool repeats = ways[i] & LSP_WAY_REPEAT;
        if (!repeats && (ways[i] & ~LSP_WAY_WINDOW) != WAY) {
            break;
        }
        rank = repeats ? rank : (const void *)ranks;
        const RANK *at = rank;
        VALUE *sum = c + rowptr[i];
        const int64_t end = INDEX_AT(A.rowptr, A.rowptr_type, i + 1);
        for (int64_t e = INDEX_AT(A.rowptr, A.rowptr_type, i); e < end; e++) {
            const int64_t k = INDEX_AT(A.col, A.col_type, e), begin = INDEX_AT(B.rowptr, B.rowptr_type, k);
            const int64_t n = INDEX_AT(B.rowptr, B.rowptr_type, k + 1) - begin;
            f.a[0] = a[e];
            f.b[0] = b + begin;
            if (n == 1) {
                sum[*at] = ROW_NAME(add)(&f, 1, 0, sum[*at]);
            } else {
                UNROLLED_4 for (int64_t q = 0; q < n; q++) { sum[at[q]] = ROW_NAME(add)(&f, 1, q, sum[at[q]]); }
            }
            at += n;
        }
        ranks += repeats ? 0 : ((const char *)at - ranks + 3) / 4 * 4;
    }
    *kept = (kept_ranks){(const void *)rank, sizeof(RANK)};
    *next = ranks;
    return i;
}

#undef NAME
#undef RANK
#undef RANK_SUFFIX
