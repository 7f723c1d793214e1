/* two-body: counts, histograms, g(r), densities and neighbours of points in files. Takes the steps of a run in their
 * order and ends with the exit code of the first one that fails. */
#include "emit.h"
#include "places.h"
#include "text.h"
#include "two_body.h"

#include <stdlib.h>
#include <string.h>

static int check_places(const tb_options *o) {
    cli_place places[] = {{.role = "the first set", .path = o->file[0]},
                          {.role = "the second set", .path = o->file[1]},
                          {.role = "the result", .path = o->output, .output = true},
                          {.role = "the picture", .path = o->svg, .output = true}};
    return cli_places_check(places, sizeof places / sizeof *places);
}

static int open_contexts(tb_job *job) {
    const tb_options *o = &job->options;
    cli_run *run = &job->run;
    run->wanted = (lsp_ctx_options){.threads = (int)o->threads, .max_bytes = o->max_bytes};
    run->ordinal = o->ordinal;
    run->verbose = o->verbose;
    CLI_STEP(cli_devices_open(run, o->device, o->quiet));
    return cli_devices_begin(run, &job->devices);
}

static int run(tb_job *job) {
    const tb_options *o = &job->options;
    CLI_STEP(check_places(o));
    CLI_STEP(open_contexts(job));
    CLI_STEP(tb_read(job));
    CLI_STEP(tb_compute(job));
    if (o->check) {
        CLI_STEP(tb_check(job));
    }
    if (o->svg) {
        CLI_STEP(tb_draw(job));
    }
    if (o->output && !job->checked_why[0]) {
        CLI_STEP(tb_write(job));
    }
    tb_report(job);
    return job->checked_why[0] ? cli_fail(CLI_CHECK, "the check failed: %s%s", job->checked_why,
                                          o->output ? "; the result is not written" : "")
                               : CLI_DONE;
}

int main(int argc, char **argv) {
    tb_job job = {0};
    if (argc > 1 && strcmp(argv[1], "generate") == 0) {
        return tb_emit(argc - 1, argv + 1);
    }
    cli_run_begin(&job.run);
    int code = tb_options_read(argc, argv, &job.options);
    code = code == CLI_DONE ? cli_devices_read(job.options.devices, &job.devices) : code;
    if (code != CLI_DONE) {
        return code;
    }
    job.run.to_pipe = job.options.output && strcmp(job.options.output, "-") == 0;
    job.run.report = job.run.to_pipe ? stderr : stdout;
    if (job.options.help) {
        cli_help(&tb_tool, stdout);
    } else if (job.options.version) {
        printf("%s %s\n", cli_tool_name(), lsp_version());
    } else {
        code = run(&job);
    }
    tb_free_shares(&job);
    cli_devices_end(&job.devices);
    free(job.counts);
    free(job.g);
    free(job.density);
    free(job.sets[0].values);
    free(job.sets[1].values);
    return cli_run_end(&job.run, code);
}
