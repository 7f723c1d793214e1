/* Pieces of the longest rows, each by a warp: C has the columns already; they are marked, one bit each, and the bits
 * before a column say where its sum is. Products are taken 32 neighbours at a time, of as many of A's entries as it
 * takes, the next ones on their way. They are added one entry after the other: so every sum grows in the order of A's
 * entries. */
#ifndef LSP_SPGEMM_WALK_CUH
#define LSP_SPGEMM_WALK_CUH

#include "spgemm_device.cuh"

enum {
    WALK_WARPS = 2, /* a block */
    WALK_NT = WALK_WARPS * WARP,
    WALK_MOST = 1024,     /* entries of C at a time */
    WALK_RANGE = 1 << 14, /* columns at a time */
    WALK_ENTRIES = 64,    /* of A, at a time */
    WALK_STEPS = 4,       /* of 32 products, on their way together */
    WALK_BATCH = 8        /* columns of C that a lane loads together */
};

/* Parts of rows of B, each to be multiplied by an entry of A; none is empty. */
template <typename V> struct walk_parts {
    uint32_t at[WALK_ENTRIES], length[WALK_ENTRIES];
    V a[WALK_ENTRIES];

    /* Those of A's entries p .. in the columns low .. high-1; returns how many. */
    __device__ uint32_t read(const spg_job &job, uint32_t p, uint32_t end, uint32_t low, uint32_t high) {
        enum { EACH = WALK_ENTRIES / WARP };
        const uint32_t lane = threadIdx.x % WARP, outer[2] = {low, high};
        uint32_t from[EACH][2] = {}, n[EACH] = {}, count = 0;
        V value[EACH] = {};
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const uint32_t e = p + (uint32_t)k * WARP + lane;
            if (e < end) {
                const uint32_t row = __ldg(job.A.col + e);
                from[k][0] = from[k][1] = __ldg(job.B.rowptr + row);
                n[k] = __ldg(job.B.rowptr + row + 1) - from[k][0];
                value[k] = value_at<V>(job.A, e);
            }
        }
        if (low > 0 || high < job.cols) {
            lower_bounds<EACH, 2>(job.B.col, n, outer, from);
        } else {
#pragma unroll
            for (int k = 0; k < EACH; k++) {
                from[k][1] += n[k];
            }
        }
        __syncwarp(); /* the parts before are done with */
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const unsigned some = __ballot_sync(~0u, from[k][1] > from[k][0]);
            if (from[k][1] > from[k][0]) {
                const uint32_t to = count + (uint32_t)__popc(some & ((1u << lane) - 1));
                at[to] = from[k][0], length[to] = from[k][1] - from[k][0];
                a[to] = value[k];
            }
            count += (uint32_t)__popc(some);
        }
        __syncwarp();
        return count;
    }
};

