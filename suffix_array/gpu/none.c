/* Suffix arrays in a build without CUDA: contexts of a GPU cannot be made. */
#include "suffix_array/suffix_array.h"

const lsp_suffix_device lsp_suffix_cuda = {0};
