/* Template by KEY, an unsigned type as wide as the key: one segment. Up to SORT_NETWORK items become 32-bit words, the
 * leading bits of number - smallest number above the position, and a network sorts those; positions then fetch keys
 * and values. Words that tie although their numbers were cut are put right first, or, if these are many, the segment
 * is split by a digit, as longer ones are. */
#define KEY_NAME(f) LSP_PASTE(f, KEY_SUFFIX)

ALWAYS KEY KEY_NAME(number)(KEY key, const lsp_key_order *order) {
    const int top = KEY_BITS - 1;
    KEY negative = (KEY)((KEY)0 - (KEY)(key >> top));
    KEY number = (KEY)((key ^ (negative & (KEY)order->flip) ^ (KEY)order->bias) & (KEY)order->keep);
    bool nan = (key & (KEY) ~((KEY)1 << top)) > (KEY)order->nan_above;
    return (KEY)(number | (KEY)((KEY)0 - (KEY)nan)); /* not a choice: it would not become vectors */
}

/* The key of a number, if all bits count and it is not a NaN's. */
ALWAYS KEY KEY_NAME(key)(KEY number, const lsp_key_order *order) {
    KEY key = (KEY)(number ^ (KEY)order->bias);
    KEY negative = (KEY)((KEY)0 - (KEY)(key >> (KEY_BITS - 1)));
    return (KEY)(key ^ (negative & (KEY)order->flip));
}

static lsp_key_range KEY_NAME(range)(const lsp_sort *sort, const char *keys_, int64_t n) {
    enum { PART = 1024 };
    const KEY *keys = (const KEY *)(const void *)keys_;
    const lsp_key_order order = sort->order;
    KEY min = (KEY)-1, max = 0;
    for (int64_t part = 0; part < n; part += PART) {
        int64_t end = lsp_min(part + PART, n);
        if (end < n) {
            prefetch(keys_, end, sizeof(KEY), PART, false);
        }
        for (int64_t i = part; i < end; i++) {
            KEY number = KEY_NAME(number)(keys[i], &order);
            min = number < min ? number : min;
            max = number > max ? number : max;
        }
    }
    return (lsp_key_range){.min = min, .max = max};
}

static bool KEY_NAME(is_sorted)(const lsp_sort *sort, const KEY *keys, int64_t n) {
    enum { PART = 64 };
    const lsp_key_order order = sort->order;
    for (int64_t begin = 1; begin < n; begin += PART) {
        int64_t end = lsp_min(begin + PART, n);
        KEY falls = 0;
        for (int64_t i = begin; i < end; i++) {
            falls |= KEY_NAME(number)(keys[i], &order) < KEY_NAME(number)(keys[i - 1], &order);
        }
        if (falls) {
            return false;
        }
    }
    return true;
}

/* Words of the keys; returns how many bits of the numbers they lack. */
static int KEY_NAME(make_words)(const lsp_sort *sort, const KEY *keys, int64_t n, lsp_key_range range,
                                int position_bits, uint32_t *words) {
    const lsp_key_order order = sort->order;
    const KEY min = (KEY)range.min;
    const int cut = (int)lsp_max(lsp_bits(range.max - range.min) + position_bits - 32, 0);
    for (int64_t i = 0; i < n; i++) {
        KEY number = (KEY)(KEY_NAME(number)(keys[i], &order) - min);
        words[i] = (uint32_t)(number >> cut) << position_bits | (position_bits ? (uint32_t)i : 0);
    }
    return cut;
}

/* Words whose numbers were cut, sorted: orders those that tie by the whole numbers. False, and the words in any order,
 * if that took more than `most` steps. */
static bool KEY_NAME(repair)(const lsp_sort *sort, const KEY *keys, uint32_t *words, int64_t n, int position_bits,
                             int64_t most) {
    const lsp_key_order order = sort->order;
    const uint32_t mask = ((uint32_t)1 << position_bits) - 1;
    int64_t steps = 0;
    for (int64_t part = 1; part < n && steps <= most; part += TIE_PART) {
        int64_t end = lsp_min(part + TIE_PART, n);
        for (int64_t i = any_tie(words, part, end, mask) ? part : end; i < end && steps <= most; i++) {
            if ((words[i] ^ words[i - 1]) > mask) {
                continue;
            }
            uint32_t word = words[i];
            KEY number = KEY_NAME(number)(keys[word & mask], &order);
            int64_t j = i;
            while (j > 0 && (words[j - 1] ^ word) <= mask &&
                   KEY_NAME(number)(keys[words[j - 1] & mask], &order) > number) {
                words[j] = words[j - 1];
                j--;
            }
            words[j] = word;
            steps += i - j;
        }
    }
    return steps <= most;
}

