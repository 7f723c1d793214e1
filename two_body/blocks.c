/* Counts of points that do not fit the GPU's memory, or the budget. They stay on the host and are cut into blocks; each
 * pair of blocks is a job of its own, and counts are added up. From one pair to the next one block changes: it is
 * copied to a third place while the GPU works on the pair before. */
#include "core/cuda.h"
#include "two_body.h"
#include <stdio.h>

enum { LEAST_BLOCK = 256, MOST_BLOCK = 1 << 24, PLACES = 3 }; /* points; blocks on the GPU */

typedef struct procession {
    const lsp_pair_job *job; /* of all points */
    int64_t side, count[2];  /* points of a block, blocks of each set */
    lsp_points place[PLACES];
    int at[2];                 /* the places of the pair's two blocks */
    int64_t pair[2], after[2]; /* the pair at hand and the next one: numbers of blocks */
    bool brought;              /* is the block that the next pair needs on the GPU? */
} procession;

/* A point's bytes on the GPU: its coordinates, and what the verbs make of it: places, sorted too, keys, numbers. */
static int64_t brought_bytes(const lsp_pair_job *job) {
    return job->metric.dimensions * (int64_t)lsp_type_bytes(job->type);
}
static int64_t made_bytes(const lsp_pair_job *job) { return 2 * brought_bytes(job) + 64; }

static int64_t room_for_points(lsp_ctx *ctx, int64_t results) {
    return lsp_available_bytes(ctx, LSP_CUDA) - results * (int64_t)sizeof(uint64_t) - (1 << 16);
}

int64_t lsp_pair_block_points(lsp_ctx *ctx, const lsp_pair_job *job, int64_t results) {
    const int64_t n = job->sets[0].n, m = job->sets[1].n, points = n + (job->self ? 0 : m);
    const int64_t bytes = points * (brought_bytes(job) + made_bytes(job));
    const bool blocks = ctx->options.device == LSP_CUDA && job->where == LSP_HOST && n > 0 && m > 0 &&
                        points > LEAST_BLOCK && (ctx->options.max_bytes > 0 || bytes > 1 << 30) &&
                        bytes > room_for_points(ctx, results);
    if (!blocks) {
        return INT32_MAX;
    }
    const int64_t fit = room_for_points(ctx, results) / (PLACES * brought_bytes(job) + 2 * made_bytes(job));
    return lsp_min(lsp_max(fit, LEAST_BLOCK), MOST_BLOCK);
}

/* Powers of two, so that GPUs with a little more or less free memory cut alike. */
static int64_t even_side(int64_t side) { return (int64_t)1 << (lsp_bits((uint64_t)side) - 1); }

static lsp_status bring(lsp_ctx *ctx, procession *p, int set, int64_t number, int place) {
    const lsp_points *points = &p->job->sets[set];
    const int64_t first = number * p->side;
    const lsp_points block = lsp_points_between(points, first, lsp_min(first + p->side, points->n));
    p->place[place].n = block.n;
    return lsp_pair_cuda.bring(ctx, &block, &p->place[place]);
}

/* Along the rows of a square, there and back; along those above the diagonal for one set. */
static void find_next(procession *p) {
    const int64_t row = p->pair[0], col = p->pair[1];
    const int64_t to = p->job->self || row % 2 == 0 ? col + 1 : col - 1;
    const bool along = to >= 0 && to < p->count[1];
    p->after[0] = along ? row : row + 1;
    p->after[1] = along ? to : p->job->self ? row + 1 : col;
    p->brought = p->after[0] == p->count[0];
}

static int spare_place(const procession *p) {
    int place = 0;
    while (place == p->at[0] || place == p->at[1]) {
        place++;
    }
    return place;
}

static lsp_status bring_next(lsp_ctx *ctx, void *data) {
    procession *p = data;
    const int set = p->after[0] == p->pair[0];
    const bool need = !p->brought;
    p->brought = true;
    return need ? bring(ctx, p, set, p->after[set], spare_place(p)) : LSP_OK;
}

static void go_on(procession *p) {
    const int place = spare_place(p), set = p->after[0] == p->pair[0];
    p->at[set] = place;
    if (p->job->self && set == 0) {
        p->at[1] = place;
    }
    memcpy(p->pair, p->after, sizeof p->pair);
}

/* A number made of all that the cut into shares depends on. side: points of a block. */
static int64_t cut_of(lsp_ctx *ctx, const lsp_pair_job *job, int64_t side) {
    const lsp_cuda_chip *chip = ctx->options.device == LSP_CUDA ? lsp_cuda_get_chip(ctx) : NULL;
    const lsp_pair_grid *grid = &job->grid;
    const int64_t facts[] = {chip ? (int64_t)chip->sms << 32 | chip->shared_sm_bytes : (int64_t)ctx->isa,
                             job->info.method,
                             job->parts,
                             side,
                             job->sets[0].n,
                             job->sets[1].n,
                             grid->reach[0],
                             grid->cells[0],
                             grid->cells[1],
                             grid->cells[2]};
    uint64_t cut = 1;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        cut = (cut ^ (uint64_t)facts[i]) * 0x9E3779B97F4A7C15u;
        cut ^= cut >> 29;
    }
    return job->parts > 1 ? (int64_t)(cut >> 1 | 1) : 0;
}

