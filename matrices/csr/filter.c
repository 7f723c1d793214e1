/* B = the entries of A that a filter keeps: entries within a mask, above a tolerance, and among the largest of their
 * row. */
#include "core/top.h"
#include "matrices/bodies.h"

enum { least_share = 1 << 15 };

/* Rows with more than `largest` entries, and a heap for each. */
typedef struct long_rows {
    const lsp_csr *A;
    int64_t largest; /* entries that stay */
    uint8_t *stays;
    int64_t *rows;
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
            const lsp_ranked entry = {entry_rank(l->A->val_type, l->A->val, k), k};
            if (n < l->largest) {
                lsp_top_append(heap, n++, entry);
            } else if (entry.rank > heap[0].rank) {
                l->stays[heap[0].k] = 0;
                lsp_top_replace(heap, n, entry);
            } else {
                l->stays[k] = 0;
            }
        }
    }
}

/* Of each row with more than `largest` entries that stay, those of largest |value| stay. */
static lsp_status keep_largest_here(lsp_ctx *ctx, const lsp_csr *A, int64_t largest, uint8_t *stays) {
    LSP_SCRATCH_SCOPE(ctx);
    long_rows l = {.A = A, .largest = largest, .stays = stays};
    int64_t segments = 0, items = 0;
    LSP_TRY(LSP_SCRATCH(ctx, lsp_min(A->nnz / largest, A->rows), &l.rows));
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t length = lsp_csr_rowptr(A, i + 1) - lsp_csr_rowptr(A, i);
        if (length > largest) {
            l.rows[segments++] = i;
            items += length;
        }
    }
    if (segments == 0) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH(ctx, segments * largest, &l.heap)); /* fewer than `items` */
    lsp_for_shares(ctx, segments, lsp_max(least_share / lsp_ceil_div(items, segments), 1), select_rows, &l);
    return LSP_OK;
}

/* The same on a GPU: a segmented sort of the ranks. */
static lsp_status keep_largest_there(lsp_ctx *ctx, const lsp_csr *A, int64_t largest, uint8_t *stays) {
    LSP_SCRATCH_SCOPE(ctx);
    ranking a = {.A = *A, .largest = largest, .stays = stays};
    const lsp_entry_job entries = {.args = &a, .A = A};
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->nnz, &a.ranks));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->nnz, &a.places));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->rows, lsp_type_bytes(A->rowptr_type), &a.ends));
    LSP_TRY(LSP_EACH(ctx, LSP_CUDA, end_ranks, (lsp_each_job){.args = &a, .n = A->rows}));
    LSP_TRY(LSP_EACH_ENTRY(ctx, rank_entry, entries));
    LSP_TRY(lsp_segsort(ctx,
                        &(lsp_segsort_args){.n = A->nnz,
                                            .segments = A->rows,
                                            .offsets = A->rowptr,
                                            .ends = a.ends,
                                            .offset_type = A->rowptr_type,
                                            .key_type = LSP_U64,
                                            .value_bytes = sizeof *a.places,
                                            .keys = a.ranks,
                                            .keys_out = a.ranks,
                                            .values_out = a.places,
                                            .flags = LSP_SORT_DESCENDING | LSP_SORT_GLOBAL_POSITIONS,
                                            .where = LSP_CUDA},
                        NULL));
    return LSP_EACH_ENTRY(ctx, drop_ranked, entries);
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

lsp_status lsp_filter_take(lsp_ctx *ctx, const lsp_csr *A, uint8_t *stays, const lsp_csr_types *types, lsp_csr *B) {
    const keeping a = {.A = *A, .stays = stays};
    return LSP_KEEP(ctx, taken, B, (lsp_keep){.args = &a, .A = A, .cols = A->cols, .rowless = true, .types = types});
}

lsp_status lsp_filter_rows(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    keeping a = {.A = *A, .complement = filter->complement, .drop = filter->drop, .tolerance = filter->tolerance};
    const lsp_csr_types types = lsp_types_of(A);
    if (filter->mask == NULL && filter->largest == 0) {
        return LSP_KEEP(ctx, filter, B,
                        (lsp_keep){.args = &a, .A = A, .cols = A->cols, .rowless = true, .types = &types});
    }
    /* a search in a mask is not done twice, and the largest are known at the end */
    LSP_TRY(lsp_scratch_at(ctx, A->where, A->nnz, sizeof *a.stays, (void **)&a.stays));
    if (filter->mask != NULL) {
        a.mask = *filter->mask;
    }
    LSP_TRY(LSP_EACH_ENTRY(ctx, mark, (lsp_entry_job){.args = &a, .A = A, .rowless = filter->mask == NULL}));
    if (filter->largest > 0 && A->nnz > 0) {
        LSP_TRY(A->where == LSP_CUDA ? keep_largest_there(ctx, A, filter->largest, a.stays)
                                     : keep_largest_here(ctx, A, filter->largest, a.stays));
    }
    return lsp_filter_take(ctx, A, a.stays, &types, B);
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
