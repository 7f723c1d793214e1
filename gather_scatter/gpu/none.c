/* Gather, scatter, partition and hash search on a GPU, in a build without CUDA: they refuse. */
#include "core/none.h"
#include "gather_scatter/gather_scatter.h"
#include "gather_scatter/hash/hash.h"
#include "gather_scatter/radix_sort/radix_sort.h"

/* clang-format off */
LSP_NO_CUDA(lsp_gather_run_cuda, (lsp_ctx *ctx, const lsp_gather_job *job), ctx)
LSP_NO_CUDA(lsp_gather_find_bad_cuda,
            (lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad, int64_t *index), ctx)
LSP_NO_CUDA(lsp_gather_prepare_cuda, (lsp_gather_plan *plan), plan->ctx)
LSP_NO_CUDA(lsp_gather_execute_cuda, (lsp_gather_plan *plan, const lsp_column *columns, int64_t count), plan->ctx)
LSP_NO_CUDA(lsp_bucket_offsets_cuda, (lsp_ctx *ctx, const lsp_bucket_search *search), ctx)

static LSP_NO_CUDA(mix, (lsp_ctx *ctx, const lsp_hash_args *args, void *mixed), ctx)
static LSP_NO_CUDA(count_distinct, (lsp_ctx *ctx, const void *sorted, const lsp_hash_view *t, int64_t *counts, int64_t *distinct), ctx)
static LSP_NO_CUDA(compact, (lsp_ctx *ctx, const void *sorted, const lsp_hash_view *t, const int64_t *counts, void *keys, int64_t *heads), ctx)
static LSP_NO_CUDA(fill, (lsp_ctx *ctx, const lsp_hash_view *t, void *lines), ctx)
static LSP_NO_CUDA(search, (lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes), ctx)
static LSP_NO_CUDA(count, (lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes, int64_t *offsets, uint64_t *at), ctx)
static LSP_NO_CUDA(gather, (lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes, const int64_t *offsets, const uint64_t *at, int64_t total), ctx)
    /* clang-format on */

    void lsp_gather_release_cuda(lsp_gather_plan *plan) {}

const lsp_hash_backend lsp_hash_cuda = {.mix = mix,
                                        .count_distinct = count_distinct,
                                        .compact = compact,
                                        .fill = fill,
                                        .find = search,
                                        .count = count,
                                        .gather = gather,
                                        .some = search};
