/* C = alpha A + beta B on the GPU. Rows that ascend strictly are merged. Otherwise the rows of A and B are stacked, a
 * segmented sort brings equal columns together, and each run of them is summed from left to right. */
#include "kernel_create.cuh"
#include "kernel_merge.cuh"
#include "matrices/matrices.h"

/* ---- rows that ascend strictly ---- */

typedef struct gpu_sum {
    double alpha, beta;
    lsp_type type; /* of C's values */

    __device__ void operator()(void *val, int64_t to, const gpu_csr &A, int64_t a, const gpu_csr &B, int64_t b) const {
        if (type == LSP_F64) {
            const double x = a >= 0 ? __dmul_rn(alpha, value_at(A, a)) : 0;
            const double y = b >= 0 ? __dmul_rn(beta, value_at(B, b)) : 0;
            ((double *)val)[to] = lsp_settled(a < 0 ? y : b < 0 ? x : x + y);
        } else if (type == LSP_F32) {
            const float x = a >= 0 ? __fmul_rn((float)alpha, (float)value_at(A, a)) : 0;
            const float y = b >= 0 ? __fmul_rn((float)beta, (float)value_at(B, b)) : 0;
            ((float *)val)[to] = (float)lsp_settled(a < 0 ? y : b < 0 ? x : x + y);
        } else if (type == LSP_C64) {
            for (int part = 0; part < 2; part++) {
                const double x = a >= 0 ? __dmul_rn(alpha, part_at(A, a, part)) : 0;
                const double y = b >= 0 ? __dmul_rn(beta, part_at(B, b, part)) : 0;
                ((double *)val)[2 * to + part] = lsp_settled(a < 0 ? y : b < 0 ? x : x + y);
            }
        } else if (type == LSP_I64) {
            const ull x = a >= 0 ? (ull)(int64_t)alpha * ((const ull *)A.val)[a] : 0;
            const ull y = b >= 0 ? (ull)(int64_t)beta * ((const ull *)B.val)[b] : 0;
            ((ull *)val)[to] = x + y;
        }
    }
} gpu_sum;

/* ---- all others ---- */

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
        } else if (pile.val_type == LSP_C64) {
            ((double *)pile.val)[2 * at] = __dmul_rn(factor, part_at(A, k, 0));
            ((double *)pile.val)[2 * at + 1] = __dmul_rn(factor, part_at(A, k, 1));
        } else if (pile.val_type == LSP_I64) {
            ((ull *)pile.val)[at] = (ull)(int64_t)factor * ((const ull *)A.val)[k];
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

/* `step`: 2 for the real parts of complex values, and from val + 1 on for the imaginary ones. */
template <typename V> static __device__ V sum_of(const V *val, int64_t from, int64_t end, int step = 1) {
    V sum = val[from * step];
    for (int64_t k = from + 1; k < end; k++) {
        sum += val[k * step];
    }
    return (V)lsp_settled(sum);
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
            } else if (pile.val_type == LSP_C64) {
                ((double *)val)[2 * to] = sum_of((const double *)pile.val, from, end, 2);
                ((double *)val)[2 * to + 1] = sum_of((const double *)pile.val + 1, from, end, 2);
            } else if (pile.val_type == LSP_I64) {
                ull sum = 0;
                for (int64_t k = from; k < end; k++) {
                    sum += ((const ull *)pile.val)[k];
                }
                ((ull *)val)[to] = sum;
            }
        }
    }
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
    return lsp_segsort(ctx, &args, NULL);
}

static lsp_status add_piled(lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B, lsp_csr *C) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    const int64_t n = A->nnz + B->nnz, rows = A->rows;
    lsp_csr made = {};
    void *heads = NULL, *counts = NULL;
    int64_t *rowptr = NULL, nnz = 0;
    lsp_csr_types types = {};
    types.val_type = lsp_common_type(A->val_type, B->val_type);
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

extern "C" lsp_status lsp_csr_add_cuda(lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B,
                                       lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_csr_types types = {};
    types.val_type = lsp_common_type(A->val_type, B->val_type);
    types.where = LSP_CUDA;
    bool merged = false;
    LSP_TRY(
        merge_rows(ctx, gpu_merge{view(A), view(B), false}, &types, gpu_sum{alpha, beta, types.val_type}, C, &merged));
    if (!merged) {
        LSP_TRY(add_piled(ctx, alpha, A, beta, B, C));
    }
done:
    return status;
}
