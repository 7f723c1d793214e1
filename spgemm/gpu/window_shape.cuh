/* A window of bits: marks, ranks. */
#ifndef LSP_SPGEMM_GPU_WINDOW_SHAPE_CUH
#define LSP_SPGEMM_GPU_WINDOW_SHAPE_CUH

#include "window_repeat.cuh"

/* Blocks of one warp that an SM is to hold where rows have narrow_each entries: some chips hold 16 at most. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000
#define WINDOW_SMALL_BLOCKS 16
#else
#define WINDOW_SMALL_BLOCKS 25
#endif

enum {
    WINDOW_NT = 128,
    WINDOW_WARPS = WINDOW_NT / WARP, /* that count; in a block that fills there is one */
    WINDOW_SMALL = 128,              /* entries of a row of C */
    WINDOW_WORDS = 256,              /* with columns, at most, where a row is filled */
    WINDOW_SHARE = 2,                /* warps that share a row, where rows are narrow_each: */
    WINDOW_SHARED = 12,              /* fewer than so many a multiprocessor */
    WINDOW_LONG = 40,                /* and B's rows have more entries in the mean */
    WINDOW_TOGETHER = 4              /* rows of a repeats that are made at a time, at most */
};

/* A block's memory: words of 32 columns, entries of a row of C at most, and sums at a time. First there are marks; then
 * words that have any are kept apart, and in their place come the row's columns; then sums and factors. */
struct window_shape {
    uint32_t words, most, sums, warps;
    __host__ __device__ uint32_t pool(uint32_t value_bytes) const {
        const uint32_t values = (sums + warps * WARP * WINDOW_TOGETHER) * value_bytes,
                       least = (words > most ? words : most) * 4;
        return values > least ? values : least;
    }
    __host__ __device__ uint32_t slots() const { return most < WINDOW_WORDS ? most : (uint32_t)WINDOW_WORDS; }
    __host__ __device__ uint32_t bytes(uint32_t value_bytes) const { return pool(value_bytes) + slots() * 8 + words; }
};

/* A word of 32 columns that has some: which, its number, and how many columns come before it. */
struct alignas(8) window_slot {
    uint32_t marks, before_word; /* the number above 16 bits of these */
};

/* A window at work: first marks are made, then words with marks get slots. */
struct window {
    uint32_t *marks;
    window_slot *slots;
    uint8_t *slot_of; /* by word */
    uint32_t low, words;

    /* Where a column, counted from the first, stands in the row of C. */
    __device__ uint32_t place(uint32_t column) const {
        const window_slot slot = slots[slot_of[column / 32]];
        return (slot.before_word & 0xFFFF) + (uint32_t)__popc(slot.marks & ((1u << (column % 32)) - 1));
    }
};

/* Up to 32 entries of A's row: each lane knows one. */
struct entry_pack {
    uint32_t at, length; /* of B's row, or of the part of it that is wanted */
    uint32_t whole;      /* length of the row */
};
__device__ inline entry_pack read_pack(const spg_job &job, uint32_t p, uint32_t end) {
    entry_pack pack = {0, 0, 0};
    if (p < end) {
        uint32_t k = __ldg(job.A.col + p);
        pack.at = __ldg(job.B.rowptr + k);
        pack.length = pack.whole = __ldg(job.B.rowptr + k + 1) - pack.at;
    }
    return pack;
}

/* A warp's share of a row of C: entries first .. first+n-1, of columns in low .. high-1. */
struct window_part {
    uint32_t first, n, low, high;
};
__device__ inline entry_pack read_part(const spg_job &job, uint32_t p, uint32_t end, const window_part &part) {
    entry_pack pack = read_pack(job, p, end);
    const uint32_t outer[2] = {part.low, part.high};
    uint32_t n[1] = {pack.length}, ends[1][2] = {{pack.at, pack.at}};
    lower_bounds<1, 2>(job.B.col, n, outer, ends);
    pack.at = ends[0][0];
    pack.length = ends[0][1] - pack.at;
    return pack;
}

/* The same for marking only: rows of B that have the columns of the entry before are left out. */
__device__ inline entry_pack read_new_pack(const spg_job &job, uint32_t p, uint32_t end) {
    entry_pack pack = {0, 0, 0};
    const uint32_t k = p < end ? __ldg(job.A.col + p) : ~0u, before = __shfl_up_sync(~0u, k, 1);
    const bool first = threadIdx.x % WARP == 0 || before != k - 1;
    if (p < end && (first || !job.repeats || job.repeats[k] != REPEAT_SAME)) {
        pack.at = __ldg(job.B.rowptr + k);
        pack.length = __ldg(job.B.rowptr + k + 1) - pack.at;
    }
    return pack;
}

