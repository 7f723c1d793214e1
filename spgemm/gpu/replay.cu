/* Replay: a plan that is used again remembers which entries of A and B each product multiplies. Later calls then fill C
 * by one kernel that reads, multiplies and adds. */
#include "core/items.h"
#include "core/scan.h"
#include "integer.cuh"
#include "kernel_replay.cuh"
#include "launch.cuh"

/* Limits up to which reading the pairs is faster than making the rows anew. */
enum {
    REPLAY_WORTH = 16, /* products an entry of C */
    REPLAY_DENSE_B = 5 /* if B is nearly dense: products of an entry of A in a strip */
};

static int64_t groups_of(int64_t nnz) { return lsp_ceil_div(nnz, REPLAY_BLOCK) * (REPLAY_BLOCK / REPLAY_GROUP); }

static int64_t bytes_of(const lsp_spgemm_plan *plan, const lsp_csr *C) {
    const int64_t groups = groups_of(C->nnz);
    return plan->facts.products * (int64_t)sizeof(spg_pair) + plan->facts.products / REPLAY_LARGE * 4 +
           groups * (REPLAY_GROUP * (int64_t)sizeof(uint16_t) + 8) + C->nnz * (int64_t)sizeof(uint32_t) +
           (C->rows + 1) * (int64_t)lsp_type_bytes(C->rowptr_type);
}

static spg_replay replay_of(const lsp_spgemm_replay *kept, int64_t nnz) {
    return (spg_replay){(spg_pair *)kept->pairs, kept->counts, kept->ends, kept->large, kept->col, nnz};
}

/* Allocates everything and copies C's structure, except the pairs' contents. */
static lsp_status take_structure(lsp_spgemm_plan *plan, const lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_spgemm_replay *kept = &plan->gpu->replay;
    const int64_t groups = groups_of(C->nnz), bytes = (C->rows + 1) * (int64_t)lsp_type_bytes(C->rowptr_type);
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, plan->facts.products, sizeof(spg_pair), &kept->pairs));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, groups * REPLAY_GROUP, sizeof *kept->counts, (void **)&kept->counts));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, groups, sizeof *kept->ends, (void **)&kept->ends));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, C->nnz, sizeof *kept->col, (void **)&kept->col));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, bytes, 1, &kept->rowptr));
    LSP_TRY(lsp_cuda_copy(ctx, kept->rowptr, LSP_CUDA, C->rowptr, LSP_CUDA, bytes));
    if (C->col_type == LSP_I64) {
        LSP_TRY(lsp_cuda_narrow(ctx, kept->col, C->col, C->nnz));
    } else {
        LSP_TRY(lsp_cuda_copy(ctx, kept->col, LSP_CUDA, C->col, LSP_CUDA, C->nnz * (int64_t)sizeof *kept->col));
    }
done:
    return status;
}

template <typename R>
static lsp_status find_pairs(lsp_spgemm_plan *plan, const spg_job *job, int64_t nnz, replay_found *learned) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_spgemm_replay *kept = &plan->gpu->replay;
    spg_replay replay = replay_of(kept, nnz);
    const R *rowptr = (const R *)kept->rowptr;
    const int64_t blocks = lsp_ceil_div(nnz, REPLAY_BLOCK * REPLAY_WARPS);
    replay_found *found;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof *found, (void **)&found));
    LSP_TRY(clear(ctx, found, sizeof *found));
    LSP_TRY(LSP_LAUNCH(ctx, (kernel_replay_find<R, false>), blocks, REPLAY_NT, 0, *job, rowptr, replay, found));
    LSP_TRY(lsp_cuda_scan(ctx, replay.ends, groups_of(nnz), NULL));
    LSP_TRY(lsp_cuda_read(ctx, learned, found, sizeof *found));
    if (learned->most == 0) {
        kept->large_count = learned->large;
        LSP_TRY(lsp_alloc(ctx, LSP_CUDA, kept->large_count, sizeof *kept->large, (void **)&kept->large));
        replay = replay_of(kept, nnz);
        LSP_TRY(LSP_LAUNCH(ctx, (kernel_replay_find<R, true>), blocks, REPLAY_NT, 0, *job, rowptr, replay, found));
    }
done:
    return status;
}

extern "C" bool lsp_spgemm_gpu_replay_drop(lsp_spgemm_plan *plan) {
    lsp_spgemm_replay *kept = &plan->gpu->replay;
    const bool any = kept->pairs != NULL;
    lsp_free(plan->ctx, kept->pairs);
    lsp_free(plan->ctx, kept->counts);
    lsp_free(plan->ctx, kept->ends);
    lsp_free(plan->ctx, kept->large);
    lsp_free(plan->ctx, kept->col);
    lsp_free(plan->ctx, kept->rowptr);
    *kept = (lsp_spgemm_replay){};
    return any;
}

