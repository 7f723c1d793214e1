/* Y = A*X for several vectors. A row belongs to as many threads as its row of X has parts of 16 bytes, and each thread
 * sums its part over all entries of the row: so entries are read once for all vectors, and X in whole sectors. Tiles of
 * rows come to shared memory by bulk copies, as in kernel_tiles; without those, threads read entries where they are. */
#ifndef LSP_SPMV_GPU_KERNEL_MANY_CUH
#define LSP_SPMV_GPU_KERNEL_MANY_CUH

#include "kernel_rows.cuh"

enum { MANY_AHEAD = 4, MANY_NT = 128, MANY_SM_BLOCKS = 8 };

struct many_launch {
    rows_launch rows; /* lanes: threads of a row; room 0: no bulk copies */
    int64_t parts;    /* of a row of X */
};

/* E elements that are moved together. */
template <typename T, int E> struct alignas(sizeof(T) * E) many_part { T at[E]; };
template <typename T, int E> __device__ inline void many_read(bool wanted, const T *from, many_part<T, E> *part) {
    if constexpr (E == 1) {
        lsp_read_if(wanted, from, &part->at[0]);
    } else {
        uint4 bits;
        static_assert(sizeof bits == sizeof *part, "a part is 16 bytes");
        memcpy(&bits, part, sizeof bits);
        lsp_read_if(wanted, (const uint4 *)from, &bits);
        memcpy(part, &bits, sizeof bits);
    }
}

/* Adds the entries from .. to-1 of a row. `col` and `val` begin at the entry `origin`. */
template <typename V, typename T, int E, typename C>
__device__ inline void many_add(const spmv_job &job, const C *col, const void *val, int64_t origin, int64_t from,
                                int64_t to, const T *x, many_part<T, E> *sum, spmv_faults *faults) {
#pragma unroll 1
    for (int64_t k = from; k < to; k += MANY_AHEAD) {
        const int left = (int)min(to - k, (int64_t)MANY_AHEAD);
        many_part<T, E> part[MANY_AHEAD] = {};
        bool good[MANY_AHEAD];
#pragma unroll
        for (int r = 0; r < MANY_AHEAD; r++) {
            const C c = r < left ? col[k - origin + r] : -1;
            good[r] = spmv_has(job, c);
            many_read<T, E>(good[r], x + spmv_x_at(job, c), &part[r]);
            if (!good[r] && r < left) {
                faults->entry(k + r);
            }
        }
#pragma unroll
        for (int r = 0; r < MANY_AHEAD; r++) {
            if (good[r]) {
                const V value = spmv_value<V>(val, k - origin + r);
#pragma unroll
                for (int e = 0; e < E; e++) {
                    sum->at[e] = spmv_add<V, T, true>(LSP_PLUS_TIMES, sum->at[e], value, part[r].at[e]);
                }
            }
        }
    }
}

/* One part of one row for each thread: entries begin .. end-1 belong to the block's rows, mine .. ends-1 to this one.
 */
template <typename V, typename T, int E>
__device__ inline void many_sum(const rows_launch &l, char *shared, int64_t begin, int64_t end, int64_t mine,
                                int64_t ends, const T *x, many_part<T, E> *sum, unsigned *phase, spmv_faults *faults) {
    const spmv_job &job = l.job;
    if (l.room == 0) {
        if (job.wide_col) {
            many_add<V, T, E>(job, (const long long *)job.col, job.val, 0, mine, ends, x, sum, faults);
        } else {
            many_add<V, T, E>(job, (const int32_t *)job.col, job.val, 0, mine, ends, x, sum, faults);
        }
        return;
    }
    lsp_arrivals *const arrivals = (lsp_arrivals *)shared;
    for (int64_t chunk = begin; chunk < end;) {
        const tile_room<V, int64_t> room = tile_in<V, int64_t>(shared, l.room, chunk);
        const int64_t next = min(room.origin + l.room - 4, end);
        tile_start<V, int64_t>(job, room, chunk, next, arrivals);
        __syncthreads();
        lsp_bulk_wait(arrivals, (*phase)++);
        many_add<V, T, E>(job, room.col, room.val, room.origin, max(mine, chunk), min(ends, next), x, sum, faults);
        chunk = next;
        lsp_bulk_reuse();
        __syncthreads();
    }
}

template <typename V, typename T, int E>
static __global__ void __launch_bounds__(MANY_NT, MANY_SM_BLOCKS) kernel_many(many_launch m) {
    LSP_DYNAMIC_SHARED(shared);
    const rows_launch &l = m.rows;
    const spmv_job &job = l.job;
    spmv_faults faults;
    unsigned phase = 0;
    lsp_let_next_begin();
    if (threadIdx.x == 0 && l.room > 0) {
        lsp_bulk_begin((lsp_arrivals *)shared);
    }
    for (int64_t tile = blockIdx.x; tile < l.tiles; tile += gridDim.x) {
        const int64_t first = tile * l.tile_rows, last = min(first + l.tile_rows, job.rows);
        const int64_t begin = spmv_clamp(spmv_rowptr(job, first), 0, job.nnz);
        const int64_t end = spmv_clamp(spmv_rowptr(job, last), begin, job.nnz);
        if (l.area.state && end - begin > l.heavy) {
            list_pieces(job, l.area, first, last, begin, end, &faults);
            continue;
        }
        const int64_t row = min(first + (int)threadIdx.x / l.lanes, last); /* the last threads may have none */
        const int64_t from = spmv_rowptr(job, row), to = spmv_rowptr(job, min(row + 1, last));
        const bool malformed = row < last && spmv_is_malformed(job, from, to);
        const int64_t mine = spmv_clamp(from, begin, end), ends = malformed ? mine : spmv_clamp(to, mine, end);
        for (int64_t part = (int)threadIdx.x % l.lanes; part - (int)threadIdx.x % l.lanes < m.parts; part += l.lanes) {
            many_part<T, E> sum;
#pragma unroll
            for (int e = 0; e < E; e++) {
                sum.at[e] = (T)-0.0;
            }
            const T *const x = (const T *)job.x + part * E * job.x_vector;
            many_sum<V, T, E>(l, shared, begin, end, mine, part < m.parts ? ends : mine, x, &sum, &phase, &faults);
#pragma unroll
            for (int e = 0; e < E && row < last && part < m.parts; e++) {
                spmv_finish<T, true>(job, row, part * E + e, sum.at[e], mine == ends);
            }
        }
        if (malformed) {
            faults.row(row);
        }
    }
    faults.report(job);
}

#endif
