/* Inside the segmented sort. A key becomes an unsigned number in the order wanted; what of it differs within the
 * segment stands above the position in the segment: one word. Words are distinct, so any sort of them is stable.
 * Position then fetches key and value. */
#ifndef LSP_SEGSORT_SEGSORT_H
#define LSP_SEGSORT_SEGSORT_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

__extension__ typedef unsigned __int128 lsp_u128;

/* Room that every array of words must have beyond its last word: networks work on whole blocks of vectors. */
enum { LSP_WORD_PAD = 256 };

/* The unsigned number of a key with bits k: (k ^ (k < 0 as a signed number ? flip : 0) ^ bias) & keep; all ones for a
 * NaN. */
typedef struct lsp_key_order {
    uint64_t bias, flip;
    uint64_t keep;      /* the bits that decide; all of the key's unless a range of bits was asked for */
    uint64_t nan_above; /* bits without the sign above this: NaN */
    bool is_float;
} lsp_key_order;

/* Of arguments that were checked. */
lsp_key_order lsp_segsort_order(const lsp_segsort_args *args);

/* Segment s is begin .. end-1. Of arguments that were checked, on the host. */
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

/* The longest that a segment can be without a look at the offsets. */
static inline int64_t lsp_segsort_said_longest(const lsp_segsort_args *args) {
    int64_t longest = args->offsets == NULL ? lsp_min(args->length, args->n) : args->n;
    return args->max_length > 0 ? lsp_min(longest, args->max_length) : longest;
}

typedef struct lsp_key_range {
    uint64_t min, max; /* of the numbers */
} lsp_key_range;

/* Sorts n words, and may use `scratch` of the same size; the result is where the return value points. Bits below
 * `low` ascend already among words that are equal from there on; bits from `high` on are equal in all words. */
typedef void *(*lsp_word_sort)(void *words, void *scratch, int64_t n, int low, int high);

enum { LSP_WORD_32 = 0, LSP_WORD_64 = 1, LSP_WORD_128 = 2, LSP_WORD_KINDS = 3 };

/* Compiled once an instruction set. */
typedef struct lsp_segsort_kernels {
    lsp_word_sort sort[LSP_WORD_KINDS];
} lsp_segsort_kernels;

const lsp_segsort_kernels *lsp_segsort_kernels_portable(void);
const lsp_segsort_kernels *lsp_segsort_kernels_avx2(void);
const lsp_segsort_kernels *lsp_segsort_kernels_avx512(void);
const lsp_segsort_kernels *lsp_segsort_get_kernels(const lsp_ctx *ctx);

/* The specification: same contract as lsp_segsort, arguments already checked, one thread. */
lsp_status lsp_segsort_ref(lsp_ctx *ctx, const lsp_segsort_args *args);
lsp_status lsp_segsort_cpu(lsp_ctx *ctx, const lsp_segsort_args *args);
/* The most scratch that it takes if no segment is longer than `longest`; false if no number holds the bytes. */
bool lsp_segsort_cpu_bytes(const lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes);

/* LSP_OK, or a sentence about what is wrong with the arguments. */
lsp_status lsp_segsort_check(lsp_ctx *ctx, const lsp_segsort_args *args);

/* The table in force, of a GPU's context. */
const lsp_segsort_table *lsp_segsort_table_of(lsp_ctx *ctx);

/* On a GPU: arguments already checked, `longest` at least the longest segment, `scratch` of as many bytes as
 * lsp_segsort_cuda_bytes says (false if no number holds them). Everything goes to the stream. */
bool lsp_segsort_cuda_bytes(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes);
lsp_status lsp_segsort_cuda(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, void *scratch);
/* Waits for the GPU: the length of the longest well-formed segment. */
lsp_status lsp_segsort_cuda_longest(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t *longest);

/* The narrowest word for these bits. */
static inline int lsp_word_kind(int bits) { return bits <= 32 ? LSP_WORD_32 : bits <= 64 ? LSP_WORD_64 : LSP_WORD_128; }
static inline size_t lsp_word_bytes(int kind) { return (size_t)4 << kind; }

#ifdef __cplusplus
}
#endif
#endif
