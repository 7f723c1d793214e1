/* Rows, and all entries, reduced on the GPU. 1, 4 or 32 lanes join a row, and all lanes of their warp together one that
 * is too long for that. Rows of more than LONG entries are queued by pieces of up to LSP_LIST_PIECE, a warp takes a
 * piece, and a block joins the pieces of a row. Waits for nothing. */
#include "reduce.cuh"

static __device__ bool is_shut(const gpu_reducing &r) { return r.gate != NULL && *(const volatile unsigned *)r.gate; }

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

lsp_status lsp_reduce_lists(lsp_ctx *ctx, const gpu_reducing &r) {
    return lsp_reduces_whole(r.A.val_type, r.reduction) ? reduce<whole_numbers>(ctx, r)
           : r.A.val_type != LSP_F64                    ? reduce<any_numbers>(ctx, r)
           : lsp_takes_largest(r.reduction)             ? reduce<doubles<true>>(ctx, r)
                                                        : reduce<doubles<false>>(ctx, r);
}

extern "C" lsp_status lsp_csr_reduce_cuda(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, bool all,
                                          const unsigned *gate, void *results) {
    LSP_SCRATCH_SCOPE(ctx);
    gpu_reducing r = reducing_of(A, reduction, results);
    r.all = all, r.gate = gate;
    if (!all && A->rows == 0) {
        return LSP_OK;
    }
    return lsp_reduce_lists(ctx, r);
}
