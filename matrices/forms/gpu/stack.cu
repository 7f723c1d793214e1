/* The blocks of a stack on the GPU: rows are counted block by block, and entries copied block by block. */
#include "core/scan.h"
#include "gpu.h"
#include "words.cuh"

static __global__ void kernel_count(gpu_csr block, int64_t *next) {
    EACH_ITEM(i, block.rows, NT) { next[i + 1] += rowptr_at(block, i + 1) - rowptr_at(block, i); }
}

static __global__ void kernel_advance(gpu_csr block, int64_t *next) {
    EACH_ITEM(i, block.rows, NT) { next[i] += rowptr_at(block, i + 1) - rowptr_at(block, i); }
}

/* As the host converts it: a NaN keeps its sign and the bits that fit, and becomes quiet. A GPU would make another. */
static __device__ double widen(float x) {
    const ull bits = (unsigned)__float_as_int(x);
    return isnan(x) ? __longlong_as_double((long long)(bits >> 31 << 63 | 0x7FF8ull << 48 | (bits & 0x7FFFFF) << 29))
                    : (double)x;
}

/* to[at] = from.val[k] in a type that is wider; entries of a pattern are ones. */
static __device__ void widen_value(void *to, lsp_type type, int64_t at, const gpu_csr &from, int64_t k) {
    const int64_t whole = is_integer(from.val_type) ? whole_at(from.val_type, from.val, k) : 1;
    if (type == LSP_I64) {
        ((int64_t *)to)[at] = whole;
        return;
    }
    if (type == LSP_I32) {
        ((int32_t *)to)[at] = (int32_t)whole;
        return;
    }
    if (type == LSP_BOOL) { /* from a pattern */
        ((uint8_t *)to)[at] = 1;
        return;
    }
    if (type == LSP_F32) { /* from a pattern */
        ((float *)to)[at] = 1;
        return;
    }
    const double x = from.val_type == LSP_F32   ? widen(((const float *)from.val)[k])
                     : from.val_type == LSP_F64 ? ((const double *)from.val)[k]
                                                : (double)whole;
    if (type == LSP_F64) {
        ((double *)to)[at] = x;
    } else {
        ((double *)to)[2 * at] = x;
        ((double *)to)[2 * at + 1] = 0;
    }
}

static __global__ void kernel_copy(gpu_csr block, int64_t offset, const int64_t *next, gpu_csr B, int bytes) {
    EACH_TILE(at, block.nnz) {
        const entry_tile tile = tile_at(block, at);
        EACH_WORD(word, at, block.nnz) {
            const int64_t k = word + lane_of();
            if (k < block.nnz) {
                const int64_t i = row_of(block, k, tile.low, tile.high), to = next[i] + k - rowptr_at(block, i);
                index_set((void *)B.col, B.wide_col, to, col_at(block, k) + offset);
                if (block.val_type == B.val_type) {
                    move_value((void *)B.val, to, block.val, k, bytes);
                } else {
                    widen_value((void *)B.val, B.val_type, to, block, k);
                }
            }
        }
    }
}

extern "C" lsp_status lsp_stack_count_cuda(lsp_ctx *ctx, const lsp_csr *block, int64_t *next) {
    return LAUNCH_ITEMS(ctx, kernel_count, block->rows, view(block), next);
}

extern "C" lsp_status lsp_stack_create_cuda(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t nnz,
                                            const lsp_csr_types *types, int64_t *next, lsp_csr *B) {
    LSP_TRY(lsp_cuda_scan(ctx, next, rows + 1, NULL));
    return make_rows(ctx, rows, cols, nnz, *types, next, B);
}

extern "C" lsp_status lsp_stack_copy_cuda(lsp_ctx *ctx, const lsp_csr *block, int64_t offset, int64_t *next,
                                          const lsp_csr *B) {
    LSP_TRY(LAUNCH_TILES(ctx, kernel_copy, block->nnz, view(block), offset, next, view(B), value_bytes(B)));
    return LAUNCH_ITEMS(ctx, kernel_advance, block->rows, view(block), next);
}
