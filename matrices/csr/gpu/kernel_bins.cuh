/* The kernels of a transpose by bins. A bin is `width` columns of A, whose entries fit the shared memory of a block.
 * kernel_bin_count checks A and counts the entries of each bin, kernel_bin_starts makes a prefix sum of the counts,
 * kernel_bin_move puts the entries into their bins through shared memory, kernel_bin_sort sorts each bin by column and
 * row there. */
#ifndef LSP_MATRICES_CSR_GPU_KERNEL_BINS_CUH
#define LSP_MATRICES_CSR_GPU_KERNEL_BINS_CUH

#include "core/block.cuh"
#include "entries.cuh"

enum {
    BIN_MOVE_NT = 1024,
    BIN_SORT_NT = 512,
    BIN_MOVE_WARPS = BIN_MOVE_NT / 32,
    BIN_COUNT_TILE = 8192, /* entries */
    BIN_MOST = 4096,       /* bins: a tile's runs would be short beyond it */
    BIN_LONG = 32,         /* entries; longer columns are sorted by a warp */
    BIN_RANKED = 4,        /* entries a lane; longer columns are sorted step by step */
    BIN_EACH = 4           /* entries that a thread loads before it places the first */
};

/* What the host reads after the first two kernels. */
typedef struct bin_facts {
    ull falls, row_falls; /* entries whose column is not above the one before; of them, first entries of rows */
    ull fullest;          /* entries of the fullest bin */
    ull faults;           /* not 0: A is no matrix */
} bin_facts;

/* The bin of column j is j / width. That is the upper half of j * (2^64 / width + 1): the fraction's error, j times at
 * most 1 / 2^64, is less than 1 / width. */
typedef struct bin_cut {
    uint32_t low, high; /* of 2^64 / width + 1; width is 2 or more */
} bin_cut;

