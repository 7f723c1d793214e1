/* The kernels of a transpose by bins. A bin is `width` columns of A, whose entries fit the shared memory of a block.
 * kernel_bin_count checks A and counts the entries of each bin, kernel_bin_starts makes a prefix sum of the counts,
 * kernel_bin_move puts the entries into their bins through shared memory, bin_sort sorts each bin by column there,
 * kernel_bin_write writes the entries of each column by row. */
#pragma once

#include "bins.cuh"

static __device__ uint32_t bin_of(const bin_cut &cut, uint32_t j) {
    return (uint32_t)(((ull)j * cut.high + __umulhi(j, cut.low)) >> 32);
}

static __global__ void __launch_bounds__(NT) kernel_bin_count(bin_job job) {
    LSP_DYNAMIC_SHARED(memory);
    uint32_t *counts = (uint32_t *)memory;
    ull falls = 0, row_falls = 0;
    bool fault = rowptr_at(job.A, 0) != 0 || rowptr_at(job.A, job.A.rows) != job.A.nnz;
    for (uint32_t b = threadIdx.x; b < job.bins; b += NT) {
        counts[b] = 0;
    }
    __syncthreads();
    for (int64_t tile = blockIdx.x; tile * BIN_COUNT_TILE < job.A.nnz; tile += gridDim.x) {
        const int64_t end = min((tile + 1) * (int64_t)BIN_COUNT_TILE, job.A.nnz);
        for (int64_t first = tile * BIN_COUNT_TILE + threadIdx.x; first < end; first += NT * BIN_EACH) {
            int64_t column[BIN_EACH];
            for (int e = 0; e < BIN_EACH; e++) {
                const int64_t k = first + e * NT;
                column[e] = k < end ? col_at(job.A, k) : 0;
                falls += k < end && k > 0 && column[e] <= col_at(job.A, k - 1);
            }
            for (int e = 0; e < BIN_EACH; e++) {
                const bool inside = column[e] >= 0 && column[e] < job.A.cols;
                fault |= !inside;
                if (first + e * NT < end && inside) {
                    atomicAdd(counts + bin_of(job.cut, (uint32_t)column[e]), 1u);
                }
            }
        }
    }
    EACH_ITEM(i, job.A.rows, NT) {
        const int64_t k = rowptr_at(job.A, i), end = rowptr_at(job.A, i + 1);
        fault |= k > end;
        row_falls += k > 0 && k < end && k < job.A.nnz && col_at(job.A, k) <= col_at(job.A, k - 1);
        if (k >= 0 && k < end && end <= job.A.nnz) {
            const uint32_t last = ((uint32_t)end - 1) / ENTRY_TILE;
            for (uint32_t t = ((uint32_t)k + ENTRY_TILE - 1) / ENTRY_TILE; t <= last; t++) {
                job.tile_row[t] = (uint32_t)i;
            }
        }
    }
    falls = warp_sum(falls), row_falls = warp_sum(row_falls);
    if (fault) {
        atomicAdd(&job.facts->faults, 1ull);
    }
    if (lane_of() == 0) {
        atomicAdd(&job.facts->falls, falls);
        atomicAdd(&job.facts->row_falls, row_falls);
    }
    __syncthreads();
    ull runs = 0;
    for (uint32_t b = threadIdx.x; b < job.bins; b += NT) {
        if (counts[b] > 0) {
            atomicAdd(&job.starts[b], counts[b]);
            runs++;
        }
    }
    runs = warp_sum(runs);
    if (lane_of() == 0) {
        atomicAdd(&job.facts->runs, runs);
    }
}

/* Replaces the counts by their exclusive prefix sums; one block. */
static __global__ void __launch_bounds__(NT) kernel_bin_starts(bin_job job) {
    __shared__ uint32_t sums[WARPS];
    uint32_t before = 0, total, fullest = 0;
    for (uint32_t first = 0; first < job.bins; first += NT) {
        const uint32_t b = first + threadIdx.x, count = b < job.bins ? job.starts[b] : 0;
        const uint32_t start = before + block_scan(count, sums, &total);
        fullest = max(fullest, count);
        if (b < job.bins) {
            job.starts[b] = job.next[b] = start;
        }
        before += total;
    }
    if (threadIdx.x == 0) {
        job.starts[job.bins] = before;
    }
    fullest = warp_max(fullest);
    if (lane_of() == 0) {
        atomicMax(&job.facts->fullest, (ull)fullest);
    }
}

