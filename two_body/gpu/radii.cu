/* Pairs within several radii on the GPU. d2 falls into cells by the leading bits of its number; a cell has at most one
 * limit. One comparison with it tells which of the cell's two counters counts the pair; sums over cells give the
 * counts. Each lane has its own counters: no two lanes share a bank. */
#include "tally.cuh"

enum { MOST_CELLS = 200 };

/* Cells of the leading bits of d2: those of a double's upper word. Cell c = bits >> shift less the first one. */
typedef struct edge_cells {
    int base, top, shift, cells;
} edge_cells;

__device__ __forceinline__ int leading_word(float d2) { return __float_as_int(d2); }
__device__ __forceinline__ int leading_word(double d2) { return (int)(__double_as_longlong(d2) >> 32); }
/* a + b, but at least 0 and at most c */
#ifdef __CUDACC__
__device__ __forceinline__ int add_within(int a, int b, int c) { return __viaddmin_s32_relu(a, b, c); }
#else
static inline int add_within(int a, int b, int c) { return max(min(a + b, c), 0); }
#endif

/* The bytes of a cell: the limit for each lane, the counters of the lanes for pairs up to it and beyond it. */
template <typename T> struct edge_row {
    T limit[WARP];
    unsigned within[WARP], beyond[WARP];
};

template <typename S> struct edge_bins {
    typedef typename S::number number;
    typedef edge_row<number> row;
    enum { GROUP = 2, UNROLL = 1 };
    struct setup {
        edge_cells cells;
        const number *limits; /* of each cell: infinite if it has none */
    };
    const setup &s;
    row *table;
    unsigned lane;

    __device__ edge_bins(const setup &s_, ull *) : s(s_) {
        LSP_DYNAMIC_SHARED(memory);
        table = (row *)memory;
        lane = shared_address(memory) + threadIdx.x % WARP * 4;
    }
    __device__ void start_table() {
        for (int i = (int)threadIdx.x; i < s.cells.cells * WARP; i += (int)blockDim.x) {
            row *const cell = &table[i / WARP];
            cell->limit[i % WARP] = s.limits[i / WARP];
            cell->within[i % WARP] = cell->beyond[i % WARP] = 0;
        }
        __syncthreads();
    }
    template <int N, bool MASKED>
    __device__ __forceinline__ void take(const number (&d2)[N], const bool (&in)[N], int) {
        unsigned at[N];
        number limit[N];
#pragma unroll
        for (int p = 0; p < N; p++) {
            const int cell = add_within(leading_word(d2[p]), s.cells.base, s.cells.top) >> s.cells.shift;
            at[p] = (unsigned)cell * (unsigned)sizeof(row) + lane;
            shared_read(at[p] + (sizeof(number) == 8 ? threadIdx.x % WARP * 4 : 0), &limit[p]);
        }
#pragma unroll
        for (int p = 0; p < N; p++) {
            if (d2[p] > limit[p]) {
                at[p] += WARP * 4;
            }
            if (!MASKED || in[p]) {
                shared_count<WARP *(int)sizeof(number)>(at[p]);
            }
        }
    }
    /* d2 falls into a cell, up to its limit or beyond it. */
    __device__ __forceinline__ int place_of(number low, number high) const {
        const int first = add_within(leading_word(low), s.cells.base, s.cells.top) >> s.cells.shift;
        const int last = add_within(leading_word(high), s.cells.base, s.cells.top) >> s.cells.shift;
        for (int c = first; c <= last; c++) {
            if (low <= table[c].limit[0] && high > table[c].limit[0]) {
                return UNSETTLED;
            }
        }
        return 2 * first + (low > table[first].limit[0]);
    }
    __device__ __forceinline__ void end_chunk(int) {}
    __device__ void flush(ull *sums) {
        __syncthreads();
        for (int i = (int)threadIdx.x; i < 2 * s.cells.cells; i += (int)blockDim.x) {
            unsigned *const counters = i % 2 ? table[i / 2].beyond : table[i / 2].within;
            ull sum = 0;
            for (int l = 0; l < WARP; l++) {
                unsigned *const counter = &counters[(l + i) % WARP];
                sum += *counter;
                *counter = 0;
            }
            atomicAdd(&sums[i], sum);
        }
        __syncthreads();
    }
};

template <typename S>
static lsp_status start(lsp_ctx *ctx, lsp_pair_job *job, const pair_walk *walk, const edge_cells *cells,
                        const void *limits, ull *sums, ull *cursor) {
    typedef edge_bins<S> bins;
    const typename bins::setup setup = {*cells, (const typename S::number *)limits};
    const int64_t table = cells->cells * (int64_t)sizeof(typename bins::row);
    const lsp_pair_method method = job->info.method;
    return method == LSP_PAIR_GRID    ? tally_near<S, bins>(ctx, walk, table, setup, sums, cursor + 1)
           : method == LSP_PAIR_BOXES ? tally_boxes<S, bins>(ctx, job, walk, table, setup, sums, cursor)
                                      : tally_all<S, bins>(ctx, walk, table, 512, setup, sums);
}
#define START(space, ...) start<LSP_BARE space>(__VA_ARGS__)

