/* The report: a table on standard output, and JSON in the format of Google Benchmark. */
#include "bench_commit.h"
#include "harness.h"
#include "json.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool bench_is_loop(const char *who) {
    static const char *const loops[] = {"plain", "dense", "list", "bits"};
    bool loop = false;
    for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
        loop |= strcmp(who, loops[k]) == 0;
    }
    return loop;
}

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
    if (strcmp(b->options.primitive, "growth") == 0) {
        printf("%-44s %13s %10s %-10s %17s  time of a unit over the best of smaller sizes\n", "name", "time", "work",
               "unit", "a unit");
        return;
    }
    static const char *const with_products[] = {"spgemm", "mtx", "spmv", "cg", "batch"};
    bool products = false;
    for (int i = 0; i < 5; i++) {
        products = products || strcmp(b->options.primitive, with_products[i]) == 0;
    }
    const char *rate = products ? "Gflop/s" : "Gitem/s";
    printf("%-48s %13s %7s %9s %8s %6s  %s\n", "name", "time", "spread", "MB/s", rate, "copy",
           "best peer / ours (above 1: ours is faster)");
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
        snprintf(gain, sizeof gain, "%.2f", row->gain);
    } else if (row->best_peer) {
        snprintf(gain, sizeof gain, bench_is_loop(c->who) ? "(plain loop)" : "(best peer)");
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

/* ---- JSON: the context on one line, then one line a measurement ---- */

/* The peers raced against, and the version of each. */
static void put_versions(cli_json *json, const bench_subject *subject, bool on_gpu) {
    const char *who, *version;
    cli_json_open(json, "peers", '{');
    for (int i = 0; subject->version && (version = subject->version(on_gpu, i, &who)); i++) {
        cli_json_string(json, who, version);
    }
    cli_json_close(json, '}');
}

/* How well the cache model did, if it predicted anything. */
static void put_accuracy(cli_json *json, const bench *b) {
    const bench_accuracy a = bench_accuracy_of(b);
    if (a.predictions > 0) {
        cli_json_open(json, "model", '{');
        cli_json_integer(json, "predictions", a.predictions);
        cli_json_measured(json, "median_error", true, a.median_error);
        cli_json_integer(json, "choices", a.choices);
        cli_json_measured(json, "regret_median", true, a.regret_median);
        cli_json_measured(json, "regret_worst", true, a.regret_worst);
        cli_json_close(json, '}');
    }
}

static void put_context(cli_json *json, const bench *b) {
    char date[64];
    const time_t now = time(NULL);
    struct tm utc;
    double load[3] = {0};
    lsp_ctx_info info = {.isa = ""};
    lsp_ctx_get_info(b->base, &info);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    (void)!getloadavg(load, 3);
    cli_json_open(json, "context", '{');
    cli_json_string(json, "date", date);
    cli_json_string(json, "executable", "sparse-bench");
    cli_json_string(json, "command", b->command);
    cli_json_string(json, "commit", BENCH_COMMIT);
    cli_json_string(json, "library_version", lsp_version());
    cli_json_string(json, "compiler", BENCH_COMPILER);
    cli_json_string(json, "build_type", BENCH_BUILD_TYPE);
    cli_json_string(json, "device", b->options.device);
    cli_json_string(json, "cpu", info.device_name);
    cli_json_string(json, "isa", info.isa);
    if (b->device) {
        cli_json_string(json, "gpu", bench_device_name(b->device));
    }
    put_versions(json, b->subject, b->device != NULL);
    put_accuracy(json, b);
    cli_json_integer(json, "num_cpus", bench_cpus());
    cli_json_integer(json, "threads", b->threads);
    cli_json_bool(json, "quick", b->options.quick);
    cli_json_bool(json, "keep_heap", b->options.keep_heap);
    if (bench_interrupted()) { /* the rows that were complete */
        cli_json_integer(json, "ended_by_signal", bench_interrupted());
    }
    cli_json_open(json, "load_avg", '[');
    for (int i = 0; i < 3; i++) {
        cli_json_measured(json, NULL, true, load[i]);
    }
    cli_json_close(json, ']');
    cli_json_measured(json, "processors_busy_for_others", true, b->others);
    cli_json_measured(json, "copy_bytes_per_second", true, b->copy[1]);
    cli_json_measured(json, "copy_bytes_per_second_one_thread", true, b->copy[0]);
    cli_json_close(json, '}');
}

static void put_count(cli_json *json, const char *key, int64_t count) {
    if (count > 0) {
        cli_json_integer(json, key, count);
    }
}
static void put_time(cli_json *json, const char *key, double seconds) { /* in milliseconds */
    if (seconds > 0) {
        cli_json_measured(json, key, true, 1e3 * seconds);
    }
}

static void put_figures(cli_json *json, const bench_row *row) {
    const bench_contender *c = &row->c;
    put_time(json, "first_time", c->first);
    put_time(json, "fastest", row->fastest);
    put_time(json, "slowest", row->slowest);
    cli_json_measured(json, "spread", true, (row->quartile3 - row->quartile1) / row->median);
    cli_json_integer(json, "bytes", c->bytes);
    cli_json_measured(json, "bytes_per_second", true, (double)c->bytes / row->median);
    cli_json_measured(json, "fraction_of_copy", true, row->copy_share);
    put_count(json, "products", c->products);
    if (c->products > 0) {
        cli_json_measured(json, "gflops", true, 2e-9 * (double)c->products / row->median);
    }
    put_count(json, "nnz_c", c->nnz_c);
    put_count(json, "items", c->items);
    if (c->items > 0) {
        cli_json_measured(json, "items_per_second", true, (double)c->items / row->median);
    }
}

static void put_row(cli_json *json, const bench_row *row) {
    const bench_contender *c = &row->c;
    const bool right = c->checked && !c->failed;
    cli_json_open(json, NULL, '{');
    cli_json_string(json, "name", row->name);
    cli_json_string(json, "run_name", row->name);
    cli_json_string(json, "run_type", "iteration");
    cli_json_integer(json, "repetitions", c->repeats);
    cli_json_integer(json, "iterations", 1);
    cli_json_integer(json, "threads", c->threads);
    cli_json_measured(json, "real_time", true, 1e3 * row->median);
    cli_json_measured(json, "cpu_time", true, 1e3 * c->cpu);
    cli_json_string(json, "time_unit", "ms");
    if (!right) {
        cli_json_bool(json, "error_occurred", true);
        cli_json_string(json, "error_message", c->why);
    }
    if (!c->failed) {
        put_figures(json, row);
    }
    if (c->work > 0) {
        cli_json_measured(json, "work", true, c->work);
        cli_json_string(json, "unit", c->unit);
        cli_json_string(json, "choice", c->choice);
        cli_json_measured(json, "growth", true, c->growth);
    }
    put_time(json, "predicted_time", c->predicted);
    put_time(json, "plan_time", c->plan_time);
    if (row->pays_after != 0) {
        cli_json_integer(json, "pays_after_calls", row->pays_after);
    }
    if (c->bits != BENCH_BITS_UNKNOWN) {
        cli_json_bool(json, "same_bits_in_five_runs", c->bits == BENCH_BITS_SAME);
    }
    if (c->peak_bytes >= 0) {
        cli_json_integer(json, "peak_bytes", c->peak_bytes);
    }
    if (row->gain > 0) {
        cli_json_measured(json, "best_peer_ratio", true, row->gain);
    }
    cli_json_bool(json, "checked", right);
    cli_json_close(json, '}');
}

bool bench_write_json(const bench *b, FILE *out) {
    cli_json json = {.to = out};
    cli_json_open(&json, NULL, '{');
    put_context(&json, b);
    fputs(",\n\"benchmarks\": [\n", out);
    for (int i = 0; i < b->row_count; i++) {
        json.comma = false;
        put_row(&json, b->rows + i);
        fputs(i + 1 < b->row_count ? ",\n" : "\n", out);
    }
    fputs("]}\n", out);
    return !ferror(out);
}
