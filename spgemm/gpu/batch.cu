/* The stacks of a batch on a GPU. The table of spans is copied to the GPU, then one kernel serves all matrices. A warp
 * takes a tile of entries and finds its first and last matrix by binary search, so that a large matrix among small ones
 * is shared by many warps. */
#include "core/launch.cuh"
#include "gpu.h"
#include "spgemm/batch.h"

enum { NT = 256, WARPS = NT / 32, TILE = 256, SM_BLOCKS = 8 };

/* The spans on the GPU, of `count` matrices, and whether items are row pointers or entries; n of them. */
typedef struct gpu_spans {
    const lsp_batch_span *spans;
    int64_t count, n;
    bool pointers;
} gpu_spans;

/* For each item k of a tile of the warp: its matrix is i. */
#define EACH_ITEM_OF_TILES(k, i, s)                                                                                    \
    for (int64_t tile = ((int64_t)blockIdx.x * WARPS + threadIdx.x / 32) * TILE; tile < (s).n;                         \
         tile += (int64_t)gridDim.x * WARPS * TILE)                                                                    \
        for (int64_t end = min(tile + TILE, (s).n),                                                                    \
                     low = lsp_batch_find((s).spans, (s).pointers, tile, 0, (s).count - 1),                            \
                     high = lsp_batch_find((s).spans, (s).pointers, end - 1, low, (s).count - 1),                      \
                     k = tile + threadIdx.x % 32, i;                                                                   \
             k < end && (i = lsp_batch_find((s).spans, (s).pointers, k, low, high), true); k += 32)

static int64_t blocks_for(lsp_ctx *ctx, const gpu_spans *s) {
    return lsp_blocks_for(ctx, s->n, (int64_t)WARPS * TILE, SM_BLOCKS);
}

/* Index arrays of the matrices and of the stack. */
typedef struct gpu_copy {
    void *to;
    bool from_wide, to_wide;
    ull *fault; /* the lowest matrix that is malformed */
} gpu_copy;

static __device__ void tell(ull *fault, bool bad, int64_t i) {
    if (bad) {
        atomicMin(fault, (ull)i);
    }
}

static __global__ void kernel_pointers(gpu_spans s, gpu_copy copy) {
    EACH_ITEM_OF_TILES(k, i, s) {
        const lsp_batch_span *a = &s.spans[i];
        const int64_t rows = a[1].row_at - a->row_at, r = k - (a->row_at + i);
        const int64_t start = index_at(a->rowptr, copy.from_wide, r);
        const int64_t before = r > 0 ? index_at(a->rowptr, copy.from_wide, r - 1) : 0;
        tell(copy.fault, (r == 0 ? start != 0 : start < before) || (r == rows && start != a[1].entry_at - a->entry_at),
             i);
        if (r > 0) { /* row pointer 0 is the last one of the matrix before */
            index_set(copy.to, copy.to_wide, a->row_at + r, (int64_t)((ull)a->entry_at + (ull)start));
        }
    }
}

static __global__ void kernel_columns(gpu_spans s, gpu_copy copy) {
    EACH_ITEM_OF_TILES(k, i, s) {
        const lsp_batch_span *a = &s.spans[i];
        const int64_t j = index_at(a->col, copy.from_wide, k - a->entry_at);
        tell(copy.fault, (ull)j >= (ull)a->cols, i);
        index_set(copy.to, copy.to_wide, k, (int64_t)((ull)a->shift + (ull)j));
    }
}

typedef struct complex_pair { /* is aligned to 8 bytes alone */
    double re, im;
} complex_pair;

template <typename T> static __global__ void kernel_values(gpu_spans s, T *to) {
    EACH_ITEM_OF_TILES(k, i, s) { to[k] = ((const T *)s.spans[i].val)[k - s.spans[i].entry_at]; }
}

static __global__ void kernel_shift(gpu_spans s, void *col, bool wide) {
    EACH_ITEM_OF_TILES(k, i, s) { index_set(col, wide, k, index_at(col, wide, k) - s.spans[i].row_at); }
}

static __global__ void kernel_ends(gpu_spans s, const void *rowptr, bool wide, int64_t *ends) {
    EACH_ITEM(i, s.count + 1, NT) { ends[i] = index_at(rowptr, wide, s.spans[i].row_at); }
}

static __global__ void kernel_rebase(gpu_spans s, const void *rowptr, gpu_copy copy) {
    EACH_ITEM_OF_TILES(k, i, s) {
        const int64_t first = s.spans[i].row_at, r = k - (first + i);
        index_set(copy.to, copy.to_wide, k,
                  index_at(rowptr, copy.from_wide, first + r) - index_at(rowptr, copy.from_wide, first));
    }
}

