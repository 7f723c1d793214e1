/* B[i][j] = A[rows[i]][cols[j]]. Where the list names a column twice, a counting sort gives the places of each column.
 * Rows are sorted last, if need be. */
#include "core/cuda.h"
#include "matrices/bodies.h"

/* ---- lists ---- */

/* All indices of the list must be in 0 .. n-1. */
static lsp_status check_list(lsp_ctx *ctx, const char *what, lsp_where where, const lsp_index_list *list, int64_t n) {
    if (!list->list) {
        return LSP_OK;
    }
    LSP_REQUIRE(list->type == LSP_I32 || list->type == LSP_I64, LSP_ERR_ARGUMENT,
                "the list of %s has indices of type %s: LSP_I32 or LSP_I64 is needed", what, lsp_type_name(list->type));
    LSP_REQUIRE(list->count >= 0 && list->count <= INT64_MAX / 16, LSP_ERR_ARGUMENT,
                "the list of %s has %lld indices: a negative number, or more than can be addressed", what,
                (long long)list->count);
    LSP_REQUIRE(lsp_aligned(list->list, list->type), LSP_ERR_ARGUMENT, "the list of %s is not aligned to its items: %p",
                what, list->list);
    int64_t first, index = 0;
    LSP_TRY(LSP_EACH_FIRST(ctx, where, outside, &first,
                           (lsp_each_job){.args = &(indexing){.from = list->list, .limit = n},
                                          .n = list->count,
                                          .kind = {.index = list->type}}));
    LSP_TRY(first < list->count ? lsp_read_index(ctx, where, list->list, list->type, first, &index) : LSP_OK);
    LSP_REQUIRE(first == list->count, LSP_ERR_ARGUMENT, "the list of %s holds %lld at position %lld, not in 0 .. %lld",
                what, (long long)index, (long long)first, (long long)(n - 1));
    return LSP_OK;
}

/* P = the places of each column 0 .. cols-1 in the list, ascending, as the rows of a pattern. */
static lsp_status find_places(lsp_ctx *ctx, lsp_where where, const lsp_index_list *list, int64_t cols, lsp_csr *P) {
    LSP_SCRATCH_SCOPE(ctx);
    void *places;
    LSP_REQUIRE(list->type == LSP_I64 || list->count <= (int64_t)INT32_MAX + 1, LSP_ERR_OVERFLOW,
                "the list of columns has %lld indices: a list of 2^31 and more needs LSP_I64", (long long)list->count);
    LSP_TRY(lsp_csr_create(ctx, cols, list->count, list->count, &(lsp_csr_types){.place = lsp_place_of(where)}, P));
    LSP_TRY(lsp_scratch_at(ctx, where, list->count, lsp_type_bytes(list->type), &places));
    LSP_TRY(lsp_count_up(ctx, where, places, list->type, list->count));
    return lsp_csr_file(ctx,
                        &(lsp_filing){.n = list->count, .row = list->list, .col = places, .index_type = list->type}, P);
}

/* ---- rows ---- */

/* The wanted rows, whole. */
static lsp_keep rows_of(const keeping *a, const lsp_csr *A, const lsp_index_list *rows) {
    return (lsp_keep){.args = a,
                      .A = A,
                      .rows = rows->list,
                      .rows_type = rows->type,
                      .row_count = rows->count,
                      .cols = A->cols,
                      .all = true,
                      .rowless = true};
}

/* B = these rows, and columns by a list that names some twice: an entry of the rows becomes as many as its column has
 * places in the list. */