/* ---- on the host: which limits go together ---- */

static int limit_word(lsp_type type, double limit) {
    const float narrow = (float)limit;
    uint64_t bits;
    uint32_t word;
    memcpy(&bits, &limit, sizeof bits);
    memcpy(&word, &narrow, sizeof word);
    return type == LSP_F32 ? (int)word : (int)(bits >> 32);
}

/* Finds cells for limits that ascend without repeats; false if there are none with one limit each, or too many. */
static bool find_cells(lsp_type type, const double *limits, int64_t n, edge_cells *found) {
    for (int shift = type == LSP_F32 ? 22 : 19; shift >= 0; shift--) {
        const int first = limit_word(type, limits[0]) >> shift, last = limit_word(type, limits[n - 1]) >> shift;
        bool apart = true;
        if (last - first + 3 > MOST_CELLS) {
            return false;
        }
        for (int64_t i = 1; i < n; i++) {
            apart = apart && limit_word(type, limits[i]) >> shift != limit_word(type, limits[i - 1]) >> shift;
        }
        if (apart) {
            const int cells = last - first + 3;
            *found = {(1 - first) * (1 << shift), cells * (1 << shift) - 1, shift, cells};
            return true;
        }
    }
    return false;
}

/* Counts within the sorted limits 0..n-1, which fit `cells`; a pass over all pairs. */
static lsp_status count_cells(lsp_ctx *ctx, lsp_pair_job *job, const pair_walk *walk, const edge_cells *cells,
                              const double *limits, int64_t n, ull *there, uint64_t *counts) {
    const int64_t items = 2 * cells->cells;
    double edges[MOST_CELLS]; /* room for either type */
    ull here[2 * MOST_CELLS], sum = 0;
    void *device_edges = there + 2 * MOST_CELLS + 2;
    for (int c = 0; c < cells->cells; c++) {
        lsp_real_set(edges, job->type, c, INFINITY);
    }
    for (int64_t i = 0; i < n; i++) {
        const int c = (limit_word(job->type, limits[i]) + cells->base) >> cells->shift;
        lsp_real_set(edges, job->type, c, limits[i]);
    }
    LSP_TRY(
        lsp_cuda_copy(ctx, device_edges, LSP_CUDA, edges, LSP_HOST, cells->cells * (int64_t)lsp_type_bytes(job->type)));
    LSP_TRY(lsp_cuda_clear(ctx, there, (2 * MOST_CELLS + 1) * (int64_t)sizeof *there));
    LSP_TRY(LSP_WITH_SPACE(job, START, ctx, job, walk, cells, device_edges, there, there + 2 * MOST_CELLS));
    LSP_TRY(lsp_pair_meanwhile(ctx, job));
    LSP_TRY(lsp_cuda_read(ctx, here, there, items * (int64_t)sizeof *there));
    for (int64_t i = 0, c = 0; i < n; i++) {
        const int64_t own = (limit_word(job->type, limits[i]) + cells->base) >> cells->shift;
        for (; c < own; c++) {
            sum += here[2 * c] + here[2 * c + 1];
        }
        counts[i] = sum + here[2 * own];
    }
    return LSP_OK;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

extern "C" lsp_status lsp_pair_radii_cuda(lsp_ctx *ctx, lsp_pair_job *job, const double *limits, int64_t radii,
                                          uint64_t *counts) {
    pair_walk walk = {job->metric, job->grid, pair_clouds_of(job), job->self};
    double *sorted;
    uint64_t *found;
    ull *there, tested;
    int64_t n = 0;
    LSP_TRY(LSP_SCRATCH(ctx, radii, &sorted));
    LSP_TRY(LSP_SCRATCH(ctx, radii, &found));
    memcpy(sorted, limits, (size_t)radii * sizeof *sorted);
    qsort(sorted, (size_t)radii, sizeof *sorted, compare);
    for (int64_t i = 0; i < radii; i++) {
        if (n == 0 || sorted[i] > sorted[n - 1]) {
            sorted[n++] = sorted[i];
        }
    }
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, 3 * MOST_CELLS + 2, &there));
    LSP_TRY(lsp_cuda_clear(ctx, there + 2 * MOST_CELLS + 1, sizeof *there));
    for (int64_t i = 0, end; i < n; i = end) {
        edge_cells cells = {}, more;
        for (end = i; end < n && find_cells(job->type, sorted + i, end + 1 - i, &more); end++) {
            cells = more;
        }
        LSP_TRY(count_cells(ctx, job, &walk, &cells, sorted + i, end - i, there, found + i));
    }
    LSP_TRY(lsp_cuda_read(ctx, &tested, there + 2 * MOST_CELLS + 1, sizeof tested));
    for (int64_t k = 0; k < radii; k++) {
        counts[k] = found[LSP_FIRST((int64_t)0, n - 1, i, sorted[i] >= limits[k])];
    }
    job->info.tested = job->info.method != LSP_PAIR_ALL ? (int64_t)tested : lsp_pair_total(job) / job->parts;
    return LSP_OK;
}
