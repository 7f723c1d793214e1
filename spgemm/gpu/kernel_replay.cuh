/* Products that know their place: where in A and in B the factors of each entry of C lie, entry after entry and in the
 * order of the sum. To fill C with other values is then to read, multiply and add. A plan keeps this when it is used
 * again, if memory allows. */
#ifndef LSP_SPGEMM_GPU_KERNEL_REPLAY_CUH
#define LSP_SPGEMM_GPU_KERNEL_REPLAY_CUH

#include "job.cuh"

enum {
    PLACES_NT = 128,
    PLACES_WARPS = PLACES_NT / WARP,
    PLACES_BLOCK = 256,               /* entries of C whose products a warp looks for */
    PLACES_GROUP = 128,               /* entries of C that a warp sums up */
    PLACES_CHUNK = 256,               /* products that it has at hand */
    PLACES_LARGE = 10 * PLACES_GROUP, /* products of a group: beyond, lanes read those of their own entries */
    PLACES_AHEAD = 4,                 /* of these, on their way together */
    PLACES_OWN = 256,                 /* of an entry: more are read by all lanes of its warp, */
    PLACES_EACH = 16,                 /* unless the most are fewer than so many for each such entry */
    PLACES_MOST = 65535               /* of one entry */
};

/* Of one product: entries of A and of B. */
typedef struct alignas(8) spg_place {
    uint32_t a, b;
} spg_place;

typedef struct spg_places {
    spg_place *place;
    uint16_t *counts; /* products of each entry of C; zeros up to a whole block */
    int64_t *ends;    /* where the products of each group end */
    uint32_t *large;  /* groups of many products */
    uint32_t *col;    /* of C */
    int64_t nnz;      /* of C */
} spg_places;

/* What is learned while places are found. */
typedef struct places_found {
    unsigned most;          /* 0, or so many products of an entry are too many */
    unsigned large, listed; /* groups of many products */
} places_found;

/* ---- finding ---- */

/* Entries of C in a warp's shared memory: their columns; and where the next product of each goes. */
struct place_finder {
    uint32_t col[PLACES_BLOCK], next[PLACES_BLOCK];

    /* Which of first .. last-1 has the column; one has. */
    __device__ uint32_t find(uint32_t first, uint32_t last, uint32_t column) const {
        while (last - first > 1) {
            const uint32_t middle = (first + last) / 2;
            (col[middle] <= column ? first : last) = middle;
        }
        return first;
    }
};

/* The part of B's row with columns from `low` to `high`. */
__device__ inline uint32_t part_of_row(const spg_job &job, uint32_t k, uint32_t low, uint32_t high, uint32_t *length) {
    const uint32_t begin = __ldg(job.B.rowptr + k), end = __ldg(job.B.rowptr + k + 1);
    const uint32_t at = lower_bound(job.B.col, begin, end, low);
    *length = lower_bound(job.B.col, at, end, high + 1) - at;
    return at;
}

/* The products of a row of C that belong to its entries first .. last-1 of the block: counted, or put where they go.
 * Lanes take them in the order in which they are added; those of one entry at the same time stand behind each other. */
template <bool PUT>
__device__ inline void find_products(const spg_job &job, uint32_t row, uint32_t first, uint32_t last,
                                     place_finder &finder, spg_place *to) {
    const uint32_t lane = threadIdx.x % WARP, end = __ldg(job.A.rowptr + row + 1);
    const uint32_t low = finder.col[first], high = finder.col[last - 1];
    for (uint32_t p = __ldg(job.A.rowptr + row); p < end; p += WARP) {
        uint32_t length = 0, total;
        const uint32_t at = p + lane < end ? part_of_row(job, __ldg(job.A.col + p + lane), low, high, &length) : 0;
        const uint32_t before = sum_before(length, &total);
        for (uint32_t i = lane; i < total + lane; i += WARP) {
            const uint32_t e = lane_of_product(before, i); /* the entry of A */
            const uint32_t q = __shfl_sync(~0u, at, (int)e) + (i - __shfl_sync(~0u, before, (int)e));
            const uint32_t place = i < total ? finder.find(first, last, __ldg(job.B.col + q)) : ~0u;
            const unsigned same = __match_any_sync(~0u, place);
            const uint32_t rank = (uint32_t)__popc(same & ((1u << lane) - 1));
            if (PUT && i < total) {
                to[finder.next[place] + rank] = {p + e, q};
            }
            __syncwarp();
            if (rank == 0 && i < total) {
                finder.next[place] += (uint32_t)__popc(same);
            }
            __syncwarp();
        }
    }
}

