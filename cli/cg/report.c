/* Prints the result of a run: an aligned table for people, or one JSON object for programs. */
#include "cg.h"
#include "json.h"
#include "table.h"
#include "text.h"

#include <math.h>
#include <string.h>

static const char *method_name(const cg_job *job) { return lsp_spmv_method_name(job->spmv->method); }

static double relative_error(double zeta, double reference) { return fabs(zeta - reference) / fabs(reference); }

static bool converged(const cg_job *job) { return job->status == LSP_OK; }

static const char *solver_run(const cg_job *job) {
    return job->options.nas ? job->benchmark.solver : job->solution.solver;
}

/* Then the products have a layout of their own, and no method. */
static bool in_one_kernel(const cg_job *job) { return solver_run(job) && strcmp(solver_run(job), "resident") == 0; }

static double plan_seconds(const cg_job *job) {
    return job->options.nas ? job->benchmark.plan_seconds : job->solution.plan_seconds;
}

/* ---- for people ---- */

static void result_rows(const cg_job *job) {
    FILE *to = job->run.report;
    cli_text number;
    if (job->options.nas) {
        const lsp_nas_result *r = &job->benchmark;
        snprintf(number.text, sizeof number.text, "%.12g", r->zeta);
        cli_table_row(to, "zeta", number.text, "%s: the relative error is %.1e, the published value %.14g",
                      r->verified ? "verified" : "WRONG", relative_error(r->zeta, r->reference), r->reference);
        return;
    }
    const lsp_solve_info *s = &job->solution;
    cli_table_row(to, "solver", cg_solver_name(&job->options), "%s%s", s->reason,
                  job->options.precondition == CG_MULTIGRID ? "; preconditioned by multigrid"
                  : job->options.precondition == CG_JACOBI  ? "; preconditioned by the diagonal"
                                                            : "");
    cli_table_row(to, "iterations", cli_count(s->iterations).text, "%s", converged(job) ? "" : "NOT CONVERGED");
    snprintf(number.text, sizeof number.text, "%.2e", s->residual);
    cli_table_row(to, "residual", number.text, "|b - A x| / |b|, computed anew from x");
    if (!job->options.rhs) {
        snprintf(number.text, sizeof number.text, "%.2e", job->error);
        cli_table_row(to, "error", number.text, "the largest |x - 1|: b is A times ones");
    }
}

/* The hierarchy; with --verbose each of its levels. */
static void multigrid_rows(const cg_job *job) {
    FILE *to = job->run.report;
    const lsp_multigrid_info *m = &job->multigrid;
    cli_text number;
    snprintf(number.text, sizeof number.text, "%d level%s", m->levels, cli_plural(m->levels));
    cli_table_row(to, "multigrid", number.text, "%s; complexity of grids %.2f, of operators %.2f; %s held",
                  cg_smoother_name(&job->options), m->grid_complexity, m->operator_complexity,
                  cli_bytes(m->bytes).text);
    for (int i = 0; i < m->levels && job->options.verbose; i++) {
        snprintf(number.text, sizeof number.text, "%d", i);
        if (i + 1 < m->levels) {
            cli_table_row(to, "level", number.text, "%s rows, %s entries; radius %.3f", cli_count(m->rows[i]).text,
                          cli_count(m->nnz[i]).text, m->radius[i]);
        } else {
            cli_table_row(to, "level", number.text, "%s rows, %s entries; %s", cli_count(m->rows[i]).text,
                          cli_count(m->nnz[i]).text, m->reason);
        }
    }
}

/* What the model predicts for the other methods. */
static void other_methods(const lsp_spmv_info *p, char *text, size_t bytes) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < LSP_SPMV_METHODS && used < bytes; i++) {
        if (i != (int)p->method && p->seconds[i] > 0) {
            used += (size_t)snprintf(text + used, bytes - used, "%s%s %s", used > 0 ? ", " : "; ",
                                     lsp_spmv_method_name((lsp_spmv_method)i), cli_time(p->seconds[i] * 1e3).text);
        }
    }
}