static lsp_status extract_often(lsp_ctx *ctx, const lsp_csr *A, const lsp_index_list *rows, const lsp_index_list *cols,
                                lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, taken);
    LSP_OWNED_CSR(ctx, places);
    int64_t nnz = 0;
    LSP_TRY(find_places(ctx, A->where, cols, A->cols, &places));
    if (rows->list) {
        const keeping whole = {.A = *A};
        LSP_TRY(LSP_KEEP(ctx, renamed, &taken, rows_of(&whole, A, rows)));
        A = &taken;
    }
    repeating a = {.A = *A, .P = places};
    LSP_TRY(lsp_scratch_at(ctx, A->where, A->nnz + 1, sizeof *a.starts, (void **)&a.starts));
    LSP_TRY(LSP_EACH(ctx, A->where, count_repeats, (lsp_each_job){.args = &a, .n = A->nnz + 1}));
    LSP_TRY(lsp_csr_add_up(ctx, A->where, A->rows, cols->count, cols->count, a.starts, A->nnz, &nnz));
    const lsp_csr_types types = lsp_types_like(A, cols->count, nnz);
    LSP_TRY(lsp_csr_create(ctx, A->rows, cols->count, nnz, &types, B));
    a.B = *B;
    LSP_TRY(LSP_EACH(ctx, A->where, repeat_rows, (lsp_each_job){.args = &a, .n = A->rows + 1}));
    return LSP_EACH_ENTRY(ctx, repeat_entry, (lsp_entry_job){.args = &a, .A = A, .rowless = true});
}

/* The same for a list that names no column twice, or none at all. *found: flags of the list; with LSP_LIST_TWICE there
 * is no B. */
static lsp_status extract_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_index_list *rows, const lsp_index_list *cols,
                               unsigned *found, lsp_csr *B) {
    const int64_t words = lsp_ceil_div(A->cols, 32);
    lsp_found told = {.flags = 0};
    void *bits = NULL, *places = NULL;
    if (cols->list) {
        LSP_TRY(A->where == LSP_CUDA ? lsp_scratch_filled(ctx, 0, words, sizeof(unsigned), &bits)
                                     : lsp_scratch_bytes(ctx, words, sizeof(unsigned), true, &bits));
        LSP_TRY(lsp_scratch_at(ctx, A->where, A->cols, lsp_type_bytes(cols->type), &places));
        LSP_TRY(LSP_EACH(ctx, A->where, place,
                         (lsp_each_job){.args = &(placing){.list = cols->list, .bits = bits, .places = places},
                                        .n = cols->count,
                                        .kind = {.index = cols->type},
                                        .found = &told}));
    }
    *found = (unsigned)told.flags;
    const keeping a = {.A = *A, .places = places, .places_type = cols->type, .bits = bits};
    lsp_keep keep = rows_of(&a, A, rows);
    keep.cols = cols->count, keep.all = cols->list == NULL;
    return *found & LSP_LIST_TWICE ? LSP_OK
           : cols->list            ? LSP_KEEP(ctx, picked, B, keep)
                                   : LSP_KEEP(ctx, renamed, B, keep);
}

/* Sorts rows that are not sorted. On the host that is what the sort itself does. */
static lsp_status sort_rows(lsp_ctx *ctx, lsp_csr *B) {
    int64_t unsorted = 0;
    LSP_TRY(B->where == LSP_CUDA ? lsp_csr_find_unsorted(ctx, B, false, &unsorted) : LSP_OK);
    return unsorted < B->rows ? lsp_csr_sort_rows(ctx, B) : LSP_OK;
}

/* A list without an array: all of them. */
static lsp_index_list list_of(const lsp_index_list *list, int64_t all) {
    return list && list->list ? *list : (lsp_index_list){.type = LSP_I32, .count = all};
}

lsp_status lsp_csr_extract(lsp_ctx *ctx, const lsp_csr *A, const lsp_index_list *rows, const lsp_index_list *cols,
                           lsp_csr *B) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, made);
    unsigned found;
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the rows and columns is NULL");
    const lsp_index_list r = list_of(rows, A->rows), c = list_of(cols, A->cols);
    LSP_TRY(check_list(ctx, "rows", A->where, &r, A->rows));
    LSP_TRY(check_list(ctx, "columns", A->where, &c, A->cols));
    LSP_REQUIRE(!c.list || A->cols <= INT64_MAX / 16, LSP_ERR_OVERFLOW, "%lld columns are too many to count by",
                (long long)A->cols);
    LSP_TRY(extract_once(ctx, A, &r, &c, &found, &made));
    LSP_TRY(found & LSP_LIST_TWICE ? extract_often(ctx, A, &r, &c, &made) : LSP_OK);
    if (c.list) {
        LSP_TRY(found == LSP_LIST_FALLS ? lsp_csr_sort_rows(ctx, &made) : sort_rows(ctx, &made));
    }
    return lsp_csr_put(ctx, B, &made, B == A);
}
