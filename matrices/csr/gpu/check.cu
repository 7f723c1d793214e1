/* Is it a matrix? One read of its row pointers and columns on the GPU says so; only after a fault csr/refuse.c finds
 * the first one. Do its rows ascend? */
#include "matrices/gpu/gpu.h"
#include "view.cuh"

enum { CHECK_EACH = 4 }; /* loads of a thread in flight */

/* Zeros at first. `fault` is the gate: not 0 if A is no matrix. */
typedef struct check_state {
    unsigned fault, done; /* done: blocks that ended */
} check_state;

/* Is one of this thread's items outside 0 .. limit-1? Whole vectors of 16 bytes are read at once. */
template <typename INDEX, typename VECTOR> static __device__ bool is_outside(const void *items, int64_t n, ull limit) {
    enum { EACH = (int)(sizeof(VECTOR) / sizeof(INDEX)) };
    const INDEX *item = (const INDEX *)items;
    const int64_t skew = (int64_t)((uintptr_t)items % sizeof(VECTOR) / sizeof(INDEX));
    const int64_t head = min(skew > 0 ? EACH - skew : 0, n), vectors = (n - head) / EACH, all = head + vectors * EACH;
    const VECTOR *vector = (const VECTOR *)(item + head);
    INDEX most = 0;
    for (int64_t first = (int64_t)blockIdx.x * NT * CHECK_EACH + threadIdx.x; first < vectors;
         first += (int64_t)gridDim.x * NT * CHECK_EACH) {
        union {
            VECTOR vector;
            INDEX item[EACH];
        } read[CHECK_EACH];
#pragma unroll
        for (int r = 0; r < CHECK_EACH; r++) { /* the last vector in place of those behind it */
            read[r].vector = vector[min(first + r * NT, vectors - 1)];
        }
#pragma unroll
        for (int r = 0; r < CHECK_EACH * EACH; r++) {
            most = max(most, read[r / EACH].item[r % EACH]);
        }
    }
    if (blockIdx.x == 0 && threadIdx.x < EACH) {
        const int64_t k = threadIdx.x;
        most = k < head ? max(most, item[k]) : most;
        most = all + k < n ? max(most, item[all + k]) : most;
    }
    return n > 0 && most >= limit;
}

/* The last block tells the host in `note` whether there is a fault. */
static __global__ void __launch_bounds__(NT) kernel_gate(gpu_csr A, check_state *state, unsigned *note) {
    bool fault = A.wide_col ? is_outside<ull, ulonglong2>(A.col, A.nnz, (ull)A.cols)
                            : is_outside<unsigned, uint4>(A.col, A.nnz, (ull)A.cols);
#pragma unroll CHECK_EACH
    EACH_ITEM(i, A.rows, NT) { fault |= rowptr_at(A, i) > rowptr_at(A, i + 1); }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        fault |= rowptr_at(A, 0) != 0 || rowptr_at(A, A.rows) != A.nnz;
    }
    fault = __syncthreads_or(fault) != 0;
    if (threadIdx.x == 0) {
        if (fault) {
            atomicExch(&state->fault, 1u);
        }
        __threadfence();
        if (atomicAdd(&state->done, 1u) == gridDim.x - 1) {
            *note = atomicAdd(&state->fault, 0u);
        }
    }
}

extern "C" lsp_status lsp_csr_check_begin_cuda(lsp_ctx *ctx, const lsp_csr *A, const unsigned **gate) {
    check_state *state = NULL;
    const int64_t blocks = lsp_blocks_for(ctx, A->nnz / 4 + A->rows, NT * CHECK_EACH, 8);
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &state));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_gate, blocks, NT, 0, view(A), state, (unsigned *)lsp_cuda_note(ctx)));
    LSP_TRY(lsp_cuda_end_note(ctx));
    *gate = &state->fault;
    return LSP_OK;
}

extern "C" lsp_status lsp_csr_check_end_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    unsigned fault = 0;
    LSP_TRY(lsp_cuda_read_note(ctx, &fault, sizeof fault));
    return fault != 0 ? lsp_csr_refuse(ctx, name, A) : LSP_OK;
}

extern "C" lsp_status lsp_csr_check_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    const unsigned *gate = NULL;
    LSP_TRY(lsp_csr_check_begin_cuda(ctx, A, &gate));
    return lsp_csr_check_end_cuda(ctx, name, A);
}

/* ---- the order of columns ---- */

extern "C" lsp_status lsp_csr_is_sorted_cuda(lsp_ctx *ctx, const lsp_csr *A, bool strictly, bool *sorted) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *there = NULL, falls = 0;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    const auto kernel = strictly ? kernel_falls<false, true> : kernel_falls<false, false>;
    LSP_TRY(LSP_LAUNCH(ctx, kernel, lsp_blocks_for(ctx, A->rows + A->nnz, NT * 8, 8), NT, 0, view(A), there));
    LSP_TRY(lsp_cuda_read(ctx, &falls, there, sizeof falls));
    *sorted = falls == 0;
    return LSP_OK;
}
