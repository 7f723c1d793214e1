/* y = A*x, rows by rows. A tile is some consecutive rows, and each row belongs to a few lanes.
 * kernel_tiles (compute capability 9.0): bulk copies bring the entries of a tile to shared memory, and the lanes read
 * them there. So the stream of entries does not depend on how lanes lie on rows, and few lanes may be chosen: then
 * neighbouring lanes work on neighbouring rows, which read neighbours in x.
 * kernel_dense: lanes read entries where they are. For long rows, and older GPUs.
 * kernel_lanes: the same for int64 columns, strides, semirings. */
#pragma once

#include "core/bulk.cuh"
#include "list.cuh"

enum { LANES_SM_BLOCKS = 5 }; /* blocks per multiprocessor that registers allow */

/* ---- lanes read entries where they are ---- */

/* The sum of this lane's share of the entries begin .. end-1: entry begin, begin + lanes, ... AHEAD of them are loaded
 * before the first is added. */
template <typename V, typename T, bool PLUS, int AHEAD>
__device__ inline typename spmv_sum<T, PLUS>::type lanes_sum(const spmv_job &job, int64_t begin, int64_t end, int lanes,
                                                             const T *x, unsigned *top) {
    typename spmv_sum<T, PLUS>::type sum = (typename spmv_sum<T, PLUS>::type)spmv_nothing<PLUS>(job);
    const int32_t *const col = (const int32_t *)job.col;
#pragma unroll 1
    for (int64_t k = begin; k < end; k += AHEAD * lanes) {
        const int left = (int)min(end - k, (int64_t)(AHEAD * WARP));
        int32_t c[AHEAD] = {};
        V v[AHEAD] = {};
        T from[AHEAD] = {};
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            if (r * lanes < left) {
                c[r] = col ? col[k + r * lanes] : 0;
                v[r] = spmv_value<V>(job.val, k + r * lanes);
            }
        }
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            if (r * lanes < left) {
                const unsigned inside = spmv_inside(job, c[r], top);
                from[r] = *(job.gathered ? x + k + r * lanes : spmv_x_at(job, x, inside));
            }
        }
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            if (r * lanes < left) {
                sum = spmv_add<V, T, PLUS>(job.semiring, sum, v[r], from[r]);
            }
        }
    }
    return sum;
}

/* The same sum, in the same order, with a look at each column. */
template <typename V, typename T, bool PLUS>
__device__ inline typename spmv_sum<T, PLUS>::type careful_sum(const spmv_job &job, int64_t begin, int64_t end,
                                                               int lanes, const T *x, spmv_faults *faults) {
    typename spmv_sum<T, PLUS>::type sum = (typename spmv_sum<T, PLUS>::type)spmv_nothing<PLUS>(job);
#pragma unroll 1
    for (int64_t k = begin; k < end; k += lanes) {
        const int64_t c = job.col == NULL ? 0 : spmv_careful_col(job, k, faults);
        if (c >= 0) {
            const T from = x[job.gathered ? k : c * job.x_row];
            sum = spmv_add<V, T, PLUS>(job.semiring, sum, spmv_value<V>(job.val, k), from);
        }
    }
    return sum;
}

/* If the result of a semiring that chooses is 0, it is the first 0 among the products, of either sign: lanes cannot
 * tell which one was first. */
