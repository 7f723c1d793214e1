/* The segmented sort by threads. Blocks of segments with about equal items are taken in turn; each segment is turned
 * into words, sorted and written by one thread in scratch of its own. Giants come last, each by all threads: sorted in
 * shares, which are then merged two by two, every thread merging an equal part of the result. */
#include "core/isa.h"
#include "segsort.h"
#include <omp.h>
#include <string.h>

enum {
    GIANT = 1 << 18,       /* items; longer segments are worth all threads */
    GIANT_SHARE = 1 << 12, /* items; so are only segments with so many for each: more than any network takes */
    BLOCK = 1 << 14,       /* items and segments that one thread takes at a time */
    WORTH_A_THREAD = 4096  /* items */
};

typedef struct sort_job {
    const lsp_segsort_kernels *kernels;
    const lsp_segsort_args *args;
    lsp_key_order order;
    size_t key_bytes;
    int wide; /* 0: keys of 32 bits, 1: of 64 */
    int threads;
    int64_t longest;      /* of all segments */
    int64_t giant;        /* segments longer than this are giants */
    int64_t capacity;     /* of the longest that is none: what a thread's scratch must hold */
    size_t word_bytes;    /* of the widest word that can occur */
    int64_t item_bytes;   /* of scratch for one item: two words, and copies of what is overwritten */
    int64_t thread_bytes; /* of scratch for one thread */
    char *scratch;
} sort_job;

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

const lsp_segsort_kernels *lsp_segsort_get_kernels(const lsp_ctx *ctx) {
    return LSP_ISA_PICK(ctx->isa, lsp_segsort_kernels)();
}

static lsp_key_order key_order(const lsp_segsort_args *args) {
    bool wide = lsp_type_bytes(args->key_type) == 8;
    bool is_float = args->key_type == LSP_F32 || args->key_type == LSP_F64;
    bool is_signed = is_float || args->key_type == LSP_I32 || args->key_type == LSP_I64;
    uint64_t sign = wide ? (uint64_t)1 << 63 : (uint64_t)1 << 31, all = sign | (sign - 1);
    lsp_key_order order = {.is_float = is_float, .bias = is_signed ? sign : 0, .nan_above = sign - 1};
    if (is_float) {
        order.flip = sign - 1;
        order.nan_above = wide ? (uint64_t)0x7FF << 52 : (uint64_t)0xFF << 23;
    }
    if (args->flags & LSP_SORT_DESCENDING) {
        order.bias ^= all;
    }
    return order;
}

static int64_t offset_at(const sort_job *job, int64_t s) {
    return lsp_index_at(job->args->offsets, job->args->offset_type, s);
}

static lsp_segment segment_at(const sort_job *job, int64_t s) {
    const lsp_segsort_args *args = job->args;
    int64_t begin = offset_at(job, s);
    size_t key_at = (size_t)begin * job->key_bytes, value_at = (size_t)begin * args->value_bytes;
    lsp_segment segment = {.keys = (const char *)args->keys + key_at,
                           .keys_out = (char *)args->keys_out + key_at,
                           .n = offset_at(job, s + 1) - begin,
                           .value_bytes = args->value_bytes,
                           .order = job->order};
    if (args->value_bytes > 0) {
        segment.values = (const char *)args->values + value_at;
        segment.values_out = (char *)args->values_out + value_at;
    }
    return segment;
}

/* What need not be sorted stays or is copied. */
static void copy_segment(const sort_job *job, const lsp_segment *segment) {
    if (segment->keys != segment->keys_out) {
        memcpy(segment->keys_out, segment->keys, (size_t)segment->n * job->key_bytes);
    }
    if (segment->values != segment->values_out) {
        memcpy(segment->values_out, segment->values, (size_t)segment->n * segment->value_bytes);
    }
}

/* Decides from the keys' range what the words hold, and saves what sorting in place would overwrite while it is still
 * to be read. Returns the kind of word. */
static int prepare(const sort_job *job, lsp_segment *segment, lsp_key_range range, char *copies) {
    uint64_t all = job->wide ? UINT64_MAX : UINT32_MAX;
    size_t key_bytes = (size_t)segment->n * job->key_bytes, value_bytes = (size_t)segment->n * segment->value_bytes;
    segment->min = range.min;
    segment->has_nan = job->order.is_float && range.max == all;
    bool positions = segment->has_nan || segment->value_bytes > 0;
    segment->position_bits = positions ? lsp_bits((uint64_t)segment->n - 1) : 0;
    if (segment->has_nan && segment->keys == segment->keys_out) {
        segment->keys = memcpy(copies, segment->keys, key_bytes);
        copies += aligned(key_bytes);
    }
    if (segment->value_bytes > 0 && segment->values == segment->values_out) {
        segment->values = memcpy(copies, segment->values, value_bytes);
    }
    return lsp_word_kind(segment->position_bits + lsp_bits(range.max - range.min));
}

