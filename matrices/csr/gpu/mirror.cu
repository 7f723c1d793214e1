/* B = A^T where entries are mirrored: one pass, in which each entry looks for its mirror. In matrices of grids the
 * mirror of a row's t-th entry is the t-th from the end of its own row, or near it. */
#include "matrices/gpu/gpu.h"
#include "mirror.cuh"

enum {
    MIRROR_EACH = 4, /* entries of a lane in a tile: with 8, fewer warps fit and wait longer */
    MIRROR_BLOCKS = 6,
    MIRROR_TILE = 32 * MIRROR_EACH,
    SAMPLE = 2048 /* rows */
};

/* ---- the sample ---- */

/* Looks for the mirror of one entry in each row of a sample. A is not checked yet, so each place is. */
static __global__ void __launch_bounds__(NT) kernel_sample(gpu_csr A, unsigned *lost) {
    const int64_t t = (int64_t)blockIdx.x * NT + threadIdx.x, i = (int64_t)((double)t / SAMPLE * (double)A.rows);
    const int64_t begin = rowptr_at(A, i), end = rowptr_at(A, i + 1);
    const bool here = begin >= 0 && begin < end && end <= A.nnz;
    const int64_t j = here ? col_at(A, t % 2 ? begin : end - 1) : 0;
    const bool inside = here && j >= 0 && j < A.rows;
    const int64_t low = inside ? rowptr_at(A, j) : 0, high = inside ? rowptr_at(A, j + 1) : 0;
    if (inside && low >= 0 && low <= high && high <= A.nnz) {
        const int64_t at = LSP_FIRST(low, high, middle, col_at(A, middle) >= i);
        if (at >= high || col_at(A, at) != i) {
            *lost = 1;
        }
    }
}

/* ---- the pass ---- */

static __device__ bool is_set(const unsigned *word) { return word && *(const volatile unsigned *)word; }

/* tile_row[t] = the row of entry t * MIRROR_TILE. */
static __global__ void __launch_bounds__(NT) kernel_tile_rows(gpu_csr A, const unsigned *gate, uint32_t *tile_row) {
    if (is_set(gate)) {
        return;
    }
    EACH_ITEM(i, A.rows, NT) {
        const int64_t begin = rowptr_at(A, i), end = rowptr_at(A, i + 1);
        for (int64_t t = (begin + MIRROR_TILE - 1) / MIRROR_TILE; t * MIRROR_TILE < end; t++) {
            tile_row[t] = (uint32_t)i;
        }
    }
}

/* A matrix of fewer than 2^31 rows and entries. NARROW: its indices have 32 bits. */
template <bool NARROW> struct small_csr {
    gpu_csr A;
    __device__ uint32_t rowptr(uint32_t i) const {
        return NARROW ? ((const uint32_t *)A.rowptr)[i] : (uint32_t)rowptr_at(A, i);
    }
    __device__ uint32_t col(uint32_t k) const { return NARROW ? ((const uint32_t *)A.col)[k] : (uint32_t)col_at(A, k); }
};

/* Sets row[e] = the row of entry first + 32 e + lane for the entries of a tile, which ends at `end` and lies in rows
 * low .. high: each row marks its first entry, and the marks spread to the right. By a warp, whose marks are zero
 * before and after. */
template <bool NARROW>
static __device__ void rows_of_tile(const small_csr<NARROW> &A, uint32_t first, uint32_t end, uint32_t low,
                                    uint32_t high, uint32_t *marks, uint32_t (&row)[MIRROR_EACH]) {
    const uint32_t lane = (uint32_t)lane_of();
    const bool sparse = high - low > 4 * MIRROR_TILE; /* most rows are empty */
    uint32_t above = 0;
    for (uint32_t i = low + 1 + lane; i <= high && !sparse; i += 32) {
        const uint32_t begin = A.rowptr(i);
        if (begin < A.rowptr(i + 1) && begin < end) {
            marks[begin - first] = i - low;
        }
    }
    __syncwarp();
#pragma unroll
    for (int e = 0; e < MIRROR_EACH; e++) {
        uint32_t mark = max(marks[e * 32 + lane], above);
        marks[e * 32 + lane] = 0;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            mark = max(mark, __shfl_up_sync(~0u, mark, step)); /* its own where no lane is so far below */
        }
        above = __shfl_sync(~0u, mark, 31);
        row[e] = low + mark;
        if (sparse) {
            const uint32_t k = min(first + e * 32 + lane, end - 1);
            row[e] = (uint32_t)LSP_FIRST(low, high, middle, A.rowptr((uint32_t)middle + 1) > k);
        }
    }
    __syncwarp();
}

/* The first entry of begin .. end-1, whose columns ascend, with a column of at least i. The one at `guess` has column
 * `found`: the search goes on from there, twice as far each step, then by halves. */
template <bool NARROW>
static __device__ uint32_t search_near(const small_csr<NARROW> &A, uint32_t i, uint32_t begin, uint32_t end,
                                       uint32_t guess, uint32_t found) {
    uint32_t low = begin, high = guess;
    if (found < i) {
        low = guess + 1, high = end;
        for (uint32_t step = 1; low + step <= end; step *= 2) {
            if (A.col(low + step - 1) >= i) {
                high = low + step - 1;
                break;
            }
            low += step;
        }
    } else {
        for (uint32_t step = 1; high >= begin + step; step *= 2) {
            if (A.col(high - step) < i) {
                low = high - step + 1;
                break;
            }
            high -= step;
        }
    }
    return (uint32_t)LSP_FIRST(low, high, middle, A.col((uint32_t)middle) >= i);
}

