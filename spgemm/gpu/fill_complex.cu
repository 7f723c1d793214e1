/* C = A*B on a GPU with complex values, which LSP_PLUS_TIMES alone sums. */
#include "fill_bins.cuh"

lsp_status spg_fill_complex(const lsp_spgemm_plan *plan, spg_fill *work, lsp_csr *C) {
    return fill_entries<complex_value>(plan, work, C);
}