static void sort_segment(const sort_job *job, lsp_segment *segment, char *scratch) {
    const lsp_segsort_kernels *kernels = job->kernels;
    if (segment->n == 0) {
        return;
    }
    lsp_key_range range = kernels->range[job->wide](segment, 0, segment->n);
    if (range.sorted) {
        copy_segment(job, segment);
        return;
    }
    size_t words = aligned(((size_t)job->capacity + LSP_WORD_PAD) * job->word_bytes);
    int kind = prepare(job, segment, range, scratch + 2 * words);
    int low = segment->position_bits, high = low + lsp_bits(range.max - range.min);
    kernels->build[job->wide][kind](segment, 0, segment->n, scratch);
    const void *sorted = kernels->sort[kind](scratch, scratch + words, segment->n, low, high);
    kernels->finish[job->wide][kind](segment, 0, segment->n, sorted);
}

/* The first segment whose items and predecessors weigh `weight` or more: blocks are even in both. */
static int64_t segment_of_weight(const sort_job *job, int64_t weight) {
    int64_t low = 0, high = job->args->segments, base = offset_at(job, 0);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (offset_at(job, middle) - base + middle < weight) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void sort_small(const sort_job *job) {
    int64_t weight = offset_at(job, job->args->segments) - offset_at(job, 0) + job->args->segments;
    int64_t blocks = lsp_ceil_div(weight, BLOCK);
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
    for (int64_t block = 0; block < blocks; block++) {
        char *scratch = job->scratch + omp_get_thread_num() * job->thread_bytes;
        int64_t end = segment_of_weight(job, (block + 1) * BLOCK);
        for (int64_t s = segment_of_weight(job, block * BLOCK); s < end; s++) {
            lsp_segment segment = segment_at(job, s);
            if (segment.n <= job->giant) {
                sort_segment(job, &segment, scratch);
            }
        }
    }
}

/* Merges sorted shares of `words` two by two until one is left; returns the array that holds it. */
static char *merge_shares(const sort_job *job, char *words, char *other, int64_t n, int kind) {
    size_t bytes = lsp_word_bytes(kind);
    for (int width = 1; width < job->threads; width *= 2) {
#pragma omp parallel for num_threads(job->threads) schedule(static)
        for (int part = 0; part < job->threads; part++) {
            int64_t begin, end, a, b, b_end, skip;
            lsp_share(n, part, job->threads, &begin, &end);
            int first = part / (2 * width) * (2 * width);
            lsp_share(n, first, job->threads, &a, &skip);
            b = b_end = n;
            if (first + width < job->threads) {
                lsp_share(n, first + width, job->threads, &b, &skip);
            }
            if (first + 2 * width < job->threads) {
                lsp_share(n, first + 2 * width, job->threads, &b_end, &skip);
            }
            job->kernels->merge[kind](words + (size_t)a * bytes, b - a, words + (size_t)b * bytes, b_end - b, begin - a,
                                      end - begin, other + (size_t)begin * bytes);
        }
        char *swap = words;
        words = other;
        other = swap;
    }
    return words;
}

/* A segment by all threads. */
static void sort_giant(const sort_job *job, lsp_segment *segment) {
    const lsp_segsort_kernels *kernels = job->kernels;
    uint64_t min = UINT64_MAX, max = 0;
#pragma omp parallel for num_threads(job->threads) reduction(min : min) reduction(max : max)
    for (int part = 0; part < job->threads; part++) {
        int64_t begin, end;
        lsp_share(segment->n, part, job->threads, &begin, &end);
        lsp_key_range range = kernels->range[job->wide](segment, begin, end);
        min = range.min < min ? range.min : min;
        max = range.max > max ? range.max : max;
    }
    size_t bytes = aligned(((size_t)segment->n + LSP_WORD_PAD) * job->word_bytes);
    char *words = job->scratch, *other = words + bytes;
    int kind = prepare(job, segment, (lsp_key_range){.min = min, .max = max}, other + bytes);
    int low = segment->position_bits, high = low + lsp_bits(max - min);
#pragma omp parallel for num_threads(job->threads) schedule(static)
    for (int part = 0; part < job->threads; part++) {
        int64_t begin, end;
        lsp_share(segment->n, part, job->threads, &begin, &end);
        size_t at = (size_t)begin * lsp_word_bytes(kind);
        kernels->build[job->wide][kind](segment, begin, end, words);
        char *sorted = kernels->sort[kind](words + at, other + at, end - begin, low, high);
        if (sorted != words + at) {
            memcpy(words + at, sorted, (size_t)(end - begin) * lsp_word_bytes(kind));
        }
    }
    const char *sorted = merge_shares(job, words, other, segment->n, kind);
#pragma omp parallel for num_threads(job->threads) schedule(static)
    for (int part = 0; part < job->threads; part++) {
        int64_t begin, end;
        lsp_share(segment->n, part, job->threads, &begin, &end);
        kernels->finish[job->wide][kind](segment, begin, end, sorted);
    }
}

/* Bytes of scratch to sort n items; false if no number holds them. */
static bool scratch_for(const sort_job *job, int64_t n, int64_t *bytes) {
    enum { FOUR_ALIGNED_PARTS = 4 * 64 };
    return lsp_add(n, LSP_WORD_PAD, bytes) && lsp_mul(*bytes, job->item_bytes, bytes) &&
           lsp_add(*bytes, FOUR_ALIGNED_PARTS, bytes) && (*bytes -= *bytes % 64, true);
}

/* Lengths, threads and the scratch that follows from them. */
static lsp_status plan_job(lsp_ctx *ctx, sort_job *job) {
    lsp_status status = LSP_OK;
    const lsp_segsort_args *args = job->args;
    int64_t longest = 0, capacity = 0, items = offset_at(job, args->segments) - offset_at(job, 0), small, giants = 0;
    job->threads = lsp_threads_for(ctx, items + args->segments, WORTH_A_THREAD);
    job->giant = job->threads > 1 ? lsp_max(GIANT, job->threads * (int64_t)GIANT_SHARE) : INT64_MAX;
#pragma omp parallel for num_threads(job->threads) reduction(max : longest, capacity)
    for (int64_t s = 0; s < args->segments; s++) {
        int64_t length = offset_at(job, s + 1) - offset_at(job, s);
        longest = lsp_max(longest, length);
        capacity = lsp_max(capacity, length <= job->giant ? length : 0);
    }
    job->longest = longest;
    job->capacity = capacity;
    bool keeps_keys = job->order.is_float && args->keys == args->keys_out;
    bool keeps_values = args->value_bytes > 0 && args->values == args->values_out;
    bool positions = job->order.is_float || args->value_bytes > 0;
    int bits = (int)(8 * job->key_bytes) + (positions ? lsp_bits((uint64_t)longest) : 0);
    job->word_bytes = lsp_word_bytes(lsp_word_kind(bits));
    job->item_bytes =
        (int64_t)(2 * job->word_bytes + (keeps_keys ? job->key_bytes : 0) + (keeps_values ? args->value_bytes : 0));
    LSP_REQUIRE(scratch_for(job, capacity, &job->thread_bytes) && lsp_mul(job->thread_bytes, job->threads, &small) &&
                    (longest == capacity || scratch_for(job, longest, &giants)),
                LSP_ERR_MEMORY, "a segment of %lld items cannot be sorted in any memory", (long long)longest);
    LSP_TRY(lsp_scratch_bytes(ctx, lsp_max(small, giants), 1, false, (void **)&job->scratch));
done:
    return status;
}

lsp_status lsp_segsort_cpu(lsp_ctx *ctx, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx), key_bytes = lsp_type_bytes(args->key_type);
    sort_job job = {.kernels = lsp_segsort_get_kernels(ctx),
                    .args = args,
                    .order = key_order(args),
                    .key_bytes = key_bytes,
                    .wide = key_bytes == 8};
    if (args->segments == 0 || args->n == 0) {
        return LSP_OK;
    }
    LSP_TRY(plan_job(ctx, &job));
    sort_small(&job);
    for (int64_t s = 0; job.longest > job.capacity && s < args->segments; s++) {
        lsp_segment segment = segment_at(&job, s);
        if (segment.n > job.giant) {
            sort_giant(&job, &segment);
        }
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
