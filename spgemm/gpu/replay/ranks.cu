/* Replay by ranks (kernel_ranks.cuh): for products whose rows are alike. Taken where spg_ranks_fit, and the sums of a
 * block's rows fit its shared memory. */
#include "core/items.h"
#include "core/scan.h"
#include "kernel_ranks.cuh"
#include "spgemm/gpu/launch.cuh"

/* Where replay by ranks is the fastest way; tuned on an H100 and an H200 with sparse-bench spgemm. */
enum {
    RANKS_EVEN = 8,          /* products of the longest row, in mean rows, */
    RANKS_EVEN_LANES = 32,   /* and more, times the lanes of a row */
    RANKS_LENGTH = 2,        /* least entries of a row of B, in the mean; with fewer, pairs are faster */
    RANKS_ALONE = 16,        /* mean products of a row that one lane makes */
    RANKS_SHARED = 56 << 10, /* most bytes of a block's sums */
    RANKS_WINDOWS = 64       /* windows a multiprocessor that make rows with the same columns in A as fast */
};

/* The lanes that make a row of C, nearly as many as the mean row of B has entries, for each type of ranks. Rows of more
 * than 255 entries take the most: the sums of many such rows do not fit a block. */
#define RANKS_EACH(F) F(1, uint8_t) F(4, uint8_t) F(8, uint8_t) F(16, uint8_t) F(16, uint16_t)
enum { RANKS_MOST_LANES = 16 };

static int lanes_for(const lsp_spgemm_plan *plan, int64_t entries) {
    const double length = (double)plan->facts.products / (double)entries;
    return length < 3 ? 1 : length < 9 ? 4 : length < 12 ? 8 : RANKS_MOST_LANES;
}

template <typename S> static spg_ranks<S> ranks_of(const lsp_spgemm_replay *kept, bool wide, int64_t rows) {
    return {(uint2 *)kept->rows, kept->begins, (S *)kept->lengths, (S *)kept->ranks, kept->rowptr, wide, rows};
}

static int64_t ranks_blocks(const lsp_spgemm_replay *kept, int64_t rows) {
    return lsp_ceil_div(rows, RANKS_NT / kept->lanes);
}

bool spg_ranks_fit(const lsp_spgemm_plan *plan, int64_t entries) {
    const int64_t mean = plan->facts.products / plan->facts.rows, lanes = lanes_for(plan, entries);
    return !plan->gpu->duplicates && plan->facts.products / RANKS_STEP + plan->facts.rows <= UINT32_MAX &&
           plan->facts.max_row_products <= RANKS_EVEN * mean + RANKS_EVEN_LANES * lanes &&
           plan->facts.products / RANKS_LENGTH >= entries && (lanes > 1 || mean <= RANKS_ALONE);
}

/* Learns what the choice needs of C. */
static lsp_status look(lsp_spgemm_plan *plan, const lsp_csr *C, bool repeats, ranks_found *here) {
    lsp_ctx *ctx = plan->ctx;
    lsp_spgemm_replay *kept = &plan->gpu->replay;
    const spg_ranks<uint8_t> ranks = ranks_of<uint8_t>(kept, C->rowptr_type == LSP_I64, C->rows);
    ranks_found *found;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &found));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_ranks_look, ranks_blocks(kept, C->rows), RANKS_NT, 0, ranks, (uint32_t)kept->lanes,
                       (const uint8_t *)(repeats ? plan->gpu->groups : NULL), found));
    return lsp_cuda_read(ctx, here, found, sizeof *here);
}

