/* Long rows, first step: a block marks the columns of one range, one bit each, in shared memory, and counts them.
 * kernel_long_cut.cuh uses the same marks to write columns to C. This works for rows of any size. Taken for
 * rows of more products than windows count; for those that no window holds; and for smaller ones where so few rows have
 * many products that several blocks must share a row (lsp_shared_from). */
#pragma once

#include "long_parts.cuh"

/* Threads that a multiprocessor must hold: as many as it can. Some chips can hold only 1536. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000
#define LONG_THREADS 1536
#else
#define LONG_THREADS 2048
#endif

enum {
    LONG_NT = 512,       /* threads of a block that marks columns */
    LONG_MANY_NT = 1024, /* the same for LONG_MANY columns or more, whose marks leave shared memory for few blocks */
    LONG_MANY = 48 << 13,
    LONG_GROUP = 128,           /* columns that a thread clears or counts at a time */
    LONG_COUNT_RANGE = 1 << 20, /* most columns that a block marks at a time */
    LONG_STRETCH = 4,           /* products of one entry of A that a lane marks together */
};

/* Marks of columns, and, unless `products` is NULL, the products of each stripe of 2^stripe_bits columns. */
struct long_marking {
    uint32_t *bits, *products, low, stripe_bits;

    /* Is a column marked? Other threads are marking meanwhile. */
    __device__ bool has(uint32_t place) const { return *(volatile uint32_t *)(bits + place / 32) >> (place % 32) & 1; }
    __device__ void mark(uint32_t place) const { atomicOr(bits + place / 32, 1u << (place % 32)); }
    /* Counts one product a lane; place ~0 is none. Neighbouring lanes whose products lie in one stripe add them
     * together. */
    __device__ void count(uint32_t place) const {
        const uint32_t lane = threadIdx.x % WARP, part = place == ~0u ? ~0u : place >> stripe_bits;
        const uint32_t other = __shfl_up_sync(~0u, part, 1);
        const bool head = lane == 0 || part != other;
        const unsigned heads = __ballot_sync(~0u, head), later = heads & ~((2u << lane) - 1);
        if (head && part != ~0u) {
            atomicAdd(products + part, (later ? (uint32_t)__ffs((int)later) - 1 : (uint32_t)WARP) - lane);
        }
    }
};

/* Marks the row's columns in low .. high-1; bits and products must be zero before. Every warp takes the same number of
 * products, 32 at a time, whatever the lengths of B's rows: one bit a lane says where an entry's products begin. */
template <int NT>
__device__ inline void long_mark_row(const spg_job &job, uint32_t row, uint32_t low, uint32_t high,
                                     const long_marking &marking, part_list<NT> &parts) {
    const uint32_t end = job.A.rowptr[row + 1], lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t take = parts.most(job);
    for (uint32_t p = job.A.rowptr[row]; p < end; p += take) {
        uint32_t slot;
        const uint32_t count = parts.read(job, p, min(end - p, take) + p, low, high, slot);
        const uint32_t total = parts.start[count], each = (total / NT + 1) * WARP;
        uint32_t first = warp * each, left = first < total ? min(total - first, each) : 0;
        uint32_t e = 0; /* binary search for the last entry that begins at or before `first` */
        for (uint32_t n = left > 0 ? count : 0; n > 1;) {
            const uint32_t half = n / 2;
            e += parts.start[e + half] <= first ? half : 0;
            n -= half;
        }
        while (left > 0) {
            if (min(parts.start[e + 1] - first, left) >= LONG_STRETCH * WARP) { /* one entry of A has them all */
                const uint32_t at = parts.shift[e] + first + lane;
                uint32_t place[LONG_STRETCH];
                bool marked[LONG_STRETCH];
#pragma unroll
                for (uint32_t k = 0; k < LONG_STRETCH; k++) {
                    place[k] = __ldg(job.B.col + (at + k * WARP)) - low;
                }
#pragma unroll
                for (uint32_t k = 0; k < LONG_STRETCH; k++) {
                    marked[k] = marking.has(place[k]);
                }
#pragma unroll
                for (uint32_t k = 0; k < LONG_STRETCH; k++) {
                    if (!marked[k]) {
                        marking.mark(place[k]);
                    }
                    if (marking.products) {
                        marking.count(place[k]);
                    }
                }
                first += LONG_STRETCH * WARP, left -= LONG_STRETCH * WARP;
                continue;
            }
            const uint32_t begin = parts.start[min(e + 1 + lane, count)] - first;
            const unsigned begins = __reduce_or_sync(~0u, begin < WARP ? 1u << begin : 0);
            const uint32_t mine = e + (uint32_t)__popc(begins & ((2u << lane) - 1));
            uint32_t place = ~0u;
            if (lane < left) {
                place = __ldg(job.B.col + (parts.shift[mine] + first + lane)) - low;
                if (!marking.has(place)) {
                    marking.mark(place);
                }
            }
            if (marking.products) {
                marking.count(place);
            }
            e += (uint32_t)__popc(begins);
            first += WARP;
            left -= min(left, (uint32_t)WARP);
        }
    }
    __syncthreads();
}

