/* y = A*x, pieces of equal numbers of entries. A block multiplies the entries of a piece as they lie, a segmented
 * prefix sum in shared memory makes sums of rows of the products, and each row that begins in the piece reads its last
 * entry. Sums of rows that go over a border of pieces are completed by a second kernel, in the order of the pieces. */
#pragma once

#include "list.cuh"

enum { PIECE_NT = 256, PIECE_VT = SPMV_PIECE / PIECE_NT, PIECE_WARPS = PIECE_NT / WARP };
enum { PIECE_SM_BLOCKS = 4 }; /* blocks per multiprocessor that registers allow */
enum { PIECE_CARVEOUT = 30 }; /* percent of an SM's memory that is shared: random reads of x want L1 more than blocks */

struct pieces_launch {
    spmv_job job;
    spmv_area area;
    int64_t pieces;      /* -1: as many as are listed */
    ull *answer, ticket; /* of spmv_memory; NULL: nobody asks */
};

__device__ inline int64_t pieces_count(const pieces_launch &l) {
    return l.pieces >= 0 ? l.pieces : min((int64_t)__ldcg(&l.area.state->pieces), l.area.capacity);
}

/* A thread a row. */
static __global__ void __launch_bounds__(PIECE_NT) kernel_cut(pieces_launch l) {
    const int64_t row = (int64_t)blockIdx.x * PIECE_NT + threadIdx.x;
    spmv_faults faults;
    lsp_let_next_begin();
    if (row < l.job.rows) {
        const int64_t rows[2] = {row, row + 1};
        int64_t at[2];
        spmv_rowptrs(l.job, rows, at);
        cut_row(l.job, l.area, l.pieces, row, at[0], at[1], &faults);
    }
    faults.report(l.job);
}

/* A place for one unused element after each PIECE_VT: threads that read PIECE_VT in a row meet no bank conflict. */
__device__ inline int piece_at(int i) { return i + i / PIECE_VT; }

template <typename S> struct piece_shared {
    S sum[SPMV_PIECE + PIECE_NT];
    S warp_sum[PIECE_WARPS];
    bool warp_marked[PIECE_WARPS];               /* a row begins in the warp's entries */
    alignas(4) unsigned char begins[SPMV_PIECE]; /* 1: a row begins at this entry */
};

/* A piece as a block sees it: if row pointers are malformed, which is reported elsewhere, it may be anything, and is
 * cut to what exists. */
struct piece_view {
    int64_t begin, row;
    int entries, rows;
};
__device__ inline piece_view piece_view_of(const spmv_job &job, const spmv_piece &p) {
    const int64_t begin = spmv_clamp(p.begin, 0, job.nnz), row = spmv_clamp(p.row, 0, job.rows);
    return {begin, row, (int)(spmv_clamp(p.end, begin, min(begin + SPMV_PIECE, job.nnz)) - begin),
            (int)(spmv_clamp(p.last, row, min(row + 16 * SPMV_PIECE, job.rows)) - row)};
}

/* A row of the piece, counted from the piece's first entry. */
struct piece_row {
    int begin, end; /* end 0: it is empty; beyond the piece's entries: it goes on in the next piece */
};
__device__ inline piece_row piece_row_at(const spmv_job &job, const piece_view &piece, int r, spmv_faults *faults) {
    const int64_t rows[2] = {piece.row + r, piece.row + r + 1};
    int64_t at[2];
    spmv_rowptrs(job, rows, at);
    if (spmv_is_malformed(job, at[0], at[1])) {
        faults->row(rows[0]);
        return {0, 0};
    }
    const int64_t begin = spmv_clamp(at[0] - piece.begin, 0, piece.entries);
    const int64_t end = spmv_clamp(at[1] - piece.begin, 1, piece.entries + 1);
    return at[0] == at[1] ? piece_row{(int)begin, 0} : piece_row{(int)begin, (int)end};
}

