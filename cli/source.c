/* Reads a matrix from a file, or generates it by name. */
#include "source.h"
#include "text.h"

#include <string.h>

const char cli_generators[] = "poisson2d|stencil27|fem3|er|rmat|web|perm|amg|amg27|amgfem3|nascg";

static int generate(cli_run *run, const cli_source *from, cli_matrix *matrix) {
    uint64_t seed = from->seed >= 0 ? (uint64_t)from->seed : 1;
    matrix->name = from->spec;
    matrix->generated = true;
    matrix->seed = from->seed;
    cli_progress_begin(&run->progress, "generating", matrix->name);
    lsp_status status = lsp_generate(run->ctx, from->spec, seed, &from->types, &matrix->csr);
    run->read_ms += cli_progress_end(&run->progress);
    if (status == LSP_ERR_ARGUMENT) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(from->spec, ":"), from->spec);
        return cli_unknown(name, cli_generators, "%s", lsp_last_error(run->ctx));
    }
    return status == LSP_OK ? CLI_DONE : cli_failed(run, status);
}

/* The library's message about a malformed file is "name:line: reason": it is printed without the tool's name. */
static int read_failed(cli_run *run, const char *name, lsp_status status) {
    const char *sentence = lsp_last_error(run->ctx);
    size_t length = strlen(name);
    if ((status == LSP_ERR_FORMAT || status == LSP_ERR_OVERFLOW) && strncmp(sentence, name, length) == 0 &&
        sentence[length] == ':') {
        cli_print(stderr, sentence);
        fputc('\n', stderr);
        return CLI_INPUT;
    }
    int code = cli_failed(run, status);
    return code == CLI_MEMORY && status == LSP_ERR_MEMORY ? CLI_MEMORY : CLI_INPUT;
}

int cli_matrix_make(cli_run *run, const cli_source *from, cli_matrix *matrix) {
    if (!from->path) {
        return generate(run, from, matrix);
    }
    const lsp_mtx_read_options how = {.lenient = from->lenient, .types = from->types};
    matrix->name = strcmp(from->path, "-") == 0 ? "standard input" : from->path;
    cli_progress_begin(&run->progress, "reading", matrix->name);
    lsp_status status = lsp_mtx_read(run->ctx, from->path, &how, &matrix->csr, &matrix->file);
    run->read_ms += cli_progress_end(&run->progress);
    return status == LSP_OK ? CLI_DONE : read_failed(run, matrix->name, status);
}

int64_t cli_matrix_bytes(const lsp_csr *matrix) {
    return (matrix->rows + 1) * (int64_t)lsp_type_bytes(matrix->rowptr_type) +
           matrix->nnz * (int64_t)(lsp_type_bytes(matrix->col_type) + lsp_type_bytes(matrix->val_type));
}

int64_t cli_index_at(const void *array, lsp_type type, int64_t i) {
    return type == LSP_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}
