/* The radius join on the GPU: the hits of each row counted, and written in the order of cells. */
#pragma once

#include "near.cuh"

/* Which pairs are hits, and what is written. */
typedef struct join_setup {
    double limit, unit;
    lsp_join_values values;
    bool self, own; /* of the job */
    bool half, self_pairs;
    int shift;
    int64_t *starts; /* counted: the hits of row i at starts[i + 1]; filled: where rows begin */
    ull *longest;    /* the largest of them */
    int32_t *col;
    void *val;
} join_setup;

__device__ inline float join_value(const join_setup &s, float d2) {
    return lsp_join_value_f32(d2, s.values, (float)s.unit);
}
__device__ inline double join_value(const join_setup &s, double d2) { return lsp_join_value_f64(d2, s.values, s.unit); }

/* Does a pair within the radius belong to its row? */
__device__ __forceinline__ bool belongs(const join_setup &s, int row, int col) {
    const int point = row + s.shift;
    return !s.own || (s.half ? col > point || (s.self_pairs && col == point) : s.self_pairs || col != point);
}

/* Hits of the G points of a warp. FILL: they are written; else counted. */
template <typename S, int G, bool FILL> struct join_rows {
    typedef typename S::number number;
    const join_setup &s;
    const pair_walk &w;
    number limit;
    int point;
    int64_t at[G];    /* FILL: where the next hit of each point goes */
    unsigned hits[G]; /* of this lane; without FILL */

    __device__ join_rows(const join_setup &s_, const pair_walk &w_) : s(s_), w(w_), limit((number)s_.limit) {}

    __device__ __forceinline__ void begin_points(int first) {
        point = first;
#pragma unroll
        for (int g = 0; g < G; g++) {
            hits[g] = 0;
            at[g] = FILL && point + g < w.clouds.a.n ? s.starts[w.clouds.a.id[point + g]] : 0;
        }
    }
    __device__ __forceinline__ bool belongs_to(int g, int j) const {
        return belongs(s, w.clouds.a.id[point + g], w.clouds.b.id[j]);
    }
    template <int N, bool MASKED>
    __device__ __forceinline__ void take(const number (&d2)[N], const bool (&in)[N], int j) {
#pragma unroll
        for (int g = 0; g < G; g++) {
            bool hit = (!MASKED || in[g]) && d2[g] <= limit;
            if (!FILL) {
                hits[g] += s.half ? hit && belongs_to(g, j) : hit;
                continue;
            }
            const unsigned near = __ballot_sync(~0u, hit);
            if (near == 0) {
                continue;
            }
            hit = hit && (!s.own || belongs_to(g, j));
            const unsigned votes = __ballot_sync(~0u, hit);
            if (hit) {
                const int64_t to = at[g] + __popc(votes & ((1u << threadIdx.x % WARP) - 1));
                s.col[to] = w.clouds.b.id[j];
                if (s.val != NULL) {
                    ((number *)s.val)[to] = join_value(s, d2[g]);
                }
            }
            at[g] += __popc(votes);
        }
    }
    __device__ __forceinline__ void end_points() {
        unsigned most = 0;
#pragma unroll
        for (int g = 0; g < G && !FILL; g++) {
            const unsigned all = warp_sum(hits[g]);
            if (threadIdx.x % WARP == 0 && point + g < w.clouds.a.n) {
                const int row = w.clouds.a.id[point + g];
                const bool met =
                    s.own && !s.half && !s.self_pairs && row + s.shift >= 0 && row + s.shift < w.clouds.b.n;
                const unsigned sum = all - met; /* the point met itself */
                s.starts[row + 1] = sum;
                most = max(most, sum);
            }
        }
        if (!FILL && most > *(volatile ull *)s.longest) {
            atomicMax(s.longest, (ull)most);
        }
    }
};

template <typename S, int G, bool FILL>
static __global__ void __launch_bounds__(NEAR_NT)
    kernel_join(const __grid_constant__ pair_walk walk, const __grid_constant__ join_setup setup, ull *tested) {
    join_rows<S, G, FILL> rows(setup, walk);
    visit_all_near<S, G>(walk, rows, tested);
}
