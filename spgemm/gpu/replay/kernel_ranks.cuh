/* Replay by ranks: a product's rank is the place of its column in its row of C. A plan keeps the ranks of all products,
 * in the order of A's entries and, within one entry, in the order of B's row. Values are then made without a search:
 * G lanes own a row of C, take A's entries one after the other, read B's row side by side, and add to the row's sums in
 * shared memory. The columns of a row of B differ, so no two lanes add to the same sum, and each sum grows in the order
 * of A's entries. */
#pragma once

#include "spgemm/gpu/job.cuh"

enum { RANKS_NT = 128, RANKS_STEP = 4 /* a row's ranks begin at a multiple of it */ };

/* A rank, and the length of a row of B, is an S: uint8_t if C's rows have at most 255 entries, else uint16_t. Each row
 * of B that has a product lies within a row of C, so it is not longer. */
template <typename S> struct spg_ranks {
    uint2 *rows;      /* where each row's entries of A begin, and its ranks, in steps; one more at the end */
    uint32_t *begins; /* of each entry of A: where its row of B begins, */
    S *lengths;       /* and its length */
    S *ranks;
    const void *rowptr; /* of C */
    bool wide;          /* rowptr has int64_t */
    int64_t count;      /* rows */

    __device__ int64_t row_at(int64_t row) const {
        return wide ? __ldg((const long long *)rowptr + row) : __ldg((const int32_t *)rowptr + row);
    }
};

/* The rows of a block, and the row of a group of lanes among them. */
struct ranks_row {
    int64_t row, at;         /* `count` if the group has no row; where the block's rows begin in C */
    uint32_t n, first, last; /* entries of the block's rows in C; those of the group's row are first .. last-1 */

    template <typename S> __device__ ranks_row(const spg_ranks<S> &r, uint32_t lanes) {
        const uint32_t rows = RANKS_NT / lanes;
        const int64_t begin = (int64_t)blockIdx.x * rows, end = min(begin + rows, r.count);
        row = min(begin + threadIdx.x / lanes, end);
        at = r.row_at(begin);
        n = (uint32_t)(r.row_at(end) - at);
        first = (uint32_t)(r.row_at(row) - at);
        last = row < end ? (uint32_t)(r.row_at(row + 1) - at) : first;
        row = row < end ? row : r.count;
    }
};

/* ---- finding ---- */

/* The longest row of C; the most entries of a block's rows; how many rows are made together with the row before. */
typedef struct ranks_found {
    uint32_t longest, tile, same, next;
} ranks_found;

/* `groups`: of the rows, or NULL. */
static __global__ void __launch_bounds__(RANKS_NT)
    kernel_ranks_look(spg_ranks<uint8_t> r, uint32_t lanes, const uint8_t *groups, ranks_found *found) {
    const ranks_row mine(r, lanes);
    const uint32_t longest = __reduce_max_sync(~0u, mine.last - mine.first);
    const uint8_t group = groups && mine.row < r.count && threadIdx.x % lanes == 0 ? groups[mine.row] : 0;
    const unsigned same = __ballot_sync(~0u, group == LSP_GROUPS_REPEAT_SAME);
    const unsigned next = __ballot_sync(~0u, group == LSP_GROUPS_REPEAT_NEXT);
    if (threadIdx.x % WARP == 0) {
        atomicMax(&found->longest, longest);
        if (same | next) {
            atomicAdd(&found->same, (uint32_t)__popc(same));
            atomicAdd(&found->next, (uint32_t)__popc(next));
        }
    }
    if (threadIdx.x == 0) {
        atomicMax(&found->tile, mine.n);
    }
}

/* Writes begins and lengths of A's entries, and the steps of each row. */
template <int G, typename S>
__global__ void __launch_bounds__(RANKS_NT) kernel_ranks_entries(spg_job job, spg_ranks<S> r, int64_t *steps) {
    const int64_t row = (int64_t)blockIdx.x * (RANKS_NT / G) + threadIdx.x / G;
    const uint32_t end = row < r.count ? __ldg(job.A.rowptr + row + 1) : 0;
    uint32_t sum = 0;
    for (uint32_t k = row < r.count ? __ldg(job.A.rowptr + row) + threadIdx.x % G : 0; k < end; k += G) {
        const row_part of_b = row_of_entry(job, k, end);
        r.begins[k] = of_b.at;
        r.lengths[k] = (S)of_b.length;
        sum += of_b.length;
    }
    for (int step = G / 2; step > 0; step /= 2) {
        sum += __shfl_xor_sync(~0u, sum, step);
    }
    if (row < r.count && threadIdx.x % G == 0) {
        steps[row] = (sum + RANKS_STEP - 1) / RANKS_STEP;
    }
}

