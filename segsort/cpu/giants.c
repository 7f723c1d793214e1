/* Giants: each segment of more than lsp_task.giant items is sorted by all threads together. First the giant is split by
 * the leading digit of the key: threads count and move shares of the items. Then the buckets are sorted in parallel,
 * each by one thread; a bucket that is still a giant is split again. */
#include "job.h"
#include <string.h>

/* Arguments of one parallel step on a giant: over shares of its items, or over buckets. */
typedef struct giant_step {
    const lsp_sort_job *job;
    const lsp_sort_place *place, *split; /* before and after the split */
    lsp_sort_digit digit;
    const int64_t *end; /* end[d]: first item after bucket d */
    int64_t items;      /* of the giant */
    int64_t segment;    /* first item of the giant */
    bool counting;      /* count changes; otherwise write them */
} giant_step;

/* A share is compared with the first item of the next one, too. */
static void check_share(const void *data, const lsp_sort_share *share) {
    const giant_step *step = data;
    const lsp_sort_job *job = step->job;
    const char *keys = step->place->keys + (size_t)share->begin * job->sort.key_bytes;
    const int64_t end = lsp_min(share->end + 1, step->items);
    job->sums[share->number] = job->kernels->is_sorted(&job->sort, keys, end - share->begin);
}

static bool is_sorted(const lsp_sort_job *job, const lsp_sort_place *place, int64_t n) {
    int64_t sorted = 1;
    lsp_sort_by_shares(job, n, job->threads, check_share, &(giant_step){.job = job, .place = place, .items = n});
    for (int part = 0; part < job->threads; part++) {
        sorted &= job->sums[part];
    }
    return sorted;
}

static void range_of_share(const void *data, const lsp_sort_share *share) {
    const giant_step *step = data;
    const lsp_sort_job *job = step->job;
    const char *keys = step->place->keys + (size_t)share->begin * job->sort.key_bytes;
    job->ranges[share->number] = job->kernels->range(&job->sort, keys, share->end - share->begin);
}

/* The smallest and the largest number of all keys. */
static lsp_key_range range_of(const lsp_sort_job *job, const lsp_sort_place *place, int64_t n) {
    lsp_key_range all = {.min = UINT64_MAX, .max = 0};
    lsp_sort_by_shares(job, n, job->threads, range_of_share, &(giant_step){.job = job, .place = place});
    for (int part = 0; part < job->threads; part++) {
        all.min = job->ranges[part].min < all.min ? job->ranges[part].min : all.min;
        all.max = job->ranges[part].max > all.max ? job->ranges[part].max : all.max;
    }
    return all;
}

static void count_giant_share(const void *data, const lsp_sort_share *share) {
    const giant_step *step = data;
    const lsp_sort_job *job = step->job;
    int64_t *count = job->next[share->number];
    const char *keys = step->place->keys + (size_t)share->begin * job->sort.key_bytes;
    memset(count, 0, sizeof *count << step->digit.bits);
    job->kernels->count(&job->sort, keys, share->end - share->begin, step->digit, count);
}

/* Sets next[part][d] to the position of the first item of share `part` with digit d: prefix sums over digits, then over
 * shares, which keeps the split stable. */
