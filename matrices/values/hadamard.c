/* C = A and B multiplied entry by entry: one of them without the entries that the other lacks, its values multiplied by
 * the other's. */
#include "matrices/matrices.h"
#include "values.h"

/* Multiplies the values of C's rows by those of B, which has an entry wherever C has; both ascend. */
typedef struct multiplying {
    const lsp_csr *B, *C;
} multiplying;

static void multiply_rows(void *data, int64_t begin, int64_t end) {
    const multiplying *m = data;
    for (int64_t i = begin; i < end; i++) {
        int64_t q = lsp_csr_rowptr(m->B, i);
        for (int64_t k = lsp_csr_rowptr(m->C, i); k < lsp_csr_rowptr(m->C, i + 1); k++, q++) {
            while (lsp_csr_col(m->B, q) < lsp_csr_col(m->C, k)) {
                q++;
            }
            const lsp_value c = lsp_value_at(m->C, k), b = lsp_value_at(m->B, q);
            double x[2] = {c.re, c.im};
            lsp_multiply(x, m->C->val_type == LSP_C64, (const double[]){b.re, b.im}, m->B->val_type == LSP_C64);
            lsp_value_set(m->C->val_type, m->C->val, k, (lsp_value){lsp_settled(x[0]), lsp_settled(x[1])});
        }
    }
}

/* *ready = A, or a copy, *made, whose rows ascend strictly. */
static lsp_status order(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *made, const lsp_csr **ready) {
    lsp_status status = LSP_OK;
    int64_t row;
    *ready = A;
    LSP_TRY(lsp_csr_find_unsorted(ctx, A, true, &row));
    if (row < A->rows) {
        const lsp_csr_types types = {A->rowptr_type, A->col_type, A->val_type, A->val_type == LSP_NONE, A->where};
        LSP_TRY(lsp_csr_copy(ctx, A, &types, made));
        LSP_TRY(lsp_csr_sort_rows(ctx, made));
        LSP_TRY(lsp_csr_sum_duplicates(ctx, made, NULL));
        *ready = made;
    }
done:
    return status;
}

/* Types of values, the wider the later. */
static int width(lsp_type type) { return type == LSP_NONE ? 0 : type == LSP_F32 ? 1 : type == LSP_F64 ? 2 : 3; }

/* The product of matrices that were checked. Rows of both ascend strictly; where they do not on a GPU, *done is
 * false. */
static lsp_status multiply(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr *C, bool *done) {
    lsp_status status = LSP_OK;
    const bool swap = width(A->val_type) < width(B->val_type);
    const lsp_csr *kept = swap ? B : A, *other = swap ? A : B;
    *done = true;
    if (A->where == LSP_CUDA) {
        const lsp_csr_types types = {kept->rowptr_type, kept->col_type, kept->val_type, kept->val_type == LSP_NONE,
                                     LSP_CUDA};
        return lsp_csr_hadamard_cuda(ctx, kept, other, &types, C, done);
    }
    LSP_TRY(lsp_filter_rows(ctx, kept, &(lsp_filter){.mask = other}, C));
    if (C->val_type != LSP_NONE) {
        lsp_csr_for_rows(ctx, C, multiply_rows, &(multiplying){.B = other, .C = C});
    }
done:
    return status;
}

lsp_status lsp_csr_hadamard(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_csr sorted_a = {0}, sorted_b = {0}, made = {0};
    const lsp_csr *a, *b;
    bool done = false;
    LSP_TRY(lsp_csr_check_there(ctx, "A", A));
    LSP_TRY(lsp_csr_check_there(ctx, "B", B));
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the product is NULL");
    LSP_REQUIRE(A->where == B->where, LSP_ERR_ARGUMENT, "A and B lie in different places");
    LSP_REQUIRE(A->rows == B->rows && A->cols == B->cols, LSP_ERR_ARGUMENT,
                "A is %lld x %lld and B %lld x %lld: entries are multiplied in matrices of one shape",
                (long long)A->rows, (long long)A->cols, (long long)B->rows, (long long)B->cols);
    if (A->where == LSP_CUDA) { /* finds out about the rows on its way */
        LSP_TRY(multiply(ctx, A, B, &made, &done));
    }
    if (!done) {
        LSP_TRY(order(ctx, A, &sorted_a, &a));
        LSP_TRY(order(ctx, B, &sorted_b, &b));
        LSP_TRY(multiply(ctx, a, b, &made, &done));
    }
    lsp_csr_put(ctx, C, &made, C == A || C == B);
done:
    if (ctx != NULL) {
        lsp_csr_free(ctx, &sorted_a);
        lsp_csr_free(ctx, &sorted_b);
        lsp_csr_free(ctx, status == LSP_OK ? NULL : &made);
    }
    return status;
}
