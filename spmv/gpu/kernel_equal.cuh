/* y = A*x, pieces of equal numbers of entries. A block multiplies the entries of a piece as they lie, a segmented
 * prefix sum in shared memory makes sums of rows of the products, and each row that begins in the piece reads its last
 * entry. Sums of rows that go over a border of pieces are completed by a second kernel, in the order of the pieces. */
#ifndef LSP_SPMV_GPU_KERNEL_EQUAL_CUH
#define LSP_SPMV_GPU_KERNEL_EQUAL_CUH

#include "list.cuh"

enum { PIECE_NT = 256, PIECE_VT = SPMV_PIECE / PIECE_NT, PIECE_WARPS = PIECE_NT / WARP };
enum { PIECE_SM_BLOCKS = 4 }; /* blocks per multiprocessor that registers allow */
enum { PIECE_CARVEOUT = 30 }; /* percent of an SM's memory that is shared: random reads of x want L1 more than blocks */
enum { PIECE_AHEAD = 8 };     /* entries that a thread loads before it multiplies the first */

struct pieces_launch {
    spmv_job job;
    spmv_area area;
    int64_t pieces; /* -1: as many as are listed */
};

__device__ inline int64_t pieces_count(const pieces_launch &l) {
    return l.pieces >= 0 ? l.pieces : min((int64_t)__ldcg(&l.area.state->pieces), l.area.capacity);
}

static __global__ void __launch_bounds__(PIECE_NT) kernel_cut(rows_launch l) {
    spmv_faults faults;
    lsp_let_next_begin();
    cut_matrix(l.job, l.area, l.pieces, &faults);
    faults.report(l.job);
}

/* A place for one unused element after each PIECE_VT: then threads that read PIECE_VT in a row meet no bank conflict.
 */
__device__ inline int piece_at(int i) { return i + i / PIECE_VT; }

template <typename S> struct piece_shared {
    S sum[SPMV_PIECE + PIECE_NT];
    S warp_sum[PIECE_WARPS];
    bool warp_marked[PIECE_WARPS];      /* a row begins in the warp's entries */
    unsigned begins[SPMV_PIECE / WARP]; /* a bit for each entry: a row begins there */
};

/* The products of the piece to shared memory; AHEAD entries of a thread are loaded before the first is multiplied. */
template <typename V, typename T, bool PLUS, int AHEAD, typename C>
__device__ inline void piece_multiply(const spmv_job &job, const spmv_piece &piece, const C *col, const T *x,
                                      typename spmv_sum<T, PLUS>::type *sums, spmv_faults *faults) {
    typedef typename spmv_sum<T, PLUS>::type S;
    const S nothing = (S)spmv_nothing<PLUS>(job);
#pragma unroll 1
    for (int base = (int)threadIdx.x; base < SPMV_PIECE; base += AHEAD * PIECE_NT) {
        C c[AHEAD];
        V v[AHEAD] = {};
        T from[AHEAD] = {};
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            c[r] = -1;
            lsp_stream_if(base + r * PIECE_NT < piece.entries, col + piece.begin + base + r * PIECE_NT, &c[r]);
        }
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            const bool there = base + r * PIECE_NT < piece.entries, good = spmv_has(job, c[r]);
            lsp_read_if(good, x + spmv_x_at(job, c[r]), &from[r]);
            spmv_stream_if<V>(there, (const V *)job.val + piece.begin + base, r * PIECE_NT, &v[r]);
            if (there && !good) {
                faults->entry(piece.begin + base + r * PIECE_NT);
            }
        }
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            sums[piece_at(base + r * PIECE_NT)] =
                spmv_has(job, c[r]) ? spmv_add<V, T, PLUS>(job.semiring, nothing, v[r], from[r]) : nothing;
        }
    }
}

