/* The entries of a matrix in bins of neighbouring columns, each of which fits the shared memory of a block: what
 * kernel_bins.cuh has made, and how a block sorts its bin. */
#pragma once

#include "entries.cuh"

enum {
    BIN_TILE_NT = 512,
    BIN_SORT_NT = 512,
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
    ull runs;             /* bins that blocks of kernel_bin_count met, all together */
} bin_facts;

/* The bin of column j is j / width. That is the upper half of j * (2^64 / width + 1): the fraction's error, j times at
 * most 1 / 2^64, is less than 1 / width. */
typedef struct bin_cut {
    uint32_t low, high; /* of 2^64 / width + 1; width is 2 or more */
} bin_cut;

typedef struct bin_job {
    gpu_csr A;
    uint32_t width, bins;
    bin_cut cut;
    int tile, tiles;         /* entries that 512 threads of kernel_bin_move take, of ENTRY_TILE each; how many tiles */
    uint32_t *tile_row;      /* the row of every ENTRY_TILE-th entry */
    uint32_t *starts, *next; /* of bins; where the next run of a bin goes */
    uint16_t *col;           /* the entries in their bins: column in the bin, row, value */
    uint32_t *row;
    void *val;
    bin_facts *facts;
} bin_job;

/* Puts the entries of A into bins, in scratch. A block of `bytes` shared memory holds a bin of up to `capacity`
 * entries. *done = false: A is not of that kind (columns too uneven, rows unsorted, or a column twice in a row). Checks
 * A, whose struct was checked before, unless `name` is NULL. Waits. */
lsp_status lsp_csr_into_bins(lsp_ctx *ctx, const char *name, const lsp_csr *A, bin_job *job, uint32_t *capacity,
                             size_t *bytes, bool *done);

/* ---- a bin ---- */

