/* Lists of values reduced on the GPU, joined in the order of the host (values/number.h). 1, 4 or 32 lanes join a row,
 * and all lanes of their warp together one that is too long for that. Rows of more than LONG entries are queued by
 * pieces of up to LSP_LIST_PIECE, a warp takes a piece, and a block joins the pieces of a row. Columns are joined where
 * a transpose by bins has sorted them, in shared memory; they wait for the count of the bins, rows for nothing. */
#include "matrices/csr/gpu/bins.cuh"
#include "matrices/csr/gpu/mirror.cuh"
#include "matrices/values/values.h"

/* Terms: of a lane alone; of 4 lanes; in a row that is not queued; loaded at a time, and at the end of a list. */
enum { FEW = 8, FEW_BY_FOUR = 64, LONG = 512, FLIGHT = 8, LAST_FLIGHT = 4 };

/* A piece of a row; the sums of its pieces are joined[first], joined[first + 1], ... */
typedef struct row_piece {
    int64_t row, first;
} row_piece;

typedef struct gpu_queue {
    ull pieces, heads; /* how many; heads are rows of more than one piece */
} gpu_queue;

typedef struct gpu_reducing {
    gpu_csr A;
    lsp_reduction reduction;
    lsp_type type;        /* of the results */
    bool all;             /* one list of all entries, in place of the rows */
    const unsigned *gate; /* not 0: A is no matrix; NULL: it was checked */
    void *results;
    gpu_queue *queue;
    row_piece *pieces, *heads;
    void *joined[2]; /* of each piece: both parts */
} gpu_reducing;

static __device__ bool is_shut(const gpu_reducing &r) { return r.gate != NULL && *(const volatile unsigned *)r.gate; }

/* The terms of a list and how they are joined: numbers of any type; doubles, whose type and join are not looked up for
 * each term; integers, whose order does not matter. */
struct any_numbers {
    typedef double number;
    static __device__ number none(lsp_reduction r) { return lsp_reduce_none(r); }
    static __device__ number join(lsp_reduction r, number a, number b) {
        return lsp_reduce_join(lsp_takes_largest(r), a, b);
    }
    static __device__ number term(const gpu_csr &A, lsp_reduction r, int part, int64_t k) {
        const gpu_value value = complex_at(A, k);
        return part == 1 ? value.im : lsp_reduce_term(r, value.re, value.im, A.val_type == LSP_C64);
    }
    static __device__ void put(const gpu_reducing &r, int64_t i, int64_t n, number re, number im) {
        const double x = lsp_reduce_result(r.reduction, n, re);
        if (r.type == LSP_C64) {
            ((double *)r.results)[2 * i] = x;
            ((double *)r.results)[2 * i + 1] = lsp_reduce_result(r.reduction, n, im);
        } else if (r.type == LSP_F64) {
            ((double *)r.results)[i] = x;
        } else {
            ((float *)r.results)[i] = (float)x;
        }
    }
};
template <bool LARGEST> struct doubles : any_numbers {
    static __device__ number join(lsp_reduction, number a, number b) { return lsp_reduce_join(LARGEST, a, b); }
    static __device__ number term(const gpu_csr &A, lsp_reduction r, int, int64_t k) {
        const double x = ((const double *)A.val)[k];
        return LARGEST                 ? lsp_settled(r == LSP_REDUCE_MIN   ? -x
                                                     : r == LSP_REDUCE_MAX ? x
                                                                           : fabs(x))
               : r == LSP_REDUCE_SUM   ? x
               : r == LSP_REDUCE_NORM1 ? lsp_settled(fabs(x))
                                       : x * x;
    }
};
struct whole_numbers {
    typedef long long number;
    static __device__ number none(lsp_reduction r) { return lsp_none_whole(r); }
    static __device__ number join(lsp_reduction r, number a, number b) { return lsp_join_whole(r, a, b); }
    static __device__ number term(const gpu_csr &A, lsp_reduction, int, int64_t k) {
        return whole_at(A.val_type, A.val, k);
    }
    static __device__ void put(const gpu_reducing &r, int64_t i, int64_t, number x, number) {
        ((int64_t *)r.results)[i] = x;
    }
};

