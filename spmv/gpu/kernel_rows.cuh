/* y = A*x, rows by rows. A tile is some consecutive rows, and each row belongs to a few lanes.
 * kernel_tiles (compute capability 9.0): bulk copies bring the entries of a tile to shared memory, and the lanes read
 * them there. So the stream of entries does not depend on how lanes lie on rows, and few lanes may be chosen: then
 * neighbouring lanes work on neighbouring rows, which read neighbours in x.
 * kernel_lanes: lanes read entries where they are. For long rows, int64 columns, semirings, older GPUs. */
#ifndef LSP_SPMV_GPU_KERNEL_ROWS_CUH
#define LSP_SPMV_GPU_KERNEL_ROWS_CUH

#include "core/bulk.cuh"
#include "list.cuh"

enum { ROWS_AHEAD = 5, LANES_NT = 256 }; /* entries that a lane of kernel_lanes loads before it adds the first */

struct rows_launch {
    spmv_job job;
    spmv_area area; /* state NULL: no list */
    int64_t tiles;
    int lanes, tile_rows, room;
    bool gated;
};

/* ---- lanes read entries where they are ---- */

/* The sum of this lane's share of the entries begin .. end-1: entry lane, lane + lanes, ... */
template <typename V, typename T, bool PLUS, typename C>
__device__ inline typename spmv_sum<T, PLUS>::type lanes_sum(const spmv_job &job, const C *col, int64_t begin,
                                                             int64_t end, int lanes, const T *x, spmv_faults *faults) {
    typedef typename spmv_sum<T, PLUS>::type S;
    S sum = (S)spmv_nothing<PLUS>(job);
    for (int64_t k = begin; k < end; k += ROWS_AHEAD * lanes) {
        int64_t c[ROWS_AHEAD];
        V v[ROWS_AHEAD];
        T from[ROWS_AHEAD];
#pragma unroll
        for (int r = 0; r < ROWS_AHEAD; r++) {
            const int64_t at = k + r * lanes;
            c[r] = at < end ? (int64_t)col[at] : -1;
            if (at < end) {
                v[r] = spmv_value<V>(job.val, at);
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS_AHEAD; r++) {
            if ((uint64_t)c[r] < (uint64_t)job.cols) {
                from[r] = __ldg(x + c[r] * job.x_row);
            } else if (k + r * lanes < end) {
                faults->entry = k + r * lanes;
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS_AHEAD; r++) {
            if ((uint64_t)c[r] < (uint64_t)job.cols) {
                sum = spmv_add<V, T, PLUS>(job.semiring, sum, v[r], from[r]);
            }
        }
    }
    return sum;
}

/* Rows of a tile, by lanes; all vectors, one after the other. */
template <typename V, typename T, bool PLUS>
static __global__ void __launch_bounds__(LANES_NT) kernel_lanes(rows_launch l) {
    const spmv_job &job = l.job;
    const int lane = (int)threadIdx.x % l.lanes, slots = LANES_NT / l.lanes;
    const spmv_factors<T> factors = spmv_read_factors<T>(job);
    spmv_faults faults;
    lsp_let_next_begin();
    if (l.gated && rows_are_cut(l, &faults)) {
        faults.report(job);
        return;
    }
    for (int64_t tile = blockIdx.x; tile < l.tiles; tile += gridDim.x) {
        const int64_t first = tile * l.tile_rows, last = min(first + l.tile_rows, job.rows);
        if (l.area.state && rows_are_listed(l, first, last, &faults)) {
            continue;
        }
        for (int64_t base = first; base < last; base += slots) {
            const int64_t row = base + (int)threadIdx.x / l.lanes;
            const int64_t at = row < last ? spmv_rowptr(job, row) : 0, to = row < last ? spmv_rowptr(job, row + 1) : 0;
            const int64_t begin = spmv_clamp(at, 0, job.nnz), end = spmv_clamp(to, begin, job.nnz);
            faults.row = row < last && spmv_is_malformed(job, row, at, to) ? row : faults.row;
            for (int64_t vector = 0; vector < job.vectors; vector++) {
                const T *const x = (const T *)job.x + vector * job.x_vector;
                typename spmv_sum<T, PLUS>::type sum =
                    job.wide_col ? lanes_sum<V, T, PLUS>(job, (const long long *)job.col, begin + lane, end, l.lanes, x,
                                                         &faults)
                                 : lanes_sum<V, T, PLUS>(job, (const int32_t *)job.col, begin + lane, end, l.lanes, x,
                                                         &faults);
                sum = spmv_join_lanes<T, PLUS>(job.semiring, sum, l.lanes);
                if (lane == 0 && row < last) {
                    spmv_finish<T, PLUS>(job, factors, row, vector, sum, begin == end);
                }
            }
        }
    }
    faults.report(job);
}

/* ---- bulk copies ---- */

enum { TILES_AHEAD = 4, TILES_NT = 128 }; /* entries that a lane loads before it adds the first; most threads */

/* A tile in shared memory. Bulk copies move 16 bytes, so up to 3 entries more lie before and after it. */
template <typename V> struct tile_room {
    const V *val;
    const int32_t *col;
    int64_t origin; /* the entry that col[0] and val[0] are */
};

/* Shared memory: arrivals, columns, values; `room` is a multiple of 4. */
template <typename V> __device__ inline tile_room<V> tile_in(char *shared, int room, int64_t begin) {
    return {(const V *)(shared + 16 + (size_t)room * sizeof(int32_t)), (const int32_t *)(shared + 16), begin & ~3ll};
}

template <typename V> __device__ inline size_t value_bytes() { return sizeof(V); }
template <> __device__ inline size_t value_bytes<spmv_one>() { return 0; }

/* Starts the copies of the entries begin .. end-1: thread 0 the bulk, and others the last ones, for which a bulk copy
 * would read beyond the arrays. The caller's barrier follows. */
template <typename V>
__device__ inline void tile_start(const spmv_job &job, const tile_room<V> &room, int64_t begin, int64_t end,
                                  lsp_arrivals *arrivals) {
    const int64_t whole = min((end + 3) & ~3ll, job.nnz & ~3ll), rest = whole + threadIdx.x;
    const int32_t *const col = (const int32_t *)job.col;
    const V *const val = (const V *)job.val;
    if (threadIdx.x == 0) {
        const unsigned count = whole > room.origin ? (unsigned)(whole - room.origin) : 0;
        lsp_bulk_expect(arrivals, count * (unsigned)(sizeof *col + value_bytes<V>()));
        if (count > 0) {
            lsp_bulk_load((void *)room.col, col + room.origin, count * (unsigned)sizeof *col, arrivals);
        }
        if (count > 0 && value_bytes<V>() > 0) {
            lsp_bulk_load((void *)room.val, val + room.origin, count * (unsigned)value_bytes<V>(), arrivals);
        }
    }
    if (rest >= begin && rest < end) { /* at most 3 */
        ((int32_t *)room.col)[rest - room.origin] = col[rest];
        if constexpr (!std::is_same<V, spmv_one>::value) {
            ((V *)room.val)[rest - room.origin] = val[rest];
        }
    }
}

/* The sum of this lane's share of a row: entries `at`, at + LANES, ... below `end`, counted from the origin. */
template <typename V, typename T, int LANES>
__device__ inline T tile_sum(const spmv_job &job, const tile_room<V> &room, int at, int end, spmv_faults *faults) {
    const T *const x = (const T *)job.x;
    T sum = (T)-0.0;
    for (; at < end; at += TILES_AHEAD * LANES) {
        T from[TILES_AHEAD];
        bool good[TILES_AHEAD];
#pragma unroll
        for (int r = 0; r < TILES_AHEAD; r++) {
            const int k = at + r * LANES;
            const int32_t c = k < end ? room.col[k] : -1;
            good[r] = (uint64_t)(int64_t)c < (uint64_t)job.cols;
            if (good[r]) {
                from[r] = __ldg(x + c);
            } else if (k < end) {
                faults->entry = room.origin + k;
            }
        }
#pragma unroll
        for (int r = 0; r < TILES_AHEAD; r++) {
            if (good[r]) {
                sum = spmv_add<V, T, true>(LSP_PLUS_TIMES, sum, spmv_value<V>(room.val, at + r * LANES), from[r]);
            }
        }
    }
    return sum;
}

/* One vector without strides, LSP_PLUS_TIMES, int32 columns, blocks of tile_rows * LANES threads. */
template <typename V, typename T, int LANES>
static __global__ void __launch_bounds__(TILES_NT) kernel_tiles(rows_launch l) {
    LSP_DYNAMIC_SHARED(shared);
    const spmv_job &job = l.job;
    lsp_arrivals *const arrivals = (lsp_arrivals *)shared;
    const int lane = (int)threadIdx.x % LANES;
    const spmv_factors<T> factors = spmv_read_factors<T>(job);
    spmv_faults faults;
    unsigned phase = 0;
    lsp_let_next_begin();
    if (l.gated && rows_are_cut(l, &faults)) {
        faults.report(job);
        return;
    }
    if (threadIdx.x == 0) {
        lsp_bulk_begin(arrivals);
    }
    for (int64_t tile = blockIdx.x; tile < l.tiles; tile += gridDim.x) {
        const int64_t first = tile * l.tile_rows, last = min(first + l.tile_rows, job.rows);
        const int64_t row = first + (int)threadIdx.x / LANES;
        const int64_t at = spmv_rowptr(job, min(row, last)), to = spmv_rowptr(job, min(row + 1, last));
        const int64_t begin = spmv_clamp(spmv_rowptr(job, first), 0, job.nnz);
        const int64_t end = spmv_clamp(spmv_rowptr(job, last), begin, job.nnz);
        const tile_room<V> room = tile_in<V>(shared, l.room, begin);
        const bool fits = end - room.origin <= l.room - 3;
        faults.row = row < last && spmv_is_malformed(job, row, at, to) ? row : faults.row;
        const int64_t mine = spmv_clamp(at, begin, end), ends = spmv_clamp(to, mine, end);
        T sum = (T)-0.0;
        if (fits) {
            tile_start<V>(job, room, begin, end, arrivals);
            __syncthreads();
            lsp_bulk_wait(arrivals, phase++);
            sum = tile_sum<V, T, LANES>(job, room, (int)(mine - room.origin) + lane, (int)(ends - room.origin),
                                        &faults);
        } else if (l.area.state) {
            list_pieces(l.job, l.area, first, last, begin, end, &faults);
            continue;
        } else {
            sum = lanes_sum<V, T, true>(job, (const int32_t *)job.col, mine + lane, ends, LANES, (const T *)job.x,
                                        &faults);
        }
        sum = spmv_join_lanes<T, true>(LSP_PLUS_TIMES, sum, LANES);
        if (lane == 0 && row < last) {
            spmv_finish<T, true>(job, factors, row, 0, sum, mine == ends);
        }
        if (tile + gridDim.x < l.tiles) {
            lsp_bulk_reuse();
            __syncthreads();
        }
    }
    faults.report(job);
}

#endif
