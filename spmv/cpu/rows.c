/* CSR as it is, on the CPU. Threads own consecutive rows, cut so that each has equally many rows and entries together.
 * A long row at a cut is shared: its pieces are summed by whoever is free, and added in order afterwards. */
#include "matrices/matrices.h"
#include "walk.h"
#include <string.h>

enum { least_share = 1 << 15, long_row = 2 * LSP_SPMV_PIECE };

/* A long row that a cut between two threads goes through. */
typedef struct shared_row {
    int64_t row, begin, end;
    int64_t first; /* of its pieces, among those of all shared rows */
    bool outside;  /* it has a column outside the matrix */
} shared_row;

typedef struct work {
    lsp_ctx *ctx;
    lsp_spmv_rows rows;
    int64_t outside; /* the lowest entry whose column is outside the matrix */
    int threads, shared_count;
    int64_t *cuts; /* [t]: the first row of thread t */
    shared_row *shared;
    int64_t pieces;   /* of all shared rows */
    char *sums;       /* of the pieces */
    size_t sum_bytes; /* of one piece: a number for each vector */
} work;

/* Shares the row before a cut, if it is long and goes through the cut. */
static void share_row(work *w, int64_t row, int64_t weight) {
    const lsp_csr *A = &w->rows.job->A;
    if (row < 0 || (w->shared_count > 0 && w->shared[w->shared_count - 1].row == row)) {
        return;
    }
    const int64_t begin = lsp_csr_rowptr(A, row), end = lsp_csr_rowptr(A, row + 1);
    if (end - begin > long_row && end + row + 1 > weight) {
        w->shared[w->shared_count++] = (shared_row){.row = row, .begin = begin, .end = end, .first = w->pieces};
        w->pieces += lsp_ceil_div(end - begin, LSP_SPMV_PIECE);
    }
}

static lsp_status cut(work *w) {
    lsp_ctx *ctx = w->ctx;
    const lsp_spmv_job *job = w->rows.job;
    const lsp_csr *A = &job->A;
    const int64_t weight = A->rows + A->nnz; /* no overflow: the header was checked */
    LSP_TRY(LSP_SCRATCH(ctx, w->threads + 1, &w->cuts));
    LSP_TRY(LSP_SCRATCH(ctx, w->threads, &w->shared));
    w->cuts[0] = 0;
    for (int t = 1; t < w->threads; t++) {
        int64_t begin, end;
        lsp_share(weight, t, w->threads, &begin, &end);
        w->cuts[t] = LSP_FIRST(0, A->rows, i, lsp_csr_rowptr(A, i) + i >= begin);
        if (!lsp_semiring_counts(job->options.semiring)) {
            share_row(w, w->cuts[t] - 1, begin);
        }
    }
    w->cuts[w->threads] = A->rows;
    w->sum_bytes = (size_t)job->options.vectors * lsp_type_bytes(job->options.type);
    return lsp_scratch_bytes(ctx, w->pieces, w->sum_bytes, false, (void **)&w->sums);
}

static bool is_shared(const work *w, int64_t row) {
    for (int s = 0; s < w->shared_count; s++) {
        if (w->shared[s].row == row) {
            return true;
        }
    }
    return false;
}

static void do_rows(work *w, int64_t begin, int64_t end) {
    end -= begin < end && is_shared(w, end - 1); /* only the last row of a thread goes through a cut */
    if (w->rows.job->options.semiring != LSP_PLUS_TIMES) {
        lsp_spmv_rows_semiring(&w->rows, begin, end);
    } else {
        LSP_ISA_PICK(w->ctx->isa, lsp_spmv_rows)(&w->rows, begin, end);
    }
}

