/* The kernels of the bodies of this room. */
#include "core/each.cuh"
#include "two_body/bodies.h"

LSP_PAIR_BODIES(LSP_ITEM_CUDA)
const lsp_pair_bodies_table lsp_pair_bodies_on_gpu = {LSP_PAIR_BODIES(LSP_BODY_CUDA)};
