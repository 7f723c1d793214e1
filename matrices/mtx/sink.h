/* The target of a writer: a file that appears complete or not at all, plain or compressed; or a device, a pipe or
 * standard output. */
#pragma once

#include "core/core.h"
#include "core/outfile.h"
#include <zlib.h>

typedef struct lsp_mtx_sink {
    lsp_ctx *ctx;
    const char *name; /* in messages */
    lsp_outfile file;
    bool standard; /* standard output, which stays open */
    bool integers; /* values are not integers, but must be whole */
    bool compressed;
    z_stream stream;
    unsigned char *packed; /* compressed bytes not yet written */
} lsp_mtx_sink;

/* Memory of a z_stream, whose `opaque` is the context: inflate.c. */
voidpf lsp_zlib_take(voidpf ctx, uInt items, uInt bytes);
void lsp_zlib_give_back(voidpf ctx, voidpf memory);

/* Takes scratch, which ends with the call. Call lsp_mtx_sink_drop in any case. */
lsp_status lsp_mtx_sink_open(lsp_ctx *ctx, const char *path, lsp_mtx_sink *sink);

/* Returns 0 or errno. Does not touch the context's memory: any thread may call it, one at a time. */
int lsp_mtx_sink_put(lsp_mtx_sink *sink, const char *text, size_t bytes);

/* Can a matrix with values of this type be written with these options, in blocks? `options` may be NULL. */
lsp_status lsp_mtx_rows_check(lsp_ctx *ctx, lsp_type val_type, const lsp_mtx_write_options *options);

/* Writes a general matrix in blocks of rows. `sizes` holds rows, columns, entries and the value type, and no arrays.
 * After _open, which takes scratch too, call _put for the blocks in order, each in either place, then
 * lsp_mtx_sink_finish. */
lsp_status lsp_mtx_rows_open(lsp_ctx *ctx, const char *path, const lsp_csr *sizes, const lsp_mtx_write_options *options,
                             lsp_mtx_sink *sink);
lsp_status lsp_mtx_rows_put(lsp_ctx *ctx, int64_t first_row, const lsp_csr *rows, lsp_mtx_sink *sink);

/* Ends the text and gives the file its name. */
lsp_status lsp_mtx_sink_finish(lsp_mtx_sink *sink);

/* Closes, and removes a file that was not finished. */
void lsp_mtx_sink_drop(lsp_mtx_sink *sink);

lsp_status lsp_mtx_sink_fail(const lsp_mtx_sink *sink, int error);
