/* CSR as it is, for vectors of type T and values of type VAL (if PATTERN is defined, without values): one row by eight
 * chains of fused multiply-adds, so that no product waits for the one before. Included for each pair of types.
 *
 * Chain j adds the entries j, j + 8, ... of the first 8*floor(L/8) of a row; the others are added in order to a ninth
 * sum. Every instruction set gives the same bits. */
#define NAME_(a, b) a##_##b
#define NAME__(a, b) NAME_(a, b)
#define NAME(f) NAME__(f, SUFFIX)
#ifdef PATTERN
#define VALUE(k) ((T)1)
#else
#define VALUE(k) ((T)val[k])
#endif
#define X_AT(k) x[lsp_index_at(col, col_type, k)]

/* The sum of the entries begin .. end-1 of a row. */
ALWAYS T NAME(sum)(lsp_type col_type, bool prefetch, const lsp_csr *A, const T *x, int64_t begin, int64_t end) {
    const void *col = A->col;
    const VAL *val = (const VAL *)A->val;
    int64_t k = begin;
    T total = 0, rest = 0;
    (void)val;
    fetch_streams(A, k, col_type, VAL_BYTES);
    if (end - begin >= 8) {
        T s[8] = {0};
        for (; k + 8 <= end; k += 8) {
            fetch_streams(A, k, col_type, VAL_BYTES);
            if (prefetch && k + AHEAD + 8 <= A->nnz) {
                UNROLLED for (int j = 0; j < 8; j++) { fetch_x(A, k + AHEAD + j, col_type, x, sizeof(T)); }
            }
            UNROLLED for (int j = 0; j < 8; j++) { s[j] = FMA(VALUE(k + j), X_AT(k + j), s[j]); }
        }
        total = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    }
    for (; k < end; k++) {
        if (prefetch && k + AHEAD < A->nnz) {
            fetch_x(A, k + AHEAD, col_type, x, sizeof(T));
        }
        rest = FMA(VALUE(k), X_AT(k), rest);
    }
    return total + rest;
}

/* A whole row, piece by piece. */
ALWAYS T NAME(row)(lsp_type col_type, bool prefetch, const lsp_csr *A, const T *x, int64_t begin, int64_t end) {
    if (end - begin <= LSP_SPMV_PIECE) {
        return NAME(sum)(col_type, prefetch, A, x, begin, end);
    }
    T sum = NAME(sum)(col_type, prefetch, A, x, begin, begin + LSP_SPMV_PIECE);
    for (int64_t k = begin + LSP_SPMV_PIECE; k < end; k += LSP_SPMV_PIECE) {
        sum += NAME(sum)(col_type, prefetch, A, x, k, lsp_min(k + LSP_SPMV_PIECE, end));
    }
    return sum;
}

