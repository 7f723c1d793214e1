/* Template by COL and cpu/each_value.h: fills rows of C, each in its way. A row's sums start from the semiring's value
 * before its first product (-0.0 for sums), to which fused multiply-add only rounds the first product. */
#define ROW_NAME(f) LSP_PASTE(COL_NAME(f), VALUE_SUFFIX)

/* Up to three consecutive entries of A, and the values of their rows of B. */
typedef struct ROW_NAME(factors) {
    VALUE a[3];
    const VALUE *b[3];
    lsp_semiring semiring;
} ROW_NAME(factors);

ALWAYS ROW_NAME(factors) ROW_NAME(factors_at)(const lsp_spgemm_job *job, int64_t e, int together) {
    ROW_NAME(factors) f = {.semiring = job->semiring};
    for (int t = 0; t < together; t++) {
        f.a[t] = A_VALUE(&job->A, e + t);
        f.b[t] = VALUES(job->B.val, b_row_of(job, e + t).begin);
    }
    return f;
}

ALWAYS VALUE ROW_NAME(add)(const ROW_NAME(factors) * f, int together, int64_t q, VALUE sum) {
    const lsp_semiring semiring = f->semiring;
    sum = FMA(f->a[0], f->b[0][q], sum);
    sum = together > 1 ? FMA(f->a[1], f->b[1][q], sum) : sum;
    return together > 2 ? FMA(f->a[2], f->b[2][q], sum) : sum;
}

/* Sets n values of C from `at` on to the sum of nothing, before products are added; settles them afterwards. */
ALWAYS void ROW_NAME(clear)(const lsp_spgemm_job *job, int64_t at, int64_t n) {
    const lsp_semiring semiring = job->semiring;
    const VALUE empty = NOTHING;
    for (int64_t k = at; HAS_VALUES && k < at + n; k++) {
        ((VALUE *)job->C->val)[k] = empty;
    }
}
static void ROW_NAME(settle)(const lsp_csr *C, int64_t at, int64_t n) {
    for (int64_t k = at; HAS_VALUES && k < at + n; k++) {
        const VALUE sum = ((VALUE *)C->val)[k];
        ((VALUE *)C->val)[k] = SETTLED(sum);
    }
}

#define RANK uint8_t
#define RANK_SUFFIX _r8
#include "scatter_template.h"
#define RANK uint16_t
#define RANK_SUFFIX _r16
#include "scatter_template.h"
#define RANK uint32_t
#define RANK_SUFFIX _r32
#include "scatter_template.h"

/* Fills a cleared row by the ranks of its products: values, and columns if asked. Returns the end of the ranks. */
static const char *ROW_NAME(scatter)(const lsp_spgemm_pass *pass, const row_extent *row, const void *ranks,
                                     int rank_bytes, int64_t at, bool columns) {
#define SCATTER(r) (columns ? ROW_NAME(r)(pass, row, ranks, at, true) : ROW_NAME(r)(pass, row, ranks, at, false))
    return rank_bytes == 1 ? SCATTER(scatter_r8) : rank_bytes == 2 ? SCATTER(scatter_r16) : SCATTER(scatter_r32);
#undef SCATTER
}

/* Fills a row, or a piece of one, in which only the products of the piece have ranks. */
static void ROW_NAME(scatter_piece)(const lsp_spgemm_job *job, const row_extent *piece, const uint32_t *rank,
                                    int64_t at) {
    const COL *col = job->B.col;
    for (int64_t e = piece->begin; e < piece->end; e++) {
        const b_row b = b_row_of(job, e);
        const ROW_NAME(factors) f = ROW_NAME(factors_at)(job, e, 1);
        VALUE *sum = VALUES(job->C->val, at);
        for (int64_t p = b.begin; p < b.end; p++) {
            if (!outside(piece, col[p])) {
                lsp_index_set(job->C->col, job->C->col_type, at + *rank, col[p]);
                if (HAS_VALUES) {
                    sum[*rank] = ROW_NAME(add)(&f, 1, p - b.begin, sum[*rank]);
                }
                rank++;
            }
        }
    }
}

/* Adds the row's products to the window, and marks their columns. */
static void ROW_NAME(add_window)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, const row_extent *row) {
    const lsp_spgemm_job *job = pass->job;
    const COL *col = job->B.col;
    const row_extent here = *row; /* a copy: a store to a char may change *row, which would be read again each time */
    uint8_t *touched = work->touched;
    int together;
    for (int64_t e = here.begin; e < here.end; e += together) {
        const b_row b = b_row_of(job, e);
        together = COL_NAME(together_at)(pass, e, here.end);
        COL_NAME(look_ahead)(pass, e, HAS_VALUES * sizeof(VALUE));
        const ROW_NAME(factors) f = ROW_NAME(factors_at)(job, e, together);
        VALUE *sum = work->window;
        for (int64_t p = b.begin; p < b.end; p++) {
            if (outside(&here, col[p])) {
                continue;
            }
            const int64_t j = col[p] - here.low;
            touched[j] = 1;
            if (HAS_VALUES) {
                sum[j] = ROW_NAME(add)(&f, together, p - b.begin, sum[j]);
            }
        }
    }
}

