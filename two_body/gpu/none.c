/* Two-body statistics in a build without CUDA: contexts of a GPU cannot be made. */
#include "core/none.h"
#include "two_body/bodies.h"

LSP_PAIR_BODIES(LSP_ITEM_NONE)
const lsp_pair_device lsp_pair_cuda = {0};
