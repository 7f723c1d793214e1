/* Histograms of pairs on the GPU: each block has a table of counters in shared memory, which it adds to the result at
 * the end, and before a counter of 32 bits could be full. BINS says where a distance is counted:
 *   GROUP           candidates whose counters are found before they are counted
 *   place_of(low, high)    the sum that counts all d2 from low to high; -1: none; UNSETTLED: several
 *   start_table(), take(), near(), flush(sums)    all threads of the block together */
#pragma once

#include "boxes.cuh"
#include "near.cuh"

enum { TALLY_NT = 1024, BOXES_NT = 512, BOXES_WARPS = BOXES_NT / WARP }; /* most threads of a block */
enum { UNSETTLED = -2 };

/* Shared memory by its address of 32 bits, so that the counter's place is one multiplication and addition. */
#ifdef __CUDACC__
__device__ __forceinline__ unsigned shared_address(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }
template <int OFFSET = 0> __device__ __forceinline__ void shared_count(unsigned address) {
    asm volatile("red.shared.add.u32 [%0+%1], 1;" ::"r"(address), "n"(OFFSET));
}
__device__ __forceinline__ void shared_read(unsigned address, float *x) {
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(*x) : "r"(address));
}
__device__ __forceinline__ void shared_read(unsigned address, double *x) {
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(*x) : "r"(address));
}
#else
static inline unsigned shared_address(const void *at) { return (unsigned)((const char *)at - emu_shared()); }
template <int OFFSET = 0> static inline void shared_count(unsigned address) {
    atomicAdd((unsigned *)(emu_shared() + address + OFFSET), 1u);
}
template <typename T> static inline void shared_read(unsigned address, T *x) {
    *x = *(const T *)(emu_shared() + address);
}
#endif

/* Points of a thread. */
template <typename S> struct tally_rows {
    static constexpr int count = (S::DIM <= 4 ? 4 : 2) / (sizeof(typename S::number) / 4);
};

template <typename S, typename BINS>
static __global__ void __launch_bounds__(TALLY_NT)
    kernel_tally(const __grid_constant__ lsp_metric metric, const __grid_constant__ pair_clouds clouds,
                 pair_tiles tiles, const __grid_constant__ typename BINS::setup setup, ull *sums) {
    __shared__ __align__(16) typename S::place shared[S::DIM][CHUNK];
    BINS bins(setup, sums);
    const ull side = (ull)tally_rows<S>::count * blockDim.x, tiles_of_table = 0xffffffffu / (side * side);
    ull waiting = 0;
    bins.start_table();
    for (ull p = blockIdx.x; p < tiles.total; p += gridDim.x) {
        int64_t I, J;
        find_tile(tiles, clouds.self, p, &I, &J);
        visit_tile<S, tally_rows<S>::count, PAIRS_BLOCK, CHUNK>(metric, clouds, I, J, shared, bins);
        if (++waiting == tiles_of_table) {
            bins.flush(sums);
            waiting = 0;
        }
    }
    bins.flush(sums);
}

template <typename S, typename BINS>
static __global__ void __launch_bounds__(NEAR_NT)
    kernel_tally_near(const __grid_constant__ pair_walk walk, const __grid_constant__ typename BINS::setup setup,
                      ull *sums, ull *tested) {
    constexpr int G = near_points<S>::count;
    const int64_t most = 0x7fffffff / NEAR_WARPS;
    BINS bins(setup, sums);
    int64_t sum = 0, waiting = 0;
    bins.start_table();
    for (int64_t block = blockIdx.x; group_of<G>(walk, block * NEAR_WARPS) < walk.clouds.a.n; block += gridDim.x) {
        const int64_t point = group_of<G>(walk, block * NEAR_WARPS + threadIdx.x / WARP);
        const int64_t pairs = point < walk.clouds.a.n ? visit_near<S, G>(walk, (int)point, bins) : 0;
        sum += pairs, waiting += pairs;
        if (__syncthreads_or(waiting > most)) {
            bins.flush(sums);
            waiting = 0;
        }
    }
    bins.flush(sums);
    if (threadIdx.x % WARP == 0) {
        atomicAdd(tested, (ull)sum);
    }
}