/* The block's warps wait for each other. */
template <int WARPS> __device__ inline void window_sync() {
    if (WARPS > 1) {
        __syncthreads();
    }
}

/* Finds the window of a row of C and clears its marks; false if it does not fit. */
__device__ inline bool window_open(const spg_job &job, uint32_t begin, uint32_t end, uint32_t most, window *w) {
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t low = ~0u, high = 0;
    for (uint32_t p = begin; p < end; p += WARP) {
        const entry_pack pack = read_pack(job, p + lane, end);
        if (pack.length > 0) {
            low = min(low, __ldg(job.B.col + pack.at));
            high = max(high, __ldg(job.B.col + (pack.at + pack.length - 1)));
        }
    }
    low = __reduce_min_sync(~0u, low) / 32 * 32;
    high = __reduce_max_sync(~0u, high);
    w->low = low;
    w->words = high < low ? 0 : (high - low) / 32 + 1;
    if (w->words > most) {
        return false;
    }
#pragma unroll 4
    for (uint32_t i = lane; i < (w->words + 3) / 4; i += WARP) {
        ((uint4 *)w->marks)[i] = make_uint4(0, 0, 0, 0);
    }
    __syncwarp();
    return true;
}

/* Marks the columns of a row of C, those of a narrow_each rows of B at once; of WARPS warps each takes some of these.
 */
template <int WARPS>
__device__ inline void window_mark(const spg_job &job, uint32_t begin, uint32_t end, const window &w) {
    enum { EACH = 4 };
    const uint32_t lane = threadIdx.x % WARP, warp = WARPS > 1 ? threadIdx.x / WARP : 0;
    for (uint32_t p = begin; p < end; p += WARP) {
        const entry_pack pack = read_new_pack(job, p + lane, end);
        unsigned left = __ballot_sync(~0u, pack.length > 0);
        for (uint32_t turn = 0; left; turn++) {
            if (WARPS > 1 && turn % WARPS != warp) {
                for (int t = 0; t < EACH; t++) {
                    left &= left - 1;
                }
                continue;
            }
            uint32_t at[EACH], length[EACH], longest = 0;
#pragma unroll
            for (int t = 0; t < EACH; t++) {
                const uint32_t e = left ? (uint32_t)__ffs((int)left) - 1 : 0;
                at[t] = __shfl_sync(~0u, pack.at, e), length[t] = __shfl_sync(~0u, pack.length, e);
                length[t] = left ? length[t] : 0;
                left &= left - 1;
                longest = max(longest, length[t]);
            }
            for (uint32_t q = lane; q < longest + lane; q += WARP) {
                uint32_t column[EACH], marks[EACH];
#pragma unroll
                for (int t = 0; t < EACH; t++) {
                    column[t] = q < length[t] ? __ldg(job.B.col + (at[t] + q)) : w.low;
                }
#pragma unroll
                for (int t = 0; t < EACH; t++) {
                    column[t] -= w.low;
                    marks[t] = *(volatile uint32_t *)(w.marks + column[t] / 32);
                }
#pragma unroll
                for (int t = 0; t < EACH; t++) {
                    if (q < length[t] && !(marks[t] >> (column[t] % 32) & 1)) {
                        atomicOr(w.marks + column[t] / 32, 1u << (column[t] % 32));
                    }
                }
            }
        }
    }
    __syncwarp();
}

/* Gives slots to the words with marks, and leaves the columns, counted from the window's first, in columns[], which may
 * lie where the marks do. */
__device__ inline void window_rank(const window &w, uint32_t *columns) {
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t words = 0, before = 0;
#pragma unroll 4
    for (uint32_t k = lane; k < w.words + lane; k += WARP) {
        const uint32_t marks = k < w.words ? w.marks[k] : 0;
        const unsigned some = __ballot_sync(~0u, marks != 0);
        if (marks != 0) {
            const uint32_t i = words + (uint32_t)__popc(some & ((1u << lane) - 1));
            w.slots[i] = window_slot{marks, k << 16};
            w.slot_of[k] = (uint8_t)i;
        }
        words += (uint32_t)__popc(some);
    }
    __syncwarp();
    for (uint32_t i = lane; i < words + lane; i += WARP) {
        const window_slot slot = i < words ? w.slots[i] : window_slot{0, 0};
        uint32_t all, at = before + sum_before((uint32_t)__popc(slot.marks), &all);
        if (i < words) {
            w.slots[i].before_word = slot.before_word | at;
        }
        for (uint32_t marks = slot.marks; marks; marks &= marks - 1) {
            columns[at++] = (slot.before_word >> 16) * 32 + (uint32_t)__ffs((int)marks) - 1;
        }
        before += all;
    }
    __syncwarp();
}

#endif
