/* Finds the diagonals of slices by a merge. Each row of a slice points at its next entry. The least column - row of
 * these entries becomes a diagonal, and the rows that have it go on to their next entry. Consecutive rows whose entries
 * all have the same column - row are merged as one row; in a grid most rows do. */
#include "cpu.h"
#include "matrices/matrices.h"

enum { SLICE = LSP_SPMV_SLICE, NO_MORE = INT32_MAX };

/* Where the rows of a slice stand. */
typedef struct merge {
    const lsp_csr *A;
    int b, runs;
    int32_t head[SLICE];  /* column - row of the next entry of each run, in blocks; NO_MORE at the end */
    uint32_t rows[SLICE]; /* of the slice in each run */
    int64_t at[SLICE], end[SLICE], row[SLICE]; /* of the first row of a run: the next entry, the end, the row itself */
} merge;

static inline int32_t head_of(const merge *m, int run) {
    return m->at[run] >= m->end[run] ? NO_MORE : (int32_t)(lsp_csr_col(m->A, m->at[run]) / m->b - m->row[run]);
}

/* Are the n columns from `next` on those from `before` on, moved by b? */
#define MOVED(type, suffix)                                                                                            \
    static inline bool moved_##suffix(const type *before, const type *next, int64_t n, type b) {                       \
        type wrong = 0;                                                                                                \
        if (n > 0 && next[0] - before[0] != b) {                                                                       \
            return false;                                                                                              \
        }                                                                                                              \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            wrong |= (next[k] - before[k]) ^ b;                                                                        \
        }                                                                                                              \
        return wrong == 0;                                                                                             \
    }
MOVED(int32_t, i32)
MOVED(int64_t, i64)

/* Is the row of entries at .. end-1 as the last one of the run that is being made, which begins at `before`? */
static inline bool goes_on(const merge *m, int64_t before, int64_t at, int64_t end) {
    const int32_t *narrow = m->A->col;
    const int64_t *wide = m->A->col;
    return m->A->col_type == LSP_I32 ? moved_i32(narrow + before, narrow + at, end - at, m->b)
                                     : moved_i64(wide + before, wide + at, end - at, m->b);
}

static void merge_begin(merge *m, const lsp_csr *A, int b, int64_t slice) {
    int64_t before = 0, length = -1;
    m->A = A;
    m->b = b;
    m->runs = 0;
    for (int r = 0; r < SLICE; r++) {
        const int64_t row = lsp_min((slice * SLICE + r) * b, A->rows);
        const int64_t at = lsp_csr_rowptr(A, row), end = lsp_csr_rowptr(A, lsp_min(row + 1, A->rows));
        if (r == 0 || end - at != length || !goes_on(m, before, at, end)) {
            m->at[m->runs] = at;
            m->end[m->runs] = end;
            m->row[m->runs] = slice * SLICE + r;
            m->rows[m->runs] = 0;
            m->head[m->runs] = head_of(m, m->runs);
            m->runs++;
        }
        m->rows[m->runs - 1] |= (uint32_t)1 << r;
        before = at;
        length = end - at;
    }
}

/* The next diagonal; false at the end. */
static inline bool merge_next(merge *m, lsp_diagonal *d) {
    int32_t least = NO_MORE;
    uint32_t rows = 0;
    for (int run = 0; run < m->runs; run++) {
        least = m->head[run] < least ? m->head[run] : least;
    }
    if (least == NO_MORE) {
        return false;
    }
    for (int run = 0; run < m->runs; run++) {
        if (m->head[run] == least) {
            rows |= m->rows[run];
            m->at[run] += m->b;
            m->head[run] = head_of(m, run);
        }
    }
    d->offset = least;
    d->rows = rows;
    return true;
}

/* Do the rows of the slice consist of b x b blocks? */
static bool has_blocks(const lsp_csr *A, int b, int64_t slice) {
    const int64_t last = lsp_min((slice + 1) * SLICE * b, A->rows);
    bool dense = true;
    for (int64_t row = slice * SLICE * b; row < last && dense; row += b) {
        dense = lsp_diagonals_is_dense(A, b, row, lsp_csr_rowptr(A, row), lsp_csr_rowptr(A, row + 1));
    }
    return dense;
}

/* The diagonals of a slice, or more than the limit if it begins with many poor ones: so one huge row costs little. */
static int64_t count_slice(const lsp_diagonals_work *work, int64_t slice) {
    merge m;
    lsp_diagonal d;
    int64_t count = 0, rows = 0;
    merge_begin(&m, work->A, work->block, slice);
    while (merge_next(&m, &d)) {
        rows += __builtin_popcount(d.rows);
        count++;
        if (lsp_diagonals_are_poor(count, rows, work->found->limit)) {
            return work->found->limit + 1;
        }
    }
    return count;
}

