/* suffix-array: sorts the suffixes of texts, finds repeats and patterns. Takes the steps of a run in their order and
 * ends with the exit code of the first one that fails. */
#include "job.h"
#include "places.h"

#include <stdlib.h>
#include <string.h>

static int check_places(const sa_options *o) {
    cli_place places[SA_MOST_FILES + 2];
    for (int i = 0; i < o->files; i++) {
        places[i] = (cli_place){.role = "the text", .path = o->file[i]};
    }
    places[o->files] = (cli_place){.role = "the file of patterns", .path = o->patterns};
    places[o->files + 1] = (cli_place){.role = "the result", .path = o->output, .output = true};
    return cli_places_check(places, o->files + 2);
}

static int run(sa_job *job) {
    const sa_options *o = &job->options;
    job->run.wanted = (lsp_ctx_options){.threads = (int)o->threads, .max_bytes = o->max_bytes};
    job->run.ordinal = o->ordinal;
    job->run.verbose = o->verbose;
    CLI_STEP(check_places(o));
    CLI_STEP(cli_devices_open(&job->run, o->device, o->quiet));
    CLI_STEP(sa_read(job));
    CLI_STEP(sa_sort(job));
    if (o->check) {
        CLI_STEP(sa_check(job));
    }
    const bool right = !job->checked_why[0];
    if (right) {
        CLI_STEP(sa_derive(job));
    }
    if (right && o->output) {
        CLI_STEP(sa_write(job));
    }
    sa_report(job);
    return right ? CLI_DONE
                 : cli_fail(CLI_CHECK, "the check failed: %s%s", job->checked_why,
                            o->output ? "; the result is not written" : "");
}

int main(int argc, char **argv) {
    sa_job job = {0};
    cli_run_begin(&job.run);
    int code = sa_options_read(argc, argv, &job.options);
    if (code != CLI_DONE) {
        return code;
    }
    job.run.to_pipe = job.options.output && strcmp(job.options.output, "-") == 0;
    job.run.report = job.run.to_pipe ? stderr : stdout;
    if (job.options.help) {
        cli_help(&sa_tool, stdout);
    } else if (job.options.version) {
        printf("%s %s\n", cli_tool_name(), lsp_version());
    } else {
        code = run(&job);
    }
    free(job.suffixes);
    free(job.lcp);
    free(job.bwt);
    free(job.first);
    free(job.count);
    free(job.places);
    sa_texts_free(&job.texts);
    sa_texts_free(&job.patterns);
    return cli_run_end(&job.run, code);
}
