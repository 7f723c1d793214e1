/* C = op(A)*op(B) on a GPU by a plan, in two passes, in plain C: the kernels are started by the .cu files of this
 * folder, and refused by none.c in a build without CUDA. */
#include "core/cuda.h"
#include "spgemm/spgemm.h"

#include <stdio.h>

void lsp_spgemm_gpu_describe(lsp_spgemm_plan *plan) {
    const uint32_t *bins = plan->gpu.count_bins;
    int64_t few = 0, more = 0;
    for (int bin = LSP_BIN_SORT_1; bin < LSP_BIN_LONG; bin++) {
        *(bin < LSP_BIN_COUNT_64 ? &few : &more) += bins[bin];
    }
    plan->info.method = LSP_SPGEMM_SORT;
    plan->info.blocks = 1;
    plan->info.scratch_bytes = plan->facts.rows * 17 + plan->gpu.dense_b.bytes;
    if (plan->gpu.dense_b.strips > 0) {
        snprintf(plan->info.reason, sizeof plan->info.reason,
                 "on the GPU; B is nearly dense: each row in %lld strips of 32 columns",
                 (long long)plan->gpu.dense_b.strips);
        return;
    }
    snprintf(plan->info.reason, sizeof plan->info.reason,
             "on the GPU; %lld rows sorted by a warp or less, %lld of more products, %lld of very many products",
             (long long)few, (long long)more, (long long)bins[LSP_BIN_LONG]);
}

/* Allocates C, if it and the scratch of the second pass fit. Its row pointers are not written yet. */
static lsp_status make_result(lsp_spgemm_plan *plan, lsp_csr *C) {
    enum { ASKED_FROM = 64 << 20 }; /* bytes; for fewer, the call does not ask for the free memory, which is slow */
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    int64_t nnz = plan->info.nnz, scratch = lsp_spgemm_gpu_fill_bytes(plan), needed;
    int64_t bytes = lsp_spgemm_result_bytes(plan);
    LSP_TRY(lsp_spgemm_shape(plan, C));
    if (!lsp_add(bytes, scratch, &needed) || needed >= ASKED_FROM || ctx->options.max_bytes > 0) {
        int64_t available = lsp_available_bytes(ctx, LSP_CUDA);
        const bool fits = bytes <= available && scratch <= available - bytes;
        if (!fits && lsp_spgemm_gpu_replay_drop(plan)) {
            return make_result(plan, C);
        }
        LSP_REQUIRE(fits, LSP_ERR_MEMORY,
                    "the product has %lld entries and needs %lld bytes (%s) and %lld of scratch on the GPU; %lld (%s) "
                    "are available",
                    (long long)nnz, (long long)bytes, lsp_size(bytes).text, (long long)scratch, (long long)available,
                    lsp_size(available).text);
    }
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, C->rows + 1, lsp_type_bytes(C->rowptr_type), &C->rowptr));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, nnz, lsp_type_bytes(C->col_type), &C->col));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, C->val_type ? nnz : 0, lsp_type_bytes(C->val_type), &C->val));
done:
    return status;
}

/* Fills C, whose arrays are allocated. If `update`, C has its structure already. */
static lsp_status fill(lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, bool update, lsp_csr *C) {
    lsp_status status = LSP_OK;
    if (plan->gpu.replay.pairs != NULL) {
        LSP_TRY(lsp_spgemm_gpu_replay_run(plan, operands, C, !update));
    } else {
        LSP_TRY(lsp_spgemm_gpu_fill(plan, operands, update, C));
        if (plan->uses == 1) {
            LSP_TRY(lsp_spgemm_gpu_replay_build(plan, operands, C));
        }
    }
done:
    return status;
}

/* Computes the values of the caller's C again. Kernels may be unable to write to its array: then they write to
 * scratch. */
static lsp_status fill_again(lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, const lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_csr made = *C;
    if (!lsp_spgemm_gpu_aligned(C->val_type, C->val)) {
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, C->nnz, lsp_type_bytes(C->val_type), &made.val));
    }
    LSP_TRY(fill(plan, operands, true, &made));
    if (made.val != C->val) {
        const int64_t bytes = C->nnz * (int64_t)lsp_type_bytes(C->val_type);
        LSP_TRY(lsp_cuda_copy(ctx, C->val, LSP_CUDA, made.val, LSP_CUDA, bytes));
    }
done:
    return status;
}

lsp_status lsp_spgemm_gpu_multiply(lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, bool update,
                                   lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_csr made = {0};
    if (!plan->counted) {
        LSP_TRY(lsp_spgemm_gpu_count(plan, operands));
        plan->counted = true;
    }
    if (update) {
        LSP_TRY(fill_again(plan, operands, C));
    } else {
        LSP_TRY(make_result(plan, &made));
        LSP_TRY(fill(plan, operands, false, &made));
        *C = made;
    }
done:
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}
