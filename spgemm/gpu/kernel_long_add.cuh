/* Pieces of the longest rows, each by a block: C has the columns already; they are marked, one bit each, and the bits
 * before a column say where its sum is. Warps take 32 neighbouring products each, of as many of A's entries as it
 * takes, the next ones on their way; they find the sums all at once, and add one warp after the other, and of a warp
 * the products of one entry of A after those of the one before: so every sum grows in the order of A's entries. */
#ifndef LSP_SPGEMM_GPU_KERNEL_LONG_ADD_CUH
#define LSP_SPGEMM_GPU_KERNEL_LONG_ADD_CUH

#include "long_parts.cuh"

enum {
    LONG_ADD_WARPS = 4, /* a block: see long_turn */
    LONG_ADD_NT = LONG_ADD_WARPS * WARP,
    LONG_ADD_MOST = 2048,     /* entries of C at a time */
    LONG_ADD_RANGE = 1 << 15, /* columns at a time */
    LONG_ADD_BLOCKS = 16,     /* that a multiprocessor is to have, where entries are narrow_each */
    LONG_ADD_STEPS = 4,       /* of 32 products, on their way together */
    LONG_ADD_BATCH = 8        /* columns of C that a thread loads together */
};

/* Warps take turns: each waits for the one before it, but for the first step of all, and for the one after it, but for
 * the last. The compiler knows the barriers' numbers: otherwise it sets aside all that a block can have. */
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

/* 32 products, one of each lane. */
template <typename V> struct long_step {
    uint32_t place;       /* the column, then where its sum is; ~0: the lane has none */
    uint32_t turn, turns; /* products of one turn have different columns; turns of all lanes, 0: it is no step */
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

/* A warp's way through the products of so many parts: every LONG_ADD_WARPS-th step is its own. */
template <typename V> struct long_walk {
    const part_list<LONG_ADD_NT> &parts;
    const V *a;                         /* of each part */
    uint32_t count, total, first, part; /* parts, products; of the next step: its first product, the part of it */

    __device__ void load(const spg_job &job, long_step<V> &step) {
        const uint32_t lane = threadIdx.x % WARP, upto = (2u << lane) - 1;
        step.place = ~0u;
        step.turns = 0;
        if (first < total) {
            for (unsigned before = ~0u; before == ~0u;) { /* parts that begin no later, of the next 32 */
                before = __ballot_sync(~0u, parts.start[min(part + 1 + lane, count)] <= first);
                part += (uint32_t)__popc(before);
            }
            const uint32_t begin = part + 1 + lane < count ? parts.start[part + 1 + lane] - first : ~0u;
            const unsigned begins = __reduce_or_sync(~0u, begin < WARP ? 1u << begin : 0);
            const unsigned turns = job.duplicates ? ~1u : begins; /* lanes whose turn is a later one than others' */
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

/* A block's shared memory: for so many columns at a time, a multiple of 256. */
template <typename V> struct long_memory {
    V *sums;
    uint32_t *bits;   /* a column each */
    uint16_t *before; /* the bits before each word */
    uint32_t low, columns;

    __host__ __device__ static uint32_t bytes(uint32_t range) { return LONG_ADD_MOST * sizeof(V) + range / 16 * 3; }
    __device__ long_memory(char *memory, uint32_t range, uint32_t from, uint32_t to)
        : sums((V *)memory), bits((uint32_t *)(sums + LONG_ADD_MOST)), before((uint16_t *)(bits + range / 32)),
          low(from), columns(to - from) {}

    /* Has each column a sum, whether C has it or not? */
    __device__ bool dense() const { return columns <= LONG_ADD_MOST; }
    /* Where the column's sum is. */
    __device__ void find(long_step<V> &step) const {
        const bool some = step.place != ~0u;
        uint32_t place = some ? step.place - low : 0;
        if (!dense()) {
            place = before[place / 32] + (uint32_t)__popc(bits[place / 32] & ((1u << (place % 32)) - 1));
        }
        step.place = some ? place : ~0u;
    }
    /* Gives n entries of C, from `at` on, sums of identity. */
    __device__ void open(const spg_job &job, int64_t at, uint32_t n, uint32_t *warp_sum) const {
        const uint32_t groups = dense() ? 0 : (columns + 127) / 128;
        for (uint32_t k = threadIdx.x; k < (dense() ? columns : n); k += LONG_ADD_NT) {
            sums[k] = value_kind<V>::identity(job);
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
                    column[k] < columns) { /* always, unless C was changed */
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
            uint32_t of_warp, begin = all + sum_before(z + (uint32_t)__popc(word.w), &of_warp);
            if (threadIdx.x % WARP == 0) {
                warp_sum[threadIdx.x / WARP] = of_warp;
            }
            __syncthreads();
            for (uint32_t k = 0; k < LONG_ADD_WARPS; k++) {
                begin += k < threadIdx.x / WARP ? warp_sum[k] : 0;
                all += warp_sum[k];
            }
            if (g < groups) {
                ((uint2 *)before)[g] = make_uint2(begin | (begin + x) << 16, (begin + y) | (begin + z) << 16);
            }
            __syncthreads();
        }
    }
    /* The sums go to C. */
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

/* Adds all products of a row of A in the columns at hand. Some steps are on their way while another is added. */
template <typename V>
__device__ inline void long_add_products(const spg_job &job, uint32_t row, const long_memory<V> &memory,
                                         part_list<LONG_ADD_NT> &parts, V *values) {
    const uint32_t end = job.A.rowptr[row + 1];
    const long_turn turn = {threadIdx.x / WARP};
    for (uint32_t p = job.A.rowptr[row], take; p < end; p += take) {
        /* products of all together, and a step more, are fewer than 2^32, for columns are narrow_each, or where B's
         * rows have them twice */
        take = job.duplicates ? min((UINT32_MAX - LONG_ADD_NT) / (uint32_t)job.B.nnz, (uint32_t)LONG_ADD_NT)
                              : (uint32_t)LONG_ADD_NT;
        take = min(end - p, take);
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

/* How many of n columns of C, in order, are below a limit: the first is. */
__device__ inline uint32_t columns_below(const spg_job &job, int64_t at, uint32_t n, ull limit) {
    uint32_t first = 0;
    for (uint32_t step = (n + WARP - 1) / WARP; n > 0; step = (step + WARP - 1) / WARP) { /* each lane looks at one */
        const uint32_t k = threadIdx.x % WARP * step;
        const unsigned below = __ballot_sync(~0u, k < n && number_at(job, at + first + k) < limit);
        const uint32_t last = 31 - (uint32_t)__clz((int)below);
        first += last * step;
        n = step > 1 ? min(n - last * step, step) : 0;
    }
    return first + 1;
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
            n = columns_below(job, at, min(left, (uint32_t)LONG_ADD_MOST), (ull)low + range);
            if constexpr (value_kind<V>::valued) {
                const long_memory<V> memory(shared, range, low, max(number_at(job, at + n - 1), low) + 1);
                memory.open(job, at, n, parts.warp_sum);
                long_add_products<V>(job, piece.row, memory, parts, values);
                memory.close(job, at, n);
            }
            __syncthreads(); /* all know the columns' numbers */
            for (uint32_t k = threadIdx.x; job.names && k < n; k += LONG_ADD_NT) {
                put_col(job, at + k, number_at(job, at + k));
            }
            __syncthreads();
        }
    }
    lsp_end_after_previous();
}

#endif