void LSP_ISA_NAME(lsp_diagonals_count)(const lsp_diagonals_work *work, int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; s++) {
        if (__atomic_load_n(&work->found->total, __ATOMIC_RELAXED) > work->found->limit ||
            __atomic_load_n(&work->found->no_blocks, __ATOMIC_RELAXED)) {
            return;
        }
        if (work->block > 1 && !has_blocks(work->A, work->block, s)) {
            __atomic_store_n(&work->found->no_blocks, true, __ATOMIC_RELAXED);
            return;
        }
        const int64_t count = count_slice(work, s);
        if (work->first) {
            work->first[s + 1] = count;
        }
        __atomic_add_fetch(&work->found->total, count, __ATOMIC_RELAXED);
    }
}

void LSP_ISA_NAME(lsp_diagonals_place)(const lsp_diagonals_work *work, int64_t begin, int64_t end) {
    const lsp_diagonals *D = work->D;
    for (int64_t s = begin; s < end; s++) {
        merge m;
        merge_begin(&m, work->A, D->block, s);
        for (int64_t d = D->first[s]; d < D->first[s + 1] && merge_next(&m, &D->at[d]); d++) {
        }
    }
}

/* The next entries at[r] of the rows in the mask to to[r], 0 for the others; they go on by `step`. all: the mask is
 * full. */
#define FILL(V, suffix)                                                                                                \
    static inline __attribute__((always_inline)) void fill_row_##suffix(bool all, int step, V *to, const V *val,       \
                                                                        int64_t *at, uint32_t rows) {                  \
        for (int r = 0; r < SLICE; r++) {                                                                              \
            const bool here = all || (rows >> r & 1) != 0;                                                             \
            for (int j = 0; j < step; j++) {                                                                           \
                to[j * SLICE + r] = here ? val[at[r] + j] : 0;                                                         \
            }                                                                                                          \
            at[r] += here ? step : 0;                                                                                  \
        }                                                                                                              \
    }                                                                                                                  \
    static void fill_##suffix(const lsp_csr *A, const lsp_diagonals *D, int64_t slice) {                               \
        const int b = D->block;                                                                                        \
        int64_t at[LSP_SPMV_LARGEST_BLOCK][SLICE] = {{0}};                                                             \
        begin_fill(A, D, slice, at);                                                                                   \
        for (int64_t d = D->first[slice]; d < D->first[slice + 1]; d++) {                                              \
            const uint32_t rows = D->at[d].rows;                                                                       \
            for (int i = 0; i < b; i++) {                                                                              \
                V *to = (V *)D->values + (d * b + i) * b * SLICE;                                                      \
                if (b == 1) {                                                                                          \
                    rows == UINT32_MAX ? fill_row_##suffix(true, 1, to, A->val, at[i], rows)                           \
                                       : fill_row_##suffix(false, 1, to, A->val, at[i], rows);                         \
                } else {                                                                                               \
                    rows == UINT32_MAX ? fill_row_##suffix(true, b, to, A->val, at[i], rows)                           \
                                       : fill_row_##suffix(false, b, to, A->val, at[i], rows);                         \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

/* at[i][r]: the first entry of row i of the block row r. The structure of new values is not checked: a row that may
 * walk beyond the entries begins elsewhere. */
static void begin_fill(const lsp_csr *A, const lsp_diagonals *D, int64_t slice, int64_t (*at)[SLICE]) {
    const int b = D->block;
    int64_t length[SLICE] = {0};
    for (int64_t d = D->first[slice]; d < D->first[slice + 1]; d++) {
        for (int r = 0; r < SLICE; r++) {
            length[r] += (D->at[d].rows >> r & 1) * (uint32_t)b;
        }
    }
    for (int k = 0; k < b * SLICE; k++) {
        const int64_t begin = lsp_csr_rowptr(A, lsp_min(slice * SLICE * b + k, A->rows));
        at[k % b][k / b] = lsp_max(lsp_min(begin, A->nnz - length[k / b]), 0);
    }
}

FILL(float, f32)
FILL(double, f64)

void LSP_ISA_NAME(lsp_diagonals_fill)(const lsp_diagonals_work *work, int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; s++) {
        LSP_SPMV_BY_TYPE(work->A->val_type, fill, work->A, work->D, s);
    }
}
