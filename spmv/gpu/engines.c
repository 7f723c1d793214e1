/* What a GPU offers. */
#include "gpu.h"

const lsp_spmv_device lsp_spmv_cuda = {.engines = {[LSP_SPMV_ROWS] = &lsp_spmv_rows_cuda,
                                                   [LSP_SPMV_EQUAL] = &lsp_spmv_equal_cuda,
                                                   [LSP_SPMV_GATHER] = &lsp_spmv_gather_cuda,
                                                   [LSP_SPMV_DIAGONALS] = &lsp_spmv_diagonals,
                                                   [LSP_SPMV_BLOCKS] = &lsp_spmv_diagonals,
                                                   [LSP_SPMV_LENGTHS] = &lsp_spmv_lengths_cuda,
                                                   [LSP_SPMV_PROPAGATE] = &lsp_spmv_propagate_cuda,
                                                   [LSP_SPMV_PACKED] = &lsp_spmv_packed},
                                       .diagonals = &lsp_diagonals_cuda,
                                       .spread = lsp_packed_spread_cuda,
                                       .length_slots = lsp_spmv_length_slots_cuda};
