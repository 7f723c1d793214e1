/* The distances that are shipped: of points x and y, with parameters p. They serve as expressions of
 * `two-body generate --distance`, as they stand: pairs_euclid_squared(x, y). Included by pairs.h. */

#if !PAIRS_OF_BITS
/* d2 = fma(dz, dz, fma(dy, dy, dx * dx)): the bits of lsp_pair_count. */
PAIRS_BOTH PAIRS_NUMBER pairs_euclid_squared(const PAIRS_PLACE *x, const PAIRS_PLACE *y) {
    PAIRS_NUMBER sum = (x[0] - y[0]) * (x[0] - y[0]);
    PAIRS_UNROLLED
    for (int k = 1; k < PAIRS_DIMENSIONS; k++) {
        sum = PAIRS_FN(fma)(x[k] - y[k], x[k] - y[k], sum);
    }
    return sum;
}
PAIRS_BOTH PAIRS_NUMBER pairs_euclid(const PAIRS_PLACE *x, const PAIRS_PLACE *y) {
    return PAIRS_FN(sqrt)(pairs_euclid_squared(x, y));
}

#if PAIRS_PARAMETERS >= PAIRS_DIMENSIONS
/* The square of the distance of the nearest images in a periodic box with the sides p[0], p[1] .... The points lie in
 * the box: no coordinates differ by more than a side. */
PAIRS_BOTH PAIRS_NUMBER pairs_periodic_squared(const PAIRS_PLACE *x, const PAIRS_PLACE *y, const PAIRS_NUMBER *p) {
    PAIRS_NUMBER sum = 0;
    PAIRS_UNROLLED
    for (int k = 0; k < PAIRS_DIMENSIONS; k++) {
        const PAIRS_NUMBER d = PAIRS_FN(fabs)(x[k] - y[k]), near = d < p[k] - d ? d : p[k] - d;
        sum = k == 0 ? near * near : PAIRS_FN(fma)(near, near, sum);
    }
    return sum;
}
#endif

/* 1 - the cosine of the angle between two vectors; NaN if one is 0, which is within no limit. */
PAIRS_BOTH PAIRS_NUMBER pairs_cosine(const PAIRS_PLACE *x, const PAIRS_PLACE *y) {
    PAIRS_NUMBER xy = x[0] * y[0], xx = x[0] * x[0], yy = y[0] * y[0];
    PAIRS_UNROLLED
    for (int k = 1; k < PAIRS_DIMENSIONS; k++) {
        xy = PAIRS_FN(fma)(x[k], y[k], xy);
        xx = PAIRS_FN(fma)(x[k], x[k], xx);
        yy = PAIRS_FN(fma)(y[k], y[k], yy);
    }
    return PAIRS_FN(fmax)(1 - xy / PAIRS_FN(sqrt)(xx * yy), 0) + (xx * yy > 0 ? (PAIRS_NUMBER)0 : (PAIRS_NUMBER)NAN);
}

#if PAIRS_DIMENSIONS == 2
/* The angle between two directions, each a longitude and a latitude in radians, by the haversine. Sines differ in the
 * last digits between a CPU and a GPU. */
PAIRS_BOTH PAIRS_NUMBER pairs_great_circle(const PAIRS_PLACE *x, const PAIRS_PLACE *y) {
    const PAIRS_NUMBER half = (PAIRS_NUMBER)0.5;
    const PAIRS_NUMBER lon = PAIRS_FN(sin)((x[0] - y[0]) * half), lat = PAIRS_FN(sin)((x[1] - y[1]) * half);
    const PAIRS_NUMBER h = lat * lat + PAIRS_FN(cos)(x[1]) * PAIRS_FN(cos)(y[1]) * (lon * lon);
    return 2 * PAIRS_FN(asin)(PAIRS_FN(sqrt)(h < 1 ? h : (PAIRS_NUMBER)1));
}
#endif
#else
/* The bits in which two words differ, over all words. */
PAIRS_BOTH PAIRS_NUMBER pairs_hamming(const PAIRS_PLACE *x, const PAIRS_PLACE *y) {
    PAIRS_NUMBER sum = 0;
    PAIRS_UNROLLED
    for (int k = 0; k < PAIRS_DIMENSIONS; k++) {
#ifdef __CUDA_ARCH__
        sum += sizeof(PAIRS_PLACE) == 4 ? __popc((unsigned)(x[k] ^ y[k])) : __popcll(x[k] ^ y[k]);
#else
        sum += sizeof(PAIRS_PLACE) == 4 ? __builtin_popcount((uint32_t)(x[k] ^ y[k]))
                                        : __builtin_popcountll((uint64_t)(x[k] ^ y[k]));
#endif
    }
    return sum;
}
#endif
