/* Makes the layout of the persistent kernel from CSR on the GPU. A warp takes a row: it counts the row's entries in
 * each column block; chunks of equal work are found in the prefix sums of that; rows are sorted by length in each chunk
 * (segmented sort); then a warp brings each entry of its row to its place. */
#pragma once

#include "job.cuh"
#include "matrices/matrices.h"

enum {
    LAYOUT_NT = 256,
    LAYOUT_WARPS = LAYOUT_NT / WARP,
    ROW_COST = 4,  /* of a row, in entries of a lane */
    ROWS_BITS = 30 /* a prefix sum counts rows in these bits, and their work above */
};

/* count[c * n + i]: entries of row i in column block c. work[]: of the column blocks from the row's first to its last,
 * 1 + the work << ROWS_BITS. Row i has a partial sum in these blocks alone. */
static __global__ void __launch_bounds__(LAYOUT_NT)
    kernel_count(lsp_csr csr, resident_matrix A, int lanes, int *count, long long *work) {
    LSP_DYNAMIC_SHARED(shared);
    const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    int *const mine = (int *)shared + warp * A.columns;
    for (int i = (int)blockIdx.x * LAYOUT_WARPS + warp; i < A.n; i += (int)gridDim.x * LAYOUT_WARPS) {
        const long long begin = lsp_csr_rowptr(&csr, i);
        const long long end = lsp_csr_rowptr(&csr, i + 1);
        int first = A.columns, beyond = 0;
        for (int c = lane; c < A.columns; c += WARP) {
            mine[c] = 0;
        }
        __syncwarp();
        for (long long k = begin + lane; k < end; k += WARP) {
            const int c = (int)lsp_csr_col(&csr, k) / A.width;
            atomicAdd(mine + c, 1);
            first = min(first, c);
            beyond = max(beyond, c + 1);
        }
        __syncwarp();
        beyond = warp_max(beyond);
        first = beyond == 0 ? 0 : A.columns - warp_max(A.columns - first);
        for (int c = lane; c < A.columns; c += WARP) {
            const long long padded = (mine[c] + lanes - 1) / lanes * lanes + ROW_COST * lanes;
            count[(long long)c * A.n + i] = mine[c];
            work[(long long)c * A.n + i] = c >= first && c < beyond ? 1 + (padded << ROWS_BITS) : 0;
        }
        if (lane == 0) {
            A.range[i] = (unsigned)first | (unsigned)beyond << 16;
        }
        __syncwarp();
    }
}

/* Cuts each column block into chunks of about equal work. sums: the inclusive prefix sums of work. */
static __global__ void __launch_bounds__(LAYOUT_NT) kernel_cut(resident_matrix A, const long long *sums) {
    const int b = (int)(blockIdx.x * LAYOUT_NT + threadIdx.x), blocks = A.columns * A.chunks;
    const long long rows = (1ll << ROWS_BITS) - 1;
    if (b <= blocks) {
        const long long first = (long long)(b / A.chunks) * A.n; /* for b == blocks: the end of all */
        const long long before = first > 0 ? sums[first - 1] : 0;
        long long low = first, high = b < blocks ? first + A.n : first;
        if (b < blocks) {
            const long long all = (sums[high - 1] >> ROWS_BITS) - (before >> ROWS_BITS);
            const long long least = (before >> ROWS_BITS) + all * (b % A.chunks) / A.chunks;
            high = b % A.chunks == 0 ? low : high;
            while (low < high) { /* the first row before which there is so much work */
                const long long middle = (low + high) / 2;
                const long long done = (middle > 0 ? sums[middle - 1] : 0) >> ROWS_BITS;
                low = done < least ? middle + 1 : low;
                high = done < least ? high : middle;
            }
        }
        A.row_begin[b] = (int)((low > 0 ? sums[low - 1] : 0) & rows);
    }
}

/* Lists the rows of each block, with their lengths as keys. */
static __global__ void __launch_bounds__(LAYOUT_NT)
    kernel_list(resident_matrix A, const long long *sums, const int *count, unsigned *length, int *row) {
    const long long rows = (1ll << ROWS_BITS) - 1, total = (long long)A.columns * A.n;
    for (long long at = blockIdx.x * (long long)LAYOUT_NT + threadIdx.x; at < total;
         at += (long long)gridDim.x * LAYOUT_NT) {
        const long long to = (sums[at] & rows) - 1;
        if (to >= 0 && to != (at > 0 ? (sums[at - 1] & rows) : 0) - 1) {
            length[to] = (unsigned)count[at];
            row[to] = (int)(at % A.n);
        }
    }
}

/* slice_begin[] from row_begin[], and the largest numbers of rows and slices of a block; one block. */
static __global__ void __launch_bounds__(MOST_BLOCKS) kernel_slices(resident_matrix A, int rows_a_slice, int *most) {
    __shared__ int sums[MOST_BLOCKS / WARP], largest[2];
    const int b = (int)threadIdx.x, blocks = A.columns * A.chunks;
    const int rows = b < blocks ? A.row_begin[b + 1] - A.row_begin[b] : 0;
    const int slices = (rows + rows_a_slice - 1) / rows_a_slice;
    int total;
    if (b < 2) {
        largest[b] = 0;
    }
    const int before = block_scan(slices, sums, &total);
    if (b < blocks) {
        A.slice_begin[b] = before;
        atomicMax(&largest[0], rows);
        atomicMax(&largest[1], slices);
    }
    if (b == 0) {
        A.slice_begin[blocks] = total;
    }
    __syncthreads();
    if (b < 2) {
        most[b] = largest[b];
    }
}

