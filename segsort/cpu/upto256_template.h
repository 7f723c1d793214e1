/* Template by KEY: sorts segments of up to `rows` (4, 8 or 16) vectors of words in registers, one segment or two side
 * by side. With AVX-512 that is up to 256 items, with AVX2 up to 64. */

/* Makes the words of a segment, in vectors. Returns true if each holds all bits in which the numbers differ: then equal
 * numbers are the only ties. */
ALWAYS bool KEY_NAME(load_rows)(const lsp_task *sort, const lsp_sort_workspace *workspace, const lsp_sort_place *place,
                                int64_t n, vec *x, int rows) {
    const KEY *keys = (const KEY *)(const void *)place->keys;
    const int position_bits = lsp_bits((uint64_t)(rows * LANES) - 1);
    bool cut = false;
    vec min = SET(UINT32_MAX), max = SET(0);
#if KEY_BITS == 32
    (void)workspace;
    UNROLLED for (int r = 0; r < rows; r++) {
        x[r] = KEY_NAME(numbers)(load_lanes(keys + r * LANES, REAL(n, r)), &sort->order);
    }
#else
    cut = KEY_NAME(make_numbers)(sort, keys, n, workspace->words);
    UNROLLED for (int r = 0; r < rows; r++) { x[r] = LOAD(workspace->words + r * LANES); }
#endif
    UNROLLED for (int r = 0; r < rows; r++) {
        min = MIN(min, CHOOSE(REAL(n, r), x[r], min));
        max = MAX(max, CHOOSE(REAL(n, r), x[r], max));
    }
    UNROLLED for (int bit = 1; bit < LANES; bit *= 2) {
        min = MIN(min, across(min, bit));
        max = MAX(max, across(max, bit));
    }
    vec zeros = LEADING_ZEROS(SUB(max, min));
    UNROLLED for (int r = 0; r < rows; r++) {
        vec position = OR(LANE_NUMBERS, SET(r * LANES));
        vec word = OR(AND(SHIFT_LEFT(SUB(x[r], min), zeros), SET(-rows * LANES)), position);
        x[r] = CHOOSE(REAL(n, r), word, SET(UINT32_MAX));
    }
    return !cut && (LANE_BITS(ABOVE(zeros, position_bits - 1)) & 1) != 0;
}

/* Puts words that tie in order, then moves keys and values by the words. `whole`: the result of load_rows. */
ALWAYS void KEY_NAME(store_rows)(const lsp_task *sort, const lsp_sort_workspace *workspace, const lsp_sort_place *place,
                                 int64_t n, vec *x, int rows, bool whole) {
    const KEY *keys = (const KEY *)(const void *)place->keys;
    const bool pick_values = sort->value_bytes == 4 && place->values;
    const int position_bits = lsp_bits((uint64_t)(rows * LANES) - 1);
    uint32_t *words = workspace->words;
    const vec column =
        SHIFT_LEFT(LANE_NUMBERS, SET(lsp_bits((uint64_t)rows - 1))); /* position of a lane's first word */
    lanes ties =
        AND_LANES(NONE_OF(XOR(x[0], moved_up(x[rows - 1], SET(UINT32_MAX))), -rows * LANES),
                  EXCEEDS(SET(n), column)); /* the first word has no word before it and is compared with a pad */
    UNROLLED for (int r = 1; r < rows; r++) {
        const lanes tie = NONE_OF(XOR(x[r], x[r - 1]), -rows * LANES);
        ties = OR_LANES(ties, AND_LANES(tie, EXCEEDS(SET(n - r), column)));
    }
    const unsigned tied = LANE_BITS(ties);
    transpose(x, rows);
    UNROLLED for (int r = 0; r < rows; r++) { STORE(words + r * LANES, x[r]); }
    if (tied && !whole && !KEY_NAME(repair)(sort, keys, words, n, position_bits, n / 3)) {
        words = KEY_NAME(refine)(sort, workspace, keys, words, n, position_bits);
    }
    if (KEY_BITS == 32 && CAN_PICK_ROWS && (sort->value_bytes == 0 || pick_values)) {
        pick_rows((const uint32_t *)keys, words, n, rows, (uint32_t *)(void *)place->keys_out);
        if (pick_values) {
            pick_rows((const uint32_t *)(const void *)place->values, words, n, rows,
                      (uint32_t *)(void *)place->values_out);
        }
    } else {
        KEY_NAME(move_words)(sort, workspace, place, n, words, position_bits);
    }
}

#if KEY_BITS == 32
/* Sorts keys without values, of one segment or two, as their numbers: no positions, no ties. Returns false and writes
 * nothing if a key is a NaN, because numbers do not tell which NaN. */
