/* Rows of at most 256 products, and what is learnt of all rows on the way. A warp takes neighbouring rows of C, at most
 * 32, and sorts those of equal size at a time: no list of rows is made. The first kernel checks A, counts the products
 * of every row and the entries of C's short ones; if all are short, nnz(C) is known when it ends. The second fills
 * them. */
#ifndef LSP_SPGEMM_SHORT_CUH
#define LSP_SPGEMM_SHORT_CUH

#include "spgemm_alike.cuh"
#include "spgemm_facts.cuh"
#include "spgemm_sort.cuh"

enum {
    SHORT_WARPS = 4, /* of a tile, which is what a block fills; one that looks does it for two */
    SHORT_NT = SHORT_WARPS * WARP,
    LOOK_TILES = 2,
    LOOK_WARPS = SHORT_WARPS * LOOK_TILES,
    LOOK_NT = SHORT_NT * LOOK_TILES,
    LOOK_DEPTH = 4,                    /* entries on their way together */
    LOOK_WARP = 4 * LOOK_DEPTH * WARP, /* entries of a row that a warp looks at alone */
    LOOK_STEPS = 4                     /* at most: how often a block that looks goes on to the next rows */
};
static_assert((int)LOOK_NT == (int)FACTS_NT, "block_scan has so many threads");

/* How rows are dealt out, the same in all kernels. */
typedef struct spg_deal {
    int rows_each;         /* rows a warp: a power of two to 32 */
    int steps;             /* of a block that looks, LOOK_TILES tiles each */
    ull *tiles;            /* of the rows of SHORT_WARPS warps: where they begin in C, less where its block's begin */
    ull *blocks;           /* of a block that looks: the entries of its rows in C, then where they begin there */
    const int64_t *summed; /* NULL: job.rowptr has counts, and the two above say where they begin */
    bool alike;            /* some rows are */
} spg_deal;

/* ---- sorting ---- */

/* Shared memory of a warp. */
template <typename V> struct short_shared {
    spg_row rows[WARP];
    uint32_t order[WARP]; /* rows of one size, the first ones first */
    union {
        sort_shared<1, 8, V> of_1;
        sort_shared<4, 8, V> of_4;
        sort_shared<8, 8, V> of_8;
        sort_shared<16, 8, V> of_16;
        sort_shared<32, 8, V> of_32;
        alike_shared<V> of_alike;
    };
};

/* Makes those of the warp's rows that are in the bin, G lanes a row; counting leaves a row's entries in its `at`. */
template <int G, typename V, bool COUNT>
__device__ inline void sort_some(const spg_job &job, bool mine, short_shared<V> &all, sort_shared<G, 8, V> &shared,
                                 bool *sorted) {
    const int lane = (int)threadIdx.x % WARP;
    const unsigned mask = __ballot_sync(~0u, mine);
    if (mask == 0) {
        return;
    }
    if (mine) {
        all.order[__popc(mask & ((1u << lane) - 1))] = (uint32_t)lane;
    }
    __syncwarp();
    for (int i = lane / G, end = i + __popc(mask); i < end; i += WARP / G) {
        const int from = i < end - lane / G ? (int)all.order[i] : -1;
        const spg_row row = from >= 0 ? all.rows[from] : spg_row{};
        if constexpr (COUNT) {
            const uint32_t total = count_row<G, 8>(job, row, shared, sorted);
            if (from >= 0 && lane % G == 0) {
                all.rows[from].at = total;
            }
        } else {
            fill_row<G, 8, V>(job, row, 0, job.cols, shared);
        }
        __syncwarp();
    }
}

/* Makes those of the warp's rows, one a lane, that are in bins to SORT_32. */
template <typename V, bool COUNT>
__device__ inline void sort_short(const spg_job &job, int bin, short_shared<V> &shared, bool *sorted) {
    __syncwarp();
    sort_some<1, V, COUNT>(job, bin == LSP_BIN_SORT_1, shared, shared.of_1, sorted);
    sort_some<4, V, COUNT>(job, bin == LSP_BIN_SORT_4, shared, shared.of_4, sorted);
    sort_some<8, V, COUNT>(job, bin == LSP_BIN_SORT_8, shared, shared.of_8, sorted);
    sort_some<16, V, COUNT>(job, bin == LSP_BIN_SORT_16, shared, shared.of_16, sorted);
    sort_some<32, V, COUNT>(job, bin == LSP_BIN_SORT_32, shared, shared.of_32, sorted);
}

