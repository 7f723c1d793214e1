/* The two quotients of an iteration, on the device: cuBLAS has no division, and the host must not wait for one. */
#include "peer_cg_scalars.h"

template <typename T> __global__ void kernel_cg_step(const T *rho, const T *d, T *step) {
    step[0] = rho[0] / d[0];
    step[1] = -step[0];
}

template <typename T> __global__ void kernel_cg_turn(const T *next, T *rho, T *beta) {
    beta[0] = next[0] / rho[0];
    rho[0] = next[0];
}

void peer_cg_step(cudaStream_t stream, bool f32, const void *rho, const void *d, void *step) {
    if (f32) {
        kernel_cg_step<<<1, 1, 0, stream>>>((const float *)rho, (const float *)d, (float *)step);
    } else {
        kernel_cg_step<<<1, 1, 0, stream>>>((const double *)rho, (const double *)d, (double *)step);
    }
}

void peer_cg_turn(cudaStream_t stream, bool f32, const void *next, void *rho, void *beta) {
    if (f32) {
        kernel_cg_turn<<<1, 1, 0, stream>>>((const float *)next, (float *)rho, (float *)beta);
    } else {
        kernel_cg_turn<<<1, 1, 0, stream>>>((const double *)next, (double *)rho, (double *)beta);
    }
}
