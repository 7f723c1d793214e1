/* The products of a row of C, or of those in a part of its columns, by a warp: 32 neighbours at a time, of as many of
 * A's entries as it takes, the next ones on their way. Of products of one column each waits for the sum of the one
 * before: so every sum grows in the order of A's entries. */
#ifndef LSP_SPGEMM_WALK_CUH
#define LSP_SPGEMM_WALK_CUH

#include "spgemm_device.cuh"

/* What is multiplied by one entry of A: a part of B's row. */
template <typename V> struct walk_entry {
    uint32_t at, length;
    V a;
};

/* All of B's row. */
template <typename V> struct row_entries {
    const spg_job &job;

    __device__ walk_entry<V> operator()(uint32_t p) const {
        const uint32_t k = __ldg(job.A.col + p), at = __ldg(job.B.rowptr + k);
        return {at, __ldg(job.B.rowptr + k + 1) - at, value_at<V>(job.A, p)};
    }
};

/* 32 products, one of each lane. */
template <typename V> struct walk_step {
    uint32_t place;   /* the column, then where its sum is; ~0: the lane has none */
    unsigned same;    /* lanes of the same column */
    bool some, alone; /* of all lanes: is it a step, and no column twice? */
    V a, b;

    template <typename Place> __device__ void find(const Place &place_of) {
        same = 1u << threadIdx.x % WARP;
        if (!alone) {
            const unsigned all = __match_any_sync(~0u, place);
            same = place != ~0u ? all : same;
        }
        place = place != ~0u ? place_of(place) : ~0u;
    }
    __device__ void add(const spg_job &job, V *sums) const {
        const uint32_t lane = threadIdx.x % WARP;
        const bool there = place != ~0u;
        V x = there ? add_times(job, a, b, sums[place]) : V{};
        if (!alone) {
            const unsigned before = same & ((1u << lane) - 1);
            const uint32_t turn = (uint32_t)__popc(before), last = __reduce_max_sync(~0u, turn);
            const uint32_t from = before ? 31 - (uint32_t)__clz((int)before) : lane;
            for (uint32_t k = 1; k <= last; k++) {
                const V sum = value_of_lane(x, from);
                x = turn == k ? add_times(job, a, b, sum) : x;
            }
        }
        if (there && same >> lane == 1) { /* the last of equal ones */
            sums[place] = x;
        }
        __syncwarp();
    }
};

/* Walks through A's entries p .. end-1, of which `read` knows each. */
template <typename V, typename Read> struct product_walk {
    const Read &read;
    uint32_t p, end, take; /* so many entries at a time, at most 32: their products must be fewer than 2^32 */
    uint32_t start;        /* the lane's entry: its first product */
    uint32_t shift;        /* of the lane-th entry that has products: what leads from their numbers to B's entries */
    V a;                   /* and its value */
    uint32_t first, total, begun; /* of the pack: products done, all; entries that begin before `first` */

    /* The next entries with products. */
    __device__ void open() {
        const uint32_t lane = threadIdx.x % WARP;
        for (first = total = begun = 0; total == 0 && p < end; p += take) {
            walk_entry<V> entry = {0, 0, V{}};
            if (lane < take && p + lane < end) {
                entry = read(p + lane);
            }
            uint32_t sum = entry.length, from = 0;
            for (uint32_t d = 1; d < WARP; d *= 2) {
                const uint32_t other = __shfl_up_sync(~0u, sum, d);
                sum += lane >= d ? other : 0;
            }
            total = __shfl_sync(~0u, sum, WARP - 1);
            const unsigned some = __ballot_sync(~0u, entry.length > 0);
            for (uint32_t d = WARP / 2; d > 0; d /= 2) {
                from += (uint32_t)__popc(some & ((1u << (from + d)) - 1)) <= lane ? d : 0;
            }
            start = entry.length > 0 ? sum - entry.length : ~0u;
            shift = __shfl_sync(~0u, entry.at - start, from);
            a = value_of_lane(entry.a, from);
        }
    }
    __device__ void load(const spg_job &job, walk_step<V> &step) {
        const uint32_t lane = threadIdx.x % WARP;
        if (first >= total) {
            open();
        }
        const uint32_t begin = start - first;
        const unsigned begins = __reduce_or_sync(~0u, begin < WARP ? 1u << begin : 0);
        const uint32_t mine = begun + (uint32_t)__popc(begins & ((2u << lane) - 1)) - 1;
        const uint32_t at = __shfl_sync(~0u, shift, mine % WARP) + first + lane;
        step.a = value_of_lane(a, mine % WARP);
        step.some = first < total, step.alone = begins <= 1 && !job.repeats;
        step.place = ~0u, step.b = V{};
        if (first + lane < total) {
            step.place = __ldg(job.B.col + at);
            step.b = value_at<V>(job.B, at);
        }
        begun += (uint32_t)__popc(begins);
        first += WARP;
    }
};

/* Adds the products of A's entries p .. end-1 to the sums: that of a column at sums[place_of(column)]. All but one of
 * so many steps are on their way while that one is added. */
template <int STEPS, typename V, typename Read, typename Place>
__device__ inline void add_products(const spg_job &job, uint32_t p, uint32_t end, uint32_t take, const Read &read,
                                    const Place &place_of, V *sums) {
    product_walk<V, Read> walk = {read, p, end, take, 0, 0, V{}, 0, 0, 0};
    walk_step<V> steps[STEPS];
#pragma unroll
    for (int k = 0; k < STEPS; k++) { /* the first ones have no products */
        steps[k] = walk_step<V>{~0u, 0, true, true, V{}, V{}};
    }
    for (;;) {
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            if (!steps[k].some) {
                return;
            }
            walk.load(job, steps[(k + STEPS - 1) % STEPS]);
            steps[(k + 1) % STEPS].find(place_of);
            steps[k].add(job, sums);
        }
    }
}

#endif
