#include "rows.h"

#include <string.h>

static void *at(void *array, int64_t k, lsp_type type) {
    return array ? (char *)array + (size_t)k * lsp_type_bytes(type) : NULL;
}

static lsp_status put_entries(const cli_rows *to, const lsp_csr *block) {
    const size_t n = (size_t)block->nnz, col = lsp_type_bytes(block->col_type), val = lsp_type_bytes(block->val_type);
    if (n == 0) {
        return LSP_OK;
    }
    const lsp_status status = lsp_array_copy(to->ctx, at(to->C->col, to->entry, block->col_type), LSP_HOST, block->col,
                                             block->where, n * col);
    return status != LSP_OK || val == 0 ? status
                                        : lsp_array_copy(to->ctx, at(to->C->val, to->entry, block->val_type), LSP_HOST,
                                                         block->val, block->where, n * val);
}

/* The ends come as they are to the last bytes of their place, and become those of C there. */
static lsp_status put_ends(const cli_rows *to, const lsp_csr *block) {
    const lsp_type type = block->rowptr_type, wide = to->C->rowptr_type;
    const size_t n = (size_t)block->rows, bytes = n * lsp_type_bytes(type);
    char *place = at(to->C->rowptr, to->row + 1, wide), *from = place + n * lsp_type_bytes(wide) - bytes;
    const lsp_status status =
        n == 0 ? LSP_OK : lsp_array_copy(to->ctx, from, LSP_HOST, at(block->rowptr, 1, type), block->where, bytes);
    for (size_t i = 0; i < n && status == LSP_OK && wide == LSP_I32 && to->entry > 0; i++) {
        ((int32_t *)place)[i] += (int32_t)to->entry;
    }
    for (size_t i = 0; i < n && status == LSP_OK && wide == LSP_I64; i++) {
        int32_t narrow = 0;
        memcpy(&narrow, from + i * lsp_type_bytes(type), sizeof narrow);
        ((int64_t *)place)[i] = to->entry + (type == LSP_I64 ? ((int64_t *)place)[i] : narrow);
    }
    return status;
}

lsp_status cli_put_rows(void *rows, int64_t first_row, const lsp_csr *block) {
    cli_rows *to = rows;
    lsp_status status = put_entries(to, block);
    (void)first_row;
    status = status == LSP_OK ? put_ends(to, block) : status;
    to->row += block->rows;
    to->entry += block->nnz;
    return status;
}
