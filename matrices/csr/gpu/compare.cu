/* Two matrices compared entry by entry on the GPU: where their patterns first differ, how far their values are apart,
 * and whether one mirrors the other. */
#include "entries.cuh"
#include "matrices/csr/facts.h"

/* ---- patterns ---- */

/* The first row that ends elsewhere, the first entry of another column; all bits 1 if none. */
typedef struct pattern_faults {
    ull row, entry;
} pattern_faults;

static __global__ void kernel_patterns(gpu_csr A, gpu_csr B, pattern_faults *found) {
    EACH_ITEM(i, A.rows, NT) {
        if (rowptr_at(A, i + 1) != rowptr_at(B, i + 1)) {
            lower_to(&found->row, (ull)i);
        }
    }
    EACH_ITEM(k, A.nnz < B.nnz ? A.nnz : B.nnz, NT) {
        if (col_at(A, k) != col_at(B, k)) {
            lower_to(&found->entry, (ull)k);
        }
    }
}

/* By one thread. Up to the first row that ends elsewhere, entries of one number are in one row. */
static __global__ void kernel_name_difference(gpu_csr A, gpu_csr B, const pattern_faults *found, lsp_csr_spot *spot) {
    const int64_t ends = found->row == ~0ull ? -1 : (int64_t)found->row;
    ull k = found->entry;
    if (ends >= 0) {
        const int64_t a = rowptr_at(A, ends + 1), b = rowptr_at(B, ends + 1);
        k = k < (ull)(a < b ? a : b) ? k : (ull)(a < b ? a : b);
    }
    spot->row = spot->col = -1;
    if (k != ~0ull) {
        const int64_t at = (int64_t)k, i = ends >= 0 && at >= rowptr_at(A, ends) ? ends : row_of(A, at, 0, A.rows - 1);
        const int64_t x = at < rowptr_at(A, i + 1) ? col_at(A, at) : INT64_MAX;
        const int64_t y = at < rowptr_at(B, i + 1) ? col_at(B, at) : INT64_MAX;
        spot->row = i;
        spot->col = x < y ? x : y;
    }
}

extern "C" lsp_status lsp_csr_first_difference_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                                    lsp_csr_spot *spot) {
    LSP_SCRATCH_SCOPE(ctx);
    pattern_faults *found = NULL;
    lsp_csr_spot *there = NULL;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0xFF, 1, &found));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, 1, &there));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_patterns, A->rows + A->nnz, view(A), view(B), found));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_name_difference, 1, 1, 0, view(A), view(B), found, there));
    return lsp_cuda_read(ctx, spot, there, sizeof *spot);
}

/* ---- values ---- */

/* The first of entries begin .. end-1 whose column is at least `column`; they ascend. */
static __device__ int64_t lower_bound(const gpu_csr &A, int64_t begin, int64_t end, int64_t column) {
    return LSP_FIRST(begin, end, middle, col_at(A, middle) >= column);
}

/* The entry of B that belongs to entry k of A, in row i: the r-th of its column if k is the r-th. -1 if none. */
static __device__ int64_t partner(const gpu_csr &A, const gpu_csr &B, int64_t i, int64_t k) {
    const int64_t column = col_at(A, k), end = rowptr_at(B, i + 1);
    const int64_t rank = k - lower_bound(A, rowptr_at(A, i), k, column);
    const int64_t at = lower_bound(B, rowptr_at(B, i), end, column) + rank;
    return at < end && col_at(B, at) == column ? at : -1;
}

static __device__ bool same_bits(const gpu_csr &A, int64_t a, const gpu_csr &B, int64_t b) {
    const ull *x = (const ull *)A.val, *y = (const ull *)B.val;
    if (A.val_type == B.val_type && is_integer(A.val_type)) {
        return whole_at(A.val_type, x, a) == whole_at(B.val_type, y, b);
    }
    return A.val_type == B.val_type && (A.val_type == LSP_NONE  ? true
                                        : A.val_type == LSP_F32 ? ((const uint32_t *)x)[a] == ((const uint32_t *)y)[b]
                                        : A.val_type == LSP_F64 ? x[a] == y[b]
                                                                : x[2 * a] == y[2 * b] && x[2 * a + 1] == y[2 * b + 1]);
}

