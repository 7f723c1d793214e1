/* C = op(A)*op(B) with a filter, which can make C much smaller than the whole product. If a mask bounds the product, it
 * is made at once. Otherwise it is made in blocks of rows, and each block is filtered before the next one is made. */
#include "core/cuda.h"
#include "spgemm.h"
#include <string.h>

typedef struct collection {
    lsp_ctx *ctx;
    lsp_csr *blocks;
    int64_t *first_rows;
    int64_t count, capacity, nnz;
} collection;

/* Doubles the capacity. */
static lsp_status grow(collection *all) {
    lsp_status status = LSP_OK;
    const int64_t capacity = lsp_max(2 * all->capacity, 16);
    lsp_csr *blocks = NULL;
    int64_t *first_rows = NULL;
    LSP_TRY(lsp_alloc(all->ctx, LSP_HOST, capacity, sizeof *blocks, (void **)&blocks));
    LSP_TRY(lsp_alloc(all->ctx, LSP_HOST, capacity, sizeof *first_rows, (void **)&first_rows));
    for (int64_t b = 0; b < all->count; b++) {
        blocks[b] = all->blocks[b];
        first_rows[b] = all->first_rows[b];
    }
    lsp_free(all->ctx, all->blocks);
    lsp_free(all->ctx, all->first_rows);
    all->blocks = blocks;
    all->first_rows = first_rows;
    all->capacity = capacity;
    blocks = NULL;
done:
    lsp_free(all->ctx, blocks);
    return status;
}

static lsp_status collect(void *user, int64_t first_row, const lsp_csr *block) {
    lsp_status status = LSP_OK;
    collection *all = user;
    if (all->count == all->capacity) {
        LSP_TRY(grow(all));
    }
    const lsp_csr_types types = {.rowptr_type = block->rowptr_type, .col_type = block->col_type, .where = block->where};
    LSP_TRY(lsp_csr_copy(all->ctx, block, &types, &all->blocks[all->count]));
    all->first_rows[all->count++] = first_row;
    all->nnz += block->nnz;
done:
    return status;
}

/* Writes C's row pointers, on the host. */
static lsp_status join_rowptr(const collection *all, int64_t rows, int64_t *starts) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = all->ctx;
    starts[0] = 0;
    for (int64_t b = 0; b < all->count; b++) {
        const lsp_csr *block = &all->blocks[b];
        const int64_t first = all->first_rows[b], at = starts[first];
        const void *rowptr = block->rowptr;
        size_t mark = lsp_scratch_mark(ctx);
        if (block->where == LSP_CUDA) {
            const int64_t bytes = (block->rows + 1) * (int64_t)lsp_type_bytes(block->rowptr_type);
            void *here;
            LSP_TRY(lsp_scratch_bytes(ctx, bytes, 1, false, &here));
            LSP_TRY(lsp_cuda_copy(ctx, here, LSP_HOST, rowptr, LSP_CUDA, bytes));
            rowptr = here;
        }
        for (int64_t i = 1; i <= block->rows && first + i <= rows; i++) {
            starts[first + i] = at + lsp_index_at(rowptr, block->rowptr_type, i);
        }
        lsp_scratch_release(ctx, mark);
    }
done:
    return status;
}

/* Copies one array of a block into C's array, which lies in the same place. */
static lsp_status append(const collection *all, void *to, int64_t at, const void *from, int64_t count, lsp_type type,
                         lsp_where where) {
    const size_t width = lsp_type_bytes(type), bytes = (size_t)count * width;
    char *place = bytes > 0 ? (char *)to + (size_t)at * width : NULL;
    if (bytes == 0) {
        return LSP_OK;
    }
    if (where == LSP_CUDA) {
        return lsp_cuda_copy(all->ctx, place, where, from, where, (int64_t)bytes);
    }
    memcpy(place, from, bytes);
    return LSP_OK;
}

