/* Lists of indices on a GPU: the owner of each destination (the inverted map), the winners among equal indices, the
 * order of positions by index. */
#include "core/cuda.h"
#include "kernel_order.cuh"

#define LAUNCH_ORDER(ctx, kernel, n, ...)                                                                              \
    LSP_LAUNCH(ctx, kernel, lsp_blocks_for((ctx), (n), ORDER_NT *ORDER_VT, 32), ORDER_NT, 0, __VA_ARGS__)

/* ---- owners ---- */

lsp_status lsp_gather_owners(lsp_ctx *ctx, const lsp_gather_job *job, long long *fault, gather_gate gate, void *owner) {
    const lsp_gather_args *args = &job->args;
    const lsp_type type = gather_list_type(args->n);
    const gather_list index = {args->index, args->index_type};
    if (args->extent > 0) {
        LSP_TRY(lsp_cuda_fill(ctx, owner, 0xFF, args->extent * (int64_t)lsp_type_bytes(type)));
    }
    return type == LSP_I32
               ? LAUNCH_ORDER(ctx, kernel_owner<int>, args->n, index, args->n, args->extent, (int *)owner, fault, gate)
               : LAUNCH_ORDER(ctx, kernel_owner<long long>, args->n, index, args->n, args->extent, (long long *)owner,
                              fault, gate);
}

lsp_status lsp_gather_winners(lsp_ctx *ctx, const lsp_gather_job *job, const void *owner, void *winners) {
    const lsp_gather_args *args = &job->args;
    const gather_list index = {args->index, args->index_type}, owners = {owner, gather_list_type(args->n)};
    return LAUNCH_ORDER(ctx, kernel_winners, args->n, index, args->n, args->extent, owners, winners);
}

/* ---- order ---- */

/* The largest key, `extent`, is the one of indices outside. */
gather_order gather_order_for(const lsp_gather_job *job) {
    gather_order order = {};
    order.key_bytes = job->args.extent <= UINT32_MAX ? 4 : 8;
    order.position_bytes = job->args.n <= UINT32_MAX ? 4 : 8;
    return order;
}

lsp_status lsp_gather_sort(lsp_ctx *ctx, const lsp_gather_job *job, gather_list index, long long *fault,
                           const gather_order *order) {
    const lsp_gather_args *args = &job->args;
    const bool few = order->key_bytes == 4;
    lsp_segsort_args sort = {};
    LSP_TRY(
        few ? LAUNCH_ORDER(ctx, kernel_keys<unsigned>, args->n, index, args->n, args->extent, (unsigned *)order->keys,
                           fault)
            : LAUNCH_ORDER(ctx, kernel_keys<ull>, args->n, index, args->n, args->extent, (ull *)order->keys, fault));
    sort.n = sort.length = args->n;
    sort.segments = 1;
    sort.key_type = few ? LSP_U32 : LSP_U64;
    sort.value_bytes = (size_t)order->position_bytes;
    sort.keys = sort.keys_out = order->keys;
    sort.values_out = order->position;
    sort.end_bit = lsp_max(lsp_bits((uint64_t)args->extent), 1);
    sort.flags = LSP_SORT_GLOBAL_POSITIONS;
    sort.where = LSP_CUDA;
    return lsp_segsort(ctx, &sort, NULL);
}