static void count_giant_digits(const lsp_sort_job *job, const lsp_sort_place *place, int64_t n, lsp_sort_digit digit) {
    lsp_sort_counts *next = job->next;
    const giant_step step = {.job = job, .place = place, .digit = digit};
    lsp_sort_by_shares(job, n, job->threads, count_giant_share, &step);
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

/* Moves a share of the items to their buckets. A call leaves the thread's lines empty, so its next share uses them. */
static void scatter_share(const void *data, const lsp_sort_share *share) {
    const giant_step *step = data;
    const lsp_sort_job *job = step->job;
    const lsp_sort_target target = {.keys = (char *)(uintptr_t)step->split->keys,
                                    .values = (char *)(uintptr_t)step->split->values,
                                    .lines = job->workspace[share->thread].lines,
                                    .next = job->next[share->number]};
    job->kernels->scatter(&job->sort, step->place, share->begin, share->end, step->digit, &target);
}

/* Sorts bucket d, unless it is a giant itself. */
static void sort_bucket(void *data, int64_t d, int thread) {
    const giant_step *step = data;
    const lsp_task *sort = &step->job->sort;
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

/* Sorts n items by one split and by sorting its buckets, unless they are in order. */
static void sort_giant(const lsp_sort_job *job, const lsp_sort_place *place, int64_t n) {
    const lsp_task *sort = &job->sort;
    uint8_t map[1 << SORT_MAP_BITS];
    lsp_sort_digit digit;
    if (is_sorted(job, place, n)) {
        lsp_sort_copy_by_shares(job, place, n);
        return;
    }
    if (!job->kernels->most(sort, place->keys, n, &digit)) {
        const lsp_key_range range = range_of(job, place, n);
        digit = lsp_sort_first_digit(range, n);
        (void)job->kernels->map(sort, place->keys, n, range, &digit, map);
    }
    const int64_t buckets = (int64_t)1 << digit.bits;
    bool to_output = place->keys == place->keys_spare || (digit.shift == 0 && lsp_sort_apart(sort, place));
    lsp_sort_place split = *place;
    int64_t end[1 << SORT_DIGIT];
    giant_step step = {.job = job, .place = place, .split = &split, .digit = digit, .end = end};
    split.keys = to_output ? place->keys_out : place->keys_spare;
    split.values = to_output ? place->values_out : place->values_spare;
    count_giant_digits(job, place, n, digit);
    lsp_sort_by_shares(job, n, job->threads, scatter_share, &step);
    if (digit.shift == 0) {
        lsp_sort_copy_by_shares(job, &split, n);
        return;
    }
    memcpy(end, job->next[job->threads - 1], sizeof *end << digit.bits);
    lsp_for_parts(job->ctx, buckets, job->threads, sort_bucket, &step);
    for (int64_t d = 0; d < buckets; d++) {
        int64_t begin, items;
        bucket_at(end, d, &begin, &items);
        lsp_sort_place bucket = lsp_sort_place_at(sort, &split, begin);
        if (items > sort->giant && digit.by_key && d == 1) {
            lsp_sort_copy_by_shares(job, &bucket, items);
        } else if (items > sort->giant) {
            sort_giant(job, &bucket, items);
        }
    }
}

/* Counts the changes in a share and sets their flags; in the second pass writes their positions behind the
 * positions of the sums[part] changes in earlier shares. */
static void mark_share(const void *data, const lsp_sort_share *share) {
    const giant_step *step = data;
    const lsp_sort_job *job = step->job;
    const lsp_segsort_args *args = job->sort.args;
    const int64_t segment = step->segment, begin = segment + share->begin, end = segment + share->end;
    int64_t *sums = job->sums + share->number;
    if (step->counting) {
        sums[1] = job->kernels->changes(&job->sort, segment, begin, end, args->change, NULL, 0);
    } else {
        job->kernels->changes(&job->sort, segment, begin, end, NULL, args->change_at, segment + sums[0]);
    }
}

/* Notes the changes of the n items of segment s. The first pass counts them and sets flags; prefix sums of the counts
 * tell each share where the second pass writes its positions. */
static void mark_giant(const lsp_sort_job *job, int64_t s, int64_t begin, int64_t n) {
    const lsp_segsort_args *args = job->sort.args;
    int64_t *sums = job->sums;
    sums[0] = 0;
    for (int pass = 0; pass < 2; pass++) {
        const giant_step step = {.job = job, .segment = begin, .counting = pass == 0};
        lsp_sort_by_shares(job, n, job->threads, mark_share, &step);
        for (int part = 0; step.counting && part < job->threads; part++) {
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
        int64_t begin, n;
        lsp_sort_place place = lsp_sort_segment_place(job, s, &begin, &n);
        if (n > job->sort.giant && n <= job->whole_longest) {
            place.keys_spare = job->keys_spare;
            place.values_spare = job->values_spare;
            sort_giant(job, &place, n);
            if (job->changes) {
                mark_giant(job, s, begin, n);
            }
        }
    }
}