/* Joins n terms by all lanes of a warp; lane 0 has the result. */
template <typename T, typename J, typename TERM>
static __device__ T join_by_warp(lsp_reduction reduction, int64_t n, TERM term) {
    T joined = J::none(reduction);
    int64_t k = lane_of();
    for (; k + (FLIGHT - 1) * 32 < n; k += FLIGHT * 32) {
        T terms[FLIGHT];
#pragma unroll
        for (int f = 0; f < FLIGHT; f++) {
            terms[f] = term(k + f * 32);
        }
#pragma unroll
        for (int f = 0; f < FLIGHT; f++) {
            joined = J::join(reduction, joined, terms[f]);
        }
    }
    for (; k < n; k += LAST_FLIGHT * 32) {
        T terms[LAST_FLIGHT];
#pragma unroll
        for (int f = 0; f < LAST_FLIGHT; f++) {
            terms[f] = k + f * 32 < n ? term(k + f * 32) : joined;
        }
#pragma unroll
        for (int f = 0; f < LAST_FLIGHT; f++) {
            joined = k + f * 32 < n ? J::join(reduction, joined, terms[f]) : joined;
        }
    }
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
        joined = J::join(reduction, joined, __shfl_down_sync(~0u, joined, half));
    }
    return joined;
}

/* Joins n terms by LANES lanes of 1, 4 or 32; their first one has the result. A lane alone takes up to FEW terms; 4
 * hold the 32 partial results of a list, 8 in each. */
template <typename J, int LANES>
static __device__ typename J::number join_by_lanes(const gpu_reducing &r, int part, int64_t begin, int64_t n) {
    typedef typename J::number number;
    if constexpr (LANES == 32) {
        return join_by_warp<number, J>(r.reduction, n,
                                       [&](int64_t k) { return J::term(r.A, r.reduction, part, begin + k); });
    } else {
        const int lane = (int)threadIdx.x % LANES;
        number held[FEW];
#pragma unroll
        for (int h = 0; h < FEW; h++) {
            const int64_t k = lane + h * LANES;
            held[h] = k < n ? J::term(r.A, r.reduction, part, begin + k) : J::none(r.reduction);
        }
        for (int64_t first = 32; LANES == 4 && first < n; first += 32) {
#pragma unroll
            for (int h = 0; h < FEW; h++) {
                const int64_t k = first + lane + h * LANES;
                held[h] = k < n ? J::join(r.reduction, held[h], J::term(r.A, r.reduction, part, begin + k)) : held[h];
            }
        }
#pragma unroll
        for (int half = FEW / 2; half > 0; half /= 2) {
#pragma unroll
            for (int h = 0; h < half; h++) {
                held[h] = J::join(r.reduction, held[h], held[h + half]);
            }
        }
#pragma unroll
        for (int half = LANES / 2; half > 0; half /= 2) {
            held[0] = J::join(r.reduction, held[0], __shfl_down_sync(~0u, held[0], half, LANES));
        }
        return held[0];
    }
}

static __device__ int64_t pieces_of(int64_t n) { return n <= LSP_LIST_PIECE ? 1 : (n - 1) / LSP_LIST_PIECE + 1; }

/* Queues row i of n entries, by all lanes of a warp. */
static __device__ void queue_row(const gpu_reducing &r, int64_t i, int64_t n) {
    const int64_t count = pieces_of(n);
    ull first = lane_of() == 0 ? atomicAdd(&r.queue->pieces, (ull)count) : 0;
    first = __shfl_sync(~0u, first, 0);
    for (int64_t p = lane_of(); p < count; p += 32) {
        r.pieces[first + p].row = i, r.pieces[first + p].first = (int64_t)first;
    }
    if (lane_of() == 0 && count > 1) {
        const ull head = atomicAdd(&r.queue->heads, 1ull);
        r.heads[head].row = i, r.heads[head].first = (int64_t)first;
    }
}

template <typename J, int LANES> static __global__ void __launch_bounds__(NT) kernel_join_rows(gpu_reducing r) {
    typedef typename J::number number;
    const int64_t most = LANES == 1 ? FEW : LANES == 4 ? FEW_BY_FOUR : LONG; /* entries of a row for LANES lanes */
    const int64_t groups = (int64_t)gridDim.x * (NT / LANES);
    const int parts = r.type == LSP_C64 ? 2 : 1, lane = (int)threadIdx.x % LANES;
    if (is_shut(r)) {
        return;
    }
    for (int64_t base = (int64_t)blockIdx.x * (NT / LANES); base < r.A.rows; base += groups) { /* warps stay together */
        const int64_t i = base + threadIdx.x / LANES;
        const int64_t begin = i < r.A.rows ? rowptr_at(r.A, i) : 0,
                      n = i < r.A.rows ? rowptr_at(r.A, i + 1) - begin : 0;
        number joined[2] = {};
        for (int part = 0; part < parts; part++) {
            joined[part] = join_by_lanes<J, LANES>(r, part, begin, n <= most ? n : 0);
        }
        if (lane == 0 && i < r.A.rows && n <= most) {
            J::put(r, i, n, joined[0], joined[1]);
        }
        for (unsigned left = __ballot_sync(~0u, lane == 0 && n > most); left != 0; left &= left - 1) {
            const int from = __ffs((int)left) - 1;
            const int64_t row = __shfl_sync(~0u, i, from), start = __shfl_sync(~0u, begin, from);
            const int64_t length = __shfl_sync(~0u, n, from);
            if (length > LONG) {
                queue_row(r, row, length);
                continue;
            }
            for (int part = 0; part < parts; part++) {
                joined[part] = join_by_lanes<J, 32>(r, part, start, length);
            }
            if (lane_of() == 0) {
                J::put(r, row, length, joined[0], joined[1]);
            }
        }
    }
}

