/* LSP_SPMV_PROPAGATE on the CPU: the staged gather of x by column, whose second loop brings a bin of elements into the
 * core's cache and multiplies and sums its rows there. Bins are equal numbers of entries, so a row may go on in the
 * next bins; its parts are added at the end. Nothing depends on the number of threads. */
#include "core/vector.h"
#include "cpu.h"
#include "gather_scatter/cpu/cpu.h"
#include "matrices/matrices.h"
#include "spmv/bodies.h"
#include "spmv/gather.h"
#include <stdio.h>

typedef struct propagation {
    lsp_gather_job gather; /* x by column; without columns, and its index must not be followed after the plan is made */
    lsp_stage stage;
    int64_t bins, nnz;
    int64_t filled;      /* rows from this one on begin behind the last entry */
    lsp_spmv_bin *bin;   /* bins + 1 */
    uint16_t *row_begin; /* of each row: where it begins in its bin */
    uint16_t *place;     /* of each entry: where its element of x is in the bin, whose elements come in runs */
    void *val;           /* NULL: all are 1 */
    void *head, *tail;   /* of each bin, sums of the row that comes from earlier bins, and of the one that goes on */
} propagation;

static int64_t bin_count(const propagation *p, int64_t bin) {
    return lsp_min(p->stage.bin_items, p->nnz - bin * p->stage.bin_items);
}

/* ---- making ---- */

static lsp_gather_job gather_of(const lsp_spmv_job *job) {
    lsp_gather_job gather = {.planned = true, .most_bytes = lsp_type_bytes(job->options.type)};
    gather.args.n = job->A.nnz;
    gather.args.extent = job->A.cols;
    gather.args.index = job->A.col;
    gather.args.index_type = job->A.col_type;
    return gather;
}

static bool fits(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_why *why) {
    const lsp_gather_job gather = gather_of(job);
    (void)ctx;
    snprintf(why->text, sizeof why->text, "takes fewer than %lld columns for %lld entries", (long long)job->A.cols,
             (long long)job->A.nnz);
    return job->A.nnz == 0 || lsp_gather_stage_fits(&gather);
}

static void invert_places(void *data, int64_t bin, int thread) {
    const propagation *p = data;
    const int64_t first = bin * p->stage.bin_items;
    (void)thread;
    for (int64_t k = 0; k < bin_count(p, bin); k++) {
        p->place[first + p->stage.to_place[first + k]] = (uint16_t)k;
    }
}

static lsp_status update(lsp_spmv_plan *plan) {
    const propagation *p = plan->parts;
    const lsp_csr *A = &plan->job.A;
    return p->val != NULL ? lsp_convert_values(plan->ctx, LSP_HOST, A->val_type, p->val, A->val_type, A->val, p->nnz)
                          : LSP_OK;
}

static lsp_status prepare(lsp_spmv_plan *plan) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_csr *A = &plan->job.A;
    const size_t bytes = lsp_type_bytes(plan->job.options.type);
    const int64_t items = plan->sizes.entries; /* 0: the stage chooses */
    propagation *p = NULL;
    LSP_TRY(lsp_spmv_make_parts(plan, sizeof *p, (void **)&p));
    *p = (propagation){.gather = gather_of(&plan->job), .nnz = A->nnz, .bins = 1};
    p->stage.bin_items = items > 0 ? items : 1;
    if (A->nnz > 0) {
        p->stage.bin_items = items;
        LSP_TRY(lsp_gather_stage_make(ctx, &p->gather, &p->stage));
        p->bins = p->stage.bins;
    }
    LSP_TRY(lsp_spmv_hold(plan, p->bins + 1, sizeof *p->bin, (void **)&p->bin));
    LSP_TRY(lsp_spmv_hold(plan, A->rows, sizeof *p->row_begin, (void **)&p->row_begin));
    LSP_TRY(lsp_spmv_hold(plan, p->bins, bytes, &p->head));
    LSP_TRY(lsp_spmv_hold(plan, p->bins, bytes, &p->tail));
    LSP_TRY(lsp_spmv_hold(plan, A->nnz, lsp_type_bytes(A->val_type), &p->val));
    LSP_TRY(lsp_spmv_hold(plan, A->nnz, sizeof *p->place, (void **)&p->place));
    LSP_TRY(lsp_spmv_cut_rows(ctx, &(lsp_spmv_cutting){*A, p->bins, p->stage.bin_items, true, p->bin, p->row_begin}));
    p->filled = LSP_FIRST(0, A->rows, row, lsp_csr_rowptr(A, row) >= A->nnz);
    if (A->nnz > 0) {
        lsp_for_parts(ctx, p->bins, lsp_gather_threads(ctx, &p->gather), invert_places, p);
        lsp_free(ctx, p->stage.to_place); /* its inverse serves instead */
        p->stage.to_place = NULL;
    }
    LSP_TRY(update(plan));
    plan->info.stored_entries = A->nnz;
    return LSP_OK;
}

