/* Template by KEY, an unsigned type as wide as the key: sorts one segment. Up to SORT_NETWORK items become 32-bit
 * words: the leading bits of number - smallest number, above the position. A network sorts the words, and positions
 * then tell which keys and values to fetch. Words that tie because bits of their numbers were cut off are put in order
 * first: one by one or, if many are out of order, by words of further bits. */
#define KEY_NAME(f) LSP_PASTE(f, KEY_SUFFIX)

/* The number of a key (lsp_key_order). */
ALWAYS KEY KEY_NAME(number)(KEY key, const lsp_key_order *order) {
    const int top = KEY_BITS - 1;
    KEY negative = (KEY)((KEY)0 - (KEY)(key >> top));
    KEY stepped = (KEY)(key + (negative & (KEY)(0 - order->step)));
    KEY number = (KEY)((stepped ^ (negative & (KEY)order->flip) ^ (KEY)order->bias) & (KEY)order->keep);
    bool nan = (key & (KEY) ~((KEY)1 << top)) > (KEY)order->nan_above;
    return (KEY)(number | (KEY)((KEY)0 - (KEY)nan)); /* arithmetic, because the compiler cannot vectorize a branch */
}

/* The key of a number, if numbers tell keys (lsp_sort_exact) and the key is not NaN. */
ALWAYS KEY KEY_NAME(key)(KEY number, const lsp_key_order *order) {
    KEY key = (KEY)(number ^ (KEY)order->bias);
    KEY negative = (KEY)((KEY)0 - (KEY)(key >> (KEY_BITS - 1)));
    return (KEY)(key ^ (negative & (KEY)order->flip));
}

