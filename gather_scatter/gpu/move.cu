/* Starts the kernel that moves elements one by one, for each size of element. */
#include "kernel_direct.cuh"

enum { GATED_SM_BLOCKS = 16 };

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
    const int64_t items = MOVE_NT * MOVE_VT / units;
    /* behind a gate few blocks loop: if it is closed, a launch with a block for every chunk takes 70 us at 2^26 */
    const int64_t blocks =
        move->gate.count ? lsp_blocks_for(ctx, move->n, items, GATED_SM_BLOCKS) : lsp_ceil_div(move->n, items);
    return LSP_LAUNCH(ctx, (kernel_move<U, ONE, I, SCATTER, ADD>), lsp_min(blocks, INT32_MAX), MOVE_NT, 0, *move,
                      (const U *)column->from, (U *)column->to, units);
}

template <typename U, typename I>
static lsp_status start_for(lsp_ctx *ctx, const gather_move *move, const lsp_column *column) {
    const unsigned units = (unsigned)(column->bytes / sizeof(U));
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
                                  : start<unsigned long long, true, I, true, true>(ctx, move, column, 1);
    }
    switch (gather_unit(column)) {
    case 1:
        return start_for<unsigned char, I>(ctx, move, column);
    case 2:
        return start_for<unsigned short, I>(ctx, move, column);
    case 4:
        return start_for<unsigned, I>(ctx, move, column);
    case 8:
        return start_for<unsigned long long, I>(ctx, move, column);
    default:
        return start_for<uint4, I>(ctx, move, column);
    }
}

lsp_status lsp_gather_move(lsp_ctx *ctx, const gather_move *move, const lsp_column *column) {
    if (move->n == 0) {
        return LSP_OK;
    }
    return move->index.type == LSP_I32 ? start_index<int32_t>(ctx, move, column)
                                       : start_index<long long>(ctx, move, column);
}

lsp_status lsp_gather_rescan(lsp_ctx *ctx, const gather_move *move, int passes, const lsp_column *column) {
    lsp_status status = LSP_OK;
    const int parts = passes > 1 ? passes : 1;
    gather_move part = *move;
    for (int p = 0; p < parts; p++) {
        lsp_share(move->extent, p, parts, &part.low, &part.high);
        if (part.low < part.high || p == 0) { /* the first pass also reports indices outside */
            LSP_TRY(lsp_gather_move(ctx, &part, column));
        }
    }
done:
    return status;
}
