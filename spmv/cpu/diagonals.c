/* LSP_SPMV_DIAGONALS and LSP_SPMV_BLOCKS on the CPU: counts, plans and products. Threads own consecutive slices with
 * equal numbers of diagonals; the values are first written by the threads that later read them. */
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

static lsp_status count(lsp_ctx *ctx, const lsp_csr *A, lsp_diagonals_found *found, int64_t *first) {
    for (int b = LSP_SPMV_LARGEST_BLOCK; b >= 1; b--) {
        if (found[b].limit == 0) {
            continue;
        }
        counting c = {.build = {.A = A, .block = b, .first = first, .found = &found[b]},
                      .count = PICK(ctx, count),
                      .slices = lsp_diagonals_slices(A, b)};
        const int64_t parts = lsp_ceil_div(c.slices, COUNT_SLICES);
        lsp_for_parts(ctx, parts, (int)lsp_min(parts, ctx->options.threads), count_part, &c);
        if (first != NULL) {
            lsp_prefix_sum(ctx, first, c.slices);
        }
        if (!found[b].no_blocks && found[b].total <= found[b].limit) {
            break;
        }
    }
    return LSP_OK;
}

/* ---- sharing ---- */

typedef struct shared {
    const lsp_diagonals *D;
    int parts;
    build_slices build; /* or, if NULL: */
    void (*multiply)(const lsp_diagonals_product *product, int64_t begin, int64_t end);
    void *data; /* the first argument of either */
} shared;

/* The first slice of a share: that in which its first diagonal lies. Diagonals and slices count alike, so that empty
 * slices cost something. */
static int64_t first_slice(const lsp_diagonals *D, int part, int parts) {
    int64_t begin, end;
    lsp_share(D->count + D->slices, part, parts, &begin, &end);
    return lsp_spmv_first_at(D->first, LSP_I64, D->slices, begin);
}

static void do_share(void *data, int64_t part, int thread) {
    const shared *s = data;
    const int64_t begin = first_slice(s->D, (int)part, s->parts);
    const int64_t end = part + 1 == s->parts ? s->D->slices : first_slice(s->D, (int)part + 1, s->parts);
    (void)thread;
    if (s->build) {
        s->build(s->data, begin, end);
    } else {
        s->multiply(s->data, begin, end);
    }
}

static void share_slices(lsp_ctx *ctx, shared *s) {
    const int64_t work = s->D->count * s->D->block * s->D->block + s->D->slices;
    s->parts = lsp_threads_for(ctx, work, WORTH_A_THREAD);
    lsp_for_parts(ctx, s->parts, s->parts, do_share, s);
}

/* ---- plans and products ---- */

static lsp_status fill(lsp_ctx *ctx, const lsp_csr *A, const lsp_diagonals *D, bool places) {
    lsp_diagonals_build build = {.A = A, .D = D, .block = D->block};
    shared s = {.D = D, .build = PICK(ctx, place), .data = &build};
    if (places) {
        share_slices(ctx, &s);
    }
    if (A->val_type != LSP_NONE) {
        s.build = PICK(ctx, fill);
        share_slices(ctx, &s);
    }
    return LSP_OK;
}

static lsp_status multiply(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_diagonals *D) {
    const lsp_spmv_vectors *v = &job->vectors;
    const bool by_columns = job->options.by_columns;
    lsp_diagonals_product product = {.A = &job->A,
                                     .D = D,
                                     .vectors = v,
                                     .type = job->options.type,
                                     .count = job->options.vectors,
                                     .x_row = by_columns ? 1 : v->x_stride,
                                     .x_vector = by_columns ? v->x_stride : 1,
                                     .y_row = by_columns ? 1 : v->y_stride,
                                     .y_vector = by_columns ? v->y_stride : 1};
    shared s = {.D = D, .multiply = PICK(ctx, product), .data = &product};
    share_slices(ctx, &s);
    return LSP_OK;
}

const lsp_diagonals_device lsp_diagonals_cpu = {count, fill, multiply};
