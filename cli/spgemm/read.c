/* Reads A, B and the mask, or generates A. Each matrix is handed to the GPU at once, which copies it while the next
 * file is read. */
#include "steps.h"

#include <string.h>

static int read_file(cli_job *job, const char *path, bool values, cli_matrix *matrix) {
    const cli_options *o = &job->options;
    cli_source from = {.path = path, .lenient = o->lenient, .types.drop_values = !values};
    const bool typed = cli_integers(o) || (o->precision == 1 && !o->info); /* f64: a pattern stays one */
    from.types.val_type = typed && values ? cli_value_type(o) : LSP_NONE;
    return cli_matrix_make(&job->run, &from, matrix);
}

static int generate(cli_job *job, cli_matrix *matrix) {
    const cli_options *o = &job->options;
    const cli_source from = {.spec = o->generate, .seed = o->seed, .types.val_type = cli_value_type(o)};
    return cli_matrix_make(&job->run, &from, matrix);
}

/* A graph is often its own mask, so a file that is also A is read once. */
static int read_mask(cli_job *job) {
    const cli_options *o = &job->options;
    if (!o->a || strcmp(o->a, o->mask) != 0) {
        CLI_STEP(read_file(job, o->mask, false, &job->mask));
        job->held_bytes += cli_matrix_bytes(&job->mask.csr);
        return CLI_DONE;
    }
    job->mask = job->A;
    job->mask.csr.val_type = LSP_NONE;
    job->mask.csr.val = NULL;
    return CLI_DONE;
}

int cli_read(cli_job *job) {
    const cli_options *o = &job->options;
    CLI_STEP(o->generate ? generate(job, &job->A) : read_file(job, o->a, true, &job->A));
    cli_gpu_give(job, &job->A);
    job->second = o->b ? &job->B : &job->A;
    if (o->b) {
        CLI_STEP(read_file(job, o->b, true, &job->B));
        cli_gpu_give(job, &job->B);
    }
    job->held_bytes = cli_matrix_bytes(&job->A.csr) + (o->b ? cli_matrix_bytes(&job->B.csr) : 0);
    if (o->mask) {
        CLI_STEP(read_mask(job));
        cli_gpu_give(job, &job->mask);
    }
    return CLI_DONE;
}
