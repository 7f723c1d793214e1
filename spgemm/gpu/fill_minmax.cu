/* C = A*B on a GPU in the semirings that choose one product instead of summing: LSP_MIN_PLUS, LSP_MAX_TIMES, and
 * LSP_OR_AND, which is LSP_MAX_TIMES on ones and zeros. */
#include "fill_bins.cuh"

lsp_status spg_fill_minmax(const lsp_spgemm_plan *plan, spg_fill *work, lsp_csr *C) {
    return plan->type == LSP_F64 ? fill_entries<minmax<double>>(plan, work, C)
                                 : fill_entries<minmax<float>>(plan, work, C);
}