ALWAYS bool KEY_NAME(sort_rows_keys_only)(const lsp_task *sort, const lsp_sort_place *place, const int64_t *n, int rows,
                                          int segments) {
    vec x[16], max = SET(0);
    UNROLLED for (int r = 0; r < rows * segments; r++) {
        const uint32_t *keys = (const uint32_t *)(const void *)place[r / rows].keys;
        const lanes real = REAL(n[r / rows], r % rows);
        vec number = KEY_NAME(numbers)(load_lanes(keys + r % rows * LANES, real), &sort->order);
        max = sort->order.is_float ? MAX(max, CHOOSE(real, number, max)) : max;
        x[r] = CHOOSE(real, number, SET(UINT32_MAX));
    }
    if (sort->order.is_float && LANE_BITS(ABOVE(XOR(max, SET(INT32_MIN)), INT32_MAX - 1)) != 0) {
        return false;
    }
    sort_side_by_side(x, rows, segments);
    UNROLLED for (int s = 0; s < segments; s++) {
        uint32_t *keys_out = (uint32_t *)(void *)place[s].keys_out;
        transpose(x + s * rows, rows);
        UNROLLED for (int r = 0; r < rows; r++) {
            const int64_t left = lsp_min(lsp_max(n[s] - r * LANES, 0), LANES); /* the mask counts to 255 only */
            store_line(keys_out + r * LANES, (uint32_t)left, KEY_NAME(keys)(x[s * rows + r], &sort->order));
        }
    }
    return true;
}
#endif

/* Sorts one segment of up to `rows` vectors. */
ALWAYS void KEY_NAME(sort_rows_of)(const lsp_task *sort, const lsp_sort_workspace *workspace,
                                   const lsp_sort_place *place, int64_t n, int rows) {
    vec x[16];
#if KEY_BITS == 32
    if (KEY_NAME(keys_only)(sort) && KEY_NAME(sort_rows_keys_only)(sort, place, &n, rows, 1)) {
        return;
    }
#endif
    bool whole = KEY_NAME(load_rows)(sort, workspace, place, n, x, rows);
    sort_side_by_side(x, rows, 1);
    KEY_NAME(store_rows)(sort, workspace, place, n, x, rows, whole);
}

#define SORT_ROWS(name, rows)                                                                                          \
    static NOINLINE void KEY_NAME(name)(const lsp_task *sort, const lsp_sort_workspace *workspace,                     \
                                        const lsp_sort_place *place, int64_t n) {                                      \
        KEY_NAME(sort_rows_of)(sort, workspace, place, n, rows);                                                       \
    }
SORT_ROWS(sort_4_rows, 4)
SORT_ROWS(sort_8_rows, 8)
#if LANES == 16
SORT_ROWS(sort_16_rows, 16)

/* Sorts two segments at once. One segment leaves half of the processor idle: each step waits for the previous step. */
ALWAYS void KEY_NAME(sort_pair)(const lsp_task *sort, const lsp_sort_workspace *workspace, const lsp_sort_place *place,
                                const batch *b, int rows) {
    vec x[16];
    lsp_sort_place at[2];
    bool whole[2];
    UNROLLED for (int s = 0; s < 2; s++) { at[s] = lsp_sort_place_at(sort, place, b->begin[s]); }
#if KEY_BITS == 32
    const int64_t n[2] = {b->length[0], b->length[1]};
    if (KEY_NAME(keys_only)(sort) && KEY_NAME(sort_rows_keys_only)(sort, at, n, rows, 2)) {
        return;
    }
#endif
    UNROLLED for (int s = 0; s < 2; s++) {
        whole[s] = KEY_NAME(load_rows)(sort, workspace, &at[s], b->length[s], x + s * rows, rows);
    }
    sort_side_by_side(x, rows, 2);
    UNROLLED for (int s = 0; s < 2; s++) {
        KEY_NAME(store_rows)(sort, workspace, &at[s], b->length[s], x + s * rows, rows, whole[s]);
    }
}

#endif
#undef SORT_ROWS

/* One function a class of short segments, named sort_batch_4_k32 and so on. */
#define SORT_CLASS(kind, rows)                                                                                         \
    static NOINLINE void KEY_NAME(kind##_##rows)(const lsp_task *sort, const lsp_sort_workspace *workspace,            \
                                                 const lsp_sort_place *place, const batch *b) {                        \
        KEY_NAME(kind)(sort, workspace, place, b, rows);                                                               \
    }
SORT_CLASS(sort_batch, 4)
SORT_CLASS(sort_batch, 8)
SORT_CLASS(sort_batch, 16)
SORT_CLASS(sort_batch, 32)
#if LANES == 16
SORT_CLASS(sort_pair, 4)
SORT_CLASS(sort_pair, 8)
#endif
#undef SORT_CLASS

/* Sorts the segments of a batch of class c and empties the batch. */
static void KEY_NAME(flush)(const lsp_task *sort, const lsp_sort_workspace *workspace, const lsp_sort_place *place,
                            batch *b, int c) {
    static void (*const sort_class[SHORT_CLASSES])(const lsp_task *, const lsp_sort_workspace *, const lsp_sort_place *,
                                                   const batch *) = {
        KEY_NAME(sort_batch_4),
        KEY_NAME(sort_batch_8),
        KEY_NAME(sort_batch_16),
        KEY_NAME(sort_batch_32),
#if LANES == 16
        KEY_NAME(sort_pair_4),
        KEY_NAME(sort_pair_8),
#endif
    };
    for (int i = b->count; i < LANES; i++) {
        b->begin[i] = b->length[i] = 0;
    }
    sort_class[c](sort, workspace, place, b);
    b->count = 0;
}
