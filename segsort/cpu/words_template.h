/* Template by SORT_WORD: sorts distinct words without vectors. Up to SHORT words by a merge sort of runs sorted by
 * insertion, or by NETWORK if that is defined; more words by a radix sort from the lowest digit, over the bits in which
 * words differ. */
#define WORD_NAME(f) LSP_PASTE(f, SORT_SUFFIX)

#ifndef NETWORK
static void WORD_NAME(insertion)(SORT_WORD *words, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        SORT_WORD word = words[i];
        int64_t j = i;
        for (; j > 0 && words[j - 1] > word; j--) {
            words[j] = words[j - 1];
        }
        words[j] = word;
    }
}

/* Merges from[0 .. middle-1] and from[middle .. end-1] into `to`. */
static void WORD_NAME(merge)(const SORT_WORD *from, int64_t middle, int64_t end, SORT_WORD *to) {
    const SORT_WORD *a = from, *b = from + middle, *a_end = b, *b_end = from + end;
    while (a < a_end && b < b_end) {
        bool right = *b < *a;
        *to++ = right ? *b : *a;
        b += right;
        a += !right;
    }
    memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

static SORT_WORD *WORD_NAME(merge_sort)(SORT_WORD *words, SORT_WORD *other, int64_t n) {
    enum { RUN = 16 };
    for (int64_t i = 0; i < n; i += RUN) {
        WORD_NAME(insertion)(words + i, lsp_min(RUN, n - i));
    }
    for (int64_t run = RUN; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run) {
            WORD_NAME(merge)(words + i, lsp_min(run, n - i), lsp_min(2 * run, n - i), other + i);
        }
        SORT_WORD *swap = words;
        words = other;
        other = swap;
    }
    return words;
}
#endif

/* One stable pass by the digit of `bits` bits at `shift`. Returns false and moves nothing if all share the digit. */
static bool WORD_NAME(radix_pass)(const SORT_WORD *from, SORT_WORD *to, int64_t n, int shift, int bits) {
    int64_t place[1 << RADIX_DIGIT];
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

/* Contract: lsp_word_sort (job.h). */
static void *WORD_NAME(sort)(void *words_, void *other_, int64_t n, int low, int high) {
    SORT_WORD *words = words_, *other = other_;
    if (n <= SHORT) {
#ifdef NETWORK
        NETWORK(words, n);
        return words;
#else
        return WORD_NAME(merge_sort)(words, other, n);
#endif
    }
    int passes = (high - low + RADIX_DIGIT - 1) / RADIX_DIGIT;
    int bits = passes == 0 ? 0 : (high - low + passes - 1) / passes;
    for (int shift = low; shift < high; shift += bits) {
        if (WORD_NAME(radix_pass)(words, other, n, shift, (int)lsp_min(bits, high - shift))) {
            SORT_WORD *swap = words;
            words = other;
            other = swap;
        }
    }
    return words;
}

#undef WORD_NAME
#undef SORT_WORD
#undef SORT_SUFFIX
#undef SHORT
#undef NETWORK
