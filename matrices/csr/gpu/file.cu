/* Items filed into the rows of a matrix on the GPU: a stable sort of the items' positions by row, then columns and
 * values gathered in that order. Serves transposes and triples of every kind. */
#include "gpu.h"
#include "view.cuh"

/* rows[k] = the row of entry k. */
static __global__ void kernel_rows(gpu_csr A, void *rows, bool wide) {
    EACH_ROW(i, A.rows) {
        for (int64_t k = rowptr_at(A, i) + lane_of(); k < rowptr_at(A, i + 1); k += 32) {
            index_set(rows, wide, k, i);
        }
    }
}

/* rowptr[i] = the number of sorted rows below i. */
static __global__ void kernel_starts(gpu_csr B, void *rowptr, const void *sorted, bool wide) {
    EACH_ITEM(i, B.rows + 1, NT) {
        index_set(rowptr, B.wide_rowptr, i, LSP_FIRST(0, B.nnz, middle, index_at(sorted, wide, middle) >= i));
    }
}

/* places[k] = the item that comes k-th by row; sorted[k] = its row. */
static lsp_status sort_items(lsp_ctx *ctx, const lsp_filing *items, int64_t rows, void *sorted, void *places) {
    lsp_segsort_args args = {};
    args.n = args.length = items->n;
    args.segments = 1;
    args.offset_type = LSP_I64;
    args.key_type = items->index_type == LSP_I64 ? LSP_U64 : LSP_U32;
    args.end_bit = (int)lsp_max(lsp_bits((uint64_t)rows - 1), 1);
    args.value_bytes = items->n > INT32_MAX ? 8 : 4;
    args.keys = items->row;
    args.keys_out = sorted;
    args.values_out = places;
    args.flags = LSP_SORT_GLOBAL_POSITIONS;
    args.where = LSP_CUDA;
    return lsp_segsort(ctx, &args, NULL);
}

/* *col = an array of the items' columns in B's type. */
static lsp_status take_columns(lsp_ctx *ctx, const lsp_filing *items, const lsp_csr *B, const void **col) {
    void *made = NULL;
    *col = items->col;
    if (items->by || items->index_type != B->col_type) {
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, items->n, lsp_type_bytes(B->col_type), &made));
        *col = made;
    }
    if (items->by) {
        LSP_TRY(LAUNCH_ROWS(ctx, kernel_rows, items->by->rows, view(items->by), made, B->col_type == LSP_I64));
    } else if (made) {
        LSP_TRY(lsp_cuda_convert_values(ctx, made, B->col_type, items->col, items->index_type, items->n));
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_csr_file_cuda(lsp_ctx *ctx, const lsp_filing *items, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const bool wide = items->n > INT32_MAX;
    void *sorted = NULL, *places = NULL;
    lsp_column columns[2] = {};
    lsp_gather_args args = {};
    if (items->n == 0) { /* the row pointers are 0 already */
        return LSP_OK;
    }
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, items->n, lsp_type_bytes(items->index_type), &sorted));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, items->n, wide ? 8 : 4, &places));
    LSP_TRY(sort_items(ctx, items, B->rows, sorted, places));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_starts, B->rows + 1, view(B), B->rowptr, sorted, items->index_type == LSP_I64));
    LSP_TRY(take_columns(ctx, items, B, &columns[0].from));
    columns[0].to = B->col;
    columns[0].bytes = lsp_type_bytes(B->col_type);
    columns[1].from = items->val;
    columns[1].to = B->val;
    columns[1].bytes = lsp_type_bytes(B->val_type);
    args.n = args.extent = items->n;
    args.index = places;
    args.index_type = wide ? LSP_I64 : LSP_I32;
    args.columns = columns;
    args.column_count = B->val_type == LSP_NONE ? 1 : 2;
    args.where = LSP_CUDA;
    return lsp_gather(ctx, &args, NULL);
}
