/* The product for values VAL and vectors T, for each pair of types. A pattern stores no values, and has no blocks. */

/* ---- one vector, contiguous ----
 * x: the vector. row, cols: the slice's first row, and all columns; in blocks. `sum` becomes the sums of the slice:
 * sum[i*SLICE + r] is that of row i of the block row r. Where 32 neighbours of x exist all are read, although some rows
 * may need none: their sums are kept. */

#ifdef LANES
enum { NAME(VECTORS) = SLICE / TYPED(W) };
#define EACH_VECTOR UNROLLED for (int w = 0; w < NAME(VECTORS); w++)

/* By diagonals of single entries. */
static void NAME(sums)(const lsp_diagonal *at, int64_t n, const VAL *values, const T *x, const slice_place *place,
                       T *sum) {
    TYPED(v) s[NAME(VECTORS)];
    EACH_VECTOR { s[w] = VEC(set1)((T)-0.0); }
    for (int64_t d = 0; d < n; d++) {
        const int64_t col = place->row + at[d].offset;
        const T *x_d = x + col;
        const VAL *v = values + d * SLICE;
        const uint32_t rows = at[d].rows;
        if (rows == UINT32_MAX) {
            EACH_VECTOR { s[w] = MORE(s[w], v + w * TYPED(W), VEC(loadu)(x_d + w * TYPED(W))); }
        } else if (col >= 0 && col <= place->cols - SLICE) {
            EACH_VECTOR {
                const TYPED(m) mask = TYPED(MASK)(rows, w);
                s[w] = KEEP(s[w], MORE(s[w], v + w * TYPED(W), VEC(loadu)(x_d + w * TYPED(W))), mask);
            }
        } else {
            EACH_VECTOR {
                const TYPED(m) mask = TYPED(MASK)(rows, w);
                s[w] = KEEP(s[w], MORE(s[w], v + w * TYPED(W), SOME(x_d + w * TYPED(W), mask)), mask);
            }
        }
    }
    EACH_VECTOR { VEC(storeu)(sum + w * TYPED(W), s[w]); }
}

/* The products of one diagonal of blocks; run[j]: the columns j of 32 blocks. */
ALWAYS void NAME(add_blocks)(T *sum, const VAL *values, T (*run)[SLICE], uint32_t rows, const int b) {
    UNROLLED for (int i = 0; i < b; i++) {
        EACH_VECTOR {
            const TYPED(v) old = VEC(loadu)(sum + i * SLICE + w * TYPED(W));
            TYPED(v) s = old;
            UNROLLED for (int j = 0; j < b; j++) {
                s = MORE(s, values + (i * b + j) * SLICE + w * TYPED(W), VEC(loadu)(run[j] + w * TYPED(W)));
            }
            VEC(storeu)(sum + i * SLICE + w * TYPED(W), rows == UINT32_MAX ? s : KEEP(old, s, TYPED(MASK)(rows, w)));
        }
    }
}
#undef EACH_VECTOR
#else
static void NAME(sums)(const lsp_diagonal *at, int64_t n, const VAL *values, const T *x, const slice_place *place,
                       T *sum) {
    TYPED(clear)(sum, SLICE);
    for (int64_t d = 0; d < n; d++) {
        const T *x_d = x + place->row + at[d].offset;
        const VAL *v = values + d * SLICE;
        for (int r = 0; r < SLICE; r++) {
            if (at[d].rows >> r & 1) {
                sum[r] = ADD_PRODUCT(v[r], x_d[r], sum[r]);
            }
        }
    }
}

ALWAYS void NAME(add_blocks)(T *sum, const VAL *values, T (*run)[SLICE], uint32_t rows, const int b) {
    for (int i = 0; i < b; i++) {
        for (int r = 0; r < SLICE; r++) {
            T s = sum[i * SLICE + r];
            for (int j = 0; j < b; j++) {
                s = ADD_PRODUCT(values[(i * b + j) * SLICE + r], run[j][r], s);
            }
            sum[i * SLICE + r] = rows >> r & 1 ? s : sum[i * SLICE + r];
        }
    }
}
#endif

