/* The tables of limits that callers set: those of the segmented sort and of other sorts on a GPU. */
#pragma once

#include "core/core.h"

/* Refuses a context that works on the host, and NULL as the place for a table. */
lsp_status lsp_sort_table_place(lsp_ctx *ctx, const void *place);
/* Copies a table to ctx->tables[which]. If `table` is NULL, it frees the copy. */
lsp_status lsp_sort_keep_table(lsp_ctx *ctx, lsp_table which, const void *table, size_t bytes);
