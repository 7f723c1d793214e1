/* What is to be known before rows of C are made: is a factor a matrix, products of every row, rows by bin, where rows
 * of C begin, and the structure of a factor as a number. */
#ifndef LSP_SPGEMM_FACTS_CUH
#define LSP_SPGEMM_FACTS_CUH

#include "spgemm_device.cuh"

enum {
    FACTS_NT = 256,
    FACTS_WARPS = FACTS_NT / WARP,
    FACTS_LONG = 64,
    /* entries a lane */ SCAN_VT = 8,
    SCAN_TILE = FACTS_NT * SCAN_VT
};

/* What a check found. All zero before. */
typedef struct spg_check {
    ull start_wrong, stop_wrong; /* 1 if rowptr[0], rowptr[rows] are so */
    ull falls;                   /* ~ the first row that ends before it starts; 0: none */
    ull outside;                 /* ~ the first entry with such a column; 0: none */
    ull descents, repeats;       /* neighbours in a row of which the second column is smaller; is the same */
} spg_check;

/* What each of the three steps learns on the device; read back once it is complete. All zero before. */
typedef struct spg_facts {
    spg_check check[2];
    ull products, nnz_bound, max_products;
    uint32_t bins[LSP_BINS]; /* rows by who counts them */
} spg_facts;

typedef struct spg_counting {
    ull nnz;
    uint32_t bins[LSP_BINS];        /* rows by who fills them */
    uint32_t placed[LSP_BINS];      /* rows of each bin that are in the list already */
    uint32_t retry[LSP_COUNT_BINS]; /* rows that fit no window */
    uint32_t again;                 /* rows given up, to be counted by bits */
    ull taken;                      /* pieces of work that a block has taken */
} spg_counting;

typedef struct spg_filling {
    uint32_t placed[LSP_BINS];
    ull stripes_taken, pieces_taken;
} spg_filling;

typedef struct spg_report {
    spg_facts facts;
    spg_counting counting;
    spg_filling filling;
} spg_report;

__host__ __device__ inline bool check_failed(const spg_check &c) {
    return c.start_wrong != 0 || c.stop_wrong != 0 || c.falls != 0 || c.outside != 0;
}

template <typename T> __device__ inline T warp_sum_of(T x) {
    for (int mask = WARP / 2; mask > 0; mask /= 2) {
        x += __shfl_xor_sync(~0u, x, mask);
    }
    return x;
}

/* ---- is it a matrix? ---- */

/* Neighbours k-1, k of all entries are looked at, those of different rows too; what the pairs at row starts add is
 * then taken away. */
template <typename R, typename C>
__global__ void __launch_bounds__(FACTS_NT)
    kernel_check(const R *rowptr, const C *col, int64_t rows, int64_t cols, int64_t nnz, spg_check *check) {
    const int64_t stride = (int64_t)gridDim.x * FACTS_NT, first = (int64_t)blockIdx.x * FACTS_NT + threadIdx.x;
    int64_t descents = 0, repeats = 0;
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
            repeats -= col[begin - 1] == col[begin];
        }
    }
    for (int64_t k = first; k < nnz; k += stride) {
        C here = col[k], before = k > 0 ? col[k - 1] : (C)-1;
        if (here < 0 || here >= cols) {
            atomicMax(&check->outside, ~(ull)k);
        }
        descents += before > here;
        repeats += before == here;
    }
    descents = warp_sum_of((long long)descents), repeats = warp_sum_of((long long)repeats);
    if (threadIdx.x % WARP == 0 && (descents != 0 || repeats != 0)) {
        atomicAdd(&check->descents, (ull)descents);
        atomicAdd(&check->repeats, (ull)repeats);
    }
}

/* ---- the structure as a number ---- */

__device__ inline ull mixed(ull x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}
static __global__ void __launch_bounds__(FACTS_NT)
    kernel_structure(const uint32_t *words, int64_t n, ull seed, ull *sum) {
    ull mine = 0;
    for (int64_t i = (int64_t)blockIdx.x * FACTS_NT + threadIdx.x; i < n; i += (int64_t)gridDim.x * FACTS_NT) {
        mine += mixed(words[i] + (seed + (ull)i) * 0x9E3779B97F4A7C15ull);
    }
    mine = warp_sum_of(mine);
    if (threadIdx.x % WARP == 0) {
        atomicAdd(sum, mine);
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
        const bool like = bin >= 0 && bin == its;
        const unsigned alike = __ballot_sync(~0u, like);
        if (bin >= 0 && !like) {
            add(bin);
        } else if (like && (int)threadIdx.x % WARP == leader) {
            atomicAdd(shared + its, (uint32_t)__popc(alike));
        }
    }
    __device__ void flush(uint32_t *all) const {
        __syncthreads();
        if (threadIdx.x < LSP_BINS && shared[threadIdx.x] > 0) {
            atomicAdd(all + threadIdx.x, shared[threadIdx.x]);
        }
    }
};

