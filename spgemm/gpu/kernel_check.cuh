/* What is to be known before rows of C are made: is a factor a matrix, rows by bin, where rows of C begin, and the
 * structure of a factor as a number. */
#ifndef LSP_SPGEMM_GPU_KERNEL_CHECK_CUH
#define LSP_SPGEMM_GPU_KERNEL_CHECK_CUH

#include "job.cuh"

enum { CHECK_NT = 256, CHECK_WARPS = CHECK_NT / WARP, INSPECT_LONG = 64, STRUCTURE_NT = 1024, STRUCTURE_BLOCKS = 256 };

/* What a check found. All zero before. */
typedef struct spg_check {
    ull start_wrong, stop_wrong; /* 1 if rowptr[0], rowptr[rows] are so */
    ull falls;                   /* ~ the first row that ends before it starts; 0: none */
    ull outside;                 /* ~ the first entry with such a column; 0: none */
    ull descents, duplicates;    /* neighbours in a row of which the second column is smaller; is the same */
} spg_check;

/* What each of the three steps learns on the device; read back once it is complete. All zero before. */
typedef struct spg_facts {
    spg_check check[2];
    ull products, nnz_bound, max_products;
    ull nnz;                      /* of C, if all rows are short */
    uint32_t bins[LSP_BINS];      /* rows by who counts them */
    uint32_t many[LSP_MANY_BINS]; /* of these, see lsp_shared_from */
    uint32_t unfit;               /* 1: a short row is not filled as one */
    uint32_t repeats;             /* rows, see gpu/short_repeat.cuh */
    uint32_t blocks;              /* that have reported */
} spg_facts;

typedef struct spg_counting {
    ull nnz;
    uint32_t bins[LSP_BINS];        /* rows by who fills them */
    uint32_t placed[LSP_BINS];      /* rows of each bin that are in the list already */
    uint32_t retry[LSP_COUNT_BINS]; /* rows that fit no window */
    uint32_t again;                 /* rows given up, to be counted by bits */
    uint32_t merged;                /* rows that are merged */
    ull taken;                      /* pieces of work that a block has taken */
} spg_counting;

typedef struct spg_filling {
    uint32_t placed[LSP_BINS];
    ull rows_taken, pieces_taken;
} spg_filling;

typedef struct spg_report {
    spg_facts facts;
    spg_counting counting;
    spg_filling filling;
} spg_report;

__host__ __device__ inline bool check_failed(const spg_check &c) {
    return c.start_wrong != 0 || c.stop_wrong != 0 || c.falls != 0 || c.outside != 0;
}

/* ---- is it a matrix? ---- */

/* Neighbours k-1, k of all entries are looked at, those of different rows too; what the pairs at row starts add is
 * then taken away. */
template <typename R, typename C>
__global__ void __launch_bounds__(CHECK_NT)
    kernel_check(const R *rowptr, const C *col, int64_t rows, int64_t cols, int64_t nnz, spg_check *check) {
    const int64_t stride = (int64_t)gridDim.x * CHECK_NT, first = (int64_t)blockIdx.x * CHECK_NT + threadIdx.x;
    int64_t descents = 0, duplicates = 0;
    if (first == 0) {
        check->start_wrong = rowptr[0] != 0;
        check->stop_wrong = (int64_t)rowptr[rows] != nnz;
    }
    for (int64_t i = first; i < rows; i += stride) {
        int64_t begin = rowptr[i], end = rowptr[i + 1];
        if (begin > end) {
            atomicMax(&check->falls, ~(ull)i);
        }
        if (begin > 0 && begin < end && begin < nnz) {
            descents -= col[begin - 1] > col[begin];
            duplicates -= col[begin - 1] == col[begin];
        }
    }
    for (int64_t k = first; k < nnz; k += stride) {
        C here = col[k], before = k > 0 ? col[k - 1] : (C)-1;
        if (here < 0 || here >= cols) {
            atomicMax(&check->outside, ~(ull)k);
        }
        descents += before > here;
        duplicates += before == here;
    }
    descents = warp_sum((long long)descents), duplicates = warp_sum((long long)duplicates);
    if (threadIdx.x % WARP == 0 && (descents != 0 || duplicates != 0)) {
        atomicAdd(&check->descents, (ull)descents);
        atomicAdd(&check->duplicates, (ull)duplicates);
    }
}

/* ---- the structure as a number ---- */

