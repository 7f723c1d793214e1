/* Suffix arrays in a build without CUDA: contexts of a GPU cannot be made. */
#include "suffix_array/bodies.h"

const lsp_suffix_device lsp_suffix_cuda = {0};
const lsp_suffix_bodies_table lsp_suffix_bodies_on_gpu = {0};