/* Shared memory: values, rows and columns of a tile in the order of bins, then two words a bin. */
static inline LSP_BOTH_SIDES size_t bin_move_bytes(int tile, uint32_t bins, int value_bytes) {
    return (size_t)tile * (size_t)(value_bytes + 8) + (size_t)bins * 8;
}

/* places[b] = where bin b begins in the tile; to_global[b] = how far its run lies behind that in the packed arrays. */
template <int MOVE_NT> static __device__ void place_runs(const bin_job &job, uint32_t *places, uint32_t *to_global) {
    __shared__ uint32_t sums[MOVE_NT / 32];
    uint32_t before = 0, total;
    for (uint32_t first = 0; first < job.bins; first += MOVE_NT) {
        const uint32_t b = first + threadIdx.x, count = b < job.bins ? places[b] : 0;
        const uint32_t place = before + block_scan(count, sums, &total);
        if (count > 0) {
            to_global[b] = atomicAdd(&job.next[b], count) - place;
        }
        if (b < job.bins) {
            places[b] = place;
        }
        before += total;
    }
}

/* Entries of a thread, at most: their values, rows and columns fill the shared memory of a multiprocessor. */
static inline LSP_BOTH_SIDES constexpr int bin_move_vt(int value_bytes) {
    return value_bytes == 16 ? 8 : value_bytes == 8 ? 12 : 14;
}

/* The largest x of all threads before this one, at least 0. */
template <int MOVE_NT> static __device__ uint32_t max_before(uint32_t x) {
    __shared__ uint32_t of_warp[MOVE_NT / 32];
    const int lane = lane_of(), warp = (int)threadIdx.x / 32;
    for (int step = 1; step < 32; step *= 2) {
        x = max(x, __shfl_up_sync(~0u, x, step));
    }
    if (lane == 31) {
        of_warp[warp] = x;
    }
    __syncthreads();
    const uint32_t before = warp_max(lane < warp ? of_warp[lane] : 0);
    const uint32_t lower = __shfl_up_sync(~0u, x, 1);
    return max(before, lane > 0 ? lower : 0);
}

/* Sets rows[i] = the row of entry begin + i less that of entry `begin`, for the n entries of this block's tile: each
 * row marks its first entry, and the marks spread to the right. rows[] is zero before. Begins and ends with a barrier.
 */
template <int MOVE_NT> static __device__ void find_rows(const bin_job &job, uint32_t *rows, int64_t begin, uint32_t n) {
    const uint32_t each = (n + MOVE_NT - 1) / MOVE_NT;
    const uint32_t from = min(threadIdx.x * each, n), to = min(from + each, n);
    enum { EACH = MOVE_NT / BIN_TILE_NT }; /* tiles */
    const unsigned tile = blockIdx.x * EACH, next = tile + EACH;
    const unsigned each_tile = (unsigned)job.tile / ENTRY_TILE;
    const int64_t low = job.tile_row[tile * each_tile],
                  high = next < (unsigned)job.tiles ? job.tile_row[next * each_tile] : job.A.rows - 1;
    uint32_t row = 0;
    __syncthreads();
    for (int64_t i = low + 1 + threadIdx.x; i <= high; i += MOVE_NT) {
        const int64_t first = rowptr_at(job.A, i);
        if (first < rowptr_at(job.A, i + 1) && first < begin + n) {
            rows[first - begin] = (uint32_t)(i - low);
        }
    }
    __syncthreads();
    for (uint32_t i = from; i < to; i++) {
        row = max(row, rows[i]);
    }
    row = max_before<MOVE_NT>(row);
    for (uint32_t i = from; i < to; i++) {
        rows[i] = row = max(row, rows[i]);
    }
    __syncthreads();
}

