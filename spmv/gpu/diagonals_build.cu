/* Diagonals on a GPU: their count, their places, their values. */
#include "kernel_diagonals_build.cuh"

#include "core/launch.cuh"
#include "core/scan.h"
#include "gpu.h"

static diagonals_build build_of(const lsp_csr *A, int b) {
    diagonals_build build = {};
    build.A = *A;
    build.b = b;
    build.slices = lsp_diagonals_slices(A, b);
    return build;
}

/* Starts kernel<..., B> for the block size of the build, with at most `sm_blocks` blocks on a multiprocessor. */
#define LAUNCH_BUILD(ctx, build, sm_blocks, kernel, ...)                                                               \
    LSP_LAUNCH(ctx, (kernel<__VA_ARGS__>), lsp_blocks_for(ctx, (build).slices, BUILD_WARPS, sm_blocks),                \
               BUILD_WARPS *WARP, 0, build)

extern "C" lsp_status lsp_diagonals_count_cuda(lsp_ctx *ctx, const lsp_csr *A, lsp_diagonals_found *found,
                                               int64_t *first) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_diagonals_found counted[LSP_DIAGONALS_SIZES] = {}, *there = NULL;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, LSP_DIAGONALS_SIZES, &there));
    if (first != NULL) {
        LSP_TRY(lsp_cuda_clear(ctx, first, (int64_t)sizeof *first));
    }
    for (int b = LSP_SPMV_LARGEST_BLOCK; b >= 1; b--) { /* largest first: what it finds saves the others */
        diagonals_build build = build_of(A, b);
        build.first = first;
        build.found = there;
        for (int size = 1; size < LSP_DIAGONALS_SIZES; size++) {
            build.limit[size] = found[size].limit;
        }
        if (found[b].limit > 0 && build.slices > 0) {
            LSP_TRY(by_block(b, [&](auto size) {
                return LAUNCH_BUILD(ctx, build, 16, kernel_diagonals_count, decltype(size)::value);
            }));
            LSP_TRY(first == NULL ? LSP_OK : lsp_cuda_scan_async(ctx, first + 1, build.slices, NULL));
        }
    }
    LSP_TRY(lsp_cuda_read(ctx, counted, there, sizeof counted));
    for (int b = 1; b < LSP_DIAGONALS_SIZES; b++) {
        found[b].total = counted[b].total;
        found[b].no_blocks = counted[b].no_blocks;
    }
    return LSP_OK;
}

/* A slice of blocks works on 32*b lines at a time: few warps, so that all find room in the L1 cache. */
template <typename V> static lsp_status fill_values(lsp_ctx *ctx, const diagonals_build &build) {
    return by_block(build.b, [&](auto size) {
        constexpr int B = decltype(size)::value, sm_blocks = B == 1 ? 16 : B == 2 ? 8 : B == 3 ? 4 : 3;
        return LAUNCH_BUILD(ctx, build, sm_blocks, kernel_diagonals_fill, V, B);
    });
}

extern "C" lsp_status lsp_diagonals_fill_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_diagonals *D, bool places) {
    diagonals_build build = build_of(A, D->block);
    build.first = D->first;
    build.at = D->at;
    build.values = D->values;
    if (places && D->count > 0) {
        LSP_TRY(by_block(D->block, [&](auto size) {
            return LAUNCH_BUILD(ctx, build, 16, kernel_diagonals_place, decltype(size)::value);
        }));
    }
    if (A->val_type != LSP_NONE && D->count > 0) {
        LSP_TRY(A->val_type == LSP_F32 ? fill_values<float>(ctx, build) : fill_values<double>(ctx, build));
    }
    return LSP_OK;
}
