/* The longest rows: a block marks the columns of a range, one bit each, in shared memory, and counts, or writes them to
 * C. Then the row is cut into pieces of neighbouring columns. Where these take long parts of rows of B they are walked
 * along (gpu/kernel_long_add.cuh), else their products are sorted (gpu/kernel_sort.cuh). Any row can be done so. */
#ifndef LSP_SPGEMM_GPU_KERNEL_LONG_MARK_CUH
#define LSP_SPGEMM_GPU_KERNEL_LONG_MARK_CUH

#include "kernel_long_add.cuh"
#include "kernel_sort.cuh"

/* Threads of the blocks that an SM is to hold: as many as it has, which some chips have fewer of. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000
#define LONG_THREADS 1536
#else
#define LONG_THREADS 2048
#endif

enum {
    LONG_NT = 512,       /* threads of a block that marks columns */
    LONG_MANY_NT = 1024, /* the same, where the marks of LONG_MANY columns leave capacity for narrow_each blocks */
    LONG_MANY = 48 << 13,
    LONG_GROUP = 128,            /* columns that are cleared at a time */
    LONG_COUNT_RANGE = 1 << 20,  /* columns that are marked at a time, at most */
    LONG_STRETCH = 4,            /* products of one entry of A that a lane marks together */
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

/* Where columns are marked, and, if `products` is not NULL, counted by stripe, of so many bits of a column's number. */
struct long_marking {
    uint32_t *bits, *products, low, stripe_bits;

    /* Is a column marked? Others mark meanwhile. */
    __device__ bool has(uint32_t place) const { return *(volatile uint32_t *)(bits + place / 32) >> (place % 32) & 1; }
    __device__ void mark(uint32_t place) const { atomicOr(bits + place / 32, 1u << (place % 32)); }
    /* One of each lane, ~0 of those that have none; neighbours in a stripe are added at once. */
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

/* Marks the row's columns in low .. high-1; bits and products were zero. Each warp takes as many neighbouring products,
 * whatever the lengths of B's rows, 32 at a time: a bit tells where among these an entry's first product is. */
template <int NT>
__device__ inline void long_mark_row(const spg_job &job, uint32_t row, uint32_t low, uint32_t high,
                                     const long_marking &marking, part_list<NT> &parts) {
    const uint32_t end = job.A.rowptr[row + 1], lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    /* entries at a time: their products are fewer than 2^32, for columns are narrow_each, or where rows have them twice
     */
    const uint32_t take = job.duplicates ? min(UINT32_MAX / (uint32_t)job.B.nnz, (uint32_t)NT) : NT;
    for (uint32_t p = job.A.rowptr[row]; p < end; p += take) {
        uint32_t slot;
        const uint32_t count = parts.read(job, p, min(end - p, take) + p, low, high, slot);
        const uint32_t total = parts.start[count], each = (total / NT + 1) * WARP;
        uint32_t first = warp * each, left = first < total ? min(total - first, each) : 0;
        uint32_t e = 0; /* the last that begins before `first`, or there */
        for (uint32_t n = left > 0 ? count : 0; n > 1;) {
            const uint32_t half = n / 2;
            e += parts.start[e + half] <= first ? half : 0;
            n -= half;
        }
        while (left > 0) {
            if (min(parts.start[e + 1] - first, left) >= LONG_STRETCH * WARP) { /* all are of one part */
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

template <int NT> __device__ inline uint32_t block_total(uint32_t x, uint32_t *warp_sum) {
    x = __reduce_add_sync(~0u, x);
    __syncthreads();
    if (threadIdx.x % WARP == 0) {
        warp_sum[threadIdx.x / WARP] = x;
    }
    __syncthreads();
    x = 0;
    for (int k = 0; k < NT / WARP; k++) {
        x += warp_sum[k];
    }
    return x;
}

__device__ inline void long_clear(uint32_t *bits, uint32_t columns) {
    for (uint32_t i = threadIdx.x; i < (columns + LONG_GROUP - 1) / LONG_GROUP; i += blockDim.x) {
        ((uint4 *)bits)[i] = make_uint4(0, 0, 0, 0);
    }
    __syncthreads();
}

/* Marks of a group, of which long_clear has cleared all. */
__device__ inline uint32_t count_group(const uint32_t *bits, uint32_t group) {
    const uint4 marks = ((const uint4 *)bits)[group];
    return (uint32_t)(__popc(marks.x) + __popc(marks.y) + __popc(marks.z) + __popc(marks.w));
}

/* ---- counting ---- */

/* Adds the entries of every listed row, of both lists, to rowptr[row + 1]. */
template <int NT>
__global__ void __launch_bounds__(NT)
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
        uint32_t columns = min(job.cols - low, range), sum = 0;
        long_clear(bits, columns);
        long_mark_row(job, row, low, low + columns, {bits, NULL, low, 0}, parts);
        for (uint32_t k = threadIdx.x; k < (columns + LONG_GROUP - 1) / LONG_GROUP; k += NT) {
            sum += count_group(bits, k);
        }
        sum = block_total<NT>(sum, warp_sum);
        if (threadIdx.x == 0 && sum > 0) {
            atomicAdd((ull *)&job.rowptr[row + 1], (ull)sum);
        }
    }
    lsp_end_after_previous();
}

/* ---- listing ---- */

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