/* A thread's part of the marks, four at a time. */
template <typename S> __device__ inline unsigned *piece_marks(piece_shared<S> &shared) {
    static_assert(PIECE_VT % 4 == 0, "marks are read by words");
    return (unsigned *)shared.begins + threadIdx.x * (PIECE_VT / 4);
}

/* Marks the first entry of a row. */
__device__ inline void piece_mark(const piece_view &piece, const piece_row &row, unsigned char *begins) {
    if (row.end > 0 && row.begin < piece.entries) {
        begins[row.begin] = 1;
    }
}

/* The products of the piece to shared memory, and marks of its rows. All entries of a thread are loaded before the
 * first is multiplied. Returns this thread's first row. */
template <typename V, typename T, bool PLUS, typename S>
__device__ inline piece_row piece_multiply(const spmv_job &job, const piece_view &piece, const T *x,
                                           piece_shared<S> &shared, spmv_faults *faults) {
    const S nothing = (S)spmv_nothing<PLUS>(job);
    const int last = piece.entries - 1, tid = (int)threadIdx.x;
    piece_row mine = {0, 0};
    unsigned top = 0;
    if (!job.careful && piece.entries > 0) {
        int32_t c[PIECE_VT];
        V v[PIECE_VT];
        T from[PIECE_VT];
#pragma unroll
        for (int i = 0; i < PIECE_VT; i++) {
            const int k = min(tid + i * PIECE_NT, last);
            c[i] = __ldcs((const int32_t *)job.col + piece.begin + k);
            v[i] = spmv_value<V, true>((const V *)job.val + piece.begin, k);
        }
        if (tid < piece.rows) {
            mine = piece_row_at(job, piece, tid, faults);
        }
#pragma unroll
        for (int i = 0; i < PIECE_VT; i++) {
            from[i] = *spmv_x_at(job, x, spmv_inside(job, c[i], &top));
        }
        piece_mark(piece, mine, shared.begins);
#pragma unroll
        for (int i = 0; i < PIECE_VT; i++) {
            const int k = tid + i * PIECE_NT;
            shared.sum[piece_at(k)] = k <= last ? spmv_add<V, T, PLUS>(job.semiring, nothing, v[i], from[i]) : nothing;
        }
    } else if (tid < piece.rows) {
        mine = piece_row_at(job, piece, tid, faults);
        piece_mark(piece, mine, shared.begins);
    }
    if (job.careful || spmv_is_outside(job, top)) {
        for (int k = tid; k < SPMV_PIECE; k += PIECE_NT) {
            const int64_t c = k <= last ? spmv_careful_col(job, piece.begin + k, faults) : -1;
            shared.sum[piece_at(k)] =
                c < 0 ? nothing
                      : spmv_add<V, T, PLUS>(job.semiring, nothing, spmv_value<V>((const V *)job.val + piece.begin, k),
                                             x[c * job.x_row]);
        }
    }
    for (int r = tid + PIECE_NT; r < piece.rows; r += PIECE_NT) {
        piece_mark(piece, piece_row_at(job, piece, r, faults), shared.begins);
    }
    return mine;
}

