/* Finds the diagonals of slices by a merge, a warp a slice and a lane a row (of B x B blocks): each lane points at its
 * next entry, the least column - row among them becomes a diagonal, and the lanes that have it go on. The lanes read
 * columns, or values, of different rows: what a slice needs at a time stays in the L1 cache, so the kernels use no
 * shared memory. */
#pragma once

#include "arith.cuh"
#include "matrices/matrices.h"

enum { BUILD_WARPS = 4 }; /* of a block */

struct diagonals_build {
    lsp_csr A; /* columns fit 32 bits */
    int64_t slices;
    int b;
    int64_t *first; /* _count sets first[s + 1] to the diagonals of slice s, unless it is NULL */
    lsp_diagonal *at;
    void *values;
    int64_t limit[LSP_DIAGONALS_SIZES]; /* _count stops beyond, and does nothing if larger blocks were found */
    lsp_diagonals_found *found;         /* of all sizes, without limits. _count adds to that of its size */
};

/* Where a lane's row stands. */
struct build_row {
    int row;
    int64_t at, end;
    unsigned head; /* column - row of the next entry, ordered as unsigned; all bits set at the end */
};

template <int B> __device__ inline void build_look(build_row *r, int col) {
    r->head = r->at >= r->end ? ~0u : (unsigned)(col / B - r->row) ^ 0x80000000u;
}

/* The slices of a warp in turn. Row pointers are read two slices ahead, first columns one slice ahead, so that a warp
 * waits for neither. */
struct build_walk {
    int64_t slice, step, at[2], end[2]; /* of the next slice, and of that behind it */
    int col;                            /* of the next slice */
};

template <int B> __device__ inline void build_read_rows(const diagonals_build &build, build_walk *walk, int64_t slice) {
    const int64_t row = min((slice * WARP + (int)threadIdx.x % WARP) * B, build.A.rows);
    walk->at[1] = lsp_csr_rowptr(&build.A, row);
    walk->end[1] = lsp_csr_rowptr(&build.A, min(row + 1, build.A.rows));
}
__device__ inline void build_read_columns(const diagonals_build &build, build_walk *walk) {
    walk->at[0] = walk->at[1];
    walk->end[0] = walk->end[1];
    walk->col = walk->at[0] < walk->end[0] ? (int)lsp_csr_col(&build.A, walk->at[0]) : 0;
}

template <int B> __device__ inline build_walk build_start(const diagonals_build &build) {
    build_walk walk;
    walk.slice = (int64_t)blockIdx.x * BUILD_WARPS + threadIdx.x / WARP;
    walk.step = (int64_t)gridDim.x * BUILD_WARPS;
    build_read_rows<B>(build, &walk, walk.slice);
    build_read_columns(build, &walk);
    build_read_rows<B>(build, &walk, walk.slice + walk.step);
    return walk;
}

/* The rows of walk->slice; begins to read the slices behind it. */
template <int B> __device__ inline build_row build_begin(const diagonals_build &build, build_walk *walk) {
    build_row r = {(int)walk->slice * WARP + (int)threadIdx.x % WARP, walk->at[0], walk->end[0], 0};
    build_look<B>(&r, walk->col);
    build_read_columns(build, walk);
    build_read_rows<B>(build, walk, walk->slice + 2 * walk->step);
    return r;
}

/* The next diagonal; the same in every lane. false at the end. */
template <int B> __device__ inline bool build_next(const diagonals_build &build, build_row *r, lsp_diagonal *d) {
    const unsigned least = __reduce_min_sync(~0u, r->head);
    d->rows = __ballot_sync(~0u, r->head == least);
    d->offset = (int)(least ^ 0x80000000u);
    if (least == ~0u) {
        return false;
    }
    if (r->head == least) {
        r->at += B;
        build_look<B>(r, r->at < r->end ? (int)lsp_csr_col(&build.A, r->at) : 0);
    }
    return true;
}

/* The diagonals of a slice, or more than the limit if it begins with many poor ones. */
template <int B> __device__ inline int64_t build_count(const diagonals_build &build, build_row *r) {
    int64_t count = 0, rows = 0;
    lsp_diagonal d;
    while (build_next<B>(build, r, &d)) {
        rows += __popc(d.rows);
        count++;
        if (lsp_diagonals_are_poor(count, rows, build.limit[B])) {
            return build.limit[B] + 1;
        }
    }
    return count;
}

