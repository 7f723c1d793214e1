/* C = A*B on a GPU with integers, in all semirings. */
#include "fill_bins.cuh"

template FILL_ENTRIES(integer_value);
template FILL_ENTRIES(minmax_integer);
