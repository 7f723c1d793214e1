/* The squared distance of two points, to the bit. Included for numbers (ref.c and the portable kernels) and for vectors
 * of them. NUMBER, and PLACE: a coordinate, in a periodic box a part of its side; DISTANCE and SQUARE, the names of the
 * functions; AWAY(x, y): x - y; NEAREST(x, y): the same, wrapped to the nearest images; LOWER(x, y): the same, but
 * about half a side becomes about minus half a side; LEAST, MUL, FMA; CONSTANT(x), a NUMBER. */

/* The squared length of a difference of places. */
static inline LSP_BOTH_SIDES __attribute__((always_inline)) NUMBER SQUARE(const lsp_metric *m, lsp_space_kind kind,
                                                                          int dimensions, NUMBER *d) {
    int k;
    if (dimensions > 1 && kind >= LSP_SPACE_BRICK) {
        if (kind >= LSP_SPACE_TILTED) {
            d[0] = FMA(CONSTANT(m->tilt[0]), d[1], d[0]);
        }
        d[1] = MUL(CONSTANT(m->ratio[1]), d[1]);
        if (kind >= LSP_SPACE_TILTED && dimensions == 3) {
            d[0] = FMA(CONSTANT(m->tilt[1]), d[2], d[0]);
            d[1] = FMA(CONSTANT(m->tilt[2]), d[2], d[1]);
        }
        for (k = 2; k < dimensions; k++) {
            d[k] = MUL(CONSTANT(m->ratio[k]), d[k]);
        }
    }
    NUMBER sum = MUL(d[0], d[0]);
    for (k = 1; k < dimensions; k++) {
        sum = FMA(d[k], d[k], sum);
    }
    return sum;
}

static inline LSP_BOTH_SIDES __attribute__((always_inline)) NUMBER
DISTANCE(const lsp_metric *m, lsp_space_kind kind, int dimensions, const PLACE *x, const PLACE *y) {
    NUMBER d[LSP_MOST_DIMENSIONS];
    int k = 0;
    do { /* a loop that is known to begin */
        d[k] = kind == LSP_SPACE_OPEN   ? AWAY(x[k], y[k])
               : kind != LSP_SPACE_TIED ? NEAREST(x[k], y[k])
                                        : LOWER(x[k], y[k]);
    } while (++k < dimensions);
    const NUMBER sum = SQUARE(m, kind, dimensions, d);
    if (kind != LSP_SPACE_TIED) {
        return sum;
    }
    k = 0;
    do { /* the way back ends at the other image */
        d[k] = LOWER(y[k], x[k]);
    } while (++k < dimensions);
    const NUMBER back = SQUARE(m, kind, dimensions, d);
    return LEAST(sum, back);
}
#undef DISTANCE
#undef SQUARE
#ifndef REAL_BITS /* kernels of vectors need the others */
#undef NUMBER
#undef PLACE
#undef AWAY
#undef NEAREST
#undef LOWER
#undef LEAST
#undef MUL
#undef FMA
#undef CONSTANT
#endif
