/* Writes files that appear complete or not at all: under another name in the same directory, then renamed. A device or
 * a pipe is written in place. */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { packed_bytes = 256 << 10, most_names = 10000 };

lsp_status lsp_mtx_sink_fail(const lsp_mtx_sink *sink, int error) {
    return lsp_fail(sink->ctx, LSP_ERR_IO, "%s: cannot be written: %s", sink->name, strerror(error));
}

static voidpf take(voidpf ctx, uInt items, uInt bytes) {
    void *memory = NULL;
    return lsp_alloc(ctx, LSP_HOST, items, bytes, &memory) == LSP_OK ? memory : NULL;
}
static void give_back(voidpf ctx, voidpf memory) { lsp_free(ctx, memory); }

static lsp_status start_compression(lsp_mtx_sink *sink) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = sink->ctx;
    LSP_TRY(LSP_SCRATCH(ctx, packed_bytes, &sink->packed));
    sink->stream = (z_stream){.zalloc = take, .zfree = give_back, .opaque = ctx};
    int code = deflateInit2(&sink->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    LSP_REQUIRE(code == Z_OK, LSP_ERR_MEMORY, "%s: no memory to compress it", sink->name);
    sink->compressed = true;
done:
    return status;
}

/* place = the path of the file after all links are followed. Returns 0 or errno. */
static int follow(const char *path, char *place) {
    char link[PATH_MAX];
    if (strlen(path) >= PATH_MAX) {
        return ENAMETOOLONG;
    }
    memcpy(place, path, strlen(path) + 1);
    for (int links = 0; links < 40; links++) {
        ssize_t length = readlink(place, link, sizeof link);
        if (length < 0) {
            return 0; /* not a link */
        }
        char *slash = strrchr(place, '/');
        size_t before = link[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - place);
        if (before + (size_t)length >= PATH_MAX) {
            return ENAMETOOLONG;
        }
        memcpy(place + before, link, (size_t)length);
        place[before + (size_t)length] = 0;
    }
    return ELOOP;
}

/* Makes a new file in the directory of the target, with the permissions of the file that it will replace. */
static int open_beside(lsp_mtx_sink *sink, const struct stat *old) {
    const char *slash = strrchr(sink->target, '/');
    int before = slash ? (int)(slash + 1 - sink->target) : 0;
    for (int k = 0; k < most_names; k++) {
        int length =
            snprintf(sink->temporary, PATH_MAX, "%.*s.lsp-%ld-%d.part", before, sink->target, (long)getpid(), k);
        if (length >= PATH_MAX) {
            return ENAMETOOLONG;
        }
        sink->fd = open(sink->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (sink->fd >= 0) {
            sink->exists = true;
            return old && fchmod(sink->fd, old->st_mode & 07777) != 0 ? errno : 0;
        }
        if (errno != EEXIST) {
            return errno;
        }
    }
    return EEXIST;
}

static int open_path(lsp_mtx_sink *sink, const char *path) {
    struct stat old;
    bool there = stat(path, &old) == 0;
    if (!there && errno != ENOENT) {
        return errno;
    }
    if (there && S_ISDIR(old.st_mode)) {
        return EISDIR;
    }
    if (there && !S_ISREG(old.st_mode)) {
        sink->fd = open(path, O_WRONLY | O_CLOEXEC);
        return sink->fd >= 0 ? 0 : errno;
    }
    if (there && access(path, W_OK) != 0) {
        return errno; /* a file without write permission is not replaced either */
    }
    int error = follow(path, sink->target);
    return error ? error : open_beside(sink, there ? &old : NULL);
}

lsp_status lsp_mtx_sink_open(lsp_ctx *ctx, const char *path, lsp_mtx_sink *sink) {
    lsp_status status = LSP_OK;
    size_t length = strlen(path);
    *sink = (lsp_mtx_sink){.ctx = ctx, .name = path, .fd = -1};
    if (strcmp(path, "-") == 0) {
        sink->name = "standard output";
        sink->fd = STDOUT_FILENO;
        sink->standard = true;
        goto done;
    }
    LSP_TRY(LSP_SCRATCH(ctx, PATH_MAX, &sink->target));
    LSP_TRY(LSP_SCRATCH(ctx, PATH_MAX, &sink->temporary));
    if (length >= 3 && strcmp(path + length - 3, ".gz") == 0) {
        LSP_TRY(start_compression(sink));
    }
    int error = open_path(sink, path);
    if (error) {
        status = lsp_mtx_sink_fail(sink, error);
    }
done:
    return status;
}

static int put_raw(const lsp_mtx_sink *sink, const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        ssize_t written = write(sink->fd, next, count < 1 << 30 ? count : 1 << 30);
        if (written < 0 && errno != EINTR) {
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
        int error = put_raw(sink, sink->packed, packed_bytes - sink->stream.avail_out);
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
        int fd = sink->fd;
        sink->fd = -1;
        error = close(fd) != 0 ? errno : 0; /* some file systems report a full disk only here */
    }
    if (!error && sink->exists) {
        error = rename(sink->temporary, sink->target) != 0 ? errno : 0;
        sink->exists = error != 0;
    }
    return error ? lsp_mtx_sink_fail(sink, error) : LSP_OK;
}

void lsp_mtx_sink_drop(lsp_mtx_sink *sink) {
    if (sink->fd >= 0 && !sink->standard) {
        close(sink->fd);
    }
    if (sink->exists) {
        unlink(sink->temporary);
    }
    if (sink->compressed) {
        deflateEnd(&sink->stream);
    }
    *sink = (lsp_mtx_sink){.fd = -1};
}
