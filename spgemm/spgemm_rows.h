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

/* Adds the row's products to the window. */
static void ROW_NAME(add_window)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, const row_extent *row) {
    const COL *col = job->B.col;
    uint8_t *touched = work->touched;
    for (int64_t e = row->begin; e < row->end; e++) {
        const b_row b = b_row_of(job, e);
#if HAS_VALUES
        const VALUE a = (VALUE)lsp_spgemm_value_at(&job->A, e), *val = job->B.val;
        VALUE *sum = work->sum;
#endif
        for (int64_t p = b.begin; p < b.end; p++) {
            if (outside(row, col[p])) {
                continue;
            }
            const int64_t j = col[p] - row->low;
            touched[j] = 1;
#if HAS_VALUES
            sum[j] = FMA(a, val[p], sum[j]);
#endif
        }
    }
}

/* Writes (or counts) the columns touched in order, and clears the window. */
static int64_t ROW_NAME(empty_window)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, const row_extent *row,
                                      int64_t at) {
    int64_t next = at;
    for (int64_t j = 0; j <= row->high - row->low; j += 64) {
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
            lsp_index_set(job->C->col, job->C->col_type, next, row->low + k);
#if HAS_VALUES
            ((VALUE *)job->C->val)[next] = SETTLED(((VALUE *)work->sum)[k]);
            ((VALUE *)work->sum)[k] = NOTHING;
#endif
        }
    }
    return next - at;
}

/* A row or a piece that fits at least one way, in the better one. */
static int64_t ROW_NAME(whole_row)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, const row_extent *row,
                                   int64_t at) {
    bool prefers = lsp_spgemm_prefers_window(row->products, row->high - row->low + 1);
    if (fits_window(job, row) && (prefers || !fits_sort(job, row))) {
        ROW_NAME(add_window)(job, work, row);
        return ROW_NAME(empty_window)(job, work, row, at);
    }
    return ROW_NAME(sorted_row)(job, work, row, at);
}

static int64_t ROW_NAME(products_between)(const lsp_spgemm_job *job, const row_extent *piece) {
    const COL *col = job->B.col;
    int64_t products = 0;
    for (int64_t e = piece->begin; e < piece->end; e++) {
        const b_row b = b_row_of(job, e);
        for (int64_t p = b.begin; p < b.end; p++) {
            products += col[p] >= piece->low && col[p] <= piece->high;
        }
    }
    return products;
}

/* A row too large for the room, piece by piece: each reaches as far as it fits, found by bisection. */
static int64_t ROW_NAME(long_row)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, const row_extent *row,
                                  int64_t at) {
    int64_t count = 0;
    row_extent piece = *row;
    piece.piece = true;
    for (; piece.low <= row->high; piece.low = piece.high + 1) {
        int64_t fits = piece.low + lsp_min(job->room.window_columns - 1, row->high - piece.low), fails = row->high + 1;
        for (piece.high = row->high; fits + 1 < fails; piece.high = fits + (fails - fits) / 2) {
            if (ROW_NAME(products_between)(job, &piece) <= job->room.sort_products) {
                fits = piece.high;
            } else {
                fails = piece.high;
            }
        }
        piece.high = fits;
        piece.products = ROW_NAME(products_between)(job, &piece);
        if (piece.products > 0) {
            count += ROW_NAME(whole_row)(job, work, &piece, at + count);
        }
    }
    return count;
}

static void ROW_NAME(rows)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) {
        const row_extent row = extent_of(job, i);
        const int64_t at = job->counting ? 0 : job->rowptr[i];
        int64_t count = 0;
        if (row.products > 0) {
            count = fits_window(job, &row) || fits_sort(job, &row) ? ROW_NAME(whole_row)(job, work, &row, at)
                                                                   : ROW_NAME(long_row)(job, work, &row, at);
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
