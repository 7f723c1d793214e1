/* C = A*B in a build without CUDA: no GPU makes products. The checks refuse matrices that lie on one. */
#include "spgemm/job.h"

const lsp_spgemm_device *const lsp_spgemm_on_gpu = NULL;
