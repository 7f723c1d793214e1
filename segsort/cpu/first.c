/* The first items of long segments, without sorting the others: they are chosen in one pass (cpu/first_template.h), the
 * segment is copied to the output, and the chosen items change places with those at its front. Each thread takes
 * segments in turn. A segment that would be a giant is shared by all threads: each chooses from its share, and the
 * first items of all choices together are those of the segment. */
#include "job.h"

enum { PARTS_FOR_THREAD = 64 };

/* Moves the items at the front of the output, if they are not chosen, to where chosen ones lie, and then the chosen
 * ones to the front. */
static void bring_front(const lsp_task *sort, const lsp_sort_place *place, const lsp_sort_chosen *c, int64_t first) {
    const int64_t *from = (const int64_t *)(const void *)c->places[0];
    const size_t key = sort->key_bytes, value = sort->value_bytes;
    char *keys = place->keys_out, *values = place->values_out;
    int64_t i = 0;
    memset(c->at_front, 0, (size_t)first);
    for (int64_t j = 0; j < first; j++) {
        if (from[j] < first) {
            c->at_front[from[j]] = 1;
        }
        if (value > 0) {
            memcpy(c->values + (size_t)j * value, values + (size_t)from[j] * value, value);
        }
    }
    for (int64_t j = 0; j < first; j++) {
        if (from[j] < first) {
            continue;
        }
        for (; c->at_front[i]; i++) {
        }
        memcpy(keys + (size_t)from[j] * key, keys + (size_t)i * key, key);
        if (value > 0) {
            memcpy(values + (size_t)from[j] * value, values + (size_t)i * value, value);
        }
        i++;
    }
    memcpy(keys, c->keys[0], (size_t)first * key);
    if (value > 0) {
        memcpy(values, c->values, (size_t)first * value);
    }
}

/* Does one thread alone choose from a segment of n items? */
static bool is_ones(const lsp_sort_job *job, int64_t n) { return n > job->whole_longest && n <= job->giant; }

static void choose_alone(const void *data, const lsp_sort_share *share) {
    const lsp_sort_job *job = data;
    const lsp_task *sort = &job->sort;
    lsp_sort_chosen *c = &job->chosen[share->thread];
    for (int64_t s = share->begin; s < share->end; s++) {
        int64_t begin, n;
        const lsp_sort_place place = lsp_sort_segment_place(job, s, &begin, &n);
        if (is_ones(job, n)) {
            c->from = place.keys;
            job->kernels->choose(sort, &job->workspace[share->thread], c, 0, n);
            lsp_sort_copy(sort, &place, n);
            bring_front(sort, &place, c, sort->args->first);
        }
    }
}

/* Chooses from a share, and puts the choice where the choices of all shares are collected. */
static void choose_share(const void *data, const lsp_sort_share *share) {
    const lsp_sort_job *job = data;
    const size_t first = (size_t)job->sort.args->first, at = (size_t)share->number * first;
    const lsp_sort_chosen *all = &job->chosen[job->threads];
    lsp_sort_chosen *c = &job->chosen[share->thread];
    c->from = all->from;
    job->kernels->choose(&job->sort, &job->workspace[share->thread], c, share->begin, share->end);
    memcpy(all->keys[0] + at * job->sort.key_bytes, c->keys[0], first * job->sort.key_bytes);
    memcpy(all->places[0] + at * sizeof(int64_t), c->places[0], first * sizeof(int64_t));
}

/* Chooses from one segment by all threads. */
static void choose_together(const lsp_sort_job *job, const lsp_sort_place *place, int64_t n) {
    const int64_t first = job->sort.args->first, shares = lsp_sort_choice_shares(job->threads, n, first);
    lsp_sort_chosen *all = &job->chosen[job->threads];
    all->from = place->keys;
    lsp_sort_by_shares(job, n, shares, choose_share, job);
    job->kernels->keep_first(&job->sort, &job->workspace[0], all, shares * first, first);
    lsp_sort_copy_by_shares(job, place, n);
    bring_front(&job->sort, place, all, first);
}

void lsp_sort_firsts(const lsp_sort_job *job) {
    const int64_t segments = job->sort.args->segments;
    if (job->longest <= job->whole_longest) {
        return;
    }
    lsp_sort_by_shares(job, segments, lsp_min(segments, (int64_t)job->threads * PARTS_FOR_THREAD), choose_alone, job);
    for (int64_t s = 0; job->longest > job->giant && s < segments; s++) {
        int64_t begin, n;
        const lsp_sort_place place = lsp_sort_segment_place(job, s, &begin, &n);
        if (n > job->whole_longest && !is_ones(job, n)) {
            choose_together(job, &place, n);
        }
    }
}
