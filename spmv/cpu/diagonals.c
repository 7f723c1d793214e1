/* LSP_SPMV_DIAGONALS and LSP_SPMV_BLOCKS on the CPU: counts, plans and products. Threads own consecutive slices with
 * equal numbers of diagonals; the values are first written by the threads that later read them. */
#include "cpu.h"

enum { WORTH_A_THREAD = 1 << 9, COUNT_SLICES = 256 }; /* diagonals; slices that a thread counts at a time */

#define PICK(ctx, f) LSP_ISA_PICK((ctx)->isa, lsp_diagonals_##f)

typedef struct sharing {
    const lsp_diagonals_work *work;
    lsp_diagonals_do *run;
    int64_t slices; /* of a count */
    int parts;      /* of a plan */
} sharing;

/* ---- counting ---- */

static void count_part(void *data, int64_t part, int thread) {
    const sharing *s = data;
    (void)thread;
    s->run(s->work, part * COUNT_SLICES, lsp_min((part + 1) * COUNT_SLICES, s->slices));
}

static lsp_status count(lsp_ctx *ctx, const lsp_csr *A, lsp_diagonals_found *found, int64_t *first) {
    for (int b = LSP_SPMV_LARGEST_BLOCK; b >= 1; b--) {
        const lsp_diagonals_work work = {.A = A, .block = b, .first = first, .found = &found[b]};
        sharing s = {.work = &work, .run = PICK(ctx, count), .slices = lsp_diagonals_slices(A, b)};
        const int64_t parts = lsp_ceil_div(s.slices, COUNT_SLICES);
        if (found[b].limit == 0) {
            continue;
        }
        lsp_for_parts(ctx, parts, (int)lsp_min(parts, ctx->options.threads), count_part, &s);
        if (first != NULL) {
            lsp_prefix_sum(ctx, first, s.slices);
        }
        if (lsp_diagonals_is_offered(&found[b])) {
            break;
        }
    }
    return LSP_OK;
}

/* ---- sharing ---- */

/* A share begins with the slice in which its first diagonal lies. Diagonals and slices count alike, so that empty
 * slices cost something. */
static int64_t first_slice(const lsp_diagonals *D, int64_t part, int parts) {
    int64_t begin, end;
    lsp_share(D->count + D->slices, (int)part, parts, &begin, &end);
    return part == parts ? D->slices : LSP_FIRST(0, D->slices, i, D->first[i] + i >= begin);
}
static void do_share(void *data, int64_t part, int thread) {
    const sharing *s = data;
    (void)thread;
    s->run(s->work, first_slice(s->work->D, part, s->parts), first_slice(s->work->D, part + 1, s->parts));
}

static void share_slices(lsp_ctx *ctx, const lsp_diagonals_work *work, lsp_diagonals_do *run) {
    const lsp_diagonals *D = work->D;
    const int threads = lsp_threads_for(ctx, D->count * D->block * D->block + D->slices, WORTH_A_THREAD);
    lsp_for_parts(ctx, threads, threads, do_share, &(sharing){.work = work, .run = run, .parts = threads});
}

/* ---- plans and products ---- */

static lsp_status fill(lsp_ctx *ctx, const lsp_csr *A, const lsp_diagonals *D, bool places) {
    const lsp_diagonals_work work = {.A = A, .D = D};
    if (places) {
        share_slices(ctx, &work, PICK(ctx, place));
    }
    if (A->val_type != LSP_NONE) {
        share_slices(ctx, &work, PICK(ctx, fill));
    }
    return LSP_OK;
}

static lsp_status multiply(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_diagonals *D) {
    share_slices(ctx, &(lsp_diagonals_work){.A = &job->A, .D = D, .job = job}, PICK(ctx, product));
    return LSP_OK;
}

const lsp_diagonals_device lsp_diagonals_cpu = {count, fill, multiply};
