/* Giants: segments longer than the list kernels take. One kernel that fills the GPU splits them by their leading
 * digits, round after round, until the buckets are short enough for the lists. The giants of a round are laid end to
 * end and shared out evenly. A giant that lies in one block's share is counted and moved by that block at once; of the
 * others, at most two a block, parts are counted, the counts of all parts are summed up, parts are moved.
 *
 * Neighbouring short buckets stay together as one entry. Digits in which no two keys differ are passed over. */
#ifndef LSP_SEGSORT_GIANTS_CUH
#define LSP_SEGSORT_GIANTS_CUH

#include "core/launch.cuh"
#include "segsort_shares.cuh"

typedef struct giants_shared {
    giant_share share;
    int64_t first_block, parts; /* of the giant pointed at */
    int64_t sums[SPLIT_WARPS][WARP];
    split_shared split; /* the last: it has room behind it */
} giants_shared;

/* ---- a block's part of a giant ---- */

/* A block keeps the counts of the giant that began before its share, and of the one that begins there and goes on; of
 * the latter also the sums over all parts. */
__device__ inline int64_t *counts_of(const seg_job &job, int64_t block, bool begins_there) {
    return job.counts + (2 * block + begins_there) * SPLIT_DIGITS;
}
__device__ inline int64_t *sums_of(const seg_job &job, int64_t block) {
    return job.counts + (2 * (int64_t)gridDim.x + block) * SPLIT_DIGITS;
}
/* From the counts of the part where a giant begins to those of a later part. */
__device__ inline int64_t *part_after(int64_t *counts, int64_t part) {
    return counts + max(2 * part - 1, (int64_t)0) * SPLIT_DIGITS;
}

/* Points at a giant, and at this block's part of it. */
__device__ inline void point_at(const seg_job &job, giants_shared &sh, const seg_giant *giant) {
    const int64_t unit = __ldcg(&giant->unit);
    __syncthreads();
    if (threadIdx.x == 0) {
        split_shared &split = sh.split;
        seg_split &g = split.split;
        g = giant_load(job, giant);
        split.lo = g.begin + max(sh.share.begin - unit, (int64_t)0) * GIANT_UNIT;
        split.hi = min(g.begin + (sh.share.end - unit) * GIANT_UNIT, g.end);
        choose_digit(&g);
        sh.first_block = share_of(sh.share.units, unit, gridDim.x);
        sh.parts = share_of(sh.share.units, unit + giant_units(g.end - g.begin) - 1, gridDim.x) - sh.first_block + 1;
    }
    __syncthreads();
}

/* ---- counting ---- */

/* For thread d the number of items lo .. hi-1 with the digit d. Leaves the bits that differ from the giant's first
 * number in sh.diff. Where the last row has no items the giant's first one is counted. */
template <typename KK> __device__ inline unsigned count_digits(const seg_job &job, split_shared &sh) {
    typedef typename KK::K K;
    const K *keys = (const K *)job.arrays[sh.split.from].keys;
    const seg_digit at_digit = digit_at(sh.split);
    const unsigned lane = threadIdx.x % WARP;
    const int64_t hi = sh.hi;
    unsigned *counter = counters_of(sh) + threadIdx.x / WARP * SPLIT_DIGITS;
    const K first = keys[sh.split.begin];
    K diff = 0;
    unsigned more = 0;
    if (threadIdx.x == 0) {
        sh.diff = 0;
    }
    clear_counters(counter);
    for (int64_t row = sh.lo; row < hi; row += SPLIT_NT * GIANT_ROW) {
        const int items = (int)min(hi - row, (int64_t)SPLIT_NT * GIANT_ROW), left = items - (int)threadIdx.x;
        const K *at = keys + row + threadIdx.x;
        K key[GIANT_ROW];
        more = SPLIT_NT * GIANT_ROW - items;
#pragma unroll
        for (int j = 0; j < GIANT_ROW; j++) {
            key[j] = j * SPLIT_NT < left ? at[j * SPLIT_NT] : first;
        }
#pragma unroll
        for (int j = 0; j < GIANT_ROW; j++) {
            diff |= KK::number(key[j], job.order) ^ KK::number(first, job.order);
            atomicAdd(&counter[digit_of<KK>(job, at_digit, key[j])], 1u);
        }
    }
    const unsigned upper = __reduce_or_sync(~0u, (unsigned)((unsigned long long)diff >> 32));
    const unsigned lower = __reduce_or_sync(~0u, (unsigned)diff);
    __syncthreads();
    if (lane == 0) {
        atomicOr(&sh.diff, (unsigned long long)upper << 32 | lower);
    }
    unsigned sum = 0;
    for (unsigned w = 0; threadIdx.x <= at_digit.mask && w < SPLIT_WARPS; w++) {
        sum += counters_of(sh)[w * SPLIT_DIGITS + threadIdx.x];
    }
    __syncthreads();
    return sum - (threadIdx.x == digit_of<KK>(job, at_digit, first) ? more : 0);
}

