/* A window on one row of C: a warp marks the row's columns, one bit each, in words of 32 neighbours, and ranks a column
 * by counting the bits before it. Used for counting and for filling. */
#pragma once

#include "hash_table.cuh"
#include "kernel_repeats.cuh"

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
    WINDOW_MOST = 512,               /* most entries of a row that is filled */
    WINDOW_TRIES = 8,                /* factors that are tried for places without collisions */
    WINDOW_FACTOR = 37,              /* the first one */
    WINDOW_SHARE = 2,                /* warps that share a row if rows are few: */
    WINDOW_SHARED = 12,              /* fewer than this a multiprocessor, */
    WINDOW_LONG = 40,                /* and B's rows have more entries than this on average */
    WINDOW_TOGETHER = 4,             /* most rows of a group of repeats that are made together */
    WINDOW_EACH = 4                  /* rows of B that are marked together */
};

/* A word that has marks, its number, and how many columns come before it. */
struct alignas(8) window_slot {
    uint32_t marks, word_before; /* the number times WINDOW_MOST, plus the columns before it */

    __device__ uint32_t word() const { return word_before / WINDOW_MOST; }
    __device__ uint32_t rank(uint32_t column) const {
        return word_before % WINDOW_MOST + bits_below(marks, column % 32);
    }
};

/* A warp's share of a row of C: entries first .. first+n-1, whose columns are in low .. high-1. */
struct window_part {
    uint32_t first, n, low, high;
};

/* The sizes of a block's shared memory: most entries of a row of C, sums at a time, most words. The pool holds the
 * marks of the window first, then the row's columns, then sums and factors. Passed at run time: with constants in its
 * place the compiler makes longer loops. */
struct window_shape {
    uint32_t most, sums, warps, words, marks, index;
    __host__ __device__ uint32_t pool(uint32_t value_bytes) const {
        const uint32_t values = (sums + warps * WARP * WINDOW_TOGETHER) * value_bytes,
                       least = marks > most * 4 ? marks : most * 4;
        return (values > least ? values : least + 7) / 8 * 8;
    }
    __host__ __device__ uint32_t slots() const { return most < words ? most : words; }
    __host__ __device__ uint32_t bytes(uint32_t value_bytes) const { return pool(value_bytes) + slots() * 8 + index; }
};

/* The row of B that entry p of A leads to, for marking alone: none if it has the same columns as the one before. */
__device__ inline row_part read_new_row(const spg_job &job, uint32_t p, uint32_t end) {
    const uint32_t k = p < end ? __ldg(job.A.col + p) : ~0u, before = __shfl_up_sync(~0u, k, 1);
    const bool first = threadIdx.x % WARP == 0 || before != k - 1;
    const bool wanted = p < end && (first || !job.repeats || job.repeats[k] != REPEAT_SAME);
    return wanted ? row_of_b(job, k) : row_part{0, 0};
}

/* A barrier, if several warps share a row. */
template <int WARPS> __device__ inline void window_sync() {
    if (WARPS > 1) {
        __syncthreads();
    }
}

/* Counts the columns before each of n slots, which have none yet, and writes the columns to columns[], which may
 * overlap the marks in a window. Slots count words from column `low`. */
__device__ inline void rank_slots(window_slot *slots, uint32_t n, uint32_t low, uint32_t *columns) {
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t before = 0;
    __syncwarp();
    for (uint32_t i = lane; i < n + lane; i += WARP) {
        const window_slot slot = i < n ? slots[i] : window_slot{0, 0};
        uint32_t all, at = before + sum_before((uint32_t)__popc(slot.marks), &all);
        if (i < n) {
            slots[i].word_before += at;
        }
        for (uint32_t left = slot.marks; left; left &= left - 1) {
            columns[at++] = low + slot.word() * 32 + (uint32_t)__ffs((int)left) - 1;
        }
        before += all;
    }
    __syncwarp();
}

/* ---- the window of a row whose columns lie near each other: it has all words between the first and the last ---- */

