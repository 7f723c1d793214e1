/* Finds the diagonals of slices by a merge, a warp a slice and a lane a row: each lane points at its next entry, the
 * least column - row among them becomes a diagonal, and the lanes that have it go on. The columns of a slice, or its
 * values, come to shared memory first, in order: lanes of different rows would read them in pieces. */
#ifndef LSP_SPMV_GPU_KERNEL_DIAGONALS_BUILD_CUH
#define LSP_SPMV_GPU_KERNEL_DIAGONALS_BUILD_CUH

#include "core/block.cuh"
#include "spmv/diagonals.h"

enum { BUILD_WARPS = 4, BUILD_ROOM = 1024 }; /* warps of a block; entries of a slice that fit shared memory */

/* What counting found of one block size. */
struct diagonals_found {
    unsigned long long total; /* diagonals, or more than the limit */
    unsigned no_blocks, unused;
};

struct diagonals_build {
    const void *rowptr, *col, *val;
    bool wide_rowptr, wide_col;
    int64_t rows, nnz, slices;
    int b;
    int64_t *first; /* _count sets first[s + 1] to the diagonals of slice s, unless it is NULL */
    lsp_diagonal *at;
    void *values;
    int64_t limit;                  /* _count stops beyond; INT64_MAX: none */
    diagonals_found *found;         /* _count adds to it */
    const diagonals_found *instead; /* of larger blocks, `instead_limit`: if these were found, _count does nothing */
    int64_t instead_limit[LSP_SPMV_LARGEST_BLOCK + 1];
};

__device__ inline int64_t build_rowptr(const diagonals_build &build, int64_t row) {
    return build.wide_rowptr ? ((const int64_t *)build.rowptr)[row] : (int64_t)((const int32_t *)build.rowptr)[row];
}
__device__ inline int64_t build_col(const diagonals_build &build, int64_t k) {
    return build.wide_col ? ((const int64_t *)build.col)[k] : (int64_t)((const int32_t *)build.col)[k];
}

/* Where a lane's row stands. `staged`: the columns from entry `base` on, or NULL. */
struct build_row {
    int64_t row, at, end, base;
    const int32_t *staged;
    unsigned head; /* column - row of the next entry, ordered as unsigned; all bits set at the end */
};

__device__ inline void build_look(const diagonals_build &build, build_row *r) {
    const int64_t col = r->at >= r->end ? 0 : r->staged ? r->staged[r->at - r->base] : build_col(build, r->at);
    r->head = r->at >= r->end ? ~0u : (unsigned)(int)(col / build.b - r->row) ^ 0x80000000u;
}

__device__ inline build_row build_begin(const diagonals_build &build, int64_t slice, int32_t *room) {
    const int lane = (int)threadIdx.x % WARP;
    build_row r;
    r.row = slice * WARP + lane;
    const int64_t row = min(r.row * build.b, build.rows), last = min(row + build.b, build.rows);
    r.at = build_rowptr(build, row);
    r.end = build_rowptr(build, min(row + 1, build.rows));
    r.base = __shfl_sync(~0u, r.at, 0);
    const int64_t n = __shfl_sync(~0u, build_rowptr(build, last), WARP - 1) - r.base;
    r.staged = n <= BUILD_ROOM ? room : NULL;
    if (r.staged) {
        __syncwarp(); /* the slice before has been read */
        for (int k = lane; k < n; k += WARP) {
            room[k] = (int32_t)build_col(build, r.base + k);
        }
        __syncwarp();
    }
    build_look(build, &r);
    return r;
}

/* The next diagonal; the same in every lane. false at the end. */
__device__ inline bool build_next(const diagonals_build &build, build_row *r, lsp_diagonal *d) {
    const unsigned least = __reduce_min_sync(~0u, r->head);
    d->rows = __ballot_sync(~0u, r->head == least);
    d->offset = (int)(least ^ 0x80000000u);
    if (least == ~0u) {
        return false;
    }
    if (r->head == least) {
        r->at += build.b;
        build_look(build, r);
    }
    return true;
}

/* Are the entries of this lane's b rows the rows of dense blocks? `r` stands at the beginning. */
__device__ inline bool build_has_blocks(const diagonals_build &build, const build_row &r) {
    const int64_t length = r.end - r.at;
    bool dense = length % build.b == 0;
    for (int i = 1; i < build.b && length > 0; i++) {
        const int64_t row = r.row * build.b + i;
        dense = dense && build_rowptr(build, row + 1) - build_rowptr(build, row) == length;
    }
    for (int i = 1; i < build.b && length == 0 && r.row * build.b < build.rows; i++) {
        const int64_t row = r.row * build.b + i;
        dense = dense && build_rowptr(build, row + 1) == build_rowptr(build, row);
    }
    for (int64_t k = 0; dense && k < length; k += build.b) {
        const int64_t corner = build_col(build, r.at + k);
        dense = corner % build.b == 0;
        for (int ij = 0; dense && ij < build.b * build.b; ij++) {
            dense = build_col(build, r.at + ij / build.b * length + k + ij % build.b) == corner + ij % build.b;
        }
    }
    return dense;
}

