/* The squared distance of two points, to the bit. Included for numbers (ref.c and the portable kernels) and for vectors
 * of them. NUMBER, and PLACE: a coordinate, in a periodic box a part of its side; DISTANCE, the name of the function;
 * AWAY(x, y): x - y; NEAREST(x, y): the same, wrapped to the nearest images; MUL, FMA; CONSTANT(x), a NUMBER. */
static inline LSP_BOTH_SIDES __attribute__((always_inline)) NUMBER
DISTANCE(const lsp_metric *m, lsp_space_kind kind, int dimensions, const PLACE *x, const PLACE *y) {
    NUMBER d[LSP_MOST_DIMENSIONS];
    int k = 0;
    do { /* a loop that is known to begin */
        d[k] = kind == LSP_SPACE_OPEN ? AWAY(x[k], y[k]) : NEAREST(x[k], y[k]);
    } while (++k < dimensions);
    if (dimensions > 1 && kind >= LSP_SPACE_BRICK) {
        if (kind == LSP_SPACE_TILTED) {
            d[0] = FMA(CONSTANT(m->tilt[0]), d[1], d[0]);
        }
        d[1] = MUL(CONSTANT(m->ratio[1]), d[1]);
        if (kind == LSP_SPACE_TILTED && dimensions == 3) {
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
