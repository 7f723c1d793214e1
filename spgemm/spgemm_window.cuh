/* Rows of many products and few columns that lie near each other (grids, finite elements): a warp marks the columns of
 * a window, one bit each; the bits before a column say where it stands. Values are added there, one entry of A after
 * the other, the columns of a row of B at once: so every sum grows in the order of A's entries. */
#ifndef LSP_SPGEMM_WINDOW_CUH
#define LSP_SPGEMM_WINDOW_CUH

#include "spgemm_device.cuh"

enum { WINDOW_NT = 128, WINDOW_WARPS = WINDOW_NT / WARP };

/* Of a warp: words of 32 columns, and of a row of C at most so many entries. */
struct window_shape {
    uint32_t words, sums;
    __host__ __device__ uint32_t bytes(uint32_t value_bytes) const {
        return sums * (value_bytes < 2 ? 2 : value_bytes) + words * 6;
    }
};

/* A window at work. */
struct window {
    uint32_t *marks;
    uint16_t *before; /* columns before a word's first */
    uint32_t low, words;
};

/* Up to 32 entries of A's row: each lane knows one. */
struct entry_pack {
    uint32_t at, length; /* of B's row */
};
__device__ inline entry_pack read_pack(const spg_job &job, uint32_t p, uint32_t end) {
    entry_pack pack = {0, 0};
    if (p < end) {
        uint32_t k = __ldg(job.A.col + p);
        pack.at = __ldg(job.B.rowptr + k);
        pack.length = __ldg(job.B.rowptr + k + 1) - pack.at;
    }
    return pack;
}

/* The same for marking only: rows of B that have the columns of the entry before are left out. */
__device__ inline entry_pack read_new_pack(const spg_job &job, uint32_t p, uint32_t end) {
    entry_pack pack = {0, 0};
    const uint32_t k = p < end ? __ldg(job.A.col + p) : ~0u, before = __shfl_up_sync(~0u, k, 1);
    const bool first = threadIdx.x % WARP == 0 || before != k - 1;
    if (p < end && (first || !job.like || !job.like[k])) {
        pack.at = __ldg(job.B.rowptr + k);
        pack.length = __ldg(job.B.rowptr + k + 1) - pack.at;
    }
    return pack;
}

