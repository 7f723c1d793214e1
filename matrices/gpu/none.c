/* Empty tables, for a build without CUDA: no context there works on a GPU, so nobody calls their functions. */
#include "gpu.h"
#include "matrices/bodies.h"

const lsp_matrices_table lsp_matrices_on_gpu = {0};
const lsp_bodies_table lsp_bodies_on_gpu = {0};