__device__ inline ull mixed(ull x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

/* Pointers and columns of a matrix, in words of 32 bits. */
typedef struct structure_words {
    const uint32_t *rowptr, *col;
    int64_t pointers, columns;
} structure_words;

/* Of words i = first, first + step, ... */
__device__ inline ull structure_sum(const uint32_t *words, int64_t n, ull seed, int64_t first, int64_t step) {
    ull sum = 0;
#pragma unroll 4
    for (int64_t i = first; i < n; i += step) {
        sum += mixed(__ldg(words + i) + (seed + (ull)i) * 0x9E3779B97F4A7C15ull);
    }
    return sum;
}

/* The number of A, and of B where there are twice the blocks, is the sum of what its blocks leave. */
static __global__ void __launch_bounds__(STRUCTURE_NT)
    kernel_structure(structure_words A, structure_words B, ull *sums) {
    __shared__ ull warp_sums[STRUCTURE_NT / WARP];
    const structure_words &its = blockIdx.x < STRUCTURE_BLOCKS ? A : B;
    const int64_t first = (int64_t)(blockIdx.x % STRUCTURE_BLOCKS) * STRUCTURE_NT + threadIdx.x;
    const int64_t step = (int64_t)STRUCTURE_BLOCKS * STRUCTURE_NT;
    ull sum = structure_sum(its.rowptr, its.pointers, 1, first, step) +
              structure_sum(its.col, its.columns, (ull)1 << 40, first, step);
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) {
        warp_sums[threadIdx.x / WARP] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < STRUCTURE_NT / WARP; w++) {
            sum += warp_sums[w];
        }
        sums[blockIdx.x] = sum;
    }
}

/* ---- bins ---- */

/* Rows of each bin, counted in shared memory first. */
struct bin_counter {
    uint32_t *shared;

    __device__ void clear() const {
        if (threadIdx.x < LSP_BINS) {
            shared[threadIdx.x] = 0;
        }
        __syncthreads();
    }
    __device__ uint32_t add(int bin) const { return atomicAdd(shared + bin, 1u); }
    /* For a warp that is together; -1: none. Mostly all lanes have the same. */
    __device__ void add_warp(int bin) const {
        const unsigned some = __ballot_sync(~0u, bin >= 0);
        const int leader = some ? __ffs((int)some) - 1 : 0, its = __shfl_sync(~0u, bin, leader);
        const bool same = bin >= 0 && bin == its;
        const unsigned same_lanes = __ballot_sync(~0u, same);
        if (bin >= 0 && !same) {
            add(bin);
        } else if (same && (int)threadIdx.x % WARP == leader) {
            atomicAdd(shared + its, (uint32_t)__popc(same_lanes));
        }
    }
    __device__ void flush(uint32_t *all) const {
        __syncthreads();
        if (threadIdx.x < LSP_BINS && shared[threadIdx.x] > 0) {
            atomicAdd(all + threadIdx.x, shared[threadIdx.x]);
        }
    }
};

/* ---- lists ---- */

/* The bin of a row: of counting, or of filling once rowptr says where rows of C begin. */
template <bool FILL> __device__ inline int bin_of(const spg_job &job, int64_t row) {
    const uint32_t products = job.products[row], entries = job.A.rowptr[row + 1] - job.A.rowptr[row];
    const uint8_t groups = job.groups ? job.groups[row] : 0;
    lsp_spgemm_bin bin = lsp_repeats_above(groups) ? LSP_BIN_NONE : lsp_count_bin(products, entries);
    if (FILL) {
        bin = lsp_fill_bin(products, entries, (uint32_t)(job.rowptr[row + 1] - job.rowptr[row]), groups, job.cols);
    }
    return lsp_shared_bin(bin, products, entries, job.shared_from);
}

template <bool FILL> __global__ void __launch_bounds__(CHECK_NT) kernel_bins(spg_job job, uint32_t *bins) {
    __shared__ uint32_t shared[LSP_BINS];
    const bin_counter counter = {shared};
    counter.clear();
    for (int64_t first = (int64_t)blockIdx.x * CHECK_NT; first < job.A.rows; first += (int64_t)gridDim.x * CHECK_NT) {
        const int64_t row = first + threadIdx.x;
        counter.add_warp(row < job.A.rows ? bin_of<FILL>(job, row) : -1);
    }
    counter.flush(bins);
}

/* Where the rows of each bin begin in the list. */
typedef struct bin_starts {
    uint32_t at[LSP_BINS];
} bin_starts;

/* Lists rows by bin, one bin after the other; short rows, and those without products, are left out. */
template <bool FILL>
__global__ void __launch_bounds__(CHECK_NT)
    kernel_list(spg_job job, uint32_t *list, bin_starts starts, uint32_t *placed) {
    __shared__ uint32_t shared[LSP_BINS], base[LSP_BINS];
    const bin_counter counter = {shared};
    const int64_t row = (int64_t)blockIdx.x * CHECK_NT + threadIdx.x;
    const int its = row < job.A.rows ? bin_of<FILL>(job, row) : LSP_BIN_NONE;
    const int bin = its > LSP_BIN_SORT_32 ? its : LSP_BIN_NONE;
    counter.clear();
    uint32_t rank = bin == LSP_BIN_NONE ? 0 : counter.add(bin);
    __syncthreads();
    if (threadIdx.x > 0 && threadIdx.x < LSP_BINS && shared[threadIdx.x] > 0) {
        base[threadIdx.x] = starts.at[threadIdx.x] + atomicAdd(placed + threadIdx.x, shared[threadIdx.x]);
    }
    __syncthreads();
    if (bin != LSP_BIN_NONE) {
        list[base[bin] + rank] = (uint32_t)row;
    }
}

#endif
