/* Statistics of a matrix: one pass over its rows, one over its columns (the rows of the transpose), and one that
 * compares the two for symmetry. */
#include "stats.h"
#include "matrices/bodies.h"
#include "matrices/gpu/gpu.h"

#include <pthread.h>

/* ---- on the host ---- */

/* entries: of the rows' entries, too. */
LSP_INLINE void take_rows(lsp_type val, lsp_type index, const lsp_csr *A, bool entries, int64_t begin, int64_t end,
                          lsp_facts *all) {
    const lsp_kind t = {index, val, LSP_PASS_BOTH};
    lsp_facts f = {.sum = {0}}; /* in registers, all but the histogram */
    uint64_t histogram[64] = {0};
    for (int64_t i = begin; i < end; i++) {
        const int64_t start = lsp_csr_rowptr(A, i), stop = entries ? lsp_csr_rowptr(A, i + 1) : start;
        uint64_t products = 0;
        bool falls = false;
        for (int64_t k = start; k < stop; k++) {
            falls |= take_entry(t, A, i, start, k, &f);
            if (A->rows == A->cols && products <= (uint64_t)INT64_MAX) {
                const int64_t j = lsp_index_at(A->col, index, k);
                products += (uint64_t)(lsp_csr_rowptr(A, j + 1) - lsp_csr_rowptr(A, j));
            }
        }
        histogram[take_row(A, i, falls, products, &f)]++;
    }
    *all = f;
    memcpy(all->histogram, histogram, sizeof histogram);
}

static void join(lsp_facts *f, const lsp_facts *part) {
    for (int w = 0; w < SUMS; w++) {
        f->sum[w] += part->sum[w];
    }
    for (int w = 0; w < WIDE_SUMS; w++) {
        add_wide(f, w, part->wide[w][0], part->wide[w][1]);
    }
    for (int w = 0; w < MAXIMA; w++) {
        raise_most(f, w, part->most[w]);
    }
    for (int w = 0; w < 64; w++) {
        f->histogram[w] += part->histogram[w];
    }
}

typedef struct row_search {
    const lsp_csr *A;
    bool entries;
    pthread_mutex_t mutex;
    lsp_facts *facts; /* of all shares */
} row_search;

static void take_share(void *data, int64_t begin, int64_t end) {
    row_search *search = data;
    const lsp_csr *A = search->A;
    lsp_facts mine;
    LSP_WITH_BOTH(A->val_type, A->col_type, take_rows, A, search->entries, begin, end, &mine);
    pthread_mutex_lock(&search->mutex);
    join(search->facts, &mine);
    pthread_mutex_unlock(&search->mutex);
}

/* ---- either device ---- */

static lsp_status find_facts(lsp_ctx *ctx, const lsp_csr *A, bool entries, lsp_facts *facts) {
    row_search here = {A, entries, PTHREAD_MUTEX_INITIALIZER, facts};
    if (A->where == LSP_CUDA) {
        return lsp_matrices_on_gpu.csr_facts(ctx, A, entries, facts);
    }
    *facts = (lsp_facts){.sum = {0}};
    lsp_csr_for_rows(ctx, A, take_share, &here);
    return LSP_OK;
}

/* A wide sum, or INT64_MAX if that is less. */
static int64_t bounded(const uint64_t wide[2]) {
    return wide[1] != 0 || wide[0] > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)wide[0];
}

/* *s = what the rows of A tell. Mean and standard deviation of their lengths are made from whole numbers. */
static void tell_rows(const lsp_csr *A, const lsp_facts *f, lsp_csr_stats *s) {
    const bool square = A->rows == A->cols;
    *s = (lsp_csr_stats){.empty_rows = (int64_t)f->histogram[0],
                         .min_row = A->rows > 0 ? INT64_MAX - f->most[SHORTEST] : 0,
                         .max_row = f->most[LONGEST],
                         .lower_bandwidth = f->most[LOWER],
                         .upper_bandwidth = f->most[UPPER],
                         .diagonal = (int64_t)f->sum[DIAGONAL],
                         .unsorted_rows = (int64_t)f->sum[FALLING],
                         .zeros = (int64_t)f->sum[ZEROS],
                         .not_finite = (int64_t)f->sum[INFINITE],
                         .square = square,
                         .products = square ? bounded(f->wide[PRODUCTS]) : -1,
                         .product_nnz_bound = square ? bounded(f->wide[BOUND]) : -1};
    memcpy(s->histogram, f->histogram, sizeof s->histogram);
    const __int128 squares = (__int128)f->wide[SQUARES][1] << 64 | (__int128)f->wide[SQUARES][0];
    const __int128 spread = squares * (__int128)A->rows - (__int128)A->nnz * (__int128)A->nnz;
    if (A->rows > 0) {
        s->mean_row = (double)A->nnz / (double)A->rows;
        s->stddev_row = sqrt((double)spread) / (double)A->rows;
    }
}

/* What the columns tell, and symmetry. `tidy` becomes A with sorted rows and without duplicates, if A is not so. */
static lsp_status take_transpose(lsp_ctx *ctx, const lsp_csr *A, bool strict, lsp_csr *tidy, lsp_csr *T,
                                 lsp_csr_stats *s) {
    lsp_facts columns;
    LSP_TRY(lsp_csr_transpose(ctx, A, T));
    LSP_TRY(find_facts(ctx, T, false, &columns));
    s->empty_cols = (int64_t)columns.histogram[0];
    s->max_col = columns.most[LONGEST];
    if (!strict) {
        LSP_TRY(lsp_csr_transpose(ctx, T, tidy)); /* A, its rows sorted */
        LSP_TRY(lsp_csr_sum_duplicates(ctx, tidy, &s->duplicates));
        lsp_csr_free(ctx, T);
        LSP_TRY(lsp_csr_transpose(ctx, tidy, T));
    }
    if (s->square) {
        lsp_found lost;
        const comparing a = {.A = strict ? *A : *tidy, .B = *T, .entries = T->nnz};
        LSP_TRY(LSP_EACH(ctx, A->where, lost,
                         (lsp_each_job){.args = &a,
                                        .n = lsp_max(A->rows, T->nnz),
                                        .kind = {.index = T->col_type, .val = T->val_type},
                                        .found = &lost}));
        s->pattern_symmetric = !(lost.flags & LSP_LOST_PATTERN);
        s->symmetric = !(lost.flags & (LSP_LOST_PATTERN | LSP_LOST_SYMMETRIC));
        s->skew = !(lost.flags & (LSP_LOST_PATTERN | LSP_LOST_SKEW));
        s->hermitian = !(lost.flags & (LSP_LOST_PATTERN | LSP_LOST_HERMITIAN));
    }
    return LSP_OK;
}

lsp_status lsp_csr_get_stats(lsp_ctx *ctx, const lsp_csr *A, lsp_csr_stats *stats) {
    LSP_OWNED_CSR(ctx, T);
    LSP_OWNED_CSR(ctx, tidy);
    lsp_facts rows;
    lsp_csr_stats found;
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(stats, LSP_ERR_ARGUMENT, "the place for the statistics is NULL");
    LSP_TRY(find_facts(ctx, A, true, &rows));
    tell_rows(A, &rows, &found);
    LSP_TRY(take_transpose(ctx, A, rows.sum[REPEATS] == 0, &tidy, &T, &found));
    *stats = found;
    return LSP_OK;
}
