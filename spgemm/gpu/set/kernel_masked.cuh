/* C<M> = A*B. A group of lanes copies a row of the mask, or a piece of it, to shared memory, with a sum beside each
 * entry. It then goes through A's entries one by one. Each lane takes an entry of B's row and searches the mask for its
 * column; if B's row is much longer, each lane takes an entry of the mask and searches B's row. No two lanes add to one
 * sum at the same time, and each sum grows in the order of A's entries. */
#pragma once

#include "spgemm/gpu/job.cuh"

/* K is the type of a column: uint32_t, or int64_t if B's columns are numbered (job.names). */
template <typename K> struct mask_job {
    const void *rowptr;
    bool wide_rowptr;
    const K *col;         /* rows ascend; a column may come twice */
    const int64_t *extra; /* prefix sum over rows of the pieces that a row has beyond its first */
    void *sums;           /* one beside each entry of the mask */
    uint8_t *touched;
};

enum {
    MASK_NT = 128,
    MASK_BLOCKS = 10,     /* that a multiprocessor must hold, or, where columns of 64 bits or complex values */
    MASK_BLOCKS_WIDE = 6, /* need more registers, this many */
    MASK_LONGER = 8       /* a row of B this many times longer than the mask's piece is searched */
};

/* What a group of G lanes keeps in shared memory. */
template <int G, typename K, typename V> struct mask_group {
    enum { most = 8 * G, together = MASK_NT / G };
    K col[most];
    V sums[most];
    uint8_t touched[most];
};

template <typename K> __device__ inline int64_t mask_begin(const mask_job<K> &mask, int64_t row) {
    return index_at(mask.rowptr, mask.wide_rowptr, row);
}

/* A piece of a row of the mask, and the range of columns of B that it needs. */
template <typename K> struct mask_piece {
    int64_t at;
    uint32_t row, n;
    bool whole;
    K low, high;
};

/* Finds a piece by its number: first come the first pieces of all rows, then all others. False if there is none, or if
 * the row has no products. */
template <typename K>
__device__ inline bool mask_find_piece(const spg_job &job, const mask_job<K> &mask, int64_t number, uint32_t most,
                                       mask_piece<K> *piece) {
    const int64_t rows = job.A.rows;
    int64_t row = number, part = 0;
    if (number >= rows) {
        const int64_t extra = number - rows;
        row = LSP_FIRST((int64_t)0, rows, i, mask.extra[i] > extra);
        if (row == rows) {
            return false;
        }
        part = 1 + extra - (row > 0 ? mask.extra[row - 1] : 0);
    }
    const int64_t begin = mask_begin(mask, row), end = mask_begin(mask, row + 1), at = begin + part * most;
    if (at >= end || job.products[row] == 0) {
        return false;
    }
    piece->row = (uint32_t)row;
    piece->at = at;
    piece->n = (uint32_t)min(end - at, (int64_t)most);
    piece->whole = end - begin <= most;
    piece->low = mask.col[at];
    piece->low += at > begin && mask.col[at - 1] == piece->low; /* this column belongs to the piece before */
    piece->high = mask.col[at + piece->n - 1];
    return true;
}

/* The column of an entry of B, as the mask counts columns. */
template <typename K> __device__ inline K mask_key(const spg_job &job, uint32_t q) {
    const uint32_t column = __ldg(job.B.col + q);
    if constexpr (sizeof(K) == sizeof(int64_t)) {
        return __ldg((const long long *)job.names + column);
    } else {
        return column;
    }
}

/* The first entry of B in begin .. end-1 whose column is not below x. */
template <typename K> __device__ inline uint32_t mask_search(const spg_job &job, uint32_t begin, uint32_t end, K x) {
    return LSP_FIRST(begin, end, q, mask_key<K>(job, q) >= x);
}

/* A lane's entry of B's row. */
template <typename K, typename V> struct mask_product {
    bool some;
    K column;
    V a, b;
    uint32_t at, first, end;
};

/* Adds the product at place t of the mask, and those of B's next entries with the same column. */
template <typename V, typename K, typename Group>
__device__ inline void mask_add(const spg_job &job, Group &group, uint32_t t, const mask_product<K, V> &p) {
    group.touched[t] = 1;
    if constexpr (value_kind<V>::valued) {
        /* copies, because conditions on members of a struct would become branches */
        const V a = p.a, b = p.b;
        const K x = p.column;
        const uint32_t q = p.at, end = p.end;
        V sum = add_times(job, a, b, group.sums[t]);
        for (uint32_t k = q + 1; job.duplicates && k < end && mask_key<K>(job, k) == x; k++) {
            sum = add_times(job, a, value_at<V>(job.B, k), sum);
        }
        group.sums[t] = sum;
    }
}

