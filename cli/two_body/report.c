/* Writes the result: rows about the run and a table for people, which begin with # where gnuplot and NumPy expect
 * comments; or one JSON object for programs; and the file of -o. */
#include "interrupt.h"
#include "json.h"
#include "output.h"
#include "table.h"
#include "text.h"
#include "two_body.h"

#include <math.h>
#include <string.h>

/* ---- the table ---- */

static void table_head(FILE *to, const tb_job *job) {
    static const char *const heads[] = {"radius pairs", "from to pairs", "r g(r) pairs"};
    const tb_options *o = &job->options;
    if (o->verb != TB_DENSITY) {
        fprintf(to, "# %s\n", heads[o->verb]);
        return;
    }
    fputs("#", to);
    for (int k = 0; k < job->sets[0].points.dimensions; k++) {
        fprintf(to, " x%d", k + 1);
    }
    fputs(" density\n", to);
}

static void write_table(FILE *to, const tb_job *job) {
    const tb_options *o = &job->options;
    const bool single = tb_type(o) == LSP_F32;
    const double step = o->range / (double)o->bins;
    table_head(to, job);
    for (int64_t i = 0; i < tb_count_of(job); i++) {
        const unsigned long long pairs = job->counts[i];
        if (o->verb == TB_COUNT) {
            fprintf(to, "%.10g %llu\n", o->radius[i], pairs);
        } else if (o->verb == TB_HISTOGRAM) {
            fprintf(to, "%.10g %.10g %llu\n", (double)i * step, (double)(i + 1) * step, pairs);
        } else {
            fprintf(to, "%.10g %.10g %llu\n", ((double)i + 0.5) * step, job->g[i], pairs);
        }
    }
    for (int64_t i = 0; o->verb == TB_DENSITY && i < job->sets[0].points.n; i++) {
        for (int k = 0; k < job->sets[0].points.dimensions; k++) {
            fprintf(to, "%s ", cli_exact(tb_at(&job->sets[0], i, k), single).text);
        }
        fprintf(to, "%s\n", cli_exact(tb_density_at(job, i), single).text);
    }
}

static int write_matrix(tb_job *job) {
    const char *path = job->options.output;
    cli_guard_output(path);
    const lsp_status status = lsp_mtx_write(job->run.ctx, path, &job->C, NULL);
    cli_guard_end();
    return status == LSP_OK ? CLI_DONE : cli_failed(&job->run, status);
}

static int write_file(const tb_job *job) {
    const char *path = job->options.output;
    cli_output file;
    if (job->run.to_pipe) {
        write_table(stdout, job);
        return CLI_DONE; /* cli_run_end tells what could not be written */
    }
    const bool opened = cli_output_open(&file, path);
    if (opened) {
        write_table(file.to, job);
    }
    return cli_output_close(&file, opened, path, "table");
}

int tb_write(tb_job *job) {
    cli_progress_begin(&job->run.progress, "writing", job->options.output);
    const int code = tb_makes_matrix(&job->options) ? write_matrix(job) : write_file(job);
    job->write_ms = cli_progress_end(&job->run.progress);
    job->written = code == CLI_DONE;
    return code;
}

/* ---- for people ---- */

static bool prints_table(const tb_job *job) { return !job->options.output && !tb_makes_matrix(&job->options); }

#define ROW(...) (fputs(prints_table(job) ? "# " : "", to), cli_table_row(to, __VA_ARGS__))

static void box_row(FILE *to, const tb_job *job) {
    char text[256] = "";
    const tb_cell *c = &job->cell;
    const int d = job->sets[0].points.dimensions;
    size_t used = 0;
    for (int k = 0; k < d && c->periodic; k++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%g", k > 0 ? " x " : "", c->side[k]);
    }
    if (c->tilt[0] != 0 || c->tilt[1] != 0 || c->tilt[2] != 0) {
        snprintf(text + used, sizeof text - used, ", tilted by xy %g, xz %g, yz %g", c->tilt[0], c->tilt[1],
                 c->tilt[2]);
    }
    ROW("box", c->periodic ? "periodic" : "none", "%s", text);
}

