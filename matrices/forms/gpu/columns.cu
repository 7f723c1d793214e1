/* Entries counted by columns on the GPU. */
#include "matrices/gpu/gpu.h"
#include "words.cuh"

enum { MOST_BUCKETS = 1024, COUNT_BLOCKS = 2048 };

static __global__ void kernel_count_columns(gpu_csr A, lsp_buckets buckets, ull *counts) {
    __shared__ unsigned here[MOST_BUCKETS]; /* a block counts fewer than 2^32 entries */
    for (int b = (int)threadIdx.x; b < MOST_BUCKETS; b += NT) {
        here[b] = 0;
    }
    __syncthreads();
    EACH_ITEM(k, A.nnz, NT) {
        const int64_t column = col_at(A, k);
        if (buckets.low <= column && column < buckets.high) {
            atomicAdd(&here[(column - buckets.low) >> buckets.shift], 1u);
        }
    }
    __syncthreads();
    for (int b = (int)threadIdx.x; b < buckets.most; b += NT) {
        if (here[b] > 0) {
            atomicAdd(&counts[b], (ull)here[b]);
        }
    }
}

extern "C" lsp_status lsp_csr_count_columns_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_buckets *buckets,
                                                 int64_t *counts) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *there = NULL;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, buckets->most, &there));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_columns, lsp_min(blocks_for_items(A->nnz), COUNT_BLOCKS), NT, 0, view(A),
                       *buckets, there));
    return lsp_cuda_read(ctx, counts, there, buckets->most * (int64_t)sizeof *there);
}
