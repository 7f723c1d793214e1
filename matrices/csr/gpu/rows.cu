/* Matrices on the GPU: check, sort, sum of two, filter. A warp takes a row; rows are sorted by the segmented sort. */
#include "core/block.cuh"
#include "core/launch.cuh"
#include "core/scan.h"
#include "gpu.h"

typedef unsigned long long ull;
enum { NT = 256, WARPS = NT / 32 };

/* A matrix as the kernels see it. */
typedef struct gpu_csr {
    const void *rowptr, *col, *val;
    int64_t rows, cols, nnz;
    bool wide_rowptr, wide_col;
    lsp_type val_type;
} gpu_csr;

static gpu_csr view(const lsp_csr *A) {
    gpu_csr v = {};
    v.rowptr = A->rowptr, v.col = A->col, v.val = A->val;
    v.rows = A->rows, v.cols = A->cols, v.nnz = A->nnz;
    v.wide_rowptr = A->rowptr_type == LSP_I64;
    v.wide_col = A->col_type == LSP_I64;
    v.val_type = A->val_type;
    return v;
}

static __device__ int64_t index_at(const void *array, bool wide, int64_t i) {
    return wide ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}
static __device__ void index_set(void *array, bool wide, int64_t i, int64_t x) {
    if (wide) {
        ((int64_t *)array)[i] = x;
    } else {
        ((int32_t *)array)[i] = (int32_t)x;
    }
}
static __device__ int64_t rowptr_at(const gpu_csr &A, int64_t i) { return index_at(A.rowptr, A.wide_rowptr, i); }
static __device__ int64_t col_at(const gpu_csr &A, int64_t k) { return index_at(A.col, A.wide_col, k); }
static __device__ double value_at(const gpu_csr &A, int64_t k) {
    return A.val_type == LSP_F64 ? ((const double *)A.val)[k] : A.val_type == LSP_F32 ? ((const float *)A.val)[k] : 1;
}

/* A warp takes every row whose number is its own modulo the warps of the grid. */
static int64_t blocks_for_rows(int64_t rows) { return lsp_max(lsp_min(lsp_ceil_div(rows, WARPS), 1 << 16), 1); }
static int64_t blocks_for_items(int64_t items) { return lsp_max(lsp_min(lsp_ceil_div(items, NT * 4), 1 << 14), 1); }
#define EACH_ROW(i, rows)                                                                                              \
    for (int64_t i = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32; i < (rows); i += (int64_t)gridDim.x * WARPS)
#define EACH_ITEM(i, n) for (int64_t i = (int64_t)blockIdx.x * NT + threadIdx.x; i < (n); i += (int64_t)gridDim.x * NT)
static __device__ int lane_of(void) { return (int)threadIdx.x % 32; }

/* ---- is it a matrix? ---- */

/* The first row that ends before its start, the first entry outside; all bits 1 if none. */
typedef struct faults {
    ull row, entry;
    int64_t start, stop;
} faults;

static __global__ void kernel_check(gpu_csr A, faults *found) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        found->start = rowptr_at(A, 0);
        found->stop = rowptr_at(A, A.rows);
    }
    EACH_ITEM(i, A.rows) {
        if (rowptr_at(A, i) > rowptr_at(A, i + 1)) {
            atomicMin(&found->row, (ull)i);
        }
    }
    EACH_ITEM(k, A.nnz) {
        if (col_at(A, k) < 0 || col_at(A, k) >= A.cols) {
            atomicMin(&found->entry, (ull)k);
        }
    }
}

