/* Makes what a product by propagation reads: a counting sort of the entries by (slice, bin). A block takes a bin. The
 * first kernel counts the entries of each slice: the lengths of the runs. Their prefix sums tell where runs begin. The
 * second kernel ranks the entries again and writes columns, places, and where runs begin. Inside a run the order is
 * left to chance: it decides no result. Values follow by the places alone, so an update needs nothing else. */
#pragma once

#include "propagate.cuh"

/* ---- runs ---- */

/* counts[s] = entries of the block's bin in slice s. Ends with a barrier. */
template <typename I>
__device__ inline void propagate_count(const propagation &p, const I *col, unsigned *counts, unsigned count) {
    enum { U = 4 };
    for (unsigned s = threadIdx.x; s < p.slices; s += blockDim.x) {
        counts[s] = 0;
    }
    __syncthreads();
    for (unsigned first = threadIdx.x; first < count; first += U * blockDim.x) {
        unsigned c[U];
#pragma unroll
        for (int u = 0; u < U; u++) {
            const unsigned i = first + (unsigned)u * blockDim.x;
            c[u] = i < count ? (unsigned)col[i] : 0;
        }
#pragma unroll
        for (int u = 0; u < U; u++) {
            if (first + (unsigned)u * blockDim.x < count) {
                atomicAdd(counts + c[u] / p.columns, 1u);
            }
        }
    }
    __syncthreads();
}

/* lengths[s * bins + b] = entries of slice s in bin b. */
template <typename I>
static __global__ void __launch_bounds__(PROPAGATE_NT) kernel_lengths(propagation p, const I *col, int64_t *lengths) {
    LSP_DYNAMIC_SHARED(shared);
    unsigned *const counts = (unsigned *)shared;
    const unsigned begin = p.bin[blockIdx.x].begin, count = p.bin[blockIdx.x + 1].begin - begin;
    propagate_count(p, col + begin, counts, count);
    for (unsigned s = threadIdx.x; s < p.slices; s += blockDim.x) {
        lengths[(int64_t)s * p.bins + blockIdx.x] = counts[s];
    }
}

/* slice_at[s] from the prefix sums of the lengths; the products between two slices get a column. One block. */
static __global__ void __launch_bounds__(PROPAGATE_NT) kernel_slices(propagation p, const int64_t *lengths) {
    __shared__ unsigned sums[PROPAGATE_NT / WARP];
    unsigned before = 0, all;
    for (unsigned first = 0; first < p.slices; first += PROPAGATE_NT) {
        const unsigned s = first + threadIdx.x;
        const unsigned count =
            s < p.slices ? (unsigned)(lengths[((int64_t)s + 1) * p.bins] - lengths[(int64_t)s * p.bins]) : 0;
        const unsigned room = (count + PROPAGATE_ALIGN - 1) / PROPAGATE_ALIGN * PROPAGATE_ALIGN;
        const unsigned at = before + block_scan(room, sums, &all);
        if (s < p.slices) {
            p.slice_at[s] = at;
            for (unsigned k = at + count; k < at + room; k++) {
                p.col[k] = 0;
            }
        }
        before += all;
    }
    if (threadIdx.x == 0) {
        p.slice_at[p.slices] = before;
    }
}

/* Replaces counts[0 .. n-1] by its exclusive prefix sums; a block of PROPAGATE_NT threads. Ends with a barrier. */
__device__ inline void propagate_scan(unsigned *counts, unsigned n) {
    __shared__ unsigned sums[PROPAGATE_NT / WARP];
    const unsigned each = (n + PROPAGATE_NT - 1) / PROPAGATE_NT;
    const unsigned begin = min(threadIdx.x * each, n), end = min(begin + each, n);
    unsigned sum = 0, all;
    for (unsigned i = begin; i < end; i++) {
        sum += counts[i];
    }
    unsigned before = block_scan(sum, sums, &all);
    for (unsigned i = begin; i < end; i++) {
        const unsigned count = counts[i];
        counts[i] = before;
        before += count;
    }
    __syncthreads();
}

/* A bin in shared memory. */
typedef struct propagate_making {
    unsigned *next, *shift;    /* slices: where the run begins in the bin, and from there to its products */
    unsigned *begins, *before; /* see propagate_runs */
    uint16_t *order;           /* entries in the order of runs */
} propagate_making;

