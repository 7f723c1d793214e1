/* The functions of this room on a GPU. */
#include "matrices/csr/gpu/gpu.h"
#include "matrices/forms/gpu/gpu.h"
#include "matrices/values/values.h"

#define TABLE(LIST)                                                                                                    \
    { LIST(LSP_GPU_ENTRY) }

const lsp_csr_on_gpu_table lsp_csr_on_gpu = TABLE(LSP_CSR_GPU);
const lsp_forms_on_gpu_table lsp_forms_on_gpu = TABLE(LSP_FORMS_GPU);
const lsp_values_on_gpu_table lsp_values_on_gpu = TABLE(LSP_VALUES_GPU);
