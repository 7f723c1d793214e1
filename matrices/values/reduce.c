/* Values of each row, of each column or of all entries reduced to one number. A list of terms is joined in an order
 * that depends on its length alone (number.h), so threads and devices do not matter. One pass joins all lists of up to
 * LSP_LIST_PIECE terms; longer ones are joined afterwards, each by all threads. */
#include "matrices/bodies.h"
#include "matrices/gpu/gpu.h"

enum {
    least_rows = 1 << 12,  /* rows that are worth another thread */
    least_pieces = 1 << 2, /* pieces of a long list that are */
    few = 8                /* terms: a list of up to 8 is joined without loops */
};

/* The lists to be reduced: the rows of A, or all entries. */
typedef struct reducing {
    const lsp_csr *A;
    lsp_reduction reduction;
    bool all;
    void *results;
    int64_t longer; /* the first list that is longer than a piece */
    double *joined; /* room for the pieces of the longest list */
} reducing;

/* Terms begin .. begin + n - 1, a piece of a long list after another. */
typedef struct pieces {
    lsp_type type; /* of val; numbers that pieces were joined to are f64 */
    const void *val;
    lsp_reduction reduction;
    int part; /* of C64: 0 real, 1 imaginary */
    int64_t begin, n;
    double *joined; /* of each piece */
} pieces;

/* f(type, reduction, ...) with the reduction a constant: every one gets loops of its own. For LSP_WITH_VALUE. */
#define WITH_REDUCTION(type, f, reduction, ...)                                                                        \
    ((reduction) == LSP_REDUCE_SUM     ? f(type, LSP_REDUCE_SUM, __VA_ARGS__)                                          \
     : (reduction) == LSP_REDUCE_MIN   ? f(type, LSP_REDUCE_MIN, __VA_ARGS__)                                          \
     : (reduction) == LSP_REDUCE_MAX   ? f(type, LSP_REDUCE_MAX, __VA_ARGS__)                                          \
     : (reduction) == LSP_REDUCE_NORM1 ? f(type, LSP_REDUCE_NORM1, __VA_ARGS__)                                        \
     : (reduction) == LSP_REDUCE_NORM2 ? f(type, LSP_REDUCE_NORM2, __VA_ARGS__)                                        \
                                       : f(type, LSP_REDUCE_NORM_MAX, __VA_ARGS__))

/* ---- a list of up to a piece ---- */

LSP_INLINE double term_at(lsp_type type, lsp_reduction reduction, int part, const void *val, int64_t k) {
    const lsp_value value = lsp_value_of(type, val, k);
    return reduction == LSP_REDUCE_SUM && part == 1 ? value.im
                                                    : lsp_reduce_term(reduction, value.re, value.im, type == LSP_C64);
}

/* Joins 1 to 8 terms; n is a constant. Lanes without a term would change nothing, so they are left out. Rows of 3 to 8
 * entries take 0.6 to 0.7 of the instructions that a loop over n takes. */
LSP_INLINE double join_few(lsp_type type, lsp_reduction reduction, int part, const void *val, int64_t begin, int n) {
    const bool largest = lsp_takes_largest(reduction);
    double lanes[few];
    for (int l = 0; l < few; l++) {
        lanes[l] = l < n ? term_at(type, reduction, part, val, begin + l) : 0;
    }
    for (int l = 0; l < 4; l++) {
        lanes[l] = l + 4 < n ? lsp_reduce_join(largest, lanes[l], lanes[l + 4]) : lanes[l];
    }
    for (int l = 0; l < 2; l++) {
        lanes[l] = l + 2 < n ? lsp_reduce_join(largest, lanes[l], lanes[l + 2]) : lanes[l];
    }
    return n > 1 ? lsp_reduce_join(largest, lanes[0], lanes[1]) : lanes[0];
}

