/* Suffix arrays on a GPU: the table of its verbs. */
#include "gpu.h"

const lsp_suffix_device lsp_suffix_cuda = {.array = lsp_suffix_array_cuda};