/* Finds the ranks. `ends`: the prefix sums of the rows' steps. `col`: of C. */
template <int G, typename S>
__global__ void __launch_bounds__(RANKS_NT)
    kernel_ranks_find(spg_job job, spg_ranks<S> r, const int64_t *ends, const uint32_t *col) {
    LSP_DYNAMIC_SHARED(memory);
    uint32_t *const columns = (uint32_t *)memory;
    const ranks_row mine(r, G);
    for (uint32_t i = threadIdx.x; i < mine.n; i += RANKS_NT) {
        columns[i] = __ldg(col + mine.at + i);
    }
    __syncthreads();
    const uint32_t begin_at = mine.row > 0 ? (uint32_t)ends[mine.row - 1] : 0;
    S *ranks = r.ranks + (int64_t)begin_at * RANKS_STEP;
    uint32_t k = __ldg(job.A.rowptr + mine.row);
    const uint32_t end = mine.row < r.count ? __ldg(job.A.rowptr + mine.row + 1) : k;
    if (threadIdx.x % G == 0) {
        r.rows[mine.row] = make_uint2(k, begin_at);
    }
    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) {
        r.rows[r.count] = make_uint2(__ldg(job.A.rowptr + r.count), (uint32_t)ends[r.count - 1]);
    }
    for (; k < end; k++) {
        const uint32_t begin = r.begins[k], length = r.lengths[k];
        for (uint32_t q = threadIdx.x % G; q < length; q += G) {
            const uint32_t column = __ldg(job.B.col + begin + q);
            ranks[q] = (S)(LSP_FIRST(mine.first, mine.last - 1, i, columns[i] >= column) - mine.first);
        }
        ranks += length;
    }
}

/* ---- filling ---- */

/* The next entries of A of a row. Those behind the row's end have rows of B without entries. */
template <int EACH, typename V, typename S> struct ranks_entries {
    V a[EACH];
    uint32_t begin[EACH], length[EACH];

    __device__ void load(const spg_job &job, const spg_ranks<S> &r, uint32_t k, uint32_t end) {
#pragma unroll
        for (uint32_t u = 0; u < EACH; u++) {
            length[u] = 0;
            if (k + u < end) {
                a[u] = V{__ldcs((const typename value_kind<V>::number *)job.A.val + k + u)};
                begin[u] = __ldcs(r.begins + k + u);
                length[u] = __ldcs(r.lengths + k + u);
            }
        }
    }
};

/* EACH entries of A are taken together, and of each one's row of B DEEP values a lane: their loads are on their way
 * together. If AHEAD, the entries of A that follow are loaded meanwhile. Tuned on an H100 with sparse-bench spgemm. */
template <int G> struct ranks_shape {
    enum { EACH = G == 1 || G == 4 ? 5 : 4, DEEP = G == 1 ? 1 : 2, AHEAD = G == 8 };
};

/* Writes C's values. */
template <int G, typename V, typename S>
__global__ void __launch_bounds__(RANKS_NT) kernel_ranks_fill(spg_job job, spg_ranks<S> r, V *val) {
    enum { EACH = ranks_shape<G>::EACH, DEEP = ranks_shape<G>::DEEP, AHEAD = ranks_shape<G>::AHEAD };
    LSP_DYNAMIC_SHARED(memory);
    typedef typename value_kind<V>::number number;
    V *const sums = (V *)memory;
    const uint32_t lane = threadIdx.x % G;
    const ranks_row mine(r, G);
    const uint2 from = __ldg(r.rows + mine.row);
    const uint32_t end = mine.row < r.count ? __ldg(r.rows + mine.row + 1).x : from.x;
    const number *const b_val = (const number *)job.B.val + lane; /* with this, steps from lane to lane are constants */
    const S *rank = r.ranks + (uint64_t)from.y * RANKS_STEP + lane;
    V *const sum = sums + mine.first;
    ranks_entries<EACH, V, S> now, next;
    if (AHEAD) {
        next.load(job, r, from.x, end);
    }
    for (uint32_t i = mine.first + lane; i < mine.last; i += G) {
        sums[i] = value_kind<V>::nothing(job);
    }
    if (G > 1) {
        __syncwarp();
    }
    for (uint32_t k = from.x; G < WARP ? __any_sync(~0u, k < end) : k < end; k += EACH) {
        V b[EACH][DEEP];
        S place[EACH][DEEP];
        const S *its = rank;
        if (AHEAD) {
            now = next;
        } else {
            now.load(job, r, k, end);
        }
#pragma unroll
        for (uint32_t u = 0; u < EACH; u++) {
#pragma unroll
            for (uint32_t v = 0; v < DEEP; v++) {
                if (lane + v * G < now.length[u]) {
                    b[u][v] = V{__ldg(b_val + now.begin[u] + v * G)};
                    place[u][v] = __ldcs(its + v * G);
                }
            }
            its += now.length[u];
        }
        if (AHEAD) {
            next.load(job, r, k + EACH, end);
        }
#pragma unroll
        for (uint32_t u = 0; u < EACH; u++) {
#pragma unroll
            for (uint32_t v = 0; v < DEEP; v++) {
                if (lane + v * G < now.length[u]) {
                    sum[place[u][v]] = add_times(job, now.a[u], b[u][v], sum[place[u][v]]);
                }
            }
            for (uint32_t q = DEEP * G; lane + q < now.length[u]; q += G) {
                const uint32_t at = rank[q];
                sum[at] = add_times(job, now.a[u], V{__ldg(b_val + now.begin[u] + q)}, sum[at]);
            }
            rank += now.length[u];
            if (G > 1) {
                __syncwarp();
            }
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < mine.n; i += RANKS_NT) {
        const V x = canonical(sums[i]);
        __stcs((number *)val + mine.at + i, *(const number *)&x);
    }
}
