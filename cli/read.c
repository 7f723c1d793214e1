/* Reads A, B and the mask, or generates A. Each matrix is handed to the GPU at once, which copies it while the next
 * file is read. */
#include "steps.h"
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

/* The library's message about a malformed file is "path:line: reason": it is printed without the tool's name. */
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

/* A graph is often its own mask, so a file that is also A is read once. */
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

int cli_read(cli_job *job) {
    const cli_options *o = &job->options;
    CLI_STEP(o->generate ? generate(job, &job->A) : read_file(job, o->a, true, &job->A));
    cli_gpu_give(job, &job->A);
    job->second = o->b ? &job->B : &job->A;
    if (o->b) {
        CLI_STEP(read_file(job, o->b, true, &job->B));
        cli_gpu_give(job, &job->B);
    }
    job->held_bytes = bytes_of(&job->A.csr) + (o->b ? bytes_of(&job->B.csr) : 0);
    if (o->mask) {
        CLI_STEP(read_mask(job));
        cli_gpu_give(job, &job->mask);
    }
    return CLI_DONE;
}
