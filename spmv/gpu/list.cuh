/* Lists of pieces: parts of the matrix of at most SPMV_PIECE entries, which blocks of kernel_pieces take.
 * Rows may have any length, so kernels of ROWS list the tiles that have too many entries for them. And a sample of the
 * row pointers tells whether most entries lie in long tiles: then these kernels do no tile, and cut the whole matrix
 * into pieces instead. All is decided on the GPU from the row pointers alone, so the host need not wait for them. */
#ifndef LSP_SPMV_GPU_LIST_CUH
#define LSP_SPMV_GPU_LIST_CUH

#include "arith.cuh"

/* A launch of a kernel of ROWS. */
struct rows_launch {
    spmv_job job;
    spmv_area area;                  /* state NULL: no list */
    int64_t tiles, pieces;           /* pieces: of the whole matrix */
    int lanes, lane_bits, tile_rows; /* lanes of a row; kernel_lanes: 1 << lane_bits */
    int room;                        /* entries that shared memory holds */
    int64_t heavy;                   /* a tile with more entries than this goes to the list */
    bool gated;
};

/* ---- the whole matrix ---- */

/* A border between pieces: the first entry and the first row after it. Piece p begins at the border p * SPMV_PIECE. An
 * entry counts 1 and a row 1/8, so that no piece has very many empty rows. */
struct piece_border {
    int64_t entry, row;
};
__host__ __device__ inline int64_t border_weight(int64_t row) { return row / 8; }

/* The border at `at`: its row is the first one with rowptr + weight >= at. The entry lies inside the row before it. The
 * search looks at three rows at once, because each look waits for memory. */
__device__ inline piece_border border_at(const spmv_job &job, int64_t at) {
    int64_t low = 0, high = job.rows;
    if (at <= 0) {
        return {0, 0};
    } else if (at >= job.nnz + border_weight(job.rows)) {
        return {job.nnz, job.rows};
    }
    while (low < high) {
        const int64_t step = max((high - low) / 4, (int64_t)1), last = high - 1;
        const int64_t rows[3] = {min(low + step - 1, last), min(low + 2 * step - 1, last),
                                 min(low + 3 * step - 1, last)};
        int64_t from[3];
        bool reached[3];
        spmv_rowptrs(job, rows, from);
        for (int i = 0; i < 3; i++) {
            reached[i] = spmv_clamp(from[i], 0, job.nnz) + border_weight(rows[i]) >= at;
        }
        high = reached[0] ? rows[0] : reached[1] ? rows[1] : reached[2] ? rows[2] : high;
        low = reached[0] ? low : reached[1] ? rows[0] + 1 : reached[2] ? rows[1] + 1 : rows[2] + 1;
    }
    const int64_t begin = spmv_clamp(spmv_rowptr(job, low), 0, job.nnz);
    return {spmv_clamp(min(begin, at - border_weight(low - 1)), 0, job.nnz), low};
}

enum { CUT_EACH = WARP - 1 }; /* pieces that a warp makes of the borders that its lanes find */

