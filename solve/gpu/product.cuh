/* The product of the persistent kernel: each block renews its slice of p and multiplies its part of the matrix with it.
 * The partial sums of rows go to memory. */
#pragma once

#include "barrier.cuh"

/* ---- p ---- */

/* The new p of an unknown, the same bits wherever it is computed. With beta 0 the old one is not read. */
__device__ inline double resident_next(double beta, double old, double news) {
    return beta == 0 ? news : fma(beta, old, news);
}

/* ---- the product ---- */

/* A lane's four entries of a group. */
struct resident_four {
    double2 v, w;
    uint2 c;
};
__device__ inline void resident_add(const resident_four &four, const double *p, double &even, double &odd) {
    even = fma(four.v.x, p[four.c.x & 0xFFFF], even);
    odd = fma(four.v.y, p[four.c.x >> 16], odd);
    even = fma(four.w.x, p[four.c.y & 0xFFFF], even);
    odd = fma(four.w.y, p[four.c.y >> 16], odd);
}
template <int LANES> __device__ inline double resident_lanes(double sum) {
#pragma unroll
    for (int mask = 1; mask < LANES; mask *= 2) {
        sum += __shfl_xor_sync(~0u, sum, mask);
    }
    return sum;
}

/* The sum of a row by its lanes, the same in each of them; the slice lies in memory and has `steps` steps. DEPTH groups
 * are on their way. */
