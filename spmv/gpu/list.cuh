/* Lists of pieces: parts of the matrix of at most SPMV_PIECE entries, which blocks of kernel_pieces take.
 * Rows may have any length, so kernels of ROWS list the tiles that have too many entries for them. And a sample of the
 * matrix tells whether most entries lie in long tiles: then these kernels do no tile, and cut the whole matrix into
 * pieces instead. All is decided on the GPU, so the host need not wait; area.c keeps what was found for later calls. */
#pragma once

#include "arith.cuh"

/* A launch of a kernel of ROWS. */
struct rows_launch {
    spmv_job job;
    spmv_area area;                  /* state NULL: no list */
    int64_t tiles, pieces;           /* pieces: of the whole matrix */
    int lanes, lane_bits, tile_rows; /* lanes of a row; kernel_lanes: 1 << lane_bits */
    int room;                        /* entries that shared memory holds */
    int64_t heavy;                   /* a tile with more entries than this goes to the list */
    bool asks;                       /* the sample runs before: what it found is in the area's state */
};

/* area: see rows_launch; NULL: no list. */
static inline rows_launch spmv_launch_of(const spmv_job *job, const spmv_shape *shape, const spmv_area *area) {
    rows_launch l = {};
    l.job = *job;
    l.area = area ? *area : l.area;
    l.tiles = lsp_ceil_div(job->rows, shape->tile_rows);
    l.lanes = shape->lanes;
    l.lane_bits = lsp_bits((uint64_t)shape->lanes) - 1;
    l.tile_rows = shape->tile_rows;
    l.room = shape->room;
    l.heavy = shape->heavy;
    return l;
}

/* ---- the whole matrix ---- */

/* Piece p begins at the border p * SPMV_PIECE. An entry counts 1 and a row 1/8, so that no piece has very many empty
 * rows. */
__host__ __device__ inline int64_t border_weight(int64_t row) { return row / 8; }

/* A border p belongs to the row before the first one with rowptr + weight >= p * SPMV_PIECE: this writes the borders of
 * one row, begin .. end-1. The rows of the grid together make the list of all pieces. If row pointers fall, parts of
 * the list stay what they were. */
__device__ inline void cut_row(const spmv_job &job, const spmv_area &area, int64_t pieces, int64_t row, int64_t begin,
                               int64_t end, spmv_faults *faults) {
    if (spmv_is_malformed(job, begin, end)) {
        faults->row(row);
        return;
    }
    if (row == 0) {
        area.list[0].begin = area.list[0].row = 0;
    }
    const int64_t last = row == job.rows - 1 ? pieces : (end + border_weight(row + 1)) / SPMV_PIECE;
    for (int64_t p = (begin + border_weight(row)) / SPMV_PIECE + 1; p <= min(last, pieces); p++) {
        const int64_t entry = p == pieces ? job.nnz : min(end, p * SPMV_PIECE - border_weight(row));
        area.list[p - 1].end = entry;
        area.list[p - 1].last = row + 1;
        if (p < pieces) {
            area.list[p].begin = entry;
            area.list[p].row = row + 1;
        }
    }
}

/* ---- tiles ---- */

/* The first of the rows `first` .. `last` that begins at entry k or later; `last` if none does. */
__device__ inline int64_t first_row_from(const spmv_job &job, int64_t first, int64_t last, int64_t k) {
    return LSP_FIRST(first, last, row, spmv_rowptr(job, row) >= k);
}

/* The block appends the pieces of the rows first .. last-1, which hold the entries begin .. end-1. Their order in the
 * list among other tiles' does not matter: sums join only pieces of one tile. */
