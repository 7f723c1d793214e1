/* CSR as it is, by pieces of equal numbers of entries: starts the kernels, for a whole matrix or for what kernels of
 * ROWS have listed. */
#include "core/launch.cuh"
#include "kernel_equal.cuh"

enum { SM_BLOCKS = PIECE_SM_BLOCKS, CARRY_SM_BLOCKS = 1 }; /* of kernels that take listed pieces */

template <typename V, typename T, bool PLUS>
static lsp_status start(lsp_ctx *ctx, const pieces_launch *l, int64_t blocks, bool *beside) {
    const int64_t carries = l->pieces >= 0 ? lsp_ceil_div(l->pieces, CARRY_NT)
                                           : lsp_blocks_for(ctx, l->area.capacity, CARRY_NT, CARRY_SM_BLOCKS);
    LSP_TRY(LSP_CUDA_CALL(ctx, cudaFuncSetAttribute(kernel_pieces<V, T, PLUS>,
                                                    cudaFuncAttributePreferredSharedMemoryCarveout, PIECE_CARVEOUT)));
    for (int64_t vector = 0; vector < l->job.vectors; vector++) {
        LSP_TRY(LSP_LAUNCH_BESIDE(ctx, beside, (kernel_pieces<V, T, PLUS>), blocks, PIECE_NT, 0, *l, vector));
        LSP_TRY(LSP_LAUNCH_BESIDE(ctx, beside, (kernel_carries<T, PLUS>), carries, CARRY_NT, 0, *l, vector));
    }
    return LSP_OK;
}

template <typename V, typename T>
static lsp_status start_types(lsp_ctx *ctx, const pieces_launch *l, int64_t blocks, bool *beside) {
    return l->job.semiring == LSP_PLUS_TIMES ? start<V, T, true>(ctx, l, blocks, beside)
                                             : start<V, T, false>(ctx, l, blocks, beside);
}

extern "C" int64_t lsp_spmv_equal_pieces(const lsp_spmv_job *given) {
    return lsp_max(lsp_ceil_div(given->A.nnz + border_weight(given->A.rows), SPMV_PIECE), 1);
}

extern "C" lsp_status lsp_spmv_listed_start(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job,
                                            const spmv_area *area, const spmv_memory *memory) {
    bool beside = true;
    const int64_t blocks = lsp_blocks_for(ctx, area->capacity, 1, SM_BLOCKS);
    const pieces_launch l = {*job, *area, -1, memory->known ? NULL : memory->answer, memory->ticket};
    return SPMV_BY_TYPES(given, start_types, (ctx, &l, blocks, &beside));
}

extern "C" lsp_status lsp_spmv_equal_start(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job,
                                           const spmv_area *area) {
    bool beside = false;
    const pieces_launch l = {*job, *area, lsp_spmv_equal_pieces(given), NULL, 0};
    LSP_TRY(LSP_LAUNCH_BESIDE(ctx, &beside, kernel_cut, lsp_ceil_div(job->rows, PIECE_NT), PIECE_NT, 0, l));
    return SPMV_BY_TYPES(given, start_types, (ctx, &l, l.pieces, &beside));
}

/* ---- engine ---- */

static lsp_status prepare(lsp_spmv_plan *plan) {
    return lsp_spmv_area_prepare(plan, lsp_spmv_equal_pieces(&plan->job));
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *given, void *parts) {
    spmv_job job;
    spmv_area area = {};
    lsp_spmv_gpu_job(ctx, given, &job);
    LSP_TRY(lsp_spmv_area_for(ctx, parts, lsp_spmv_equal_pieces(given), &area));
    return lsp_spmv_equal_start(ctx, given, &job, &area);
}

const lsp_spmv_engine lsp_spmv_equal_cuda = {{}, NULL, prepare, run, NULL};