/* Turns products into the sums of their rows so far: a prefix sum that begins anew at each mark. */
template <typename T, bool PLUS, typename S>
__device__ inline void piece_scan(const spmv_job &job, piece_shared<S> &shared) {
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP, first = (int)threadIdx.x * PIECE_VT;
    unsigned marks[PIECE_VT / 4];
    S sum[PIECE_VT];
    int own = PIECE_VT; /* entries before this thread's first mark */
#pragma unroll
    for (int i = 0; i < PIECE_VT / 4; i++) {
        marks[i] = piece_marks(shared)[i];
        piece_marks(shared)[i] = 0; /* for the next piece */
    }
#pragma unroll
    for (int i = 0; i < PIECE_VT; i++) {
        const S one = shared.sum[piece_at(first + i)];
        const bool begins = (marks[i / 4] >> i % 4 * 8 & 1) != 0;
        own = begins && own == PIECE_VT ? i : own;
        sum[i] = i == 0 || begins ? one : spmv_join<T, PLUS>(job.semiring, sum[i > 0 ? i - 1 : 0], one);
    }
    /* the warp: sums of threads, since the last mark */
    const unsigned marked = __ballot_sync(~0u, own < PIECE_VT);
    const unsigned before = marked & ((2u << lane) - 1); /* up to this lane */
    const int since = before != 0 ? WARP - 1 - __clz((int)before) : -1;
    S whole = sum[PIECE_VT - 1];
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const S lower = __shfl_up_sync(~0u, whole, step);
        if (lane - step >= max(since, 0)) {
            whole = spmv_join<T, PLUS>(job.semiring, lower, whole);
        }
    }
    if (lane == WARP - 1) {
        shared.warp_sum[warp] = whole;
        shared.warp_marked[warp] = marked != 0;
    }
    const S left = __shfl_up_sync(~0u, whole, 1);
    __syncthreads();
    /* what comes from before this thread, for its entries before its first mark */
    S carry = lane > 0 ? left : (S)spmv_nothing<PLUS>(job);
    if ((marked & ((1u << lane) - 1)) == 0) {
        for (int w = warp - 1; w >= 0; w--) {
            carry = spmv_join<T, PLUS>(job.semiring, shared.warp_sum[w], carry);
            if (shared.warp_marked[w]) {
                break;
            }
        }
    }
#pragma unroll
    for (int i = 0; i < PIECE_VT; i++) {
        shared.sum[piece_at(first + i)] = i < own ? spmv_join<T, PLUS>(job.semiring, carry, sum[i]) : sum[i];
    }
}

/* The piece's rows read their sums. `mine`: this thread's first row. */
template <typename T, bool PLUS, typename S>
__device__ inline void piece_finish(const spmv_job &job, const spmv_area &area, int64_t p, const piece_view &piece,
                                    const piece_row &mine, int64_t vector, const S *sums, spmv_faults *faults) {
    for (int r = (int)threadIdx.x; r < piece.rows; r += PIECE_NT) {
        const piece_row row = r == (int)threadIdx.x ? mine : piece_row_at(job, piece, r, faults);
        if (row.end > piece.entries) {
            ((S *)area.tail)[p] = sums[piece_at(max(piece.entries - 1, 0))];
        } else {
            const S sum = row.end > 0 ? sums[piece_at(row.end - 1)] : (S)spmv_nothing<PLUS>(job);
            spmv_finish<T, PLUS>(job, piece.row + r, vector, sum, row.end == 0);
        }
    }
    if (threadIdx.x == 0) {
        const int before = piece.rows > 0 ? mine.begin : piece.entries;
        ((S *)area.head)[p] = before > 0 ? sums[piece_at(before - 1)] : (S)spmv_nothing<PLUS>(job);
    }
}

template <typename V, typename T, bool PLUS>
static __global__ void __launch_bounds__(PIECE_NT, PIECE_SM_BLOCKS) kernel_pieces(pieces_launch l, int64_t vector) {
    typedef typename spmv_sum<T, PLUS>::type S;
    __shared__ piece_shared<S> shared;
    const spmv_job &job = l.job;
    const T *const x = (const T *)job.x + vector * job.x_vector;
    spmv_faults faults;
    lsp_let_next_begin();
    for (int i = 0; i < PIECE_VT / 4; i++) {
        piece_marks(shared)[i] = 0;
    }
    __syncthreads();
    lsp_wait_for_previous();
    const int64_t pieces = pieces_count(l);
    for (int64_t p = blockIdx.x; p < pieces; p += gridDim.x) {
        const piece_view piece = piece_view_of(job, l.area.list[p]);
        const piece_row mine = piece_multiply<V, T, PLUS, S>(job, piece, x, shared, &faults);
        __syncthreads();
        piece_scan<T, PLUS, S>(job, shared);
        __syncthreads();
        piece_finish<T, PLUS, S>(job, l.area, p, piece, mine, vector, shared.sum, &faults);
        if (p + gridDim.x < pieces) {
            __syncthreads();
        }
    }
    faults.report(job);
}

/* ---- rows over borders ---- */

