/* The kernels of the bodies of this room. */
#include "core/each.cuh"
#include "gather_scatter/bodies.h"

LSP_GATHER_BODIES(LSP_ITEM_CUDA)
const lsp_gather_bodies_table lsp_gather_bodies_on_gpu = {LSP_GATHER_BODIES(LSP_BODY_CUDA)};
