/* Figures of the cache model: in files, in a context, measured; what is refused. */
#include "cases.h"
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder(void) {
    static char path[] = "/tmp/lsp_model_XXXXXX";
    cr_assert(mkdtemp(path));
    setenv("XDG_CACHE_HOME", path, 1);
    return path;
}

static void remove_all(const char *path) {
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", path);
    cr_assert(system(command) == 0);
}

Test(figures, stored_figures_are_found_again) {
    char *path = folder();
    lsp_ctx *ctx = test_ctx(2);
    lsp_cache_figures first, found;
    must(ctx, lsp_cache_model_figures(ctx, &first));
    lsp_cache_figures own = first;
    own.copy_rate = 12345678901.0;
    own.start_seconds = 3.25e-6;
    own.reads[1] = 87654321;
    must(ctx, lsp_cache_model_store(ctx, &own, NULL));
    must(ctx, lsp_cache_model_figures(ctx, &found));
    cr_assert_eq(found.copy_rate, first.copy_rate, "storing sets nothing");
    must(ctx, lsp_cache_model_set_figures(ctx, &own));
    must(ctx, lsp_cache_model_figures(ctx, &found));
    cr_assert_eq(memcmp(&found, &own, sizeof own), 0);
    must(ctx, lsp_cache_model_set_figures(ctx, NULL));
    must(ctx, lsp_cache_model_figures(ctx, &found));
    cr_assert_eq(memcmp(&found, &first, sizeof first), 0);
    lsp_ctx_destroy(ctx);
    ctx = test_ctx(2);
    must(ctx, lsp_cache_model_figures(ctx, &found));
    cr_assert_eq(found.copy_rate, own.copy_rate);
    cr_assert_float_eq(found.start_seconds, own.start_seconds, 1e-15);
    cr_assert_eq(found.reads[1], own.reads[1]);
    cr_assert_eq(found.points, own.points);
    lsp_ctx_destroy(ctx);
    ctx = test_ctx(1); /* other threads: other figures */
    must(ctx, lsp_cache_model_figures(ctx, &found));
    cr_assert_neq(found.copy_rate, own.copy_rate);
    must_fail(ctx, LSP_ERR_IO, "nowhere", lsp_cache_model_store(ctx, &own, "/nowhere/at/all"));
    lsp_ctx_destroy(ctx);
    remove_all(path);
}