/* Begin and length of a list. */
static __device__ int64_t begin_of(const gpu_reducing &r, int64_t i) { return r.all ? 0 : rowptr_at(r.A, i); }
static __device__ int64_t length_of(const gpu_reducing &r, int64_t i) {
    return r.all ? r.A.nnz : rowptr_at(r.A, i + 1) - rowptr_at(r.A, i);
}

template <typename J> static __global__ void __launch_bounds__(NT) kernel_join_pieces(gpu_reducing r) {
    typedef typename J::number number;
    if (is_shut(r)) {
        return;
    }
    const int64_t count = r.all ? pieces_of(r.A.nnz) : (int64_t)r.queue->pieces;
    const int parts = r.type == LSP_C64 ? 2 : 1;
    EACH_ROW(p, count) {
        row_piece piece = {};
        if (!r.all) {
            piece = r.pieces[p];
        }
        const int64_t begin = (p - piece.first) * LSP_LIST_PIECE, all = length_of(r, piece.row);
        number joined[2] = {};
        for (int part = 0; part < parts; part++) {
            joined[part] = join_by_lanes<J, 32>(r, part, begin_of(r, piece.row) + begin,
                                                min(all - begin, (int64_t)LSP_LIST_PIECE));
        }
        if (lane_of() == 0 && all <= LSP_LIST_PIECE) {
            J::put(r, piece.row, all, joined[0], joined[1]);
        } else if (lane_of() == 0) {
            for (int part = 0; part < parts; part++) {
                ((number *)r.joined[part])[p] = joined[part];
            }
        }
    }
}

/* Numbers of pieces are a list again, whose pieces are joined by a warp each and take the place of their first terms,
 * until one is left. By all threads of a block. */
template <typename J>
static __device__ typename J::number join_joined(lsp_reduction reduction, typename J::number *joined, int64_t n) {
    typedef typename J::number number;
    const int warp = (int)threadIdx.x / 32;
    while (n > 1) {
        const int64_t count = pieces_of(n);
        for (int64_t first = 0; first < count; first += WARPS) {
            const int64_t p = first + warp, begin = p * LSP_LIST_PIECE;
            const number x =
                join_by_warp<number, J>(reduction, max(min(n - begin, (int64_t)LSP_LIST_PIECE), (int64_t)0),
                                        [&](int64_t k) { return joined[begin + k]; });
            __syncthreads(); /* all of this turn were read */
            if (lane_of() == 0 && p < count) {
                joined[p] = x;
            }
            __syncthreads();
        }
        n = count;
    }
    return joined[0];
}

/* Rows of more than one piece, a block each. */
template <typename J> static __global__ void __launch_bounds__(NT) kernel_join_heads(gpu_reducing r) {
    typedef typename J::number number;
    if (is_shut(r)) {
        return;
    }
    const int64_t count = r.all ? 1 : (int64_t)r.queue->heads;
    for (int64_t h = blockIdx.x; h < count; h += gridDim.x) {
        row_piece head = {};
        if (!r.all) {
            head = r.heads[h];
        }
        const int64_t n = length_of(r, head.row);
        number x[2] = {};
        for (int part = 0; part < (r.type == LSP_C64 ? 2 : 1); part++) {
            x[part] = join_joined<J>(r.reduction, (number *)r.joined[part] + head.first, pieces_of(n));
        }
        if (threadIdx.x == 0) {
            J::put(r, head.row, n, x[0], x[1]);
        }
        __syncthreads();
    }
}

