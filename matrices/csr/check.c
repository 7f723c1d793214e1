/* Checks that a struct is a matrix: first the struct, then the row pointers, then every entry, in parallel. The message
 * names the first fault, for any number of threads. Every other function trusts a matrix that passed this check. */
#include "addition.h"
#include "core/arrays.h"
#include "core/cuda.h"
#include "matrices/bodies.h"
#include "matrices/gpu/gpu.h"

enum { least_share = 1 << 15 };

/* ---- the struct ---- */

lsp_status lsp_csr_check_header(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    lsp_csr_types fit;
    LSP_REQUIRE(ctx && A, LSP_ERR_ARGUMENT, "%s is NULL", name);
    LSP_REQUIRE(A->where == LSP_HOST || A->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "%s lies at place %d: LSP_HOST or LSP_CUDA is needed", name, (int)A->where);
    LSP_REQUIRE(A->rows >= 0 && A->cols >= 0 && A->nnz >= 0, LSP_ERR_FORMAT,
                "%s has %lld rows, %lld columns and %lld entries: a negative size", name, (long long)A->rows,
                (long long)A->cols, (long long)A->nnz);
    LSP_REQUIRE(A->rows <= INT64_MAX / 16 && A->nnz <= INT64_MAX / 16, LSP_ERR_FORMAT,
                "%s has %lld rows and %lld entries: more than can be addressed", name, (long long)A->rows,
                (long long)A->nnz);
    LSP_REQUIRE(
        (A->rowptr_type == LSP_I32 || A->rowptr_type == LSP_I64) && (A->col_type == LSP_I32 || A->col_type == LSP_I64),
        LSP_ERR_ARGUMENT, "%s has row pointers of type %s and columns of type %s: only LSP_I32 and LSP_I64 are indices",
        name, lsp_type_name(A->rowptr_type), lsp_type_name(A->col_type));
    LSP_REQUIRE(lsp_is_value(A->val_type), LSP_ERR_ARGUMENT,
                "%s has values of type %s: only " LSP_VALUE_TYPE_NAMES " are offered", name,
                lsp_type_name(A->val_type));
    fit = lsp_types_of(A);
    LSP_TRY(lsp_csr_resolve(ctx, A->cols, A->nnz, A->val_type, &fit, &fit));
    LSP_REQUIRE(lsp_aligned(A->rowptr, A->rowptr_type) && lsp_aligned(A->col, A->col_type) &&
                    lsp_aligned(A->val, A->val_type),
                LSP_ERR_ARGUMENT, "an array of %s is not aligned to its items: rowptr %p, col %p, val %p", name,
                A->rowptr, A->col, A->val);
    LSP_REQUIRE(A->rowptr, LSP_ERR_ARGUMENT, "%s has no row pointers (rowptr is NULL)", name);
    LSP_REQUIRE(A->col || A->nnz == 0, LSP_ERR_ARGUMENT, "%s has %lld entries, but col is NULL", name,
                (long long)A->nnz);
    LSP_REQUIRE(A->val || A->nnz == 0 || A->val_type == LSP_NONE, LSP_ERR_ARGUMENT,
                "%s has %lld entries with values, but val is NULL", name, (long long)A->nnz);
    LSP_REQUIRE(!A->val || A->nnz == 0 || A->val_type != LSP_NONE, LSP_ERR_ARGUMENT,
                "%s is a pattern (val_type LSP_NONE), but val is not NULL", name);
    return LSP_OK;
}

/* ---- rows and entries on the host ---- */

/* For `any`: returns true if the condition holds for a k of begin .. end-1. Blocks are tested without a branch, so that
 * they run in vectors: a product without a plan looks at all row pointers before it writes. `word` is as wide as the
 * items, so that vectors need no conversion. */
#define RETURN_IF_ANY(word, k, begin, end, condition)                                                                  \
    for (int64_t from = (begin), to; from < (end); from = to) {                                                        \
        word found = 0;                                                                                                \
        to = lsp_min(from + 1024, end);                                                                                \
        for (int64_t k = from; k < to; k++) {                                                                          \
            found |= (condition);                                                                                      \
        }                                                                                                              \
        if (found) {                                                                                                   \
            return true;                                                                                               \
        }                                                                                                              \
    }

