/* The table of engines of the GPU. */
#include "gpu.h"
#include "spmv/diagonals.h"
#include "spmv/lengths.h"
#include "spmv/propagate.h"

const lsp_spmv_engine *lsp_spmv_engine_cuda(lsp_spmv_method method) {
    switch (method) {
    case LSP_SPMV_ROWS:
        return &lsp_spmv_rows_cuda;
    case LSP_SPMV_EQUAL:
        return &lsp_spmv_equal_cuda;
    case LSP_SPMV_GATHER:
        return &lsp_spmv_gather_cuda;
    case LSP_SPMV_DIAGONALS:
        return &lsp_spmv_diagonals_cuda;
    case LSP_SPMV_BLOCKS:
        return &lsp_spmv_blocks_cuda;
    case LSP_SPMV_LENGTHS:
        return &lsp_spmv_lengths_cuda;
    case LSP_SPMV_PROPAGATE:
        return &lsp_spmv_propagate_cuda;
    default:
        return NULL;
    }
}
