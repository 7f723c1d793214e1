/* Functions that one launcher of this folder calls in another. */
#ifndef LSP_SPGEMM_GPU_STAGES_CUH
#define LSP_SPGEMM_GPU_STAGES_CUH

#include "gpu.h"

/* Starts the kernel that fills spg_facts and counts the short rows. Does not wait. */
lsp_status spg_inspect(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands);

/* Both passes where B is nearly dense. Counting writes nnz(C) to the plan and waits for it; if memory is short it
 * clears plan->gpu->dense_b, and C is made in another way. Filling writes C, or (update) its values. */
lsp_status spg_count_dense_b(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands);
lsp_status spg_fill_dense_b(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, bool update, lsp_csr *C);

#endif
