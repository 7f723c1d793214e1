/* Starts the kernel that adds in order, for each type of element. */
#include "kernel_add.cuh"

template <typename T> static lsp_status start(lsp_ctx *ctx, const sum_job *job, const lsp_column *column) {
    return LSP_LAUNCH(ctx, kernel_sum<T>, lsp_min(lsp_ceil_div(job->n, SUM_NT), INT32_MAX), SUM_NT, 0, *job,
                      (const T *)column->from, (T *)column->to);
}

lsp_status lsp_gather_sum(lsp_ctx *ctx, const gather_order *order, int64_t n, int64_t extent, bool moved,
                          const lsp_column *column) {
    sum_job job = {};
    job.keys = order->keys;
    job.position = moved ? NULL : order->position;
    job.wide_keys = order->key_bytes == 8;
    job.wide_positions = order->position_bytes == 8;
    job.n = n;
    job.extent = extent;
    switch (column->type) {
    case LSP_F32:
        return start<float>(ctx, &job, column);
    case LSP_F64:
        return start<double>(ctx, &job, column);
    case LSP_I32:
        return start<unsigned>(ctx, &job, column);
    default:
        return start<ull>(ctx, &job, column);
    }
}
