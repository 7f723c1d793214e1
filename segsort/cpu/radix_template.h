/* Template by KEY: sorts any segment, and blocks of segments. One of more than SORT_NETWORK items is split into buckets
 * by the leading digit of its numbers; buckets are then sorted like segments. A split keeps the order of items with
 * equal digits, so the sort is stable. Items alternate between the output and the spare arrays. */

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

/* Batches of short segments, one for each class; a batch is sorted when it is full. */
typedef struct KEY_NAME(queue) {
#ifdef LANES
    batch batch[SHORT_CLASSES];
#else
    int none;
#endif
} KEY_NAME(queue);

/* Sorts the segments that still wait in batches. */
static void KEY_NAME(flush_all)(const lsp_task *sort, const lsp_sort_workspace *workspace, const lsp_sort_place *place,
                                KEY_NAME(queue) * queue) {
#ifdef LANES
    for (int c = 0; c < SHORT_CLASSES; c++) {
        if (queue->batch[c].count > 0) {
            KEY_NAME(flush)(sort, workspace, place, &queue->batch[c], c);
        }
    }
#else
    (void)sort, (void)workspace, (void)place, (void)queue;
#endif
}

/* Prefetches input and output of a place from item *fetched up to `end`. After a jump of more than FAR items it starts
 * anew near `end`. */
ALWAYS void KEY_NAME(fetch)(const lsp_task *sort, const lsp_sort_place *place, int64_t *fetched, int64_t end) {
    enum { FAR = 1 << 13, LINE = 64 / sizeof(KEY) };
    if (end - *fetched > FAR || end < *fetched - FAR) {
        *fetched = end - FETCH_AHEAD;
    }
    for (; *fetched < end; *fetched += LINE) {
        prefetch(place->keys, *fetched, sizeof(KEY), LINE, false);
        prefetch(place->keys_out, *fetched, sizeof(KEY), LINE, true);
        prefetch(place->values, *fetched, sort->value_bytes, LINE, false);
        prefetch(place->values_out, *fetched, sort->value_bytes, LINE, true);
    }
}

/* Sorts the segment of n items at `begin`, at once or, if it is short, later with its batch. */
static inline void KEY_NAME(sort_items)(const lsp_task *sort, const lsp_sort_workspace *workspace,
                                        const lsp_sort_place *place, KEY_NAME(queue) * queue, int64_t begin,
                                        int64_t n) {
#ifdef LANES
    if (n > 0 && n <= SHORT_LONGEST) {
        int c = n <= 4 ? 0 : lsp_bits((uint64_t)n - 1) - 2;
        batch *b = &queue->batch[c];
        b->begin[b->count] = begin;
        b->length[b->count] = (uint32_t)n;
        if (++b->count == (c < SHORT_PAIRS ? LANES : 2)) {
            KEY_NAME(flush)(sort, workspace, place, b, c);
        }
        return;
    }
#else
    (void)queue;
#endif
    if (n == 0) {
        return;
    }
    lsp_sort_place at = lsp_sort_place_at(sort, place, begin);
    if (at.keys_spare == NULL) {
        at.keys_spare = workspace->keys_spare;
        at.values_spare = workspace->values_spare;
    }
    if (n == 1) {
        lsp_sort_copy(sort, &at, 1);
    } else {
        KEY_NAME(sort_segment)(sort, workspace, &at, n);
    }
}

