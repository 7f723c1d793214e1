/* Values of each row, of each column or of all entries reduced to one number. A list of terms is joined in an order
 * that depends on its length alone (number.h), so threads and devices do not matter. */
#include "matrices/matrices.h"
#include "values.h"

enum { least_share = 1 << 8 }; /* lists that are worth another thread */

/* Lists of terms: terms of entries, or numbers that pieces of longer lists were joined to. */
typedef struct lists {
    const lsp_csr *A; /* NULL: numbers */
    const double *numbers;
    const int64_t *starts; /* of the lists; count + 1 */
    int64_t count;
} lists;

typedef struct joining {
    lsp_reduction reduction;
    int part; /* of C64: 0 real, 1 imaginary */
    lists in;
    const int64_t *pieces; /* where each list's pieces begin */
    double *joined;        /* of each piece */
} joining;

LSP_INLINE double term_at(const joining *j, lsp_type type, lsp_reduction reduction, bool of_entries, int64_t k) {
    if (!of_entries) {
        return j->in.numbers[k];
    }
    const lsp_value value = lsp_value_of(type, j->in.A->val, k);
    return reduction == LSP_REDUCE_SUM && j->part == 1
               ? value.im
               : lsp_reduce_term(reduction, value.re, value.im, type == LSP_C64);
}

/* Joins the terms begin .. end-1 of a piece. */
LSP_INLINE double join_piece(const joining *j, lsp_type type, lsp_reduction reduction, bool of_entries, int64_t begin,
                             int64_t end) {
    const bool largest = lsp_takes_largest(reduction);
    const double none = lsp_reduce_none(reduction);
    double lanes[LSP_LIST_LANES];
    for (int l = 0; l < LSP_LIST_LANES; l++) {
        lanes[l] =
            begin + l < end ? lsp_reduce_join(largest, none, term_at(j, type, reduction, of_entries, begin + l)) : none;
    }
    for (int64_t k = begin + LSP_LIST_LANES; k < end; k += LSP_LIST_LANES) {
        const int count = (int)lsp_min(end - k, LSP_LIST_LANES);
        for (int l = 0; l < count; l++) {
            lanes[l] = lsp_reduce_join(largest, lanes[l], term_at(j, type, reduction, of_entries, k + l));
        }
    }
    for (int half = LSP_LIST_LANES / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; l++) {
            lanes[l] = lsp_reduce_join(largest, lanes[l], lanes[l + half]);
        }
    }
    return lanes[0];
}

LSP_INLINE void join_lists(lsp_type type, lsp_reduction reduction, bool of_entries, const joining *j, int64_t begin,
                           int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        int64_t at = j->in.starts[i];
        for (int64_t piece = j->pieces[i]; piece < j->pieces[i + 1]; piece++, at += LSP_LIST_PIECE) {
            const int64_t stop = lsp_min(at + LSP_LIST_PIECE, j->in.starts[i + 1]);
            j->joined[piece] = join_piece(j, type, reduction, of_entries, at, stop);
        }
    }
}
/* Every reduction gets a loop of its own. */
#define JOIN(r)                                                                                                        \
    case r:                                                                                                            \
        join_lists(type, r, true, j, begin, end);                                                                      \
        break;
LSP_INLINE void join_typed(lsp_type type, const joining *j, int64_t begin, int64_t end) {
    switch (j->reduction) {
        JOIN(LSP_REDUCE_SUM)
        JOIN(LSP_REDUCE_MIN)
        JOIN(LSP_REDUCE_MAX)
        JOIN(LSP_REDUCE_NORM1)
        JOIN(LSP_REDUCE_NORM2)
        JOIN(LSP_REDUCE_NORM_MAX)
    default:
        break;
    }
}
static void join_share(void *data, int64_t begin, int64_t end) {
    const joining *j = data;
    if (j->in.A != NULL) {
        LSP_WITH_VALUE(j->in.A->val_type, join_typed, j, begin, end);
    } else if (lsp_takes_largest(j->reduction)) {
        join_lists(LSP_NONE, LSP_REDUCE_MAX, false, j, begin, end);
    } else {
        join_lists(LSP_NONE, LSP_REDUCE_SUM, false, j, begin, end);
    }
}

/* *joined = a number for each list, in scratch. */
static lsp_status join(lsp_ctx *ctx, lsp_reduction reduction, int part, lists in, double **joined) {
    lsp_status status = LSP_OK;
    for (bool again = true; again;) {
        int64_t *pieces;
        LSP_TRY(LSP_SCRATCH(ctx, in.count + 1, &pieces));
        again = false;
        for (int64_t i = 0; i < in.count; i++) { /* an empty list is one piece too */
            pieces[i + 1] = lsp_max(lsp_ceil_div(in.starts[i + 1] - in.starts[i], LSP_LIST_PIECE), 1);
            again = again || pieces[i + 1] > 1;
        }
        lsp_prefix_sum(ctx, pieces, in.count);
        LSP_TRY(LSP_SCRATCH(ctx, pieces[in.count], joined));
        lsp_for_shares(ctx, in.count, least_share, join_share,
                       &(joining){.reduction = reduction, .part = part, .in = in, .pieces = pieces, .joined = *joined});
        in = (lists){.numbers = *joined, .starts = pieces, .count = in.count};
    }
done:
    return status;
}

/* ---- integers: their order does not matter ---- */

typedef struct whole_lists {
    const lsp_csr *A;
    const int64_t *starts;
    lsp_reduction reduction;
    int64_t *results; /* of a list; or atomic, of all shares of the only one */
} whole_lists;

