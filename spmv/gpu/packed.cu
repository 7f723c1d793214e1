/* LSP_SPMV_PACKED on a GPU. */
#include "arith.cuh"
#include "core/launch.cuh"
#include "core/scan.h"

enum { PACKED_NT = 256, PACKED_VT = 4, PACKED_SM_BLOCKS = 8 };

__device__ static inline int64_t packed_first() { return (int64_t)blockIdx.x * PACKED_NT + threadIdx.x; }
__device__ static inline int64_t packed_step() { return (int64_t)gridDim.x * PACKED_NT; }
__device__ static inline bool packed_is_empty(const spmv_job &job, int64_t i) {
    return spmv_rowptr(job, i) == spmv_rowptr(job, i + 1);
}

static int64_t blocks_for(lsp_ctx *ctx, int64_t n) {
    return lsp_blocks_for(ctx, n, PACKED_NT * PACKED_VT, PACKED_SM_BLOCKS);
}

/* ---- the rows that have entries ---- */

static __global__ void __launch_bounds__(PACKED_NT) kernel_packed_flags(spmv_job job, int64_t *at) {
    for (int64_t i = packed_first(); i < job.rows; i += packed_step()) {
        at[i] = !packed_is_empty(job, i);
    }
}

/* at[i]: those among the rows 0 .. i. */
static __global__ void __launch_bounds__(PACKED_NT) kernel_packed_list(spmv_job job, const int64_t *at, lsp_packed p) {
    for (int64_t i = packed_first(); i <= job.rows; i += packed_step()) {
        if (i == job.rows || !packed_is_empty(job, i)) {
            const int64_t r = i == job.rows ? p.count : at[i] - 1, begin = spmv_rowptr(job, i);
            if (i < job.rows) {
                p.rows[r] = i;
            }
            if (job.wide_rowptr) {
                ((int64_t *)p.rowptr)[r] = begin;
            } else {
                ((int32_t *)p.rowptr)[r] = (int32_t)begin;
            }
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
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->rows, sizeof *at, (void **)&at));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_packed_flags, blocks_for(ctx, A->rows), PACKED_NT, 0, job, at));
    LSP_TRY(lsp_cuda_scan_there(ctx, at, A->rows, NULL));
    return LSP_LAUNCH(ctx, kernel_packed_list, blocks_for(ctx, A->rows + 1), PACKED_NT, 0, job, at, *p);
}

/* ---- their sums ---- */

/* Y of the rows that have entries: neighbouring threads take neighbouring elements of the sums. */
template <typename T, bool PLUS>
static __global__ void __launch_bounds__(PACKED_NT) kernel_packed_write(spmv_job job, lsp_packed p, bool by_columns) {
    for (int64_t at = packed_first(); at < p.count * job.vectors; at += packed_step()) {
        const int64_t r = by_columns ? at % p.count : at / job.vectors;
        const int64_t v = by_columns ? at / p.count : at % job.vectors;
        spmv_finish<T, PLUS>(job, p.rows[r], v, ((const T *)p.sums)[at], false);
    }
}

/* Y of the others. */
template <typename T, bool PLUS> static __global__ void __launch_bounds__(PACKED_NT) kernel_packed_empty(spmv_job job) {
    for (int64_t i = packed_first(); i < job.rows; i += packed_step()) {
        for (int64_t v = 0; v < job.vectors && packed_is_empty(job, i); v++) {
            spmv_finish<T, PLUS>(job, i, v, spmv_nothing<PLUS>(job), true);
        }
    }
}

template <typename T, bool PLUS>
static lsp_status start(lsp_ctx *ctx, const spmv_job *job, const lsp_packed *p, bool by_columns, bool all) {
    if (p->count > 0) {
        LSP_TRY(LSP_LAUNCH(ctx, (kernel_packed_write<T, PLUS>), blocks_for(ctx, p->count * job->vectors), PACKED_NT, 0,
                           *job, *p, by_columns));
    }
    if (all) {
        LSP_TRY(LSP_LAUNCH(ctx, (kernel_packed_empty<T, PLUS>), blocks_for(ctx, job->rows), PACKED_NT, 0, *job));
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
