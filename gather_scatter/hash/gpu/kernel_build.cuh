/* Kernels that build a table: of the sorted keys, distinct ones are counted and listed, tile by tile; then
 * each block writes neighbouring buckets, which it puts together in shared memory. */
#pragma once

#include "core/block.cuh"
#include "gather_scatter/hash/hash.h"

enum {
    HASH_NT = 256,
    HASH_WARPS = HASH_NT / WARP,
    HASH_VT = LSP_HASH_TILE / HASH_NT, /* keys of a thread in a tile */
    HASH_LINES = 128                   /* buckets that a block puts together */
};

template <typename K> __device__ inline K hash_mix(K key, uint64_t seed) {
    return sizeof(K) == 8 ? (K)lsp_hash_mix64(key, seed) : (K)lsp_hash_mix32((uint32_t)key, seed);
}

/* Does a run of equal keys begin at i? */
template <typename K> __device__ inline bool hash_is_head(const K *sorted, int64_t i, int64_t n) {
    return i < n && (i == 0 || sorted[i] != sorted[i - 1]);
}

/* counts[b] = the runs that begin in tile b. */
template <typename K>
__global__ void __launch_bounds__(HASH_NT) kernel_hash_count(const K *sorted, int64_t n, int64_t *counts) {
    __shared__ int sums[HASH_WARPS];
    const int64_t first = (int64_t)blockIdx.x * LSP_HASH_TILE + threadIdx.x;
    int heads = 0, total;
#pragma unroll
    for (int j = 0; j < HASH_VT; j++) {
        heads += hash_is_head(sorted, first + j * HASH_NT, n);
    }
    block_scan(heads, sums, &total);
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = total;
    }
}

/* Lists the distinct keys, and where their runs begin. counts[b]: the runs of all tiles up to b. */
template <typename K>
__global__ void __launch_bounds__(HASH_NT)
    kernel_hash_compact(const K *sorted, int64_t n, const int64_t *counts, K *keys, int64_t *heads) {
    __shared__ int sums[HASH_WARPS];
    int64_t before = blockIdx.x > 0 ? counts[blockIdx.x - 1] : 0;
#pragma unroll 1
    for (int j = 0; j < HASH_VT; j++) {
        const int64_t i = (int64_t)blockIdx.x * LSP_HASH_TILE + j * HASH_NT + threadIdx.x;
        const bool head = hash_is_head(sorted, i, n);
        int total;
        const int64_t u = before + block_scan((int)head, sums, &total);
        if (head) {
            keys[u] = sorted[i];
            heads[u] = i;
        }
        before += total;
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
        heads[before] = n;
    }
}

/* ---- buckets ---- */

typedef struct hash_fill_shared {
    uint4 lines[HASH_LINES * LSP_HASH_LINE / 16];
    int64_t first[HASH_LINES]; /* the first distinct key of a bucket */
    int64_t bound[2];          /* the keys of all buckets of the block */
} hash_fill_shared;

__device__ inline void hash_set_slot(void *lines, int kind, int slot, uint64_t key, uint64_t value) {
    if (kind == LSP_HASH_NARROW) {
        ((uint2 *)lines)[slot] = make_uint2((unsigned)key, (unsigned)value);
    } else {
        ((ulonglong2 *)lines)[slot] = make_ulonglong2(key, value);
    }
}

/* The key of a slot. Of runs of 4-byte values with 4-byte keys the first value stands in the upper half: whoever looks
 * for one match need not read the values. */
template <typename K> __device__ inline uint64_t hash_slot_key(const lsp_hash_view &t, K key, int64_t u) {
    const bool first = sizeof(K) == 4 && t.kind == LSP_HASH_RUNS && t.value_bytes == 4;
    return first ? lsp_hash_value_at(&t, t.heads ? t.heads[u] : u) << 32 | key : key;
}

/* Writes the buckets blockIdx.x * HASH_LINES and following. */
template <typename K> __global__ void __launch_bounds__(HASH_NT) kernel_hash_fill(lsp_hash_view t, uint4 *lines) {
    __shared__ hash_fill_shared sh;
    const bool wide = sizeof(K) == 8;
    const K *keys = (const K *)t.keys;
    const int slots = t.kind == LSP_HASH_NARROW ? 8 : 4, warp = (int)threadIdx.x / WARP;
    const int64_t begin = (int64_t)blockIdx.x * HASH_LINES, end = min(begin + HASH_LINES, (int64_t)t.buckets);
    if (warp < 2) {
        const int64_t from = warp == 0 ? begin : end;
        const int64_t u = warp_prefix(
            t.distinct, [&](int64_t i) { return (int64_t)lsp_hash_bucket(keys[i], wide, t.buckets) < from; });
        if (threadIdx.x % WARP == 0) {
            sh.bound[warp] = u;
        }
    }
    for (int s = (int)threadIdx.x; s < (int)(end - begin) * slots; s += HASH_NT) {
        hash_set_slot(sh.lines, t.kind, s, lsp_hash_filler((uint32_t)(begin + s / slots), t.buckets), UINT64_MAX);
    }
    __syncthreads();
    const int64_t last = sh.bound[1];
    for (int64_t u = sh.bound[0] + threadIdx.x; u < last; u += HASH_NT) {
        const uint32_t bucket = lsp_hash_bucket(keys[u], wide, t.buckets);
        if (u == sh.bound[0] || lsp_hash_bucket(keys[u - 1], wide, t.buckets) != bucket) {
            sh.first[bucket - begin] = u;
        }
    }
    __syncthreads();
    for (int64_t u = sh.bound[0] + threadIdx.x; u < last; u += HASH_NT) {
        const K key = keys[u];
        const uint32_t bucket = lsp_hash_bucket(key, wide, t.buckets);
        const int64_t rank = u - sh.first[bucket - begin];
        if (rank < slots) {
            const bool link =
                rank == slots - 1 && u + 1 < last && lsp_hash_bucket(keys[u + 1], wide, t.buckets) == bucket;
            hash_set_slot(sh.lines, t.kind, (int)((bucket - begin) * slots + rank),
                          link ? lsp_hash_filler(bucket, t.buckets) : hash_slot_key(t, key, u),
                          link ? (uint64_t)u : lsp_hash_slot_of(&t, u));
        }
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < (int)(end - begin) * (LSP_HASH_LINE / 16); i += HASH_NT) {
        lines[begin * (LSP_HASH_LINE / 16) + i] = sh.lines[i];
    }
}