static void *read_pipe(void *path) {
    static char text[1024];
    FILE *file = fopen(path, "r");
    cr_assert(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

Test(figures, a_link_and_a_pipe_stay_what_they_are_when_figures_are_stored_there) {
    char *path = folder(), file[64], link[64], fifo[64];
    lsp_ctx *ctx = test_ctx(1);
    lsp_cache_figures f;
    struct stat about;
    pthread_t reader;
    void *text;
    snprintf(file, sizeof file, "%s/file", path);
    snprintf(link, sizeof link, "%s/link", path);
    snprintf(fifo, sizeof fifo, "%s/fifo", path);
    must(ctx, lsp_cache_model_figures(ctx, &f));
    cr_assert(symlink("file", link) == 0 && mkfifo(fifo, 0600) == 0);
    must(ctx, lsp_cache_model_store(ctx, &f, link));
    cr_assert(lstat(link, &about) == 0 && S_ISLNK(about.st_mode), "the link was replaced");
    cr_assert(lstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 100);
    cr_assert(chmod(file, 0640) == 0);
    must(ctx, lsp_cache_model_store(ctx, &f, link));
    cr_assert(stat(file, &about) == 0 && (about.st_mode & 0777) == 0640, "its permissions are gone");
    cr_assert(pthread_create(&reader, NULL, read_pipe, fifo) == 0);
    must(ctx, lsp_cache_model_store(ctx, &f, fifo));
    cr_assert(lstat(fifo, &about) == 0 && S_ISFIFO(about.st_mode), "the pipe was replaced");
    cr_assert(pthread_join(reader, &text) == 0);
    cr_assert(strstr(text, "libsparse figures 1\n") == text && strstr(text, "point = "), "%s", (char *)text);
    must_fail(ctx, LSP_ERR_IO, "directory", lsp_cache_model_store(ctx, &f, path));
    lsp_ctx_destroy(ctx);
    remove_all(path);
}

static void note_line(void *user, const char *line) { snprintf(user, 256, "%s", line); }

/* Writes `text` where the figures of a context with one thread are looked for. */
static void plant(const char *path, const char *text) {
    lsp_ctx *ctx = test_ctx(1);
    char log[256] = "", place[512];
    lsp_cache_figures f;
    must(ctx, lsp_cache_model_figures(ctx, &f));
    snprintf(place, sizeof place, "%s/libsparse", path);
    (void)mkdir(place, 0700);
    for (char *c = f.device; *c; c++) {
        const bool plain = (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z');
        *c = plain || *c == '-' ? *c : '_';
    }
    snprintf(place, sizeof place, "%s/libsparse/%s.1.figures", path, f.device);
    FILE *file = fopen(place, "w");
    cr_assert(file);
    fputs(text, file);
    fclose(file);
    lsp_ctx_destroy(ctx);
    lsp_ctx_options options = {.threads = 1, .log = note_line, .hook_user = log};
    lsp_cache_figures found;
    must(NULL, lsp_ctx_create(&ctx, &options, NULL, 0));
    must(ctx, lsp_cache_model_figures(ctx, &found));
    cr_assert(strstr(log, "no figures of this device"), "%s: the log says '%s'", text, log);
    cr_assert_str_eq(lsp_last_error(ctx), "");
    lsp_ctx_destroy(ctx);
    cr_assert(unlink(place) == 0);
}

Test(figures, malformed_and_foreign_files_are_ignored) {
    char *path = folder(), text[8192], device[128];
    lsp_ctx *ctx = test_ctx(1);
    lsp_cache_figures f;
    must(ctx, lsp_cache_model_figures(ctx, &f));
    snprintf(device, sizeof device, "%s", f.device);
    lsp_ctx_destroy(ctx);
    const char *const numbers = "start_picoseconds = 2000000\ncopy_rate = 40000000000\nline_bytes = 64\n"
                                "sector_bytes = 64\ncache_bytes = 33554432\nstage_bytes = 1048576\n";
    const char *const points = "point = 1000000 9000000 8000000 8000000\npoint = 9000000 5000000 4000000 4000000\n";
    static const char *const bad[] = {"",
                                      "\n",
                                      "libsparse figures 2\n",
                                      "nonsense = 1\n",
                                      "point = 1 2 3\n",
                                      "point = 5 1 1 1 1\n",
                                      "copy_rate = -4\n",
                                      "copy_rate = 4e9\n",
                                      "copy_rate = 99999999999999999999\n",
                                      "copy_rate\n",
                                      "line_bytes = 1\n",
                                      "threads = 7\n",
                                      "device = another\n",
                                      "point = 10 9000000 8000000 8000000\n",
                                      "no end of line"};
    plant(path, "");
    plant(path, "libsparse figures 1\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "libsparse figures 1\ndevice = %s\nthreads = 1\n%s%s%s", device, numbers, points,
                 bad[i]);
        if (bad[i][0]) {
            plant(path, text);
        }
    }
    snprintf(text, sizeof text, "libsparse figures 1\ndevice = %s\nthreads = 1\n%s", device, numbers);
    plant(path, text); /* no points */
    snprintf(text, sizeof text, "libsparse figures 1\ndevice = %s\nthreads = 1\n%s", device, points);
    plant(path, text); /* no numbers */
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    plant(path, text);
    remove_all(path);
}

Test(figures, figures_that_no_device_has_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    const lsp_cache_figures good = figures_for(LSP_HOST);
    must(ctx, lsp_cache_model_set_figures(ctx, &good));
    lsp_cache_figures f;
#define REFUSED(change, part)                                                                                          \
    f = good;                                                                                                          \
    change;                                                                                                            \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_cache_model_set_figures(ctx, &f))
    REFUSED(f.copy_rate = NAN, "copy_rate");
    REFUSED(f.copy_rate = 0, "copy_rate");
    REFUSED(f.points = 1, "points");
    REFUSED(f.points = LSP_CACHE_POINTS + 1, "points");
    REFUSED(f.footprint[2] = f.footprint[1], "footprint[2]");
    REFUSED(f.reads[3] = INFINITY, "reads[3]");
    REFUSED(f.line_bytes = 16, "smaller");
    REFUSED(f.where = LSP_CUDA, "GPU");
    REFUSED(f.reserved[1] = 1, "lsp_cache_figures");
    REFUSED(memset(f.device, 'x', sizeof f.device), "no end");
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_cache_model_store(ctx, NULL, "/tmp/never"));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_cache_model_figures(ctx, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_cache_model_calibrate(ctx, NULL));
    cr_assert_eq(lsp_cache_model_set_figures(NULL, &good), LSP_ERR_ARGUMENT);
    lsp_ctx_destroy(ctx);
}

/* ---- calibration ---- */

Test(figures, a_calibration_gives_figures_that_can_be_used, .timeout = 300) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_cache_figures f;
    must(ctx, lsp_cache_model_calibrate(ctx, &f));
    must(ctx, lsp_cache_model_set_figures(ctx, &f));
    for (int i = 1; i < f.points; i++) {
        cr_assert(f.reads[i] <= f.reads[i - 1] && f.writes[i] <= f.writes[i - 1], "point %d is faster than before", i);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_figures, a_gpu_without_a_calibration_has_figures_of_its_size) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    char *path = folder();
    lsp_cache_figures f;
    must(ctx, lsp_cache_model_figures(ctx, &f));
    cr_assert(f.where == LSP_CUDA && f.threads == 0 && f.device[0] != 0);
    cr_assert(f.stage_bytes == lsp_cuda_get_chip(ctx)->shared_block_bytes);
    must(ctx, lsp_cache_model_set_figures(ctx, &f));
    lsp_ctx_destroy(ctx);
    remove_all(path);
}

#if !LSP_EMULATED
Test(device_figures, a_gpu_is_calibrated) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_cache_figures f;
    must(ctx, lsp_cache_model_calibrate(ctx, &f));
    must(ctx, lsp_cache_model_set_figures(ctx, &f));
    cr_assert(f.reads[0] > f.reads[f.points - 1], "random reads of %g and %g a second", f.reads[0],
              f.reads[f.points - 1]);
    cr_assert(f.start_seconds > 0 && f.start_seconds < 1 && f.copy_rate > 0, "a start takes %g s, copies %g bytes/s",
              f.start_seconds, f.copy_rate);
    lsp_ctx_destroy(ctx);
}
#endif
