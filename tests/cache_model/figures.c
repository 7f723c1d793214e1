/* Figures of the cache model: in a file, in a context, built in; what is refused. */
#include "cases.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that LSP_CACHE_FIGURES names. */
static char *figures_path(void) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/lsp_figures_%ld", (long)getpid());
    cr_assert_eq(setenv("LSP_CACHE_FIGURES", path, 1), 0);
    return path;
}

static void put(const char *path, const char *text, size_t bytes) {
    FILE *file = fopen(path, "w");
    cr_assert(file && fwrite(text, 1, bytes, file) == bytes && fclose(file) == 0);
}

static const char numbers[] = "start_picoseconds = 3250000\ncopy_rate = 12345678901\nline_bytes = 64\n"
                              "sector_bytes = 64\ncache_bytes = 33554432\nstage_bytes = 1048576\n";
static const char points[] = "point = 1000000 87654321 8000000 8000000\npoint =  9000000  5000000 4000000 4000000\n";

/* The head of a file for a context with `threads` threads, and the rest. */
static char *text_of(int threads, const char *middle, const char *end) {
    static char text[8192];
    lsp_ctx *ctx = test_ctx(threads);
    lsp_ctx_info info;
    must(ctx, lsp_ctx_get_info(ctx, &info));
    lsp_ctx_destroy(ctx);
    snprintf(text, sizeof text, "libsparse figures 1\ndevice = %s\nthreads = %d\n%s%s", info.device_name, threads,
             middle, end);
    return text;
}

static void note_line(void *user, const char *line) { snprintf(user, 1024, "%s", line); }

/* The figures of a new context, and the last line of its log. */
static lsp_cache_figures figures_read(int threads, char *log) {
    const lsp_ctx_options options = {.threads = threads, .log = note_line, .hook_user = log};
    lsp_ctx *ctx;
    lsp_cache_figures f;
    log[0] = 0;
    must(NULL, lsp_ctx_create(&ctx, &options, NULL, 0));
    must(ctx, lsp_cache_model_figures(ctx, &f));
    cr_assert_str_eq(lsp_last_error(ctx), "");
    lsp_ctx_destroy(ctx);
    return f;
}

Test(figures, a_file_is_read_if_the_environment_names_it) {
    char *path = figures_path(), log[1024];
    char *text = text_of(2, numbers, points);
    strcat(text, "# comments may follow\n#\n");
    put(path, text, strlen(text));
    const lsp_cache_figures found = figures_read(2, log);
    cr_assert(strstr(log, "figures from /tmp/lsp_figures"), "%s", log);
    cr_assert_eq(found.copy_rate, 12345678901.0);
    cr_assert_float_eq(found.start_seconds, 3.25e-6, 1e-15);
    cr_assert_eq(found.points, 2);
    cr_assert_eq(found.reads[0], 87654321);
    cr_assert_eq(found.writes32[1], 4000000);
    cr_assert_neq(figures_read(1, log).copy_rate, found.copy_rate, "other threads have other figures");
    unsetenv("LSP_CACHE_FIGURES");
    cr_assert_neq(figures_read(2, log).copy_rate, found.copy_rate);
    cr_assert_str_eq(log, "", "nothing is read unless it is asked for");
    cr_assert(unlink(path) == 0);
}

Test(figures, figures_that_are_set_are_used_until_they_are_taken_back) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_cache_figures first, own, found;
    must(ctx, lsp_cache_model_figures(ctx, &first));
    own = first;
    own.copy_rate = 12345678901.0;
    must(ctx, lsp_cache_model_set_figures(ctx, &own));
    must(ctx, lsp_cache_model_figures(ctx, &found));
    cr_assert_eq(memcmp(&found, &own, sizeof own), 0);
    must(ctx, lsp_cache_model_set_figures(ctx, NULL));
    must(ctx, lsp_cache_model_figures(ctx, &found));
    cr_assert_eq(memcmp(&found, &first, sizeof first), 0);
    lsp_ctx_destroy(ctx);
}

static void check_ignored(const char *why) {
    char log[1024];
    const lsp_cache_figures f = figures_read(1, log);
    cr_assert(f.copy_rate != 12345678901.0 && strstr(log, "the built-in figures are used") && strstr(log, why),
              "expected '%s', the log says '%s'", why, log);
}

