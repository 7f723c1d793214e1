/* y = A*x, rows by rows. A tile is some consecutive rows, and each row belongs to a few lanes.
 * kernel_tiles (compute capability 9.0): bulk copies bring the entries of a tile to shared memory, and the lanes read
 * them there. So the stream of entries does not depend on how lanes lie on rows, and few lanes may be chosen: then
 * neighbouring lanes work on neighbouring rows, which read neighbours in x.
 * kernel_dense: lanes read entries where they are. For long rows, and older GPUs.
 * kernel_lanes: the same for int64 columns, strides, semirings. */
#ifndef LSP_SPMV_GPU_KERNEL_ROWS_CUH
#define LSP_SPMV_GPU_KERNEL_ROWS_CUH

#include "core/bulk.cuh"
#include "list.cuh"

enum { LANES_SM_BLOCKS = 5, DENSE_SM_BLOCKS = 5 }; /* blocks per multiprocessor that registers allow */
enum { DENSE_AHEAD = 5 };                          /* entries that a lane loads before it adds the first */

/* ---- lanes read entries where they are ---- */

/* The sum of this lane's share of the entries begin .. end-1: entry begin, begin + lanes, ... AHEAD of them are loaded
 * before the first is added. */
template <typename V, typename T, bool PLUS, int AHEAD, typename C>
__device__ inline typename spmv_sum<T, PLUS>::type lanes_sum(const spmv_job &job, const C *col, int64_t begin,
                                                             int64_t end, int lanes, const T *x, spmv_faults *faults) {
    typedef typename spmv_sum<T, PLUS>::type S;
    S sum = (S)spmv_nothing<PLUS>(job);
#pragma unroll 1
    for (int64_t k = begin; k < end; k += AHEAD * lanes) {
        const int left = (int)min(end - k, (int64_t)(AHEAD * WARP));
        C c[AHEAD];
        V v[AHEAD] = {};
        T from[AHEAD] = {};
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            c[r] = col || r * lanes >= left ? -1 : 0;
            lsp_read_if(col && r * lanes < left, col + k + r * lanes, &c[r]);
            spmv_value_if<V>(r * lanes < left, job.val, k + r * lanes, &v[r]);
        }
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            const bool good = spmv_has(job, c[r]);
            lsp_read_if(good, x + (job.gathered ? k + r * lanes : spmv_x_at(job, c[r])), &from[r]);
            if (!good && r * lanes < left) {
                faults->entry(k + r * lanes);
            }
        }
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            if (spmv_has(job, c[r])) {
                sum = spmv_add<V, T, PLUS>(job.semiring, sum, v[r], from[r]);
            }
        }
    }
    return sum;
}

/* If the result of a semiring that chooses is 0, it is the first 0 among the products, of either sign: lanes cannot
 * tell which one was first. */
template <typename V, typename T>
__device__ inline double first_zero(const spmv_job &job, int64_t begin, int64_t end, const T *x, double sum) {
    for (int64_t k = begin; k < end; k++) {
        const int64_t c = job.col == NULL ? 0
                          : job.wide_col  ? ((const long long *)job.col)[k]
                                          : (int64_t)((const int32_t *)job.col)[k];
        if ((uint64_t)c < (uint64_t)job.cols) {
            const T from = x[job.gathered ? k : c * job.x_row];
            const T one = spmv_product<T>(job.semiring, spmv_factor<T, V>(spmv_value<V>(job.val, k)), from);
            if (one == 0) {
                return one;
            }
        }
    }
    return sum;
}

/* A row by its lanes; all vectors, one after the other. */
template <typename V, typename T, bool PLUS>
__device__ inline void lanes_row(const spmv_job &job, int64_t row, int64_t begin, int64_t end, int lanes, bool writes,
                                 spmv_faults *faults) {
    typedef typename spmv_sum<T, PLUS>::type S;
    const int lane = (int)threadIdx.x & (lanes - 1);
    for (int64_t vector = 0; vector < job.vectors; vector++) {
        const T *const x = (const T *)job.x + vector * job.x_vector;
        S sum;
        if (job.wide_col) {
            sum = lanes_sum<V, T, PLUS, 1>(job, (const long long *)job.col, begin + lane, end, lanes, x, faults);
        } else {
            sum = lanes_sum<V, T, PLUS, ROWS_AHEAD>(job, (const int32_t *)job.col, begin + lane, end, lanes, x, faults);
        }
        sum = spmv_join_lanes<T, PLUS>(job.semiring, sum, lanes);
        if (lane == 0 && writes) {
            if constexpr (!PLUS) {
                sum = sum == 0 && lanes > 1 && job.chooses ? first_zero<V, T>(job, begin, end, x, sum) : sum;
            }
            spmv_finish<T, PLUS>(job, row, vector, sum, begin == end);
        }
    }
}

