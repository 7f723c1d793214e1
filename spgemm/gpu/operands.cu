/* Brings op(A) and op(B) to the form that kernels take: 32-bit indices, values in the type of the arithmetic,
 * transposed where asked, B's rows sorted. Arrays that already have this form are not copied. */
#include "core/items.h"
#include "core/scan.h"
#include "launch.cuh"
#include "matrices/gpu/gpu.h"

/* ---- kernels ---- */

/* 1 for every value that is not 0, NaN included; else 0. */
template <typename T> __global__ void kernel_truth(T *to, const T *from, int64_t n) {
    EACH_ITEM(i, n, NT) { to[i] = from[i] != 0 ? (T)1 : (T)0; }
}
static __global__ void kernel_heads(int64_t *heads, const ull *sorted, int64_t n) {
    EACH_ITEM(i, n, NT) { heads[i] = i == 0 || sorted[i] != sorted[i - 1]; }
}
static __global__ void kernel_name(uint32_t *col, int64_t *names, const ull *sorted, const uint32_t *sources,
                                   const int64_t *heads, int64_t n) {
    EACH_ITEM(i, n, NT) {
        col[sources[i]] = (uint32_t)(heads[i] - 1);
        names[heads[i] - 1] = (int64_t)sorted[i];
    }
}

/* ---- steps ---- */

/* Converts an array of indices or values, into scratch. */
static lsp_status convert(lsp_ctx *ctx, void **array, lsp_type *type, lsp_type to_type, int64_t n) {
    void *to = NULL;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, n, lsp_type_bytes(to_type), &to));
    LSP_TRY(lsp_cuda_convert_values(ctx, to, to_type, *array, *type, n));
    *array = to;
    *type = to_type;
    return LSP_OK;
}

/* Brings indices to 32 bits. */
static lsp_status narrow(lsp_ctx *ctx, lsp_csr *A) {
    LSP_TRY(A->rowptr_type == LSP_I64 ? convert(ctx, &A->rowptr, &A->rowptr_type, LSP_I32, A->rows + 1) : LSP_OK);
    return A->col_type == LSP_I64 ? convert(ctx, &A->col, &A->col_type, LSP_I32, A->nnz) : LSP_OK;
}

template <typename T> static lsp_status judge(lsp_ctx *ctx, void *to, const void *from, int64_t n) {
    return LSP_LAUNCH_EACH(ctx, kernel_truth<T>, n, NT, (T *)to, (const T *)from, n);
}

/* Turns values into 1 and 0: a product is then 1 if both of its factors were not 0. */
static lsp_status take_truth(lsp_ctx *ctx, lsp_csr *A) {
    void *val = NULL;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, lsp_type_bytes(A->val_type), &val));
    LSP_TRY(A->nnz == 0              ? LSP_OK
            : A->val_type == LSP_F32 ? judge<float>(ctx, val, A->val, A->nnz)
            : A->val_type == LSP_F64 ? judge<double>(ctx, val, A->val, A->nnz)
                                     : judge<int64_t>(ctx, val, A->val, A->nnz));
    A->val = val;
    return LSP_OK;
}

/* Takes the values that the semiring's product multiplies, in the type of the arithmetic: A's own, ones and zeros, or
 * ones (a pattern). Kernels load a complex value at once, so the array must be aligned to 16 bytes, which the caller's
 * need not be. */
static lsp_status take_values(lsp_ctx *ctx, lsp_csr *A, lsp_type type, lsp_semiring semiring) {
    const lsp_product product = lsp_semiring_product(semiring);
    *A = lsp_spgemm_view(A, product == LSP_PRODUCT_ONE ? LSP_NONE : type);
    const bool fits = type == LSP_NONE || (A->val_type == type && lsp_spgemm_gpu_aligned(type, A->val));
    LSP_TRY(fits ? LSP_OK : convert(ctx, &A->val, &A->val_type, type, A->nnz));
    return product == LSP_PRODUCT_BOTH && type != LSP_NONE ? take_truth(ctx, A) : LSP_OK;
}

/* Sorts the entries by column, all together or row by row (by_row). Returns the sorted columns and the entry that each
 * comes from. */
static lsp_status sort_columns(lsp_ctx *ctx, const lsp_csr *A, bool by_row, void **sorted, uint32_t **sources) {
    const bool wide = A->col_type == LSP_I64;
    lsp_segsort_args args = {};
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, wide ? 8 : 4, sorted));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->nnz, sources));
    args.n = A->nnz;
    args.segments = by_row ? A->rows : 1;
    args.offsets = by_row ? A->rowptr : NULL;
    args.length = by_row ? 0 : A->nnz;
    args.offset_type = LSP_I32;
    args.key_type = wide ? LSP_U64 : LSP_U32;
    args.value_bytes = sizeof **sources;
    args.keys = A->col;
    args.keys_out = *sorted;
    args.values_out = *sources;
    args.flags = LSP_SORT_GLOBAL_POSITIONS;
    args.where = LSP_CUDA;
    return lsp_segsort(ctx, &args, NULL);
}