/* Counts of a job without blocks, or of a pair of blocks. */
static lsp_status tally(lsp_ctx *ctx, lsp_pair_job *job, const lsp_pair_tally *t, int64_t side, uint64_t *counts) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_pair_device *device = lsp_pair_device_of(ctx);
    job->info.cut = cut_of(ctx, job, side);
    LSP_TRY(lsp_pair_load(ctx, job, job->info.method == LSP_PAIR_GRID));
    return t->limits != NULL ? device->count(ctx, job, t->limits, t->n, counts)
                             : device->histogram(ctx, job, t->scale, t->n, counts);
}

static lsp_status open_places(lsp_ctx *ctx, procession *p) {
    for (int i = 0; i < PLACES; i++) {
        p->place[i] = p->job->sets[0];
        p->place[i].stride = 1, p->place[i].where = LSP_CUDA;
        for (int k = 0; k < p->job->metric.dimensions; k++) {
            void *memory;
            LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, p->side, lsp_type_bytes(p->job->type), &memory));
            p->place[i].at[k] = memory;
        }
    }
    LSP_TRY(lsp_cuda_wait(ctx)); /* memory belongs to the stream, and copies go beside it */
    return LSP_OK;
}

/* All pairs of blocks; counts are added to `sums`. */
static lsp_status do_blocks(lsp_ctx *ctx, procession *p, double radius, const lsp_pair_tally *t, uint64_t *one,
                            uint64_t *sums, lsp_pair_info *info) {
    LSP_TRY(open_places(ctx, p));
    LSP_TRY(bring(ctx, p, 0, 0, 0));
    if (!p->job->self) {
        p->at[1] = 1;
        LSP_TRY(bring(ctx, p, 1, 0, 1));
    }
    for (bool first = true; p->pair[0] < p->count[0]; first = false) {
        lsp_pair_job part = *p->job;
        part.self = part.self && p->pair[0] == p->pair[1];
        part.sets[0] = p->place[p->at[0]], part.sets[1] = p->place[p->at[1]];
        part.meanwhile = bring_next, part.meanwhile_data = p;
        find_next(p);
        const lsp_status status = lsp_pair_prepare(ctx, &part, radius);
        if (status == LSP_ERR_ARGUMENT) { /* a coordinate, whose number is that of its block: look at all points */
            lsp_pair_job all = *p->job;
            LSP_TRY(lsp_pair_inspect(ctx, &lsp_pair_cpu, &all));
        }
        LSP_TRY(status);
        LSP_TRY(tally(ctx, &part, t, p->side, one));
        LSP_TRY(bring_next(ctx, p));
        for (int64_t i = 0; i < t->n; i++) {
            sums[i] += one[i];
        }
        if (first) {
            *info = part.info;
            snprintf(info->reason, sizeof info->reason, "%lld x %lld blocks of %lld points; of the first: %.80s",
                     (long long)p->count[0], (long long)p->count[1], (long long)p->side, part.info.reason);
        } else {
            info->tested += part.info.tested;
        }
        go_on(p);
    }
    return LSP_OK;
}

lsp_status lsp_pair_tally_all(lsp_ctx *ctx, lsp_pair_job *job, double radius, const lsp_pair_tally *t,
                              uint64_t *counts) {
    lsp_status status = LSP_OK;
    uint64_t *one, *sums;
    int64_t side = lsp_pair_block_points(ctx, job, t->n);
    if (side == INT32_MAX) {
        LSP_TRY(lsp_pair_prepare(ctx, job, radius));
        return tally(ctx, job, t, side, counts);
    }
    LSP_TRY(LSP_SCRATCH(ctx, t->n, &one));
    LSP_TRY(LSP_SCRATCH(ctx, t->n, &sums));
    const int64_t most = lsp_max(job->sets[0].n, job->sets[1].n);
    side = job->parts > 1 ? even_side(side) : side;
    do { /* less memory may be there than it seems */
        LSP_SCRATCH_SCOPE(ctx);
        procession p = {.job = job, .side = job->parts > 1 ? side : lsp_ceil_div(most, lsp_ceil_div(most, side))};
        for (int s = 0; s < 2; s++) {
            p.count[s] = lsp_ceil_div(job->sets[s].n, p.side);
        }
        memset(sums, 0, (size_t)t->n * sizeof *sums);
        status = do_blocks(ctx, &p, radius, t, one, sums, &job->info);
        side /= 2;
    } while (status == LSP_ERR_MEMORY && side >= LEAST_BLOCK);
    LSP_TRY(status);
    memcpy(counts, sums, (size_t)t->n * sizeof *sums);
    return LSP_OK;
}
