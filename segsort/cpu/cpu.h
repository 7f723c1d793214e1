/* Inside the segmented sort on the CPU: shared by threads.c, giants.c, and the serial code that is compiled for each
 * instruction set (kernels.c). */
#pragma once

#include "segsort/job.h"
#include <string.h>

/* SORT_NETWORK, SORT_DIGIT and SORT_BUCKET: the best of a few values tried on an AMD EPYC of the fifth generation
 * (AVX-512, 48 KiB and 1 MiB of cache for each core) with 32-bit keys and values; SORT_FAR: the best of five. The
 * others follow from the sizes of caches and cache lines. `sparse-bench segsort --device cpu` shows the effect of a
 * change. */
enum {
    SORT_NETWORK = 1 << 13,   /* items; a longer segment is split by its leading digit */
    SORT_DIGIT = 9,           /* most bits of that digit */
    SORT_FAR = 1 << 18,       /* items; a scatter of at least this many collects SORT_LINE items before each write */
    SORT_LINE = 16,           /* items; of 4 bytes they fill a cache line */
    SORT_FAR_DIGIT = 8,       /* most bits of the digit of a scatter of SORT_FAR items or more */
    SORT_TIED = 512,          /* items; with many ties among their words they are split, not refined */
    SORT_SPREAD = 24 << 20,   /* bytes of keys without values from which a scatter does so too */
    SORT_NEAR = 3 << 15,      /* items that fit the cache of a core */
    SORT_MAP_LEAST = 1 << 20, /* items from which a map pays */
    SORT_MAP_BITS = 16,       /* leading bits that a map of uneven digits tells apart */
    SORT_BUCKET = 128,        /* items wanted in a bucket */
    SORT_LAST_DIGIT = 11,     /* numbers of at most this many bits are sorted by one split */
    SORT_CHOICE_PART = 64,    /* items whose numbers are compared at a time with the limit of a choice */
    SORT_CHOICE_ROOM = 32,    /* candidates, at most, beyond the first ones three times and a part */
    SORT_CHOICE_LEAST = 512,  /* items; shorter segments are sorted whole even if few first items are wanted */
    SORT_CHOICE_SHARE = 16    /* so are segments of at most this many times those items */
};

/* The arguments of a sort in the form that kernels use. */
typedef struct lsp_task {
    const lsp_segsort_args *args;
    lsp_key_order order;
    size_t key_bytes, value_bytes;
    bool positions; /* the output holds positions instead of values */
    bool global;    /* positions count from the start of the array, not of the segment */
    int64_t giant;  /* items; kernels skip longer segments, which all threads sort together */
} lsp_task;

/* Pointers to one item in each array: its key and value, its output, and spare arrays for splits. If values are NULL
 * although value_bytes > 0, the values are positions that are not written yet; the first one is `position`. */
typedef struct lsp_sort_place {
    const char *keys, *values;
    char *keys_out, *values_out;
    char *keys_spare, *values_spare;
    int64_t position;
} lsp_sort_place;

/* The workspace of a thread. */
typedef struct lsp_sort_workspace {
    uint32_t *words, *more_words;    /* SORT_NETWORK (at most) + LSP_WORD_PAD words each */
    char *keys_copy, *values_copy;   /* SORT_NETWORK items (at most); the second follows the first */
    char *keys_spare, *values_spare; /* as long as the longest segment that is not a giant */
    int64_t near;                    /* items in the near arrays; 0 if no segment has SORT_FAR items */
    char *keys_near, *values_near;   /* spare arrays that fit the cache */
    char *lines;                     /* NULL, or SORT_LINE keys and values for each value of a digit */
} lsp_sort_workspace;

/* A choice of the first items of a segment: keys[0] and places[0] hold candidates, the others are for their sort. */
typedef struct lsp_sort_chosen {
    const char *from; /* the keys of the segment */
    int64_t room;     /* candidates that each array holds */
    char *keys[3];
    char *places[3]; /* int64: where in the segment */
    char *values;    /* of the first items */
} lsp_sort_chosen;

