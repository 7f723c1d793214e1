/* The table of engines of the CPU. */
#include "cpu.h"
#include "spmv/diagonals.h"
#include "spmv/propagate.h"

const lsp_spmv_engine *lsp_spmv_engine_cpu(lsp_spmv_method method) {
    switch (method) {
    case LSP_SPMV_REFERENCE:
        return &lsp_spmv_ref;
    case LSP_SPMV_ROWS:
    case LSP_SPMV_EQUAL:
        return &lsp_spmv_rows_cpu;
    case LSP_SPMV_GATHER:
        return &lsp_spmv_gather_cpu;
    case LSP_SPMV_DIAGONALS:
        return &lsp_spmv_diagonals_cpu;
    case LSP_SPMV_BLOCKS:
        return &lsp_spmv_blocks_cpu;
    case LSP_SPMV_PROPAGATE:
        return &lsp_spmv_propagate_cpu;
    default:
        return NULL;
    }
}
