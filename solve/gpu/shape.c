/* Column blocks, row chunks, lanes and threads of the persistent kernel, from sizes and the chip. */
#include "shape.h"

/* More column blocks than shared memory asks for make each block read less of r in each step, and leave room for a part
 * of the matrix. Each adds a partial sum a row. */
enum { USUAL_COLUMNS = 6 };
/* Entries that are worth a block of their own; unknowns that are worth a column block. */
enum { BLOCK_ENTRIES = 2048, COLUMN_UNKNOWNS = 128 };
enum { FEW_THREADS = 512 };
/* The mean number of entries of a row in a column block beyond which it has 2 and 4 lanes. */
enum { TWO_LANES = 48, FOUR_LANES = 96 };

static int64_t most_slice(const lsp_cuda_chip *chip, int64_t asked) {
    const int64_t most = lsp_min((chip->shared_block_bytes - RESIDENT_RESERVE) / 8, RESIDENT_MOST_SLICE);
    return lsp_min(most, asked > 0 ? asked : most) / 2 * 2;
}

bool lsp_resident_choose(const lsp_cuda_chip *chip, int64_t n, int64_t nnz, lsp_resident_shape *shape) {
    const int64_t slice = most_slice(chip, shape->slice);
    const int64_t most = lsp_min(chip->sms, RESIDENT_MOST_BLOCKS);
    if (n < 1 || slice < 2 || shape->threads % 32 != 0 || shape->threads > RESIDENT_THREADS || shape->columns < 0 ||
        shape->chunks < 0) {
        return false;
    }
    const int64_t needed = lsp_ceil_div(n, slice);
    const int64_t blocks = lsp_max(lsp_min(most, nnz / BLOCK_ENTRIES), lsp_max(needed, 1));
    const int64_t usual = lsp_min(USUAL_COLUMNS, lsp_ceil_div(n, COLUMN_UNKNOWNS));
    if (needed > most || (shape->columns > 0 && shape->columns < needed)) {
        return false;
    }
    if (shape->columns == 0) {
        const int64_t least = lsp_min(lsp_max(needed, usual), blocks);
        shape->columns = (int)(blocks / (blocks / least)); /* as many as leave no fewer chunks */
    }
    if (shape->chunks == 0) {
        shape->chunks = (int)lsp_max(blocks / shape->columns, 1);
    }
    shape->slice = lsp_ceil_div(lsp_ceil_div(n, shape->columns), 2) * 2;
    if (shape->lanes == 0) {
        const int64_t mean = nnz / (n * shape->columns);
        shape->lanes = mean > FOUR_LANES ? 4 : mean > TWO_LANES ? 2 : 1;
    }
    if (shape->threads == 0) { /* fewer, if all of the matrix will be in shared memory and latency counts */
        const int64_t left = chip->shared_block_bytes - 8 * shape->slice;
        shape->threads = 11 * nnz < left * shape->columns * shape->chunks ? FEW_THREADS : RESIDENT_THREADS;
    }
    return (int64_t)shape->columns * shape->chunks <= lsp_min(most, shape->threads) &&
           (shape->lanes == 1 || shape->lanes == 2 || shape->lanes == 4) && shape->slice <= slice;
}