static void method_rows(const cg_job *job) {
    FILE *to = job->run.report;
    const lsp_spmv_info *p = job->spmv;
    char passes[40] = "", others[320];
    if (p->method == LSP_SPMV_GATHER) {
        snprintf(passes, sizeof passes, ", %d pass%s", p->passes, p->passes == 1 ? "" : "es");
    }
    cli_table_row(to, "method", method_name(job), "%s%s", p->reason, passes);
    other_methods(p, others, sizeof others);
    cli_table_row(to, "predicted", cli_time(p->predicted_seconds * 1e3).text, "a product%s", others);
    if (job->product_seconds > 0) {
        cli_table_row(to, "measured", cli_time(job->product_seconds * 1e3).text, "a product");
    }
    cli_table_row(to, "runs", solver_run(job) ? solver_run(job) : "", "%s held by the plan, %s entries stored",
                  cli_bytes(p->plan_bytes).text, cli_count(p->stored_entries).text);
    if (job->run.gpu) {
        cli_table_row(to, "device", "cuda", "%s", job->run.machine.device_name);
    } else {
        cli_table_row(to, "device", "cpu", "%s, %s, %d thread%s", job->run.machine.device_name, job->run.machine.isa,
                      job->run.machine.threads, cli_plural(job->run.machine.threads));
    }
}

static void time_rows(const cg_job *job) {
    FILE *to = job->run.report;
    char repeats[240] = "";
    const int64_t iterations = job->options.nas ? job->benchmark.iterations : job->solution.iterations;
    cli_table_row(to, job->A.generated ? "generate" : "read", cli_time(job->run.read_ms).text, "%s", "");
    if (job->multigrid.levels > 0) {
        cli_table_row(to, "set-up", cli_time(job->multigrid.setup_seconds * 1e3).text, "of multigrid");
    }
    cli_table_row(to, "plan", cli_time(plan_seconds(job) * 1e3).text, "%s",
                  in_one_kernel(job) ? "for one kernel that does all iterations" : method_name(job));
    if (job->options.repeat > 0 && converged(job)) {
        snprintf(repeats, sizeof repeats, ", the fastest of %s; median %s; a first run of %s is not counted",
                 cli_count(job->repeats).text, cli_time(job->median_seconds * 1e3).text,
                 cli_time(job->cold_seconds * 1e3).text);
    }
    if (job->options.nas) {
        cli_table_row(to, "run", cli_time(job->seconds * 1e3).text, "%.0f Mop/s, %lld iterations of 25 steps on %s%s",
                      job->benchmark.mops, (long long)iterations, job->run.gpu ? "the GPU" : "the CPU", repeats);
    } else {
        cli_table_row(to, "solve", cli_time(job->seconds * 1e3).text, "%s an iteration on %s%s",
                      cli_time(iterations > 0 ? job->seconds * 1e3 / (double)iterations : 0).text,
                      job->run.gpu ? "the GPU" : "the CPU", repeats);
    }
    if (job->run.gpu) {
        cli_table_row(to, "copy", cli_time(job->run.copy_ms).text, "to the GPU%s", job->options.nas ? "" : " and back");
    }
    if (job->written) {
        cli_table_row(to, "write", cli_time(job->write_ms).text, "%s",
                      strcmp(job->options.output, "-") == 0 ? "standard output" : job->options.output);
    }
}

static void peer_rows(const cg_job *job) {
    for (int i = 0; i < PEER_CG_WAYS; i++) {
        const cg_peer *peer = &job->peers[i];
        char result[80];
        if (!peer->ran) {
            cli_table_row(job->run.report, "cusparse", peer->name, "did not run: %s", peer->why);
            continue;
        }
        if (job->options.nas) {
            const double error = relative_error(peer->zeta, job->benchmark.reference);
            snprintf(result, sizeof result, "zeta %s", error <= 1e-10 ? "verified" : "WRONG");
        } else {
            snprintf(result, sizeof result, "residual %.2e after as many iterations", peer->residual);
        }
        cli_table_row(job->run.report, "cusparse", cli_time(peer->seconds * 1e3).text, "%s, %.3g times ours, %s",
                      peer->name, peer->seconds / job->seconds, result);
    }
}