/* All warps of the grid make the list of all pieces. */
__device__ inline void cut_matrix(const spmv_job &job, const spmv_area &area, int64_t pieces, spmv_faults *faults) {
    const int lane = (int)threadIdx.x % WARP;
    const int64_t warps = (int64_t)gridDim.x * (blockDim.x / WARP);
    const int64_t warp = (int64_t)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    for (int64_t base = warp * CUT_EACH; base < pieces; base += warps * CUT_EACH) {
        const piece_border border = border_at(job, (base + lane) * SPMV_PIECE);
        const int64_t entries = __shfl_down_sync(~0u, border.entry, 1) - border.entry;
        const int64_t rows = __shfl_down_sync(~0u, border.row, 1) - border.row;
        if (lane < CUT_EACH && base + lane < pieces) {
            const int64_t fits = spmv_clamp(entries, 0, SPMV_PIECE), least = spmv_clamp(rows, 0, 16 * SPMV_PIECE);
            area.list[base + lane] = {border.entry, border.row, (int32_t)fits, (int32_t)least};
            if (entries != fits || rows != least) { /* row pointers that fall */
                faults->row(min(border.row, job.rows - 1));
            }
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
    __shared__ unsigned long long base;
    const int64_t count = (end - begin + SPMV_PIECE - 1) / SPMV_PIECE;
    if (threadIdx.x == 0) {
        base = atomicAdd(&area.state->pieces, (unsigned long long)count);
    }
    __syncthreads();
    for (int64_t j = threadIdx.x; j < count; j += blockDim.x) {
        const int64_t at = begin + j * SPMV_PIECE, next = min(at + SPMV_PIECE, end);
        const int64_t row = j == 0 ? first : first_row_from(job, first, last, at);
        const int64_t stop = next == end ? last : first_row_from(job, first, last, next);
        if ((int64_t)base + j < area.capacity) {
            area.list[base + j] = {at, row, (int32_t)(next - at), (int32_t)max(stop - row, (int64_t)0)};
        } else { /* tiles overlap */
            faults->row(first);
        }
    }
    __syncthreads();
}

/* A group of lanes appends the pieces of one row, which holds the entries begin .. end-1. */
__device__ inline void list_row(const spmv_area &area, int64_t row, int64_t begin, int64_t end, int lanes,
                                spmv_faults *faults) {
    const int lane = (int)threadIdx.x % lanes;
    const unsigned group = (lanes == WARP ? ~0u : (1u << lanes) - 1) << ((int)threadIdx.x % WARP - lane);
    const int64_t count = (end - begin + SPMV_PIECE - 1) / SPMV_PIECE;
    unsigned long long base = lane == 0 ? atomicAdd(&area.state->pieces, (unsigned long long)count) : 0;
    base = __shfl_sync(group, base, 0, lanes);
    for (int64_t j = lane; j < count; j += lanes) {
        const int64_t at = begin + j * SPMV_PIECE;
        if ((int64_t)base + j < area.capacity) {
            area.list[base + j] = {at, row + (j > 0), (int32_t)min(end - at, (int64_t)SPMV_PIECE), j == 0};
        } else { /* rows overlap */
            faults->row(row);
        }
    }
}

/* The gate of kernels of ROWS: does the sample want pieces? Then the grid makes them, and no tile is done. */
__device__ inline unsigned rows_gate(const rows_launch &l) { return l.gated ? __ldcg(&l.area.state->skewed) : 0; }

/* ---- the sample ---- */

enum { SAMPLE_NT = 1024, SAMPLE_EACH = 2, SAMPLE_TIMES = 2, SAMPLE_MORE = 64, SAMPLE_SHARE = 4 };

/* One block reads the entries of 2048 tiles spread over the matrix. If those with more than SAMPLE_TIMES the mean (and
 * SAMPLE_MORE) hold more than one entry of SAMPLE_SHARE, the matrix is skewed. Also clears the list. */
static __global__ void __launch_bounds__(SAMPLE_NT) kernel_sample(rows_launch l, int64_t heavy) {
    __shared__ unsigned long long sums[2][SAMPLE_NT / WARP];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    unsigned long long all = 0, in_heavy = 0;
    lsp_let_next_begin();
#pragma unroll
    for (int r = 0; r < SAMPLE_EACH; r++) {
        const int64_t tile = ((int64_t)r * SAMPLE_NT + threadIdx.x) * l.tiles / (SAMPLE_EACH * SAMPLE_NT);
        const int64_t first = tile * l.tile_rows, last = min(first + l.tile_rows, l.job.rows);
        const int64_t rows[2] = {first, last};
        int64_t at[2];
        spmv_rowptrs(l.job, rows, at);
        const int64_t begin = spmv_clamp(at[0], 0, l.job.nnz), count = spmv_clamp(at[1], begin, l.job.nnz) - begin;
        all += (unsigned long long)count;
        in_heavy += count > heavy ? (unsigned long long)count : 0;
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
            l.area.state->skewed = skewed;
            l.area.state->pieces = skewed ? (unsigned long long)l.pieces : 0;
        }
    }
}

#endif
