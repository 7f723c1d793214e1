/* A window of bits for one row of C: a warp marks the row's columns, one bit each, and ranks them by counting the bits
 * before each. Used for counting and for filling. */
#ifndef LSP_SPGEMM_GPU_WINDOW_SHAPE_CUH
#define LSP_SPGEMM_GPU_WINDOW_SHAPE_CUH

#include "window_repeat.cuh"

/* Blocks of one warp that a multiprocessor must hold if rows have at most 128 entries. Some chips cannot hold more
 * than 16. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000
#define WINDOW_SMALL_BLOCKS 16
#else
#define WINDOW_SMALL_BLOCKS 25
#endif

enum {
    WINDOW_NT = 128,
    WINDOW_WARPS = WINDOW_NT / WARP, /* that count, each for itself; a block that fills a row has one or two */
    WINDOW_SMALL = 128,              /* entries of a row of C, up to which a block needs little shared memory */
    WINDOW_WORDS = 256,              /* most words that may have columns, where a row is filled */
    WINDOW_SHARE = 2,                /* warps that share a row if rows are few: */
    WINDOW_SHARED = 12,              /* fewer than this a multiprocessor, */
    WINDOW_LONG = 40,                /* and B's rows have more entries than this on average */
    WINDOW_TOGETHER = 4              /* most rows of a group of repeats that are made together */
};

/* The sizes of a block's shared memory: words of 32 columns, most entries of a row of C, sums at a time. The pool holds
 * marks first. Once words with marks have slots of their own, it holds the row's columns, then sums and factors. */
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

/* A word that has marks: its number, its marks, and how many columns come before it. */
struct alignas(8) window_slot {
    uint32_t marks, before_word; /* the word's number in the upper 16 bits, the columns before it in the lower */
};

/* A window in use. First its words are marked; then words with marks get slots. */
struct window {
    uint32_t *marks;
    window_slot *slots;
    uint8_t *slot_of; /* of each word */
    uint32_t low, words;

    /* The position in C's row of a column, which is counted from `low`. */
    __device__ uint32_t place(uint32_t column) const {
        const window_slot slot = slots[slot_of[column / 32]];
        return (slot.before_word & 0xFFFF) + (uint32_t)__popc(slot.marks & ((1u << (column % 32)) - 1));
    }
};

/* Up to 32 entries of A's row, one a lane: where their rows of B begin and how long they are. */
struct entry_pack {
    uint32_t at, length; /* of the row of B, or of the part of it that is wanted */
    uint32_t whole;      /* the length of the whole row of B */
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

/* A warp's share of a row of C: entries first .. first+n-1, whose columns are in low .. high-1. read_part reads only
 * these columns of B's rows. */
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

/* Reads entries for marking alone: leaves out those whose row of B has the same columns as the one before. */
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

/* A barrier, if several warps share a row. */
template <int WARPS> __device__ inline void window_sync() {
    if (WARPS > 1) {
        __syncthreads();
    }
}

/* Finds the window of a row of C and clears its marks. Returns false if the row needs more than `most` words. */
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

/* Marks the columns of a row of C, four rows of B at a time. If several warps share the row, they take turns. */
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

/* Gives slots to the words that have marks, and writes the row's columns, counted from `low`, to columns[], which may
 * overlap the marks. */
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
