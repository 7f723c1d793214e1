/* Makes and frees matrices: chooses the types, checks that the bytes are available, allocates the arrays. */
#include "matrices/matrices.h"

#include "core/cuda.h"
#include "core/scan.h"

enum { asked_from = 64 << 20 }; /* bytes; from this size on, the free memory is checked first */

static bool is_index(lsp_type type) { return type == LSP_I32 || type == LSP_I64; }

lsp_status lsp_csr_resolve(lsp_ctx *ctx, int64_t cols, int64_t nnz, lsp_type source, const lsp_csr_types *types,
                           lsp_csr_types *fit) {
    const int64_t most_cols = (int64_t)INT32_MAX + 1;
    lsp_csr_types t = types ? *types : (lsp_csr_types){0};
    if (t.rowptr_type == LSP_NONE) {
        t.rowptr_type = nnz <= INT32_MAX ? LSP_I32 : LSP_I64;
    }
    if (t.col_type == LSP_NONE) {
        t.col_type = cols <= most_cols ? LSP_I32 : LSP_I64;
    }
    t.val_type = t.val_type == LSP_NONE && !t.drop_values ? source : t.val_type;
    LSP_REQUIRE(is_index(t.rowptr_type) && is_index(t.col_type), LSP_ERR_ARGUMENT,
                "row pointers of type %s, columns of type %s: only LSP_I32 and LSP_I64 are indices",
                lsp_type_name(t.rowptr_type), lsp_type_name(t.col_type));
    LSP_REQUIRE(lsp_is_value(t.val_type), LSP_ERR_ARGUMENT,
                "values of type %s: only " LSP_VALUE_TYPE_NAMES " are offered", lsp_type_name(t.val_type));
    t.val_type = t.drop_values ? LSP_NONE : t.val_type;
    LSP_REQUIRE((unsigned)t.place <= LSP_PLACE_CUDA, LSP_ERR_ARGUMENT, "there is no place %d for a matrix",
                (int)t.place);
    LSP_REQUIRE(t.rowptr_type == LSP_I64 || nnz <= INT32_MAX, LSP_ERR_OVERFLOW,
                "%lld entries do not fit row pointers of 32 bits", (long long)nnz);
    LSP_REQUIRE(t.col_type == LSP_I64 || cols <= most_cols, LSP_ERR_OVERFLOW,
                "%lld columns do not fit column indices of 32 bits", (long long)cols);
    *fit = t;
    return LSP_OK;
}

lsp_status lsp_csr_check_memory(lsp_ctx *ctx, int64_t rows, int64_t nnz, const lsp_csr_types *types) {
    int64_t pointers, entries, bytes = 0;
    int64_t entry_bytes = (int64_t)(lsp_type_bytes(types->col_type) + lsp_type_bytes(types->val_type));
    LSP_REQUIRE(lsp_add(rows, 1, &pointers) &&
                    lsp_mul(pointers, (int64_t)lsp_type_bytes(types->rowptr_type), &pointers) &&
                    lsp_mul(nnz, entry_bytes, &entries) && lsp_add(pointers, entries, &bytes),
                LSP_ERR_OVERFLOW, "%lld rows with %lld entries need more bytes than can be addressed", (long long)rows,
                (long long)nnz);
    const lsp_where where = lsp_where_of(types->place, LSP_HOST);
    if (bytes >= asked_from && bytes > ctx->space[where].kept) { /* asking the system takes its time */
        int64_t available = lsp_available_bytes(ctx, where);
        LSP_REQUIRE(bytes <= available, LSP_ERR_MEMORY,
                    "%lld rows with %lld entries need %lld bytes (%s), but only %s are available", (long long)rows,
                    (long long)nnz, (long long)bytes, lsp_size(bytes).text, lsp_size(available).text);
    }
    return LSP_OK;
}

static void clear_share(void *data, int64_t begin, int64_t end) {
    memset((char *)data + begin, 0, (size_t)(end - begin));
}

/* rowptr = 0 everywhere, in either place. */
static lsp_status clear_rowptr(lsp_ctx *ctx, lsp_csr *A) {
    const int64_t bytes = (A->rows + 1) * (int64_t)lsp_type_bytes(A->rowptr_type);
    if (A->where == LSP_CUDA) {
        return lsp_cuda_clear(ctx, A->rowptr, bytes);
    }
    lsp_for_shares(ctx, bytes, 1 << 20, clear_share, A->rowptr);
    return LSP_OK;
}