/* BINS with the pairs of groups that their bounds settle. */
template <typename BINS> struct settling_bins : BINS {
    ull *sums;
    __device__ settling_bins(const typename BINS::setup &s_, ull *sums_) : BINS(s_, sums_), sums(sums_) {}
    /* Lanes with the same sum add to it together. */
    __device__ bool settle(ull pairs, double low, double high) {
        const int place = pairs > 0 ? this->place_of((typename BINS::number)low, (typename BINS::number)high) : -1;
        for (unsigned left = __ballot_sync(~0u, place >= 0); left != 0;) {
            const int leader = __ffs((int)left) - 1, which = __shfl_sync(~0u, place, leader);
            const ull sum = warp_sum(place == which ? pairs : 0);
            if ((int)threadIdx.x % WARP == leader) {
                atomicAdd(&sums[which], sum);
            }
            left &= ~__ballot_sync(~0u, place == which);
        }
        return place != UNSETTLED;
    }
};

template <typename S, typename BINS>
static __global__ void __launch_bounds__(BOXES_NT, 2)
    kernel_tally_boxes(const __grid_constant__ pair_boxes boxes, const __grid_constant__ typename BINS::setup setup,
                       ull *sums) {
    constexpr int R = tally_rows<S>::count;
    __shared__ __align__(16) typename S::place shared[BOXES_WARPS][S::DIM][R * WARP];
    settling_bins<BINS> bins(setup, sums);
    bool more = true;
    bins.start_table();
    do {
        more = more && visit_boxes<S, R>(boxes, shared[threadIdx.x / WARP], 0x7fffffff / BOXES_WARPS, bins);
        bins.flush(sums);
    } while (__syncthreads_or(more));
}

/* ---- the methods; `table`: bytes of shared memory ---- */

/* most: threads of a block. */
template <typename S, typename BINS>
static lsp_status tally_all(lsp_ctx *ctx, const pair_walk *walk, int64_t table, int most,
                            const typename BINS::setup &setup, ull *sums) {
    const int64_t room = lsp_cuda_get_chip(ctx)->shared_sm_bytes, sms = lsp_cuda_get_chip(ctx)->sms;
    const int64_t beside = S::DIM * CHUNK * (int64_t)sizeof(typename S::place) + 1024;
    const int nt = pair_threads(ctx, &walk->clouds, tally_rows<S>::count, most);
    const pair_tiles tiles = tiles_of(&walk->clouds, nt * tally_rows<S>::count);
    const int64_t fit = lsp_max(lsp_min(room / (table + beside), TALLY_NT / nt), 1);
    const int64_t blocks = lsp_min((int64_t)lsp_min((int64_t)tiles.total, INT32_MAX), sms * fit);
    LSP_TRY(lsp_allow_shared(ctx, kernel_tally<S, BINS>, (size_t)table));
    return blocks > 0 ? LSP_LAUNCH(ctx, (kernel_tally<S, BINS>), blocks, nt, (size_t)table, walk->metric, walk->clouds,
                                   tiles, setup, sums)
                      : LSP_OK;
}

template <typename S, typename BINS>
static lsp_status tally_near(lsp_ctx *ctx, const pair_walk *walk, int64_t table, const typename BINS::setup &setup,
                             ull *sums, ull *tested) {
    const int64_t room = lsp_cuda_get_chip(ctx)->shared_sm_bytes, sms = lsp_cuda_get_chip(ctx)->sms;
    const int64_t blocks =
        lsp_min(near_blocks(walk, near_points<S>::count), sms * lsp_max(lsp_min(room / (table + 1024), 8), 1));
    LSP_TRY(lsp_allow_shared(ctx, kernel_tally_near<S, BINS>, (size_t)table));
    return blocks > 0 ? LSP_LAUNCH(ctx, (kernel_tally_near<S, BINS>), blocks, NEAR_NT, (size_t)table, *walk, setup,
                                   sums, tested)
                      : LSP_OK;
}

/* cursor: 0; behind it the distances computed. */
template <typename S, typename BINS>
static lsp_status tally_boxes(lsp_ctx *ctx, lsp_pair_job *job, const pair_walk *walk, int64_t table,
                              const typename BINS::setup &setup, ull *sums, ull *cursor) {
    pair_boxes boxes;
    LSP_TRY(make_boxes(ctx, job, &walk->clouds, tally_rows<S>::count * WARP, cursor, &boxes));
    LSP_TRY(lsp_allow_shared(ctx, kernel_tally_boxes<S, BINS>, (size_t)table));
    return LSP_LAUNCH(ctx, (kernel_tally_boxes<S, BINS>), boxes_blocks(&boxes, 2 * lsp_cuda_get_chip(ctx)->sms),
                      BOXES_NT, (size_t)table, boxes, setup, sums);
}
