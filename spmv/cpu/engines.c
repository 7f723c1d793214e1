/* What the CPU offers. */
#include "cpu.h"

const lsp_spmv_device lsp_spmv_cpu = {.engines = {[LSP_SPMV_REFERENCE] = &lsp_spmv_ref,
                                                  [LSP_SPMV_ROWS] = &lsp_spmv_rows_cpu,
                                                  [LSP_SPMV_EQUAL] = &lsp_spmv_rows_cpu,
                                                  [LSP_SPMV_GATHER] = &lsp_spmv_gather_cpu,
                                                  [LSP_SPMV_DIAGONALS] = &lsp_spmv_diagonals,
                                                  [LSP_SPMV_BLOCKS] = &lsp_spmv_diagonals,
                                                  [LSP_SPMV_PROPAGATE] = &lsp_spmv_propagate_cpu,
                                                  [LSP_SPMV_PACKED] = &lsp_spmv_packed},
                                      .diagonals = &lsp_diagonals_cpu,
                                      .spread = lsp_packed_spread_cpu};
