/* Figures built in: of an H200 as measured, for another GPU scaled by its cache, its memory and its multiprocessors; of
 * one core of a CPU, scaled by its caches and the threads. `sparse-bench calibrate` prints a machine's own. */
#include "cache_model.h"
#include "core/cuda.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
static const double core_copy = 14e9; /* bytes read and written a second */

/* What all cores do together, at most. 16 cores of a Sapphire Rapids guest, 2026-11-29: copies of 85 to 117 GB/s; a
 * random read moves a line, a write two; writes into one small array wait for lines that other cores hold. */
static const double machine_copy = 100e9, machine_writes = 1.15e9;
/* The last cache counts up to the share that threads reach on common processors: a guest sees the whole of one that it
 * shares (that Sapphire Rapids told 300 MiB), and a CCX of an EPYC has 32 MiB. */
static const double least_last = MB(2), most_last = MB(32);

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

void lsp_cache_cpu_figures(double own, double last, double line, lsp_cache_figures *f) {
    const double threads = fmax(f->threads, 1);
    last = fmin(fmax(last, least_last), most_last);
    own = fmin(fmax(own, MB(0.125)), last / 16); /* so that footprints ascend */
    f->start_seconds = threads > 1 ? 5e-6 : 2e-7;
    f->copy_rate = fmin(core_copy * threads, machine_copy);
    f->line_bytes = f->sector_bytes = line;
    f->cache_bytes = last;
    f->stage_bytes = own;
    f->points = sizeof core / sizeof *core;
    for (int i = 0; i < f->points; i++) {
        const bool far = core[i].last && core[i].share >= 1;
        const double reads = far ? machine_copy / line : HUGE_VAL;
        const double writes = far ? machine_copy / (2 * line) : core[i].last ? machine_writes : HUGE_VAL;
        f->footprint[i] = core[i].share * (core[i].last ? last : own);
        f->reads[i] = fmin(1e6 * threads * core[i].reads, reads);
        f->writes[i] = f->writes32[i] = fmin(1e6 * threads * core[i].writes, writes);
    }
}

void lsp_cache_builtin_figures(lsp_ctx *ctx, lsp_cache_figures *f) {
    if (f->where == LSP_CUDA) {
        gpu_figures(lsp_cuda_get_chip(ctx), f);
    } else {
        const double line = fmin(fmax(system_bytes(_SC_LEVEL1_DCACHE_LINESIZE, 64), 16), 1024);
        lsp_cache_cpu_figures(cache_bytes(2, _SC_LEVEL2_CACHE_SIZE, MB(1)),
                              cache_bytes(3, _SC_LEVEL3_CACHE_SIZE, MB(32)), line, f);
    }
}