/* Sorts n items by a split and by sorting its buckets. */
static void KEY_NAME(split)(const lsp_task *sort, const lsp_sort_workspace *workspace, const lsp_sort_place *place,
                            int64_t n, lsp_sort_digit digit) {
    const int bits = digit.bits;
    int64_t next[1 << SORT_LAST_DIGIT], begin = 0;
    memset(next, 0, sizeof *next << bits);
    KEY_NAME(count)(sort, place->keys, n, digit, next);
    for (int64_t d = 0, sum = 0; d < (int64_t)1 << bits; d++) {
        int64_t count = next[d];
        next[d] = sum;
        sum += count;
    }
    lsp_sort_place split = *place;
    bool from_spare = place->keys == place->keys_spare;
    const uintptr_t from_near = (uintptr_t)place->keys - (uintptr_t)workspace->keys_near; /* huge if outside */
    const bool in_near = from_near < (uintptr_t)workspace->near * sizeof(KEY);
    if (from_spare && digit.shift > 0 && n <= workspace->near && !in_near) {
        split.keys_spare = workspace->keys_near; /* the near arrays stay in the cache, the output may not */
        split.values_spare = workspace->values_near;
        from_spare = false;
    }
    bool to_output = from_spare || (digit.shift == 0 && lsp_sort_apart(sort, place));
    char *keys_to = to_output ? split.keys_out : split.keys_spare;
    char *values_to = to_output ? split.values_out : split.values_spare;
    split.keys = keys_to;
    split.values = values_to;
    const lsp_sort_target target = {.keys = keys_to, .values = values_to, .lines = workspace->lines, .next = next};
    KEY_NAME(scatter)(sort, place, 0, n, digit, &target);
    if (digit.shift == 0) {
        lsp_sort_copy(sort, &split, n);
        return;
    }
    KEY_NAME(queue) queue;
    memset(&queue, 0, sizeof queue);
    int64_t fetched = 0;
    for (int64_t d = 0; d < (int64_t)1 << bits; d++) {
        KEY_NAME(fetch)(sort, &split, &fetched, next[d] + FETCH_AHEAD);
        if (digit.by_key && d == 1) {
            const lsp_sort_place equal = lsp_sort_place_at(sort, &split, begin);
            lsp_sort_copy(sort, &equal, next[d] - begin);
        } else {
            KEY_NAME(sort_items)(sort, workspace, &split, &queue, begin, next[d] - begin);
        }
        begin = next[d];
    }
    KEY_NAME(flush_all)(sort, workspace, &split, &queue);
}

/* Sorts many items: a function of its own, because the map is large. */
static __attribute__((noinline)) void KEY_NAME(split_far)(const lsp_task *sort, const lsp_sort_workspace *workspace,
                                                          const lsp_sort_place *place, int64_t n) {
    const lsp_key_range range = KEY_NAME(range)(sort, place->keys, n);
    lsp_sort_digit digit = lsp_sort_first_digit(range, n);
    uint8_t map[1 << SORT_MAP_BITS];
    (void)KEY_NAME(map)(sort, place->keys, n, range, &digit, map);
    KEY_NAME(split)(sort, workspace, place, n, digit);
}

static void KEY_NAME(sort_segment)(const lsp_task *sort, const lsp_sort_workspace *workspace,
                                   const lsp_sort_place *place, int64_t n) {
#ifdef LANES
    if (n <= 4 * LANES) {
        KEY_NAME(sort_4_rows)(sort, workspace, place, n);
        return;
    }
    if (n <= 8 * LANES) {
        KEY_NAME(sort_8_rows)(sort, workspace, place, n);
        return;
    }
#if LANES == 16
    if (n <= 16 * LANES) {
        KEY_NAME(sort_16_rows)(sort, workspace, place, n);
        return;
    }
#endif
#endif
    if (n <= SORT_NETWORK) {
        KEY_NAME(sort_words)(sort, workspace, place, n);
    } else if (KEY_NAME(is_sorted)(sort, place->keys, n)) {
        lsp_sort_copy(sort, place, n);
    } else {
        lsp_sort_digit digit;
        if (KEY_NAME(most)(sort, place->keys, n, &digit)) {
            KEY_NAME(split)(sort, workspace, place, n, digit);
        } else if (KEY_BITS == 64 && n >= SORT_MAP_LEAST) {
            KEY_NAME(split_far)(sort, workspace, place, n);
        } else {
            KEY_NAME(split)
            (sort, workspace, place, n, lsp_sort_first_digit(KEY_NAME(range)(sort, place->keys, n), n));
        }
    }
}