/* Writes the marked columns in order, and restores the window. Returns the number of entries. */
static int64_t ROW_NAME(empty_window)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, const row_extent *row,
                                      int64_t at) {
    const lsp_semiring semiring = job->semiring;
    int64_t next = at;
    for (int64_t j = 0; j <= row->high - row->low; j += 64) {
        uint64_t columns = touched_mask(work->touched + j);
        if (columns == 0) {
            continue;
        }
        memset(work->touched + j, 0, 64);
        for (; columns != 0; columns &= columns - 1, next++) {
            const int64_t k = j + __builtin_ctzll(columns);
            lsp_index_set(job->C->col, job->C->col_type, next, row->low + k);
            if (HAS_VALUES) {
                ((VALUE *)job->C->val)[next] = ((VALUE *)work->window)[k];
                ((VALUE *)work->window)[k] = NOTHING;
            }
        }
    }
    return next - at;
}

/* Fills a row or a piece whose ranks are not kept. */
static int64_t ROW_NAME(fill_row)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, const row_extent *row,
                                  int64_t at) {
    if (in_window(pass, row)) {
        ROW_NAME(add_window)(pass, work, row);
        return ROW_NAME(empty_window)(pass->job, work, row, at);
    }
    const int64_t count = COL_NAME(sorted_row)(pass, work, row, (char *)work->ranks, sizeof *work->ranks);
    ROW_NAME(clear)(pass->job, at, count);
    ROW_NAME(scatter_piece)(pass->job, row, work->ranks, at);
    return count;
}

static void ROW_NAME(fill_pieces)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, const row_extent *row,
                                  int64_t at) {
    row_extent piece = *row;
    piece.piece = true;
    for (; piece.low <= row->high; piece.low = piece.high + 1) {
        COL_NAME(next_piece)(pass, row, &piece);
        at += piece.products > 0 ? ROW_NAME(fill_row)(pass, work, &piece, at) : 0;
    }
}

/* Copies the columns of the row above to row i, which repeats it. `rank` is the rank of the row's first product. */
static void ROW_NAME(repeat_columns)(const lsp_spgemm_job *job, const row_extent *row, int64_t i, int64_t rank) {
    const int64_t at = job->rowptr[i], above = job->rowptr[i - 1];
    int64_t e = row->begin;
    while (b_row_of(job, e).begin == b_row_of(job, e).end) {
        e++;
    }
    const int64_t column = ((const COL *)job->B.col)[b_row_of(job, e).begin];
    const int64_t column_above = lsp_index_at(job->C->col, job->C->col_type, above + rank);
    move_columns(job->C, at, above, job->rowptr[i + 1] - at, column - column_above);
}

/* Rows first .. last-1. Returns the ranks of the next rows; *kept: the ranks of the last row whose ranks are kept. */
static char *ROW_NAME(fill_rows)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, int64_t first, int64_t last,
                                 char *ranks, kept_ranks *kept) {
    const lsp_spgemm_job *job = pass->job;
    row_extent row;
    for (int64_t i = first; i < last; i++) {
        const uint8_t way = pass->ways[i];
        const int64_t at = job->rowptr[i];
        if (job->rowptr[i + 1] == at) {
            continue;
        }
        const int bytes = way & LSP_WAY_REPEAT ? kept->bytes : way & LSP_WAY_KEPT ? 1 << way / LSP_WAY_RANK : 0;
        if (HAS_VALUES && pass->replay && bytes > 0) {
            i = (bytes == 1   ? ROW_NAME(replay_r8)
                 : bytes == 2 ? ROW_NAME(replay_r16)
                              : ROW_NAME(replay_r32))(pass, i, last, kept, &ranks) -
                1;
            continue;
        }
        if (way & LSP_WAY_REPEAT) {
            entries_of(job, i, &row);
            if (!job->update) {
                ROW_NAME(repeat_columns)(job, &row, i, rank_at(kept->ranks, kept->bytes, 0));
            }
            ROW_NAME(scatter)(pass, &row, kept->ranks, kept->bytes, at, false);
        } else if (way & LSP_WAY_KEPT) {
            entries_of(job, i, &row);
            *kept = (kept_ranks){ranks, 1 << way / LSP_WAY_RANK};
            ranks += (ROW_NAME(scatter)(pass, &row, ranks, kept->bytes, at, !job->update) - ranks + 3) / 4 * 4;
        } else {
            COL_NAME(extent_of)(pass, i, &row);
            if (fits_window(pass, &row) || fits_sort(pass, &row)) {
                ROW_NAME(fill_row)(pass, work, &row, at);
            } else {
                ROW_NAME(fill_pieces)(pass, work, &row, at);
            }
        }
    }
    return ranks;
}

/* Clears and settles C for many rows at a time: a sum is read again only when its stores have left the store buffer. */
static void ROW_NAME(fill)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, int64_t first, int64_t last,
                           char *ranks) {
    enum { ENTRIES = 64 }; /* still in the cache */
    const lsp_spgemm_job *job = pass->job;
    kept_ranks kept = {0};
    for (int64_t begin = first, end = first; begin < last; begin = end) {
        const int64_t at = job->rowptr[begin];
        do {
            end++;
        } while (end < last && job->rowptr[end] - at < ENTRIES);
        if (ranks != NULL) {
            ROW_NAME(clear)(job, at, job->rowptr[end] - at);
        }
        ranks = ROW_NAME(fill_rows)(pass, work, begin, end, ranks, &kept);
        ROW_NAME(settle)(job->C, at, job->rowptr[end] - at);
    }
}

#undef ROW_NAME
#undef VALUE
#undef VALUE_SUFFIX
#undef FMA
#undef NOTHING
