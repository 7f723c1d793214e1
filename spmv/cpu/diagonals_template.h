/* The product for values of type V and vectors of type T, included by diagonals_kernel.c for each pair. PATTERN: all
 * values are ones, and none is stored. */

#ifdef PATTERN
#define ADD_PRODUCT(v, x, sum) ((x) + (sum))
#else
#define ADD_PRODUCT(v, x, sum) OF(fused)((T)(v), (x), (sum))
#endif

/* ---- one vector, contiguous: sum[i*SLICE + r] is that of row i of the block row r ---- */

#ifdef LANES
/* The rows `rows` of sum + v * x, 32 of each. */
ALWAYS void NAME(add)(T *sum, const V *v, const T *x, uint32_t rows) {
    (void)v;
    UNROLLED for (int w = 0; w < SLICE / OF(W); w++) {
        const int at = w * OF(W);
        const OF(m) mask = OF(MASK)(rows, w);
        const OF(v) old = OF(LOAD)(sum + at);
        OF(STORE)(sum + at, OF(KEEP)(old, MORE(old, v + at, OF(SOME)(x + at, mask)), mask));
    }
}

/* By diagonals of single entries. x: that of the slice's first row. */
static void NAME(sums)(const lsp_diagonal *at, int64_t n, const V *values, const T *x, T *sum) {
    enum { VECTORS = SLICE / OF(W) };
    OF(v) s[VECTORS];
    UNROLLED for (int w = 0; w < VECTORS; w++) { s[w] = OF(NOTHING)(); }
    for (int64_t d = 0; d < n; d++) {
        const T *x_d = x + at[d].offset;
        const V *v = values + d * SLICE;
        const uint32_t rows = at[d].rows;
        (void)v;
        if (rows == UINT32_MAX) {
            UNROLLED for (int w = 0; w < VECTORS; w++) { s[w] = MORE(s[w], v + w * OF(W), OF(LOAD)(x_d + w * OF(W))); }
        } else {
            UNROLLED for (int w = 0; w < VECTORS; w++) {
                const OF(m) mask = OF(MASK)(rows, w);
                s[w] = OF(KEEP)(s[w], MORE(s[w], v + w * OF(W), OF(SOME)(x_d + w * OF(W), mask)), mask);
            }
        }
    }
    UNROLLED for (int w = 0; w < VECTORS; w++) { OF(STORE)(sum + w * OF(W), s[w]); }
}
#else
ALWAYS void NAME(add)(T *sum, const V *v, const T *x, uint32_t rows) {
    (void)v;
    for (int r = 0; r < SLICE; r++) {
        if (rows >> r & 1) {
            sum[r] = ADD_PRODUCT(v[r], x[r], sum[r]);
        }
    }
}

static void NAME(sums)(const lsp_diagonal *at, int64_t n, const V *values, const T *x, T *sum) {
    OF(clear)(sum, SLICE);
    for (int64_t d = 0; d < n; d++) {
        const T *x_d = x + at[d].offset;
        const V *v = values + d * SLICE;
        (void)v;
        if (at[d].rows == UINT32_MAX) {
            for (int r = 0; r < SLICE; r++) {
                sum[r] = ADD_PRODUCT(v[r], x_d[r], sum[r]);
            }
        } else {
            NAME(add)(sum, v, x_d, at[d].rows);
        }
    }
}
#endif

#ifndef PATTERN
/* By diagonals of b x b blocks. The x of 32 blocks is brought into b runs of 32 first. */
ALWAYS void NAME(block_sums)(const lsp_diagonal *at, int64_t n, const V *values, const T *x, T *sum, const int b) {
    T run[LSP_SPMV_LARGEST_BLOCK][SLICE] __attribute__((aligned(64)));
    OF(clear)(sum, b * SLICE);
    for (int64_t d = 0; d < n; d++) {
        const T *x_d = x + (int64_t)at[d].offset * b;
        const uint32_t rows = at[d].rows;
        for (int r = 0; r < SLICE; r++) {
            for (int j = 0; j < b; j++) {
                run[j][r] = rows == UINT32_MAX || (rows >> r & 1) ? x_d[r * b + j] : 0;
            }
        }
        for (int i = 0; i < b; i++) {
            for (int j = 0; j < b; j++, values += SLICE) {
                NAME(add)(sum + i * SLICE, values, run[j], rows);
            }
        }
    }
}
#endif

