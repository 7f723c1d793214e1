/* Pairs within one radius on the GPU: d2 and the limit are compared as integers, and carries are summed. Several radii
 * are a histogram (radii.cu). */
#include "boxes.cuh"
#include "near.cuh"

enum { COUNT_NT = 256, COUNT_SM_BLOCKS = 2 };

/* above += d2 > limit, by their bits: numbers that are not negative order as integers do. The carry of d2 + ~limit is
 * what a comparison would give, and two of them are added at once: 1.5 instructions a pair. */
#ifdef __CUDACC__
__device__ __forceinline__ void add_if_above(unsigned &above, float d2, float limit) {
    asm("{\n\t.reg .u32 sum;\n\tadd.cc.u32 sum, %1, %2;\n\taddc.u32 %0, %0, 0;\n\t}"
        : "+r"(above)
        : "r"(__float_as_uint(d2)), "r"(~__float_as_uint(limit)));
}
__device__ __forceinline__ void add_if_above(unsigned &above, double d2, double limit) {
    asm("{\n\t.reg .u32 sum;\n\tadd.cc.u32 sum, %1, %3;\n\taddc.cc.u32 sum, %2, %4;\n\taddc.u32 %0, %0, 0;\n\t}"
        : "+r"(above)
        : "r"(__double2loint(d2)), "r"(__double2hiint(d2)), "r"(~__double2loint(limit)), "r"(~__double2hiint(limit)));
}
#else
template <typename T> static inline void add_if_above(unsigned &above, T d2, T limit) { above += d2 > limit; }
#endif

/* Counts the pairs within. */
template <typename S> struct counting {
    typedef typename S::number number;
    static constexpr int ROWS = S::DIM <= 4 ? (sizeof(number) == 4 ? 8 : 4) : sizeof(number) == 4 ? 4 : 2;
    enum { GROUP = 4, UNROLL = sizeof(number) == 4 ? 2 : 1 };
    number limit;
    unsigned above[ROWS];
    ull within;

    __device__ explicit counting(number limit_) : limit(limit_), within(0) {
        for (int k = 0; k < ROWS; k++) {
            above[k] = 0;
        }
    }
    template <int N, bool MASKED> __device__ __forceinline__ void take(const number (&d2)[N], const bool (&in)[N]) {
#pragma unroll
        for (int p = 0; p < N; p++) {
            if (MASKED) {
                above[p % ROWS] += !in[p] || d2[p] > limit;
            } else {
                add_if_above(above[p % ROWS], d2[p], limit);
            }
        }
    }
    __device__ __forceinline__ void end_chunk(int64_t pairs) {
        within += (ull)pairs;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            within -= above[k];
            above[k] = 0;
        }
    }
    template <int G, bool MASKED>
    __device__ __forceinline__ void near(const number (&d2)[G], const bool (&in)[G], int) {
        take<G, MASKED>(d2, in);
        within += G;
    }
    __device__ __forceinline__ void begin_points(int) {}
    __device__ __forceinline__ void end_points() { end_chunk(0); }
    __device__ __forceinline__ bool settle(ull pairs, double low, double high) {
        within += high <= (double)limit ? pairs : 0;
        return high <= (double)limit || low > (double)limit;
    }
    __device__ void add_to(ull *count) {
        const ull sum = warp_sum(within);
        if (threadIdx.x % WARP == 0 && sum > 0) {
            atomicAdd(count, sum);
        }
    }
};

template <typename S>
static __global__ void __launch_bounds__(COUNT_NT)
    kernel_count(const __grid_constant__ lsp_metric metric, const __grid_constant__ pair_clouds clouds,
                 pair_tiles tiles, typename S::number limit, ull *count) {
    __shared__ __align__(16) typename S::place shared[S::DIM][CHUNK];
    counting<S> visit(limit);
    for (ull p = blockIdx.x; p < tiles.total; p += gridDim.x) {
        int64_t I, J;
        find_tile(tiles, clouds.self, p, &I, &J);
        visit_tile<S, counting<S>::ROWS, TEAM_BLOCK, CHUNK>(&metric, clouds, I, J, shared, visit);
    }
    visit.add_to(count);
}

