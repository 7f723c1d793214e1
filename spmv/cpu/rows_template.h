/* CSR as it is, for vectors of type T and values of type V (char: a pattern): one row by eight chains of fused
 * multiply-adds, so that no product waits for the one before. Included for each pair of types.
 *
 * Chain j adds the entries j, j + 8, ... of the first 8*floor(L/8) of a row; the others are added in order to a ninth
 * sum. Every instruction set gives the same bits. */

/* Eight products more. */
ALWAYS TYPED(chains)
    NAME(add_eight)(TYPED(chains) s, const V *val, const void *col, lsp_type col_type, const T *x, int64_t k) {
    TYPED(EACH_CHAIN)(ADD_CHAIN) return s;
}

/* The sum of the entries begin .. end-1 of a row, at most LSP_SPMV_PIECE. */
ALWAYS T NAME(sum)(const streams *from, bool prefetch, const T *x, int64_t begin, int64_t end) {
    const void *col = from->col;
    const lsp_type col_type = from->col_type;
    const V *val = (const V *)from->val;
    int64_t k = begin;
    T first = 0, rest = 0;
    if (end - begin >= 8) {
        TYPED(chains) s = TYPED(no_chains)();
        for (; k + 8 <= end; k += 8) {
            fetch_streams(from, k, sizeof(V));
            if (prefetch && k + AHEAD + 8 <= from->nnz) {
                UNROLLED for (int j = 0; j < 8; j++) { fetch_x(from, k + AHEAD + j, x, sizeof(T)); }
            }
            s = NAME(add_eight)(s, val, col, col_type, x, k);
        }
        first = TYPED(total)(s);
    } else {
        fetch_streams(from, k, sizeof(V));
    }
    for (int64_t j = k; prefetch && j < end && j + AHEAD < from->nnz; j++) {
        fetch_x(from, j + AHEAD, x, sizeof(T));
    }
    switch (end - k) { /* a loop of so few steps costs twice as much */
    case 7:
        ONE_MORE;
    case 6:
        ONE_MORE;
    case 5:
        ONE_MORE;
    case 4:
        ONE_MORE;
    case 3:
        ONE_MORE;
    case 2:
        ONE_MORE;
    case 1:
        ONE_MORE;
    default:
        break;
    }
    return first + rest;
}

/* A row longer than a piece, piece by piece. */
static __attribute__((noinline)) T NAME(long_row)(const lsp_csr *A, const T *x, int64_t begin, int64_t end) {
    const streams from = streams_of(A);
    T sum = NAME(sum)(&from, false, x, begin, begin + LSP_SPMV_PIECE);
    for (int64_t k = begin + LSP_SPMV_PIECE; k < end; k += LSP_SPMV_PIECE) {
        sum += NAME(sum)(&from, false, x, k, lsp_min(k + LSP_SPMV_PIECE, end));
    }
    return sum;
}

/* How one contiguous vector is multiplied; constants in the loop. */
typedef struct NAME(way) {
    lsp_type rowptr_type, col_type;
    bool prefetch;
    bool checked; /* A is known to be a matrix */
    bool plain;   /* alpha = 1 and beta = 0 */
} NAME(way);

ALWAYS void NAME(one)(NAME(way) way, const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    const lsp_csr *A = &r->job->A;
    const void *rowptr = A->rowptr;
    const streams from = {A->col, A->val, A->nnz, way.col_type};
    const T *x = (const T *)r->job->vectors.x, alpha = (T)r->job->vectors.alpha, beta = (T)r->job->vectors.beta;
    T *y = (T *)r->job->vectors.y;
    int64_t k = lsp_index_at(rowptr, way.rowptr_type, begin), good = k;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = k;
        k = lsp_index_at(rowptr, way.rowptr_type, i + 1);
        if (!way.checked && k > good && !check_row(r, i, first, k, &good)) {
            continue;
        }
        const T sum = __builtin_expect(k - first > LSP_SPMV_PIECE, 0) ? NAME(long_row)(A, x, first, k)
                                                                      : NAME(sum)(&from, way.prefetch, x, first, k);
        y[i] = way.plain ? sum : beta == 0 ? alpha * sum : alpha * sum + beta * y[i];
    }
}

/* ---- several vectors, or one with gaps ---- */

/* sums[j] = the entries begin .. end-1 times vector v + j, j < 16. Rows of X are contiguous. */
ALWAYS void NAME(sixteen)(const lsp_spmv_job *job, lsp_type col_type, int64_t begin, int64_t end, int64_t v, T *sums) {
    enum { lanes = 32 / sizeof(T), vecs = 16 / lanes };
    const int64_t stride = job->vectors.x_stride;
    const T *x = (const T *)job->vectors.x + v;
    const V *val = (const V *)job->A.val;
    const void *col = job->A.col;
    TYPED(vec) s[vecs];
    UNROLLED for (int j = 0; j < vecs; j++) { s[j] = TYPED(all)(0); }
    for (int64_t k = begin; k < end; k++) {
        const T *at = x + lsp_index_at(col, col_type, k) * stride;
        const TYPED(vec) value = TYPED(all)(VALUE_AT(k));
        UNROLLED for (int j = 0; j < vecs; j++) { s[j] = TYPED(times_add)(value, TYPED(load)(at + j * lanes), s[j]); }
    }
    UNROLLED for (int j = 0; j < vecs; j++) { TYPED(save)(sums + j * lanes, s[j]); }
}

