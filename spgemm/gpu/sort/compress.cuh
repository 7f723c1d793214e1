/* Rows that are made by sorting, last step (compress): sums products of the same column in order, and writes the row to
 * C. Used by kernel_sort.cuh. */
#pragma once

#include "expand.cuh"

/* The products of a row, as each thread has them. */
template <int G, int VT, typename V> struct sorted_products {
    uint32_t w[VT];                                  /* words in order */
    sort_factor<V, sort_shape<G, VT>::pieces> b[VT]; /* B's values, in the order of B's rows */
    int bits;                                        /* of a word's slot; the column is above them */
    uint32_t low;                                    /* a word's column counts from here */
    unsigned heads;                                  /* bit r: word r is the first of its column */
};

/* The heads among the thread's sorted words: bit r is set if word r is the first of its column. */
template <int G, int VT, typename V>
__device__ inline unsigned find_heads(const uint32_t (&w)[VT], uint32_t products, int bits,
                                      sort_shared<G, VT, V> &shared) {
    constexpr int lanes = G < WARP ? G : WARP;
    const int t = sort_lane<G>();
    uint32_t before = __shfl_up_sync(~0u, w[VT - 1], 1, lanes);
    unsigned heads = 0;
    if (G > WARP) {
        if (t % WARP == WARP - 1) {
            shared.warp_sum[t / WARP] = w[VT - 1];
        }
        sort_sync<G>();
        if (t % WARP == 0 && t > 0) {
            before = shared.warp_sum[t / WARP - 1];
        }
        sort_sync<G>();
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
        uint32_t here = w[r] >> bits, last = r > 0 ? w[r > 0 ? r - 1 : 0] >> bits : before >> bits;
        bool head = (t == 0 && r == 0) || here != last;
        heads |= head && t * VT + r < (int)products ? 1u << r : 0;
    }
    return (unsigned)fresh((int)heads); /* as predicates, ptxas 13.0 gets some of their uses wrong */
}

/* sums[r]: partial sum of word r's column over this thread's words up to r. For the thread's last column it also
 * includes the products held by later threads. */
template <int G, int VT, typename V>
__device__ inline void sum_equal(const spg_job &job, const spg_row &row, const sorted_products<G, VT, V> &its,
                                 sort_shared<G, VT, V> &shared, V (&sums)[VT]) {
    typedef sort_shape<G, VT> S;
    const int t = sort_lane<G>(), lane = (int)threadIdx.x % S::team; /* in the team */
    const uint32_t mask = (1u << its.bits) - 1, column = its.w[VT - 1] >> its.bits;
    sort_factor<V, S::pieces> *const b = shared.b + sort_group_number<G>() * S::stride;
    const auto *const origin = shared.origin + sort_group_number<G>() * S::stride;
    enum { TOGETHER = S::pieces ? 4 : VT, TAIL = S::pieces ? 4 : 1 }; /* products whose factors are loaded together */
    V sum = value_kind<V>::nothing(job);
#pragma unroll
    for (int r = 0; r < VT; r++) {
        b[t + r * G] = its.b[r];
    }
#pragma unroll
    for (int first = 0; first < VT; first += TOGETHER) {
        V a[TOGETHER], its_b[TOGETHER];
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            const bool there = t * VT + first + k < (int)row.products;
            a[k] = value_at<V>(job.A, there ? row.begin + origin[its.w[first + k] & mask] : 0);
        }
        if (first == 0) {
            sort_sync<G>();
        }
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            its_b[k] = b[its.w[first + k] & mask].value(job);
        }
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            sum = add_times(job, a[k], its_b[k], its.heads >> (first + k) & 1 ? value_kind<V>::nothing(job) : sum);
            sums[first + k] = sum;
        }
    }
    /* does the thread's last column go on in the next thread? */
    bool more = its.heads != 0;
    if (!S::wide) {
        more = (__shfl_down_sync(~0u, its.w[0], 1) >> its.bits == column) && more && (t + 1) * VT < (int)row.products;
        if (!__any_sync(~0u, more)) {
            return;
        }
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
        shared.words[word_place<VT>(lane * VT) + word_place<VT>(r)] = its.w[r];
    }
    sort_sync<G>();
    int i = (t + 1) * VT;
    for (int at = (lane + 1) * VT, last = S::wide ? i + SORT_OWN : (int)row.products;
         more && i < min((int)row.products, last); i += TAIL, at += TAIL) {
        V a[TAIL], its_b[TAIL];
        bool same[TAIL];
#pragma unroll
        for (int k = 0; k < TAIL; k++) {
            const bool there = i + k < (int)row.products;
            const uint32_t word = there ? shared.words[word_place<VT>(at + k)] : 0;
            same[k] = there && word >> its.bits == column;
            a[k] = its_b[k] = V{};
            if (same[k]) {
                a[k] = value_at<V>(job.A, row.begin + origin[word & mask]), its_b[k] = b[word & mask].value(job);
            }
        }
#pragma unroll
        for (int k = 0; k < TAIL; k++) {
            sum = same[k] ? add_times(job, a[k], its_b[k], sum) : sum;
        }
        more = same[TAIL - 1];
    }
    if (S::wide) { /* all lanes of the warp together read long ones */
        for (unsigned left = __ballot_sync(~0u, more && i < (int)row.products); left; left &= left - 1) {
            const uint32_t k = (uint32_t)__ffs((int)left) - 1, its_column = __shfl_sync(~0u, column, k);
            V its_sum = value_of_lane(sum, k);
            uint32_t n = WARP;
            for (uint32_t from = __shfl_sync(~0u, (uint32_t)i, k); n == WARP; from += WARP) {
                const uint32_t at = from + threadIdx.x % WARP;
                const uint32_t word = shared.words[word_place<VT>(min(at, row.products - 1))];
                n = (uint32_t)__popc(__ballot_sync(~0u, at < row.products && word >> its.bits == its_column));
                its_sum = add_lanes(job, value_at<V>(job.A, row.begin + origin[word & mask]), b[word & mask].value(job),
                                    n, its_sum);
            }
            sum = threadIdx.x % WARP == k ? its_sum : sum;
        }
    }
    sums[VT - 1] = sum;
}