/* Do windows make most rows? They make several repeats at a time, which a replay does not beat. */
static bool mostly_windows(const lsp_spgemm_plan *plan) {
    const uint32_t *bins = plan->gpu->fill_bins;
    int64_t windows = 0, others = bins[LSP_BIN_LONG] + (int64_t)bins[LSP_BIN_MERGE];
    for (int bin = LSP_BIN_SORT_1; bin <= LSP_BIN_SORT_512; bin++) {
        others += bins[bin];
    }
    for (int bin = LSP_BIN_NARROW_128; bin <= LSP_BIN_WIDE_512; bin++) {
        windows += bins[bin];
    }
    return windows > others;
}

/* Would a replay pay, and does it leave three quarters of the free memory? */
static bool worth_replaying(const lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, const lsp_csr *C) {
    const int64_t products = plan->facts.products, strips = plan->gpu->dense_b.strips;
    return C->nnz > 0 && plan->type != LSP_NONE && !operands->names && products <= (int64_t)UINT32_MAX - WARP &&
           products / C->nnz <= REPLAY_WORTH && !mostly_windows(plan) &&
           (strips == 0 || products / REPLAY_DENSE_B < operands->A.nnz * strips) &&
           bytes_of(plan, C) <= lsp_available_bytes(plan->ctx, LSP_CUDA) / 4;
}

extern "C" lsp_status lsp_spgemm_gpu_replay_build(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands,
                                                  const lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    const spg_job job = job_of(plan, operands);
    replay_found found = {};
    if (worth_replaying(plan, operands, C)) {
        LSP_TRY(take_structure(plan, C));
        LSP_TRY(C->rowptr_type == LSP_I64 ? find_pairs<int64_t>(plan, &job, C->nnz, &found)
                                          : find_pairs<int32_t>(plan, &job, C->nnz, &found));
    }
done:
    if (status != LSP_OK || found.most > 0) {
        lsp_spgemm_gpu_replay_drop(plan);
    }
    lsp_scratch_release(ctx, mark);
    return status == LSP_ERR_MEMORY ? LSP_OK : status; /* without memory for it, there is no replay */
}

template <typename V, typename I>
static lsp_status start_fill(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, lsp_csr *C, bool structure) {
    lsp_status status = LSP_OK;
    const spg_replay replay = replay_of(&plan->gpu->replay, C->nnz);
    const spg_job job = job_of(plan, operands);
    const int64_t blocks = lsp_ceil_div(C->nnz, REPLAY_GROUP * REPLAY_WARPS);
    const size_t bytes = REPLAY_WARPS * sizeof(replay_chunk<V>);
    I *col = structure ? (I *)C->col : NULL;
    bool beside = false;
    if (plan->gpu->replay.large_count > 0) { /* first, because its warps take longest */
        LSP_TRY(LSP_LAUNCH_BESIDE(plan->ctx, &beside, (kernel_replay_fill_large<V, I>), plan->gpu->replay.large_count,
                                  REPLAY_GROUP, 0, job, replay, (V *)C->val, col));
    }
    LSP_TRY(LSP_LAUNCH_BESIDE(plan->ctx, &beside, (kernel_replay_fill<V, I>), blocks, REPLAY_NT, bytes, job, replay,
                              (V *)C->val, col));
done:
    return status;
}

extern "C" lsp_status lsp_spgemm_gpu_replay_run(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, lsp_csr *C,
                                                bool structure) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    if (structure) {
        LSP_TRY(lsp_cuda_copy(ctx, C->rowptr, LSP_CUDA, plan->gpu->replay.rowptr, LSP_CUDA,
                              (C->rows + 1) * (int64_t)lsp_type_bytes(C->rowptr_type)));
    }
#define FILL(V)                                                                                                        \
    (C->col_type == LSP_I64 ? start_fill<V, int64_t>(plan, operands, C, structure)                                     \
                            : start_fill<V, int32_t>(plan, operands, C, structure))
    LSP_TRY(plan->type == LSP_C64   ? FILL(complex_value)
            : plan->type == LSP_I64 ? (is_minmax(plan) ? FILL(minmax_integer) : FILL(integer_value))
            : !is_minmax(plan)      ? (plan->type == LSP_F64 ? FILL(double) : FILL(float))
            : plan->type == LSP_F64 ? FILL(minmax<double>)
                                    : FILL(minmax<float>));
#undef FILL
done:
    return status;
}
