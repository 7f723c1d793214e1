/* Writes text, plain or compressed, to a file that appears complete or not at all, or to standard output. */
#include "sink.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { packed_bytes = 256 << 10 };

lsp_status lsp_mtx_sink_fail(const lsp_mtx_sink *sink, int error) {
    const lsp_status status = lsp_go_on(sink->ctx);
    return status != LSP_OK ? status
                            : lsp_fail(sink->ctx, LSP_ERR_IO, "%s: cannot be written: %s", sink->name, strerror(error));
}

static lsp_status start_compression(lsp_mtx_sink *sink) {
    lsp_ctx *ctx = sink->ctx;
    LSP_TRY(LSP_SCRATCH(ctx, packed_bytes, &sink->packed));
    sink->stream = (z_stream){.zalloc = lsp_zlib_take, .zfree = lsp_zlib_give_back, .opaque = ctx};
    int code = deflateInit2(&sink->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    sink->compressed = code == Z_OK;
    LSP_TRY(lsp_go_on(ctx));
    LSP_REQUIRE(sink->compressed, LSP_ERR_MEMORY, "%s: no memory to compress it", sink->name);
    return LSP_OK;
}

lsp_status lsp_mtx_sink_open(lsp_ctx *ctx, const char *path, lsp_mtx_sink *sink) {
    size_t length = strlen(path);
    *sink = (lsp_mtx_sink){.ctx = ctx, .name = path, .file.fd = -1};
    if (strcmp(path, "-") == 0) {
        sink->name = "standard output";
        sink->file.fd = STDOUT_FILENO;
        sink->standard = true;
        return LSP_OK;
    }
    if (length >= 3 && strcmp(path + length - 3, ".gz") == 0) {
        LSP_TRY(start_compression(sink));
    }
    const int error = lsp_outfile_open(path, &sink->file);
    return error ? lsp_mtx_sink_fail(sink, error) : LSP_OK;
}

static int put_raw(const lsp_mtx_sink *sink, const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        ssize_t written = write(sink->file.fd, next, count < 1 << 30 ? count : 1 << 30);
        if (written < 0 && (errno != EINTR || lsp_stopped(sink->ctx))) {
            return errno;
        }
        if (written > 0) {
            next += written;
            count -= (size_t)written;
        }
    }
    return 0;
}

static int put_packed(lsp_mtx_sink *sink, const char *text, size_t bytes, int flush) {
    sink->stream.next_in = (z_const Bytef *)text;
    sink->stream.avail_in = (uInt)bytes;
    do {
        sink->stream.next_out = sink->packed;
        sink->stream.avail_out = packed_bytes;
        int code = deflate(&sink->stream, flush);
        int error = lsp_stopped(sink->ctx) ? EINTR : put_raw(sink, sink->packed, packed_bytes - sink->stream.avail_out);
        if (error || code == Z_STREAM_ERROR) {
            return error ? error : EIO;
        }
    } while (sink->stream.avail_out == 0);
    return 0;
}

int lsp_mtx_sink_put(lsp_mtx_sink *sink, const char *text, size_t bytes) {
    return sink->compressed ? put_packed(sink, text, bytes, Z_NO_FLUSH) : put_raw(sink, text, bytes);
}

lsp_status lsp_mtx_sink_finish(lsp_mtx_sink *sink) {
    int error = sink->compressed ? put_packed(sink, NULL, 0, Z_FINISH) : 0;
    if (!error && !sink->standard) {
        error = lsp_outfile_finish(&sink->file);
    }
    return error ? lsp_mtx_sink_fail(sink, error) : LSP_OK;
}

void lsp_mtx_sink_drop(lsp_mtx_sink *sink) {
    if (!sink->standard) {
        lsp_outfile_drop(&sink->file);
    }
    if (sink->compressed) {
        deflateEnd(&sink->stream);
    }
    *sink = (lsp_mtx_sink){.file.fd = -1};
}