/* Adds the product if the mask has its column. Of entries of B with the same column, the first one adds all. */
template <typename K, typename V, typename Group>
__device__ inline void mask_add_product(const spg_job &job, Group &group, uint32_t n, unsigned members,
                                        const mask_product<K, V> &p) {
    if (p.some && !(job.duplicates && p.at > p.first && mask_key<K>(job, p.at - 1) == p.column)) {
        uint32_t t = 0;
        for (uint32_t step = 1u << (31 - __clz((int)n)); step; step /= 2) {
            t += t + step < n && group.col[t + step - 1] < p.column ? step : 0;
        }
        if (group.col[t] == p.column) {
            mask_add<V, K>(job, group, t, p);
        }
    }
    __syncwarp(members);
}

/* Searches a row of B for each entry of the mask. */
template <int G, typename K, typename V, typename Group>
__device__ inline void mask_search_each(const spg_job &job, Group &group, const mask_piece<K> &piece, unsigned members,
                                        V a, uint32_t first, uint32_t end) {
    for (uint32_t t = threadIdx.x % G; t < piece.n; t += G) {
        const K x = group.col[t];
        if (t > 0 ? group.col[t - 1] != x
                  : piece.low == x) { /* if a column comes twice in the mask, only the first one counts */
            const uint32_t q = mask_search(job, first, end, x);
            if (q < end && mask_key<K>(job, q) == x) {
                mask_add<V, K>(job, group, t, {true, x, a, value_at<V>(job.B, q), q, first, end});
            }
        }
    }
    __syncwarp(members);
}

/* All products of a row of A for a piece of the mask. */
template <int G, typename K, typename V, typename Group>
__device__ inline void mask_multiply(const spg_job &job, Group &group, const mask_piece<K> &piece, unsigned members) {
    const uint32_t lane = threadIdx.x % G, end = job.A.rowptr[piece.row + 1];
    mask_product<K, V> product = {};
    for (uint32_t p = job.A.rowptr[piece.row]; p < end; p += G) {
        const row_part row = row_of_entry(job, p + lane, end);
        uint32_t first = row.at, last = row.at + row.length;
        V factor = V{};
        if (p + lane < end) {
            factor = value_at<V>(job.A, p + lane);
            if (!piece.whole || last - first > 2 * G) {
                first = mask_search(job, first, last, piece.low);
                last = mask_search(job, first, last, (K)(piece.high + 1));
            }
        }
        for (uint32_t e = 0; e < min(end - p, (uint32_t)G); e++) {
            const uint32_t from = __shfl_sync(members, first, (int)e, G), until = __shfl_sync(members, last, (int)e, G);
            const V a = value_of_lane<G>(factor, e, members);
            if (until - from > MASK_LONGER * max(piece.n, (uint32_t)G)) {
                mask_add_product(job, group, piece.n, members, product);
                product.some = false;
                mask_search_each<G, K, V>(job, group, piece, members, a, from, until);
                continue;
            }
            for (uint32_t q = from; q < until; q += G) { /* loads the next entry of B before it adds the last one */
                mask_product<K, V> next = {q + lane < until, K{}, a, V{}, q + lane, from, until};
                if (next.some) {
                    next.column = mask_key<K>(job, q + lane);
                    next.b = value_at<V>(job.B, q + lane);
                }
                mask_add_product(job, group, piece.n, members, product);
                product = next;
            }
        }
    }
    mask_add_product(job, group, piece.n, members, product);
}

template <int G, typename K, typename V>
__global__ void __launch_bounds__(MASK_NT, sizeof(K) > 4 || sizeof(V) > 8 ? MASK_BLOCKS_WIDE : MASK_BLOCKS)
    kernel_masked(spg_job job, mask_job<K> mask) {
    LSP_DYNAMIC_SHARED(memory);
    typedef mask_group<G, K, V> Group;
    const uint32_t lane = threadIdx.x % G;
    const unsigned members = G == WARP ? ~0u : ((1u << G % WARP) - 1) << (threadIdx.x % WARP / G * G);
    Group &group = ((Group *)memory)[threadIdx.x / G];
    mask_piece<K> piece;
    if (!mask_find_piece(job, mask, (int64_t)blockIdx.x * Group::together + threadIdx.x / G, Group::most, &piece)) {
        return;
    }
    for (uint32_t t = lane; t < piece.n; t += G) {
        group.col[t] = mask.col[piece.at + t];
        group.touched[t] = 0;
        if constexpr (value_kind<V>::valued) {
            group.sums[t] = value_kind<V>::nothing(job);
        }
    }
    __syncwarp(members);
    mask_multiply<G, K, V>(job, group, piece, members);
    for (uint32_t t = lane; t < piece.n; t += G) {
        const bool touched = group.touched[t];
        mask.touched[piece.at + t] = touched;
        if constexpr (value_kind<V>::valued) {
            if (touched) {
                ((V *)mask.sums)[piece.at + t] = canonical(group.sums[t]);
            }
        }
    }
}

/* Counts the pieces of each row beyond the first. */
template <typename K> __global__ void kernel_mask_extra(spg_job job, mask_job<K> mask, int64_t *extra, uint32_t most) {
    EACH_ITEM(i, job.A.rows, blockDim.x) {
        const int64_t n = mask_begin(mask, i + 1) - mask_begin(mask, i);
        extra[i] = n > most && job.products[i] > 0 ? (n - 1) / most : 0;
    }
}