/* ---- from counts to buckets ---- */

/* Is it better to count again, by digits that begin where numbers first differ? */
__device__ inline bool lower_high(seg_split *g, unsigned long long diff) {
    const int high = 64 - __clzll((long long)diff);
    const bool again = diff != 0 && g->shift > g->low && g->high - high >= GIANT_RECOUNT;
    g->high = again ? high : g->high;
    return again;
}

/* Where the items go: equal ones to the output, if they are not there yet. */
__device__ inline int choose_target(const seg_job &job, const seg_split &g, unsigned long long diff) {
    const seg_arrays *in = &job.arrays[FROM_INPUT], *out = &job.arrays[FROM_OUTPUT];
    const bool in_place = in->keys == out->keys || (!job.positions && in->values && in->values == out->values);
    const bool away = g.from == FROM_OUTPUT || (g.from == FROM_INPUT && in_place);
    return diff != 0 && away ? FROM_TEMPORARY : FROM_OUTPUT;
}

/* Where entries begin: neighbouring buckets stay together while they are short. By one thread. */
__device__ inline int merge_buckets(split_shared &sh) {
    enum { ahead = 8 }; /* digits read before anything is written */
    const int digits = 1 << sh.split.width;
    int groups = 0;
    int64_t open = sh.split.begin, next = open;
    for (int d = 0; d < digits; d += ahead) {
        int64_t end[ahead];
#pragma unroll
        for (int k = 0; k < ahead; k++) {
            end[k] = sh.cut[d + k + 1];
        }
#pragma unroll
        for (int k = 0; k < ahead; k++) {
            const int64_t begin = next;
            next = d + k < digits ? end[k] : next;
            if (next - open > GIANT_MERGED && begin > open) {
                sh.cut[groups++] = open;
                open = begin;
            }
        }
    }
    if (open < sh.split.end) { /* not so when empty buckets follow a long one */
        sh.cut[groups++] = open;
    }
    sh.cut[groups] = sh.split.end;
    return groups;
}

/* From the number of items with digit d, in thread d, to sh.place. */
__device__ inline void place_buckets(split_shared &sh, int64_t count) {
    const int64_t place = sh.split.begin + split_scan(sh, count);
    const int d = (int)threadIdx.x, digits = 1 << sh.split.width;
    if (d < digits) {
        sh.place[d] = sh.cut[d] = place;
    }
    if (d == digits) { /* there are more threads than digits */
        sh.cut[d] = sh.split.end;
    }
    __syncthreads();
}

/* Lists what has still to be sorted, or to go to the output. */
__device__ inline void list_buckets(const seg_job &job, split_shared &sh, unsigned long long diff, int round) {
    const seg_split &g = sh.split;
    const int k = (int)threadIdx.x;
    if (g.to == FROM_OUTPUT && (diff == 0 || g.shift <= g.low)) {
        return;
    }
    if (k == 0) {
        sh.groups = merge_buckets(sh);
    }
    __syncthreads();
    if (k < sh.groups) {
        const int64_t begin = sh.cut[k], end = sh.cut[k + 1];
        if (end - begin > LIST_LONGEST) {
            giant_list(job, round + 1, begin, end, g.shift, g.to);
        } else {
            list_add(job, begin, g.to, end - begin);
        }
    }
}

/* ---- giants in parts ---- */

template <typename KK> __device__ inline void count_part(const seg_job &job, giants_shared &sh, seg_giant *giant) {
    point_at(job, sh, giant);
    const unsigned items = count_digits<KK>(job, sh.split);
    if (threadIdx.x < 1u << sh.split.split.width) {
        __stcg(counts_of(job, blockIdx.x, blockIdx.x == sh.first_block) + threadIdx.x, (int64_t)items);
    }
    if (threadIdx.x == 0) {
        atomicOr(&giant->diff, sh.split.diff);
    }
}

