/* Entries to text: each thread prints a run of entries into its own buffer, and the buffers go to the sink in order. A
 * matrix on the GPU is fetched in stretches: while one is printed, the next is on its way. */
#include "core/cuda.h"
#include "matrices/matrices.h"
#include "number_text.h"
#include "write.h"

#include <pthread.h>

enum {
    run_entries = 8192,
    entry_bytes = 96, /* two indices, two numbers, blanks and a newline at most */
    slack_bytes = 2 * lsp_number_bytes,
};

/* Prints an index from 1 and a character after it. */
LSP_INLINE char *put_index(char *text, int64_t index, char after) {
    text = lsp_print_int(text, index + 1);
    *text = after;
    return text + 1;
}

LSP_INLINE char *put_value(char *text, lsp_type type, const void *val, int64_t k) {
    if (type == LSP_F64) {
        text = lsp_print_double(text, ((const double *)val)[k]);
    } else if (type == LSP_F32) {
        text = lsp_print_float(text, ((const float *)val)[k]);
    } else if (type == LSP_C64) {
        text = lsp_print_double(text, ((const double *)val)[2 * k]);
        *text++ = ' ';
        text = lsp_print_double(text, ((const double *)val)[2 * k + 1]);
    } else {
        text = lsp_print_int(text, lsp_value_of(type, val, k).whole);
    }
    *text = '\n';
    return text + 1;
}

/* Prints the entries begin .. end-1, without those above the diagonal in a symmetric file; returns the end of the text.
 * The row index is printed once per row; 24 bytes of it are copied, and the text goes on after its length. */
LSP_INLINE char *print_run(lsp_type val_type, lsp_type col_type, const lsp_mtx_writing *work,
                           const lsp_mtx_stretch *part, int64_t begin, int64_t end, char *text) {
    const lsp_csr *A = work->A;
    bool lower = work->symmetry != LSP_SYMMETRY_GENERAL;
    int64_t row = begin < end ? lsp_csr_row_of(A, begin) : 0;
    while (begin < end) {
        int64_t stop = lsp_min(lsp_csr_rowptr(A, row + 1), end);
        char name[lsp_number_bytes];
        int length = (int)(put_index(name, work->first_row + row, ' ') - name);
        for (; begin < stop; begin++) {
            int64_t col = lsp_index_at(part->col, col_type, begin - part->begin);
            if (lower && col > row) {
                continue;
            }
            memcpy(text, name, 24);
            text = put_index(text + length, col, val_type == LSP_NONE ? '\n' : ' ');
            if (val_type != LSP_NONE) {
                text = put_value(text, val_type, part->val, begin - part->begin);
            }
        }
        row++;
    }
    return text;
}

/* ---- values written as integers: each must be whole, and so small that its type holds all integers up to it ---- */

/* Is x whole and below `limit`? Adding 2^52 rounds a smaller number to an integer. */
LSP_INLINE bool is_whole(double x, double limit) {
    const double size = fabs(x);
    return (size < limit) & ((size >= 0x1p52) | (size + 0x1p52 - 0x1p52 == size));
}

/* The first of the values begin .. end-1 that is not whole; `end` if none. The usual case, none, takes no branch. */
LSP_INLINE int64_t first_fraction(lsp_type type, double limit, const void *val, int64_t begin, int64_t end) {
    int fractions = 0;
    for (int64_t k = begin; k < end; k++) {
        fractions |= !is_whole(lsp_value_of(type, val, k).re, limit);
    }
    for (; fractions && begin < end && is_whole(lsp_value_of(type, val, begin).re, limit); begin++) {
    }
    return fractions ? begin : end;
}

static int64_t whole_until(const lsp_mtx_writing *work, const lsp_mtx_stretch *part, int64_t begin, int64_t end) {
    const int64_t from = begin - part->begin, to = end - part->begin;
    return part->begin + (work->A->val_type == LSP_F32 ? first_fraction(LSP_F32, 0x1p24, part->val, from, to)
                                                       : first_fraction(LSP_F64, 0x1p53, part->val, from, to));
}

lsp_status lsp_mtx_check_integers(lsp_ctx *ctx, const lsp_mtx_writing *work, const lsp_mtx_stretch *part,
                                  int64_t begin) {
    const int64_t k = whole_until(work, part, begin, part->end), at = k - part->begin;
    LSP_REQUIRE(k == part->end, LSP_ERR_ARGUMENT,
                "the matrix cannot be written as integers: the entry at row %lld, column %lld is %.17g",
                (long long)(work->first_row + lsp_csr_row_of(work->A, k)) + 1,
                (long long)lsp_index_at(part->col, work->A->col_type, at) + 1,
                lsp_value_of(work->A->val_type, part->val, at).re);
    return LSP_OK;
}

/* ---- runs ---- */

/* The runs of a stretch, and the run whose turn it is to write. */
typedef struct turns {
    lsp_ctx *ctx;
    const lsp_mtx_writing *work;
    const lsp_mtx_stretch *part;
    lsp_mtx_sink *sink;
    pthread_mutex_t mutex; /* for run, fraction and error */
    pthread_cond_t next;
    int64_t run;      /* the run that may write */
    int64_t fraction; /* the first value that is not whole, if all must be; the end of the stretch if none */
    int error;
} turns;

/* Writes a thread's text after the runs before it. They were begun earlier, so the wait ends. The run's entries end at
 * `end`; `whole` is its first fraction, or `end`. */