/* A row that has too many entries for its lanes goes to the list. */
template <typename V, typename T, bool PLUS>
static __global__ void __launch_bounds__(LANES_NT, LANES_SM_BLOCKS) kernel_lanes(rows_launch l) {
    const int slots = LANES_NT >> l.lane_bits;
    spmv_faults faults;
    lsp_let_next_begin();
    lsp_wait_for_previous();
    for (int64_t base = (int64_t)blockIdx.x * slots; base < l.job.rows; base += (int64_t)gridDim.x * slots) {
        const int64_t row = base + ((int)threadIdx.x >> l.lane_bits), there = min(row, l.job.rows - 1);
        const unsigned skewed = rows_gate(l);
        const int64_t rows[2] = {there, there + 1};
        int64_t at[2];
        spmv_rowptrs(l.job, rows, at);
        if (skewed) {
            cut_matrix(l.job, l.area, l.pieces, &faults);
            break;
        }
        if (spmv_is_malformed(l.job, at[0], at[1])) {
            faults.row(there);
            at[0] = at[1] = 0;
        }
        const bool listed = l.area.state && at[1] - at[0] > l.heavy;
        if (listed && row == there) {
            list_row(l.area, row, at[0], at[1], l.lanes, &faults);
        }
        at[1] = listed || row > there ? at[0] : at[1];
        lanes_row<V, T, PLUS>(l.job, row, at[0], at[1], l.lanes, row == there && !listed, &faults);
    }
    faults.report(l.job);
}

/* ---- the same for the usual matrix, with less arithmetic ---- */

/* LSP_PLUS_TIMES, one vector, x and y without strides, int32 columns, less than 2^31 entries. */
template <typename V, typename T, int LANES>
static __global__ void __launch_bounds__(LANES_NT, DENSE_SM_BLOCKS) kernel_dense(rows_launch l) {
    const spmv_job &job = l.job;
    const int row = (int)(blockIdx.x * (LANES_NT / LANES) + threadIdx.x / LANES), there = min(row, (int)job.rows - 1);
    const T *const x = (const T *)job.x;
    spmv_faults faults;
    lsp_let_next_begin();
    lsp_wait_for_previous();
    const unsigned skewed = rows_gate(l);
    const int rows[2] = {there, there + 1};
    int at[2];
    spmv_rowptrs(job, rows, at);
    if (skewed) {
        cut_matrix(job, l.area, l.pieces, &faults);
        faults.report(job);
        return;
    }
    if (spmv_is_malformed(job, at[0], at[1])) {
        faults.row(there);
        at[0] = at[1] = 0;
    }
    at[1] = row > there ? at[0] : at[1];
    const bool listed = l.area.state && at[1] - at[0] > (int)l.heavy;
    if (listed) {
        list_row(l.area, row, at[0], at[1], LANES, &faults);
        at[1] = at[0];
    }
    T sum = (T)-0.0;
    int bad = -1;
#pragma unroll 1
    for (int k = at[0] + (int)threadIdx.x % LANES; k < at[1]; k += DENSE_AHEAD * LANES) {
        const int32_t *const col = (const int32_t *)job.col + k;
        int32_t c[DENSE_AHEAD];
        V v[DENSE_AHEAD] = {};
        T from[DENSE_AHEAD] = {};
#pragma unroll
        for (int r = 0; r < DENSE_AHEAD; r++) {
            c[r] = -1;
            lsp_read_if(r * LANES < at[1] - k, col + r * LANES, &c[r]);
            spmv_value_if<V>(r * LANES < at[1] - k, (const V *)job.val + k, r * LANES, &v[r]);
        }
#pragma unroll
        for (int r = 0; r < DENSE_AHEAD; r++) {
            const bool good = spmv_has(job, c[r]);
            lsp_read_if(good, x + c[r], &from[r]);
            bad = !good && r * LANES < at[1] - k ? k + r * LANES : bad;
        }
#pragma unroll
        for (int r = 0; r < DENSE_AHEAD; r++) {
            if (spmv_has(job, c[r])) {
                sum = spmv_add<V, T, true>(LSP_PLUS_TIMES, sum, v[r], from[r]);
            }
        }
    }
    sum = spmv_join_lanes<T, true>(LSP_PLUS_TIMES, sum, LANES);
    if (bad >= 0) {
        faults.entry(bad);
    }
    if (threadIdx.x % LANES == 0 && row == there && !listed) {
        spmv_write<T, true>(job, (T *)job.y + row, sum, at[0] == at[1]);
    }
    faults.report(job);
}

