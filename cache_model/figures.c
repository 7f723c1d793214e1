/* The figures that a context uses: read once, from the file of a calibration or else built in, and kept in the
 * context's table. Built in are those of an H200 as measured; for another GPU they are scaled by its cache, its memory
 * and its multiprocessors, and for a CPU by its caches and threads. `sparse-bench calibrate` prints a machine's own. */
#include "cache_model.h"
#include "core/cuda.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- which figures a device may have ---- */

static bool between(double x, double low, double high) { return x >= low && x <= high; } /* false for NaN */

static lsp_status check_rates(lsp_ctx *ctx, const lsp_cache_figures *f) {
    const struct {
        const char *name;
        const double *values;
        double low, high;
    } curves[] = {{"footprint", f->footprint, 1, 1e15},
                  {"reads", f->reads, 1e3, 1e15},
                  {"writes", f->writes, 1e3, 1e15},
                  {"writes32", f->writes32, 1e3, 1e15}};
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < f->points; i++) {
            LSP_REQUIRE(between(curves[c].values[i], curves[c].low, curves[c].high), LSP_ERR_ARGUMENT,
                        "%s[%d] is %g: it must lie between %g and %g", curves[c].name, i, curves[c].values[i],
                        curves[c].low, curves[c].high);
        }
    }
    for (int i = 1; i < f->points; i++) {
        LSP_REQUIRE(f->footprint[i] > f->footprint[i - 1], LSP_ERR_ARGUMENT,
                    "footprint[%d] is %g, not more than the %g before it", i, f->footprint[i], f->footprint[i - 1]);
    }
    return LSP_OK;
}

