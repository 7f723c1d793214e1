/* Template by KEY: sorts LANES segments of up to 32 items at once, one in each lane. A word is the number minus the
 * segment's smallest number, shifted so that its leading bits stand above the position. Words that tie because bits of
 * their numbers were cut off are put in order afterwards. */

/* The numbers of a vector of keys. */
#if KEY_BITS == 32
ALWAYS vec KEY_NAME(numbers)(vec key, const lsp_key_order *order) {
    if (!order->is_float) {
        return AND(XOR(key, SET(order->bias)), SET(order->keep));
    }
    vec signs = SIGNS(key), stepped = ADD(key, AND(signs, SET(0 - order->step)));
    vec number = XOR(XOR(stepped, AND(signs, SET(order->flip))), SET(order->bias));
    return CHOOSE(ABOVE(AND(key, SET(INT32_MAX)), order->nan_above), SET(UINT32_MAX), number);
}

/* The keys of a vector of numbers. No key may be NaN. */
ALWAYS vec KEY_NAME(keys)(vec number, const lsp_key_order *order) {
    vec key = XOR(number, SET(order->bias));
    return XOR(key, AND(SIGNS(key), SET(order->flip)));
}

/* Are there no values, and do numbers tell keys? Then numbers are sorted without positions, unless a key is NaN. */
ALWAYS bool KEY_NAME(keys_only)(const lsp_task *sort) {
    return sort->value_bytes == 0 && lsp_sort_exact(&sort->order, UINT32_MAX);
}
#else
/* Writes n numbers minus the smallest one, cut to their leading 32 bits; returns true if bits were cut off. */
ALWAYS bool KEY_NAME(make_numbers)(const lsp_task *sort, const KEY *keys, int64_t n, uint32_t *words) {
    lsp_key_range range = KEY_NAME(range)(sort, (const char *)keys, n);
    return KEY_NAME(make_words)(sort, keys, n, range, 0, words) > 0;
}
#endif

/* Turns columns of numbers into columns of sorted words. Returns the lanes in which words tie although their numbers
 * may differ. */
ALWAYS unsigned KEY_NAME(sort_columns)(vec *x, vec length, bool cut, int rows) {
    vec min = SET(UINT32_MAX), max = SET(0);
    UNROLLED for (int i = 0; i < rows; i++) {
        lanes real = ABOVE(length, i);
        min = MIN(min, CHOOSE(real, x[i], min));
        max = MAX(max, CHOOSE(real, x[i], max));
    }
    vec zeros = LEADING_ZEROS(SUB(max, min));
    UNROLLED for (int i = 0; i < rows; i++) {
        vec word = OR(AND(SHIFT_LEFT(SUB(x[i], min), zeros), SET(-rows)), SET(i));
        x[i] = CHOOSE(ABOVE(length, i), word, SET(UINT32_MAX));
    }
    sort_rows(x, rows);
    lanes tied = NO_LANES;
    UNROLLED for (int i = 0; i + 1 < rows; i++) {
        tied = OR_LANES(tied, AND_LANES(NONE_OF(XOR(x[i], x[i + 1]), -rows), ABOVE(length, i + 1)));
    }
    int position_bits = lsp_bits((uint64_t)rows - 1);
    unsigned whole = cut ? 0 : LANE_BITS(ABOVE(zeros, position_bits - 1));
    return LANE_BITS(tied) & ~whole;
}

#if KEY_BITS == 32
/* Puts lines of sorted words with ties in order: compares the full numbers of their items. */
ALWAYS void KEY_NAME(straighten_lines)(const lsp_task *sort, vec *x, const vec *items, vec length, int rows) {
    vec number[32];
    UNROLLED for (int r = 0; r < rows; r++) { number[r] = items[r]; }
    pick_lines(number, x, rows);
    UNROLLED for (int r = 0; r < rows; r++) {
        number[r] = XOR(KEY_NAME(numbers)(number[r], &sort->order), SET(INT32_MIN));
    }
    transpose_lines(number, rows);
    lanes falls = NO_LANES;
    UNROLLED for (int i = 0; i + 1 < rows; i++) {
        falls = OR_LANES(falls, AND_LANES(EXCEEDS(number[i], number[i + 1]), ABOVE(length, i + 1)));
    }
    if (LANE_BITS(falls) != 0) {
        vec column[32];
        UNROLLED for (int i = 0; i < rows; i++) {
            column[i] = x[i];
            number[i] = CHOOSE(ABOVE(length, i), number[i], SET(INT32_MAX));
        }
        transpose_lines(column, rows);
        straighten_columns(column, number, rows);
        transpose_lines(column, rows);
        UNROLLED for (int i = 0; i < rows; i++) { x[i] = column[i]; }
    }
}
#endif

