/* Inspects A and B before anything is multiplied, in one kernel: checks A, counts the products of every row of C and
 * the nnz of its short rows, and sums these to the places where short rows begin in C. */
#pragma once

#include "kernel_lists.cuh"
#include "report.cuh"
#include "sort/kernel_short.cuh"

/* What a thread has met in A: it is no matrix; pairs of neighbours in a row, as in spg_check. */
enum { INSPECT_FAULT = 1, INSPECT_DESCENTS = 2, INSPECT_DUPLICATES = 4 };

/* Counts the products of entries at, at + step, ... of one row, which begins at `begin`. Returns an impossibly large
 * count if the row is malformed. Past the end it reads the last entry again instead of branching: loads under a
 * condition would be waited for one by one. */
template <int DEPTH>
__device__ inline ull inspect_entries(const spg_job &job, uint32_t at, uint32_t begin, uint32_t end, uint32_t step,
                                      uint32_t *met) {
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
            *met |= !there || p == begin || last < k[i] ? 0 : last > k[i] ? INSPECT_DESCENTS : INSPECT_DUPLICATES;
            *met |= k[i] >= rows ? INSPECT_FAULT : 0;
            wrong |= k[i] >= rows || from[i] > to[i] || to[i] > most;
            products += there ? to[i] - from[i] : 0;
        }
    }
    return wrong ? (ull)1 << 54 : products; /* more than any kernel sorts, and small enough that the sum over a block
                                               does not overflow */
}

/* The block's rows of many entries. A warp counts the products of one such row; the whole block counts a longer row.
 * Hubs often come first in a matrix: then one block has hundreds of these rows. */
struct inspect_long {
    uint32_t rows[INSPECT_NT], count;
    ull products[INSPECT_NT];
};

/* Counts the products of the rows of the warp's lanes, 2^log_lanes lanes a row. Long rows come with end == begin. */
__device__ inline ull inspect_rows(const spg_job &job, uint32_t begin, uint32_t end, int log_lanes, int rows_each,
                                   uint32_t *met) {
    const int lane = (int)threadIdx.x % WARP, lanes = 1 << log_lanes, together = WARP >> log_lanes;
    ull products = 0;
    for (int first = 0; first < rows_each; first += together) {
        const int from = first + (lane >> log_lanes);
        const uint32_t its_begin = __shfl_sync(~0u, begin, from), its_end = __shfl_sync(~0u, end, from);
        const uint32_t at = its_begin + (uint32_t)(lane & (lanes - 1)), step = (uint32_t)lanes;
        ull p = __any_sync(~0u, its_end - its_begin > step)
                    ? inspect_entries<INSPECT_DEPTH>(job, at, its_begin, its_end, step, met)
                    : inspect_entries<1>(job, at, its_begin, its_end, step, met);
        for (int mask = 1; mask < lanes; mask *= 2) {
            p += __shfl_xor_sync(~0u, p, mask);
        }
        const ull own = __shfl_sync(~0u, p, (int)((uint32_t)(lane - first) << log_lanes) & (WARP - 1));
        products = lane >= first && lane < first + together ? own : products;
    }
    return products;
}

/* Counts the products of the long rows. The whole block calls together. */
__device__ inline void inspect_long_rows(const spg_job &job, inspect_long &longs, uint32_t *met) {
    __shared__ ull sums[INSPECT_WARPS];
    const uint32_t lane = threadIdx.x % WARP;
    ull all;
    for (uint32_t k = threadIdx.x / WARP; k < longs.count; k += INSPECT_WARPS) {
        const uint32_t begin = job.A.rowptr[longs.rows[k]], end = job.A.rowptr[longs.rows[k] + 1];
        if (end - begin <= INSPECT_WARP) {
            const ull p = warp_sum(inspect_entries<INSPECT_DEPTH>(job, begin + lane, begin, end, WARP, met));
            longs.products[k] = p; /* the same value in all lanes */
        }
    }
    for (uint32_t k = 0; k < longs.count; k++) {
        const uint32_t begin = job.A.rowptr[longs.rows[k]], end = job.A.rowptr[longs.rows[k] + 1];
        if (end - begin <= INSPECT_WARP) {
            continue;
        }
        block_scan(inspect_entries<INSPECT_DEPTH>(job, begin + threadIdx.x, begin, end, INSPECT_NT, met), sums, &all);
        if (threadIdx.x == 0) {
            longs.products[k] = all;
        }
    }
    __syncthreads();
}

/* Turns blocks[] into its exclusive prefix sums and writes the total to *all. Called by one block, after the others
 * have written. */
