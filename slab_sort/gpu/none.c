/* The sort of a whole array in a build without CUDA: no method of a GPU. */
#include "slab_sort/slab_sort.h"

const lsp_sort_way *const lsp_sort_ways[LSP_SORT_METHODS] = {NULL};