struct near_window {
    enum {
        WORDS = 256,                /* most words that may have columns, where a row is filled */
        POOL = LSP_WINDOW_NEAR * 4, /* bytes of marks */
        INDEX = LSP_WINDOW_NEAR     /* bytes of slot_of */
    };
    uint32_t *marks;
    window_slot *slots;
    uint8_t *slot_of; /* of each word */
    uint32_t low, words;
    bool scattered; /* nearly all rows of B begin in words of their own */

    __device__ static near_window at(char *memory) { return {(uint32_t *)memory, NULL, NULL, 0, 0, false}; }
    /* Finds the words of a row of C and clears their marks. Returns false if they are too many. */
    __device__ bool open(const spg_job &job, uint32_t begin, uint32_t end) {
        const uint32_t lane = threadIdx.x % WARP;
        uint32_t high = 0, first = ~0u;
        low = ~0u;
        for (uint32_t p = begin; p < end; p += WARP) {
            const row_part row = row_of_entry(job, p + lane, end);
            if (row.length > 0) {
                first = __ldg(job.B.col + row.at);
                low = min(low, first);
                high = max(high, __ldg(job.B.col + (row.at + row.length - 1)));
            }
        }
        low = __reduce_min_sync(~0u, low) / 32 * 32;
        high = __reduce_max_sync(~0u, high);
        words = high < low ? 0 : (high - low) / 32 + 1;
        if (words > LSP_WINDOW_NEAR) {
            const unsigned same = __match_any_sync(~0u, first / 32),
                           heads = __ballot_sync(~0u, bits_below(same, lane) == 0);
            scattered = (uint32_t)__popc(heads) > min(end - begin, (uint32_t)WARP) * 3 / 4;
            return false;
        }
#pragma unroll 4
        for (uint32_t i = lane; i < (words + 3) / 4; i += WARP) {
            ((uint4 *)marks)[i] = make_uint4(0, 0, 0, 0);
        }
        __syncwarp();
        return true;
    }
    __device__ uint32_t some_column() const { return low; }
    __device__ uint32_t peek(uint32_t column) const {
        return *(const volatile uint32_t *)(marks + (column - low) / 32);
    }
    __device__ void mark(uint32_t column, uint32_t seen) const {
        if (!(seen >> (column % 32) & 1)) {
            atomicOr(marks + (column - low) / 32, 1u << (column % 32));
        }
    }
    __device__ bool gives_up(uint32_t) const { return false; }
    /* Columns in the lower 20 bits, words that have any above them. */
    __device__ uint32_t count() const {
        uint32_t sum = 0;
        for (uint32_t k = threadIdx.x % WARP; k < words; k += WARP) {
            sum += (uint32_t)__popc(marks[k]) | (marks[k] != 0) << 20;
        }
        return __reduce_add_sync(~0u, sum);
    }
    /* Writes the row's columns. */
    __device__ void put(uint32_t *columns) const {
        uint32_t before = 0;
        for (uint32_t lane = threadIdx.x % WARP, k = lane; k < words + lane; k += WARP) {
            const uint32_t word = k < words ? marks[k] : 0;
            uint32_t all, at = before + sum_before((uint32_t)__popc(word), &all);
            for (uint32_t left = word; left; left &= left - 1) {
                columns[at++] = low + k * 32 + (uint32_t)__ffs((int)left) - 1;
            }
            before += all;
        }
    }
    /* Gives slots to the words that have marks, and writes the row's columns to columns[], which may overlap the
     * marks. */
    template <int MOST> __device__ void order(const spg_job &, uint32_t *columns) const {
        const uint32_t lane = threadIdx.x % WARP;
        uint32_t used = 0;
#pragma unroll 4
        for (uint32_t k = lane; k < words + lane; k += WARP) {
            const uint32_t its = k < words ? marks[k] : 0;
            const unsigned some = __ballot_sync(~0u, its != 0);
            if (its != 0) {
                const uint32_t i = used + bits_below(some, lane);
                slots[i] = window_slot{its, k * WINDOW_MOST};
                slot_of[k] = (uint8_t)i;
            }
            used += (uint32_t)__popc(some);
        }
        rank_slots(slots, used, low, columns);
    }
    __device__ void read_order() {}
    /* The position of a column in C's row. */
    __device__ uint32_t rank(uint32_t column) const { return slots[slot_of[(column - low) / 32]].rank(column - low); }
};

