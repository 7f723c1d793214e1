/* Sorts a short array by ranks: the place of an item is the number of items before it. A block reads all items, and its
 * warps count, each in its share of all items, the items before each of 32 own ones. No block waits for another one,
 * unless the output replaces the input. n^2 comparisons, in one launch. */
#include "job.cuh"
#include <cooperative_groups.h>

enum { RANKS_WARPS = 16, RANKS_OWN = WARP, RANKS_NT = RANKS_WARPS * WARP };

/* The numbers in all shares: as many for each warp, a multiple of 32. */
__host__ __device__ static inline int ranks_share(int n) { return (n + RANKS_NT - 1) / RANKS_NT * WARP; }

/* Adds the numbers of list[from .. to-1], both multiples of 4, that are before x; OR_EQUAL: and those equal to it. */
template <bool OR_EQUAL, typename K> __device__ inline int ranks_count(const K *list, int from, int to, K x) {
    enum { QUAD = 16 / sizeof(K) };
    int count = 0;
#pragma unroll 8
    for (int j = from; j < to; j += QUAD) {
        const uint4 quad = *(const uint4 *)(list + j);
        if constexpr (sizeof(K) == 4) {
            count += OR_EQUAL ? (quad.x <= x) + (quad.y <= x) + (quad.z <= x) + (quad.w <= x)
                              : (quad.x < x) + (quad.y < x) + (quad.z < x) + (quad.w < x);
        } else {
            const K a = quad.x | (K)quad.y << 32, b = quad.z | (K)quad.w << 32;
            count += OR_EQUAL ? (a <= x) + (b <= x) : (a < x) + (b < x);
        }
    }
    return count;
}

template <typename KK> __global__ void __launch_bounds__(RANKS_NT) kernel_ranks(slab_job job, bool in_place) {
    typedef typename KK::K K;
    LSP_DYNAMIC_SHARED(ranks_memory);
    __shared__ int parts[RANKS_WARPS][RANKS_OWN];
    K *const numbers = (K *)ranks_memory;
    const K *keys = (const K *)job.keys;
    const int t = (int)threadIdx.x, warp = t / WARP, lane = t % WARP, n = job.n;
    const int first = (int)blockIdx.x * RANKS_OWN, own = first + lane, share = ranks_share(n);
    const int words = job.value_bytes / 4;
    const bool moves = warp > 0 && warp <= words && own < n; /* warp w moves word w - 1 of the values */
    const K key = own < n ? keys[own] : (K)0;
    uint32_t word = 0;
    if (moves) {
        word = !job.positions ? ((const uint32_t *)job.values)[own * words + warp - 1] : warp == 1 ? (uint32_t)own : 0;
    }
    for (int i = t; i < share * RANKS_WARPS; i += RANKS_NT) {
        numbers[i] = i < n ? KK::number(keys[i], job.order) : (K)-1;
    }
    __syncthreads();
    const K x = numbers[own];
    const int begin = warp * share, end = begin + share, low = min(max(first, begin), end),
              high = min(max(first + (int)RANKS_OWN, begin), end);
    int count = ranks_count<true>(numbers, begin, low, x) + ranks_count<false>(numbers, high, end, x);
    for (int j = low; j < high; j++) {
        count += numbers[j] < x || (numbers[j] == x && j < own);
    }
    parts[warp][lane] = count;
    if (in_place) {
        cooperative_groups::this_grid().sync(); /* all blocks read before any writes */
    } else {
        __syncthreads();
    }
    if (own < n && warp <= words) {
        int rank = 0;
#pragma unroll
        for (int w = 0; w < RANKS_WARPS; w++) {
            rank += parts[w][lane];
        }
        if (moves) {
            ((uint32_t *)job.values_out)[rank * words + warp - 1] = word;
        } else if (job.keys_out) {
            ((K *)job.keys_out)[rank] = key;
        }
    }
}

/* ---- the host's side ---- */

template <typename KK> static lsp_status start_ranks(lsp_ctx *ctx, const slab_job *job) {
    const bool in_place = job->keys == job->keys_out || (job->value_bytes > 0 && job->values == job->values_out);
    const size_t shared = (size_t)ranks_share(job->n) * RANKS_WARPS * sizeof(typename KK::K);
    void (*ranks)(slab_job, bool) = kernel_ranks<KK>;
    LSP_TRY(lsp_allow_shared(ctx, ranks, shared));
    return LSP_LAUNCH_TOGETHER(ctx, in_place, ranks, lsp_ceil_div(job->n, RANKS_OWN), RANKS_NT, shared, *job, in_place);
}

static lsp_status sort_by_ranks(lsp_ctx *ctx, const lsp_sort_args *args, void *) {
    const slab_job job = slab_make_job(args);
    const bool wide = lsp_type_bytes(args->key_type) == 8;
    if (lsp_sort_is_plain(args)) {
        return wide ? start_ranks<key_kind<ull, true>>(ctx, &job) : start_ranks<key_kind<uint32_t, true>>(ctx, &job);
    }
    return wide ? start_ranks<key_kind<ull, false>>(ctx, &job) : start_ranks<key_kind<uint32_t, false>>(ctx, &job);
}

/* In place all blocks must be resident together: two on each multiprocessor always are. */
static int64_t ranks_longest(lsp_ctx *ctx, const lsp_sort_args *) {
    return lsp_min(LSP_SORT_RANKS_MOST, (int64_t)2 * RANKS_OWN * lsp_cuda_get_chip(ctx)->sms);
}
static int64_t ranks_bytes(lsp_ctx *, const lsp_sort_args *) { return 0; }

const lsp_sort_way lsp_sort_by_ranks = {ranks_longest, ranks_bytes, sort_by_ranks};
