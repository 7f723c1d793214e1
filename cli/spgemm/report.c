/* Prints the result of a product or a dry run: an aligned table for people, or one JSON object for programs. */
#include "json.h"
#include "steps.h"
#include "table.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- for people ---- */

void cli_report_operands(const cli_job *job) {
    FILE *to = job->run.report;
    cli_table_head(to);
    cli_table_operand(to, "A", &job->A);
    if (job->second != &job->A) {
        cli_table_operand(to, "B", job->second);
    }
    if (job->options.mask) {
        cli_table_operand(to, "mask", &job->mask);
    }
}

static void product_row(const cli_job *job) {
    char label[16], entries[64];
    const cli_sizes sizes = cli_sizes_of(job);
    snprintf(label, sizeof label, "C = %s", cli_formula(job));
    snprintf(entries, sizeof entries, "%s%s",
             job->multiplied ? "" : "<= ", cli_count(job->multiplied ? job->C.nnz : job->plan.nnz_bound).text);
    cli_table_matrix(
        job->run.report,
        &(cli_matrix_row){
            .label = label, .rows = sizes.rows, .cols = sizes.cols, .entries = entries, .name = "", .note = ""});
}

/* Adds the values of C in their order. With plus-pair it is the number of products that stay. NaN if they are complex.
 */
static double sum_of(const lsp_csr *C) {
    double sum = C->val_type == LSP_C64 ? (double)NAN : 0;
    for (int64_t p = 0; p < C->nnz && C->val_type != LSP_C64; p++) {
        sum += C->val_type == LSP_F32    ? (double)((const float *)C->val)[p]
               : C->val_type == LSP_I64  ? (double)((const int64_t *)C->val)[p]
               : C->val_type == LSP_I32  ? (double)((const int32_t *)C->val)[p]
               : C->val_type == LSP_BOOL ? (double)((const uint8_t *)C->val)[p]
                                         : ((const double *)C->val)[p];
    }
    return sum;
}

static bool is_whole(double x) { return x == rint(x) && fabs(x) < 0x1p53; }

static void semiring_row(const cli_job *job) {
    cli_text sum;
    if (!job->options.semiring) {
        return;
    }
    if (!job->multiplied || job->streamed) {
        cli_table_row(job->run.report, "semiring", job->options.semiring_name, "%s", "");
        return;
    }
    const double x = sum_of(&job->C);
    snprintf(sum.text, sizeof sum.text, "%.10g", isnan(x) ? (double)NAN : x);
    cli_table_row(job->run.report, "semiring", job->options.semiring_name, "the sum of C's values is %s",
                  is_whole(x) ? cli_count((int64_t)x).text : sum.text);
}

/* One row that names the filters. */
static void filter_row(const cli_job *job) {
    const cli_options *o = &job->options;
    char where[40] = "", size[40] = "", count[80] = "";
    if (o->mask) {
        snprintf(where, sizeof where, "where the mask has %s entry", o->complement ? "no" : "an");
    }
    if (o->drop >= 0) {
        snprintf(size, sizeof size, "%s|c| > %g", o->mask ? ", " : "", o->drop);
    }
    if (o->keep > 0) {
        snprintf(count, sizeof count, "%sthe %s largest of each row", o->mask || o->drop >= 0 ? ", " : "",
                 cli_count(o->keep).text);
    }
    if (cli_filters(o)) {
        cli_table_row(job->run.report, "entries", "kept", "%s%s%s", where, size, count);
    }
}

static void plan_rows(const cli_job *job) {
    FILE *to = job->run.report;
    const lsp_spgemm_info *plan = &job->plan;
    const bool filtered = cli_filters(&job->options);
    cli_table_row(to, "method", plan->method_name, "%s", plan->reason);
    cli_table_row(to, "blocks", cli_count(plan->blocks).text, "of rows; the longest row has %s products",
                  cli_count(plan->max_row_products).text);
    cli_table_row(to, "scratch", cli_bytes(plan->scratch_bytes).text, "besides A, B and C");
    if (plan->plan_bytes > 0) {
        cli_table_row(to, "plan", cli_bytes(plan->plan_bytes).text, "that a plan holds before its first use");
    }
    if (!job->multiplied || !filtered) { /* a filtered product is never held in full: no bound */
        cli_table_row(to, "C at most", cli_bytes(plan->bound_bytes).text, "for %s entries%s",
                      cli_count(plan->nnz_bound).text, filtered ? ", before the filter" : "");
    }
    if (job->devices.count > 0) {
        return; /* part_rows lists them */
    }
    if (job->run.gpu) {
        cli_table_row(to, "device", "cuda", "%s", job->run.machine.device_name);
    } else {
        cli_table_row(to, "device", "cpu", "%s, %s, %d thread%s", job->run.machine.device_name, job->run.machine.isa,
                      job->run.machine.threads, cli_plural(job->run.machine.threads));
    }
}

