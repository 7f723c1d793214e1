/* Arrays of matrices that change their owner: out of the context, so that they outlive it, and into it. */
#include "core/cuda.h"
#include "matrices/matrices.h"

static lsp_status check_distinct(lsp_ctx *ctx, void *const arrays[3]) {
    static const char *const names[] = {"rowptr", "col", "val"};
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < a; b++) {
            if (arrays[a] && arrays[a] == arrays[b]) {
                return lsp_fail(ctx, LSP_ERR_ARGUMENT, "%s and %s of A are one array, %p: it would be freed twice",
                                names[b], names[a], arrays[a]);
            }
        }
    }
    return LSP_OK;
}

lsp_status lsp_csr_detach(lsp_ctx *ctx, lsp_csr *A, lsp_array arrays[3]) {
    LSP_REQUIRE(ctx && A && arrays, LSP_ERR_ARGUMENT, "the matrix, or the place for its arrays, is NULL");
    void *const own[3] = {A->rowptr, A->col, A->val};
    LSP_TRY(check_distinct(ctx, own));
    for (int a = 0; a < 3; a++) {
        const bool owns = !own[a] || lsp_owns(ctx, own[a]);
        LSP_REQUIRE(owns && !lsp_adopted(ctx, own[a]), LSP_ERR_ARGUMENT,
                    "a matrix of %lld x %lld with %lld entries is not detached: its arrays %s", (long long)A->rows,
                    (long long)A->cols, (long long)A->nnz,
                    owns ? "were adopted, and their release function needs the context" : "are not this context's");
    }
    LSP_TRY(ctx->options.device == LSP_CUDA ? lsp_cuda_wait(ctx) : LSP_OK);
    for (int a = 0; a < 3; a++) {
        arrays[a] = lsp_detach(ctx, own[a]);
    }
    *A = (lsp_csr){0};
    return LSP_OK;
}

lsp_status lsp_csr_adopt(lsp_ctx *ctx, const lsp_csr *A, void (*release)(void *user, void *array), void *user) {
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(release, LSP_ERR_ARGUMENT, "the function that releases the arrays of A is NULL");
    void *const arrays[3] = {A->rowptr, A->col, A->val};
    LSP_TRY(check_distinct(ctx, arrays));
    for (int a = 0; a < 3; a++) {
        const bool shared = lsp_joint_at(ctx, arrays[a]).group != NULL;
        LSP_REQUIRE(!shared && !lsp_owns(ctx, arrays[a]), LSP_ERR_ARGUMENT,
                    "a matrix of %lld x %lld with %lld entries is not adopted: array %p is this context's%s",
                    (long long)A->rows, (long long)A->cols, (long long)A->nnz, arrays[a],
                    shared ? ", which the products of a batch share" : " already");
    }
    return lsp_adopt(ctx, A->where, arrays, release, user);
}
