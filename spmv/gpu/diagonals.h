/* Plans by diagonals on a GPU: diagonals_build.cu. */
#ifndef LSP_SPMV_GPU_DIAGONALS_H
#define LSP_SPMV_GPU_DIAGONALS_H

#include "spmv/diagonals.h"

#ifdef __cplusplus
extern "C" {
#endif

lsp_status lsp_spmv_diagonals_prepare_cuda(lsp_spmv_plan *plan);
lsp_status lsp_spmv_diagonals_update_cuda(lsp_spmv_plan *plan); /* waits for nothing */

#ifdef __cplusplus
}
#endif
#endif