/* The longest segment that is sorted whole if its `first` first items are wanted; 0: all are. */
static inline int64_t lsp_sort_whole_longest(int64_t first, int64_t n) {
    return first == 0 || first > n / SORT_CHOICE_SHARE ? INT64_MAX
                                                       : lsp_max(first * SORT_CHOICE_SHARE, SORT_CHOICE_LEAST);
}

/* The shares in which threads choose from a giant of n items. */
static inline int64_t lsp_sort_choice_shares(int threads, int64_t n, int64_t first) {
    return lsp_min(threads, lsp_max(n / (first * SORT_CHOICE_SHARE), 1));
}

/* A digit of numbers: `bits` bits of number - min, from bit `shift` up. With by_key instead: 0 for numbers below min, 1
 * for min itself, 2 above; then bits = 2, and shift is not 0, because numbers of a digit may differ. With `map`: what
 * it has for the SORT_MAP_BITS bits of number - min from bit `shift` up; shift is not 0, and the map never falls. */
typedef struct lsp_sort_digit {
    uint64_t min;
    int shift, bits;
    bool by_key;
    const uint8_t *map;
} lsp_sort_digit;

/* The digit by which n items are split: the whole number if it is short, otherwise enough leading bits for buckets of
 * about SORT_BUCKET items, which the networks in registers sort fastest. */
static inline lsp_sort_digit lsp_sort_first_digit(lsp_key_range range, int64_t n) {
    int width = lsp_bits(range.max - range.min), bits = width;
    if (width > SORT_LAST_DIGIT) {
        bits =
            (int)lsp_max(lsp_min(lsp_bits((uint64_t)n / SORT_BUCKET), n < SORT_FAR ? SORT_DIGIT : SORT_FAR_DIGIT), 4);
    }
    return (lsp_sort_digit){.min = range.min, .shift = width - bits, .bits = bits};
}

/* Where a scatter puts items: an item of digit d to keys[next[d]] and values[next[d]]. */
typedef struct lsp_sort_target {
    char *keys, *values;
    char *lines;   /* of the thread's workspace, or NULL */
    int64_t *next; /* one for each value of the digit; each item advances its own */
} lsp_sort_target;

/* The serial code for keys of one width. */
typedef struct lsp_sort_kernels {
    /* Sorts segments first .. last-1, except giants. */
    void (*segments)(const lsp_task *sort, const lsp_sort_workspace *workspace, int64_t first, int64_t last);
    /* Counts the changes among sorted items begin .. end-1 of the segment that begins at `segment`: items whose key
     * differs from the previous one, and the first item of the segment. Writes a flag for each item to `change` and
     * the positions of changes to change_at[at ..]; either may be NULL. */
    int64_t (*changes)(const lsp_task *sort, int64_t segment, int64_t begin, int64_t end, unsigned char *change,
                       void *change_at, int64_t at);
    /* Sorts one segment of n items; the spare arrays of `place` hold n items. */
    void (*segment)(const lsp_task *sort, const lsp_sort_workspace *workspace, const lsp_sort_place *place, int64_t n);
    /* Are n keys in order? */
    bool (*is_sorted)(const lsp_task *sort, const char *keys, int64_t n);
    /* The smallest and the largest number of n keys. */
    lsp_key_range (*range)(const lsp_task *sort, const char *keys, int64_t n);
    /* Does a sample tell that most of n keys have the same number? Then *digit splits by it. */
    bool (*most)(const lsp_task *sort, const char *keys, int64_t n, lsp_sort_digit *digit);
    /* Does a sample tell that one value of *digit has many of n keys? Then *digit becomes one by `map`, which the
     * sample cuts into even parts. The map has 1 << SORT_MAP_BITS bytes. */
    bool (*map)(const lsp_task *sort, const char *keys, int64_t n, lsp_key_range range, lsp_sort_digit *digit,
                uint8_t *map);
    /* Adds to count[d] the number of items with digit d. */
    void (*count)(const lsp_task *sort, const char *keys, int64_t n, lsp_sort_digit digit, int64_t *count);
    /* Moves items begin .. end-1 of `place` to the target. */
    void (*scatter)(const lsp_task *sort, const lsp_sort_place *place, int64_t begin, int64_t end, lsp_sort_digit digit,
                    const lsp_sort_target *target);
    /* Chooses the `first` first of the items begin .. end-1, which are more: sorted, in keys[0] and places[0] of c. */
    int64_t (*choose)(const lsp_task *sort, const lsp_sort_workspace *workspace, lsp_sort_chosen *c, int64_t begin,
                      int64_t end);
    /* Sorts `count` candidates and keeps at most `first`; returns how many. */
    int64_t (*keep_first)(const lsp_task *sort, const lsp_sort_workspace *workspace, lsp_sort_chosen *c, int64_t count,
                          int64_t first);
} lsp_sort_kernels;

