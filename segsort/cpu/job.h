/* A segmented sort by threads: cpu/threads.c prepares it, cpu/giants.c uses it. A giant is a segment so long that all
 * threads sort it together. */
#ifndef LSP_SEGSORT_CPU_JOB_H
#define LSP_SEGSORT_CPU_JOB_H

#include "cpu.h"

typedef int64_t lsp_sort_counts[1 << SORT_LAST_DIGIT]; /* one for each value of a digit */

typedef struct lsp_sort_job {
    const lsp_ctx *ctx;
    lsp_sort sort;
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

/* Sorts every giant and notes its changes, one giant after the other, each by all threads. */
void lsp_sort_giants(const lsp_sort_job *job);

/* Brings the first items of segments that are longer than whole_longest to their front. */
void lsp_sort_firsts(const lsp_sort_job *job);

/* Lists the starts of all groups, from the marks of changes. */
void lsp_sort_groups(const lsp_sort_job *job);

#endif
