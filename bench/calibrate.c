/* sparse-bench calibrate: measures the figures of a device, prints them beside those in use, and stores them if asked.
 */
#include "harness.h"
#include <stdlib.h>
#include <string.h>

typedef struct wish {
    lsp_ctx_options options;
    bool store;
} wish;

static int usage(void) {
    fprintf(stderr, "usage: sparse-bench calibrate [--device cpu|cuda] [--threads N] [--store]\n");
    return EXIT_USAGE;
}

static int parse(wish *w, int argc, char **argv) {
    w->options.device = lsp_cuda_device_count() > 0 ? LSP_CUDA : LSP_HOST;
    for (int i = 0; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char *end = "";
        if (strcmp(argv[i], "--store") == 0) {
            w->store = true;
        } else if (strcmp(argv[i], "--device") == 0 && (strcmp(value, "cpu") == 0 || strcmp(value, "cuda") == 0)) {
            w->options.device = value[1] == 'p' ? LSP_HOST : LSP_CUDA;
            i++;
        } else if (strcmp(argv[i], "--threads") == 0 && (w->options.threads = (int)strtol(value, &end, 10)) > 0 &&
                   !*end && w->options.threads <= 4096) {
            i++;
        } else {
            return usage();
        }
    }
    return -1;
}

static void print(const lsp_cache_figures *f, const lsp_cache_figures *before) {
    printf("%s%s", f->device, f->where == LSP_CUDA ? "\n" : "");
    if (f->where == LSP_HOST) {
        printf(", %d thread%s\n", f->threads, f->threads == 1 ? "" : "s");
    }
    printf("%-34s %12s %12s\n", "", "measured", "in use");
    printf("%-34s %12.2f %12.2f\n", "start, us", 1e6 * f->start_seconds, 1e6 * before->start_seconds);
    printf("%-34s %12.1f %12.1f\n", "copy, read + written, GB/s", 1e-9 * f->copy_rate, 1e-9 * before->copy_rate);
    printf("%-34s %12.0f %12.0f\n", "line, bytes", f->line_bytes, before->line_bytes);
    printf("%-34s %12.0f %12.0f\n", "sector, bytes", f->sector_bytes, before->sector_bytes);
    printf("%-34s %12.1f %12.1f\n", "last cache, MiB", f->cache_bytes / 0x1p20, before->cache_bytes / 0x1p20);
    printf("%-34s %12.0f %12.0f\n", f->where == LSP_CUDA ? "shared memory, KiB" : "cache of a core, KiB",
           f->stage_bytes / 1024, before->stage_bytes / 1024);
    printf("%-34s %12s %12s %12s\n", "G accesses/s at random, MiB", "reads", "writes", "32-byte writes");
    for (int i = 0; i < f->points; i++) {
        printf("%34.3f %12.3f %12.3f %12.3f\n", f->footprint[i] / 0x1p20, 1e-9 * f->reads[i], 1e-9 * f->writes[i],
               1e-9 * f->writes32[i]);
    }
}

int bench_calibrate(int argc, char **argv) {
    wish w = {0};
    char error[256];
    lsp_ctx *ctx = NULL;
    lsp_cache_figures measured, before;
    bench b = {0};
    int code = parse(&w, argc, argv);
    if (code >= 0) {
        return code;
    }
    const lsp_status status = lsp_ctx_create(&ctx, &w.options, error, sizeof error);
    if (status != LSP_OK) {
        fprintf(stderr, "sparse-bench: %s\n", error);
        return status == LSP_ERR_DEVICE ? EXIT_DEVICE : EXIT_MEMORY;
    }
    if (bench_ok(&b, ctx, lsp_cache_model_figures(ctx, &before)) &&
        bench_ok(&b, ctx, lsp_cache_model_calibrate(ctx, &measured))) {
        print(&measured, &before);
        if (w.store && bench_ok(&b, ctx, lsp_cache_model_store(ctx, &measured, NULL))) {
            puts("stored for later contexts of this device");
        }
    }
    lsp_ctx_destroy(ctx);
    return b.exit_code;
}