__device__ inline void long_clear(uint32_t *bits, uint32_t columns) {
    for (uint32_t i = threadIdx.x; i < (columns + LONG_GROUP - 1) / LONG_GROUP; i += blockDim.x) {
        ((uint4 *)bits)[i] = make_uint4(0, 0, 0, 0);
    }
    __syncthreads();
}

/* The number of marks in a group of LONG_GROUP columns. */
__device__ inline uint32_t marks_of(uint4 group) {
    return (uint32_t)(__popc(group.x) + __popc(group.y) + __popc(group.z) + __popc(group.w));
}

/* ---- counting ---- */

/* Keeps the columns of a row of C, n of them, if there is room. */
template <int NT>
__device__ inline void long_keep(const spg_job &job, uint32_t row, const uint32_t *bits, uint32_t words, uint32_t n,
                                 uint32_t (&warp_sum)[NT / WARP]) {
    __shared__ uint32_t *room;
    if (threadIdx.x == 0) {
        room = room_for_columns(job, row, n);
        job.groups[row] = room != NULL ? LSP_GROUPS_KNOWN : 0;
    }
    __syncthreads();
    if (room == NULL) {
        return;
    }
    const uint32_t each = (words + NT - 1) / NT, first = min(threadIdx.x * each, words), end = min(first + each, words);
    uint32_t marks = 0, all;
    for (uint32_t k = first; k < end; k++) {
        marks += (uint32_t)__popc(bits[k]);
    }
    uint32_t *to = room + block_scan(marks, warp_sum, &all);
    for (uint32_t k = first; k < end; k++) {
        for (uint32_t left = bits[k]; left; left &= left - 1) {
            *to++ = k * 32 + (uint32_t)__ffs((int)left) - 1;
        }
    }
}

/* Adds the nnz of all rows in both lists to rowptr[row + 1]. */
template <int NT>
__global__ void __launch_bounds__(NT, LONG_THREADS / NT)
    kernel_long_count(spg_job job, spg_list list, spg_rest rest, uint32_t range, ull *taken) {
    LSP_DYNAMIC_SHARED(memory);
    __shared__ part_list<NT> parts;
    __shared__ uint32_t warp_sum[NT / WARP];
    __shared__ ull next;
    uint32_t *bits = (uint32_t *)memory;
    const uint32_t ranges = (job.cols - 1) / range + 1;
    const ull tasks = (ull)(list.count + *rest.count) * ranges;
    lsp_let_next_begin();
    for (ull task = take_next(taken, &next); task < tasks; task = take_next(taken, &next)) {
        const uint32_t i = (uint32_t)(task / ranges), low = (uint32_t)(task % ranges) * range;
        const uint32_t row = i < list.count ? list.rows[i] : rest.rows[i - list.count];
        uint32_t columns = min(job.cols - low, range), sum = 0, total;
        long_clear(bits, columns);
        long_mark_row(job, row, low, low + columns, {bits, NULL, low, 0}, parts);
        for (uint32_t k = threadIdx.x; k < (columns + LONG_GROUP - 1) / LONG_GROUP; k += NT) {
            sum += marks_of(((const uint4 *)bits)[k]);
        }
        block_scan(sum, warp_sum, &total);
        if (threadIdx.x == 0 && total > 0) {
            atomicAdd((ull *)&job.rowptr[row + 1], (ull)total);
        }
        if (ranges == 1 && job.known != NULL) {
            long_keep<NT>(job, row, bits, (columns + 31) / 32, total, warp_sum);
        }
    }
    lsp_end_after_previous();
}
