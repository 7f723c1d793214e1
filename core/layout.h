/* Cuts one block of scratch into consecutive pieces, each at a multiple of `align` bytes. The same code runs twice:
 * with memory NULL it counts the bytes, with the block it returns the pieces. So size and pieces cannot disagree. */
#pragma once

#include "core.h"

typedef struct lsp_layout {
    char *memory;  /* NULL: count only */
    int64_t align; /* bytes */
    int64_t bytes; /* of all pieces taken so far */
    bool overflow; /* the bytes do not fit int64 */
} lsp_layout;

/* Returns the next piece, for `count` items; NULL if memory is NULL. */
static inline void *lsp_layout_take(lsp_layout *l, int64_t count, int64_t item_bytes) {
    int64_t bytes = 0;
    void *piece = l->memory ? l->memory + l->bytes : NULL;
    l->overflow = l->overflow || !lsp_mul(count, item_bytes, &bytes) || !lsp_add(bytes, l->align - 1, &bytes) ||
                  !lsp_add(l->bytes, bytes / l->align * l->align, &l->bytes);
    return piece;
}