template <int G, typename S> static lsp_status find_ranks(lsp_spgemm_plan *plan, const spg_job *job, const lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    lsp_spgemm_replay *kept = &plan->gpu->replay;
    const int64_t rows = C->rows, blocks = ranks_blocks(kept, rows);
    const size_t shared = kept->tile * sizeof(uint32_t);
    spg_ranks<S> ranks;
    int64_t *ends;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, rows, &ends));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, rows + 1, sizeof(uint2), &kept->rows));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, job->A.nnz, sizeof *kept->begins, (void **)&kept->begins));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, job->A.nnz, sizeof(S), &kept->lengths));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, plan->facts.products + rows * (RANKS_STEP - 1), sizeof(S), &kept->ranks));
    ranks = ranks_of<S>(kept, C->rowptr_type == LSP_I64, rows);
    LSP_TRY(LSP_LAUNCH(ctx, (kernel_ranks_entries<G, S>), blocks, RANKS_NT, 0, *job, ranks, ends));
    LSP_TRY(lsp_cuda_scan(ctx, ends, rows, NULL));
    LSP_TRY(lsp_allow_shared(ctx, kernel_ranks_find<G, S>, shared));
    return LSP_LAUNCH(ctx, (kernel_ranks_find<G, S>), blocks, RANKS_NT, shared, *job, ranks, ends, kept->col);
}

lsp_status spg_ranks_build(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, const lsp_csr *C,
                           int64_t windows, bool *built) {
    lsp_spgemm_replay *kept = &plan->gpu->replay;
    const spg_job job = job_of(plan, operands);
    ranks_found found;
    kept->lanes = lanes_for(plan, job.A.nnz);
    LSP_TRY(look(plan, C, windows > 0, &found));
    if (found.longest > UINT8_MAX && kept->lanes > 1 && kept->lanes < RANKS_MOST_LANES) {
        kept->lanes = RANKS_MOST_LANES;
        LSP_TRY(look(plan, C, windows > 0, &found));
    }
    kept->tile = found.tile;
    kept->rank_bytes = found.longest <= UINT8_MAX ? 1 : 2;
    kept->values_only = found.next > C->rows / 2;
    if (found.longest > UINT16_MAX || found.tile * lsp_type_bytes(plan->type) > RANKS_SHARED ||
        (found.same > C->rows / 2 && windows > RANKS_WINDOWS * chip_sms(plan->ctx))) {
        return LSP_OK;
    }
#define FIND(G, S)                                                                                                     \
    if (kept->lanes == (G) && kept->rank_bytes == sizeof(S)) {                                                         \
        *built = true;                                                                                                 \
        LSP_TRY((find_ranks<G, S>(plan, &job, C)));                                                                    \
    }
    RANKS_EACH(FIND)
#undef FIND
    return LSP_OK;
}

template <int G, typename V, typename S>
static lsp_status start_fill(lsp_spgemm_plan *plan, const spg_job *job, const lsp_csr *C) {
    const lsp_spgemm_replay *kept = &plan->gpu->replay;
    const auto kernel = kernel_ranks_fill<G, V, S>;
    const size_t shared = kept->tile * sizeof(V);
    LSP_TRY(lsp_allow_shared(plan->ctx, kernel, shared));
    return LSP_LAUNCH(plan->ctx, kernel, ranks_blocks(kept, C->rows), RANKS_NT, shared, *job,
                      ranks_of<S>(kept, C->rowptr_type == LSP_I64, C->rows), (V *)C->val);
}

template <typename V> static lsp_status fill_values(lsp_spgemm_plan *plan, const spg_job *job, const lsp_csr *C) {
    const lsp_spgemm_replay *kept = &plan->gpu->replay;
#define FILL(G, S)                                                                                                     \
    if (kept->lanes == (G) && kept->rank_bytes == sizeof(S)) {                                                         \
        return start_fill<G, V, S>(plan, job, C);                                                                      \
    }
    RANKS_EACH(FILL)
#undef FILL
    return LSP_OK;
}

lsp_status spg_ranks_fill(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, const lsp_csr *C) {
    const spg_job job = job_of(plan, operands);
    return spg_with_number(plan, [&](auto v) { return fill_values<decltype(v)>(plan, &job, C); });
}
