/* C = alpha*A + beta*B: the rows of both one behind the other, sorted by column, equal neighbours summed. */
#include "matrices/csr/gpu/gpu.h"
#include "matrices/matrices.h"

#include <math.h>

enum { least_share = 1 << 15 };

typedef struct addend {
    const lsp_csr *A;
    double factor;
} addend;

static double value_at(const lsp_csr *A, int64_t k) {
    return A->val_type == LSP_F64   ? ((const double *)A->val)[k]
           : A->val_type == LSP_F32 ? ((const float *)A->val)[k]
                                    : 1;
}

/* The entries of row i of one addend, from `to` on in C. */
static int64_t append_row(const addend *x, int64_t i, const lsp_csr *C, int64_t to) {
    for (int64_t k = lsp_csr_rowptr(x->A, i); k < lsp_csr_rowptr(x->A, i + 1); k++, to++) {
        lsp_index_set(C->col, C->col_type, to, lsp_index_at(x->A->col, x->A->col_type, k));
        if (C->val_type == LSP_F64) {
            ((double *)C->val)[to] = x->factor * value_at(x->A, k);
        } else if (C->val_type == LSP_F32) {
            ((float *)C->val)[to] = (float)x->factor * (float)value_at(x->A, k);
        }
    }
    return to;
}

/* All that is no number becomes the quiet NaN without sign, as in products: so its bits are the same everywhere. */
static void settle(const lsp_ctx *ctx, const lsp_csr *C) {
    double *wide = C->val;
    float *narrow = C->val;
#pragma omp parallel for num_threads(lsp_threads_for(ctx, C->nnz, least_share))
    for (int64_t k = 0; k < C->nnz; k++) {
        if (C->val_type == LSP_F64) {
            wide[k] = isnan(wide[k]) ? (double)NAN : wide[k];
        } else if (C->val_type == LSP_F32) {
            narrow[k] = isnan(narrow[k]) ? NAN : narrow[k];
        }
    }
}

static lsp_status check_addends(lsp_ctx *ctx, const char *name_b, const lsp_csr *A, const lsp_csr *B) {
    lsp_status status = LSP_OK;
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_TRY(lsp_csr_check_header(ctx, name_b, B));
    LSP_REQUIRE(A->where == B->where, LSP_ERR_ARGUMENT,
                "one of the matrices to be added lies on the GPU, the other in the memory of the host");
    LSP_TRY(lsp_csr_check_there(ctx, "A", A));
    LSP_TRY(lsp_csr_check_there(ctx, name_b, B));
    LSP_REQUIRE(A->rows == B->rows && A->cols == B->cols, LSP_ERR_ARGUMENT,
                "a matrix of %lld x %lld cannot be added to one of %lld x %lld", (long long)B->rows, (long long)B->cols,
                (long long)A->rows, (long long)A->cols);
    LSP_REQUIRE(A->val_type != LSP_C64 && B->val_type != LSP_C64, LSP_ERR_UNSUPPORTED,
                "complex matrices cannot be added");
done:
    return status;
}

lsp_status lsp_csr_add_as(lsp_ctx *ctx, const char *name_b, double alpha, const lsp_csr *A, double beta,
                          const lsp_csr *B, lsp_csr *C) {
    lsp_status status = LSP_OK;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    size_t mark = lsp_scratch_mark(ctx);
    lsp_csr made = {0};
    int64_t *starts;
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the sum is NULL");
    LSP_TRY(check_addends(ctx, name_b, A, B));
    if (A->where == LSP_CUDA) {
        LSP_TRY(lsp_csr_add_cuda(ctx, alpha, A, beta, B, &made));
        lsp_csr_put(ctx, C, &made, C == A || C == B);
        goto done;
    }
    const lsp_csr_types types = {.val_type = A->val_type > B->val_type ? A->val_type : B->val_type};
    const addend addends[] = {{A, alpha}, {B, beta}};
    LSP_TRY(LSP_SCRATCH(ctx, A->rows + 1, &starts));
    for (int64_t i = 0; i <= A->rows; i++) {
        starts[i] = lsp_csr_rowptr(A, i) + lsp_csr_rowptr(B, i);
    }
    LSP_TRY(lsp_csr_create_rows(ctx, A->rows, A->cols, starts, &types, &made));
#pragma omp parallel for num_threads(lsp_threads_for(ctx, made.nnz + made.rows, least_share)) schedule(dynamic, 1024)
    for (int64_t i = 0; i < made.rows; i++) {
        append_row(&addends[1], i, &made, append_row(&addends[0], i, &made, starts[i]));
    }
    LSP_TRY(lsp_csr_sort_rows(ctx, &made));
    LSP_TRY(lsp_csr_sum_duplicates(ctx, &made, NULL));
    settle(ctx, &made);
    LSP_TRY(lsp_csr_retype(ctx, &types, &made));
    lsp_csr_put(ctx, C, &made, C == A || C == B);
done:
    lsp_scratch_release(ctx, mark);
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}

lsp_status lsp_csr_add(lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B, lsp_csr *C) {
    return lsp_csr_add_as(ctx, "B", alpha, A, beta, B, C);
}
