/* Groups of equal keys: the places of all ones among the marks of changes, one after another. Threads count the ones of
 * their shares; prefix sums of the counts tell each share where it writes. */
#include "job.h"

static void count_groups_share(const void *data, const lsp_sort_share *share) {
    const lsp_sort_job *job = data;
    const unsigned char *change = job->sort.args->change;
    const int64_t end = share->end;
    int64_t ones = 0;
    for (int64_t i = share->begin; i < end; i++) {
        ones += change[i];
    }
    job->sums[share->number + 1] = ones;
}

/* Writes the places of the ones from mark number i on to to[at .. end-1]. A place is written before it is known to be
 * one, which saves a branch; the next one overwrites it. */
static inline void list_ones(const unsigned char *change, int64_t i, void *to, lsp_type type, int64_t at, int64_t end) {
    for (; at < end; i++) {
        lsp_index_set(to, type, at, i);
        at += change[i];
    }
}

static void list_groups_share(const void *data, const lsp_sort_share *share) {
    const lsp_sort_job *job = data;
    const lsp_segsort_args *args = job->sort.args;
    const int64_t *sums = job->sums + share->number;
    if (args->offset_type == LSP_I32) {
        list_ones(args->change, share->begin, args->group_at, LSP_I32, sums[0], sums[1]);
    } else {
        list_ones(args->change, share->begin, args->group_at, LSP_I64, sums[0], sums[1]);
    }
}

void lsp_sort_groups(const lsp_sort_job *job) {
    const lsp_segsort_args *args = job->sort.args;
    int64_t *sums = job->sums;
    sums[0] = 0;
    lsp_sort_by_shares(job, args->n, job->threads, count_groups_share, job);
    for (int share = 0; share < job->threads; share++) {
        sums[share + 1] += sums[share];
    }
    lsp_sort_by_shares(job, args->n, job->threads, list_groups_share, job);
    lsp_index_set(args->group_at, args->offset_type, sums[job->threads], args->n);
    *args->group_count = sums[job->threads];
}
