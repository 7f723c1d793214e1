/* Each row of A followed by its mirrored entries, on the GPU. A holds one triangle of a matrix. The caller makes the
 * whole matrix: it sorts the rows in a stable way and sums duplicates. */
#include "core/scan.h"
#include "gpu.h"
#include "view.cuh"

typedef struct mirroring {
    gpu_csr A, T; /* T = A^T; empty for a general matrix */
    lsp_symmetry symmetry;
    int value_bytes;
} mirroring;

/* counts[i + 1] = the entries of row i, mirrored ones included. */
static __global__ void kernel_count(mirroring m, int64_t *counts) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        counts[0] = 0;
    }
    EACH_ROW(i, m.A.rows) {
        int count = 0; /* of one lane: an int holds it, for a row has fewer than 2^36 entries */
        const int64_t begin = m.T.rowptr ? rowptr_at(m.T, i) : 0, end = m.T.rowptr ? rowptr_at(m.T, i + 1) : 0;
        for (int64_t k = begin + lane_of(); k < end; k += 32) {
            count += col_at(m.T, k) != i;
        }
        const int64_t sum = warp_sum((int64_t)count);
        if (lane_of() == 0) {
            counts[i + 1] = sum + rowptr_at(m.A, i + 1) - rowptr_at(m.A, i);
        }
    }
}

/* Negates the parts of a value that its mirror has negated, bit by bit: a NaN changes its sign too, as on the host. */
static __device__ void mirror_value(const mirroring &m, void *val, int64_t at) {
    const bool skew = m.symmetry == LSP_SYMMETRY_SKEW;
    if (skew && m.A.val_type == LSP_I64) {
        ((ull *)val)[at] = 0 - ((ull *)val)[at];
    } else if (skew && m.value_bytes == 4) {
        ((uint32_t *)val)[at] ^= 1u << 31;
    } else if (skew && m.value_bytes == 8) {
        ((ull *)val)[at] ^= 1ull << 63;
    } else if (m.value_bytes == 16) {
        ((ull *)val)[2 * at] ^= skew ? 1ull << 63 : 0;
        ((ull *)val)[2 * at + 1] ^= skew || m.symmetry == LSP_SYMMETRY_HERMITIAN ? 1ull << 63 : 0;
    }
}

static __global__ void kernel_mirror(mirroring m, const int64_t *starts, void *col, void *val) {
    EACH_ROW(i, m.A.rows) {
        int64_t begin = rowptr_at(m.A, i), end = rowptr_at(m.A, i + 1), to = starts[i];
        for (int64_t k = begin + lane_of(); k < end; k += 32) {
            index_set(col, m.A.wide_col, to + k - begin, col_at(m.A, k));
            lsp_move_value(val, to + k - begin, m.A.val, k, m.value_bytes);
        }
        to += end - begin;
        begin = m.T.rowptr ? rowptr_at(m.T, i) : 0, end = m.T.rowptr ? rowptr_at(m.T, i + 1) : 0;
        for (int64_t first = begin; first < end; first += 32) {
            const int64_t k = first + lane_of();
            const bool taken = k < end && col_at(m.T, k) != i; /* the diagonal is not mirrored */
            const unsigned all = __ballot_sync(~0u, taken);
            const int64_t at = to + __popc(all & ((1u << lane_of()) - 1));
            if (taken) {
                index_set(col, m.A.wide_col, at, col_at(m.T, k));
                lsp_move_value(val, at, m.T.val, k, m.value_bytes);
                mirror_value(m, val, at);
            }
            to += __popc(all);
        }
    }
}

extern "C" lsp_status lsp_csr_mirror_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *T, lsp_symmetry symmetry,
                                          lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    mirroring m = {};
    int64_t *starts = NULL, nnz = 0;
    LSP_OWNED_CSR(ctx, made);
    lsp_csr_types types = {};
    m.A = view(A);
    m.symmetry = symmetry;
    m.value_bytes = value_bytes(A);
    if (symmetry != LSP_SYMMETRY_GENERAL) {
        m.T = view(T);
    }
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows + 1, &starts));
    LSP_TRY(LAUNCH_ROWS(ctx, kernel_count, A->rows, m, starts));
    LSP_TRY(lsp_cuda_scan(ctx, starts, A->rows + 1, &nnz));
    types.rowptr_type = nnz <= INT32_MAX ? A->rowptr_type : LSP_I64;
    types.col_type = A->col_type, types.val_type = A->val_type;
    LSP_TRY(make_rows(ctx, A->rows, A->cols, nnz, types, starts, &made));
    LSP_TRY(LAUNCH_ROWS(ctx, kernel_mirror, A->rows, m, starts, made.col, made.val));
    return lsp_csr_put(ctx, B, &made, false);
}