/* The same for `width` vectors of any layout. */
ALWAYS void NAME(few)(int width, const lsp_spmv_job *job, lsp_type col_type, bool by_columns, int64_t begin,
                      int64_t end, int64_t v, T *sums) {
    const int64_t stride = job->vectors.x_stride, row = by_columns ? 1 : stride, next = by_columns ? stride : 1;
    const T *x = (const T *)job->vectors.x + v * next;
    const V *val = (const V *)job->A.val;
    const void *col = job->A.col;
    T s[4] = {0};
    for (int64_t k = begin; k < end; k++) {
        const T *at = x + lsp_index_at(col, col_type, k) * row, value = VALUE_AT(k);
        UNROLLED for (int j = 0; j < width; j++) { s[j] = TYPED(fused)(value, at[j * next], s[j]); }
    }
    UNROLLED for (int j = 0; j < width; j++) { sums[j] = s[j]; }
}

/* The same for any number of vectors. */
ALWAYS void NAME(any)(const lsp_spmv_job *job, lsp_type col_type, bool by_columns, int64_t begin, int64_t end,
                      int64_t v, int width, T *sums) {
    int j = 0;
    for (; j + 16 <= width && !by_columns; j += 16) {
        NAME(sixteen)(job, col_type, begin, end, v + j, sums + j);
    }
    for (; j + 4 <= width; j += 4) {
        NAME(few)(4, job, col_type, by_columns, begin, end, v + j, sums + j);
    }
    for (; j < width; j++) {
        NAME(few)(1, job, col_type, by_columns, begin, end, v + j, sums + j);
    }
}

/* sums[j] of vector v + j, j < width <= BLOCK, over at most one piece of a row. */
static __attribute__((noinline)) void NAME(block)(const lsp_spmv_job *job, int64_t begin, int64_t end, int64_t v,
                                                  int width, T *sums) {
    const bool by_columns = job->options.by_columns;
    if (job->A.col_type == LSP_I64) {
        NAME(any)(job, LSP_I64, by_columns, begin, end, v, width, sums);
    } else if (by_columns) {
        NAME(any)(job, LSP_I32, true, begin, end, v, width, sums);
    } else {
        NAME(any)(job, LSP_I32, false, begin, end, v, width, sums);
    }
}

/* The same over a whole row, piece by piece. */
static void NAME(block_row)(const lsp_spmv_job *job, int64_t begin, int64_t end, int64_t v, int width, T *sums) {
    NAME(block)(job, begin, lsp_min(begin + LSP_SPMV_PIECE, end), v, width, sums);
    for (int64_t k = begin + LSP_SPMV_PIECE; k < end; k += LSP_SPMV_PIECE) {
        T more[BLOCK];
        NAME(block)(job, k, lsp_min(k + LSP_SPMV_PIECE, end), v, width, more);
        for (int j = 0; j < width; j++) {
            sums[j] += more[j];
        }
    }
}

static void NAME(several_of_row)(const lsp_spmv_job *job, int64_t i, int64_t begin, int64_t end) {
    const int64_t row = job->options.by_columns ? 1 : job->vectors.y_stride;
    const int64_t next = job->options.by_columns ? job->vectors.y_stride : 1;
    const T alpha = (T)job->vectors.alpha, beta = (T)job->vectors.beta;
    for (int64_t v = 0; v < job->options.vectors; v += BLOCK) {
        const int width = (int)lsp_min(job->options.vectors - v, BLOCK);
        T sums[BLOCK], *y = (T *)job->vectors.y + i * row + v * next;
        NAME(block_row)(job, begin, end, v, width, sums);
        for (int j = 0; j < width; j++, y += next) {
            *y = beta == 0 ? alpha * sums[j] : alpha * sums[j] + beta * *y;
        }
    }
}

/* Sums of the usual numbers of vectors, at most 8: vectors of 32 bytes, then single ones, in their places. */
typedef struct NAME(usual_sums) {
    TYPED(vec) vecs[2];
    T rest[8];
} NAME(usual_sums);

ALWAYS void NAME(usual_add)(int width, NAME(usual_sums) * s, T value, const T *x) {
    const int lanes = 32 / sizeof(T), wide = width / lanes * lanes;
    UNROLLED for (int j = 0; j < width / lanes; j++) {
        s->vecs[j] = TYPED(times_add)(TYPED(all)(value), TYPED(load)(x + j * lanes), s->vecs[j]);
    }
    UNROLLED for (int j = wide; j < width; j++) { s->rest[j] = TYPED(fused)(value, x[j], s->rest[j]); }
}

