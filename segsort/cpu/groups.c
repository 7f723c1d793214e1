/* Groups of equal keys: the places of all ones among the marks of changes, one after another. Threads count the ones of
 * their shares; prefix sums of the counts tell each share where it writes. */
#include "job.h"

static void count_groups_share(void *data, int64_t share, int thread) {
    const lsp_sort_job *job = data;
    const unsigned char *change = job->sort.args->change;
    int64_t begin, end, ones = 0;
    (void)thread;
    lsp_share(job->sort.args->n, (int)share, job->threads, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        ones += change[i];
    }
    job->sums[share + 1] = ones;
}

/* Writes the places of the ones from mark number i on to to[at .. end-1]. A place is written before it is known to be
 * one, which saves a branch; the next one overwrites it. */
static inline void list_ones(const unsigned char *change, int64_t i, void *to, lsp_type type, int64_t at, int64_t end) {
    for (; at < end; i++) {
        lsp_index_set(to, type, at, i);
        at += change[i];
    }
}

static void list_groups_share(void *data, int64_t share, int thread) {
    const lsp_sort_job *job = data;
    const lsp_segsort_args *args = job->sort.args;
    int64_t begin, end;
    (void)thread;
    lsp_share(args->n, (int)share, job->threads, &begin, &end);
    if (args->offset_type == LSP_I32) {
        list_ones(args->change, begin, args->group_at, LSP_I32, job->sums[share], job->sums[share + 1]);
    } else {
        list_ones(args->change, begin, args->group_at, LSP_I64, job->sums[share], job->sums[share + 1]);
    }
}

void lsp_sort_groups(const lsp_sort_job *job) {
    const lsp_segsort_args *args = job->sort.args;
    int64_t *sums = job->sums;
    sums[0] = 0;
    lsp_for_parts(job->ctx, job->threads, job->threads, count_groups_share, (void *)(uintptr_t)job);
    for (int share = 0; share < job->threads; share++) {
        sums[share + 1] += sums[share];
    }
    lsp_for_parts(job->ctx, job->threads, job->threads, list_groups_share, (void *)(uintptr_t)job);
    lsp_index_set(args->group_at, args->offset_type, sums[job->threads], args->n);
    *args->group_count = sums[job->threads];
}