/* ---- products ---- */

__device__ inline ull products_of(const spg_job &job, uint32_t begin, uint32_t end, uint32_t step) {
    ull products = 0;
    for (uint32_t p = begin; p < end; p += step) {
        uint32_t k = __ldg(job.A.col + p);
        products += __ldg(job.B.rowptr + k + 1) - __ldg(job.B.rowptr + k);
    }
    return products;
}

struct product_sums {
    ull products, bound, most;
};

/* Notes a row's products; the warp comes here together. */
__device__ inline void note_row(const spg_job &job, uint32_t *products, int64_t *counts, const bin_counter &counter,
                                bool some, int64_t row, ull p, product_sums *sums) {
    int bin = -1;
    if (some) {
        uint32_t entries = job.A.rowptr[row + 1] - job.A.rowptr[row], few = (uint32_t)min(p, (ull)LSP_PRODUCTS_MOST);
        products[row] = few;
        counts[row + 1] = 0;
        if (job.groups) {
            job.groups[row] = 0;
        }
        bin = lsp_count_bin(few, entries);
        sums->products += p, sums->bound += min(p, (ull)job.cols), sums->most = max(sums->most, p);
    }
    counter.add_warp(bin);
}

/* Products of every row and the bin that counts it; `lanes` lanes a row, a whole block a long one. */
static __global__ void __launch_bounds__(FACTS_NT)
    kernel_products(spg_job job, uint32_t *products, int64_t *counts, int lanes, spg_facts *report) {
    __shared__ uint32_t bins[LSP_BINS], long_rows[FACTS_NT], longs;
    __shared__ ull warp_sums[FACTS_WARPS][3];
    const bin_counter counter = {bins};
    const int lane = (int)threadIdx.x % lanes, rows_each = FACTS_NT / lanes;
    const int warp = (int)threadIdx.x / WARP;
    product_sums sums = {0, 0, 0};
    if (check_failed(report->check[0]) || check_failed(report->check[1])) {
        return;
    }
    counter.clear();
    for (int64_t first = (int64_t)blockIdx.x * rows_each; first < job.A.rows; first += (int64_t)gridDim.x * rows_each) {
        const int64_t row = first + threadIdx.x / lanes;
        const bool there = row < job.A.rows;
        uint32_t begin = there ? job.A.rowptr[row] : 0, end = there ? job.A.rowptr[row + 1] : 0;
        const bool is_long = end - begin > (uint32_t)(FACTS_LONG * lanes);
        if (threadIdx.x == 0) {
            longs = 0;
        }
        const bool any_long = __syncthreads_or(is_long);
        if (is_long && lane == 0) {
            long_rows[atomicAdd(&longs, 1u)] = (uint32_t)row;
        }
        ull p = is_long ? 0 : products_of(job, begin + (uint32_t)lane, end, (uint32_t)lanes);
        for (int mask = 1; mask < lanes; mask *= 2) {
            p += __shfl_xor_sync(~0u, p, mask);
        }
        note_row(job, products, counts, counter, lane == 0 && there && !is_long, row, p, &sums);
        if (!any_long) {
            continue;
        }
        __syncthreads();
        for (uint32_t k = 0; k < longs; k++) {
            const uint32_t i = long_rows[k];
            p = warp_sum_of(products_of(job, job.A.rowptr[i] + threadIdx.x, job.A.rowptr[i + 1], FACTS_NT));
            if (threadIdx.x % WARP == 0) {
                warp_sums[warp][0] = p;
            }
            __syncthreads();
            p = 0;
            for (int w = 0; w < FACTS_WARPS; w++) {
                p += warp_sums[w][0];
            }
            if (warp == 0) {
                note_row(job, products, counts, counter, threadIdx.x == 0, i, p, &sums);
            }
            __syncthreads();
        }
    }
    sums.products = warp_sum_of(sums.products), sums.bound = warp_sum_of(sums.bound);
    for (int mask = 1; mask < WARP; mask *= 2) {
        sums.most = max(sums.most, __shfl_xor_sync(~0u, sums.most, mask));
    }
    if (threadIdx.x % WARP == 0) {
        warp_sums[warp][0] = sums.products, warp_sums[warp][1] = sums.bound, warp_sums[warp][2] = sums.most;
    }
    counter.flush(report->bins);
    if (threadIdx.x == 0) {
        for (int w = 1; w < FACTS_WARPS; w++) {
            sums.products += warp_sums[w][0], sums.bound += warp_sums[w][1];
            sums.most = max(sums.most, warp_sums[w][2]);
        }
        atomicAdd(&report->products, sums.products);
        atomicAdd(&report->nnz_bound, sums.bound);
        atomicMax(&report->max_products, sums.most);
    }
}

/* ---- lists ---- */