/* Diagonals of a slice. With a limit, a slice that begins with many poor ones counts as beyond it. */
__device__ inline int64_t build_count(const diagonals_build &build, build_row *r) {
    int64_t count = 0, rows = 0;
    lsp_diagonal d;
    while (build_next(build, r, &d)) {
        rows += __popc(d.rows);
        count++;
        if (count % LSP_DIAGONALS_PATIENCE == 0 && build.limit != INT64_MAX &&
            (double)(count * WARP) > LSP_DIAGONALS_FILL * (double)rows) {
            return build.limit + 1;
        }
    }
    return count;
}

static __global__ void __launch_bounds__(BUILD_WARPS *WARP) kernel_diagonals_count(diagonals_build build) {
    __shared__ int32_t room[BUILD_WARPS][BUILD_ROOM];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const int64_t step = (int64_t)gridDim.x * BUILD_WARPS;
    unsigned long long sum = 0;
    int done = 0;
    for (int b = 2; build.instead && b <= LSP_SPMV_LARGEST_BLOCK; b++) {
        const diagonals_found *other = build.instead + b;
        if (build.instead_limit[b] > 0 && other->no_blocks == 0 &&
            other->total <= (unsigned long long)build.instead_limit[b]) {
            return;
        }
    }
    for (int64_t slice = (int64_t)blockIdx.x * BUILD_WARPS + warp; slice < build.slices; slice += step) {
        build_row r = build_begin(build, slice, room[warp]);
        if (build.b > 1 && !__all_sync(~0u, build_has_blocks(build, r))) {
            build.found->no_blocks = 1;
        }
        const int64_t count = build_count(build, &r);
        sum += (unsigned long long)count;
        done++;
        if (lane == 0 && build.first) {
            build.first[slice + 1] = count;
        }
        /* Often at first, so that a poor matrix is left early; rarely later: all warps add to one word. */
        if ((done & (done - 1)) == 0 || done % 32 == 0 || slice + step >= build.slices) {
            unsigned long long before = 0;
            unsigned no_blocks = 0;
            if (lane == 0) {
                before = atomicAdd(&build.found->total, sum);
                no_blocks = *(volatile unsigned *)&build.found->no_blocks;
            }
            before = __shfl_sync(~0u, before, 0) + sum;
            sum = 0;
            if (before > (unsigned long long)build.limit || __shfl_sync(~0u, no_blocks, 0) != 0) {
                return;
            }
        }
    }
}

static __global__ void __launch_bounds__(BUILD_WARPS *WARP) kernel_diagonals_place(diagonals_build build) {
    __shared__ int32_t room[BUILD_WARPS][BUILD_ROOM];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const int64_t step = (int64_t)gridDim.x * BUILD_WARPS;
    for (int64_t slice = (int64_t)blockIdx.x * BUILD_WARPS + warp; slice < build.slices; slice += step) {
        const int64_t end = build.first[slice + 1];
        build_row r = build_begin(build, slice, room[warp]);
        lsp_diagonal d = {0, 0}, mine = {0, 0};
        for (int64_t k = build.first[slice]; k < end; k += WARP) {
            for (int q = 0; q < WARP && k + q < end && build_next(build, &r, &d); q++) {
                mine = q == lane ? d : mine;
            }
            if (k + lane < end) {
                build.at[k + lane] = mine;
            }
        }
    }
}

/* Values into place. The rows of a slice walk along its diagonals as they did in the merge. */
template <typename V>
static __global__ void __launch_bounds__(BUILD_WARPS *WARP) kernel_diagonals_fill(diagonals_build build) {
    __shared__ V room[BUILD_WARPS][BUILD_ROOM];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP, b = build.b;
    const int64_t step = (int64_t)gridDim.x * BUILD_WARPS;
    const V *val = (const V *)build.val;
    for (int64_t slice = (int64_t)blockIdx.x * BUILD_WARPS + warp; slice < build.slices; slice += step) {
        const int64_t row = min((slice * WARP + lane) * b, build.rows), last = min(row + b, build.rows);
        int64_t at[LSP_SPMV_LARGEST_BLOCK];
        for (int i = 0; i < LSP_SPMV_LARGEST_BLOCK; i++) {
            at[i] = i < b ? build_rowptr(build, min(row + i, build.rows)) : 0;
        }
        const int64_t base = __shfl_sync(~0u, at[0], 0);
        const int64_t n = __shfl_sync(~0u, build_rowptr(build, last), WARP - 1) - base;
        /* The structure of new values is not checked: stay inside the arrays. */
        const bool staged = n >= 0 && n <= BUILD_ROOM && base >= 0 && base + n <= build.nnz;
        const int64_t low = staged ? base : 0, high = staged ? base + n - 1 : build.nnz - 1;
        const V *from = staged ? room[warp] : val;
        __syncwarp();
        for (int k = lane; staged && k < n; k += WARP) {
            room[warp][k] = __ldcs(val + base + k);
        }
        __syncwarp();
        for (int64_t d = build.first[slice]; d < build.first[slice + 1]; d++) {
            const bool here = (build.at[d].rows >> lane & 1) != 0;
            V *to = (V *)build.values + d * WARP * b * b + lane;
#pragma unroll
            for (int i = 0; i < LSP_SPMV_LARGEST_BLOCK; i++) {
                for (int j = 0; i < b && j < b; j++) {
                    const int64_t k = max(min(at[i] + j, high), low) - low;
                    to[(i * b + j) * WARP] = here ? from[k] : (V)0;
                }
                at[i] += here ? b : 0;
            }
        }
    }
}

#endif