/* Each part's count becomes the sum over the parts before it. The blocks of the giant share the digits, the warps of a
 * block the parts. */
__device__ inline void sum_parts(const seg_job &job, giants_shared &sh, const seg_giant *giant) {
    enum { ahead = 8 };
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    point_at(job, sh, giant);
    const unsigned digits = 1u << sh.split.split.width;
    const int64_t from = sh.parts * warp / SPLIT_WARPS, to = sh.parts * (warp + 1) / SPLIT_WARPS;
    for (int64_t d = (blockIdx.x - sh.first_block) * WARP; d < digits; d += sh.parts * WARP) {
        const bool mine = d + lane < digits;
        int64_t *counts = counts_of(job, sh.first_block, true) + d + lane;
        int64_t sum = 0, before = 0;
#pragma unroll 8
        for (int64_t part = from; part < to; part++) {
            sum += mine ? __ldcg(part_after(counts, part)) : 0;
        }
        sh.sums[warp][lane] = sum;
        __syncthreads();
        for (unsigned w = 0; w < warp; w++) {
            before += sh.sums[w][lane];
        }
        if (warp == SPLIT_WARPS - 1 && mine) {
            __stcg(sums_of(job, sh.first_block) + d + lane, before + sum);
        }
        for (int64_t part = from; mine && part < to; part += ahead) {
            int64_t items[ahead];
#pragma unroll
            for (int k = 0; k < ahead; k++) {
                items[k] = part + k < to ? __ldcg(part_after(counts, part + k)) : 0;
            }
#pragma unroll
            for (int k = 0; k < ahead; k++) {
                if (part + k < to) {
                    __stcg(part_after(counts, part + k), before);
                }
                before += items[k];
            }
        }
        __syncthreads();
    }
}

/* All blocks of the giant come to the same decisions; the first one of them lists what follows. */
__device__ inline void place_part(const seg_job &job, giants_shared &sh, const seg_giant *giant, int round) {
    seg_split &g = sh.split.split;
    const bool lists = blockIdx.x == sh.first_block, mine = threadIdx.x < 1u << g.width;
    const unsigned long long diff = __ldcg(&giant->diff);
    __syncthreads(); /* all have read g */
    if (threadIdx.x == 0) {
        sh.split.again = lower_high(&g, diff);
        g.to = sh.split.again ? g.from : choose_target(job, g, diff);
        if (sh.split.again && lists) {
            giant_list(job, round + 1, g.begin, g.end, g.high, g.from);
        }
    }
    __syncthreads();
    if (sh.split.again) {
        return;
    }
    place_buckets(sh.split, mine ? __ldcg(sums_of(job, sh.first_block) + threadIdx.x) : 0);
    if (lists) {
        list_buckets(job, sh.split, diff, round);
    }
    if (mine) {
        sh.split.place[threadIdx.x] += __ldcg(counts_of(job, blockIdx.x, lists) + threadIdx.x);
    }
}

/* ---- the kernel ---- */

/* All blocks have arrived `phase` times. What they wrote before that can be read after it. */
__device__ inline void giants_arrive(const seg_job &job) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&job.counters->barrier, 1ull);
    }
}
__device__ inline void giants_await(const seg_job &job, unsigned long long phase) {
    if (threadIdx.x == 0) {
        while (*(volatile unsigned long long *)&job.counters->barrier < phase * gridDim.x) {
            __nanosleep(40);
        }
        __threadfence();
    }
    __syncthreads();
}

/* Moves this block's part; sh.place is known. */
template <typename KK, int V> __device__ inline void move_items(const seg_job &job, split_shared &sh) {
    if (sh.split.to != sh.split.from) {
        for (int64_t tile = sh.lo; tile < sh.hi; tile += SPLIT_TILE) {
            move_tile<KK, V>(job, sh, tile, (int)min(sh.hi - tile, (int64_t)SPLIT_TILE));
        }
    }
}

