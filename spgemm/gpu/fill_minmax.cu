/* C = A*B on a GPU in the semirings that choose one product instead of summing: LSP_MIN_PLUS, LSP_MAX_TIMES, and
 * LSP_OR_AND, which is LSP_MAX_TIMES on ones and zeros. */
#include "fill_bins.cuh"

template FILL_ENTRIES(minmax<double>);
template FILL_ENTRIES(minmax<float>);