/* A warp takes a tile of entries. *lost = 1: one has no mirror, or a row does not ascend. */
template <int VB, bool NARROW>
static __global__ void __launch_bounds__(NT, MIRROR_BLOCKS)
    kernel_mirror(small_csr<NARROW> A, gpu_csr B, const uint32_t *tile_row, const unsigned *gate, unsigned *lost) {
    __shared__ uint32_t marks[WARPS][MIRROR_TILE];
    const uint32_t lane = (uint32_t)lane_of(), warp = threadIdx.x / 32, nnz = (uint32_t)A.A.nnz;
    if (is_set(gate)) {
        return;
    }
    if (B.rowptr) {
        EACH_ITEM(i, A.A.rows + 1, NT) { index_set((void *)B.rowptr, B.wide_rowptr, i, A.rowptr((uint32_t)i)); }
    }
    for (int e = 0; e < MIRROR_EACH; e++) {
        marks[warp][e * 32 + lane] = 0;
    }
    __syncwarp();
    const uint32_t tiles = (nnz - 1) / MIRROR_TILE + 1;
    /* All lanes must stop at the same tile, and another block may set *lost between their reads of it. */
    for (uint32_t t = blockIdx.x * WARPS + warp; t < tiles && !__any_sync(~0u, is_set(lost)); t += gridDim.x * WARPS) {
        const uint32_t first = t * MIRROR_TILE, count = min(nnz - first, (uint32_t)MIRROR_TILE);
        const uint32_t high = t + 1 < tiles ? tile_row[t + 1] : (uint32_t)A.A.rows - 1;
        uint32_t row[MIRROR_EACH], col[MIRROR_EACH], begin[MIRROR_EACH], end[MIRROR_EACH], at[MIRROR_EACH];
        bool whole = true;
        rows_of_tile(A, first, first + count, tile_row[t], high, marks[warp], row);
#pragma unroll
        for (int e = 0; e < MIRROR_EACH; e++) {
            col[e] = A.col(first + min(e * 32 + lane, count - 1));
        }
#pragma unroll
        for (int e = 0; e < MIRROR_EACH; e++) {
            const uint32_t k = first + min(e * 32 + lane, count - 1), start = A.rowptr(row[e]);
            begin[e] = A.rowptr(col[e]), end[e] = A.rowptr(col[e] + 1);
            whole &= e * 32 + lane >= count || k == start || A.col(k - 1) < col[e];
            at[e] = begin[e] + (k - start) < end[e] ? end[e] - 1 - (k - start) : begin[e];
        }
#pragma unroll
        for (int e = 0; e < MIRROR_EACH; e++) {
            const uint32_t found = A.col(min(at[e], nnz - 1));
            if (e * 32 + lane < count && (found != row[e] || begin[e] == end[e])) {
                at[e] = search_near(A, row[e], begin[e], end[e], at[e], found);
                whole &= at[e] < end[e] && A.col(at[e]) == row[e];
            }
        }
#pragma unroll
        for (int e = 0; e < MIRROR_EACH; e++) {
            const uint32_t k = first + e * 32 + lane;
            if (e * 32 + lane < count) {
                if (B.col) {
                    index_set((void *)B.col, NARROW ? false : B.wide_col, k, col[e]);
                }
                lsp_move_value((void *)B.val, k, A.A.val, min(at[e], nnz - 1), VB);
            }
        }
        if (!whole) {
            *lost = 1;
        }
    }
}

/* ---- the host's side ---- */

template <bool NARROW>
static lsp_status start(lsp_ctx *ctx, const gpu_csr &A, const gpu_csr &B, int value_bytes, const uint32_t *tile_row,
                        const unsigned *gate, unsigned *lost) {
    const int64_t blocks = lsp_blocks_for(ctx, A.nnz, MIRROR_TILE * WARPS, 32);
    const small_csr<NARROW> a = {A};
#define START(VB) LSP_LAUNCH(ctx, (kernel_mirror<VB, NARROW>), blocks, NT, 0, a, B, tile_row, gate, lost)
    return value_bytes == 0   ? START(0)
           : value_bytes == 1 ? START(1)
           : value_bytes == 4 ? START(4)
           : value_bytes == 8 ? START(8)
                              : START(16);
#undef START
}

lsp_status lsp_csr_mirror_entries(lsp_ctx *ctx, const char *name, const lsp_csr *A, const gpu_csr &B, bool *done) {
    LSP_SCRATCH_SCOPE(ctx);
    unsigned *lost = NULL, is_lost = 1;
    uint32_t *tile_row = NULL;
    const unsigned *gate = NULL;
    const int value = B.val ? value_bytes(A) : 0;
    const gpu_csr a = view(A);
    const bool narrow = !a.wide_rowptr && !a.wide_col && !B.wide_col;
    *done = false;
    if (A->rows != A->cols || A->nnz == 0 || A->nnz > INT32_MAX - MIRROR_TILE || A->rows > INT32_MAX - 32) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &lost));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_sample, SAMPLE / NT, NT, 0, a, lost));
    LSP_TRY(lsp_cuda_read(ctx, &is_lost, lost, sizeof is_lost));
    if (is_lost) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, lsp_ceil_div(A->nnz, MIRROR_TILE), &tile_row));
    LSP_TRY(name ? lsp_csr_check_begin_cuda(ctx, A, &gate) : LSP_OK);
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_tile_rows, A->rows, a, gate, tile_row));
    LSP_TRY(narrow ? start<true>(ctx, a, B, value, tile_row, gate, lost)
                   : start<false>(ctx, a, B, value, tile_row, gate, lost));
    LSP_TRY(name ? lsp_csr_check_end_cuda(ctx, name, A) : LSP_OK);
    LSP_TRY(lsp_cuda_read(ctx, &is_lost, lost, sizeof is_lost));
    *done = !is_lost;
    return LSP_OK;
}