LSP_INLINE int64_t join_entries(lsp_type type, lsp_reduction reduction, const lsp_csr *A, int64_t begin, int64_t end) {
    int64_t joined = lsp_none_whole(reduction);
    for (int64_t k = begin; k < end; k++) {
        joined = lsp_join_whole(reduction, joined, lsp_value_of(type, A->val, k).whole);
    }
    return joined;
}
static int64_t join_whole(const whole_lists *in, int64_t begin, int64_t end) {
    return LSP_WITH_VALUE(in->A->val_type, join_entries, in->reduction, in->A, begin, end);
}

static void join_whole_lists(void *data, int64_t begin, int64_t end) {
    const whole_lists *in = data;
    for (int64_t i = begin; i < end; i++) {
        in->results[i] = join_whole(in, in->starts[i], in->starts[i + 1]);
    }
}

static void join_whole_share(void *data, int64_t begin, int64_t end) {
    const whole_lists *in = data;
    const int64_t mine = join_whole(in, begin, end);
    int64_t seen = __atomic_load_n(in->results, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(in->results, &seen, lsp_join_whole(in->reduction, seen, mine), true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void reduce_whole(const lsp_ctx *ctx, const whole_lists *in, int64_t count) {
    enum { least_entries = 1 << 15 };
    whole_lists own = *in;
    if (count == 1) {
        in->results[0] = lsp_none_whole(in->reduction);
        lsp_for_shares(ctx, in->A->nnz, least_entries, join_whole_share, &own);
    } else {
        lsp_for_shares(ctx, count, least_share, join_whole_lists, &own);
    }
}

/* ---- results ---- */

/* Reduces the lists of A's entries that begin at starts[]. */
static lsp_status reduce_lists(lsp_ctx *ctx, const lsp_csr *A, const int64_t *starts, int64_t count,
                               lsp_reduction reduction, void *results) {
    lsp_status status = LSP_OK;
    const lsp_type type = lsp_reduce_type(A->val_type, reduction);
    const bool by_count = reduction == LSP_REDUCE_COUNT || A->val_type == LSP_NONE;
    double *parts[2] = {NULL, NULL};
    if (lsp_reduces_whole(A->val_type, reduction)) {
        reduce_whole(ctx, &(whole_lists){A, starts, reduction, results}, count);
        return LSP_OK;
    }
    for (int part = 0; part < (type == LSP_C64 ? 2 : 1) && !by_count; part++) {
        LSP_TRY(join(ctx, reduction, part, (lists){.A = A, .starts = starts, .count = count}, &parts[part]));
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t length = starts[i + 1] - starts[i];
        if (reduction == LSP_REDUCE_COUNT) {
            ((int64_t *)results)[i] = length;
        } else if (by_count) {
            ((double *)results)[i] = lsp_reduce_ones(reduction, length);
        } else {
            lsp_value_set(type, results, i,
                          lsp_value_from(lsp_reduce_result(reduction, length, parts[0][i]),
                                         parts[1] ? lsp_reduce_result(reduction, length, parts[1][i]) : 0));
        }
    }
done:
    return status;
}

static lsp_status reduce_on_host(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, bool all, void *results) {
    lsp_status status = LSP_OK;
    const int64_t whole[] = {0, A->nnz};
    int64_t *starts;
    if (all) {
        return reduce_lists(ctx, A, whole, 1, reduction, results);
    }
    LSP_TRY(LSP_SCRATCH(ctx, A->rows + 1, &starts));
    for (int64_t i = 0; i <= A->rows; i++) {
        starts[i] = lsp_csr_rowptr(A, i);
    }
    LSP_TRY(reduce_lists(ctx, A, starts, A->rows, reduction, results));
done:
    return status;
}

lsp_status lsp_csr_reduce(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, lsp_axis axis, void *results) {
    lsp_status status = LSP_OK;
    size_t mark = ctx != NULL ? lsp_scratch_mark(ctx) : 0;
    lsp_csr columns = {0};
    LSP_TRY(lsp_csr_check_there(ctx, "A", A));
    LSP_REQUIRE((unsigned)reduction < LSP_REDUCTIONS, LSP_ERR_ARGUMENT, "there is no reduction %d", (int)reduction);
    LSP_REQUIRE((unsigned)axis <= LSP_ALL, LSP_ERR_ARGUMENT, "there is no axis %d", (int)axis);
    LSP_REQUIRE(A->val_type != LSP_C64 || (reduction != LSP_REDUCE_MIN && reduction != LSP_REDUCE_MAX),
                LSP_ERR_UNSUPPORTED, "complex values have no smallest and no largest");
    const int64_t count = axis == LSP_ALL ? 1 : axis == LSP_EACH_ROW ? A->rows : A->cols;
    LSP_REQUIRE(results != NULL || count == 0, LSP_ERR_ARGUMENT, "the place for the results is NULL");
    LSP_REQUIRE(lsp_aligned(results, lsp_reduce_type(A->val_type, reduction)), LSP_ERR_ARGUMENT,
                "the place for the results is not aligned to their type, %s",
                lsp_type_name(lsp_reduce_type(A->val_type, reduction)));
    if (axis == LSP_EACH_COL) { /* entries of a column in the order of rows */
        LSP_TRY(lsp_csr_transpose(ctx, A, &columns));
        A = &columns;
    }
    LSP_TRY(A->where == LSP_CUDA ? lsp_csr_reduce_cuda(ctx, A, reduction, axis == LSP_ALL, results)
                                 : reduce_on_host(ctx, A, reduction, axis == LSP_ALL, results));
done:
    if (ctx != NULL) {
        lsp_csr_free(ctx, &columns);
        lsp_scratch_release(ctx, mark);
    }
    return status;
}