/* ---- the first kernel ---- */

/* What a thread has seen of A. */
enum { LOOK_DESCENTS = 1, LOOK_REPEATS = 2 };
struct look_faults {
    uint32_t seen;    /* LOOK_... */
    uint32_t outside; /* the first entry with such a column; ~0: none */
};

/* Products of the entries at, at + step, ... of a row that begins at `begin`; beyond all if it is none. What is behind
 * the last entry is the last once more: loads under a condition would be waited for one by one. */
template <int DEPTH>
__device__ inline ull look_at_entries(const spg_job &job, uint32_t at, uint32_t begin, uint32_t end, uint32_t step,
                                      look_faults *faults) {
    const uint32_t most = (uint32_t)job.B.nnz, rows = (uint32_t)job.B.rows;
    ull products = 0;
    bool wrong = false;
    for (; at < end; at += DEPTH * step) {
        uint32_t k[DEPTH], before[DEPTH], from[DEPTH], to[DEPTH];
#pragma unroll
        for (uint32_t i = 0; i < DEPTH; i++) {
            const uint32_t p = min(at + i * step, end - 1);
            k[i] = __ldg(job.A.col + p);
            if (i == 0 || step != 1) {
                before[i] = __ldg(job.A.col + (p > begin ? p - 1 : p));
            }
        }
#pragma unroll
        for (uint32_t i = 0; i < DEPTH; i++) {
            from[i] = __ldg(job.B.rowptr + min(k[i], rows));
            to[i] = __ldg(job.B.rowptr + min(k[i] + 1, rows));
        }
#pragma unroll
        for (uint32_t i = 0; i < DEPTH; i++) {
            const uint32_t p = at + i * step, last = i > 0 && step == 1 ? k[i > 0 ? i - 1 : 0] : before[i];
            const bool there = p < end;
            faults->seen |= !there || p == begin || last < k[i] ? 0 : last > k[i] ? LOOK_DESCENTS : LOOK_REPEATS;
            faults->outside = k[i] >= rows ? min(faults->outside, p) : faults->outside;
            wrong |= k[i] >= rows || from[i] > to[i] || to[i] > most;
            products += there ? to[i] - from[i] : 0;
        }
    }
    return wrong ? (ull)1 << 54 : products; /* so many are nobody's to sort, and a block's sum does not overflow */
}

/* Rows of many entries: a warp looks at one, the block together at those of very many. Hubs often come first: then one
 * block has hundreds of them. */
struct look_long {
    uint32_t rows[LOOK_NT], count;
    ull products[LOOK_NT];
};

/* Products of the rows of the warp's lanes, 2^log_lanes lanes at a time to a row; 0 for long ones. */
__device__ inline ull look_at_rows(const spg_job &job, uint32_t begin, uint32_t end, int log_lanes, int rows_each,
                                   look_faults *faults) {
    const int lane = (int)threadIdx.x % WARP, lanes = 1 << log_lanes, together = WARP >> log_lanes;
    ull products = 0;
    for (int first = 0; first < rows_each; first += together) {
        const int from = first + (lane >> log_lanes);
        const uint32_t its_begin = __shfl_sync(~0u, begin, from), its_end = __shfl_sync(~0u, end, from);
        const uint32_t at = its_begin + (uint32_t)(lane & (lanes - 1)), step = (uint32_t)lanes;
        ull p = __any_sync(~0u, its_end - its_begin > step)
                    ? look_at_entries<LOOK_DEPTH>(job, at, its_begin, its_end, step, faults)
                    : look_at_entries<1>(job, at, its_begin, its_end, step, faults);
        for (int mask = 1; mask < lanes; mask *= 2) {
            p += __shfl_xor_sync(~0u, p, mask);
        }
        const ull own = __shfl_sync(~0u, p, (lane - first) << log_lanes & (WARP - 1));
        products = lane >= first && lane < first + together ? own : products;
    }
    return products;
}