static void put_run(turns *t, int64_t run, int64_t whole, int64_t end, const char *text, size_t bytes) {
    pthread_mutex_lock(&t->mutex);
    while (t->run < run) {
        pthread_cond_wait(&t->next, &t->mutex);
    }
    t->fraction = whole < end ? lsp_min(t->fraction, whole) : t->fraction;
    const bool fine = t->error == 0 && t->fraction == t->part->end;
    pthread_mutex_unlock(&t->mutex);
    const int error = fine ? lsp_mtx_sink_put(t->sink, text, bytes) : 0;
    pthread_mutex_lock(&t->mutex);
    t->error = fine ? error : t->error;
    t->run++;
    pthread_cond_broadcast(&t->next);
    pthread_mutex_unlock(&t->mutex);
}

static void write_run(void *data, int64_t run, int thread) {
    turns *t = data;
    const lsp_mtx_writing *work = t->work;
    char *text = work->texts + thread * work->run_bytes;
    int64_t begin = t->part->begin + run * run_entries, end = lsp_min(begin + run_entries, t->part->end);
    const int64_t whole = t->sink->integers ? whole_until(work, t->part, begin, end) : end;
    const char *stop =
        LSP_WITH_BOTH(work->A->val_type, work->A->col_type, print_run, work, t->part, begin, whole, text);
    put_run(t, run, whole, end, text, (size_t)(stop - text));
    if (thread == 0 && end < work->A->nnz) {
        lsp_progress(t->ctx, "write", (double)end / (double)work->A->nnz);
    }
}

static lsp_status write_stretch(lsp_ctx *ctx, const lsp_mtx_writing *work, const lsp_mtx_stretch *part,
                                lsp_mtx_sink *sink) {
    turns t = {.ctx = ctx, .work = work, .part = part, .sink = sink, .fraction = part->end};
    pthread_mutex_init(&t.mutex, NULL);
    pthread_cond_init(&t.next, NULL);
    const lsp_status status =
        lsp_try_parts(ctx, lsp_ceil_div(part->end - part->begin, run_entries), work->threads, write_run, &t);
    pthread_cond_destroy(&t.next);
    pthread_mutex_destroy(&t.mutex);
    return status != LSP_OK         ? status
           : t.fraction < part->end ? lsp_mtx_check_integers(ctx, work, part, t.fraction)
           : t.error                ? lsp_mtx_sink_fail(sink, t.error)
                                    : LSP_OK;
}

/* Fetches a stretch of a matrix on the GPU: columns from `begin` on, then values, behind space for `length` columns. */
static lsp_status fetch_stretch(lsp_ctx *ctx, const lsp_csr *A, int stage, int64_t begin, int64_t length) {
    const int64_t col = (int64_t)lsp_type_bytes(A->col_type), val = (int64_t)lsp_type_bytes(A->val_type);
    const int64_t count = lsp_min(length, A->nnz - begin);
    LSP_TRY(lsp_cuda_fetch(ctx, stage, 0, (const char *)A->col + begin * col, count * col));
    if (val > 0) {
        LSP_TRY(lsp_cuda_fetch(ctx, stage, length * col, (const char *)A->val + begin * val, count * val));
    }
    return LSP_OK;
}

static lsp_status write_from_gpu(lsp_ctx *ctx, const lsp_mtx_writing *work, lsp_mtx_sink *sink) {
    const lsp_csr *A = work->A;
    const int64_t col = (int64_t)lsp_type_bytes(A->col_type), val = (int64_t)lsp_type_bytes(A->val_type);
    const int64_t runs = LSP_CUDA_STAGE_BYTES / (col + val) / run_entries;
    const int64_t length =
        (runs - runs % lsp_min(work->threads, runs)) * run_entries; /* the same number for each thread */
    LSP_TRY(fetch_stretch(ctx, A, 0, 0, length));
    for (int64_t begin = 0, s = 0; begin < A->nnz; begin += length, s++) {
        lsp_mtx_stretch part = {.begin = begin, .end = lsp_min(begin + length, A->nnz)};
        if (part.end < A->nnz) {
            LSP_TRY(fetch_stretch(ctx, A, (int)((s + 1) % LSP_CUDA_STAGES), part.end, length));
        }
        LSP_TRY(lsp_cuda_fetched(ctx, (int)(s % LSP_CUDA_STAGES), &part.col));
        part.val = (const char *)part.col + length * col;
        LSP_TRY(write_stretch(ctx, work, &part, sink));
    }
    return LSP_OK;
}

lsp_status lsp_mtx_write_entries(lsp_ctx *ctx, lsp_mtx_writing *work, lsp_mtx_sink *sink) {
    const lsp_csr *A = work->A;
    const int64_t runs = lsp_ceil_div(A->nnz, run_entries);
    if (A->nnz == 0) {
        return LSP_OK;
    }
    work->threads = (int)lsp_min(ctx->options.threads, runs);
    work->run_bytes = lsp_min(run_entries, A->nnz) * entry_bytes + slack_bytes;
    if (ctx->options.max_bytes > 0) { /* a budget may allow fewer threads, but at least one */
        const int64_t affordable = lsp_available_bytes(ctx, LSP_HOST) / work->run_bytes;
        work->threads = (int)lsp_max(lsp_min(work->threads, affordable), 1);
    }
    LSP_TRY(LSP_SCRATCH(ctx, work->threads * work->run_bytes, &work->texts));
    return A->where == LSP_CUDA ? write_from_gpu(ctx, work, sink)
                                : write_stretch(ctx, work, &(lsp_mtx_stretch){0, A->nnz, A->col, A->val}, sink);
}
