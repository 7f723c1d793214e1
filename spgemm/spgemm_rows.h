/* Template by COL (columns of B) and VALUE: rows of C, each in the way that suits it. */
#define ROW_NAME(f) LSP_PASTE(LSP_PASTE(f, COL_SUFFIX), VALUE_SUFFIX)

#define WORD uint32_t
#define WORD_SUFFIX _w32
#define WORD_KIND LSP_WORD_32
#include "spgemm_sort_row.h"
#define WORD uint64_t
#define WORD_SUFFIX _w64
#define WORD_KIND LSP_WORD_64
#include "spgemm_sort_row.h"
#define WORD lsp_u128
#define WORD_SUFFIX _w128
#define WORD_KIND LSP_WORD_128
#include "spgemm_sort_row.h"

static int64_t ROW_NAME(sorted_row)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, const row_extent *row,
                                    int64_t at) {
    int bits = lsp_bits((uint64_t)(row->high - row->low)) + (HAS_VALUES ? lsp_bits((uint64_t)row->products - 1) : 0);
    switch (lsp_word_kind(bits)) {
    case LSP_WORD_32:
        return ROW_NAME(sort_row_w32)(job, work, row, at);
    case LSP_WORD_64:
        return ROW_NAME(sort_row_w64)(job, work, row, at);
    default:
        return ROW_NAME(sort_row_w128)(job, work, row, at);
    }
}

/* Adds the products in the columns from `start` on that the window holds; returns the smallest column beyond it. */
static int64_t ROW_NAME(add_window)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, const row_extent *row,
                                    int64_t start, bool whole) {
    const COL *col = job->B.col;
    uint8_t *touched = work->touched;
    int64_t beyond = INT64_MAX;
    for (int64_t e = row->begin; e < row->end; e++) {
        const b_row b = b_row_of(job, e);
#if HAS_VALUES
        const VALUE a = (VALUE)lsp_spgemm_value_at(&job->A, e), *val = job->B.val;
        VALUE *sum = work->sum;
#endif
        for (int64_t p = b.begin; p < b.end; p++) {
            const int64_t j = col[p] - start;
            if (!whole && (j < 0 || j >= job->room.window_columns)) {
                beyond = j < 0 ? beyond : lsp_min(beyond, col[p]);
                continue;
            }
            touched[j] = 1;
#if HAS_VALUES
            sum[j] = FMA(a, val[p], sum[j]);
#endif
        }
    }
    return beyond;
}

/* Writes (or counts) the columns touched among `width` from `start` on, in order, and clears the window. */
static int64_t ROW_NAME(empty_window)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, int64_t start,
                                      int64_t width, int64_t at) {
    int64_t next = at;
    for (int64_t j = 0; j < width; j += 64) {
        uint64_t columns = touched_mask(work->touched + j);
        if (columns == 0) {
            continue;
        }
        memset(work->touched + j, 0, 64);
        if (job->counting) {
            next += __builtin_popcountll(columns);
            continue;
        }
        for (; columns != 0; columns &= columns - 1, next++) {
            const int64_t k = j + __builtin_ctzll(columns);
            lsp_index_set(job->C->col, job->C->col_type, next, start + k);
#if HAS_VALUES
            ((VALUE *)job->C->val)[next] = SETTLED(((VALUE *)work->sum)[k]);
            ((VALUE *)work->sum)[k] = NOTHING;
#endif
        }
    }
    return next - at;
}

/* The row in windows one after another: one, unless it is wider than there is room for. */
static int64_t ROW_NAME(window_row)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, const row_extent *row,
                                    int64_t at) {
    int64_t count = 0;
    bool whole = row->high - row->low < job->room.window_columns;
    for (int64_t start = row->low; start <= row->high;) {
        int64_t next = ROW_NAME(add_window)(job, work, row, start, whole);
        int64_t width = lsp_min(row->high - start + 1, job->room.window_columns);
        count += ROW_NAME(empty_window)(job, work, start, width, at + count);
        start = lsp_max(next, start + 1);
    }
    return count;
}

static void ROW_NAME(rows)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) {
        const row_extent row = extent_of(job, i);
        const int64_t at = job->counting ? 0 : job->rowptr[i];
        int64_t count = 0;
        if (row.products > 0) {
            count = goes_to_window(job, &row) ? ROW_NAME(window_row)(job, work, &row, at)
                                              : ROW_NAME(sorted_row)(job, work, &row, at);
        }
        if (job->counting) {
            job->rowptr[i + 1] = count;
        }
    }
}

#undef ROW_NAME
#undef VALUE
#undef VALUE_SUFFIX
#undef HAS_VALUES
#undef FMA
#undef NOTHING
#undef SETTLED
