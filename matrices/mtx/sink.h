/* Where a Matrix Market file goes: a file that appears complete or not at all, plain or compressed; a device, a pipe,
 * standard output. */
#ifndef LSP_MATRICES_MTX_SINK_H
#define LSP_MATRICES_MTX_SINK_H

#include "core/core.h"

#include <sys/types.h>
#include <zlib.h>

typedef struct lsp_mtx_sink {
    lsp_ctx *ctx;
    const char *name; /* in messages */
    int fd;           /* -1: closed */
    bool standard;    /* not ours to close */
    char *target;     /* where the file will stand; links followed. NULL: written in place */
    char *temporary;  /* where it is written */
    bool exists;      /* `temporary` has been made */
    bool integers;    /* the values that come must be whole */
    bool compressed;
    z_stream stream;
    unsigned char *packed; /* compressed bytes on their way */
} lsp_mtx_sink;

/* Takes scratch of the call at hand. Whatever happens, lsp_mtx_sink_drop ends it. */
lsp_status lsp_mtx_sink_open(lsp_ctx *ctx, const char *path, lsp_mtx_sink *sink);

/* 0, or errno. Does not touch the context's memory: may be called by any one thread at a time. */
int lsp_mtx_sink_put(lsp_mtx_sink *sink, const char *text, size_t bytes);

/* Can a matrix with values of this type be written so, in blocks? `options` may be NULL. */
lsp_status lsp_mtx_rows_check(lsp_ctx *ctx, lsp_type val_type, const lsp_mtx_write_options *options);

/* A general matrix in blocks of rows: `sizes` says rows, columns, entries and the type of values, and has no arrays.
 * After _open, which takes scratch too, the blocks in order, each in either place, then lsp_mtx_sink_finish. */
lsp_status lsp_mtx_rows_open(lsp_ctx *ctx, const char *path, const lsp_csr *sizes, const lsp_mtx_write_options *options,
                             lsp_mtx_sink *sink);
lsp_status lsp_mtx_rows_put(lsp_ctx *ctx, int64_t first_row, const lsp_csr *rows, lsp_mtx_sink *sink);

/* The file is complete: gives it its name. */
lsp_status lsp_mtx_sink_finish(lsp_mtx_sink *sink);

/* Closes; leaves nothing behind of a file that was not finished. */
void lsp_mtx_sink_drop(lsp_mtx_sink *sink);

lsp_status lsp_mtx_sink_fail(const lsp_mtx_sink *sink, int error);

#endif
