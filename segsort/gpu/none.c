/* The segmented sort on a GPU, in a build without CUDA: it refuses. */
#include "core/none.h"
#include "segsort/job.h"

/* clang-format off */
static LSP_NO_CUDA(refuse_longest, (lsp_ctx *ctx, const lsp_segsort_args *args, int64_t *longest), ctx)
static LSP_NO_CUDA(refuse_sort, (lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, void *scratch, int split_bits), ctx)

static bool refuse_scratch(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes) { return false; }

const lsp_segsort_device lsp_segsort_cuda = {.bytes = refuse_scratch, .longest = refuse_longest, .run = refuse_sort};
/* clang-format on */