/* Counts and places a giant that is this block's alone. */
template <typename KK> __device__ inline void split_whole(const seg_job &job, split_shared &sh, int round) {
    unsigned items;
    do {
        items = count_digits<KK>(job, sh);
        if (threadIdx.x == 0) {
            sh.again = lower_high(&sh.split, sh.diff);
            sh.split.to = choose_target(job, sh.split, sh.diff);
            choose_digit(&sh.split);
        }
        __syncthreads();
    } while (sh.again);
    place_buckets(sh, items);
    list_buckets(job, sh, sh.diff, round);
}

template <typename KK, int V>
__global__ void __launch_bounds__(SPLIT_NT, sizeof(typename KK::K) == 4 && V <= 4 ? SPLIT_BLOCKS : SPLIT_BLOCKS - 1)
    kernel_giants(const __grid_constant__ seg_job job) {
    LSP_DYNAMIC_SHARED(giants_memory);
    giants_shared &sh = *(giants_shared *)giants_memory;
    clear_counters(masks_of(sh.split) + threadIdx.x / WARP * SPLIT_DIGITS);
    for (int round = 0;; round++) {
        const unsigned long long listed = __ldcg(&job.counters->giants[round & 1]);
        seg_giant *giants = job.giants[round & 1];
        if (listed == 0) {
            return;
        }
        share_out(giants, listed, &sh.share);
        for (int p = 0; p < 2; p++) {
            if (sh.share.part[p] >= 0) {
                count_part<KK>(job, sh, &giants[sh.share.part[p]]);
            }
        }
        giants_arrive(job);
        giants_await(job, 3ull * round + 1);
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            job.counters->giants[round & 1] = 0; /* everybody has read it */
        }
        for (int p = 0; p < 2; p++) {
            if (sh.share.part[p] >= 0) {
                sum_parts(job, sh, &giants[sh.share.part[p]]);
            }
        }
        giants_arrive(job);
        /* Whole giants come first: others sum up meanwhile. */
        for (int64_t k = 0; k < sh.share.wholes + 2; k++) {
            const bool whole = k < sh.share.wholes;
            const int64_t which = whole ? sh.share.whole + k : sh.share.part[k - sh.share.wholes];
            if (k == sh.share.wholes) {
                giants_await(job, 3ull * round + 2);
            }
            if (which < 0) {
                continue;
            }
            point_at(job, sh, &giants[which]);
            if (whole) {
                split_whole<KK>(job, sh.split, round);
            } else {
                place_part(job, sh, &giants[which], round);
            }
            move_items<KK, V>(job, sh.split);
        }
        giants_arrive(job);
        giants_await(job, 3ull * round + 3);
    }
}

/* ---- the host's side ---- */

template <typename KK, int V> static lsp_status start_giants_of(lsp_ctx *ctx, const seg_job *job, int sms) {
    lsp_status status = LSP_OK;
    const int key_bytes = (int)sizeof(typename KK::K), item_bytes = lsp_max(key_bytes, lsp_min(V, 8));
    const size_t shared = sizeof(giants_shared) + split_bytes(item_bytes);
    void (*kernel)(seg_job) = kernel_giants<KK, V>;
    int resident = 0;
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    LSP_TRY(LSP_CUDA_CALL(ctx, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared)));
    LSP_TRY(LSP_CUDA_CALL(ctx, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, SPLIT_NT, shared)));
    LSP_REQUIRE(resident > 0, LSP_ERR_DEVICE,
                "a block of %d threads with %zu bytes of shared memory does not fit the GPU", (int)SPLIT_NT, shared);
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.gridDim = dim3((unsigned)lsp_min((int64_t)resident * sms, giants_blocks(job->n)));
    config.blockDim = dim3(SPLIT_NT);
    config.dynamicSmemBytes = shared;
    config.stream = (cudaStream_t)lsp_cuda_stream(ctx);
    config.attrs = &attribute;
    config.numAttrs = 1;
    LSP_TRY(LSP_CUDA_CALL(ctx, cudaLaunchKernelEx(&config, kernel, *job)));
done:
    return status;
}

template <typename KK> static lsp_status start_giants(lsp_ctx *ctx, const seg_job *job, int sms) {
    switch (job->value_bytes) {
    case 0:
        return start_giants_of<KK, 0>(ctx, job, sms);
    case 4:
        return start_giants_of<KK, 4>(ctx, job, sms);
    case 8:
        return start_giants_of<KK, 8>(ctx, job, sms);
    default:
        return start_giants_of<KK, 16>(ctx, job, sms);
    }
}

#endif