/* Contract: lsp_sort_kernels (cpu.h). */
static int64_t KEY_NAME(changes)(const lsp_task *sort, int64_t segment, int64_t begin, int64_t end,
                                 unsigned char *change, void *change_at, int64_t at) {
    const KEY *keys = sort->args->keys_out;
    const lsp_type type = sort->args->offset_type;
    const lsp_key_order order = sort->order;
    int64_t ones = 0;
    for (int64_t i = begin; i < end; i++) {
        bool one = i == segment || KEY_NAME(number)(keys[i], &order) != KEY_NAME(number)(keys[i - 1], &order);
        if (change) {
            change[i] = one;
        }
        if (change_at && one) {
            lsp_index_set(change_at, type, at + ones, i);
        }
        ones += one;
    }
    return ones;
}

/* Is each segment at most one item long, and does each begin where the previous one ends? */
static bool KEY_NAME(all_single)(const int64_t *begin, const int64_t *end, int64_t count) {
    int64_t other = 0;
    for (int64_t s = 0; s < count; s++) {
        other |= (end[s] - begin[s]) >> 1;
    }
    for (int64_t s = 1; s < count; s++) {
        other |= begin[s] ^ end[s - 1];
    }
    return other == 0;
}

/* Copies `count` segments together if all_single holds; otherwise returns false. */
ALWAYS bool KEY_NAME(copy_single)(const lsp_task *sort, const lsp_sort_place *place, int64_t *fetched,
                                  const int64_t *begin, const int64_t *end, int64_t count) {
    const bool single = KEY_NAME(all_single)(begin, end, count);
    if (single && end[count - 1] > begin[0]) {
        lsp_sort_place at = lsp_sort_place_at(sort, place, begin[0]);
        KEY_NAME(fetch)(sort, place, fetched, end[count - 1] + FETCH_AHEAD);
        lsp_sort_copy(sort, &at, end[count - 1] - begin[0]);
    }
    return single;
}

/* Sorts segments first .. last-1, PART at a time, so that the form of segments is tested once for all of them. Segments
 * of at most one item are copied together: all of the PART, or GROUP at a time if most are single. */
static void KEY_NAME(sort_segments)(const lsp_task *sort, const lsp_sort_workspace *workspace, int64_t first,
                                    int64_t last) {
    enum { PART = 128, GROUP = 8 };
    const lsp_segsort_args *args = sort->args;
    lsp_sort_place place = lsp_sort_whole(sort);
    KEY_NAME(queue) queue;
    memset(&queue, 0, sizeof queue);
    int64_t fetched = 0;
    const bool joined = !sort->positions || sort->global;
    const bool usual = args->offsets && args->ends == NULL && args->offset_type == LSP_I64;
    for (int64_t part = first; part < last; part += PART) {
        int64_t begins[PART], ends[PART], count = lsp_min(PART, last - part);
        const int64_t *begin = begins, *end = ends;
        if (usual) {
            begin = (const int64_t *)args->offsets + part;
            end = begin + 1;
        } else {
            for (int64_t s = 0; s < count; s++) {
                lsp_segsort_bounds(args, part + s, &begins[s], &ends[s]);
            }
        }
        if (joined && KEY_NAME(copy_single)(sort, &place, &fetched, begin, end, count)) {
            continue;
        }
        const bool mostly = joined && end[count - 1] - begin[0] < count + count / 4;
        for (int64_t s = 0; s < count; s++) {
            if (mostly && s % GROUP == 0 && count - s >= GROUP &&
                KEY_NAME(copy_single)(sort, &place, &fetched, begin + s, end + s, GROUP)) {
                s += GROUP - 1;
                continue;
            }
            KEY_NAME(fetch)(sort, &place, &fetched, end[s] + FETCH_AHEAD);
            if (end[s] - begin[s] <= sort->giant) {
                KEY_NAME(sort_items)(sort, workspace, &place, &queue, begin[s], end[s] - begin[s]);
            }
        }
    }
    KEY_NAME(flush_all)(sort, workspace, &place, &queue);
}