static lsp_status gather_values(lsp_ctx *ctx, lsp_csr *A, const uint32_t *sources) {
    void *val = NULL;
    if (A->val_type == LSP_NONE) {
        return LSP_OK;
    }
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, lsp_type_bytes(A->val_type), &val));
    LSP_TRY(lsp_cuda_gather(ctx, val, A->val, lsp_type_bytes(A->val_type), sources, A->nnz));
    A->val = val;
    return LSP_OK;
}

/* Transposes A into scratch. Indices have 32 bits. */
static lsp_status transpose(lsp_ctx *ctx, lsp_csr *A) {
    lsp_csr B = *A;
    lsp_filing items = {};
    bool done = false;
    B.rows = A->cols, B.cols = A->rows;
    items.n = A->nnz;
    items.row = A->col;
    items.val = A->val;
    items.index_type = A->col_type;
    items.by = A;
    LSP_TRY(lsp_scratch_filled(ctx, 0, B.rows + 1, sizeof(uint32_t), &B.rowptr));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, B.nnz, sizeof(uint32_t), &B.col));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, B.nnz, lsp_type_bytes(B.val_type), &B.val));
    LSP_TRY(lsp_csr_transpose_cuda(ctx, NULL, A, &B, &done));
    LSP_TRY(done ? LSP_OK : lsp_csr_file(ctx, &items, &B));
    *A = B;
    return LSP_OK;
}

static lsp_status sort_rows(lsp_ctx *ctx, lsp_csr *A) {
    uint32_t *sources = NULL;
    void *sorted = NULL;
    LSP_TRY(sort_columns(ctx, A, true, &sorted, &sources));
    LSP_TRY(gather_values(ctx, A, sources));
    A->col = sorted;
    return LSP_OK;
}

/* Numbers the columns that occur, for a matrix whose columns need more than 31 bits. names[k] is column number k. */
static lsp_status number_columns(lsp_ctx *ctx, lsp_csr *A, int64_t **names) {
    const int64_t n = A->nnz;
    void *sorted = NULL, *col = NULL;
    int64_t *heads = NULL;
    uint32_t *sources = NULL;
    int64_t distinct = 0;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, lsp_max(n, 1), names));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, n, sizeof(uint32_t), &col));
    if (n > 0) {
        LSP_TRY(sort_columns(ctx, A, false, &sorted, &sources));
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, n, &heads));
        LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_heads, n, NT, heads, (ull *)sorted, n));
        LSP_TRY(lsp_cuda_scan(ctx, heads, n, NULL));
        LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_name, n, NT, (uint32_t *)col, *names, (ull *)sorted, sources, heads, n));
        LSP_TRY(lsp_cuda_copy(ctx, &distinct, LSP_HOST, heads + n - 1, LSP_CUDA, sizeof distinct));
    }
    A->col = col;
    A->col_type = LSP_I32;
    A->cols = distinct;
    return LSP_OK;
}

/* ---- all steps ---- */

extern "C" lsp_status lsp_spgemm_gpu_take_operands(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                                   lsp_spgemm_operands *operands) {
    lsp_ctx *ctx = plan->ctx;
    const int64_t most_cols = (int64_t)INT32_MAX + 1;
    const lsp_spgemm_options *options = &plan->options;
    const bool same = A->rowptr == B->rowptr && A->col == B->col && A->val == B->val && A->rows == B->rows &&
                      A->nnz == B->nnz && A->cols == B->cols && A->cols <= most_cols;
    const bool known = same && options->transpose_a == options->transpose_b;
    *operands = (lsp_spgemm_operands){*A, *B, NULL, NULL, NULL};
    LSP_TRY(narrow(ctx, &operands->A));
    LSP_TRY(take_values(ctx, &operands->A, plan->type, options->semiring));
    if (same) {
        operands->B = operands->A;
    } else {
        if (B->cols > most_cols) {
            LSP_TRY(number_columns(ctx, &operands->B, &operands->names));
        }
        LSP_TRY(narrow(ctx, &operands->B));
        LSP_TRY(take_values(ctx, &operands->B, plan->type, options->semiring));
    }
    LSP_TRY(options->transpose_a ? transpose(ctx, &operands->A) : LSP_OK);
    if (known) {
        operands->B = operands->A;
    } else if (options->transpose_b) {
        LSP_TRY(transpose(ctx, &operands->B));
    }
    return plan->gpu->unsorted && !options->transpose_b ? sort_rows(ctx, &operands->B) : LSP_OK;
}
