/* Rows whose products are sorted, the last step: equal neighbours are summed in order, and the row is written. */
#ifndef LSP_SPGEMM_GPU_SORT_COMPRESS_CUH
#define LSP_SPGEMM_GPU_SORT_COMPRESS_CUH

#include "sort_expand.cuh"

/* Bit r: the thread's sorted word r is the first of its column. */
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
    return (unsigned)fresh((int)heads); /* as predicates ptxas 13.0 gets some of its uses wrong */
}

/* sums[r]: of the products of word r's column up to it that are the thread's own, and, of its last run, all others. */
template <int G, int VT, typename V>
__device__ inline void sum_equal(const spg_job &job, uint32_t begin, uint32_t products, int bits, unsigned heads,
                                 sort_shared<G, VT, V> &shared, const uint32_t (&w)[VT],
                                 const sort_factor<V, sort_shape<G, VT>::pieces> (&own)[VT], V (&sums)[VT]) {
    typedef sort_shape<G, VT> S;
    const int t = sort_lane<G>(), lane = (int)threadIdx.x % S::team; /* of the team */
    const uint32_t mask = (1u << bits) - 1, column = w[VT - 1] >> bits;
    sort_factor<V, S::pieces> *const b = shared.b + sort_group_number<G>() * S::stride;
    const typename sort_origin<S::pieces>::type *const origin = shared.origin + sort_group_number<G>() * S::stride;
    enum { TOGETHER = S::pieces ? 4 : VT, TAIL = S::pieces ? 4 : 1 }; /* products whose factors come together */
    V sum = value_kind<V>::identity(job);
#pragma unroll
    for (int r = 0; r < VT; r++) {
        b[t + r * G] = own[r];
    }
#pragma unroll
    for (int first = 0; first < VT; first += TOGETHER) {
        V a[TOGETHER], its_b[TOGETHER];
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            const bool there = t * VT + first + k < (int)products;
            a[k] = value_at<V>(job.A, there ? begin + origin[w[first + k] & mask] : 0);
        }
        if (first == 0) {
            sort_sync<G>();
        }
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            its_b[k] = b[w[first + k] & mask].value(job);
        }
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            sum = add_times(job, a[k], its_b[k], heads >> (first + k) & 1 ? value_kind<V>::identity(job) : sum);
            sums[first + k] = sum;
        }
    }
    /* does the last run go on? */
    bool more = heads != 0;
    if (!S::wide) {
        more = (__shfl_down_sync(~0u, w[0], 1) >> bits == column) && more && (t + 1) * VT < (int)products;
        if (!__any_sync(~0u, more)) {
            return;
        }
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
        shared.words[word_place<VT>(lane * VT) + word_place<VT>(r)] = w[r];
    }
    sort_sync<G>();
    int i = (t + 1) * VT;
    for (int at = (lane + 1) * VT, last = S::wide ? i + SORT_OWN : (int)products; more && i < min((int)products, last);
         i += TAIL, at += TAIL) {
        V a[TAIL], its_b[TAIL];
        bool same[TAIL];
#pragma unroll
        for (int k = 0; k < TAIL; k++) {
            const bool there = i + k < (int)products;
            const uint32_t word = there ? shared.words[word_place<VT>(at + k)] : 0;
            same[k] = there && word >> bits == column;
            a[k] = its_b[k] = V{};
            if (same[k]) {
                a[k] = value_at<V>(job.A, begin + origin[word & mask]), its_b[k] = b[word & mask].value(job);
            }
        }
#pragma unroll
        for (int k = 0; k < TAIL; k++) {
            sum = same[k] ? add_times(job, a[k], its_b[k], sum) : sum;
        }
        more = same[TAIL - 1];
    }
    if (S::wide) { /* long ones are read by all lanes of the warp */
        for (unsigned left = __ballot_sync(~0u, more && i < (int)products); left; left &= left - 1) {
            const uint32_t k = (uint32_t)__ffs((int)left) - 1, its_column = __shfl_sync(~0u, column, k);
            V its_sum = value_of_lane(sum, k);
            uint32_t n = WARP;
            for (uint32_t from = __shfl_sync(~0u, (uint32_t)i, k); n == WARP; from += WARP) {
                const uint32_t at = from + threadIdx.x % WARP;
                const uint32_t word = shared.words[word_place<VT>(min(at, products - 1))];
                n = (uint32_t)__popc(__ballot_sync(~0u, at < products && word >> bits == its_column));
                its_sum = add_lanes(job, value_at<V>(job.A, begin + origin[word & mask]), b[word & mask].value(job), n,
                                    its_sum);
            }
            sum = threadIdx.x % WARP == k ? its_sum : sum;
        }
    }
    sums[VT - 1] = sum;
}

/* Entries first .. end-1 of what a team has made, to C from `at` on; `step` lanes, of which this is lane t, begin at a
 * whole line of memory. */
template <int G, int VT, typename V, bool PLAIN>
__device__ inline void copy_out(const spg_job &job, int64_t at, int first, int end, int t, int step, uint32_t low,
                                const sort_shared<G, VT, V> &shared) {
    uint32_t *const col = (uint32_t *)job.col + at;
    V *const val = value_kind<V>::valued ? (V *)job.val + at : NULL;
#pragma unroll 1
    for (int begin = step < WARP ? first : first - (int)((uint32_t)(at + first) % WARP); begin < end; begin += step) {
        const int i = begin + t;
        if (i >= first && i < end) {
            const uint32_t place = (uint32_t)i + (uint32_t)i / 8;
            if (PLAIN) {
                col[i] = low + shared.columns[place];
            } else {
                put_col(job, at + i, low + shared.columns[place]);
            }
            if constexpr (value_kind<V>::valued) {
                val[i] = canonical(shared.sums[place]);
            }
        }
    }
}

/* A row of C, from `at` on, from its sorted words; columns are counted from `low`. The rows of a warp are written
 * together where they follow each other. */
template <int G, int VT, typename V>
__device__ inline void compress(const spg_job &job, int64_t at, uint32_t begin, uint32_t products, int bits,
                                uint32_t low, unsigned heads, const uint32_t (&w)[VT],
                                const sort_factor<V, sort_shape<G, VT>::pieces> (&b)[VT],
                                sort_shared<G, VT, V> &shared) {
    typedef sort_shape<G, VT> S;
    const int t = sort_lane<G>();
    V sums[VT];
    if constexpr (value_kind<V>::valued) {
        sum_equal<G, VT, V>(job, begin, products, bits, heads, shared, w, b, sums);
    }
    const uint32_t count = (uint32_t)__popc(heads);
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
    const int here = min(max((int)products - t * VT, 0), VT); /* the thread's words that are products */
    unsigned ends = heads >> 1 | (1u << here) >> 1;           /* the last of each column, or of the thread's words */
    ends = heads ? ends & ~((heads & (0u - heads)) - 1) : 0;
    rank--;
#pragma unroll
    for (int r = 0; r < VT; r++) {
        rank += heads >> r & 1;
        if (ends >> r & 1) {
            const uint32_t place = rank + rank / 8;
            shared.columns[place] = w[r] >> bits;
            if constexpr (value_kind<V>::valued) {
                shared.sums[place] = sums[r];
            }
        }
    }
    sort_sync<G>();
    const int lane = step == G ? t : (int)threadIdx.x % S::team;
    if (job.wide_col || job.names) {
        copy_out<G, VT, V, false>(job, at, (int)first, (int)end, lane, step, low, shared);
    } else {
        copy_out<G, VT, V, true>(job, at, (int)first, (int)end, lane, step, low, shared);
    }
}

#endif
