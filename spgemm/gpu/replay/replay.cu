/* Replay: a plan that is used again remembers where each product goes, or which entries of A and B it multiplies. Later
 * calls then fill C by one kernel that reads, multiplies and adds. Taken from a plan's second use on where `may_replay`
 * and memory allows: by ranks if spg_ranks_fit (ranks.cu), else by pairs if few products sum to an entry of C. */
#include "core/items.h"
#include "core/scan.h"
#include "kernel_pairs.cuh"
#include "spgemm/gpu/launch.cuh"

/* Limits up to which a replay is faster than making the rows anew. */
enum {
    REPLAY_WORTH = 16, /* products an entry of C, by pairs */
    REPLAY_DENSE_B = 5 /* if B is nearly dense: products of an entry of A in a strip */
};

static int64_t groups_of(int64_t nnz) { return lsp_ceil_div(nnz, REPLAY_BLOCK) * (REPLAY_BLOCK / REPLAY_GROUP); }

/* Bytes of C's structure, and of what places the products. */
static int64_t structure_bytes(const lsp_csr *C) {
    return C->nnz * (int64_t)sizeof(uint32_t) + (C->rows + 1) * (int64_t)lsp_type_bytes(C->rowptr_type);
}
static int64_t pairs_bytes(const lsp_spgemm_plan *plan, const lsp_csr *C) {
    const int64_t groups = groups_of(C->nnz);
    return structure_bytes(C) + plan->facts.products * (int64_t)sizeof(spg_pair) +
           groups * (REPLAY_GROUP * (int64_t)sizeof(uint16_t) + 8);
}
static int64_t ranks_bytes(const lsp_spgemm_plan *plan, int64_t entries, const lsp_csr *C) {
    return structure_bytes(C) + plan->facts.products * 2 + entries * 6 + C->rows * 8;
}

/* Copies C's structure. */
static lsp_status take_structure(lsp_spgemm_plan *plan, const lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    lsp_spgemm_replay *kept = &plan->gpu->replay;
    const int64_t bytes = (C->rows + 1) * (int64_t)lsp_type_bytes(C->rowptr_type);
    kept->nnz = C->nnz;
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, C->nnz, sizeof *kept->col, (void **)&kept->col));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, bytes, 1, &kept->rowptr));
    LSP_TRY(lsp_cuda_copy(ctx, kept->rowptr, LSP_CUDA, C->rowptr, LSP_CUDA, bytes));
    return lsp_cuda_convert_values(ctx, kept->col, LSP_I32, C->col, C->col_type, C->nnz); /* the indices fit */
}

/* Finds the pairs. *most > 0: an entry has too many, and the pairs are not found. */
template <typename R> static lsp_status find_pairs(lsp_spgemm_plan *plan, const spg_job *job, unsigned *most) {
    lsp_ctx *ctx = plan->ctx;
    lsp_spgemm_replay *kept = &plan->gpu->replay;
    const R *rowptr = (const R *)kept->rowptr;
    const int64_t blocks = lsp_ceil_div(kept->nnz, REPLAY_BLOCK * REPLAY_WARPS), groups = groups_of(kept->nnz);
    unsigned *found;
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, plan->facts.products, sizeof *kept->pairs, (void **)&kept->pairs));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, groups * REPLAY_GROUP, sizeof *kept->counts, (void **)&kept->counts));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, groups, sizeof *kept->ends, (void **)&kept->ends));
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &found));
    LSP_TRY(LSP_LAUNCH(ctx, (kernel_replay_find<R, false>), blocks, REPLAY_NT, 0, *job, rowptr, *kept, found));
    LSP_TRY(lsp_cuda_scan(ctx, kept->ends, groups, NULL));
    LSP_TRY(lsp_cuda_read(ctx, most, found, sizeof *found));
    return *most > 0 ? LSP_OK
                     : LSP_LAUNCH(ctx, (kernel_replay_find<R, true>), blocks, REPLAY_NT, 0, *job, rowptr, *kept, found);
}

extern "C" bool lsp_spgemm_gpu_replay_drop(lsp_spgemm_plan *plan) {
    lsp_spgemm_replay *kept = &plan->gpu->replay;
    const bool any = kept->col != NULL;
    lsp_plan_end(kept->holder);
    *kept = (lsp_spgemm_replay){};
    return any;
}

