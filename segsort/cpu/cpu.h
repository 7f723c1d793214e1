/* Inside the segmented sort on the CPU: what the threads (cpu/threads.c) and the serial code of an instruction set
 * (cpu/kernels.c) share. */
#ifndef LSP_SEGSORT_CPU_CPU_H
#define LSP_SEGSORT_CPU_CPU_H

#include "segsort/segsort.h"
#include <string.h>

/* SORT_NETWORK, SORT_DIGIT and SORT_BUCKET: the best of a few tried on an AMD EPYC of the fifth generation (AVX-512,
 * 48 KiB and 1 MiB of cache a core) with 32-bit keys and values; SORT_FAR of five; the others follow from the sizes of
 * caches and lines. `sparse-bench segsort --device cpu` shows what a change does. */
enum {
    SORT_NETWORK = 1 << 13, /* items; longer segments are split by their leading digit */
    SORT_DIGIT = 9,         /* most bits of that digit */
    SORT_FAR = 1 << 18,     /* items; so many to move are moved by lines of */
    SORT_NEAR = 3 << 15,    /* items that the cache of a core holds */
    SORT_LINE = 16,         /* items, and then */
    SORT_FAR_DIGIT = 8,     /* the digit has at most so many bits */
    SORT_BUCKET = 128,      /* items wanted in a bucket */
    SORT_LAST_DIGIT = 11    /* if so many bits decide, all at once */
};

/* A sort under way. */
typedef struct lsp_sort {
    const lsp_segsort_args *args;
    lsp_key_order order;
    size_t key_bytes, value_bytes;
    bool positions; /* instead of values */
    bool global;    /* positions count from the start of the array */
    int64_t giant;  /* longer segments are left to all threads together */
} lsp_sort;

/* Arrays from the same item on: where items are now, where they go, and where they may lie in between. No values, but
 * a size of them: they are positions, still to be made, from `position` on. */
typedef struct lsp_sort_place {
    const char *keys, *values;
    char *keys_out, *values_out;
    char *keys_spare, *values_spare;
    int64_t position;
} lsp_sort_place;

/* The scratch of a thread. */
typedef struct lsp_sort_room {
    uint32_t *words, *more_words;    /* of segments for the network, and pads */
    char *keys_copy, *values_copy;   /* the same without pads; the second follows the first */
    char *keys_spare, *values_spare; /* of the longest segment that is no giant */
    int64_t near;                    /* items that fit what follows; 0 if nothing is far */
    char *keys_near, *values_near;   /* small enough for the cache */
    char *lines;                     /* NULL, or SORT_LINE items of each digit */
} lsp_sort_room;

/* A digit of the numbers of a segment: bits above `shift` of what they exceed `min` by. */
typedef struct lsp_sort_digit {
    uint64_t min;
    int shift, bits;
} lsp_sort_digit;

/* The digit to split n items by: the whole number if it is short, else so much that buckets suit the registers. */
static inline lsp_sort_digit lsp_sort_first_digit(lsp_key_range range, int64_t n) {
    int width = lsp_bits(range.max - range.min), bits = width;
    if (width > SORT_LAST_DIGIT) {
        bits =
            (int)lsp_max(lsp_min(lsp_bits((uint64_t)n / SORT_BUCKET), n < SORT_FAR ? SORT_DIGIT : SORT_FAR_DIGIT), 4);
    }
    return (lsp_sort_digit){.min = range.min, .shift = width - bits, .bits = bits};
}

typedef struct lsp_sort_kernels {
    /* Segments first .. last-1, as far as they are no giants. */
    void (*segments)(const lsp_sort *sort, const lsp_sort_room *room, int64_t first, int64_t last);
    /* Of the items begin .. end-1 of the segment that begins at `segment`, sorted: how many differ from the one before.
     * Flags go to change, places to change_at[at ..]; either may be NULL. */
    int64_t (*changes)(const lsp_sort *sort, int64_t segment, int64_t begin, int64_t end, unsigned char *change,
                       void *change_at, int64_t at);
    /* One segment; place->keys_spare is as long. */
    void (*segment)(const lsp_sort *sort, const lsp_sort_room *room, const lsp_sort_place *place, int64_t n);
    lsp_key_range (*range)(const lsp_sort *sort, const char *keys, int64_t n);
    /* count[d] += items of digit d. */
    void (*count)(const lsp_sort *sort, const char *keys, int64_t n, lsp_sort_digit digit, int64_t *count);
    /* Items begin .. end-1 of a place to next[their digit]++ of keys and values. */
    void (*scatter)(const lsp_sort *sort, const lsp_sort_place *place, int64_t begin, int64_t end, lsp_sort_digit digit,
                    int64_t *next, char *keys, char *values, char *lines);
} lsp_sort_kernels;

const lsp_sort_kernels *lsp_sort_kernels_portable(int wide); /* 0: keys of 32 bits, 1: of 64 */
const lsp_sort_kernels *lsp_sort_kernels_avx2(int wide);
const lsp_sort_kernels *lsp_sort_kernels_avx512(int wide);

/* May items go straight to the output? */
static inline bool lsp_sort_apart(const lsp_sort *sort, const lsp_sort_place *place) {
    return place->keys != place->keys_out && (sort->value_bytes == 0 || place->values != place->values_out);
}

/* The items from `begin` on, where a segment begins. */
static inline lsp_sort_place lsp_sort_place_at(const lsp_sort *sort, const lsp_sort_place *place, int64_t begin) {
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

/* All items, as they came. */
static inline lsp_sort_place lsp_sort_whole(const lsp_sort *sort) {
    const lsp_segsort_args *args = sort->args;
    lsp_sort_place whole = {.keys = args->keys, .keys_out = args->keys_out};
    if (sort->value_bytes > 0) {
        whole.values = sort->positions ? NULL : args->values;
        whole.values_out = args->values_out;
    }
    return whole;
}

/* What needs no order goes, or stays, where it belongs. */
static inline void lsp_sort_copy(const lsp_sort *sort, const lsp_sort_place *place, int64_t n) {
    if (place->keys != place->keys_out) {
        memcpy(place->keys_out, place->keys, (size_t)n * sort->key_bytes);
    }
    if (sort->value_bytes == 0) {
        return;
    }
    if (place->values == NULL) {
        for (int64_t i = 0; i < n; i++) {
            if (sort->value_bytes == 4) {
                ((uint32_t *)(void *)place->values_out)[i] = (uint32_t)(place->position + i);
            } else {
                ((uint64_t *)(void *)place->values_out)[i] = (uint64_t)(place->position + i);
            }
        }
    } else if (place->values != place->values_out) {
        memcpy(place->values_out, place->values, (size_t)n * sort->value_bytes);
    }
}

#endif