/* A row for each of --devices. */
static void part_rows(const cli_job *job) {
    for (int i = 0; i < job->devices.count; i++) {
        const cli_part *part = &job->parts[i];
        const cli_worker *device = &job->devices.at[i];
        char entries[64] = "", time[64] = "";
        if (job->multiplied) {
            snprintf(entries, sizeof entries, ", %s entries", cli_count(part->nnz).text);
            snprintf(time, sizeof time, ", %s",
                     part->streamed ? "in blocks, which it multiplied twice" : cli_time(part->ms).text);
        }
        cli_table_row(job->run.report, "device", device->name, "%s: %s row%s, %s products%s%s",
                      device->about.device_name, cli_count(part->rows).text, cli_plural(part->rows),
                      cli_count(part->plan.products).text, entries, time);
        if (job->options.verbose || job->options.dry_run) {
            cli_table_row(job->run.report, "", part->plan.method_name, "%s", part->plan.reason);
        }
    }
}

/* Upper bound: A, B and the mask, scratch, and C at its largest. */
static int64_t needed_bytes(const cli_job *job) {
    return job->held_bytes + job->plan.scratch_bytes + job->plan.bound_bytes;
}

static void time_rows(const cli_job *job) {
    FILE *to = job->run.report;
    cli_table_row(to, job->A.generated ? "generate" : "read", cli_time(job->run.read_ms).text, "%s", "");
    if (!job->multiplied) {
        return;
    }
    char repeats[240] = "";
    if (job->options.repeat > 0) {
        snprintf(repeats, sizeof repeats, ", the fastest of %s; median %s; a first run of %s is not counted",
                 cli_count(job->repeats).text, cli_time(job->median_ms).text, cli_time(job->cold_ms).text);
    }
    if (job->timed) {
        cli_table_row(to, "multiply", cli_time(job->multiply_ms).text, "%s%s", cli_rate(cli_gflops(job)).text, repeats);
    }
    if (job->devices.count > 0) {
        cli_table_row(to, "copy", cli_time(job->run.copy_ms).text, "to the devices and back, and cutting");
    }
    if (job->run.gpu) {
        cli_table_row(to, "copy", cli_time(job->run.copy_ms).text, "to the GPU%s",
                      job->C.where == LSP_HOST && !job->streamed ? " and back" : "");
    }
    if (job->written) {
        cli_table_row(to, "write", cli_time(job->write_ms).text, "%s%s",
                      strcmp(job->options.output, "-") == 0 ? "standard output" : job->options.output,
                      job->streamed ? ", and multiply, twice, in blocks of rows: C does not fit into memory" : "");
    }
}

static void peer_rows(const cli_job *job) {
    for (int i = 0; i < PEER_CUSPARSE_WAYS; i++) {
        const cli_peer *peer = &job->peers[i];
        const lsp_csr_difference *d = &peer->difference;
        if (!peer->ran) {
            cli_table_row(job->run.report, "cusparse", peer->name, "did not run: %s", peer->why);
            continue;
        }
        char from_ours[96];
        snprintf(from_ours, sizeof from_ours, "largest relative difference %.2g", d->max_rel);
        cli_table_row(job->run.report, "cusparse", cli_time(peer->fastest_ms).text, "%s, %.3g times ours, %s, %s",
                      peer->name, peer->fastest_ms / job->multiply_ms, cli_bytes(peer->peak_bytes).text,
                      !d->same_shape || !d->same_pattern ? "DIFFERENT PATTERN"
                      : d->same_bits                     ? "the same bits"
                                                         : from_ours);
    }
}