/* All values of a thread are loaded before it stores the first: the kernel waits for memory, not for instructions. */
template <int VB, int MOVE_NT>
static __global__ void __launch_bounds__(MOVE_NT, 1024 / MOVE_NT) kernel_bin_move(bin_job job) {
    constexpr int vt = bin_move_vt(VB);
    LSP_DYNAMIC_SHARED(memory);
    const int64_t tile = (int64_t)job.tile * (MOVE_NT / BIN_TILE_NT), begin = (int64_t)blockIdx.x * tile;
    const uint32_t n = (uint32_t)min(tile, job.A.nnz - begin), first_row = job.tile_row[begin / ENTRY_TILE];
    void *val = memory;
    uint32_t *row = (uint32_t *)(memory + tile * VB), *col = row + tile; /* col: bin, column in it */
    uint32_t *places = col + tile, *to_global = places + job.bins;
    uint32_t column[vt], at[vt], own[vt];
    ull held[vt][2]; /* values */
#pragma unroll
    for (int r = 0; r < vt; r++) {
        const uint32_t i = threadIdx.x + (uint32_t)r * MOVE_NT;
        column[r] = i < n ? (uint32_t)col_at(job.A, begin + i) : 0;
        if (i < n) {
            row[i] = 0;
        }
    }
    for (uint32_t b = threadIdx.x; b < job.bins; b += MOVE_NT) {
        places[b] = 0;
    }
    find_rows<MOVE_NT>(job, row, begin, n);
#pragma unroll
    for (int r = 0; r < vt; r++) {
        const uint32_t i = threadIdx.x + (uint32_t)r * MOVE_NT, bin = bin_of(job.cut, column[r]);
        at[r] = i < n ? atomicAdd(places + bin, 1u) : 0;
        own[r] = i < n ? row[i] + first_row : 0;
        column[r] = bin << 16 | (column[r] - bin * job.width);
    }
    __syncthreads();
    place_runs<MOVE_NT>(job, places, to_global);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < vt; r++) {
        if (threadIdx.x + (uint32_t)r * MOVE_NT < n) {
            at[r] += places[column[r] >> 16];
            row[at[r]] = own[r];
            col[at[r]] = column[r];
        }
    }
#pragma unroll
    for (int r = 0; r < vt; r++) {
        lsp_move_value(held[r], 0, job.A.val, begin + min(threadIdx.x + (uint32_t)r * MOVE_NT, n - 1), VB);
    }
#pragma unroll
    for (int r = 0; r < vt; r++) {
        if (threadIdx.x + (uint32_t)r * MOVE_NT < n) {
            lsp_move_value(val, at[r], held[r], 0, VB);
        }
    }
    __syncthreads();
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < n; i += MOVE_NT) {
        const uint32_t j = col[i], to = i + to_global[j >> 16];
        job.col[to] = (uint16_t)j;
        job.row[to] = row[i];
        lsp_move_value(job.val, to, val, i, VB);
    }
}

/* A short column's entries find their places as they are written: the number of smaller rows in it. */
template <int VB>
static __global__ void __launch_bounds__(BIN_SORT_NT) kernel_bin_write(bin_job job, gpu_csr B, uint32_t capacity) {
    LSP_DYNAMIC_SHARED(memory);
    bin_entries<VB> e;
    const sorted_bin s = bin_sort<VB>(job, capacity, false, memory, &e);
    for (uint32_t c = threadIdx.x; c < s.w; c += BIN_SORT_NT) {
        index_set((void *)B.rowptr, B.wide_rowptr, s.column + c, (int64_t)s.base + s.starts[c]);
    }
    if (threadIdx.x == 0 && s.column + s.w == B.rows) {
        index_set((void *)B.rowptr, B.wide_rowptr, B.rows, B.nnz);
    }
    for (uint32_t i = threadIdx.x; i < s.n; i += BIN_SORT_NT) {
        const uint32_t c = e.col[i], row = e.row[i], begin = s.starts[c], end = s.starts[c + 1];
        const bool is_short = end - begin <= BIN_LONG;
        uint32_t place = is_short ? begin : i;
#pragma unroll 4
        for (uint32_t k = begin; is_short && k < end; k++) {
            place += e.row[k] < row;
        }
        index_set((void *)B.col, B.wide_col, s.base + place, row);
        lsp_move_value((void *)B.val, s.base + place, e.val, i, VB);
    }
}
