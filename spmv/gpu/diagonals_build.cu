/* Plans by diagonals on a GPU: the count before the choice, plans, new values. */
#include "kernel_diagonals_build.cuh"

#include "core/launch.cuh"
#include "core/scan.h"
#include "diagonals.h"

enum { SIZES = LSP_SPMV_LARGEST_BLOCK + 1 };

static diagonals_build build_of(const lsp_csr *A, int b) {
    diagonals_build build = {};
    build.rowptr = A->rowptr;
    build.col = A->col;
    build.val = A->val;
    build.wide_rowptr = A->rowptr_type == LSP_I64;
    build.wide_col = A->col_type == LSP_I64;
    build.rows = A->rows;
    build.nnz = A->nnz;
    build.b = b;
    build.slices = lsp_diagonals_slices(A, b);
    build.limit = INT64_MAX;
    return build;
}

/* Starts kernel<..., B> for the block size of the build, with at most `sm_blocks` blocks on a multiprocessor. */
#define LAUNCH_BUILD(ctx, build, sm_blocks, kernel, ...)                                                               \
    LSP_LAUNCH(ctx, (kernel<__VA_ARGS__>), lsp_blocks_for(ctx, (build).slices, BUILD_WARPS, sm_blocks),                \
               BUILD_WARPS *WARP, 0, build)

/* ---- counting ---- */

static lsp_status count(lsp_ctx *ctx, const diagonals_build &build) {
    enum { SM_BLOCKS = 16 };
    switch (build.b) {
    case 2:
        return LAUNCH_BUILD(ctx, build, SM_BLOCKS, kernel_diagonals_count, 2);
    case 3:
        return LAUNCH_BUILD(ctx, build, SM_BLOCKS, kernel_diagonals_count, 3);
    case 4:
        return LAUNCH_BUILD(ctx, build, SM_BLOCKS, kernel_diagonals_count, 4);
    default:
        return LAUNCH_BUILD(ctx, build, SM_BLOCKS, kernel_diagonals_count, 1);
    }
}

extern "C" lsp_status lsp_spmv_count_slots_cuda(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts) {
    lsp_status status = LSP_OK;
    const size_t mark = lsp_scratch_mark(ctx);
    const lsp_csr *A = &job->A;
    diagonals_found found[SIZES] = {}, *there = NULL;
    int64_t limits[SIZES] = {};
    facts->diagonal_slots = 0;
    for (int b = 0; b < SIZES; b++) {
        facts->block_slots[b] = 0;
    }
    if (A->nnz == 0 || !lsp_spmv_diagonals_fits(ctx, job)) {
        return LSP_OK;
    }
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, SIZES, sizeof *there, (void **)&there));
    LSP_TRY(lsp_cuda_clear(ctx, there, sizeof found));
    for (int b = LSP_SPMV_LARGEST_BLOCK; b >= 1; b--) { /* largest first: what it finds saves the others */
        diagonals_build build = build_of(A, b);
        build.found = there + b;
        build.instead = there;
        memcpy(build.instead_limit, limits, sizeof limits);
        if (b == 1 || lsp_diagonals_may_have_blocks(A, b)) {
            build.limit = lsp_diagonals_limit(A, b);
            LSP_TRY(count(ctx, build));
            limits[b] = build.limit;
        }
    }
    LSP_TRY(lsp_cuda_read(ctx, found, there, sizeof found));
    for (int b = 1; b < SIZES; b++) {
        const bool offered = limits[b] > 0 && found[b].no_blocks == 0 && found[b].total <= (uint64_t)limits[b];
        const int64_t slots = offered ? (int64_t)found[b].total * LSP_SPMV_SLICE * b * b : 0;
        *(b == 1 ? &facts->diagonal_slots : &facts->block_slots[b]) = slots;
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

/* ---- plans ---- */

static lsp_status place(lsp_ctx *ctx, const diagonals_build &build) {
    enum { SM_BLOCKS = 16 };
    switch (build.b) {
    case 2:
        return LAUNCH_BUILD(ctx, build, SM_BLOCKS, kernel_diagonals_place, 2);
    case 3:
        return LAUNCH_BUILD(ctx, build, SM_BLOCKS, kernel_diagonals_place, 3);
    case 4:
        return LAUNCH_BUILD(ctx, build, SM_BLOCKS, kernel_diagonals_place, 4);
    default:
        return LAUNCH_BUILD(ctx, build, SM_BLOCKS, kernel_diagonals_place, 1);
    }
}

/* A slice of blocks works on 32*b lines at a time: few warps, so that all find room in the L1 cache. */
template <typename V> static lsp_status fill_type(lsp_ctx *ctx, const diagonals_build &build) {
    switch (build.b) {
    case 2:
        return LAUNCH_BUILD(ctx, build, 8, kernel_diagonals_fill, V, 2);
    case 3:
        return LAUNCH_BUILD(ctx, build, 4, kernel_diagonals_fill, V, 3);
    case 4:
        return LAUNCH_BUILD(ctx, build, 3, kernel_diagonals_fill, V, 4);
    default:
        return LAUNCH_BUILD(ctx, build, 16, kernel_diagonals_fill, V, 1);
    }
}

static lsp_status fill(lsp_ctx *ctx, const lsp_csr *A, const lsp_diagonals *D) {
    diagonals_build build = build_of(A, D->block);
    build.first = D->first;
    build.at = D->at;
    build.values = D->values;
    return A->val_type == LSP_NONE || D->count == 0 ? LSP_OK
           : A->val_type == LSP_F32                 ? fill_type<float>(ctx, build)
                                                    : fill_type<double>(ctx, build);
}

extern "C" lsp_status lsp_spmv_diagonals_prepare_cuda(lsp_spmv_plan *plan) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const size_t mark = lsp_scratch_mark(ctx);
    lsp_diagonals *D = NULL;
    diagonals_build build = {};
    diagonals_found found = {}, *there = NULL;
    LSP_TRY(lsp_spmv_diagonals_begin(plan, &D));
    build = build_of(&plan->job.A, D->block);
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof *there, (void **)&there));
    LSP_TRY(lsp_cuda_clear(ctx, there, sizeof *there));
    LSP_TRY(lsp_cuda_clear(ctx, D->first, (int64_t)sizeof *D->first));
    build.found = there;
    build.first = D->first;
    if (D->slices > 0) {
        LSP_TRY(count(ctx, build));
        LSP_TRY(lsp_cuda_scan_there(ctx, D->first + 1, D->slices, NULL));
    }
    LSP_TRY(lsp_cuda_read(ctx, &found, there, sizeof found));
    if (found.no_blocks != 0) {
        status = lsp_spmv_diagonals_no_blocks(ctx, D->block);
        goto done;
    }
    D->count = (int64_t)found.total;
    LSP_TRY(lsp_spmv_diagonals_allocate(plan));
    build.at = D->at;
    if (D->count > 0) {
        LSP_TRY(place(ctx, build));
    }
    LSP_TRY(fill(ctx, &plan->job.A, D));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

extern "C" lsp_status lsp_spmv_diagonals_update_cuda(lsp_spmv_plan *plan) {
    return fill(plan->ctx, &plan->job.A, (const lsp_diagonals *)plan->parts);
}
