/* Lines to entries. First all newlines of a window of text are found: then the lines do not depend on each other, and
 * the processor works on several at a time. Then each line is read word by word, up to its newline. Compiled once for
 * each instruction set. */
#include "mtx.h"
#include "number_parse.h"

#include "core/isa.h"

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

/* Bit i is 1 if byte i of 64 is a newline. */
LSP_INLINE uint64_t newline_bits(const char *p) {
#if defined(__AVX512BW__)
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512((const void *)p), _mm512_set1_epi8('\n'));
#elif defined(__AVX2__)
    __m256i newline = _mm256_set1_epi8('\n');
    __m256i low = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(const void *)p), newline);
    __m256i high = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(const void *)(p + 32)), newline);
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
#elif defined(__SSE2__)
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + (ptrdiff_t)16 * i));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'))) << 16 * i;
    }
    return bits;
#else
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++) {
        bits |= (uint64_t)(p[i] == '\n') << i;
    }
    return bits;
#endif
}

/* Finds the newlines among the first `bytes` of text and returns their number. May write 64 more items than that. */
static int find_newlines(const char *text, int bytes, uint32_t *newlines) {
    int count = 0;
    for (int at = 0; at < bytes; at += 64) {
        uint64_t bits = newline_bits(text + at);
        if (bytes - at < 64) {
            bits &= (UINT64_C(1) << (bytes - at)) - 1;
        }
        int found = __builtin_popcountll(bits), k = 0;
        do { /* four at a time: fewer mispredicted branches; items past the end are overwritten */
            for (int i = 0; i < 4; i++) {
                newlines[count + k + i] = (uint32_t)(at + (bits ? __builtin_ctzll(bits) : 0));
                bits &= bits - 1;
            }
            k += 4;
        } while (k < found);
        count += found;
    }
    return count;
}

LSP_INLINE const char *skip_blanks(const char *p) {
    if (__builtin_expect(*p == ' ' && (unsigned char)p[1] > ' ', 1)) {
        return p + 1;
    }
    while (lsp_mtx_blank(*p)) {
        p++;
    }
    return p;
}

/* An index of more than 8 digits. It stays above 10^18 once it gets there, and so is out of range. */
static const char *long_index(const char *p, uint64_t *index) {
    uint64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        value = value < UINT64_C(1000000000000000000) ? value * 10 + (uint64_t)(*p - '0') : value;
    }
    *index = value;
    return p;
}

/* *index = the digits at p; returns their end, which is p if there are none. */
LSP_INLINE const char *parse_index(const char *p, uint64_t *index) {
    uint64_t eight = lsp_eight_at(p), stop = lsp_no_digits(eight);
    if (__builtin_expect(stop == 0, 0)) {
        return long_index(p, index);
    }
    int bit = __builtin_ctzll(stop);
    *index = lsp_eight_value(eight << 8 << (63 - bit));
    return p + (bit >> 3);
}

/* Reads both indices at once in the usual case: up to 8 digits each, one blank between, a blank or newline after, all
 * in 16 bytes. Returns the blank or newline after them, or NULL in any other case. */
#if defined(__SSE4_1__)
LSP_INLINE const char *parse_indices(const char *p, uint64_t *row, uint64_t *col) {
    static const int8_t ends[16] = {-128, -128, -128, -128, -128, -128, -128, -128, 0, 1, 2, 3, 4, 5, 6, 7};
    __m128i text = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_set1_epi8('0'));
    __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(text, _mm_set1_epi8(9)), text);
    unsigned others = ~(unsigned)_mm_movemask_epi8(digit);
    int first = __builtin_ctz(others), second = __builtin_ctz((others | 0x10000) >> (first + 1) | 0x10000);
    int end = first + 1 + second;
    if (__builtin_expect(first - 1 > 7 || second - 1 > 7 || first < 1 || second < 1 || end > 15 || p[first] != ' ' ||
                             (p[end] != ' ' && p[end] != '\n'),
                         0)) {
        return NULL;
    }
    uint64_t low, high; /* shuffle: each index goes to the right end of its half, zeros before it */
    memcpy(&low, ends + first, 8);
    memcpy(&high, ends + second, 8);
    high += (uint64_t)(first + 1) * 0x0101010101010101u;
    __m128i ones = _mm_shuffle_epi8(text, _mm_set_epi64x((long long)high, (long long)low));
    __m128i twos = _mm_maddubs_epi16(ones, _mm_set1_epi16(0x010a));
    __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(0x00010064));
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x00012710));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    *row = (uint32_t)both;
    *col = both >> 32;
    return p + end;
}
#else
LSP_INLINE const char *parse_indices(const char *p, uint64_t *row, uint64_t *col) {
    (void)p, (void)row, (void)col;
    return NULL;
}
#endif

