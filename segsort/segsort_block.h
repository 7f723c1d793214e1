/* Template by KEY: a segment of up to `rows` (4, 8 or 16) vectors of words, sorted without leaving the registers. */

ALWAYS void KEY_NAME(sort_rows_of)(const lsp_sort *sort, const lsp_sort_room *room, const lsp_sort_place *place,
                                   int64_t n, int rows) {
    const KEY *keys = (const KEY *)(const void *)place->keys;
    const bool pick_values = sort->value_bytes == 4 && place->values;
    const int position_bits = lsp_bits((uint64_t)(rows * LANES) - 1);
    uint32_t *words = room->words;
    bool cut = false;
    vec x[16], min = SET(UINT32_MAX), max = SET(0);
#if KEY_BITS == 32
    UNROLLED for (int r = 0; r < rows; r++) {
        x[r] = KEY_NAME(numbers)(load_lanes(keys + r * LANES, REAL(n, r)), &sort->order);
    }
#else
    cut = KEY_NAME(make_numbers)(sort, keys, n, words);
    UNROLLED for (int r = 0; r < rows; r++) { x[r] = LOAD(words + r * LANES); }
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
    sort_block(x, rows);
    transpose(x, rows);
    unsigned tied = 0;
    UNROLLED for (int r = 0; r < rows; r++) {
        vec before = moved_up(x[r], r == 0 ? SET(0) : x[r - 1]);
        tied |= LANE_BITS(AND_LANES(NONE_OF(XOR(x[r], before), -rows * LANES), REAL(n, r))) & (r == 0 ? ~1U : ~0U);
        STORE(words + r * LANES, x[r]);
    }
    cut |= (LANE_BITS(ABOVE(zeros, position_bits - 1)) & 1) == 0;
    if (tied && cut) {
        words = KEY_NAME(settle)(sort, room, keys, words, n, position_bits);
    }
    if (KEY_BITS == 32 && CAN_PICK_ROWS && (sort->value_bytes == 0 || pick_values)) {
        pick_rows((const uint32_t *)keys, words, n, rows, (uint32_t *)(void *)place->keys_out);
        if (pick_values) {
            pick_rows((const uint32_t *)(const void *)place->values, words, n, rows,
                      (uint32_t *)(void *)place->values_out);
        }
    } else {
        KEY_NAME(move_words)(sort, room, place, n, words, position_bits);
    }
}

static NOINLINE void KEY_NAME(sort_4_rows)(const lsp_sort *sort, const lsp_sort_room *room, const lsp_sort_place *place,
                                           int64_t n) {
    KEY_NAME(sort_rows_of)(sort, room, place, n, 4);
}
static NOINLINE void KEY_NAME(sort_8_rows)(const lsp_sort *sort, const lsp_sort_room *room, const lsp_sort_place *place,
                                           int64_t n) {
    KEY_NAME(sort_rows_of)(sort, room, place, n, 8);
}
#if LANES == 16
static NOINLINE void KEY_NAME(sort_16_rows)(const lsp_sort *sort, const lsp_sort_room *room,
                                            const lsp_sort_place *place, int64_t n) {
    KEY_NAME(sort_rows_of)(sort, room, place, n, 16);
}
#endif
