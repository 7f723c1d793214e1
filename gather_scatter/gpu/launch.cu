/* A gather or scatter on a GPU in one call: combines the parts as the strategy says. Work goes to the context's stream,
 * and nothing waits. */
#include "cache_model/gpu/kernel_sample.cuh"
#include "gpu.h"

/* Scratch ends with the call, and later calls reuse it: a graph must not keep its address. */
static lsp_status refuse_recording(lsp_ctx *ctx) {
    return lsp_cuda_recording(ctx)
               ? lsp_fail(ctx, LSP_ERR_ARGUMENT,
                          "work on the stream is being recorded into a graph: only a plan made before, or a gather or "
                          "scatter by the strategy direct with distinct indices, can work there")
               : LSP_OK;
}

static lsp_status move_columns(lsp_ctx *ctx, const lsp_gather_job *job, const gather_move *move) {
    const int passes = job->choice.strategy == LSP_STRATEGY_RESCAN ? job->choice.passes : 1;
    for (int64_t c = 0; c < job->args.column_count; c++) {
        LSP_TRY(lsp_gather_rescan(ctx, move, passes, &job->args.columns[c]));
    }
    return LSP_OK;
}

/* ---- the sample ---- */

static lsp_status sample(lsp_ctx *ctx, const lsp_gather_job *job, gather_list index, gather_gate *gate) {
    unsigned *count = NULL;
    const double accesses = (double)(SAMPLE_WINDOWS * lsp_min(job->args.n, SAMPLE_WINDOW));
    const unsigned bytes = (unsigned)job->most_bytes;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &count));
    LSP_TRY(index.type == LSP_I32 ? LSP_LAUNCH(ctx, kernel_sample<int32_t>, SAMPLE_WINDOWS, SAMPLE_NT, 0,
                                               (const int32_t *)index.at, job->args.n, bytes, count)
                                  : LSP_LAUNCH(ctx, kernel_sample<long long>, SAMPLE_WINDOWS, SAMPLE_NT, 0,
                                               (const long long *)index.at, job->args.n, bytes, count));
    gate->count = count;
    gate->limit = (unsigned)(job->switch_lines * accesses);
    gate->above = true;
    return LSP_OK;
}

/* Moves by the chosen number of passes; if the model chose them without seeing the indices, the sample decides between
 * them and one. */
static lsp_status run_moves(lsp_ctx *ctx, const lsp_gather_job *job, gather_list index) {
    gather_move move = gather_whole_move(ctx, job, index, true);
    lsp_gather_job once = *job;
    if (job->choice.strategy != LSP_STRATEGY_RESCAN || job->switch_lines == 0 || lsp_cuda_recording(ctx)) {
        return move_columns(ctx, job, &move);
    }
    LSP_TRY(sample(ctx, job, index, &move.gate));
    LSP_TRY(move_columns(ctx, job, &move));
    once.choice.strategy = LSP_STRATEGY_DIRECT;
    move.gate.above = false;
    return move_columns(ctx, &once, &move);
}

/* ---- stage ---- */

/* Through shared memory; direct where that cannot be or, by the sample, does not pay. */
static lsp_status run_stage(lsp_ctx *ctx, const lsp_gather_job *job, gather_list index) {
    const bool chosen = job->args.strategy == LSP_STRATEGY_AUTO;
    gather_move move = gather_whole_move(ctx, job, index, true);
    gather_move bins = move;
    if (!lsp_gather_bins_fit(ctx, &bins, job->most_bytes) || (chosen && lsp_cuda_recording(ctx))) {
        return move_columns(ctx, job, &move);
    }
    LSP_TRY(refuse_recording(ctx));
    if (job->switch_lines > 0) {
        LSP_TRY(sample(ctx, job, index, &bins.gate));
    }
    const lsp_status status =
        lsp_gather_bins_run(ctx, &bins, job->most_bytes, job->args.columns, job->args.column_count);
    if (status == LSP_ERR_MEMORY && chosen) { /* nothing was started: direct needs no memory */
        return move_columns(ctx, job, &move);
    }
    LSP_TRY(status);
    if (bins.gate.count) {
        move.gate = bins.gate;
        move.gate.above = false;
        LSP_TRY(move_columns(ctx, job, &move));
    }
    return LSP_OK;
}

