/* The set-up on a GPU in a build without CUDA. No hierarchy of such a build lies on a GPU: the table is empty. */
#include "solve/multigrid/multigrid.h"

const lsp_setup_backend lsp_setup_cuda = {0};
