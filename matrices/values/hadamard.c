/* C = A and B multiplied entry by entry. The rows of both ascend strictly, so each is walked once with the other: first
 * to count, then to fill. */
#include "matrices/gpu/gpu.h"
#include "number.h"

typedef struct multiplying {
    const lsp_csr *A, *B, *C; /* A has the type of C's values; B may have a narrower one */
    int64_t *starts;          /* of C's rows */
} multiplying;

LSP_INLINE int64_t column_at(lsp_type index, const lsp_csr *A, int64_t k) {
    return lsp_index_at(A->col, index == LSP_I32 ? LSP_I32 : A->col_type, k);
}

/* Walks over row i of A and of B. Returns the places that both have; with `fill` they become entries of C. `type`: that
 * of all values; LSP_C64 stands for any. */
LSP_INLINE int64_t walk_row(lsp_type index, lsp_type type, bool fill, const multiplying *m, int64_t i) {
    const bool one = type == LSP_F32 || type == LSP_F64; /* the type of all values */
    const lsp_csr *A = m->A, *B = m->B;
    int64_t a = lsp_csr_rowptr(A, i), b = lsp_csr_rowptr(B, i), to = fill ? m->starts[i] : 0;
    const int64_t a_end = lsp_csr_rowptr(A, i + 1), b_end = lsp_csr_rowptr(B, i + 1);
    while (a < a_end && b < b_end) {
        const int64_t x = column_at(index, A, a), y = column_at(index, B, b);
        if (x == y) {
            if (fill) {
                lsp_index_set(m->C->col, index == LSP_I32 ? LSP_I32 : m->C->col_type, to, x);
                lsp_set_product(one ? type : m->C->val_type, m->C->val, to, A->val, a, one ? type : B->val_type, B->val,
                                b);
            }
            to++;
        }
        a += x <= y;
        b += y <= x;
    }
    return to;
}

static bool is_narrow(const multiplying *m) { return m->A->col_type == LSP_I32 && m->B->col_type == LSP_I32; }

LSP_INLINE void walk_rows(lsp_type index, lsp_type type, bool fill, const multiplying *m, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const int64_t stop = walk_row(index, type, fill, m, i);
        if (!fill) {
            m->starts[i + 1] = stop;
        }
    }
}
LSP_SHARE(count_rows, const multiplying, m,
          LSP_WITH_INDEX(is_narrow(m) ? LSP_I32 : LSP_I64, walk_rows, LSP_NONE, false, m, begin, end))

static bool are_all(const multiplying *m, lsp_type type) { /* C has A's types */
    return is_narrow(m) && m->A->val_type == type && m->B->val_type == type;
}
LSP_SHARE(fill_rows, const multiplying, m,
          are_all(m, LSP_F64)   ? walk_rows(LSP_I32, LSP_F64, true, m, begin, end)
          : are_all(m, LSP_F32) ? walk_rows(LSP_I32, LSP_F32, true, m, begin, end)
          : is_narrow(m)        ? walk_rows(LSP_I32, LSP_C64, true, m, begin, end)
                                : walk_rows(LSP_I64, LSP_C64, true, m, begin, end))

/* The product of matrices that were checked; integers are of LSP_I64, and beside reals there are none. Rows of both
 * ascend strictly; where they do not on a GPU, *done is false. */
static lsp_status multiply(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr *C, bool *done) {
    LSP_SCRATCH_SCOPE(ctx);
    const bool swap = lsp_common_type(A->val_type, B->val_type) != A->val_type;
    multiplying m = {.A = swap ? B : A, .B = swap ? A : B, .C = C};
    const lsp_csr_types types = lsp_types_of(m.A);
    *done = true;
    if (A->where == LSP_CUDA) {
        return lsp_matrices_on_gpu.csr_hadamard(ctx, m.A, m.B, &types, C, done);
    }
    LSP_TRY(LSP_SCRATCH(ctx, A->rows + 1, &m.starts));
    lsp_csr_for_rows(ctx, m.A, count_rows, &m);
    LSP_TRY(lsp_csr_make_rows(ctx, LSP_HOST, A->rows, A->cols, m.starts, -1, &types, C));
    lsp_csr_for_rows(ctx, m.A, fill_rows, &m);
    return LSP_OK;
}

/* The same for rows in any order. The ones of a pattern are summed as values of the product's type; in the product of
 * two patterns several of them are one. */
static lsp_status multiply_any(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    LSP_OWNED_CSR(ctx, sorted_a);
    LSP_OWNED_CSR(ctx, sorted_b);
    bool done = false;
    if (A->where == LSP_CUDA) { /* finds out about the rows on its way */
        LSP_TRY(multiply(ctx, A, B, C, &done));
    }
    if (!done) {
        const lsp_type type = lsp_common_type(A->val_type, B->val_type), ones = type == LSP_C64 ? LSP_F64 : type;
        LSP_TRY(lsp_csr_order(ctx, &A, true, A->val_type == LSP_NONE ? ones : A->val_type, &sorted_a));
        LSP_TRY(lsp_csr_order(ctx, &B, true, B->val_type == LSP_NONE ? ones : B->val_type, &sorted_b));
        LSP_TRY(multiply(ctx, A, B, C, &done));
    }
    return LSP_OK;
}

lsp_status lsp_csr_hadamard(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, made);
    lsp_csr a, b;
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_TRY(lsp_csr_check_valid(ctx, "B", B));
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the product is NULL");
    LSP_REQUIRE(A->where == B->where, LSP_ERR_ARGUMENT, "A and B lie in different places");
    LSP_REQUIRE(A->rows == B->rows && A->cols == B->cols, LSP_ERR_ARGUMENT,
                "A is %lld x %lld and B %lld x %lld: entries are multiplied in matrices of one shape",
                (long long)A->rows, (long long)A->cols, (long long)B->rows, (long long)B->cols);
    const lsp_type type = lsp_common_type(A->val_type, B->val_type);
    const lsp_type wide = type == LSP_C64 ? LSP_F64 : lsp_wide_type(type); /* the other may be complex */
    LSP_TRY(lsp_csr_widen(ctx, A, lsp_is_integer(A->val_type) ? wide : A->val_type, &a));
    LSP_TRY(lsp_csr_widen(ctx, B, lsp_is_integer(B->val_type) ? wide : B->val_type, &b));
    LSP_TRY(multiply_any(ctx, &a, &b, &made));
    LSP_TRY(lsp_is_integer(type) ? lsp_csr_convert_integers(ctx, "the product", type, &made) : LSP_OK);
    return lsp_csr_put(ctx, C, &made, C == A || C == B);
}