/* Joins up to LSP_LIST_PIECE terms. */
LSP_INLINE double join_many(lsp_type type, lsp_reduction reduction, int part, const void *val, int64_t begin,
                            int64_t n) {
    const bool largest = lsp_takes_largest(reduction);
    double lanes[LSP_LIST_LANES] = {0};
    int left = (int)lsp_min(n, LSP_LIST_LANES), half = LSP_LIST_LANES / 2;
    int64_t k = begin + LSP_LIST_LANES;
    for (int l = 0; l < left; l++) {
        lanes[l] = term_at(type, reduction, part, val, begin + l);
    }
    for (; k + LSP_LIST_LANES <= begin + n; k += LSP_LIST_LANES) {
        for (int l = 0; l < LSP_LIST_LANES; l++) {
            lanes[l] = lsp_reduce_join(largest, lanes[l], term_at(type, reduction, part, val, k + l));
        }
    }
    for (int l = 0; k + l < begin + n; l++) {
        lanes[l] = lsp_reduce_join(largest, lanes[l], term_at(type, reduction, part, val, k + l));
    }
    for (; half > 0; half /= 2) {
        for (int l = 0; l + half < left; l++) {
            lanes[l] = lsp_reduce_join(largest, lanes[l], lanes[l + half]);
        }
        left = left < half ? left : half;
    }
    return lanes[0];
}

#define FEW(n)                                                                                                         \
    case n:                                                                                                            \
        return join_few(type, reduction, part, val, begin, n);
LSP_INLINE double joined(lsp_type type, lsp_reduction reduction, int part, const void *val, int64_t begin, int64_t n) {
    switch (n) {
    case 0:
        return lsp_reduce_none(reduction);
        FEW(1)
        FEW(2)
        FEW(3)
        FEW(4)
        FEW(5)
        FEW(6)
        FEW(7)
        FEW(8)
    default:
        return join_many(type, reduction, part, val, begin, n);
    }
}

static int64_t begin_of(const reducing *r, int64_t i) { return r->all ? 0 : lsp_csr_rowptr(r->A, i); }
static int64_t end_of(const reducing *r, int64_t i) { return r->all ? r->A->nnz : lsp_csr_rowptr(r->A, i + 1); }

LSP_INLINE void reduce_lists(lsp_type type, lsp_reduction reduction, reducing *r, int64_t first, int64_t last) {
    const lsp_type to = lsp_reduce_type(type, reduction);
    for (int64_t i = first; i < last; i++) {
        const int64_t begin = begin_of(r, i), n = end_of(r, i) - begin;
        if (n > LSP_LIST_PIECE) {
            lsp_lower(&r->longer, i);
            continue;
        }
        const double re = joined(type, reduction, 0, r->A->val, begin, n);
        const double im = to == LSP_C64 ? joined(type, reduction, 1, r->A->val, begin, n) : 0;
        lsp_value_set(to, r->results, i,
                      lsp_value_from(lsp_reduce_result(reduction, n, re),
                                     to == LSP_C64 ? lsp_reduce_result(reduction, n, im) : 0));
    }
}
LSP_SHARE(reduce_share, reducing, r,
          LSP_WITH_VALUE(r->A->val_type, WITH_REDUCTION, reduce_lists, r->reduction, r, begin, end))

/* ---- integers: their order does not matter ---- */

LSP_INLINE int64_t join_entries(lsp_type type, lsp_reduction reduction, const lsp_csr *A, int64_t begin, int64_t end) {
    int64_t joined = lsp_none_whole(reduction);
    for (int64_t k = begin; k < end; k++) {
        joined = lsp_join_whole(reduction, joined, lsp_value_of(type, A->val, k).whole);
    }
    return joined;
}
static int64_t join_whole(const reducing *r, int64_t begin, int64_t end) {
    return LSP_WITH_VALUE(r->A->val_type, join_entries, r->reduction, r->A, begin, end);
}

static void join_whole_rows(void *data, int64_t first, int64_t last) {
    const reducing *r = data;
    for (int64_t i = first; i < last; i++) {
        ((int64_t *)r->results)[i] = join_whole(r, begin_of(r, i), end_of(r, i));
    }
}

