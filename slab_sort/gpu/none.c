/* The sort of a whole array in a build without CUDA: no method of a GPU. */
#include "core/none.h"
#include "slab_sort/slab_sort.h"

const lsp_sort_way *const lsp_sort_ways[LSP_SORT_METHODS] = {NULL};

lsp_status lsp_sort_mark_changes(lsp_ctx *ctx, const lsp_sort_args *args) {
    (void)args;
    return lsp_no_cuda(ctx);
}