/* `width` vectors in registers: the even entries of a row, then the odd ones. Rows of X are contiguous; int32 columns.
 */
ALWAYS void NAME(usual)(int width, const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    const int lanes = 32 / sizeof(T);
    const lsp_spmv_job *job = r->job;
    const streams from = {job->A.col, job->A.val, job->A.nnz, LSP_I32};
    const int64_t stride = job->vectors.x_stride;
    const T *x = (const T *)job->vectors.x, alpha = (T)job->vectors.alpha, beta = (T)job->vectors.beta;
    const V *val = (const V *)job->A.val;
    const int32_t *col = (const int32_t *)job->A.col;
    row_walk walk = walk_from(r, begin);
    for (int64_t i = begin; i < end; i++) {
        T *y = (T *)job->vectors.y + i * job->vectors.y_stride;
        if (!next_row(r, &walk, i)) {
            continue;
        } else if (walk.end - walk.begin > LSP_SPMV_PIECE) {
            NAME(several_of_row)(job, i, walk.begin, walk.end);
            continue;
        }
        NAME(usual_sums) even = {{TYPED(all)(0), TYPED(all)(0)}, {0}}, odd = even;
        for (int64_t k = walk.begin, next; k < walk.end; k = next) {
            next = lsp_min(k + 8, walk.end);
            fetch_streams(&from, k, sizeof(V));
            for (; k + 2 <= next; k += 2) {
                NAME(usual_add)(width, &even, VALUE_AT(k), x + col[k] * stride);
                NAME(usual_add)(width, &odd, VALUE_AT(k + 1), x + col[k + 1] * stride);
            }
            if (k < next) {
                NAME(usual_add)(width, &even, VALUE_AT(k), x + col[k] * stride);
            }
        }
        UNROLLED for (int j = 0; j < width / lanes; j++) {
            TYPED(save)(even.rest + j * lanes, even.vecs[j]);
            TYPED(save)(odd.rest + j * lanes, odd.vecs[j]);
        }
        UNROLLED for (int j = 0; j < width; j++) {
            const T sum = even.rest[j] + odd.rest[j];
            y[j] = beta == 0 ? alpha * sum : alpha * sum + beta * y[j];
        }
    }
}

static void NAME(several)(const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    const lsp_spmv_job *job = r->job;
    const bool usual = !job->options.by_columns && job->A.col_type == LSP_I32;
    row_walk walk = walk_from(r, begin);
    switch (usual ? job->options.vectors : 0) {
    case 2:
        NAME(usual)(2, r, begin, end);
        return;
    case 3:
        NAME(usual)(3, r, begin, end);
        return;
    case 4:
        NAME(usual)(4, r, begin, end);
        return;
    case 8:
        NAME(usual)(8, r, begin, end);
        return;
    default:
        break;
    }
    for (int64_t i = begin; i < end; i++) {
        if (next_row(r, &walk, i)) {
            NAME(several_of_row)(job, i, walk.begin, walk.end);
        }
    }
}

/* ---- what the kernel's entries call ---- */

static void NAME(rows)(const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    const lsp_spmv_job *job = r->job;
    NAME(way) way = {job->A.rowptr_type, job->A.col_type, r->prefetch, job->planned, false};
    const bool plain = job->vectors.alpha == 1 && job->vectors.beta == 0;
    if (!is_one_dense(job)) {
        NAME(several)(r, begin, end);
    } else if (way.prefetch && way.col_type == LSP_I32) {
        NAME(one)((NAME(way)){way.rowptr_type, LSP_I32, true, way.checked, false}, r, begin, end);
    } else if (way.col_type == LSP_I64) {
        NAME(one)((NAME(way)){way.rowptr_type, LSP_I64, way.prefetch, way.checked, false}, r, begin, end);
    } else if (way.rowptr_type == LSP_I64) {
        NAME(one)((NAME(way)){LSP_I64, LSP_I32, false, false, false}, r, begin, end);
    } else if (!way.checked && plain) {
        NAME(one)((NAME(way)){LSP_I32, LSP_I32, false, false, true}, r, begin, end);
    } else if (!way.checked) {
        NAME(one)((NAME(way)){LSP_I32, LSP_I32, false, false, false}, r, begin, end);
    } else if (!plain) {
        NAME(one)((NAME(way)){LSP_I32, LSP_I32, false, true, false}, r, begin, end);
    } else {
        NAME(one)((NAME(way)){LSP_I32, LSP_I32, false, true, true}, r, begin, end);
    }
}

static void NAME(piece)(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums) {
    const lsp_spmv_job *job = r->job;
    if (is_one_dense(job)) {
        const streams from = streams_of(&job->A);
        *(T *)sums = NAME(sum)(&from, false, (const T *)job->vectors.x, begin, end);
        return;
    }
    for (int64_t v = 0; v < job->options.vectors; v += BLOCK) {
        NAME(block)(job, begin, end, v, (int)lsp_min(job->options.vectors - v, BLOCK), (T *)sums + v);
    }
}

#undef V
#undef V_NAME
