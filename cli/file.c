/* Reads a file into memory, plain or compressed: zlib decides by the content. */
#include "file.h"
#include "arguments.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static int read_all(gzFile from, const char *name, int64_t most, cli_file *to) {
    size_t room = 1 << 16;
    for (int got = 1; got > 0; to->bytes += (size_t)got) {
        if (!to->text || to->bytes + 1 >= room) {
            room = to->text ? 2 * room : room;
            room = most > 0 && room > (size_t)most ? (size_t)most : room;
            char *text = room > to->bytes + 1 ? realloc(to->text, room) : NULL;
            if (!text) {
                return cli_fail(CLI_MEMORY, "reading %s: no memory for more than %s of it", name,
                                cli_bytes((int64_t)to->bytes).text);
            }
            to->text = text;
        }
        const size_t left = room - to->bytes - 1;
        got = gzread(from, to->text + to->bytes, (unsigned)(left < (1 << 30) ? left : 1 << 30));
        if (got < 0) {
            int code = Z_OK;
            const char *why = gzerror(from, &code);
            return cli_fail(CLI_INPUT, "%s: cannot be read: %s", name, code == Z_ERRNO ? strerror(errno) : why);
        }
    }
    to->text[to->bytes] = 0;
    int code = Z_OK;
    (void)gzerror(from, &code);
    return code == Z_OK ? CLI_DONE : cli_fail(CLI_INPUT, "%s: the compressed file ends too early", name);
}

int cli_file_read(const char *path, const char *name, int64_t most, cli_file *file) {
    const int copy = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : -1;
    gzFile from = strcmp(path, "-") != 0 ? gzopen(path, "rbe") : copy >= 0 ? gzdopen(copy, "rb") : NULL;
    *file = (cli_file){0};
    if (!from) {
        const int reason = errno;
        if (copy >= 0) {
            close(copy);
        }
        return cli_fail(CLI_INPUT, "%s: cannot be read: %s", name, strerror(reason));
    }
    const int code = read_all(from, name, most, file);
    gzclose(from);
    return code;
}
