/* --info: prints the shape of each matrix, and the products and memory of their product. The plan gives these numbers
 * without multiplying. */
#include "json.h"
#include "steps.h"
#include "table.h"
#include "text.h"

#include <string.h>

enum { bar_length = 30 };

/* The strongest kind of symmetry that holds. */
static const char *symmetry_of(const lsp_csr_stats *stats) {
    return stats->symmetric           ? "symmetric"
           : stats->skew              ? "skew-symmetric"
           : stats->hermitian         ? "hermitian"
           : stats->pattern_symmetric ? "symmetric pattern"
                                      : "none";
}

/* ---- the product ---- */

/* Plans the product. */
static lsp_status plan_product(cli_job *job) {
    lsp_spgemm_options how = {.transpose_a = job->options.transpose_a,
                              .transpose_b = job->options.transpose_b,
                              .types = {.val_type = cli_product_type(job)}};
    return lsp_spgemm_explain(job->run.ctx, &job->A.csr, &job->second->csr, &how, &job->plan);
}

static bool is_defined(const cli_job *job) {
    const cli_sizes sizes = cli_sizes_of(job);
    return sizes.inner_a == sizes.inner_b;
}

/* ---- for people ---- */

static void histogram_text(FILE *to, const lsp_csr_stats *stats) {
    int64_t most = 1;
    int last = 0;
    for (int k = 0; k < 64; k++) {
        most = stats->histogram[k] > most ? stats->histogram[k] : most;
        last = stats->histogram[k] > 0 ? k : last;
    }
    fprintf(to, "\n%-11s %14s\n", "entries", "rows");
    for (int k = stats->histogram[0] > 0 ? 0 : 1; k <= last; k++) {
        char range[64], bar[bar_length + 1];
        int64_t low = k > 0 ? (int64_t)1 << (k - 1) : 0, high = k > 0 ? 2 * (low - 1) + 1 : 0;
        int length = (int)((double)stats->histogram[k] / (double)most * bar_length + 0.999);
        memset(bar, '#', sizeof bar);
        bar[length < bar_length ? length : bar_length] = 0;
        snprintf(range, sizeof range, low == high ? "%lld" : "%lld-%lld", (long long)low, (long long)high);
        cli_table_row(to, range, cli_count(stats->histogram[k]).text, "%s", bar);
    }
}

static void matrix_text(const cli_job *job, const cli_matrix *matrix, const lsp_csr_stats *stats) {
    FILE *to = job->run.report;
    const lsp_csr *A = &matrix->csr;
    cli_table_row(to, "symmetry", symmetry_of(stats), "%s", stats->square ? "" : "not square");
    if (!matrix->generated) {
        cli_table_row(to, "stored", cli_count(matrix->file.entries).text, "entries in the file%s, %s of text",
                      matrix->file.compressed ? ", compressed" : "", cli_bytes(matrix->file.bytes).text);
    }
    cli_table_row(to, "diagonal", cli_count(stats->diagonal).text, "entries on the diagonal");
    cli_table_row(to, "bandwidth", cli_count(stats->lower_bandwidth).text, "below the diagonal, %s above",
                  cli_count(stats->upper_bandwidth).text);
    cli_table_row(to, "row", cli_general(stats->mean_row).text,
                  "entries on average, standard deviation %s, from %s to %s", cli_general(stats->stddev_row).text,
                  cli_count(stats->min_row).text, cli_count(stats->max_row).text);
    cli_table_row(to, "column", cli_count(stats->max_col).text, "entries in the longest column");
    cli_table_row(to, "empty", cli_count(stats->empty_rows).text, "row%s, and %s column%s",
                  cli_plural(stats->empty_rows), cli_count(stats->empty_cols).text, cli_plural(stats->empty_cols));
    if (A->val_type != LSP_NONE) {
        cli_table_row(to, "zeros", cli_count(stats->zeros).text, "stored as entries; %s NaN or infinite",
                      cli_count(stats->not_finite).text);
    }
    histogram_text(to, stats);
}

static void product_text(const cli_job *job) {
    FILE *to = job->run.report;
    fprintf(to, "\n%s\n", cli_formula(job));
    if (!is_defined(job)) {
        cli_table_row(to, "products", "none", "%s is not defined%s", cli_formula(job),
                      job->second == &job->A ? cli_instead(job) : ": the sizes do not match");
        return;
    }
    const lsp_spgemm_info *plan = &job->plan;
    cli_table_row(to, "products", cli_count(plan->products).text, "multiplications");
    cli_table_row(to, "entries", cli_count(plan->nnz_bound).text, "at most");
    cli_table_row(to, "bytes", cli_bytes(plan->bound_bytes).text, "of C at most, and %s of scratch; a plan holds %s",
                  cli_bytes(plan->scratch_bytes).text, cli_bytes(plan->plan_bytes).text);
    cli_table_row(to, "method", plan->method_name, "%s", plan->reason);
}

