/* Long rows, second step: a block marks the columns of a row again and writes them to C, and the row is cut into pieces
 * of neighbouring columns. If a piece takes long parts of B's rows, its products are added (kernel_long_add.cuh); else
 * they are sorted (sort/kernel_sort.cuh). Taken for rows in LSP_BIN_LONG. */
#pragma once

#include "kernel_long_add.cuh"
#include "kernel_long_mark.cuh"
#include "spgemm/gpu/sort/kernel_sort.cuh"

enum {
    LONG_TILE = WARP * 32,       /* columns whose marks a warp turns into columns of C together */
    LONG_TILES = 4,              /* tiles with few marks that are written together, LONG_GROUP columns a lane */
    LONG_STAGED = LONG_TILE / 4, /* most marks of tiles that are collected in shared memory first */
    LONG_TILE_COST = 64,         /* writing a tile takes as long as writing this many marks, plus its own */
    LONG_STRIPES = 384,          /* most stripes of columns in which a row's nnz and products are counted */
    LONG_STRIPE = 1024,          /* least columns of a stripe, a power of two */
    LONG_ADD_LENGTH = 2,         /* products of an entry of A in a piece; with more, pieces are added, else sorted */
    LONG_SORT_COMPRESSION = 16   /* products a column; with more, rows are not sorted */
};

/* The listed rows, and the pieces made of them. For rows whose pieces are sorted, nnz and products of every stripe of
 * columns are kept. */
typedef struct long_job {
    spg_list list;
    bool valued;                    /* C has values; else only its columns are written */
    uint32_t stripe, stripes;       /* columns of a stripe, stripes of a row */
    uint32_t range, chunk;          /* most columns and most entries of a piece that is added */
    uint32_t count_range;           /* columns that are marked at a time; no stripe crosses this border */
    uint32_t *counts, *products;    /* nnz and products of each stripe of each row */
    uint32_t *known;                /* of each range of each row: 1 + its nnz; 0: not known yet */
    spg_piece *pieces, *pieces_end; /* the pieces: those that are added come first, those that are sorted come last,
                                       from the end down */
    uint32_t *made, *sorted_made;   /* how many there are of each kind */
    ull *taken;                     /* tasks, or pieces, that blocks of the current kernel have taken */
} long_job;

/* Are the row's pieces sorted? */
__device__ inline bool row_is_sorted(const spg_job &job, const long_job &longs, uint32_t row) {
    const uint32_t n = (uint32_t)(job.rowptr[row + 1] - job.rowptr[row]), products = job.products[row];
    const uint32_t pieces = max(n / LONG_ADD_MOST, (job.cols - 1) / longs.range) + 1;
    const uint32_t entries = job.A.rowptr[row + 1] - job.A.rowptr[row];
    return longs.valued && products < (ull)n * LONG_SORT_COMPRESSION &&
           products < (ull)entries * pieces * LONG_ADD_LENGTH;
}

/* Writes the pieces of n entries of C, from entry `at` on, that are to be added, from place `to` on. Each of `lanes`
 * lanes writes its part. */
__device__ inline void put_pieces(const long_job &longs, uint32_t row, int64_t at, uint32_t n, uint32_t to,
                                  uint32_t lane, uint32_t lanes) {
    for (uint32_t k = lane; k < (n + longs.chunk - 1) / longs.chunk; k += lanes) {
        const uint32_t first = k * longs.chunk;
        longs.pieces[to + k] = spg_piece{at + first, row, 0, 0, min(n - first, longs.chunk), 0};
    }
}

/* Marks by tile: how many come before each tile. The columns of tiles with few marks are collected in shared memory, so
 * that lanes write neighbours. */