extern "C" lsp_status lsp_csr_check_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    faults *there = NULL, found;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof *there, (void **)&there));
    LSP_TRY(LSP_CUDA_CALL(ctx, cudaMemsetAsync(there, 0xFF, sizeof *there, (cudaStream_t)lsp_cuda_stream(ctx))));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_check, blocks_for_items(A->rows + A->nnz), NT, 0, view(A), there));
    LSP_TRY(lsp_cuda_read(ctx, &found, there, sizeof found));
    LSP_REQUIRE(found.start == 0, LSP_ERR_FORMAT, "%s: rowptr[0] is %lld, not 0", name, (long long)found.start);
    LSP_REQUIRE(found.stop == A->nnz, LSP_ERR_FORMAT, "%s: rowptr[%lld] is %lld, but there are %lld entries", name,
                (long long)A->rows, (long long)found.stop, (long long)A->nnz);
    LSP_REQUIRE(found.row == ~0ull, LSP_ERR_FORMAT, "%s, row %lld ends before its start", name, (long long)found.row);
    LSP_REQUIRE(found.entry == ~0ull, LSP_ERR_FORMAT,
                "%s, entry %lld: its column is not in 0 .. %lld (indices are from 0)", name, (long long)found.entry,
                (long long)(A->cols - 1));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

/* ---- rows sorted ---- */

extern "C" lsp_status lsp_csr_sort_cuda(lsp_ctx *ctx, lsp_csr *A) {
    lsp_segsort_args args = {};
    args.n = A->nnz;
    args.segments = A->rows;
    args.offsets = A->rowptr;
    args.offset_type = A->rowptr_type;
    args.key_type = A->col_type == LSP_I64 ? LSP_U64 : LSP_U32;
    args.value_bytes = lsp_type_bytes(A->val_type);
    args.keys = args.keys_out = A->col;
    args.values = args.values_out = A->val;
    args.where = LSP_CUDA;
    return A->nnz > 0 ? lsp_segsort(ctx, &args) : LSP_OK;
}

/* ---- a sum of two matrices ---- */

/* A and B stacked row by row: row i of A, then row i of B. */
typedef struct gpu_pile {
    gpu_csr A, B;
    double alpha, beta;
    void *starts, *col, *val;
    bool wide_starts, wide_col;
    lsp_type val_type;
} gpu_pile;

static __global__ void kernel_pile_starts(gpu_pile pile) {
    EACH_ITEM(i, pile.A.rows + 1) {
        index_set(pile.starts, pile.wide_starts, i, rowptr_at(pile.A, i) + rowptr_at(pile.B, i));
    }
}

static __device__ void pile_up(const gpu_pile &pile, const gpu_csr &A, double factor, int64_t i, int64_t to) {
    const int64_t begin = rowptr_at(A, i), end = rowptr_at(A, i + 1);
    for (int64_t k = begin + lane_of(); k < end; k += 32) {
        const int64_t at = to + k - begin;
        index_set(pile.col, pile.wide_col, at, col_at(A, k));
        if (pile.val_type == LSP_F64) {
            ((double *)pile.val)[at] = __dmul_rn(factor, value_at(A, k));
        } else if (pile.val_type == LSP_F32) {
            ((float *)pile.val)[at] = __fmul_rn((float)factor, (float)value_at(A, k));
        }
    }
}

static __global__ void kernel_pile(gpu_pile pile) {
    EACH_ROW(i, pile.A.rows) {
        const int64_t start = index_at(pile.starts, pile.wide_starts, i);
        pile_up(pile, pile.A, pile.alpha, i, start);
        pile_up(pile, pile.B, pile.beta, i, start + rowptr_at(pile.A, i + 1) - rowptr_at(pile.A, i));
    }
}

static __global__ void kernel_widen(const void *counts, bool wide, int64_t *to, int64_t n) {
    EACH_ITEM(i, n + 1) { to[i] = i > 0 ? index_at(counts, wide, i - 1) : 0; }
}

template <typename V> static __device__ V sum_of(const V *val, int64_t from, int64_t end) {
    V sum = val[from];
    for (int64_t k = from + 1; k < end; k++) {
        sum += val[k];
    }
    return isnan(sum) ? (V)__longlong_as_double(0x7FF8000000000000ll) : sum; // every NaN gets the same bits
}