/* Rows, or groups of repeats, that windows make; 0 unless these are most. They make several repeats at a time. */
static int64_t windows_of(const lsp_spgemm_plan *plan) {
    const uint32_t *bins = plan->gpu->fill_bins;
    int64_t windows = 0, others = bins[LSP_BIN_LONG] + (int64_t)bins[LSP_BIN_MERGE];
    for (int bin = LSP_BIN_SORT_1; bin <= LSP_BIN_SORT_512; bin++) {
        others += bins[bin];
    }
    for (int bin = LSP_BIN_NEAR_128; bin <= LSP_BIN_SPREAD_512; bin++) {
        windows += bins[bin];
    }
    return windows > others ? windows : 0;
}

/* Could a replay pay at all? Short rows that repeat are made faster anew, and so is C if B is nearly dense. */
static bool may_replay(const lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, const lsp_csr *C) {
    const int64_t products = plan->facts.products, strips = plan->gpu->dense_b.strips;
    return C->nnz > 0 && plan->type != LSP_NONE && !operands->names && plan->gpu->short_repeats <= C->rows / 2 &&
           (strips == 0 || products / REPLAY_DENSE_B < operands->A.nnz * strips);
}

static lsp_status build(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, const lsp_csr *C, bool *built) {
    const spg_job job = job_of(plan, operands);
    const int64_t available = lsp_available_bytes(plan->ctx, LSP_CUDA) / 4, windows = windows_of(plan),
                  products = plan->facts.products;
    unsigned most = 0;
    LSP_TRY(lsp_plan_part(plan, &plan->gpu->replay.holder));
    LSP_PLAN_HOLDS(plan->ctx, plan->gpu->replay.holder);
    if (spg_ranks_fit(plan, job.A.nnz) && ranks_bytes(plan, job.A.nnz, C) <= available) {
        LSP_TRY(take_structure(plan, C));
        LSP_TRY(spg_ranks_build(plan, operands, C, windows, built));
    }
    if (!*built && windows == 0 && products <= (int64_t)UINT32_MAX - WARP && products / C->nnz <= REPLAY_WORTH &&
        pairs_bytes(plan, C) <= available) {
        LSP_TRY(plan->gpu->replay.col ? LSP_OK : take_structure(plan, C));
        LSP_TRY(C->rowptr_type == LSP_I64 ? find_pairs<int64_t>(plan, &job, &most)
                                          : find_pairs<int32_t>(plan, &job, &most));
        *built = most == 0;
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_spgemm_gpu_replay_build(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands,
                                                  const lsp_csr *C) {
    LSP_SCRATCH_SCOPE(plan->ctx);
    bool built = false;
    const lsp_status status = may_replay(plan, operands, C) ? build(plan, operands, C, &built) : LSP_OK;
    if (status != LSP_OK || !built) {
        lsp_spgemm_gpu_replay_drop(plan);
    }
    return status == LSP_ERR_MEMORY ? LSP_OK : status; /* without memory for it, there is no replay */
}

template <typename V>
static lsp_status start_fill(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, lsp_csr *C) {
    return LSP_LAUNCH(plan->ctx, kernel_replay_fill<V>, lsp_ceil_div(C->nnz, REPLAY_GROUP * REPLAY_WARPS), REPLAY_NT,
                      REPLAY_WARPS * sizeof(replay_chunk<V>), job_of(plan, operands), plan->gpu->replay, (V *)C->val);
}

extern "C" lsp_status lsp_spgemm_gpu_replay_run(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, lsp_csr *C,
                                                bool structure) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_spgemm_replay *kept = &plan->gpu->replay;
    if (structure) {
        LSP_TRY(lsp_cuda_copy(ctx, C->rowptr, LSP_CUDA, kept->rowptr, LSP_CUDA,
                              (C->rows + 1) * (int64_t)lsp_type_bytes(C->rowptr_type)));
        LSP_TRY(lsp_cuda_convert_values(ctx, C->col, C->col_type, kept->col, LSP_I32, C->nnz));
    }
    if (kept->ranks != NULL) {
        return spg_ranks_fill(plan, operands, C);
    }
    return spg_with_number(plan, [&](auto v) { return start_fill<decltype(v)>(plan, operands, C); });
}
