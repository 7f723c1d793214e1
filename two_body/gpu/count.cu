/* Pairs within one radius on the GPU. Several radii are a histogram (radii.cu). */
#include "boxes.cuh"
#include "near.cuh"

enum { COUNT_NT = 256, COUNT_SM_BLOCKS = 2 };

/* Points of a thread. */
template <typename S> struct count_rows {
    static constexpr int count =
        S::DIM <= 4 ? (sizeof(typename S::number) == 4 ? 8 : 4) : (sizeof(typename S::number) == 4 ? 4 : 2);
};

/* Counts the pairs within. */
template <typename S> struct counting : pairs_counting<typename S::number, count_rows<S>::count, 1> {
    typedef typename S::number number;

    __device__ explicit counting(number limit) : pairs_counting<number, count_rows<S>::count, 1>(&limit) {}
    __device__ __forceinline__ bool settle(ull pairs, double low, double high) {
        const double limit = (double)this->limits[0];
        this->within[0] += high <= limit ? pairs : 0;
        return high <= limit || low > limit;
    }
    __device__ void add_to(ull *count) {
        const ull sum = warp_sum(this->within[0]);
        if (threadIdx.x % WARP == 0 && sum > 0) {
            atomicAdd(count, sum);
        }
    }
};

/* The same for a walk over near cells, which knows no chunks. */
template <typename S> struct counting_near : counting<S> {
    typedef typename S::number number;

    __device__ explicit counting_near(number limit) : counting<S>(limit) {}
    template <int G, bool MASKED>
    __device__ __forceinline__ void take(const number (&d2)[G], const bool (&in)[G], int j) {
        counting<S>::template take<G, MASKED>(d2, in, j);
        this->within[0] += G;
    }
    __device__ __forceinline__ void begin_points(int) {}
    __device__ __forceinline__ void end_points() { this->end_chunk(0); }
};

/* Two resident blocks of LSP_F32 took 34.9 ms, three 36.8 (524,288 points, H200). 0: as the compiler likes. */
template <typename S>
static __global__ void __launch_bounds__(COUNT_NT, sizeof(typename S::number) == 4 ? COUNT_SM_BLOCKS : 0)
    kernel_count(const __grid_constant__ lsp_metric metric, const __grid_constant__ pair_clouds clouds,
                 pair_tiles tiles, typename S::number limit, ull *count) {
    __shared__ __align__(16) typename S::place shared[S::DIM][CHUNK];
    counting<S> visit(limit);
    for (ull p = blockIdx.x; p < tiles.total; p += gridDim.x) {
        int64_t I, J;
        find_tile(tiles, clouds.self, p, &I, &J);
        visit_tile<S, count_rows<S>::count, PAIRS_BLOCK, CHUNK>(metric, clouds, I, J, shared, visit);
    }
    visit.add_to(count);
}

template <typename S>
static __global__ void __launch_bounds__(NEAR_NT)
    kernel_count_near(const __grid_constant__ pair_walk walk, typename S::number limit, ull *count, ull *tested) {
    counting_near<S> visit(limit);
    visit_all_near<S, near_points<S>::count>(walk, visit, tested);
    visit.add_to(count);
}

template <typename S>
static __global__ void __launch_bounds__(COUNT_NT, COUNT_SM_BLOCKS)
    kernel_count_boxes(const __grid_constant__ pair_boxes boxes, typename S::number limit, ull *count) {
    constexpr int R = count_rows<S>::count;
    __shared__ __align__(16) typename S::place shared[COUNT_NT / WARP][S::DIM][R * WARP];
    counting<S> visit(limit);
    visit_boxes<S, R>(boxes, shared[threadIdx.x / WARP], INT64_MAX, visit);
    visit.add_to(count);
}

template <typename S>
static lsp_status start_all(lsp_ctx *ctx, const lsp_pair_job *job, const pair_clouds *clouds, double limit,
                            ull *count) {
    const int nt = pair_threads(ctx, clouds, count_rows<S>::count, COUNT_NT);
    const pair_tiles tiles = tiles_of(clouds, nt * count_rows<S>::count);
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
    LSP_TRY(make_boxes(ctx, job, clouds, count_rows<S>::count * WARP, count + 1, &boxes));
    return LSP_LAUNCH(ctx, kernel_count_boxes<S>, boxes_blocks(&boxes, lsp_cuda_get_chip(ctx)->sms * COUNT_SM_BLOCKS),
                      COUNT_NT, 0, boxes, (typename S::number)limit, count);
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