/* heads: where each entry of C begins in the pile; those of row i stand from starts[i] on. */
static __global__ void kernel_sum(gpu_pile pile, const void *heads, const int64_t *rowptr, void *col, void *val) {
    EACH_ROW(i, pile.A.rows) {
        const int64_t start = index_at(pile.starts, pile.wide_starts, i), count = rowptr[i + 1] - rowptr[i];
        for (int64_t e = lane_of(); e < count; e += 32) {
            const int64_t from = index_at(heads, pile.wide_starts, start + e), to = rowptr[i] + e;
            const int64_t end = e + 1 < count ? index_at(heads, pile.wide_starts, start + e + 1)
                                              : index_at(pile.starts, pile.wide_starts, i + 1);
            index_set(col, pile.wide_col, to, index_at(pile.col, pile.wide_col, from));
            if (pile.val_type == LSP_F64) {
                ((double *)val)[to] = sum_of((const double *)pile.val, from, end);
            } else if (pile.val_type == LSP_F32) {
                ((float *)val)[to] = sum_of((const float *)pile.val, from, end);
            }
        }
    }
}

static __global__ void kernel_rowptr(const int64_t *from, void *to, bool wide, int64_t n) {
    EACH_ITEM(i, n) { index_set(to, wide, i, from[i]); }
}

/* Sorts the rows of the pile, and lists where their columns change. */
static lsp_status sort_pile(lsp_ctx *ctx, const gpu_pile *pile, int64_t n, void *heads, void *counts) {
    lsp_segsort_args args = {};
    args.n = n;
    args.segments = pile->A.rows;
    args.offsets = pile->starts;
    args.offset_type = pile->wide_starts ? LSP_I64 : LSP_I32;
    args.key_type = pile->wide_col ? LSP_U64 : LSP_U32;
    args.value_bytes = lsp_type_bytes(pile->val_type);
    args.keys = args.keys_out = pile->col;
    args.values = args.values_out = pile->val;
    args.change_at = heads;
    args.change_count = counts;
    args.where = LSP_CUDA;
    return lsp_segsort(ctx, &args);
}

/* Creates a matrix with these row pointers; its other arrays are not set. */
static lsp_status make_rows(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t nnz, lsp_csr_types types,
                            const int64_t *rowptr, lsp_csr *C) {
    lsp_status status = LSP_OK;
    types.where = LSP_CUDA;
    LSP_TRY(lsp_csr_create(ctx, rows, cols, nnz, &types, C));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_rowptr, blocks_for_items(rows + 1), NT, 0, rowptr, C->rowptr,
                       C->rowptr_type == LSP_I64, rows + 1));
done:
    return status;
}

extern "C" lsp_status lsp_csr_add_cuda(lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B,
                                       lsp_csr *C) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    const int64_t n = A->nnz + B->nnz, rows = A->rows;
    lsp_csr made = {};
    void *heads = NULL, *counts = NULL;
    int64_t *rowptr = NULL, nnz = 0;
    lsp_csr_types types = {};
    types.val_type = A->val_type > B->val_type ? A->val_type : B->val_type;
    gpu_pile pile = {};
    pile.A = view(A), pile.B = view(B);
    pile.alpha = alpha, pile.beta = beta;
    pile.wide_starts = n > INT32_MAX;
    pile.wide_col = A->cols > (int64_t)INT32_MAX + 1;
    pile.val_type = types.val_type;
    const size_t index = pile.wide_starts ? 8 : 4;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, rows + 1, index, &pile.starts));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, rows + 1, sizeof *rowptr, (void **)&rowptr));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, n, pile.wide_col ? 8 : 4, &pile.col));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, n, lsp_type_bytes(pile.val_type), &pile.val));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, n, index, &heads));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, rows, index, &counts));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_pile_starts, blocks_for_items(rows + 1), NT, 0, pile));
    if (n > 0) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_pile, blocks_for_rows(rows), NT, 0, pile));
        LSP_TRY(sort_pile(ctx, &pile, n, heads, counts));
        LSP_TRY(
            LSP_LAUNCH(ctx, kernel_widen, blocks_for_items(rows + 1), NT, 0, counts, pile.wide_starts, rowptr, rows));
        LSP_TRY(lsp_cuda_scan(ctx, rowptr, rows + 1, &nnz));
    } else {
        LSP_TRY(LSP_CUDA_CALL(
            ctx, cudaMemsetAsync(rowptr, 0, (size_t)(rows + 1) * sizeof *rowptr, (cudaStream_t)lsp_cuda_stream(ctx))));
    }
    LSP_TRY(make_rows(ctx, rows, A->cols, nnz, types, rowptr, &made));
    if (nnz > 0) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_sum, blocks_for_rows(rows), NT, 0, pile, heads, rowptr, made.col, made.val));
    }
    *C = made;
