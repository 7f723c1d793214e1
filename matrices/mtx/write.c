/* Writing: every thread prints a run of entries into a buffer of its own, and the runs go out in their order. What lies
 * on the GPU comes in stretches: while one is printed, the next is on its way. */
#include "core/cuda.h"
#include "matrices/matrices.h"
#include "sink.h"
#include "number_text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    run_entries = 8192,
    entry_bytes = 96, /* two indices, two numbers, blanks and a newline at most */
    slack_bytes = 2 * lsp_number_bytes,
};

typedef struct writing {
    const lsp_csr *A;  /* its row pointers on the host */
    int64_t first_row; /* that of the file in which A begins */
    lsp_symmetry symmetry;
    int64_t entries; /* lines to write */
    int threads;
    char *texts; /* run_bytes for each of them */
    int64_t run_bytes;
} writing;

typedef struct stretch { /* the entries begin .. end-1 of A, on the host */
    int64_t begin, end;
    const void *col, *val;
} stretch;

/* ---- entries ---- */

/* Two indices at most 20 digits long are copied whole: the text goes on behind them. */
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
    }
    *text = '\n';
    return text + 1;
}

/* Prints the entries begin .. end-1 that are to be written; returns the end of the text. */
LSP_INLINE char *print_run(lsp_type col_type, lsp_type val_type, const writing *work, const stretch *part,
                           int64_t begin, int64_t end, char *text) {
    const lsp_csr *A = work->A;
    bool lower = work->symmetry != LSP_GENERAL;
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

static char *print_entries(const writing *work, const stretch *part, int64_t begin, int64_t end, char *text) {
#define RUN(col, val) print_run(col, val, work, part, begin, end, text)
#define RUN_BY_COL(val) (work->A->col_type == LSP_I32 ? RUN(LSP_I32, val) : RUN(LSP_I64, val))
    switch (work->A->val_type) {
    case LSP_F64:
        return RUN_BY_COL(LSP_F64);
    case LSP_F32:
        return RUN_BY_COL(LSP_F32);
    case LSP_C64:
        return RUN_BY_COL(LSP_C64);
    default:
        return RUN_BY_COL(LSP_NONE);
    }
}

/* Runs of a stretch, and whose turn it is to write. */
typedef struct turns {
    lsp_ctx *ctx;
    const writing *work;
    const stretch *part;
    lsp_mtx_sink *sink;
    pthread_mutex_t mutex; /* for run and error */
    pthread_cond_t next;
    int64_t run; /* the one that may write */
    int error;
} turns;

/* Out of a thread's buffer when the runs before are out. They were begun before this one, so their turn comes. */
static void put_run(turns *t, int64_t run, const char *text, size_t bytes) {
    pthread_mutex_lock(&t->mutex);
    while (t->run < run) {
        pthread_cond_wait(&t->next, &t->mutex);
    }
    const bool fine = t->error == 0;
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
    const writing *work = t->work;
    char *text = work->texts + thread * work->run_bytes;
    int64_t begin = t->part->begin + run * run_entries, end = lsp_min(begin + run_entries, t->part->end);
    char *stop = print_entries(work, t->part, begin, end, text);
    put_run(t, run, text, (size_t)(stop - text));
    if (thread == 0) {
        lsp_progress(t->ctx, "write", (double)end / (double)work->A->nnz);
    }
}

static lsp_status write_stretch(lsp_ctx *ctx, const writing *work, const stretch *part, lsp_mtx_sink *sink) {
    turns t = {.ctx = ctx, .work = work, .part = part, .sink = sink};
    pthread_mutex_init(&t.mutex, NULL);
    pthread_cond_init(&t.next, NULL);
    lsp_for_parts(ctx, lsp_ceil_div(part->end - part->begin, run_entries), work->threads, write_run, &t);
    pthread_cond_destroy(&t.next);
    pthread_mutex_destroy(&t.mutex);
    return t.error ? lsp_mtx_sink_fail(sink, t.error) : LSP_OK;
}

/* The stretch from `begin` on of a matrix on the GPU: columns, then, `length` of them later, values. */
static lsp_status fetch_stretch(lsp_ctx *ctx, const lsp_csr *A, int stage, int64_t begin, int64_t length) {
    lsp_status status = LSP_OK;
    const int64_t col = (int64_t)lsp_type_bytes(A->col_type), val = (int64_t)lsp_type_bytes(A->val_type);
    const int64_t count = lsp_min(length, A->nnz - begin);
    LSP_TRY(lsp_cuda_fetch(ctx, stage, 0, (const char *)A->col + begin * col, count * col));
    if (val > 0) {
        LSP_TRY(lsp_cuda_fetch(ctx, stage, length * col, (const char *)A->val + begin * val, count * val));
    }
done:
    return status;
}

static lsp_status write_from_gpu(lsp_ctx *ctx, const writing *work, lsp_mtx_sink *sink) {
    lsp_status status = LSP_OK;
    const lsp_csr *A = work->A;
    const int64_t col = (int64_t)lsp_type_bytes(A->col_type), val = (int64_t)lsp_type_bytes(A->val_type);
    const int64_t runs = LSP_CUDA_STAGE_BYTES / (col + val) / run_entries;
    const int64_t length = (runs - runs % lsp_min(work->threads, runs)) * run_entries; /* as many for each thread */
    LSP_TRY(fetch_stretch(ctx, A, 0, 0, length));
    for (int64_t begin = 0, s = 0; begin < A->nnz; begin += length, s++) {
        stretch part = {.begin = begin, .end = lsp_min(begin + length, A->nnz)};
        if (part.end < A->nnz) {
            LSP_TRY(fetch_stretch(ctx, A, (int)((s + 1) % LSP_CUDA_STAGES), part.end, length));
        }
        LSP_TRY(lsp_cuda_fetched(ctx, (int)(s % LSP_CUDA_STAGES), &part.col));
        part.val = (const char *)part.col + length * col;
        LSP_TRY(write_stretch(ctx, work, &part, sink));
    }
done:
    return status;
}

static lsp_status write_entries(lsp_ctx *ctx, writing *work, lsp_mtx_sink *sink) {
    lsp_status status = LSP_OK;
    const lsp_csr *A = work->A;
    const int64_t runs = lsp_ceil_div(A->nnz, run_entries);
    if (A->nnz == 0) {
        goto done;
    }
    work->threads = (int)lsp_min(ctx->options.threads, runs);
    work->run_bytes = lsp_min(run_entries, A->nnz) * entry_bytes + slack_bytes;
    if (ctx->options.max_bytes > 0) { /* rather fewer threads than none */
        const int64_t affordable = lsp_available_bytes(ctx, LSP_HOST) / work->run_bytes;
        work->threads = (int)lsp_max(lsp_min(work->threads, affordable), 1);
    }
    LSP_TRY(LSP_SCRATCH(ctx, work->threads * work->run_bytes, &work->texts));
    LSP_TRY(A->where == LSP_CUDA ? write_from_gpu(ctx, work, sink)
                                 : write_stretch(ctx, work, &(stretch){0, A->nnz, A->col, A->val}, sink));
done:
    return status;
}

/* ---- the header ---- */

static int put_text(lsp_mtx_sink *sink, const char *text) { return lsp_mtx_sink_put(sink, text, strlen(text)); }

/* Each line of the comment with a percent sign before it. */
static int put_comment(lsp_mtx_sink *sink, const char *comment) {
    int error = 0;
    while (comment && *comment && !error) {
        size_t length = strcspn(comment, "\r\n");
        error = put_text(sink, length ? "% " : "%");
        error = error ? error : lsp_mtx_sink_put(sink, comment, length);
        error = error ? error : put_text(sink, "\n");
        comment += length;
        comment += *comment == '\r' && comment[1] == '\n';
        comment += *comment != 0;
    }
    return error;
}

static lsp_status write_header(const lsp_csr *A, lsp_symmetry symmetry, int64_t entries, const char *comment,
                               lsp_mtx_sink *sink) {
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    char line[128];
    snprintf(line, sizeof line, "%%%%MatrixMarket matrix coordinate %s %s\n",
             A->val_type == LSP_NONE  ? "pattern"
             : A->val_type == LSP_C64 ? "complex"
                                      : "real",
             symmetries[symmetry]);
    int error = put_text(sink, line);
    error = error ? error : put_comment(sink, comment);
    snprintf(line, sizeof line, "%lld %lld %lld\n", (long long)A->rows, (long long)A->cols, (long long)entries);
    error = error ? error : put_text(sink, line);
    return error ? lsp_mtx_sink_fail(sink, error) : LSP_OK;
}

/* ---- symmetry ---- */

static bool mirrors(lsp_symmetry symmetry, lsp_value a, lsp_value b) {
    double re = symmetry == LSP_SKEW ? -b.re : b.re, im = symmetry == LSP_SYMMETRIC ? b.im : -b.im;
    return lsp_same_number(a.re, re) && lsp_same_number(a.im, im);
}

/* Entry by entry with the transpose. S: A with sorted rows; T: its transpose. */
static lsp_status compare_mirrors(lsp_ctx *ctx, const lsp_csr *S, const lsp_csr *T, lsp_symmetry symmetry) {
    static const char *const names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    lsp_status status = LSP_OK;
    for (int64_t i = 0; i < S->rows; i++) {
        int64_t s = lsp_csr_rowptr(S, i), s_end = lsp_csr_rowptr(S, i + 1);
        int64_t t = lsp_csr_rowptr(T, i), t_end = lsp_csr_rowptr(T, i + 1);
        for (; s < s_end || t < t_end; s++, t++) {
            int64_t a = s < s_end ? lsp_csr_col(S, s) : INT64_MAX, b = t < t_end ? lsp_csr_col(T, t) : INT64_MAX;
            LSP_REQUIRE(a == b, LSP_ERR_ARGUMENT,
                        "the matrix is not %s: the entry at row %lld, column %lld has no mirror", names[symmetry],
                        (long long)(a < b ? i : b) + 1, (long long)(a < b ? a : i) + 1);
            LSP_REQUIRE(S->val_type == LSP_NONE || mirrors(symmetry, lsp_value_at(S, s), lsp_value_at(T, t)),
                        LSP_ERR_ARGUMENT, "the matrix is not %s: the entry at row %lld, column %lld disagrees with %s",
                        names[symmetry], (long long)i + 1, (long long)a + 1, a == i ? "itself" : "its mirror");
        }
    }
done:
    return status;
}

/* Is A what `symmetry` says? Counts the entries at and below the diagonal. */
static lsp_status check_symmetry(lsp_ctx *ctx, writing *work) {
    lsp_status status = LSP_OK;
    const lsp_csr *A = work->A;
    lsp_csr S = {0}, T = {0};
    LSP_REQUIRE(A->rows == A->cols, LSP_ERR_ARGUMENT, "a matrix of %lld rows and %lld columns is not symmetric",
                (long long)A->rows, (long long)A->cols);
    LSP_REQUIRE(work->symmetry != LSP_SKEW || A->val_type != LSP_NONE, LSP_ERR_ARGUMENT,
                "a pattern cannot be skew-symmetric");
    LSP_REQUIRE(work->symmetry != LSP_HERMITIAN || A->val_type == LSP_C64, LSP_ERR_ARGUMENT,
                "only a complex matrix can be written as hermitian");
    bool sorted = lsp_csr_first_unsorted(ctx, A, false) == A->rows;
    if (!sorted) {
        LSP_TRY(lsp_csr_copy(ctx, A, NULL, &S));
        LSP_TRY(lsp_csr_sort_rows(ctx, &S));
    }
    LSP_TRY(lsp_csr_transpose(ctx, A, &T));
    LSP_TRY(compare_mirrors(ctx, sorted ? A : &S, &T, work->symmetry));
    work->entries = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            work->entries += lsp_csr_col(A, k) <= i;
        }
    }
