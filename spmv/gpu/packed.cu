/* LSP_SPMV_PACKED on a GPU. */
#include "arith.cuh"
#include "core/launch.cuh"
#include "core/scan.h"

enum { PACKED_NT = 256 };

__device__ static inline bool packed_is_empty(const spmv_job &job, int64_t i) {
    return spmv_rowptr(job, i) == spmv_rowptr(job, i + 1);
}

#define LAUNCH_PACKED(ctx, kernel, n, ...)                                                                             \
    LSP_LAUNCH(ctx, kernel, lsp_blocks_for((ctx), (n), 4 * PACKED_NT, 8), PACKED_NT, 0, __VA_ARGS__)

/* ---- the rows that have entries ---- */

static __global__ void __launch_bounds__(PACKED_NT) kernel_packed_flags(spmv_job job, int64_t *at) {
    EACH_ITEM(i, job.rows, PACKED_NT) { at[i] = !packed_is_empty(job, i); }
}

/* at[i]: those among the rows 0 .. i. */
static __global__ void __launch_bounds__(PACKED_NT) kernel_packed_list(spmv_job job, const int64_t *at, lsp_packed p) {
    EACH_ITEM(i, job.rows + 1, PACKED_NT) {
        if (i == job.rows || !packed_is_empty(job, i)) {
            const int64_t r = i == job.rows ? p.count : at[i] - 1, begin = spmv_rowptr(job, i);
            if (i < job.rows) {
                p.rows[r] = i;
            }
            index_set(p.rowptr, job.wide_rowptr, r, begin);
        }
    }
}

static lsp_status list(lsp_ctx *ctx, const lsp_csr *A, const lsp_packed *p) {
    LSP_SCRATCH_SCOPE(ctx);
    int64_t *at = NULL;
    spmv_job job = {};
    job.rows = A->rows;
    job.rowptr = A->rowptr;
    job.wide_rowptr = A->rowptr_type == LSP_I64;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows, &at));
    LSP_TRY(LAUNCH_PACKED(ctx, kernel_packed_flags, A->rows, job, at));
    LSP_TRY(lsp_cuda_scan_async(ctx, at, A->rows, NULL));
    return LAUNCH_PACKED(ctx, kernel_packed_list, A->rows + 1, job, at, *p);
}

/* ---- their sums ---- */

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
        for (int64_t v = 0; v < job.vectors && packed_is_empty(job, i); v++) {
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

static lsp_status spread(lsp_ctx *ctx, const lsp_spmv_job *given, const lsp_packed *p, bool all) {
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

extern "C" const lsp_packed_device lsp_packed_cuda = {list, spread};