template <int NT> struct long_tiles {
    uint32_t before[LONG_COUNT_RANGE / LONG_TILE + 1];
    uint16_t staged[NT / WARP][LONG_STAGED];
    uint32_t sums[NT / WARP];
    static_assert((NT == LONG_NT ? LONG_MANY : LONG_COUNT_RANGE) <= NT * LONG_TILE, "a thread has at most a tile");

    /* The cost of all tiles before this one, in marks. Every tile costs a constant, even if it has no marks. */
    __device__ uint32_t cost_before(uint32_t tile) const { return before[tile] + tile * LONG_TILE_COST; }
    __device__ void find(const uint32_t *bits, uint32_t groups, uint32_t tiles) {
        enum { EACH = WARP / LONG_TILES };
        const uint32_t lane = threadIdx.x % WARP;
        for (uint32_t tile = threadIdx.x / WARP * LONG_TILES; tile < tiles; tile += NT / WARP * LONG_TILES) {
            const uint32_t g = tile * EACH + lane;
            uint32_t sum = g < groups ? marks_of(((const uint4 *)bits)[g]) : 0;
            for (int mask = 1; mask < EACH; mask *= 2) {
                sum += __shfl_xor_sync(~0u, sum, mask);
            }
            if (lane % EACH == 0 && g < groups) {
                before[tile + lane / EACH] = sum;
            }
        }
        __syncthreads();
        uint32_t all;
        const uint32_t sum = block_scan(threadIdx.x < tiles ? before[threadIdx.x] : 0, sums, &all);
        if (threadIdx.x < tiles) {
            before[threadIdx.x] = sum;
        }
        if (threadIdx.x == 0) {
            before[tiles] = all;
        }
        __syncthreads();
    }
    /* Writes the columns of a tile that begins at column `low` to C from entry `at` on. Each lane has one word of
     * marks. */
    __device__ void put(const spg_job &job, uint32_t word, int64_t at, uint32_t low) {
        const uint32_t lane = threadIdx.x % WARP;
        uint32_t all, to = sum_before((uint32_t)__popc(word), &all);
        if (all > LONG_STAGED) {
#pragma unroll 2
            for (uint32_t k = 0; k < WARP; k++) {
                const uint32_t its_word = __shfl_sync(~0u, word, k), its_to = __shfl_sync(~0u, to, k);
                if (its_word >> lane & 1) {
                    put_number(job, at + its_to + bits_below(its_word, lane), low + k * 32 + lane);
                }
            }
            return;
        }
        __syncwarp(); /* all lanes have written what was staged before */
        stage(word, lane * 32, &to);
        put_staged(job, all, at, low);
    }
    /* The same for LONG_TILES tiles with few marks. Each lane has one group of marks. */
    __device__ void put_sparse(const spg_job &job, uint4 group, int64_t at, uint32_t low) {
        const uint32_t first = threadIdx.x % WARP * LONG_GROUP;
        uint32_t all, to = sum_before(marks_of(group), &all);
        __syncwarp();
        stage(group.x, first, &to);
        stage(group.y, first + 32, &to);
        stage(group.z, first + 64, &to);
        stage(group.w, first + 96, &to);
        put_staged(job, all, at, low);
    }
    __device__ void stage(uint32_t word, uint32_t first, uint32_t *to) {
        for (; word; word &= word - 1) {
            staged[threadIdx.x / WARP][(*to)++] = (uint16_t)(first + (uint32_t)__ffs((int)word) - 1);
        }
    }
    __device__ void put_staged(const spg_job &job, uint32_t all, int64_t at, uint32_t low) {
        __syncwarp();
        for (uint32_t k = threadIdx.x % WARP; k < all; k += WARP) {
            put_number(job, at + k, low + staged[threadIdx.x / WARP][k]);
        }
    }
};

/* The marks of one range of a row's columns. */
struct long_range {
    int64_t at; /* where the row begins in C */
    uint32_t low, columns;
    const uint32_t *bits;
    uint32_t *known;      /* of the row's ranges: 1 + its nnz; 0: not known yet */
    uint32_t number, all; /* this range's number, and that of all ranges */
};

/* The row's nnz in earlier ranges. May have to wait for the blocks that count these. The wait ends, because blocks take
 * ranges in order. The whole warp calls together. */
