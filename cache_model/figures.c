/* The figures that a context uses: of the file that LSP_CACHE_FIGURES names, else built in (builtin.c). A file has
 * lines "name = value", all numbers whole, so that no locale changes them; `sparse-bench calibrate` prints one. It is
 * trusted only if it is of this device, has every name and passes the check. */
#include "cache_model.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which figures a device may have ---- */

typedef struct figure {
    const char *name, *key; /* here; in a file */
    size_t at;
    double unit, low, high; /* of the number in a file; the least and the most */
} figure;
#define FIGURE(field, low, high)                                                                                       \
    { #field, #field, offsetof(lsp_cache_figures, field), 1, low, high }
static const figure numbers[] = {
    {"start_seconds", "start_picoseconds", offsetof(lsp_cache_figures, start_seconds), 1e-12, 0, 1},
    FIGURE(copy_rate, 1e6, 1e16),
    FIGURE(line_bytes, 8, 4096),
    FIGURE(sector_bytes, 8, 4096),
    FIGURE(cache_bytes, 64, 1e13),
    FIGURE(stage_bytes, 1e3, 1e12)};
static const figure curves[] = {FIGURE(footprint, 1, 1e15), FIGURE(reads, 1e3, 1e15), FIGURE(writes, 1e3, 1e15),
                                FIGURE(writes32, 1e3, 1e15)};
enum { NUMBERS = sizeof numbers / sizeof *numbers, CURVES = sizeof curves / sizeof *curves };

static double *place_of(lsp_cache_figures *f, size_t at) { return (double *)(void *)((char *)f + at); }
static bool between(double x, double low, double high) { return x >= low && x <= high; } /* false for NaN */

static lsp_status check_rates(lsp_ctx *ctx, const lsp_cache_figures *f) {
    for (int c = 0; c < CURVES; c++) {
        for (int i = 0; i < f->points; i++) {
            const double value = place_of((lsp_cache_figures *)f, curves[c].at)[i];
            LSP_REQUIRE(between(value, curves[c].low, curves[c].high), LSP_ERR_ARGUMENT,
                        "%s[%d] is %g: it must lie between %g and %g", curves[c].name, i, value, curves[c].low,
                        curves[c].high);
        }
    }
    for (int i = 1; i < f->points; i++) {
        LSP_REQUIRE(f->footprint[i] > f->footprint[i - 1], LSP_ERR_ARGUMENT,
                    "footprint[%d] is %g, not more than the %g before it", i, f->footprint[i], f->footprint[i - 1]);
    }
    return LSP_OK;
}

lsp_status lsp_cache_check_figures(lsp_ctx *ctx, const lsp_cache_figures *f) {
    LSP_TRY(lsp_check_reserved(ctx, "lsp_cache_figures", f->reserved));
    LSP_REQUIRE(memchr(f->device, 0, sizeof f->device), LSP_ERR_ARGUMENT, "the device's name has no end");
    LSP_REQUIRE(f->where == LSP_HOST || f->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the figures are of place %d: neither LSP_HOST nor LSP_CUDA", (int)f->where);
    LSP_REQUIRE(f->threads >= 0 && f->threads <= 1 << 16, LSP_ERR_ARGUMENT, "the figures are of %d threads",
                f->threads);
    LSP_REQUIRE(f->points >= 2 && f->points <= LSP_CACHE_POINTS, LSP_ERR_ARGUMENT,
                "the curves have %d points: 2 to %d are offered", f->points, LSP_CACHE_POINTS);
    for (int i = 0; i < NUMBERS; i++) {
        const double value = *place_of((lsp_cache_figures *)f, numbers[i].at);
        LSP_REQUIRE(between(value, numbers[i].low, numbers[i].high), LSP_ERR_ARGUMENT,
                    "%s is %g: it must lie between %g and %g", numbers[i].name, value, numbers[i].low, numbers[i].high);
    }
    LSP_REQUIRE(f->line_bytes >= f->sector_bytes, LSP_ERR_ARGUMENT, "a line of %g bytes is smaller than a sector of %g",
                f->line_bytes, f->sector_bytes);
    return check_rates(ctx, f);
}

/* ---- a file ---- */

/* Takes "key = value ...", `count` whole numbers. NULL: something else stands there. */
static const char *take_line(const char *text, const char *key, int count, double *values) {
    const size_t length = strlen(key);
    char *end = NULL;
    if (strncmp(text, key, length) != 0 || strncmp(text + length, " = ", 3) != 0) {
        return NULL;
    }
    text += length + 3;
    for (int i = 0; i < count; i++, text = end) {
        errno = 0;
        values[i] = (double)strtoll(text, &end, 10);
        if (end == text || errno != 0) {
            return NULL;
        }
    }
    return *text == '\n' ? text + 1 : NULL;
}

/* Reads a regular file: anything else could block or be endless. */
static lsp_status read_text(lsp_ctx *ctx, const char *path, char *text, size_t room) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat about;
    const bool regular = file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    const ssize_t length = regular ? read(file, text, room) : -1;
    if (file >= 0) {
        close(file);
    }
    LSP_REQUIRE(length >= 0 && (size_t)length < room, LSP_ERR_IO, "cannot be read as a file of less than %zu bytes",
                room);
    text[length] = 0;
    LSP_REQUIRE(strlen(text) == (size_t)length, LSP_ERR_FORMAT, "has a byte 0 at %zu", strlen(text));
    return LSP_OK;
}

static lsp_status read_file(lsp_ctx *ctx, const char *path, lsp_cache_figures *f) {
    char all[1 << 14], head[256];
    double values[CURVES];
    LSP_TRY(read_text(ctx, path, all, sizeof all));
    snprintf(head, sizeof head, "libsparse figures 1\ndevice = %s\nthreads = %d\n", f->device, f->threads);
    LSP_REQUIRE(strncmp(all, head, strlen(head)) == 0, LSP_ERR_FORMAT,
                "the first lines are not 'libsparse figures 1', 'device = %s', 'threads = %d'", f->device, f->threads);
    const char *text = all + strlen(head);
    for (int i = 0; i < NUMBERS; i++) {
        text = take_line(text, numbers[i].key, 1, values);
        LSP_REQUIRE(text, LSP_ERR_FORMAT, "line %d is not '%s = ' and a whole number", i + 4, numbers[i].key);
        *place_of(f, numbers[i].at) = values[0] * numbers[i].unit;
    }
    for (f->points = 0; *text && *text != '#'; f->points++) {
        text = f->points < LSP_CACHE_POINTS ? take_line(text, "point", CURVES, values) : NULL;
        LSP_REQUIRE(text, LSP_ERR_FORMAT,
                    "line %d is not 'point = ' and %d whole numbers, or one of more than %d points",
                    f->points + NUMBERS + 4, CURVES, LSP_CACHE_POINTS);
        for (int c = 0; c < CURVES; c++) {
            place_of(f, curves[c].at)[f->points] = values[c];
        }
    }
    return lsp_cache_check_figures(ctx, f);
}

/* f has the device's name. False: there is no file, or it cannot be trusted, and the log says why. */
static bool read_figures(lsp_ctx *ctx, lsp_cache_figures *f) {
    const char *path = getenv("LSP_CACHE_FIGURES");
    lsp_cache_figures found = *f;
    char before[sizeof ctx->error];
    if (path == NULL || *path == 0) {
        return false;
    }
    memcpy(before, ctx->error, sizeof before); /* a bad file is no failure of the caller's */
    const bool sound = read_file(ctx, path, &found) == LSP_OK;
    if (sound) {
        *f = found;
        lsp_log(ctx, "cache model: figures from %s", path);
    } else {
        lsp_log(ctx, "cache model: %s: %s; the built-in figures are used", path, ctx->error);
    }
    memcpy(ctx->error, before, sizeof before);
    return sound;
}

/* ---- figures of a context ---- */

typedef struct kept {
    lsp_cache_figures used, first; /* in use now; those the context started with */
    lsp_cache_figures plain;       /* of one thread of a processor with the core's own caches */
    bool set;                      /* by the caller */
} kept;

/* The device's name and place alone; everything else is zero. */
static lsp_status name_figures(lsp_ctx *ctx, lsp_cache_figures *figures) {
    lsp_ctx_info info;
    LSP_TRY(lsp_ctx_get_info(ctx, &info));
    *figures = (lsp_cache_figures){.where = info.device, .threads = info.device == LSP_CUDA ? 0 : info.threads};
    memcpy(figures->device, info.device_name, sizeof figures->device);
    return LSP_OK;
}

static lsp_status begin(lsp_ctx *ctx, void **table) {
    LSP_PLAN_HOLDS(ctx, NULL);
    lsp_cache_figures first;
    LSP_TRY(name_figures(ctx, &first));
    if (!read_figures(ctx, &first)) {
        lsp_cache_builtin_figures(ctx, &first);
        LSP_TRY(lsp_cache_check_figures(ctx, &first));
    }
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof(kept), table));
    kept *own = *table;
    *own = (kept){.used = first, .first = first, .plain = {.device = "plain", .where = LSP_HOST, .threads = 1}};
    lsp_cache_cpu_figures(1 << 20, 32 << 20, 64, &own->plain);
    return LSP_OK;
}