/* ---- bulk copies ---- */

enum { TILES_NT = 128, TILES_SM_BLOCKS = 12 }; /* threads at most; blocks that registers allow */
enum { TILES_AHEAD = 6 };                      /* entries that a lane loads before it adds the first */

/* A part of the entries in shared memory. Bulk copies move 16 bytes, so up to 3 entries more lie before and after it.
 * K: int, or int64_t for matrices of 2^31 entries and more. */
template <typename V, typename K> struct tile_room {
    const V *val;
    const int32_t *col;
    K origin; /* the entry that col[0] and val[0] are */
};

/* Shared memory: arrivals, columns, values; `room` is a multiple of 4. */
template <typename V, typename K> __device__ inline tile_room<V, K> tile_in(char *shared, int room, K begin) {
    return {(const V *)(shared + 16 + room * (int)sizeof(int32_t)), (const int32_t *)(shared + 16), begin & ~(K)3};
}

/* Of a value, and with its column. */
template <typename V> __host__ __device__ inline unsigned value_bytes() {
    return std::is_same<V, spmv_one>::value ? 0 : (unsigned)sizeof(V);
}
template <typename V> static inline size_t tile_entry_bytes() { return sizeof(int32_t) + value_bytes<V>(); }

/* Starts the copies of the entries begin .. end-1: thread 0 the bulk, and others the last ones, for which a bulk copy
 * would read beyond the arrays. The caller's barrier follows. */
template <typename V, typename K>
__device__ inline void tile_start(const spmv_job &job, const tile_room<V, K> &room, K begin, K end,
                                  lsp_arrivals *arrivals) {
    const K whole = min((end + 3) & ~(K)3, (K)job.nnz & ~(K)3), rest = whole + (int)threadIdx.x;
    const int32_t *const col = (const int32_t *)job.col;
    const V *const val = (const V *)job.val;
    if (threadIdx.x == 0) {
        const unsigned count = whole > room.origin ? (unsigned)(whole - room.origin) : 0;
        lsp_bulk_expect(arrivals, count * ((unsigned)sizeof *col + value_bytes<V>()));
        if (count > 0) {
            lsp_bulk_load((void *)room.col, col + room.origin, count * (unsigned)sizeof *col, arrivals);
        }
        if (count > 0 && value_bytes<V>() > 0) {
            lsp_bulk_load((void *)room.val, val + room.origin, count * value_bytes<V>(), arrivals);
        }
    }
    if (rest >= begin && rest < end) { /* at most 3 */
        ((int32_t *)room.col)[rest - room.origin] = col[rest];
        if constexpr (!std::is_same<V, spmv_one>::value) {
            ((V *)room.val)[rest - room.origin] = val[rest];
        }
    }
}

/* Adds this lane's share of a row: entries at, at + LANES, ... below `end`, counted from the origin. *bad: one whose
 * column is outside. */
template <typename V, typename T, int LANES>
__device__ inline T tile_sum(const spmv_job &job, const tile_room<V, int> &room, int at, int end, T sum, int *bad) {
    enum { AHEAD = LANES <= 2 ? TILES_AHEAD : TILES_AHEAD + 1 }; /* so that a usual row is loaded at once */
    const T *const x = (const T *)job.x;
#pragma unroll 1
    for (; at < end; at += AHEAD * LANES) {
        T from[AHEAD] = {};
        bool good[AHEAD];
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            const bool there = r * LANES < end - at;
            const int32_t c = there ? room.col[at + r * LANES] : -1;
            good[r] = spmv_has(job, c);
            lsp_read_if(good[r], x + c, &from[r]);
            *bad = there && !good[r] ? at + r * LANES : *bad;
        }
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            if (good[r]) {
                sum = spmv_add<V, T, true>(LSP_PLUS_TIMES, sum, spmv_value<V>(room.val, at + r * LANES), from[r]);
            }
        }
    }
    return sum;
}

