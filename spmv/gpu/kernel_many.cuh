/* Y = A*X for several vectors. A row belongs to as many threads as its row of X has parts of 16 bytes, and each thread
 * sums its part over all entries of the row: so entries are read once for all vectors, and X in whole sectors. Tiles of
 * rows come to shared memory by bulk copies, as in kernel_tiles; without those, threads read entries where they are. */
#pragma once

#include "kernel_rows.cuh"

enum { MANY_AHEAD = 4, MANY_NT = 128, MANY_SM_BLOCKS = 12 };

struct many_launch {
    rows_launch rows;  /* lanes: threads of a row; room 0: no bulk copies */
    int64_t parts;     /* of a row of X */
    bool y_in_parts;   /* rows of Y consist of whole parts, too */
    bool short_kernel; /* kernel_many_tiles suits the matrix */
};

template <typename V, typename T, int E>
__device__ inline void many_add(spmv_pack<T, E> *sum, V value, const spmv_pack<T, E> &part) {
#pragma unroll
    for (int e = 0; e < E; e++) {
        sum->at[e] = spmv_add<V, T, true>(LSP_PLUS_TIMES, sum->at[e], value, part.at[e]);
    }
}

/* The sum of the entries at .. end-1, a row's, counted from the first one of `col` and `val`. AHEAD of them are loaded
 * before the first is added; if TAIL, the last ones too are loaded together. */
template <typename V, typename T, int E, int AHEAD, bool TAIL, typename I>
__device__ inline spmv_pack<T, E> many_sum(const spmv_job &job, const int32_t *col, const void *val, I at, I end,
                                           const T *x, spmv_pack<T, E> sum, unsigned *top) {
    typedef spmv_pack<T, E> part;
#pragma unroll 1
    for (; TAIL ? at < end : at + (AHEAD - 1) < end; at += AHEAD) {
        part from[AHEAD];
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            if (!TAIL || at + r < end) {
                from[r] = *(const part *)spmv_x_at(job, x, spmv_inside(job, col[at + r], top));
            }
        }
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            if (!TAIL || at + r < end) {
                many_add<V, T, E>(&sum, spmv_value<V>(val, at + r), from[r]);
            }
        }
    }
#pragma unroll 1
    for (; at < end; at++) {
        many_add<V, T, E>(&sum, spmv_value<V>(val, at),
                          *(const part *)spmv_x_at(job, x, spmv_inside(job, col[at], top)));
    }
    return sum;
}

/* The same sum with a look at each column. */
template <typename V, typename T, int E>
__device__ inline spmv_pack<T, E> many_careful(const spmv_job &job, int64_t k, int64_t end, const T *x,
                                               spmv_pack<T, E> sum, spmv_faults *faults) {
#pragma unroll 1
    for (; k < end; k++) {
        const int64_t c = spmv_careful_col(job, k, faults);
        if (c >= 0) {
            many_add<V, T, E>(&sum, spmv_value<V>(job.val, k), *(const spmv_pack<T, E> *)(x + c * job.x_row));
        }
    }
    return sum;
}

/* Writes a part of a row of Y; `at_once`: in 16 bytes. */
template <typename T, int E>
__device__ inline void many_write(const spmv_job &job, T *y, spmv_pack<T, E> sum, bool is_empty, bool at_once) {
#pragma unroll
    for (int e = 0; e < E; e++) {
        sum.at[e] = spmv_result<T, true>(job, y + e * job.y_vector, sum.at[e], is_empty);
    }
    if (at_once) {
        *(spmv_pack<T, E> *)y = sum;
        return;
    }
#pragma unroll
    for (int e = 0; e < E; e++) {
        y[e * job.y_vector] = sum.at[e];
    }
}

