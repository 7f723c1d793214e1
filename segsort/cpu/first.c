/* The first items of long segments, without sorting the others: they are chosen in one pass (cpu/first_template.h) and
 * written at the front of the segment's output. Each thread takes segments in turn. A segment that would be a giant is
 * shared by all threads: each chooses from its share, and the first items of all choices together are those of the
 * segment. */
#include "job.h"

enum { PARTS_FOR_THREAD = 64 };

/* Writes the chosen items at the front of the output. The output may be the input, so all values are read first. */
static void write_chosen(const lsp_task *sort, const lsp_sort_place *place, const lsp_sort_chosen *c, int64_t first) {
    const int64_t *from = (const int64_t *)(const void *)c->places[0];
    const size_t value = sort->value_bytes;
    memcpy(place->keys_out, c->keys[0], (size_t)first * sort->key_bytes);
    for (int64_t j = 0; value > 0 && j < first; j++) {
        if (place->values == NULL) {
            lsp_index_set(c->values, value == 8 ? LSP_I64 : LSP_I32, j, place->position + from[j]);
        } else {
            memcpy(c->values + (size_t)j * value, place->values + (size_t)from[j] * value, value);
        }
    }
    if (value > 0) {
        memcpy(place->values_out, c->values, (size_t)first * value);
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
            write_chosen(sort, &place, c, sort->args->first);
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
    write_chosen(&job->sort, place, all, first);
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
