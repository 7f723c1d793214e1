/* C = op(A)*op(B) on a GPU, in plain C: the device's table, and the two passes of a plan. The .cu files of this folder
 * start the kernels. */
#include "core/cuda.h"
#include "gpu.h"
#include "spgemm/batch.h"

#include <stdio.h>

static void describe(lsp_spgemm_plan *plan, const lsp_csr *B) {
    const uint32_t *bins = plan->gpu->count_bins;
    int64_t few = 0, more = 0;
    (void)B;
    for (int bin = LSP_BIN_SORT_1; bin < LSP_BIN_LONG; bin++) {
        *(bin < LSP_BIN_COUNT_64 ? &few : &more) += bins[bin];
    }
    plan->info.method = LSP_SPGEMM_SORT;
    plan->info.blocks = 1;
    plan->info.scratch_bytes = plan->facts.rows * 17 + plan->gpu->dense_b.bytes;
    if (plan->gpu->dense_b.strips > 0) {
        snprintf(plan->info.reason, sizeof plan->info.reason,
                 "on the GPU; B is nearly dense: each row in %lld strips of 32 columns",
                 (long long)plan->gpu->dense_b.strips);
        return;
    }
    snprintf(plan->info.reason, sizeof plan->info.reason,
             "on the GPU; %lld rows sorted by a warp or less, %lld of more products, %lld of very many products",
             (long long)few, (long long)more, (long long)bins[LSP_BIN_LONG]);
}

/* Allocates C, if it and the scratch of the second pass fit. Its row pointers are not written yet. */
static lsp_status make_result(lsp_spgemm_plan *plan, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    const int64_t nnz = plan->info.nnz, scratch = lsp_spgemm_gpu_fill_bytes(plan);
    const int64_t bytes = lsp_spgemm_result_bytes(plan);
    int64_t needed = INT64_MAX;
    (void)lsp_add(bytes, scratch, &needed);
    const int64_t available = lsp_spgemm_room(ctx, LSP_CUDA, needed);
    const bool fits = bytes <= available && scratch <= available - bytes;
    if (!fits && lsp_spgemm_gpu_replay_drop(plan)) {
        return make_result(plan, C);
    }
    LSP_REQUIRE(fits, LSP_ERR_MEMORY,
                "the product has %lld entries and needs %lld bytes (%s) and %lld of scratch on the GPU; %lld (%s) are "
                "available",
                (long long)nnz, (long long)bytes, lsp_size(bytes).text, (long long)scratch, (long long)available,
                lsp_size(available).text);
    return lsp_spgemm_allocate(plan, C);
}

/* Fills C, whose arrays are allocated. If `update`, C has its structure already. */
static lsp_status fill(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, bool update, lsp_csr *C) {
    if (plan->gpu->replay.col != NULL && (update || !plan->gpu->replay.values_only)) {
        LSP_TRY(lsp_spgemm_gpu_replay_run(plan, operands, C, !update));
    } else {
        LSP_TRY(lsp_spgemm_gpu_fill(plan, operands, update, C));
        if (plan->uses == 1) {
            LSP_TRY(lsp_spgemm_gpu_replay_build(plan, operands, C));
        }
    }
    return LSP_OK;
}

/* Computes the values of the caller's C again. Kernels may be unable to write to its array: then they write to
 * scratch. */
static lsp_status fill_again(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, const lsp_csr *C) {
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
    return LSP_OK;
}

static lsp_status multiply(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, bool update, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    LSP_OWNED_CSR(ctx, made);
    if (!plan->counted) {
        LSP_TRY(lsp_spgemm_gpu_count(plan, operands));
        plan->counted = true;
    }
    if (update) {
        return fill_again(plan, operands, C);
    }
    LSP_TRY(make_result(plan, &made));
    LSP_TRY(fill(plan, operands, false, &made));
    return lsp_csr_put(ctx, C, &made, false);
}

/* ---- the table ---- */

/* The second use is not blind: it may read what the replay learns. Nor is a product that must fit LSP_I32: its check
 * reads from the GPU too. */
static bool is_blind(const lsp_spgemm_plan *plan) {
    const bool by_number = plan->gpu->replay.col != NULL || (plan->gpu->dense_b.C != NULL && plan->uses > 1);
    return by_number && plan->val_type != LSP_I32 && !plan->gpu->unsorted && !plan->options.transpose_a &&
           !plan->options.transpose_b && plan->A.rowptr_type == LSP_I32 && plan->A.col_type == LSP_I32 &&
           plan->B.rowptr_type == LSP_I32 && plan->B.col_type == LSP_I32;
}

static const lsp_spgemm_device table = {.plan_bytes = sizeof(lsp_spgemm_plan) + sizeof(lsp_spgemm_gpu),
                                        .at_once = lsp_spgemm_gpu_one_pass,
                                        .inspect = lsp_spgemm_gpu_inspect,
                                        .take_operands = lsp_spgemm_gpu_take_operands,
                                        .typed_operands = true,
                                        .describe = describe,
                                        .start_structures = lsp_spgemm_gpu_start_structure,
                                        .read_structures = lsp_spgemm_gpu_read_structure,
                                        .is_blind = is_blind,
                                        .multiply = multiply,
                                        .multiply_masked = lsp_spgemm_gpu_masked,
                                        .count_products = lsp_spgemm_gpu_count_products,
                                        .batch = &lsp_batch_on_gpu};
const lsp_spgemm_device *const lsp_spgemm_on_gpu = &table;