done:
    lsp_scratch_release(ctx, mark);
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}

/* ---- which entries stay ---- */

typedef struct gpu_filter {
    gpu_csr mask; /* rows sorted; rowptr is NULL without a mask */
    bool complement, drop;
    double tolerance;
} gpu_filter;

static __device__ bool has_entry(const gpu_csr &M, int64_t i, int64_t column) {
    int64_t low = rowptr_at(M, i), high = rowptr_at(M, i + 1);
    const int64_t end = high;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (col_at(M, middle) < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && col_at(M, low) == column;
}

/* Sets stays[k] by the mask and the tolerance, and counts[i + 1]. */
static __global__ void kernel_look(gpu_csr A, gpu_filter filter, uint8_t *stays, int64_t *counts) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        counts[0] = 0;
    }
    EACH_ROW(i, A.rows) {
        int count = 0; /* of one lane: an int holds it, for a row has fewer than 2^36 entries */
        for (int64_t k = rowptr_at(A, i) + lane_of(); k < rowptr_at(A, i + 1); k += 32) {
            const bool small = filter.drop && fabs(value_at(A, k)) <= filter.tolerance; /* a NaN is not */
            const bool masked = filter.mask.rowptr && has_entry(filter.mask, i, col_at(A, k)) == filter.complement;
            stays[k] = !small && !masked;
            count += !small && !masked;
        }
        const int64_t sum = warp_sum((int64_t)count);
        if (lane_of() == 0) {
            counts[i + 1] = sum;
        }
    }
}

/* Prepares rows with more than `largest` entries for the sort: sizes[k] orders entries by |value|, and is 0 for those
 * already dropped. Other rows become empty segments. */
static __global__ void kernel_sizes(gpu_csr A, int64_t largest, const uint8_t *stays, const int64_t *counts, ull *sizes,
                                    int64_t *begins, int64_t *ends) {
    EACH_ROW(i, A.rows) {
        const int64_t begin = rowptr_at(A, i), end = rowptr_at(A, i + 1);
        const bool many = counts[i + 1] > largest;
        if (lane_of() == 0) {
            begins[i] = begin;
            ends[i] = many ? end : begin;
        }
        for (int64_t k = begin + lane_of(); many && k < end; k += 32) {
            const double value = value_at(A, k);
            const ull bits = isnan(value) ? ~0ull : (ull)__double_as_longlong(fabs(value));
            sizes[k] = stays[k] ? bits | 1ull << 63 : 0;
        }
    }
}

/* Drops all but the first `largest` entries of each sorted row. */
static __global__ void kernel_cut(gpu_csr A, int64_t largest, const int64_t *places, uint8_t *stays, int64_t *counts) {
    EACH_ROW(i, A.rows) {
        if (counts[i + 1] > largest) {
            for (int64_t k = rowptr_at(A, i) + largest + lane_of(); k < rowptr_at(A, i + 1); k += 32) {
                stays[places[k]] = 0;
            }
            __syncwarp();
            if (lane_of() == 0) {
                counts[i + 1] = largest;
            }
        }
    }
}