/* ---- the window of a row of columns anywhere: a hash table finds the words that have marks ---- */

template <int BITS> struct alignas(16) window_table {
    hash_table<BITS> words;
    uint32_t count;
    uint16_t places[hash_table<BITS>::slots / 2 + WINDOW_EACH * WARP]; /* of the words; the end of marking is seen one
                                                                          step too late */
};

template <int B = 9> struct spread_window {
    enum { BITS = B, PLACES = 1 << BITS, WORDS = PLACES / 2 }; /* a word's number and its place are sorted as 32 bits */
    typedef std::conditional_t<(WORDS > 256), uint16_t, uint8_t> index_type;
    window_table<BITS> *table;
    window_slot *slots;  /* of the words, in the order of columns */
    index_type *slot_of; /* of each place, then the factor that was found */
    uint32_t factor;     /* sends all words to different places; 0: places are those of the table, to be searched */

    enum { POOL = sizeof(window_table<BITS>), INDEX = PLACES * sizeof(index_type) + 16 };
    __device__ static uint32_t place_of(uint32_t word, uint32_t factor = WINDOW_FACTOR) {
        return hash_table<BITS>::place_of(word, factor);
    }
    __device__ static spread_window at(char *memory) { return {(window_table<BITS> *)memory, NULL, NULL, 0}; }
    __device__ uint32_t *factor_found() const { return (uint32_t *)(slot_of + PLACES); }
    __device__ uint32_t words() const { return *(const volatile uint32_t *)&table->count; }

    __device__ bool open(const spg_job &job, uint32_t, uint32_t) {
        table->words.clear();
        table->count = 0;
        __syncwarp();
        return job.cols <= LSP_WINDOW_COLUMNS;
    }
    __device__ uint32_t some_column() const { return 0; }
    __device__ hash_group peek(uint32_t column) const { return table->words.at(place_of(column / 32)); }
    __device__ void mark(uint32_t column, hash_group seen) const {
        const uint32_t word = column / 32, bit = 1u << (column % 32);
        uint32_t place = place_of(word);
        if (seen.key == word) {
            if (!(seen.marks & bit)) {
                atomicOr(table->words.words(place) + 1, bit);
            }
        } else if (table->words.add(word, bit, &place)) {
            table->places[atomicAdd(&table->count, 1u)] = (uint16_t)place;
        }
    }
    /* Too many words, or too few products a word? */
    __device__ bool gives_up(uint32_t products) const {
        const uint32_t most = max(products / LSP_SPREAD_WHILE, (uint32_t)LSP_SPREAD_FEW);
        return __any_sync(~0u, words() > min(most, (uint32_t)WORDS));
    }
    __device__ uint32_t count() const {
        uint32_t sum = 0;
        for (uint32_t i = threadIdx.x % WARP; i < words(); i += WARP) {
            sum += (uint32_t)__popc(table->words.at(table->places[i]).marks);
        }
        return __reduce_add_sync(~0u, sum) | words() << 20;
    }
    template <int MOST> __device__ void order(const spg_job &job, uint32_t *columns) const {
        if (words() <= 2 * WARP) {
            order_words<2>(job, columns);
        } else {
            order_words<(MOST < WORDS ? MOST : (int)WORDS) / WARP>(job, columns);
        }
    }
    /* Sorts at most VT words a lane, gives them slots, and writes the row's columns to columns[], which may overlap the
     * table. */
    template <int VT> __device__ void order_words(const spg_job &job, uint32_t *columns) const {
        const uint32_t first = threadIdx.x % WARP * VT, n = words();
        uint32_t sorted[VT]; /* a word's number times PLACES, plus its place */
#pragma unroll
        for (uint32_t r = 0; r < VT; r++) {
            const uint32_t i = r * WARP + threadIdx.x % WARP, place = i < n ? table->places[i] : 0;
            sorted[r] = i < n ? table->words.at(place).key * PLACES + place : ~0u;
        }
        sort_lanes<VT>(sorted, WARP, job.ones);
#pragma unroll
        for (uint32_t r = 0; r < VT; r++) {
            if (first + r < n) {
                slots[first + r] =
                    window_slot{table->words.at(sorted[r] % PLACES).marks, sorted[r] / PLACES * WINDOW_MOST};
            }
        }
        rank_slots(slots, n, 0, columns);
        find_factor<VT>(sorted, first, n);
    }
    /* Writes slot_of, by the first factor that sends no two words to one place, else by the table. */
    template <int VT> __device__ void find_factor(const uint32_t (&sorted)[VT], uint32_t first, uint32_t n) const {
        uint32_t found = WINDOW_FACTOR;
        for (uint32_t k = 0; k <= WINDOW_TRIES; k++) {
            bool alone = true;
            found = k < WINDOW_TRIES ? (2 * k + 1) * WINDOW_FACTOR : 0;
#pragma unroll
            for (uint32_t r = 0; r < VT; r++) {
                if (first + r < n) {
                    slot_of[found ? place_of(sorted[r] / PLACES, found) : sorted[r] % PLACES] = (index_type)(first + r);
                }
            }
            __syncwarp();
#pragma unroll
            for (uint32_t r = 0; r < VT; r++) {
                alone =
                    alone && (first + r >= n || !found || slot_of[place_of(sorted[r] / PLACES, found)] == first + r);
            }
            if (__all_sync(~0u, alone)) {
                break;
            }
        }
        *factor_found() = found;
        __syncwarp();
    }
    __device__ void read_order() { factor = *factor_found(); }
    __device__ uint32_t rank(uint32_t column) const {
        const uint32_t word = column / 32;
        if (factor) {
            return slots[slot_of[place_of(word, factor)]].rank(column);
        }
        uint32_t at = place_of(word);
        while (slots[slot_of[at]].word() != word) {
            at = table->words.next(at);
        }
        return slots[slot_of[at]].rank(column);
    }
};

