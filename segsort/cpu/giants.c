/* Giants: each segment of more than lsp_sort.giant items is sorted by all threads together. First the giant is split by
 * the leading digit of the key: threads count and move shares of the items. Then the buckets are sorted in parallel,
 * each by one thread; a bucket that is still a giant is split again. */
#include "job.h"
#include <string.h>

/* Arguments of one parallel step on a giant of n items. A part of a step is a share of the items or a bucket. */
typedef struct giant_step {
    const lsp_sort_job *job;
    const lsp_sort_place *place, *split; /* before and after the split */
    char *keys_to, *values_to;           /* where the split puts items */
    int64_t n;
    lsp_sort_digit digit;
    const int64_t *end; /* end[d]: first item after bucket d */
    int64_t segment;    /* first item of the giant */
    bool counting;      /* count changes; otherwise write them */
} giant_step;

/* Runs do_part for parts 0 .. parts-1 on all threads. */
static void for_giant(const giant_step *step, int64_t parts, void (*do_part)(void *data, int64_t part, int thread)) {
    giant_step own = *step;
    lsp_for_parts(own.job->ctx, parts, own.job->threads, do_part, &own);
}

static void range_of_share(void *data, int64_t part, int thread) {
    const giant_step *step = data;
    const lsp_sort_job *job = step->job;
    int64_t begin, end;
    (void)thread;
    lsp_share(step->n, (int)part, job->threads, &begin, &end);
    job->ranges[part] =
        job->kernels->range(&job->sort, step->place->keys + (size_t)begin * job->sort.key_bytes, end - begin);
}

/* The smallest and the largest number of all keys. */
static lsp_key_range range_of(const lsp_sort_job *job, const lsp_sort_place *place, int64_t n) {
    lsp_key_range all = {.min = UINT64_MAX, .max = 0};
    for_giant(&(giant_step){.job = job, .place = place, .n = n}, job->threads, range_of_share);
    for (int part = 0; part < job->threads; part++) {
        all.min = job->ranges[part].min < all.min ? job->ranges[part].min : all.min;
        all.max = job->ranges[part].max > all.max ? job->ranges[part].max : all.max;
    }
    return all;
}

static void count_giant_share(void *data, int64_t part, int thread) {
    const giant_step *step = data;
    const lsp_sort_job *job = step->job;
    int64_t begin, end;
    (void)thread;
    lsp_share(step->n, (int)part, job->threads, &begin, &end);
    memset(job->next[part], 0, sizeof *job->next[part] << step->digit.bits);
    job->kernels->count(&job->sort, step->place->keys + (size_t)begin * job->sort.key_bytes, end - begin, step->digit,
                        job->next[part]);
}

/* Sets next[part][d] to the position of the first item of share `part` with digit d: prefix sums over digits, then over
 * shares, which keeps the split stable. */
static void count_giant_digits(const lsp_sort_job *job, const lsp_sort_place *place, int64_t n, lsp_sort_digit digit) {
    lsp_sort_counts *next = job->next;
    for_giant(&(giant_step){.job = job, .place = place, .n = n, .digit = digit}, job->threads, count_giant_share);
    int64_t sum = 0;
    for (int64_t d = 0; d < (int64_t)1 << digit.bits; d++) {
        for (int part = 0; part < job->threads; part++) {
            int64_t count = next[part][d];
            next[part][d] = sum;
            sum += count;
        }
    }
}

/* The first item of bucket d and its number of items. */
static void bucket_at(const int64_t *end, int64_t d, int64_t *begin, int64_t *n) {
    *begin = d == 0 ? 0 : end[d - 1];
    *n = end[d] - *begin;
}

/* Moves a share of the items to their buckets. A call leaves the thread's lines empty, so its next part uses them. */
static void scatter_share(void *data, int64_t part, int thread) {
    const giant_step *step = data;
    const lsp_sort_job *job = step->job;
    int64_t begin, end;
    lsp_share(step->n, (int)part, job->threads, &begin, &end);
    const lsp_sort_target target = {.keys = step->keys_to,
                                    .values = step->values_to,
                                    .lines = job->workspace[thread].lines,
                                    .next = job->next[part]};
    job->kernels->scatter(&job->sort, step->place, begin, end, step->digit, &target);
}

/* Copies a share to the output, unless it is there already. */
static void copy_giant_share(void *data, int64_t part, int thread) {
    const giant_step *step = data;
    int64_t begin, end;
    (void)thread;
    lsp_share(step->n, (int)part, step->job->threads, &begin, &end);
    lsp_sort_place at = lsp_sort_place_at(&step->job->sort, step->split, begin);
    lsp_sort_copy(&step->job->sort, &at, end - begin);
}