template <typename S>
static __global__ void __launch_bounds__(NEAR_NT)
    kernel_count_near(const __grid_constant__ pair_walk walk, typename S::number limit, ull *count, ull *tested) {
    counting<S> visit(limit);
    visit_all_near<S, near_points<S>::count>(walk, visit, tested);
    visit.add_to(count);
}

template <typename S>
static __global__ void __launch_bounds__(COUNT_NT, COUNT_SM_BLOCKS)
    kernel_count_boxes(const __grid_constant__ pair_boxes boxes, typename S::number limit, ull *count) {
    constexpr int R = counting<S>::ROWS;
    __shared__ __align__(16) typename S::place shared[COUNT_NT / WARP][S::DIM][R * WARP];
    counting<S> visit(limit);
    visit_boxes<S, R>(boxes, shared[threadIdx.x / WARP], INT64_MAX, visit);
    visit.add_to(count);
}

template <typename S>
static lsp_status start_all(lsp_ctx *ctx, const lsp_pair_job *job, const pair_clouds *clouds, double limit,
                            ull *count) {
    const int nt = pair_threads(ctx, clouds, counting<S>::ROWS, COUNT_NT);
    const pair_tiles tiles = tiles_of(clouds, nt * counting<S>::ROWS);
    return tiles.total == 0 ? LSP_OK
                            : LSP_LAUNCH(ctx, kernel_count<S>, tiles.total < INT32_MAX ? tiles.total : INT32_MAX, nt, 0,
                                         job->metric, *clouds, tiles, (typename S::number)limit, count);
}

template <typename S>
static lsp_status start_near(lsp_ctx *ctx, const pair_walk *walk, double limit, ull *count, ull *tested) {
    const int64_t blocks = near_blocks(walk, near_points<S>::count);
    return blocks == 0 ? LSP_OK
                       : LSP_LAUNCH(ctx, kernel_count_near<S>, blocks, NEAR_NT, 0, *walk, (typename S::number)limit,
                                    count, tested);
}

template <typename S>
static lsp_status start_boxes(lsp_ctx *ctx, lsp_pair_job *job, const pair_clouds *clouds, double limit, ull *count) {
    pair_boxes boxes;
    LSP_TRY(make_boxes(ctx, job, clouds, counting<S>::ROWS * WARP, count + 1, &boxes));
    return LSP_LAUNCH(ctx, kernel_count_boxes<S>, lsp_cuda_get_chip(ctx)->sms * COUNT_SM_BLOCKS, COUNT_NT, 0, boxes,
                      (typename S::number)limit, count);
}

#define START_ALL(space, ...) start_all<LSP_BARE space>(__VA_ARGS__)
#define START_NEAR(space, ...) start_near<LSP_BARE space>(__VA_ARGS__)
#define START_BOXES(space, ...) start_boxes<LSP_BARE space>(__VA_ARGS__)

extern "C" lsp_status lsp_pair_count_cuda(lsp_ctx *ctx, lsp_pair_job *job, const double *limits, int64_t radii,
                                          uint64_t *counts) {
    const bool grid = job->info.method == LSP_PAIR_GRID, boxes = job->info.method == LSP_PAIR_BOXES;
    pair_walk walk = {job->metric, job->grid, pair_clouds_of(job), job->self};
    ull *there, here[3]; /* within; the cursor of boxes; distances computed */
    if (radii > 1) {
        return lsp_pair_radii_cuda(ctx, job, limits, radii, counts);
    }
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 3, &there));
    LSP_TRY(grid    ? LSP_WITH_SPACE(job, START_NEAR, ctx, &walk, limits[0], there, there + 2)
            : boxes ? LSP_WITH_SPACE(job, START_BOXES, ctx, job, &walk.clouds, limits[0], there)
                    : LSP_WITH_SPACE(job, START_ALL, ctx, job, &walk.clouds, limits[0], there));
    LSP_TRY(lsp_pair_meanwhile(ctx, job));
    LSP_TRY(lsp_cuda_read(ctx, here, there, sizeof here));
    counts[0] = here[0];
    job->info.tested = grid || boxes ? (int64_t)here[2] : lsp_pair_total(job) / job->parts;
    return LSP_OK;
}