__device__ inline void sum_blocks(ull *blocks, int64_t n, ull *all) {
    __shared__ ull sums[INSPECT_WARPS];
    const int64_t each = (n + INSPECT_NT - 1) / INSPECT_NT, first = min(threadIdx.x * each, n),
                  end = min(first + each, n);
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

/* Copies the report to host memory. */
__device__ inline void tell(const spg_facts *facts, spg_facts *told) {
    for (size_t i = threadIdx.x; i < sizeof *facts / sizeof(ull); i += INSPECT_NT) {
        ((ull *)told)[i] = __ldcg((const ull *)facts + i);
    }
}

/* Sums of the rows of one warp: products, a bound of their nnz in C, the most products of a row. */
struct inspect_sums {
    ull products, bound, most;
    uint32_t repeats;
};

/* Reports what the warp has met, and adds its products. Done before rows are sorted, to free registers. Returns whether
 * some row has enough products to be a short repeat. */
__device__ inline bool note_warp(const spg_job &job, ull products, uint32_t met, inspect_sums &sums, spg_check *check) {
    const bool leads = threadIdx.x % WARP == 0;
    ull all = 0, bound = min(products, (ull)job.cols), most = products;
    if (__any_sync(~0u, products > 1 << 26)) {
        all = warp_sum(products), bound = warp_sum(bound);
        most = warp_max(most);
    } else {
        all = __reduce_add_sync(~0u, (uint32_t)products), bound = __reduce_add_sync(~0u, (uint32_t)bound);
        most = __reduce_max_sync(~0u, (uint32_t)most);
    }
    if (leads) {
        sums.products += all, sums.bound += bound, sums.most = max(sums.most, most);
    }
    met = __reduce_or_sync(~0u, met);
    if (met != 0 && leads) {
        if (met & INSPECT_FAULT) {
            check->fault = 1;
        }
        if (met & INSPECT_DESCENTS) {
            check->descents = 1;
        }
        if (met & INSPECT_DUPLICATES) {
            check->duplicates = 1;
        }
    }
    return most >= SHORT_REPEAT_LEAST;
}

/* Sums the nnz of the rows of this step, and writes where each tile begins among the block's entries of C. *before is
 * kept by thread 0. Two calls need a barrier between them. */
__device__ inline void sum_step(uint32_t count, const short_layout &layout, int step, ull *before) {
    __shared__ uint32_t counts[INSPECT_WARPS];
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % WARP == 0) {
        counts[threadIdx.x / WARP] = count;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        ull *tiles = layout.tiles + ((int64_t)blockIdx.x * layout.steps + step) * INSPECT_TILES;
        for (int w = 0; w < INSPECT_WARPS; w++) {
            if (w % SHORT_WARPS == 0) {
                tiles[w / SHORT_WARPS] = *before;
            }
            *before += counts[w];
        }
    }
}

/* Ends the block's work. The last block to end sums up where the rows of all blocks begin; it alone returns true. */
__device__ inline bool end_block(const short_layout &layout, ull entries, uint32_t *ended, ull *nnz) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        layout.blocks[blockIdx.x] = entries;
        __threadfence();
        last = atomicAdd(ended, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        sum_blocks(layout.blocks, gridDim.x, nnz);
        __syncthreads();
    }
    return last;
}

/* Adds the sums of a block's warps to the report. Called by one thread. */
__device__ inline void report_sums(const inspect_sums (&sums)[INSPECT_WARPS], spg_facts *facts) {
    inspect_sums all = {};
    for (const inspect_sums &its : sums) {
        all.products += its.products, all.bound += its.bound, all.most = max(all.most, its.most);
        all.repeats += its.repeats;
    }
    atomicAdd(&facts->products, all.products);
    atomicAdd(&facts->nnz_bound, all.bound);
    if (all.repeats > 0) {
        atomicAdd(&facts->repeats, all.repeats);
    }
    if (all.most > __ldcg(&facts->max_products)) {
        atomicMax(&facts->max_products, all.most);
    }
}

/* The warp's first row in this step. */
__device__ inline int64_t step_row(const short_layout &layout, int step) {
    const int64_t warp = ((int64_t)blockIdx.x * layout.steps + step) * INSPECT_WARPS + threadIdx.x / WARP;
    return warp * layout.rows_each;
}

/* Notes the row's products and returns the bin that counts the row. Reports what the host must know of it. */
__device__ inline int note_row(const spg_job &job, const spg_row &mine, uint32_t *products, spg_facts *facts) {
    const int bin = lsp_count_bin(mine.products, mine.entries);
    *products = mine.products;
    if (lsp_has_many(bin, mine.entries)) {
        atomicAdd(&facts->many[bin - LSP_BIN_COUNT_256], 1u);
    }
    if (bin <= LSP_BIN_SORT_32 && lsp_fill_bin(mine.products, mine.entries, 0, 0, job.cols) != bin) {
        atomicMax(&facts->unfit, 1u);
    }
    return bin;
}

