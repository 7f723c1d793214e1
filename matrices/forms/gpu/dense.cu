/* Dense arrays on the GPU: filled with entries, one store each; and read for elements that are not 0, which are marked,
 * placed by a prefix sum, and copied. Also the test whether rows are sorted. */
#include "core/block.cuh"
#include "core/scan.h"
#include "gpu.h"
#include "words.cuh"

/* ---- filled ---- */

/* Clears `length` words of 4 bytes of each line. */
static __global__ void kernel_clear(uint32_t *val, int64_t lines, int64_t length, int64_t stride) {
    EACH_ITEM(e, lines * length) { val[e / length * stride + e % length] = 0; }
}

static lsp_status clear(lsp_ctx *ctx, const lsp_dense *D) {
    const int64_t lines = D->by_columns ? D->cols : D->rows, length = D->by_columns ? D->rows : D->cols;
    const int64_t bytes = (int64_t)lsp_type_bytes(D->val_type), words = bytes / 4;
    if (lines == 0 || length == 0) {
        return LSP_OK;
    }
    return length == D->stride ? lsp_cuda_clear(ctx, D->val, lines * length * bytes)
                               : LSP_LAUNCH(ctx, kernel_clear, blocks_for_items(lines * length * words), NT, 0,
                                            (uint32_t *)D->val, lines, length * words, D->stride * words);
}

static __global__ void kernel_store(gpu_csr A, lsp_dense D, int bytes) {
    EACH_RUN(first, A.nnz) {
        const run_rows rows = rows_of_run(A.rowptr, A.wide_rowptr, A.rows, first, A.nnz);
        EACH_WORD(word, first, A.nnz) {
            const int64_t k = word + lane_of();
            if (k < A.nnz) {
                const int64_t i = row_of(rows, k), j = col_at(A, k);
                const int64_t at = D.by_columns ? j * D.stride + i : i * D.stride + j;
                if (A.val_type == D.val_type) {
                    move_value(D.val, at, A.val, k, bytes);
                } else if (D.val_type == LSP_F32) { /* a pattern, or sums of its ones */
                    ((float *)D.val)[at] = (float)value_at(A, k);
                } else if (D.val_type == LSP_F64) {
                    ((double *)D.val)[at] = value_at(A, k);
                } else { /* cleared before, its imaginary part too */
                    ((double *)D.val)[2 * at] = value_at(A, k);
                }
            }
        }
    }
}

extern "C" lsp_status lsp_dense_fill_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_dense *D) {
    lsp_status status = LSP_OK;
    LSP_TRY(clear(ctx, D));
    LSP_TRY(
        LSP_LAUNCH(ctx, kernel_store, blocks_for_runs(A->nnz), NT, 0, view(A), *D, (int)lsp_type_bytes(D->val_type)));
done:
    return status;
}

/* ---- read ---- */

/* Where element e, counted by rows, lies in D. */
static __device__ int64_t element_at(const lsp_dense &D, int64_t e) {
    return D.stride == D.cols ? e : e / D.cols * D.stride + e % D.cols;
}
static __device__ bool is_entry(const lsp_dense &D, int64_t at) { /* a NaN is not 0 */
    return D.val_type == LSP_F32   ? ((const float *)D.val)[at] != 0
           : D.val_type == LSP_F64 ? ((const double *)D.val)[at] != 0
                                   : ((const double *)D.val)[2 * at] != 0 || ((const double *)D.val)[2 * at + 1] != 0;
}

static __global__ void kernel_mark(lsp_dense D, gpu_marks m) {
    EACH_RUN(first, m.items) {
        EACH_WORD(word, first, m.items) {
            const int64_t e = word + lane_of();
            mark_word(m, word, e < m.items && is_entry(D, element_at(D, e)));
        }
    }
}

static __global__ void kernel_starts(lsp_dense D, gpu_marks m, void *rowptr, bool wide) {
    EACH_ITEM(i, D.rows + 1) { index_set(rowptr, wide, i, place_of(m, i * D.cols)); }
}

static __global__ void kernel_take(lsp_dense D, gpu_marks m, gpu_csr B, int bytes) {
    EACH_ITEM(e, m.items) {
        if (is_marked(m, e)) {
            const int64_t to = place_of(m, e);
            index_set((void *)B.col, B.wide_col, to, e % D.cols);
            move_value((void *)B.val, to, D.val, element_at(D, e), bytes);
        }
    }
}

extern "C" lsp_status lsp_dense_gather_cuda(lsp_ctx *ctx, const lsp_dense *D, lsp_csr *B) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    gpu_marks m = {};
    lsp_csr made = {};
    lsp_csr_types types = {};
    int64_t nnz = 0;
    types.val_type = D->val_type, types.where = LSP_CUDA;
    LSP_TRY(make_marks(ctx, D->rows * D->cols, &m));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_mark, blocks_for_runs(m.items), NT, 0, *D, m));
    LSP_TRY(lsp_cuda_scan(ctx, m.counts, m.words + 1, &nnz));
    LSP_TRY(lsp_csr_create(ctx, D->rows, D->cols, nnz, &types, &made));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_starts, blocks_for_items(D->rows + 1), NT, 0, *D, m, made.rowptr,
                       made.rowptr_type == LSP_I64));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_take, blocks_for_items(m.items), NT, 0, *D, m, view(&made), value_bytes(&made)));
    *B = made;
done:
    lsp_scratch_release(ctx, mark);
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}

/* ---- rows in order ---- */

static __device__ bool falls(const gpu_csr &A, bool strictly, int64_t k) {
    return strictly ? col_at(A, k - 1) >= col_at(A, k) : col_at(A, k - 1) > col_at(A, k);
}

/* *within = the columns that do not ascend, less those at the beginning of a row. */
static __global__ void kernel_falls(gpu_csr A, bool strictly, ull *within) {
    int64_t count = 0;
    EACH_ITEM(k, A.nnz) { count += k > 0 && falls(A, strictly, k); }
    EACH_ITEM(i, A.rows) {
        const int64_t begin = rowptr_at(A, i);
        count -= begin > 0 && begin < rowptr_at(A, i + 1) && falls(A, strictly, begin);
    }
    count = warp_sum(count);
    if (lane_of() == 0 && count != 0) {
        atomicAdd(within, (ull)count);
    }
}

extern "C" lsp_status lsp_csr_sorted_cuda(lsp_ctx *ctx, const lsp_csr *A, bool strictly, bool *sorted) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    ull *there = NULL, within = 0;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof *there, (void **)&there));
    LSP_TRY(lsp_cuda_clear(ctx, there, sizeof *there));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_falls, blocks_for_items(A->rows + A->nnz), NT, 0, view(A), strictly, there));
    LSP_TRY(lsp_cuda_read(ctx, &within, there, sizeof within));
    *sorted = within == 0;
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
