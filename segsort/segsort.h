/* Inside the segmented sort. Each key is mapped to an unsigned number in the requested order. The bits of the number
 * that differ within the segment, above the position of the item in the segment, make one word. Words are distinct, so
 * any sort of them is stable; the position in a sorted word then tells which key and value to fetch. */
#ifndef LSP_SEGSORT_SEGSORT_H
#define LSP_SEGSORT_SEGSORT_H

#include "core/core.h"
#include "libsparse/unstable.h"

#ifdef __cplusplus
extern "C" {
#endif

__extension__ typedef unsigned __int128 lsp_u128;

/* Every array of words has room for this many more, because networks work on whole blocks of vectors. */
enum { LSP_WORD_PAD = 256 };

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

typedef struct lsp_key_range {
    uint64_t min, max; /* the smallest and the largest number of some keys */
} lsp_key_range;

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

/* The specification: sorts checked arguments on the host with one thread, as lsp_segsort must. */
lsp_status lsp_segsort_ref(lsp_ctx *ctx, const lsp_segsort_args *args);
/* Sorts checked arguments on the host. */
lsp_status lsp_segsort_cpu(lsp_ctx *ctx, const lsp_segsort_args *args);
/* The most scratch that lsp_segsort_cpu takes if no segment exceeds `longest` items; false if no int64 holds it. */
bool lsp_segsort_cpu_bytes(const lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes);

/* Refuses arguments that are wrong, with a sentence. On a GPU the offsets are not read. */
lsp_status lsp_segsort_check(lsp_ctx *ctx, const lsp_segsort_args *args);

/* The table of limits that a GPU's context uses now. */
const lsp_segsort_table *lsp_segsort_table_of(lsp_ctx *ctx);

/* The scratch on the GPU for checked arguments if no segment exceeds `longest` items; false if no int64 holds it. */
bool lsp_segsort_cuda_bytes(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes);
/* Sorts checked arguments on the GPU, with scratch of lsp_segsort_cuda_bytes. Puts work on the stream, never waits. */
lsp_status lsp_segsort_cuda(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, void *scratch);
/* The same, but giants are split by at most `bits` bits in a round, LSP_SPLIT_LEAST .. LSP_SPLIT_MOST. */
enum { LSP_SPLIT_LEAST = 4, LSP_SPLIT_MOST = 8, LSP_SPLIT_WANTED = 5120 /* items of a bucket, at most */ };
lsp_status lsp_segsort_cuda_split(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, void *scratch, int bits);
/* The length of the longest well-formed segment. Waits for the GPU. */
lsp_status lsp_segsort_cuda_longest(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t *longest);

/* The narrowest word that holds `bits` bits. */
static inline int lsp_word_kind(int bits) { return bits <= 32 ? LSP_WORD_32 : bits <= 64 ? LSP_WORD_64 : LSP_WORD_128; }
static inline size_t lsp_word_bytes(int kind) { return (size_t)4 << kind; }

#ifdef __cplusplus
}
#endif
#endif