/* The bin of a row: of counting, or of filling once rowptr says where rows of C begin. */
template <bool FILL> __device__ inline int bin_of(const spg_job &job, int64_t row) {
    uint32_t products = job.products[row], entries = job.A.rowptr[row + 1] - job.A.rowptr[row];
    if (FILL) {
        int64_t nnz = job.rowptr[row + 1] - job.rowptr[row];
        return lsp_fill_bin(products, entries, (uint32_t)nnz, job.groups ? job.groups[row] : 0, job.cols);
    }
    return job.groups && lsp_follows(job.groups[row]) ? LSP_BIN_NONE : lsp_count_bin(products, entries);
}

template <bool FILL> __global__ void __launch_bounds__(FACTS_NT) kernel_bins(spg_job job, uint32_t *bins) {
    __shared__ uint32_t shared[LSP_BINS];
    const bin_counter counter = {shared};
    counter.clear();
    for (int64_t first = (int64_t)blockIdx.x * FACTS_NT; first < job.A.rows; first += (int64_t)gridDim.x * FACTS_NT) {
        const int64_t row = first + threadIdx.x;
        counter.add_warp(row < job.A.rows ? bin_of<FILL>(job, row) : -1);
    }
    counter.flush(bins);
}

/* Where the rows of each bin begin in the list. */
typedef struct bin_starts {
    uint32_t at[LSP_BINS];
} bin_starts;

/* Lists rows by bin, one bin after the other; rows without products are left out. */
template <bool FILL>
__global__ void __launch_bounds__(FACTS_NT)
    kernel_list(spg_job job, uint32_t *list, bin_starts starts, uint32_t *placed) {
    __shared__ uint32_t shared[LSP_BINS], base[LSP_BINS];
    const bin_counter counter = {shared};
    const int64_t row = (int64_t)blockIdx.x * FACTS_NT + threadIdx.x;
    int bin = row < job.A.rows ? bin_of<FILL>(job, row) : (int)LSP_BIN_NONE;
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

/* ---- where rows of C begin ---- */

__device__ inline ull block_scan(ull x, ull *sums, ull *total) {
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    ull sum = x, before = 0, all = 0;
    for (int d = 1; d < WARP; d *= 2) {
        ull other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? other : 0;
    }
    if (lane == WARP - 1) {
        sums[warp] = sum;
    }
    __syncthreads();
    for (int k = 0; k < FACTS_WARPS; k++) {
        before += k < warp ? sums[k] : 0;
        all += sums[k];
    }
    __syncthreads();
    *total = all;
    return before + sum - x;
}

static __global__ void __launch_bounds__(FACTS_NT) kernel_tile_sums(const int64_t *counts, int64_t n, ull *tiles) {
    __shared__ ull sums[FACTS_WARPS];
    const int64_t first = (int64_t)blockIdx.x * SCAN_TILE + threadIdx.x;
    ull sum = 0, total;
    for (int r = 0; r < SCAN_VT; r++) {
        int64_t i = first + r * FACTS_NT;
        sum += i < n ? (ull)counts[i] : 0;
    }
    block_scan(sum, sums, &total);
    if (threadIdx.x == 0) {
        tiles[blockIdx.x] = total;
    }
}
/* tiles[] becomes its exclusive sums; one block. */
static __global__ void __launch_bounds__(FACTS_NT) kernel_tile_scan(ull *tiles, int64_t n) {
    __shared__ ull sums[FACTS_WARPS];
    ull before = 0, total;
    for (int64_t first = 0; first < n; first += FACTS_NT) {
        int64_t i = first + threadIdx.x;
        ull x = i < n ? tiles[i] : 0, sum = block_scan(x, sums, &total);
        if (i < n) {
            tiles[i] = before + sum;
        }
        before += total;
    }
}
/* counts[] becomes its inclusive sums; *all is the last. */
static __global__ void __launch_bounds__(FACTS_NT) kernel_scan(int64_t *counts, int64_t n, const ull *tiles, ull *all) {
    __shared__ ull sums[FACTS_WARPS];
    const int64_t tile = (int64_t)blockIdx.x * SCAN_TILE;
    ull before = tiles ? tiles[blockIdx.x] : 0, total;
    for (int r = 0; r < SCAN_VT; r++) {
        int64_t i = tile + r * FACTS_NT + threadIdx.x;
        ull x = i < n ? (ull)counts[i] : 0, sum = block_scan(x, sums, &total);
        if (i < n) {
            counts[i] = (int64_t)(before + sum + x);
            if (i == n - 1) {
                *all = before + sum + x;
            }
        }
        before += total;
    }
}

template <typename R> __global__ void __launch_bounds__(FACTS_NT) kernel_rowptr(const int64_t *from, R *to, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * FACTS_NT + threadIdx.x; i < n; i += (int64_t)gridDim.x * FACTS_NT) {
        to[i] = (R)from[i];
    }
}

#endif
