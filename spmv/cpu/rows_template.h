/* CSR as it is, for vectors of type T and values of type VAL (char: a pattern): one row by eight chains of fused
 * multiply-adds, so that no product waits for the one before. Included for each pair of types.
 *
 * Chain j adds the entries j, j + 8, ... of the first 8*floor(L/8) of a row; the others are added in order to a ninth
 * sum. Every instruction set gives the same bits. */

/* Eight products more. */
ALWAYS TYPED(chains)
    NAME(add_eight)(TYPED(chains) s, const VAL *val, const void *col, lsp_type col_type, const T *x, int64_t k) {
    TYPED(EACH_CHAIN)(ADD_CHAIN) return s;
}

/* The chains of a row of 8 to 15 entries. Each fused multiply-add waits for its own x alone: with vectors, which wait
 * for eight, er:1048576:8 takes 1.1 times as long. */
ALWAYS T NAME(eight)(const VAL *val, const void *col, lsp_type col_type, const T *x, int64_t k) {
    T s[8];
    UNROLLED for (int j = 0; j < 8; j++) {
        s[j] = TYPED(fused)(VALUE_AT(k + j), x[lsp_index_at(col, col_type, k + j)], 0);
    }
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* The sum of the entries k .. end-1 of a row, at most LSP_SPMV_PIECE. */
ALWAYS T NAME(sum)(const VAL *val, const void *col, lsp_type col_type, bool fetch, const T *x, int64_t k, int64_t end) {
    T first = 0, rest = 0;
    if (fetch) {
        fetch_streams(col, col_type, val, sizeof(VAL), k);
    }
    if (end - k >= 16) {
        TYPED(chains) s = NAME(add_eight)(TYPED(no_chains)(), val, col, col_type, x, k);
        for (k += 8; k + 8 <= end; k += 8) {
            if (fetch) {
                fetch_streams(col, col_type, val, sizeof(VAL), k);
            }
            s = NAME(add_eight)(s, val, col, col_type, x, k);
        }
        first = TYPED(total)(s);
    } else if (end - k >= 8) {
        first = NAME(eight)(val, col, col_type, x, k);
        k += 8;
    }
    EACH_OF_LAST
    return first + rest;
}

/* A row of any length, piece by piece. */
static __attribute__((noinline)) T NAME(long_row)(const lsp_csr *A, const T *x, int64_t begin, int64_t end) {
    T sum = 0;
    for (int64_t k = begin; k < end; k += LSP_SPMV_PIECE) {
        const T more =
            NAME(sum)((const VAL *)A->val, A->col, A->col_type, true, x, k, lsp_min(k + LSP_SPMV_PIECE, end));
        sum = k == begin ? more : sum + more;
    }
    return sum;
}

/* Looks at `count` entries from `from` on, before they are multiplied: calls into the cache what the job wants, and
 * checks the columns unless a plan has done it. false: one of them is outside the matrix. */
ALWAYS bool NAME(look_at)(const lsp_spmv_rows *r, lsp_type col_type, bool random, int64_t from, int count) {
    const lsp_csr *A = &r->job->A;
    fetch_lines(A->col, from + AHEAD, count, col_type == LSP_I32 ? 4 : 8);
    fetch_lines(A->val, from + AHEAD, sizeof(VAL) > 1 ? count : 0, sizeof(VAL));
    UNROLLED for (int j = 0; random && j < count; j++) {
        fetch_x(A->col, col_type, from + j, r->job->vectors.x, sizeof(T));
    }
    return r->job->planned || are_inside(A, col_type, from, count);
}

/* The same for a chunk, which begins at `from`. Returns its end, or INT64_MAX for the last one; -1 if a column is
 * outside. */
static __attribute__((noinline)) int64_t NAME(look)(const lsp_spmv_rows *r, int64_t from) {
    const lsp_csr *A = &r->job->A;
    const bool planned = r->job->planned, random = r->ahead == LSP_SPMV_FETCH_X, narrow = A->col_type == LSP_I32;
    const bool chunks = random || r->ahead == LSP_SPMV_FETCH_CHUNKS;
    const bool cached = r->ahead == LSP_SPMV_FETCH_NOTHING;
    const int64_t count = random ? X_CHUNK : chunks ? CHUNK : planned ? LSP_SPMV_PIECE : cached ? 4 * CHECKED : CHECKED;
    const int64_t end = from + count < A->nnz ? from + count : INT64_MAX;
    bool good;
    if (end == INT64_MAX || !chunks) {
        good = planned || columns_are_inside(A, from, lsp_min(end, A->nnz));
    } else if (random) {
        good = narrow ? NAME(look_at)(r, LSP_I32, true, from, X_CHUNK) : NAME(look_at)(r, LSP_I64, true, from, X_CHUNK);
    } else {
        good = narrow ? NAME(look_at)(r, LSP_I32, false, from, CHUNK) : NAME(look_at)(r, LSP_I64, false, from, CHUNK);
    }
    return good ? end : -1;
}

/* Row `begin`, and those after it that end at entry `limit` or before; returns the row after them. A function of its
 * own, and so the loop keeps all that it needs in registers. The types are constants, and mostly `fetch`,
 * LSP_SPMV_FETCH_ROWS, and `plain`, alpha = 1 and beta = 0. */
ALWAYS int64_t NAME(run_of)(lsp_type rowptr_type, lsp_type col_type, bool fetch, bool plain, const lsp_spmv_job *job,
                            int64_t begin, int64_t end, int64_t limit) {
    const void *rowptr = job->A.rowptr, *col = job->A.col;
    const VAL *val = (const VAL *)job->A.val;
    const T *x = (const T *)job->vectors.x, alpha = (T)job->vectors.alpha, beta = (T)job->vectors.beta;
    T *y = (T *)job->vectors.y;
    int64_t i = begin, k = lsp_index_at(rowptr, rowptr_type, i), next = lsp_index_at(rowptr, rowptr_type, i + 1);
    do {
        const T sum = NAME(sum)(val, col, col_type, fetch, x, k, next);
        y[i] = plain ? sum : beta == 0 ? alpha * sum : alpha * sum + beta * y[i];
        k = next;
        i++;
    } while (i < end && (next = lsp_index_at(rowptr, rowptr_type, i + 1)) <= limit);
    return i;
}

#define RUN(name, rowptr_type, col_type, fetch, plain)                                                                 \
    static __attribute__((noinline)) int64_t NAME(name)(const lsp_spmv_rows *r, int64_t begin, int64_t end,            \
                                                        int64_t limit) {                                               \
        return NAME(run_of)(rowptr_type, col_type, fetch, plain, r->job, begin, end, limit);                           \
    }
#define FETCHES (r->ahead == LSP_SPMV_FETCH_ROWS)
RUN(plain, LSP_I32, LSP_I32, false, true)
RUN(plain_fetch, LSP_I32, LSP_I32, true, true)
RUN(usual, LSP_I32, LSP_I32, FETCHES, false)
RUN(long_rowptr, LSP_I64, LSP_I32, FETCHES, false)
RUN(long_col, r->job->A.rowptr_type, LSP_I64, FETCHES, false)
#undef RUN

/* Rows from `begin` on, until one is met that may have a column outside the matrix; returns that row, or `end`. */
static int64_t NAME(one)(const lsp_spmv_rows *r, run_fn *run, int64_t begin, int64_t end) {
    const lsp_spmv_job *job = r->job;
    const lsp_csr *A = &job->A;
    const int64_t lead = r->ahead == LSP_SPMV_FETCH_X ? X_LEAD : 0;
    int64_t i = begin, good = lsp_index_at(A->rowptr, A->rowptr_type, i);
    while (i < end) {
        const int64_t k = lsp_index_at(A->rowptr, A->rowptr_type, i);
        const int64_t next = lsp_index_at(A->rowptr, A->rowptr_type, i + 1);
        while (next + lead > good) {
            good = NAME(look)(r, good);
            if (good < 0) {
                return i;
            }
        }
        if (next - k > LSP_SPMV_PIECE) {
            TYPED(finish)
            (LSP_PLUS_TIMES, (T)job->vectors.alpha, (T)job->vectors.beta, NAME(long_row)(A, job->vectors.x, k, next),
             (T *)job->vectors.y + i);
            i++;
        } else {
            i = run(r, i, end, good - lead);
        }
    }
    return end;
}

/* The same rows where columns are outside the matrix: each row is checked by itself. */
static void NAME(careful)(const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    const lsp_spmv_job *job = r->job;
    row_walk walk = walk_from(r, begin);
    for (int64_t i = begin; i < end; i++) {
        if (next_row(r, &walk, i)) {
            TYPED(finish)
            (LSP_PLUS_TIMES, (T)job->vectors.alpha, (T)job->vectors.beta,
             NAME(long_row)(&job->A, job->vectors.x, walk.begin, walk.end), (T *)job->vectors.y + i);
        }
    }
}

/* ---- several vectors, or one with gaps ---- */

/* sums[j] = the entries begin .. end-1 times vector v + j, j < 16. Rows of X are contiguous. */
ALWAYS void NAME(sixteen)(const lsp_spmv_job *job, lsp_type col_type, int64_t begin, int64_t end, int64_t v, T *sums) {
    enum { lanes = 32 / sizeof(T), vecs = 16 / lanes };
    const int64_t stride = job->x_row;
    const T *x = (const T *)job->vectors.x + v;
    const VAL *val = (const VAL *)job->A.val;
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
    const int64_t row = by_columns ? 1 : job->x_row, next = by_columns ? job->x_vector : 1;
    const T *x = (const T *)job->vectors.x + v * next;
    const VAL *val = (const VAL *)job->A.val;
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
    const T alpha = (T)job->vectors.alpha, beta = (T)job->vectors.beta;
    for (int64_t v = 0; v < job->options.vectors; v += BLOCK) {
        const int width = (int)lsp_min(job->options.vectors - v, BLOCK);
        T sums[BLOCK], *y = TYPED(lsp_spmv_y)(job, i, v);
        NAME(block_row)(job, begin, end, v, width, sums);
        for (int j = 0; j < width; j++, y += job->y_vector) {
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

/* `width` vectors in registers: even entries of a row, then odd ones. Rows of X are contiguous; int32 columns. */
ALWAYS void NAME(narrow)(int width, const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    const int lanes = 32 / sizeof(T);
    const lsp_spmv_job *job = r->job;
    const int64_t stride = job->x_row;
    const T *x = (const T *)job->vectors.x, alpha = (T)job->vectors.alpha, beta = (T)job->vectors.beta;
    const VAL *val = (const VAL *)job->A.val;
    const int32_t *col = (const int32_t *)job->A.col;
    row_walk walk = walk_from(r, begin);
    for (int64_t i = begin; i < end; i++) {
        T *y = (T *)job->vectors.y + i * job->y_row;
        if (!next_row(r, &walk, i)) {
            continue;
        } else if (walk.end - walk.begin > LSP_SPMV_PIECE) {
            NAME(several_of_row)(job, i, walk.begin, walk.end);
            continue;
        }
        NAME(usual_sums) even = {{TYPED(all)(0), TYPED(all)(0)}, {0}}, odd = even;
        for (int64_t k = walk.begin, next; k < walk.end; k = next) {
            next = lsp_min(k + 8, walk.end);
            fetch_streams(col, LSP_I32, val, sizeof(VAL), k);
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
        NAME(narrow)(2, r, begin, end);
        return;
    case 3:
        NAME(narrow)(3, r, begin, end);
        return;
    case 4:
        NAME(narrow)(4, r, begin, end);
        return;
    case 8:
        NAME(narrow)(8, r, begin, end);
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
    run_fn *run = NAME(usual);
    if (!is_one_dense(job)) {
        NAME(several)(r, begin, end);
        return;
    } else if (job->A.col_type == LSP_I64) {
        run = NAME(long_col);
    } else if (job->A.rowptr_type == LSP_I64) {
        run = NAME(long_rowptr);
    } else if (job->vectors.alpha == 1 && job->vectors.beta == 0) {
        run = FETCHES ? NAME(plain_fetch) : NAME(plain);
    }
    NAME(careful)(r, NAME(one)(r, run, begin, end), end);
}

static void NAME(piece)(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums) {
    const lsp_spmv_job *job = r->job;
    if (is_one_dense(job)) {
        *(T *)sums = NAME(long_row)(&job->A, (const T *)job->vectors.x, begin, end);
        return;
    }
    for (int64_t v = 0; v < job->options.vectors; v += BLOCK) {
        NAME(block)(job, begin, end, v, (int)lsp_min(job->options.vectors - v, BLOCK), (T *)sums + v);
    }
}

#undef FETCHES
#undef VAL
#undef VAL_NAME
