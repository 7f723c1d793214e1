/* Gives the text of a Matrix Market file by offset. A regular file is read in place, but not mapped: if it shrinks
 * while it is read, the reader gets an error and not a signal. Pipes and gzip are kept in memory, in pieces. */
#include "mtx.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool lsp_mtx_fetch(const lsp_mtx_source *source, int64_t offset, int64_t bytes, char *buffer) {
    while (bytes > 0) {
        int64_t got;
        if (source->fd >= 0) {
            got = pread(source->fd, buffer, (size_t)bytes, source->base + offset);
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got <= 0) {
                errno = got < 0 ? errno : 0;
                return false;
            }
        } else {
            int k = source->pieces - 1;
            while (k > 0 && source->piece[k].begin > offset) {
                k--;
            }
            got = lsp_min(bytes, source->piece[k].end - offset);
            memcpy(buffer, source->piece[k].text + (offset - source->piece[k].begin), (size_t)got);
        }
        buffer += got;
        offset += got;
        bytes -= got;
    }
    return true;
}

static bool is_gzip(const unsigned char *start, size_t bytes) {
    return bytes >= 2 && start[0] == 0x1f && start[1] == 0x8b;
}

/* Keeps all bytes of a pipe, as they are. */
static lsp_status keep_stream(lsp_ctx *ctx, lsp_mtx_bytes *input, lsp_mtx_source *source) {
    char *at = NULL;
    int64_t room = 0;
    LSP_TRY(lsp_mtx_more(ctx, source, input, 1));
    while (input->left > 0) {
        LSP_TRY(lsp_mtx_find_room(ctx, source, &at, &room));
        const int64_t take = lsp_min((int64_t)input->left, room);
        memcpy(at, input->next, (size_t)take);
        input->next += take;
        input->left -= (size_t)take;
        source->bytes += take;
        LSP_TRY(lsp_mtx_more(ctx, source, input, 1));
    }
    return LSP_OK;
}

/* Keeps all text of a pipe or a compressed file in memory. The first two bytes tell gzip from text. */
static lsp_status keep_all(lsp_ctx *ctx, lsp_mtx_bytes *input, lsp_mtx_source *source) {
    source->fd = -1;
    LSP_TRY(lsp_mtx_more(ctx, source, input, 2)); /* a pipe may give one byte at first */
    source->compressed = is_gzip(input->next, input->left);
    return source->compressed ? lsp_mtx_inflate(ctx, input, source) : keep_stream(ctx, input, source);
}

static lsp_status open_file(lsp_ctx *ctx, int fd, lsp_mtx_source *source) {
    struct stat about;
    LSP_REQUIRE(fstat(fd, &about) == 0, LSP_ERR_IO, "%s: cannot be examined: %s", source->name, strerror(errno));
    LSP_REQUIRE(!S_ISDIR(about.st_mode), LSP_ERR_IO, "%s: is a directory, not a file", source->name);
    bool in_place = S_ISREG(about.st_mode);
    if (in_place) {
        unsigned char magic[2] = {0, 0};
        source->fd = fd;
        source->base = lsp_max(lseek(fd, 0, SEEK_CUR), 0); /* standard input may be partly read already */
        source->bytes = lsp_max(about.st_size - source->base, 0);
        LSP_REQUIRE(lsp_mtx_fetch(source, 0, lsp_min(source->bytes, 2), (char *)magic), LSP_ERR_IO,
                    "%s: cannot be read: %s", source->name, strerror(errno));
        in_place = source->bytes > 0 && !is_gzip(magic, sizeof magic);
    }
    if (!in_place) { /* files of /proc report a size of 0 and still have text */
        lsp_mtx_bytes input = {.fd = fd};
        source->bytes = 0;
        LSP_TRY(LSP_SCRATCH(ctx, lsp_mtx_input, &input.buffer));
        LSP_TRY(keep_all(ctx, &input, source));
    }
    return LSP_OK;
}

lsp_status lsp_mtx_open(lsp_ctx *ctx, const char *path, lsp_mtx_source *source) {
    bool standard = strcmp(path, "-") == 0;
    *source = (lsp_mtx_source){.name = standard ? "standard input" : path, .fd = -1};
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    LSP_REQUIRE(fd >= 0, LSP_ERR_IO, "%s: cannot be opened: %s", source->name, strerror(errno));
    const lsp_status status = open_file(ctx, fd, source);
    source->opened = status == LSP_OK && source->fd >= 0 && !standard;
    if (!standard && !source->opened) {
        close(fd);
    }
    return status;
}

lsp_status lsp_mtx_open_memory(lsp_ctx *ctx, const lsp_mtx_bytes *text, const char *name, lsp_mtx_source *source) {
    lsp_mtx_bytes input = *text;
    *source = (lsp_mtx_source){.name = name, .fd = -1};
    if (is_gzip(input.next, input.left)) {
        return keep_all(ctx, &input, source);
    }
    source->bytes = (int64_t)input.left;
    source->piece[source->pieces++] = (lsp_mtx_piece){(const char *)input.next, 0, source->bytes};
    return LSP_OK;
}

void lsp_mtx_close(lsp_mtx_source *source) {
    if (source->opened) {
        close(source->fd);
        source->opened = false;
    }
}
