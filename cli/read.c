/* A and B, from files or by name. */
#include "spgemm.h"
#include "text.h"

#include <string.h>

static int generate(cli_job *job, cli_matrix *matrix) {
    const cli_options *o = &job->options;
    lsp_csr_types types = {.val_type = cli_value_type(o)};
    uint64_t seed = o->seed >= 0 ? (uint64_t)o->seed : 1;
    matrix->name = o->generate;
    matrix->generated = true;
    cli_progress_begin(&job->progress, "generating", matrix->name);
    lsp_status status = lsp_generate(job->ctx, o->generate, seed, &types, &matrix->csr);
    job->read_ms += cli_progress_end(&job->progress);
    if (status == LSP_ERR_ARGUMENT) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(o->generate, ":"), o->generate);
        return cli_unknown(&spgemm_tool, name, cli_generators, "%s", lsp_last_error(job->ctx));
    }
    return status == LSP_OK ? CLI_DONE : cli_failed(job, status);
}

/* The library's sentence on a file is "path:line: what is wrong", complete as it is. */
static int read_failed(cli_job *job, const char *path, lsp_status status) {
    const char *sentence = lsp_last_error(job->ctx);
    size_t length = strlen(path);
    if (status == LSP_ERR_FORMAT && strncmp(sentence, path, length) == 0 && sentence[length] == ':') {
        cli_print(stderr, sentence);
        fputc('\n', stderr);
        return CLI_INPUT;
    }
    int code = cli_failed(job, status);
    return code == CLI_MEMORY && status == LSP_ERR_MEMORY ? CLI_MEMORY : CLI_INPUT;
}

static int read_file(cli_job *job, const char *path, bool values, cli_matrix *matrix) {
    const cli_options *o = &job->options;
    lsp_mtx_read_options how = {.lenient = o->lenient, .types.drop_values = !values};
    how.types.val_type = o->precision == 1 && !o->info && values ? LSP_F32 : LSP_NONE;
    matrix->name = strcmp(path, "-") == 0 ? "standard input" : path;
    cli_progress_begin(&job->progress, "reading", matrix->name);
    lsp_status status = lsp_mtx_read(job->ctx, path, &how, &matrix->csr, &matrix->file);
    job->read_ms += cli_progress_end(&job->progress);
    return status == LSP_OK ? CLI_DONE : read_failed(job, path, status);
}

static int64_t bytes_of(const lsp_csr *matrix) {
    return (matrix->rows + 1) * (int64_t)lsp_type_bytes(matrix->rowptr_type) +
           matrix->nnz * (int64_t)(lsp_type_bytes(matrix->col_type) + lsp_type_bytes(matrix->val_type));
}

/* A graph is often its own mask: a file that is A too is read once. */
static int read_mask(cli_job *job) {
    const cli_options *o = &job->options;
    if (!o->a || strcmp(o->a, o->mask) != 0) {
        CLI_STEP(read_file(job, o->mask, false, &job->mask));
        job->held_bytes += bytes_of(&job->mask.csr);
        return CLI_DONE;
    }
    job->mask = job->A;
    job->mask.csr.val_type = LSP_NONE;
    job->mask.csr.val = NULL;
    return CLI_DONE;
}

/* What was read is copied to the GPU, if one is asked for, while the next file is read. */
static void give(cli_job *job, const cli_matrix *matrix) {
    if (job->loader.begun && !job->options.info) {
        cli_loader_give(&job->loader, &matrix->csr);
    }
}

void cli_read_there(cli_job *job) {
    give(job, &job->A);
    if (job->second != &job->A) {
        give(job, &job->B);
    }
    if (job->options.mask) {
        give(job, &job->mask);
    }
}

int cli_read(cli_job *job) {
    const cli_options *o = &job->options;
    CLI_STEP(o->generate ? generate(job, &job->A) : read_file(job, o->a, true, &job->A));
    give(job, &job->A);
    job->second = o->b ? &job->B : &job->A;
    if (o->b) {
        CLI_STEP(read_file(job, o->b, true, &job->B));
        give(job, &job->B);
    }
    job->held_bytes = bytes_of(&job->A.csr) + (o->b ? bytes_of(&job->B.csr) : 0);
    if (o->mask) {
        CLI_STEP(read_mask(job));
        give(job, &job->mask);
    }
    return CLI_DONE;
}
