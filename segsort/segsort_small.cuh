/* Few items in all: one kernel sorts them, for what such a call costs is launches. It counts. Each item finds its rank
 * among the items of its tile by comparing with all of them; tiles in order go to the scratch; after a barrier over the
 * grid the item finds its rank in each other tile of its segment by bisection. The sum is its place. */
#ifndef LSP_SEGSORT_SMALL_CUH
#define LSP_SEGSORT_SMALL_CUH

#include "core/launch.cuh"
#include "segsort_device.cuh"
#include "segsort_move.cuh"
#include <cooperative_groups.h>

enum {
    SMALL_ITEMS = 1 << 14,    /* at most */
    SMALL_SEGMENTS = 1 << 11, /* at most */
    SMALL_NT = 1024,
    SMALL_SHARE = 8,                    /* threads that rank an item together */
    SMALL_OWN = SMALL_NT / SMALL_SHARE, /* items of a block */
    SMALL_TILE = 2 * SMALL_OWN          /* items of a tile */
};

/* The block's segments, and its tile. */
template <typename K> struct small_shared {
    uint16_t begin[SMALL_SEGMENTS], end[SMALL_SEGMENTS];
    K tile[SMALL_TILE];
    int first, last; /* items of all segments that the block's items belong to */
};

/* The segment that holds item i, which is empty if there is none: the first one, if segments were malformed. */
__device__ inline void small_segment(const uint16_t *begins, const uint16_t *ends, int segments, bool sound, int i,
                                     int *begin, int *end) {
    int s = 0, high = segments;
    if (sound) {
        while (high - s > 1) { /* the last that begins at i or before it */
            int middle = (s + high) / 2;
            if (begins[middle] <= i) {
                s = middle;
            } else {
                high = middle;
            }
        }
    } else {
        while (s < segments - 1 && (i < begins[s] || i >= ends[s])) {
            s++;
        }
    }
    *begin = *end = i;
    if (i >= begins[s] && i < ends[s]) {
        *begin = begins[s];
        *end = ends[s];
    }
}

/* Where number j lies in shared memory: a bisection would meet in one bank without the gaps. */
__host__ __device__ inline int small_place(int j) { return j + j / WARP; }

/* How many of the n <= SMALL_TILE ascending numbers from place `from` on are not greater than `most`. */
template <typename K> __device__ inline int small_until(const K *numbers, int from, int n, K most) {
    int at = from;
#pragma unroll
    for (int step = SMALL_TILE; step > 0; step /= 2) {
        const int last = at + step - 1;
        if (last < from + n && numbers[small_place(last)] <= most) {
            at += step;
        }
    }
    return at - from;
}

__device__ inline uint4 small_load_value(const seg_job &job, int i) {
    const void *values = job.arrays[FROM_INPUT].values;
    if (job.positions || job.value_bytes == 0) {
        return make_uint4(0, 0, 0, 0);
    } else if (job.value_bytes == 4) {
        return make_uint4(((const uint32_t *)values)[i], 0, 0, 0);
    } else if (job.value_bytes == 8) {
        uint2 value = ((const uint2 *)values)[i];
        return make_uint4(value.x, value.y, 0, 0);
    }
    const uint2 *half = (const uint2 *)values + (int64_t)i * 2; /* values need be aligned to 8 bytes only */
    return make_uint4(half[0].x, half[0].y, half[1].x, half[1].y);
}
__device__ inline void small_store_value(const seg_job &job, int i, uint4 value) {
    void *values = job.arrays[FROM_OUTPUT].values;
    if (job.value_bytes == 4) {
        ((uint32_t *)values)[i] = value.x;
    } else if (job.value_bytes >= 8) {
        uint2 *at = (uint2 *)values + (int64_t)i * (job.value_bytes / 8);
        at[0] = make_uint2(value.x, value.y);
        if (job.value_bytes == 16) {
            at[1] = make_uint2(value.z, value.w);
        }
    }
}

/* Sum over the threads that rank an item together. */
__device__ inline int small_sum(int x) {
    for (int mask = 1; mask < SMALL_SHARE; mask *= 2) {
        x += __shfl_xor_sync(~0u, x, mask);
    }
    return x;
}

