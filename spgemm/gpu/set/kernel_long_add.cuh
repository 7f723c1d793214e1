/* Long rows, third step: each block makes a piece of a row whose columns are in C already. It marks them, one bit each;
 * the number of bits before a column says where its sum is. Each warp takes 32 neighbouring products at a time and
 * loads the next ones meanwhile. All warps find the places of their products at the same time, but add them one warp
 * after the other, and within a warp one entry of A after the other: so every sum grows in the order of A's entries. */
#pragma once

#include "long_parts.cuh"

enum {
    LONG_ADD_WARPS = 4, /* warps of a block; long_turn has a barrier for each */
    LONG_ADD_NT = LONG_ADD_WARPS * WARP,
    LONG_ADD_MOST = 2048,     /* most entries of C at a time */
    LONG_ADD_RANGE = 1 << 15, /* most columns at a time */
    LONG_ADD_BLOCKS = 16,     /* pieces that each multiprocessor should get if C has few entries */
    LONG_ADD_STEPS = 4,       /* steps of 32 products that are in flight together */
    LONG_ADD_BATCH = 8        /* columns of C that a thread loads together */
};

/* The warps' turns to add. A warp waits for the one before it, except at the very first step, and lets the one after it
 * begin, except at the last. The barriers' numbers are constants for the compiler: otherwise it reserves all 16. */
struct long_turn {
    uint32_t warp;

    __device__ static void meet(uint32_t later) {
        later == 0   ? lsp_barrier(1, 2 * WARP)
        : later == 1 ? lsp_barrier(2, 2 * WARP)
        : later == 2 ? lsp_barrier(3, 2 * WARP)
                     : lsp_barrier(LONG_ADD_WARPS, 2 * WARP);
    }
    __device__ void await() const { meet(warp); }
    __device__ void pass() const { meet((warp + 1) % LONG_ADD_WARPS); }
};

/* One step of a warp: 32 products, one a lane. */
template <typename V> struct long_step {
    uint32_t place;       /* the column, later the place of its sum; ~0: the lane has no product */
    uint32_t turn, turns; /* this lane's turn, and the number of turns. Products of one turn have different columns. 0
                             turns: there is no step */
    V a, b;

    __device__ void add(const spg_job &job, V *sums) const {
#pragma unroll 1
        for (uint32_t k = 0; k < turns; k++) {
            if (turn == k && place != ~0u) {
                sums[place] = add_times(job, a, b, sums[place]);
            }
            __syncwarp();
        }
    }
};

/* A warp's way through all products of a list of parts. Every LONG_ADD_WARPS-th step is its own. */
template <typename V> struct long_walk {
    const part_list<LONG_ADD_NT> &parts;
    const V *a;            /* A's value for each part */
    uint32_t count, total; /* parts, and their products */
    uint32_t first, part;  /* the first product of the next step, and its part */

    __device__ void load(const spg_job &job, long_step<V> &step) {
        const uint32_t lane = threadIdx.x % WARP, upto = (2u << lane) - 1;
        step.place = ~0u;
        step.turns = 0;
        if (first < total) {
            for (unsigned before = ~0u;
                 before == ~0u;) { /* counts the parts that begin at or before `first`, 32 at a time */
                before = __ballot_sync(~0u, parts.start[min(part + 1 + lane, count)] <= first);
                part += (uint32_t)__popc(before);
            }
            const uint32_t begin = part + 1 + lane < count ? parts.start[part + 1 + lane] - first : ~0u;
            const unsigned begins = __reduce_or_sync(~0u, begin < WARP ? 1u << begin : 0);
            const unsigned turns = job.duplicates ? ~1u : begins; /* lanes at which a later turn begins */
            const uint32_t mine = part + (uint32_t)__popc(begins & upto), at = parts.shift[mine] + first + lane;
            step.turn = (uint32_t)__popc(turns & upto);
            step.turns = (uint32_t)__popc(turns) + 1;
            if (first + lane < total) {
                step.place = __ldg(job.B.col + at);
                step.a = a[mine], step.b = value_at<V>(job.B, at);
            }
            first += LONG_ADD_NT;
        }
    }
};