/* Have larger blocks been found? */
template <int B> __device__ inline bool build_is_needless(const diagonals_build &build) {
    bool needless = false;
    for (int b = B + 1; b < LSP_DIAGONALS_SIZES; b++) {
        lsp_diagonals_found larger = build.found[b];
        larger.limit = build.limit[b];
        needless = needless || lsp_diagonals_is_offered(&larger);
    }
    return needless;
}

template <int B>
static __global__ void __launch_bounds__(BUILD_WARPS *WARP) kernel_diagonals_count(diagonals_build build) {
    const int lane = (int)threadIdx.x % WARP;
    lsp_diagonals_found *const found = build.found + B;
    ull sum = 0;
    int done = 0;
    if (build_is_needless<B>(build)) {
        return;
    }
    for (build_walk walk = build_start<B>(build); walk.slice < build.slices; walk.slice += walk.step) {
        build_row r = build_begin<B>(build, &walk);
        const int64_t row = (int64_t)r.row * B;
        if (B > 1 && !__all_sync(~0u, row >= build.A.rows || lsp_diagonals_is_dense(&build.A, B, row, r.at, r.end))) {
            found->no_blocks = true;
        }
        const int64_t count = build_count<B>(build, &r);
        sum += (ull)count;
        done++;
        if (lane == 0 && build.first) {
            build.first[walk.slice + 1] = count;
        }
        /* Often at first, so that a poor matrix is left early; rarely later: all warps add to one word. */
        if ((done & (done - 1)) == 0 || done % 32 == 0 || walk.slice + walk.step >= build.slices) {
            ull before = 0;
            int no_blocks = 0;
            if (lane == 0) {
                before = atomicAdd((ull *)&found->total, sum);
                no_blocks = *(volatile bool *)&found->no_blocks;
            }
            before = __shfl_sync(~0u, before, 0) + sum;
            sum = 0;
            if (before > (ull)build.limit[B] || __shfl_sync(~0u, no_blocks, 0) != 0) {
                return;
            }
        }
    }
}

template <int B>
static __global__ void __launch_bounds__(BUILD_WARPS *WARP) kernel_diagonals_place(diagonals_build build) {
    const int lane = (int)threadIdx.x % WARP;
    for (build_walk walk = build_start<B>(build); walk.slice < build.slices; walk.slice += walk.step) {
        const int64_t begin = build.first[walk.slice], end = build.first[walk.slice + 1];
        build_row r = build_begin<B>(build, &walk);
        lsp_diagonal d = {0, 0}, mine = {0, 0};
        for (int64_t k = begin; k < end; k += WARP) {
            for (int q = 0; q < WARP && k + q < end && build_next<B>(build, &r, &d); q++) {
                mine = q == lane ? d : mine;
            }
            if (k + lane < end) {
                build.at[k + lane] = mine;
            }
        }
    }
}

/* Values into place. The rows of a slice walk along its diagonals as they did in the merge. */
template <typename V, int B>
static __global__ void __launch_bounds__(BUILD_WARPS *WARP) kernel_diagonals_fill(diagonals_build build) {
    enum { AHEAD = B == 1 ? 4 : B == 2 ? 2 : 1 }; /* diagonals whose values a lane has in flight */
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const int64_t step = (int64_t)gridDim.x * BUILD_WARPS;
    const V *val = (const V *)build.A.val;
    for (int64_t slice = (int64_t)blockIdx.x * BUILD_WARPS + warp; slice < build.slices; slice += step) {
        const int64_t row = (slice * WARP + lane) * B, end = build.first[slice + 1];
        int64_t at[B];
        for (int i = 0; i < B; i++) {
            at[i] = lsp_csr_rowptr(&build.A, min(row + i, build.A.rows));
        }
        for (int64_t d = build.first[slice]; d < end; d += AHEAD) {
            V v[AHEAD][B * B] = {};
#pragma unroll
            for (int a = 0; a < AHEAD; a++) {
                if (d + a < end && (build.at[d + a].rows >> lane & 1) != 0) {
#pragma unroll
                    for (int ij = 0; ij < B * B; ij++) { /* new values may have another structure: stay inside */
                        v[a][ij] = val[max(min(at[ij / B] + ij % B, build.A.nnz - 1), (int64_t)0)];
                    }
                    for (int i = 0; i < B; i++) {
                        at[i] += B;
                    }
                }
            }
#pragma unroll
            for (int a = 0; a < AHEAD; a++) {
                V *to = (V *)build.values + (d + a) * (WARP * B * B) + lane;
                for (int ij = 0; d + a < end && ij < B * B; ij++) {
                    __stcs(to + ij * WARP, v[a][ij]);
                }
            }
        }
    }
}
