/* What a plan on a GPU wants to know of its matrix. */
#include "core/launch.cuh"
#include "list.cuh"

enum { UNEVEN = 4 }; /* a longest row of 4 times the mean: sorting rows by length may pay */
enum { INSPECT_NT = 256, INSPECT_VT = 8, INSPECT_SM_BLOCKS = 8 };

typedef struct row_facts {
    ull longest, empty;
} row_facts;

static __global__ void __launch_bounds__(INSPECT_NT)
    kernel_inspect(const void *rowptr, bool wide, int64_t rows, row_facts *facts) {
    ull longest = 0, empty = 0;
    spmv_job job = {};
    job.rowptr = rowptr;
    job.wide_rowptr = wide;
    EACH_ITEM(i, rows, INSPECT_NT) {
        const ull length = (ull)(spmv_rowptr(job, i + 1) - spmv_rowptr(job, i));
        longest = max(longest, length);
        empty += length == 0;
    }
    longest = warp_max(longest);
    empty = warp_sum(empty);
    if (threadIdx.x % WARP == 0) {
        atomicMax(&facts->longest, longest);
        atomicAdd(&facts->empty, empty);
    }
}

extern "C" lsp_status lsp_spmv_inspect_cuda(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr *A = &job->A;
    row_facts *there = NULL, here = {};
    *facts = {};
    if (A->rows == 0) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_inspect, lsp_blocks_for(ctx, A->rows, INSPECT_NT * INSPECT_VT, INSPECT_SM_BLOCKS),
                       INSPECT_NT, 0, A->rowptr, A->rowptr_type == LSP_I64, A->rows, there));
    LSP_TRY(lsp_cuda_read(ctx, &here, there, sizeof here));
    facts->longest_row = (int64_t)here.longest;
    facts->empty_rows = (int64_t)here.empty;
    if (facts->longest_row > UNEVEN * (A->nnz / A->rows + 1)) {
        LSP_TRY(lsp_spmv_length_slots_cuda(ctx, A, &facts->length_slots));
    }
    if (A->nnz > 0) {
        LSP_TRY(lsp_cache_model_sample(ctx, A->col, A->col_type, A->nnz, lsp_spmv_item_bytes(job), LSP_CUDA,
                                       &facts->pattern));
    }
    return LSP_OK;
}