static void report_text(const cli_job *job) {
    FILE *to = job->run.report;
    cli_report_operands(job);
    product_row(job);
    fputc('\n', to);
    char ratio[96] = "";
    if (job->multiplied && job->C.nnz > 0) {
        snprintf(ratio, sizeof ratio, "%s for each entry of C",
                 cli_general((double)job->plan.products / (double)job->C.nnz).text);
    }
    cli_table_row(to, "products", cli_count(job->plan.products).text, "%s", ratio);
    semiring_row(job);
    filter_row(job);
    if (job->options.verbose || job->options.dry_run) {
        plan_rows(job);
    }
    part_rows(job);
    time_rows(job);
    if (job->multiplied) {
        cli_table_row(to, "memory", cli_bytes(job->peak_bytes).text,
                      job->run.gpu       ? "most in use at a time, on the GPU"
                      : cli_on_gpus(job) ? "most in use at a time, on one of the GPUs"
                                         : "most in use at a time");
    } else {
        cli_table_row(to, "memory", cli_bytes(needed_bytes(job)).text, "needed at most, in total");
    }
    if (job->checked) {
        cli_table_row(to, "check", job->check_ok ? "ok" : "FAILED", "%s",
                      !job->check_ok              ? ""
                      : job->difference.same_bits ? "the same bits as the reference"
                                                  : "the same values as the reference");
    }
    if (job->compared) {
        peer_rows(job);
    }
}

/* ---- for programs ---- */

