/* The kernels of all bodies of this room. */
#include "each.cuh"
#include "matrices/bodies.h"

LSP_BODIES(LSP_ITEM_CUDA, LSP_VALUE_CUDA, LSP_ENTRY_CUDA, LSP_KEEP_CUDA)
const lsp_bodies_table lsp_bodies_on_gpu = {LSP_BODIES(LSP_BODY_CUDA, LSP_BODY_CUDA, LSP_BODY_CUDA, LSP_BODY_CUDA)};