/* 32 products, one of each lane. */
template <typename V> struct walk_step {
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

/* Walks through so many parts. */
template <typename V> struct product_walk {
    const walk_parts<V> &parts;
    uint32_t count, part, begun; /* parts; the first of the pack; those of the pack that begin before `first` */
    uint32_t start, shift;       /* of the lane's part: its first product, and what leads from products to B */
    uint32_t first, left;        /* of the pack's products: done, still to be done */

    /* The next 32 parts; where B has columns twice in a row, the next one. */
    __device__ void open(const spg_job &job) {
        const uint32_t lane = threadIdx.x % WARP, pack = job.repeats ? 1 : (uint32_t)WARP;
        part += begun; /* all of the pack before */
        const bool here = lane < pack && part + lane < count;
        const uint32_t length = here ? parts.length[part + lane] : 0;
        uint32_t sum = length;
        for (uint32_t d = 1; d < WARP; d *= 2) {
            const uint32_t other = __shfl_up_sync(~0u, sum, d);
            sum += lane >= d ? other : 0;
        }
        first = begun = 0;
        left = __shfl_sync(~0u, sum, WARP - 1);
        start = here ? sum - length : ~0u;
        shift = here ? parts.at[part + lane] - start : 0;
    }
    __device__ void load(const spg_job &job, walk_step<V> &step) {
        const uint32_t lane = threadIdx.x % WARP, upto = (2u << lane) - 1;
        if (left == 0 && part + begun < count) {
            open(job);
        }
        const uint32_t begin = start - first;
        const unsigned begins = __reduce_or_sync(~0u, begin < WARP ? 1u << begin : 0);
        const uint32_t mine = begun + (uint32_t)__popc(begins & upto) - 1;
        const uint32_t at = __shfl_sync(~0u, shift, mine % WARP) + first + lane;
        const unsigned turns = (job.repeats ? ~0u : begins) & ~1u; /* lanes whose turn is a later one than others' */
        step.turn = (uint32_t)__popc(turns & upto);
        step.turns = min(left, (uint32_t)__popc(turns) + 1);
        step.place = ~0u;
        if (lane < left) {
            step.place = __ldg(job.B.col + at);
            step.a = parts.a[part + mine], step.b = value_at<V>(job.B, at);
        }
        begun += (uint32_t)__popc(begins);
        first += WARP;
        left -= min(left, (uint32_t)WARP);
    }
};

/* A warp's shared memory. */
template <typename V> struct walk_memory {
    V *sums;
    walk_parts<V> *parts;
    uint32_t *bits;   /* a column each */
    uint16_t *before; /* the bits before each word */
    uint32_t low, columns;

    /* For so many columns at a time, a multiple of 256. */
    __host__ __device__ static uint32_t bytes(uint32_t range) {
        return WALK_MOST * sizeof(V) + sizeof(walk_parts<V>) + range / 16 * 3;
    }
    __device__ walk_memory(char *memory, uint32_t range, uint32_t from, uint32_t to)
        : sums((V *)memory), parts((walk_parts<V> *)(sums + WALK_MOST)), bits((uint32_t *)(parts + 1)),
          before((uint16_t *)(bits + range / 32)), low(from), columns(to - from) {}

    /* Has each column a sum, whether C has it or not? */
    __device__ bool dense() const { return columns <= WALK_MOST; }
    /* Where the column's sum is. */
    __device__ void find(walk_step<V> &step) const {
        const bool some = step.place != ~0u;
        uint32_t place = some ? step.place - low : 0;
        if (!dense()) {
            place = before[place / 32] + (uint32_t)__popc(bits[place / 32] & ((1u << (place % 32)) - 1));
        }
        step.place = some ? place : ~0u;
    }
    /* Gives n entries of C, from `at` on, sums of nothing. */
    __device__ void open(const spg_job &job, int64_t at, uint32_t n) const {
        const uint32_t lane = threadIdx.x % WARP, groups = dense() ? 0 : (columns + 127) / 128;
        __syncwarp();
        for (uint32_t k = lane; k < (dense() ? columns : n); k += WARP) {
            sums[k] = value_kind<V>::nothing(job);
        }
        for (uint32_t g = lane; g < groups; g += WARP) {
            ((uint4 *)bits)[g] = make_uint4(0, 0, 0, 0);
        }
        __syncwarp();
        for (uint32_t first = dense() ? n : 0; first < n; first += WALK_BATCH * WARP) {
            uint32_t column[WALK_BATCH];
#pragma unroll
            for (uint32_t k = 0; k < WALK_BATCH; k++) {
                column[k] = number_at(job, at + min(first + k * WARP + lane, n - 1)) - low;
            }
#pragma unroll
            for (uint32_t k = 0; k < WALK_BATCH; k++) {
                if (first + k * WARP + lane < n && column[k] < columns) { /* the latter unless C has been changed */
                    atomicOr(bits + column[k] / 32, 1u << (column[k] % 32));
                }
            }
        }
        __syncwarp();
        for (uint32_t g = lane, all = 0; g < groups + lane; g += WARP) {
            const uint4 word = g < groups ? ((const uint4 *)bits)[g] : make_uint4(0, 0, 0, 0);
            const uint32_t x = (uint32_t)__popc(word.x), y = x + (uint32_t)__popc(word.y),
                           z = y + (uint32_t)__popc(word.z), mine = z + (uint32_t)__popc(word.w);
            uint32_t sum = mine;
            for (uint32_t d = 1; d < WARP; d *= 2) {
                const uint32_t other = __shfl_up_sync(~0u, sum, d);
                sum += lane >= d ? other : 0;
            }
            const uint32_t first = all + sum - mine;
            if (g < groups) {
                ((uint2 *)before)[g] = make_uint2(first | (first + x) << 16, (first + y) | (first + z) << 16);
            }
            all += __shfl_sync(~0u, sum, WARP - 1);
        }
        __syncwarp();
    }
    /* The sums go to C. */
    __device__ void close(const spg_job &job, int64_t at, uint32_t n) const {
        __syncwarp();
#pragma unroll 4
        for (uint32_t k = threadIdx.x % WARP; k < n; k += WARP) {
            const uint32_t place = dense() ? min(number_at(job, at + k) - low, (uint32_t)WALK_MOST - 1) : k;
            put_value<V>(job, at + k, settled(sums[place]));
        }
        __syncwarp();
    }
};

/* Adds all products of A's entries p .. end-1 in the columns at hand. Some steps are on their way while another is
 * added. */
template <typename V>
__device__ inline void walk_products(const spg_job &job, uint32_t p, uint32_t end, const walk_memory<V> &memory) {
    const uint32_t high = memory.low + memory.columns;
    for (; p < end; p += min(end - p, (uint32_t)WALK_ENTRIES)) {
        product_walk<V> walk = {*memory.parts, memory.parts->read(job, p, end, memory.low, high), 0, 0, 0, 0, 0, 0};
        walk_step<V> steps[WALK_STEPS];
#pragma unroll
        for (int k = 0; k < WALK_STEPS - 1; k++) {
            walk.load(job, steps[k]);
        }
        memory.find(steps[0]);
        for (bool more = true; more;) {
#pragma unroll
            for (int k = 0; k < WALK_STEPS && more; k++) {
                more = steps[k].turns > 0;
                walk.load(job, steps[(k + WALK_STEPS - 1) % WALK_STEPS]);
                memory.find(steps[(k + 1) % WALK_STEPS]);
                steps[k].add(job, memory.sums);
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
__global__ void __launch_bounds__(WALK_NT, 10)
    kernel_walk_pieces(spg_job job, const spg_piece *pieces, const uint32_t *made, uint32_t range, ull *taken) {
    LSP_DYNAMIC_SHARED(shared);
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t count = *made;
    lsp_let_next_begin();
    for (;;) {
        const ull i = __shfl_sync(~0u, lane == 0 ? atomicAdd(taken, 1ull) : 0, 0);
        if (i >= count) {
            break;
        }
        const spg_piece piece = pieces[i];
        int64_t at = piece.at;
        for (uint32_t n, left = piece.n; left > 0; left -= n, at += n) {
            const uint32_t low = number_at(job, at);
            n = columns_below(job, at, min(left, (uint32_t)WALK_MOST), (ull)low + range);
            if constexpr (value_kind<V>::valued) {
                const walk_memory<V> memory(shared + warp * walk_memory<V>::bytes(range), range, low,
                                            max(number_at(job, at + n - 1), low) + 1);
                memory.open(job, at, n);
                walk_products<V>(job, job.A.rowptr[piece.row], job.A.rowptr[piece.row + 1], memory);
                memory.close(job, at, n);
            }
            for (uint32_t k = lane; job.names && k < n; k += WARP) {
                put_col(job, at + k, number_at(job, at + k));
            }
            __syncwarp();
        }
    }
    lsp_end_after_previous();
}

#endif