/* Numbers of entries, or reductions of ones. */
static __global__ void kernel_count(gpu_reducing r) {
    if (is_shut(r)) {
        return;
    }
    EACH_ITEM(i, r.all ? 1 : r.A.rows, NT) {
        const int64_t n = length_of(r, i);
        if (r.reduction == LSP_REDUCE_COUNT) {
            ((int64_t *)r.results)[i] = n;
        } else {
            ((double *)r.results)[i] = lsp_reduce_ones(r.reduction, n);
        }
    }
}

/* ---- columns ---- */

/* A list of up to 32 pieces, by all lanes of a warp. Lane 0 has the result. */
template <typename J>
static __device__ typename J::number join_pieces_here(const gpu_reducing &r, int part, int64_t begin, int64_t n) {
    typename J::number own = J::none(r.reduction);
    for (int p = 0; p < (int)pieces_of(n); p++) {
        const int64_t first = (int64_t)p * LSP_LIST_PIECE;
        const typename J::number x =
            join_by_lanes<J, 32>(r, part, begin + first, min(n - first, (int64_t)LSP_LIST_PIECE));
        const typename J::number piece = __shfl_sync(~0u, x, 0);
        own = lane_of() == p ? piece : own;
    }
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
        own = J::join(r.reduction, own, __shfl_down_sync(~0u, own, half));
    }
    return own;
}

/* A block joins the columns of a bin. 4 lanes take a column, and all of their warp one that is too long for that. */
template <typename J, int VB>
static __global__ void __launch_bounds__(BIN_SORT_NT)
    kernel_join_columns(bin_job job, uint32_t capacity, gpu_reducing r, int result_bytes) {
    typedef typename J::number number;
    LSP_DYNAMIC_SHARED(memory);
    bin_entries<VB> e;
    const sorted_bin s = bin_sort<VB>(job, capacity, true, memory, &e);
    const int parts = r.type == LSP_C64 ? 2 : 1, lane = (int)threadIdx.x % 4;
    r.A.val = e.val;
    r.results = (char *)r.results + s.column * result_bytes;
    for (uint32_t base = 0; base < s.w; base += BIN_SORT_NT / 4) { /* warps stay together */
        const uint32_t c = base + threadIdx.x / 4;
        const uint32_t begin = c < s.w ? s.starts[c] : 0, n = c < s.w ? s.starts[c + 1] - begin : 0;
        number joined[2] = {};
        for (int part = 0; part < parts; part++) {
            joined[part] = join_by_lanes<J, 4>(r, part, begin, n <= FEW_BY_FOUR ? n : 0);
        }
        if (lane == 0 && c < s.w && n <= FEW_BY_FOUR) {
            J::put(r, c, n, joined[0], joined[1]);
        }
        for (unsigned left = __ballot_sync(~0u, lane == 0 && n > FEW_BY_FOUR); left != 0; left &= left - 1) {
            const int from = __ffs((int)left) - 1;
            const uint32_t column = __shfl_sync(~0u, c, from), start = __shfl_sync(~0u, begin, from);
            const uint32_t length = __shfl_sync(~0u, n, from);
            for (int part = 0; part < parts; part++) {
                joined[part] = join_pieces_here<J>(r, part, start, length);
            }
            if (lane_of() == 0) {
                J::put(r, column, length, joined[0], joined[1]);
            }
        }
    }
}

/* ---- the host's side ---- */

/* The queue of long rows. A row is long from LONG entries on, so there are at most nnz / LONG. */
static lsp_status make_queue(lsp_ctx *ctx, gpu_reducing *r) {
    const int64_t pieces = r->all ? r->A.nnz / LSP_LIST_PIECE + 1 : r->A.nnz / LONG, parts = r->type == LSP_C64 ? 2 : 1;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, parts * pieces, sizeof(double), &r->joined[0]));
    r->joined[1] = (double *)r->joined[0] + (parts - 1) * pieces;
    if (!r->all) {
        LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &r->queue));
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, pieces, &r->pieces));
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, r->A.nnz / LSP_LIST_PIECE, &r->heads));
    }
    return LSP_OK;
}

