/* LSP_SPMV_DIAGONALS and LSP_SPMV_BLOCKS on a GPU: products. diagonals_build.cu makes the plans. */
#include "kernel_diagonals.cuh"

#include "core/launch.cuh"
#include "diagonals.h"
#include "types.cuh"

/* Few slices leave most of a GPU idle: several warps then share one. By the number of slices alone, so that every GPU
 * gives the same bits. Tuned on an H200 (fem3:48, of 3456 slices: .054 ms with 3 warps, .059 with 1). */
static int shares_of(const lsp_diagonals *D, int64_t vectors) {
    enum { ENOUGH_WARPS = 8192, MOST_SHARES = 4, LEAST_DIAGONALS = 4 };
    const int64_t wanted = lsp_ceil_div(ENOUGH_WARPS, lsp_max(D->slices, 1));
    const int64_t useful = D->count / lsp_max(D->slices, 1) / LEAST_DIAGONALS;
    return vectors > 1 ? 1 : (int)lsp_max(lsp_min(lsp_min(wanted, MOST_SHARES), useful), 1);
}

template <typename V, typename T, int B, int K>
static lsp_status launch_vectors(lsp_ctx *ctx, const diagonals_launch &launch) {
    const int block_slices = DIAGONALS_WARPS / launch.shares;
    return LSP_LAUNCH(ctx, (kernel_diagonals<V, T, B, K>), lsp_ceil_div(launch.slices, block_slices),
                      block_slices * launch.shares * WARP, 0, launch);
}

template <typename V, typename T, int B> static lsp_status launch_block(lsp_ctx *ctx, const diagonals_launch &launch) {
    const int64_t k = launch.job.vectors;
    return k == 1   ? launch_vectors<V, T, B, 1>(ctx, launch)
           : k == 2 ? launch_vectors<V, T, B, 2>(ctx, launch)
           : k <= 4 ? launch_vectors<V, T, B, 4>(ctx, launch)
                    : launch_vectors<V, T, B, 8>(ctx, launch);
}

template <typename V, typename T>
static lsp_status launch_types(lsp_ctx *ctx, const diagonals_launch &launch, int block) {
    if constexpr (!std::is_same<V, spmv_one>::value) { /* a pattern has no blocks */
        switch (block) {
        case 2:
            return launch_block<V, T, 2>(ctx, launch);
        case 3:
            return launch_block<V, T, 3>(ctx, launch);
        case 4:
            return launch_block<V, T, 4>(ctx, launch);
        default:
            break;
        }
    }
    return launch_block<V, T, 1>(ctx, launch);
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    const lsp_diagonals *D = (const lsp_diagonals *)parts;
    diagonals_launch launch = {};
    lsp_spmv_gpu_job(ctx, job, &launch.job);
    launch.first = D->first;
    launch.at = D->at;
    launch.values = D->values;
    launch.slices = D->slices;
    launch.shares = shares_of(D, job->options.vectors);
    return SPMV_BY_TYPES(job, launch_types, (ctx, launch, D->block));
}

extern "C" {
const lsp_spmv_engine lsp_spmv_diagonals_cuda = {lsp_spmv_diagonals_fits, lsp_spmv_diagonals_prepare_cuda, run,
                                                 lsp_spmv_diagonals_update_cuda, lsp_spmv_diagonals_release};
const lsp_spmv_engine lsp_spmv_blocks_cuda = {lsp_spmv_blocks_fits, lsp_spmv_diagonals_prepare_cuda, run,
                                              lsp_spmv_diagonals_update_cuda, lsp_spmv_diagonals_release};
}
