/* B = A + M. M holds the entries of A off the diagonal at their mirrored places; it is empty for a general matrix. Each
 * row is a merge of A with its transpose, done once to count and once to fill. */
#include "matrices/csr/gpu/gpu.h"

typedef struct expansion {
    const lsp_csr *A, *T; /* both sorted; T = A^T */
    lsp_csr *B;
    lsp_symmetry symmetry;
    int64_t *starts; /* of B's rows */
} expansion;

LSP_INLINE int64_t negated(int64_t x) { return (int64_t)(0 - (uint64_t)x); }

LSP_INLINE lsp_value mirrored(lsp_value v, lsp_symmetry symmetry) {
    return symmetry == LSP_SYMMETRY_SKEW        ? (lsp_value){-v.re, -v.im, negated(v.whole)}
           : symmetry == LSP_SYMMETRY_HERMITIAN ? (lsp_value){v.re, -v.im, v.whole}
                                                : v;
}

/* Writes row i of B from entry `to` on, or with count_only only counts its entries; returns the entry after its last.
 * Floats are added in double and rounded to float, which gives the bits of an addition in float. */
LSP_INLINE int64_t merge_row(lsp_type val_type, bool count_only, const expansion *e, int64_t i, int64_t to) {
    int64_t a = lsp_csr_rowptr(e->A, i), a_stop = lsp_csr_rowptr(e->A, i + 1), last = -1;
    int64_t t_stop = lsp_csr_rowptr(e->T, i + 1),
            t = e->symmetry == LSP_SYMMETRY_GENERAL ? t_stop : lsp_csr_rowptr(e->T, i);
    while (a < a_stop || t < t_stop) {
        int64_t a_col = a < a_stop ? lsp_csr_col(e->A, a) : INT64_MAX;
        int64_t t_col = t < t_stop ? lsp_csr_col(e->T, t) : INT64_MAX;
        if (t_col == i) {
            t++; /* the diagonal is not mirrored */
            continue;
        }
        int64_t column = lsp_min(a_col, t_col);
        bool first = column != last;
        to += first;
        last = column;
        if (!count_only) {
            lsp_value v = a_col <= t_col ? lsp_value_of(val_type, e->A->val, a)
                                         : mirrored(lsp_value_of(val_type, e->T->val, t), e->symmetry);
            if (!first) {
                lsp_value sum = lsp_value_of(val_type, e->B->val, to - 1);
                v = (lsp_value){lsp_settled(sum.re + v.re), lsp_settled(sum.im + v.im),
                                (int64_t)((uint64_t)sum.whole + (uint64_t)v.whole)};
            }
            lsp_index_set(e->B->col, e->B->col_type, to - 1, column);
            lsp_value_set(val_type, e->B->val, to - 1, v);
        }
        a += a_col <= t_col;
        t += a_col > t_col;
    }
    return to;
}

static void count_rows(void *data, int64_t begin, int64_t end) {
    const expansion *e = data;
    for (int64_t i = begin; i < end; i++) {
        e->starts[i + 1] = merge_row(LSP_NONE, true, e, i, 0);
    }
}
LSP_INLINE void fill_rows(lsp_type val_type, const expansion *e, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        merge_row(val_type, false, e, i, e->starts[i]);
    }
}
LSP_SHARE(fill_share, const expansion, e, LSP_WITH_VALUE(e->B->val_type, fill_rows, e, begin, end))

static lsp_status merge(lsp_ctx *ctx, expansion *e) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr *A = e->A;
    LSP_TRY(LSP_SCRATCH(ctx, A->rows + 1, &e->starts));
    lsp_csr_for_rows(ctx, A, count_rows, e);
    lsp_prefix_sum(ctx, e->starts, A->rows);
    const lsp_csr_types types = lsp_types_like(A, A->cols, e->starts[A->rows]);
    LSP_TRY(lsp_csr_create_rows(ctx, A->rows, A->cols, e->starts, &types, e->B));
    lsp_csr_for_rows(ctx, A, fill_share, e);
    return LSP_OK;
}

/* The same on a GPU, where mirrored entries are put behind A's, and sorted and summed with them. */
static lsp_status expand_cuda(lsp_ctx *ctx, const lsp_csr *A, lsp_symmetry symmetry, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, mirror);
    if (symmetry != LSP_SYMMETRY_GENERAL) {
        LSP_TRY(lsp_csr_transpose(ctx, A, &mirror));
    }
    LSP_TRY(lsp_csr_on_gpu.csr_mirror(ctx, A, &mirror, symmetry, B));
    LSP_TRY(lsp_csr_sort_rows(ctx, B));
    LSP_TRY(lsp_csr_sum_duplicates(ctx, B, NULL));
    if (B->rowptr_type != A->rowptr_type && B->nnz <= INT32_MAX) {
        const lsp_csr_types types = lsp_types_of(A);
        LSP_TRY(lsp_csr_retype(ctx, &types, B));
    }
    return LSP_OK;
}

/* Integers narrower than LSP_I64 are expanded in that: sums and opposites must fit. */
static lsp_status expand_narrow(lsp_ctx *ctx, const lsp_csr *A, lsp_symmetry symmetry, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, made);
    lsp_csr wide;
    LSP_TRY(lsp_csr_widen(ctx, A, LSP_I64, &wide));
    LSP_TRY(lsp_csr_expand(ctx, &wide, symmetry, &made));
    LSP_TRY(lsp_csr_narrow(ctx, "the whole matrix", A->val_type, &made));
    return lsp_csr_put(ctx, B, &made, B == A);
}

lsp_status lsp_csr_expand(lsp_ctx *ctx, const lsp_csr *A, lsp_symmetry symmetry, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, mirror);
    LSP_OWNED_CSR(ctx, sorted);
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the whole matrix is NULL");
    LSP_REQUIRE((unsigned)symmetry <= LSP_SYMMETRY_HERMITIAN, LSP_ERR_ARGUMENT, "%d is no symmetry", (int)symmetry);
    LSP_REQUIRE(symmetry == LSP_SYMMETRY_GENERAL || A->rows == A->cols, LSP_ERR_ARGUMENT,
                "a matrix of %lld rows and %lld columns has no mirror image", (long long)A->rows, (long long)A->cols);
    if (lsp_wide_type(A->val_type) != A->val_type) {
        return expand_narrow(ctx, A, symmetry, B);
    }
    if (A->where == LSP_CUDA) {
        LSP_TRY(expand_cuda(ctx, A, symmetry, &made));
        return lsp_csr_put(ctx, B, &made, B == A);
    }
    LSP_TRY(lsp_csr_transpose(ctx, A, &mirror));
    if (lsp_csr_first_unsorted(ctx, A, false) < A->rows) {
        LSP_TRY(lsp_csr_transpose(ctx, &mirror, &sorted));
    }
    LSP_TRY(merge(ctx, &(expansion){.A = sorted.rowptr ? &sorted : A, .T = &mirror, .B = &made, .symmetry = symmetry}));
    return lsp_csr_put(ctx, B, &made, B == A);
}
