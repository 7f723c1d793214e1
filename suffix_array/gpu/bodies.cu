/* The kernels of all bodies of this room. */
#include "core/each.cuh"
#include "suffix_array/bodies.h"

LSP_SUFFIX_BODIES(LSP_ITEM_CUDA)
const lsp_suffix_bodies_table lsp_suffix_bodies_on_gpu = {LSP_SUFFIX_BODIES(LSP_BODY_CUDA)};