static void NAME(slice)(const lsp_diagonals_product *p, int64_t s, int64_t vector) {
    const lsp_diagonals *D = p->D;
    const int b = D->block;
    const int64_t first = D->first[s], n = D->first[s + 1] - first, row = s * SLICE * b;
    const int64_t rows = lsp_min(p->A->rows - row, SLICE * b);
    const T *x = (const T *)p->vectors->x + vector * p->x_vector + row;
    T *y = (T *)p->vectors->y + vector * p->y_vector + row;
    T sum[LSP_SPMV_LARGEST_BLOCK * SLICE] __attribute__((aligned(64)));
    const T alpha = (T)p->alpha, beta = (T)p->beta;
#ifdef PATTERN
    NAME(sums)(D->at + first, n, NULL, x, sum);
#else
    const V *values = (const V *)D->values + first * SLICE * b * b;
    if (b == 1) {
        NAME(sums)(D->at + first, n, values, x, sum);
    } else if (b == 2) {
        NAME(block_sums)(D->at + first, n, values, x, sum, 2);
    } else if (b == 3) {
        NAME(block_sums)(D->at + first, n, values, x, sum, 3);
    } else {
        NAME(block_sums)(D->at + first, n, values, x, sum, 4);
    }
#endif
    OF(empty)(sum, D->at + first, n, b);
    if (b == 1 && p->beta == 0) {
        for (int64_t r = 0; r < rows; r++) {
            y[r] = alpha * sum[r];
        }
    } else {
        for (int64_t r = 0; r < rows; r++) {
            OF(finish)(LSP_PLUS_TIMES, alpha, beta, sum[r % b * SLICE + r / b], y + r);
        }
    }
}

/* ---- any strides: k vectors at once ---- */

ALWAYS void NAME(some_vectors)(const lsp_diagonals_product *p, int64_t s, int64_t vector, const int k) {
    const lsp_diagonals *D = p->D;
    const int b = D->block;
    const int64_t row = s * SLICE * b, rows = lsp_min(p->A->rows - row, SLICE * b);
    const T *x = (const T *)p->vectors->x + vector * p->x_vector;
    T *y = (T *)p->vectors->y + vector * p->y_vector;
    T sum[LSP_SPMV_LARGEST_BLOCK * SLICE * LSP_DIAGONALS_VECTORS];
    OF(clear)(sum, b * SLICE * k);
    uint32_t present = 0;
    for (int64_t d = D->first[s]; d < D->first[s + 1]; d++) {
        present |= D->at[d].rows;
        for (uint32_t left = D->at[d].rows; left != 0; left &= left - 1) {
            const int r = __builtin_ctz(left);
            for (int ij = 0; ij < b * b; ij++) {
                const T *x_j = x + ((s * SLICE + r + D->at[d].offset) * b + ij % b) * p->x_row;
                T *sum_i = sum + (r * b + ij / b) * k;
#ifndef PATTERN
                const V v = ((const V *)D->values)[(d * b * b + ij) * SLICE + r];
#endif
                for (int q = 0; q < k; q++) {
                    sum_i[q] = ADD_PRODUCT(v, x_j[q * p->x_vector], sum_i[q]);
                }
            }
        }
    }
    for (int64_t r = 0; r < rows; r++) {
        const bool is_empty = (present >> r / b & 1) == 0;
        for (int q = 0; q < k; q++) {
            OF(finish)
            (LSP_PLUS_TIMES, (T)p->alpha, (T)p->beta, is_empty ? 0 : sum[r * k + q],
             y + (row + r) * p->y_row + q * p->y_vector);
        }
    }
}

static void NAME(product)(const lsp_diagonals_product *p, int64_t begin, int64_t end) {
    const bool contiguous = p->x_row == 1 && p->y_row == 1;
    for (int64_t s = begin; s < end; s++) {
        int64_t vector = 0;
        for (; contiguous && vector < p->count; vector++) {
            NAME(slice)(p, s, vector);
        }
        for (; vector + 8 <= p->count; vector += 8) {
            NAME(some_vectors)(p, s, vector, 8);
        }
        for (; vector + 4 <= p->count; vector += 4) {
            NAME(some_vectors)(p, s, vector, 4);
        }
        for (; vector < p->count; vector++) {
            NAME(some_vectors)(p, s, vector, 1);
        }
    }
}

#undef V
#undef V_NAME
#undef MORE
#undef ADD_PRODUCT
