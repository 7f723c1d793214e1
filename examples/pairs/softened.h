/* One over the distance, softened: what a sum over all other points makes of it is a potential. For C and CUDA C++. */
#include <math.h>

PAIRS_BOTH double softened(const double *x, const double *y, double soft) {
    return 1 / sqrt(pairs_euclid_squared(x, y) + soft * soft);
}
