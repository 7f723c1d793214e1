/* Two-body statistics in a build without CUDA: contexts of a GPU cannot be made. */
#include "two_body/bodies.h"

const lsp_pair_device lsp_pair_cuda = {0};
const lsp_pair_bodies_table lsp_pair_bodies_on_gpu = {0};
