/* The functions of this room on a GPU. */
#include "matrices/bodies.h"
#include "matrices/csr/gpu/gpu.h"
#include "matrices/forms/gpu/gpu.h"
#include "matrices/values/values.h"

#define TABLE(LIST)                                                                                                    \
    { LIST(LSP_GPU_ENTRY) }

const lsp_csr_on_gpu_table lsp_csr_on_gpu = TABLE(LSP_CSR_GPU);
const lsp_forms_on_gpu_table lsp_forms_on_gpu = TABLE(LSP_FORMS_GPU);
const lsp_values_on_gpu_table lsp_values_on_gpu = TABLE(LSP_VALUES_GPU);

/* clang-format off */
#define ITEM(name, arguments) lsp_each_cuda lsp_body_##name##_cuda;
#define ENTRY(name, arguments) lsp_entry_cuda lsp_body_##name##_cuda;
#define KEEP(name, arguments) lsp_keep_cuda lsp_body_##name##_cuda;
/* clang-format on */
LSP_BODIES(ITEM, ITEM, ENTRY, KEEP)
const lsp_bodies_table lsp_bodies_on_gpu = {LSP_BODIES(LSP_BODY_CUDA, LSP_BODY_CUDA, LSP_BODY_CUDA, LSP_BODY_CUDA)};