/* Marks the columns of a row of C, a few rows of B at a time. If several warps share the row, they take turns. If
 * COUNTS, it returns false once the window gives up; else the row is known to fit. */
template <int WARPS, bool COUNTS, typename W>
__device__ inline bool window_mark(const spg_job &job, uint32_t begin, uint32_t end, const W &w) {
    const uint32_t lane = threadIdx.x % WARP, warp = WARPS > 1 ? threadIdx.x / WARP : 0;
    uint32_t seen = 0;
    for (uint32_t p = begin; p < end; p += WARP) {
        const row_part row = read_new_row(job, p + lane, end);
        unsigned left = __ballot_sync(~0u, row.length > 0);
        for (uint32_t turn = 0; left; turn++) {
            if (WARPS > 1 && turn % WARPS != warp) {
                for (int t = 0; t < WINDOW_EACH; t++) {
                    left &= left - 1;
                }
                continue;
            }
            uint32_t at[WINDOW_EACH], length[WINDOW_EACH], longest = 0;
#pragma unroll
            for (int t = 0; t < WINDOW_EACH; t++) {
                const uint32_t e = left ? (uint32_t)__ffs((int)left) - 1 : 0;
                at[t] = __shfl_sync(~0u, row.at, e), length[t] = __shfl_sync(~0u, row.length, e);
                length[t] = left ? length[t] : 0;
                left &= left - 1;
                longest = max(longest, length[t]);
                seen += length[t];
            }
            for (uint32_t q = lane; q < longest + lane; q += WARP) {
                uint32_t column[WINDOW_EACH];
                decltype(w.peek(0)) there[WINDOW_EACH];
#pragma unroll
                for (int t = 0; t < WINDOW_EACH; t++) {
                    column[t] = q < length[t] ? __ldg(job.B.col + (at[t] + q)) : w.some_column();
                }
#pragma unroll
                for (int t = 0; t < WINDOW_EACH; t++) {
                    there[t] = w.peek(column[t]);
                }
#pragma unroll
                for (int t = 0; t < WINDOW_EACH; t++) {
                    if (q < length[t]) {
                        w.mark(column[t], there[t]);
                    }
                }
                if (COUNTS && w.gives_up(seen)) {
                    return false;
                }
            }
        }
    }
    __syncwarp();
    return true;
}