template <int LANES>
__device__ inline double resident_row(const double *val, const uint16_t *col, int steps, const double *p, int lane,
                                      ull policy) {
    enum { DEPTH = RESIDENT_DEPTH };
    const int groups = steps / GROUP, rest = steps % GROUP;
    const double2 *const wide = (const double2 *)val + lane;
    const uint2 *const wide_col = (const uint2 *)col + lane;
    resident_four four[DEPTH];
    double last[GROUP - 1] = {0, 0, 0}, even = 0, odd = 0;
    unsigned last_col[GROUP - 1] = {0, 0, 0};
    const auto load = [&](resident_four &to, int g) {
        to.v = resident_read(wide + g * 2 * WARP, policy);
        to.w = resident_read(wide + g * 2 * WARP + WARP, policy);
        to.c = resident_read(wide_col + g * WARP, policy);
    };
#pragma unroll
    for (int i = 0; i < DEPTH; i++) {
        if (i < groups) {
            load(four[i], i);
        }
    }
#pragma unroll
    for (int i = 0; i < GROUP - 1; i++) {
        if (i < rest) {
            last[i] = resident_read(val + (groups * GROUP + i) * WARP + lane, policy);
            last_col[i] = resident_read(col + (groups * GROUP + i) * WARP + lane, policy);
        }
    }
    for (int g = 0; g < groups; g += DEPTH) {
#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            if (g + i < groups) {
                resident_add(four[i], p, even, odd);
                if (g + i + DEPTH < groups) {
                    load(four[i], g + i + DEPTH);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < GROUP - 1; i++) {
        if (i < rest) {
            even = fma(last[i], p[last_col[i]], even);
        }
    }
    return resident_lanes<LANES>(even + odd);
}

/* The same; the slice lies in shared memory. */
template <int LANES>
__device__ inline double resident_kept_row(const double *val, const uint16_t *col, int steps, const double *p,
                                           int lane) {
    const int groups = steps / GROUP;
    const double2 *const wide = (const double2 *)val + lane;
    const uint2 *const wide_col = (const uint2 *)col + lane;
    double even = 0, odd = 0;
#pragma unroll 2
    for (int g = 0; g < groups; g++) {
        resident_add({wide[g * 2 * WARP], wide[g * 2 * WARP + WARP], wide_col[g * WARP]}, p, even, odd);
    }
    for (int i = groups * GROUP; i < steps; i++) {
        even = fma(val[i * WARP + lane], p[col[i * WARP + lane]], even);
    }
    return resident_lanes<LANES>(even + odd);
}

/* What a block needs of its part of the matrix; the same in all steps. */
typedef struct resident_part {
    const int *row;             /* of its rows */
    const unsigned *step_begin; /* of its slices */
    int rows, slices;
    unsigned kept;   /* the first step that is in shared memory: it and all after it are */
    int kept_slices; /* slices that are there whole */
    double *partial; /* by row */
    ull policy;
} resident_part;

/* The block's slice of p from news, and with `dots` p of its rows. Loads come before what waits for them: the compiler
 * would not reorder them. */
__device__ inline void resident_renew(const resident_job &job, const resident_shared &s, const resident_part &part,
                                      double beta, bool dots) {
    enum { AHEAD = 4, ROWS_AHEAD = 2 };
    const int first = (int)blockIdx.x / job.A.chunks * job.A.width, count = min(job.A.width, job.A.n - first);
    const int nt = (int)blockDim.x, tid = (int)threadIdx.x, rows = dots ? part.rows : 0;
    const double2 *const from = (const double2 *)(job.news + first);
    double2 *const p = (double2 *)s.p;
    double own[ROWS_AHEAD];
    if (tid == 0) {
        *s.turn = nt / WARP;
    }
#pragma unroll
    for (int a = 0; a < ROWS_AHEAD; a++) {
        own[a] = tid + a * nt < rows ? __ldcg(job.news + part.row[tid + a * nt]) : 0;
    }
    for (int i = tid; i < count / 2; i += AHEAD * nt) {
        double2 z[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            z[a] = i + a * nt < count / 2 ? resident_load2(from + i + a * nt) : make_double2(0, 0);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (i + a * nt < count / 2) {
                const double2 old = p[i + a * nt];
                p[i + a * nt] = make_double2(resident_next(beta, old.x, z[a].x), resident_next(beta, old.y, z[a].y));
            }
        }
    }
    if (tid == 0 && count > 0 && count % 2 != 0) {
        s.p[count - 1] = resident_next(beta, s.p[count - 1], __ldcg(job.news + first + count - 1));
    }
    for (int i = tid, a = 0; i < rows; i += nt, a++) {
        s.old[i] = resident_next(beta, s.old[i], a == 0 ? own[0] : a == 1 ? own[1] : __ldcg(job.news + part.row[i]));
    }
    __syncthreads();
}

/* Partial sums of the block's rows; returns the thread's share of p*A*p, unless `dots` is false. Warps take slices in
 * turn: first those in memory, the longest first, then those in shared memory. */
template <int LANES>
__device__ inline double resident_multiply(const resident_job &job, const resident_shared &s, const resident_part &part,
                                           bool dots) {
    const int lane = (int)threadIdx.x % WARP, in_slice = WARP / LANES, far = part.slices - part.kept_slices;
    int turn = (int)threadIdx.x / WARP;
    while (turn < part.slices) {
        int next = 0;
        if (lane == 0) {
            next = atomicAdd(s.turn, 1);
        }
        const int slice = turn, at = slice * in_slice + lane / LANES;
        const int row = at < part.rows ? part.row[at] : -1;
        const bool first = row >= 0 && lane % LANES == 0;
        const unsigned step = part.step_begin[slice];
        const int steps = (int)(part.step_begin[slice + 1] - step);
        double sum;
        if (slice < far) {
            const size_t begin = (size_t)step * WARP;
            sum = resident_row<LANES>(job.A.val + begin, job.A.col + begin, steps, s.p, lane, part.policy);
        } else {
            const unsigned begin = (step - part.kept) * WARP;
            sum = resident_kept_row<LANES>(s.val + begin, s.col + begin, steps, s.p, lane);
        }
        if (first) {
            __stcg(part.partial + row, sum);
        }
        if (dots) {
            const double d = warp_sum(first ? s.old[at] * sum : 0.0);
            if (lane == 0) {
                s.dots[slice] = d;
            }
        }
        turn = __shfl_sync(~0u, next, 0);
    }
    double d = 0;
    if (dots) {
        __syncthreads();
        for (int i = (int)threadIdx.x; i < part.slices; i += (int)blockDim.x) {
            d += s.dots[i];
        }
    }
    return d;
}

/* Calls the beginning of the warp's first slice into the L2 cache, for the next step. */
__device__ inline void resident_ahead(const resident_job &job, const resident_part &part) {
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP, line = 128;
    if (warp < part.slices - part.kept_slices) {
        const size_t at = (size_t)part.step_begin[warp] * WARP;
        const int steps = min(job.ahead * GROUP, (int)(part.step_begin[warp + 1] - part.step_begin[warp]));
        for (int i = lane * line; i < steps * WARP * 8; i += WARP * line) {
            lsp_prefetch((const char *)(job.A.val + at) + i);
        }
        for (int i = lane * line; i < steps * WARP * 2; i += WARP * line) {
            lsp_prefetch((const char *)(job.A.col + at) + i);
        }
    }
}

/* Copies the end of the block's part of the matrix to shared memory, and finds the block's part. */
__device__ inline resident_part resident_begin(const resident_job &job, const resident_shared &s) {
    const int b = (int)blockIdx.x, slice = job.A.slice_begin[b];
    const unsigned *const step_begin = job.A.step_begin + slice;
    resident_part part;
    part.row = job.A.row + job.A.row_begin[b];
    part.rows = job.A.row_begin[b + 1] - job.A.row_begin[b];
    part.slices = job.A.slice_begin[b + 1] - slice;
    part.step_begin = step_begin;
    part.partial = job.partial + (size_t)(b / job.A.chunks) * job.A.n;
    part.policy = resident_policy(job.stream);
    const unsigned end = step_begin[part.slices], all = end - step_begin[0];
    const unsigned least = end - min(all, (unsigned)job.stash_steps);
    int low = 0, high = part.slices; /* the first slice that is kept */
    while (low < high) {
        const int middle = (low + high) / 2;
        low = step_begin[middle] < least ? middle + 1 : low;
        high = step_begin[middle] < least ? high : middle;
    }
    part.kept = step_begin[low];
    part.kept_slices = part.slices - low;
    const int steps = (int)(end - part.kept), nt = (int)blockDim.x;
    const double2 *const val = (const double2 *)(job.A.val + (size_t)part.kept * WARP);
    const uint2 *const col = (const uint2 *)(job.A.col + (size_t)part.kept * WARP);
    for (int i = (int)threadIdx.x; i < steps * WARP / 2; i += nt) {
        ((double2 *)s.val)[i] = resident_read(val + i, part.policy);
    }
    for (int i = (int)threadIdx.x; i < steps * WARP / 4; i += nt) {
        ((uint2 *)s.col)[i] = resident_read(col + i, part.policy);
    }
    for (int i = (int)threadIdx.x; i < job.A.width + 2; i += nt) {
        s.p[i] = 0;
    }
    for (int i = (int)threadIdx.x; i < part.rows && job.dots == LSP_RESIDENT_DOTS_BLOCKS; i += nt) {
        s.old[i] = 0;
    }
    if (job.few) {
        for (int i = (int)threadIdx.x; i < part.rows; i += nt) {
            s.row[i] = part.row[i];
        }
        for (int i = (int)threadIdx.x; i <= part.slices; i += nt) {
            s.step_begin[i] = part.step_begin[i];
        }
        part.row = s.row;
        part.step_begin = s.step_begin;
    }
    __syncthreads();
    return part;
}
