/* C = alpha*A + beta*B of one pattern: one pass in blocks that stay in the cache, which compares the columns, checks
 * them and copies them, and sums the values. */
#include "add.h"

enum { block = 1024 };

/* Are the columns begin .. end-1 the same, and inside? */
LSP_INLINE bool same_columns(lsp_type type, const addition *s, int64_t begin, int64_t end) {
    if (type == LSP_I32) {
        const uint32_t *a = s->A->col, *b = s->B->col;
        const uint32_t most = (uint32_t)s->A->cols - 1; /* cols > 0: there are entries */
        uint32_t unlike = 0;
        for (int64_t k = begin; k < end; k++) {
            unlike |= (a[k] ^ b[k]) | (uint32_t)(a[k] > most);
        }
        return unlike == 0;
    }
    const uint64_t *a = s->A->col, *b = s->B->col;
    uint64_t unlike = 0;
    for (int64_t k = begin; k < end; k++) {
        unlike |= (a[k] ^ b[k]) | (uint64_t)(a[k] >= (uint64_t)s->A->cols);
    }
    return unlike == 0;
}

/* How many of the columns begin .. end-1 are not above the one before? */
LSP_INLINE int64_t falls(lsp_type type, const void *col, int64_t begin, int64_t end) {
    if (type == LSP_I32) {
        const int32_t *c = col;
        int32_t count = 0; /* of a block */
        for (int64_t k = begin; k < end; k++) {
            count += c[k] <= c[k - 1];
        }
        return count;
    }
    int64_t count = 0;
    for (int64_t k = begin; k < end; k++) {
        count += lsp_index_at(col, LSP_I64, k) <= lsp_index_at(col, LSP_I64, k - 1);
    }
    return count;
}

LSP_INLINE void sum_values(lsp_type type, const addition *s, int64_t begin, int64_t end) {
    if (type == LSP_F64) {
        const double *a = s->A->val, *b = s->B->val, alpha = s->alpha, beta = s->beta;
        double *restrict c = s->C->val;
        for (int64_t k = begin; k < end; k++) {
            c[k] = lsp_settled(alpha * a[k] + beta * b[k]);
        }
    } else if (type == LSP_F32) {
        const float *a = s->A->val, *b = s->B->val, alpha = (float)s->alpha, beta = (float)s->beta;
        float *restrict c = s->C->val;
        for (int64_t k = begin; k < end; k++) {
            const float sum = alpha * a[k] + beta * b[k];
            c[k] = isnan(sum) ? NAN : sum;
        }
    }
}

/* Within a row columns ascend if all that fall do so where a row begins. */
LSP_INLINE void add_rows_of(lsp_type index, addition *s, int64_t begin, int64_t end) {
    const size_t bytes = lsp_type_bytes(index);
    const lsp_csr *A = s->A;
    const int64_t first = lsp_index_at(A->rowptr, index, begin), stop = lsp_index_at(A->rowptr, index, end);
    int64_t row = begin;
    for (int64_t k = first; k < stop && __atomic_load_n(&s->bad, __ATOMIC_RELAXED) == 0; k += block) {
        const int64_t to = lsp_min(k + block, stop);
        int64_t fallen = falls(index, A->col, lsp_max(k, first + 1), to), start;
        for (; row < end && (start = lsp_index_at(A->rowptr, index, row)) < to; row++) {
            const bool counts = start > first && start < lsp_index_at(A->rowptr, index, row + 1);
            fallen -= counts && lsp_index_at(A->col, index, start) <= lsp_index_at(A->col, index, start - 1);
        }
        if (!same_columns(index, s, k, to) || fallen != 0) {
            __atomic_store_n(&s->bad, 1, __ATOMIC_RELAXED);
            return;
        }
        memcpy((char *)s->C->col + (size_t)k * bytes, (const char *)A->col + (size_t)k * bytes,
               (size_t)(to - k) * bytes);
        if (A->val_type == LSP_F64) {
            sum_values(LSP_F64, s, k, to);
        } else {
            sum_values(A->val_type, s, k, to);
        }
    }
    memcpy((char *)s->C->rowptr + (size_t)(begin + 1) * bytes, (const char *)A->rowptr + (size_t)(begin + 1) * bytes,
           (size_t)(end - begin) * bytes);
}

static void add_rows(void *data, int64_t begin, int64_t end) {
    addition *s = data;
    if (s->A->col_type == LSP_I32) {
        add_rows_of(LSP_I32, s, begin, end);
    } else {
        add_rows_of(LSP_I64, s, begin, end);
    }
}

lsp_status lsp_csr_add_alike(lsp_ctx *ctx, addition *s, const lsp_csr_types *types, bool *done) {
    lsp_status status = LSP_OK;
    const lsp_csr *A = s->A, *B = s->B;
    lsp_csr_types fit;
    *done = false;
    LSP_TRY(lsp_csr_resolve(ctx, A->cols, A->nnz, LSP_NONE, types, &fit));
    if (A->nnz == 0 || A->cols == 0 || A->nnz != B->nnz || A->val_type != B->val_type ||
        A->rowptr_type != A->col_type || A->rowptr_type != fit.rowptr_type || A->col_type != fit.col_type ||
        B->rowptr_type != fit.rowptr_type || B->col_type != fit.col_type ||
        memcmp(A->rowptr, B->rowptr, (size_t)(A->rows + 1) * lsp_type_bytes(A->rowptr_type)) != 0) {
        goto done;
    }
    LSP_TRY(lsp_csr_create(ctx, A->rows, A->cols, A->nnz, types, s->C));
    lsp_csr_for_rows(ctx, A, add_rows, s);
    *done = s->bad == 0;
    if (!*done) {
        lsp_csr_free(ctx, s->C);
        s->bad = 0;
    }
done:
    return status;
}