/* Moves values of any size, or writes positions, by the sorted words. */
static void KEY_NAME(move_lines)(const char *from, char *to, size_t bytes, const batch *b, const uint32_t *words,
                                 int rows, bool global) {
    for (int i = 0; i < b->count; i++) {
        size_t at = (size_t)b->begin[i] * bytes, size = (size_t)b->length[i] * bytes;
        char copy[32 * 16];
        const char *items = from ? from + at : NULL;
        if (from == to) {
            items = memcpy(copy, items, size);
        }
        move_items(items, to + at, bytes, words + line_at(i, rows), (uint32_t)rows - 1, b->length[i],
                   global ? b->begin[i] : 0);
    }
}

#if KEY_BITS == 32
/* Sorts keys without values as their numbers: no positions, no ties. Returns false and writes nothing if a key is a
 * NaN. */
ALWAYS bool KEY_NAME(sort_batch_keys_only)(const lsp_task *sort, const lsp_sort_place *place, const batch *b,
                                           int rows) {
    const vec length = LOAD(b->length);
    vec x[32], max = SET(0);
    load_lines(b, (const uint32_t *)(const void *)place->keys, x, rows);
    UNROLLED for (int r = 0; r < rows; r++) { x[r] = KEY_NAME(numbers)(x[r], &sort->order); }
    transpose_lines(x, rows);
    UNROLLED for (int i = 0; i < rows; i++) {
        const lanes real = ABOVE(length, i);
        max = sort->order.is_float ? MAX(max, CHOOSE(real, x[i], max)) : max;
        x[i] = CHOOSE(real, x[i], SET(UINT32_MAX));
    }
    if (sort->order.is_float && LANE_BITS(ABOVE(XOR(max, SET(INT32_MIN)), INT32_MAX - 1)) != 0) {
        return false;
    }
    sort_rows(x, rows);
    transpose_lines(x, rows);
    UNROLLED for (int r = 0; r < rows; r++) { x[r] = KEY_NAME(keys)(x[r], &sort->order); }
    store_lines(b, (uint32_t *)(void *)place->keys_out, x, rows);
    return true;
}
#endif

/* Sorts the segments of a batch, each of up to `rows` items. */
ALWAYS void KEY_NAME(sort_batch)(const lsp_task *sort, const lsp_sort_workspace *workspace, const lsp_sort_place *place,
                                 const batch *b, int rows) {
    const KEY *keys = (const KEY *)(const void *)place->keys;
    uint32_t words[32 * LANES];
    vec x[32], items[32];
    bool cut = false;
    const bool pick_keys = KEY_BITS == 32;
    bool pick_values = sort->value_bytes == 4 && place->values != NULL;
    (void)workspace;
#if KEY_BITS == 32
    if (KEY_NAME(keys_only)(sort) && KEY_NAME(sort_batch_keys_only)(sort, place, b, rows)) {
        return;
    }
    load_lines(b, keys, x, rows);
    UNROLLED for (int r = 0; r < rows; r++) {
        items[r] = x[r];
        x[r] = KEY_NAME(numbers)(x[r], &sort->order);
    }
#else
    for (int i = 0; i < b->count; i++) {
        cut |= KEY_NAME(make_numbers)(sort, keys + b->begin[i], b->length[i], words + line_at(i, rows));
    }
    words_to_lines(words, x, rows);
#endif
    transpose_lines(x, rows);
    unsigned tied = KEY_NAME(sort_columns)(x, LOAD(b->length), cut, rows);
    transpose_lines(x, rows);
#if KEY_BITS == 32
    if (tied != 0 && pick_keys) {
        KEY_NAME(straighten_lines)(sort, x, items, LOAD(b->length), rows);
        tied = 0;
    }
#endif
    if (tied != 0 || !pick_keys || (sort->value_bytes > 0 && !pick_values)) {
        lines_to_words(words, x, rows);
    }
    if (tied != 0) {
        for (unsigned left = tied; left != 0; left &= left - 1) {
            int i = __builtin_ctz(left);
            KEY_NAME(repair)
            (sort, keys + b->begin[i], words + line_at(i, rows), b->length[i], lsp_bits((uint64_t)rows - 1), INT64_MAX);
        }
        words_to_lines(words, x, rows);
    }
    if (pick_keys) {
        pick_lines(items, x, rows);
        store_lines(b, (uint32_t *)(void *)place->keys_out, items, rows);
    } else {
        KEY_NAME(move_lines)
        (place->keys, place->keys_out, sizeof(KEY), b, words, rows, false);
    }
    if (pick_values) {
        load_lines(b, (const uint32_t *)(const void *)place->values, items, rows);
        pick_lines(items, x, rows);
        store_lines(b, (uint32_t *)(void *)place->values_out, items, rows);
    } else if (sort->value_bytes > 0) {
        KEY_NAME(move_lines)
        (place->values, place->values_out, sort->value_bytes, b, words, rows, sort->global);
    }
}