template <typename KK> __global__ void __launch_bounds__(SMALL_NT) kernel_small(seg_job job) {
    typedef typename KK::K K;
    LSP_DYNAMIC_SHARED(memory);
    __shared__ small_shared<K> sh;
    K *tiles = (K *)memory;              /* those that the block needs, each in order */
    K *ordered = (K *)job.small_ordered; /* all of them */
    const K *keys = (const K *)job.arrays[FROM_INPUT].keys;
    const int n = (int)job.n, segments = (int)job.segments, t = (int)threadIdx.x, part = t % SMALL_SHARE;
    const int i = (int)blockIdx.x * SMALL_OWN + t / SMALL_SHARE, tile = i / SMALL_TILE * SMALL_TILE;
    const bool here = i < n;
    const K key = here ? keys[i] : (K)0;
    const uint4 value = here && part == 0 ? small_load_value(job, i) : make_uint4(0, 0, 0, 0);
    if (t < SMALL_TILE) {
        sh.tile[t] = tile + t < n ? KK::number(keys[tile + t], job.order) : (K)0;
    }
    for (int s = t; s < segments; s += SMALL_NT) {
        int64_t begin, end;
        segment_at(job, s, &begin, &end);
        sh.begin[s] = (uint16_t)begin;
        sh.end[s] = (uint16_t)end;
    }
    if (t == 0) {
        sh.first = n;
        sh.last = 0;
    }
    __syncthreads();
    bool wrong = false;
    for (int s = t; s < segments; s += SMALL_NT) {
        wrong |= s > 0 && sh.begin[s] < sh.end[s - 1];
    }
    const bool sound = !__syncthreads_or(wrong);
    /* among the items of its tile */
    int begin, end, rank = 0;
    small_segment(sh.begin, sh.end, segments, sound, i, &begin, &end);
    const int low = max(begin, tile), high = min(end, tile + SMALL_TILE);
    const K number = KK::number(key, job.order);
#pragma unroll 4
    for (int j = low + part; j < i; j += SMALL_SHARE) {
        rank += sh.tile[j - tile] <= number;
    }
#pragma unroll 4
    for (int j = i + 1 + part; j < high; j += SMALL_SHARE) {
        rank += sh.tile[j - tile] < number;
    }
    rank = small_sum(rank);
    if (gridDim.x > 1) {
        if (here && part == 0) {
            ordered[low + rank] = number;
            if (begin < tile || end > tile + SMALL_TILE) {
                atomicMin(&sh.first, begin);
                atomicMax(&sh.last, end);
            }
        }
        cooperative_groups::this_grid().sync();
        /* among the items of the other tiles */
        const int first = sh.first, last = sh.last;
#pragma unroll 8
        for (int j = first + t; j < last; j += SMALL_NT) {
            tiles[small_place(j)] = __ldcg(ordered + j);
        }
        __syncthreads();
        int more = 0;
        for (int other = begin / SMALL_TILE * SMALL_TILE + part * SMALL_TILE; other < end;
             other += SMALL_SHARE * SMALL_TILE) {
            const int from = max(begin, other);
            if (other < tile) {
                more += small_until(tiles, from, min(end, other + SMALL_TILE) - from, number);
            } else if (other > tile && number > 0) {
                more += small_until(tiles, from, min(end, other + SMALL_TILE) - from, (K)(number - 1));
            }
        }
        rank += small_sum(more);
    }
    if (here && part == 0 && begin < end) {
        const int to = begin + rank;
        ((K *)job.arrays[FROM_OUTPUT].keys)[to] = key;
        if (job.positions) {
            put_position(job, to, begin, i - begin);
        } else {
            small_store_value(job, to, value);
        }
    }
}

/* ---- the host's side ---- */

static inline int64_t small_blocks(int64_t n) { return lsp_max(lsp_ceil_div(n, SMALL_OWN), 1); }

/* Can a single kernel do it, on such a chip? */
static inline bool small_fits(const lsp_segsort_args *args, const lsp_cuda_chip *chip) {
    const int64_t bytes = args->n > SMALL_ITEMS
                              ? 0
                              : small_place((int)args->n + 1) * (int64_t)lsp_type_bytes(args->key_type) + (16 << 10);
    return args->n <= SMALL_ITEMS && args->segments <= SMALL_SEGMENTS && small_blocks(args->n) <= chip->sms &&
           bytes <= chip->shared_block_bytes;
}

template <typename KK> static lsp_status start_small(lsp_ctx *ctx, const seg_job *job) {
    lsp_status status = LSP_OK;
    void (*kernel)(seg_job) = kernel_small<KK>;
    cudaLaunchAttribute together = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)small_blocks(job->n));
    config.blockDim = dim3(SMALL_NT);
    config.dynamicSmemBytes = (size_t)small_place((int)job->n + 1) * sizeof(typename KK::K);
    config.stream = (cudaStream_t)lsp_cuda_stream(ctx);
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    config.attrs = &together;
    config.numAttrs = config.gridDim.x > 1;
    LSP_TRY(LSP_CUDA_CALL(
        ctx, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)config.dynamicSmemBytes)));
    LSP_TRY(LSP_CUDA_CALL(ctx, cudaLaunchKernelEx(&config, kernel, *job)));
done:
    return status;
}

#endif