template <typename J> static lsp_status reduce(lsp_ctx *ctx, gpu_reducing r) {
    const int64_t mean = r.A.nnz / lsp_max(r.A.rows, 1),
                  pieces = r.all ? r.A.nnz / LSP_LIST_PIECE + 1 : r.A.nnz / LONG + 1;
    LSP_TRY(make_queue(ctx, &r));
#define ROWS(lanes)                                                                                                    \
    LSP_LAUNCH(ctx, (kernel_join_rows<J, lanes>), lsp_blocks_for(ctx, r.A.rows, NT / lanes, 32), NT, 0, r)
    if (!r.all) {
        LSP_TRY(mean <= 6 ? ROWS(1) : mean <= 32 ? ROWS(4) : ROWS(32));
    }
    if (r.all || r.A.nnz > LONG) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_join_pieces<J>, lsp_blocks_for(ctx, pieces, WARPS, 16), NT, 0, r));
    }
    if (r.A.nnz > LSP_LIST_PIECE) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_join_heads<J>, r.all ? 1 : lsp_blocks_for(ctx, r.A.nnz / LSP_LIST_PIECE, 1, 4),
                           NT, 0, r));
    }
#undef ROWS
    return LSP_OK;
}

template <typename J, int VB>
static lsp_status start_columns(lsp_ctx *ctx, const bin_job *job, uint32_t capacity, size_t bytes,
                                const gpu_reducing *r) {
    LSP_TRY(lsp_allow_shared(ctx, (kernel_join_columns<J, VB>), bytes));
    return LSP_LAUNCH(ctx, (kernel_join_columns<J, VB>), job->bins, BIN_SORT_NT, bytes, *job, capacity, *r,
                      (int)lsp_type_bytes(r->type));
}

static gpu_reducing reducing_of(const lsp_csr *A, lsp_reduction reduction, void *results) {
    gpu_reducing r = {};
    r.A = view(A), r.reduction = reduction, r.results = results;
    r.type = lsp_reduce_type(A->val_type, reduction);
    return r;
}

static lsp_status reduce_values(lsp_ctx *ctx, const gpu_reducing &r) {
    return lsp_reduces_whole(r.A.val_type, r.reduction) ? reduce<whole_numbers>(ctx, r)
           : r.A.val_type != LSP_F64                    ? reduce<any_numbers>(ctx, r)
           : lsp_takes_largest(r.reduction)             ? reduce<doubles<true>>(ctx, r)
                                                        : reduce<doubles<false>>(ctx, r);
}

/* Where entries are mirrored: the rows of A with the values of its transpose. */
static lsp_status reduce_mirrored(lsp_ctx *ctx, const lsp_csr *A, gpu_reducing r, bool *done) {
    LSP_SCRATCH_SCOPE(ctx);
    gpu_csr B = {};
    void *val = NULL;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, (size_t)value_bytes(A), &val));
    r.A.val = B.val = val;
    LSP_TRY(lsp_csr_mirror_entries(ctx, "A", A, B, done));
    return *done ? reduce_values(ctx, r) : LSP_OK;
}

extern "C" lsp_status lsp_csr_reduce_columns_cuda(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction,
                                                  void *results, bool *done) {
    LSP_SCRATCH_SCOPE(ctx);
    size_t bytes = 0;
    uint32_t capacity = 0;
    bin_job job;
    const gpu_reducing r = reducing_of(A, reduction, results);
    const bool whole = lsp_reduces_whole(A->val_type, reduction), narrow = value_bytes(A) == 4;
    *done = false;
    LSP_TRY(A->rows == A->cols ? reduce_mirrored(ctx, A, r, done) : LSP_OK);
    if (*done) {
        return LSP_OK;
    }
    LSP_TRY(lsp_csr_into_bins(ctx, "A", A, &job, &capacity, &bytes, done));
#define START(J, VB) start_columns<J, VB>(ctx, &job, capacity, bytes, &r)
    if (*done) {
        LSP_TRY(whole                          ? (narrow ? START(whole_numbers, 4) : START(whole_numbers, 8))
                : A->val_type != LSP_F64       ? (narrow                   ? START(any_numbers, 4)
                                                  : A->val_type == LSP_C64 ? START(any_numbers, 16)
                                                                           : START(any_numbers, 8))
                : lsp_takes_largest(reduction) ? START(doubles<true>, 8)
                                               : START(doubles<false>, 8));
    }
#undef START
    return LSP_OK;
}

extern "C" lsp_status lsp_csr_reduce_cuda(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, bool all,
                                          const unsigned *gate, void *results) {
    LSP_SCRATCH_SCOPE(ctx);
    gpu_reducing r = reducing_of(A, reduction, results);
    r.all = all, r.gate = gate;
    if (!all && A->rows == 0) {
        return LSP_OK;
    }
    if (reduction == LSP_REDUCE_COUNT || A->val_type == LSP_NONE) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_count, all ? 1 : blocks_for_items(A->rows), NT, 0, r));
    } else {
        LSP_TRY(reduce_values(ctx, r));
    }
    return LSP_OK;
}
