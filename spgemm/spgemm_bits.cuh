/* The longest rows, by ranges of columns: a block marks the columns of a range, one bit each, in shared memory; the
 * bits before a column say where it stands. Values are added there, each warp those of a part of the columns
 * (spgemm_walk.cuh), in the order of A's entries. Any row can be done so. */
#ifndef LSP_SPGEMM_BITS_CUH
#define LSP_SPGEMM_BITS_CUH

#include "spgemm_sort.cuh"
#include "spgemm_walk.cuh"

enum {
    BITS_COUNT_NT = 512,
    BITS_FILL_NT = 256,
    BITS_GROUP = 128,           /* columns: one place is remembered for each so many */
    BITS_COUNT_RANGE = 1 << 20, /* columns that are marked at a time when they are counted, at most */
    BITS_FILL_RANGE = 1 << 18,  /* and when they are filled */
    BITS_FILL_MOST = 4096,      /* sums at a time: of entries of C, or of columns, if a piece has no more */
    BITS_CELLS = 128,           /* of columns, in which products are counted, about, to give each warp as many */
    BITS_SAMPLES = 4,           /* of each part of B's row */
    BITS_STRIPES = 256,         /* parts of the columns of which a long row's entries are counted, about */
    BITS_LEAST_STRIPE = 1024,   /* columns */
    BITS_SORT_ENTRIES = 1024,   /* entries of A: so many are looked through for each piece that is sorted */
    BITS_SORT_LENGTH = 64,      /* products an entry: or any number of such short ones */
    BITS_SORT_COMPRESSION = 16  /* products a column: more are not sorted */
};

/* What the pieces are made from: the listed rows, and how many entries of C and products each has in every stripe of
 * columns. Pieces of few products are sorted, the others done here. */
typedef struct bits_plan {
    spg_list list;
    uint32_t range, stripe, stripes; /* columns of a piece at most, columns of a stripe, stripes */
    uint32_t count_range;            /* columns that are counted at a time at most */
    uint32_t *counts, *products;     /* `stripes` each row */
    spg_piece *pieces, *sorted;
    uint32_t *made, *sorted_made; /* how many there are */
    ull *taken;                   /* pieces, or rows, that a block has taken, of the kernel at hand */
} bits_plan;

/* Of up to NT entries of A's row those with products in the range: the part of B's row, and where its products begin
 * among all of these. */
template <int NT> struct bits_entries {
    uint32_t at[NT];
    ull start[NT + 1];
    ull warp_sum[NT / WARP];
    uint32_t warp_count[NT / WARP];
};

/* Leaves those of entries p .. p+NT-1, all columns in low .. high-1; returns how many. */
template <int NT>
__device__ inline uint32_t bits_read(const spg_job &job, uint32_t p, uint32_t end, uint32_t low, uint32_t high,
                                     bits_entries<NT> &entries) {
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t at = 0, length = 0, before = 0, count = 0;
    ull sum, start = 0, total = 0;
    if (p + threadIdx.x < end) {
        const uint32_t k = __ldg(job.A.col + p + threadIdx.x);
        at = __ldg(job.B.rowptr + k);
        length = __ldg(job.B.rowptr + k + 1) - at;
        if (low > 0 || high < job.cols) {
            const uint32_t outer[2] = {low, high};
            uint32_t n[1] = {length}, ends[1][2] = {{at, at}};
            lower_bounds<1, 2>(job.B.col, n, outer, ends);
            at = ends[0][0];
            length = ends[0][1] - at;
        }
    }
    sum = length;
    for (uint32_t d = 1; d < WARP; d *= 2) {
        const ull other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? other : 0;
    }
    const unsigned some = __ballot_sync(~0u, length > 0);
    __syncthreads(); /* the entries before are done with */
    if (lane == WARP - 1) {
        entries.warp_sum[warp] = sum;
        entries.warp_count[warp] = (uint32_t)__popc(some);
    }
    __syncthreads();
    for (uint32_t k = 0; k < NT / WARP; k++) {
        start += k < warp ? entries.warp_sum[k] : 0, before += k < warp ? entries.warp_count[k] : 0;
        total += entries.warp_sum[k], count += entries.warp_count[k];
    }
    if (length > 0) {
        const uint32_t e = before + (uint32_t)__popc(some & ((1u << lane) - 1));
        entries.at[e] = at;
        entries.start[e] = start + sum - length;
    }
    if (threadIdx.x == 0) {
        entries.start[count] = total;
    }
    __syncthreads();
    return count;
}