/* ---- rules of a scatter ---- */

/* The owners of all destinations: through shared memory where that is wanted and possible, else by atomics. */
static lsp_status find_owners(lsp_ctx *ctx, const lsp_gather_job *job, gather_list index, void *owner) {
    gather_move bins = gather_whole_move(ctx, job, index, true);
    gather_gate below = {};
    if (job->choice.strategy != LSP_STRATEGY_STAGE || !lsp_gather_bins_fit(ctx, &bins, sizeof(int))) {
        return lsp_gather_owners(ctx, job, bins.fault, below, owner);
    }
    if (job->switch_lines > 0) {
        LSP_TRY(sample(ctx, job, index, &bins.gate));
        below = bins.gate;
        below.above = false;
        LSP_TRY(lsp_gather_owners(ctx, job, bins.fault, below, owner));
    }
    return lsp_gather_bins_owners(ctx, &bins, (int *)owner);
}

/* The highest position owns its destination. Then destinations fetch from their owners: random reads are twice as fast
 * as random writes. With far more destinations than positions the owners write instead. */
static lsp_status run_last(lsp_ctx *ctx, const lsp_gather_job *job, gather_list index) {
    const lsp_gather_args *args = &job->args;
    const gather_list owners = {NULL, gather_list_type(args->n)};
    gather_move move = {};
    void *owner = NULL, *winners = NULL;
    LSP_TRY(refuse_recording(ctx));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, args->extent, lsp_type_bytes(owners.type), &owner));
    LSP_TRY(find_owners(ctx, job, index, owner));
    if (args->extent / 2 <= args->n) {
        move.n = args->extent;
        move.index = gather_list{owner, owners.type};
        move.high = move.extent = args->n;
    } else {
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, args->n, lsp_type_bytes(index.type), &winners));
        LSP_TRY(lsp_gather_winners(ctx, job, owner, winners));
        move = gather_whole_move(ctx, job, gather_list{winners, index.type}, false);
    }
    return move_columns(ctx, job, &move);
}

static bool is_integer(lsp_type type) { return type == LSP_I32 || type == LSP_I64; }

/* Integers are added by atomics, in any order; floats in the order of their positions, which a sort finds. */
static lsp_status run_add(lsp_ctx *ctx, const lsp_gather_job *job, gather_list index) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_gather_args *args = &job->args;
    const int passes = job->choice.strategy == LSP_STRATEGY_RESCAN ? job->choice.passes : 1;
    gather_order order = gather_order_for(job);
    gather_move move = gather_whole_move(ctx, job, index, true);
    for (int64_t c = 0; c < args->column_count; c++) {
        const lsp_column *column = &args->columns[c];
        if (is_integer(column->type)) {
            move.add = column->type;
            LSP_TRY(lsp_gather_rescan(ctx, &move, passes, column));
            continue;
        }
        if (order.keys == NULL) {
            LSP_TRY(refuse_recording(ctx));
            LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, args->n, (size_t)order.key_bytes, &order.keys));
            LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, args->n, (size_t)order.position_bytes, &order.position));
            LSP_TRY(lsp_gather_sort(ctx, job, index, lsp_cuda_fault(ctx), &order));
        }
        LSP_TRY(lsp_gather_sum(ctx, &order, args->n, args->extent, false, column));
    }
    return LSP_OK;
}

lsp_status lsp_gather_run(lsp_ctx *ctx, const lsp_gather_job *job) {
    LSP_SCRATCH_SCOPE(ctx);
    const gather_list index = {job->args.index, job->args.index_type};
    if (job->scatter && job->args.rule == LSP_SCATTER_ADD) {
        return run_add(ctx, job, index);
    }
    if (job->scatter && job->args.rule == LSP_SCATTER_LAST) {
        return run_last(ctx, job, index);
    }
    return job->choice.strategy == LSP_STRATEGY_STAGE ? run_stage(ctx, job, index) : run_moves(ctx, job, index);
}
