/* The radius join by all pairs on the GPU: each pair of one set is met once, and hits go to pages of a list. A warp
 * fills a page and then takes the next one by the cursor. Then rows are counted and filled from the list. */
#ifndef LSP_TWO_BODY_GPU_PAGES_CUH
#define LSP_TWO_BODY_GPU_PAGES_CUH

#include "kernel_join.cuh"

enum { PAGE = 1024, PAGES_NT = 256, PAGES_SM_BLOCKS = 2, QUEUE = 256 }; /* items of a page; hits of a queue */

/* row[e] < 0: no hit. */
typedef struct page_list {
    int32_t *row, *col;
    void *d2;
    int64_t pages; /* that there is room for; what comes later is counted only */
    u64 *cursor;   /* the next page; hits */
} page_list;

__device__ __forceinline__ unsigned add_hit(unsigned mask, float d2, float limit) { /* mask * 2 + (d2 <= limit) */
    const int below = __float_as_int(d2) - (__float_as_int(limit) + 1);
    return __funnelshift_l((unsigned)below, mask, 1);
}
__device__ __forceinline__ unsigned add_hit(unsigned mask, double d2, double limit) {
    const long long below = __double_as_longlong(d2) - (__double_as_longlong(limit) + 1);
    return __funnelshift_l((unsigned)(below >> 32), mask, 1);
}

/* A bit for each of 32 candidates and each point of a thread; hits go through a queue of the warp, so that all its
 * lanes write them. */
template <typename S> struct hit_pages {
    typedef typename S::number number;
    static constexpr int ROWS = S::DIM <= 4 ? (sizeof(number) == 4 ? 8 : 4) : sizeof(number) == 4 ? 4 : 2;
    enum { GROUP = 4, UNROLL = 1 };
    const lsp_metric &metric;
    const pair_clouds &clouds;
    const page_list &list;
    number limit;
    unsigned short *queue;
    unsigned mask[ROWS];
    int row, col;    /* the warp's first point; the candidate of the next bit */
    int64_t at, end; /* of the page */
    u64 hits;

    __device__ hit_pages(const lsp_metric &m, const pair_clouds &c, const page_list &l, double limit_,
                         unsigned short *queue_)
        : metric(m), clouds(c), list(l), limit((number)limit_), queue(queue_), at(0), end(0), hits(0) {}
    __device__ __forceinline__ void begin_tile(int64_t i, int64_t j) {
        row = (int)(i + threadIdx.x / WARP * WARP), col = (int)j;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            mask[k] = 0;
        }
    }
    template <int N, bool MASKED> __device__ __forceinline__ void take(const number (&d2)[N], const bool (&in)[N]) {
#pragma unroll
        for (int p = 0; p < N; p++) {
            mask[p % ROWS] =
                MASKED ? mask[p % ROWS] << 1 | (in[p] && d2[p] <= limit) : add_hit(mask[p % ROWS], d2[p], limit);
        }
        col += N / ROWS;
        if (col % WARP == 0) { /* tiles begin at multiples of it */
            unsigned any = 0;
#pragma unroll
            for (int k = 0; k < ROWS; k++) {
                any |= mask[k];
            }
            if (__any_sync(~0u, any != 0)) {
                keep();
            }
        }
    }
    /* Puts the hits of the last 32 candidates on the list. */
    __device__ __forceinline__ void keep() {
        const int lane = (int)threadIdx.x % WARP;
        int own = 0;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            own += __popc(mask[k]);
        }
        const int before = warp_scan(own, lane) - own, all = __shfl_sync(~0u, before + own, WARP - 1);
        for (int base = 0; base < all; base += QUEUE) {
            int slot = before - base;
#pragma unroll
            for (int k = 0; k < ROWS; k++) {
                for (unsigned left = mask[k]; left != 0; left &= left - 1, slot++) {
                    if (slot >= 0 && slot < QUEUE) {
                        queue[slot] = (unsigned short)(k << 10 | (WARP - __ffs((int)left)) << 5 | lane);
                    }
                }
            }
            __syncwarp();
            const int some = min(all - base, (int)QUEUE);
            for (int q = 0; q < some; q += WARP) {
                write(queue[q + lane], min(some - q, (int)WARP));
            }
            __syncwarp();
        }
        hits += (u64)all;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            mask[k] = 0;
        }
    }
    /* The first `count` lanes each have a hit. */
    __device__ __forceinline__ void write(unsigned code, int count) {
        const int lane = (int)threadIdx.x % WARP;
        const int64_t left = end - at;
        int64_t to = at + lane;
        at += count;
        if (count > left) {
            const u64 page = __shfl_sync(~0u, lane == 0 ? atomicAdd(list.cursor, (u64)1) : (u64)0, 0);
            to = lane < left ? to : (int64_t)page * PAGE + lane - left;
            at = (int64_t)page * PAGE + count - left, end = (int64_t)(page + 1) * PAGE;
        }
        if (lane < count && to < list.pages * PAGE) {
            typename S::place x[S::DIM], y[S::DIM];
            const int i = row + (int)(code >> 10) * (int)blockDim.x + (int)(code & 31);
            const int j = col - WARP + (int)(code >> 5 & 31);
#pragma unroll
            for (int d = 0; d < S::DIM; d++) {
                x[d] = ((const typename S::place *)clouds.a.place[d])[i];
                y[d] = ((const typename S::place *)clouds.b.place[d])[j];
            }
            list.row[to] = i, list.col[to] = j;
            ((number *)list.d2)[to] = S::distance(&metric, x, y);
        }
    }
    __device__ __forceinline__ void end_chunk(int64_t) {}
    __device__ __forceinline__ void finish() {
        for (int64_t e = at + threadIdx.x % WARP; e < end && e < list.pages * PAGE; e += WARP) {
            list.row[e] = -1;
        }
        if (threadIdx.x % WARP == 0 && hits > 0) {
            atomicAdd(list.cursor + 1, hits);
        }
    }
};

