/* C = A*B on a GPU with complex values, which LSP_PLUS_TIMES alone sums. */
#include "fill_bins.cuh"

template FILL_ENTRIES(complex_value);