/* *size = the magnitude of the 64-bit integer at p; NULL if there is none. */
LSP_INLINE const char *parse_magnitude(const char *p, bool *negative, uint64_t *size) {
    *negative = *p == '-';
    p += *negative | (*p == '+');
    uint64_t magnitude = 0;
    const char *end = parse_index(p, &magnitude);
    if (__builtin_expect(end - p > 18, 0)) {
        magnitude = 0;
        for (end = p; *end >= '0' && *end <= '9'; end++) {
            if (__builtin_mul_overflow(magnitude, 10, &magnitude) ||
                __builtin_add_overflow(magnitude, (uint64_t)(*end - '0'), &magnitude)) {
                return NULL;
            }
        }
        if (*negative && magnitude > UINT64_C(1) << 63) {
            return NULL;
        }
    }
    *size = magnitude;
    return end == p ? NULL : end;
}

LSP_INLINE const char *parse_integer(const char *p, double *value) {
    bool negative;
    uint64_t magnitude = 0;
    const char *end = parse_magnitude(p, &negative, &magnitude);
    *value = negative ? -(double)magnitude : (double)magnitude;
    return end;
}

/* Does an integer, and its opposite in a skew-symmetric file, fit the type? */
LSP_INLINE bool fits(const lsp_mtx_header *header, bool negative, uint64_t magnitude) {
    const uint64_t most = header->whole == LSP_I32 ? INT32_MAX : INT64_MAX;
    return magnitude <= most + (negative && header->symmetry != LSP_SYMMETRY_SKEW);
}

/* Number k of the batch = the integer at p, exactly. A fault if there is none, or if it does not fit. */
LSP_INLINE lsp_mtx_fault take_whole(const lsp_mtx_header *header, const char **p, lsp_mtx_batch *batch, int64_t k) {
    bool negative;
    uint64_t magnitude = 0;
    const char *end = parse_magnitude(*p, &negative, &magnitude);
    if (!end) {
        return LSP_MTX_VALUE;
    }
    if (header->whole != LSP_BOOL && !fits(header, negative, magnitude)) {
        return LSP_MTX_RANGE;
    }
    batch->whole[k] = (int64_t)(negative ? 0 - magnitude : magnitude);
    batch->re[k] = (double)magnitude; /* whether it is 0 */
    *p = end;
    return LSP_MTX_FINE;
}

LSP_INLINE const char *parse_value(const char *p, lsp_mtx_field field, double *value) {
    return field == LSP_MTX_INTEGER ? parse_integer(p, value) : lsp_parse_double_quick(p, value);
}

/* Checks an entry against the symmetry of the file. An entry above the diagonal is replaced by its mirror, which
 * only a lenient reader accepts. */
LSP_INLINE lsp_mtx_fault fit_symmetry(const lsp_mtx_header *header, bool lenient, bool values, bool complex,
                                      lsp_mtx_batch *batch, int64_t k) {
    int64_t row = batch->row[k], col = batch->col[k];
    if (row < col) {
        lsp_mtx_mirror(header, values, batch, k, k);
        return lenient ? LSP_MTX_FINE : LSP_MTX_UPPER;
    }
    bool refused = row == col && ((values && header->symmetry == LSP_SYMMETRY_SKEW && batch->re[k] != 0) ||
                                  (complex && header->symmetry != LSP_SYMMETRY_SYMMETRIC && batch->im[k] != 0));
    return refused ? LSP_MTX_DIAGONAL : LSP_MTX_FINE;
}

typedef struct line_kind { /* the contents of a line, and the part that is read: a constant in each copy of the loop */
    bool array;
    lsp_mtx_field field;
    lsp_mtx_depth depth;
    bool whole; /* exact integers */
} line_kind;

/* Reads the entry on the line at p, which is not blank and ends at `end`, as number k of the batch. */
LSP_INLINE lsp_mtx_fault decode_line(const lsp_mtx_header *header, line_kind kind, const char *p, const char *end,
                                     lsp_mtx_batch *batch, int64_t k) {
    const lsp_mtx_field field = kind.field;
    const lsp_mtx_depth depth = kind.depth;
    if (!kind.array) {
        uint64_t index = 0, col = 0;
        const char *start = p;
        const char *after = depth == LSP_MTX_ROWS ? NULL : parse_indices(p, &index, &col);
        p = after ? p : parse_index(p, &index);
        if (index - 1 >= (uint64_t)header->rows || (!after && (p == start || !(lsp_mtx_blank(*p) || p == end)))) {
            return LSP_MTX_ROW;
        }
        batch->row[k] = (int64_t)index - 1;
        if (depth == LSP_MTX_ROWS) {
            return LSP_MTX_FINE;
        }
        if (after) {
            p = after;
        } else {
            start = p = skip_blanks(p);
            p = parse_index(p, &col);
            if (p == start || !(lsp_mtx_blank(*p) || p == end)) {
                return LSP_MTX_COL;
            }
        }
        if (col - 1 >= (uint64_t)header->cols) {
            return LSP_MTX_COL;
        }
        batch->col[k] = (int64_t)col - 1;
        if (depth == LSP_MTX_PLACES) {
            return LSP_MTX_FINE;
        }
        p = skip_blanks(p);
    } else if (depth != LSP_MTX_ALL) {
        return LSP_MTX_FINE;
    }
    if (kind.whole) {
        const lsp_mtx_fault fault = take_whole(header, &p, batch, k);
        if (fault != LSP_MTX_FINE) {
            return fault;
        }
    } else if (field != LSP_MTX_PATTERN) {
        const char *stop = parse_value(p, field, &batch->re[k]);
        if (!stop) {
            return LSP_MTX_VALUE;
        }
        if (field == LSP_MTX_COMPLEX) {
            p = skip_blanks(stop);
            const char *second = parse_value(p, field, &batch->im[k]);
            if (!second || p == stop) {
                return LSP_MTX_VALUE;
            }
            stop = second;
        }
        p = stop;
    }
    p = skip_blanks(p);
    return p == end ? LSP_MTX_FINE : LSP_MTX_JUNK;
}