/* Entries in shared memory. */
template <int VB> struct bin_entries {
    uint32_t *row;
    void *val;
    uint16_t *col; /* in the bin */

    __device__ void swap(uint32_t a, uint32_t b) {
        const uint32_t r = row[a];
        ull held[2]; /* a value */
        row[a] = row[b], row[b] = r;
        lsp_move_value(held, 0, val, a, VB);
        lsp_move_value(val, a, val, b, VB);
        lsp_move_value(val, b, held, 0, VB);
    }
    /* A lane sorts few entries, which are nearly in order: by insertion. */
    __device__ void sort_few(uint32_t begin, uint32_t end) {
        for (uint32_t i = begin + 1; i < end; i++) {
            const uint32_t own = row[i];
            if (row[i - 1] <= own) {
                continue;
            }
            ull held[2]; /* its value */
            uint32_t k = i;
            lsp_move_value(held, 0, val, i, VB);
            for (; k > begin && row[k - 1] > own; k--) {
                row[k] = row[k - 1];
                lsp_move_value(val, k, val, k - 1, VB);
            }
            row[k] = own;
            lsp_move_value(val, k, held, 0, VB);
        }
    }
    /* A warp sorts up to 32 * EACH: the place of an entry is the number of rows below its own, which differ. */
    template <int EACH> __device__ void sort_ranked(uint32_t begin, uint32_t n) {
        uint32_t own[EACH], rank[EACH];
        ull held[EACH][2]; /* values */
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const uint32_t i = begin + min((uint32_t)(lane_of() + 32 * r), n - 1);
            own[r] = row[i];
            rank[r] = 0;
            lsp_move_value(held[r], 0, val, i, VB);
        }
#pragma unroll 4
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t one = row[begin + k];
#pragma unroll
            for (int r = 0; r < EACH; r++) {
                rank[r] += one < own[r];
            }
        }
        __syncwarp();
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            if ((uint32_t)(lane_of() + 32 * r) < n) {
                row[begin + rank[r]] = own[r];
                lsp_move_value(val, begin + rank[r], held[r], 0, VB);
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

/* Turns the counts of w columns into their begins. */
static __device__ void place_columns(uint32_t *next, uint32_t w) {
    __shared__ uint32_t sums[BIN_SORT_NT / 32];
    uint32_t before = 0, total;
    for (uint32_t first = 0; first < w; first += BIN_SORT_NT) {
        const uint32_t c = first + threadIdx.x, count = c < w ? next[c] : 0;
        const uint32_t place = before + block_scan(count, sums, &total);
        if (c < w) {
            next[c] = place;
        }
        before += total;
    }
}

/* Shared memory: values and rows of the entries, a word a column and one more, then the entries' columns. */
static inline LSP_BOTH_SIDES size_t bin_sort_bytes(int64_t entries, uint32_t width, int value_bytes) {
    return (size_t)entries * (size_t)(value_bytes + 4 + 2) + (size_t)(width + 1) * 4;
}

typedef struct sorted_bin {
    uint32_t *starts; /* of its columns, starts[0] = 0 */
    uint32_t base, n; /* its entries: base .. base + n - 1 of B */
    int64_t column;   /* its first column; it has w */
    uint32_t w;
} sorted_bin;

/* Brings this block's bin to shared memory, its columns in order. Long columns are sorted by row, those of up to
 * BIN_LONG entries if `short_ones`. Ends with a barrier. */
template <int VB>
static __device__ sorted_bin bin_sort(const bin_job &job, uint32_t capacity, bool short_ones, char *memory,
                                      bin_entries<VB> *entries) {
    bin_entries<VB> &e = *entries;
    e.row = (uint32_t *)(memory + (size_t)capacity * VB), e.val = memory;
    sorted_bin s;
    s.starts = e.row + capacity;
    e.col = (uint16_t *)(s.starts + job.width + 1);
    s.base = job.starts[blockIdx.x], s.n = job.starts[blockIdx.x + 1] - s.base;
    s.column = (int64_t)blockIdx.x * job.width;
    s.w = (uint32_t)min((int64_t)job.width, job.A.cols - s.column);
    uint32_t *const next = s.starts + 1; /* of columns: counts, begins, then ends */
    const uint32_t base = s.base, n = s.n, w = s.w;
    for (uint32_t c = threadIdx.x; c < w + 1; c += BIN_SORT_NT) {
        s.starts[c] = 0;
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
    place_columns(next, w);
    __syncthreads();
    for (uint32_t first = threadIdx.x; first < n; first += BIN_SORT_NT * BIN_EACH) {
        uint32_t row[BIN_EACH];
        uint16_t col[BIN_EACH];
        ull held[BIN_EACH][2]; /* values */
        for (int j = 0; j < BIN_EACH; j++) {
            const uint32_t from = base + min(first + (uint32_t)(j * BIN_SORT_NT), n - 1);
            col[j] = job.col[from];
            row[j] = job.row[from];
            lsp_move_value(held[j], 0, job.val, from, VB);
        }
        for (int j = 0; j < BIN_EACH; j++) {
            if (first + (uint32_t)(j * BIN_SORT_NT) < n) {
                const uint32_t at = atomicAdd(&next[col[j]], 1u);
                e.row[at] = row[j];
                e.col[at] = col[j];
                lsp_move_value(e.val, at, held[j], 0, VB);
            }
        }
    }
    __syncthreads();
    int any_long = 0;
    for (uint32_t c = threadIdx.x; c < w; c += BIN_SORT_NT) {
        const bool is_long = s.starts[c + 1] - s.starts[c] > BIN_LONG;
        any_long |= is_long;
        if (!is_long && short_ones) {
            e.sort_few(s.starts[c], s.starts[c + 1]);
        }
    }
    if (__syncthreads_or(any_long)) { /* the warps take turns, for few columns may be long */
        for (uint32_t c = threadIdx.x / 32; c < w; c += BIN_SORT_NT / 32) {
            const uint32_t begin = s.starts[c], length = s.starts[c + 1] - begin;
            if (length > 32 * BIN_RANKED) {
                e.sort_many(begin, length);
            } else if (length > 96) {
                e.template sort_ranked<4>(begin, length);
            } else if (length > 64) {
                e.template sort_ranked<3>(begin, length);
            } else if (length > BIN_LONG) {
                e.template sort_ranked<2>(begin, length);
            }
        }
    }
    __syncthreads();
    return s;
}