done:
    lsp_csr_free(ctx, &S);
    lsp_csr_free(ctx, &T);
    return status;
}

/* The row pointers of a matrix on the GPU come to the host; its entries stay. */
static lsp_status bring_rows(lsp_ctx *ctx, lsp_csr *A) {
    lsp_status status = LSP_OK;
    const int64_t bytes = (A->rows + 1) * (int64_t)lsp_type_bytes(A->rowptr_type);
    const void *there = A->rowptr;
    if (A->where == LSP_CUDA) {
        LSP_TRY(lsp_scratch_bytes(ctx, bytes, 1, false, &A->rowptr));
        LSP_TRY(lsp_cuda_copy(ctx, A->rowptr, LSP_HOST, there, LSP_CUDA, bytes));
    }
done:
    return status;
}

lsp_status lsp_mtx_write(lsp_ctx *ctx, const char *path, const lsp_csr *A, const lsp_mtx_write_options *options) {
    lsp_status status = LSP_OK;
    if (!ctx) {
        return LSP_ERR_ARGUMENT;
    }
    size_t mark = lsp_scratch_mark(ctx);
    lsp_mtx_sink sink = {.fd = -1};
    lsp_csr here = {0}, copy = {0};
    const lsp_symmetry symmetry = options ? options->symmetry : LSP_GENERAL;
    LSP_REQUIRE(path && *path, LSP_ERR_ARGUMENT, "the path is %s", path ? "empty" : "NULL");
    LSP_TRY(lsp_csr_check_there(ctx, "A", A));
    LSP_REQUIRE((int)symmetry >= LSP_GENERAL && (int)symmetry <= LSP_HERMITIAN, LSP_ERR_ARGUMENT, "%d is no symmetry",
                (int)symmetry);
    if (symmetry != LSP_GENERAL && A->where == LSP_CUDA) { /* is compared with its transpose on the host */
        LSP_TRY(lsp_csr_copy(ctx, A, &(lsp_csr_types){A->rowptr_type, A->col_type, 0, false, LSP_HOST}, &copy));
    }
    here = copy.rowptr ? copy : *A;
    LSP_TRY(bring_rows(ctx, &here));
    writing work = {.A = &here, .symmetry = symmetry, .entries = here.nnz};
    if (symmetry != LSP_GENERAL) {
        LSP_TRY(check_symmetry(ctx, &work));
    }
    LSP_TRY(lsp_mtx_sink_open(ctx, path, &sink));
    LSP_TRY(write_header(&here, symmetry, work.entries, options ? options->comment : NULL, &sink));
    LSP_TRY(write_entries(ctx, &work, &sink));
    LSP_TRY(lsp_mtx_sink_finish(&sink));
done:
    lsp_mtx_sink_drop(&sink);
    lsp_csr_free(ctx, &copy);
    lsp_scratch_release(ctx, mark);
    return status;
}

/* ---- a matrix that comes in blocks of rows ---- */

lsp_status lsp_mtx_rows_open(lsp_ctx *ctx, const char *path, const lsp_csr *sizes, const char *comment,
                             lsp_mtx_sink *sink) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(path && *path, LSP_ERR_ARGUMENT, "the path is %s", path ? "empty" : "NULL");
    LSP_TRY(lsp_mtx_sink_open(ctx, path, sink));
    LSP_TRY(write_header(sizes, LSP_GENERAL, sizes->nnz, comment, sink));
done:
    return status;
}

lsp_status lsp_mtx_rows_put(lsp_ctx *ctx, int64_t first_row, const lsp_csr *rows, lsp_mtx_sink *sink) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    lsp_csr here = *rows;
    LSP_TRY(bring_rows(ctx, &here));
    writing work = {.A = &here, .first_row = first_row, .symmetry = LSP_GENERAL, .entries = here.nnz};
    LSP_TRY(write_entries(ctx, &work, sink));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
