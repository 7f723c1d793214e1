/* The table of refusals: there are no kernels for suffix arrays yet. */
#include "suffix_array/suffix_array.h"

const lsp_suffix_device lsp_suffix_cuda = {0};
