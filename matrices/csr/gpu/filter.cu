/* Entries chosen on the GPU: by a mask, by size, by the largest of each row. stays[k] says whether entry k stays; a
 * scan of the rows' counts gives the row pointers; a warp a row copies what stays. */
#include "core/scan.h"
#include "gpu.h"
#include "matrices/values/number.h"
#include "view.cuh"

typedef struct gpu_filter {
    gpu_csr mask; /* rows sorted; rowptr is NULL without a mask */
    bool complement, drop;
    double tolerance;
} gpu_filter;

/* |value|, with the bits that the host finds. */
static __device__ double magnitude(const gpu_csr &A, int64_t k) {
    return A.val_type == LSP_C64 ? lsp_modulus(part_at(A, k, 0), part_at(A, k, 1)) : fabs(value_at(A, k));
}

static __device__ bool has_entry(const gpu_csr &M, int64_t i, int64_t column) {
    const int64_t end = rowptr_at(M, i + 1);
    const int64_t k = LSP_FIRST(rowptr_at(M, i), end, middle, col_at(M, middle) >= column);
    return k < end && col_at(M, k) == column;
}

static __device__ bool is_small(const gpu_csr &A, int64_t k, double tolerance) { /* a NaN is not */
    return is_integer(A.val_type) ? lsp_whole_within(whole_at(A.val_type, A.val, k), tolerance)
                                  : magnitude(A, k) <= tolerance;
}

/* Orders entries by |value|, above 0. */
static __device__ ull size_of(const gpu_csr &A, int64_t k) {
    if (is_integer(A.val_type)) {
        return lsp_whole_size(whole_at(A.val_type, A.val, k)) + 1;
    }
    const double size = magnitude(A, k);
    return isnan(size) ? ~0ull : (ull)__double_as_longlong(size) | 1ull << 63;
}

/* Sets stays[k] by the mask and the tolerance, and counts[i + 1]. */
static __global__ void kernel_inspect(gpu_csr A, gpu_filter filter, uint8_t *stays, int64_t *counts) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        counts[0] = 0;
    }
    EACH_ROW(i, A.rows) {
        int count = 0; /* of one lane: an int holds it, for a row has fewer than 2^36 entries */
        for (int64_t k = rowptr_at(A, i) + lane_of(); k < rowptr_at(A, i + 1); k += 32) {
            const bool small = filter.drop && is_small(A, k, filter.tolerance);
            const bool masked = filter.mask.rowptr && has_entry(filter.mask, i, col_at(A, k)) == filter.complement;
            stays[k] = !small && !masked;
            count += !small && !masked;
        }
        const int64_t sum = warp_sum((int64_t)count);
        if (lane_of() == 0) {
            counts[i + 1] = sum;
        }
    }
}

/* Prepares rows with more than `largest` entries for the sort: sizes[k] orders entries by |value|, and is 0 for those
 * already dropped. Other rows become empty segments. */
static __global__ void kernel_sizes(gpu_csr A, int64_t largest, const uint8_t *stays, const int64_t *counts, ull *sizes,
                                    int64_t *begins, int64_t *ends) {
    EACH_ROW(i, A.rows) {
        const int64_t begin = rowptr_at(A, i), end = rowptr_at(A, i + 1);
        const bool many = counts[i + 1] > largest;
        if (lane_of() == 0) {
            begins[i] = begin;
            ends[i] = many ? end : begin;
        }
        for (int64_t k = begin + lane_of(); many && k < end; k += 32) {
            sizes[k] = stays[k] ? size_of(A, k) : 0;
        }
    }
}

/* Drops all but the first `largest` entries of each sorted row. */
static __global__ void kernel_cut(gpu_csr A, int64_t largest, const int64_t *places, uint8_t *stays, int64_t *counts) {
    EACH_ROW(i, A.rows) {
        if (counts[i + 1] > largest) {
            for (int64_t k = rowptr_at(A, i) + largest + lane_of(); k < rowptr_at(A, i + 1); k += 32) {
                stays[places[k]] = 0;
            }
            __syncwarp();
            if (lane_of() == 0) {
                counts[i + 1] = largest;
            }
        }
    }
}

static __global__ void kernel_take(gpu_csr A, const uint8_t *stays, const int64_t *rowptr, void *col, bool wide_col,
                                   void *val, int bytes) {
    EACH_ROW(i, A.rows) {
        const int64_t begin = rowptr_at(A, i), end = rowptr_at(A, i + 1);
        int64_t to = rowptr[i];
        for (int64_t first = begin; first < end; first += 32) {
            const int64_t k = first + lane_of();
            const bool stay = k < end && stays[k];
            const unsigned all = __ballot_sync(~0u, stay);
            const int64_t at = to + __popc(all & ((1u << lane_of()) - 1));
            if (stay) {
                index_set(col, wide_col, at, col_at(A, k));
                move_value(val, at, A.val, k, bytes);
            }
            to += __popc(all);
        }
    }
}

static lsp_status keep_largest(lsp_ctx *ctx, const gpu_csr *A, int64_t largest, uint8_t *stays, int64_t *counts) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *sizes = NULL;
    int64_t *places = NULL, *begins = NULL, *ends = NULL;
    lsp_segsort_args args = {};
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->nnz, &sizes));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->nnz, &places));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows, &begins));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows, &ends));
    LSP_TRY(LAUNCH_ROWS(ctx, kernel_sizes, A->rows, *A, largest, stays, counts, sizes, begins, ends));
    args.n = A->nnz;
    args.segments = A->rows;
    args.offsets = begins;
    args.ends = ends;
    args.offset_type = LSP_I64;
    args.key_type = LSP_U64;
    args.value_bytes = sizeof *places;
    args.keys = args.keys_out = sizes;
    args.values_out = places;
    args.flags = LSP_SORT_DESCENDING | LSP_SORT_GLOBAL_POSITIONS;
    args.where = LSP_CUDA;
    LSP_TRY(lsp_segsort(ctx, &args, NULL));
    return LAUNCH_ROWS(ctx, kernel_cut, A->rows, *A, largest, places, stays, counts);
}

extern "C" lsp_status lsp_filter_take_cuda(lsp_ctx *ctx, const lsp_csr *A, const uint8_t *stays, int64_t *counts,
                                           const lsp_csr_types *types, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, made);
    int64_t nnz = 0;
    LSP_TRY(lsp_cuda_scan(ctx, counts, A->rows + 1, &nnz));
    LSP_TRY(make_rows(ctx, A->rows, A->cols, nnz, *types, counts, &made));
    LSP_TRY(LAUNCH_ROWS(ctx, kernel_take, A->rows, view(A), stays, counts, made.col, made.col_type == LSP_I64, made.val,
                        value_bytes(A)));
    return lsp_csr_put(ctx, B, &made, false);
}

extern "C" lsp_status lsp_filter_rows_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const gpu_csr from = view(A);
    gpu_filter f = {};
    uint8_t *stays = NULL;
    int64_t *counts = NULL;
    const lsp_csr_types types = lsp_types_of(A);
    if (filter->mask) {
        f.mask = view(filter->mask);
    }
    f.complement = filter->complement;
    f.drop = filter->drop;
    f.tolerance = filter->tolerance;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->nnz, &stays));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows + 1, &counts));
    LSP_TRY(LAUNCH_ROWS(ctx, kernel_inspect, A->rows, from, f, stays, counts));
    if (filter->largest > 0 && A->nnz > 0) {
        LSP_TRY(keep_largest(ctx, &from, filter->largest, stays, counts));
    }
    return lsp_filter_take_cuda(ctx, A, stays, counts, &types, B);
}
