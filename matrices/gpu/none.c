/* Empty tables, for a build without CUDA: no context there works on a GPU, so nobody calls their functions. */
#include "matrices/bodies.h"
#include "matrices/csr/gpu/gpu.h"
#include "matrices/forms/gpu/gpu.h"
#include "matrices/values/values.h"

const lsp_csr_on_gpu_table lsp_csr_on_gpu = {0};
const lsp_forms_on_gpu_table lsp_forms_on_gpu = {0};
const lsp_values_on_gpu_table lsp_values_on_gpu = {0};
const lsp_bodies_table lsp_bodies_on_gpu = {0};