/* ---- for programs ---- */

static void matrix_json(cli_json *json, const char *key, const cli_matrix *matrix, const lsp_csr_stats *stats) {
    const lsp_csr *A = &matrix->csr;
    const struct {
        const char *key;
        int64_t value;
    } counts[] = {{"rows", A->rows},
                  {"cols", A->cols},
                  {"nnz", A->nnz},
                  {"stored", matrix->generated ? A->nnz : matrix->file.entries},
                  {"duplicates", matrix->file.duplicates},
                  {"diagonal", stats->diagonal},
                  {"lower_bandwidth", stats->lower_bandwidth},
                  {"upper_bandwidth", stats->upper_bandwidth},
                  {"empty_rows", stats->empty_rows},
                  {"empty_cols", stats->empty_cols},
                  {"min_row", stats->min_row},
                  {"max_row", stats->max_row},
                  {"max_col", stats->max_col},
                  {"zeros", stats->zeros},
                  {"not_finite", stats->not_finite}};
    cli_json_open(json, key, '{');
    cli_json_string(json, "name", matrix->name);
    cli_json_string(json, "field", matrix->generated ? "real" : cli_field_name(matrix->file.field));
    cli_json_string(json, "symmetry", symmetry_of(stats));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        cli_json_integer(json, counts[i].key, counts[i].value);
    }
    cli_json_number(json, "mean_row", stats->mean_row);
    cli_json_number(json, "stddev_row", stats->stddev_row);
    int last = 63;
    while (last > 0 && stats->histogram[last] == 0) {
        last--;
    }
    cli_json_open(json, "histogram", '[');
    for (int k = 0; k <= last; k++) {
        cli_json_integer(json, NULL, stats->histogram[k]);
    }
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

static void product_json(cli_json *json, const cli_job *job) {
    if (!is_defined(job)) {
        cli_json_null(json, "product");
        return;
    }
    const lsp_spgemm_info *plan = &job->plan;
    cli_json_open(json, "product", '{');
    cli_json_string(json, "formula", cli_formula(job));
    cli_json_bool(json, "supported", true);
    cli_json_integer(json, "products", plan->products);
    cli_json_integer(json, "nnz_bound", plan->nnz_bound);
    cli_json_integer(json, "bound_bytes", plan->bound_bytes);
    cli_json_integer(json, "scratch_bytes", plan->scratch_bytes);
    cli_json_integer(json, "plan_bytes", plan->plan_bytes);
    cli_json_integer(json, "passes", plan->passes);
    cli_json_string(json, "reason", plan->reason);
    cli_json_close(json, '}');
}

int cli_info(cli_job *job) {
    const cli_matrix *matrices[] = {&job->A, &job->B};
    int count = job->second == &job->A ? 1 : 2;
    lsp_csr_stats stats[2];
    cli_progress_begin(&job->run.progress, "examining", job->A.name);
    for (int i = 0; i < count; i++) {
        lsp_status status = lsp_csr_get_stats(job->run.ctx, &matrices[i]->csr, &stats[i]);
        if (status != LSP_OK) {
            return cli_failed(&job->run, status);
        }
    }
    lsp_status status = is_defined(job) ? plan_product(job) : LSP_OK;
    if (status != LSP_OK) {
        return cli_failed(&job->run, status);
    }
    cli_progress_end(&job->run.progress);
    if (job->options.json) {
        cli_json json = {.to = job->run.report};
        cli_json_open(&json, NULL, '{');
        for (int i = 0; i < count; i++) {
            matrix_json(&json, i ? "b" : "a", matrices[i], &stats[i]);
        }
        product_json(&json, job);
        cli_json_close(&json, '}');
        fputc('\n', job->run.report);
    } else if (!job->options.quiet) {
        cli_report_operands(job);
        for (int i = 0; i < count; i++) {
            fprintf(job->run.report, "\n%s\n", i ? "B" : "A");
            matrix_text(job, matrices[i], &stats[i]);
        }
        product_text(job);
    }
    return CLI_DONE;
}
