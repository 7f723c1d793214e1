/* What the launchers call of each other. */
#ifndef LSP_SPGEMM_GPU_STAGES_CUH
#define LSP_SPGEMM_GPU_STAGES_CUH

#include "spgemm/spgemm.h"

/* Starts to learn of all rows what spg_facts has, and counts short ones. */
lsp_status spg_inspect(lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands);

/* C by strips: nnz(C) to the plan, the host waits for it; if memory does not suffice the plan has strips no more. Then
 * C itself, or (update) its values. */
lsp_status spg_count_dense_b(lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands);
lsp_status spg_fill_dense_b(lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, bool update, lsp_csr *C);

#endif