template <typename V, typename T>
__device__ inline double first_zero(const spmv_job &job, int64_t begin, int64_t end, const T *x, double sum) {
    spmv_faults reported;
    for (int64_t k = begin; k < end; k++) {
        const int64_t c = job.col == NULL ? 0 : spmv_careful_col(job, k, &reported);
        if (c >= 0) {
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
        S sum = 0;
        unsigned top = 0;
        if (!job.careful) {
            sum = lanes_sum<V, T, PLUS, ROWS_AHEAD>(job, begin + lane, end, lanes, x, &top);
        }
        if (job.careful || spmv_is_outside(job, top)) {
            sum = careful_sum<V, T, PLUS>(job, begin + lane, end, lanes, x, faults);
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
    const int64_t row = (int64_t)blockIdx.x * (LANES_NT >> l.lane_bits) + ((int)threadIdx.x >> l.lane_bits);
    const int64_t there = min(row, l.job.rows - 1), rows[2] = {there, there + 1};
    spmv_faults faults;
    lsp_let_next_begin();
    lsp_wait_for_previous();
    const bool skewed = rows_skewed(l);
    int64_t at[2];
    spmv_rowptrs(l.job, rows, at);
    if (skewed) {
        if (row == there && (threadIdx.x & (unsigned)(l.lanes - 1)) == 0) {
            cut_row(l.job, l.area, l.pieces, row, at[0], at[1], &faults);
            faults.report(l.job);
        }
        return;
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
    faults.report(l.job);
}

/* ---- the same for the usual matrix, with less arithmetic ---- */

/* LSP_PLUS_TIMES, one vector, x and y without strides, int32 columns, less than 2^31 entries. */
template <typename V, typename T, int LANES>
static __global__ void __launch_bounds__(LANES_NT, LANES_SM_BLOCKS) kernel_dense(rows_launch l) {
    const spmv_job &job = l.job;
    const int row = (int)(blockIdx.x * (LANES_NT / LANES) + threadIdx.x / LANES), there = min(row, (int)job.rows - 1);
    const int rows[2] = {there, there + 1};
    const T *const x = (const T *)job.x;
    spmv_faults faults;
    lsp_let_next_begin();
    lsp_wait_for_previous();
    const bool skewed = rows_skewed(l);
    int at[2];
    spmv_rowptrs(job, rows, at);
    if (skewed) {
        if (row == there && threadIdx.x % LANES == 0) {
            cut_row(job, l.area, l.pieces, row, at[0], at[1], &faults);
            faults.report(job);
        }
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
    unsigned top = 0;
#pragma unroll 1
    for (int k = at[0] + (int)threadIdx.x % LANES; k < at[1]; k += ROWS_AHEAD * LANES) {
        int32_t c[ROWS_AHEAD] = {};
        V v[ROWS_AHEAD] = {};
        T from[ROWS_AHEAD] = {};
#pragma unroll
        for (int r = 0; r < ROWS_AHEAD; r++) {
            lsp_read_if(r * LANES < at[1] - k, (const int32_t *)job.col + k + r * LANES, &c[r]);
            spmv_value_if<V>(r * LANES < at[1] - k, (const V *)job.val + k, r * LANES, &v[r]);
        }
#pragma unroll
        for (int r = 0; r < ROWS_AHEAD; r++) {
            lsp_read_if(r * LANES < at[1] - k, x + spmv_inside(job, c[r], &top), &from[r]);
        }
#pragma unroll
        for (int r = 0; r < ROWS_AHEAD; r++) {
            if (r * LANES < at[1] - k) {
                sum = spmv_add<V, T, true>(LSP_PLUS_TIMES, sum, v[r], from[r]);
            }
        }
    }
    if (spmv_is_outside(job, top)) {
        sum = careful_sum<V, T, true>(job, at[0] + (int)threadIdx.x % LANES, at[1], LANES, x, &faults);
    }
    sum = spmv_join_lanes<T, true>(LSP_PLUS_TIMES, sum, LANES);
    if (threadIdx.x % LANES == 0 && row == there && !listed) {
        spmv_write<T, true>(job, (T *)job.y + row, sum, at[0] == at[1]);
    }
    faults.report(job);
}

/* ---- bulk copies ---- */

/* Threads of a block, blocks per multiprocessor that registers allow, entries that a lane loads before it adds the
 * first. */
template <int LANES> struct tiles_block {
    enum { NT = LANES == 1 ? 256 : 128, SM_BLOCKS = 2048 / NT, AHEAD = 5 };
};
template <> struct tiles_block<2> {
    enum { NT = 64, SM_BLOCKS = 24, AHEAD = 6 };
};

/* Entries of a tile in shared memory. Bulk copies move 16 bytes, so up to 3 entries more lie before and after it. */
template <typename V> struct tile_room {
    const V *val;
    const int32_t *col;
    int64_t origin; /* the entry that col[0] and val[0] are */
};

/* Shared memory: arrivals, columns, values; `room` is a multiple of 4. */
template <typename V> __device__ inline tile_room<V> tile_in(char *shared, int room, int64_t begin) {
    return {(const V *)(shared + 16 + room * (int)sizeof(int32_t)), (const int32_t *)(shared + 16),
            begin & ~(int64_t)3};
}

/* Of a value, and with its column. */
template <typename V> __host__ __device__ inline unsigned value_bytes() {
    return std::is_same<V, spmv_one>::value ? 0 : (unsigned)sizeof(V);
}
template <typename V> static inline size_t tile_entry_bytes() { return sizeof(int32_t) + value_bytes<V>(); }

/* Brings the entries begin .. end-1: thread 0 starts bulk copies, and others copy the last entries, for which a bulk
 * copy would read beyond the arrays. All threads of the block call it, after lsp_bulk_begin; phase: 0, 1, ... */
template <typename V>
__device__ inline void tile_load(const spmv_job &job, const tile_room<V> &room, int64_t begin, int64_t end,
                                 lsp_arrivals *arrivals, unsigned phase) {
    const int64_t whole = min((end + 3) & ~(int64_t)3, job.nnz & ~(int64_t)3), rest = whole + (int)threadIdx.x;
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
    __syncthreads();
    lsp_bulk_wait(arrivals, phase);
}

/* Adds this lane's share of a row: entries at, at + LANES, ... below `end`, counted from the origin. */
template <typename V, typename T, int LANES>
__device__ inline T tile_sum(const spmv_job &job, const tile_room<V> &room, int at, int end, T sum, unsigned *top) {
    enum { AHEAD = tiles_block<LANES>::AHEAD };
    const T *const x = (const T *)job.x;
#pragma unroll 1
    for (; at < end; at += AHEAD * LANES) {
        T from[AHEAD] = {};
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            if (r * LANES < end - at) {
                from[r] = __ldg(x + spmv_inside(job, room.col[at + r * LANES], top));
            }
        }
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            if (r * LANES < end - at) {
                sum = spmv_add<V, T, true>(LSP_PLUS_TIMES, sum, spmv_value<V>(room.val, at + r * LANES), from[r]);
            }
        }
    }
    return sum;
}

/* As kernel_dense. A block has one tile. LISTS: it may be skewed or have heavy tiles. Without that the kernel is short,
 * which matters: so are its blocks. */
template <typename V, typename T, int LANES, bool LISTS>
static __global__ void __launch_bounds__(tiles_block<LANES>::NT, tiles_block<LANES>::SM_BLOCKS)
    kernel_tiles(rows_launch l) {
    LSP_DYNAMIC_SHARED(shared);
    const spmv_job &job = l.job;
    const int first = (int)blockIdx.x * (tiles_block<LANES>::NT / LANES);
    const int last = min(first + tiles_block<LANES>::NT / LANES, (int)job.rows);
    const int row = min(first + (int)threadIdx.x / LANES, last), rows[4] = {first, last, row, min(row + 1, last)};
    spmv_faults faults;
    lsp_let_next_begin();
    lsp_wait_for_previous();
    if (threadIdx.x == 0) { /* the thread that starts the copies */
        lsp_bulk_begin((lsp_arrivals *)shared);
    }
    const bool skewed = LISTS && rows_skewed(l);
    int at[4];
    spmv_rowptrs(job, rows, at);
    if (skewed) {
        if (row < last && threadIdx.x % LANES == 0) {
            cut_row(job, l.area, l.pieces, row, at[2], at[3], &faults);
            faults.report(job);
        }
        return;
    }
    const int begin = spmv_clamp_narrow(at[0], 0, (int)job.nnz), end = spmv_clamp_narrow(at[1], begin, (int)job.nnz);
    if (LISTS && end - begin > (int)l.heavy) {
        list_pieces(job, l.area, first, last, begin, end, &faults);
        faults.report(job);
        return;
    }
    const bool malformed = row < last && spmv_is_malformed(job, at[2], at[3]);
    const int mine = spmv_clamp_narrow(at[2], begin, end),
              ends = malformed ? mine : spmv_clamp_narrow(at[3], mine, end);
    const int lane_at = mine + (int)threadIdx.x % LANES; /* this lane's first entry */
    unsigned top = 0, phase = 0;
    T sum = (T)-0.0;
    int next_at = lane_at;
    for (int chunk = begin;;) { /* entries that do not fit in shared memory at once come in chunks */
        const tile_room<V> room = tile_in<V>(shared, l.room, chunk);
        const int origin = (int)room.origin, next = min(origin + l.room - 4, end);
        tile_load<V>(job, room, chunk, next, (lsp_arrivals *)shared, phase++);
        const int from = next_at - origin, stop = min(ends, next) - origin;
        sum = tile_sum<V, T, LANES>(job, room, from, stop, sum, &top);
        chunk = next;
        if (chunk >= end) {
            break;
        }
        next_at += from < stop ? (stop - from + LANES - 1) / LANES * LANES : 0;
        lsp_bulk_reuse();
        __syncthreads();
    }
    if (spmv_is_outside(job, top)) {
        sum = careful_sum<V, T, true>(job, lane_at, ends, LANES, (const T *)job.x, &faults);
    }
    sum = spmv_join_lanes<T, true>(LSP_PLUS_TIMES, sum, LANES);
    if (malformed) {
        faults.row(row);
    }
    if (threadIdx.x % LANES == 0 && row < last) {
        spmv_write<T, true>(job, (T *)job.y + row, sum, mine == ends);
    }
    faults.report(job);
}
