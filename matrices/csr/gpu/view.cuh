/* What all kernels of this folder share: a matrix as they see it, of any index and value type, and how a grid walks
 * over its rows or its entries. */
#pragma once

#include "core/items.h"
#include "core/launch.cuh"
#include "matrices/matrices.h"

enum { NT = 256, WARPS = NT / 32 };

/* A matrix as the kernels see it. */
typedef struct gpu_csr {
    const void *rowptr, *col, *val;
    int64_t rows, cols, nnz;
    bool wide_rowptr, wide_col;
    lsp_type val_type;
    const int64_t *tile_low; /* entries.cuh */
} gpu_csr;

static inline gpu_csr view(const lsp_csr *A) {
    gpu_csr v = {};
    v.rowptr = A->rowptr, v.col = A->col, v.val = A->val;
    v.rows = A->rows, v.cols = A->cols, v.nnz = A->nnz;
    v.wide_rowptr = A->rowptr_type == LSP_I64;
    v.wide_col = A->col_type == LSP_I64;
    v.val_type = A->val_type;
    return v;
}

static inline __device__ int64_t rowptr_at(const gpu_csr &A, int64_t i) { return index_at(A.rowptr, A.wide_rowptr, i); }
static inline __device__ int64_t col_at(const gpu_csr &A, int64_t k) { return index_at(A.col, A.wide_col, k); }
static inline __device__ lsp_value value_at(const gpu_csr &A, int64_t k) { return lsp_value_of(A.val_type, A.val, k); }
static inline int value_bytes(const lsp_csr *A) { return (int)lsp_type_bytes(A->val_type); }

/* The same; `NARROW`: all indices have 32 bits. */
template <bool NARROW> static inline __device__ int64_t rowptr_of(const gpu_csr &A, int64_t i) {
    return NARROW ? ((const int32_t *)A.rowptr)[i] : rowptr_at(A, i);
}
template <bool NARROW> static inline __device__ int64_t col_of(const gpu_csr &A, int64_t k) {
    return NARROW ? ((const int32_t *)A.col)[k] : col_at(A, k);
}

/* A warp takes every row whose number is its own modulo the warps of the grid. */
#define EACH_ROW(i, rows)                                                                                              \
    for (int64_t i = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32; i < (rows); i += (int64_t)gridDim.x * WARPS)
/* The thread takes items by EACH_ITEM. */
static inline int64_t blocks_for_items(int64_t items) { return lsp_blocks_upto(items, NT * 4, 1 << 14); }
#define LAUNCH_ITEMS(ctx, kernel, n, ...) LSP_LAUNCH(ctx, kernel, blocks_for_items(n), NT, 0, __VA_ARGS__)

static inline __device__ int lane_of(void) { return (int)threadIdx.x % 32; }

/* ---- the order of columns ---- */

/* Is column k below the one before it, or STRICTLY not above it? */
template <bool NARROW, bool STRICTLY> static inline __device__ bool is_fall(const gpu_csr &A, int64_t k) {
    return k > 0 && (STRICTLY ? col_of<NARROW>(A, k) <= col_of<NARROW>(A, k - 1)
                              : col_of<NARROW>(A, k) < col_of<NARROW>(A, k - 1));
}

/* *falls += the falls within rows: all of them, less the first entries of rows. */
template <bool NARROW, bool STRICTLY> static __global__ void kernel_falls(gpu_csr A, ull *falls) {
    int64_t mine = 0;
    EACH_ITEM(k, A.nnz, NT) { mine += is_fall<NARROW, STRICTLY>(A, k); }
    EACH_ITEM(i, A.rows, NT) {
        const int64_t k = rowptr_of<NARROW>(A, i);
        mine -= k < rowptr_of<NARROW>(A, i + 1) && is_fall<NARROW, STRICTLY>(A, k);
    }
    mine = warp_sum(mine);
    if (lane_of() == 0 && mine != 0) {
        atomicAdd(falls, (ull)mine);
    }
}