/* Joins the blocks to C, one below the other. */
static lsp_status join(const collection *all, int64_t rows, int64_t cols, const lsp_csr_types *types, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = all->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    int64_t *starts;
    lsp_csr made = {0};
    LSP_TRY(LSP_SCRATCH(ctx, rows + 1, &starts));
    LSP_TRY(join_rowptr(all, rows, starts));
    LSP_TRY(lsp_csr_create(ctx, rows, cols, all->nnz, types, &made));
    const size_t width = lsp_type_bytes(made.rowptr_type);
    void *rowptr = made.rowptr;
    if (made.where == LSP_CUDA) {
        LSP_TRY(lsp_scratch_bytes(ctx, rows + 1, width, false, &rowptr));
    }
    for (int64_t i = 0; i <= rows; i++) {
        lsp_index_set(rowptr, made.rowptr_type, i, starts[i]);
    }
    if (made.where == LSP_CUDA) {
        LSP_TRY(lsp_cuda_copy(ctx, made.rowptr, LSP_CUDA, rowptr, LSP_HOST, (rows + 1) * (int64_t)width));
    }
    for (int64_t b = 0; b < all->count; b++) {
        const lsp_csr *block = &all->blocks[b];
        const int64_t at = starts[all->first_rows[b]];
        LSP_TRY(append(all, made.col, at, block->col, block->nnz, made.col_type, made.where));
        LSP_TRY(append(all, made.val, at, block->val, block->nnz, made.val_type, made.where));
    }
    *C = made;
done:
    lsp_scratch_release(ctx, mark);
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}

/* Is C before the filter small enough to be made at once? A C that is made by its mask is no larger than the mask. If
 * the mask has many more entries than there are products, C has no more entries than products. */
static bool fits_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    enum { ENTRY_BYTES = 2 * (8 + 16) + 1, ROW_BYTES = 6 * 8, ALWAYS_FIT = 1 << 18 };
    if (A == NULL || B == NULL || A->where != B->where || !lsp_spgemm_masks(options) ||
        options->filter.mask->where != A->where || (A->where == LSP_HOST && options->types.where == LSP_CUDA)) {
        return false;
    }
    const lsp_csr *mask = options->filter.mask;
    const bool small = mask->nnz <= ALWAYS_FIT && mask->rows <= ALWAYS_FIT && ctx->options.max_bytes == 0;
    const int64_t half = small ? 0 : lsp_available_bytes(ctx, A->where) / 2;
    return small || (mask->nnz <= half / 2 / ENTRY_BYTES && mask->rows <= half / 2 / ROW_BYTES);
}

static lsp_status filtered_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   lsp_csr *C, lsp_spgemm_info *info) {
    lsp_status status = LSP_OK;
    lsp_spgemm_options prepared = *options;
    lsp_csr mask = {0};
    LSP_TRY(lsp_filter_check(ctx, A->where, options->transpose_a ? A->cols : A->rows,
                             options->transpose_b ? B->rows : B->cols, &options->filter));
    LSP_TRY(lsp_filter_prepare_mask(ctx, A->where, &prepared.filter, &mask));
    LSP_TRY(lsp_spgemm_at_once(ctx, A, B, &prepared, C, info));
done:
    lsp_csr_free(ctx, &mask);
    return status;
}

lsp_status lsp_spgemm_filtered(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                               lsp_csr *C, lsp_spgemm_info *info) {
    lsp_status status = LSP_OK;
    collection all = {.ctx = ctx};
    lsp_csr made = {0};
    if (fits_at_once(ctx, A, B, options)) {
        return filtered_at_once(ctx, A, B, options, C, info);
    }
    LSP_TRY(lsp_spgemm_stream(ctx, A, B, options, 0, collect, &all, info));
    const lsp_csr_types types = {.rowptr_type = options->types.rowptr_type,
                                 .col_type = all.blocks[0].col_type,
                                 .val_type = all.blocks[0].val_type,
                                 .where = all.blocks[0].where};
    LSP_TRY(
        join(&all, options->transpose_a ? A->cols : A->rows, options->transpose_b ? B->rows : B->cols, &types, &made));
    *C = made;
done:
    for (int64_t b = 0; b < all.count; b++) {
        lsp_csr_free(ctx, &all.blocks[b]);
    }
    lsp_free(ctx, all.blocks);
    lsp_free(ctx, all.first_rows);
    return status;
}