/* Writes a row of C from its sorted words. The rows of a warp are written together if they are neighbours in C. Returns
 * the number of entries that were written together. */
template <int G, int VT, typename V>
__device__ inline uint32_t compress(const spg_job &job, const spg_row &row, const sorted_products<G, VT, V> &its,
                                    sort_shared<G, VT, V> &shared) {
    typedef sort_shape<G, VT> S;
    const int t = sort_lane<G>();
    V sums[VT];
    int64_t at = row.at;
    if constexpr (value_kind<V>::valued) {
        sum_equal(job, row, its, shared, sums);
    }
    const uint32_t count = (uint32_t)__popc(its.heads);
    uint32_t end, rank = group_sum<S::team>(count, shared.warp_sum, &end), first = 0;
    int step = S::team;
    if (G < WARP) {
        const uint32_t its_first = __shfl_sync(~0u, rank, 0, G), its_end = __shfl_sync(~0u, rank + count, G - 1, G);
        at -= its_first;
        const int64_t leader = __shfl_sync(~0u, at, 0);
        if (__all_sync(~0u, at == leader || its_first == its_end)) {
            at = leader;
        } else {
            first = its_first, end = its_end, step = G;
        }
    }
    sort_sync<G>();
    const int here = min(max((int)row.products - t * VT, 0), VT); /* how many of the thread's words are products */
    /* bit r: word r is the last of its column, or of the thread's words */
    unsigned ends = its.heads >> 1 | (1u << here) >> 1;
    ends = its.heads ? ends & ~((its.heads & (0u - its.heads)) - 1) : 0;
    rank--;
#pragma unroll
    for (int r = 0; r < VT; r++) {
        rank += its.heads >> r & 1;
        if (ends >> r & 1) {
            const uint32_t place = rank + rank / 8;
            shared.columns[place] = its.w[r] >> its.bits;
            if constexpr (value_kind<V>::valued) {
                shared.sums[place] = sums[r];
            }
        }
    }
    sort_sync<G>();
    /* copies the team's entries first .. end-1, or its groups', to C from `at` on, in steps of as many lanes. If a
     * whole warp or more copies, each step begins at a full line of memory */
    const auto copy = [&](auto put) {
        [[maybe_unused]] V *const val = value_kind<V>::valued ? (V *)job.val + at : NULL;
        const int lane = step == G ? t : (int)threadIdx.x % S::team, low = (int)first, high = (int)end;
#pragma unroll 1
        for (int begin = step < WARP ? low : low - (int)((uint32_t)(at + low) % WARP); begin < high; begin += step) {
            const int i = begin + lane;
            if (i >= low && i < high) {
                const uint32_t place = (uint32_t)i + (uint32_t)i / 8;
                put(i, its.low + shared.column_of(shared.columns[place]));
                if constexpr (value_kind<V>::valued) {
                    val[i] = canonical(shared.sums[place]);
                }
            }
        }
    };
    if (job.wide_col || job.names) {
        copy([&](int i, uint32_t column) { put_col(job, at + i, column); });
    } else {
        uint32_t *const col = (uint32_t *)job.col + at;
        copy([&](int i, uint32_t column) { col[i] = column; });
    }
    return end;
}