/* ---- calls ---- */

static lsp_status upload(lsp_ctx *ctx, const lsp_batch_span *spans, int64_t count, lsp_batch_span **there) {
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, count + 1, there));
    return lsp_cuda_copy(ctx, *there, LSP_CUDA, spans, LSP_HOST, (count + 1) * (int64_t)sizeof *spans);
}

static lsp_status gather_structure(lsp_ctx *ctx, const lsp_batch_factor *f, const gpu_spans *entries, int64_t *fault) {
    gpu_spans pointers = *entries;
    gpu_copy copy = {};
    ull found;
    pointers.pointers = true;
    pointers.n = f->stack.rows + f->count;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0xFF, 1, &copy.fault));
    copy.to = f->stack.rowptr;
    copy.from_wide = f->like.rowptr_type == LSP_I64;
    copy.to_wide = f->stack.rowptr_type == LSP_I64;
    LSP_TRY(LSP_LAUNCH(ctx, kernel_pointers, blocks_for(ctx, &pointers), NT, 0, pointers, copy));
    copy.to = f->stack.col;
    copy.from_wide = f->like.col_type == LSP_I64;
    copy.to_wide = f->stack.col_type == LSP_I64;
    LSP_TRY(LSP_LAUNCH(ctx, kernel_columns, blocks_for(ctx, entries), NT, 0, *entries, copy));
    LSP_TRY(lsp_cuda_read(ctx, &found, copy.fault, sizeof found));
    *fault = found == ~0ull ? f->count : (int64_t)found;
    return LSP_OK;
}

extern "C" lsp_status lsp_batch_gather_cuda(lsp_ctx *ctx, const lsp_batch_factor *f, bool structure, int64_t *fault) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_batch_span *there = NULL;
    LSP_TRY(upload(ctx, f->spans, f->count, &there));
    {
        const gpu_spans entries = {there, f->count, f->stack.nnz, false};
        LSP_TRY(structure ? gather_structure(ctx, f, &entries, fault) : LSP_OK);
        const size_t bytes = lsp_type_bytes(f->stack.val_type);
#define VALUES(T) LSP_LAUNCH(ctx, kernel_values<T>, blocks_for(ctx, &entries), NT, 0, entries, (T *)f->stack.val)
        LSP_TRY(bytes == 0   ? LSP_OK
                : bytes == 1 ? VALUES(uint8_t)
                : bytes == 4 ? VALUES(uint32_t)
                : bytes == 8 ? VALUES(uint64_t)
                             : VALUES(complex_pair));
#undef VALUES
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_batch_shift_cuda(lsp_ctx *ctx, const lsp_batch_factor *f) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_batch_span *there = NULL;
    LSP_TRY(upload(ctx, f->spans, f->count, &there));
    {
        const gpu_spans entries = {there, f->count, f->T.nnz, false};
        LSP_TRY(LSP_LAUNCH(ctx, kernel_shift, blocks_for(ctx, &entries), NT, 0, entries, f->T.col,
                           f->T.col_type == LSP_I64));
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_batch_ends_cuda(lsp_ctx *ctx, lsp_batch_result *r, int64_t *ends) {
    int64_t *ends_cuda = NULL;
    LSP_TRY(upload(ctx, r->spans, r->count, &r->spans_cuda));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, r->count + 1, &ends_cuda));
    {
        const gpu_spans s = {r->spans_cuda, r->count, r->W->rows + r->count, true};
        LSP_TRY(LSP_LAUNCH(ctx, kernel_ends, lsp_blocks_for(ctx, r->count + 1, NT, SM_BLOCKS), NT, 0, s, r->W->rowptr,
                           r->W->rowptr_type == LSP_I64, ends_cuda));
    }
    return lsp_cuda_read(ctx, ends, ends_cuda, (r->count + 1) * (int64_t)sizeof *ends);
}

extern "C" lsp_status lsp_batch_rebase_cuda(lsp_ctx *ctx, const lsp_batch_result *r, lsp_type type, void *rowptr) {
    const gpu_spans s = {r->spans_cuda, r->count, r->W->rows + r->count, true};
    gpu_copy copy = {};
    copy.to = rowptr;
    copy.from_wide = r->W->rowptr_type == LSP_I64;
    copy.to_wide = type == LSP_I64;
    return LSP_LAUNCH(ctx, kernel_rebase, blocks_for(ctx, &s), NT, 0, s, r->W->rowptr, copy);
}
