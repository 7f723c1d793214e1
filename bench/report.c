/* The report: a table on standard output, and JSON in the format of Google Benchmark. */
#include "bench_commit.h"
#include "harness.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

void bench_print_head(const bench *b) {
    double load = 0;
    (void)!getloadavg(&load, 1);
    if (b->device) {
        printf("copy: %.2f GB/s on %s (read + written)", b->copy[0] * 1e-9, bench_device_name(b->device));
    } else {
        printf("copy: %.2f GB/s on %d thread%s, %.2f on one (read + written)", b->copy[1] * 1e-9, b->threads,
               b->threads == 1 ? "" : "s", b->copy[0] * 1e-9);
    }
    printf("; load %.2f on %d processors\n", load, bench_cpus());
    static const char *const with_products[] = {"spgemm", "mtx", "spmv", "cg", "batch"};
    bool products = false;
    for (int i = 0; i < 5; i++) {
        products = products || strcmp(b->options.primitive, with_products[i]) == 0;
    }
    const char *rate = products ? "Gflop/s" : "Gitem/s";
    printf("%-48s %13s %7s %9s %8s %6s  %s\n", "name", "time", "spread", "MB/s", rate, "copy", "best peer is");
}

/* How much slower or faster the best peer is; `ratio`: its time over that of the library. */
static void put_gain(char *to, size_t bytes, double ratio) {
    const bool slower = ratio >= 1;
    const double times = slower ? ratio : 1 / ratio;
    if (times < 1.005) {
        snprintf(to, bytes, "level");
    } else {
        snprintf(to, bytes, "%.2f x %s", times, slower ? "slower" : "FASTER");
    }
}

/* The time of the plan, and when it has paid. */
static void put_plan(char *to, size_t bytes, const bench_row *row) {
    int length = 0;
    if (row->c.plan_time > 0) {
        length = snprintf(to, bytes, "  plan %.3g ms", 1e3 * row->c.plan_time);
    }
    if (row->pays_after != 0) {
        snprintf(to + length, bytes - (size_t)length, row->pays_after > 0 ? ", pays after %lld calls" : ", pays never",
                 (long long)row->pays_after);
    }
}

void bench_print_row(const bench_row *row) {
    const bench_contender *c = &row->c;
    char rate[16] = "", gain[32] = "", told[32] = "", plan[64] = "";
    const bool brief = row->median < 1e-4;
    if (c->failed) {
        printf("%-48s %13s\n", row->name, "FAILED");
        return;
    }
    if (c->products > 0 || c->items > 0) {
        snprintf(rate, sizeof rate, "%.3f", 1e-9 * (double)(c->items ? c->items : 2 * c->products) / row->median);
    }
    if (!c->checked) {
        snprintf(gain, sizeof gain, "WRONG");
    } else if (row->gain > 0) {
        put_gain(gain, sizeof gain, row->gain);
    } else if (row->best_peer) {
        snprintf(gain, sizeof gain, "(this one)");
    } else if (c->bits == BENCH_BITS_VARY) {
        snprintf(gain, sizeof gain, "bits vary");
    }
    if (c->predicted > 0) {
        snprintf(told, sizeof told, "  predicted %+.0f %%", 100 * (c->predicted / row->median - 1));
    }
    put_plan(plan, sizeof plan, row);
    printf("%-48s %10.3f %s %5.1f %% %9.1f %8s %4.1f %%  %s%s%s\n", row->name, (brief ? 1e6 : 1e3) * row->median,
           brief ? "us" : "ms", 100 * (row->quartile3 - row->quartile1) / row->median,
           1e-6 * (double)c->bytes / row->median, rate, 100 * row->copy_share, gain, told, plan);
    fflush(stdout);
}

/* Writes "text" with quotes, backslashes and control characters escaped. */
static void put_string(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\') {
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        } else {
            fputc(*text, out);
        }
    }
    fputc('"', out);
}

static void put_field(FILE *out, const char *name, const char *text) {
    fprintf(out, "    \"%s\": ", name);
    put_string(out, text);
    fputs(",\n", out);
}

/* The peers raced against, and the version of each. */
static void put_versions(const bench_subject *subject, bool on_gpu, FILE *out) {
    const char *who, *version, *before = "";
    fputs("    \"peers\": {", out);
    for (int i = 0; subject->version && (version = subject->version(on_gpu, i, &who)); i++) {
        fprintf(out, "%s\"%s\": ", before, who);
        put_string(out, version);
        before = ", ";
    }
    fputs("},\n", out);
}

/* How well the cache model did, if it predicted anything. */
static void put_accuracy(const bench *b, FILE *out) {
    const bench_accuracy a = bench_accuracy_of(b);
    if (a.predictions > 0) {
        fprintf(out,
                "    \"model\": {\"predictions\": %d, \"median_error\": %.4f, \"choices\": %d, "
                "\"regret_median\": %.4f, \"regret_worst\": %.4f},\n",
                a.predictions, a.median_error, a.choices, a.regret_median, a.regret_worst);
    }
}

