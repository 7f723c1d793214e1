/* Gather, scatter and hash search on a GPU, in a build without CUDA. No context of such a build has a GPU,
 * so no call reaches these; they exist so that every build links. */
#include "core/none.h"
#include "gather_scatter/bodies.h"

const lsp_gather_device lsp_gather_cuda = {0};
const lsp_hash_backend lsp_hash_cuda = {0};
const lsp_gather_bodies_table lsp_gather_bodies_on_gpu = {0};
