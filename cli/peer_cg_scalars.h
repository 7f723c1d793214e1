/* The quotients of an iteration of peer_cg.c, on the device. */
#pragma once

#include <cuda_runtime.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* step[0] = rho / d, step[1] = -step[0]; beta = next / rho, then rho = next. All are f32 or f64. */
void peer_cg_step(cudaStream_t stream, bool f32, const void *rho, const void *d, void *step);
void peer_cg_turn(cudaStream_t stream, bool f32, const void *next, void *rho, void *beta);

#ifdef __cplusplus
}
#endif
