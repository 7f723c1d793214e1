/* Figures in a file: lines "name = number", all numbers whole, so that no locale changes them. A file is trusted only
 * if it is of this device, has every name and passes the check. */
#include "cache_model.h"
#include "core/outfile.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "libsparse figures 1"
enum { path_bytes = 4096, file_most = 1 << 16 };

static const struct {
    const char *name;
    size_t at;
    double unit;
} numbers[] = {{"start_picoseconds", offsetof(lsp_cache_figures, start_seconds), 1e-12},
               {"copy_rate", offsetof(lsp_cache_figures, copy_rate), 1},
               {"line_bytes", offsetof(lsp_cache_figures, line_bytes), 1},
               {"sector_bytes", offsetof(lsp_cache_figures, sector_bytes), 1},
               {"cache_bytes", offsetof(lsp_cache_figures, cache_bytes), 1},
               {"stage_bytes", offsetof(lsp_cache_figures, stage_bytes), 1}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static double *number_of(lsp_cache_figures *f, int i) { return (double *)(void *)((char *)f + numbers[i].at); }

/* ---- where ---- */

/* The folder for stored figures; false: the environment names none. Relative names are not followed. */
static bool folder_of(char *folder, size_t bytes) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache && cache[0] == '/') {
        length = snprintf(folder, bytes, "%s/libsparse", cache);
    } else if (home && home[0] == '/') {
        length = snprintf(folder, bytes, "%s/.cache/libsparse", home);
    }
    return length > 0 && (size_t)length < bytes;
}

/* FOLDER/NVIDIA_H200.figures; on a CPU, whose rates grow with the threads, FOLDER/CPU_NAME.8.figures. */
static bool path_of(const lsp_cache_figures *f, const char *folder, char *path, size_t bytes) {
    char name[sizeof f->device], threads[16] = "";
    snprintf(name, sizeof name, "%s", f->device);
    for (char *c = name; *c; c++) {
        const bool plain = (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z');
        *c = plain || *c == '-' ? *c : '_';
    }
    if (f->where == LSP_HOST) {
        snprintf(threads, sizeof threads, ".%d", f->threads);
    }
    const int length = snprintf(path, bytes, "%s/%s%s.figures", folder, name, threads);
    return length > 0 && (size_t)length < bytes;
}

/* ---- reading ---- */

/* "point = footprint reads writes writes32", the part behind the equal sign. */
static bool take_point(lsp_cache_figures *f, const char *text) {
    double *const columns[] = {f->footprint, f->reads, f->writes, f->writes32};
    if (f->points == LSP_CACHE_POINTS) {
        return false;
    }
    for (int c = 0; c < 4; c++) {
        char *end;
        errno = 0;
        const long long value = strtoll(text, &end, 10);
        if (end == text || errno != 0) {
            return false;
        }
        columns[c][f->points] = (double)value;
        text = end;
    }
    f->points++;
    return *text == 0;
}

/* Takes a line; *seen has a bit for each number that was there. */
static bool take_line(const lsp_cache_figures *wanted, lsp_cache_figures *f, char *line, unsigned *seen) {
    char *value = strstr(line, " = "), *end;
    if (value == NULL) {
        return false;
    }
    *value = 0;
    value += 3;
    if (strcmp(line, "device") == 0) {
        return strcmp(value, wanted->device) == 0 && (*seen |= 1u << NUMBERS);
    }
    if (strcmp(line, "point") == 0) {
        return take_point(f, value);
    }
    errno = 0;
    const long long whole = strtoll(value, &end, 10);
    if (end == value || *end || errno != 0) {
        return false;
    }
    if (strcmp(line, "threads") == 0) {
        return whole == wanted->threads && (*seen |= 2u << NUMBERS);
    }
    for (int i = 0; i < NUMBERS; i++) {
        if (strcmp(line, numbers[i].name) == 0) {
            *number_of(f, i) = (double)whole * numbers[i].unit;
            *seen |= 1u << i;
            return true;
        }
    }
    return false;
}

/* Opens a regular file of sensible size; anything else could block or be endless. */
static FILE *open_regular(const char *path) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat about;
    if (descriptor < 0) {
        return NULL;
    }
    FILE *file = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= file_most
                     ? fdopen(descriptor, "r")
                     : NULL;
    if (file == NULL) {
        close(descriptor);
    }
    return file;
}

