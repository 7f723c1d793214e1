/* C = A*B in one pass, for matrices whose rows of C are short and alike. A block makes a tile of rows: a thread adds
 * the products of its row in a list of columns; the block learns by decoupled look-back (Merrill and Garland) where its
 * rows begin in C, and writes row pointers, columns and values. Nothing is read twice. A is checked on the way. Taken
 * by calls without a plan, if a sample of the rows says that it pays (one_pass.cu).
 *
 * The lists' length is compiled in. Columns are in registers, and found by comparing all of them. Values are in
 * registers too where rows have many products, else in shared memory: then more threads fit. A column keeps its place
 * in the list; only at the end is its rank counted. So B's rows may come in any order. */
#pragma once

#include "spgemm/gpu/report.cuh"

enum {
    SAMPLE_NT = LSP_SAMPLE_ROWS,
    ONE_PASS_SLOTS = 128,    /* atomics of the tiles go to this many places */
    ONE_PASS_PRODUCTS = 4096 /* most products of a row: a thread alone takes long for more */
};

/* What a sample of rows says. */
typedef struct one_pass_sample {
    ull products;
    uint32_t lengths[LSP_ONE_PASS_MOST + 2]; /* rows by their entries in C; the last: rows of more, or malformed */
} one_pass_sample;

/* What was found of C. */
typedef struct one_pass_facts {
    ull nnz, products, nnz_bound, max_products;
    ull failed; /* not 0: a list overflowed, C has too little room, or a matrix is malformed */
} one_pass_facts;

/* What the kernels need in memory of the GPU. All zero before. */
typedef struct one_pass_report {
    ull products[ONE_PASS_SLOTS], most[ONE_PASS_SLOTS]; /* sums and maxima over the rows of some tiles */
    ull beyond;                                         /* products of rows beyond C's number of columns */
    ull nnz, failed;
    uint32_t taken;  /* tiles */
    uint32_t blocks; /* of the sample that have ended */
    one_pass_sample sample;
} one_pass_report;

typedef struct one_pass_job {
    one_pass_report *report;
    ull *tiles;   /* of each tile: 0, then its entries << 2 | LOOK_COUNTED, then all up to its end << 2 | LOOK_SUMMED */
    ull capacity; /* entries that C has room for */
    void *rowptr;
    bool wide_rowptr;
    uint32_t count;             /* tiles */
    uint32_t b_rows, b_entries; /* of B that each tile checks */
} one_pass_job;

/* ---- a row ---- */

/* A row's columns, and its values if KEPT; otherwise these are NT apart in shared memory. n > MOST: more than the list
 * holds. */
template <typename V, int MOST, bool KEPT> struct row_list {
    uint32_t columns[MOST], n, products;
    V values[KEPT ? MOST : 1];
};

template <typename V> __device__ inline V streamed_value(const spg_matrix &A, uint32_t p) {
    if constexpr (value_kind<V>::valued) {
        return V{__ldcs((const typename value_kind<V>::number *)A.val + p)};
    } else {
        return no_value{};
    }
}

/* Adds a*b to the column's value. All columns are compared at once: a loop that ends early, or a chain of choices,
 * would wait for each of them. */
template <typename V, int MOST, bool KEPT, int NT>
__device__ inline void add_to_list(const spg_job &job, row_list<V, MOST, KEPT> &list, V *values, uint32_t column, V a,
                                   V b) {
    bool found = false;
    uint32_t at = 0;
#pragma unroll
    for (int q = 0; q < MOST; q++) {
        found |= list.columns[q] == column;
        at |= list.columns[q] == column ? q : 0;
    }
    if (!found) {
        at = list.n++;
#pragma unroll
        for (int q = 0; q < MOST; q++) {
            list.columns[q] = q == (int)at ? column : list.columns[q];
        }
    }
    if constexpr (KEPT) {
#pragma unroll
        for (int q = 0; q < MOST; q++) {
            if (list.columns[q] == column) {
                list.values[q] = add_times(job, a, b, list.values[q]);
            }
        }
    } else if constexpr (value_kind<V>::valued) {
        if (at < MOST) {
            V *value = values + at * NT;
            *value = add_times(job, a, b, found ? *value : value_kind<V>::nothing(job));
        }
    }
}

/* Multiplies entries begin .. end-1 of A, a row, by B. Loads AHEAD entries of A together, and the first entry of each
 * of their rows of B. Returns false if A or B is malformed here, or the row is too long. */