lsp_status lsp_cache_check_figures(lsp_ctx *ctx, const lsp_cache_figures *f) {
    LSP_REQUIRE(f, LSP_ERR_ARGUMENT, "the figures are NULL");
    LSP_TRY(lsp_check_reserved(ctx, "lsp_cache_figures", f->reserved));
    LSP_REQUIRE(memchr(f->device, 0, sizeof f->device), LSP_ERR_ARGUMENT, "the device's name has no end");
    LSP_REQUIRE(f->where == LSP_HOST || f->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the figures are of place %d: neither LSP_HOST nor LSP_CUDA", (int)f->where);
    LSP_REQUIRE(f->threads >= 0 && f->threads <= 1 << 16, LSP_ERR_ARGUMENT, "the figures are of %d threads",
                f->threads);
    LSP_REQUIRE(f->points >= 2 && f->points <= LSP_CACHE_POINTS, LSP_ERR_ARGUMENT,
                "the curves have %d points: 2 to %d are offered", f->points, LSP_CACHE_POINTS);
    const struct {
        const char *name;
        double value, low, high;
    } numbers[] = {{"start_seconds", f->start_seconds, 0, 1}, {"copy_rate", f->copy_rate, 1e6, 1e16},
                   {"line_bytes", f->line_bytes, 8, 4096},    {"sector_bytes", f->sector_bytes, 8, 4096},
                   {"cache_bytes", f->cache_bytes, 64, 1e13}, {"stage_bytes", f->stage_bytes, 1e3, 1e12}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        LSP_REQUIRE(between(numbers[i].value, numbers[i].low, numbers[i].high), LSP_ERR_ARGUMENT,
                    "%s is %g: it must lie between %g and %g", numbers[i].name, numbers[i].value, numbers[i].low,
                    numbers[i].high);
    }
    LSP_REQUIRE(f->line_bytes >= f->sector_bytes, LSP_ERR_ARGUMENT, "a line of %g bytes is smaller than a sector of %g",
                f->line_bytes, f->sector_bytes);
    return check_rates(ctx, f);
}

/* ---- built-in figures ---- */

#define MB(x) ((x)*1048576.0)

/* One H200, CUDA 13.0, 2026-11-20. Rates in G accesses a second. */
static const struct {
    double megabytes, reads, writes, writes32;
} h200[] = {{1, 157, 77, 86},       {24, 157, 77, 86},    {28, 150, 77, 86},     {32, 137, 77, 86},
            {40, 110, 77, 86},      {44, 104, 77, 79},    {48, 99, 75, 73},      {56, 85, 37, 66},
            {64, 75, 25, 61},       {80, 64, 22, 51},     {96, 58, 20, 47},      {128, 52, 18, 42},
            {192, 47, 17.4, 37},    {256, 44, 17, 34.5},  {512, 41, 16.4, 31.5}, {1024, 40, 16, 30},
            {4096, 39, 15.8, 29.5}, {65536, 39, 15.6, 29}};
static const double h200_cache = MB(60), h200_copy = 4.19e12, h200_peak = 4.915e12, h200_sms = 132;

/* One core of a Zen 4 EPYC with transparent huge pages, M accesses a second by size: reads of `sparse-bench calibrate`,
 * writes of `sparse-bench scatter`, 2026-11-26. */
static const struct {
    double share; /* of the second cache's bytes up to 1, then of the last cache's */
    bool last;
    double reads, writes;
} core[] = {{0.03, false, 1820, 1006}, {0.25, false, 1760, 1006}, {0.5, false, 1300, 1006}, {1, false, 930, 1004},
            {0.125, true, 700, 900},   {0.25, true, 645, 700},    {0.35, true, 560, 550},   {0.5, true, 298, 400},
            {0.7, true, 165, 290},     {1, true, 128, 210},       {1.4, true, 117, 165},    {2, true, 116, 150},
            {4, true, 110, 130},       {8, true, 107, 120},       {16, true, 105, 112}};
static const double core_copy = 14e9, machine_copy = 200e9; /* bytes read and written a second */

static void gpu_figures(const lsp_cuda_chip *chip, lsp_cache_figures *f) {
    const bool is_h200 = strstr(f->device, "H200") != NULL;
    const double sms = chip->sms / h200_sms;
    const double peak = 2e3 * chip->memory_khz * chip->memory_bus_bits / 8;
    const double cache = is_h200 || chip->l2_bytes <= 0 ? 1 : chip->l2_bytes / h200_cache;
    const double memory = is_h200 ? 1 : peak > 0 ? peak / h200_peak : 0.6 * sms;
    f->start_seconds = 4e-6;
    f->copy_rate = h200_copy * memory;
    f->line_bytes = 64;
    f->sector_bytes = 32;
    f->cache_bytes = h200_cache * cache;
    f->stage_bytes = chip->shared_block_bytes;
    f->points = sizeof h200 / sizeof *h200;
    for (int i = 0; i < f->points; i++) {
        /* on the way from the cache to the memory the scale goes from one's to the other's */
        const double out = fmin(fmax(log(h200[i].megabytes / 24) / log(128.0 / 24), 0), 1);
        const double scale = 1e9 * (is_h200 ? 1 : pow(sms, 1 - out) * pow(memory, out));
        f->footprint[i] = MB(h200[i].megabytes) * cache;
        f->reads[i] = scale * h200[i].reads;
        f->writes[i] = scale * h200[i].writes;
        f->writes32[i] = scale * h200[i].writes32;
    }
}

static double system_bytes(int name, double otherwise) {
    const long bytes = sysconf(name);
    return bytes > 0 ? (double)bytes : otherwise;
}

/* The cache of a level as this processor sees it: "32768K". sysconf may add up all those of a chip. */
static double cache_bytes(int level, int name, double otherwise) {
    char path[80], text[32] = "";
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", level);
    FILE *file = fopen(path, "re");
    long long size = 0;
    if (file) {
        char *end = text;
        size = fgets(text, sizeof text, file) ? strtoll(text, &end, 10) : 0;
        size = size > 0 && size < 1 << 30 ? size << (*end == 'M' ? 20 : *end == 'K' ? 10 : 0) : 0;
        fclose(file);
    }
    return size > 0 ? (double)size : system_bytes(name, otherwise);
}

/* Of f->threads threads of a processor with these caches: a core's, the last, a line. */
static void core_figures(double own, double last, double line, lsp_cache_figures *f) {
    const double threads = fmax(f->threads, 1);
    f->start_seconds = threads > 1 ? 5e-6 : 2e-7;
    f->copy_rate = fmin(core_copy * threads, machine_copy);
    f->line_bytes = f->sector_bytes = line;
    f->cache_bytes = last;
    f->stage_bytes = own;
    f->points = sizeof core / sizeof *core;
    for (int i = 0; i < f->points; i++) {
        f->footprint[i] = core[i].share * (core[i].last ? last : own);
        f->reads[i] = 1e6 * threads * core[i].reads;
        f->writes[i] = f->writes32[i] = 1e6 * threads * core[i].writes;
    }
}

static void cpu_figures(lsp_cache_figures *f) {
    const double own = fmin(fmax(cache_bytes(2, _SC_LEVEL2_CACHE_SIZE, MB(1)), MB(0.125)), MB(64));
    const double last = fmin(fmax(cache_bytes(3, _SC_LEVEL3_CACHE_SIZE, MB(32)), 4 * own), MB(4096));
    core_figures(own, last, fmin(fmax(system_bytes(_SC_LEVEL1_DCACHE_LINESIZE, 64), 16), 1024), f);
}

/* The device's name and place alone; everything else is zero. */
static lsp_status name_figures(lsp_ctx *ctx, lsp_cache_figures *figures) {
    lsp_ctx_info info;
    LSP_TRY(lsp_ctx_get_info(ctx, &info));
    *figures = (lsp_cache_figures){.where = info.device, .threads = info.device == LSP_CUDA ? 0 : info.threads};
    memcpy(figures->device, info.device_name, sizeof figures->device);
    return LSP_OK;
}

lsp_status lsp_cache_builtin_figures(lsp_ctx *ctx, lsp_cache_figures *figures) {
    LSP_TRY(name_figures(ctx, figures));
    if (figures->where == LSP_CUDA) {
        gpu_figures(lsp_cuda_get_chip(ctx), figures);
    } else {
        cpu_figures(figures);
    }
    return lsp_cache_check_figures(ctx, figures);
}

/* ---- figures of a context ---- */

typedef struct kept {
    lsp_cache_figures used, first; /* in use now; those the context started with */
    lsp_cache_figures plain;       /* of one thread of a processor with the core's own caches */
    bool set;                      /* by the caller */
} kept;

static lsp_status begin(lsp_ctx *ctx, void **table) {
    LSP_PLAN_HOLDS(ctx, NULL);
    lsp_cache_figures first;
    LSP_TRY(name_figures(ctx, &first));
    if (!lsp_cache_read_figures(ctx, lsp_cache_check_figures, &first)) {
        LSP_TRY(lsp_cache_builtin_figures(ctx, &first));
    }
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof(kept), table));
    kept *own = *table;
    *own = (kept){.used = first, .first = first, .plain = {.device = "plain", .where = LSP_HOST, .threads = 1}};
    core_figures(MB(1), MB(32), 64, &own->plain);
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

lsp_status lsp_cache_model_store(lsp_ctx *ctx, const lsp_cache_figures *figures, const char *path) {
    LSP_ENTER(ctx);
    LSP_TRY(lsp_cache_check_figures(ctx, figures));
    return lsp_cache_write_figures(ctx, figures, path);
}