__device__ inline uint32_t nnz_before(const long_range &range) {
    uint32_t sum = 0;
    for (uint32_t k = threadIdx.x % WARP, n; k < range.number; k += WARP) {
        while ((n = ((volatile uint32_t *)range.known)[k]) == 0) {
            __nanosleep(100);
        }
        sum += n - 1;
    }
    return __reduce_add_sync(~0u, sum);
}

/* Counts the marked columns for later ranges, and (put) writes them to C, behind those of the row's earlier ranges.
 * Warps get tiles of about the same total cost. */
template <int NT>
__device__ inline void long_put_columns(const spg_job &job, const long_range &range, bool put, long_tiles<NT> &tiles) {
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t groups = (range.columns + LONG_GROUP - 1) / LONG_GROUP,
                   count = (range.columns + LONG_TILE - 1) / LONG_TILE;
    tiles.find(range.bits, groups, count);
    if (range.number + 1 < range.all && threadIdx.x == 0) {
        ((volatile uint32_t *)range.known)[range.number] = 1 + tiles.before[count];
    }
    if (!put) {
        return;
    }
    const uint32_t cost = tiles.cost_before(count) / (NT / WARP) + 1, from = cost * warp, end = from + cost;
    const int64_t at = range.at + nnz_before(range);
    uint32_t tile = (uint32_t)warp_first(0, count, [&](int64_t k) { return tiles.cost_before((uint32_t)k) >= from; });
    for (uint32_t next; tile < count && tiles.cost_before(tile) < end; tile = next) {
        const int64_t to = at + tiles.before[tile];
        next = min(tile + LONG_TILES, count);
        if (tiles.cost_before(next - 1) < end && tiles.before[next] - tiles.before[tile] <= LONG_STAGED) {
            const uint32_t g = tile * (LONG_TILE / LONG_GROUP) + lane;
            tiles.put_sparse(job, g < groups ? ((const uint4 *)range.bits)[g] : make_uint4(0, 0, 0, 0), to,
                             range.low + tile * LONG_TILE);
        } else {
            const uint32_t k = tile * WARP + lane;
            tiles.put(job, k < groups * (LONG_GROUP / 32) ? range.bits[k] : 0, to, range.low + tile * LONG_TILE);
            next = tile + 1;
        }
    }
    __syncthreads();
}

/* Has one of the stripes that the thread checks more products than a sorted piece may have? */
__device__ inline bool too_many(const long_job &longs, const uint32_t *products, uint32_t columns) {
    bool some = false;
    for (uint32_t s = threadIdx.x; s * longs.stripe < columns; s += blockDim.x) {
        some |= products[s] > PIECE_PRODUCTS;
    }
    return some;
}

/* Marks each range of the listed rows. Rows whose pieces are added are written to C and cut here. For rows whose pieces
 * are sorted, nnz and products are counted by stripe; ranges with a stripe of too many products are written to C. */