/* A share of all entries; the shares are joined in whatever order they end. */
static void join_whole_share(void *data, int64_t begin, int64_t end) {
    const reducing *r = data;
    const int64_t mine = join_whole(r, begin, end);
    int64_t *result = r->results, seen = __atomic_load_n(result, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(result, &seen, lsp_join_whole(r->reduction, seen, mine), true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
}

static void reduce_whole(const lsp_ctx *ctx, reducing *r) {
    enum { least_entries = 1 << 15 };
    if (r->all) {
        *(int64_t *)r->results = lsp_none_whole(r->reduction);
        lsp_for_shares(ctx, r->A->nnz, least_entries, join_whole_share, r);
    } else {
        lsp_for_shares(ctx, r->A->rows, least_rows, join_whole_rows, r);
    }
}

/* ---- a longer list ---- */

LSP_INLINE void join_pieces(lsp_type type, lsp_reduction reduction, const pieces *p, int64_t first, int64_t last) {
    for (int64_t k = first; k < last; k++) {
        const int64_t at = k * LSP_LIST_PIECE;
        p->joined[k] = join_many(type, reduction, p->part, p->val, p->begin + at, lsp_min(p->n - at, LSP_LIST_PIECE));
    }
}
LSP_SHARE(join_share, const pieces, p,
          LSP_WITH_VALUE(p->type, WITH_REDUCTION, join_pieces, p->reduction, p, begin, end))

/* Part `part` of list i, by all threads. Numbers of pieces overwrite those that they were joined from. */
static double join_long(lsp_ctx *ctx, const reducing *r, int64_t i, int part) {
    const lsp_reduction again = lsp_takes_largest(r->reduction) ? LSP_REDUCE_MAX : LSP_REDUCE_SUM;
    pieces p = {.type = r->A->val_type,
                .val = r->A->val,
                .reduction = r->reduction,
                .part = part,
                .begin = begin_of(r, i),
                .n = end_of(r, i) - begin_of(r, i),
                .joined = r->joined};
    int64_t count = lsp_ceil_div(p.n, LSP_LIST_PIECE);
    lsp_for_shares(ctx, count, least_pieces, join_share, &p);
    while (count > 1) {
        p = (pieces){.type = LSP_F64, .val = r->joined, .reduction = again, .n = count, .joined = r->joined};
        count = lsp_ceil_div(count, LSP_LIST_PIECE);
        join_share(&p, 0, count); /* one after the other: a piece is read before its place is written */
    }
    return lsp_reduce_result(r->reduction, end_of(r, i) - begin_of(r, i), r->joined[0]);
}

static lsp_status reduce_on_host(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, bool all, void *results) {
    const int64_t count = all ? 1 : A->rows;
    const lsp_type to = lsp_reduce_type(A->val_type, reduction);
    reducing r = {.A = A, .reduction = reduction, .all = all, .results = results, .longer = count};
    if (lsp_reduces_whole(A->val_type, reduction)) {
        reduce_whole(ctx, &r);
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH(ctx, lsp_ceil_div(A->nnz, LSP_LIST_PIECE), &r.joined));
    lsp_for_shares(ctx, count, least_rows, reduce_share, &r);
    for (int64_t i = r.longer; i < count; i++) {
        if (end_of(&r, i) - begin_of(&r, i) > LSP_LIST_PIECE) {
            const double re = join_long(ctx, &r, i, 0);
            lsp_value_set(to, results, i, lsp_value_from(re, to == LSP_C64 ? join_long(ctx, &r, i, 1) : 0));
        }
    }
    return LSP_OK;
}

static lsp_status check_request(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, lsp_axis axis,
                                const void *results) {
    LSP_REQUIRE((unsigned)reduction < LSP_REDUCTIONS, LSP_ERR_ARGUMENT, "there is no reduction %d", (int)reduction);
    LSP_REQUIRE((unsigned)axis <= LSP_REDUCE_ALL, LSP_ERR_ARGUMENT, "there is no axis %d", (int)axis);
    LSP_REQUIRE(A->val_type != LSP_C64 || (reduction != LSP_REDUCE_MIN && reduction != LSP_REDUCE_MAX),
                LSP_ERR_UNSUPPORTED, "complex values have no smallest and no largest");
    const lsp_type to = lsp_reduce_type(A->val_type, reduction);
    const int64_t count = axis == LSP_REDUCE_ALL ? 1 : axis == LSP_REDUCE_EACH_ROW ? A->rows : A->cols;
    LSP_REQUIRE(results != NULL || count == 0, LSP_ERR_ARGUMENT, "the place for the results is NULL");
    LSP_REQUIRE(lsp_aligned(results, to), LSP_ERR_ARGUMENT,
                "the place for the results is not aligned to their type, %s", lsp_type_name(to));
    return lsp_csr_check_apart(ctx, A, "results", results, count, lsp_type_bytes(to));
}

/* Are results found from the numbers of entries? */
static bool is_count(const lsp_csr *A, lsp_reduction reduction) {
    return reduction == LSP_REDUCE_COUNT || A->val_type == LSP_NONE;
}

/* Rows, or all entries. There is no gate for a count. */
static lsp_status reduce_lists_of(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, bool all,
                                  const unsigned *gate, void *results) {
    if (is_count(A, reduction)) {
        const counting a = {.A = *A, .reduction = reduction, .all = all, .results = results};
        return LSP_EACH(ctx, A->where, count_list, (lsp_each_job){.args = &a, .n = all ? 1 : A->rows});
    }
    return A->where == LSP_CUDA ? lsp_matrices_on_gpu.csr_reduce(ctx, A, reduction, all, gate, results)
                                : reduce_on_host(ctx, A, reduction, all, results);
}

/* *columns = A's values by columns, in the order of rows, without these: in scratch, on the host. */
static lsp_status file_values(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *columns) {
    *columns = *A;
    columns->rows = A->cols, columns->cols = A->rows;
    columns->rowptr_type = A->nnz > INT32_MAX ? LSP_I64 : LSP_I32;
    columns->col = columns->val = NULL;
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_TRY(lsp_scratch_bytes(ctx, A->cols + 1, lsp_type_bytes(columns->rowptr_type), false, &columns->rowptr));
    LSP_TRY(lsp_scratch_bytes(ctx, A->nnz, lsp_type_bytes(A->val_type), false, &columns->val));
    lsp_index_set(columns->rowptr, columns->rowptr_type, 0, 0);
    return lsp_csr_file(ctx, &(lsp_filing){.n = A->nnz, .row = A->col, .val = A->val, .index_type = A->col_type},
                        columns);
}

/* A column's entries in the order of rows. On a GPU bins serve most matrices. */
static lsp_status reduce_columns(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, void *results) {
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, transposed);
    lsp_csr here;
    bool done = false;
    if (A->where == LSP_HOST) {
        LSP_TRY(file_values(ctx, A, &here));
    } else if (is_count(A, reduction)) {
        LSP_TRY(lsp_csr_transpose(ctx, A, &transposed));
    } else {
        LSP_TRY(lsp_csr_check_device(ctx, "A"));
        LSP_TRY(lsp_matrices_on_gpu.csr_reduce_columns(ctx, A, reduction, results, &done));
        LSP_TRY(done ? LSP_OK : lsp_csr_file_transpose(ctx, A, &transposed));
    }
    return done ? LSP_OK
                : reduce_lists_of(ctx, A->where == LSP_HOST ? &here : &transposed, reduction, false, NULL, results);
}

lsp_status lsp_csr_reduce(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, lsp_axis axis, void *results) {
    LSP_ENTER(ctx);
    const unsigned *gate;
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_TRY(check_request(ctx, A, reduction, axis, results));
    if (axis == LSP_REDUCE_EACH_COL) {
        LSP_TRY(reduce_columns(ctx, A, reduction, results));
    } else if (is_count(A, reduction)) {
        LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
        LSP_TRY(reduce_lists_of(ctx, A, reduction, axis == LSP_REDUCE_ALL, NULL, results));
    } else {
        LSP_TRY(lsp_csr_check_begin(ctx, "A", A, &gate));
        LSP_TRY(reduce_lists_of(ctx, A, reduction, axis == LSP_REDUCE_ALL, gate, results));
        LSP_TRY(lsp_csr_check_end(ctx, "A", A));
    }
    return LSP_OK;
}
