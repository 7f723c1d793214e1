/* B = the entries of A that a filter keeps: entries within a mask, above a tolerance, and among the largest of their
 * row. One pass marks the entries that stay, then a prefix sum of the counts gives the rows of B. */
#include "core/top.h"
#include "matrices/csr/gpu/gpu.h"
#include "matrices/values/number.h"

enum { least_share = 1 << 15 };

/* |value|, with the bits that a GPU finds. */
static double magnitude(const lsp_csr *A, int64_t k) {
    const lsp_value value = lsp_value_at(A, k);
    return A->val_type == LSP_C64 ? lsp_modulus(value.re, value.im) : fabs(value.re);
}

/* Is |value| at most the tolerance? A NaN is not. */
static bool is_small(const lsp_csr *A, int64_t k, double tolerance) {
    return lsp_is_integer(A->val_type) ? lsp_whole_within(lsp_value_at(A, k).whole, tolerance)
                                       : magnitude(A, k) <= tolerance;
}

/* An integer that orders values as |value| does; all NaN are equal, above infinity. */
static uint64_t rank_at(const lsp_csr *A, int64_t k) {
    if (lsp_is_integer(A->val_type)) {
        return lsp_whole_size(lsp_value_at(A, k).whole);
    }
    return lsp_rank_of(magnitude(A, k));
}

/* Does M have an entry in row i and this column? A binary search; the rows of M are sorted. */
static bool has_entry(const lsp_csr *M, int64_t i, int64_t column) {
    const int64_t end = lsp_csr_rowptr(M, i + 1);
    const int64_t found = LSP_FIRST(lsp_csr_rowptr(M, i), end, middle, lsp_csr_col(M, middle) >= column);
    return found < end && lsp_csr_col(M, found) == column;
}

typedef struct filtering {
    const lsp_csr *A;
    const lsp_filter *filter;
    uint8_t *stays;  /* of each entry */
    int64_t *counts; /* counts[i + 1]: entries of row i that stay */
} filtering;

/* Sets stays[k] by the mask and the tolerance, and counts[i + 1]. */
static void mark_rows(void *data, int64_t begin, int64_t end) {
    const filtering *f = data;
    const lsp_csr *A = f->A;
    const lsp_filter *filter = f->filter;
    uint8_t *stays = f->stays;
    for (int64_t i = begin; i < end; i++) {
        int64_t count = 0;
        const bool tests = filter->drop || filter->mask != NULL;
        if (!tests && lsp_csr_rowptr(A, i + 1) > lsp_csr_rowptr(A, i)) {
            count = lsp_csr_rowptr(A, i + 1) - lsp_csr_rowptr(A, i);
            memset(stays + lsp_csr_rowptr(A, i), 1, (size_t)count);
        }
        for (int64_t k = lsp_csr_rowptr(A, i); tests && k < lsp_csr_rowptr(A, i + 1); k++) {
            const bool small = filter->drop && is_small(A, k, filter->tolerance);
            const bool masked = filter->mask && has_entry(filter->mask, i, lsp_csr_col(A, k)) == filter->complement;
            stays[k] = !small && !masked;
            count += stays[k];
        }
        f->counts[i + 1] = count;
    }
}

/* Rows with more than `largest` entries, and a heap for each. */
typedef struct long_rows {
    const lsp_csr *A;
    int64_t largest; /* entries that stay */
    uint8_t *stays;
    int64_t *counts, *rows;
    lsp_ranked *heap;
} long_rows;

static void select_rows(void *data, int64_t begin, int64_t end) {
    const long_rows *l = data;
    for (int64_t s = begin; s < end; s++) {
        lsp_ranked *heap = l->heap + s * l->largest;
        int64_t n = 0;
        for (int64_t k = lsp_csr_rowptr(l->A, l->rows[s]); k < lsp_csr_rowptr(l->A, l->rows[s] + 1); k++) {
            if (!l->stays[k]) {
                continue;
            }
            const lsp_ranked entry = {rank_at(l->A, k), k};
            if (n < l->largest) {
                lsp_top_append(heap, n++, entry);
            } else if (entry.rank > heap[0].rank) {
                l->stays[heap[0].k] = 0;
                lsp_top_replace(heap, n, entry);
            } else {
                l->stays[k] = 0;
            }
        }
        l->counts[l->rows[s] + 1] = l->largest;
    }
}

/* Of each row that still has more than `largest` entries, those of largest |value| stay. */
static lsp_status keep_largest(lsp_ctx *ctx, const lsp_csr *A, int64_t largest, uint8_t *stays, int64_t *counts) {
    LSP_SCRATCH_SCOPE(ctx);
    long_rows l = {.A = A, .largest = largest, .stays = stays, .counts = counts};
    int64_t segments = 0, items = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        segments += counts[i + 1] > largest;
        items += counts[i + 1] > largest ? counts[i + 1] : 0;
    }
    if (segments == 0) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH(ctx, segments, &l.rows));
    LSP_TRY(LSP_SCRATCH(ctx, segments * largest, &l.heap)); /* fewer than `items` */
    for (int64_t i = 0, s = 0; i < A->rows; i++) {
        if (counts[i + 1] > largest) {
            l.rows[s++] = i;
        }
    }
    lsp_for_shares(ctx, segments, lsp_max(least_share / lsp_ceil_div(items, segments), 1), select_rows, &l);
    return LSP_OK;
}