lsp_status lsp_cache_figures_of(lsp_ctx *ctx, const lsp_cache_figures **figures) {
    void **table = &ctx->tables[LSP_TABLE_CACHE_MODEL];
    if (*table == NULL) {
        LSP_TRY(begin(ctx, table));
    }
    *figures = &((const kept *)*table)->used;
    return LSP_OK;
}

lsp_status lsp_cache_figures_for_bits(lsp_ctx *ctx, lsp_where where, const lsp_cache_figures **figures) {
    LSP_TRY(lsp_cache_figures_of(ctx, figures));
    const kept *own = ctx->tables[LSP_TABLE_CACHE_MODEL];
    *figures = where == LSP_HOST && !(own->set && own->used.where == LSP_HOST) ? &own->plain : &own->used;
    return LSP_OK;
}

lsp_status lsp_cache_model_figures(lsp_ctx *ctx, lsp_cache_figures *figures) {
    const lsp_cache_figures *used;
    LSP_ENTER(ctx);
    LSP_REQUIRE(figures, LSP_ERR_ARGUMENT, "the place for the figures is NULL");
    LSP_TRY(lsp_cache_figures_of(ctx, &used));
    *figures = *used;
    return LSP_OK;
}

lsp_status lsp_cache_model_set_figures(lsp_ctx *ctx, const lsp_cache_figures *figures) {
    const lsp_cache_figures *used;
    LSP_ENTER(ctx);
    LSP_TRY(lsp_cache_figures_of(ctx, &used));
    if (figures != NULL) {
        LSP_TRY(lsp_cache_check_figures(ctx, figures));
        LSP_REQUIRE(figures->where == used->where, LSP_ERR_ARGUMENT,
                    "the figures are of a %s, the context works on a %s", figures->where == LSP_CUDA ? "GPU" : "CPU",
                    used->where == LSP_CUDA ? "GPU" : "CPU");
    }
    kept *own = ctx->tables[LSP_TABLE_CACHE_MODEL];
    own->set = figures != NULL;
    own->used = own->set ? *figures : own->first;
    return LSP_OK;
}
