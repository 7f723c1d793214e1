/* Sums of a density on the GPU. Tiles meet by a circular schedule: in step d tile I meets tile (I + d) mod tiles, so
 * that half of the steps meet each pair of one set. A pair of tiles leaves its sums, for both sides, in rows of a
 * buffer of their own, which are added in the order of the steps: without atomics, and the same in every run. */
#pragma once

#include "boxes.cuh"

enum { DENSITY_NT = 128, DENSITY_WARPS = DENSITY_NT / WARP, DENSITY_SM_BLOCKS = 4 };

/* The term of a pair: 2^(d2 * scale); 2^-d2, where the places are scaled already; 1 + d2 * scale, where above 0. */
enum density_term { TERM_GAUSSIAN, TERM_SCALED, TERM_EPANECHNIKOV };

typedef struct density_setup {
    lsp_metric metric;
    lsp_box_bounds bounds;
    pair_groups a, b;                /* groups of density_rows * WARP points; without boxes: none is left out */
    const void *weight_a, *weight_b; /* in the order of the groups */
    double scale, limit;
    int64_t rows, cols;        /* tiles */
    int64_t first, steps;      /* of this launch */
    void *row_sums, *col_sums; /* of point i in step d: (d - first) * a.cloud.n + i; of one set both */
    unsigned char *met;        /* of tile I in step d: at (d - first) * rows + I; 0: it met nothing */
} density_setup;

/* Points of a thread. */
template <typename S> struct density_rows {
    static constexpr int count = (S::DIM <= 4 ? 8 : 4) / (sizeof(typename S::number) / 4);
};

/* 16 bytes are loaded at once. */
template <typename S>
struct alignas(S::DIM * sizeof(typename S::number) == 12 ? 16 : sizeof(typename S::number)) density_point {
    typename S::place x[S::DIM];
    typename S::number weight;
};

#ifdef __CUDACC__
__device__ __forceinline__ float density_exp2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ float density_slope(float d2, float scale) { return __saturatef(__fmaf_rn(d2, scale, 1)); }
#else
static inline float density_exp2(float x) { return exp2f(x); }
static inline float density_slope(float d2, float scale) { return fmaxf(fmaf(d2, scale, 1), 0); }
#endif
__device__ __forceinline__ double density_exp2(double x) { return exp2(x); }
__device__ __forceinline__ double density_slope(double d2, double scale) { return max(__fma_rn(d2, scale, 1), 0.0); }
__device__ __forceinline__ float add_product(float x, float y, float z) { return __fmaf_rn(x, y, z); }
__device__ __forceinline__ double add_product(double x, double y, double z) { return __fma_rn(x, y, z); }

template <density_term TERM, typename number> __device__ __forceinline__ number term_of(number d2, number scale) {
    return TERM == TERM_GAUSSIAN ? density_exp2(d2 * scale)
           : TERM == TERM_SCALED ? density_exp2(-d2)
                                 : density_slope(d2, scale);
}

/* A group of candidates in shared memory against the points x of a warp, for the sums of both. In each step a lane
 * takes another of 32 candidates, which lie there twice, so that no place wraps. With BOTH the sum of a candidate
 * travels from lane to lane. */
template <typename S, density_term TERM, bool BOTH, int R>
__device__ __forceinline__ void add_group(const lsp_metric *m, typename S::number scale, const density_point<S> (&x)[R],
                                          const density_point<S> *shared, typename S::number (&sums)[R],
                                          typename S::number *col) {
    typedef typename S::number number;
    const int lane = (int)threadIdx.x % WARP;
    for (int j = 0; j < R * WARP; j += WARP) {
        const density_point<S> *const at = shared + 2 * j + lane;
        number travelling = 0;
#pragma unroll 4
        for (int q = 0; q < WARP; q++) {
            const density_point<S> y = at[q];
            number sum = 0;
#pragma unroll
            for (int k = 0; k < R; k++) {
                const number term = term_of<TERM, number>(S::distance(m, x[k].x, y.x), scale);
                sums[k] = add_product(term, y.weight, sums[k]);
                sum = BOTH ? add_product(term, x[k].weight, sum) : 0;
            }
            if (BOTH) {
                travelling = __shfl_sync(~0u, travelling + sum, lane + 1);
            }
        }
        if (BOTH) {
            col[j + lane] = travelling;
        }
    }
}