lsp_status lsp_filter_check_struct(lsp_ctx *ctx, const lsp_filter *filter) {
    LSP_REQUIRE(filter->largest >= 0, LSP_ERR_ARGUMENT,
                "at most %lld entries of a row are to stay: 0 (no limit) or more is needed",
                (long long)filter->largest);
    LSP_REQUIRE(filter->tolerance >= 0, LSP_ERR_ARGUMENT, "a tolerance of %g is given: 0 or more is needed",
                filter->tolerance);
    LSP_REQUIRE(filter->drop || filter->tolerance == 0, LSP_ERR_ARGUMENT,
                "a tolerance of %g is given, but drop is false: no entry would go", filter->tolerance);
    LSP_REQUIRE(filter->mask != NULL || !filter->complement, LSP_ERR_ARGUMENT,
                "the complement of a mask is wanted, but the mask is NULL");
    return lsp_check_reserved(ctx, "lsp_filter", filter->reserved);
}

lsp_status lsp_filter_check(lsp_ctx *ctx, lsp_where where, int64_t rows, int64_t cols, const lsp_filter *filter) {
    LSP_REQUIRE(filter != NULL, LSP_ERR_ARGUMENT, "the filter is NULL");
    LSP_TRY(lsp_filter_check_struct(ctx, filter));
    if (filter->mask != NULL) {
        LSP_TRY(lsp_csr_check_header(ctx, "the mask", filter->mask));
        LSP_REQUIRE(filter->mask->where == where, LSP_ERR_ARGUMENT, "the mask lies %s, but the matrix does not",
                    where == LSP_CUDA ? "on the host" : "on the GPU");
        LSP_TRY(lsp_csr_check_valid(ctx, "the mask", filter->mask));
        LSP_REQUIRE(filter->mask->rows == rows && filter->mask->cols == cols, LSP_ERR_ARGUMENT,
                    "a mask of %lld x %lld does not fit a matrix of %lld x %lld", (long long)filter->mask->rows,
                    (long long)filter->mask->cols, (long long)rows, (long long)cols);
    }
    return LSP_OK;
}

lsp_status lsp_filter_prepare_mask(lsp_ctx *ctx, lsp_where where, lsp_filter *filter, lsp_csr *sorted) {
    LSP_OWNED_CSR(ctx, made);
    const lsp_csr *mask = filter->mask;
    if (mask != NULL &&
        (mask->where != where || where == LSP_CUDA || lsp_csr_first_unsorted(ctx, mask, false) < mask->rows)) {
        LSP_TRY(lsp_csr_copy(ctx, mask, &(lsp_csr_types){.drop_values = true, .place = lsp_place_of(where)}, &made));
        LSP_TRY(lsp_csr_sort_rows(ctx, &made));
        filter->mask = sorted;
    }
    return lsp_csr_put(ctx, sorted, &made, false);
}

typedef struct taking {
    const lsp_csr *A, *B;
    const uint8_t *stays;
    const int64_t *starts; /* of B's rows */
} taking;

static void take_rows(void *data, int64_t begin, int64_t end) {
    const taking *t = data;
    const lsp_csr *A = t->A, *B = t->B;
    for (int64_t i = begin; i < end; i++) {
        int64_t to = t->starts[i];
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            if (t->stays[k]) {
                lsp_index_set(B->col, B->col_type, to, lsp_csr_col(A, k));
                lsp_move_value(B->val, to++, A->val, k, lsp_type_bytes(A->val_type));
            }
        }
    }
}

/* Turns counts[] into the begins of B's rows. */
static lsp_status take_on_host(lsp_ctx *ctx, const lsp_csr *A, const uint8_t *stays, int64_t *counts,
                               const lsp_csr_types *types, lsp_csr *B) {
    lsp_prefix_sum(ctx, counts, A->rows);
    LSP_TRY(lsp_csr_create_rows(ctx, A->rows, A->cols, counts, types, B));
    lsp_csr_for_rows(ctx, A, take_rows, &(taking){.A = A, .B = B, .stays = stays, .starts = counts});
    return LSP_OK;
}

lsp_status lsp_filter_take(lsp_ctx *ctx, const lsp_csr *A, const uint8_t *stays, int64_t *counts,
                           const lsp_csr_types *types, lsp_csr *B) {
    lsp_csr_types of_b = *types;
    of_b.val_type = A->val_type;
    of_b.place = lsp_place_of(A->where);
    return A->where == LSP_CUDA ? lsp_csr_on_gpu.filter_take(ctx, A, stays, counts, &of_b, B)
                                : take_on_host(ctx, A, stays, counts, &of_b, B);
}

static lsp_status filter_on_host(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr_types types = lsp_types_of(A);
    uint8_t *stays;
    int64_t *counts;
    LSP_TRY(LSP_SCRATCH(ctx, A->nnz, &stays));
    LSP_TRY(LSP_SCRATCH(ctx, A->rows + 1, &counts));
    lsp_csr_for_rows(ctx, A, mark_rows, &(filtering){.A = A, .filter = filter, .stays = stays, .counts = counts});
    if (filter->largest > 0) {
        LSP_TRY(keep_largest(ctx, A, filter->largest, stays, counts));
    }
    return take_on_host(ctx, A, stays, counts, &types, B);
}

lsp_status lsp_filter_rows(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B) {
    return A->where == LSP_CUDA ? lsp_csr_on_gpu.filter_rows(ctx, A, filter, B) : filter_on_host(ctx, A, filter, B);
}

lsp_status lsp_csr_filter(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, sorted);
    lsp_csr made = {0};
    LSP_REQUIRE(B != NULL, LSP_ERR_ARGUMENT, "the place for the filtered matrix is NULL");
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_TRY(lsp_filter_check(ctx, A->where, A->rows, A->cols, filter));
    lsp_filter prepared = *filter;
    LSP_TRY(lsp_filter_prepare_mask(ctx, A->where, &prepared, &sorted));
    LSP_TRY(lsp_filter_rows(ctx, A, &prepared, &made));
    return lsp_csr_put(ctx, B, &made, B == A || B == filter->mask);
}