/* The smallest and the largest number of n keys. */
static lsp_key_range KEY_NAME(range)(const lsp_task *sort, const char *keys_, int64_t n) {
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

/* Are n keys in order? Stops after the first part that is not. */
static bool KEY_NAME(is_sorted)(const lsp_task *sort, const char *from, int64_t n) {
    enum { PART = 64 };
    const KEY *keys = (const void *)from;
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

#if defined(LANES) && LANES == 16 /* pext is slow on some processors without AVX-512 */
/* Makes words of only those bits in which numbers differ, if they are fewer than `width` bits. Returns how many of
 * these bits were cut off, or -1 if they are not fewer. */
static int KEY_NAME(make_dense_words)(const lsp_task *sort, const KEY *keys, int64_t n, int width, int position_bits,
                                      uint32_t *words) {
    const lsp_key_order order = sort->order;
    KEY differ = 0;
    for (int64_t part = 0; part < n;
         part += TIE_PART) { /* for most keys the first part shows already that nothing is gained */
        for (int64_t i = part; i < lsp_min(part + TIE_PART, n); i++) {
            differ |= KEY_NAME(number)(keys[i], &order) ^ KEY_NAME(number)(keys[0], &order);
        }
        if (__builtin_popcountll(differ) >= width) {
            return -1;
        }
    }
    const int cut = (int)lsp_max(__builtin_popcountll(differ) + position_bits - 32, 0);
    for (int64_t i = 0; i < n; i++) {
        uint64_t number = _pext_u64(KEY_NAME(number)(keys[i], &order), differ);
        words[i] = (uint32_t)(number >> cut) << position_bits | (uint32_t)i;
    }
    return cut;
}
#endif

/* Makes a word of each key; returns how many bits of the numbers were cut off. */
static int KEY_NAME(make_words)(const lsp_task *sort, const KEY *keys, int64_t n, lsp_key_range range,
                                int position_bits, uint32_t *words) {
    const lsp_key_order order = sort->order;
    const KEY min = (KEY)range.min;
    const int width = lsp_bits(range.max - range.min), cut = (int)lsp_max(width + position_bits - 32, 0);
#if defined(LANES) && LANES == 16
    const int dense_cut =
        cut > 0 && position_bits > 0 ? KEY_NAME(make_dense_words)(sort, keys, n, width, position_bits, words) : -1;
    if (dense_cut >= 0) {
        return dense_cut;
    }
#endif
    for (int64_t i = 0; i < n; i++) {
        KEY number = (KEY)(KEY_NAME(number)(keys[i], &order) - min);
        words[i] = (uint32_t)(number >> cut) << position_bits | (position_bits ? (uint32_t)i : 0);
    }
    return cut;
}

/* falls[i] = 1 if the item of words[begin + i] has a smaller number than the item of the word before, else 0. Returns
 * their sum. `end` is at most begin + TIE_PART. */
static int KEY_NAME(find_falls)(const lsp_task *sort, const KEY *keys, const uint32_t *words, int64_t begin,
                                int64_t end, uint32_t mask, unsigned char *falls) {
    const lsp_key_order order = sort->order;
    const int64_t n = end - begin;
    KEY fetched[TIE_PART + 1];
    unsigned char count = 0;
    UNROLLED_4 for (int64_t i = 0; i <= n; i++) { fetched[i] = keys[words[begin - 1 + i] & mask]; }
    for (int64_t i = 0; i <= n; i++) {
        fetched[i] = KEY_NAME(number)(fetched[i], &order);
    }
    for (int64_t i = 0; i < n; i++) {
        falls[i] = fetched[i + 1] < fetched[i];
        count = (unsigned char)(count + falls[i]);
    }
    return count;
}

/* Orders sorted words that tie by their full numbers, by insertion. Gives up after about `most` steps: returns false,
 * and the words are still in order of their leading bits. */
static bool KEY_NAME(repair)(const lsp_task *sort, const KEY *keys, uint32_t *words, int64_t n, int position_bits,
                             int64_t most) {
    const lsp_key_order order = sort->order;
    const uint32_t mask = ((uint32_t)1 << position_bits) - 1;
    int64_t steps = 0;
    for (int64_t part = 1; part < n; part += TIE_PART) {
        unsigned char falls[TIE_PART];
        int64_t end = lsp_min(part + TIE_PART, n);
        int count =
            any_tie(words, part, end, mask) ? KEY_NAME(find_falls)(sort, keys, words, part, end, mask, falls) : 0;
        bool moved = false;                      /* the word before was moved, so falls[] is no longer valid */
        if (count > most / (n / TIE_PART + 1)) { /* the share of this part */
            return false;
        }
        for (int64_t i = count > 0 ? part : end; i < end; i++) {
            if (!falls[i - part] && !moved) {
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
            moved = j < i;
            steps += i - j;
            if (steps > most) {
                return false;
            }
        }
    }
    return true;
}

/* Orders sorted words that tie, for any number of ties. Each round makes new words of the rank of the leading bits so
 * far, further bits of the number, and the present index, and sorts them stably, until words that tie have equal
 * numbers. */
static uint32_t *KEY_NAME(refine)(const lsp_task *sort, const lsp_sort_workspace *workspace, const KEY *keys,
                                  uint32_t *words, int64_t n, int position_bits) {
    const lsp_key_order order = sort->order;
    const uint32_t mask = ((uint32_t)1 << position_bits) - 1;
    KEY *numbers = (KEY *)(void *)workspace->keys_copy;
    for (int shift = 1; shift > 0;) {
        uint32_t *next = words == workspace->words ? workspace->more_words : workspace->words, ranks = 0, rank = 0;
        KEY differ = 0;
        UNROLLED_4 for (int64_t i = 0; i < n; i++) { numbers[i] = keys[words[i] & mask]; }
        for (int64_t i = 0; i < n; i++) {
            numbers[i] = KEY_NAME(number)(numbers[i], &order);
        }
        for (int64_t i = 1; i < n; i++) {
            KEY tied = (KEY)((KEY)0 - (KEY)((words[i] ^ words[i - 1]) <= mask));
            differ |= (numbers[i] ^ numbers[i - 1]) & tied;
            ranks += (uint32_t)tied + 1;
        }
        int width = lsp_bits(differ), rank_bits = lsp_bits(ranks);
        int bits = (int)lsp_min(width, 32 - position_bits - rank_bits);
        if (width == 0) {
            break;
        }
        shift = width - bits;
        const KEY low = (KEY)-1 >> (KEY_BITS - width);
        for (int64_t i = 0; i < n; i++) {
            next[i] = (uint32_t)((numbers[i] & low) >> shift) << position_bits | (uint32_t)i;
        }
        UNROLLED_4 for (int64_t i = 1; i < n; i++) {
            rank += (words[i] ^ words[i - 1]) > mask;
            next[i] |= rank << bits << position_bits;
        }
        uint32_t *spare = (uint32_t *)(void *)workspace->keys_copy;
        const uint32_t *sorted = sort_w32(next, spare, n, position_bits, position_bits + rank_bits + bits);
        UNROLLED_4 for (int64_t i = 0; i < n; i++) { next[i] = (sorted[i] & ~mask) | (words[sorted[i] & mask] & mask); }
        words = next;
    }
    return words;
}

#if KEY_BITS == 32
#if defined(LANES) && LANES == 8
ALWAYS __m128 load_two(const uint64_t *p, const uint64_t *q) {
    __m128d low = _mm_load_sd((const double *)(const void *)p);
    return _mm_castpd_ps(_mm_loadh_pd(low, (const double *)(const void *)q));
}
#endif

/* Moves keys and values of 4 bytes as pairs, so that each word fetches once. The copies of keys and of values are one
 * array for the pairs. */
static void move_pairs(const lsp_sort_workspace *workspace, const lsp_sort_place *place, int64_t n,
                       const uint32_t *words, uint32_t mask) {
    const uint32_t *keys = (const uint32_t *)(const void *)place->keys;
    const uint32_t *values = (const uint32_t *)(const void *)place->values;
    uint32_t *keys_out = (uint32_t *)(void *)place->keys_out, *values_out = (uint32_t *)(void *)place->values_out;
    uint64_t *pairs = (uint64_t *)(void *)workspace->keys_copy;
    for (int64_t i = 0; i < n; i++) {
        pairs[i] = (uint64_t)values[i] << 32 | keys[i];
    }
    int64_t done = 0;
#if defined(LANES) && LANES == 8
    for (; done + 4 <= n; done += 4) {
        const uint32_t *word = words + done;
        __m128 a = load_two(pairs + (word[0] & mask), pairs + (word[1] & mask));
        __m128 b = load_two(pairs + (word[2] & mask), pairs + (word[3] & mask));
        _mm_storeu_ps((float *)(void *)(keys_out + done), _mm_shuffle_ps(a, b, 0x88));
        _mm_storeu_ps((float *)(void *)(values_out + done), _mm_shuffle_ps(a, b, 0xDD));
    }
#endif
    UNROLLED_4 for (int64_t i = done; i < n; i++) {
        uint64_t pair = pairs[words[i] & mask];
        keys_out[i] = (uint32_t)pair;
        values_out[i] = (uint32_t)(pair >> 32);
    }
}
#endif

/* Moves keys and values by the positions in sorted words. */
static void KEY_NAME(move_words)(const lsp_task *sort, const lsp_sort_workspace *workspace, const lsp_sort_place *place,
                                 int64_t n, const uint32_t *words, int position_bits) {
    const char *keys = place->keys, *values = place->values;
    const uint32_t mask = ((uint32_t)1 << position_bits) - 1;
#if KEY_BITS == 32
    if (values && sort->value_bytes == 4) {
        move_pairs(workspace, place, n, words, mask);
        return;
    }
#endif
    if (keys == place->keys_out) {
        keys = memcpy(workspace->keys_copy, keys, (size_t)n * sizeof(KEY));
    }
    if (values && values == place->values_out) {
        values = memcpy(workspace->values_copy, values, (size_t)n * sort->value_bytes);
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

#ifdef LANES
#include "upto32_template.h"

#include "upto256_template.h"
#endif

#if KEY_BITS == 32
/* Sorts keys without values as their numbers. No key may be NaN. */
static void KEY_NAME(sort_numbers)(const lsp_task *sort, const lsp_sort_workspace *workspace,
                                   const lsp_sort_place *place, int64_t n) {
    const lsp_key_order order = sort->order;
    const KEY *keys = (const KEY *)(const void *)place->keys;
    KEY *keys_out = (KEY *)(void *)place->keys_out;
    for (int64_t i = 0; i < n; i++) {
        workspace->words[i] = KEY_NAME(number)(keys[i], &order);
    }
    const uint32_t *sorted = sort_w32(workspace->words, workspace->more_words, n, 0, 32);
    for (int64_t i = 0; i < n; i++) {
        keys_out[i] = KEY_NAME(key)(sorted[i], &order);
    }
}
#endif

static void KEY_NAME(sort_segment)(const lsp_task *sort, const lsp_sort_workspace *workspace,
                                   const lsp_sort_place *place, int64_t n);
static void KEY_NAME(split)(const lsp_task *sort, const lsp_sort_workspace *workspace, const lsp_sort_place *place,
                            int64_t n, lsp_sort_digit digit);

/* Sorts a segment of up to SORT_NETWORK items by words. */
static void KEY_NAME(sort_words)(const lsp_task *sort, const lsp_sort_workspace *workspace, const lsp_sort_place *place,
                                 int64_t n) {
    const KEY *keys = (const KEY *)(const void *)place->keys;
    const lsp_key_order order = sort->order;
    if (n > 32 && KEY_NAME(is_sorted)(sort, place->keys, n)) {
        lsp_sort_copy(sort, place, n);
        return;
    }
    lsp_key_range range = {0};
    bool numbers = KEY_BITS == 32 && sort->value_bytes == 0 && lsp_sort_exact(&order, UINT32_MAX);
    if (!numbers || order.is_float) {
        range = KEY_NAME(range)(sort, place->keys, n);
    }
#if KEY_BITS == 32
    if (numbers && range.max < UINT32_MAX) { /* no NaN */
        KEY_NAME(sort_numbers)(sort, workspace, place, n);
        return;
    }
#endif
    int position_bits = lsp_bits((uint64_t)n - 1), width = lsp_bits(range.max - range.min);
    int cut = KEY_NAME(make_words)(sort, keys, n, range, position_bits, workspace->words);
    prefetch(place->values, 0, sort->value_bytes, n, false);
    prefetch(place->keys_out, 0, sizeof(KEY), n, true);
    prefetch(place->values_out, 0, sort->value_bytes, n, true);
    uint32_t *words = sort_w32(workspace->words, workspace->more_words, n, position_bits, position_bits + width - cut);
    if (cut > 0 && !KEY_NAME(repair)(sort, keys, words, n, position_bits, n / 3)) {
        if (n >= SORT_TIED && place->keys_spare != NULL) { /* in a bucket, words hold more bits of the keys */
            KEY_NAME(split)(sort, workspace, place, n, lsp_sort_first_digit(range, n));
            return;
        }
        words = KEY_NAME(refine)(sort, workspace, keys, words, n, position_bits);
    }
    KEY_NAME(move_words)(sort, workspace, place, n, words, position_bits);
}

#include "digits_template.h"
#include "radix_template.h"

#include "first_template.h"

#undef KEY_NAME
#undef KEY
#undef KEY_BITS
#undef KEY_SUFFIX
