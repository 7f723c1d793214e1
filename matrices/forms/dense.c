/* The elements of a dense array = the entries of A: zeros first, then one store for each entry. Entries at the same
 * place are summed in a sorted copy before, so that no place is stored to twice. */
#include "core/cuda.h"
#include "matrices/bodies.h"

enum { least_share = 1 << 15 };

lsp_status lsp_dense_check(lsp_ctx *ctx, const lsp_dense *D, lsp_dense *fit) {
    LSP_REQUIRE(ctx && D, LSP_ERR_ARGUMENT, "D is NULL");
    LSP_REQUIRE(D->rows >= 0 && D->cols >= 0, LSP_ERR_ARGUMENT, "D has %lld rows and %lld columns: a negative size",
                (long long)D->rows, (long long)D->cols);
    LSP_REQUIRE(D->rows <= INT64_MAX / 16, LSP_ERR_OVERFLOW, "D has %lld rows: more than can be addressed",
                (long long)D->rows);
    LSP_REQUIRE(D->val_type != LSP_NONE && lsp_is_value(D->val_type), LSP_ERR_ARGUMENT,
                "D has elements of type %s: one of " LSP_VALUE_TYPE_NAMES " but the first is needed",
                lsp_type_name(D->val_type));
    LSP_REQUIRE(D->where == LSP_HOST || D->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "D lies at place %d: LSP_HOST or LSP_CUDA is needed", (int)D->where);
    LSP_TRY(D->where == LSP_CUDA ? lsp_csr_check_device(ctx, "D") : LSP_OK);
    const int64_t lines = D->by_columns ? D->cols : D->rows, length = D->by_columns ? D->rows : D->cols;
    const int64_t stride = D->stride == 0 ? length : D->stride;
    int64_t bytes;
    LSP_REQUIRE(stride >= length, LSP_ERR_ARGUMENT, "D has a stride of %lld: 0, or %lld and more, is needed",
                (long long)D->stride, (long long)length);
    LSP_REQUIRE(lsp_mul(lines, stride, &bytes) && lsp_mul(bytes, (int64_t)lsp_type_bytes(D->val_type), &bytes),
                LSP_ERR_OVERFLOW, "D has %lld rows, %lld columns and a stride of %lld: more than can be addressed",
                (long long)D->rows, (long long)D->cols, (long long)stride);
    LSP_REQUIRE(D->val || D->rows == 0 || D->cols == 0, LSP_ERR_ARGUMENT,
                "D has %lld rows and %lld columns, but val is NULL", (long long)D->rows, (long long)D->cols);
    LSP_REQUIRE(lsp_aligned(D->val, D->val_type), LSP_ERR_ARGUMENT, "val of D is not aligned to its items: %p", D->val);
    *fit = *D;
    fit->stride = stride;
    return LSP_OK;
}

/* Clears the elements of lines begin .. end-1: rows, or columns with by_columns. */
static void clear_share(void *data, int64_t begin, int64_t end) {
    const lsp_dense *D = data;
    const size_t bytes = lsp_type_bytes(D->val_type), length = (size_t)(D->by_columns ? D->rows : D->cols);
    for (int64_t line = begin; line < end && length > 0; line++) {
        memset((char *)D->val + (size_t)(line * D->stride) * bytes, 0, length * bytes);
    }
}

/* Clears all elements; those of a GPU without gaps between its lines are one piece of memory. */
static lsp_status clear(lsp_ctx *ctx, lsp_dense *D) {
    const int64_t lines = D->by_columns ? D->cols : D->rows, length = D->by_columns ? D->rows : D->cols;
    if (D->where == LSP_HOST) {
        lsp_for_shares(ctx, lines, lsp_max(least_share / lsp_max(length, 1), 1), clear_share, D);
        return LSP_OK;
    }
    return length == D->stride && lines * length > 0
               ? lsp_cuda_clear(ctx, D->val, lines * length * (int64_t)lsp_type_bytes(D->val_type))
               : LSP_EACH(ctx, D->where, clear_element,
                          (lsp_each_job){.args = D, .n = lines * length, .kind = {.val = D->val_type}});
}

/* The rows of a dense array by rows: cleared and filled while they are in the cache. */
static void fill_share(void *data, int64_t begin, int64_t end) {
    const lsp_entry_job *store = data;
    const copying *a = store->args;
    for (int64_t i = begin; i < end; i++) {
        clear_share((void *)&a->D, i, i + 1);
        lsp_body_store_entry_host(data, i, i + 1);
    }
}

/* No place of A comes twice. */
static lsp_status fill(lsp_ctx *ctx, const lsp_csr *A, lsp_dense *D) {
    const copying a = {.A = *A, .D = *D};
    lsp_entry_job store = {.args = &a, .A = A};
    if (A->where == LSP_HOST && !D->by_columns) {
        lsp_for_shares(ctx, D->rows, lsp_max(least_share / lsp_max(D->cols, 1), 1), fill_share, &store);
        return LSP_OK;
    }
    LSP_TRY(clear(ctx, D));
    return LSP_EACH_ENTRY(ctx, store_entry, store);
}

lsp_status lsp_csr_to_dense(lsp_ctx *ctx, const lsp_csr *A, const lsp_dense *D) {
    LSP_OWNED_CSR(ctx, summed);
    lsp_dense fit;
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_TRY(lsp_dense_check(ctx, D, &fit));
    LSP_REQUIRE(D->where == A->where, LSP_ERR_ARGUMENT, "D lies %s, but A does not",
                D->where == LSP_CUDA ? "on the GPU" : "on the host");
    LSP_REQUIRE(D->rows == A->rows && D->cols == A->cols, LSP_ERR_ARGUMENT, "D is %lld x %lld, but A is %lld x %lld",
                (long long)D->rows, (long long)D->cols, (long long)A->rows, (long long)A->cols);
    LSP_REQUIRE(A->val_type == LSP_NONE || A->val_type == D->val_type, LSP_ERR_ARGUMENT,
                "D has elements of type %s, but A has values of type %s", lsp_type_name(D->val_type),
                lsp_type_name(A->val_type));
    if (D->rows > 0 && D->cols > 0) {
        LSP_TRY(lsp_csr_check_apart(ctx, A, "elements of D", D->val,
                                    D->by_columns ? (D->cols - 1) * fit.stride + D->rows
                                                  : (D->rows - 1) * fit.stride + D->cols,
                                    lsp_type_bytes(D->val_type)));
    }
    /* in a pattern entries count as ones, which must be values to be summed */
    const bool complex_ones = A->val_type == LSP_NONE && D->val_type == LSP_C64;
    LSP_TRY(lsp_csr_order(ctx, &A, true, complex_ones ? LSP_F64 : D->val_type, &summed));
    return fill(ctx, A, &fit);
}
