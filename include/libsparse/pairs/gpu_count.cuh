/* Counts on the GPU: a limit, or a few, in registers. Part of gpu.cuh. */

struct pairs_limits {
    PAIRS_NUMBER at[PAIRS_SIZE];
};

static __global__ void __launch_bounds__(PAIRS_NT, PAIRS_RESIDENT)
    pairs_count_kernel(const __grid_constant__ pairs_sets s, const __grid_constant__ pairs_limits limits,
                       pairs_u64 tiles, pairs_u64 *counts) {
    pairs_counting<PAIRS_NUMBER, PAIRS_ROWS, PAIRS_SIZE> visit(limits.at);
    for (pairs_u64 p = blockIdx.x; p < tiles; p += gridDim.x) {
        pairs_visit_square(s, p, visit);
    }
    for (int k = 0; k < PAIRS_SIZE; k++) {
        pairs_u64 sum = visit.within[k];
        for (int lane = 16; lane > 0; lane /= 2) {
            sum += __shfl_down_sync(0xFFFFFFFF, sum, lane);
        }
        if (threadIdx.x % 32 == 0 && sum > 0) {
            atomicAdd(counts + k, sum);
        }
    }
}

static lsp_status pairs_count_cuda(lsp_ctx *ctx, const pairs_job *job, const PAIRS_NUMBER *limits, uint64_t *counts,
                                   lsp_pair_info *info) {
    lsp_array sums PAIRS_AT_END(lsp_array_free);
    pairs_limits at;
    uint64_t here[PAIRS_SIZE] = {0};
    memset(&sums, 0, sizeof sums);
    memcpy(at.at, limits, sizeof at.at);
    int sms = 1;
    PAIRS_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, job->ordinal));
    const int nt = pairs_threads(job->n_a, job->n_b, job->self, PAIRS_ROWS, PAIRS_CHUNK, PAIRS_NT, sms);
    const pairs_u64 tiles = pairs_tiles_of(job, (int64_t)nt * PAIRS_ROWS);
    PAIRS_TRY(lsp_array_create(ctx, sizeof here, LSP_CUDA, &sums));
    PAIRS_CUDA(cudaMemsetAsync(sums.memory, 0, sizeof here, 0));
    if (tiles > 0) {
        pairs_count_kernel<<<pairs_grid(tiles), nt>>>(pairs_sets_of(job), at, tiles, (pairs_u64 *)sums.memory);
    }
    PAIRS_CUDA(cudaGetLastError());
    PAIRS_CUDA(cudaMemcpy(here, sums.memory, sizeof here, cudaMemcpyDeviceToHost));
    memcpy(counts, here, sizeof here);
    return LSP_OK;
}
