/* A sink for lsp_spgemm_stream that puts the blocks together to one matrix on the host. */
#pragma once

#include "products.h"

typedef struct received {
    lsp_ctx *gpu; /* blocks must be on this context's GPU; NULL: on the host */
    lsp_csr C;    /* int64 indices; capacity for the whole product */
    int64_t blocks, rows, most_rows;
    int64_t stop_at; /* the block at which the sink returns an error; -1: none */
    int64_t limit;   /* the most bytes of a block of several rows; 0: no limit */
} received;

static inline lsp_status receive_here(void *user, int64_t first_row, const lsp_csr *block) {
    received *all = user;
    const size_t bytes = lsp_type_bytes(block->val_type);
    cr_assert_eq(first_row, all->rows);
    if (all->blocks++ == all->stop_at) {
        return LSP_ERR_ARGUMENT;
    }
    cr_assert(all->limit == 0 || block->rows == 1 || block->nnz * 16 + block->rows * 8 <= all->limit);
    for (int64_t i = 1; i <= block->rows; i++) {
        ((int64_t *)all->C.rowptr)[first_row + i] = all->C.nnz + lsp_index_at(block->rowptr, block->rowptr_type, i);
    }
    for (int64_t k = 0; k < block->nnz; k++) {
        ((int64_t *)all->C.col)[all->C.nnz + k] = lsp_index_at(block->col, block->col_type, k);
    }
    if (block->nnz > 0 && bytes > 0) {
        memcpy((char *)all->C.val + (size_t)all->C.nnz * bytes, block->val, (size_t)block->nnz * bytes);
    }
    all->C.nnz += block->nnz;
    all->C.cols = block->cols;
    all->C.val_type = block->val_type;
    all->C.rows = all->rows += block->rows;
    all->most_rows = lsp_max(all->most_rows, block->rows);
    return LSP_OK;
}

static inline received receiver(int64_t rows, int64_t nnz) {
    return (received){.stop_at = -1,
                      .C = {.rowptr_type = LSP_I64,
                            .col_type = LSP_I64,
                            .rowptr = calloc((size_t)rows + 1, 8),
                            .col = calloc((size_t)nnz + 1, 8),
                            .val = calloc((size_t)nnz + 1, 16)}};
}

static inline lsp_status receive(void *user, int64_t first_row, const lsp_csr *block) {
    received *all = user;
    lsp_csr here = {0};
    cr_assert_eq(block->where, all->gpu ? LSP_CUDA : LSP_HOST);
    if (!all->gpu) {
        return receive_here(user, first_row, block);
    }
    const lsp_csr_types types = {block->rowptr_type, block->col_type, .place = LSP_PLACE_HOST};
    must(all->gpu, lsp_csr_copy(all->gpu, block, &types, &here));
    const lsp_status status = receive_here(user, first_row, &here);
    lsp_csr_free(all->gpu, &here);
    return status;
}