const lsp_sort_kernels *lsp_sort_kernels_portable(int wide); /* 0: keys of 32 bits, 1: of 64 */
const lsp_sort_kernels *lsp_sort_kernels_avx2(int wide);
const lsp_sort_kernels *lsp_sort_kernels_avx512(int wide);

/* Does the number of a key tell its bits, unless it is a NaN? `all` has the bits of a key. */
static inline bool lsp_sort_exact(const lsp_key_order *order, uint64_t all) {
    return order->keep == all && order->step == 0;
}

/* Can items be moved to the output while others are still read? Not when the sort is in place. */
static inline bool lsp_sort_apart(const lsp_task *sort, const lsp_sort_place *place) {
    return place->keys != place->keys_out && (sort->value_bytes == 0 || place->values != place->values_out);
}

/* The place of the segment that begins at item `begin`. */
static inline lsp_sort_place lsp_sort_place_at(const lsp_task *sort, const lsp_sort_place *place, int64_t begin) {
    size_t key_at = (size_t)begin * sort->key_bytes, value_at = (size_t)begin * sort->value_bytes;
    lsp_sort_place at = *place;
    at.keys += key_at;
    at.keys_out += key_at;
    at.position = sort->global ? place->position + begin : 0;
    if (at.keys_spare) {
        at.keys_spare += key_at;
    }
    if (sort->value_bytes > 0) {
        at.values = at.values ? at.values + value_at : NULL;
        at.values_out += value_at;
        at.values_spare = at.values_spare ? at.values_spare + value_at : NULL;
    }
    return at;
}

/* The place of the first item of all. */
static inline lsp_sort_place lsp_sort_whole(const lsp_task *sort) {
    const lsp_segsort_args *args = sort->args;
    lsp_sort_place whole = {.keys = args->keys, .keys_out = args->keys_out};
    if (sort->value_bytes > 0) {
        whole.values = sort->positions ? NULL : args->values;
        whole.values_out = args->values_out;
    }
    return whole;
}

/* Copies n items that are sorted already to the output, unless they are there. */
static inline void lsp_sort_copy(const lsp_task *sort, const lsp_sort_place *place, int64_t n) {
    if (place->keys != place->keys_out) {
        memcpy(place->keys_out, place->keys, (size_t)n * sort->key_bytes);
    }
    if (sort->value_bytes == 0) {
        return;
    }
    if (place->values == NULL) {
        for (int64_t i = 0; i < n; i++) {
            lsp_index_set(place->values_out, sort->value_bytes == 4 ? LSP_I32 : LSP_I64, i, place->position + i);
        }
    } else if (place->values != place->values_out) {
        memcpy(place->values_out, place->values, (size_t)n * sort->value_bytes);
    }
}
