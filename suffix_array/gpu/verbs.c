/* Suffix arrays on a GPU: the table of its verbs. */
#include "gpu.h"

const lsp_suffix_device lsp_suffix_cuda = {.array = lsp_suffix_array_cuda,
                                           .check = lsp_suffix_check_cuda,
                                           .inverse = lsp_suffix_inverse_cuda,
                                           .lcp = lsp_suffix_lcp_cuda,
                                           .bwt = lsp_suffix_bwt_cuda,
                                           .unbwt = lsp_suffix_unbwt_cuda,
                                           .search = lsp_suffix_search_cuda};