/* The last row that begins at `at` or before. */
template <typename R> __device__ inline int64_t row_at(const R *rowptr, int64_t rows, int64_t at) {
    int64_t low = 0, high = rows;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        (rowptr[middle] <= at ? low : high) = middle;
    }
    return low;
}

/* First how many products each entry of C has, and each group: these are still to be summed up. Then (PUT) where they
 * are. */
template <typename R, bool PUT>
__global__ void __launch_bounds__(PLACES_NT)
    kernel_find_places(spg_job job, const R *rowptr, spg_places places, places_found *found) {
    __shared__ place_finder finders[PLACES_WARPS];
    enum { EACH = PLACES_BLOCK / WARP, GROUPS = PLACES_BLOCK / PLACES_GROUP };
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    place_finder &finder = finders[warp];
    const int64_t block = (int64_t)blockIdx.x * PLACES_WARPS + warp, base = block * PLACES_BLOCK;
    const uint32_t n = (uint32_t)min(places.nnz - base, (int64_t)PLACES_BLOCK);
    const int64_t begin = PUT && block > 0 ? places.ends[block * GROUPS - 1] : 0;
    if (base >= places.nnz) {
        return;
    }
    for (uint32_t i = lane, before = 0, total; i < PLACES_BLOCK; i += WARP, before += total) {
        finder.col[i] = i < n ? places.col[base + i] : 0;
        finder.next[i] = before + sum_before(PUT ? places.counts[base + i] : 0, &total);
    }
    __syncwarp();
    int64_t row = row_at(rowptr, job.A.rows, base);
    for (uint32_t i = 0; i < n; row++) {
        if (rowptr[row + 1] <= base + i) { /* none of its own: many such may follow each other */
            row = row_at(rowptr, job.A.rows, base + i);
        }
        const uint32_t last = (uint32_t)min(rowptr[row + 1] - base, (int64_t)n);
        find_products<PUT>(job, (uint32_t)row, i, last, finder, places.place + begin);
        i = last;
    }
    if (PUT && lane < GROUPS) {
        const int64_t group = block * GROUPS + lane;
        if (places.ends[group] - (group > 0 ? places.ends[group - 1] : 0) > PLACES_LARGE) {
            places.large[atomicAdd(&found->listed, 1u)] = (uint32_t)group;
        }
    }
    if (!PUT) {
        for (uint32_t i = lane, group = 0, total; i < PLACES_BLOCK; i += WARP) {
            const uint32_t count = finder.next[i];
            sum_before(count, &total);
            group = i / WARP % (PLACES_GROUP / WARP) == 0 ? total : group + total;
            places.counts[base + i] = (uint16_t)min(count, (uint32_t)PLACES_MOST);
            if (count > PLACES_MOST) {
                atomicMax(&found->most, count);
            }
            if (lane == 0 && (i + WARP) % PLACES_GROUP == 0) {
                places.ends[(base + i) / PLACES_GROUP] = group;
                if (group > PLACES_LARGE) {
                    atomicAdd(&found->large, 1u);
                }
            }
        }
    }
}

/* ---- filling ---- */

