/* Texts for the tests of the reader. */
#pragma once

#include "tests/support.h"

#define REAL "%%MatrixMarket matrix coordinate real general\n"
#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"

static inline lsp_status read_text(lsp_ctx *ctx, const char *text, const lsp_mtx_read_options *options, lsp_csr *A,
                                   lsp_mtx_info *info) {
    return lsp_mtx_read_memory(ctx, text, strlen(text), "t.mtx", options, A, info);
}

typedef struct long_text {
    char *start;
    size_t bytes, capacity;
} long_text;

static inline void append(long_text *t, const char *line) {
    size_t length = strlen(line);
    if (t->bytes + length + 1 > t->capacity) {
        t->capacity = 2 * t->capacity + length + 4096;
        t->start = realloc(t->start, t->capacity);
        cr_assert(t->start != NULL);
    }
    memcpy(t->start + t->bytes, line, length + 1);
    t->bytes += length;
}
