/* Values changed in place: scaled by rows and columns, mapped by a function of the library or of the caller. */
#include "core/cuda.h"
#include "values.h"

enum { least_share = 1 << 15 };

/* Refuses a pattern, and a matrix on a GPU that this context does not have. */
static lsp_status check(lsp_ctx *ctx, const lsp_csr *A, const char *what) {
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(A->val_type != LSP_NONE, LSP_ERR_UNSUPPORTED, "a pattern has no values to be %s", what);
    return LSP_OK;
}

/* Can results be too large for the type of the values? In LSP_BOOL all but 0 is 1. */
static bool may_overflow(const lsp_csr *A) { return A->val_type == LSP_I32 || A->val_type == LSP_I64; }

/* `wide`: the first entry whose result does not fit; nnz if all do. */
static lsp_status check_results(lsp_ctx *ctx, const lsp_csr *A, int64_t wide) {
    lsp_csr_spot spot;
    if (wide < A->nnz) {
        LSP_TRY(lsp_csr_spot_of(ctx, A, wide, &spot));
        LSP_REQUIRE(false, LSP_ERR_OVERFLOW,
                    "A, row %lld: what the value %lld at column %lld becomes does not fit %s; nothing was changed",
                    (long long)spot.row, (long long)spot.whole, (long long)spot.col, lsp_type_name(A->val_type));
    }
    return LSP_OK;
}

/* ---- scaling ---- */

typedef struct scaling {
    const lsp_csr *A;
    const void *rows, *cols;
    int64_t wide; /* the first entry whose product does not fit its type; atomic */
} scaling;

LSP_INLINE void scale_rows(lsp_type type, lsp_type col_type, const scaling *s, int64_t begin, int64_t end) {
    const lsp_value one = {1, 0, 1};
    for (int64_t i = begin; i < end; i++) {
        const lsp_value row = s->rows ? lsp_value_of(type, s->rows, i) : one;
        for (int64_t k = lsp_csr_rowptr(s->A, i); k < lsp_csr_rowptr(s->A, i + 1); k++) {
            const lsp_value value = lsp_value_of(type, s->A->val, k);
            const lsp_value col = s->cols ? lsp_value_of(type, s->cols, lsp_index_at(s->A->col, col_type, k)) : one;
            if (lsp_is_integer(type)) {
                lsp_value_set(
                    type, s->A->val, k,
                    (lsp_value){0, 0, (int64_t)((uint64_t)row.whole * (uint64_t)value.whole * (uint64_t)col.whole)});
                continue;
            }
            double x[2] = {value.re, value.im};
            if (s->rows) {
                lsp_scale_number(type, x, (const double[]){row.re, row.im});
            }
            if (s->cols) {
                lsp_scale_number(type, x, (const double[]){col.re, col.im});
            }
            lsp_value_set(type, s->A->val, k, lsp_value_from(lsp_settled(x[0]), lsp_settled(x[1])));
        }
    }
}
LSP_SHARE(scale_share, const scaling, s, LSP_WITH_BOTH(s->A->val_type, s->A->col_type, scale_rows, s, begin, end))

/* Copies n factors to scratch if they are values of A, which will change. */
static lsp_status set_apart(lsp_ctx *ctx, const lsp_csr *A, int64_t n, const void **factors) {
    const size_t bytes = lsp_type_bytes(A->val_type);
    const uintptr_t at = (uintptr_t)*factors, val = (uintptr_t)A->val;
    void *copy;
    if (*factors == NULL || at + (size_t)n * bytes <= val || at >= val + (size_t)A->nnz * bytes) {
        return LSP_OK;
    }
    LSP_TRY(lsp_scratch_at(ctx, A->where, n, bytes, &copy));
    if (A->where == LSP_CUDA) {
        LSP_TRY(lsp_cuda_copy(ctx, copy, LSP_CUDA, *factors, LSP_CUDA, n * (int64_t)bytes));
    } else {
        memcpy(copy, *factors, (size_t)n * bytes);
    }
    *factors = copy;
    return LSP_OK;
}

