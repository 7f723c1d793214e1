/* Products on a GPU, in a build without CUDA: no context has one, so no matrix that lies there is let in. */
#include "spmv/bodies.h"
#include "spmv/spmv.h"

const lsp_spmv_device lsp_spmv_cuda = {.length_slots = NULL};
const lsp_spmv_bodies_table lsp_spmv_bodies_on_gpu = {0};