static void do_piece(work *w, int64_t piece) {
    const lsp_spmv_job *job = w->rows.job;
    shared_row *s = w->shared;
    while (s + 1 < w->shared + w->shared_count && piece >= s[1].first) {
        s++;
    }
    const int64_t begin = s->begin + (piece - s->first) * LSP_SPMV_PIECE;
    const int64_t end = lsp_min(begin + LSP_SPMV_PIECE, s->end);
    void *sums = w->sums + (size_t)piece * w->sum_bytes;
    if (!job->planned && !columns_are_inside(&job->A, begin, end)) {
        __atomic_store_n(&s->outside, true, __ATOMIC_RELAXED);
    } else if (job->options.semiring != LSP_PLUS_TIMES) {
        lsp_spmv_piece_semiring(&w->rows, begin, end, sums);
    } else {
        LSP_ISA_PICK(w->ctx->isa, lsp_spmv_piece)(&w->rows, begin, end, sums);
    }
}

static void do_part(void *data, int64_t part, int thread) {
    work *w = data;
    (void)thread;
    if (part < w->threads) {
        do_rows(w, w->cuts[part], w->cuts[part + 1]);
    } else {
        do_piece(w, part - w->threads);
    }
}

static void finish_shared(work *w) {
    const lsp_spmv_job *job = w->rows.job;
    for (int i = 0; i < w->shared_count; i++) {
        shared_row *s = &w->shared[i];
        if (s->outside) {
            lsp_spmv_ref_rows(job, s->row, s->row + 1, &w->outside);
        } else {
            lsp_spmv_join_pieces(job, s->row, w->sums + (size_t)s->first * w->sum_bytes,
                                 lsp_ceil_div(s->end - s->begin, LSP_SPMV_PIECE));
        }
    }
}

/* ---- what is fetched ahead ---- */

/* Of 8 windows of columns, the share of reads that miss a cache of 256 lines, which the first half of the window has
 * filled. Lines are spread by a product: rows of a grid often lie a multiple of 256 lines apart. */
static double missed(const lsp_csr *A, size_t item_bytes) {
    enum { windows = 8, length = 512, bits = 8 };
    const int line = item_bytes == 8 ? 3 : 4; /* its elements, as a shift */
    int64_t misses = 0;
    for (int w = 0; w < windows; w++) {
        int64_t kept[1 << bits];
        const int64_t begin = (A->nnz - length) / (windows - 1) * w;
        memset(kept, -1, sizeof kept);
        for (int64_t k = begin; k < begin + length; k++) {
            const int64_t at = lsp_index_at(A->col, A->col_type, k) >> line;
            const uint64_t slot = (uint64_t)at * 0x9E3779B97F4A7C15u >> (64 - bits);
            misses += kept[slot] != at && k >= begin + length / 2;
            kept[slot] = at;
        }
    }
    return (double)misses / (windows * length / 2);
}

/* Sizes by an EPYC whose last cache has 32 MB, one thread: a matrix of 10 MB gains nothing by fetching, one of 25 MB a
 * fifth; an x of 8 MB gains nothing, one of 16 MB a third, if the columns look random. */
static lsp_spmv_fetch fetched(const lsp_csr *A, size_t item_bytes) {
    const int64_t large = 16 << 20, large_x = 8 << 20; /* bytes */
    const int64_t entry = (int64_t)(lsp_type_bytes(A->col_type) + lsp_type_bytes(A->val_type));
    return A->nnz < large / entry                     ? LSP_SPMV_FETCH_NOTHING
           : missed(A, item_bytes) < 0.4              ? LSP_SPMV_FETCH_ROWS
           : A->cols <= large_x / (int64_t)item_bytes ? LSP_SPMV_FETCH_CHUNKS
                                                      : LSP_SPMV_FETCH_X;
}

/* ---- the engine ---- */

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr *A = &job->A;
    work w = {.ctx = ctx, .rows = {.job = job}, .outside = INT64_MAX};
    (void)parts;
    w.rows.outside = &w.outside;
    w.rows.ahead = fetched(A, lsp_type_bytes(job->options.type));
    w.threads = lsp_threads_for(ctx, (A->rows + A->nnz) * lsp_min(job->options.vectors, 16), least_share);
    LSP_TRY(cut(&w));
    lsp_for_parts(ctx, w.threads + w.pieces, w.threads, do_part, &w);
    finish_shared(&w);
    return lsp_spmv_tell_outside(ctx, job, w.outside);
}

const lsp_spmv_engine lsp_spmv_rows_cpu = {.run = run};
