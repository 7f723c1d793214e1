/* Joins on the GPU: rows are counted, then filled in the order of their columns. Part of gpu.cuh. */

template <bool FILL> struct pairs_joining {
    enum { GROUP = 1, UNROLL = 1 };
    PAIRS_NUMBER limit;
    int64_t to[PAIRS_ROWS];
    int32_t *col;
    PAIRS_NUMBER *val;

    template <int N, bool MASKED>
    __device__ __forceinline__ void take(const PAIRS_NUMBER (&value)[N], const bool (&in)[N], int j) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (value[k] <= limit && in[k]) {
                if (FILL) {
                    col[to[k]] = j;
                    if (val != NULL) {
                        val[to[k]] = value[k];
                    }
                }
                to[k]++;
            }
        }
    }
    __device__ __forceinline__ void end_chunk(int) {}
};

/* starts: without FILL the entries of each row are written there. */
template <bool FILL>
static __global__ void __launch_bounds__(PAIRS_NT, PAIRS_RESIDENT)
    pairs_join_kernel(const __grid_constant__ pairs_sets s, PAIRS_NUMBER limit, bool half, bool skip, int64_t *starts,
                      int32_t *col, PAIRS_NUMBER *val) {
    const int64_t side = (int64_t)PAIRS_ROWS * blockDim.x, i = blockIdx.x * side;
    pairs_joining<FILL> visit = {limit, {}, col, val};
    for (int k = 0; k < PAIRS_ROWS; k++) {
        const int64_t row = i + threadIdx.x + k * (int64_t)blockDim.x;
        visit.to[k] = FILL && row < s.n_a ? starts[row] : 0;
    }
    pairs_visit<false>(s, i, 0, s.n_b, half, skip, visit);
    for (int k = 0; k < PAIRS_ROWS; k++) {
        const int64_t row = i + threadIdx.x + k * (int64_t)blockDim.x;
        if (!FILL && row < s.n_a) {
            starts[row + 1] = visit.to[k];
        }
    }
}

typedef struct pairs_made {
    lsp_ctx *ctx;
    lsp_csr C;
} pairs_made;
static void pairs_unmake(pairs_made *made) { lsp_csr_free(made->ctx, &made->C); }

static lsp_status pairs_join_cuda(lsp_ctx *ctx, const pairs_job *job, PAIRS_NUMBER limit, const lsp_join_options *join,
                                  lsp_csr *C, lsp_pair_info *info) {
    lsp_array there PAIRS_AT_END(lsp_array_free);
    lsp_array here PAIRS_AT_END(lsp_array_free);
    pairs_made made PAIRS_AT_END(pairs_unmake);
    const int64_t side = (int64_t)PAIRS_NT * PAIRS_ROWS, n = job->n_a;
    const size_t bytes = (size_t)(n + 1) * sizeof(int64_t);
    const unsigned blocks = (unsigned)((n + side - 1) / side);
    const bool half = job->self && join->half, skip = job->self && !join->self_pairs;
    memset(&there, 0, sizeof there), memset(&here, 0, sizeof here);
    memset(&made, 0, sizeof made), made.ctx = ctx;
    PAIRS_TRY(lsp_array_create(ctx, bytes, LSP_CUDA, &there));
    PAIRS_TRY(lsp_array_create(ctx, bytes, LSP_HOST, &here));
    int64_t *start = (int64_t *)here.memory, *device = (int64_t *)there.memory;
    if (blocks > 0) {
        pairs_join_kernel<false><<<blocks, PAIRS_NT>>>(pairs_sets_of(job), limit, half, skip, device, NULL, NULL);
    }
    PAIRS_CUDA(cudaGetLastError());
    PAIRS_CUDA(cudaMemcpy(start, device, bytes, cudaMemcpyDeviceToHost));
    PAIRS_TRY(pairs_make(ctx, job, join, LSP_PLACE_CUDA, start, &made.C));
    PAIRS_CUDA(cudaMemcpy(device, start, bytes, cudaMemcpyHostToDevice));
    PAIRS_TRY(lsp_ctx_sync(ctx));
    if (blocks > 0) {
        pairs_join_kernel<true><<<blocks, PAIRS_NT>>>(pairs_sets_of(job), limit, half, skip, device,
                                                      (int32_t *)made.C.col, (PAIRS_NUMBER *)made.C.val);
    }
    PAIRS_CUDA(cudaGetLastError());
    PAIRS_CUDA(cudaMemcpy(made.C.rowptr, start, pairs_narrow(start, n, made.C.rowptr_type), cudaMemcpyHostToDevice));
    PAIRS_CUDA(cudaDeviceSynchronize());
    *C = made.C;
    memset(&made.C, 0, sizeof made.C);
    return LSP_OK;
}
