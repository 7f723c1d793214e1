/* Blocks of rows from several devices, put into one matrix on the host. */
#pragma once

#include "libsparse.h"

/* Where the next block goes. */
typedef struct cli_rows {
    lsp_ctx *ctx; /* of the device that has the blocks */
    const lsp_csr *C;
    int64_t row, entry;
} cli_rows;

/* Puts one block into its place and moves on; `rows` is a cli_rows. Its form is that of a sink: first_row is not read.
 * Row 0 of C must begin with 0 before; indices of C have the block's types, or rowptr a wider one. */
lsp_status cli_put_rows(void *rows, int64_t first_row, const lsp_csr *block);
