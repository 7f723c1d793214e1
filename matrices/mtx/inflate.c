/* Decompresses gzip, member after member, into the pieces of a source. All memory comes from the context, zlib's too:
 * so a small file with an enormous text is stopped by the budget. */
#include "mtx.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* ---- pipes and compressed data: a piece is a quarter of the text so far, so that a text of any size fits few pieces
 * and wastes little ---- */

int64_t lsp_mtx_more(lsp_mtx_bytes *input) {
    if (input->left == 0 && input->fd >= 0) {
        ssize_t got;
        do {
            got = read(input->fd, input->buffer, input->buffer_bytes);
        } while (got < 0 && errno == EINTR && !lsp_stopped(input->ctx));
        if (got < 0) {
            return -1;
        }
        input->next = input->buffer;
        input->left = (size_t)got;
    }
    return (int64_t)input->left;
}

lsp_status lsp_mtx_add_piece(lsp_ctx *ctx, lsp_mtx_source *source, char **piece, int64_t *capacity) {
    int64_t bytes = lsp_max(source->bytes / 4, lsp_mtx_block);
    LSP_REQUIRE(source->pieces < lsp_mtx_pieces, LSP_ERR_MEMORY, "%s: %s of text are too much to keep", source->name,
                lsp_size(source->bytes).text);
    LSP_TRY(LSP_SCRATCH(ctx, bytes, piece));
    *capacity = bytes;
    source->piece[source->pieces].text = *piece;
    source->piece[source->pieces].begin = source->bytes;
    source->piece[source->pieces].end = source->bytes + bytes;
    source->pieces++;
    return LSP_OK;
}

/* ---- gzip ---- */

static voidpf take(voidpf ctx, uInt items, uInt bytes) {
    void *memory = NULL;
    return lsp_alloc(ctx, LSP_HOST, items, bytes, &memory) == LSP_OK ? memory : NULL;
}
static void give_back(voidpf ctx, voidpf memory) { lsp_free(ctx, memory); }

static int64_t count_lines(const lsp_mtx_source *source) {
    int64_t lines = 0;
    for (int k = 0; k < source->pieces; k++) {
        int64_t bytes = lsp_min(source->bytes, source->piece[k].end) - source->piece[k].begin;
        for (int64_t i = 0; i < bytes; i++) {
            lines += source->piece[k].text[i] == '\n';
        }
    }
    return lines;
}

static lsp_status broken(lsp_ctx *ctx, const lsp_mtx_source *source, const char *why) {
    return lsp_fail(ctx, LSP_ERR_FORMAT, "%s:%lld: %s", source->name, (long long)count_lines(source) + 1, why);
}

/* After a member comes another one, padding of zeros, or the end. *again: does a member follow? */
static lsp_status next_member(lsp_ctx *ctx, lsp_mtx_bytes *input, const lsp_mtx_source *source, bool *again) {
    int64_t more;
    *again = false;
    while ((more = lsp_mtx_more(input)) > 0) {
        if (*input->next == 0x1f) {
            *again = true;
            break;
        }
        LSP_REQUIRE(*input->next == 0, LSP_ERR_FORMAT, "%s: something that is not gzip follows the compressed data",
                    source->name);
        input->next++;
        input->left--;
    }
    LSP_REQUIRE(more >= 0, LSP_ERR_IO, "%s: cannot be read: %s", source->name, strerror(errno));
    return LSP_OK;
}

static void end_stream(z_stream *stream) { inflateEnd(stream); } /* of a stream that did not begin: nothing */

lsp_status lsp_mtx_inflate(lsp_ctx *ctx, lsp_mtx_bytes *input, lsp_mtx_source *source) {
    z_stream stream LSP_AT_END(end_stream) = {.zalloc = take, .zfree = give_back, .opaque = ctx};
    bool again = true;
    char *piece = NULL;
    int64_t capacity = 0;
    int code = inflateInit2(&stream, 15 + 16);
    LSP_TRY(lsp_go_on(ctx));
    LSP_REQUIRE(code == Z_OK, LSP_ERR_MEMORY, "%s: no memory to decompress it", source->name);
    while (again) {
        if (stream.avail_out == 0) {
            if (capacity == 0) {
                LSP_TRY(lsp_mtx_add_piece(ctx, source, &piece, &capacity));
            }
            stream.next_out = (Bytef *)piece;
            stream.avail_out = (uInt)lsp_min(capacity, 1 << 30);
            piece += stream.avail_out;
            capacity -= stream.avail_out;
        }
        int64_t more = lsp_mtx_more(input);
        LSP_TRY(lsp_go_on(ctx));
        LSP_REQUIRE(more >= 0, LSP_ERR_IO, "%s: cannot be read: %s", source->name, strerror(errno));
        uInt given = (uInt)lsp_min(more, 1 << 30), free_before = stream.avail_out;
        stream.next_in = (z_const Bytef *)input->next;
        stream.avail_in = given;
        code = inflate(&stream, Z_NO_FLUSH);
        input->next += given - stream.avail_in;
        input->left -= given - stream.avail_in;
        source->bytes += free_before - stream.avail_out;
        if (code == Z_MEM_ERROR) {
            LSP_TRY(lsp_go_on(ctx));
            return lsp_fail(ctx, LSP_ERR_MEMORY, "%s: %s", source->name, lsp_last_error(ctx));
        }
        if (code == Z_STREAM_END) {
            LSP_TRY(next_member(ctx, input, source, &again));
            code = inflateReset(&stream);
        } else if (more == 0 && free_before == stream.avail_out) {
            return broken(ctx, source, "the gzip data ends too early: the file is truncated");
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            return broken(ctx, source, "the gzip data is damaged");
        }
    }
    return LSP_OK;
}
