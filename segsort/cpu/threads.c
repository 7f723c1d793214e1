/* The segmented sort by threads. Blocks of segments with about equal items are taken in turn, each by one thread with
 * scratch of its own. Giants come last, each by all threads: split by their leading digit, every thread counting and
 * moving a share of the items; the buckets are then sorted like blocks of segments. */
#include "cpu.h"
#include "core/isa.h"
#include <string.h>

enum {
    GIANT = 1 << 18,      /* items; longer segments are worth all threads */
    BLOCK = 1 << 14,      /* items and segments that one thread takes at a time */
    STEP = 32,            /* segments; blocks end at multiples of it */
    WORTH_A_THREAD = 4096 /* items */
};

typedef int64_t counts[1 << SORT_LAST_DIGIT]; /* one a digit */

typedef struct sort_job {
    const lsp_ctx *ctx;
    lsp_sort sort;
    const lsp_sort_kernels *kernels;
    int threads;
    bool changes;     /* any of them is wanted */
    int64_t longest;  /* of all segments */
    int64_t capacity; /* of the longest that is no giant */
    int64_t steps;
    int64_t *weight;                 /* of the segments before each step: their items and number */
    lsp_sort_room *room;             /* one a thread */
    char *keys_spare, *values_spare; /* of the longest giant */
    counts *next;                    /* for giants, one a thread */
    lsp_key_range *ranges;           /* the same */
    int64_t *sums;                   /* the same, and one more */
} sort_job;

const lsp_segsort_kernels *lsp_segsort_get_kernels(const lsp_ctx *ctx) {
    return LSP_ISA_PICK(ctx->isa, lsp_segsort_kernels)();
}

/* ---- segments that are no giants ---- */

/* The first step whose predecessors weigh `weight` or more. */
static int64_t step_of_weight(const sort_job *job, int64_t weight) {
    int64_t low = 0, high = job->steps;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (job->weight[middle] < weight) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void mark_changes(const sort_job *job, int64_t first, int64_t last) {
    const lsp_segsort_args *args = job->sort.args;
    for (int64_t s = first; s < last; s++) {
        int64_t begin, end;
        lsp_segsort_bounds(args, s, &begin, &end);
        if (end - begin <= job->sort.giant) {
            int64_t count = job->kernels->changes(&job->sort, begin, begin, end, args->change, args->change_at, begin);
            if (args->change_count) {
                lsp_index_set(args->change_count, args->offset_type, s, count);
            }
        }
    }
}

static void sort_block(void *data, int64_t block, int thread) {
    const sort_job *job = data;
    const int64_t segments = job->sort.args->segments;
    const int64_t first = lsp_min(step_of_weight(job, block * BLOCK) * STEP, segments);
    const int64_t last = lsp_min(step_of_weight(job, (block + 1) * BLOCK) * STEP, segments);
    job->kernels->segments(&job->sort, &job->room[thread], first, last);
    if (job->changes) {
        mark_changes(job, first, last);
    }
}

/* ---- giants ---- */

/* One step of the work on a giant of n items; a part is a share of them or a bucket. */
typedef struct giant_step {
    const sort_job *job;
    const lsp_sort_place *place, *split;
    char *keys_to, *values_to; /* of the split */
    int64_t n;
    lsp_sort_digit digit;
    const int64_t *end; /* of the buckets */
    int64_t segment;    /* where the giant begins */
    bool counting;
} giant_step;

static void for_giant(const giant_step *step, int64_t parts, void (*do_part)(void *data, int64_t part, int thread)) {
    giant_step own = *step;
    lsp_for_parts(own.job->ctx, parts, own.job->threads, do_part, &own);
}

static void range_of_share(void *data, int64_t part, int thread) {
    const giant_step *step = data;
    const sort_job *job = step->job;
    int64_t begin, end;
    (void)thread;
    lsp_share(step->n, (int)part, job->threads, &begin, &end);
    job->ranges[part] =
        job->kernels->range(&job->sort, step->place->keys + (size_t)begin * job->sort.key_bytes, end - begin);
}

static lsp_key_range range_of(const sort_job *job, const lsp_sort_place *place, int64_t n) {
    lsp_key_range all = {.min = UINT64_MAX, .max = 0};
    for_giant(&(giant_step){.job = job, .place = place, .n = n}, job->threads, range_of_share);
    for (int part = 0; part < job->threads; part++) {
        all.min = job->ranges[part].min < all.min ? job->ranges[part].min : all.min;
        all.max = job->ranges[part].max > all.max ? job->ranges[part].max : all.max;
    }
    return all;
}

static void count_share(void *data, int64_t part, int thread) {
    const giant_step *step = data;
    const sort_job *job = step->job;
    int64_t begin, end;
    (void)thread;
    lsp_share(step->n, (int)part, job->threads, &begin, &end);
    memset(job->next[part], 0, sizeof *job->next[part] << step->digit.bits);
    job->kernels->count(&job->sort, step->place->keys + (size_t)begin * job->sort.key_bytes, end - begin, step->digit,
                        job->next[part]);
}

/* next[part][d]: where the share's first item of digit d goes. */
static void count_digits(const sort_job *job, const lsp_sort_place *place, int64_t n, lsp_sort_digit digit) {
    counts *next = job->next;
    for_giant(&(giant_step){.job = job, .place = place, .n = n, .digit = digit}, job->threads, count_share);
    int64_t sum = 0;
    for (int64_t d = 0; d < (int64_t)1 << digit.bits; d++) {
        for (int part = 0; part < job->threads; part++) {
            int64_t count = next[part][d];
            next[part][d] = sum;
            sum += count;
        }
    }
}

/* Where bucket d of a split place begins and how long it is. */
static void bucket_at(const int64_t *end, int64_t d, int64_t *begin, int64_t *n) {
    *begin = d == 0 ? 0 : end[d - 1];
    *n = end[d] - *begin;
}

/* A share to its buckets, in the place `split`. The thread's lines are free between parts. */
static void scatter_share(void *data, int64_t part, int thread) {
    const giant_step *step = data;
    const sort_job *job = step->job;
    int64_t begin, end;
    lsp_share(step->n, (int)part, job->threads, &begin, &end);
    job->kernels->scatter(&job->sort, step->place, begin, end, step->digit, job->next[part], step->keys_to,
                          step->values_to, job->room[thread].lines);
}

static void copy_share(void *data, int64_t part, int thread) {
    const giant_step *step = data;
    int64_t begin, end;
    (void)thread;
    lsp_share(step->n, (int)part, step->job->threads, &begin, &end);
    lsp_sort_place at = lsp_sort_place_at(&step->job->sort, step->split, begin);
    lsp_sort_copy(&step->job->sort, &at, end - begin);
}

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
            step->job->kernels->segment(sort, &step->job->room[thread], &bucket, items);
        }
    }
}

