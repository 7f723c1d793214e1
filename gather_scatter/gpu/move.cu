/* Starts the kernel that moves elements one by one, for each size of element. */
#include "kernel_direct.cuh"

gather_move gather_whole_move(lsp_ctx *ctx, const lsp_gather_job *job, gather_list index, bool report) {
    gather_move move = {};
    move.n = job->args.n;
    move.index = index;
    move.high = move.extent = job->args.extent;
    move.fault = report ? lsp_cuda_fault(ctx) : NULL;
    move.scatter = job->scatter;
    return move;
}

template <typename U, bool ONE, typename I, bool SCATTER, bool ADD>
static lsp_status start(lsp_ctx *ctx, const gather_move *move, const lsp_column *column, unsigned units) {
    const int64_t blocks = lsp_ceil_div(move->n, MOVE_CHUNK / units);
    return LSP_LAUNCH(ctx, (kernel_move<U, ONE, I, SCATTER, ADD>), lsp_min(blocks, INT32_MAX), MOVE_NT, 0, *move,
                      (const U *)column->from, (U *)column->to, units);
}

/* One chunk a block, even behind a gate. If the gate is closed, 2^16 blocks that have nothing to do take 70 us; but
 * blocks that take 8 neighbouring chunks each write to more places at once: scatters inside blocks of 4096 then no
 * longer fit the L2: 1.96 ms in place of 1.27 at 2^26. */
template <typename U, typename I, bool SCATTER>
static lsp_status start_whole(lsp_ctx *ctx, const gather_move *move, const lsp_column *column) {
    return LSP_LAUNCH(ctx, (kernel_move_whole<U, I, SCATTER>), lsp_ceil_div(move->n, MOVE_CHUNK), MOVE_NT, 0, *move,
                      (const U *)column->from, (U *)column->to);
}

template <typename U, typename I>
static lsp_status start_for(lsp_ctx *ctx, const gather_move *move, const lsp_column *column) {
    const unsigned units = (unsigned)(column->bytes / sizeof(U));
    const bool whole = move->low == 0 && move->high == move->extent;
    if (units == 1 && whole && move->n < (int64_t)MOVE_CHUNK * INT32_MAX) {
        return move->scatter ? start_whole<U, I, true>(ctx, move, column) : start_whole<U, I, false>(ctx, move, column);
    }
    if (units == 1) {
        return move->scatter ? start<U, true, I, true, false>(ctx, move, column, units)
                             : start<U, true, I, false, false>(ctx, move, column, units);
    }
    return move->scatter ? start<U, false, I, true, false>(ctx, move, column, units)
                         : start<U, false, I, false, false>(ctx, move, column, units);
}

template <typename I> static lsp_status start_index(lsp_ctx *ctx, const gather_move *move, const lsp_column *column) {
    if (move->add != LSP_NONE) {
        return column->bytes == 4 ? start<unsigned, true, I, true, true>(ctx, move, column, 1)
                                  : start<ull, true, I, true, true>(ctx, move, column, 1);
    }
#define START(U) start_for<U, I>(ctx, move, column)
    return GATHER_BY_UNIT(gather_unit(column), START);
#undef START
}

lsp_status lsp_gather_move(lsp_ctx *ctx, const gather_move *move, const lsp_column *column) {
    if (move->n == 0) {
        return LSP_OK;
    }
#define START(I) start_index<I>(ctx, move, column)
    return GATHER_BY_INDEX(move->index.type, START);
#undef START
}

lsp_status lsp_gather_rescan(lsp_ctx *ctx, const gather_move *move, int passes, const lsp_column *column) {
    const int parts = passes > 1 ? passes : 1;
    gather_move part = *move;
    for (int p = 0; p < parts; p++) {
        lsp_share(move->extent, p, parts, &part.low, &part.high);
        if (part.low < part.high || p == 0) { /* the first pass also reports indices outside */
            LSP_TRY(lsp_gather_move(ctx, &part, column));
        }
    }
    return LSP_OK;
}