/* The block comes here together. */
__device__ inline void look_at_long(const spg_job &job, look_long &longs, look_faults *faults) {
    __shared__ ull sums[LOOK_WARPS];
    const uint32_t lane = threadIdx.x % WARP;
    for (uint32_t k = threadIdx.x / WARP; k < longs.count; k += LOOK_WARPS) {
        const uint32_t begin = job.A.rowptr[longs.rows[k]], end = job.A.rowptr[longs.rows[k] + 1];
        if (end - begin <= LOOK_WARP) {
            const ull p = warp_sum_of(look_at_entries<LOOK_DEPTH>(job, begin + lane, begin, end, WARP, faults));
            longs.products[k] = p; /* all lanes have the same */
        }
    }
    for (uint32_t k = 0; k < longs.count; k++) {
        const uint32_t begin = job.A.rowptr[longs.rows[k]], end = job.A.rowptr[longs.rows[k] + 1];
        if (end - begin <= LOOK_WARP) {
            continue;
        }
        const ull p = warp_sum_of(look_at_entries<LOOK_DEPTH>(job, begin + threadIdx.x, begin, end, LOOK_NT, faults));
        if (threadIdx.x % WARP == 0) {
            sums[threadIdx.x / WARP] = p;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            ull all = 0;
            for (int w = 0; w < LOOK_WARPS; w++) {
                all += sums[w];
            }
            longs.products[k] = all;
        }
        __syncthreads();
    }
    __syncthreads();
}

/* blocks[] become their exclusive sums, *all is that of all; one block, after others have written them. */
__device__ inline void sum_blocks(ull *blocks, int64_t n, ull *all) {
    __shared__ ull sums[FACTS_WARPS];
    const int64_t each = (n + LOOK_NT - 1) / LOOK_NT, first = min(threadIdx.x * each, n), end = min(first + each, n);
    ull mine = 0, total;
#pragma unroll 8
    for (int64_t i = first; i < end; i++) {
        mine += __ldcg(blocks + i);
    }
    ull before = block_scan(mine, sums, &total);
#pragma unroll 8
    for (int64_t i = first; i < end; i++) {
        const ull its = __ldcg(blocks + i);
        blocks[i] = before;
        before += its;
    }
    if (threadIdx.x == 0) {
        *all = total;
    }
}

/* A copy for the host. */
__device__ inline void tell(const spg_facts *facts, spg_facts *told) {
    for (size_t i = threadIdx.x; i < sizeof *facts / sizeof(ull); i += LOOK_NT) {
        ((ull *)told)[i] = __ldcg((const ull *)facts + i);
    }
}

/* Of the warp's rows: products, most entries of C, products of a row at most. */
struct look_sums {
    ull products, bound, most;
    uint32_t alike;
};

/* Before rows are sorted, so that it takes no registers from that: a warp's faults go to the report. True if rows of so
 * many products may be alike. */
__device__ inline bool note_warp(const spg_job &job, ull products, const look_faults &faults, look_sums &sums,
                                 spg_check *check) {
    const bool leads = threadIdx.x % WARP == 0;
    ull all = 0, bound = min(products, (ull)job.cols), most = products;
    if (__any_sync(~0u, products > 1 << 26)) {
        all = warp_sum_of(products), bound = warp_sum_of(bound);
        for (int mask = 1; mask < WARP; mask *= 2) {
            most = max(most, __shfl_xor_sync(~0u, most, mask));
        }
    } else {
        all = __reduce_add_sync(~0u, (uint32_t)products), bound = __reduce_add_sync(~0u, (uint32_t)bound);
        most = __reduce_max_sync(~0u, (uint32_t)most);
    }
    if (leads) {
        sums.products += all, sums.bound += bound, sums.most = max(sums.most, most);
    }
    if (faults.outside != ~0u) {
        atomicMax(&check->outside, ~(ull)faults.outside);
    }
    const unsigned seen = __reduce_or_sync(~0u, faults.seen);
    if (seen != 0 && leads) {
        if (seen & LOOK_DESCENTS) {
            atomicMax(&check->descents, (ull)1);
        }
        if (seen & LOOK_REPEATS) {
            atomicMax(&check->repeats, (ull)1);
        }
    }
    return most >= ALIKE_LEAST;
}

/* The counts of the lanes' rows, of this step: where its tiles begin among the block's entries of C; *before is told by
 * one thread. A barrier comes between two of these. */
__device__ inline void sum_step(uint32_t count, const spg_deal &deal, int step, ull *before) {
    __shared__ uint32_t counts[LOOK_WARPS];
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % WARP == 0) {
        counts[threadIdx.x / WARP] = count;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        ull *tiles = deal.tiles + ((int64_t)blockIdx.x * deal.steps + step) * LOOK_TILES;
        for (int w = 0; w < LOOK_WARPS; w++) {
            if (w % SHORT_WARPS == 0) {
                tiles[w / SHORT_WARPS] = *before;
            }
            *before += counts[w];
        }
    }
}

