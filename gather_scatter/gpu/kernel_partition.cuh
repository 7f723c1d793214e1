/* Partitions the elements of a scatter into bins of the destination. A block takes a chunk of elements, ranks them by
 * digit (their bin, or their group of bins) in shared memory, asks each digit for room once, and writes its elements in
 * runs, one a digit. Elements of a bin come in any order: that is right where indices are distinct. */
#pragma once

#include "gate.cuh"

enum {
    PART_NT = 512,
    PART_VT = 8,
    PART_CHUNK = PART_NT * PART_VT, /* elements of a block, if there are two levels */
    PART_WARPS = PART_NT / WARP,
    PART_OUTSIDE = -1 /* as an unsigned number: no location */
};

enum { PART_ONLY, PART_FIRST, PART_SECOND }; /* levels */

/* Threads of a block and elements of a thread. One level tells apart hundreds of bins, so it takes all shared memory of
 * a multiprocessor: the larger the chunk, the longer the runs that are written. */
LSP_BOTH_SIDES constexpr int part_nt(int level) { return level == PART_ONLY ? 1024 : PART_NT; }
LSP_BOTH_SIDES constexpr int part_vt(int level, size_t bytes) {
    return level != PART_ONLY ? PART_VT : bytes > 8 ? 8 : 14;
}
LSP_BOTH_SIDES constexpr int part_chunk(int level, size_t bytes) { return part_nt(level) * part_vt(level, bytes); }

typedef struct part_job {
    int64_t n;
    unsigned extent, bins;
    const void *index;      /* of the caller, n */
    gather_cut bin;         /* cuts a location by the size of a bin, */
    gather_cut group;       /* or of a group of bins */
    unsigned fan, groups;   /* bins of a group. One level: not used */
    int64_t *begin;         /* bins + 1: where bins begin */
    unsigned *bin_next;     /* bins: room that is given away already, */
    unsigned *group_next;   /* groups: the same of the first level */
    unsigned *chunk_begin;  /* groups + 1: chunks of the second level before each group */
    unsigned *location;     /* n: what the first level writes, beside elements */
    uint16_t *place_in_bin; /* n: what the last level writes, beside elements */
    long long *fault;
    gather_gate gate;
} part_job;

template <typename I> __device__ inline unsigned part_location(const part_job &p, const I *index, int64_t k) {
    const I i = __ldcs(index + k);
    return (uint64_t)i < p.extent ? (unsigned)i : (unsigned)PART_OUTSIDE;
}

/* begin[b + 1] += elements of bin b. begin[] is zero before. */
template <typename I> static __global__ void __launch_bounds__(PART_NT) kernel_part_count(part_job p) {
    LSP_DYNAMIC_SHARED(shared);
    unsigned *const counts = (unsigned *)shared;
    const int64_t stride = (int64_t)gridDim.x * PART_NT;
    int64_t bad = -1;
    if (gate_is_closed(p.gate)) {
        return;
    }
    for (unsigned b = threadIdx.x; b < p.bins; b += PART_NT) {
        counts[b] = 0;
    }
    __syncthreads();
    for (int64_t first = (int64_t)blockIdx.x * PART_NT + threadIdx.x; first < p.n; first += PART_VT * stride) {
        unsigned location[PART_VT];
#pragma unroll
        for (int r = 0; r < PART_VT; r++) {
            const int64_t k = first + r * stride;
            location[r] = k < p.n ? part_location(p, (const I *)p.index, k) : 0;
        }
#pragma unroll
        for (int r = 0; r < PART_VT; r++) {
            if (first + r * stride < p.n) {
                if (location[r] == (unsigned)PART_OUTSIDE) {
                    bad = first + r * stride;
                } else {
                    atomicAdd(counts + cut_of(p.bin, location[r]), 1u);
                }
            }
        }
    }
    report_bad(p.fault, bad);
    __syncthreads();
    for (unsigned b = threadIdx.x; b < p.bins; b += PART_NT) {
        if (counts[b] > 0) {
            atomicAdd((ull *)p.begin + 1 + b, (ull)counts[b]);
        }
    }
}

/* Sets where each bin and group has room, and the chunks of the groups; one block. */
static __global__ void __launch_bounds__(PART_NT) kernel_part_begin(part_job p) {
    __shared__ unsigned sums[PART_WARPS];
    unsigned before = 0, all;
    for (unsigned b = threadIdx.x; b < p.bins; b += PART_NT) {
        p.bin_next[b] = (unsigned)p.begin[b];
    }
    for (unsigned first = 0; first < p.groups; first += PART_NT) {
        const unsigned g = first + threadIdx.x;
        const int64_t begin = p.begin[min(g * p.fan, p.bins)], end = p.begin[min((g + 1) * p.fan, p.bins)];
        const unsigned chunks = g < p.groups ? (unsigned)((end - begin + PART_CHUNK - 1) / PART_CHUNK) : 0;
        const unsigned sum = block_scan(chunks, sums, &all);
        if (g < p.groups) {
            p.group_next[g] = (unsigned)begin;
            p.chunk_begin[g] = before + sum;
        }
        before += all;
    }
    if (threadIdx.x == 0 && p.groups > 0) {
        p.chunk_begin[p.groups] = before;
    }
}

