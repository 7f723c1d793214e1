#include "rows.h"

#include <string.h>

static void *at(void *array, int64_t k, lsp_type type) {
    return array ? (char *)array + (size_t)k * lsp_type_bytes(type) : NULL;
}

static lsp_status put_array(const cli_rows *to, void *array, const void *from, lsp_type type, const lsp_csr *block) {
    return lsp_array_copy(to->ctx, at(array, to->entry, type), LSP_HOST, from, block->where,
                          (size_t)block->nnz * lsp_type_bytes(type));
}

/* The ends come as they are to the last bytes of their place, and become those of C there. */
static lsp_status put_ends(const cli_rows *to, const lsp_csr *block) {
    const lsp_type type = block->rowptr_type, wide = to->C->rowptr_type;
    const size_t n = (size_t)block->rows, bytes = n * lsp_type_bytes(type);
    char *place = at(to->C->rowptr, to->row + 1, wide), *from = place + n * lsp_type_bytes(wide) - bytes;
    const lsp_status status = lsp_array_copy(to->ctx, from, LSP_HOST, at(block->rowptr, 1, type), block->where, bytes);
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
    lsp_status status = put_array(to, to->C->col, block->col, block->col_type, block);
    (void)first_row;
    status = status == LSP_OK ? put_array(to, to->C->val, block->val, block->val_type, block) : status;
    status = status == LSP_OK ? put_ends(to, block) : status;
    to->row += block->rows;
    to->entry += block->nnz;
    return status;
}