__device__ inline propagate_making propagate_making_in(const propagation &p, char *shared) {
    propagate_making m;
    m.next = (unsigned *)shared;
    m.shift = m.next + p.slices;
    m.begins = m.shift + p.slices;
    m.before = m.begins + p.entries / 32;
    m.order = (uint16_t *)(m.before + p.entries / 32);
    return m;
}

/* Numbers the runs that are not empty; writes their shifts and the words that find them. */
__device__ inline void propagate_write_runs(const propagation &p, const propagate_making &m, const int64_t *lengths,
                                            unsigned count) {
    const unsigned words = p.entries / 32;
    for (unsigned w = threadIdx.x; w < words; w += blockDim.x) {
        m.begins[w] = 0;
    }
    __syncthreads();
    for (unsigned s = threadIdx.x; s < p.slices; s += blockDim.x) {
        const int64_t *const slice = lengths + (int64_t)s * p.bins;
        m.shift[s] = p.slice_at[s] + (unsigned)(slice[blockIdx.x] - slice[0]) - m.next[s];
        if (m.next[s] < (s + 1 < p.slices ? m.next[s + 1] : count)) {
            atomicOr(m.begins + m.next[s] / 32, 1u << m.next[s] % 32);
        }
    }
    __syncthreads();
    for (unsigned w = threadIdx.x; w < words; w += blockDim.x) {
        m.before[w] = (unsigned)__popc(m.begins[w]);
    }
    __syncthreads();
    propagate_scan(m.before, words);
    for (unsigned w = threadIdx.x; w < words; w += blockDim.x) {
        p.runs[(int64_t)blockIdx.x * words + w] = propagate_runs{m.begins[w], m.before[w]};
    }
    for (unsigned s = threadIdx.x; s < p.slices; s += blockDim.x) {
        const unsigned w = m.next[s] / 32, below = (1u << m.next[s] % 32) - 1;
        if (m.next[s] < (s + 1 < p.slices ? m.next[s + 1] : count)) {
            const unsigned run = m.before[w] + (unsigned)__popc(m.begins[w] & below);
            p.shift[(int64_t)blockIdx.x * p.run_room + run] = m.shift[s];
        }
    }
    __syncthreads();
}

/* lengths: their exclusive prefix sums. */
template <typename I>
static __global__ void __launch_bounds__(PROPAGATE_NT)
    kernel_places(propagation p, const I *col, const int64_t *lengths) {
    LSP_DYNAMIC_SHARED(shared);
    const propagate_making m = propagate_making_in(p, shared);
    const unsigned begin = p.bin[blockIdx.x].begin, count = p.bin[blockIdx.x + 1].begin - begin;
    propagate_count(p, col + begin, m.next, count);
    propagate_scan(m.next, p.slices);
    propagate_write_runs(p, m, lengths, count);
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
        m.order[atomicAdd(m.next + (unsigned)col[begin + k] / p.columns, 1u)] = (uint16_t)k;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        const unsigned k = m.order[i], c = (unsigned)col[begin + k], s = c / p.columns;
        p.place[(int64_t)blockIdx.x * p.entries + k] = (uint16_t)i;
        p.col[m.shift[s] + i] = (uint16_t)(c - s * p.columns);
    }
}

/* ---- values ---- */

/* Brings the values from the CSR order to the order of products, bin by bin. */
template <typename V>
static __global__ void __launch_bounds__(PROPAGATE_NT) kernel_values(propagation p, const V *from) {
    const unsigned begin = p.bin[blockIdx.x].begin, count = p.bin[blockIdx.x + 1].begin - begin;
    const propagate_runs *const runs = p.runs + (int64_t)blockIdx.x * (p.entries / 32);
    const unsigned *const shift = p.shift + (int64_t)blockIdx.x * p.run_room;
    const uint16_t *const place = p.place + (int64_t)blockIdx.x * p.entries;
    LSP_DYNAMIC_SHARED(shared);
    uint16_t *const order = (uint16_t *)shared; /* the inverse of the places */
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
        order[place[k]] = (uint16_t)k;
    }
    __syncthreads();
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        ((V *)p.val)[i + shift[propagate_run(runs[i / 32], i)]] = from[begin + order[i]];
    }
}