template <int AHEAD, int NT, typename V, int MOST, bool KEPT>
__device__ inline bool multiply_row(const spg_job &job, uint32_t begin, uint32_t end, row_list<V, MOST, KEPT> &list,
                                    V *values) {
    const uint32_t rows = (uint32_t)job.B.rows, most = (uint32_t)job.B.nnz;
    bool right = true;
    list.n = list.products = 0;
#pragma unroll
    for (int q = 0; q < MOST; q++) {
        list.columns[q] = ~0u;
        if constexpr (KEPT) {
            list.values[q] = value_kind<V>::nothing(job);
        }
    }
    for (uint32_t at = begin; at < end && list.n <= MOST && list.products <= ONE_PASS_PRODUCTS; at += AHEAD) {
        uint32_t first[AHEAD], length[AHEAD], columns[AHEAD];
        V a[AHEAD], b[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            length[i] = 0;
            if (at + i < end) {
                const uint32_t k = __ldcs(job.A.col + at + i), there = min(k, rows - 1);
                a[i] = streamed_value<V>(job.A, at + i);
                first[i] = __ldg(job.B.rowptr + there);
                const uint32_t stop = __ldg(job.B.rowptr + there + 1);
                const bool is_row = k == there && first[i] <= stop && stop <= most;
                length[i] = is_row ? min(stop - first[i], (uint32_t)ONE_PASS_PRODUCTS + 1) : 0;
                right &= is_row;
                list.products += length[i];
            }
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            if (length[i] > 0) {
                columns[i] = __ldg(job.B.col + first[i]);
                b[i] = value_at<V>(job.B, first[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            if (length[i] > 0) {
                add_to_list<V, MOST, KEPT, NT>(job, list, values, columns[i], a[i], b[i]);
            }
            for (uint32_t j = 1; j < length[i] && (value_kind<V>::valued || list.n <= MOST); j++) {
                add_to_list<V, MOST, KEPT, NT>(job, list, values, __ldg(job.B.col + first[i] + j), a[i],
                                               value_at<V>(job.B, first[i] + j));
            }
        }
    }
    return right && list.n <= MOST && list.products <= ONE_PASS_PRODUCTS;
}

/* Reads where row i begins and ends. A malformed row is empty, and false is returned. */
__device__ inline bool row_bounds(const spg_job &job, int64_t row, uint32_t *begin, uint32_t *end) {
    *begin = __ldg(job.A.rowptr + row), *end = __ldg(job.A.rowptr + row + 1);
    const bool right = *begin <= *end && *end <= (uint32_t)job.A.nnz;
    *end = right ? *end : *begin;
    return right;
}

/* ---- the sample ---- */

/* Each block counts the entries of C in SAMPLE_NT neighbouring rows. The last block to end copies the sums to host
 * memory. */
static __global__ void __launch_bounds__(SAMPLE_NT)
    kernel_one_pass_sample(spg_job job, one_pass_report *report, one_pass_sample *told) {
    __shared__ uint32_t lengths[LSP_ONE_PASS_MOST + 2];
    __shared__ bool last;
    const int64_t row = lsp_sampled_row(blockIdx.x, job.A.rows - SAMPLE_NT + 1) + threadIdx.x;
    row_list<no_value, LSP_ONE_PASS_MOST, false> list;
    no_value none;
    uint32_t begin, end;
    for (int i = threadIdx.x; i < LSP_ONE_PASS_MOST + 2; i += SAMPLE_NT) {
        lengths[i] = 0;
    }
    __syncthreads();
    bool right = row_bounds(job, row, &begin, &end);
    right &= multiply_row<8, SAMPLE_NT>(job, begin, end, list, &none);
    atomicAdd(lengths + (right ? list.n : LSP_ONE_PASS_MOST + 1), 1u);
    const uint32_t products = __reduce_add_sync(~0u, list.products);
    if (threadIdx.x % WARP == 0) {
        atomicAdd(&report->sample.products, (ull)products);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < LSP_ONE_PASS_MOST + 2; i += SAMPLE_NT) {
        if (lengths[i] > 0) {
            atomicAdd(report->sample.lengths + i, lengths[i]);
        }
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(&report->blocks, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        for (int i = threadIdx.x; i < (int)(sizeof *told / 4); i += SAMPLE_NT) {
            ((uint32_t *)told)[i] = __ldcg((const uint32_t *)&report->sample + i);
        }
    }
}

/* ---- the product ---- */

/* Checks the tile's share of B, which lies near the rows that it has read if A is near its diagonal. */
template <int NT> __device__ inline bool check_share(const spg_matrix &B, const one_pass_job &to, uint32_t tile) {
    const int64_t row = (int64_t)tile * to.b_rows, entry = (int64_t)tile * to.b_entries;
    bool right = true;
    uint32_t most = 0;
#pragma unroll 4
    for (int64_t i = row + threadIdx.x; i < min(row + to.b_rows, B.rows); i += NT) {
        right &= __ldg(B.rowptr + i) <= __ldg(B.rowptr + i + 1);
    }
#pragma unroll 4
    for (int64_t k = entry + threadIdx.x; k < min(entry + to.b_entries, B.nnz); k += NT) {
        most = max(most, __ldg(B.col + k));
    }
    if (tile == 0 && threadIdx.x == 0) {
        right &= __ldg(B.rowptr) == 0 && __ldg(B.rowptr + B.rows) == (uint32_t)B.nnz;
    }
    return right && most < (uint32_t)B.cols;
}

/* Adds the products of a warp's rows to the report. Neighbouring warps use different places. */
__device__ inline void report_products(one_pass_report *report, uint32_t warp, uint32_t products, uint32_t cols) {
    const uint32_t all = __reduce_add_sync(~0u, products), most = __reduce_max_sync(~0u, products);
    const uint32_t beyond = most > cols ? __reduce_add_sync(~0u, products - min(products, cols)) : 0;
    if (threadIdx.x % WARP == 0) {
        atomicAdd(report->products + warp % ONE_PASS_SLOTS, (ull)all);
        atomicMax(report->most + warp % ONE_PASS_SLOTS, (ull)most);
        if (beyond > 0) {
            atomicAdd(&report->beyond, (ull)beyond);
        }
    }
}

/* The shared memory of a tile. If values are KEPT in registers they come here in the order of C, else they stay where
 * they were summed, that of thread t from t on, and `sources` says where each is. */
template <typename V, typename SHAPE> struct tile_memory {
    enum { KEPT = SHAPE::kept && value_kind<V>::valued, ITEMS = SHAPE::most * SHAPE::nt };
    V values[value_kind<V>::valued ? (int)ITEMS : 1];
    uint32_t columns[ITEMS];
    uint16_t sources[value_kind<V>::valued && !KEPT ? (int)ITEMS : 1];
};

/* Brings a row of n entries to the tile's shared memory, in order of columns, from `place` on. */
template <typename V, typename SHAPE, typename LIST>
__device__ inline void place_row(tile_memory<V, SHAPE> &tile, const LIST &list, uint32_t n, uint32_t place) {
#pragma unroll
    for (int q = 0; q < SHAPE::most; q++) {
        if (q < (int)n) {
            uint32_t rank = place;
#pragma unroll
            for (int p = 0; p < SHAPE::most; p++) {
                rank += p != q && list.columns[p] < list.columns[q] ? 1 : 0;
            }
            tile.columns[rank] = list.columns[q];
            if constexpr (tile_memory<V, SHAPE>::KEPT) {
                tile.values[rank] = list.values[q];
            } else if constexpr (value_kind<V>::valued) {
                tile.sources[rank] = (uint16_t)(q * SHAPE::nt + threadIdx.x);
            }
        }
    }
}

/* Writes the n entries of the tile, which begin at `base`, to C. */
template <typename V, typename SHAPE>
__device__ inline void write_tile(const spg_job &job, const tile_memory<V, SHAPE> &tile, ull base, uint32_t n) {
    for (uint32_t i = threadIdx.x; i < n; i += SHAPE::nt) {
        if (job.wide_col) {
            __stcs((int64_t *)job.col + base + i, (int64_t)tile.columns[i]);
        } else {
            __stcs((uint32_t *)job.col + base + i, tile.columns[i]);
        }
        if constexpr (value_kind<V>::valued) {
            typedef typename value_kind<V>::number number;
            const V value = canonical(tile.values[tile_memory<V, SHAPE>::KEPT ? i : tile.sources[i]]);
            static_assert(sizeof(number) == sizeof(V), "a value is one number");
            number bits;
            memcpy(&bits, &value, sizeof bits);
            __stcs((number *)job.val + base + i, bits);
        }
    }
}

/* A tile whose lists are made, as one thread has it: where its row ends among the tile's `total` entries. */
struct made_tile {
    uint32_t number, end, total;
};

/* Multiplies the rows of a tile, tells other blocks how many entries it has, and brings them to `shared`. */
template <typename V, typename SHAPE>
__device__ inline made_tile make_tile(const spg_job &job, const one_pass_job &to, uint32_t tile,
                                      tile_memory<V, SHAPE> &shared) {
    enum { MOST = SHAPE::most, THREADS = SHAPE::nt, WARPS = THREADS / WARP };
    __shared__ uint32_t sums[WARPS];
    const int t = (int)threadIdx.x;
    const int64_t row = (int64_t)tile * THREADS + t;
    uint32_t begin = 0, end = 0, total;
    row_list<V, MOST, tile_memory<V, SHAPE>::KEPT> list;
    bool right = row >= job.A.rows || row_bounds(job, row, &begin, &end);
    right &= row != 0 || begin == 0;
    right &= row != job.A.rows - 1 || end == (uint32_t)job.A.nnz;
    right &= multiply_row<SHAPE::ahead, THREADS>(job, begin, end, list, shared.values + t);
    const uint32_t n = min(list.n, (uint32_t)MOST);
    report_products(to.report, tile * WARPS + t / WARP, list.products, job.cols);
    const uint32_t place = block_scan(n, sums, &total);
    if (t == 0 && tile > 0) {
        __stcg(to.tiles + tile, (ull)total << 2 | LOOK_COUNTED);
    }
    place_row<V, SHAPE>(shared, list, n, place);
    right &= check_share<THREADS>(job.B, to, tile);
    if (!right) {
        to.report->failed = 1;
    }
    return {tile, place + n, total};
}

/* Learns where the tile begins in C, and writes it. */
template <typename V, typename SHAPE>
__device__ inline void finish_tile(const spg_job &job, const one_pass_job &to, made_tile its,
                                   const tile_memory<V, SHAPE> &shared) {
    __shared__ ull before_tile;
    const int64_t row = (int64_t)its.number * SHAPE::nt + threadIdx.x;
    if (threadIdx.x < WARP) {
        const ull before = look_back(to.tiles, its.number, its.total);
        if (threadIdx.x == 0) {
            before_tile = before;
        }
    }
    __syncthreads();
    const ull base = before_tile;
    if (row < job.A.rows) {
        put_start(to.rowptr, to.wide_rowptr, row, (int64_t)(base + its.end));
    }
    if (row == job.A.rows - 1) {
        to.report->nnz = base + its.total;
    }
    if (base + its.total <= to.capacity) {
        write_tile<V, SHAPE>(job, shared, base, its.total);
    }
}

/* SHAPE: the lists' length and the size of a block, see one_pass_shape. Blocks take tiles in order, so no tile waits
 * for one that is not yet taken. If tiles OVERLAP, a block makes the next one before it finishes the last: meanwhile
 * the blocks before have told their entries, so that it need not wait. Otherwise there is a block for each tile. */
template <typename V, typename SHAPE>
__global__ void __launch_bounds__(SHAPE::nt, SHAPE::blocks) kernel_one_pass(spg_job job, one_pass_job to) {
    LSP_DYNAMIC_SHARED(memory);
    tile_memory<V, SHAPE> *const shared = (tile_memory<V, SHAPE> *)memory;
    __shared__ uint32_t taken;
    made_tile its = {}, before = {};
    for (uint32_t k = 0, tile = 0; tile < to.count; k++) {
        if (threadIdx.x == 0) {
            taken = atomicAdd(&to.report->taken, 1u);
        }
        __syncthreads();
        tile = taken;
        if (tile < to.count) {
            its = make_tile<V, SHAPE>(job, to, tile, shared[SHAPE::overlap ? k % 2 : 0]);
        }
        if (!SHAPE::overlap) {
            finish_tile<V, SHAPE>(job, to, its, shared[0]);
            break;
        }
        if (k > 0) {
            finish_tile<V, SHAPE>(job, to, before, shared[(k + 1) % 2]);
        }
        before = its;
    }
    lsp_let_next_begin();
}

/* Sums up the report to host memory, once the product is made. One block. */
static __global__ void __launch_bounds__(ONE_PASS_SLOTS)
    kernel_one_pass_tell(const one_pass_report *report, ull capacity, one_pass_facts *told) {
    __shared__ ull sums[ONE_PASS_SLOTS / WARP], most[ONE_PASS_SLOTS / WARP];
    lsp_wait_for_previous();
    const ull products = warp_sum(__ldcg(report->products + threadIdx.x));
    const ull its_most = warp_max(__ldcg(report->most + threadIdx.x));
    if (threadIdx.x % WARP == 0) {
        sums[threadIdx.x / WARP] = products, most[threadIdx.x / WARP] = its_most;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        one_pass_facts facts = {};
        for (int w = 0; w < ONE_PASS_SLOTS / WARP; w++) {
            facts.products += sums[w], facts.max_products = max(facts.max_products, most[w]);
        }
        facts.nnz = __ldcg(&report->nnz);
        facts.nnz_bound = facts.products - __ldcg(&report->beyond);
        facts.failed = __ldcg(&report->failed) != 0 || facts.nnz > capacity;
        *told = facts;
    }
}