/* The digits that a block tells apart, and its elements. */
typedef struct part_share {
    int64_t begin;
    unsigned count, digits, first_digit;
} part_share;

/* Second level: the group and the chunk of this block. count 0: it has none. */
__device__ inline part_share part_find(const part_job &p) {
    __shared__ part_share share;
    if (threadIdx.x == 0) {
        share.count = share.digits = 0;
    }
    __syncthreads();
    for (unsigned g = threadIdx.x; g < p.groups; g += PART_NT) {
        const unsigned chunk = p.chunk_begin[g];
        if (chunk <= blockIdx.x && blockIdx.x < p.chunk_begin[g + 1]) {
            const int64_t end = p.begin[min((g + 1) * p.fan, p.bins)];
            share.begin = p.begin[g * p.fan] + (int64_t)(blockIdx.x - chunk) * PART_CHUNK;
            share.count = (unsigned)min((int64_t)PART_CHUNK, end - share.begin);
            share.first_digit = g * p.fan;
            share.digits = min(p.fan, p.bins - share.first_digit);
        }
    }
    __syncthreads();
    return share;
}

/* Element k; from NULL: the position k is the element. */
template <typename V> __device__ inline V part_element(const V *from, int64_t k) {
    if constexpr (sizeof(V) == 4) {
        return from ? __ldcs(from + k) : (V)k;
    } else {
        return __ldcs(from + k);
    }
}

/* V: an element. I: the type of the caller's indices. Elements are read when their places are known, not before: so
 * they take no registers while locations are ranked, and more blocks fit a multiprocessor. */
template <typename V, typename I, int LEVEL>
static __global__ void __launch_bounds__(part_nt(LEVEL), LEVEL == PART_ONLY ? 1 : 3)
    kernel_partition(part_job p, const V *from, V *to) {
    constexpr int nt = part_nt(LEVEL), vt = part_vt(LEVEL, sizeof(V)), chunk = nt * vt;
    LSP_DYNAMIC_SHARED(shared);
    __shared__ unsigned sums[nt / WARP];
    V *const elements = (V *)shared;
    unsigned *const locations = (unsigned *)(elements + chunk), *const starts = locations + chunk;
    const gather_cut cut = LEVEL == PART_FIRST ? p.group : p.bin;
    unsigned location[vt], rank[vt] = {};
    if (gate_is_closed(p.gate)) {
        return;
    }
    part_share share = {(int64_t)blockIdx.x * chunk, chunk, LEVEL == PART_FIRST ? p.groups : p.bins, 0};
    if (LEVEL == PART_SECOND) {
        share = part_find(p);
    } else {
        share.count = (unsigned)min((int64_t)chunk, p.n - share.begin);
    }
    unsigned *const next = LEVEL == PART_FIRST ? p.group_next : p.bin_next + share.first_digit;
    unsigned *const shift = starts + share.digits;
    for (unsigned d = threadIdx.x; d < share.digits; d += nt) {
        starts[d] = 0;
    }
#pragma unroll
    for (int r = 0; r < vt; r++) {
        const unsigned i = threadIdx.x + (unsigned)r * nt;
        location[r] = (unsigned)PART_OUTSIDE;
        if (i < share.count) {
            location[r] = LEVEL == PART_SECOND ? __ldcs(p.location + share.begin + i)
                                               : part_location(p, (const I *)p.index, share.begin + i);
        }
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < vt; r++) {
        if (location[r] != (unsigned)PART_OUTSIDE) {
            rank[r] = atomicAdd(starts + cut_of(cut, location[r]) - share.first_digit, 1u);
        }
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < share.digits; d += nt) {
        shift[d] = starts[d] > 0 ? atomicAdd(next + d, starts[d]) : 0;
    }
    const unsigned count = runs_scan(starts, share.digits, sums); /* its barriers let shift[] be written by others */
#pragma unroll
    for (int r = 0; r < vt; r++) {
        if (location[r] != (unsigned)PART_OUTSIDE) {
            const unsigned at = starts[cut_of(cut, location[r]) - share.first_digit] + rank[r];
            locations[at] = location[r];
            elements[at] = part_element(from, share.begin + threadIdx.x + (unsigned)r * nt);
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += nt) {
        const unsigned digit = cut_of(cut, locations[i]), d = digit - share.first_digit;
        const unsigned at = shift[d] + (i - starts[d]);
        if (LEVEL == PART_FIRST) {
            p.location[at] = locations[i];
        } else {
            p.place_in_bin[at] = (uint16_t)(locations[i] - digit * cut.size);
        }
        to[at] = elements[i];
    }
}
