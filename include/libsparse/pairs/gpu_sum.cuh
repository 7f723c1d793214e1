/* Sums on the GPU: a point's sum in registers, over all of set b. Part of gpu.cuh. */

struct pairs_summing {
    enum { GROUP = 4, UNROLL = 1 };
    PAIRS_NUMBER part[PAIRS_ROWS];
    double sum[PAIRS_ROWS];

    template <int N, bool MASKED>
    __device__ __forceinline__ void take(const PAIRS_NUMBER (&value)[N], const bool (&in)[N], int) {
#pragma unroll
        for (int q = 0; q < N; q++) {
            part[q % PAIRS_ROWS] += !MASKED || in[q] ? value[q] : 0;
        }
    }
    __device__ __forceinline__ void end_chunk(int) {
#pragma unroll
        for (int k = 0; k < PAIRS_ROWS; k++) {
            sum[k] += (double)part[k];
            part[k] = 0;
        }
    }
};

static __global__ void __launch_bounds__(PAIRS_NT, PAIRS_RESIDENT)
    pairs_sum_kernel(const __grid_constant__ pairs_sets s, double *sums) {
    const int64_t i = (int64_t)blockIdx.x * PAIRS_ROWS * blockDim.x;
    pairs_summing visit = {};
    pairs_visit<false>(s, i, 0, s.n_b, false, false, visit);
    for (int k = 0; k < PAIRS_ROWS; k++) {
        const int64_t row = i + threadIdx.x + k * (int64_t)blockDim.x;
        if (row < s.n_a) {
            sums[row] = visit.sum[k];
        }
    }
}

static lsp_status pairs_sum_cuda(lsp_ctx *ctx, const pairs_job *job, double *to, lsp_pair_info *info) {
    lsp_array sums PAIRS_AT_END(lsp_array_free);
    const int64_t side = (int64_t)PAIRS_NT * PAIRS_ROWS;
    memset(&sums, 0, sizeof sums);
    PAIRS_TRY(lsp_array_create(ctx, (size_t)(job->n_a + 1) * sizeof(double), LSP_CUDA, &sums));
    if (job->n_a > 0) {
        pairs_sum_kernel<<<(unsigned)((job->n_a + side - 1) / side), PAIRS_NT>>>(pairs_sets_of(job),
                                                                                 (double *)sums.memory);
    }
    PAIRS_CUDA(cudaGetLastError());
    PAIRS_CUDA(cudaMemcpy(to, sums.memory, (size_t)job->n_a * sizeof(double), cudaMemcpyDeviceToHost));
    return LSP_OK;
}
