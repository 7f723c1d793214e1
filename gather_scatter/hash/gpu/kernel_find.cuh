/* Kernels that search a table. A warp takes 32 probes. Four lanes read the bucket of one probe, 16 bytes each, so that
 * a load of the warp touches eight lines, not 32; four loads are in flight before the first answer is looked at. Votes
 * tell the lane of a probe which of the four found it. */
#pragma once

#include "kernel_build.cuh"

enum {
    HASH_PARTS = LSP_HASH_LINE / 16, /* lanes that read a bucket together */
    HASH_TURNS = HASH_PARTS,         /* loads of a lane for the 32 probes of its warp */
    HASH_TURN_PROBES = WARP / HASH_PARTS,
    HASH_GATHER = 2048, /* values that a block gathers */
    HASH_COPY_LANES = 8 /* that copy the values of one probe */
};

/* A lane's matches. If `in_slot`, `first` is the upper half of the slot's key (hash_slot_key). */
typedef struct hash_answer {
    lsp_hash_match match;
    bool in_slot;
    uint32_t first;
} hash_answer;

/* The matches of this lane's mixed key, which is any number where there is no probe. By all lanes of a warp. */
template <typename K, int KIND> __device__ inline hash_answer hash_look(const lsp_hash_view &t, K mixed) {
    constexpr bool HALF = KIND == LSP_HASH_RUNS && sizeof(K) == 4; /* the lower half of a slot's key is the key */
    const int lane = (int)threadIdx.x % WARP;
    const uint4 *lines = (const uint4 *)t.lines + lane % HASH_PARTS;
    const uint32_t bucket = lsp_hash_bucket(mixed, sizeof(K) == 8, t.buckets);
    uint4 part[HASH_TURNS];
    bool last[HASH_TURNS]; /* is it the last bucket? */
#pragma unroll
    for (int r = 0; r < HASH_TURNS; r++) {
        const uint32_t b = __shfl_sync(~0u, bucket, r * HASH_TURN_PROBES + lane / HASH_PARTS);
        part[r] = __ldg(lines + (int64_t)b * HASH_PARTS);
        last[r] = b == t.buckets - 1;
    }
    uint64_t slot = 0;   /* the slot that matches, or the last one */
    uint32_t beside = 0; /* the upper half of that slot's key */
    bool found = false, link = false;
#pragma unroll
    for (int r = 0; r < HASH_TURNS; r++) {
        const K wanted = __shfl_sync(~0u, mixed, r * HASH_TURN_PROBES + lane / HASH_PARTS);
        const unsigned filler = last[r] ? 0 : ~0u;
        bool hit, linked;
        uint64_t value;
        if (KIND == LSP_HASH_NARROW) {
            const bool first = part[r].x == (uint32_t)wanted;
            hit = first || part[r].z == (uint32_t)wanted;
            value = first ? part[r].y : part[r].w;
            linked = part[r].z == filler && part[r].w != ~0u;
        } else if (HALF) {
            hit = part[r].x == (uint32_t)wanted;
            value = (uint64_t)part[r].w << 32 | part[r].z;
            linked = part[r].x == filler && value != UINT64_MAX;
        } else {
            hit = ((uint64_t)part[r].y << 32 | part[r].x) == (uint64_t)wanted;
            value = (uint64_t)part[r].w << 32 | part[r].z;
            linked = (part[r].x & part[r].y) == filler && (part[r].x | part[r].y) == filler && value != UINT64_MAX;
        }
        const unsigned hits = __ballot_sync(~0u, hit), links = __ballot_sync(~0u, linked);
        const int at = lane % HASH_TURN_PROBES * HASH_PARTS;
        const unsigned mine = hits >> at & ((1u << HASH_PARTS) - 1);
        const int from = at + (mine ? __ffs((int)mine) - 1 : HASH_PARTS - 1);
        const uint64_t got =
            KIND == LSP_HASH_NARROW ? __shfl_sync(~0u, (unsigned)value, from) : __shfl_sync(~0u, (ull)value, from);
        const uint32_t upper = HALF ? __shfl_sync(~0u, part[r].y, from) : 0;
        if (lane / HASH_TURN_PROBES == r) {
            slot = got;
            beside = upper;
            found = mine != 0;
            link = links >> (at + HASH_PARTS - 1) & 1;
        }
    }
    hash_answer answer = {{0, 0}, found, beside};
    if (found) {
        answer.match = lsp_hash_match_of(&t, slot);
    } else if (link) {
        answer.match = lsp_hash_beyond(&t, (int64_t)slot, mixed);
    }
    return answer;
}

/* Calls f(i, here, answer) for the probes of the grid; a warp stays together; here is false: there is no probe. */
template <typename K, int KIND, typename F>
__device__ inline void hash_each(const lsp_hash_view &t, const lsp_hash_probes &probes, F f) {
    const int64_t stride = (int64_t)gridDim.x * HASH_NT, first = (int64_t)blockIdx.x * HASH_NT + threadIdx.x;
    for (int64_t i = first; i - (int)threadIdx.x % WARP < probes.n; i += stride) {
        const bool here = i < probes.n;
        const K key = here ? __ldcs((const K *)probes.keys + i) : (K)0;
        f(i, here, hash_look<K, KIND>(t, hash_mix(key, t.seed)));
    }
}

/* Value `at` of a run, or the value of a slot. */
template <typename V, int KIND> __device__ inline V hash_value(const lsp_hash_view &t, uint64_t at) {
    if constexpr (KIND == LSP_HASH_RUNS) {
        return ((const V *)t.values)[at];
    } else {
        return (V)at;
    }
}
template <typename V> __device__ inline V hash_absent(bool ones) {
    if constexpr (sizeof(V) == 16) {
        return make_ulonglong2(ones ? ~0ull : 0, ones ? ~0ull : 0);
    } else {
        return ones ? (V)-1 : (V)0;
    }
}

