/* LSP_SPMV_DIAGONALS and LSP_SPMV_BLOCKS on the CPU: plans and products. Threads own consecutive slices with equal
 * numbers of diagonals; the values are first written by the threads that later read them. */
#include "diagonals.h"
#include "cache_model/cache_model.h"
#include "core/isa.h"

enum { WORTH_A_THREAD = 1 << 9, COUNT_SLICES = 256 }; /* diagonals; slices that a thread counts at a time */

#define PICK(ctx, f) LSP_ISA_PICK((ctx)->isa, lsp_diagonals_##f)

/* ---- counting ---- */

typedef void (*build_slices)(lsp_diagonals_build *build, int64_t begin, int64_t end);

typedef struct counting {
    lsp_diagonals_build build;
    build_slices count;
    int64_t slices;
} counting;

static void count_part(void *data, int64_t part, int thread) {
    counting *c = data;
    (void)thread;
    c->count(&c->build, part * COUNT_SLICES, lsp_min((part + 1) * COUNT_SLICES, c->slices));
}

static void count(lsp_ctx *ctx, counting *c) {
    const int64_t parts = lsp_ceil_div(c->slices, COUNT_SLICES);
    c->count = PICK(ctx, count);
    lsp_for_parts(ctx, parts, (int)lsp_min(parts, ctx->options.threads), count_part, c);
}

/* Entries stored with b x b blocks; 0: not offered. */
static int64_t count_slots(lsp_ctx *ctx, const lsp_csr *A, int b) {
    counting c = {.build = {.A = A, .block = b, .limit = lsp_diagonals_limit(A, b)},
                  .slices = lsp_diagonals_slices(A, b)};
    count(ctx, &c);
    return c.build.no_blocks || c.build.total > c.build.limit ? 0 : c.build.total * LSP_SPMV_SLICE * b * b;
}

lsp_status lsp_spmv_count_slots_cpu(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts) {
    bool found = false;
    facts->diagonal_slots = 0;
    for (int b = LSP_SPMV_LARGEST_BLOCK; b >= 0; b--) {
        facts->block_slots[b] = 0;
        if (b > 1 && !found && lsp_spmv_blocks_fits(ctx, job) && lsp_diagonals_may_have_blocks(&job->A, b)) {
            facts->block_slots[b] = count_slots(ctx, &job->A, b);
            found = facts->block_slots[b] > 0;
        }
    }
    if (!found && lsp_spmv_diagonals_fits(ctx, job)) {
        facts->diagonal_slots = count_slots(ctx, &job->A, 1);
    }
    return LSP_OK;
}

/* ---- sharing ---- */

typedef struct shared {
    const lsp_diagonals *D;
    int parts;
    build_slices do_slices; /* or, if NULL: */
    void (*multiply)(const lsp_diagonals_product *product, int64_t begin, int64_t end);
    void *data; /* the first argument of either */
} shared;

/* The first slice of a share: that in which its first diagonal lies. Diagonals and slices count alike, so that empty
 * slices cost something. */
static int64_t first_slice(const lsp_diagonals *D, int part, int parts) {
    int64_t low = 0, high = D->slices, begin, end;
    lsp_share(D->count + D->slices, part, parts, &begin, &end);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (D->first[middle] + middle < begin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void do_share(void *data, int64_t part, int thread) {
    const shared *s = data;
    const int64_t begin = first_slice(s->D, (int)part, s->parts);
    const int64_t end = part + 1 == s->parts ? s->D->slices : first_slice(s->D, (int)part + 1, s->parts);
    (void)thread;
    if (s->do_slices) {
        s->do_slices(s->data, begin, end);
    } else {
        s->multiply(s->data, begin, end);
    }
}

static void share_slices(lsp_ctx *ctx, shared *s) {
    const int64_t work = s->D->count * s->D->block * s->D->block + s->D->slices;
    s->parts = lsp_threads_for(ctx, work, WORTH_A_THREAD);
    lsp_for_parts(ctx, s->parts, s->parts, do_share, s);
}

/* ---- the engine ---- */

static void fill(lsp_spmv_plan *plan) {
    lsp_diagonals_build build = {.A = &plan->job.A, .D = plan->parts};
    shared s = {.D = plan->parts, .do_slices = PICK(plan->ctx, fill), .data = &build};
    share_slices(plan->ctx, &s);
}

static lsp_status prepare(lsp_spmv_plan *plan) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_diagonals *D = NULL;
    LSP_TRY(lsp_spmv_diagonals_begin(plan, &D));
    counting c = {.build = {.A = &plan->job.A, .D = D, .block = D->block, .limit = INT64_MAX}, .slices = D->slices};
    count(ctx, &c);
    if (c.build.no_blocks) {
        return lsp_spmv_diagonals_no_blocks(ctx, D->block);
    }
    lsp_prefix_sum(ctx, D->first, D->slices);
    D->count = c.build.total;
    LSP_TRY(lsp_spmv_diagonals_allocate(plan));
    const lsp_cache_figures *figures;
    LSP_TRY(lsp_cache_figures_of(ctx, &figures));
    D->streams = (double)plan->info.plan_bytes > 4 * figures->cache_bytes;
    shared s = {.D = D, .do_slices = PICK(ctx, place), .data = &c.build};
    share_slices(ctx, &s);
    fill(plan);
done:
    return status;
}

static lsp_status update(lsp_spmv_plan *plan) {
    if (plan->job.A.val_type != LSP_NONE) {
        fill(plan);
    }
    return LSP_OK;
}

static double factor(const lsp_spmv_job *job, const void *at, double value) {
    return !at ? value : job->options.type == LSP_F32 ? (double)*(const float *)at : *(const double *)at;
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    const lsp_spmv_vectors *v = &job->vectors;
    const bool by_columns = job->options.by_columns;
    lsp_diagonals_product product = {.A = &job->A,
                                     .D = parts,
                                     .vectors = v,
                                     .alpha = factor(job, v->alpha_at, v->alpha),
                                     .beta = factor(job, v->beta_at, v->beta),
                                     .type = job->options.type,
                                     .count = job->options.vectors,
                                     .x_row = by_columns ? 1 : v->x_stride,
                                     .x_vector = by_columns ? v->x_stride : 1,
                                     .y_row = by_columns ? 1 : v->y_stride,
                                     .y_vector = by_columns ? v->y_stride : 1};
    shared s = {.D = parts, .multiply = PICK(ctx, product), .data = &product};
    share_slices(ctx, &s);
    return LSP_OK;
}

const lsp_spmv_engine lsp_spmv_diagonals_cpu = {.fits = lsp_spmv_diagonals_fits,
                                                .prepare = prepare,
                                                .run = run,
                                                .update = update,
                                                .release = lsp_spmv_diagonals_release};
const lsp_spmv_engine lsp_spmv_blocks_cpu = {.fits = lsp_spmv_blocks_fits,
                                             .prepare = prepare,
                                             .run = run,
                                             .update = update,
                                             .release = lsp_spmv_diagonals_release};
