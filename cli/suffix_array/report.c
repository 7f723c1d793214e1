/* Writes the result: rows about the run and a line for each pattern for people; or one JSON object for programs; and
 * the file of -o. */
#include "job.h"
#include "json.h"
#include "output.h"
#include "table.h"
#include "text.h"

/* ---- the file ---- */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they lie in memory");

static void write_result(FILE *to, const sa_job *job) {
    const sa_output type = (sa_output)job->options.output_type;
    const void *array = type == SA_BWT ? job->bwt : type == SA_LCP ? job->lcp : job->suffixes;
    const size_t n = (size_t)job->text.n;
    if (!job->options.text) { /* the end of the file tells of errors */
        (void)fwrite(array, type == SA_BWT ? 1 : lsp_type_bytes(job->type), n, to);
        return;
    }
    for (size_t r = 0; r < n; r++) {
        fprintf(to, "%lld\n", (long long)sa_number_at(job, array, (int64_t)r));
    }
}

int sa_write(sa_job *job) {
    const char *path = job->options.output;
    cli_output file;
    int code = CLI_DONE;
    cli_progress_begin(&job->run.progress, "writing", path);
    if (job->run.to_pipe) {
        write_result(stdout, job); /* cli_run_end tells what could not be written */
    } else {
        const bool opened = cli_output_open(&file, path);
        if (opened) {
            write_result(file.to, job);
        }
        code = cli_output_close(&file, opened, path, "result");
    }
    job->write_ms = cli_progress_end(&job->run.progress);
    job->written = code == CLI_DONE;
    return code;
}

/* ---- places ---- */

/* The name of the string that has symbol i; NULL for one text that is no record. *offset: counted in the string. */
static const char *name_of(const sa_job *job, int64_t i, int64_t *offset) {
    const int64_t s = sa_string_of(&job->texts, i);
    *offset = i - job->texts.starts[s];
    return job->records || job->texts.strings > 1 ? job->texts.names[s] : NULL;
}

/* A line for each pattern: the pattern, how often it occurs, and the first places, separated by tabs. */
static void print_patterns(FILE *to, const sa_job *job) {
    for (int64_t p = 0; p < job->patterns.strings && job->count; p++) {
        const int64_t kept = sa_places(job, job->first[p], job->count[p], job->options.places, job->places);
        cli_print(to, job->patterns.names[p]);
        fprintf(to, "\t%lld", (long long)job->count[p]);
        for (int64_t k = 0; k < kept; k++) {
            fputc('\t', to);
            int64_t offset;
            const char *name = name_of(job, job->places[k], &offset);
            cli_print(to, name ? name : "");
            fprintf(to, "%s%lld", name ? ":" : "", (long long)offset);
        }
        fputc('\n', to);
    }
}

/* ---- for people ---- */

#define ROW(...) (fputs(job->count ? "# " : "", to), cli_table_row(to, __VA_ARGS__))

static void statistics_rows(FILE *to, const sa_job *job) {
    const int shown = job->repeat < 32 ? (int)job->repeat : 32;
    int64_t offset = 0;
    const char *name = job->repeat > 0 ? name_of(job, job->repeat_place, &offset) : NULL;
    if (job->repeat > 0) {
        ROW("repeat", cli_count(job->repeat).text, "symbols, the longest; %s places, the first is %s%s%lld: %.*s%s",
            cli_count(job->repeat_count).text, name ? name : "", name ? ":" : "", (long long)offset, shown,
            job->texts.symbols + job->repeat_place, shown < job->repeat ? "..." : "");
    } else {
        ROW("repeat", "none", "no symbol occurs twice");
    }
    if (job->distinct >= 0) {
        ROW("distinct", cli_count(job->distinct).text, "substrings");
    }
    ROW("prefixes", cli_time(job->lcp_ms).text, "common ones, for the statistics");
}

