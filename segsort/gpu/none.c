/* The segmented sort on a GPU, in a build without CUDA: it refuses. */
#include "core/none.h"
#include "segsort/job.h"

/* clang-format off */
static LSP_NO_CUDA(refuse_longest, (lsp_ctx *ctx, const lsp_segsort_args *args, int64_t *longest), ctx)
    /* clang-format on */

    const lsp_segsort_device lsp_segsort_cuda = {.longest = refuse_longest};