static void peers_json(cli_json *json, const cli_job *job) {
    cli_json_open(json, "cusparse", '[');
    for (int i = 0; i < PEER_CUSPARSE_WAYS; i++) {
        const cli_peer *peer = &job->peers[i];
        const bool comparable = peer->ran && peer->difference.same_shape && peer->difference.same_pattern;
        cli_json_open(json, NULL, '{');
        cli_json_string(json, "algorithm", peer->name);
        cli_json_measured(json, "ms", peer->ran, peer->fastest_ms);
        cli_json_integer(json, "peak_bytes", peer->peak_bytes);
        cli_json_bool(json, "same_pattern", comparable);
        cli_json_number(json, "max_rel_err", comparable ? peer->difference.max_rel : (double)NAN);
        cli_json_string(json, "error", peer->ran ? NULL : peer->why);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void filter_json(cli_json *json, const cli_job *job) {
    const cli_options *o = &job->options;
    if (!cli_filters(o)) {
        cli_json_null(json, "filter");
        return;
    }
    cli_json_open(json, "filter", '{');
    cli_json_string(json, "mask", o->mask ? job->mask.name : NULL);
    cli_json_bool(json, "complement", o->complement);
    cli_json_number(json, "drop", o->drop >= 0 ? o->drop : (double)NAN);
    if (o->keep > 0) {
        cli_json_integer(json, "keep", o->keep);
    } else {
        cli_json_null(json, "keep");
    }
    cli_json_close(json, '}');
}

/* Writes a whole sum without a point or exponent, because shells calculate with integers only. */
static void sum_json(cli_json *json, const cli_job *job) {
    const bool here = job->multiplied && !job->streamed && job->C.where == LSP_HOST;
    const double sum = here ? sum_of(&job->C) : (double)NAN;
    if (is_whole(sum)) {
        cli_json_integer(json, "sum", (int64_t)sum);
    } else {
        cli_json_number(json, "sum", sum);
    }
}

static void times_json(cli_json *json, const cli_job *job) {
    const bool timed = job->timed;
    cli_json_open(json, "ms", '{');
    cli_json_measured(json, "read", true, job->run.read_ms);
    cli_json_measured(json, "multiply", timed, job->multiply_ms);
    cli_json_measured(json, "write", job->written, job->write_ms);
    cli_json_measured(json, "multiply_median", timed, job->median_ms);
    cli_json_measured(json, "multiply_cold", timed && job->options.repeat > 0, job->cold_ms);
    if (job->run.gpu || job->devices.count > 0) {
        cli_json_measured(json, "copy", job->multiplied, job->run.copy_ms);
    }
    cli_json_close(json, '}');
    cli_json_measured(json, "gflops", timed, cli_gflops(job));
}

static void check_json(cli_json *json, const cli_job *job) {
    if (!job->checked) {
        cli_json_null(json, "check");
        return;
    }
    const bool comparable = job->difference.same_shape && job->difference.same_pattern;
    cli_json_open(json, "check", '{');
    cli_json_bool(json, "ok", job->check_ok);
    cli_json_number(json, "max_rel_err", comparable ? job->difference.max_rel : (double)NAN);
    cli_json_close(json, '}');
}

static void plan_json(cli_json *json, const cli_job *job) {
    const lsp_spgemm_info *plan = &job->plan;
    cli_json_open(json, "plan", '{');
    cli_json_string(json, "reason", plan->reason);
    cli_json_integer(json, "passes", plan->passes);
    cli_json_integer(json, "plan_bytes", plan->plan_bytes);
    cli_json_integer(json, "blocks", plan->blocks);
    cli_json_integer(json, "nnz_bound", plan->nnz_bound);
    cli_json_integer(json, "scratch_bytes", plan->scratch_bytes);
    cli_json_integer(json, "bound_bytes", plan->bound_bytes);
    cli_json_integer(json, "needed_bytes", needed_bytes(job));
    cli_json_close(json, '}');
}

static void devices_json(cli_json *json, const cli_job *job) {
    if (job->devices.count == 0) {
        cli_json_null(json, "devices");
        return;
    }
    cli_json_open(json, "devices", '[');
    for (int i = 0; i < job->devices.count; i++) {
        const cli_part *part = &job->parts[i];
        cli_json_open(json, NULL, '{');
        cli_json_string(json, "device", job->devices.at[i].name);
        cli_json_string(json, "name", job->devices.at[i].about.device_name);
        cli_json_integer(json, "first_row", part->first_row);
        cli_json_integer(json, "rows", part->rows);
        cli_json_integer(json, "products", part->plan.products);
        if (job->multiplied) {
            cli_json_integer(json, "nnz", part->nnz);
        } else {
            cli_json_null(json, "nnz");
        }
        cli_json_measured(json, "ms", job->multiplied && !part->streamed, part->ms);
        cli_json_string(json, "reason", part->plan.reason);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void report_json(const cli_job *job) {
    const lsp_spgemm_info *plan = &job->plan;
    const cli_sizes sizes = cli_sizes_of(job);
    const bool done = job->multiplied;
    cli_json json = {.to = job->run.report};
    cli_json_open(&json, NULL, '{');
    cli_json_integer(&json, "rows", sizes.rows);
    cli_json_integer(&json, "cols", sizes.cols);
    cli_json_integer(&json, "nnz_a", job->A.csr.nnz);
    cli_json_integer(&json, "nnz_b", job->second->csr.nnz);
    if (done) {
        cli_json_integer(&json, "nnz_c", job->C.nnz);
    } else {
        cli_json_null(&json, "nnz_c");
    }
    cli_json_integer(&json, "products", plan->products);
    cli_json_measured(&json, "compression", done && job->C.nnz > 0, (double)plan->products / (double)job->C.nnz);
    cli_json_string(&json, "device", job->run.gpu || cli_on_gpus(job) ? "cuda" : "cpu");
    devices_json(&json, job);
    cli_json_string(&json, "method", plan->method_name);
    times_json(&json, job);
    cli_json_integer(&json, "peak_bytes", job->peak_bytes);
    check_json(&json, job);
    if (job->compared) {
        peers_json(&json, job);
    }
    cli_json_string(&json, "formula", cli_formula(job));
    cli_json_string(&json, "a", job->A.name);
    cli_json_string(&json, "b", job->second->name);
    cli_json_string(&json, "c", job->written ? job->options.output : NULL);
    cli_json_string(&json, "semiring", job->options.semiring_name);
    filter_json(&json, job);
    sum_json(&json, job);
    cli_json_string(&json, "precision", cli_precision_name(&job->options));
    cli_json_integer(&json, "threads", job->run.machine.threads);
    cli_json_integer(&json, "repeats", done ? job->repeats : 0);
    plan_json(&json, job);
    cli_json_string(&json, "version", lsp_version());
    cli_json_close(&json, '}');
    fputc('\n', job->run.report);
}

void cli_report(const cli_job *job) {
    if (job->options.json) {
        report_json(job);
    } else if (!job->options.quiet) {
        report_text(job);
    }
}