static void report_rows(FILE *to, const sa_job *job) {
    const cli_run *run = &job->run;
    const sa_options *o = &job->options;
    char more[48] = "";
    if (o->files > 1) {
        snprintf(more, sizeof more, " and %d more", o->files - 1);
    }
    ROW("symbols", cli_count(job->text.n).text, "%s%s", job->name, more);
    ROW("strings", cli_count(job->texts.strings).text, "the longest has %s symbols", cli_count(job->longest).text);
    ROW("alphabet", cli_count(job->info.alphabet).text, "different symbols");
    if (job->counted) {
        statistics_rows(to, job);
    }
    if (job->bwt) {
        ROW("primary", cli_count(job->primary).text, "the place where the transform leaves out suffix 0");
    }
    if (o->verbose) {
        ROW("method", lsp_suffix_method_name(job->info.method), "%s", job->info.reason);
        ROW("device", run->gpu ? "cuda" : "cpu", "%s, %d thread%s", run->machine.device_name, run->machine.threads,
            cli_plural(run->machine.threads));
        ROW("read", cli_time(run->read_ms).text, "%s", "");
        ROW("memory", cli_bytes(job->info.scratch_bytes).text, "of the sort, beside text and array");
    }
    ROW("sort", cli_time(job->sort_ms).text, "%s", lsp_suffix_method_name(job->info.method));
    if (job->count) {
        ROW("search", cli_time(job->search_ms).text, "%s pattern%s", cli_count(job->patterns.strings).text,
            cli_plural(job->patterns.strings));
    }
    if (job->checked) {
        ROW("check", job->checked_why[0] ? "WRONG" : "right", "%s in %s", job->checked_why,
            cli_time(job->check_ms).text);
    }
    if (job->written) {
        ROW("write", cli_time(job->write_ms).text, "%s", run->to_pipe ? "standard output" : o->output);
    }
}

/* ---- for programs ---- */

static void place_json(cli_json *json, const sa_job *job, int64_t i) {
    int64_t offset;
    cli_json_string(json, "name", name_of(job, i, &offset));
    cli_json_integer(json, "offset", offset);
}

static void patterns_json(cli_json *json, const sa_job *job) {
    cli_json_open(json, "patterns", '[');
    for (int64_t p = 0; p < job->patterns.strings && job->count; p++) {
        const int64_t kept = sa_places(job, job->first[p], job->count[p], job->options.places, job->places);
        cli_json_open(json, NULL, '{');
        cli_json_string(json, "pattern", job->patterns.names[p]);
        cli_json_integer(json, "count", job->count[p]);
        cli_json_open(json, "places", '[');
        for (int64_t k = 0; k < kept; k++) {
            cli_json_open(json, NULL, '{');
            place_json(json, job, job->places[k]);
            cli_json_close(json, '}');
        }
        cli_json_close(json, ']');
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void result_json(cli_json *json, const sa_job *job) {
    if (job->counted && job->repeat > 0) {
        cli_json_open(json, "repeat", '{');
        cli_json_integer(json, "length", job->repeat);
        cli_json_integer(json, "count", job->repeat_count);
        place_json(json, job, job->repeat_place);
        cli_json_close(json, '}');
    } else {
        cli_json_null(json, "repeat");
    }
    if (job->counted && job->distinct >= 0) {
        cli_json_integer(json, "distinct", job->distinct);
    } else {
        cli_json_null(json, "distinct");
    }
    if (job->bwt) {
        cli_json_integer(json, "primary", job->primary);
    }
}

static void report_json(FILE *to, const sa_job *job) {
    cli_json json = {.to = to};
    const cli_run *run = &job->run;
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "files", '[');
    for (int i = 0; i < job->options.files; i++) {
        cli_json_string(&json, NULL, job->options.file[i]);
    }
    cli_json_close(&json, ']');
    cli_json_integer(&json, "symbols", job->text.n);
    cli_json_integer(&json, "strings", job->texts.strings);
    cli_json_integer(&json, "longest", job->longest);
    cli_json_integer(&json, "alphabet", job->info.alphabet);
    result_json(&json, job);
    patterns_json(&json, job);
    cli_json_string(&json, "output", job->written ? job->options.output : NULL);
    cli_json_string(&json, "index", job->type == LSP_I32 ? "i32" : "i64");
    cli_json_string(&json, "device", run->gpu ? "cuda" : "cpu");
    cli_json_string(&json, "method", lsp_suffix_method_name(job->info.method));
    cli_json_string(&json, "reason", job->info.reason);
    cli_json_integer(&json, "rounds", job->info.rounds);
    cli_json_check(&json, job->checked, job->checked_why);
    cli_json_open(&json, "ms", '{');
    cli_json_measured(&json, "read", true, run->read_ms);
    cli_json_measured(&json, "sort", true, job->sort_ms);
    cli_json_measured(&json, "check", job->checked, job->check_ms);
    cli_json_measured(&json, "prefixes", job->lcp, job->lcp_ms);
    cli_json_measured(&json, "search", job->count, job->search_ms);
    cli_json_measured(&json, "write", job->written, job->write_ms);
    cli_json_close(&json, '}');
    cli_json_integer(&json, "scratch_bytes", job->info.scratch_bytes);
    cli_json_integer(&json, "threads", run->machine.threads);
    cli_json_string(&json, "version", lsp_version());
    cli_json_close(&json, '}');
    fputc('\n', to);
}

void sa_report(const sa_job *job) {
    if (job->options.json) {
        report_json(job->run.report, job);
        return;
    }
    if (!job->options.quiet) {
        report_rows(job->run.report, job);
    }
    print_patterns(job->run.report, job);
}