enum { CARRY_NT = 256, CARRY_ALONE = 64 }; /* pieces that one thread adds */

/* The sum of the heads p .. p+count-1, by all threads: each adds a run of them, then the runs are added in order. */
template <typename T, bool PLUS, typename S>
__device__ inline S carry_heads(const spmv_job &job, const S *head, int64_t p, int64_t count, S *runs) {
    const int64_t from = p + count * threadIdx.x / CARRY_NT, to = p + count * (threadIdx.x + 1) / CARRY_NT;
    S sum = (S)spmv_nothing<PLUS>(job);
#pragma unroll 4
    for (int64_t j = from; j < to; j++) {
        sum = spmv_join<T, PLUS>(job.semiring, sum, __ldcg(head + j));
    }
    runs[threadIdx.x] = sum;
    for (int step = 1; step < CARRY_NT; step *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * step) == 0) {
            runs[threadIdx.x] = spmv_join<T, PLUS>(job.semiring, runs[threadIdx.x], runs[threadIdx.x + step]);
        }
    }
    __syncthreads();
    return runs[0];
}

/* Completes the last row of each piece that goes on in the next ones. */
template <typename T, bool PLUS>
static __global__ void __launch_bounds__(CARRY_NT) kernel_carries(pieces_launch l, int64_t vector) {
    typedef typename spmv_sum<T, PLUS>::type S;
    __shared__ S runs[CARRY_NT];
    __shared__ int64_t counts[CARRY_NT];
    const spmv_job &job = l.job;
    const S *const head = (const S *)l.area.head, *const tail = (const S *)l.area.tail;
    lsp_let_next_begin();
    lsp_wait_for_previous();
    const int64_t pieces = pieces_count(l);
    if (l.answer != NULL && blockIdx.x == 0 && threadIdx.x == 0) {
        const unsigned found = __ldcg(&l.area.state->found);
        const bool listed = pieces > 0 && (found & SPMV_SKEWED) == 0;
        *(volatile ull *)l.answer = l.ticket << SPMV_FOUND_BITS | found | (listed ? (unsigned)SPMV_LISTED : 0);
    }
    for (int64_t base = (int64_t)blockIdx.x * CARRY_NT; base < pieces; base += (int64_t)gridDim.x * CARRY_NT) {
        const int64_t p = base + threadIdx.x;
        int64_t count = 0, row = 0;
        if (p < pieces) {
            const piece_view piece = piece_view_of(job, l.area.list[p]);
            row = piece.row + piece.rows - 1;
            const int64_t end = piece.begin + piece.entries, from = piece.rows > 0 ? spmv_rowptr(job, row) : 0;
            const int64_t to = piece.rows > 0 ? spmv_rowptr(job, row + 1) : 0;
            const bool goes_on = !spmv_is_malformed(job, from, to) && from < to && to > end;
            count = goes_on ? min((to - end + SPMV_PIECE - 1) / SPMV_PIECE, pieces - 1 - p) : -1;
        }
        counts[threadIdx.x] = count > CARRY_ALONE ? count : 0;
        if (p < pieces && count >= 0 && count <= CARRY_ALONE) {
            S sum = __ldcg(tail + p);
            for (int64_t j = 1; j <= count; j++) {
                sum = spmv_join<T, PLUS>(job.semiring, sum, __ldcg(head + p + j));
            }
            spmv_finish<T, PLUS>(job, row, vector, sum, false);
        }
        if (__syncthreads_or(count > CARRY_ALONE) == 0) {
            continue;
        }
        for (int t = 0; t < CARRY_NT; t++) {
            if (counts[t] > 0) {
                const S sum = carry_heads<T, PLUS, S>(job, head, base + t + 1, counts[t], runs);
                if ((int)threadIdx.x == t) {
                    spmv_finish<T, PLUS>(job, row, vector, spmv_join<T, PLUS>(job.semiring, __ldcg(tail + p), sum),
                                         false);
                }
                __syncthreads();
            }
        }
        __syncthreads();
    }
}