Test(figures, malformed_and_foreign_files_are_ignored_and_the_log_says_why) {
    char *path = figures_path(), text[20000];
    static const struct {
        const char *end, *why;
    } bad[] = {{"\n", "line 12 is not 'point"},
               {"nonsense = 1\n", "line 12 is not 'point"},
               {"point = 1 2 3\n", "line 12 is not 'point"},
               {"point = 10000000 1e3 1000 1000\n", "line 12 is not 'point"},
               {"point = 10000000 99999999999999999999 1000 1000\n", "line 12 is not 'point"},
               {"point = 10000000 1000 1000 1000", "line 12 is not 'point"},
               {"point = 10 9000000 8000000 8000000\n", "footprint[2] is 10"},
               {"point = 10000000 -4 8000000 8000000\n", "reads[2] is -4"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char end[512];
        snprintf(end, sizeof end, "%s%s", points, bad[i].end);
        const char *whole = text_of(1, numbers, end);
        put(path, whole, strlen(whole));
        check_ignored(bad[i].why);
    }
#define IGNORED(bytes, why)                                                                                            \
    put(path, text, bytes);                                                                                            \
    check_ignored(why)
    IGNORED(0, "the first lines are not");
    strcpy(text, "libsparse figures 2\n");
    IGNORED(strlen(text), "the first lines are not");
    strcpy(text, text_of(7, numbers, points)); /* of other threads */
    IGNORED(strlen(text), "the first lines are not");
    strcpy(text, text_of(1, numbers, ""));
    IGNORED(strlen(text), "the curves have 0 points");
    strcpy(text, text_of(1, points, ""));
    IGNORED(strlen(text), "line 4 is not 'start_picoseconds = '");
    strcpy(text, text_of(1, numbers, points));
    strcpy(strstr(text, "line_bytes"), "line_bytes = 1\nsector_bytes = 1\ncache_bytes = 1\nstage_bytes = 1\n");
    strcat(text, points);
    IGNORED(strlen(text), "line_bytes is 1");
    strcpy(text, text_of(1, numbers, points));
    IGNORED(strlen(text) + 1, "has a byte 0");
    memset(text, 'x', sizeof text);
    IGNORED(sizeof text, "cannot be read as a file of less than 16384 bytes");
    cr_assert(unlink(path) == 0);
    check_ignored("cannot be read"); /* there is none */
    cr_assert(mkfifo(path, 0600) == 0);
    check_ignored("cannot be read"); /* and nobody waits for a writer */
    cr_assert(unlink(path) == 0);
    setenv("LSP_CACHE_FIGURES", "/tmp", 1);
    check_ignored("cannot be read");
}

/* ---- built in ---- */

static lsp_cache_figures processor(int threads, double own, double last) {
    lsp_cache_figures f = {.device = "a processor", .where = LSP_HOST, .threads = threads};
    lsp_cache_cpu_figures(own * 1048576, last * 1048576, 64, &f);
    return f;
}

Test(figures, a_processor_of_any_caches_has_figures_that_count_on_32_mib_at_most) {
    static const double sizes[][2] = {{2, 300}, {2, 8},  {0.25, 2}, {1.25, 8}, {0.5, 4},
                                      {16, 0},  {64, 4}, {1, 32},   {2, 4096}, {0, 0}};
    lsp_ctx *ctx = test_ctx(1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int threads = 1; threads <= 256; threads *= 16) {
            const lsp_cache_figures f = processor(threads, sizes[i][0], sizes[i][1]);
            must(ctx, lsp_cache_check_figures(ctx, &f));
            cr_assert(f.cache_bytes <= 32 << 20, "%g MiB count on %g bytes", sizes[i][1], f.cache_bytes);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* On a Sapphire Rapids guest that sees 300 MiB, 16 threads took 27 ms by direct and 9.4 by stage, one 267 and 133. */
Test(figures, a_planned_gather_of_many_random_doubles_is_staged_whatever_cache_a_guest_sees) {
    lsp_ctx *ctx = test_ctx(1);
    for (int threads = 1; threads <= 64; threads *= 4) {
        const lsp_cache_figures f = processor(threads, 2, 300);
        for (int scatter = 0; scatter <= 1; scatter++) {
            const lsp_cache_case far = case_of(1 << 24, scatter, true), near = case_of(1 << 18, false, true);
            const lsp_cache_prediction p = predict(ctx, &f, &far);
            cr_assert_eq(p.best, LSP_STRATEGY_STAGE, "%d threads: %s", threads, p.reason);
            cr_assert_eq(predict(ctx, &f, &near).best, LSP_STRATEGY_DIRECT);
        }
    }
    lsp_ctx_destroy(ctx);
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
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_cache_model_figures(ctx, NULL));
    cr_assert_eq(lsp_cache_model_set_figures(NULL, &good), LSP_ERR_ARGUMENT);
    lsp_ctx_destroy(ctx);
}

Test(device_figures, a_gpu_without_a_file_has_figures_of_its_size) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_cache_figures f;
    must(ctx, lsp_cache_model_figures(ctx, &f));
    cr_assert(f.where == LSP_CUDA && f.threads == 0 && f.device[0] != 0);
    cr_assert(f.stage_bytes == lsp_cuda_get_chip(ctx)->shared_block_bytes);
    must(ctx, lsp_cache_model_set_figures(ctx, &f));
    lsp_ctx_destroy(ctx);
}
