/* Reads the texts and the patterns of a run. */
#include "file.h"
#include "job.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

typedef int (*reader)(const char *name, const char *text, size_t bytes, sa_texts *texts, char error[CLI_SENTENCE]);

static int read_text(const char *name, const char *text, size_t bytes, sa_texts *texts, char error[CLI_SENTENCE]) {
    if (bytes == 0) {
        snprintf(error, CLI_SENTENCE, "%.300s: the file is empty", name);
        return CLI_INPUT;
    }
    if (!sa_add(texts, name, strlen(name), text, bytes)) {
        snprintf(error, CLI_SENTENCE, "%.300s: no memory for %zu symbols", name, bytes);
        return CLI_MEMORY;
    }
    return CLI_DONE;
}

/* lines: the file has patterns. */
static int read_file(sa_job *job, const char *path, bool lines, sa_texts *texts) {
    const int format = job->options.format;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    char error[CLI_SENTENCE] = "";
    cli_file file;
    cli_progress_begin(&job->run.progress, "reading", name);
    int code = cli_file_read(path, name, job->options.max_bytes, &file);
    if (code == CLI_DONE) {
        const bool fasta = !lines && (format == 0 || (format < 0 && file.bytes > 0 && file.text[0] == '>'));
        const reader read = lines ? sa_read_lines : fasta ? sa_read_fasta : read_text;
        job->records = job->records || fasta;
        code = read(name, file.text, file.bytes, texts, error);
    }
    free(file.text);
    job->run.read_ms += cli_progress_end(&job->run.progress);
    if (*error) {
        cli_print(stderr, error);
        fputc('\n', stderr);
    }
    return code;
}

int sa_read(sa_job *job) {
    const sa_options *o = &job->options;
    sa_texts *t = &job->texts;
    job->name = strcmp(o->file[0], "-") == 0 ? "standard input" : o->file[0];
    if (o->patterns) {
        CLI_STEP(read_file(job, o->patterns, true, &job->patterns));
    }
    for (int i = 0; i < o->search.count; i++) {
        const char *word = o->search.word[i];
        if (!sa_add(&job->patterns, word, strlen(word), word, strlen(word))) {
            return cli_fail(CLI_MEMORY, "no memory for %d patterns", o->search.count);
        }
    }
    for (int i = 0; i < o->files; i++) {
        CLI_STEP(read_file(job, o->file[i], false, t));
    }
    for (int64_t s = 0; s < t->strings; s++) {
        const int64_t length = t->starts[s + 1] - t->starts[s];
        job->longest = length > job->longest ? length : job->longest;
    }
    const bool set = t->strings > 1;
    job->text = (lsp_text){.n = t->n,
                           .symbol_bytes = 1,
                           .symbols = t->symbols,
                           .strings = set ? t->strings : 0,
                           .starts = set ? t->starts : NULL};
    job->type = o->index == 0 || (o->index < 0 && t->n <= INT32_MAX) ? LSP_I32 : LSP_I64;
    return set && o->output_type == SA_BWT
               ? cli_usage("--output-type bwt takes one text, but there are %lld strings", (long long)t->strings)
               : CLI_DONE;
}