/* Sorts bucket d, unless it is a giant itself. */
static void sort_bucket(void *data, int64_t d, int thread) {
    const giant_step *step = data;
    const lsp_sort *sort = &step->job->sort;
    int64_t begin, items;
    bucket_at(step->end, d, &begin, &items);
    if (items <= sort->giant) {
        lsp_sort_place bucket = lsp_sort_place_at(sort, step->split, begin);
        if (items <= 1) {
            lsp_sort_copy(sort, &bucket, items);
        } else {
            step->job->kernels->segment(sort, &step->job->workspace[thread], &bucket, items);
        }
    }
}

/* Sorts n items by one split and by sorting its buckets. */
static void sort_giant(const lsp_sort_job *job, const lsp_sort_place *place, int64_t n) {
    const lsp_sort *sort = &job->sort;
    lsp_sort_digit digit = lsp_sort_first_digit(range_of(job, place, n), n);
    const int64_t buckets = (int64_t)1 << digit.bits;
    bool to_output = place->keys == place->keys_spare || (digit.shift == 0 && lsp_sort_apart(sort, place));
    lsp_sort_place split = *place;
    int64_t end[1 << SORT_DIGIT];
    char *keys_to = to_output ? place->keys_out : place->keys_spare;
    char *values_to = to_output ? place->values_out : place->values_spare;
    const giant_step step = {.job = job,
                             .place = place,
                             .split = &split,
                             .keys_to = keys_to,
                             .values_to = values_to,
                             .n = n,
                             .digit = digit,
                             .end = end};
    split.keys = keys_to;
    split.values = values_to;
    count_giant_digits(job, place, n, digit);
    for_giant(&step, job->threads, scatter_share);
    if (digit.shift == 0) {
        for_giant(&step, job->threads, copy_giant_share);
        return;
    }
    memcpy(end, job->next[job->threads - 1], sizeof *end << digit.bits);
    for_giant(&step, buckets, sort_bucket);
    for (int64_t d = 0; d < buckets; d++) {
        int64_t begin, items;
        bucket_at(end, d, &begin, &items);
        if (items > sort->giant) {
            lsp_sort_place bucket = lsp_sort_place_at(sort, &split, begin);
            sort_giant(job, &bucket, items);
        }
    }
}

/* Counts the changes in a share and sets their flags; in the second pass writes their positions behind the
 * positions of the sums[part] changes in earlier shares. */
static void mark_share(void *data, int64_t part, int thread) {
    const giant_step *step = data;
    const lsp_sort_job *job = step->job;
    const lsp_segsort_args *args = job->sort.args;
    const bool counting = step->counting;
    int64_t begin, end, *sums = job->sums;
    (void)thread;
    lsp_share(step->n, (int)part, job->threads, &begin, &end);
    int64_t count = job->kernels->changes(&job->sort, step->segment, step->segment + begin, step->segment + end,
                                          counting ? args->change : NULL, counting ? NULL : args->change_at,
                                          counting ? 0 : step->segment + sums[part]);
    if (counting) {
        sums[part + 1] = count;
    }
}

/* Notes the changes of the n items of segment s. The first pass counts them and sets flags; prefix sums of the counts
 * tell each share where the second pass writes its positions. */
static void mark_giant(const lsp_sort_job *job, int64_t s, int64_t begin, int64_t n) {
    const lsp_segsort_args *args = job->sort.args;
    int64_t *sums = job->sums;
    sums[0] = 0;
    for (int pass = 0; pass < 2; pass++) {
        bool counting = pass == 0;
        for_giant(&(giant_step){.job = job, .n = n, .segment = begin, .counting = counting}, job->threads, mark_share);
        for (int part = 0; counting && part < job->threads; part++) {
            sums[part + 1] += sums[part];
        }
    }
    if (args->change_count) {
        lsp_index_set(args->change_count, args->offset_type, s, sums[job->threads]);
    }
}

void lsp_sort_giants(const lsp_sort_job *job) {
    const lsp_segsort_args *args = job->sort.args;
    for (int64_t s = 0; job->longest > job->capacity && s < args->segments; s++) {
        int64_t begin, end;
        lsp_segsort_bounds(args, s, &begin, &end);
        if (end - begin > job->sort.giant && end - begin <= job->whole_longest) {
            lsp_sort_place whole = lsp_sort_whole(&job->sort), place = lsp_sort_place_at(&job->sort, &whole, begin);
            place.keys_spare = job->keys_spare;
            place.values_spare = job->values_spare;
            sort_giant(job, &place, end - begin);
            if (job->changes) {
                mark_giant(job, s, begin, end - begin);
            }
        }
    }
}
