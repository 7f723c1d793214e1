/* Two-body statistics in a build without CUDA: contexts of a GPU cannot be made. */
#include "two_body/job.h"

const lsp_pair_device lsp_pair_cuda = {0};