static void density_range(const tb_job *job, double range[3]) {
    const int64_t n = job->sets[0].points.n;
    range[0] = INFINITY;
    range[1] = 0;
    range[2] = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const double x = tb_density_at(job, i);
        range[0] = fmin(range[0], x);
        range[1] += x / (double)n;
        range[2] = fmax(range[2], x);
    }
}

static bool on_gpu(const tb_job *job) { return job->run.machine.device == LSP_CUDA; }

static void device_rows(FILE *to, const tb_job *job) {
    const lsp_ctx_info *one = &job->run.machine;
    for (int d = 0; d < job->devices.count; d++) {
        const cli_worker *w = &job->devices.at[d];
        ROW("device", w->name, "%s, %d thread%s: share %d of %d, %s distances in %s", w->about.device_name,
            w->about.threads, cli_plural(w->about.threads), d + 1, job->devices.count,
            cli_count(job->shares[d].info.tested).text, cli_time(job->shares[d].ms).text);
    }
    if (job->devices.count == 0) {
        ROW("device", on_gpu(job) ? "cuda" : "cpu", "%s, %d thread%s", one->device_name, one->threads,
            cli_plural(one->threads));
    }
}

static void report_rows(FILE *to, const tb_job *job) {
    const cli_run *run = &job->run;
    for (int s = 0; s < 1 + job->two; s++) {
        ROW("points", cli_count(job->sets[s].points.n).text, "%s", job->sets[s].name);
    }
    box_row(to, job);
    if (tb_makes_matrix(&job->options)) {
        ROW("entries", cli_count(job->C.nnz).text, "%.3g for each point",
            job->C.rows > 0 ? (double)job->C.nnz / (double)job->C.rows : 0.0);
    } else if (job->options.verb == TB_DENSITY) {
        double range[3];
        density_range(job, range);
        ROW("density", cli_general(range[1]).text, "the mean; from %g to %g", range[0], range[2]);
    }
    if (job->options.verbose) {
        ROW("method", lsp_pair_method_name(job->info.method), "%s; %s distances computed", job->info.reason,
            cli_count(job->info.tested).text);
        device_rows(to, job);
        ROW("read", cli_time(run->read_ms).text, "%s", "");
        ROW("memory", cli_bytes(job->peak_bytes).text, "most in use at a time");
    }
    ROW(tb_verb_name(job->options.verb), cli_time(job->compute_ms).text, "%s", "");
    if (job->checked) {
        ROW("check", job->checked_why[0] ? "WRONG" : "right", "%s in %s", job->checked_why,
            cli_time(job->check_ms).text);
    }
    if (job->written) {
        ROW("write", cli_time(job->write_ms).text, "%s", run->to_pipe ? "standard output" : job->options.output);
    }
}

/* ---- for programs ---- */

static void result_json(cli_json *json, const tb_job *job) {
    const tb_options *o = &job->options;
    if (tb_makes_matrix(o)) {
        cli_json_integer(json, "entries", job->C.nnz);
    }
    if (o->verb == TB_DENSITY) {
        double range[3];
        density_range(job, range);
        cli_json_number(json, "least", range[0]);
        cli_json_number(json, "mean", range[1]);
        cli_json_number(json, "most", range[2]);
    }
    if (tb_count_of(job) == 0) {
        return;
    }
    if (o->verb != TB_COUNT) {
        cli_json_number(json, "range", o->range);
        cli_json_integer(json, "bins", o->bins);
    }
    cli_json_open(json, "counts", '[');
    for (int64_t i = 0; i < tb_count_of(job); i++) {
        cli_json_integer(json, NULL, (int64_t)job->counts[i]);
    }
    cli_json_close(json, ']');
    const double *list = o->verb == TB_COUNT ? o->radius : job->g;
    if (o->verb != TB_HISTOGRAM) {
        cli_json_open(json, o->verb == TB_COUNT ? "radii" : "g", '[');
        for (int64_t i = 0; i < tb_count_of(job); i++) {
            cli_json_number(json, NULL, list[i]);
        }
        cli_json_close(json, ']');
    }
}

