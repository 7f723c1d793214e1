// Y = A X by a plain kernel: 2 to 32 lanes a row, whose sums are added by shuffles. It tries all five and keeps the
// fastest.
#include "peers.h"
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { NT = 256, MOST_VECTORS = 8 };

template <typename V, typename T, int LANES, int VECTORS>
__global__ static void __launch_bounds__(NT)
    rows_kernel(const int32_t *rowptr, const int32_t *col, const V *val, const T *x, T *y, int64_t rows) {
    const int64_t row = ((int64_t)blockIdx.x * NT + threadIdx.x) / LANES;
    const int lane = threadIdx.x % LANES;
    T sum[VECTORS] = {};
    if (row < rows) {
        const int32_t end = rowptr[row + 1];
#pragma unroll 4
        for (int32_t k = rowptr[row] + lane; k < end; k += LANES) {
            const T a = (T)val[k];
            const T *from = x + (int64_t)col[k] * VECTORS;
#pragma unroll
            for (int v = 0; v < VECTORS; v++) {
                sum[v] = fma(a, from[v], sum[v]);
            }
        }
    }
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        for (int step = LANES / 2; step > 0; step /= 2) {
            sum[v] += __shfl_down_sync(0xFFFFFFFF, sum[v], step, LANES);
        }
    }
    if (row < rows && lane == 0) {
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            y[row * VECTORS + v] = sum[v];
        }
    }
}

namespace {
struct plain {
    peer_spmv_job job;
    int lanes;
};
} // namespace

template <typename V, typename T, int LANES, int VECTORS> static void launch(const peer_spmv_job &job) {
    const lsp_csr *A = job.A;
    const unsigned blocks = (unsigned)((A->rows * LANES + NT - 1) / NT);
    rows_kernel<V, T, LANES, VECTORS><<<blocks, NT, 0, (cudaStream_t)job.stream>>>(
        (const int32_t *)A->rowptr, (const int32_t *)A->col, (const V *)A->val, (const T *)job.x, (T *)job.y, A->rows);
}

template <typename V, typename T, int LANES> static void by_vectors(const peer_spmv_job &job) {
    switch (job.vectors) {
    case 1:
        return launch<V, T, LANES, 1>(job);
    case 4:
        return launch<V, T, LANES, 4>(job);
    default:
        return launch<V, T, LANES, MOST_VECTORS>(job);
    }
}

template <typename V, typename T> static void by_lanes(const peer_spmv_job &job, int lanes) {
    switch (lanes) {
    case 2:
        return by_vectors<V, T, 2>(job);
    case 4:
        return by_vectors<V, T, 4>(job);
    case 8:
        return by_vectors<V, T, 8>(job);
    case 16:
        return by_vectors<V, T, 16>(job);
    default:
        return by_vectors<V, T, 32>(job);
    }
}

static const char *run(void *self) {
    const plain *p = (const plain *)self;
    if (p->job.A->val_type == LSP_F64) {
        by_lanes<double, double>(p->job, p->lanes);
    } else if (p->job.type == LSP_F64) {
        by_lanes<float, double>(p->job, p->lanes);
    } else {
        by_lanes<float, float>(p->job, p->lanes);
    }
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

static bool offers(const peer_spmv_job *job) {
    return !job->transpose && (job->vectors == 1 || job->vectors == 4 || job->vectors == MOST_VECTORS);
}

/* Milliseconds of the third of three runs; a large number if something failed. */
static float time_of(plain *p, cudaEvent_t begin, cudaEvent_t end) {
    const cudaStream_t stream = (cudaStream_t)p->job.stream;
    float ms = 1e9f;
    for (int i = 0; i < 3; i++) {
        cudaEventRecord(begin, stream);
        run(p);
        cudaEventRecord(end, stream);
    }
    return cudaEventSynchronize(end) == cudaSuccess && cudaEventElapsedTime(&ms, begin, end) == cudaSuccess ? ms : 1e9f;
}

static void *prepare(const peer_spmv_job *job, char *why, size_t why_bytes) {
    plain *p = (plain *)malloc(sizeof *p);
    cudaEvent_t begin, end;
    if (!p || cudaEventCreate(&begin) != cudaSuccess || cudaEventCreate(&end) != cudaSuccess) {
        snprintf(why, why_bytes, "no memory, or no events");
        free(p);
        return NULL;
    }
    *p = plain{*job, 2};
    int best = 2;
    float fastest = time_of(p, begin, end);
    for (int lanes = 4; lanes <= 32; lanes *= 2) {
        p->lanes = lanes;
        const float ms = time_of(p, begin, end);
        best = ms < fastest ? lanes : best;
        fastest = ms < fastest ? ms : fastest;
    }
    p->lanes = best;
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return p;
}

extern "C" {
extern const peer_spmv peer_plain_spmv_gpu;
const peer_spmv peer_plain_spmv_gpu = {true, false, offers, prepare,
                                       run,  NULL,  free,   "the best of 2 to 32 lanes a row"};
}
