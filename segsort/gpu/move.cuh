/* Small things that the kernels share: copies to shared memory, positions in the place of values. */
#ifndef LSP_SEGSORT_GPU_MOVE_CUH
#define LSP_SEGSORT_GPU_MOVE_CUH

#include "job.cuh"
#include <cuda_pipeline_primitives.h>

/* Copies of 4, 8 or 16 bytes from global to shared memory, on their way while the thread goes on; it awaits them in
 * groups: all but the `later` last ones are there. A barrier makes them everybody's. */
template <typename T> __device__ inline void copy_async(T *shared, const T *global) {
    __pipeline_memcpy_async(shared, global, sizeof(T));
}
__device__ inline void copy_group() { __pipeline_commit(); }
template <int later> __device__ inline void copy_wait() { __pipeline_wait_prior(later); }

/* The value of output item `at`: it was item `place` of the segment that starts at `begin`. */
__device__ inline void put_position(const seg_job &job, int64_t at, int64_t begin, int64_t place) {
    int64_t position = job.global_positions ? begin + place : place;
    if (job.value_bytes == 4) {
        ((uint32_t *)job.arrays[FROM_OUTPUT].values)[at] = (uint32_t)position;
    } else {
        ((int64_t *)job.arrays[FROM_OUTPUT].values)[at] = position;
    }
}

#endif
