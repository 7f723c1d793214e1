/* Samples the indices of a call that the host does not see: how many distinct sectors of 32 bytes a warp's 32 accesses
 * touch. Windows of 32 consecutive indices are spread evenly. The sum of their counts opens one gate and closes the
 * other, so the host needs no answer. */
#ifndef LSP_GATHER_SCATTER_GPU_KERNEL_SAMPLE_CUH
#define LSP_GATHER_SCATTER_GPU_KERNEL_SAMPLE_CUH

#include "gate.cuh"

enum { SAMPLE_NT = 256, SAMPLE_WINDOWS = 2048, SAMPLE_EACH = 2, SECTOR_BYTES = 32 }; /* EACH: windows of a warp */

/* *count += distinct sectors of all windows. */
template <typename I>
static __global__ void __launch_bounds__(SAMPLE_NT)
    kernel_sample(const I *index, int64_t n, unsigned element_bytes, unsigned *count) {
    const int lane = (int)threadIdx.x % WARP;
    const int64_t windows = n / WARP, warp = ((int64_t)blockIdx.x * SAMPLE_NT + threadIdx.x) / WARP;
    unsigned distinct = 0;
#pragma unroll
    for (int r = 0; r < SAMPLE_EACH; r++) {
        const int64_t window = (warp * SAMPLE_EACH + r) * windows / SAMPLE_WINDOWS;
        const uint64_t sector = (uint64_t)index[window * WARP + lane] * element_bytes / SECTOR_BYTES;
        const unsigned alike = __match_any_sync(~0u, (unsigned)sector ^ (unsigned)(sector >> 32) * 0x9E3779B1u);
        distinct += (unsigned)__popc(__ballot_sync(~0u, __ffs((int)alike) - 1 == lane));
    }
    if (lane == 0) {
        atomicAdd(count, distinct);
    }
}

#endif