/* A row of the piece, counted from the piece's first entry. */
struct piece_row {
    int begin, end; /* end 0: it is empty; beyond the piece's entries: it goes on in the next piece */
};
__device__ inline piece_row piece_row_at(const spmv_job &job, const spmv_piece &piece, int r, spmv_faults *faults) {
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

/* Marks the first entries of the piece's rows. Returns this thread's first row. */
__device__ inline piece_row piece_mark(const spmv_job &job, const spmv_piece &piece, unsigned *begins,
                                       spmv_faults *faults) {
    piece_row mine = {0, 0};
    for (int r = (int)threadIdx.x; r < piece.rows; r += PIECE_NT) {
        const piece_row row = piece_row_at(job, piece, r, faults);
        if (row.end > 0 && row.begin < piece.entries) {
            atomicOr(&begins[row.begin / WARP], 1u << row.begin % WARP);
        }
        mine = r == (int)threadIdx.x ? row : mine;
    }
    return mine;
}

/* Turns products into the sums of their rows so far: a prefix sum that begins anew at each mark. */
template <typename T, bool PLUS, typename S>
__device__ inline void piece_scan(const spmv_job &job, piece_shared<S> &shared) {
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP, first = (int)threadIdx.x * PIECE_VT;
    const unsigned marks = shared.begins[first / WARP] >> first % WARP & ((1u << PIECE_VT) - 1);
    S sum[PIECE_VT];
#pragma unroll
    for (int i = 0; i < PIECE_VT; i++) {
        const S one = shared.sum[piece_at(first + i)];
        sum[i] = i == 0 || (marks >> i & 1) != 0 ? one : spmv_join<T, PLUS>(job.semiring, sum[i > 0 ? i - 1 : 0], one);
    }
    /* the warp: sums of threads, since the last mark */
    const unsigned marked = __ballot_sync(~0u, marks != 0);
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
    if (threadIdx.x < SPMV_PIECE / WARP) { /* for the next piece */
        shared.begins[threadIdx.x] = 0;
    }
    const int own = marks != 0 ? __ffs((int)marks) - 1 : PIECE_VT;
#pragma unroll
    for (int i = 0; i < PIECE_VT; i++) {
        shared.sum[piece_at(first + i)] = i < own ? spmv_join<T, PLUS>(job.semiring, carry, sum[i]) : sum[i];
    }
}

/* The piece's rows read their sums. `mine`: this thread's first row. */
template <typename T, bool PLUS, typename S>
__device__ inline void piece_finish(const spmv_job &job, const spmv_area &area, int64_t p, const spmv_piece &piece,
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
    lsp_wait_for_previous();
    const int64_t pieces = pieces_count(l);
    int64_t p = blockIdx.x;
    spmv_piece next = {};
    if (p < pieces) {
        next = l.area.list[p];
    }
    if (threadIdx.x < SPMV_PIECE / WARP) {
        shared.begins[threadIdx.x] = 0;
    }
    __syncthreads();
    for (; p < pieces; p += gridDim.x) {
        const spmv_piece piece = next;
        if (p + gridDim.x < pieces) {
            next = l.area.list[p + gridDim.x];
        }
        const piece_row mine = piece_mark(job, piece, shared.begins, &faults);
        if (job.wide_col) {
            piece_multiply<V, T, PLUS, 1>(job, piece, (const long long *)job.col, x, shared.sum, &faults);
        } else {
            piece_multiply<V, T, PLUS, PIECE_AHEAD>(job, piece, (const int32_t *)job.col, x, shared.sum, &faults);
        }
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

enum { CARRY_NT = 256, CARRY_ALONE = 16 }; /* pieces that one thread adds */

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
    for (int64_t base = (int64_t)blockIdx.x * CARRY_NT; base < pieces; base += (int64_t)gridDim.x * CARRY_NT) {
        const int64_t p = base + threadIdx.x;
        int64_t count = 0, row = 0;
        if (p < pieces) {
            const spmv_piece piece = l.area.list[p];
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

#endif
