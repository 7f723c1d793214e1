/* Lists of indices on a GPU: the owner of each destination (the inverted map), the winners among equal indices, the
 * order of positions by index, the first index outside. */
#include "core/cuda.h"
#include "kernel_order.cuh"

#define LAUNCH_ORDER(ctx, kernel, n, ...)                                                                              \
    LSP_LAUNCH(ctx, kernel, lsp_blocks_for((ctx), (n), ORDER_NT *ORDER_VT, 32), ORDER_NT, 0, __VA_ARGS__)

/* ---- owners ---- */

template <typename I, typename O>
static lsp_status start_owner(lsp_ctx *ctx, const lsp_gather_job *job, long long *fault, gather_gate gate,
                              void *owner) {
    const lsp_gather_args *args = &job->args;
    return LAUNCH_ORDER(ctx, (kernel_owner<I, O>), args->n, (const I *)args->index, args->n, args->extent, (O *)owner,
                        fault, gate);
}

lsp_status lsp_gather_owners(lsp_ctx *ctx, const lsp_gather_job *job, long long *fault, gather_gate gate, void *owner) {
    const bool narrow = job->args.index_type == LSP_I32, few = gather_list_type(job->args.n) == LSP_I32;
    if (job->args.extent > 0) {
        LSP_TRY(
            lsp_cuda_fill(ctx, owner, 0xFF, job->args.extent * (int64_t)lsp_type_bytes(gather_list_type(job->args.n))));
    }
    if (job->args.n > 0) {
        LSP_TRY((few      ? narrow ? start_owner<int32_t, int>(ctx, job, fault, gate, owner)
                                   : start_owner<long long, int>(ctx, job, fault, gate, owner)
                      : narrow ? start_owner<int32_t, long long>(ctx, job, fault, gate, owner)
                          : start_owner<long long, long long>(ctx, job, fault, gate, owner)));
    }
    return LSP_OK;
}

template <typename I, typename O>
static lsp_status start_winners(lsp_ctx *ctx, const lsp_gather_job *job, const void *owner, void *winners) {
    const lsp_gather_args *args = &job->args;
    return LAUNCH_ORDER(ctx, (kernel_winners<I, O>), args->n, (const I *)args->index, args->n, args->extent,
                        (const O *)owner, (I *)winners);
}

lsp_status lsp_gather_winners(lsp_ctx *ctx, const lsp_gather_job *job, const void *owner, void *winners) {
    const bool narrow = job->args.index_type == LSP_I32, few = gather_list_type(job->args.n) == LSP_I32;
    if (job->args.n == 0) {
        return LSP_OK;
    }
    return few      ? narrow ? start_winners<int32_t, int>(ctx, job, owner, winners)
                             : start_winners<long long, int>(ctx, job, owner, winners)
                : narrow ? start_winners<int32_t, long long>(ctx, job, owner, winners)
                    : start_winners<long long, long long>(ctx, job, owner, winners);
}

lsp_status lsp_gather_count_owned(lsp_ctx *ctx, gather_list owner, int64_t n, int64_t *owned) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *count = NULL;
    *owned = 0;
    if (n == 0) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &count));
    LSP_TRY(owner.type == LSP_I32
                ? LAUNCH_ORDER(ctx, kernel_count_owned<int32_t>, n, (const int32_t *)owner.at, n, count)
                : LAUNCH_ORDER(ctx, kernel_count_owned<long long>, n, (const long long *)owner.at, n, count));
    return lsp_cuda_read(ctx, owned, count, sizeof *owned);
}

/* ---- order ---- */

/* The largest key, `extent`, is the one of indices outside. */
gather_order gather_order_for(const lsp_gather_job *job) {
    gather_order order = {};
    order.key_bytes = job->args.extent <= UINT32_MAX ? 4 : 8;
    order.position_bytes = job->args.n <= UINT32_MAX ? 4 : 8;
    return order;
}

template <typename I, typename K>
static lsp_status start_keys(lsp_ctx *ctx, const lsp_gather_job *job, const void *index, long long *fault,
                             const gather_order *order) {
    return LAUNCH_ORDER(ctx, (kernel_keys<I, K>), job->args.n, (const I *)index, job->args.n, job->args.extent,
                        (K *)order->keys, fault);
}

lsp_status lsp_gather_sort(lsp_ctx *ctx, const lsp_gather_job *job, gather_list index, long long *fault,
                           const gather_order *order) {
    const bool narrow = index.type == LSP_I32, few = order->key_bytes == 4;
    lsp_segsort_args sort = {};
    if (job->args.n == 0) {
        return LSP_OK;
    }
    LSP_TRY((few      ? narrow ? start_keys<int32_t, unsigned>(ctx, job, index.at, fault, order)
                               : start_keys<long long, unsigned>(ctx, job, index.at, fault, order)
                  : narrow ? start_keys<int32_t, ull>(ctx, job, index.at, fault, order)
                      : start_keys<long long, ull>(ctx, job, index.at, fault, order)));
    sort.n = sort.length = job->args.n;
    sort.segments = 1;
    sort.key_type = few ? LSP_U32 : LSP_U64;
    sort.value_bytes = (size_t)order->position_bytes;
    sort.keys = sort.keys_out = order->keys;
    sort.values_out = order->position;
    sort.end_bit = lsp_max(lsp_bits((uint64_t)job->args.extent), 1);
    sort.flags = LSP_SORT_GLOBAL_POSITIONS;
    sort.where = LSP_CUDA;
    return lsp_segsort(ctx, &sort, NULL);
}

/* ---- the first index outside ---- */

lsp_status lsp_gather_find_bad(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad, int64_t *index) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_gather_args *args = &job->args;
    ull *first = NULL;
    *bad = -1;
    if (args->n == 0) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0xFF, 1, &first)); /* -1, and as an unsigned number the largest */
    LSP_TRY(args->index_type == LSP_I32 ? LAUNCH_ORDER(ctx, kernel_first_bad<int32_t>, args->n,
                                                       (const int32_t *)args->index, args->n, args->extent, first)
                                        : LAUNCH_ORDER(ctx, kernel_first_bad<long long>, args->n,
                                                       (const long long *)args->index, args->n, args->extent, first));
    LSP_TRY(lsp_cuda_read(ctx, bad, first, sizeof *bad));
    return *bad >= 0 ? lsp_cuda_read_index(ctx, args->index, args->index_type, *bad, index) : LSP_OK;
}