/* The largest relative difference, as bits: those of numbers from 0 on ascend like the numbers. */
typedef struct distances {
    ull most, first, differ;
} distances;

/* What one pair adds. The first pass finds the largest difference, the second (`locate`) the first entry that has it.
 */
static __device__ void take_pair(const gpu_csr &A, const gpu_csr &B, int64_t a, int64_t b, bool locate,
                                 distances *found) {
    if (b < 0 || same_bits(A, a, B, b)) {
        return;
    }
    const gpu_value x = complex_at(A, a), y = complex_at(B, b);
    const bool integers = is_integer(A.val_type) && is_integer(B.val_type);
    const double rel = integers ? lsp_relative_whole(whole_at(A.val_type, A.val, a), whole_at(B.val_type, B.val, b))
                                : lsp_relative(x.re, x.im, y.re, y.im);
    const ull apart = (ull)__double_as_longlong(rel);
    if (!locate) {
        raise_to(&found->differ, 1);
        raise_to(&found->most, apart);
    } else if (apart == found->most) {
        lower_to(&found->first, (ull)a);
    }
}

static __global__ void kernel_distances(gpu_csr A, gpu_csr B, bool aligned, bool locate, distances *found) {
    EACH_TILE(at, A.nnz) {
        const entry_tile tile = tile_at(A, at);
        for (int64_t k = tile.first + lane_of(); k < tile.end; k += 32) {
            const int64_t partner_of_k = aligned ? k : partner(A, B, row_of(A, k, tile.low, tile.high), k);
            take_pair(A, B, k, partner_of_k, locate, found);
        }
    }
}

extern "C" lsp_status lsp_csr_distance_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, bool aligned,
                                            lsp_csr_distance *distance) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t blocks = blocks_for_items(A->nnz);
    distances *there = NULL, found = {0, ~0ull, 0};
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, 1, &there));
    LSP_TRY(lsp_cuda_copy(ctx, there, LSP_CUDA, &found, LSP_HOST, sizeof found));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_distances, blocks, NT, 0, view(A), view(B), aligned, false, there));
    LSP_TRY(lsp_cuda_read(ctx, &found, there, sizeof found));
    if (found.most != 0) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_distances, blocks, NT, 0, view(A), view(B), aligned, true, there));
        LSP_TRY(lsp_cuda_read(ctx, &found, there, sizeof found));
    }
    memcpy(&distance->max_rel, &found.most, sizeof distance->max_rel);
    distance->entry = found.most != 0 ? (int64_t)found.first : -1;
    distance->same_bits = found.differ == 0;
    return LSP_OK;
}

/* ---- symmetry ---- */

static __global__ void kernel_symmetry(gpu_csr A, gpu_csr T, unsigned *lost) {
    unsigned mine = 0;
    EACH_ITEM(i, A.rows, NT) { mine |= rowptr_at(A, i + 1) != rowptr_at(T, i + 1) ? LSP_LOST_PATTERN : 0; }
    EACH_ITEM(k, A.nnz, NT) {
        mine |= col_at(A, k) != col_at(T, k) ? LSP_LOST_PATTERN : 0;
        if (is_integer(A.val_type)) {
            mine |= lsp_lost_whole((ull)whole_at(A.val_type, A.val, k), (ull)whole_at(T.val_type, T.val, k));
        } else {
            const gpu_value a = complex_at(A, k), t = complex_at(T, k);
            mine |= lsp_lost_number(a.re, a.im, t.re, t.im);
        }
    }
    if (mine != 0) {
        atomicOr(lost, mine);
    }
}

extern "C" lsp_status lsp_csr_symmetry_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *T, lsp_csr_stats *stats) {
    LSP_SCRATCH_SCOPE(ctx);
    unsigned *there = NULL, lost = 0;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_symmetry, A->rows + A->nnz, view(A), view(T), there));
    LSP_TRY(lsp_cuda_read(ctx, &lost, there, sizeof lost));
    lsp_tell_symmetry(lost, stats);
    return LSP_OK;
}
