/* cut */
#ifndef LSP_SPGEMM_GPU_KERNEL_LONG_CUT_CUH
#define LSP_SPGEMM_GPU_KERNEL_LONG_CUT_CUH

#include "kernel_long_add.cuh"
#include "kernel_long_mark.cuh"
#include "kernel_sort.cuh"

enum {
    LONG_TILE = WARP * 32,       /* columns that a warp writes to C at a time */
    LONG_TILES = 4,              /* of narrow_each marks together, LONG_GROUP columns a lane */
    LONG_STAGED = LONG_TILE / 4, /* marks of tiles, at most, that are collected first */
    LONG_TILE_COST = 64,         /* marks of a tile that take as long as the tile does without any */
    LONG_STRIPES = 384,          /* parts of the columns of which a long row's entries are counted, at most */
    LONG_STRIPE = 1024,          /* columns: they are no narrower; a power of two */
    LONG_ADD_LENGTH = 2,         /* products of an entry of A in a piece that is walked along, about */
    LONG_SORT_COMPRESSION = 16   /* products a column: more are not sorted */
};

/* What the pieces are made from: the listed rows; of those that are sorted, how many entries of C and products they
 * have in every stripe of columns. */
typedef struct long_job {
    spg_list list;
    bool valued;                    /* else columns are all there is */
    uint32_t stripe, stripes;       /* columns of a stripe, and stripes */
    uint32_t range, chunk;          /* columns and entries of a piece to be walked along, at most */
    uint32_t count_range;           /* columns that are marked at a time: stripes do not straddle these ranges */
    uint32_t *counts, *products;    /* `stripes` each row */
    uint32_t *begins;               /* of each row and range: entries of C in those before, and one; 0: not yet known */
    spg_piece *pieces, *pieces_end; /* to be walked along from the first on, to be sorted from the last */
    uint32_t *made, *sorted_made;   /* how many there are */
    ull *taken;                     /* pieces, or rows, that have been taken, of the kernel at hand */
} long_job;

/* Are a row's products to be sorted? */
__device__ inline bool row_is_sorted(const spg_job &job, const long_job &longs, uint32_t row) {
    const uint32_t n = (uint32_t)(job.rowptr[row + 1] - job.rowptr[row]), products = job.products[row];
    const uint32_t pieces = max(n / LONG_ADD_MOST, (job.cols - 1) / longs.range) + 1;
    const uint32_t entries = job.A.rowptr[row + 1] - job.A.rowptr[row];
    return longs.valued && products < (ull)n * LONG_SORT_COMPRESSION &&
           products < (ull)entries * pieces * LONG_ADD_LENGTH;
}

/* Pieces of a row to be walked along, from place `to` on: n entries of C from `at` on. Of the lanes that come here each
 * is one of `lanes`. */
__device__ inline void put_pieces(const long_job &longs, uint32_t row, int64_t at, uint32_t n, uint32_t to,
                                  uint32_t lane, uint32_t lanes) {
    for (uint32_t k = lane; k < (n + longs.chunk - 1) / longs.chunk; k += lanes) {
        const uint32_t first = k * longs.chunk;
        longs.pieces[to + k] = spg_piece{at + first, row, 0, 0, min(n - first, longs.chunk), 0};
    }
}

/* Groups of marks, eight a tile: how many marks come before each tile. Of tiles with narrow_each marks their places are
 * collected, so that neighbours are written together. */