/* A value of 4 bytes; never asked for others. */
template <typename V> __device__ inline V hash_first(uint32_t value) {
    if constexpr (sizeof(V) == 16) {
        return make_ulonglong2(value, 0);
    } else {
        return (V)value;
    }
}

struct hash_nothing {};

template <typename K, int KIND, typename V>
__global__ void __launch_bounds__(HASH_NT) kernel_hash_find(lsp_hash_view t, lsp_hash_probes probes) {
    hash_each<K, KIND>(t, probes, [&](int64_t i, bool here, const hash_answer &answer) {
        const lsp_hash_match &match = answer.match;
        if (here) {
            if constexpr (sizeof(V) > 1) {
                const bool first = KIND == LSP_HASH_RUNS && sizeof(K) == 4 && sizeof(V) == 4 && answer.in_slot;
                ((V *)probes.values)[i] = match.count == 0 ? hash_absent<V>(t.positions)
                                          : first          ? hash_first<V>(answer.first)
                                                           : hash_value<V, KIND>(t, match.at);
            }
            if (probes.found) {
                probes.found[i] = match.count > 0;
            }
        }
    });
}

/* offsets[i + 1] = the number of matches of probe i. */
template <typename K, int KIND>
__global__ void __launch_bounds__(HASH_NT)
    kernel_hash_matches(lsp_hash_view t, lsp_hash_probes probes, int64_t *offsets, uint64_t *at) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        offsets[0] = 0;
    }
    hash_each<K, KIND>(t, probes, [&](int64_t i, bool here, const hash_answer &answer) {
        if (here) {
            offsets[i + 1] = answer.match.count;
            if (at) {
                at[i] = answer.match.at;
            }
        }
    });
}

/* Each block gathers HASH_GATHER values of the result, whatever the probes that they belong to. */
template <int KIND, typename V>
__global__ void __launch_bounds__(HASH_NT) kernel_hash_gather(lsp_hash_view t, int64_t n, const int64_t *offsets,
                                                              const uint64_t *at, int64_t total, V *values) {
    __shared__ int64_t bound[2];
    __shared__ int begins[HASH_GATHER]; /* of the block's probes, from the block's first value on */
    const int64_t first = (int64_t)blockIdx.x * HASH_GATHER;
    const int count = (int)min(total - first, (int64_t)HASH_GATHER), warp = (int)threadIdx.x / WARP;
    if (warp < 2) { /* the probes of the first and of the last value */
        const int64_t value = warp == 0 ? first : first + count - 1;
        const int64_t begun = warp_prefix(n, [&](int64_t i) { return offsets[i] <= value; });
        if (threadIdx.x % WARP == 0) {
            bound[warp] = begun - 1;
        }
    }
    __syncthreads();
    const int64_t from = bound[0], length = bound[1] - from + 1;
    const bool fits = length <= HASH_GATHER;
    for (int k = (int)threadIdx.x; fits && k < (int)length; k += HASH_NT) {
        begins[k] = (int)max(offsets[from + k] - first, (int64_t)-1);
    }
    __syncthreads();
#pragma unroll 4
    for (int o = (int)threadIdx.x; o < count; o += HASH_NT) {
        int64_t low = 0, high = length; /* the last probe that begins at value o or before it */
        if (fits) {
            int l = 0, h = (int)length;
            while (h - l > 1) {
                const int middle = (l + h) / 2;
                l = begins[middle] <= o ? middle : l;
                h = begins[middle] <= o ? h : middle;
            }
            low = l;
        } else { /* many probes without a match lie between */
            while (high - low > 1) {
                const int64_t middle = (low + high) / 2;
                const bool begun = offsets[from + middle] <= first + o;
                low = begun ? middle : low;
                high = begun ? high : middle;
            }
        }
        const int64_t i = from + low;
        values[first + o] = hash_value<V, KIND>(t, at[i] + (uint64_t)(first + o - offsets[i]));
    }
}

template <typename K, int KIND, typename V>
__global__ void __launch_bounds__(HASH_NT) kernel_hash_some(lsp_hash_view t, lsp_hash_probes probes) {
    const int lane = (int)threadIdx.x % WARP;
    ull left = 0;
    hash_each<K, KIND>(t, probes, [&](int64_t i, bool here, const hash_answer &answer) {
        const lsp_hash_match &match = answer.match;
        const int64_t from = here ? lsp_hash_cursor(probes.cursors[i], match.count) : 0;
        const int64_t taken = here ? min(match.count - from, probes.cap) : 0;
        if (here) {
            probes.counts[i] = (int32_t)taken;
            probes.cursors[i] = from + taken;
            left += (ull)(match.count - from - taken);
        }
        if constexpr (sizeof(V) > 1) {
            for (int r = 0; r < HASH_COPY_LANES; r++) {
                const int owner = r * (WARP / HASH_COPY_LANES) + lane / HASH_COPY_LANES;
                const int64_t count = __shfl_sync(~0u, (long long)taken, owner);
                const uint64_t at = __shfl_sync(~0u, (ull)(match.at + (uint64_t)from), owner);
                V *to = (V *)probes.values + (i - lane + owner) * probes.cap;
                for (int64_t k = lane % HASH_COPY_LANES; k < count; k += HASH_COPY_LANES) {
                    to[k] = hash_value<V, KIND>(t, at + (uint64_t)k);
                }
                __syncwarp();
            }
        }
    });
    left = warp_sum(left);
    if (probes.left && lane == 0 && left > 0) {
        atomicAdd((ull *)probes.left, left);
    }
}