static void put_context(const bench *b, FILE *out) {
    char date[64];
    const time_t now = time(NULL);
    struct tm utc;
    double load[3] = {0};
    lsp_ctx_info info = {.isa = ""};
    lsp_ctx_get_info(b->base, &info);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    (void)!getloadavg(load, 3);
    fprintf(out, "  \"context\": {\n");
    put_field(out, "date", date);
    put_field(out, "executable", "sparse-bench");
    put_field(out, "command", b->command);
    put_field(out, "commit", BENCH_COMMIT);
    put_field(out, "library_version", lsp_version());
    put_field(out, "compiler", BENCH_COMPILER);
    put_field(out, "build_type", BENCH_BUILD_TYPE);
    put_field(out, "device", b->options.device);
    put_field(out, "cpu", info.device_name);
    put_field(out, "isa", info.isa);
    if (b->device) {
        put_field(out, "gpu", bench_device_name(b->device));
    }
    put_versions(b->subject, b->device != NULL, out);
    put_accuracy(b, out);
    fprintf(out,
            "    \"num_cpus\": %d,\n    \"threads\": %d,\n    \"quick\": %s,\n    \"keep_heap\": %s,\n"
            "    \"load_avg\": [%.2f, %.2f, %.2f],\n    \"processors_busy_for_others\": %.2f,\n"
            "    \"copy_bytes_per_second\": %.6g,\n    \"copy_bytes_per_second_one_thread\": %.6g\n  },\n",
            bench_cpus(), b->threads, b->options.quick ? "true" : "false", b->options.keep_heap ? "true" : "false",
            load[0], load[1], load[2], b->others, b->copy[1], b->copy[0]);
}

static void put_row(const bench_row *row, FILE *out) {
    const bench_contender *c = &row->c;
    fprintf(out, "    {\n  ");
    put_field(out, "name", row->name);
    fprintf(out, "  ");
    put_field(out, "run_name", row->name);
    fprintf(out,
            "      \"run_type\": \"iteration\",\n      \"repetitions\": %d,\n      \"iterations\": 1,\n"
            "      \"threads\": %d,\n      \"real_time\": %.6f,\n      \"cpu_time\": %.6f,\n"
            "      \"time_unit\": \"ms\",\n",
            c->repeats, c->threads, 1e3 * row->median, 1e3 * c->cpu);
    if (c->failed || !c->checked) {
        fprintf(out, "      \"error_occurred\": true,\n  ");
        put_field(out, "error_message", c->why);
    }
    if (!c->failed) {
        fprintf(out,
                "      \"first_time\": %.6f,\n      \"fastest\": %.6f,\n      \"slowest\": %.6f,\n"
                "      \"spread\": %.4f,\n      \"bytes\": %lld,\n      \"bytes_per_second\": %.6g,\n"
                "      \"fraction_of_copy\": %.4f,\n",
                1e3 * c->first, 1e3 * row->fastest, 1e3 * row->slowest, (row->quartile3 - row->quartile1) / row->median,
                (long long)c->bytes, (double)c->bytes / row->median, row->copy_share);
    }
    if (c->products > 0 && !c->failed) {
        fprintf(out, "      \"products\": %lld,\n      \"gflops\": %.4f,\n", (long long)c->products,
                2e-9 * (double)c->products / row->median);
    }
    if (c->nnz_c > 0 && !c->failed) {
        fprintf(out, "      \"nnz_c\": %lld,\n", (long long)c->nnz_c);
    }
    if (c->items > 0 && !c->failed) {
        fprintf(out, "      \"items\": %lld,\n      \"items_per_second\": %.6g,\n", (long long)c->items,
                (double)c->items / row->median);
    }
    if (c->predicted > 0) {
        fprintf(out, "      \"predicted_time\": %.6f,\n", 1e3 * c->predicted);
    }
    if (c->plan_time > 0) {
        fprintf(out, "      \"plan_time\": %.6f,\n", 1e3 * c->plan_time);
    }
    if (row->pays_after != 0) {
        fprintf(out, "      \"pays_after_calls\": %lld,\n", (long long)row->pays_after);
    }
    if (c->bits != BENCH_BITS_UNKNOWN) {
        fprintf(out, "      \"same_bits_in_five_runs\": %s,\n", c->bits == BENCH_BITS_SAME ? "true" : "false");
    }
    if (c->peak_bytes >= 0) {
        fprintf(out, "      \"peak_bytes\": %lld,\n", (long long)c->peak_bytes);
    }
    if (row->gain > 0) {
        fprintf(out, "      \"best_peer_ratio\": %.4f,\n", row->gain);
    }
    fprintf(out, "      \"checked\": %s\n    }", c->checked && !c->failed ? "true" : "false");
}

bool bench_write_json(const bench *b, FILE *out) {
    fputs("{\n", out);
    put_context(b, out);
    fputs("  \"benchmarks\": [\n", out);
    for (int i = 0; i < b->row_count; i++) {
        put_row(b->rows + i, out);
        fputs(i + 1 < b->row_count ? ",\n" : "\n", out);
    }
    fputs("  ]\n}\n", out);
    return !ferror(out);
}
