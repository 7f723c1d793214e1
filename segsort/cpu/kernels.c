/* The serial code of the segmented sort, compiled once for each instruction set. Templates make it for words of 32, 64
 * and 128 bits and for keys of 32 and 64 bits. */
#include "core/isa.h"
#include "core/vector.h"
#include "cpu.h"
#include <string.h>

typedef struct value16 {
    uint64_t half[2];
} value16;

#define MOVE_ITEMS(type)                                                                                               \
    UNROLLED_4 for (int64_t i = 0; i < n; i++) {                                                                       \
        ((type *)(void *)to)[i] = ((const type *)(const void *)from)[words[i] & mask];                                 \
    }
#define PLACE_ITEMS(type)                                                                                              \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
        ((type *)(void *)to)[i] = (type)(position + (words[i] & mask));                                                \
    }

/* Moves keys and values in one loop. */
#define MOVE_BOTH(key_type, value_type)                                                                                \
    UNROLLED_4 for (int64_t i = 0; i < n; i++) {                                                                       \
        uint32_t from = words[i] & mask;                                                                               \
        ((key_type *)(void *)place->keys_out)[i] = ((const key_type *)(const void *)keys)[from];                       \
        ((value_type *)(void *)place->values_out)[i] = ((const value_type *)(const void *)values)[from];               \
    }

/* to[i] = the item of `from` at the position in the lowest bits of words[i], for n sorted words. Without `from`, that
 * position itself plus `position`. */
ALWAYS void move_items(const char *from, char *to, size_t bytes, const uint32_t *words, uint32_t mask, int64_t n,
                       int64_t position) {
    if (bytes == 4 && from) {
        MOVE_ITEMS(uint32_t)
    } else if (bytes == 8 && from) {
        MOVE_ITEMS(uint64_t)
    } else if (bytes == 16) {
        MOVE_ITEMS(value16)
    } else if (bytes == 4) {
        PLACE_ITEMS(uint32_t)
    } else {
        PLACE_ITEMS(uint64_t)
    }
}

/* Do two neighbours in words[begin - 1 .. end-1] tie, which means that they are equal above the mask? */
static bool any_tie(const uint32_t *words, int64_t begin, int64_t end, uint32_t mask) {
    uint32_t ties = 0;
    for (int64_t i = begin; i < end; i++) {
        ties |= (words[i] ^ words[i - 1]) <= mask;
    }
    return ties != 0;
}

/* Prefetches n items from `first` up; they may lie outside the array. */
ALWAYS void prefetch(const char *items, int64_t first, size_t bytes, int64_t n, bool write) {
    const int64_t begin = first * (int64_t)bytes, end = begin + n * (int64_t)bytes;
    for (int64_t at = begin; items && at < end; at += 64) {
        if (write) {
            __builtin_prefetch(items + at, 1);
        } else {
            __builtin_prefetch(items + at, 0);
        }
    }
}

/* Writes line d to memory. Its last item goes to to[end - 1]; it begins at a multiple of SORT_LINE items, or at `start`
 * if that is later. With AVX-512 a full line is streamed past the caches. */
ALWAYS void write_line(const void *lines, int64_t d, size_t bytes, char *to, int64_t start, int64_t end) {
    int64_t first = (end - 1) / SORT_LINE * SORT_LINE, begin = lsp_max(first, start);
    const char *line = (const char *)lines + (size_t)d * SORT_LINE * bytes;
    to += (size_t)begin * bytes;
#if defined(LANES) && LANES == 16
    if (end - begin == SORT_LINE) {
        for (size_t at = 0; at < SORT_LINE * bytes; at += 64) {
            _mm512_stream_si512((void *)(to + at), _mm512_loadu_si512(line + at));
        }
        return;
    }
#endif
    if (begin < end) {
        memcpy(to, line + (size_t)(begin - first) * bytes, (size_t)(end - begin) * bytes);
    }
}

/* Makes streamed lines visible to other threads before any later write. */
static void lines_are_written(void) {
#if defined(LANES) && LANES == 16
    _mm_sfence();
#endif
}

enum {
    RADIX_DIGIT = 8,
    TIE_PART = 128,   /* items whose ties are found at a time */
    DIGIT_PART = 256, /* items whose digits are made at a time */
    FETCH_AHEAD = 768 /* items that a prefetch is ahead */
};
#ifdef LANES
#include "lanes.h"
#include "network.h"
/* Classes of short segments: up to 4, 8, 16 and 32 items, LANES segments at a time; with AVX-512 also up to 64 and 128
 * items, two at a time. */
enum { SHORT_PAIRS = 4, SHORT_CLASSES = LANES == 16 ? 6 : 4, SHORT_LONGEST = 2 << SHORT_CLASSES };
#endif

#define SORT_WORD uint32_t
#define SORT_SUFFIX _w32
#ifdef LANES
#define SHORT SORT_NETWORK
#define NETWORK sort_network
#else
#define SHORT 40
#endif
#include "words_template.h"
#define SORT_WORD uint64_t
#define SORT_SUFFIX _w64
#define SHORT 128
#include "words_template.h"
#define SORT_WORD lsp_u128
#define SORT_SUFFIX _w128
#define SHORT 192
#include "words_template.h"

#define KEY uint32_t
#define KEY_BITS 32
#define KEY_SUFFIX _k32
#include "upto8192_template.h"
#define KEY uint64_t
#define KEY_BITS 64
#define KEY_SUFFIX _k64
#include "upto8192_template.h"

/* ---- sorts of words, for other rooms ---- */

/* Up to SORT_NETWORK words are sorted as 32-bit words of their leading bits and positions. These lie in the second half
 * of `scratch` and are read before the result overwrites them. */
static void *words_64(void *words, void *scratch, int64_t n, int low, int high) {
#ifdef LANES
    if (n > 1 && n <= SORT_NETWORK) {
        lsp_task sort = {.order = {.keep = UINT64_MAX, .nan_above = UINT64_MAX}};
        lsp_key_range range = range_k64(&sort, words, n);
        int position_bits = lsp_bits((uint64_t)n - 1);
        uint32_t *half = (uint32_t *)scratch + (n + 15) / 16 * 16;
        bool cut = make_words_k64(&sort, words, n, range, position_bits, half);
        sort_network(half, n);
        if (!cut || repair_k64(&sort, words, half, n, position_bits, n)) {
            const uint64_t *from = words;
            uint64_t *to = scratch;
            for (int64_t i = 0; i < n; i++) {
                uint64_t word = from[half[i] & (((uint32_t)1 << position_bits) - 1)];
                memcpy(to + i, &word, sizeof word);
            }
            return scratch;
        }
    }
#endif
    return sort_w64(words, scratch, n, low, high);
}

const lsp_segsort_kernels *LSP_ISA_NAME(lsp_segsort_kernels)(void) {
    static const lsp_segsort_kernels kernels = {.sort = {sort_w32, words_64, sort_w128}};
    return &kernels;
}

const lsp_sort_kernels *LSP_ISA_NAME(lsp_sort_kernels)(int wide) {
    static const lsp_sort_kernels kernels[2] = {
        {sort_segments_k32, changes_k32, sort_segment_k32, is_sorted_k32, range_k32, most_k32, map_k32, count_k32,
         scatter_k32, choose_k32, keep_first_k32},
        {sort_segments_k64, changes_k64, sort_segment_k64, is_sorted_k64, range_k64, most_k64, map_k64, count_k64,
         scatter_k64, choose_k64, keep_first_k64}};
    return &kernels[wide];
}
