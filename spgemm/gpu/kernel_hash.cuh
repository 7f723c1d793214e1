/* Rows of many products in few columns. A warp collects the distinct columns in a hash table, 32 neighbours a group,
 * and sorts only these groups; so each column's place in C is known. Values are then added at these places, one entry
 * of A after the other, all columns of a row of B at once: so every sum grows in the order of A's entries. */
#ifndef LSP_SPGEMM_GPU_KERNEL_HASH_CUH
#define LSP_SPGEMM_GPU_KERNEL_HASH_CUH

#include "window_shape.cuh"

enum { HASH_NT = 128, HASH_WARPS = HASH_NT / WARP };
/* Lanes that read one row of B together: about as many as the row is long. */
__device__ inline uint32_t lanes_for(uint32_t products, uint32_t entries) {
    uint32_t lanes = WARP;
    while (lanes > 1 && (ull)entries * (lanes / 2) >= products) {
        lanes /= 2;
    }
    return lanes;
}

/* Marks all columns of a row of C in the table, and lists the keys of their groups unless `list` is NULL. Returns the
 * number of groups; once this exceeds table.most, it stops and returns some larger number. */
template <int BITS>
__device__ inline uint32_t hash_collect(const spg_job &job, uint32_t row, hash_table<BITS> &table, uint32_t *list) {
    const uint32_t lane = threadIdx.x % WARP, begin = job.A.rowptr[row], end = job.A.rowptr[row + 1];
    const uint32_t lanes = lanes_for(job.products[row], end - begin), sub = lane % lanes, together = WARP / lanes;
    uint32_t total = 0;
    /* Called by all lanes. Mostly all columns are marked already. */
    auto put = [&](bool some, uint32_t column) {
        const uint32_t key = column / 32, bit = 1u << (column % 32);
        const hash_group group = table.at(table.place_of(key));
        const bool news = some && (group.key != key || !(group.marks & bit));
        if (__any_sync(~0u, news)) {
            uint32_t place = table.place_of(key);
            const bool fresh = news && table.add(key, bit, &place);
            const unsigned all = __ballot_sync(~0u, fresh);
            if (list && fresh && total + __popc(all) <= table.most) {
                list[total + __popc(all & ((1u << lane) - 1))] = key;
            }
            total += (uint32_t)__popc(all);
        }
    };
    for (uint32_t p = begin; p < end && total <= table.most; p += WARP) {
        const entry_pack pack = read_pack(job, p + lane, end);
        const uint32_t here = min(end - p, (uint32_t)WARP);
        uint32_t column = 0;
        bool some = false;
        for (uint32_t first = 0; first < here; first += together) {
            const uint32_t e = first + lane / lanes;
            const uint32_t at = __shfl_sync(~0u, pack.at, e % WARP);
            uint32_t length = __shfl_sync(~0u, pack.length, e % WARP);
            length = e < here ? length : 0;
            const uint32_t longest = lanes == WARP ? length : __reduce_max_sync(~0u, length);
            for (uint32_t q = 0; q < longest && total <= table.most; q += lanes) {
                const bool more = q + sub < length; /* loads the next column before it adds the last one */
                const uint32_t next = more ? __ldg(job.B.col + (at + q + sub)) : 0;
                put(some, column);
                column = next, some = more;
            }
        }
        if (total <= table.most) {
            put(some, column);
        }
    }
    __syncwarp();
    return total;
}

/* ---- counting ---- */

/* The rows to count. Rows that overflow the table are listed for the next kernel. */
struct hash_counting {
    const uint32_t *rows, *count;
    uint32_t *again, *again_count;
};

/* Counts the listed rows, and notes in how many groups of columns each lies, up to 248. */
template <int BITS> __global__ void __launch_bounds__(HASH_NT) kernel_hash_count(spg_job job, hash_counting work) {
    LSP_DYNAMIC_SHARED(memory);
    const uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, i = blockIdx.x * HASH_WARPS + warp;
    hash_table<BITS> &table = ((hash_table<BITS> *)memory)[warp];
    if (i >= *work.count) {
        return;
    }
    const uint32_t row = work.rows[i];
    table.clear();
    const uint32_t groups = hash_collect<BITS>(job, row, table, NULL);
    if (groups > table.most) {
        if (lane == 0) {
            work.again[atomicAdd(work.again_count, 1u)] = row;
        }
        return;
    }
    uint32_t sum = 0;
    for (int k = (int)lane; k < table.slots; k += WARP) {
        sum += (uint32_t)__popc(table.at((uint32_t)k).marks);
    }
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0) {
        job.rowptr[row + 1] = sum;
        job.groups[row] = (uint8_t)min(groups, (uint32_t)LSP_GROUPS_MORE);
    }
}

/* ---- filling ---- */

template <int BITS, int N, typename V> struct hash_shared {
    enum { most = 1 << (BITS - 1), vt = most / WARP, capacity = N };
    hash_table<BITS> table;
    uint16_t before[1 << BITS]; /* of each group: the row's columns before it */
    union {
        uint32_t list[most]; /* keys of the groups, in the order of discovery */
        V sums[N];
    };
};