/* Checks A (B is checked before, unless it is A), and writes for every row its products and, if it is short, its nnz in
 * C. */
static __global__ void __launch_bounds__(INSPECT_NT, 5)
    kernel_inspect(spg_job job, short_layout layout, int log_lanes, uint32_t *products, spg_facts *facts,
                   spg_facts *told) {
    __shared__ uint32_t bins[LSP_BINS];
    __shared__ inspect_long longs;
    __shared__ inspect_sums sums[INSPECT_WARPS];
    LSP_DYNAMIC_SHARED(memory);
    const bin_counter counter = {bins};
    const int lane = (int)threadIdx.x % WARP;
    spg_check *check = facts->check;
    ull before = 0;
    bool sorted = false; /* see count_row */
    if (check[1].fault != 0) {
        if (blockIdx.x == 0) {
            tell(facts, told);
        }
        return;
    }
    if (threadIdx.x < INSPECT_WARPS) {
        sums[threadIdx.x] = {};
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        if (job.A.rowptr[0] != 0 || job.A.rowptr[job.A.rows] != (ull)job.A.nnz) {
            check->fault = 1;
        }
        job.rowptr[0] = 0;
    }
    counter.clear(); /* ends with a barrier */
    for (int step = 0; step < layout.steps; step++) {
        const int64_t row = step_row(layout, step) + lane;
        const bool there = lane < layout.rows_each && row < job.A.rows;
        spg_row mine = {};
        uint32_t end = 0, place = 0, met = 0;
        int bin = -1;
        if (there) {
            mine.begin = job.A.rowptr[row], end = job.A.rowptr[row + 1];
            met = (int32_t)mine.begin > (int32_t)end ? INSPECT_FAULT : 0;
            if (mine.begin > end || end > (uint32_t)job.A.nnz) { /* malformed: empty from here on */
                mine.begin = end = 0;
            }
        }
        if (threadIdx.x == 0) {
            longs.count = 0;
        }
        const bool is_long = end - mine.begin > (uint32_t)INSPECT_LONG << log_lanes;
        const bool any_long = __syncthreads_or(is_long);
        if (is_long) {
            place = atomicAdd(&longs.count, 1u);
            longs.rows[place] = (uint32_t)row;
        }
        mine.entries = end - mine.begin;
        ull p = inspect_rows(job, mine.begin, is_long ? mine.begin : end, log_lanes, layout.rows_each, &met);
        if (any_long) {
            __syncthreads();
            inspect_long_rows(job, longs, &met);
            p = is_long ? longs.products[place] : p;
        }
        if (there) {
            mine.products = (uint32_t)min(p, (ull)LSP_PRODUCTS_MOST);
            bin = note_row(job, mine, products + row, facts);
        }
        counter.add_warp(bin);
        const bool known = mine.products <= 1; /* its nnz is the number of products */
        short_shared<no_value> &shared = ((short_shared<no_value> *)memory)[threadIdx.x / WARP];
        mine.at = known ? mine.products : 0;
        shared.rows[lane] = mine;
        const bool may_repeat =
            note_warp(job, p, met, sums[threadIdx.x / WARP], check) && layout.rows_each >= 2 * SHORT_REPEAT_ROWS;
        const bool repeats = may_repeat && find_short_repeats(job, layout.rows_each, mine.begin, mine.entries,
                                                              mine.products, shared.of_repeats, &place);
        const unsigned all_repeat = __ballot_sync(~0u, repeats);
        if (lane == 0 && all_repeat != 0) {
            sums[threadIdx.x / WARP].repeats += (uint32_t)__popc(all_repeat);
        }
        if (repeats) {
            shared.rows[lane].at = place;
        }
        sort_short<no_value, true>(job, known || repeats ? -1 : bin, shared, &sorted);
        const uint32_t count = (uint32_t)shared.rows[lane].at;
        if (there) {
            job.groups[row] = repeats ? LSP_GROUPS_SHORT_REPEAT : 0;
            job.rowptr[row + 1] = count;
        }
        sum_step(count, layout, step, &before);
    }
    counter.flush(facts->bins); /* begins with a barrier */
    if (threadIdx.x == 0) {
        report_sums(sums, facts);
    }
    if (end_block(layout, before, &facts->blocks, &facts->nnz)) {
        tell(facts, told);
    }
}
