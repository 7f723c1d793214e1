/* What the files of the segmented sort on both devices know. Each key is mapped to an unsigned number in the requested
 * order. The bits of the number that differ within the segment, above the position of the item in the segment, make one
 * word. Words are distinct, so any sort of them is stable; the position in a sorted word then tells which key and value
 * to fetch. */
#pragma once

#include "core/core.h"
#include "libsparse/unstable.h"

LSP_BEGIN_DECLS

/* What a device does for a sort. The arguments are checked; no segment exceeds `longest` items. */
typedef struct lsp_segsort_device {
    const char *method, *place; /* for lsp_segsort_info */
    bool holds_scratch;         /* run needs `bytes` bytes of scratch; else it takes them itself */
    /* The most scratch that run takes; false if no int64 holds it. */
    bool (*bytes)(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes);
    /* The length of the longest well-formed segment. Waits for the GPU. */
    lsp_status (*longest)(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t *longest);
    /* Sorts. On a GPU it puts work on the stream and never waits, and splits giants by at most `split_bits` bits in a
     * round. The CPU ignores these bits. */
    lsp_status (*run)(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, void *scratch, int split_bits);
} lsp_segsort_device;

extern const lsp_segsort_device lsp_segsort_cpu, lsp_segsort_cuda;

enum { LSP_SPLIT_LEAST = 4, LSP_SPLIT_USUAL = 8, LSP_SPLIT_WIDE = 10, LSP_SPLIT_WANTED = 5120 /* items of a bucket */ };

/* A flag that no caller of lsp_segsort can set: no scratch for wide digits. */
enum { LSP_SORT_LEAN = 1 << 30 };

/* The most bits of a digit: as many as split the array in one round, if these are not too many, and keys are alone or
 * keys and values have 4 bytes each. */
static inline int lsp_split_most(const lsp_segsort_args *args) {
    const bool narrow = args->value_bytes == 0 || (args->value_bytes == 4 && lsp_type_bytes(args->key_type) == 4);
    const int bits = lsp_bits((uint64_t)(lsp_max(args->n, 1) - 1) / LSP_SPLIT_WANTED);
    const bool wide = bits > LSP_SPLIT_USUAL && bits <= LSP_SPLIT_WIDE;
    return narrow && wide && !(args->flags & LSP_SORT_LEAN) ? bits : LSP_SPLIT_USUAL;
}

/* The table of limits that a GPU's context uses now. */
const lsp_segsort_table *lsp_segsort_table_of(lsp_ctx *ctx);

/* ---- keys ---- */

/* Maps the bits k of a key to an unsigned number: ((k - step) ^ flip ^ bias) & keep, with step and flip only if k has
 * its sign bit. A NaN maps to all ones. */
typedef struct lsp_key_order {
    uint64_t bias, flip;
    uint64_t step;      /* 0, or 1: then -0 has the number of +0, which no other key has */
    uint64_t keep;      /* the bits that are compared: all, unless the caller gave a range of bits */
    uint64_t nan_above; /* a key is a NaN if its bits without the sign bit exceed this */
    bool is_float;
} lsp_key_order;

/* The order that checked arguments ask for. */
lsp_key_order lsp_segsort_order(const lsp_segsort_args *args);

typedef struct lsp_key_range {
    uint64_t min, max; /* the smallest and the largest number of some keys */
} lsp_key_range;

/* ---- segments ---- */

/* Segment s holds items begin .. end-1. The arguments are checked and their offsets are on the host. */
static inline void lsp_segsort_bounds(const lsp_segsort_args *args, int64_t s, int64_t *begin, int64_t *end) {
    if (args->offsets == NULL) {
        *begin = s * args->length;
        *end = lsp_min(*begin + args->length, args->n);
    } else {
        *begin = lsp_index_at(args->offsets, args->offset_type, s);
        *end = args->ends ? lsp_index_at(args->ends, args->offset_type, s)
                          : lsp_index_at(args->offsets, args->offset_type, s + 1);
    }
}

/* An upper bound of the length of a segment, without reading the offsets. */
static inline int64_t lsp_segsort_longest_bound(const lsp_segsort_args *args) {
    int64_t longest = args->offsets == NULL ? lsp_min(args->length, args->n) : args->n;
    return args->max_length > 0 ? lsp_min(longest, args->max_length) : longest;
}

/* ---- sorts of words on the CPU, for other rooms too ---- */

__extension__ typedef unsigned __int128 lsp_u128;

/* Every array of words has room for this many more, because networks work on whole blocks of vectors. */
enum { LSP_WORD_PAD = 256 };

/* Sorts n words and returns the array with the result: `words` or `scratch`, which has the same size. Words with equal
 * bits from `low` up are in order already; bits from `high` up are equal in all words. */
typedef void *(*lsp_word_sort)(void *words, void *scratch, int64_t n, int low, int high);

enum { LSP_WORD_32 = 0, LSP_WORD_64 = 1, LSP_WORD_128 = 2, LSP_WORD_KINDS = 3 };

/* Sorts of words for other rooms, compiled once for each instruction set. */
typedef struct lsp_segsort_kernels {
    lsp_word_sort sort[LSP_WORD_KINDS];
} lsp_segsort_kernels;

const lsp_segsort_kernels *lsp_segsort_kernels_portable(void);
const lsp_segsort_kernels *lsp_segsort_kernels_avx2(void);
const lsp_segsort_kernels *lsp_segsort_kernels_avx512(void);
const lsp_segsort_kernels *lsp_segsort_get_kernels(const lsp_ctx *ctx);

/* The narrowest word that holds `bits` bits. */
static inline int lsp_word_kind(int bits) { return bits <= 32 ? LSP_WORD_32 : bits <= 64 ? LSP_WORD_64 : LSP_WORD_128; }
static inline size_t lsp_word_bytes(int kind) { return (size_t)4 << kind; }

LSP_END_DECLS