/* Factors of products in a warp's shared memory. */
template <typename V> struct place_chunk {
    V a[PLACES_CHUNK], b[PLACES_CHUNK];

    /* Those of the first n; what lies behind them is of no use. Several are on their way together. */
    __device__ void read(const spg_job &job, const spg_place *place, uint32_t n) {
        enum { TOGETHER = 4 };
        for (uint32_t first = threadIdx.x % WARP; first < n + threadIdx.x % WARP; first += TOGETHER * WARP) {
            uint2 at[TOGETHER];
            V x[TOGETHER], y[TOGETHER];
#pragma unroll
            for (uint32_t k = 0; k < TOGETHER; k++) {
                at[k] = __ldg((const uint2 *)place + min(first + k * WARP, n - 1));
            }
#pragma unroll
            for (uint32_t k = 0; k < TOGETHER; k++) {
                x[k] = value_at<V>(job.A, at[k].x), y[k] = value_at<V>(job.B, at[k].y);
            }
#pragma unroll
            for (uint32_t k = 0; k < TOGETHER; k++) {
                a[first + k * WARP] = x[k], b[first + k * WARP] = y[k];
            }
        }
        __syncwarp();
    }
};

/* Adds the products first .. end-1, of one entry. */
template <typename V>
__device__ inline V add_own(const spg_job &job, const spg_place *place, uint32_t first, uint32_t end, V sum) {
    uint2 at[PLACES_AHEAD];
#pragma unroll
    for (uint32_t k = 0; k < PLACES_AHEAD && first < end; k++) {
        at[k] = __ldg((const uint2 *)place + min(first + k, end - 1));
    }
    for (; first < end; first += PLACES_AHEAD) {
        V a[PLACES_AHEAD], b[PLACES_AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < PLACES_AHEAD; k++) {
            a[k] = value_at<V>(job.A, at[k].x), b[k] = value_at<V>(job.B, at[k].y);
        }
#pragma unroll
        for (uint32_t k = 0; k < PLACES_AHEAD; k++) {
            at[k] = __ldg((const uint2 *)place + min(first + PLACES_AHEAD + k, end - 1));
        }
#pragma unroll
        for (uint32_t k = 0; k < PLACES_AHEAD; k++) {
            if (first + k < end) {
                sum = add_times(job, a[k], b[k], sum);
            }
        }
    }
    return sum;
}

/* The same by all lanes, which read neighbouring products; the next ones are on their way. */
template <typename V>
__device__ inline V add_together(const spg_job &job, const spg_place *place, uint32_t first, uint32_t end, V sum) {
    const uint32_t lane = threadIdx.x % WARP;
    uint2 at[PLACES_AHEAD];
    V a[PLACES_AHEAD], b[PLACES_AHEAD];
    const auto locate = [&](uint32_t from) {
#pragma unroll
        for (uint32_t k = 0; k < PLACES_AHEAD; k++) {
            at[k] = __ldg((const uint2 *)place + min(from + k * WARP + lane, end - 1));
        }
    };
    const auto fetch = [&] {
#pragma unroll
        for (uint32_t k = 0; k < PLACES_AHEAD; k++) {
            a[k] = value_at<V>(job.A, at[k].x), b[k] = value_at<V>(job.B, at[k].y);
        }
    };
    locate(first);
    fetch();
    locate(first + PLACES_AHEAD * WARP);
    for (; first < end; first += PLACES_AHEAD * WARP) {
        V its_a[PLACES_AHEAD], its_b[PLACES_AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < PLACES_AHEAD; k++) {
            its_a[k] = a[k], its_b[k] = b[k];
        }
        fetch();
        locate(first + 2 * PLACES_AHEAD * WARP);
#pragma unroll
        for (uint32_t k = 0; k < PLACES_AHEAD; k++) {
            if (first + k * WARP < end) {
                sum = add_lanes(job, its_a[k], its_b[k], end - (first + k * WARP), sum);
            }
        }
    }
    return sum;
}

