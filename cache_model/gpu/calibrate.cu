/* The figures of a GPU: random reads, writes and writes of whole sectors by footprint, a long copy, the time to start a
 * kernel. Each measurement is the fastest of a few; each is long, so that the host's clock is exact enough. */
#include "cache_model/cache_model.h"
#include "core/launch.cuh"
#include <math.h>

enum { NT = 256, SM_BLOCKS = 8, IN_FLIGHT = 8, RUNS = 3, STARTS = 500, READS, WRITES, WRITES32 };
static const double most_bytes = 4294967296.0, copy_bytes = 1073741824.0;
static const int64_t accesses = (int64_t)1 << 26;

/* A random number below `count`, at most 2^32. */
__device__ static inline uint64_t next_below(uint64_t *state, uint64_t count) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 32) * count >> 32;
}

/* Each thread makes `each` accesses, IN_FLIGHT of them at once. WRITES32: two lanes write the halves of a sector. */
template <int KIND>
__global__ static void __launch_bounds__(NT) accesses_kernel(uint64_t *array, int64_t bytes, int each) {
    const uint64_t thread = (uint64_t)blockIdx.x * NT + threadIdx.x;
    uint64_t state = (KIND == WRITES32 ? thread / 2 + 1 : thread + 1) * 0x9E3779B97F4A7C15u, sum = 0;
    state ^= state >> 29;
    for (int i = 0; i < each; i += IN_FLIGHT) {
        uint64_t loaded[IN_FLIGHT];
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++) {
            if (KIND == WRITES32) {
                ulonglong2 *half = (ulonglong2 *)array + 2 * next_below(&state, (uint64_t)bytes / 32) + thread % 2;
                *half = make_ulonglong2(thread, (uint64_t)i);
            } else if (KIND == WRITES) {
                array[next_below(&state, (uint64_t)bytes / 8)] = thread;
            } else {
                loaded[k] = array[next_below(&state, (uint64_t)bytes / 8)];
            }
        }
        for (int k = 0; KIND == READS && k < IN_FLIGHT; k++) {
            sum += loaded[k];
        }
    }
    if (KIND == READS && sum == 0x123456789ABCDEFu) { /* never so: keeps the loads */
        array[0] = sum;
    }
}

__global__ static void __launch_bounds__(NT) fill_kernel(uint64_t *array, int64_t count) {
    EACH_ITEM(i, count, NT) { array[i] = 1; }
}

__global__ static void nothing_kernel(int unused) { (void)unused; }

typedef struct race {
    uint64_t *array, *copy;
    int64_t bytes;
    int kind, each;
    int64_t blocks;
} race;

static lsp_status start(lsp_ctx *ctx, const race *r) {
    switch (r->kind) {
    case READS:
        return LSP_LAUNCH(ctx, accesses_kernel<READS>, r->blocks, NT, 0, r->array, r->bytes, r->each);
    case WRITES:
        return LSP_LAUNCH(ctx, accesses_kernel<WRITES>, r->blocks, NT, 0, r->array, r->bytes, r->each);
    case WRITES32:
        return LSP_LAUNCH(ctx, accesses_kernel<WRITES32>, r->blocks, NT, 0, r->array, r->bytes, r->each);
    default:
        return lsp_cuda_copy(ctx, r->copy, LSP_CUDA, r->array, LSP_CUDA, r->bytes);
    }
}

/* The fastest of RUNS, after one that fills the cache. */
static lsp_status fastest_of(lsp_ctx *ctx, const race *r, double *seconds) {
    *seconds = HUGE_VAL;
    for (int i = 0; i <= RUNS; i++) {
        LSP_TRY(lsp_ctx_sync(ctx));
        const double begin = lsp_now();
        LSP_TRY(start(ctx, r));
        LSP_TRY(lsp_ctx_sync(ctx));
        *seconds = i > 0 ? fmin(*seconds, fmax(lsp_now() - begin, 1e-9)) : *seconds;
    }
    return LSP_OK;
}

static lsp_status rate_of(lsp_ctx *ctx, race *r, int kind, double bytes, double *rate) {
    double seconds;
    r->kind = kind;
    r->bytes = (int64_t)bytes / 32 * 32;
    r->blocks = (int64_t)SM_BLOCKS * lsp_cuda_get_chip(ctx)->sms;
    r->each = (int)(accesses / (r->blocks * NT) / IN_FLIGHT * IN_FLIGHT);
    LSP_TRY(fastest_of(ctx, r, &seconds));
    *rate = (double)r->blocks * NT * r->each / (kind == WRITES32 ? 2 : 1) / seconds;
    return LSP_OK;
}

static lsp_status start_seconds_of(lsp_ctx *ctx, double *seconds) {
    *seconds = HUGE_VAL;
    for (int run = 0; run < RUNS; run++) {
        LSP_TRY(lsp_ctx_sync(ctx));
        const double begin = lsp_now();
        for (int i = 0; i < STARTS; i++) {
            LSP_TRY(LSP_LAUNCH(ctx, nothing_kernel, 1, 32, 0, i));
        }
        LSP_TRY(lsp_ctx_sync(ctx));
        *seconds = fmin(*seconds, (lsp_now() - begin) / STARTS);
    }
    return LSP_OK;
}

lsp_status lsp_cache_calibrate_cuda(lsp_ctx *ctx, lsp_cache_figures *f) {
    LSP_SCRATCH_SCOPE(ctx);
    race r = {};
    double seconds;
    const double most = fmin(most_bytes, (double)lsp_available_bytes(ctx, LSP_CUDA) / 8);
    lsp_cache_set_footprints(f, most);
    const double copied = fmin(copy_bytes, most);
    const int64_t count = (int64_t)(fmax(f->footprint[f->points - 1], copied) / 8);
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, count, 8, (void **)&r.array));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, (int64_t)(copied / 8), 8, (void **)&r.copy));
    LSP_TRY(LSP_LAUNCH(ctx, fill_kernel, lsp_blocks_for(ctx, count, NT, SM_BLOCKS), NT, 0, r.array, count));
    LSP_TRY(start_seconds_of(ctx, &f->start_seconds));
    r.kind = 0;
    r.bytes = (int64_t)copied / 8 * 8;
    LSP_TRY(fastest_of(ctx, &r, &seconds));
    f->copy_rate = 2 * (double)r.bytes / seconds;
    for (int i = 0; i < f->points; i++) {
        LSP_TRY(rate_of(ctx, &r, READS, f->footprint[i], &f->reads[i]));
        LSP_TRY(rate_of(ctx, &r, WRITES, f->footprint[i], &f->writes[i]));
        LSP_TRY(rate_of(ctx, &r, WRITES32, f->footprint[i], &f->writes32[i]));
    }
    return LSP_OK;
}
