// Gather and scatter on the GPU: a plain kernel with four independent loads in flight, and Thrust of the CUDA toolkit.
#include "peers.h"
#include "version.cuh"
#include <cuda_runtime.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/scatter.h>
#include <thrust/version.h>

enum { NT = 256, LOADS = 4 };

template <typename T, bool SCATTER>
__global__ static void __launch_bounds__(NT) move_kernel(const int32_t *index, const T *from, T *to, int64_t n) {
    const int64_t first = (int64_t)blockIdx.x * NT * LOADS + threadIdx.x;
    int32_t at[LOADS];
    T element[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        const int64_t i = first + k * NT;
        at[k] = i < n ? index[i] : 0;
    }
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        const int64_t i = first + k * NT;
        element[k] = i < n ? from[SCATTER ? i : at[k]] : T();
    }
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        const int64_t i = first + k * NT;
        if (i < n) {
            to[SCATTER ? at[k] : i] = element[k];
        }
    }
}

static const char *words(cudaError_t error) { return error == cudaSuccess ? NULL : cudaGetErrorString(error); }

template <typename T> static const char *plain(const lsp_gather_args *args, bool scatter, cudaStream_t stream) {
    const unsigned blocks = (unsigned)((args->n + NT * LOADS - 1) / (NT * LOADS));
    const int32_t *index = (const int32_t *)args->index;
    const T *from = (const T *)args->columns->from;
    T *to = (T *)args->columns->to;
    if (scatter) {
        move_kernel<T, true><<<blocks, NT, 0, stream>>>(index, from, to, args->n);
    } else {
        move_kernel<T, false><<<blocks, NT, 0, stream>>>(index, from, to, args->n);
    }
    return words(cudaGetLastError());
}

template <typename T> static const char *by_thrust(const lsp_gather_args *args, bool scatter, cudaStream_t stream) {
    const auto policy = thrust::cuda::par_nosync.on(stream);
    const int32_t *index = (const int32_t *)args->index;
    const T *from = (const T *)args->columns->from;
    T *to = (T *)args->columns->to;
    if (scatter) {
        thrust::scatter(policy, from, from + args->n, index, to);
    } else {
        thrust::gather(policy, index, index + args->n, from, to);
    }
    return words(cudaGetLastError());
}

static const char *run_plain(const lsp_gather_args *args, bool scatter, int threads, void *stream) {
    const size_t bytes = args->columns->bytes;
    (void)threads;
    return (bytes == 4   ? plain<uint32_t>
            : bytes == 8 ? plain<unsigned long long>
                         : plain<ulonglong2>)(args, scatter, (cudaStream_t)stream);
}
static const char *run_thrust(const lsp_gather_args *args, bool scatter, int threads, void *stream) {
    const size_t bytes = args->columns->bytes;
    (void)threads;
    return (bytes == 4   ? by_thrust<uint32_t>
            : bytes == 8 ? by_thrust<unsigned long long>
                         : by_thrust<ulonglong2>)(args, scatter, (cudaStream_t)stream);
}

static constexpr peer_version THRUST =
    peer_version_of("Thrust", THRUST_MAJOR_VERSION, THRUST_MINOR_VERSION, THRUST_SUBMINOR_VERSION);
const peer_move peer_plain_kernel = {run_plain, "four loads in flight"};
const peer_move peer_thrust = {run_thrust, THRUST.text};
