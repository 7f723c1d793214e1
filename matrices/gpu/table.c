/* The functions of this room on a GPU. */
#include "gpu.h"

const lsp_matrices_table lsp_matrices_on_gpu = {LSP_MATRICES_GPU(LSP_GPU_ENTRY)};
