/* Values changed in place: scaled by rows and columns, mapped by a function of the library or of the caller. */
#include "matrices/bodies.h"

/* Refuses a pattern, and a matrix on a GPU that this context does not have. */
static lsp_status check(lsp_ctx *ctx, const lsp_csr *A, const char *what) {
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(A->val_type != LSP_NONE, LSP_ERR_UNSUPPORTED, "a pattern has no values to be %s", what);
    return LSP_OK;
}

/* Can results be too large for the type of the values? In LSP_BOOL all but 0 is 1. */
static bool may_overflow(const lsp_csr *A) { return A->val_type == LSP_I32 || A->val_type == LSP_I64; }

/* `wide`: the first entry whose result does not fit; LSP_NOWHERE if all do. */
static lsp_status check_results(lsp_ctx *ctx, const lsp_csr *A, uint64_t wide) {
    lsp_csr_spot spot;
    if (wide != LSP_NOWHERE) {
        LSP_TRY(lsp_csr_spot_of(ctx, A, (int64_t)wide, &spot));
        LSP_REQUIRE(false, LSP_ERR_OVERFLOW,
                    "A, row %lld: what the value %lld at column %lld becomes does not fit %s; nothing was changed",
                    (long long)spot.row, (long long)spot.whole, (long long)spot.col, lsp_type_name(A->val_type));
    }
    return LSP_OK;
}

/* ---- scaling ---- */

/* Copies n factors to scratch if they are values of A, which will change. */
static lsp_status set_apart(lsp_ctx *ctx, const lsp_csr *A, int64_t n, const void **factors) {
    const size_t bytes = lsp_type_bytes(A->val_type);
    const uintptr_t at = (uintptr_t)*factors, val = (uintptr_t)A->val;
    void *copy;
    if (*factors == NULL || at + (size_t)n * bytes <= val || at >= val + (size_t)A->nnz * bytes) {
        return LSP_OK;
    }
    LSP_TRY(lsp_scratch_at(ctx, A->where, n, bytes, &copy));
    LSP_TRY(lsp_convert_values(ctx, A->where, A->val_type, copy, A->val_type, *factors, n));
    *factors = copy;
    return LSP_OK;
}

static lsp_status scale(lsp_ctx *ctx, const lsp_csr *A, const void *rows, const void *cols) {
    lsp_found wide = lsp_found_nothing();
    const scaling a = {.A = *A, .rows = rows, .cols = cols};
    lsp_entry_job job = {.args = &a, .A = A, .rowless = rows == NULL, .found = &wide};
    LSP_TRY(may_overflow(A) ? LSP_EACH_ENTRY(ctx, scale_too_wide, job) : LSP_OK);
    LSP_TRY(check_results(ctx, A, wide.first[0]));
    job.found = NULL;
    return LSP_EACH_ENTRY(ctx, scale, job);
}

lsp_status lsp_csr_scale(lsp_ctx *ctx, lsp_csr *A, const void *rows, const void *cols) {
    LSP_ENTER(ctx);
    LSP_TRY(check(ctx, A, "scaled"));
    LSP_REQUIRE(lsp_aligned(rows, A->val_type) && lsp_aligned(cols, A->val_type), LSP_ERR_ARGUMENT,
                "the factors of the rows or of the columns are not aligned to their type, %s",
                lsp_type_name(A->val_type));
    LSP_TRY(set_apart(ctx, A, A->rows, &rows));
    LSP_TRY(set_apart(ctx, A, A->cols, &cols));
    return scale(ctx, A, rows, cols);
}

/* ---- functions ---- */

static lsp_status apply(lsp_ctx *ctx, const lsp_csr *A, lsp_function function, double parameter) {
#define HOST(f, ...) [LSP_APPLY_##f] = lsp_body_map_##f##_host,
#define CUDA(f, ...) [LSP_APPLY_##f] = lsp_bodies_on_gpu.map_##f,
    static lsp_each_host *const host[LSP_FUNCTIONS] = {LSP_MAPS(HOST, )};
    lsp_each_cuda *const cuda[LSP_FUNCTIONS] = {LSP_MAPS(CUDA, )};
    lsp_found wide = lsp_found_nothing();
    const valuing a = {.to = A->val, .parameter = parameter, .function = function};
    lsp_each_job job = {.args = &a, .n = A->nnz, .kind = {.index = A->col_type, .val = A->val_type}, .found = &wide};
    LSP_TRY(may_overflow(A) ? LSP_EACH(ctx, A->where, map_too_wide, job) : LSP_OK);
    LSP_TRY(check_results(ctx, A, wide.first[0]));
    job.found = NULL;
    return lsp_each_item(ctx, A->where, host[function], cuda[function], job);
}

/* Has the function integer results for integers? */
static lsp_status check_whole(lsp_ctx *ctx, lsp_function function, double parameter) {
    const bool takes = function == LSP_APPLY_MULTIPLY || function == LSP_APPLY_ADD || function == LSP_APPLY_POWER ||
                       function == LSP_APPLY_CONSTANT;
    LSP_REQUIRE(function != LSP_APPLY_RECIPROCAL && function != LSP_APPLY_SQRT, LSP_ERR_UNSUPPORTED,
                "reciprocals and square roots of integers are not integers: copy them to LSP_F64 first");
    LSP_REQUIRE(
        !takes || (lsp_is_whole(parameter) && (function != LSP_APPLY_POWER || parameter >= 0)), LSP_ERR_ARGUMENT,
        "a parameter of %.17g for integers: a whole number below 2^63 is needed, and for LSP_APPLY_POWER none below 0",
        parameter);
    return LSP_OK;
}

lsp_status lsp_csr_apply(lsp_ctx *ctx, lsp_csr *A, lsp_function function, double parameter) {
    LSP_TRY(check(ctx, A, "mapped"));
    LSP_REQUIRE((unsigned)function < LSP_FUNCTIONS, LSP_ERR_ARGUMENT, "there is no function %d", (int)function);
    LSP_REQUIRE(A->val_type != LSP_C64 ||
                    (function != LSP_APPLY_SQRT && function != LSP_APPLY_SIGN && function != LSP_APPLY_POWER),
                LSP_ERR_UNSUPPORTED, "square roots, signs and powers of complex values are not offered");
    LSP_TRY(lsp_is_integer(A->val_type) ? check_whole(ctx, function, parameter) : LSP_OK);
    return apply(ctx, A, function, parameter);
}

lsp_status lsp_csr_each_row(lsp_ctx *ctx, lsp_csr *A, lsp_row_fn f, void *user) {
    LSP_TRY(check(ctx, A, "changed"));
    LSP_REQUIRE(A->where == LSP_HOST, LSP_ERR_UNSUPPORTED,
                "A lies on the GPU; a function of the caller changes values on the host only");
    LSP_REQUIRE(f != NULL, LSP_ERR_ARGUMENT, "the function that changes a row is NULL");
    const size_t col_bytes = lsp_type_bytes(A->col_type), val_bytes = lsp_type_bytes(A->val_type);
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t begin = lsp_csr_rowptr(A, i), n = lsp_csr_rowptr(A, i + 1) - begin;
        if (n > 0) {
            const lsp_status ended = f(user, i, n, (const char *)A->col + (size_t)begin * col_bytes,
                                       (char *)A->val + (size_t)begin * val_bytes);
            LSP_REQUIRE(ended == LSP_OK, ended, "the caller's function stopped at row %lld", (long long)i);
        }
    }
    return LSP_OK;
}
