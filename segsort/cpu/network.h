/* Sorts up to a few thousand 32-bit words by a bitonic network. A block of `rows` vectors stays in registers: each lane
 * is sorted over the rows, which needs no shuffles, then lanes are merged by flip and half merges. Within a block words
 * ascend down the rows, then across the lanes; a transposition at the end makes them contiguous. Blocks are merged the
 * same way in memory. A block beyond the last one would hold only pads, the largest words. Every comparator puts the
 * larger word at the higher place, so comparators with such a block change nothing and are left out. */

/* Sorts the rows of each lane, which are bitonic. */
ALWAYS void merge_block_rows(vec *x, int rows) {
    UNROLLED for (int d = rows / 2; d > 0; d /= 2) {
        UNROLLED for (int i = 0; i < rows; i++) {
            if ((i & d) == 0) {
                exchange(x, i, i + d);
            }
        }
    }
}

/* Half merges lanes at the distances bit, bit/2, .. 1. */
ALWAYS void half_merge_lanes(vec *x, int rows, int bit) {
    UNROLLED for (; bit > 0; bit /= 2) {
        UNROLLED for (int i = 0; i < rows; i++) { x[i] = either(x[i], across(x[i], bit), bit); }
    }
}

/* Merges lanes at the distances bit, bit/2, .. 1, then rows. */
ALWAYS void merge_block_lanes(vec *x, int rows, int bit) {
    half_merge_lanes(x, rows, bit);
    merge_block_rows(x, rows);
}

/* The first step of a flip merge: compares each word with its mirror image among 2 * bit lanes. */
ALWAYS void flip_lanes(vec *x, int rows, int bit) {
    UNROLLED for (int i = 0; i < rows / 2; i++) {
        vec a = x[i], b = x[rows - 1 - i];
        x[i] = either(a, across(b, 2 * bit - 1), bit);
        x[rows - 1 - i] = either(b, across(a, 2 * bit - 1), bit);
    }
}

/* Sorts one or two independent blocks. Two at once, step by step, hide the latency of each other's instructions. */
ALWAYS void sort_side_by_side(vec *x, int rows, int blocks) {
    sort_rows(x, rows);
    if (blocks == 2) {
        sort_rows(x + rows, rows);
    }
    UNROLLED for (int bit = 1; bit < LANES; bit *= 2) {
        flip_lanes(x, rows, bit);
        if (blocks == 2) {
            flip_lanes(x + rows, rows, bit);
        }
        half_merge_lanes(x, rows * blocks, bit / 2);
        merge_block_rows(x, rows);
        if (blocks == 2) {
            merge_block_rows(x + rows, rows);
        }
    }
}

ALWAYS void load_block(vec *x, const uint32_t *words, int rows) {
    UNROLLED for (int i = 0; i < rows; i++) { x[i] = LOAD(words + i * LANES); }
}

ALWAYS void store_rows_block(uint32_t *words, vec *x, int rows, bool last) {
    if (last) {
        transpose(x, rows);
    }
    UNROLLED for (int i = 0; i < rows; i++) { STORE(words + i * LANES, x[i]); }
}

/* The smaller words to block a, the larger to block b. */
ALWAYS void exchange_blocks(uint32_t *a, uint32_t *b, int rows, bool flip) {
    UNROLLED for (int i = 0; i < rows; i++) {
        int j = flip ? rows - 1 - i : i;
        vec x = LOAD(a + i * LANES), y = LOAD(b + j * LANES);
        y = flip ? across(y, LANES - 1) : y;
        vec high = MAX(x, y);
        STORE(a + i * LANES, MIN(x, y));
        STORE(b + j * LANES, flip ? across(high, LANES - 1) : high);
    }
}

/* Sorts `blocks` blocks of words: each in registers, then merges spans of 2, 4, 8 .. blocks. */
ALWAYS void sort_blocks(uint32_t *words, int64_t blocks, int rows) {
    const int64_t size = rows * LANES;
    vec x[16];
    for (int64_t b = 0; b < blocks; b++) {
        load_block(x, words + b * size, rows);
        sort_side_by_side(x, rows, 1);
        store_rows_block(words + b * size, x, rows, blocks == 1);
    }
    for (int64_t span = 2; span < 2 * blocks; span *= 2) {
        for (int64_t first = 0; first < blocks; first += span) {
            for (int64_t b = lsp_min(first + span, blocks) - 1; b >= first + span / 2; b--) {
                exchange_blocks(words + (2 * first + span - 1 - b) * size, words + b * size, rows, true);
            }
        }
        for (int64_t distance = span / 4; distance > 0; distance /= 2) {
            for (int64_t first = 0; first + distance < blocks; first += 2 * distance) {
                for (int64_t a = first; a < lsp_min(first + distance, blocks - distance); a++) {
                    exchange_blocks(words + a * size, words + (a + distance) * size, rows, false);
                }
            }
        }
        for (int64_t b = 0; b < blocks; b++) {
            load_block(x, words + b * size, rows);
            merge_block_lanes(x, rows, LANES / 2);
            store_rows_block(words + b * size, x, rows, span >= blocks);
        }
    }
}

static void sort_blocks_4(uint32_t *words, int64_t blocks) { sort_blocks(words, blocks, 4); }
static void sort_blocks_8(uint32_t *words, int64_t blocks) { sort_blocks(words, blocks, 8); }
#if LANES == 16
static void sort_blocks_16(uint32_t *words, int64_t blocks) { sort_blocks(words, blocks, 16); }
#endif

/* Sorts n words in an array that holds LSP_WORD_PAD more. Larger blocks cost less for each word, smaller ones need
 * fewer pads. */
static void sort_network(uint32_t *words, int64_t n) {
#if LANES == 16
    int rows = n <= 64 || (n > 128 && n <= 192) ? 4 : n <= 128 || (n > 256 && n <= 384) ? 8 : 16;
#else
    int rows = n <= 32 || (n > 64 && n <= 96) ? 4 : 8;
#endif
    int64_t blocks = lsp_ceil_div(n, rows * LANES);
    for (int64_t i = n; i < blocks * rows * LANES; i++) {
        words[i] = UINT32_MAX;
    }
#if LANES == 16
    if (rows == 16) {
        sort_blocks_16(words, blocks);
        return;
    }
#endif
    if (rows == 8) {
        sort_blocks_8(words, blocks);
    } else {
        sort_blocks_4(words, blocks);
    }
}
