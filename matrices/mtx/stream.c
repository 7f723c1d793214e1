/* Gives the whole lines of one part of a text, block by block. The unfinished line at the end of a block moves to the
 * front of the buffer, and the next block is read behind it. */
#include "mtx.h"

#include <errno.h>
#include <string.h>

void lsp_mtx_stream_start(lsp_mtx_stream *stream, const lsp_mtx_source *source, char *buffer, int64_t first,
                          int64_t begin, int64_t stop) {
    bool skip = begin > first;
    *stream = (lsp_mtx_stream){.source = source, .buffer = buffer, .at = begin - skip, .stop = stop, .skip = skip};
}

/* Fetches one more block; false at the end of the text or at a fault. */
static bool fill(lsp_mtx_stream *stream) {
    int64_t next = stream->at + stream->filled, bytes = lsp_min(stream->source->bytes - next, lsp_mtx_block);
    if (bytes <= 0) {
        return false;
    }
    if (!lsp_mtx_fetch(stream->source, next, bytes, stream->buffer + stream->filled)) {
        stream->fault = LSP_MTX_IO;
        stream->error = errno;
        return false;
    }
    stream->filled += bytes;
    if (next + bytes == stream->source->bytes && stream->buffer[stream->filled - 1] != '\n') {
        stream->buffer[stream->filled++] = '\n';
    }
    memset(stream->buffer + stream->filled, '\n', lsp_mtx_pad);
    return true;
}

/* Drops the line that began before this part. */
static bool skip_line(lsp_mtx_stream *stream) {
    while (stream->skip) {
        if (!fill(stream)) {
            return false;
        }
        const char *newline = memchr(stream->buffer, '\n', (size_t)stream->filled);
        stream->skip = newline == NULL;
        stream->used = newline ? newline + 1 - stream->buffer : stream->filled;
        if (!newline) {
            stream->at += stream->filled;
            stream->used = stream->filled = 0;
        }
    }
    return true;
}

bool lsp_mtx_stream_next(lsp_mtx_stream *stream, const char **text, int64_t *bytes) {
    if (stream->fault != LSP_MTX_FINE || !skip_line(stream)) {
        return false;
    }
    int64_t whole = 0, searched = 0; /* the end of the last whole line; bytes searched */
    while (whole == 0) {
        stream->filled -= stream->used;
        stream->at += stream->used;
        memmove(stream->buffer, stream->buffer + stream->used, (size_t)stream->filled);
        stream->used = 0;
        if (stream->at >= stream->stop) {
            return false;
        }
        if (stream->filled > lsp_mtx_line_most) {
            stream->fault = LSP_MTX_LONG_LINE;
            return false;
        }
        bool more = fill(stream);
        if (stream->fault != LSP_MTX_FINE || (!more && searched == stream->filled)) {
            return false;
        }
        const char *newline = memrchr(stream->buffer + searched, '\n', (size_t)(stream->filled - searched));
        searched = stream->filled;
        whole = newline ? newline + 1 - stream->buffer : 0;
    }
    int64_t last = stream->stop - 1 - stream->at; /* the line with this byte is the last of the part */
    if (whole > last + 1) {
        const char *newline = memchr(stream->buffer + last, '\n', (size_t)(whole - last));
        whole = newline + 1 - stream->buffer;
    }
    *text = stream->buffer;
    *bytes = stream->used = whole;
    return true;
}

lsp_status lsp_mtx_stream_check(lsp_ctx *ctx, const lsp_mtx_stream *stream, int64_t line) {
    const char *name = stream->source->name;
    LSP_REQUIRE(stream->fault != LSP_MTX_IO, LSP_ERR_IO, "%s: cannot be read: %s", name,
                stream->error ? strerror(stream->error) : "it became shorter meanwhile");
    LSP_REQUIRE(stream->fault != LSP_MTX_LONG_LINE, LSP_ERR_FORMAT, "%s:%lld: the line is longer than %d bytes", name,
                (long long)line, lsp_mtx_line_most);
    return LSP_OK;
}

/* Refuses a file that the budget does not allow before anything is allocated: so the refusal can name the bytes. */
lsp_status lsp_mtx_check_memory(lsp_ctx *ctx, const lsp_mtx_source *source, int64_t bytes) {
    if (ctx->options.max_bytes > 0) { /* without a budget, the allocation itself fails */
        const int64_t used = ctx->options.max_bytes - lsp_available_bytes(ctx, LSP_HOST);
        const int64_t needed = used + bytes + (int64_t)sizeof(lsp_mtx_batch);
        LSP_REQUIRE(needed <= ctx->options.max_bytes, LSP_ERR_MEMORY,
                    "%s: reading it needs at least %s, with the memory in use, and the budget is %s", source->name,
                    lsp_size(needed).text, lsp_size(ctx->options.max_bytes).text);
    }
    return LSP_OK;
}
