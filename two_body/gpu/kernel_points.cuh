/* Kernels that look at all points on the GPU: the size of a launch, and numbers that all threads find together. */
#pragma once

#include "core/launch.cuh"
#include "gpu.h"
#include "two_body/bodies.h"

enum { POINTS_NT = 256, POINTS_VT = 8, POINTS_TILE = POINTS_NT * POINTS_VT, POINTS_SM_BLOCKS = 8 };
/* Starts a kernel with a loop over EACH_ITEM of n. */
#define LAUNCH_POINTS(ctx, kernel, n, ...)                                                                             \
    LSP_LAUNCH(ctx, kernel, lsp_blocks_for((ctx), (n), POINTS_TILE, POINTS_SM_BLOCKS), POINTS_NT, 0, __VA_ARGS__)

/* The largest of the lanes' x goes to *at. */
__device__ inline void keep_largest(ull x, ull *at) {
    x = warp_max(x);
    if (threadIdx.x % WARP == 0 && x > 0) {
        atomicMax(at, x);
    }
}
