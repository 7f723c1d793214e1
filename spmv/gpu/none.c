/* Products on a GPU, in a build without CUDA: no context has one, so no matrix that lies there is let in. */
#include "spmv/spmv.h"

const lsp_spmv_device lsp_spmv_cuda = {.inspect = NULL};
