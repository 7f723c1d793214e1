/* A segmented sort by threads: cpu/threads.c prepares it, cpu/giants.c uses it. A giant is a segment so long that all
 * threads sort it together. */
#pragma once

#include "cpu.h"

typedef int64_t lsp_sort_counts[1 << SORT_LAST_DIGIT]; /* one for each value of a digit */

typedef struct lsp_sort_job {
    const lsp_ctx *ctx;
    lsp_task sort;
    const lsp_sort_kernels *kernels;
    int threads;
    bool changes;                    /* at least one of the outputs about changes of the key, or groups, are wanted */
    int64_t giant;                   /* items; all threads share a longer segment */
    int64_t whole_longest;           /* items; of longer segments only the first items are chosen (cpu/first.c) */
    int64_t longest;                 /* items of the longest segment */
    int64_t capacity;                /* items of the longest segment that is not a giant */
    int64_t steps;                   /* groups of STEP segments (cpu/threads.c) */
    int64_t *weight;                 /* prefix sums over the steps of their items plus segments */
    lsp_sort_workspace *workspace;   /* one for each thread */
    char *keys_spare, *values_spare; /* as long as the longest giant */
    lsp_sort_chosen *chosen;         /* one for each thread, and one for all */
    lsp_sort_counts *next;           /* for giants; one for each thread */
    lsp_key_range *ranges;           /* for giants; one for each thread */
    int64_t *sums;                   /* for giants and groups; threads + 1 */
    unsigned char *change;           /* with groups: the marks of changes */
} lsp_sort_job;

/* One of some even shares: items begin .. end-1, for one thread. */
typedef struct lsp_sort_share {
    int64_t number, begin, end;
    int thread;
} lsp_sort_share;

/* Calls do_share for each of `shares` even shares of n items, on all threads. */
void lsp_sort_by_shares(const lsp_sort_job *job, int64_t n, int64_t shares,
                        void (*do_share)(const void *data, const lsp_sort_share *share), const void *data);

/* The place of segment s, and its items. */
static inline lsp_sort_place lsp_sort_segment_place(const lsp_sort_job *job, int64_t s, int64_t *begin, int64_t *n) {
    const lsp_sort_place whole = lsp_sort_whole(&job->sort);
    int64_t end;
    lsp_segsort_bounds(job->sort.args, s, begin, &end);
    *n = end - *begin;
    return lsp_sort_place_at(&job->sort, &whole, *begin);
}

/* Copies the n items of a place to the output, unless they are there, by all threads. */
void lsp_sort_copy_by_shares(const lsp_sort_job *job, const lsp_sort_place *place, int64_t n);

/* Sorts every giant and notes its changes, one giant after the other, each by all threads. */
void lsp_sort_giants(const lsp_sort_job *job);

/* Brings the first items of segments that are longer than whole_longest to their front. */
void lsp_sort_firsts(const lsp_sort_job *job);

/* Lists the starts of all groups, from the marks of changes. */
void lsp_sort_groups(const lsp_sort_job *job);