/* Says which rows of B have the columns of the row before; a warp a row. */
static __global__ void __launch_bounds__(WINDOW_NT) kernel_like(spg_job job, uint8_t *like) {
    const uint32_t k = blockIdx.x * WINDOW_WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (k >= job.B.rows) {
        return;
    }
    const uint32_t begin = job.B.rowptr[k], length = job.B.rowptr[k + 1] - begin;
    bool same = k > 0 && begin - job.B.rowptr[k - (k > 0)] == length;
    for (uint32_t q = 0; same && q < length; q += WARP) {
        const uint32_t at = begin + q + lane;
        same = __all_sync(~0u, q + lane >= length || __ldg(job.B.col + at) == __ldg(job.B.col + (at - length)));
    }
    if (lane == 0) {
        like[k] = same;
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

/* Marks the columns of a row of C. */
__device__ inline void window_mark(const spg_job &job, uint32_t begin, uint32_t end, const window &w) {
    const uint32_t lane = threadIdx.x % WARP;
    for (uint32_t p = begin; p < end; p += WARP) {
        const entry_pack pack = read_new_pack(job, p + lane, end);
        const uint32_t count = min(end - p, (uint32_t)WARP);
        uint32_t column = ~0u; /* on its way while the one before is marked */
        auto mark = [&]() {
            uint32_t *word = w.marks + column / 32;
            const uint32_t bit = 1u << (column % 32);
            if (column != ~0u && !(*(volatile uint32_t *)word & bit)) {
                atomicOr(word, bit);
            }
        };
        for (uint32_t e = 0; e < count; e++) {
            const uint32_t from = __shfl_sync(~0u, pack.at, e), length = __shfl_sync(~0u, pack.length, e);
            const uint32_t *col = job.B.col + (from + lane);
            for (uint32_t q = 0; q < length; q += WARP) {
                const uint32_t next = q + lane < length ? __ldg(col + q) - w.low : ~0u;
                mark();
                column = next;
            }
        }
        mark();
    }
    __syncwarp();
}

/* ---- counting ---- */

/* Rows to be counted, in runs of one bin each; those that do not fit are listed once more, by bin. */
struct window_counting {
    const uint32_t *rows;
    uint32_t count, most;               /* rows; words of a window */
    uint32_t first[LSP_COUNT_BINS + 1]; /* where each bin begins among `rows`, and in the list `again` */
    uint32_t *again, *again_count;      /* a count each bin */
};

static __global__ void __launch_bounds__(WINDOW_NT) kernel_window_count(spg_job job, window_counting work) {
    LSP_DYNAMIC_SHARED(memory);
    const uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, i = blockIdx.x * WINDOW_WARPS + warp;
    window w = {(uint32_t *)memory + warp * work.most, NULL, 0, 0};
    if (i >= work.count) {
        return;
    }
    const uint32_t row = work.rows[i], begin = job.A.rowptr[row], end = job.A.rowptr[row + 1];
    if (!window_open(job, begin, end, work.most, &w)) {
        int bin = 0;
        while (i >= work.first[bin + 1]) {
            bin++;
        }
        if (lane == 0) {
            work.again[work.first[bin] + atomicAdd(&work.again_count[bin], 1u)] = row;
        }
        return;
    }
    window_mark(job, begin, end, w);
    uint32_t sum = 0;
    for (uint32_t k = lane; k < (w.words + 3) / 4; k += WARP) {
        const uint4 four = ((const uint4 *)w.marks)[k];
        sum += (uint32_t)(__popc(four.x) + __popc(four.y) + __popc(four.z) + __popc(four.w));
    }
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0) {
        job.rowptr[row + 1] = sum;
        job.groups[row] = w.words <= LSP_WINDOW_NARROW ? LSP_GROUPS_NARROW : LSP_GROUPS_WIDE;
    }
}

/* ---- filling ---- */

/* Says how many columns come before each word, and writes the columns. A lane takes an odd number of neighbouring
 * words, so lanes meet in no bank; words with marks are listed, of which then each lane writes one. */
__device__ inline void window_rank(const spg_job &job, const window &w, uint16_t *list, int64_t to) {
    const uint32_t lane = threadIdx.x % WARP, each = (w.words + WARP - 1) / WARP | 1;
    const uint32_t first = lane * each, last = min(first + each, w.words);
    uint32_t mine = 0; /* columns, and above them words */
    for (uint32_t k = first; k < last; k++) {
        const uint32_t marks = w.marks[k];
        mine += (uint32_t)__popc(marks) | (marks != 0) << 16;
    }
    uint32_t sum = mine;
    for (int d = 1; d < WARP; d *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= (uint32_t)d ? other : 0;
    }
    const uint32_t words = __shfl_sync(~0u, sum, WARP - 1) >> 16;
    uint32_t before = (sum - mine) & 0xFFFF, place = (sum - mine) >> 16;
    for (uint32_t k = first; k < last; k++) {
        const uint32_t marks = w.marks[k];
        if (marks != 0) {
            w.before[k] = (uint16_t)before;
            list[place] = (uint16_t)k;
            before += (uint32_t)__popc(marks), place++;
        }
    }
    __syncwarp();
    for (uint32_t i = lane; i < words; i += WARP) {
        const uint32_t k = list[i], column = w.low + k * 32;
        int64_t at = to + w.before[k];
        for (uint32_t marks = w.marks[k]; marks; marks &= marks - 1) {
            put_col(job, at++, column + (uint32_t)__ffs((int)marks) - 1);
        }
    }
    __syncwarp();
}

/* sums[rank of the column] += a * b, in each lane that has a product. */
template <typename V> __device__ inline void window_add(const window &w, uint32_t column, V a, V b, V *sums) {
    if (column != ~0u) {
        const uint32_t below = (1u << (column % 32)) - 1;
        V *sum = sums + (w.before[column / 32] + __popc(w.marks[column / 32] & below));
        *sum = add_times(a, b, *sum);
    }
    __syncwarp();
}

/* Adds the products of a pack; the next one is on its way while one is added. */
template <typename V>
__device__ inline void window_add_pack(const spg_job &job, const window &w, const entry_pack &pack, V value,
                                       uint32_t count, V *sums) {
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t column = ~0u;
    V a = V{}, b = V{};
    for (uint32_t e = 0; e < count; e++) {
        const uint32_t from = __shfl_sync(~0u, pack.at, e), length = __shfl_sync(~0u, pack.length, e);
        const V factor = __shfl_sync(~0u, value, e);
        for (uint32_t q = lane; q < length + lane; q += WARP) {
            uint32_t next = ~0u;
            V next_b = V{};
            if (q < length) {
                next = __ldg(job.B.col + (from + q)) - w.low;
                next_b = value_at<V>(job.B, from + q);
            }
            window_add<V>(w, column, a, b, sums);
            column = next, a = factor, b = next_b;
        }
    }
    window_add<V>(w, column, a, b, sums);
}
/* The same where B may have a column more than once in a row: the first of equal ones adds them all. */
template <typename V>
__device__ inline void window_add_repeated(const spg_job &job, const window &w, uint32_t from, uint32_t length, V a,
                                           V *sums) {
    for (uint32_t q = threadIdx.x % WARP; q < length; q += WARP) {
        const uint32_t *col = job.B.col + from;
        const uint32_t column = col[q], place = column - w.low;
        if (q > 0 && col[q - 1] == column) {
            continue;
        }
        V *sum = sums + (w.before[place / 32] + __popc(w.marks[place / 32] & ((1u << (place % 32)) - 1)));
        for (uint32_t k = q; k < length && col[k] == column; k++) {
            *sum = add_times(a, value_at<V>(job.B, from + k), *sum);
        }
    }
    __syncwarp();
}

template <typename V>
__global__ void __launch_bounds__(WINDOW_NT) kernel_window_fill(spg_job job, spg_list list, window_shape shape) {
    LSP_DYNAMIC_SHARED(memory);
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, i = blockIdx.x * WINDOW_WARPS + warp;
    const uint32_t value_bytes = value_kind<V>::valued ? sizeof(V) : 0;
    char *mine = memory + warp * shape.bytes(value_bytes);
    V *sums = (V *)mine;
    window w = {(uint32_t *)(mine + shape.bytes(value_bytes) - shape.words * 6), NULL, 0, 0};
    w.before = (uint16_t *)(w.marks + shape.words);
    if (i >= list.count) {
        return;
    }
    const uint32_t row = list_row(list, i), begin = job.A.rowptr[row], end = job.A.rowptr[row + 1];
    const int64_t to = job.rowptr[row];
    const uint32_t n = (uint32_t)(job.rowptr[row + 1] - to);
    if (!window_open(job, begin, end, shape.words, &w)) { /* never: the bins see to it */
        return;
    }
    window_mark(job, begin, end, w);
    window_rank(job, w, (uint16_t *)sums, to); /* at most as many words as columns */
    if constexpr (value_kind<V>::valued) {
        for (uint32_t k = lane; k < n; k += WARP) {
            sums[k] = (V)-0.0;
        }
        __syncwarp();
        for (uint32_t p = begin; p < end; p += WARP) {
            const entry_pack pack = read_pack(job, p + lane, end);
            const V value = p + lane < end ? value_at<V>(job.A, p + lane) : V{};
            const uint32_t count = min(end - p, (uint32_t)WARP);
            if (!job.repeats) {
                window_add_pack<V>(job, w, pack, value, count, sums);
                continue;
            }
            for (uint32_t e = 0; e < count; e++) {
                window_add_repeated<V>(job, w, __shfl_sync(~0u, pack.at, e), __shfl_sync(~0u, pack.length, e),
                                       __shfl_sync(~0u, value, e), sums);
            }
        }
        for (uint32_t k = lane; k < n; k += WARP) {
            put_value<V>(job, to + k, settled(sums[k]));
        }
    }
}

#endif