/* Sorted words fetch keys and values. */
static void KEY_NAME(move_words)(const lsp_sort *sort, const lsp_sort_room *room, const lsp_sort_place *place,
                                 int64_t n, const uint32_t *words, int position_bits) {
    const char *keys = place->keys, *values = place->values;
    const uint32_t mask = ((uint32_t)1 << position_bits) - 1;
    if (keys == place->keys_out) {
        keys = memcpy(room->keys_copy, keys, (size_t)n * sizeof(KEY));
    }
    if (values && values == place->values_out) {
        values = memcpy(room->values_copy, values, (size_t)n * sort->value_bytes);
    }
    if (values && sort->value_bytes == 4) {
        MOVE_BOTH(KEY, uint32_t)
    } else if (values && sort->value_bytes == 8) {
        MOVE_BOTH(KEY, uint64_t)
    } else {
        move_items(keys, place->keys_out, sizeof(KEY), words, mask, n, 0);
        if (sort->value_bytes > 0) {
            move_items(values, place->values_out, sort->value_bytes, words, mask, n, place->position);
        }
    }
}

static void KEY_NAME(split)(const lsp_sort *sort, const lsp_sort_room *room, const lsp_sort_place *place, int64_t n,
                            lsp_key_range range);

#ifdef LANES
#include "segsort_short.h"

#include "segsort_block.h"
#endif

#if KEY_BITS == 32
/* Numbers alone are sorted as they are. */
static void KEY_NAME(sort_numbers)(const lsp_sort *sort, const lsp_sort_room *room, const lsp_sort_place *place,
                                   int64_t n) {
    const lsp_key_order order = sort->order;
    const KEY *keys = (const KEY *)(const void *)place->keys;
    KEY *keys_out = (KEY *)(void *)place->keys_out;
    for (int64_t i = 0; i < n; i++) {
        room->words[i] = KEY_NAME(number)(keys[i], &order);
    }
    const uint32_t *sorted = sort_w32(room->words, room->more_words, n, 0, 32);
    for (int64_t i = 0; i < n; i++) {
        keys_out[i] = KEY_NAME(key)(sorted[i], &order);
    }
}
#endif

static void KEY_NAME(sort_segment)(const lsp_sort *sort, const lsp_sort_room *room, const lsp_sort_place *place,
                                   int64_t n);

static void KEY_NAME(sort_words)(const lsp_sort *sort, const lsp_sort_room *room, const lsp_sort_place *place,
                                 int64_t n) {
    const KEY *keys = (const KEY *)(const void *)place->keys;
    const lsp_key_order order = sort->order;
    if (n > 32 && KEY_NAME(is_sorted)(sort, keys, n)) {
        lsp_sort_copy(sort, place, n);
        return;
    }
    lsp_key_range range = {0};
    bool numbers = KEY_BITS == 32 && sort->value_bytes == 0 && order.keep == UINT32_MAX;
    if (!numbers || order.is_float) {
        range = KEY_NAME(range)(sort, place->keys, n);
    }
#if KEY_BITS == 32
    if (numbers && range.max < UINT32_MAX) { /* there is no NaN */
        KEY_NAME(sort_numbers)(sort, room, place, n);
        return;
    }
#endif
    int position_bits = lsp_bits((uint64_t)n - 1), width = lsp_bits(range.max - range.min);
    int cut = KEY_NAME(make_words)(sort, keys, n, range, position_bits, room->words);
    prefetch(place->values, 0, sort->value_bytes, n, false);
    prefetch(place->keys_out, 0, sizeof(KEY), n, true);
    prefetch(place->values_out, 0, sort->value_bytes, n, true);
    uint32_t *words = sort_w32(room->words, room->more_words, n, position_bits, position_bits + width - cut);
    if (cut > 0 && !KEY_NAME(repair)(sort, keys, words, n, position_bits, 4 * n)) {
        KEY_NAME(split)(sort, room, place, n, range);
        return;
    }
    KEY_NAME(move_words)(sort, room, place, n, words, position_bits);
}

#include "segsort_split.h"

#undef KEY_NAME
#undef KEY
#undef KEY_BITS
#undef KEY_SUFFIX
