/* Divides one block of scratch into pieces that follow each other, each at a multiple of `align` bytes. The same code
 * first counts the bytes (memory NULL), then hands out the pieces. */
#ifndef LSP_CORE_LAYOUT_H
#define LSP_CORE_LAYOUT_H

#include "core.h"

typedef struct lsp_layout {
    char *memory;  /* NULL: pieces are counted only */
    int64_t align; /* bytes */
    int64_t bytes; /* of all pieces taken so far */
    bool overflow; /* no int64 holds the bytes */
} lsp_layout;

/* The next piece: `count` items; NULL while pieces are counted only. */
static inline void *lsp_layout_take(lsp_layout *l, int64_t count, int64_t item_bytes) {
    int64_t bytes = 0;
    void *piece = l->memory ? l->memory + l->bytes : NULL;
    l->overflow = l->overflow || !lsp_mul(count, item_bytes, &bytes) || !lsp_add(bytes, l->align - 1, &bytes) ||
                  !lsp_add(l->bytes, bytes / l->align * l->align, &l->bytes);
    return piece;
}

#endif
