/* The kernels of the bodies of this room. */
#include "core/each.cuh"
#include "spmv/bodies.h"

LSP_SPMV_BODIES(LSP_ITEM_CUDA)
const lsp_spmv_bodies_table lsp_spmv_bodies_on_gpu = {LSP_SPMV_BODIES(LSP_BODY_CUDA)};