static void sort_giant(const sort_job *job, const lsp_sort_place *place, int64_t n) {
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
    count_digits(job, place, n, digit);
    for_giant(&step, job->threads, scatter_share);
    if (digit.shift == 0) {
        for_giant(&step, job->threads, copy_share);
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

static void mark_share(void *data, int64_t part, int thread) {
    const giant_step *step = data;
    const sort_job *job = step->job;
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

/* The changes of a giant: counted by shares, then each share knows where its places go. */
static void mark_giant(const sort_job *job, int64_t s, int64_t segment, int64_t n) {
    const lsp_segsort_args *args = job->sort.args;
    int64_t *sums = job->sums;
    sums[0] = 0;
    for (int pass = 0; pass < 2; pass++) {
        bool counting = pass == 0;
        for_giant(&(giant_step){.job = job, .n = n, .segment = segment, .counting = counting}, job->threads,
                  mark_share);
        for (int part = 0; counting && part < job->threads; part++) {
            sums[part + 1] += sums[part];
        }
    }
    if (args->change_count) {
        lsp_index_set(args->change_count, args->offset_type, s, sums[job->threads]);
    }
}

static void sort_giants(const sort_job *job) {
    const lsp_segsort_args *args = job->sort.args;
    for (int64_t s = 0; job->longest > job->capacity && s < args->segments; s++) {
        int64_t begin, end;
        lsp_segsort_bounds(args, s, &begin, &end);
        if (end - begin > job->sort.giant) {
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

/* ---- the whole ---- */

static void set_threads(const lsp_ctx *ctx, sort_job *job) {
    job->threads = lsp_threads_for(ctx, job->sort.args->n + job->sort.args->segments, WORTH_A_THREAD);
    job->sort.giant = job->threads > 1 ? GIANT : INT64_MAX;
}

typedef struct step_facts {
    int64_t longest, capacity, weight;
} step_facts;

static inline step_facts facts_of(lsp_segsort_args args, int64_t step, int64_t giant) {
    step_facts facts = {0};
    int64_t last = lsp_min((step + 1) * STEP, args.segments);
    for (int64_t s = step * STEP; s < last; s++) {
        int64_t begin, end;
        lsp_segsort_bounds(&args, s, &begin, &end);
        int64_t length = end - begin, small = length <= giant ? length : 0;
        facts.longest = lsp_max(facts.longest, length);
        facts.capacity = lsp_max(facts.capacity, small);
        facts.weight += small + 1;
    }
    return facts;
}

/* The usual form of segments by a loop of its own. Most steps hold nothing longer than what was seen before: no bit of
 * a length beyond it. */
static step_facts look_at_step(const lsp_segsort_args *args, int64_t step, int64_t giant, int64_t seen) {
    lsp_segsort_args usual = {.offsets = args->offsets, .segments = args->segments, .offset_type = LSP_I64};
    if (args->offsets == NULL || args->ends != NULL) {
        return facts_of(*args, step, giant);
    }
    if (args->offset_type == LSP_I32) {
        usual.offset_type = LSP_I32;
        return facts_of(usual, step, giant);
    }
    const int64_t *offsets = args->offsets, first = step * STEP, last = lsp_min(first + STEP, args->segments);
    int64_t bits = 0;
    for (int64_t s = first; s < last; s++) {
        bits |= offsets[s + 1] - offsets[s];
    }
    if (bits <= lsp_min(seen, giant)) {
        return (step_facts){.weight = offsets[last] - offsets[first] + last - first};
    }
    return facts_of(usual, step, giant);
}

typedef struct step_look {
    sort_job *job;
    int shares;
    step_facts *found; /* of each share */
} step_look;

static void look_at_share(void *data, int64_t share, int thread) {
    const step_look *look = data;
    const sort_job *job = look->job;
    step_facts all = {0};
    int64_t begin, end;
    (void)thread;
    lsp_share(job->steps, (int)share, look->shares, &begin, &end);
    for (int64_t step = begin; step < end; step++) {
        const step_facts facts = look_at_step(job->sort.args, step, job->sort.giant, all.capacity);
        all.longest = lsp_max(all.longest, facts.longest);
        all.capacity = lsp_max(all.capacity, facts.capacity);
        job->weight[step + 1] = facts.weight;
    }
    look->found[share] = all;
}

/* Lengths, and with them where blocks end and what is a giant. */
static lsp_status look_at_segments(lsp_ctx *ctx, sort_job *job) {
    lsp_status status = LSP_OK;
    step_look look = {.job = job};
    set_threads(ctx, job);
    job->steps = lsp_ceil_div(job->sort.args->segments, STEP);
    look.shares = (int)lsp_min(job->threads, job->steps);
    LSP_TRY(LSP_SCRATCH(ctx, job->steps + 1, &job->weight));
    LSP_TRY(LSP_SCRATCH(ctx, look.shares, &look.found));
    lsp_for_parts(ctx, look.shares, look.shares, look_at_share, &look);
    for (int share = 0; share < look.shares; share++) {
        job->longest = lsp_max(job->longest, look.found[share].longest);
        job->capacity = lsp_max(job->capacity, look.found[share].capacity);
    }
    lsp_prefix_sum(ctx, job->weight, job->steps);
done:
    return status;
}

static char *take(char **memory, int64_t items, size_t item_bytes) {
    char *part = *memory;
    *memory += ((size_t)items * item_bytes + 63) / 64 * 64;
    return part;
}

/* What threads need more of if items move far: items in lines, and items near. */
static int64_t line_items(const sort_job *job) { return job->longest >= SORT_FAR ? SORT_LINE << SORT_FAR_DIGIT : 0; }
static int64_t near_items(const sort_job *job) { return job->longest >= SORT_FAR ? SORT_NEAR : 0; }

/* Bytes of scratch of all threads and, if there are giants, for the longest of them; false if no number holds them. */
static bool room_bytes(const sort_job *job, int64_t *bytes) {
    enum { ALIGNMENT_OF_9_PARTS = 9 * 64 };
    int64_t network = lsp_min(job->longest, SORT_NETWORK), words = network + LSP_WORD_PAD;
    int64_t item_bytes = (int64_t)(job->sort.key_bytes + job->sort.value_bytes), spare, giant_bytes;
    int64_t giant = job->longest > job->capacity ? job->longest : 0;
    *bytes = 2 * words * (int64_t)sizeof(uint32_t) + (network + line_items(job) + near_items(job)) * item_bytes +
             ALIGNMENT_OF_9_PARTS;
    return lsp_mul(job->capacity, item_bytes, &spare) && lsp_add(*bytes, spare, bytes) &&
           lsp_mul(*bytes / 64 * 64, job->threads, bytes) && lsp_mul(giant, item_bytes, &giant_bytes) &&
           lsp_add(*bytes, giant_bytes, bytes) && lsp_add(*bytes, ALIGNMENT_OF_9_PARTS, bytes);
}

bool lsp_segsort_cpu_bytes(const lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes) {
    sort_job job = {
        .longest = longest,
        .sort = {.args = args, .key_bytes = lsp_type_bytes(args->key_type), .value_bytes = args->value_bytes}};
    set_threads(ctx, &job);
    job.capacity = lsp_min(longest, job.sort.giant);
    return room_bytes(&job, bytes);
}

static lsp_status make_room(lsp_ctx *ctx, sort_job *job) {
    lsp_status status = LSP_OK;
    size_t key_bytes = job->sort.key_bytes, value_bytes = job->sort.value_bytes;
    int64_t network = lsp_min(job->longest, SORT_NETWORK), words = network + LSP_WORD_PAD;
    int64_t giant = job->longest > job->capacity ? job->longest : 0, bytes;
    char *memory;
    LSP_REQUIRE(room_bytes(job, &bytes), LSP_ERR_MEMORY, "a segment of %lld items cannot be sorted in any memory",
                (long long)job->longest);
    LSP_TRY(LSP_SCRATCH(ctx, job->threads, &job->room));
    LSP_TRY(LSP_SCRATCH(ctx, giant > 0 ? job->threads : 0, &job->next));
    LSP_TRY(LSP_SCRATCH(ctx, giant > 0 ? job->threads : 0, &job->ranges));
    LSP_TRY(LSP_SCRATCH(ctx, giant > 0 ? job->threads + 1 : 0, &job->sums));
    LSP_TRY(LSP_SCRATCH(ctx, bytes, &memory));
    for (int t = 0; t < job->threads; t++) {
        lsp_sort_room *room = &job->room[t];
        room->words = (uint32_t *)(void *)take(&memory, words, sizeof *room->words);
        room->more_words = (uint32_t *)(void *)take(&memory, words, sizeof *room->words);
        room->keys_copy = take(&memory, network, key_bytes);
        room->values_copy = take(&memory, network, value_bytes);
        room->near = near_items(job);
        room->keys_near = take(&memory, room->near, key_bytes);
        room->values_near = take(&memory, room->near, value_bytes);
        room->lines = take(&memory, line_items(job), key_bytes + value_bytes);
        room->lines = line_items(job) > 0 ? room->lines : NULL;
        room->keys_spare = take(&memory, job->capacity, key_bytes);
        room->values_spare = value_bytes > 0 ? take(&memory, job->capacity, value_bytes) : NULL;
    }
    job->keys_spare = take(&memory, giant, key_bytes);
    job->values_spare = value_bytes > 0 ? memory : NULL;
done:
    return status;
}

lsp_status lsp_segsort_cpu(lsp_ctx *ctx, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx), key_bytes = lsp_type_bytes(args->key_type);
    sort_job job = {.ctx = ctx,
                    .kernels = LSP_ISA_PICK(ctx->isa, lsp_sort_kernels)(key_bytes == 8),
                    .changes = args->change || args->change_at || args->change_count,
                    .sort = {.args = args,
                             .order = lsp_segsort_order(args),
                             .key_bytes = key_bytes,
                             .value_bytes = args->value_bytes,
                             .positions = (args->flags & (LSP_SORT_POSITIONS | LSP_SORT_GLOBAL_POSITIONS)) != 0,
                             .global = (args->flags & LSP_SORT_GLOBAL_POSITIONS) != 0}};
    if (args->segments == 0) {
        return LSP_OK;
    }
    LSP_TRY(look_at_segments(ctx, &job));
    LSP_TRY(make_room(ctx, &job));
    lsp_for_parts(ctx, lsp_ceil_div(job.weight[job.steps], BLOCK), job.threads, sort_block, &job);
    sort_giants(&job);
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
