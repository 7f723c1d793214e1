/* Input of a pipe or of compressed data, and the pieces of memory that keep its text. Each piece is a quarter of the
 * text so far, so that a text of any size fits few pieces and wastes little. */
#include "mtx.h"

#include <errno.h>
#include <unistd.h>

int64_t lsp_mtx_more(lsp_mtx_bytes *input) {
    if (input->left == 0 && input->fd >= 0) {
        ssize_t got;
        do {
            got = read(input->fd, input->buffer, input->buffer_bytes);
        } while (got < 0 && errno == EINTR);
        if (got < 0) {
            return -1;
        }
        input->next = input->buffer;
        input->left = (size_t)got;
    }
    return (int64_t)input->left;
}

lsp_status lsp_mtx_add_piece(lsp_ctx *ctx, lsp_mtx_source *source, char **piece, int64_t *capacity) {
    lsp_status status = LSP_OK;
    int64_t bytes = lsp_max(source->bytes / 4, lsp_mtx_block);
    LSP_REQUIRE(source->pieces < lsp_mtx_pieces, LSP_ERR_MEMORY, "%s: %s of text are too much to keep", source->name,
                lsp_size(source->bytes).text);
    LSP_TRY(LSP_SCRATCH(ctx, bytes, piece));
    *capacity = bytes;
    source->piece[source->pieces].text = *piece;
    source->piece[source->pieces].begin = source->bytes;
    source->piece[source->pieces].end = source->bytes + bytes;
    source->pieces++;
done:
    return status;
}