template <int NT>
__global__ void __launch_bounds__(NT, LONG_THREADS / NT) kernel_long_list(spg_job job, long_job longs) {
    LSP_DYNAMIC_SHARED(memory);
    __shared__ part_list<NT> parts;
    __shared__ uint32_t products[LONG_COUNT_RANGE / LONG_STRIPE], place;
    __shared__ long_tiles<NT> tiles;
    __shared__ ull next;
    uint32_t *bits = (uint32_t *)memory;
    const uint32_t stripe_bits = (uint32_t)__ffs((int)longs.stripe) - 1;
    const uint32_t range = longs.count_range / longs.stripe * longs.stripe, ranges = (job.cols - 1) / range + 1;
    const ull tasks = (ull)longs.list.count * ranges;
    for (ull task = take_next(longs.taken, &next); task < tasks; task = take_next(longs.taken, &next)) {
        const uint32_t i = (uint32_t)(task / ranges), r = (uint32_t)(task % ranges), row = list_row(longs.list, i);
        const uint32_t low = r * range, columns = min(job.cols - low, range), warp = threadIdx.x / WARP;
        const uint32_t n = (uint32_t)(job.rowptr[row + 1] - job.rowptr[row]);
        const bool sorted = row_is_sorted(job, longs, row);
        for (uint32_t s = threadIdx.x; sorted && s * longs.stripe < columns; s += NT) {
            products[s] = 0;
        }
        if (!sorted && r == 0 && threadIdx.x == 0) {
            place = atomicAdd(longs.made, (n + longs.chunk - 1) / longs.chunk);
        }
        long_clear(bits, columns);
        long_mark_row(job, row, low, low + columns, {bits, sorted ? products : NULL, low, stripe_bits}, parts);
        const bool put = __syncthreads_or(!sorted || too_many(longs, products, columns));
        if (put || r + 1 < ranges) {
            const long_range its = {job.rowptr[row], low, columns, bits, longs.known + (ull)i * ranges, r, ranges};
            long_put_columns<NT>(job, its, put, tiles);
        }
        if (!sorted && r == 0) {
            put_pieces(longs, row, job.rowptr[row], n, place, threadIdx.x, NT);
        }
        for (uint32_t s = warp; sorted && s * longs.stripe < columns; s += NT / WARP) {
            uint32_t sum = 0, last = min((s + 1) * longs.stripe, columns);
            for (uint32_t k = s * longs.stripe / 32 + threadIdx.x % WARP; k < (last + 31) / 32; k += WARP) {
                sum += (uint32_t)__popc(bits[k]);
            }
            sum = __reduce_add_sync(~0u, sum);
            if (threadIdx.x % WARP == 0) {
                const ull to = (ull)i * longs.stripes + low / longs.stripe + s;
                longs.counts[to] = sum;
                longs.products[to] = products[s];
            }
        }
        __syncthreads();
    }
}

/* Cuts each row whose pieces are sorted into pieces of neighbouring stripes, at most PIECE_PRODUCTS products each. A
 * stripe with more products becomes a piece that is added. One warp a row. */
static __global__ void kernel_long_cut(spg_job job, long_job longs) {
    const uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    const uint32_t row = i < longs.list.count ? list_row(longs.list, i) : 0;
    if (i >= longs.list.count || !row_is_sorted(job, longs, row)) {
        return;
    }
    spg_piece piece = {job.rowptr[row], row, 0, 0, 0, 0};
    const auto flush = [&] {
        if (piece.n > 0 && lane == 0) {
            longs.pieces_end[-1 - (int64_t)atomicAdd(longs.sorted_made, 1u)] = piece;
        }
        piece.at += piece.n;
        piece.n = piece.products = 0;
    };
    for (uint32_t first = 0; first < longs.stripes;
         first += WARP) { /* each lane reads one stripe; all lanes cut together */
        const ull from = (ull)i * longs.stripes + first + lane;
        const uint32_t its_n = first + lane < longs.stripes ? longs.counts[from] : 0;
        const uint32_t its_products = its_n > 0 ? longs.products[from] : 0;
        for (unsigned some = __ballot_sync(~0u, its_n > 0); some; some &= some - 1) {
            const uint32_t k = (uint32_t)__ffs((int)some) - 1, low = (first + k) * longs.stripe;
            const uint32_t n = __shfl_sync(~0u, its_n, k), products = __shfl_sync(~0u, its_products, k);
            const uint32_t high = (uint32_t)min((ull)low + longs.stripe, (ull)job.cols);
            if (products > PIECE_PRODUCTS || high - piece.low > LSP_SORT_COLUMNS ||
                piece.products + products > PIECE_PRODUCTS) {
                flush();
            }
            if (products > PIECE_PRODUCTS) {
                const uint32_t to = lane == 0 ? atomicAdd(longs.made, (n + longs.chunk - 1) / longs.chunk) : 0;
                put_pieces(longs, row, piece.at, n, __shfl_sync(~0u, to, 0), lane, WARP);
                piece.at += n;
                continue;
            }
            piece.low = piece.n == 0 ? low : piece.low;
            piece.high = high;
            piece.n += n, piece.products += products;
        }
    }
    flush();
}