/* A block's shared memory, for a range of columns that is a multiple of 256. */
template <typename V> struct long_memory {
    V *sums;
    uint32_t *bits;   /* one a column */
    uint16_t *before; /* of each word: the bits before it */
    uint32_t low, columns;

    __host__ __device__ static uint32_t bytes(uint32_t range) { return LONG_ADD_MOST * sizeof(V) + range / 16 * 3; }
    __device__ long_memory(char *memory, uint32_t range, uint32_t from, uint32_t to)
        : sums((V *)memory), bits((uint32_t *)(sums + LONG_ADD_MOST)), before((uint16_t *)(bits + range / 32)),
          low(from), columns(to - from) {}

    /* Are the columns so few that each gets a sum, whether C has it or not? */
    __device__ bool dense() const { return columns <= LONG_ADD_MOST; }
    /* Turns a column into the place of its sum. */
    __device__ void find(long_step<V> &step) const {
        const bool some = step.place != ~0u;
        uint32_t place = some ? step.place - low : 0;
        if (!dense()) {
            place = before[place / 32] + bits_below(bits[place / 32], place % 32);
        }
        step.place = some ? place : ~0u;
    }
    /* Prepares the sums of n entries of C, from entry `at` on. */
    __device__ void open(const spg_job &job, int64_t at, uint32_t n, uint32_t (&warp_sum)[LONG_ADD_WARPS]) const {
        const uint32_t groups = dense() ? 0 : (columns + 127) / 128;
        for (uint32_t k = threadIdx.x; k < (dense() ? columns : n); k += LONG_ADD_NT) {
            sums[k] = value_kind<V>::nothing(job);
        }
        for (uint32_t g = threadIdx.x; g < groups; g += LONG_ADD_NT) {
            ((uint4 *)bits)[g] = make_uint4(0, 0, 0, 0);
        }
        __syncthreads();
        for (uint32_t first = dense() ? n : 0; first < n; first += LONG_ADD_BATCH * LONG_ADD_NT) {
            uint32_t column[LONG_ADD_BATCH];
#pragma unroll
            for (uint32_t k = 0; k < LONG_ADD_BATCH; k++) {
                column[k] = number_at(job, at + min(first + k * LONG_ADD_NT + threadIdx.x, n - 1)) - low;
            }
#pragma unroll
            for (uint32_t k = 0; k < LONG_ADD_BATCH; k++) {
                if (first + k * LONG_ADD_NT + threadIdx.x < n &&
                    column[k] < columns) { /* always true, unless the caller changed C */
                    atomicOr(bits + column[k] / 32, 1u << (column[k] % 32));
                }
            }
        }
        __syncthreads();
        for (uint32_t first = 0, all = 0; first < groups; first += LONG_ADD_NT) {
            const uint32_t g = first + threadIdx.x;
            const uint4 word = g < groups ? ((const uint4 *)bits)[g] : make_uint4(0, 0, 0, 0);
            const uint32_t x = (uint32_t)__popc(word.x), y = x + (uint32_t)__popc(word.y),
                           z = y + (uint32_t)__popc(word.z);
            uint32_t here, begin = all + block_scan(z + (uint32_t)__popc(word.w), warp_sum, &here);
            if (g < groups) {
                ((uint2 *)before)[g] = make_uint2(begin | (begin + x) << 16, (begin + y) | (begin + z) << 16);
            }
            all += here;
        }
        __syncthreads();
    }
    /* Writes the sums to C. */
    __device__ void close(const spg_job &job, int64_t at, uint32_t n) const {
        __syncthreads();
#pragma unroll 4
        for (uint32_t k = threadIdx.x; k < n; k += LONG_ADD_NT) {
            const uint32_t place = dense() ? min(number_at(job, at + k) - low, (uint32_t)LONG_ADD_MOST - 1) : k;
            put_value<V>(job, at + k, canonical(sums[place]));
        }
        __syncthreads();
    }
};

/* Adds all products of a row of A in the current range of columns. Later steps are loaded while one is added. */
template <typename V>
__device__ inline void long_add_products(const spg_job &job, uint32_t row, const long_memory<V> &memory,
                                         part_list<LONG_ADD_NT> &parts, V *values) {
    const uint32_t end = job.A.rowptr[row + 1];
    const long_turn turn = {threadIdx.x / WARP};
    for (uint32_t p = job.A.rowptr[row], take; p < end; p += take) {
        take = min(end - p, parts.most(job));
        const V value = threadIdx.x < take ? value_at<V>(job.A, p + threadIdx.x) : V();
        uint32_t slot;
        const uint32_t count = parts.read(job, p, p + take, memory.low, memory.low + memory.columns, slot);
        if (slot != ~0u) {
            values[slot] = value;
        }
        __syncthreads();
        const uint32_t total = parts.start[count];
        long_walk<V> walk = {parts, values, count, total, turn.warp * WARP, 0};
        long_step<V> steps[LONG_ADD_STEPS];
#pragma unroll
        for (int k = 0; k < LONG_ADD_STEPS - 1; k++) {
            walk.load(job, steps[k]);
        }
        memory.find(steps[0]);
        for (uint32_t first = turn.warp * WARP; first < total;) {
#pragma unroll
            for (int k = 0; k < LONG_ADD_STEPS && first < total; k++, first += LONG_ADD_NT) {
                walk.load(job, steps[(k + LONG_ADD_STEPS - 1) % LONG_ADD_STEPS]);
                memory.find(steps[(k + 1) % LONG_ADD_STEPS]);
                if (first > 0) {
                    turn.await();
                }
                steps[k].add(job, memory.sums);
                if (total - first > WARP) {
                    turn.pass();
                }
            }
        }
    }
}

template <typename V>
__global__ void __launch_bounds__(LONG_ADD_NT, 8)
    kernel_long_add(spg_job job, const spg_piece *pieces, const uint32_t *made, uint32_t range, ull *taken) {
    LSP_DYNAMIC_SHARED(shared);
    __shared__ part_list<LONG_ADD_NT> parts;
    __shared__ V values[LONG_ADD_NT];
    __shared__ ull next;
    const uint32_t count = *made;
    lsp_let_next_begin();
    for (ull i = take_next(taken, &next); i < count; i = take_next(taken, &next)) {
        const spg_piece piece = pieces[i];
        int64_t at = piece.at;
        for (uint32_t n, left = piece.n; left > 0; left -= n, at += n) {
            const uint32_t low = number_at(job, at);
            const uint32_t most = min(left, (uint32_t)LONG_ADD_MOST);
            n = (uint32_t)warp_prefix(most, [&](int64_t k) { return number_at(job, at + k) < (ull)low + range; });
            if constexpr (value_kind<V>::valued) {
                const long_memory<V> memory(shared, range, low, max(number_at(job, at + n - 1), low) + 1);
                memory.open(job, at, n, parts.warp_sum);
                long_add_products<V>(job, piece.row, memory, parts, values);
                memory.close(job, at, n);
            }
            __syncthreads(); /* all threads have read the columns' numbers */
            for (uint32_t k = threadIdx.x; job.names && k < n; k += LONG_ADD_NT) {
                put_col(job, at + k, number_at(job, at + k));
            }
            __syncthreads();
        }
    }
    lsp_end_after_previous();
}