static void report_text(const cg_job *job) {
    FILE *to = job->run.report;
    cli_table_head(to);
    cli_table_operand(to, "A", &job->A);
    if (job->options.rhs) {
        cli_table_operand(to, "b", &job->b);
    }
    fputc('\n', to);
    result_rows(job);
    if (job->multigrid.levels > 0) {
        multigrid_rows(job);
    }
    if (job->options.verbose) {
        method_rows(job);
    }
    time_rows(job);
    cli_table_row(to, "memory", cli_bytes(job->peak_bytes).text, "most in use at a time%s",
                  job->run.gpu ? ", on the GPU" : "");
    if (job->compared) {
        peer_rows(job);
    }
}

/* ---- for programs ---- */

static void result_json(cli_json *json, const cg_job *job) {
    const char class_name[] = {job->options.nas, 0};
    const bool nas = job->options.nas != 0;
    const lsp_nas_result *r = &job->benchmark;
    cli_json_string(json, "class", nas ? class_name : NULL);
    cli_json_integer(json, "n", job->A.csr.rows);
    cli_json_integer(json, "nnz", job->A.csr.nnz);
    cli_json_number(json, "zeta", nas ? r->zeta : (double)NAN);
    cli_json_number(json, "zeta_reference", nas ? r->reference : (double)NAN);
    if (nas) {
        cli_json_bool(json, "verified", r->verified);
    } else {
        cli_json_null(json, "verified");
    }
    cli_json_measured(json, "seconds", true, job->seconds);
    cli_json_measured(json, "mops", nas, r->mops);
    cli_json_string(json, "device", job->run.gpu ? "cuda" : "cpu");
    cli_json_string(json, "method", in_one_kernel(job) ? NULL : method_name(job));
    cli_json_integer(json, "passes", job->spmv->passes);
    cli_json_integer(json, "iterations", nas ? r->iterations : job->solution.iterations);
    cli_json_measured(json, "residual", true, nas ? r->residual : job->solution.residual);
}

static void system_json(cli_json *json, const cg_job *job) {
    const cg_options *o = &job->options;
    cli_json_string(json, "solver", o->nas ? "nas" : cg_solver_name(o));
    cli_json_string(json, "precondition", cg_precondition_name(o));
    if (o->nas) {
        cli_json_null(json, "converged");
    } else {
        cli_json_bool(json, "converged", converged(job));
    }
    cli_json_measured(json, "rtol", !o->nas, cg_rtol(o));
    cli_json_measured(json, "error", !o->nas && !o->rhs, job->error);
    cli_json_string(json, "matrix", job->A.name);
    cli_json_string(json, "rhs", o->rhs ? job->b.name : NULL);
    cli_json_string(json, "x", job->written ? o->output : NULL);
}

static void plan_json(cli_json *json, const cg_job *job) {
    const lsp_spmv_info *p = job->spmv;
    cli_json_open(json, "plan", '{');
    cli_json_string(json, "reason", p->reason);
    cli_json_string(json, "runs", solver_run(job));
    cli_json_measured(json, "seconds", true, plan_seconds(job));
    cli_json_integer(json, "bytes", p->plan_bytes);
    cli_json_integer(json, "stored_entries", p->stored_entries);
    cli_json_measured(json, "predicted_product", p->predicted_seconds > 0, p->predicted_seconds);
    cli_json_measured(json, "measured_product", job->product_seconds > 0, job->product_seconds);
    cli_json_open(json, "predicted", '{');
    for (int i = 0; i < LSP_SPMV_METHODS; i++) {
        if (p->seconds[i] > 0) {
            cli_json_measured(json, lsp_spmv_method_name((lsp_spmv_method)i), true, p->seconds[i]);
        }
    }
    cli_json_close(json, '}');
    cli_json_close(json, '}');
}