/* The block has done all; true in the last one that has, which then sums up where the blocks' entries begin. */
__device__ inline bool end_block(const spg_deal &deal, ull entries, uint32_t *ended, ull *nnz) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        deal.blocks[blockIdx.x] = entries;
        __threadfence();
        last = atomicAdd(ended, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        sum_blocks(deal.blocks, gridDim.x, nnz);
        __syncthreads();
    }
    return last;
}

/* What the block's rows add up to. By one thread. */
__device__ inline void report_sums(const look_sums (&sums)[LOOK_WARPS], spg_facts *facts) {
    look_sums all = {};
    for (const look_sums &its : sums) {
        all.products += its.products, all.bound += its.bound, all.most = max(all.most, its.most);
        all.alike += its.alike;
    }
    atomicAdd(&facts->products, all.products);
    atomicAdd(&facts->nnz_bound, all.bound);
    if (all.alike > 0) {
        atomicAdd(&facts->alike, all.alike);
    }
    if (all.most > __ldcg(&facts->max_products)) {
        atomicMax(&facts->max_products, all.most);
    }
}

/* The rows of a step: the warp's first one. */
__device__ inline int64_t step_row(const spg_deal &deal, int step) {
    const int64_t warp = ((int64_t)blockIdx.x * deal.steps + step) * LOOK_WARPS + threadIdx.x / WARP;
    return warp * deal.rows_each;
}

/* Checks A (B has been, unless it is the same), and notes of every row its products and, if short, its entries in C. */
static __global__ void __launch_bounds__(LOOK_NT, 5)
    kernel_look(spg_job job, spg_deal deal, int log_lanes, uint32_t *products, spg_facts *facts, spg_facts *told) {
    __shared__ uint32_t bins[LSP_BINS];
    __shared__ look_long longs;
    __shared__ look_sums sums[LOOK_WARPS];
    LSP_DYNAMIC_SHARED(memory);
    const bin_counter counter = {bins};
    const int lane = (int)threadIdx.x % WARP;
    spg_check *check = facts->check;
    ull before = 0;
    bool sorted = false; /* see count_row */
    if (check_failed(check[1])) {
        if (blockIdx.x == 0) {
            tell(facts, told);
        }
        return;
    }
    if (threadIdx.x < LOOK_WARPS) {
        sums[threadIdx.x] = {};
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        check->start_wrong = job.A.rowptr[0] != 0;
        check->stop_wrong = job.A.rowptr[job.A.rows] != (ull)job.A.nnz;
        job.rowptr[0] = 0;
    }
    counter.clear(); /* a barrier after it */
    for (int step = 0; step < deal.steps; step++) {
        const int64_t row = step_row(deal, step) + lane;
        const bool there = lane < deal.rows_each && row < job.A.rows;
        look_faults faults = {0, ~0u};
        spg_row mine = {};
        uint32_t end = 0, place = 0;
        int bin = -1;
        if (there) {
            mine.begin = job.A.rowptr[row], end = job.A.rowptr[row + 1];
            if ((int32_t)mine.begin > (int32_t)end) {
                atomicMax(&check->falls, ~(ull)row);
            }
            if (mine.begin > end || end > (uint32_t)job.A.nnz) { /* it is no matrix */
                mine.begin = end = 0;
            }
        }
        if (threadIdx.x == 0) {
            longs.count = 0;
        }
        const bool is_long = end - mine.begin > (uint32_t)FACTS_LONG << log_lanes;
        const bool any_long = __syncthreads_or(is_long);
        if (is_long) {
            place = atomicAdd(&longs.count, 1u);
            longs.rows[place] = (uint32_t)row;
        }
        mine.entries = end - mine.begin;
        ull p = look_at_rows(job, mine.begin, is_long ? mine.begin : end, log_lanes, deal.rows_each, &faults);
        if (any_long) {
            __syncthreads();
            look_at_long(job, longs, &faults);
            p = is_long ? longs.products[place] : p;
        }
        if (there) {
            mine.products = (uint32_t)min(p, (ull)LSP_PRODUCTS_MOST);
            bin = lsp_count_bin(mine.products, mine.entries);
            products[row] = mine.products;
            if (lsp_has_many(bin, mine.entries)) {
                atomicAdd(&facts->many[bin - LSP_BIN_COUNT_256], 1u);
            }
            if (bin <= LSP_BIN_SORT_32 && lsp_fill_bin(mine.products, mine.entries, 0, 0, job.cols) != bin) {
                atomicMax(&facts->unfit, 1u);
            }
        }
        counter.add_warp(bin);
        const bool known = mine.products <= 1; /* as many entries in C */
        short_shared<no_value> &shared = ((short_shared<no_value> *)memory)[threadIdx.x / WARP];
        mine.at = known ? mine.products : 0;
        shared.rows[lane] = mine;
        const bool may_be =
            note_warp(job, p, faults, sums[threadIdx.x / WARP], check) && deal.rows_each >= 2 * ALIKE_ROWS;
        const bool alike =
            may_be && look_alike(job, deal.rows_each, mine.begin, mine.entries, mine.products, shared.of_alike, &place);
        const unsigned all_alike = __ballot_sync(~0u, alike);
        if (lane == 0 && all_alike != 0) {
            sums[threadIdx.x / WARP].alike += (uint32_t)__popc(all_alike);
        }
        if (alike) {
            shared.rows[lane].at = place;
        }
        sort_short<no_value, true>(job, known || alike ? -1 : bin, shared, &sorted);
        const uint32_t count = (uint32_t)shared.rows[lane].at;
        if (there) {
            job.groups[row] = alike ? LSP_GROUPS_ALIKE : 0;
            job.rowptr[row + 1] = count;
        }
        sum_step(count, deal, step, &before);
    }
    counter.flush(facts->bins); /* a barrier before it */
    if (threadIdx.x == 0) {
        report_sums(sums, facts);
    }
    if (end_block(deal, before, &facts->blocks, &facts->nnz)) {
        tell(facts, told);
    }
}