/* Finds the first entry whose product does not fit. */
LSP_INLINE void find_in_rows(lsp_type type, scaling *s, int64_t begin, int64_t end) {
    const lsp_csr *A = s->A;
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = s->rows ? lsp_index_at(s->rows, type, i) : 1;
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            const int64_t col = s->cols ? lsp_index_at(s->cols, type, lsp_csr_col(A, k)) : 1;
            if (!lsp_scale_fits(type, row, lsp_index_at(A->val, type, k), col)) {
                lsp_lower(&s->wide, k);
                return;
            }
        }
    }
}
LSP_SHARE(find_share, scaling, s, LSP_WITH_INDEX(s->A->val_type, find_in_rows, s, begin, end))

static lsp_status scale(lsp_ctx *ctx, lsp_csr *A, const void *rows, const void *cols) {
    scaling s = {.A = A, .rows = rows, .cols = cols, .wide = A->nnz};
    const bool there = A->where == LSP_CUDA;
    if (may_overflow(A) && there) {
        LSP_TRY(lsp_values_on_gpu.csr_scale_wide(ctx, A, rows, cols, &s.wide));
    } else if (may_overflow(A)) {
        lsp_csr_for_rows(ctx, A, find_share, &s);
    }
    LSP_TRY(check_results(ctx, A, s.wide));
    if (there) {
        return lsp_values_on_gpu.csr_scale(ctx, A, rows, cols);
    }
    lsp_csr_for_rows(ctx, A, scale_share, &s);
    return LSP_OK;
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

typedef struct mapping {
    const lsp_csr *A;
    lsp_function function;
    double parameter;
} mapping;

LSP_INLINE void map_values(lsp_type type, lsp_function function, const mapping *m, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k++) {
        const lsp_value value = lsp_value_of(type, m->A->val, k);
        if (lsp_is_integer(type)) {
            lsp_value_set(type, m->A->val, k, (lsp_value){0, 0, lsp_map_whole(function, m->parameter, value.whole)});
            continue;
        }
        double x[2] = {value.re, value.im};
        lsp_map(function, m->parameter, x, type == LSP_C64);
        lsp_value_set(type, m->A->val, k, lsp_value_from(lsp_settled(x[0]), lsp_settled(x[1])));
    }
}
/* Every function gets a loop of its own. */
#define MAP(f)                                                                                                         \
    case f:                                                                                                            \
        map_values(type, f, m, begin, end);                                                                            \
        break;
LSP_INLINE void map_typed(lsp_type type, const mapping *m, int64_t begin, int64_t end) {
    switch (m->function) {
        MAP(LSP_APPLY_ABS)
        MAP(LSP_APPLY_NEGATE)
        MAP(LSP_APPLY_RECIPROCAL)
        MAP(LSP_APPLY_SQRT)
        MAP(LSP_APPLY_SIGN)
        MAP(LSP_APPLY_CONJUGATE)
        MAP(LSP_APPLY_MULTIPLY)
        MAP(LSP_APPLY_ADD)
        MAP(LSP_APPLY_POWER)
        MAP(LSP_APPLY_CONSTANT)
    }
}
LSP_SHARE(map_share, const mapping, m, LSP_WITH_VALUE(m->A->val_type, map_typed, m, begin, end))

LSP_INLINE int64_t find_result(lsp_type type, const mapping *m, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k++) {
        if (!lsp_map_fits(type, m->function, m->parameter, lsp_index_at(m->A->val, type, k))) {
            return k;
        }
    }
    return end;
}
static int64_t find_wide(const void *data, int64_t begin, int64_t end) {
    const mapping *m = data;
    return LSP_WITH_INDEX(m->A->val_type, find_result, m, begin, end);
}

static lsp_status apply(lsp_ctx *ctx, lsp_csr *A, lsp_function function, double parameter) {
    mapping m = {.A = A, .function = function, .parameter = parameter};
    int64_t wide = A->nnz;
    const bool there = A->where == LSP_CUDA;
    if (may_overflow(A) && there) {
        LSP_TRY(lsp_values_on_gpu.csr_apply_wide(ctx, A, function, parameter, &wide));
    } else if (may_overflow(A)) {
        wide = lsp_first(ctx, A->nnz, find_wide, &m);
    }
    LSP_TRY(check_results(ctx, A, wide));
    if (there) {
        return lsp_values_on_gpu.csr_apply(ctx, A, function, parameter);
    }
    lsp_for_shares(ctx, A->nnz, least_share, map_share, &m);
    return LSP_OK;
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