/* Sums the rows of a tile, entries begin .. end-1; those that do not fit in shared memory at once come in chunks. The
 * thread's row is `row`, if that is below `last`, with the pointers from and to. */
template <typename V, typename T, int LANES>
__device__ inline void tile_rows(const rows_launch &l, char *shared, int row, int last, int from, int to, int begin,
                                 int end, unsigned *phase, spmv_faults *faults) {
    const spmv_job &job = l.job;
    lsp_arrivals *const arrivals = (lsp_arrivals *)shared;
    const bool malformed = row < last && spmv_is_malformed(job, from, to);
    const int mine = spmv_clamp_narrow(from, begin, end), ends = malformed ? mine : spmv_clamp_narrow(to, mine, end);
    int lane_at = mine + (int)threadIdx.x % LANES; /* this lane's next entry */
    T sum = (T)-0.0;
    for (int chunk = begin;;) {
        const tile_room<V, int> room = tile_in<V, int>(shared, l.room, chunk);
        const int next = min(room.origin + l.room - 4, end);
        int bad = -1;
        tile_start<V, int>(job, room, chunk, next, arrivals);
        __syncthreads();
        lsp_bulk_wait(arrivals, (*phase)++);
        const int at = lane_at - room.origin, stop = min(ends, next) - room.origin;
        sum = tile_sum<V, T, LANES>(job, room, at, stop, sum, &bad);
        if (bad >= 0) {
            faults->entry(room.origin + bad);
        }
        chunk = next;
        if (chunk >= end) {
            break;
        }
        lane_at += at < stop ? (stop - at + LANES - 1) / LANES * LANES : 0;
        lsp_bulk_reuse();
        __syncthreads();
    }
    sum = spmv_join_lanes<T, true>(LSP_PLUS_TIMES, sum, LANES);
    if (malformed) {
        faults->row(row);
    }
    if (threadIdx.x % LANES == 0 && row < last) {
        spmv_write<T, true>(job, (T *)job.y + row, sum, mine == ends);
    }
}

/* As kernel_dense, in blocks of tile_rows * LANES threads. */
template <typename V, typename T, int LANES>
static __global__ void __launch_bounds__(TILES_NT, TILES_SM_BLOCKS) kernel_tiles(rows_launch l) {
    LSP_DYNAMIC_SHARED(shared);
    const int tiles = (int)l.tiles, nnz = (int)l.job.nnz;
    spmv_faults faults;
    unsigned phase = 0;
    lsp_let_next_begin();
    lsp_wait_for_previous();
    if (threadIdx.x == 0) { /* the thread that starts the copies */
        lsp_bulk_begin((lsp_arrivals *)shared);
    }
    for (int tile = (int)blockIdx.x; tile < tiles; tile += (int)gridDim.x) {
        const int first = tile * l.tile_rows, last = min(first + l.tile_rows, (int)l.job.rows);
        const int row = min(first + (int)threadIdx.x / LANES, last);
        const unsigned skewed = rows_gate(l);
        const int rows[4] = {first, last, row, min(row + 1, last)};
        int at[4];
        spmv_rowptrs(l.job, rows, at);
        if (skewed) {
            cut_matrix(l.job, l.area, l.pieces, &faults);
            break;
        }
        const int begin = spmv_clamp_narrow(at[0], 0, nnz), end = spmv_clamp_narrow(at[1], begin, nnz);
        if (l.area.state && end - begin > (int)l.heavy) {
            list_pieces(l.job, l.area, first, last, begin, end, &faults);
            continue;
        }
        tile_rows<V, T, LANES>(l, shared, row, last, at[2], at[3], begin, end, &phase, &faults);
        if (tile + (int)gridDim.x < tiles) {
            lsp_bulk_reuse();
            __syncthreads();
        }
    }
    faults.report(l.job);
}

#endif
