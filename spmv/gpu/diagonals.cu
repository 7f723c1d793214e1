/* LSP_SPMV_DIAGONALS and LSP_SPMV_BLOCKS on a GPU: counts, plans and products. */
#include "core/launch.cuh"
#include "core/scan.h"
#include "kernel_diagonals.cuh"
#include "kernel_diagonals_build.cuh"

/* ---- plans ---- */

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

static lsp_status count(lsp_ctx *ctx, const lsp_csr *A, lsp_diagonals_found *found, int64_t *first) {
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

static lsp_status fill(lsp_ctx *ctx, const lsp_csr *A, const lsp_diagonals *D, bool places) {
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

/* ---- products ---- */

/* Few slices leave most of a GPU idle: several warps then share one. By the number of slices alone, so that every GPU
 * gives the same bits. Tuned on an H200, on fem3:48 of 3456 slices. */
static int shares_of(const lsp_diagonals *D, int64_t vectors) {
    enum { ENOUGH_WARPS = 12288, MOST_SHARES = 4, LEAST_DIAGONALS = 4 };
    const int64_t wanted = lsp_ceil_div(ENOUGH_WARPS, lsp_max(D->slices, 1));
    const int64_t useful = D->count / lsp_max(D->slices, 1) / LEAST_DIAGONALS;
    return vectors > 1 ? 1 : (int)lsp_max(lsp_min(lsp_min(wanted, MOST_SHARES), useful), 1);
}

/* How many diagonals a lane has in flight: 5 or 7, whichever pads the usual slice less. Tuned on an H200: 4 and 8 are
 * slower on grids of 5 and of 27 neighbours. */
static bool takes_seven(const lsp_diagonals *D) {
    const int64_t usual = lsp_ceil_div(D->count, lsp_max(D->slices, 1));
    return lsp_ceil_div(usual, 7) * 7 < lsp_ceil_div(usual, 5) * 5;
}

template <typename V, typename T, int B, int AHEAD>
static lsp_status launch_one(lsp_ctx *ctx, const diagonals_launch &launch) {
    const int block_slices = DIAGONALS_WARPS / launch.shares;
    return LSP_LAUNCH(ctx, (kernel_diagonals<V, T, B, AHEAD>), lsp_ceil_div(launch.slices, block_slices),
                      block_slices * launch.shares * WARP, 0, launch);
}

template <typename V, typename T, int B>
static lsp_status launch_block(lsp_ctx *ctx, diagonals_launch &launch, const lsp_diagonals *D) {
    const spmv_job &job = launch.job;
    if (job.vectors == 1 && job.x_row == 1) {
        if constexpr (B == 1) {
            return takes_seven(D) ? launch_one<V, T, B, 7>(ctx, launch) : launch_one<V, T, B, 5>(ctx, launch);
        } else {
            return launch_one<V, T, B, (B == 2 ? 2 : 1)>(ctx, launch);
        }
    }
    if (job.x_row > INT32_MAX / B) {
        return lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "X has %lld elements from row to row: diagonals take up to %d",
                        (long long)job.x_row, INT32_MAX / B);
    }
    launch.lane_bits = lsp_bits((uint64_t)(job.vectors - 1) / 2);
    launch.paired =
        job.vectors % 2 == 0 && job.x_vector == 1 && job.x_row % 2 == 0 && (uintptr_t)job.x % (2 * sizeof(T)) == 0;
    return LSP_LAUNCH(ctx, (kernel_diagonals_many<V, T, B>),
                      lsp_ceil_div(launch.slices << launch.lane_bits, MANY_WARPS), MANY_WARPS * WARP, 0, launch);
}

template <typename V, typename T>
static lsp_status launch_types(lsp_ctx *ctx, diagonals_launch &launch, const lsp_diagonals *D) {
    return by_block(D->block, [&](auto b) {
        constexpr int B = std::is_same<V, spmv_one>::value ? 1 : decltype(b)::value; /* a pattern has no blocks */
        return launch_block<V, T, B>(ctx, launch, D);
    });
}

static lsp_status multiply(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_diagonals *D) {
    diagonals_launch launch = {};
    lsp_spmv_gpu_job(ctx, job, &launch.job);
    launch.first = D->first;
    launch.at = D->at;
    launch.values = D->values;
    launch.slices = D->slices;
    launch.shares = shares_of(D, job->options.vectors);
    return SPMV_BY_TYPES(job, launch_types, (ctx, launch, D));
}

extern "C" const lsp_diagonals_device lsp_diagonals_cuda = {count, fill, multiply};