/* Tiles first, first + stride, ... */
template <typename S>
static __global__ void __launch_bounds__(PAGES_NT, PAGES_SM_BLOCKS)
    kernel_pages(const __grid_constant__ lsp_metric metric, const __grid_constant__ pair_clouds clouds,
                 pair_tiles tiles, u64 stride, double limit, const __grid_constant__ page_list list) {
    typedef hit_pages<S> visitor;
    __shared__ __align__(16) typename S::place shared[S::DIM][CHUNK];
    __shared__ unsigned short queues[PAGES_NT / WARP][QUEUE];
    visitor visit(metric, clouds, list, limit, queues[threadIdx.x / WARP]);
    const int64_t side = visitor::ROWS * (int64_t)blockDim.x;
    for (u64 p = blockIdx.x * stride; p < tiles.total; p += gridDim.x * stride) {
        int64_t I, J;
        find_tile(tiles, clouds.self, p, &I, &J);
        visit.begin_tile(I * side, J * side);
        visit_tile<S, visitor::ROWS, TEAM_BLOCK, CHUNK>(&metric, clouds, I, J, shared, visit);
    }
    visit.finish();
}

/* ---- rows ---- */

template <typename number, bool FILL>
__device__ __forceinline__ void add_entry(const join_setup &s, int row, int col, number d2) {
    const int64_t to = (int64_t)atomicAdd((u64 *)&s.starts[row + (FILL ? 0 : 1)], (u64)1);
    if (FILL) {
        s.col[to] = col;
        if (s.val != NULL) {
            ((number *)s.val)[to] = join_value(s, d2);
        }
    }
}

/* Counts the entries of each row, or fills the rows in any order; starts[i] becomes the end of row i then. */
template <typename number, bool FILL>
static __global__ void __launch_bounds__(NEAR_NT)
    kernel_page_rows(const __grid_constant__ page_list list, int64_t items, const __grid_constant__ join_setup s,
                     int64_t rows) {
    const int64_t first = (int64_t)blockIdx.x * NEAR_NT + threadIdx.x, step = (int64_t)gridDim.x * NEAR_NT;
    for (int64_t e = first; e < items; e += step) {
        const int row = list.row[e], col = list.col[e];
        if (row >= 0 && (s.self || belongs(s, row, col))) {
            const number d2 = FILL ? ((const number *)list.d2)[e] : 0;
            add_entry<number, FILL>(s, row, col, d2);
            if (s.self && !s.half) {
                add_entry<number, FILL>(s, col, row, d2);
            }
        }
    }
    for (int64_t i = first; i < rows && s.self && s.self_pairs; i += step) {
        add_entry<number, FILL>(s, (int)i, (int)i, 0);
    }
}

static __global__ void __launch_bounds__(NEAR_NT) kernel_longest(const int64_t *lengths, int64_t rows, u64 *longest) {
    u64 most = 0;
    for (int64_t i = (int64_t)blockIdx.x * NEAR_NT + threadIdx.x; i < rows; i += (int64_t)gridDim.x * NEAR_NT) {
        most = max(most, (u64)lengths[i]);
    }
    most = warp_max(most);
    if (threadIdx.x % WARP == 0 && most > 0) {
        atomicMax(longest, most);
    }
}

#endif
