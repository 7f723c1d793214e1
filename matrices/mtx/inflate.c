/* Decompresses gzip, member after member, into the pieces of a source. All memory comes from the context, zlib's too:
 * so a small file with an enormous text is stopped by the budget. */
#include "mtx.h"
#include "sink.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- pipes and compressed data: a piece is a quarter of the text so far, so that a text of any size fits few pieces
 * and wastes little ---- */

lsp_status lsp_mtx_more(lsp_ctx *ctx, const lsp_mtx_source *source, lsp_mtx_bytes *input, size_t least) {
    ssize_t got = -1;
    while (input->left < least && input->fd >= 0 && got != 0 && !lsp_stopped(ctx)) {
        if (input->left > 0) {
            memmove(input->buffer, input->next, input->left);
        }
        input->next = input->buffer;
        got = read(input->fd, input->buffer + input->left, lsp_mtx_input - input->left);
        LSP_REQUIRE(got >= 0 || errno == EINTR, LSP_ERR_IO, "%s: cannot be read: %s", source->name, strerror(errno));
        input->left += (size_t)lsp_max(got, 0);
    }
    return lsp_go_on(ctx);
}

lsp_status lsp_mtx_find_room(lsp_ctx *ctx, lsp_mtx_source *source, char **at, int64_t *room) {
    if (source->pieces == 0 || source->piece[source->pieces - 1].end == source->bytes) {
        const int64_t bytes = lsp_max(source->bytes / 4, lsp_mtx_block);
        LSP_REQUIRE(source->pieces < lsp_mtx_pieces, LSP_ERR_MEMORY, "%s: %s of text are too much to keep",
                    source->name, lsp_size(source->bytes).text);
        LSP_TRY(LSP_SCRATCH(ctx, bytes, at));
        source->piece[source->pieces++] = (lsp_mtx_piece){*at, source->bytes, source->bytes + bytes};
    }
    const lsp_mtx_piece *last = &source->piece[source->pieces - 1];
    *at = (char *)last->text + (source->bytes - last->begin);
    *room = last->end - source->bytes;
    return LSP_OK;
}

/* ---- gzip ---- */

voidpf lsp_zlib_take(voidpf ctx, uInt items, uInt bytes) {
    void *memory = NULL;
    return lsp_alloc(ctx, LSP_HOST, items, bytes, &memory) == LSP_OK ? memory : NULL;
}
void lsp_zlib_give_back(voidpf ctx, voidpf memory) { lsp_free(ctx, memory); }

static lsp_status broken(lsp_ctx *ctx, const lsp_mtx_source *source, const char *why) {
    int64_t line = 1;
    for (int k = 0; k < source->pieces; k++) {
        const lsp_mtx_piece *piece = &source->piece[k];
        line += lsp_mtx_count_lines(piece->text, piece->text + lsp_min(source->bytes, piece->end) - piece->begin);
    }
    return lsp_fail(ctx, LSP_ERR_FORMAT, "%s:%lld: %s", source->name, (long long)line, why);
}

/* After a member comes another one, padding of zeros, or the end. *again: does a member follow? */
static lsp_status next_member(lsp_ctx *ctx, lsp_mtx_bytes *input, const lsp_mtx_source *source, bool *again) {
    LSP_TRY(lsp_mtx_more(ctx, source, input, 1));
    while (input->left > 0 && *input->next != 0x1f) {
        LSP_REQUIRE(*input->next == 0, LSP_ERR_FORMAT, "%s: something that is not gzip follows the compressed data",
                    source->name);
        input->next++;
        input->left--;
        LSP_TRY(lsp_mtx_more(ctx, source, input, 1));
    }
    *again = input->left > 0;
    return LSP_OK;
}

lsp_status lsp_mtx_inflate(lsp_ctx *ctx, lsp_mtx_bytes *input, lsp_mtx_source *source) {
    z_stream stream LSP_AT_END(inflateEnd) = {.zalloc = lsp_zlib_take, .zfree = lsp_zlib_give_back, .opaque = ctx};
    bool again = true;
    char *at = NULL;
    int64_t room = 0;
    int code = inflateInit2(&stream, 15 + 16);
    LSP_TRY(lsp_go_on(ctx));
    LSP_REQUIRE(code == Z_OK, LSP_ERR_MEMORY, "%s: no memory to decompress it", source->name);
    while (again) {
        LSP_TRY(lsp_mtx_find_room(ctx, source, &at, &room));
        LSP_TRY(lsp_mtx_more(ctx, source, input, 1));
        uInt given = (uInt)lsp_min((int64_t)input->left, 1 << 30), free_before = (uInt)lsp_min(room, 1 << 30);
        stream.next_out = (Bytef *)at;
        stream.avail_out = free_before;
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
        } else if (given == 0 && free_before == stream.avail_out) {
            return broken(ctx, source, "the gzip data ends too early: the file is truncated");
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            return broken(ctx, source, "the gzip data is damaged");
        }
    }
    return LSP_OK;
}
