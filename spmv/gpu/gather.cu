/* The paper's two steps: the elements of x that the entries need are gathered, in some passes over the columns, each of
 * which follows those of one part of x; then rows are summed with contiguous reads. */
#include "core/launch.cuh"
#include "gpu.h"

enum { PACK_NT = 256 };

/* dense[i] = x[i * stride]. */
template <typename T>
static __global__ void __launch_bounds__(PACK_NT) kernel_pack(const T *x, int64_t stride, T *dense, int64_t n) {
    EACH_ITEM(i, n, PACK_NT) { dense[i] = x[i * stride]; }
}

typedef struct gather_parts {
    void *gathered, *dense; /* an element of x for each entry; a vector of X without strides */
} gather_parts;

static lsp_status prepare(lsp_spmv_plan *plan) {
    gather_parts *parts = NULL;
    const size_t item = lsp_type_bytes(plan->job.options.type);
    LSP_TRY(lsp_spmv_make_parts(plan, sizeof *parts));
    parts = (gather_parts *)plan->parts;
    LSP_TRY(lsp_spmv_hold(plan, plan->job.A.nnz, item, &parts->gathered));
    return lsp_spmv_hold(plan, plan->job.A.cols, item, &parts->dense);
}

/* Step 1 for one vector of X: gathered[k] = x[column of entry k]. */
static lsp_status gather(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job, const void *x,
                         const gather_parts *parts) {
    const size_t item = lsp_type_bytes(given->options.type);
    const int passes = given->options.passes > 0 ? given->options.passes : given->choice.passes;
    lsp_column column = {};
    lsp_gather_args args = {};
    if (job->x_row != 1) {
        LSP_TRY(given->options.type == LSP_F32
                    ? LSP_LAUNCH_EACH(ctx, kernel_pack<float>, job->cols, PACK_NT, (const float *)x, job->x_row,
                                      (float *)parts->dense, job->cols)
                    : LSP_LAUNCH_EACH(ctx, kernel_pack<double>, job->cols, PACK_NT, (const double *)x, job->x_row,
                                      (double *)parts->dense, job->cols));
    }
    column.from = job->x_row != 1 ? parts->dense : x;
    column.to = parts->gathered;
    column.bytes = item;
    args.n = job->nnz;
    args.extent = job->cols;
    args.index = job->col;
    args.index_type = given->A.col_type;
    args.columns = &column;
    args.column_count = 1;
    args.strategy = passes > 1 ? LSP_STRATEGY_RESCAN : LSP_STRATEGY_DIRECT;
    args.passes = passes > 1 ? passes : 0;
    args.where = LSP_CUDA;
    return lsp_gather(ctx, &args, NULL);
}

static lsp_status run_vectors(lsp_ctx *ctx, const lsp_spmv_job *given, const gather_parts *parts) {
    const int64_t item = (int64_t)lsp_type_bytes(given->options.type);
    spmv_job job;
    lsp_spmv_gpu_job(ctx, given, &job);
    for (int64_t vector = 0; vector < given->options.vectors; vector++) {
        spmv_job one = job;
        const char *const x = (const char *)job.x + vector * job.x_vector * item;
        if (job.nnz > 0 && job.cols > 0) {
            LSP_TRY(gather(ctx, given, &job, x, parts));
        }
        one.x = parts->gathered;
        one.y = (char *)job.y + vector * job.y_vector * item;
        one.gathered = true;
        one.col = given->planned ? NULL : job.col;
        one.vectors = 1;
        LSP_TRY(lsp_spmv_lanes_start(ctx, given, &one));
    }
    return LSP_OK;
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *given, void *parts) {
    LSP_SCRATCH_SCOPE(ctx);
    const size_t item = lsp_type_bytes(given->options.type);
    gather_parts scratch = {};
    if (parts == NULL) {
        LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                    "work on the stream is being recorded into a graph: the method gather needs a plan there, which "
                    "holds %lld elements",
                    (long long)given->A.nnz);
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, given->A.nnz, item, &scratch.gathered));
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, given->A.cols, item, &scratch.dense));
        parts = &scratch;
    }
    return run_vectors(ctx, given, (const gather_parts *)parts);
}

const lsp_spmv_engine lsp_spmv_gather_cuda = {{}, NULL, prepare, run, NULL};