static void points_json(cli_json *json, const tb_job *job) {
    const tb_cell *c = &job->cell;
    const int d = job->sets[0].points.dimensions;
    cli_json_open(json, "points", '[');
    for (int s = 0; s < 1 + job->two; s++) {
        cli_json_integer(json, NULL, job->sets[s].points.n);
    }
    cli_json_close(json, ']');
    cli_json_open(json, "files", '[');
    for (int s = 0; s < 1 + job->two; s++) {
        cli_json_string(json, NULL, job->sets[s].name);
    }
    cli_json_close(json, ']');
    cli_json_integer(json, "dimensions", d);
    cli_json_open(json, "box", '[');
    for (int k = 0; k < d && c->periodic; k++) {
        cli_json_number(json, NULL, c->side[k]);
    }
    cli_json_close(json, ']');
    cli_json_open(json, "tilt", '[');
    for (int k = 0; k < 3 && c->periodic; k++) {
        cli_json_number(json, NULL, c->tilt[k]);
    }
    cli_json_close(json, ']');
    cli_json_number(json, "volume", job->volume);
}

/* The devices of --devices; otherwise nothing. */
static void devices_json(cli_json *json, const tb_job *job) {
    if (job->devices.count > 0) {
        cli_json_open(json, "devices", '[');
        for (int d = 0; d < job->devices.count; d++) {
            const cli_worker *w = &job->devices.at[d];
            cli_json_open(json, NULL, '{');
            cli_json_string(json, "name", w->name);
            cli_json_string(json, "model", w->about.device_name);
            cli_json_integer(json, "threads", w->about.threads);
            cli_json_integer(json, "tested", job->shares[d].info.tested);
            cli_json_measured(json, "ms", true, job->shares[d].ms);
            cli_json_close(json, '}');
        }
        cli_json_close(json, ']');
    }
}

static void report_json(const tb_job *job) {
    cli_json json = {.to = job->run.report};
    cli_json_open(&json, NULL, '{');
    cli_json_string(&json, "verb", tb_verb_name(job->options.verb));
    points_json(&json, job);
    result_json(&json, job);
    cli_json_string(&json, "output", job->written ? job->options.output : NULL);
    cli_json_string(&json, "device", on_gpu(job) ? "cuda" : "cpu");
    devices_json(&json, job);
    cli_json_string(&json, "method", lsp_pair_method_name(job->info.method));
    cli_json_string(&json, "reason", job->info.reason);
    cli_json_integer(&json, "cells", job->info.cells);
    cli_json_integer(&json, "tested", job->info.tested);
    cli_json_check(&json, job->checked, job->checked_why);
    cli_json_open(&json, "ms", '{');
    cli_json_measured(&json, "read", true, job->run.read_ms);
    cli_json_measured(&json, "compute", true, job->compute_ms);
    cli_json_measured(&json, "check", job->checked, job->check_ms);
    cli_json_measured(&json, "write", job->written, job->write_ms);
    cli_json_close(&json, '}');
    cli_json_integer(&json, "peak_bytes", job->peak_bytes);
    cli_json_string(&json, "precision", job->options.precision == 1 ? "f32" : "f64");
    cli_json_integer(&json, "threads", job->run.machine.threads);
    cli_json_integer(&json, "repeats", job->options.repeat);
    cli_json_string(&json, "version", lsp_version());
    cli_json_close(&json, '}');
    fputc('\n', job->run.report);
}

void tb_report(const tb_job *job) {
    if (job->options.json) {
        report_json(job);
        return;
    }
    if (!job->options.quiet) {
        report_rows(job->run.report, job);
    }
    if (prints_table(job)) {
        write_table(job->run.report, job);
    }
}