static __global__ void kernel_take(gpu_csr A, const uint8_t *stays, const int64_t *rowptr, void *col, bool wide_col,
                                   void *val) {
    EACH_ROW(i, A.rows) {
        const int64_t begin = rowptr_at(A, i), end = rowptr_at(A, i + 1);
        int64_t to = rowptr[i];
        for (int64_t first = begin; first < end; first += 32) {
            const int64_t k = first + lane_of();
            const bool stay = k < end && stays[k];
            const unsigned all = __ballot_sync(~0u, stay);
            const int64_t at = to + __popc(all & ((1u << lane_of()) - 1));
            if (stay) {
                index_set(col, wide_col, at, col_at(A, k));
                if (A.val_type == LSP_F64) {
                    ((double *)val)[at] = ((const double *)A.val)[k];
                } else if (A.val_type == LSP_F32) {
                    ((float *)val)[at] = ((const float *)A.val)[k];
                }
            }
            to += __popc(all);
        }
    }
}

static lsp_status keep_largest(lsp_ctx *ctx, const gpu_csr *A, int64_t largest, uint8_t *stays, int64_t *counts) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    ull *sizes = NULL;
    int64_t *places = NULL, *begins = NULL, *ends = NULL;
    lsp_segsort_args args = {};
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, sizeof *sizes, (void **)&sizes));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, sizeof *places, (void **)&places));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->rows, sizeof *begins, (void **)&begins));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->rows, sizeof *ends, (void **)&ends));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_sizes, blocks_for_rows(A->rows), NT, 0, *A, largest, stays, counts, sizes, begins,
                       ends));
    args.n = A->nnz;
    args.segments = A->rows;
    args.offsets = begins;
    args.ends = ends;
    args.offset_type = LSP_I64;
    args.key_type = LSP_U64;
    args.value_bytes = sizeof *places;
    args.keys = args.keys_out = sizes;
    args.values_out = places;
    args.flags = LSP_SORT_DESCENDING | LSP_SORT_GLOBAL_POSITIONS;
    args.where = LSP_CUDA;
    LSP_TRY(lsp_segsort(ctx, &args));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_cut, blocks_for_rows(A->rows), NT, 0, *A, largest, places, stays, counts));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

extern "C" lsp_status lsp_filter_take_cuda(lsp_ctx *ctx, const lsp_csr *A, const uint8_t *stays, int64_t *counts,
                                           const lsp_csr_types *types, lsp_csr *B) {
    lsp_status status = LSP_OK;
    lsp_csr made = {};
    int64_t nnz = 0;
    LSP_TRY(lsp_cuda_scan(ctx, counts, A->rows + 1, &nnz));
    LSP_TRY(make_rows(ctx, A->rows, A->cols, nnz, *types, counts, &made));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_take, blocks_for_rows(A->rows), NT, 0, view(A), stays, counts, made.col,
                       made.col_type == LSP_I64, made.val));
    *B = made;
done:
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}

extern "C" lsp_status lsp_filter_rows_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    const gpu_csr from = view(A);
    gpu_filter f = {};
    uint8_t *stays = NULL;
    int64_t *counts = NULL;
    lsp_csr_types types = {};
    types.rowptr_type = A->rowptr_type, types.col_type = A->col_type, types.val_type = A->val_type;
    if (filter->mask) {
        f.mask = view(filter->mask);
    }
    f.complement = filter->complement;
    f.drop = filter->drop;
    f.tolerance = filter->tolerance;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, sizeof *stays, (void **)&stays));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->rows + 1, sizeof *counts, (void **)&counts));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_look, blocks_for_rows(A->rows), NT, 0, from, f, stays, counts));
    if (filter->largest > 0 && A->nnz > 0) {
        LSP_TRY(keep_largest(ctx, &from, filter->largest, stays, counts));
    }
    LSP_TRY(lsp_filter_take_cuda(ctx, A, stays, counts, &types, B));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
