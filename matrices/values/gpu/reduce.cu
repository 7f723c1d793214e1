/* Lists of values reduced on the GPU, joined in the order of the host (values/number.h). A piece of a list is joined by
 * 4 to 32 lanes: each holds several of the 32 partial results, so that short rows need few lanes. */
#include "core/scan.h"
#include "matrices/csr/gpu/entries.cuh"
#include "matrices/values/values.h"

/* Lists of terms: entries of A, or numbers that pieces of longer lists were joined to. */
typedef struct gpu_lists {
    gpu_csr A;
    const double *numbers; /* NULL: entries */
    const void *starts;    /* of the lists; count + 1 */
    bool wide;
    int64_t count;
} gpu_lists;

static __device__ int64_t start_of(const gpu_lists &in, int64_t i) { return index_at(in.starts, in.wide, i); }

static __device__ double term_at(const gpu_lists &in, lsp_reduction reduction, int part, int64_t k) {
    if (in.numbers) {
        return in.numbers[k];
    }
    const gpu_value value = complex_at(in.A, k);
    return part == 1 ? value.im : lsp_reduce_term(reduction, value.re, value.im, in.A.val_type == LSP_C64);
}

/* pieces[i + 1] = the pieces of list i; an empty list is one too. */
static __global__ void kernel_count_pieces(gpu_lists in, int64_t *pieces) {
    EACH_ITEM(i, in.count + 1) {
        const int64_t length = i > 0 ? start_of(in, i) - start_of(in, i - 1) : 0;
        pieces[i] = i == 0 ? 0 : length > LSP_LIST_PIECE ? (length + LSP_LIST_PIECE - 1) / LSP_LIST_PIECE : 1;
    }
}

/* The list of a piece: the last that begins at it or before. */
static __device__ int64_t list_of(const int64_t *pieces, int64_t count, int64_t piece) {
    return LSP_FIRST(0, count - 1, middle, pieces[middle + 1] > piece);
}

/* Joins each piece by LANES lanes. Lane l holds the partial results l, l + LANES, ... `single`: each list is a piece.
 */
template <int LANES>
static __global__ void kernel_join(gpu_lists in, lsp_reduction reduction, int part, const int64_t *pieces, bool single,
                                   int64_t total, double *joined) {
    enum { HELD = LSP_LIST_LANES / LANES };
    const bool largest = lsp_takes_largest(reduction);
    const int lane = (int)threadIdx.x % LANES;
    const int64_t groups = (int64_t)gridDim.x * (NT / LANES), first = (int64_t)blockIdx.x * (NT / LANES);
    for (int64_t base = first; base < total; base += groups) { /* all lanes of a warp stay together */
        const int64_t piece = base + threadIdx.x / LANES;
        double held[HELD];
        int64_t begin = 0, end = 0;
        if (piece < total) {
            const int64_t i = single ? piece : list_of(pieces, in.count, piece);
            begin = start_of(in, i) + (single ? 0 : (piece - pieces[i]) * LSP_LIST_PIECE);
            end = start_of(in, i + 1) < begin + LSP_LIST_PIECE ? start_of(in, i + 1) : begin + LSP_LIST_PIECE;
        }
#pragma unroll
        for (int h = 0; h < HELD; h++) {
            held[h] = lsp_reduce_none(reduction);
        }
        for (int64_t k = begin; k < end; k += LSP_LIST_LANES) {
#pragma unroll
            for (int h = 0; h < HELD; h++) {
                const int64_t mine = k + lane + h * LANES;
                held[h] = mine < end ? lsp_reduce_join(largest, held[h], term_at(in, reduction, part, mine)) : held[h];
            }
        }
#pragma unroll
        for (int half = HELD / 2; half > 0; half /= 2) {
#pragma unroll
            for (int h = 0; h < half; h++) {
                held[h] = lsp_reduce_join(largest, held[h], held[h + half]);
            }
        }
#pragma unroll
        for (int half = LANES / 2; half > 0; half /= 2) {
            held[0] = lsp_reduce_join(largest, held[0], __shfl_down_sync(~0u, held[0], half, LANES));
        }
        if (lane == 0 && piece < total) {
            joined[piece] = held[0];
        }
    }
}

static lsp_status join_pieces(lsp_ctx *ctx, gpu_lists in, lsp_reduction reduction, int part, const int64_t *pieces,
                              int64_t total, int64_t terms, double *joined) {
    const int64_t mean = terms / lsp_max(total, 1);
    const bool single = total == in.count;
#define JOIN(lanes)                                                                                                    \
    LSP_LAUNCH(ctx, kernel_join<lanes>, lsp_blocks_for(ctx, total, NT / lanes, 32), NT, 0, in, reduction, part,        \
               pieces, single, total, joined)
    return mean <= 4 ? JOIN(4) : mean <= 8 ? JOIN(8) : mean <= 16 ? JOIN(16) : JOIN(32);
#undef JOIN
}