/* run[j][r] = column j of block r. Called where values are doubles: in the loop over the diagonals gcc 12 would make
 * code for AVX-512 that takes twice as long. For floats the call costs a quarter. */
ALWAYS void NAME(split_of)(T (*run)[SLICE], const T *from, const int b) {
    for (int r = 0; r < SLICE; r++) {
        for (int j = 0; j < b; j++) {
            run[j][r] = from[r * b + j];
        }
    }
}

static __attribute__((noinline)) void NAME(split)(T (*run)[SLICE], const T *from, int b) {
    BY_BLOCK(b, NAME(split_of), run, from);
}

/* By diagonals of b x b blocks. The x of 32 blocks is brought into b runs of 32 first. */
ALWAYS void NAME(block_sums)(const lsp_diagonal *at, int64_t n, const VAL *values, const T *x, const slice_place *place,
                             T *sum, const int b) {
    T run[LSP_SPMV_LARGEST_BLOCK][SLICE] __attribute__((aligned(64)));
    T edge[LSP_SPMV_LARGEST_BLOCK * SLICE];
    TYPED(clear)(sum, b * SLICE);
    for (int64_t d = 0; d < n; d++) {
        const int64_t col = place->row + at[d].offset;
        const uint32_t rows = at[d].rows;
        const T *from = x + col * b;
        if (col < 0 || col > place->cols - SLICE) {
            for (int k = 0; k < b * SLICE; k++) {
                edge[k] = rows >> k / b & 1 ? x[col * b + k] : 0;
            }
            from = edge;
        }
        if (sizeof(VAL) == 8) {
            NAME(split)(run, from, b);
        } else {
            NAME(split_of)(run, from, b);
        }
        NAME(add_blocks)(sum, values + d * SLICE * b * b, run, rows, b);
    }
}

/* n elements of y from their sums. */
static void NAME(finish)(const lsp_diagonals_work *work, const T *sum, T *y, int64_t n) {
    const T alpha = (T)work->job->vectors.alpha, beta = (T)work->job->vectors.beta;
    if (beta != 0) {
        for (int64_t r = 0; r < n; r++) {
            TYPED(finish)(LSP_PLUS_TIMES, alpha, beta, sum[r], y + r);
        }
        return;
    }
#ifdef LANES
    if (work->D->streams && n % SLICE == 0 && (uintptr_t)y % sizeof(TYPED(v)) == 0) {
        for (int64_t r = 0; r < n; r += TYPED(W)) {
            VEC(stream)(y + r, VEC(mul)(VEC(set1)(alpha), VEC(loadu)(sum + r)));
        }
        return;
    }
#endif
    for (int64_t r = 0; r < n; r++) {
        y[r] = alpha * sum[r];
    }
}

/* The sums of a slice of b x b blocks, in the order of y. */
ALWAYS void NAME(block_slice)(const lsp_diagonals_work *work, int64_t s, const T *x, T *sum, const int b) {
    const lsp_diagonals *D = work->D;
    const int64_t first = D->first[s], n = D->first[s + 1] - first;
    const slice_place place = {s * SLICE, work->A->cols / b};
    T run[LSP_SPMV_LARGEST_BLOCK * SLICE] __attribute__((aligned(64)));
    NAME(block_sums)(D->at + first, n, (const VAL *)D->values + first * SLICE * b * b, x, &place, run, b);
    TYPED(empty)(run, D->at + first, n, b);
    for (int r = 0; r < SLICE; r++) {
        for (int i = 0; i < b; i++) {
            sum[r * b + i] = run[i * SLICE + r];
        }
    }
}