__device__ inline void list_pieces(const spmv_job &job, const spmv_area &area, int64_t first, int64_t last,
                                   int64_t begin, int64_t end, spmv_faults *faults) {
    __shared__ ull base;
    const int64_t count = (end - begin + SPMV_PIECE - 1) / SPMV_PIECE;
    if (threadIdx.x == 0) {
        base = atomicAdd(&area.state->pieces, (ull)count);
    }
    __syncthreads();
    for (int64_t j = threadIdx.x; j < count; j += blockDim.x) {
        const int64_t at = begin + j * SPMV_PIECE, next = min(at + SPMV_PIECE, end);
        const int64_t row = j == 0 ? first : first_row_from(job, first, last, at);
        const int64_t stop = next == end ? last : first_row_from(job, first, last, next);
        if ((int64_t)base + j < area.capacity) {
            area.list[base + j] = {at, next, row, stop};
        } else { /* tiles overlap */
            faults->row(first);
        }
    }
}

/* A group of lanes appends the pieces of one row, which holds the entries begin .. end-1. */
__device__ inline void list_row(const spmv_area &area, int64_t row, int64_t begin, int64_t end, int lanes,
                                spmv_faults *faults) {
    const int lane = (int)threadIdx.x % lanes;
    const unsigned group = (lanes == WARP ? ~0u : (1u << lanes) - 1) << ((int)threadIdx.x % WARP - lane);
    const int64_t count = (end - begin + SPMV_PIECE - 1) / SPMV_PIECE;
    ull base = lane == 0 ? atomicAdd(&area.state->pieces, (ull)count) : 0;
    base = __shfl_sync(group, base, 0, lanes);
    for (int64_t j = lane; j < count; j += lanes) {
        const int64_t at = begin + j * SPMV_PIECE;
        if ((int64_t)base + j < area.capacity) {
            area.list[base + j] = {at, min(end, at + SPMV_PIECE), row + (j > 0), row + 1};
        } else { /* rows overlap */
            faults->row(row);
        }
    }
}

/* For kernels of ROWS: does the sample want pieces? Then the grid makes them, and no tile is done. */
__device__ inline bool rows_skewed(const rows_launch &l) { return l.asks && __ldcg(&l.area.state->found) != 0; }

/* ---- the sample ---- */

enum { SAMPLE_NT = 1024, SAMPLE_EACH = 2, SAMPLE_TIMES = 2, SAMPLE_MORE = 64, SAMPLE_SHARE = 4 };

/* One block reads the row pointers of 2048 tiles spread over the matrix. If those with more than SAMPLE_TIMES the mean
 * (and SAMPLE_MORE) hold more than one entry of SAMPLE_SHARE, the matrix is skewed. Also clears the list. */
static __global__ void __launch_bounds__(SAMPLE_NT) kernel_sample(rows_launch l, int64_t heavy) {
    __shared__ ull sums[2][SAMPLE_NT / WARP];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    ull all = 0, in_heavy = 0;
    lsp_let_next_begin();
#pragma unroll
    for (int r = 0; r < SAMPLE_EACH; r++) {
        const int64_t tile = ((int64_t)r * SAMPLE_NT + threadIdx.x) * l.tiles / (SAMPLE_EACH * SAMPLE_NT);
        const int64_t first = tile * l.tile_rows, last = min(first + l.tile_rows, l.job.rows);
        const int64_t rows[2] = {first, last};
        int64_t at[2];
        spmv_rowptrs(l.job, rows, at);
        const int64_t begin = spmv_clamp(at[0], 0, l.job.nnz), count = spmv_clamp(at[1], begin, l.job.nnz) - begin;
        all += (ull)count;
        in_heavy += count > heavy ? (ull)count : 0;
    }
    all = warp_sum(all);
    in_heavy = warp_sum(in_heavy);
    if (lane == 0) {
        sums[0][warp] = all;
        sums[1][warp] = in_heavy;
    }
    __syncthreads();
    if (warp == 0) {
        all = warp_sum(sums[0][lane]);
        in_heavy = warp_sum(sums[1][lane]);
        if (lane == 0) {
            const bool skewed = in_heavy > all / SAMPLE_SHARE;
            l.area.state->found = skewed ? SPMV_SKEWED : 0;
            l.area.state->pieces = skewed ? (ull)l.pieces : 0;
        }
    }
}