/* One contiguous vector. */
ALWAYS void NAME(one)(lsp_type col_type, bool prefetch, const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    const lsp_spmv_job *job = r->job;
    const lsp_csr *A = &job->A;
    const T *x = (const T *)job->vectors.x, alpha = (T)job->vectors.alpha, beta = (T)job->vectors.beta;
    T *y = (T *)job->vectors.y;
    row_walk walk = walk_from(r, begin);
    for (int64_t i = begin; i < end; i++) {
        const int found = next_row(r, &walk, i);
        if (found == ROW_GOOD) {
            const T sum = NAME(row)(col_type, prefetch, A, x, walk.begin, walk.end);
            y[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y[i];
        } else if (found == ROW_WRONG) {
            return;
        }
    }
}

/* sums[j] = the entries begin .. end-1 times vector v + j, j < width. */
ALWAYS void NAME(lanes)(int width, const lsp_spmv_job *job, int64_t begin, int64_t end, int64_t v, T *sums) {
    const lsp_csr *A = &job->A;
    const VAL *val = (const VAL *)A->val;
    const int64_t row = job->options.by_columns ? 1 : job->vectors.x_stride;
    const int64_t next = job->options.by_columns ? job->vectors.x_stride : 1;
    const T *x = (const T *)job->vectors.x + v * next;
    T s[16] = {0};
    (void)val;
    for (int64_t k = begin; k < end; k++) {
        const T *at = x + lsp_index_at(A->col, A->col_type, k) * row, value = VALUE(k);
        if (next == 1) {
            UNROLLED for (int j = 0; j < width; j++) { s[j] = FMA(value, at[j], s[j]); }
        } else {
            UNROLLED for (int j = 0; j < width; j++) { s[j] = FMA(value, at[j * next], s[j]); }
        }
    }
    UNROLLED for (int j = 0; j < width; j++) { sums[j] = s[j]; }
}

/* sums[j] = the sum of vector v + j, j < width <= BLOCK, of at most one piece of a row. */
ALWAYS void NAME(block)(const lsp_spmv_job *job, int64_t begin, int64_t end, int64_t v, int width, T *sums) {
    int j = 0;
    for (; j + 16 <= width; j += 16) {
        NAME(lanes)(16, job, begin, end, v + j, sums + j);
    }
    for (; j + 4 <= width; j += 4) {
        NAME(lanes)(4, job, begin, end, v + j, sums + j);
    }
    for (; j < width; j++) {
        NAME(lanes)(1, job, begin, end, v + j, sums + j);
    }
}

/* The same for a whole row, piece by piece. */
ALWAYS void NAME(block_row)(const lsp_spmv_job *job, int64_t begin, int64_t end, int64_t v, int width, T *sums) {
    T more[BLOCK];
    NAME(block)(job, begin, lsp_min(begin + LSP_SPMV_PIECE, end), v, width, sums);
    for (int64_t k = begin + LSP_SPMV_PIECE; k < end; k += LSP_SPMV_PIECE) {
        NAME(block)(job, k, lsp_min(k + LSP_SPMV_PIECE, end), v, width, more);
        for (int j = 0; j < width; j++) {
            sums[j] += more[j];
        }
    }
}

/* Several vectors, or one with gaps. */
static void NAME(several)(const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    const lsp_spmv_job *job = r->job;
    const int64_t row = job->options.by_columns ? 1 : job->vectors.y_stride;
    const int64_t next = job->options.by_columns ? job->vectors.y_stride : 1;
    const T alpha = (T)job->vectors.alpha, beta = (T)job->vectors.beta;
    row_walk walk = walk_from(r, begin);
    for (int64_t i = begin; i < end; i++) {
        const int found = next_row(r, &walk, i);
        if (found == ROW_WRONG) {
            return;
        }
        for (int64_t v = 0; found == ROW_GOOD && v < job->options.vectors; v += BLOCK) {
            const int width = (int)lsp_min(job->options.vectors - v, BLOCK);
            T sums[BLOCK], *y = (T *)job->vectors.y + i * row + v * next;
            NAME(block_row)(job, walk.begin, walk.end, v, width, sums);
            for (int j = 0; j < width; j++, y += next) {
                *y = beta == 0 ? alpha * sums[j] : alpha * sums[j] + beta * *y;
            }
        }
    }
}

/* ---- the entries of the file ---- */

static void NAME(rows)(const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    const lsp_spmv_job *job = r->job;
    if (!is_one_dense(job)) {
        NAME(several)(r, begin, end);
    } else if (job->A.col_type == LSP_I64) {
        NAME(one)(LSP_I64, r->prefetch, r, begin, end);
    } else if (r->prefetch) {
        NAME(one)(LSP_I32, true, r, begin, end);
    } else {
        NAME(one)(LSP_I32, false, r, begin, end);
    }
}

static void NAME(piece)(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums) {
    const lsp_spmv_job *job = r->job;
    if (is_one_dense(job)) {
        *(T *)sums = NAME(sum)(job->A.col_type, r->prefetch, &job->A, (const T *)job->vectors.x, begin, end);
        return;
    }
    for (int64_t v = 0; v < job->options.vectors; v += BLOCK) {
        NAME(block)(job, begin, end, v, (int)lsp_min(job->options.vectors - v, BLOCK), (T *)sums + v);
    }
}

#undef NAME_
#undef NAME__
#undef NAME
#undef VALUE
#undef X_AT
#undef T
#undef VAL
#undef VAL_BYTES
#undef FMA
#undef SUFFIX
#undef PATTERN
