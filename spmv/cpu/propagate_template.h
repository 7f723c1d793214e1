/* The rows of a bin for values V and vectors T: NAME(rows). VALUE(k): value k of the bin. Included by propagate.c. */

static T NAME(sum)(const V *val, const T *x, const uint16_t *place, int64_t begin, int64_t end) {
    T sum = 0;
    (void)val;
    for (int64_t k = begin; k < end; k++) {
        sum += VALUE(k) * x[place[k]];
    }
    return sum;
}

/* staged: what the bin's entries need of x, in the order of runs. */
static void NAME(rows)(const running *r, int64_t bin, const void *staged) {
    const propagation *p = r->parts;
    const int64_t first = p->first_row[bin], rows = p->first_row[bin + 1] - first, count = bin_count(p, bin);
    const uint16_t *begin = p->row_begin + first;
    const V *val = (const V *)p->val + (sizeof(V) > 1 ? bin * p->stage.bin_items : 0);
    const uint16_t *place = p->place + bin * p->stage.bin_items;
    const T *x = staged, alpha = (T)r->alpha, beta = (T)r->beta;
    T *y = (T *)r->y + first * r->step;
    ((T *)p->head)[bin] = NAME(sum)(val, x, place, 0, rows > 0 ? begin[0] : count);
    for (int64_t i = 0; i < rows; i++) {
        const T sum = NAME(sum)(val, x, place, begin[i], i + 1 < rows ? begin[i + 1] : count);
        if (i == rows - 1 && p->reach[bin] > 0) {
            ((T *)p->tail)[bin] = sum;
        } else {
            FINISH(LSP_PLUS_TIMES, alpha, beta, sum, y + i * r->step);
        }
    }
}

/* Adds up the rows that go on in later bins. */
static void NAME(join)(const running *r) {
    const propagation *p = r->parts;
    for (int64_t bin = 0; bin < p->bins; bin++) {
        if (p->reach[bin] > 0) {
            T sum = ((const T *)p->tail)[bin];
            for (int64_t k = 1; k <= p->reach[bin]; k++) {
                sum += ((const T *)p->head)[bin + k];
            }
            FINISH(LSP_PLUS_TIMES, (T)r->alpha, (T)r->beta, sum, (T *)r->y + (p->first_row[bin + 1] - 1) * r->step);
        }
    }
}

#undef NAME
#undef V
#undef T
#undef VALUE
#undef FINISH
