/* C = A*B in one pass on a GPU, for integers, complex values, and the semirings that choose one product. */
#include "shapes.cuh"

#define MADE_HERE(V) template ONE_PASS_OF(V);
SPG_EACH_OTHER_TYPE(MADE_HERE)
