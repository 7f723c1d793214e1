/* Template by KEY, an unsigned type as wide as the key: keys to numbers in the order wanted, and back. */
#define KEY_NAME(f) LSP_PASTE(f, KEY_SUFFIX)
#define SIGN ((KEY)1 << (8 * sizeof(KEY) - 1))

static inline KEY KEY_NAME(number)(KEY key, const lsp_key_order *order) {
    KEY negative = (KEY)((KEY)0 - (KEY)(key >> (8 * sizeof(KEY) - 1)));
    KEY number = (KEY)(key ^ (negative & (KEY)order->flip) ^ (KEY)order->bias);
    return (key & (KEY)~SIGN) > (KEY)order->nan_above ? (KEY)-1 : number;
}

/* The key of a number that is not a NaN's. */
static inline KEY KEY_NAME(key)(KEY number, const lsp_key_order *order) {
    KEY key = (KEY)(number ^ (KEY)order->bias);
    KEY negative = (KEY)((KEY)0 - (KEY)(key >> (8 * sizeof(KEY) - 1)));
    return (KEY)(key ^ (negative & (KEY)order->flip));
}

static lsp_key_range KEY_NAME(range)(const lsp_segment *segment, int64_t begin, int64_t end) {
    const KEY *keys = segment->keys;
    const lsp_key_order order = segment->order;
    KEY min = (KEY)-1, max = 0;
    unsigned falls = 0;
    for (int64_t i = begin; i < end; i++) {
        KEY number = KEY_NAME(number)(keys[i], &order);
        min = number < min ? number : min;
        max = number > max ? number : max;
    }
    for (int64_t i = begin + 1; i < end; i++) {
        falls |= KEY_NAME(number)(keys[i], &order) < KEY_NAME(number)(keys[i - 1], &order);
    }
    return (lsp_key_range){.min = min, .max = max, .sorted = falls == 0};
}

#define WORD uint32_t
#define WORD_SUFFIX _w32
#include "segsort_steps.h"
#define WORD uint64_t
#define WORD_SUFFIX _w64
#include "segsort_steps.h"
#define WORD lsp_u128
#define WORD_SUFFIX _w128
#include "segsort_steps.h"

#undef KEY_NAME
#undef SIGN
#undef KEY
#undef KEY_SUFFIX