/* Does a row end before it starts? */
static bool any_falls(const lsp_csr *A, int64_t begin, int64_t end) {
    const int32_t *narrow = A->rowptr;
    const int64_t *wide = A->rowptr;
    if (A->rowptr_type == LSP_I32) {
        RETURN_IF_ANY(uint32_t, i, begin, end, narrow[i] > narrow[i + 1])
    } else {
        RETURN_IF_ANY(uint64_t, i, begin, end, wide[i] > wide[i + 1])
    }
    return false;
}

/* Is the column of an entry outside 0 .. cols-1? */
static bool any_outside(const lsp_csr *A, int64_t begin, int64_t end) {
    const uint32_t *narrow = A->col, cols = (uint32_t)A->cols;
    const uint64_t *wide = A->col;
    if (A->col_type == LSP_I32) {
        RETURN_IF_ANY(uint32_t, k, begin, end, narrow[k] >= cols)
    } else {
        RETURN_IF_ANY(uint64_t, k, begin, end, wide[k] >= (uint64_t)A->cols)
    }
    return false;
}

typedef struct search {
    const lsp_csr *A;
    bool (*any)(const lsp_csr *A, int64_t begin, int64_t end);
    bool found; /* atomic */
} search;

static void search_share(void *data, int64_t begin, int64_t end) {
    search *s = data;
    if (s->any(s->A, begin, end)) {
        __atomic_store_n(&s->found, true, __ATOMIC_RELAXED);
    }
}

static bool find(const lsp_ctx *ctx, search s, int64_t n) {
    lsp_for_shares(ctx, n, least_share, search_share, &s);
    return s.found;
}

lsp_status lsp_csr_check_rows(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    const bool fine = lsp_csr_rowptr(A, 0) == 0 && lsp_csr_rowptr(A, A->rows) == A->nnz &&
                      !find(ctx, (search){.A = A, .any = any_falls}, A->rows);
    return fine ? LSP_OK : lsp_csr_refuse(ctx, name, A);
}

lsp_status lsp_csr_check_arrays(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    LSP_TRY(lsp_csr_check_rows(ctx, name, A));
    return find(ctx, (search){.A = A, .any = any_outside}, A->nnz) ? lsp_csr_refuse(ctx, name, A) : LSP_OK;
}

lsp_status lsp_csr_check_device(lsp_ctx *ctx, const char *name) {
    return ctx->options.device == LSP_CUDA
               ? LSP_OK
               : lsp_fail(ctx, LSP_ERR_DEVICE, "%s lies on the GPU, and this context is on the host", name);
}

lsp_status lsp_csr_check_begin(lsp_ctx *ctx, const char *name, const lsp_csr *A, const unsigned **gate) {
    *gate = NULL;
    LSP_TRY(lsp_csr_check_header(ctx, name, A));
    if (A->where == LSP_HOST) {
        return lsp_csr_check_arrays(ctx, name, A);
    }
    LSP_TRY(lsp_csr_check_device(ctx, name));
    return lsp_matrices_on_gpu.csr_check_begin(ctx, A, gate);
}

lsp_status lsp_csr_check_end(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    return A->where == LSP_CUDA ? lsp_matrices_on_gpu.csr_check_end(ctx, name, A) : LSP_OK;
}

lsp_status lsp_csr_check_valid(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    LSP_ENTER(ctx);
    const unsigned *gate;
    LSP_TRY(lsp_csr_check_begin(ctx, name, A, &gate));
    return lsp_csr_check_end(ctx, name, A);
}

lsp_status lsp_csr_check_addends(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B) {
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_TRY(lsp_csr_check_header(ctx, "B", B));
    LSP_REQUIRE(A->where == B->where, LSP_ERR_ARGUMENT,
                "one of the matrices to be added lies on the GPU, the other in the memory of the host");
    LSP_REQUIRE(A->rows == B->rows && A->cols == B->cols, LSP_ERR_ARGUMENT,
                "a matrix of %lld x %lld cannot be added to one of %lld x %lld", (long long)B->rows, (long long)B->cols,
                (long long)A->rows, (long long)A->cols);
    return LSP_OK;
}

/* ---- in either place: what flags ask for ---- */

