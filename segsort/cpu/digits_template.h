/* Template by KEY: digits of keys, chosen by samples and counted, and items moved to where their digits belong. */

/* digits[i]: the digit of keys[i]. */
static void KEY_NAME(digits)(const lsp_task *sort, const KEY *keys, int64_t n, lsp_sort_digit digit, uint16_t *digits) {
    const lsp_key_order order = sort->order;
    const KEY min = (KEY)digit.min;
    const int shift = digit.shift;
    const KEY mask = ((KEY)1 << digit.bits) - 1;
    for (int64_t i = 0; digit.by_key && i < n; i++) {
        const KEY number = KEY_NAME(number)(keys[i], &order);
        digits[i] = (uint16_t)((number > min) + (number >= min));
    }
    for (int64_t i = 0; digit.map && i < n; i++) {
        digits[i] = digit.map[(KEY)(KEY_NAME(number)(keys[i], &order) - min) >> shift];
    }
    for (int64_t i = 0; !digit.by_key && !digit.map && i < n; i++) {
        digits[i] = (uint16_t)((KEY)(KEY_NAME(number)(keys[i], &order) - min) >> shift & mask);
    }
}

/* Key i of `of` keys that are drawn from n. */
static inline KEY KEY_NAME(drawn)(const KEY *keys, int64_t n, int64_t of, int64_t i) {
    const int64_t part = n / of;
    return keys[part * i + (part * i * 7 >> 4) % part];
}

/* Contract: lsp_sort_kernels (cpu.h). */
static bool KEY_NAME(most)(const lsp_task *sort, const char *keys_, int64_t n, lsp_sort_digit *digit) {
    enum { SAMPLES = 32 };
    const KEY *keys = (const KEY *)(const void *)keys_;
    const lsp_key_order order = sort->order;
    KEY number[SAMPLES], most = 0;
    int lead = 0, count = 0;
    for (int i = 0; i < SAMPLES; i++) { /* a number that more than half have is left in the lead */
        number[i] = KEY_NAME(number)(KEY_NAME(drawn)(keys, n, SAMPLES, i), &order);
        most = lead == 0 ? number[i] : most;
        lead += number[i] == most ? 1 : -1;
    }
    for (int i = 0; i < SAMPLES; i++) {
        count += number[i] == most;
    }
    *digit = (lsp_sort_digit){.min = most, .shift = 1, .bits = 2, .by_key = true};
    return count > SAMPLES / 2;
}

/* Contract: lsp_sort_kernels (cpu.h). Long floats need it: a digit tells ranges apart by their exponents, and most lie
 * in a few. A map costs more than a digit, so it must save a split of the buckets. */
static bool KEY_NAME(map)(const lsp_task *sort, const char *keys_, int64_t n, lsp_key_range range,
                          lsp_sort_digit *digit, uint8_t *map) {
    enum { SAMPLES = 1024, MANY = SAMPLES / 8, PREFIXES = 1 << SORT_MAP_BITS };
    const KEY *keys = (const KEY *)(const void *)keys_;
    const lsp_key_order order = sort->order;
    const int shift = lsp_bits(range.max - range.min) - SORT_MAP_BITS;
    uint16_t count[1 << SORT_LAST_DIGIT] = {0}, most = 0;
    uint32_t sum = 0, before = 0;
    if (KEY_BITS == 32 || n < SORT_MAP_LEAST || shift <= 0) {
        return false;
    }
    memset(map, 0, PREFIXES);
    for (int64_t i = 0; i < SAMPLES; i++) {
        const KEY above = (KEY)(KEY_NAME(number)(KEY_NAME(drawn)(keys, n, SAMPLES, i), &order) - (KEY)range.min);
        uint16_t *const same = &count[above >> digit->shift];
        most = (uint16_t)lsp_max(most, ++*same);
        map[above >> shift] = (uint8_t)(map[above >> shift] + (map[above >> shift] < UINT8_MAX));
    }
    if (most <= MANY) {
        return false;
    }
    for (int p = 0; p < PREFIXES; p++) {
        sum += map[p];
    }
    const uint32_t step =
        sum / 128 + 1; /* worth a digit: the largest key, in the upper half, is apart from the least */
    for (int p = 0; p < PREFIXES; p++) { /* counts become digits */
        const uint32_t here = map[p];
        before += p == PREFIXES / 2 ? step : 0;
        map[p] = (uint8_t)((before << SORT_FAR_DIGIT) / (sum + step + 1));
        before += here;
    }
    *digit = (lsp_sort_digit){.min = range.min, .shift = shift, .bits = SORT_FAR_DIGIT, .map = map};
    return true;
}

/* Adds to count[d] the number of keys with digit d. */
static void KEY_NAME(count)(const lsp_task *sort, const char *keys_, int64_t n, lsp_sort_digit digit, int64_t *count) {
    const KEY *keys = (const KEY *)(const void *)keys_;
    uint16_t d[DIGIT_PART];
    int64_t odd[1 << SORT_LAST_DIGIT]; /* counts of every other item: equal neighbours need not wait for each other */
    memset(odd, 0, sizeof *odd << digit.bits);
    for (int64_t begin = 0; begin < n; begin += DIGIT_PART) {
        int64_t part = lsp_min(DIGIT_PART, n - begin);
        prefetch((const char *)(keys + begin), FETCH_AHEAD, sizeof(KEY), part, false);
        KEY_NAME(digits)(sort, keys + begin, part, digit, d);
        for (int64_t i = 0; i + 1 < part; i += 2) {
            count[d[i]]++;
            odd[d[i + 1]]++;
        }
        if (part % 2) {
            count[d[part - 1]]++;
        }
    }
    for (int64_t i = 0; i < (int64_t)1 << digit.bits; i++) {
        count[i] += odd[i];
    }
}