template <typename S>
__device__ __forceinline__ density_point<S> load_point(const lsp_cloud &cloud, const void *weight, int64_t i) {
    density_point<S> point;
    const bool valid = i < cloud.n;
#pragma unroll
    for (int d = 0; d < S::DIM; d++) {
        point.x[d] = valid ? ((const typename S::place *)cloud.place[d])[i] : 0;
    }
    point.weight = valid && weight != NULL ? ((const typename S::number *)weight)[i] : 0;
    return point;
}

/* BOTH: of one set each pair of tiles once; else all pairs, for set a alone. */
template <typename S, density_term TERM, bool BOTH>
static __global__ void __launch_bounds__(DENSITY_NT, DENSITY_SM_BLOCKS)
    kernel_density(const __grid_constant__ density_setup s, ull *tested) {
    typedef typename S::number number;
    constexpr int R = density_rows<S>::count, GROUP = R * WARP;
    __shared__ density_point<S> shared[2 * GROUP];
    __shared__ number cols[DENSITY_WARPS][GROUP];
    __shared__ unsigned near[DENSITY_WARPS];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP, warps = (int)blockDim.x / WARP;
    const int64_t I = blockIdx.x % s.rows, slot = blockIdx.x / s.rows, step = s.first + slot;
    const int64_t J = !BOTH ? step : I + step < s.rows ? I + step : I + step - s.rows;
    const int64_t group = I * warps + warp, other = J * warps, row = group * GROUP + lane;
    const bool both = BOTH && step > 0, again = both && 2 * step == s.rows && I >= step;
    /* the groups of tile J that this warp's group meets; then those that a warp of the block meets */
    const bool meets = !again && lane < warps && group < s.a.count && other + lane < s.b.count &&
                       (s.a.boxes == NULL || least_apart<S>(s.bounds, s.a.boxes[group].middle, s.a.boxes[group].half,
                                                            s.b.boxes[other + lane]) <= s.limit);
    const unsigned own = __ballot_sync(~0u, meets);
    unsigned any = 0;
    near[warp] = own;
    __syncthreads();
    for (int w = 0; w < warps; w++) {
        any |= near[w];
    }
    if (threadIdx.x == 0) {
        s.met[slot * s.rows + I] = any != 0;
    }
    if (any == 0) {
        return;
    }
    density_point<S> x[R];
    number sums[R];
    int64_t pairs = 0;
#pragma unroll
    for (int k = 0; k < R; k++) {
        x[k] = load_point<S>(s.a.cloud, s.weight_a, row + k * WARP);
        sums[k] = 0;
    }
    for (int c = 0; c < warps; c++) {
        const int64_t first = (other + c) * GROUP;
        const bool meet = own >> c & 1;
        __syncthreads();
        for (int i = (int)threadIdx.x; i < GROUP && (any >> c & 1); i += (int)blockDim.x) {
            const int to = i + i / WARP * WARP;
            shared[to] = shared[to + WARP] = load_point<S>(s.b.cloud, s.weight_b, first + i);
        }
        __syncthreads();
        if (meet) {
            add_group<S, TERM, BOTH, R>(&s.metric, (number)s.scale, x, shared, sums, cols[warp]);
            pairs += min(s.a.cloud.n - group * GROUP, (int64_t)GROUP) * min(s.b.cloud.n - first, (int64_t)GROUP);
        }
        if (both) {
            for (int i = lane; i < GROUP && !meet; i += WARP) {
                cols[warp][i] = 0;
            }
            __syncthreads();
            for (int i = (int)threadIdx.x; i < GROUP && first + i < s.b.cloud.n; i += (int)blockDim.x) {
                number sum = 0;
                for (int w = 0; w < warps; w++) {
                    sum += cols[w][i];
                }
                ((number *)s.col_sums)[slot * s.b.cloud.n + first + i] = sum;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < R; k++) {
        if (row + k * WARP < s.a.cloud.n) {
            ((number *)s.row_sums)[slot * s.a.cloud.n + row + k * WARP] = sums[k];
        }
    }
    if (lane == 0 && pairs > 0) {
        atomicAdd(tested, (ull)pairs);
    }
}