lsp_status lsp_csr_find_unsorted(lsp_ctx *ctx, const lsp_csr *A, bool strictly, int64_t *row) {
    lsp_found found = lsp_found_nothing();
    bool sorted = true;
    if (A->where == LSP_HOST) {
        *row = lsp_csr_first_unsorted(ctx, A, strictly);
        return LSP_OK;
    }
    LSP_TRY(lsp_matrices_on_gpu.csr_is_sorted(ctx, A, strictly, &sorted));
    LSP_TRY(sorted ? LSP_OK
                   : LSP_EACH_ENTRY(
                         ctx, unsorted,
                         (lsp_entry_job){.args = &(seeking){.A = *A, .strictly = strictly}, .A = A, .found = &found}));
    *row = sorted ? A->rows : (int64_t)found.first[0];
    return LSP_OK;
}

lsp_status lsp_csr_check_apart(lsp_ctx *ctx, const lsp_csr *A, const char *name, const void *out, int64_t items,
                               size_t bytes) {
    const lsp_named_array arrays[] = {
        {"row pointers of A", A->rowptr, A->rowptr != NULL ? A->rows + 1 : 0, lsp_type_bytes(A->rowptr_type), false, 0},
        {"columns of A", A->col, A->nnz, lsp_type_bytes(A->col_type), false, 0},
        {"values of A", A->val, A->val_type != LSP_NONE ? A->nnz : 0, lsp_type_bytes(A->val_type), false, 0},
        {name, out, items, bytes, true, 0}};
    return lsp_check_arrays(ctx, arrays, 4);
}

/* Checks that no row has a column twice: compares neighbours, after sorting a copy of the columns if they are unsorted.
 */
static lsp_status check_unique(lsp_ctx *ctx, const lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_csr columns = lsp_csr_pattern(A);
    int64_t row;
    LSP_TRY(lsp_csr_find_unsorted(ctx, A, true, &row));
    if (row < A->rows) {
        LSP_TRY(lsp_scratch_at(ctx, A->where, A->nnz, lsp_type_bytes(A->col_type), &columns.col));
        LSP_TRY(lsp_convert_values(ctx, A->where, A->col_type, columns.col, A->col_type, A->col, A->nnz));
        LSP_TRY(lsp_csr_sort_rows(ctx, &columns));
        LSP_TRY(lsp_csr_find_unsorted(ctx, &columns, true, &row));
        LSP_REQUIRE(row == A->rows, LSP_ERR_FORMAT, "A, row %lld holds a column twice", (long long)row);
    }
    return LSP_OK;
}

static lsp_status check_finite(lsp_ctx *ctx, const lsp_csr *A) {
    lsp_csr_spot spot;
    int64_t k;
    LSP_TRY(LSP_EACH_FIRST(ctx, A->where, not_finite, &k,
                           (lsp_each_job){.args = &(valuing){.from = A->val},
                                          .n = A->nnz,
                                          .kind = {.index = A->col_type, .val = A->val_type}}));
    if (k < A->nnz) {
        LSP_TRY(lsp_csr_spot_of(ctx, A, k, &spot));
        LSP_REQUIRE(false, LSP_ERR_FORMAT, "A, row %lld: the value at column %lld is not finite", (long long)spot.row,
                    (long long)spot.col);
    }
    return LSP_OK;
}

lsp_status lsp_csr_check(lsp_ctx *ctx, const lsp_csr *A, unsigned flags) {
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_REQUIRE(flags <= (LSP_CHECK_SORTED | LSP_CHECK_UNIQUE | LSP_CHECK_FINITE), LSP_ERR_ARGUMENT,
                "0x%x are not flags of lsp_csr_check", flags);
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    int64_t row = A->rows;
    LSP_TRY(flags & LSP_CHECK_SORTED ? lsp_csr_find_unsorted(ctx, A, false, &row) : LSP_OK);
    LSP_REQUIRE(row == A->rows, LSP_ERR_FORMAT, "A, row %lld: its columns do not ascend", (long long)row);
    LSP_TRY(flags & LSP_CHECK_UNIQUE ? check_unique(ctx, A) : LSP_OK);
    return flags & LSP_CHECK_FINITE ? check_finite(ctx, A) : LSP_OK;
}
