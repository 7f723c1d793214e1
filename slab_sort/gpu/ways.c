/* The methods of a GPU. A method without a row is refused with a sentence. */
#include "slab_sort/slab_sort.h"

const lsp_sort_way *const lsp_sort_ways[LSP_SORT_METHODS] = {
    [LSP_SORT_RANKS] = &lsp_sort_by_ranks,
    [LSP_SORT_SPLIT] = &lsp_sort_by_split,
    [LSP_SORT_RADIX] = &lsp_sort_by_radix,
    [LSP_SORT_SLAB] = &lsp_sort_by_slabs,
};