/* ---- where rows of C begin ---- */

/* The row's first and last place in C; the block, which has a tile, comes here together. */
__device__ inline void find_row(const spg_job &job, const spg_deal &deal, int64_t row, bool there, int64_t *at,
                                int64_t *end) {
    __shared__ uint32_t sums[SHORT_WARPS];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    *at = *end = 0;
    if (deal.summed) {
        *at = there ? deal.summed[row] : 0;
        *end = there ? deal.summed[row + 1] : 0;
        return;
    }
    const uint32_t count = there ? (uint32_t)job.rowptr[row + 1] : 0;
    uint32_t of_warp, before = sum_before(count, &of_warp);
    if (lane == 0) {
        sums[warp] = of_warp;
    }
    __syncthreads();
    for (int w = 0; w < warp; w++) {
        before += sums[w];
    }
    *at = (int64_t)(deal.tiles[blockIdx.x] + deal.blocks[blockIdx.x / (LOOK_TILES * (uint32_t)deal.steps)]) + before;
    *end = *at + count;
}

/* To job.rowptr, if that has counts yet, and to C's. */
template <typename R> __global__ void __launch_bounds__(SHORT_NT) kernel_rowptr(spg_job job, spg_deal deal, R *rowptr) {
    const int64_t row = (int64_t)blockIdx.x * SHORT_NT + threadIdx.x;
    int64_t at, end;
    find_row(job, deal, row, row < job.A.rows, &at, &end);
    if (row < job.A.rows) {
        job.rowptr[row + 1] = end;
        put_start<R>(rowptr, row, end);
    }
}

/* ---- the second kernel ---- */