#define SCATTER_ITEMS(type, value)                                                                                     \
    for (int64_t i = 0; i < part; i++) {                                                                               \
        int64_t to = next[d[i]]++;                                                                                     \
        keys_to[to] = from[i];                                                                                         \
        ((type *)(void *)values)[to] = (value);                                                                        \
    }
/* As SCATTER_ITEMS, but collects items until they fill cache lines. */
#define SCATTER_LINES(type, value)                                                                                     \
    for (int64_t i = 0; i < part; i++) {                                                                               \
        int64_t to = next[d[i]]++, at = d[i] * SORT_LINE + to % SORT_LINE;                                             \
        key_lines[at] = from[i];                                                                                       \
        ((type *)(void *)value_lines)[at] = (value);                                                                   \
        if (to % SORT_LINE == SORT_LINE - 1) {                                                                         \
            write_line(key_lines, d[i], sizeof(KEY), keys, start[d[i]], to + 1);                                       \
            write_line(value_lines, d[i], sizeof(type), values, start[d[i]], to + 1);                                  \
        }                                                                                                              \
    }
#define SCATTER_EITHER(type, value)                                                                                    \
    if (key_lines) {                                                                                                   \
        SCATTER_LINES(type, value)                                                                                     \
    } else {                                                                                                           \
        SCATTER_ITEMS(type, value)                                                                                     \
    }
#define SCATTER_VALUES(type)                                                                                           \
    const type *moved = (const type *)(const void *)place->values + begin;                                             \
    SCATTER_EITHER(type, moved[i])

/* Do lines pay for keys alone? They do if the output is larger than the caches and no digit has many of the keys:
 * then direct writes go far apart. */
static bool KEY_NAME(are_spread)(const int64_t *next, int64_t buckets) {
    const int64_t all = next[buckets - 1] - next[0];
    bool even = all * (int64_t)sizeof(KEY) >= SORT_SPREAD;
    for (int64_t d = 1; d < buckets && even; d++) {
        even = (next[d] - next[d - 1]) * buckets <= 4 * all;
    }
    return even;
}

/* Contract: lsp_sort_kernels (cpu.h). With many items and `lines`, items of each digit are collected and written by
 * whole lines, past the caches: buckets far apart would evict each other. */
static void KEY_NAME(scatter)(const lsp_task *sort, const lsp_sort_place *place, int64_t begin, int64_t end,
                              lsp_sort_digit digit, const lsp_sort_target *target) {
    char *const keys = target->keys, *const values = target->values, *const lines = target->lines;
    int64_t *const next = target->next;
    KEY *keys_to = (KEY *)(void *)keys, *key_lines = NULL;
    char *value_lines = NULL;
    int64_t start[1 << SORT_FAR_DIGIT];
    uint16_t d[DIGIT_PART];
    bool aligned = ((uintptr_t)keys | (uintptr_t)values) % 64 == 0;
    if (lines && aligned && end - begin >= SORT_FAR && digit.bits <= SORT_FAR_DIGIT &&
        (sort->value_bytes > 0 || KEY_NAME(are_spread)(next, (int64_t)1 << digit.bits))) {
        key_lines = (KEY *)(void *)lines;
        value_lines = lines + (sizeof(KEY) * SORT_LINE << SORT_FAR_DIGIT);
        memcpy(start, next, sizeof *start << digit.bits);
    }
    for (; begin < end; begin += DIGIT_PART) {
        const KEY *from = (const KEY *)(const void *)place->keys + begin;
        int64_t part = lsp_min(DIGIT_PART, end - begin), position = place->position + begin;
        prefetch((const char *)from, FETCH_AHEAD, sizeof(KEY), part, false);
        prefetch(place->values, begin + FETCH_AHEAD, sort->value_bytes, part, false);
        KEY_NAME(digits)(sort, from, part, digit, d);
        if (sort->value_bytes == 0 && key_lines) {
            for (int64_t i = 0; i < part; i++) {
                int64_t to = next[d[i]]++;
                key_lines[d[i] * SORT_LINE + to % SORT_LINE] = from[i];
                if (to % SORT_LINE == SORT_LINE - 1) {
                    write_line(key_lines, d[i], sizeof(KEY), keys, start[d[i]], to + 1);
                }
            }
        } else if (sort->value_bytes == 0) {
            for (int64_t i = 0; i < part; i++) {
                keys_to[next[d[i]]++] = from[i];
            }
        } else if (place->values == NULL && sort->value_bytes == 4) {
            SCATTER_EITHER(uint32_t, (uint32_t)(position + i))
        } else if (place->values == NULL) {
            SCATTER_EITHER(uint64_t, (uint64_t)(position + i))
        } else if (sort->value_bytes == 4) {
            SCATTER_VALUES(uint32_t)
        } else if (sort->value_bytes == 8) {
            SCATTER_VALUES(uint64_t)
        } else {
            SCATTER_VALUES(value16)
        }
    }
    for (int64_t i = 0; key_lines && i < (int64_t)1 << digit.bits; i++) {
        write_line(key_lines, i, sizeof(KEY), keys, start[i], next[i]);
        if (sort->value_bytes > 0) {
            write_line(value_lines, i, sort->value_bytes, values, start[i], next[i]);
        }
    }
    lines_are_written();
}
#undef SCATTER_ITEMS
#undef SCATTER_LINES
#undef SCATTER_EITHER
#undef SCATTER_VALUES