/* Block b: the steps of each of its slices, and where each of its rows is. length: sorted. */
static __global__ void __launch_bounds__(LAYOUT_NT)
    kernel_place(resident_matrix A, int lanes, const unsigned *length, long long *steps) {
    const int b = (int)blockIdx.x, first = A.row_begin[b], rows = A.row_begin[b + 1] - first;
    const int slice = A.slice_begin[b], in_slice = WARP / lanes;
    for (int r = (int)threadIdx.x; r < rows; r += LAYOUT_NT) {
        A.place[(long long)(b / A.chunks) * A.n + A.row[first + r]] = (unsigned)(slice * in_slice + r);
        if (r % in_slice == 0) {
            steps[slice + r / in_slice] = (length[first + r] + (unsigned)lanes - 1) / (unsigned)lanes;
        }
    }
}

/* step_begin[] from the inclusive prefix sums of the steps. */
static __global__ void __launch_bounds__(LAYOUT_NT)
    kernel_begin_steps(resident_matrix A, const long long *sums, int slices) {
    for (int s = (int)(blockIdx.x * LAYOUT_NT + threadIdx.x); s <= slices; s += (int)gridDim.x * LAYOUT_NT) {
        A.step_begin[s] = s > 0 ? (unsigned)sums[s - 1] : 0;
    }
}

/* Every column becomes padding. */
static __global__ void __launch_bounds__(LAYOUT_NT) kernel_pad(resident_matrix A, long long words) {
    for (long long w = blockIdx.x * (long long)LAYOUT_NT + threadIdx.x; w < words;
         w += (long long)gridDim.x * LAYOUT_NT) {
        ((unsigned *)A.col)[w] = (unsigned)A.width << 16 | (unsigned)A.width;
    }
}

/* Where entry e of a row is in A.val and A.col: in a group, or in one of the slice's last steps. */
__device__ inline void layout_find(const resident_matrix &A, int lanes, unsigned place, int e, long long *val,
                                   long long *col) {
    const unsigned in_slice = (unsigned)(WARP / lanes), slice = place / in_slice;
    const unsigned begin = A.step_begin[slice], steps = A.step_begin[slice + 1] - begin;
    const int lane = (int)(place % in_slice) * lanes, wide = GROUP * lanes, step = e / wide * GROUP;
    if (step + GROUP <= (int)steps) {
        const long long at = ((long long)begin + step) * WARP;
        const int in_group = e % wide, quarter = in_group % GROUP, to = lane + in_group / GROUP;
        *val = at + quarter / 2 * 2 * WARP + to * 2 + quarter % 2;
        *col = at + to * GROUP + quarter;
    } else {
        *val = *col = ((long long)begin + step + e % wide / lanes) * WARP + lane + e % lanes;
    }
}

/* Brings each entry to its place. The entries of a row keep their order. COLUMNS: not only the values. */
template <bool COLUMNS>
static __global__ void __launch_bounds__(LAYOUT_NT) kernel_fill(lsp_csr csr, resident_matrix A, int lanes) {
    LSP_DYNAMIC_SHARED(shared);
    const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    int *const met = (int *)shared + warp * 2 * A.columns; /* entries so far in each column block; then the places */
    for (int i = (int)blockIdx.x * LAYOUT_WARPS + warp; i < A.n; i += (int)gridDim.x * LAYOUT_WARPS) {
        const long long begin = lsp_csr_rowptr(&csr, i);
        const long long end = lsp_csr_rowptr(&csr, i + 1);
        const int from = (int)(A.range[i] & 0xFFFF), to = (int)(A.range[i] >> 16);
        for (int c = from + lane; c < to; c += WARP) {
            met[c] = 0;
            met[A.columns + c] = (int)A.place[(long long)c * A.n + i];
        }
        __syncwarp();
        for (long long first = begin; first < end; first += WARP) {
            const long long k = first + lane;
            const int column = k < end ? (int)lsp_csr_col(&csr, k) : -1;
            const int c = k < end ? column / A.width : -1;
            const unsigned peers = __match_any_sync(~0u, (unsigned)c), before = peers & ((1u << lane) - 1);
            const int e = k < end ? met[c] + __popc(before) : 0;
            __syncwarp();
            if (k < end) {
                long long val, at;
                layout_find(A, lanes, (unsigned)met[A.columns + c], e, &val, &at);
                A.val[val] = lsp_solve_value(csr.val_type, csr.val, k);
                if (COLUMNS) {
                    A.col[at] = (uint16_t)(column - c * A.width);
                }
                if (before == 0) {
                    met[c] += __popc(peers);
                }
            }
            __syncwarp();
        }
    }
}
