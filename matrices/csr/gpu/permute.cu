/* Rows and columns in another order on the GPU: an order is inverted and checked, rows are copied by it with their
 * columns renamed; the caller sorts the rows. */
#include "core/scan.h"
#include "gpu.h"
#include "view.cuh"

/* The first item of an order that is not in range, the first that came before; all bits 1 if none. */
typedef struct order_faults {
    ull outside, twice;
} order_faults;

/* inverse[order[i]] = i, of equal ones the first. inverse[] has all bits 1 before. */
template <typename I> static __global__ void kernel_invert(const I *order, I *inverse, int64_t n, order_faults *found) {
    EACH_ITEM(i, n, NT) {
        const I place = order[i];
        if (place >= (ull)n) {
            atomicMin(&found->outside, (ull)i);
        } else {
            atomicMin(&inverse[place], (I)i);
        }
    }
}
template <typename I>
static __global__ void kernel_find_twice(const I *order, const I *inverse, int64_t n, order_faults *found) {
    EACH_ITEM(i, n, NT) {
        const I place = order[i];
        if (place < (ull)n && inverse[place] != (I)i) {
            atomicMin(&found->twice, (ull)i);
        }
    }
}

template <typename I>
static lsp_status invert(lsp_ctx *ctx, const void *order, void *inverse, int64_t n, order_faults *found) {
    const int64_t blocks = blocks_for_items(n);
    LSP_TRY(lsp_cuda_fill(ctx, inverse, 0xFF, n * (int64_t)sizeof(I)));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_invert<I>, blocks, NT, 0, (const I *)order, (I *)inverse, n, found));
    return LSP_LAUNCH(ctx, kernel_find_twice<I>, blocks, NT, 0, (const I *)order, (const I *)inverse, n, found);
}

extern "C" lsp_status lsp_csr_invert_cuda(lsp_ctx *ctx, const char *what, const void *order, lsp_type type, int64_t n,
                                          void *inverse) {
    LSP_SCRATCH_SCOPE(ctx);
    order_faults *there = NULL, found = {~0ull, ~0ull};
    if (n == 0) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0xFF, 1, &there));
    LSP_TRY(type == LSP_I64 ? invert<ull>(ctx, order, inverse, n, there)
                            : invert<uint32_t>(ctx, order, inverse, n, there));
    LSP_TRY(lsp_cuda_read(ctx, &found, there, sizeof found));
    if (found.outside != ~0ull || found.twice != ~0ull) {
        const bool outside = found.outside < found.twice;
        int64_t item = 0;
        LSP_TRY(lsp_cuda_read_index(ctx, order, type, (int64_t)(outside ? found.outside : found.twice), &item));
        LSP_REQUIRE(!outside, LSP_ERR_ARGUMENT, "the order of the %s holds %lld, not in 0 .. %lld", what,
                    (long long)item, (long long)(n - 1));
        LSP_REQUIRE(outside, LSP_ERR_ARGUMENT, "the order of the %s holds %lld twice", what, (long long)item);
    }
    return LSP_OK;
}

/* ---- rows ---- */

typedef struct reordering {
    const void *row_order, *new_col; /* NULL: as they are */
    bool wide;
    int value_bytes;
} reordering;

static __device__ int64_t source_row(const reordering &r, int64_t i) {
    return r.row_order ? index_at(r.row_order, r.wide, i) : i;
}

/* starts[i + 1] = the entries of row i. */
static __global__ void kernel_lengths(gpu_csr A, reordering r, int64_t *starts) {
    EACH_ITEM(i, A.rows + 1, NT) {
        const int64_t row = i > 0 ? source_row(r, i - 1) : 0;
        starts[i] = i > 0 ? rowptr_at(A, row + 1) - rowptr_at(A, row) : 0;
    }
}

static __global__ void kernel_reorder(gpu_csr A, reordering r, const int64_t *starts, void *col, void *val) {
    EACH_ROW(i, A.rows) {
        const int64_t row = source_row(r, i), begin = rowptr_at(A, row), length = rowptr_at(A, row + 1) - begin;
        for (int64_t e = lane_of(); e < length; e += 32) {
            const int64_t j = col_at(A, begin + e);
            index_set(col, A.wide_col, starts[i] + e, r.new_col ? index_at(r.new_col, r.wide, j) : j);
            move_value(val, starts[i] + e, A.val, begin + e, r.value_bytes);
        }
    }
}

extern "C" lsp_status lsp_csr_reorder_cuda(lsp_ctx *ctx, const lsp_csr *A, const void *row_order, const void *new_col,
                                           lsp_type order_type, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const reordering r = {row_order, new_col, order_type == LSP_I64, value_bytes(A)};
    int64_t *starts = NULL;
    LSP_OWNED_CSR(ctx, made);
    const lsp_csr_types types = lsp_types_of(A);
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows + 1, &starts));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_lengths, A->rows + 1, view(A), r, starts));
    LSP_TRY(lsp_cuda_scan(ctx, starts, A->rows + 1, NULL));
    LSP_TRY(make_rows(ctx, A->rows, A->cols, A->nnz, types, starts, &made));
    LSP_TRY(LAUNCH_ROWS(ctx, kernel_reorder, A->rows, view(A), r, starts, made.col, made.val));
    return lsp_csr_put(ctx, B, &made, false);
}