static void multigrid_json(cli_json *json, const cg_job *job) {
    const lsp_multigrid_info *m = &job->multigrid;
    cli_json_open(json, "multigrid", '{');
    cli_json_string(json, "smoother", cg_smoother_name(&job->options));
    cli_json_string(json, "cycle", job->options.mg_cycle == 1 ? "w" : "v");
    cli_json_measured(json, "setup_seconds", true, m->setup_seconds);
    cli_json_measured(json, "grid_complexity", true, m->grid_complexity);
    cli_json_measured(json, "operator_complexity", true, m->operator_complexity);
    cli_json_integer(json, "bytes", m->bytes);
    cli_json_string(json, "reason", m->reason);
    cli_json_open(json, "levels", '[');
    for (int i = 0; i < m->levels; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_integer(json, "n", m->rows[i]);
        cli_json_integer(json, "nnz", m->nnz[i]);
        cli_json_measured(json, "radius", m->radius[i] > 0, m->radius[i]);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

static void peers_json(cli_json *json, const cg_job *job) {
    cli_json_open(json, "cusparse", '[');
    for (int i = 0; i < PEER_CG_WAYS; i++) {
        const cg_peer *peer = &job->peers[i];
        cli_json_open(json, NULL, '{');
        cli_json_string(json, "way", peer->name);
        cli_json_measured(json, "seconds", peer->ran, peer->seconds);
        cli_json_number(json, "zeta", peer->ran && job->options.nas ? peer->zeta : (double)NAN);
        cli_json_measured(json, "residual", peer->ran && !job->options.nas, peer->residual);
        cli_json_string(json, "error", peer->ran ? NULL : peer->why);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void report_json(const cg_job *job) {
    const bool repeated = job->options.repeat > 0 && converged(job);
    cli_json json = {.to = job->run.report};
    cli_json_open(&json, NULL, '{');
    result_json(&json, job);
    system_json(&json, job);
    cli_json_measured(&json, "seconds_median", true, job->median_seconds);
    cli_json_measured(&json, "seconds_cold", repeated, job->cold_seconds);
    cli_json_open(&json, "ms", '{');
    cli_json_measured(&json, "read", true, job->run.read_ms);
    cli_json_measured(&json, "copy", job->run.gpu != NULL, job->run.copy_ms);
    cli_json_measured(&json, "write", job->written, job->write_ms);
    cli_json_close(&json, '}');
    plan_json(&json, job);
    if (job->multigrid.levels > 0) {
        multigrid_json(&json, job);
    }
    if (job->compared) {
        peers_json(&json, job);
    }
    cli_json_integer(&json, "peak_bytes", job->peak_bytes);
    cli_json_string(&json, "precision", job->options.precision == 1 ? "f32" : "f64");
    cli_json_integer(&json, "threads", job->run.machine.threads);
    cli_json_integer(&json, "repeats", job->repeats);
    cli_json_string(&json, "version", lsp_version());
    cli_json_close(&json, '}');
    fputc('\n', job->run.report);
}

void cg_report(const cg_job *job) {
    if (job->options.json) {
        report_json(job);
    } else if (!job->options.quiet) {
        report_text(job);
    }
}

int cg_verdict(const cg_job *job) {
    const lsp_nas_result *r = &job->benchmark;
    if (job->options.nas && !r->verified) {
        return cli_fail(CLI_CHECK, "zeta does not verify: it is %.15g instead of %.15g, a relative error of %.3g",
                        r->zeta, r->reference, relative_error(r->zeta, r->reference));
    }
    return converged(job) ? CLI_DONE
                          : cli_fail(CLI_CHECK, "%s%s", job->sentence, job->options.output ? "; x is not written" : "");
}