LSP_INLINE const char *decode(const lsp_mtx_header *header, bool lenient, line_kind kind, const char *text, int lines,
                              lsp_mtx_batch *batch) {
    bool symmetric = !kind.array && header->symmetry != LSP_SYMMETRY_GENERAL && kind.depth != LSP_MTX_ROWS;
    int64_t count = 0;
    const char *line = text;
    for (int i = 0; i < lines; i++) {
        const char *p = line, *end = text + batch->newlines[i];
        if (__builtin_expect((unsigned char)*p <= ' ' || *p == '%', 0)) {
            p = skip_blanks(p);
            if (p == end || *p == '%') {
                line = end + 1;
                continue;
            }
        }
        lsp_mtx_fault fault = decode_line(header, kind, p, end, batch, count);
        if (fault == LSP_MTX_FINE && symmetric) {
            bool values = kind.depth == LSP_MTX_ALL && kind.field != LSP_MTX_PATTERN;
            fault = fit_symmetry(header, lenient, values, values && kind.field == LSP_MTX_COMPLEX, batch, count);
        }
        if (__builtin_expect(fault != LSP_MTX_FINE, 0)) {
            batch->fault = fault;
            batch->where = line;
            break;
        }
        count++;
        line = end + 1;
    }
    batch->count = count;
    return line;
}

const char *LSP_ISA_NAME(lsp_mtx_decode)(const lsp_mtx_header *header, bool lenient, lsp_mtx_depth depth,
                                         const char *text, const char *end, lsp_mtx_batch *batch) {
    int bytes = end - text < lsp_mtx_window ? (int)(end - text) : lsp_mtx_window;
    int lines = find_newlines(text, bytes, batch->newlines);
    batch->fault = LSP_MTX_FINE;
    batch->where = NULL;
    if (lines == 0) { /* one line longer than the window */
        batch->newlines[0] = (uint32_t)((const char *)memchr(text, '\n', (size_t)(end - text)) - text);
        lines = 1;
        if (batch->newlines[0] > lsp_mtx_line_most) {
            batch->fault = LSP_MTX_LONG_LINE;
            batch->where = text;
            batch->count = 0;
            return text;
        }
    }
#define DECODE(array, field, depth) decode(header, lenient, (line_kind){array, field, depth, false}, text, lines, batch)
#define DECODE_WHOLE(array)                                                                                            \
    decode(header, lenient, (line_kind){array, LSP_MTX_INTEGER, LSP_MTX_ALL, true}, text, lines, batch)
    if (depth == LSP_MTX_ALL && header->whole) {
        return header->format == LSP_MTX_ARRAY ? DECODE_WHOLE(true) : DECODE_WHOLE(false);
    }
    if (header->format == LSP_MTX_ARRAY) {
        return depth != LSP_MTX_ALL               ? DECODE(true, LSP_MTX_REAL, LSP_MTX_ROWS)
               : header->field == LSP_MTX_COMPLEX ? DECODE(true, LSP_MTX_COMPLEX, LSP_MTX_ALL)
               : header->field == LSP_MTX_INTEGER ? DECODE(true, LSP_MTX_INTEGER, LSP_MTX_ALL)
                                                  : DECODE(true, LSP_MTX_REAL, LSP_MTX_ALL);
    }
    return depth == LSP_MTX_ROWS              ? DECODE(false, LSP_MTX_PATTERN, LSP_MTX_ROWS)
           : depth == LSP_MTX_PLACES          ? DECODE(false, LSP_MTX_PATTERN, LSP_MTX_PLACES)
           : header->field == LSP_MTX_PATTERN ? DECODE(false, LSP_MTX_PATTERN, LSP_MTX_ALL)
           : header->field == LSP_MTX_COMPLEX ? DECODE(false, LSP_MTX_COMPLEX, LSP_MTX_ALL)
           : header->field == LSP_MTX_INTEGER ? DECODE(false, LSP_MTX_INTEGER, LSP_MTX_ALL)
                                              : DECODE(false, LSP_MTX_REAL, LSP_MTX_ALL);
}