/* *joined = a number for each list, in scratch. */
static lsp_status join(lsp_ctx *ctx, gpu_lists in, int64_t terms, lsp_reduction reduction, int part, double **joined) {
    lsp_status status = LSP_OK;
    for (int64_t total = -1; total != in.count;) {
        int64_t *pieces = NULL;
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, in.count + 1, sizeof *pieces, (void **)&pieces));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_count_pieces, blocks_for_items(in.count + 1), NT, 0, in, pieces));
        LSP_TRY(lsp_cuda_scan(ctx, pieces, in.count + 1, &total));
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, total, sizeof **joined, (void **)joined));
        LSP_TRY(join_pieces(ctx, in, reduction, part, pieces, total, terms, *joined));
        in.numbers = *joined, in.starts = pieces, in.wide = true;
        reduction = lsp_takes_largest(reduction) ? LSP_REDUCE_MAX : LSP_REDUCE_SUM;
        terms = total;
    }
done:
    return status;
}

/* Integers, in any order. A warp joins one list; if there is a single list, all warps share its entries. */
static __global__ void kernel_join_whole(gpu_lists in, lsp_reduction reduction, bool single, int64_t *results) {
    const int64_t warps = (int64_t)gridDim.x * WARPS, warp = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    for (int64_t i = single ? 0 : warp; i < in.count; i += single ? in.count : warps) {
        const int64_t first = single ? warp * 32 : 0, step = single ? warps * 32 : 32;
        long long joined = lsp_none_whole(reduction);
        for (int64_t k = start_of(in, i) + first + lane_of(); k < start_of(in, i + 1); k += step) {
            joined = lsp_join_whole(reduction, joined, whole_at(in.A.val_type, in.A.val, k));
        }
        for (int half = 16; half > 0; half /= 2) {
            joined = lsp_join_whole(reduction, joined, __shfl_down_sync(~0u, joined, half));
        }
        if (lane_of() == 0 && !single) {
            results[i] = joined;
        } else if (lane_of() == 0) { /* results[0] was set before */
            for (ull seen = *(volatile ull *)results, before = ~seen; seen != before;) {
                before = seen;
                seen = atomicCAS((ull *)results, before, (ull)lsp_join_whole(reduction, (int64_t)before, joined));
            }
        }
    }
}

static __global__ void kernel_set(int64_t *results, int64_t x) { results[0] = x; }

static lsp_status reduce_whole(lsp_ctx *ctx, const gpu_lists *in, lsp_reduction reduction, bool single,
                               int64_t *results) {
    lsp_status status = LSP_OK;
    if (single) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_set, 1, 1, 0, results, lsp_none_whole(reduction)));
    }
    LSP_TRY(LSP_LAUNCH(ctx, kernel_join_whole, single ? blocks_for_items(in->A.nnz) : blocks_for_rows(in->count), NT, 0,
                       *in, reduction, single, results));
done:
    return status;
}

static __global__ void kernel_results(gpu_lists in, lsp_reduction reduction, lsp_type type, bool by_count,
                                      const double *re, const double *im, void *results) {
    EACH_ITEM(i, in.count) {
        const int64_t length = start_of(in, i + 1) - start_of(in, i);
        if (reduction == LSP_REDUCE_COUNT) {
            ((int64_t *)results)[i] = length;
            continue;
        }
        const double x = by_count ? lsp_reduce_ones(reduction, length) : lsp_reduce_result(reduction, length, re[i]);
        if (type == LSP_C64) {
            ((double *)results)[2 * i] = x;
            ((double *)results)[2 * i + 1] = lsp_reduce_result(reduction, length, im[i]);
        } else if (type == LSP_F64) {
            ((double *)results)[i] = x;
        } else {
            ((float *)results)[i] = (float)x;
        }
    }
}

extern "C" lsp_status lsp_csr_reduce_cuda(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, bool all,
                                          void *results) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    const lsp_type type = lsp_reduce_type(A->val_type, reduction);
    const bool by_count = reduction == LSP_REDUCE_COUNT || A->val_type == LSP_NONE;
    double *parts[2] = {NULL, NULL};
    void *whole = NULL;
    gpu_lists in = {};
    in.A = view(A), in.starts = A->rowptr, in.wide = A->rowptr_type == LSP_I64, in.count = A->rows;
    if (all) {
        const int64_t starts[] = {0, A->nnz};
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 2, sizeof *starts, &whole));
        LSP_TRY(lsp_cuda_copy(ctx, whole, LSP_CUDA, starts, LSP_HOST, sizeof starts));
        in.starts = whole, in.wide = true, in.count = 1;
    }
    if (lsp_reduces_whole(A->val_type, reduction)) {
        LSP_TRY(reduce_whole(ctx, &in, reduction, all, (int64_t *)results));
        goto done;
    }
    for (int part = 0; part < (type == LSP_C64 ? 2 : 1) && !by_count && in.count > 0; part++) {
        LSP_TRY(join(ctx, in, A->nnz, reduction, part, &parts[part]));
    }
    LSP_TRY(LSP_LAUNCH(ctx, kernel_results, blocks_for_items(in.count), NT, 0, in, reduction, type, by_count, parts[0],
                       parts[1], results));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
