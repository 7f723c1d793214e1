/* Is it a matrix? One read of its row pointers and columns, on the GPU; the host words the refusal. */
#include "gpu.h"
#include "view.cuh"

/* The first row that ends before its start, the first entry outside; all bits 1 if none. */
typedef struct faults {
    ull row, entry;
    int64_t start, stop;
} faults;

static __global__ void kernel_check(gpu_csr A, faults *found) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        found->start = rowptr_at(A, 0);
        found->stop = rowptr_at(A, A.rows);
    }
    EACH_ITEM(i, A.rows) {
        if (rowptr_at(A, i) > rowptr_at(A, i + 1)) {
            atomicMin(&found->row, (ull)i);
        }
    }
    EACH_ITEM(k, A.nnz) {
        if (col_at(A, k) < 0 || col_at(A, k) >= A.cols) {
            atomicMin(&found->entry, (ull)k);
        }
    }
}

extern "C" lsp_status lsp_csr_check_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    faults *there = NULL, found;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof *there, (void **)&there));
    LSP_TRY(LSP_CUDA_CALL(ctx, cudaMemsetAsync(there, 0xFF, sizeof *there, (cudaStream_t)lsp_cuda_stream(ctx))));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_check, blocks_for_items(A->rows + A->nnz), NT, 0, view(A), there));
    LSP_TRY(lsp_cuda_read(ctx, &found, there, sizeof found));
    LSP_REQUIRE(found.start == 0, LSP_ERR_FORMAT, "%s: rowptr[0] is %lld, not 0", name, (long long)found.start);
    LSP_REQUIRE(found.stop == A->nnz, LSP_ERR_FORMAT, "%s: rowptr[%lld] is %lld, but there are %lld entries", name,
                (long long)A->rows, (long long)found.stop, (long long)A->nnz);
    LSP_REQUIRE(found.row == ~0ull, LSP_ERR_FORMAT, "%s, row %lld ends before its start", name, (long long)found.row);
    LSP_REQUIRE(found.entry == ~0ull, LSP_ERR_FORMAT,
                "%s, entry %lld: its column is not in 0 .. %lld (indices are from 0)", name, (long long)found.entry,
                (long long)(A->cols - 1));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