typedef struct bin_job {
    gpu_csr A, B;
    uint32_t width, bins;
    bin_cut cut;
    int tile;                /* entries that a block of kernel_bin_move takes */
    uint32_t *starts, *next; /* of bins; where the next run of a bin goes */
    uint16_t *col;           /* the entries in their bins: column in the bin, row, value */
    uint32_t *row;
    void *val;
    bin_facts *facts;
} bin_job;

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
    EACH_ITEM(i, job.A.rows) {
        const int64_t k = rowptr_at(job.A, i), end = rowptr_at(job.A, i + 1);
        fault |= k > end;
        row_falls += k > 0 && k < end && k < job.A.nnz && col_at(job.A, k) <= col_at(job.A, k - 1);
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
    for (uint32_t b = threadIdx.x; b < job.bins; b += NT) {
        if (counts[b] > 0) {
            atomicAdd(&job.starts[b], counts[b]);
        }
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
static __device__ void place_runs(const bin_job &job, uint32_t *places, uint32_t *to_global) {
    __shared__ uint32_t sums[BIN_MOVE_NT / 32];
    uint32_t before = 0, total;
    for (uint32_t first = 0; first < job.bins; first += BIN_MOVE_NT) {
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
static __device__ uint32_t max_before(uint32_t x) {
    __shared__ uint32_t of_warp[BIN_MOVE_WARPS];
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

/* Returns the row of entry `begin` and sets rows[i] = the row of entry begin + i, less that, for n entries: each row
 * marks its first entry, and the marks spread to the right. rows[] is zero before. Begins and ends with a barrier. */
static __device__ int64_t find_rows(const bin_job &job, uint32_t *rows, int64_t begin, uint32_t n) {
    __shared__ int64_t ends[2];
    const uint32_t each = (n + BIN_MOVE_NT - 1) / BIN_MOVE_NT;
    const uint32_t from = min(threadIdx.x * each, n), to = min(from + each, n);
    const int warp = (int)threadIdx.x / 32;
    uint32_t row = 0;
    if (warp < 2) {
        const int64_t found = warp_row_of(job.A, warp == 0 ? begin : begin + n - 1, 0);
        ends[warp] = found;
    }
    __syncthreads();
    for (int64_t i = ends[0] + 1 + threadIdx.x; i <= ends[1]; i += BIN_MOVE_NT) {
        const int64_t first = rowptr_at(job.A, i);
        if (first < rowptr_at(job.A, i + 1)) {
            rows[first - begin] = (uint32_t)(i - ends[0]);
        }
    }
    __syncthreads();
    for (uint32_t i = from; i < to; i++) {
        row = max(row, rows[i]);
    }
    row = max_before(row);
    for (uint32_t i = from; i < to; i++) {
        rows[i] = row = max(row, rows[i]);
    }
    __syncthreads();
    return ends[0];
}

template <int VB> static __global__ void __launch_bounds__(BIN_MOVE_NT, 1) kernel_bin_move(bin_job job) {
    constexpr int vt = bin_move_vt(VB);
    LSP_DYNAMIC_SHARED(memory);
    void *val = memory;
    uint32_t *row = (uint32_t *)(memory + (size_t)job.tile * VB), *col = row + job.tile;
    uint32_t *places = col + job.tile, *to_global = places + job.bins;
    uint32_t column[vt], rank[vt], own[vt];
    const int64_t begin = (int64_t)blockIdx.x * job.tile;
    const uint32_t n = (uint32_t)min((int64_t)job.tile, job.A.nnz - begin);
#pragma unroll
    for (int r = 0; r < vt; r++) {
        const uint32_t i = threadIdx.x + (uint32_t)r * BIN_MOVE_NT;
        column[r] = i < n ? (uint32_t)col_at(job.A, begin + i) : 0;
        if (i < n) {
            row[i] = 0;
        }
    }
    for (uint32_t b = threadIdx.x; b < job.bins; b += BIN_MOVE_NT) {
        places[b] = 0;
    }
    const uint32_t first_row = (uint32_t)find_rows(job, row, begin, n);
#pragma unroll
    for (int r = 0; r < vt; r++) {
        const uint32_t i = threadIdx.x + (uint32_t)r * BIN_MOVE_NT;
        rank[r] = i < n ? atomicAdd(places + bin_of(job.cut, column[r]), 1u) : 0;
        own[r] = i < n ? row[i] + first_row : 0;
    }
    __syncthreads();
    place_runs(job, places, to_global);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < vt; r++) {
        const uint32_t i = threadIdx.x + (uint32_t)r * BIN_MOVE_NT;
        if (i < n) {
            const uint32_t at = places[bin_of(job.cut, column[r])] + rank[r];
            row[at] = own[r];
            col[at] = column[r];
            move_value(val, at, job.A.val, begin + i, VB);
        }
    }
    __syncthreads();
    for (uint32_t at = threadIdx.x; at < n; at += BIN_MOVE_NT) {
        const uint32_t j = col[at], bin = bin_of(job.cut, j), to = at + to_global[bin];
        job.col[to] = (uint16_t)(j - bin * job.width);
        job.row[to] = row[at];
        move_value(job.val, to, val, at, VB);
    }
}

/* ---- a bin ---- */

/* Entries in shared memory. */
template <int VB> struct bin_entries {
    uint32_t *row;
    void *val;

    __device__ void swap(uint32_t a, uint32_t b) {
        const uint32_t r = row[a];
        ull held[2]; /* a value */
        row[a] = row[b], row[b] = r;
        move_value(held, 0, val, a, VB);
        move_value(val, a, val, b, VB);
        move_value(val, b, held, 0, VB);
    }
    /* A lane sorts few entries, which are nearly in order: by insertion. */
    __device__ void sort_few(uint32_t begin, uint32_t end) {
        for (uint32_t i = begin + 1; i < end; i++) {
            for (uint32_t k = i; k > begin && row[k - 1] > row[k]; k--) {
                swap(k - 1, k);
            }
        }
    }
    /* A warp sorts up to 32 * BIN_RANKED: the place of an entry is the number of rows below its own, which differ. */
    __device__ void sort_ranked(uint32_t begin, uint32_t n) {
        uint32_t own[BIN_RANKED], rank[BIN_RANKED];
        ull held[BIN_RANKED][2]; /* values */
#pragma unroll
        for (int r = 0; r < BIN_RANKED; r++) {
            const uint32_t i = begin + min((uint32_t)(lane_of() + 32 * r), n - 1);
            own[r] = row[i];
            rank[r] = 0;
            move_value(held[r], 0, val, i, VB);
        }
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t one = row[begin + k];
#pragma unroll
            for (int r = 0; r < BIN_RANKED; r++) {
                rank[r] += one < own[r];
            }
        }
        __syncwarp();
#pragma unroll
        for (int r = 0; r < BIN_RANKED; r++) {
            if ((uint32_t)(lane_of() + 32 * r) < n) {
                row[begin + rank[r]] = own[r];
                move_value(val, begin + rank[r], held[r], 0, VB);
            }
        }
        __syncwarp();
    }
    /* A warp sorts any number: bitonic, of n items as if those behind n were the largest. */
    __device__ void sort_many(uint32_t begin, uint32_t n) {
        for (uint32_t size = 2; size < 2 * n; size *= 2) {
            for (uint32_t step = size / 2; step > 0; step /= 2) {
                for (uint32_t i = (uint32_t)lane_of(); i < n; i += 32) {
                    const uint32_t other = step == size / 2 ? i ^ (size - 1) : i ^ step;
                    if (other > i && other < n && row[begin + i] > row[begin + other]) {
                        swap(begin + i, begin + other);
                    }
                }
                __syncwarp();
            }
        }
    }
};

/* Turns the counts of w columns into their begins, and writes the row pointers of B. */
static __device__ void place_columns(const bin_job &job, uint32_t *next, uint32_t w, int64_t column, uint32_t base) {
    __shared__ uint32_t sums[BIN_SORT_NT / 32];
    uint32_t before = 0, total;
    for (uint32_t first = 0; first < w; first += BIN_SORT_NT) {
        const uint32_t c = first + threadIdx.x, count = c < w ? next[c] : 0;
        const uint32_t place = before + block_scan(count, sums, &total);
        if (c < w) {
            next[c] = place;
            index_set((void *)job.B.rowptr, job.B.wide_rowptr, column + c, (int64_t)base + place);
        }
        before += total;
    }
    if (threadIdx.x == 0 && column + w == job.B.rows) {
        index_set((void *)job.B.rowptr, job.B.wide_rowptr, job.B.rows, job.B.nnz);
    }
}

/* Shared memory: values and rows of the entries, then a word a column. */
static inline LSP_BOTH_SIDES size_t bin_sort_bytes(int64_t entries, uint32_t width, int value_bytes) {
    return (size_t)entries * (size_t)(value_bytes + 4) + (size_t)width * 4;
}

template <int VB>
static __global__ void __launch_bounds__(BIN_SORT_NT) kernel_bin_sort(bin_job job, uint32_t capacity) {
    LSP_DYNAMIC_SHARED(memory);
    bin_entries<VB> e = {(uint32_t *)(memory + (size_t)capacity * VB), memory};
    uint32_t *next = e.row + capacity;
    const uint32_t base = job.starts[blockIdx.x], n = job.starts[blockIdx.x + 1] - base;
    const int64_t column = (int64_t)blockIdx.x * job.width;
    const uint32_t w = (uint32_t)min((int64_t)job.width, job.B.rows - column);
    for (uint32_t c = threadIdx.x; c < w; c += BIN_SORT_NT) {
        next[c] = 0;
    }
    __syncthreads();
    for (uint32_t first = threadIdx.x; first < n; first += BIN_SORT_NT * BIN_EACH) {
        uint16_t col[BIN_EACH];
        for (int j = 0; j < BIN_EACH; j++) {
            col[j] = job.col[base + min(first + (uint32_t)(j * BIN_SORT_NT), n - 1)];
        }
        for (int j = 0; j < BIN_EACH; j++) {
            if (first + (uint32_t)(j * BIN_SORT_NT) < n) {
                atomicAdd(&next[col[j]], 1u);
            }
        }
    }
    __syncthreads();
    place_columns(job, next, w, column, base);
    __syncthreads();
    for (uint32_t first = threadIdx.x; first < n; first += BIN_SORT_NT * BIN_EACH) {
        uint32_t row[BIN_EACH];
        uint16_t col[BIN_EACH];
        ull held[BIN_EACH][2]; /* values */
        for (int j = 0; j < BIN_EACH; j++) {
            const uint32_t from = base + min(first + (uint32_t)(j * BIN_SORT_NT), n - 1);
            col[j] = job.col[from];
            row[j] = job.row[from];
            move_value(held[j], 0, job.val, from, VB);
        }
        for (int j = 0; j < BIN_EACH; j++) {
            if (first + (uint32_t)(j * BIN_SORT_NT) < n) {
                const uint32_t at = atomicAdd(&next[col[j]], 1u);
                e.row[at] = row[j];
                move_value(e.val, at, held[j], 0, VB);
            }
        }
    }
    __syncthreads();
    int any_long = 0;
    for (uint32_t c = threadIdx.x; c < w; c += BIN_SORT_NT) {
        const uint32_t begin = c > 0 ? next[c - 1] : 0, end = next[c];
        if (end - begin <= BIN_LONG) {
            e.sort_few(begin, end);
        } else {
            any_long = 1;
        }
    }
    if (__syncthreads_or(any_long)) { /* the warps take turns, for few columns may be long */
        for (uint32_t c = threadIdx.x / 32; c < w; c += BIN_SORT_NT / 32) {
            const uint32_t begin = c > 0 ? next[c - 1] : 0, length = next[c] - begin;
            if (length > 32 * BIN_RANKED) {
                e.sort_many(begin, length);
            } else if (length > BIN_LONG) {
                e.sort_ranked(begin, length);
            }
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n; i += BIN_SORT_NT) {
        index_set((void *)job.B.col, job.B.wide_col, base + i, e.row[i]);
        move_value((void *)job.B.val, base + i, e.val, i, VB);
    }
}

#endif