template <int NT> struct long_tiles {
    uint32_t before[LONG_COUNT_RANGE / LONG_TILE + 1];
    uint16_t staged[NT / WARP][LONG_STAGED];
    uint32_t sums[NT / WARP];
    static_assert((NT == LONG_NT ? LONG_MANY : LONG_COUNT_RANGE) <= NT * LONG_TILE, "a thread has at most a tile");

    /* What comes before a tile, for sharing: one costs as much as so many marks more, whether it has any or not. */
    __device__ uint32_t cost_before(uint32_t tile) const { return before[tile] + tile * LONG_TILE_COST; }
    __device__ void find(const uint32_t *bits, uint32_t groups, uint32_t tiles) {
        enum { EACH = WARP / LONG_TILES };
        const uint32_t lane = threadIdx.x % WARP;
        for (uint32_t tile = threadIdx.x / WARP * LONG_TILES; tile < tiles; tile += NT / WARP * LONG_TILES) {
            const uint32_t g = tile * EACH + lane;
            uint32_t sum = g < groups ? count_group(bits, g) : 0;
            for (int mask = 1; mask < EACH; mask *= 2) {
                sum += __shfl_xor_sync(~0u, sum, mask);
            }
            if (lane % EACH == 0 && g < groups) {
                before[tile + lane / EACH] = sum;
            }
        }
        __syncthreads();
        const uint32_t mine = threadIdx.x < tiles ? before[threadIdx.x] : 0, warp = threadIdx.x / WARP;
        uint32_t of_warp, sum = sum_before(mine, &of_warp);
        if (lane == 0) {
            sums[warp] = of_warp;
        }
        __syncthreads();
        sum += __reduce_add_sync(~0u, lane < warp ? sums[lane] : 0);
        if (threadIdx.x < tiles) {
            before[threadIdx.x] = sum;
        }
        if (threadIdx.x + 1 == tiles) {
            before[tiles] = sum + mine;
        }
        __syncthreads();
    }
    /* Writes the columns of a tile, from `low` on, to C from `at` on; the lane has a word of it. */
    __device__ void put(const spg_job &job, uint32_t word, int64_t at, uint32_t low) {
        const uint32_t lane = threadIdx.x % WARP;
        uint32_t all, to = sum_before((uint32_t)__popc(word), &all);
        if (all > LONG_STAGED) {
#pragma unroll 2
            for (uint32_t k = 0; k < WARP; k++) {
                const uint32_t its_word = __shfl_sync(~0u, word, k), its_to = __shfl_sync(~0u, to, k);
                if (its_word >> lane & 1) {
                    put_number(job, at + its_to + __popc(its_word & ((1u << lane) - 1)), low + k * 32 + lane);
                }
            }
            return;
        }
        __syncwarp(); /* what was staged before is written */
        stage(word, lane * 32, &to);
        put_staged(job, all, at, low);
    }
    /* The same for LONG_TILES tiles of narrow_each marks; the lane has a group of them. */
    __device__ void put_sparse(const spg_job &job, uint4 group, int64_t at, uint32_t low) {
        const uint32_t first = threadIdx.x % WARP * LONG_GROUP;
        uint32_t all, to = (uint32_t)(__popc(group.x) + __popc(group.y) + __popc(group.z) + __popc(group.w));
        to = sum_before(to, &all);
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

/* Writes the columns that are marked, to C from `at` on plus what comes before in the ranges before this one. Blocks
 * take ranges in order: so waiting for the one before comes to an end. Warps take tiles that cost about as much. */
template <int NT>
__device__ inline void long_put_columns(const spg_job &job, int64_t at, uint32_t low, uint32_t columns,
                                        const uint32_t *bits, uint32_t *begin, bool first, bool last,
                                        long_tiles<NT> &tiles) {
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t groups = (columns + LONG_GROUP - 1) / LONG_GROUP, count = (columns + LONG_TILE - 1) / LONG_TILE;
    tiles.find(bits, groups, count);
    const uint32_t all = tiles.before[count], cost = tiles.cost_before(count) / (NT / WARP) + 1;
    const uint32_t from = cost * warp, end = from + cost;
    uint32_t known = 1, tile = 0; /* the first with as many marks before it */
    while (!first && (known = *(volatile uint32_t *)begin) == 0) {
        __nanosleep(100);
    }
    if (!last && threadIdx.x == 0) {
        *(volatile uint32_t *)(begin + 1) = known + all;
    }
    at += known - 1;
    for (uint32_t n = count; n > 0;) {
        const uint32_t half = (n + 1) / 2;
        tile += tiles.cost_before(tile + half - 1) < from ? half : 0;
        n /= 2;
    }
    for (uint32_t next; tile < count && tiles.cost_before(tile) < end; tile = next) {
        const int64_t to = at + tiles.before[tile];
        next = min(tile + LONG_TILES, count);
        if (tiles.cost_before(next - 1) < end && tiles.before[next] - tiles.before[tile] <= LONG_STAGED) {
            const uint32_t g = tile * (LONG_TILE / LONG_GROUP) + lane;
            tiles.put_sparse(job, g < groups ? ((const uint4 *)bits)[g] : make_uint4(0, 0, 0, 0), to,
                             low + tile * LONG_TILE);
        } else {
            const uint32_t k = tile * WARP + lane;
            tiles.put(job, k < groups * (LONG_GROUP / 32) ? bits[k] : 0, to, low + tile * LONG_TILE);
            next = tile + 1;
        }
    }
    __syncthreads();
}

/* Is there a stripe with too many products to be sorted, among those that the thread looks at? */
__device__ inline bool too_many(const long_job &longs, const uint32_t *products, uint32_t columns) {
    bool some = false;
    for (uint32_t s = threadIdx.x; s * longs.stripe < columns; s += blockDim.x) {
        some |= products[s] > PIECE_PRODUCTS;
    }
    return some;
}

/* The columns of what is to be walked along go to C. Such rows are cut, of others entries and products are counted by
 * stripe. */
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
        if (__syncthreads_or(!sorted || ranges > 1 || too_many(longs, products, columns))) {
            long_put_columns<NT>(job, job.rowptr[row], low, columns, bits, longs.begins + (ull)i * ranges + r, r == 0,
                                 r + 1 == ranges, tiles);
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

/* Cuts each row that is to be sorted into pieces of neighbouring stripes, of at most PIECE_PRODUCTS products; a stripe
 * that has more is to be walked along. A warp a row. */
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
    for (uint32_t first = 0; first < longs.stripes; first += WARP) { /* each lane reads a stripe, all cut */
        const ull from = (ull)i * longs.stripes + first + lane;
        const uint32_t its_n = first + lane < longs.stripes ? longs.counts[from] : 0;
        const uint32_t its_products = its_n > 0 ? longs.products[from] : 0;
        for (unsigned some = __ballot_sync(~0u, its_n > 0); some; some &= some - 1) {
            const uint32_t k = (uint32_t)__ffs((int)some) - 1, low = (first + k) * longs.stripe;
            const uint32_t n = __shfl_sync(~0u, its_n, k), products = __shfl_sync(~0u, its_products, k);
            const uint32_t high = (uint32_t)min((ull)low + longs.stripe, (ull)job.cols);
            if (products > PIECE_PRODUCTS || high - piece.low > PIECE_RANGE ||
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

#endif
