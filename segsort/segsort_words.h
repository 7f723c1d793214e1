/* Template by WORD (and LANES, VEC and its operations where vectors pay): serial sort and merge of distinct words.
 * Up to SHORT words a network in vectors, or insertion and merges; beyond, radix from the lowest digit, only over the
 * bits in which words differ. The numbers stand in segsort_kernel.c. */
#define NAME(f) LSP_PASTE(f, WORD_SUFFIX)

#ifdef LANES
/* Compares every lane with its partner, lane ^ m; the lane with `bit` set keeps the larger. */
#define STEP(x, m, bit) x = EXCHANGE(x, REVERSED(x, m), bit)

static inline VEC NAME(merge_lanes)(VEC x) {
#if LANES == 16
    STEP(x, 8, 8);
#endif
    STEP(x, 4, 4);
    STEP(x, 2, 2);
    STEP(x, 1, 1);
    return x;
}

static inline VEC NAME(sort_lanes)(VEC x) {
    STEP(x, 1, 1);
    STEP(x, 3, 2);
    STEP(x, 1, 1);
    STEP(x, 7, 4);
    STEP(x, 2, 2);
    STEP(x, 1, 1);
#if LANES == 16
    STEP(x, 15, 8);
    STEP(x, 4, 4);
    STEP(x, 2, 2);
    STEP(x, 1, 1);
#endif
    return x;
}

/* Vector a keeps the smaller, b the larger of a and b. */
static inline void NAME(exchange)(WORD *words, int64_t a, int64_t b, bool flip) {
    VEC x = LOAD(words + a * LANES), y = LOAD(words + b * LANES);
    y = flip ? REVERSED(y, LANES - 1) : y;
    VEC high = MAX(x, y);
    STORE(words + a * LANES, MIN(x, y));
    STORE(words + b * LANES, flip ? REVERSED(high, LANES - 1) : high);
}

/* Bitonic network of flip and half merges; all comparators put the larger word at the higher place, so those that
 * reach beyond the last vector, where only the largest word could stand, are left out. */
static void NAME(sort_short)(WORD *words, WORD *scratch, int64_t n) {
    (void)scratch;
    int64_t vectors = (n + LANES - 1) / LANES;
    for (int64_t i = n; i < vectors * LANES; i++) {
        words[i] = (WORD)-1;
    }
    for (int64_t v = 0; v < vectors; v++) {
        STORE(words + v * LANES, NAME(sort_lanes)(LOAD(words + v * LANES)));
    }
    for (int64_t block = 2; block < 2 * vectors; block *= 2) {
        for (int64_t first = 0; first < vectors; first += block) {
            for (int64_t b = lsp_min(first + block, vectors) - 1; b >= first + block / 2; b--) {
                NAME(exchange)(words, 2 * first + block - 1 - b, b, true);
            }
        }
        for (int64_t distance = block / 4; distance > 0; distance /= 2) {
            for (int64_t first = 0; first + distance < vectors; first += 2 * distance) {
                for (int64_t a = first; a < lsp_min(first + distance, vectors - distance); a++) {
                    NAME(exchange)(words, a, a + distance, false);
                }
            }
        }
        for (int64_t v = 0; v < vectors; v++) {
            STORE(words + v * LANES, NAME(merge_lanes)(LOAD(words + v * LANES)));
        }
    }
}
#undef STEP
#endif

/* Merges [a, a_end) and [b, b_end) into out until `n` words are written. */
static void NAME(merge_from)(const WORD *a, const WORD *a_end, const WORD *b, const WORD *b_end, WORD *out, int64_t n) {
    WORD *end = out + n;
    while (out < end && a < a_end && b < b_end) {
        bool right = *b < *a;
        *out++ = right ? *b : *a;
        b += right;
        a += !right;
    }
    while (out < end && a < a_end) {
        *out++ = *a++;
    }
    while (out < end && b < b_end) {
        *out++ = *b++;
    }
}

static void NAME(merge)(const void *a_, int64_t a_count, const void *b_, int64_t b_count, int64_t k, int64_t n,
                        void *out) {
    const WORD *a = a_, *b = b_;
    int64_t low = lsp_max(0, k - b_count), high = lsp_min(k, a_count);
    while (low < high) { /* how many of the first k words come from a */
        int64_t middle = low + (high - low) / 2;
        if (b[k - 1 - middle] < a[middle]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    NAME(merge_from)(a + low, a + a_count, b + k - low, b + b_count, out, n);
}

#ifndef LANES
static void NAME(insertion)(WORD *words, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        WORD word = words[i];
        int64_t j = i;
        for (; j > 0 && words[j - 1] > word; j--) {
            words[j] = words[j - 1];
        }
        words[j] = word;
    }
}

/* Runs of 16 by insertion, then merges between the two arrays; the result ends in `words`. */
static void NAME(sort_short)(WORD *words, WORD *scratch, int64_t n) {
    enum { RUN = 16 };
    for (int64_t i = 0; i < n; i += RUN) {
        NAME(insertion)(words + i, lsp_min(RUN, n - i));
    }
    WORD *from = words, *to = scratch;
    for (int64_t run = RUN; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run) {
            int64_t middle = lsp_min(i + run, n), end = lsp_min(i + 2 * run, n);
            NAME(merge_from)(from + i, from + middle, from + middle, from + end, to + i, end - i);
        }
        WORD *swap = from;
        from = to;
        to = swap;
    }
    if (from != words) {
        memcpy(words, from, (size_t)n * sizeof *words);
    }
}
#endif

/* One stable pass by the digit of `bits` bits at `shift`. False, and nothing moved, if all words share the digit. */
static bool NAME(radix_pass)(const WORD *from, WORD *to, int64_t n, int shift, int bits) {
    int64_t place[1 << RADIX_BITS];
    size_t mask = ((size_t)1 << bits) - 1;
    memset(place, 0, (mask + 1) * sizeof *place);
    for (int64_t i = 0; i < n; i++) {
        place[(size_t)(from[i] >> shift) & mask]++;
    }
    if (place[(size_t)(from[0] >> shift) & mask] == n) {
        return false;
    }
    int64_t sum = 0;
    for (size_t d = 0; d <= mask; d++) {
        int64_t count = place[d];
        place[d] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++) {
        to[place[(size_t)(from[i] >> shift) & mask]++] = from[i];
    }
    return true;
}

static void *NAME(sort)(void *words_, void *scratch_, int64_t n, int low, int high) {
    WORD *words = words_, *scratch = scratch_;
    if (n <= SHORT) {
        if (n > 1) {
            NAME(sort_short)(words, scratch, n);
        }
        return words;
    }
    int passes = (high - low + RADIX_BITS - 1) / RADIX_BITS;
    int bits = passes == 0 ? 0 : (high - low + passes - 1) / passes;
    for (int shift = low; shift < high; shift += bits) {
        if (NAME(radix_pass)(words, scratch, n, shift, (int)lsp_min(bits, high - shift))) {
            WORD *swap = words;
            words = scratch;
            scratch = swap;
        }
    }
    return words;
}

#undef NAME
#undef WORD
#undef WORD_SUFFIX
#undef SHORT
#undef LANES
#undef VEC
#undef LOAD
#undef STORE
#undef MIN
#undef MAX
#undef REVERSED
#undef EXCHANGE