/* Where columns are marked, and, if `products` is not NULL, counted by stripe. */
struct bits_marking {
    uint32_t *bits, *products, low, stripe;

    __device__ void mark(uint32_t place) const {
        uint32_t *word = bits + place / 32, bit = 1u << (place % 32);
        if (!(*(volatile uint32_t *)word & bit)) {
            atomicOr(word, bit);
        }
    }
    /* One of each lane, ~0 of those that have none; neighbours in a stripe are added at once. */
    __device__ void count(uint32_t place) const {
        const uint32_t lane = threadIdx.x % WARP, part = place == ~0u ? ~0u : place / stripe;
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
__device__ inline void bits_mark_row(const spg_job &job, uint32_t row, uint32_t low, uint32_t high,
                                     const bits_marking &marking, bits_entries<NT> &entries) {
    const uint32_t end = job.A.rowptr[row + 1], lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (uint32_t p = job.A.rowptr[row]; p < end; p += NT) {
        const uint32_t count = bits_read<NT>(job, p, end, low, high, entries);
        const ull total = entries.start[count], each = (total + NT - 1) / NT * WARP;
        const ull last = min((warp + 1) * each, total);
        ull first = warp * each;
        uint32_t e = 0; /* the last that begins before `first`, or there */
        for (uint32_t n = first < last ? count : 0; n > 1;) {
            const uint32_t half = n / 2;
            e += entries.start[e + half] <= first ? half : 0;
            n -= half;
        }
        for (; first < last; first += WARP) {
            const ull begin = entries.start[min(e + 1 + lane, count)] - first;
            const unsigned begins = __reduce_or_sync(~0u, begin < WARP ? 1u << begin : 0);
            const uint32_t mine = e + (uint32_t)__popc(begins & ((2u << lane) - 1));
            uint32_t place = ~0u;
            if (first + lane < last) {
                place = __ldg(job.B.col + (entries.at[mine] + (uint32_t)(first + lane - entries.start[mine]))) - low;
                marking.mark(place);
            }
            if (marking.products) {
                marking.count(place);
            }
            e += (uint32_t)__popc(begins);
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

/* The next piece of work, the same for all threads. */
__device__ inline ull take_next(ull *counter, ull *shared) {
    __syncthreads();
    if (threadIdx.x == 0) {
        *shared = atomicAdd(counter, 1ull);
    }
    __syncthreads();
    return *shared;
}

__device__ inline void bits_clear(uint32_t *bits, uint32_t columns) {
    for (uint32_t i = threadIdx.x; i < (columns + BITS_GROUP - 1) / BITS_GROUP; i += blockDim.x) {
        ((uint4 *)bits)[i] = make_uint4(0, 0, 0, 0);
    }
    __syncthreads();
}

/* ---- counting ---- */

/* Adds the entries of every listed row, of both lists, to rowptr[row + 1]. */
static __global__ void __launch_bounds__(BITS_COUNT_NT)
    kernel_bits_count(spg_job job, spg_list list, spg_rest rest, uint32_t range, ull *taken) {
    LSP_DYNAMIC_SHARED(memory);
    __shared__ bits_entries<BITS_COUNT_NT> entries;
    __shared__ uint32_t warp_sum[BITS_COUNT_NT / WARP];
    __shared__ ull next;
    uint32_t *bits = (uint32_t *)memory;
    const uint32_t ranges = (job.cols - 1) / range + 1;
    const ull tasks = (ull)(list.count + *rest.count) * ranges;
    for (ull task = take_next(taken, &next); task < tasks; task = take_next(taken, &next)) {
        const uint32_t i = (uint32_t)(task / ranges), low = (uint32_t)(task % ranges) * range;
        const uint32_t row = i < list.count ? list.rows[i] : rest.rows[i - list.count];
        uint32_t columns = min(job.cols - low, range), sum = 0;
        bits_clear(bits, columns);
        bits_mark_row(job, row, low, low + columns, {bits, NULL, low, 1}, entries);
        for (uint32_t k = threadIdx.x; k < (columns + 31) / 32; k += BITS_COUNT_NT) {
            sum += (uint32_t)__popc(bits[k]);
        }
        sum = block_total<BITS_COUNT_NT>(sum, warp_sum);
        if (threadIdx.x == 0 && sum > 0) {
            atomicAdd((ull *)&job.rowptr[row + 1], (ull)sum);
        }
    }
}

/* How many entries of C and products each row has in every stripe. Stripes do not straddle the ranges. */
static __global__ void __launch_bounds__(BITS_COUNT_NT) kernel_bits_stripes(spg_job job, bits_plan plan) {
    LSP_DYNAMIC_SHARED(memory);
    __shared__ bits_entries<BITS_COUNT_NT> entries;
    __shared__ uint32_t products[BITS_COUNT_RANGE / BITS_LEAST_STRIPE];
    __shared__ ull next;
    uint32_t *bits = (uint32_t *)memory;
    const uint32_t range = plan.count_range / plan.stripe * plan.stripe, ranges = (job.cols - 1) / range + 1;
    const ull tasks = (ull)plan.list.count * ranges;
    for (ull task = take_next(plan.taken, &next); task < tasks; task = take_next(plan.taken, &next)) {
        const uint32_t i = (uint32_t)(task / ranges), row = list_row(plan.list, i),
                       low = (uint32_t)(task % ranges) * range;
        const uint32_t columns = min(job.cols - low, range), warp = threadIdx.x / WARP;
        for (uint32_t s = threadIdx.x; s * plan.stripe < columns; s += BITS_COUNT_NT) {
            products[s] = 0;
        }
        bits_clear(bits, columns);
        bits_mark_row(job, row, low, low + columns, {bits, products, low, plan.stripe}, entries);
        for (uint32_t s = warp; s * plan.stripe < columns; s += BITS_COUNT_NT / WARP) {
            uint32_t sum = 0, last = min((s + 1) * plan.stripe, columns);
            for (uint32_t k = s * plan.stripe / 32 + threadIdx.x % WARP; k < (last + 31) / 32; k += WARP) {
                sum += (uint32_t)__popc(bits[k]);
            }
            sum = __reduce_add_sync(~0u, sum);
            if (threadIdx.x % WARP == 0) {
                const ull to = (ull)i * plan.stripes + low / plan.stripe + s;
                plan.counts[to] = sum;
                plan.products[to] = products[s];
            }
        }
        __syncthreads();
    }
}

/* ---- filling ---- */

__device__ inline void put_piece(const bits_plan &plan, const spg_piece &piece, bool sorted) {
    if (sorted) {
        plan.sorted[atomicAdd(plan.sorted_made, 1u)] = piece;
    } else {
        plan.pieces[atomicAdd(plan.made, 1u)] = piece;
    }
}

/* Cuts each listed row into pieces of neighbouring stripes: of at most PIECE_PRODUCTS products where these are to be
 * sorted, else of at most BITS_FILL_MOST entries; but a stripe is never cut. A warp a row. */
static __global__ void kernel_bits_cut(spg_job job, bits_plan plan) {
    const uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    if (i >= plan.list.count) {
        return;
    }
    const uint32_t row = list_row(plan.list, i), entries = job.A.rowptr[row + 1] - job.A.rowptr[row];
    const uint32_t row_n = (uint32_t)(job.rowptr[row + 1] - job.rowptr[row]);
    const int64_t most = (int64_t)row_n * BITS_SORT_COMPRESSION;
    const bool sort =
        job.products[row] < most && (entries <= BITS_SORT_ENTRIES || job.products[row] / BITS_SORT_LENGTH < entries);
    spg_piece piece = {job.rowptr[row], row, 0, 0, 0, 0};
    bool sorted = sort;
    for (uint32_t first = 0; first < plan.stripes; first += WARP) { /* each lane reads a stripe, all cut */
        const ull from = (ull)i * plan.stripes + first + lane;
        const bool whole = plan.stripes == 1;
        const uint32_t its_n = first + lane >= plan.stripes ? 0 : whole ? row_n : plan.counts[from];
        const uint32_t its_products = its_n == 0 ? 0 : whole ? job.products[row] : plan.products[from];
        for (unsigned some = __ballot_sync(~0u, its_n > 0); some; some &= some - 1) {
            const uint32_t k = (uint32_t)__ffs((int)some) - 1, low = (first + k) * plan.stripe;
            const uint32_t n = __shfl_sync(~0u, its_n, k), products = __shfl_sync(~0u, its_products, k);
            const uint32_t high = (uint32_t)min((ull)low + plan.stripe, (ull)job.cols);
            const bool sortable = sort && products <= PIECE_PRODUCTS;
            const uint32_t range = sorted ? (uint32_t)PIECE_RANGE : plan.range;
            if (piece.n > 0 && (sortable != sorted || high - piece.low > range ||
                                (sorted ? piece.products + products > PIECE_PRODUCTS : piece.n + n > BITS_FILL_MOST))) {
                if (lane == 0) {
                    put_piece(plan, piece, sorted);
                }
                piece.at += piece.n;
                piece.n = piece.products = 0;
            }
            piece.low = piece.n == 0 ? low : piece.low;
            piece.high = high;
            piece.n += n, piece.products += products;
            sorted = sortable;
        }
    }
    if (piece.n > 0 && lane == 0) {
        put_piece(plan, piece, sorted);
    }
}

/* Marks of a range of columns, and how many come before each group. */
struct bits_marks {
    uint32_t *bits, *before;

    /* Of a column that is marked, counted from the range's first: how many come before it. */
    __device__ uint32_t rank(uint32_t column) const {
        const uint4 word = ((const uint4 *)bits)[column / BITS_GROUP];
        const uint32_t below = (1u << (column % 32)) - 1, part = column / 32 % 4;
        uint32_t sum = before[column / BITS_GROUP];
        sum += (uint32_t)__popc(part == 0 ? word.x & below : word.x);
        sum += part == 0 ? 0 : (uint32_t)__popc(part == 1 ? word.y & below : word.y);
        sum += part <= 1 ? 0 : (uint32_t)__popc(part == 2 ? word.z & below : word.z);
        sum += part <= 2 ? 0 : (uint32_t)__popc(word.w & below);
        return sum;
    }
    /* The column of a rank. A warp asks. */
    __device__ uint32_t column(uint32_t rank, uint32_t groups) const {
        uint32_t g = 0, k;
        for (uint32_t n = groups; n > 1;) { /* the last group that does not begin behind it */
            const uint32_t half = n / 2;
            g += before[g + half] <= rank ? half : 0;
            n -= half;
        }
        rank -= before[g];
        for (k = g * (BITS_GROUP / 32); rank >= (uint32_t)__popc(bits[k]); k++) {
            rank -= (uint32_t)__popc(bits[k]);
        }
        const uint32_t lane = threadIdx.x % WARP, below = bits[k] & ((1u << lane) - 1);
        const bool mine = bits[k] >> lane & 1 && (uint32_t)__popc(below) == rank;
        return k * 32 + (uint32_t)__ffs((int)__ballot_sync(~0u, mine)) - 1;
    }
    /* Fills before[] for so many groups. */
    template <int NT> __device__ void sum_up(uint32_t groups, uint32_t *warp_sum) const {
        uint32_t all = 0, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        for (uint32_t first = 0; first < groups; first += NT) {
            uint32_t g = first + threadIdx.x, x = 0, sum, mine = 0, total = 0;
            if (g < groups) {
                uint4 word = ((const uint4 *)bits)[g];
                x = (uint32_t)(__popc(word.x) + __popc(word.y) + __popc(word.z) + __popc(word.w));
            }
            sum = x;
            for (uint32_t d = 1; d < WARP; d *= 2) {
                uint32_t other = __shfl_up_sync(~0u, sum, d);
                sum += lane >= d ? other : 0;
            }
            if (lane == WARP - 1) {
                warp_sum[warp] = sum;
            }
            __syncthreads();
            for (uint32_t k = 0; k < NT / WARP; k++) {
                mine += k < warp ? warp_sum[k] : 0;
                total += warp_sum[k];
            }
            if (g < groups) {
                before[g] = all + mine + sum - x;
            }
            all += total;
            __syncthreads();
        }
    }
};

/* Writes the entries of C of ranks first .. first+n-1; their sums are at their ranks, less `first`, or (direct) at
 * their columns, less the piece's first. */
template <int NT, typename V>
__device__ inline void bits_put(const spg_job &job, const spg_piece &piece, const bits_marks &marks, uint32_t first,
                                uint32_t n, bool direct, const V *sums) {
    const uint32_t lane = threadIdx.x % WARP, words = (piece.high - piece.low + 31) / 32;
    for (uint32_t k = threadIdx.x / WARP * WARP; k < words; k += NT) {
        uint32_t word = k + lane < words ? marks.bits[k + lane] : 0;
        for (unsigned some = __ballot_sync(~0u, word != 0); some; some &= some - 1) {
            uint32_t from = (uint32_t)__ffs((int)some) - 1, bits = __shfl_sync(~0u, word, from);
            if (bits >> lane & 1) {
                const uint32_t column = (k + from) * 32 + lane, rank = marks.rank(column) - first;
                if (rank < n) {
                    put_col(job, piece.at + first + rank, piece.low + column);
                    put_value<V>(job, piece.at + first + rank, settled(sums[direct ? column : rank]));
                }
            }
        }
    }
}

/* Of up to NT entries of A's row: where in B's row each warp's part of the columns begins and ends, and A's value. */
template <int NT, typename V> struct bits_parts {
    enum { N = NT / WARP };
    uint32_t low[N + 1]; /* columns */
    uint32_t cells[BITS_CELLS];
    uint32_t at[N + 1][NT];
    V value[NT];
};

/* Gives each warp about as many of the products that have been sampled. The first warp comes here. */
template <int NT, typename V> __device__ inline void bits_deal(bits_parts<NT, V> &parts, uint32_t shift) {
    enum { N = NT / WARP, EACH = BITS_CELLS / WARP };
    const uint32_t lane = threadIdx.x % WARP, low = parts.low[0], high = parts.low[N];
    uint32_t mine[EACH], sum = 0, before, total;
#pragma unroll
    for (uint32_t k = 0; k < EACH; k++) {
        sum += mine[k] = parts.cells[lane * EACH + k];
    }
    before = sum;
    for (uint32_t d = 1; d < WARP; d *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, before, d);
        before += lane >= d ? other : 0;
    }
    total = __shfl_sync(~0u, before, WARP - 1);
    before -= sum;
    if (lane > 0 && lane < N) {
        parts.low[lane] = high; /* nothing sampled */
    }
    __syncwarp();
#pragma unroll
    for (uint32_t k = 0; k < EACH; k++) {
        for (uint32_t i = 1; i < N; i++) {
            const ull here = (ull)total * i;
            if ((ull)before * N < here && here <= (ull)(before + mine[k]) * N) {
                parts.low[i] = min(low + ((lane * EACH + k + 1) << shift), high);
            }
        }
        before += mine[k];
    }
}

/* Reads A's entries p .. p+NT-1, of their products those in the columns low[0] .. low[N]-1, and cuts these columns. */
template <int NT, typename V>
__device__ inline void bits_read_parts(const spg_job &job, uint32_t p, uint32_t end, bits_parts<NT, V> &parts) {
    enum { N = NT / WARP };
    const uint32_t t = threadIdx.x;
    uint32_t n[1] = {0}, outer[1][2] = {}, at[1][N - 1];
    __syncthreads(); /* the entries before are done with */
    const uint32_t low = parts.low[0], high = parts.low[N];
    const uint32_t shift = (uint32_t)max(lsp_bits_below(high - low) - lsp_bits_below(BITS_CELLS), 0);
    for (uint32_t k = t; k < BITS_CELLS; k += NT) {
        parts.cells[k] = 0;
    }
    __syncthreads();
    if (p + t < end) {
        const uint32_t k = __ldg(job.A.col + p + t), ends[2] = {low, high};
        outer[0][0] = __ldg(job.B.rowptr + k);
        n[0] = __ldg(job.B.rowptr + k + 1) - outer[0][0];
        outer[0][1] = outer[0][0] + n[0];
        if (low > 0 || high < job.cols) {
            outer[0][1] = outer[0][0];
            lower_bounds<1, 2>(job.B.col, n, ends, outer);
        }
        n[0] = outer[0][1] - outer[0][0];
#pragma unroll
        for (uint32_t k = 0; k < BITS_SAMPLES; k++) {
            if (n[0] > 0) {
                const uint32_t q = (uint32_t)((ull)n[0] * (2 * k + 1) / (2 * BITS_SAMPLES));
                const uint32_t cell = (__ldg(job.B.col + outer[0][0] + q) - low) >> shift;
                atomicAdd(parts.cells + cell, min(n[0], 1u << 20));
            }
        }
        parts.value[t] = value_at<V>(job.A, p + t);
    }
    __syncthreads();
    if (t < WARP) {
        bits_deal<NT, V>(parts, shift);
    }
    __syncthreads();
    if (p + t < end) {
#pragma unroll
        for (int i = 0; i < N - 1; i++) {
            at[0][i] = outer[0][0];
        }
        lower_bounds<1, N - 1>(job.B.col, n, parts.low + 1, at);
        parts.at[0][t] = outer[0][0], parts.at[N][t] = outer[0][1];
#pragma unroll
        for (int i = 0; i < N - 1; i++) {
            parts.at[i + 1][t] = at[0][i];
        }
    }
    __syncthreads();
}

/* Adds all products of the row in the parts to the sums: that of a column at sums[place_of(column)]. */
template <int NT, typename V, typename Place>
__device__ inline void bits_add_row(const spg_job &job, uint32_t row, bits_parts<NT, V> &parts, const Place &place_of,
                                    V *sums) {
    const uint32_t end = job.A.rowptr[row + 1], warp = threadIdx.x / WARP;
    for (uint32_t p = job.A.rowptr[row]; p < end; p += NT) {
        bits_read_parts<NT, V>(job, p, end, parts);
        const auto read = [&](uint32_t e) {
            const uint32_t at = parts.at[warp][e];
            return walk_entry<V>{at, parts.at[warp + 1][e] - at, parts.value[e]};
        };
        add_products<3, V>(job, 0, min(end - p, (uint32_t)NT), job.repeats ? 1 : WARP, read, place_of, sums);
    }
    __syncthreads();
}

template <typename V> __global__ void __launch_bounds__(BITS_FILL_NT) kernel_bits_fill(spg_job job, bits_plan plan) {
    enum { NT = BITS_FILL_NT };
    LSP_DYNAMIC_SHARED(memory);
    __shared__ union {
        bits_entries<NT> entries;
        bits_parts<NT, V> parts;
    } shared;
    __shared__ uint32_t warp_sum[NT / WARP];
    __shared__ ull next;
    const uint32_t range = min(plan.range, (job.cols + BITS_GROUP - 1) / BITS_GROUP * BITS_GROUP);
    V *sums = (V *)memory;
    bits_marks marks;
    marks.bits = (uint32_t *)(memory + (value_kind<V>::valued ? BITS_FILL_MOST * sizeof(V) : 0));
    marks.before = marks.bits + range / 32;
    const uint32_t made = *plan.made;
    lsp_let_next_begin();
    for (ull i = take_next(plan.taken, &next); i < made; i = take_next(plan.taken, &next)) {
        const spg_piece task = plan.pieces[i];
        const uint32_t columns = task.high - task.low, groups = (columns + BITS_GROUP - 1) / BITS_GROUP;
        const bits_marking marking = {marks.bits, NULL, task.low, 1};
        const bool direct = value_kind<V>::valued && columns <= BITS_FILL_MOST; /* columns are marked when added to */
        bits_clear(marks.bits, columns);
        if (!direct) {
            bits_mark_row(job, task.row, task.low, task.high, marking, shared.entries);
            marks.sum_up<NT>(groups, warp_sum);
        }
        for (uint32_t first = 0; first < task.n; first += BITS_FILL_MOST) {
            const uint32_t n = min(task.n - first, (uint32_t)BITS_FILL_MOST);
            if constexpr (value_kind<V>::valued) {
                for (uint32_t k = threadIdx.x; k < (direct ? columns : n); k += NT) {
                    sums[k] = value_kind<V>::nothing(job);
                }
                const uint32_t warp = threadIdx.x / WARP;
                if (warp == 0) {
                    shared.parts.low[0] = first == 0 ? task.low : task.low + marks.column(first, groups);
                } else if (warp == 1) {
                    shared.parts.low[NT / WARP] =
                        first + n == task.n ? task.high : task.low + marks.column(first + n, groups);
                }
                const auto place_of = [&](uint32_t column) {
                    const uint32_t place = column - task.low;
                    if (direct) {
                        marking.mark(place);
                        return place;
                    }
                    return marks.rank(place) - first;
                };
                bits_add_row<NT, V>(job, task.row, shared.parts, place_of, sums);
                if (direct) {
                    marks.sum_up<NT>(groups, warp_sum);
                }
            }
            bits_put<NT, V>(job, task, marks, first, n, direct, sums);
            __syncthreads();
        }
    }
    lsp_end_after_previous();
}

#endif
