/* The arrays among the arguments of a call: refuses those that are missing, misaligned or overlap. */
#pragma once

#include "core.h"

typedef struct lsp_named_array {
    const char *name;
    const void *memory;
    int64_t items; /* 0: the call does not use it */
    size_t item_bytes;
    bool written;
    int pair; /* equal and not 0: an input and the output that may replace it in place */
} lsp_named_array;

/* Items are aligned to their size, of more than 8 bytes to 8. Two arrays may overlap if neither is written. */
lsp_status lsp_check_arrays(lsp_ctx *ctx, const lsp_named_array *list, int count);
