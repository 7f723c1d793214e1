/* Calls the library: sorts, checks, and derives what the options ask for. */
#include "job.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

int64_t sa_number_at(const sa_job *job, const void *array, int64_t r) {
    return job->type == LSP_I32 ? ((const int32_t *)array)[r] : ((const int64_t *)array)[r];
}

static int make_array(int64_t n, size_t bytes, const char *what, void *array) {
    void *memory = calloc((size_t)n, bytes);
    memcpy(array, &memory, sizeof memory);
    return memory ? CLI_DONE : cli_fail(CLI_MEMORY, "no memory for %s: %lld items", what, (long long)n);
}

int sa_sort(sa_job *job) {
    const sa_options *o = &job->options;
    cli_run *run = &job->run;
    const lsp_suffix_options how = {.method = o->method > 0 ? (lsp_suffix_method)o->method : LSP_SUFFIX_AUTO};
    if (run->loader.begun && !cli_gpu_end(run)) {
        return cli_fail(CLI_DEVICE, "%s", run->loader.error);
    }
    lsp_ctx *ctx = run->gpu ? run->gpu : run->ctx;
    (void)lsp_ctx_get_info(ctx, &run->machine);
    CLI_STEP(make_array(job->text.n, lsp_type_bytes(job->type), "the suffix array", &job->suffixes));
    cli_progress_begin(&run->progress, "sorting", job->name);
    const lsp_status status = lsp_suffix_array(ctx, &job->text, &how, job->type, job->suffixes, &job->info);
    job->sort_ms = cli_progress_end(&run->progress);
    if (status == LSP_ERR_UNSUPPORTED && run->gpu) {
        return cli_fail(CLI_DEVICE, "on a GPU: %s (--device cpu)", lsp_last_error(ctx));
    }
    if (status == LSP_ERR_UNSUPPORTED) { /* induced sorting of a set */
        return cli_usage("%s", lsp_last_error(ctx));
    }
    return status == LSP_OK ? CLI_DONE : cli_failed_in(run, ctx, status);
}

int sa_check(sa_job *job) {
    cli_progress_begin(&job->run.progress, "checking", job->name);
    const lsp_status status = lsp_suffix_check(job->run.ctx, &job->text, job->type, job->suffixes);
    job->check_ms = cli_progress_end(&job->run.progress);
    job->checked = status == LSP_OK || status == LSP_ERR_FORMAT;
    if (status == LSP_ERR_FORMAT) {
        snprintf(job->checked_why, sizeof job->checked_why, "%s", lsp_last_error(job->run.ctx));
    }
    return job->checked ? CLI_DONE : cli_failed(&job->run, status);
}

/* ---- places ---- */

static int compare_places(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Whenever the room is full, it is sorted and its second half dropped: count * log(most) steps. */
int64_t sa_places(const sa_job *job, int64_t first, int64_t count, int64_t most, int64_t *places) {
    int64_t kept = 0, limit = INT64_MAX;
    for (int64_t r = first; r < first + count && most > 0; r++) {
        const int64_t i = sa_number_at(job, job->suffixes, r);
        if (i < limit) {
            places[kept++] = i;
        }
        if (kept == 2 * most) {
            qsort(places, (size_t)kept, sizeof *places, compare_places);
            kept = most;
            limit = places[most - 1];
        }
    }
    if (kept > 0) {
        qsort(places, (size_t)kept, sizeof *places, compare_places);
    }
    return kept < most ? kept : most;
}

/* ---- statistics ---- */

/* A substring is a prefix of a suffix, and new unless the suffix before has it too: the number is the sum of the
 * lengths of all suffixes less the sum of all common prefixes. It fits 63 bits for texts below 2^32 symbols. */
static int64_t count_distinct(const sa_job *job) {
    const int64_t *starts = job->texts.starts;
    int64_t sum = 0;
    for (int64_t s = 0; s < job->texts.strings; s++) {
        const int64_t length = starts[s + 1] - starts[s];
        sum += length % 2 ? (length + 1) / 2 * length : length / 2 * (length + 1);
    }
    for (int64_t r = 0; r < job->text.n; r++) {
        sum -= sa_number_at(job, job->lcp, r);
    }
    return sum;
}

static void find_repeat(sa_job *job) {
    const int64_t n = job->text.n;
    int64_t at = 0, end, places[3];
    for (int64_t r = 1; r < n; r++) {
        const int64_t common = sa_number_at(job, job->lcp, r);
        at = common > job->repeat ? r : at;
        job->repeat = common > job->repeat ? common : job->repeat;
    }
    if (job->repeat > 0) {
        for (end = at; end < n && sa_number_at(job, job->lcp, end) == job->repeat;) {
            end++;
        }
        job->repeat_count = end - at + 1;
        (void)sa_places(job, at - 1, job->repeat_count, 1, places);
        job->repeat_place = places[0];
    }
}

static int find_lcp(sa_job *job) {
    CLI_STEP(make_array(job->text.n, lsp_type_bytes(job->type), "the common prefixes", &job->lcp));
    cli_progress_begin(&job->run.progress, "comparing", job->name);
    const lsp_status status = lsp_suffix_lcp(job->run.ctx, &job->text, job->type, job->suffixes, job->lcp);
    if (status == LSP_OK && !job->options.quiet) {
        find_repeat(job);
        job->distinct = job->text.n <= UINT32_MAX ? count_distinct(job) : -1;
        job->counted = true;
    }
    job->lcp_ms = cli_progress_end(&job->run.progress);
    return status == LSP_OK ? CLI_DONE : cli_failed(&job->run, status);
}

static int search(sa_job *job) {
    const sa_texts *p = &job->patterns;
    const lsp_text patterns = {
        .n = p->n, .symbol_bytes = 1, .symbols = p->symbols, .strings = p->strings, .starts = p->starts};
    CLI_STEP(make_array(p->strings, sizeof *job->first, "first suffixes of patterns", &job->first));
    CLI_STEP(make_array(2 * job->options.places + 1, sizeof *job->places, "places of a pattern", &job->places));
    CLI_STEP(make_array(p->strings, sizeof *job->count, "counts of patterns", &job->count));
    cli_progress_begin(&job->run.progress, "searching", job->name);
    const lsp_status status =
        lsp_suffix_search(job->run.ctx, &job->text, job->type, job->suffixes, &patterns, job->first, job->count);
    job->search_ms = cli_progress_end(&job->run.progress);
    return status == LSP_OK ? CLI_DONE : cli_failed(&job->run, status);
}

static int transform(sa_job *job) {
    CLI_STEP(make_array(job->text.n, 1, "the transform", &job->bwt));
    const lsp_status status =
        lsp_suffix_bwt(job->run.ctx, &job->text, job->type, job->suffixes, job->bwt, &job->primary);
    return status == LSP_OK ? CLI_DONE : cli_failed(&job->run, status);
}

int sa_derive(sa_job *job) {
    const sa_options *o = &job->options;
    CLI_STEP(o->output_type == SA_LCP || !o->quiet ? find_lcp(job) : CLI_DONE);
    CLI_STEP(job->patterns.strings > 0 ? search(job) : CLI_DONE);
    return o->output_type == SA_BWT ? transform(job) : CLI_DONE;
}
