/* C = A*B on a GPU with integers, in all semirings. */
#include "fill_bins.cuh"
#include "integer.cuh"

lsp_status spg_fill_integer(const lsp_spgemm_plan *plan, spg_fill *work, lsp_csr *C) {
    return is_minmax(plan) ? fill_entries<minmax_integer>(plan, work, C) : fill_entries<integer_value>(plan, work, C);
}
