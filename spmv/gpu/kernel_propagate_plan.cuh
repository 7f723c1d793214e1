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

/* lengths: their exclusive prefix sums. */
template <typename I>
static __global__ void __launch_bounds__(PROPAGATE_NT)
    kernel_places(propagation p, const I *col, const int64_t *lengths) {
    LSP_DYNAMIC_SHARED(shared);
    __shared__ unsigned sums[PROPAGATE_NT / WARP];
    const runs_bin m = runs_lay_out(shared, p.slices, p.entries);
    const unsigned begin = p.bin[blockIdx.x].begin, count = p.bin[blockIdx.x + 1].begin - begin;
    propagate_count(p, col + begin, m.next, count);
    runs_scan(m.next, p.slices, sums);
    runs_write(
        m, p.slices, count, p.entries / 32,
        [&](unsigned s) {
            const int64_t *const slice = lengths + (int64_t)s * p.bins;
            return p.slice_at[s] + (unsigned)(slice[blockIdx.x] - slice[0]);
        },
        p.runs + (int64_t)blockIdx.x * (p.entries / 32), p.shift + (int64_t)blockIdx.x * p.run_room, sums);
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
    const gather_runs *const runs = p.runs + (int64_t)blockIdx.x * (p.entries / 32);
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
        ((V *)p.val)[i + shift[runs_find(runs[i / 32], i)]] = from[begin + order[i]];
    }
}