static bool read_file(FILE *file, const lsp_cache_figures *wanted, lsp_cache_figures *f) {
    char line[512];
    unsigned seen = 0;
    *f = *wanted;
    f->points = 0;
    if (fgets(line, sizeof line, file) == NULL || strcmp(line, HEAD "\n") != 0) {
        return false;
    }
    while (fgets(line, sizeof line, file)) {
        const size_t length = strlen(line);
        if (length == 0 || line[length - 1] != '\n') {
            return false;
        }
        line[length - 1] = 0;
        if (!take_line(wanted, f, line, &seen)) {
            return false;
        }
    }
    return seen == (4u << NUMBERS) - 1;
}

bool lsp_cache_read_figures(lsp_ctx *ctx, lsp_cache_check *refuse, lsp_cache_figures *figures) {
    char folder[path_bytes], path[path_bytes];
    lsp_cache_figures found;
    if (!folder_of(folder, sizeof folder) || !path_of(figures, folder, path, sizeof path)) {
        return false;
    }
    FILE *file = open_regular(path);
    if (file == NULL) {
        if (access(path, F_OK) == 0) {
            lsp_log(ctx, "cache model: %s cannot be read as a file of figures; the built-in figures are used", path);
        }
        return false;
    }
    bool sound = read_file(file, figures, &found);
    fclose(file);
    if (sound) { /* the check stores a sentence, which is no failure of the caller's */
        char before[sizeof ctx->error];
        memcpy(before, ctx->error, sizeof before);
        sound = refuse(ctx, &found) == LSP_OK;
        memcpy(ctx->error, before, sizeof before);
    }
    if (!sound) {
        lsp_log(ctx, "cache model: %s holds no figures of this device; the built-in figures are used", path);
        return false;
    }
    *figures = found;
    lsp_log(ctx, "cache model: figures from %s", path);
    return true;
}

/* ---- writing ---- */

/* Returns 0 or errno. */
static int write_figures(int file, const lsp_cache_figures *f) {
    lsp_cache_figures own = *f;
    bool fine = dprintf(file, HEAD "\ndevice = %s\nthreads = %d\n", f->device, f->threads) > 0;
    for (int i = 0; i < NUMBERS && fine; i++) {
        const double number = *number_of(&own, i) / numbers[i].unit;
        fine = dprintf(file, "%s = %" PRId64 "\n", numbers[i].name, (int64_t)llround(number)) > 0;
    }
    for (int i = 0; i < f->points && fine; i++) {
        fine = dprintf(file, "point = %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
                       (int64_t)llround(f->footprint[i]), (int64_t)llround(f->reads[i]), (int64_t)llround(f->writes[i]),
                       (int64_t)llround(f->writes32[i])) > 0;
    }
    return fine ? 0 : errno;
}

/* Makes the last two folders of a path, as $HOME/.cache/libsparse needs; failures show when the file is opened. */
static void make_folders(const char *folder) {
    char above[path_bytes];
    snprintf(above, sizeof above, "%s", folder);
    *strrchr(above, '/') = 0;
    (void)mkdir(above, 0700);
    (void)mkdir(folder, 0700);
}

lsp_status lsp_cache_write_figures(lsp_ctx *ctx, const lsp_cache_figures *figures, const char *path) {
    char folder[path_bytes], place[path_bytes];
    lsp_outfile file LSP_AT_END(lsp_outfile_drop) = {.fd = -1};
    LSP_REQUIRE(!strchr(figures->device, '\n'), LSP_ERR_ARGUMENT, "the device's name has more than one line");
    if (path == NULL) {
        LSP_REQUIRE(folder_of(folder, sizeof folder), LSP_ERR_IO,
                    "neither XDG_CACHE_HOME nor HOME names a folder for the figures");
        LSP_REQUIRE(path_of(figures, folder, place, sizeof place), LSP_ERR_IO, "%s: the path is too long", folder);
        make_folders(folder);
        path = place;
    }
    int error = lsp_outfile_open(path, &file);
    error = error ? error : write_figures(file.fd, figures);
    error = error ? error : lsp_outfile_finish(&file);
    LSP_REQUIRE(!error, LSP_ERR_IO, "%s: the figures cannot be written there: %s", path, strerror(error));
    return LSP_OK;
}