/* Sorts the keys list[0 .. n-1], finds how many columns come before each group, and writes the columns to C. */
template <int BITS, int N, typename V>
__device__ inline void rank_groups(const spg_job &job, hash_shared<BITS, N, V> &shared, uint32_t n, int64_t to) {
    typedef hash_shared<BITS, N, V> S;
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t w[S::vt], sum = 0;
#pragma unroll
    for (int r = 0; r < S::vt; r++) {
        uint32_t i = lane + (uint32_t)r * WARP;
        w[r] = i < n ? shared.list[i] : ~0u;
    }
    sort_lanes<S::vt>(w, WARP, job.ones);
    hash_group group;
#pragma unroll
    for (int r = 0; r < S::vt; r++) {
        if (lane * S::vt + (uint32_t)r < n) {
            shared.table.find(w[r], &group);
            sum += (uint32_t)__popc(group.marks);
        }
    }
    uint32_t all, before = sum_before(sum, &all);
#pragma unroll
    for (int r = 0; r < S::vt; r++) {
        if (lane * S::vt + (uint32_t)r < n) {
            shared.before[shared.table.find(w[r], &group)] = (uint16_t)before;
            for (uint32_t m = group.marks; m; m &= m - 1) {
                put_col(job, to + before++, w[r] * 32 + (uint32_t)__ffs((int)m) - 1);
            }
        }
    }
    __syncwarp();
}

/* A lane's product: A's value a times b, the value of B's entry q in the row begin .. end-1; if it has one. */
template <typename V> struct hash_product {
    bool some;
    uint32_t column;
    V a, b;
    uint32_t q, begin, end;
};

/* Adds the lane's product to its sum. Of entries of B with the same column, the first one adds all. */
template <int BITS, int N, typename V>
__device__ inline void add_product(const spg_job &job, hash_shared<BITS, N, V> &shared, const hash_product<V> &p) {
    if (p.some && !(job.duplicates && p.q > p.begin && __ldg(job.B.col + (p.q - 1)) == p.column)) {
        hash_group group;
        const uint32_t place = shared.table.find(p.column / 32, &group), below = (1u << (p.column % 32)) - 1;
        V *sum = &shared.sums[shared.before[place] + __popc(group.marks & below)];
        V x = add_times(job, p.a, p.b, *sum);
        for (uint32_t k = p.q + 1; job.duplicates && k < p.end && __ldg(job.B.col + k) == p.column; k++) {
            x = add_times(job, p.a, value_at<V>(job.B, k), x);
        }
        *sum = x;
    }
    __syncwarp();
}

/* Fills rows of at most N columns, in at most half as many groups as the table has slots. */
template <int BITS, int N, typename V>
__global__ void __launch_bounds__(HASH_NT) kernel_hash_fill(spg_job job, spg_list list) {
    LSP_DYNAMIC_SHARED(memory);
    typedef hash_shared<BITS, N, V> S;
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, i = blockIdx.x * HASH_WARPS + warp;
    S &shared = ((S *)memory)[warp];
    lsp_let_next_begin();
    if (i >= list.count) {
        return;
    }
    const uint32_t row = list_row(list, i), begin = job.A.rowptr[row], end = job.A.rowptr[row + 1];
    const int64_t to = job.rowptr[row];
    const uint32_t n = (uint32_t)(job.rowptr[row + 1] - to);
    shared.table.clear();
    rank_groups(job, shared, min(hash_collect<BITS>(job, row, shared.table, shared.list), (uint32_t)S::most), to);
    if constexpr (value_kind<V>::valued) {
        for (uint32_t k = lane; k < n; k += WARP) {
            shared.sums[k] = value_kind<V>::nothing(job);
        }
        __syncwarp();
        for (uint32_t p = begin; p < end; p += WARP) {
            const entry_pack pack = read_pack(job, p + lane, end);
            const V value = p + lane < end ? value_at<V>(job.A, p + lane) : V{};
            hash_product<V> product = {};
            for (uint32_t e = 0; e < min(end - p, (uint32_t)WARP); e++) {
                const uint32_t from = __shfl_sync(~0u, pack.at, e), until = from + __shfl_sync(~0u, pack.length, e);
                const V factor = value_of_lane(value, e);
                for (uint32_t q = from; q < until; q += WARP) {
                    const bool more = q + lane < until; /* loads the next product before it adds the last one */
                    const uint32_t next = more ? __ldg(job.B.col + (q + lane)) : 0;
                    const V next_b = more ? value_at<V>(job.B, q + lane) : V{};
                    add_product(job, shared, product);
                    product = {more, next, factor, next_b, q + lane, from, until};
                }
            }
            add_product(job, shared, product);
        }
        for (uint32_t k = lane; k < n; k += WARP) {
            put_value<V>(job, to + k, canonical(shared.sums[k]));
        }
    }
    lsp_end_after_previous();
}

#endif