/* ---- a product ---- */

typedef struct running {
    const propagation *parts;
    const lsp_spmv_job *job;
    const lsp_column *column; /* from: x */
} running;

/* Rows of a bin. `staged`: what its entries need of x, in the order of runs. _join adds up the rows that go on in later
 * bins. `val_type` is a constant. */
#define ROWS(type, suffix)                                                                                             \
    ALWAYS type part_##suffix(lsp_type val_type, const void *val, const type *x, const uint16_t *place, int64_t begin, \
                              int64_t end) {                                                                           \
        type sum = 0;                                                                                                  \
        for (int64_t k = begin; k < end; k++) {                                                                        \
            sum += lsp_spmv_value_##suffix(val_type, val, k) * x[place[k]];                                            \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
    ALWAYS void do_rows_##suffix(lsp_type val_type, const running *r, int64_t bin, const type *x) {                    \
        const propagation *p = r->parts;                                                                               \
        const type alpha = (type)r->job->vectors.alpha, beta = (type)r->job->vectors.beta;                             \
        const int64_t first = p->bin[bin].row, all = p->bin[bin + 1].row - first, count = bin_count(p, bin);           \
        const int64_t rows = lsp_min(all, p->filled - first);                                                          \
        const uint16_t *begin = p->row_begin + first, *place = p->place + bin * p->stage.bin_items;                    \
        const int64_t step = r->job->y_row;                                                                            \
        type *y = lsp_spmv_y_##suffix(r->job, first, 0);                                                               \
        const void *val = (const char *)p->val + (size_t)(bin * p->stage.bin_items) * lsp_type_bytes(val_type);        \
        ((type *)p->head)[bin] = part_##suffix(val_type, val, x, place, 0, rows > 0 ? begin[0] : count);               \
        for (int64_t i = 0; i < rows; i++) {                                                                           \
            const type sum = part_##suffix(val_type, val, x, place, begin[i], i + 1 < rows ? begin[i + 1] : count);    \
            if (i == rows - 1 && p->bin[bin].reach > 0) {                                                              \
                ((type *)p->tail)[bin] = sum;                                                                          \
            } else {                                                                                                   \
                finish_##suffix(LSP_PLUS_TIMES, alpha, beta, sum, y + i * step);                                       \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t i = rows; i < all; i++) {                                                                         \
            finish_##suffix(LSP_PLUS_TIMES, alpha, beta, 0, y + i * step);                                             \
        }                                                                                                              \
    }                                                                                                                  \
    static void join_##suffix##_rows(const running *r) {                                                               \
        const propagation *p = r->parts;                                                                               \
        for (int64_t bin = 0; bin < p->bins; bin++) {                                                                  \
            if (p->bin[bin].reach > 0) {                                                                               \
                type sum = ((const type *)p->tail)[bin];                                                               \
                for (int64_t k = 1; k <= p->bin[bin].reach; k++) {                                                     \
                    sum += ((const type *)p->head)[bin + k];                                                           \
                }                                                                                                      \
                lsp_spmv_write_##suffix(r->job, p->bin[bin + 1].row - 1, 0, sum);                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
ROWS(float, f32)
ROWS(double, f64)

static void do_bin(void *data, int64_t bin, int thread) {
    const running *r = data;
    const propagation *p = r->parts;
    const lsp_type val_type = r->job->A.val_type;
    const void *x = p->nnz > 0 ? lsp_gather_stage_bin(&p->gather, &p->stage, r->column, bin, thread) : NULL;
    r->job->options.type == LSP_F32 ? LSP_SPMV_BY_VALUES(val_type, do_rows_f32, r, bin, x)
                                    : LSP_SPMV_BY_VALUES(val_type, do_rows_f64, r, bin, x);
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    LSP_SCRATCH_SCOPE(ctx);
    const propagation *p = parts;
    lsp_column column = {.bytes = lsp_type_bytes(job->options.type)};
    const running r = {.parts = p, .job = job, .column = &column};
    void *dense = NULL;
    if (job->x_row != 1) {
        LSP_TRY(lsp_scratch_bytes(ctx, job->A.cols, column.bytes, false, &dense));
    }
    LSP_TRY(lsp_spmv_dense_x(ctx, job, 0, dense, &column.from));
    if (p->nnz > 0) {
        lsp_gather_stage_read(ctx, &p->gather, &p->stage, &column);
    }
    lsp_for_parts(ctx, p->bins, lsp_gather_threads(ctx, &p->gather), do_bin, (void *)&r);
    (job->options.type == LSP_F32 ? join_f32_rows : join_f64_rows)(&r);
    return LSP_OK;
}

const lsp_spmv_engine lsp_spmv_propagate_cpu = {{.plus_times = true, .vectors = 1}, fits, prepare, run, update};