template <typename V, typename T, int E>
static __global__ void __launch_bounds__(MANY_NT, MANY_SM_BLOCKS) kernel_many(many_launch m) {
    LSP_DYNAMIC_SHARED(shared);
    const rows_launch &l = m.rows;
    const spmv_job &job = l.job;
    const int64_t first = (int64_t)blockIdx.x * l.tile_rows, last = min(first + l.tile_rows, job.rows);
    const int64_t row = min(first + (int)threadIdx.x / l.lanes, last); /* the last threads may have none */
    const int64_t rows[4] = {first, last, row, min(row + 1, last)};
    spmv_faults faults;
    lsp_let_next_begin();
    if (threadIdx.x == 0 && l.room > 0) {
        lsp_bulk_begin((lsp_arrivals *)shared);
    }
    int64_t at[4];
    spmv_rowptrs(job, rows, at);
    const int64_t begin = spmv_clamp(at[0], 0, job.nnz), end = spmv_clamp(at[1], begin, job.nnz);
    if (l.area.state && end - begin > l.heavy) {
        list_pieces(job, l.area, first, last, begin, end, &faults);
        faults.report(job);
        return;
    }
    const bool malformed = row < last && spmv_is_malformed(job, at[2], at[3]);
    const int64_t mine = spmv_clamp(at[2], begin, end), ends = malformed ? mine : spmv_clamp(at[3], mine, end);
    const tile_room<V> room = tile_in<V>(shared, l.room, begin);
    const bool fits = l.room > 0 && end - room.origin <= l.room;
    if (malformed) {
        faults.row(row);
    }
    if (fits) {
        tile_load<V>(job, room, begin, end, (lsp_arrivals *)shared, 0);
    } else if (l.area.state && threadIdx.x == 0) {
        l.area.state->found = SPMV_UNEVEN;
    }
    for (int64_t part = (int)threadIdx.x % l.lanes; row < last && part < m.parts; part += l.lanes) {
        const T *const x = (const T *)job.x + part * E * job.x_vector;
        spmv_pack<T, E> nothing, sum;
        unsigned top = 0;
#pragma unroll
        for (int e = 0; e < E; e++) {
            nothing.at[e] = (T)-0.0;
        }
        if (fits) {
            sum = many_sum<V, T, E, MANY_AHEAD, false>(job, room.col, room.val, mine - room.origin, ends - room.origin,
                                                       x, nothing, &top);
        } else if (!job.careful) {
            sum = many_sum<V, T, E, MANY_AHEAD, false>(job, (const int32_t *)job.col, job.val, mine, ends, x, nothing,
                                                       &top);
        }
        if (job.careful || spmv_is_outside(job, top)) {
            sum = many_careful<V, T, E>(job, mine, ends, x, nothing, &faults);
        }
        many_write<T, E>(job, (T *)job.y + row * job.y_row + part * E * job.y_vector, sum, mine == ends, m.y_in_parts);
    }
    faults.report(job);
}

/* As kernel_many, for matrices with fewer than 2^31 entries whose tiles have all fit in shared memory so far: a thread
 * has one part. The kernel is short, and needs few registers, which decide how fast it is. LONG: rows have many
 * entries. Tuned on an H100 with sparse-bench spmv. */
template <bool LONG> struct many_tiles {
    enum { SM_BLOCKS = LONG ? 8 : 16, AHEAD = LONG ? 5 : 4 };
};
template <typename V, typename T, int E, bool LONG>
static __global__ void __launch_bounds__(MANY_NT, many_tiles<LONG>::SM_BLOCKS) kernel_many_tiles(many_launch m) {
    LSP_DYNAMIC_SHARED(shared);
    const rows_launch &l = m.rows;
    const spmv_job &job = l.job;
    const int first = (int)blockIdx.x * l.tile_rows, last = min(first + l.tile_rows, (int)job.rows);
    const int row = min(first + (int)threadIdx.x / l.lanes, last), rows[4] = {first, last, row, min(row + 1, last)};
    const int part = (int)threadIdx.x % l.lanes * E;
    const T *const x = (const T *)job.x + part * job.x_vector;
    spmv_pack<T, E> nothing, sum;
    spmv_faults faults;
    lsp_let_next_begin();
    if (threadIdx.x == 0) {
        lsp_bulk_begin((lsp_arrivals *)shared);
    }
    int at[4];
    spmv_rowptrs(job, rows, at);
    const int begin = spmv_clamp_narrow(at[0], 0, (int)job.nnz), end = spmv_clamp_narrow(at[1], begin, (int)job.nnz);
    const bool malformed = row < last && spmv_is_malformed(job, at[2], at[3]);
    const int mine = spmv_clamp_narrow(at[2], begin, end);
    const int ends = malformed ? mine : spmv_clamp_narrow(at[3], mine, end);
    const tile_room<V> room = tile_in<V>(shared, l.room, begin);
    const int origin = (int)room.origin;
    const bool fits = end - origin <= l.room;
    unsigned top = 0;
#pragma unroll
    for (int e = 0; e < E; e++) {
        nothing.at[e] = (T)-0.0;
    }
    sum = nothing;
    if (fits) {
        tile_load<V>(job, room, begin, end, (lsp_arrivals *)shared, 0);
        sum = many_sum<V, T, E, many_tiles<LONG>::AHEAD, LONG>(job, room.col, room.val, mine - origin, ends - origin, x,
                                                               sum, &top);
    }
    if (malformed) {
        faults.row(row);
    }
    if (!fits || spmv_is_outside(job, top)) {
        sum = many_careful<V, T, E>(job, mine, ends, x, nothing, &faults);
    }
    if (row < last) {
        many_write<T, E>(job, (T *)job.y + row * job.y_row + part * job.y_vector, sum, mine == ends, m.y_in_parts);
    }
    faults.report(job);
}
