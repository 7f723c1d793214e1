/* The rules of the set-up on a GPU: a thread takes a row, a block a piece of the sums. */
#include "core/launch.cuh"
#include "core/scan.h"
#include "solve/multigrid/rules.h"

#define LSP_CASE(rule)                                                                                                 \
    case LSP_RULE_##rule:                                                                                              \
        return lsp_rule_##rule(&s, s.A.rowptr_type, s.A.col_type, s.A.val_type, i);

template <int RULE> static __device__ inline lsp_two rule_of(const lsp_setup &s, int64_t i) {
    switch (RULE) { LSP_EACH_RULE(LSP_CASE) }
    return lsp_two{0, 0};
}

template <int RULE>
static __global__ void __launch_bounds__(LSP_SUM_LANES) kernel_rule(lsp_setup s, int64_t n, lsp_two *sums) {
    __shared__ lsp_two lane[LSP_SUM_LANES];
    const int t = (int)threadIdx.x;
    for (int64_t piece = blockIdx.x; piece * LSP_SUM_ROWS < n; piece += gridDim.x) {
        lsp_two sum = {0, 0};
        for (int64_t row = 0; row < LSP_SUM_ROWS; row += LSP_SUM_LANES) {
            const int64_t i = piece * LSP_SUM_ROWS + row + t;
            if (i < n) {
                const lsp_two two = rule_of<RULE>(s, i);
                sum.a += two.a;
                sum.b += two.b;
            }
        }
        if (sums != NULL) {
            lane[t] = sum;
            for (int half = LSP_SUM_LANES / 2; half > 0; half /= 2) {
                __syncthreads();
                if (t < half) {
                    lane[t].a += lane[t + half].a;
                    lane[t].b += lane[t + half].b;
                }
            }
            if (t == 0) {
                sums[piece] = lane[0];
            }
            __syncthreads();
        }
    }
}

#define LSP_START(rule)                                                                                                \
    case LSP_RULE_##rule:                                                                                              \
        return LSP_LAUNCH(ctx, kernel_rule<LSP_RULE_##rule>, blocks, LSP_SUM_LANES, 0, *s, n, sums);

static lsp_status apply(lsp_ctx *ctx, lsp_setup_rule rule, const lsp_setup *s, int64_t n, lsp_two *sums) {
    const int64_t blocks = lsp_min(lsp_ceil_div(n, LSP_SUM_ROWS), INT32_MAX);
    if (n == 0) {
        return LSP_OK;
    }
    switch (rule) { LSP_EACH_RULE(LSP_START) }
    return LSP_OK;
}

static lsp_status scan(lsp_ctx *ctx, int64_t *offsets, int64_t n, int64_t *total) {
    lsp_status status = LSP_OK;
    *total = 0;
    LSP_TRY(lsp_cuda_clear(ctx, offsets, sizeof *offsets));
    LSP_TRY(n > 0 ? lsp_cuda_scan(ctx, offsets + 1, n, total) : LSP_OK);
done:
    return status;
}

extern "C" const lsp_setup_backend lsp_setup_cuda = {apply, scan};