/* Fills the short rows of C, and writes where all rows begin. */
template <typename V>
__global__ void __launch_bounds__(SHORT_NT, 8)
    kernel_short(spg_job job, spg_deal deal, void *rowptr, bool wide_rowptr) {
    LSP_DYNAMIC_SHARED(memory);
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const int64_t row = ((int64_t)blockIdx.x * SHORT_WARPS + warp) * deal.rows_each + lane;
    const bool there = lane < deal.rows_each && row < job.A.rows;
    spg_row mine = {};
    int64_t end;
    lsp_let_next_begin();
    find_row(job, deal, row, there, &mine.at, &end);
    if (there) {
        mine.products = job.products[row];
        mine.begin = job.A.rowptr[row];
        mine.entries = job.A.rowptr[row + 1] - mine.begin;
        wide_rowptr ? put_start((int64_t *)rowptr, row, end) : put_start((int32_t *)rowptr, row, end);
    } else if (job.A.rows == 0) {
        wide_rowptr ? *(int64_t *)rowptr = 0 : *(int32_t *)rowptr = 0;
    }
    const bool alike = deal.alike && there && job.groups[row] == LSP_GROUPS_ALIKE;
    int bin = there && !alike ? lsp_fill_bin(mine.products, mine.entries, 0, 0, job.cols) : -1;
    if (mine.products == 1 && mine.entries == 1) { /* as in a permutation */
        const uint32_t q = __ldg(job.B.rowptr + __ldg(job.A.col + mine.begin));
        put_col(job, mine.at, __ldg(job.B.col + q));
        put_value<V>(job, mine.at, settled(times(job, value_at<V>(job.A, mine.begin), value_at<V>(job.B, q))));
        bin = -1;
    }
    short_shared<V> &shared = ((short_shared<V> *)memory)[warp];
    if (__any_sync(~0u, alike)) {
        fill_alike<V>(job, deal.rows_each, alike, mine.begin, mine.entries, mine.products, mine.at,
                      (uint32_t)(end - mine.at), shared.of_alike);
    }
    shared.rows[lane] = mine;
    sort_short<V, false>(job, bin, shared, NULL);
    lsp_end_after_previous();
}

/* ---- no row has two products ---- */

enum { SINGLE_TILES = 4 /* of a block: so many rows a thread are on their way together */ };

/* Fills such a C, of tiles of 32 rows a warp: permuted rows or columns, or a diagonal. */
template <typename V>
__global__ void __launch_bounds__(SHORT_NT) kernel_single(spg_job job, spg_deal deal, void *rowptr, bool wide_rowptr) {
    __shared__ uint32_t counts[SINGLE_TILES][SHORT_WARPS];
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t last = job.A.rows - 1, tile = (int64_t)blockIdx.x * SINGLE_TILES, row = tile * SHORT_NT + threadIdx.x;
    uint32_t before[SINGLE_TILES], p[SINGLE_TILES], q[SINGLE_TILES];
    bool has[SINGLE_TILES];
#pragma unroll
    for (int t = 0; t < SINGLE_TILES; t++) {
        const int64_t i = min(row + t * SHORT_NT, last);
        has[t] = job.products[i] > 0 && row + t * SHORT_NT <= last;
        p[t] = job.A.rowptr[i];
        q[t] = job.A.rowptr[i + 1];
    }
#pragma unroll
    for (int t = 0; t < SINGLE_TILES; t++) {
        const unsigned some = __ballot_sync(~0u, has[t]);
        before[t] = (uint32_t)__popc(some & ((1u << lane) - 1));
        counts[t][warp] = (uint32_t)__popc(some);
        while (has[t] && q[t] - p[t] > 1) { /* most of its entries lead to rows of B without any */
            const uint32_t k = __ldg(job.A.col + p[t]);
            if (__ldg(job.B.rowptr + k) < __ldg(job.B.rowptr + k + 1)) {
                break;
            }
            p[t]++;
        }
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < SINGLE_TILES; t++) {
        p[t] = min(p[t], (uint32_t)job.A.nnz - 1);
        q[t] = min(__ldg(job.B.rowptr + __ldg(job.A.col + p[t])), (uint32_t)job.B.nnz - 1);
        for (uint32_t w = 0; w < warp; w++) {
            before[t] += counts[t][w];
        }
    }
    uint32_t column[SINGLE_TILES];
    V a[SINGLE_TILES], b[SINGLE_TILES];
#pragma unroll
    for (int t = 0; t < SINGLE_TILES; t++) {
        column[t] = __ldg(job.B.col + q[t]);
        a[t] = value_at<V>(job.A, p[t]), b[t] = value_at<V>(job.B, q[t]);
    }
#pragma unroll
    for (int t = 0; t < SINGLE_TILES; t++) {
        if (row + t * SHORT_NT <= last) {
            const int64_t at =
                (int64_t)(deal.tiles[tile + t] + deal.blocks[(tile + t) / (LOOK_TILES * (uint32_t)deal.steps)]) +
                before[t];
            if (has[t]) {
                put_col(job, at, column[t]);
                put_value<V>(job, at, settled(times(job, a[t], b[t])));
            }
            wide_rowptr ? put_start((int64_t *)rowptr, row + t * SHORT_NT, at + has[t])
                        : put_start((int32_t *)rowptr, row + t * SHORT_NT, at + has[t]);
        }
    }
}

#endif
