/* Entries of the same row and column summed on the GPU, in their order. Rows are sorted, so a run of equal columns is
 * one entry of the result: runs are counted, a scan gives the row pointers, and a lane sums each run.  */
#include "core/scan.h"
#include "entries.cuh"
#include "gpu.h"

static __device__ bool begins_run(const gpu_csr &A, int64_t begin, int64_t k) {
    return k == begin || col_at(A, k - 1) != col_at(A, k);
}

/* counts[i + 1] = the runs of row i. */
static __global__ void kernel_runs(gpu_csr A, int64_t *counts) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        counts[0] = 0;
    }
    EACH_ROW(i, A.rows) {
        const int64_t begin = rowptr_at(A, i), end = rowptr_at(A, i + 1);
        int count = 0; /* of one lane: an int holds it, for a row has fewer than 2^36 entries */
        for (int64_t k = begin + lane_of(); k < end; k += 32) {
            count += begins_run(A, begin, k);
        }
        const int64_t sum = warp_sum((int64_t)count);
        if (lane_of() == 0) {
            counts[i + 1] = sum;
        }
    }
}

/* to[at] = the sum of from[k] .. from[end - 1], `step` numbers apart. A sum that is no number is the NaN without sign.
 */
template <typename V>
static __device__ void sum_run(void *to, int64_t at, const void *from, int64_t k, int64_t end, int step) {
    V sum = ((const V *)from)[k];
    for (int64_t next = k + step; next < end; next += step) {
        sum += ((const V *)from)[next];
        sum = (V)lsp_settled(sum);
    }
    ((V *)to)[at] = sum;
}

static __global__ void kernel_sum_runs(gpu_csr A, const int64_t *rowptr, void *col, void *val) {
    EACH_ROW(i, A.rows) {
        const int64_t begin = rowptr_at(A, i), end = rowptr_at(A, i + 1);
        int64_t to = rowptr[i];
        for (int64_t first = begin; first < end; first += 32) {
            const int64_t k = first + lane_of();
            const bool head = k < end && begins_run(A, begin, k);
            const unsigned all = __ballot_sync(~0u, head);
            const int64_t at = to + __popc(all & ((1u << lane_of()) - 1));
            int64_t stop = k + 1;
            while (head && stop < end && col_at(A, stop) == col_at(A, k)) {
                stop++;
            }
            if (head) {
                index_set(col, A.wide_col, at, col_at(A, k));
            }
            if (head && A.val_type == LSP_F32) {
                sum_run<float>(val, at, A.val, k, stop, 1);
            } else if (head && A.val_type == LSP_F64) {
                sum_run<double>(val, at, A.val, k, stop, 1);
            } else if (head && A.val_type == LSP_C64) {
                sum_run<double>(val, 2 * at, A.val, 2 * k, 2 * stop, 2);
                sum_run<double>(val, 2 * at + 1, A.val, 2 * k + 1, 2 * stop, 2);
            } else if (head && A.val_type == LSP_I64) {
                ull sum = 0;
                for (int64_t next = k; next < stop; next++) {
                    sum += ((const ull *)A.val)[next];
                }
                ((ull *)val)[at] = sum;
            }
            to += __popc(all);
        }
    }
}

extern "C" lsp_status lsp_csr_sum_cuda(lsp_ctx *ctx, lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, made);
    int64_t *counts = NULL, nnz = 0;
    const lsp_csr_types types = lsp_types_of(A);
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows + 1, &counts));
    LSP_TRY(LAUNCH_ROWS(ctx, kernel_runs, A->rows, view(A), counts));
    LSP_TRY(lsp_cuda_scan(ctx, counts, A->rows + 1, &nnz));
    if (nnz < A->nnz) {
        LSP_TRY(make_rows(ctx, A->rows, A->cols, nnz, types, counts, &made));
        LSP_TRY(LAUNCH_ROWS(ctx, kernel_sum_runs, A->rows, view(A), counts, made.col, made.val));
        return lsp_csr_put(ctx, A, &made, true);
    }
    return LSP_OK;
}

/* ---- triples ---- */