lsp_status lsp_csr_create(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t nnz, const lsp_csr_types *types,
                          lsp_csr *A) {
    lsp_csr_types fit = {0};
    LSP_OWNED_CSR(ctx, made);
    LSP_REQUIRE(ctx && A, LSP_ERR_ARGUMENT, "the place for the matrix is NULL");
    LSP_REQUIRE(rows >= 0 && cols >= 0 && nnz >= 0, LSP_ERR_ARGUMENT,
                "a matrix of %lld rows, %lld columns and %lld entries has a negative size", (long long)rows,
                (long long)cols, (long long)nnz);
    LSP_TRY(lsp_csr_resolve(ctx, cols, nnz, LSP_NONE, types, &fit));
    made.rows = rows;
    made.cols = cols;
    made.nnz = nnz;
    made.where = lsp_where_of(fit.place, LSP_HOST);
    LSP_REQUIRE(made.where == LSP_HOST || ctx->options.device == LSP_CUDA, LSP_ERR_DEVICE,
                "a matrix on the GPU needs a context on the GPU, and this one is on the host");
    LSP_TRY(lsp_csr_check_memory(ctx, rows, nnz, &fit));
    made.rowptr_type = fit.rowptr_type;
    made.col_type = fit.col_type;
    made.val_type = fit.val_type;
    LSP_TRY(lsp_alloc(ctx, made.where, rows + 1, lsp_type_bytes(fit.rowptr_type), &made.rowptr));
    LSP_TRY(lsp_alloc(ctx, made.where, nnz, lsp_type_bytes(fit.col_type), &made.col));
    LSP_TRY(lsp_alloc(ctx, made.where, fit.val_type ? nnz : 0, lsp_type_bytes(fit.val_type), &made.val));
    LSP_TRY(clear_rowptr(ctx, &made));
    return lsp_csr_put(ctx, A, &made, false);
}

lsp_status lsp_csr_create_rows(lsp_ctx *ctx, int64_t rows, int64_t cols, const int64_t *starts,
                               const lsp_csr_types *types, lsp_csr *A) {
    LSP_TRY(lsp_csr_create(ctx, rows, cols, starts[rows], types, A));
    return lsp_convert_values(ctx, A->where, A->rowptr_type, A->rowptr, LSP_I64, starts, rows + 1);
}

lsp_status lsp_csr_make_rows(lsp_ctx *ctx, lsp_where where, int64_t rows, int64_t cols, int64_t *counts, int64_t nnz,
                             const lsp_csr_types *types, lsp_csr *A) {
    lsp_csr_types of_a = *types;
    of_a.place = lsp_place_of(where);
    if (where == LSP_HOST) {
        lsp_prefix_sum(ctx, counts, rows);
        nnz = counts[rows];
    } else {
        LSP_TRY(lsp_cuda_scan(ctx, counts, rows + 1, nnz < 0 ? &nnz : NULL));
    }
    LSP_TRY(lsp_csr_create(ctx, rows, cols, nnz, &of_a, A));
    return lsp_convert_values(ctx, where, A->rowptr_type, A->rowptr, LSP_I64, counts, rows + 1);
}

static void free_arrays(lsp_ctx *ctx, const lsp_csr *A) {
    lsp_free(ctx, A->rowptr);
    lsp_free(ctx, A->col);
    lsp_free(ctx, A->val);
}

bool lsp_csr_is_own(const lsp_ctx *ctx, const lsp_csr *A) {
    return (!A->rowptr || lsp_owns(ctx, A->rowptr)) && (!A->col || lsp_owns(ctx, A->col)) &&
           (!A->val || lsp_owns(ctx, A->val));
}

lsp_status lsp_csr_free(lsp_ctx *ctx, lsp_csr *A) {
    LSP_REQUIRE(ctx, LSP_ERR_ARGUMENT, "the context is NULL");
    if (A && !lsp_csr_is_own(ctx, A)) {
        const lsp_joint joint = lsp_joint_at(ctx, A->rowptr);
        LSP_REQUIRE(!joint.group, LSP_ERR_ARGUMENT,
                    "a matrix of %lld x %lld with %lld entries is not freed: it shares memory with the others of its "
                    "batch of %lld, which lsp_spgemm_batch_free frees together",
                    (long long)A->rows, (long long)A->cols, (long long)A->nnz, (long long)joint.sharers);
        LSP_REQUIRE(false, LSP_ERR_ARGUMENT,
                    "a matrix of %lld x %lld with %lld entries is not freed: its arrays are not this context's",
                    (long long)A->rows, (long long)A->cols, (long long)A->nnz);
    }
    if (A) {
        free_arrays(ctx, A);
        *A = (lsp_csr){0};
    }
    return LSP_OK;
}

lsp_status lsp_csr_put(lsp_ctx *ctx, lsp_csr *C, lsp_csr *made, bool is_input) {
    if (is_input) {
        free_arrays(ctx, C);
    }
    *C = *made;
    *made = (lsp_csr){0};
    return LSP_OK;
}