template <typename V, typename C>
__device__ inline void put_entry(const spg_places &places, V *val, C *col, int64_t i, V sum) {
    if (i < places.nnz) {
        val[i] = settled(sum);
        if (col) {
            col[i] = (C)places.col[i];
        }
    }
}

/* A warp's group of entries, unless it is large. */
template <typename V, typename C>
__device__ inline void fill_group(const spg_job &job, const spg_places &places, V *val, C *col, char *memory) {
    enum { EACH = PLACES_GROUP / WARP };
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    place_chunk<V> &chunk = ((place_chunk<V> *)memory)[warp];
    const int64_t group = (int64_t)blockIdx.x * PLACES_WARPS + warp, base = group * PLACES_GROUP;
    uint32_t begin[EACH], end[EACH], products = 0;
    V sum[EACH];
    if (base >= places.nnz) {
        return;
    }
    const int64_t start = group > 0 ? places.ends[group - 1] : 0;
    if (places.ends[group] - start > PLACES_LARGE) {
        return;
    }
    const spg_place *place = places.place + start;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        uint32_t total;
        const uint32_t count = places.counts[base + k * WARP + lane];
        begin[k] = products + sum_before(count, &total);
        end[k] = begin[k] + count;
        products += total;
        sum[k] = value_kind<V>::nothing(job);
    }
    for (uint32_t first = 0; first < products; first += PLACES_CHUNK) {
        const uint32_t n = min(products - first, (uint32_t)PLACES_CHUNK);
        chunk.read(job, place + first, n);
#pragma unroll
        for (int k = 0; k < EACH; k++) {
#pragma unroll 2
            for (uint32_t i = max(begin[k], first), to = min(end[k], first + n); i < to; i++) {
                sum[k] = add_times(job, chunk.a[i - first], chunk.b[i - first], sum[k]);
            }
        }
        __syncwarp();
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        put_entry(places, val, col, base + k * WARP + lane, sum[k]);
    }
}

/* The values of C, and if that is wanted its columns. */
template <typename V, typename C>
__global__ void __launch_bounds__(PLACES_NT) kernel_fill_places(spg_job job, spg_places places, V *val, C *col) {
    LSP_DYNAMIC_SHARED(memory);
    lsp_let_next_begin();
    fill_group(job, places, val, col, memory);
    lsp_end_after_previous();
}

/* The same of large groups, a block each: a lane reads the products of its entry, or all lanes do. */
template <typename V, typename C>
__global__ void __launch_bounds__(PLACES_GROUP) kernel_fill_large(spg_job job, spg_places places, V *val, C *col) {
    const int64_t group = places.large[blockIdx.x], i = group * PLACES_GROUP + threadIdx.x;
    const spg_place *place = places.place + (group > 0 ? places.ends[group - 1] : 0);
    const uint32_t count = places.counts[i];
    uint32_t total, begin = sum_before(count, &total);
    V sum = value_kind<V>::nothing(job);
    lsp_let_next_begin();
    for (uint32_t before = threadIdx.x / WARP * WARP; before > 0; before -= WARP) { /* entries of the warps before */
        begin += __reduce_add_sync(~0u, places.counts[i - before]);
    }
    unsigned many = __ballot_sync(~0u, count > PLACES_OWN);
    many = __reduce_max_sync(~0u, count) < PLACES_EACH * (uint32_t)__popc(many) ? 0 : many;
    if (!(many >> threadIdx.x % WARP & 1)) {
        sum = add_own(job, place, begin, begin + count, sum);
    }
    for (; many; many &= many - 1) {
        const uint32_t k = (uint32_t)__ffs((int)many) - 1, first = __shfl_sync(~0u, begin, k);
        const uint32_t end = first + __shfl_sync(~0u, count, k);
        const V its_sum = add_together(job, place, first, end, value_kind<V>::nothing(job));
        sum = threadIdx.x % WARP == k ? its_sum : sum;
    }
    put_entry(places, val, col, i, sum);
    lsp_end_after_previous();
}

#endif
