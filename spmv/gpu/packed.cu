/* LSP_SPMV_PACKED on a GPU: sums of rows brought to Y. */
#include "arith.cuh"
#include "core/launch.cuh"

enum { PACKED_NT = 256 };

#define LAUNCH_PACKED(ctx, kernel, n, ...)                                                                             \
    LSP_LAUNCH(ctx, kernel, lsp_blocks_for((ctx), (n), 4 * PACKED_NT, 8), PACKED_NT, 0, __VA_ARGS__)

/* Y of the rows that have entries: neighbouring threads take neighbouring elements of the sums. */
template <typename T, bool PLUS>
static __global__ void __launch_bounds__(PACKED_NT) kernel_packed_write(spmv_job job, lsp_packed p, bool by_columns) {
    EACH_ITEM(at, p.count * job.vectors, PACKED_NT) {
        const int64_t r = by_columns ? at % p.count : at / job.vectors;
        const int64_t v = by_columns ? at / p.count : at % job.vectors;
        spmv_finish<T, PLUS>(job, p.rows[r], v, ((const T *)p.sums)[at], false);
    }
}

/* Y of the others. */
template <typename T, bool PLUS> static __global__ void __launch_bounds__(PACKED_NT) kernel_packed_empty(spmv_job job) {
    EACH_ITEM(i, job.rows, PACKED_NT) {
        for (int64_t v = 0; v < job.vectors && spmv_rowptr(job, i) == spmv_rowptr(job, i + 1); v++) {
            spmv_finish<T, PLUS>(job, i, v, spmv_nothing<PLUS>(job), true);
        }
    }
}

template <typename T, bool PLUS>
static lsp_status start(lsp_ctx *ctx, const spmv_job *job, const lsp_packed *p, bool by_columns, bool all) {
    if (p->count > 0) {
        LSP_TRY(LAUNCH_PACKED(ctx, (kernel_packed_write<T, PLUS>), p->count * job->vectors, *job, *p, by_columns));
    }
    if (all) {
        LSP_TRY(LAUNCH_PACKED(ctx, (kernel_packed_empty<T, PLUS>), job->rows, *job));
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_packed_spread_cuda(lsp_ctx *ctx, const lsp_spmv_job *given, const lsp_packed *p, bool all) {
    const bool plus = given->options.semiring == LSP_PLUS_TIMES, by_columns = given->options.by_columns;
    spmv_job job;
    lsp_spmv_gpu_job(ctx, given, &job);
    if (given->options.type == LSP_F32) {
        return plus ? start<float, true>(ctx, &job, p, by_columns, all)
                    : start<float, false>(ctx, &job, p, by_columns, all);
    }
    return plus ? start<double, true>(ctx, &job, p, by_columns, all)
                : start<double, false>(ctx, &job, p, by_columns, all);
}
