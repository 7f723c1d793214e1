/* Template by KEY: sorts any segment, and blocks of segments. One of more than SORT_NETWORK items is split into buckets
 * by the leading digit of its numbers; buckets are then sorted like segments. A split keeps the order of items with
 * equal digits, so the sort is stable. Items alternate between the output and the spare arrays. */

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