static void NAME(slice)(const lsp_diagonals_work *work, int64_t s, int64_t vector) {
    const lsp_diagonals *D = work->D;
    const int64_t row = s * SLICE * D->block;
    const T *x = (const T *)work->job->vectors.x + vector * work->job->x_vector;
    T sum[LSP_SPMV_LARGEST_BLOCK * SLICE] __attribute__((aligned(64)));
    if (IS_PATTERN || D->block == 1) {
        const int64_t first = D->first[s], n = D->first[s + 1] - first;
        const slice_place place = {row, work->A->cols};
        NAME(sums)(D->at + first, n, (const VAL *)D->values + first * SLICE, x, &place, sum);
        TYPED(empty)(sum, D->at + first, n, 1);
    } else {
        BY_BLOCK(D->block, NAME(block_slice), work, s, x, sum);
    }
    NAME(finish)
    (work, sum, (T *)work->job->vectors.y + vector * work->job->y_vector + row,
     lsp_min(work->A->rows - row, SLICE * D->block));
}

/* ---- any strides: k vectors at once ---- */

ALWAYS void NAME(some_vectors)(const lsp_diagonals_work *work, int64_t s, int64_t vector, const int k) {
    const lsp_diagonals *D = work->D;
    const int b = D->block;
    const int64_t row = s * SLICE * b, rows = lsp_min(work->A->rows - row, SLICE * b);
    const T *x = (const T *)work->job->vectors.x + vector * work->job->x_vector;
    T *y = (T *)work->job->vectors.y + vector * work->job->y_vector;
    T sum[LSP_SPMV_LARGEST_BLOCK * SLICE * MOST_AT_ONCE];
    TYPED(clear)(sum, b * SLICE * k);
    uint32_t present = 0;
    for (int64_t d = D->first[s]; d < D->first[s + 1]; d++) {
        present |= D->at[d].rows;
        for (uint32_t left = D->at[d].rows; left != 0; left &= left - 1) {
            const int r = __builtin_ctz(left);
            for (int i = 0; i < b; i++) {
                for (int j = 0; j < b; j++) {
                    const T *x_j = x + ((s * SLICE + r + D->at[d].offset) * b + j) * work->job->x_row;
                    const T v = IS_PATTERN ? 1 : (T)((const VAL *)D->values)[((d * b + i) * b + j) * SLICE + r];
                    for (int q = 0; q < k; q++) {
                        T *sum_q = sum + (r * b + i) * k + q;
                        *sum_q = ADD_PRODUCT(v, x_j[q * work->job->x_vector], *sum_q);
                    }
                }
            }
        }
    }
    for (int64_t r = 0; r < rows; r++) {
        const bool is_empty = (present >> r / b & 1) == 0;
        for (int q = 0; q < k; q++) {
            TYPED(finish)
            (LSP_PLUS_TIMES, (T)work->job->vectors.alpha, (T)work->job->vectors.beta, is_empty ? 0 : sum[r * k + q],
             y + (row + r) * work->job->y_row + q * work->job->y_vector);
        }
    }
}

static void NAME(product)(const lsp_diagonals_work *work, int64_t begin, int64_t end) {
    const bool contiguous = work->job->x_row == 1 && work->job->y_row == 1;
    for (int64_t s = begin; s < end; s++) {
        int64_t vector = 0;
        for (; contiguous && vector < work->job->options.vectors; vector++) {
            NAME(slice)(work, s, vector);
        }
        for (; vector + MOST_AT_ONCE <= work->job->options.vectors; vector += MOST_AT_ONCE) {
            NAME(some_vectors)(work, s, vector, MOST_AT_ONCE);
        }
        for (; vector + 4 <= work->job->options.vectors; vector += 4) {
            NAME(some_vectors)(work, s, vector, 4);
        }
        for (; vector < work->job->options.vectors; vector++) {
            NAME(some_vectors)(work, s, vector, 1);
        }
    }
    STREAM_END();
}

#undef VAL
#undef VAL_NAME
