/* Inside the segmented sort. A key becomes an unsigned number in the order wanted, less the smallest of its segment,
 * above the position in the segment: one word. Words are distinct, so any sort of them is stable, and the narrowest
 * of three widths that holds number and position is sorted. Position then fetches the value. */
#ifndef LSP_SEGSORT_H
#define LSP_SEGSORT_H

#include "core/core.h"

__extension__ typedef unsigned __int128 lsp_u128;

/* Room that every array of words must have beyond its last word: networks work on whole vectors. */
enum { LSP_WORD_PAD = 16 };

/* The unsigned number of a key with bits k: k ^ (k < 0 as a signed number ? flip : 0) ^ bias; all ones for a NaN. */
typedef struct lsp_key_order {
    uint64_t bias, flip;
    uint64_t nan_above; /* bits without the sign above this: NaN */
    bool is_float;
} lsp_key_order;

typedef struct lsp_key_range {
    uint64_t min, max; /* of the numbers */
    bool sorted;
} lsp_key_range;

/* Sorts n words, and may use `scratch` of the same size; the result is where the return value points. Bits below
 * `low` ascend already among words that are equal from there on; bits from `high` on are equal in all words. */
typedef void *(*lsp_word_sort)(void *words, void *scratch, int64_t n, int low, int high);

/* out[0..n) = the k-th to (k+n)-th of two sorted arrays merged. */
typedef void (*lsp_word_merge)(const void *a, int64_t a_count, const void *b, int64_t b_count, int64_t k, int64_t n,
                               void *out);

/* One segment on its way: what the steps below share. */
typedef struct lsp_segment {
    const void *keys, *values; /* as they came */
    void *keys_out, *values_out;
    int64_t n;
    size_t value_bytes;
    lsp_key_order order;
    uint64_t min;      /* of the numbers: what words leave away */
    int position_bits; /* 0: words hold no position */
    bool has_nan;      /* then keys are fetched by position too */
} lsp_segment;

typedef lsp_key_range (*lsp_segment_range)(const lsp_segment *segment, int64_t begin, int64_t end);
typedef void (*lsp_segment_build)(const lsp_segment *segment, int64_t begin, int64_t end, void *words);
typedef void (*lsp_segment_finish)(const lsp_segment *segment, int64_t begin, int64_t end, const void *words);

enum { LSP_WORD_32 = 0, LSP_WORD_64 = 1, LSP_WORD_128 = 2, LSP_WORD_KINDS = 3 };

/* The serial building blocks, compiled once an instruction set. */
typedef struct lsp_segsort_kernels {
    lsp_word_sort sort[LSP_WORD_KINDS];
    lsp_word_merge merge[LSP_WORD_KINDS];
    lsp_segment_range range[2]; /* [wide] */
    lsp_segment_build build[2][LSP_WORD_KINDS];
    lsp_segment_finish finish[2][LSP_WORD_KINDS];
} lsp_segsort_kernels;

const lsp_segsort_kernels *lsp_segsort_kernels_portable(void);
const lsp_segsort_kernels *lsp_segsort_kernels_avx2(void);
const lsp_segsort_kernels *lsp_segsort_kernels_avx512(void);
const lsp_segsort_kernels *lsp_segsort_get_kernels(const lsp_ctx *ctx);

/* The specification: same contract as lsp_segsort, arguments already checked, one thread. */
lsp_status lsp_segsort_ref(lsp_ctx *ctx, const lsp_segsort_args *args);
lsp_status lsp_segsort_cpu(lsp_ctx *ctx, const lsp_segsort_args *args);

/* LSP_OK, or a sentence about what is wrong with the arguments. */
lsp_status lsp_segsort_check(lsp_ctx *ctx, const lsp_segsort_args *args);

/* Bits that hold the numbers 0 .. x. */
static inline int lsp_bits(uint64_t x) { return x == 0 ? 0 : 64 - __builtin_clzll(x); }

/* The narrowest word for these bits. */
static inline int lsp_word_kind(int bits) { return bits <= 32 ? LSP_WORD_32 : bits <= 64 ? LSP_WORD_64 : LSP_WORD_128; }
static inline size_t lsp_word_bytes(int kind) { return (size_t)4 << kind; }

#endif
