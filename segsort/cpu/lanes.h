/* Short segments side by side, one in each lane. A batch is LANES segments of up to `rows` words (4, 8, 16 or 32) in
 * `rows` vectors. It has two forms. As lines, the words of a segment are neighbours, and several lines shorter than a
 * vector share one. As columns, after a transposition, vector i holds the i-th word of every segment. */
#pragma once

#include "core/vector.h"

#define NOINLINE __attribute__((noinline))

/* Up to LANES segments of one place. */
typedef struct batch {
    int count;
    int64_t begin[LANES];
    uint32_t length[LANES];
} batch;

#define SET(x) VECTOR(set1_epi32)((int)(x))
#define ADD(x, y) VECTOR(add_epi32)((x), (y))
#define SUB(x, y) VECTOR(sub_epi32)((x), (y))
#define SHIFT_LEFT(x, y) VECTOR(sllv_epi32)((x), (y))
#define SIGNS(x) VECTOR(srai_epi32)((x), 31)
#define ABOVE(x, c) EXCEEDS((x), SET(c)) /* lanes in which x > c, as signed numbers */
#if LANES == 16
typedef __mmask16 lanes;
#define VECTOR(f) _mm512_##f /* the instruction f of the set */
#define EXCEEDS(x, y) _mm512_cmpgt_epi32_mask((x), (y))
#define NONE_OF(x, bits) _mm512_testn_epi32_mask((x), SET(bits)) /* lanes in which x has none of the bits */
#define CHOOSE(lanes, x, y) _mm512_mask_mov_epi32((y), (lanes), (x))
#define LANE_BITS(lanes) ((unsigned)(lanes))
#define AND_LANES(k, l) ((lanes)((k) & (l)))
#define OR_LANES(k, l) ((lanes)((k) | (l)))
#define NO_LANES 0
#define AND(x, y) _mm512_and_si512((x), (y))
#define OR(x, y) _mm512_or_si512((x), (y))
#define XOR(x, y) _mm512_xor_si512((x), (y))
#define LANE_NUMBERS _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define LEADING_ZEROS(x) _mm512_lzcnt_epi32(x)

ALWAYS vec load_lanes(const uint32_t *p, lanes k) { return _mm512_maskz_loadu_epi32(k, p); }
ALWAYS void store_lanes(uint32_t *p, lanes k, vec x) { _mm512_mask_storeu_epi32(p, k, x); }
ALWAYS vec load_line(const uint32_t *p, uint32_t n) {
    return _mm512_maskz_loadu_epi32((__mmask16)_bzhi_u32(0xFFFF, n), p);
}
ALWAYS void store_line(uint32_t *p, uint32_t n, vec x) {
    _mm512_mask_storeu_epi32(p, (__mmask16)_bzhi_u32(0xFFFF, n), x);
}
ALWAYS vec load_half(const uint32_t *p, uint32_t n, const uint32_t *q, uint32_t m) {
    __m256i low = _mm256_maskz_loadu_epi32((__mmask8)_bzhi_u32(0xFF, n), p);
    __m256i high = _mm256_maskz_loadu_epi32((__mmask8)_bzhi_u32(0xFF, m), q);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
/* Copies a part of a vector to another register before a masked store. Otherwise gcc stores it straight from the
 * whole vector, with an instruction that faults on missing memory even behind lanes that the mask leaves out. */
ALWAYS __m128i quarter_of(__m128i part) {
    __asm__("" : "+v"(part));
    return part;
}
ALWAYS __m256i half_of(__m256i part) {
    __asm__("" : "+v"(part));
    return part;
}
ALWAYS void store_half(uint32_t *p, uint32_t n, uint32_t *q, uint32_t m, vec x) {
    _mm256_mask_storeu_epi32(p, (__mmask8)_bzhi_u32(0xFF, n), half_of(_mm512_castsi512_si256(x)));
    _mm256_mask_storeu_epi32(q, (__mmask8)_bzhi_u32(0xFF, m), half_of(_mm512_extracti64x4_epi64(x, 1)));
}
#define LOAD_4(i) _mm_maskz_loadu_epi32((__mmask8)_bzhi_u32(0xF, b->length[i]), items + b->begin[i])
#define STORE_4(i, x) _mm_mask_storeu_epi32(items + b->begin[i], (__mmask8)_bzhi_u32(0xF, b->length[i]), quarter_of(x))
ALWAYS vec load_quarters(const batch *b, int r, const uint32_t *items) {
    vec x = _mm512_castsi128_si512(LOAD_4(r));
    x = _mm512_inserti32x4(x, LOAD_4(4 + r), 1);
    x = _mm512_inserti32x4(x, LOAD_4(8 + r), 2);
    return _mm512_inserti32x4(x, LOAD_4(12 + r), 3);
}
ALWAYS void store_quarters(const batch *b, int r, uint32_t *items, vec x) {
    STORE_4(r, _mm512_castsi512_si128(x));
    STORE_4(4 + r, _mm512_extracti32x4_epi32(x, 1));
    STORE_4(8 + r, _mm512_extracti32x4_epi32(x, 2));
    STORE_4(12 + r, _mm512_extracti32x4_epi32(x, 3));
}
#undef LOAD_4
#undef STORE_4
#else
typedef __m256i lanes;
#define VECTOR(f) _mm256_##f
#define EXCEEDS(x, y) _mm256_cmpgt_epi32((x), (y))
#define NONE_OF(x, bits) _mm256_cmpeq_epi32(AND(x, SET(bits)), _mm256_setzero_si256())
#define CHOOSE(lanes, x, y) _mm256_blendv_epi8((y), (x), (lanes))
#define LANE_BITS(lanes) ((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(lanes)))
#define AND_LANES(k, l) AND(k, l)
#define OR_LANES(k, l) OR(k, l)
#define NO_LANES _mm256_setzero_si256()
#define AND(x, y) _mm256_and_si256((x), (y))
#define OR(x, y) _mm256_or_si256((x), (y))
#define XOR(x, y) _mm256_xor_si256((x), (y))
#define LANE_NUMBERS _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)

ALWAYS vec LEADING_ZEROS(vec x) {
    uint32_t word[LANES];
    STORE(word, x);
    for (int i = 0; i < LANES; i++) {
        word[i] = _lzcnt_u32(word[i]);
    }
    return LOAD(word);
}
/* Masks of the first n of eight lanes, or of four. */
ALWAYS __m256i first_of_8(uint32_t n) { return _mm256_cmpgt_epi32(SET(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }
ALWAYS __m128i first_of_4(uint32_t n) { return _mm_cmpgt_epi32(_mm_set1_epi32((int)n), _mm_setr_epi32(0, 1, 2, 3)); }
ALWAYS vec load_lanes(const uint32_t *p, lanes k) { return _mm256_maskload_epi32((const int *)p, k); }
ALWAYS void store_lanes(uint32_t *p, lanes k, vec x) { _mm256_maskstore_epi32((int *)p, k, x); }
ALWAYS vec load_line(const uint32_t *p, uint32_t n) { return _mm256_maskload_epi32((const int *)p, first_of_8(n)); }
/* A masked store takes twelve cycles on some AMD processors, so only part of a vector is stored that way. */
ALWAYS void store_line(uint32_t *p, uint32_t n, vec x) {
    if (n >= LANES) {
        STORE(p, x);
    } else if (n > 0) {
        _mm256_maskstore_epi32((int *)p, first_of_8(n), x);
    }
}
ALWAYS void store_quarter(uint32_t *p, uint32_t n, __m128i x) {
    if (n >= 4) {
        _mm_storeu_si128((__m128i *)(void *)p, x);
    } else if (n > 0) {
        _mm_maskstore_epi32((int *)p, first_of_4(n), x);
    }
}
ALWAYS vec load_quarters(const batch *b, int r, const uint32_t *items) {
    __m128i low = _mm_maskload_epi32((const int *)(items + b->begin[r]), first_of_4(b->length[r]));
    __m128i high = _mm_maskload_epi32((const int *)(items + b->begin[4 + r]), first_of_4(b->length[4 + r]));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}
ALWAYS void store_quarters(const batch *b, int r, uint32_t *items, vec x) {
    store_quarter(items + b->begin[r], b->length[r], _mm256_castsi256_si128(x));
    store_quarter(items + b->begin[4 + r], b->length[4 + r], _mm256_extracti128_si256(x, 1));
}
#endif

/* How many items segment i has from vector number `part` of its line up. */
ALWAYS uint32_t part_length(const batch *b, int i, int part) {
    uint32_t before = (uint32_t)(part * LANES);
    return b->length[i] > before ? b->length[i] - before : 0;
}

ALWAYS void load_lines(const batch *b, const uint32_t *items, vec *x, int rows) {
    UNROLLED for (int r = 0; r < rows; r++) {
        if (rows == 4) {
            x[r] = load_quarters(b, r, items);
#if LANES == 16
        } else if (rows == 8) {
            x[r] = load_half(items + b->begin[r], b->length[r], items + b->begin[8 + r], b->length[8 + r]);
#endif
        } else {
            int i = r % LANES, part = r / LANES;
            x[r] = load_line(items + b->begin[i] + part * LANES, part_length(b, i, part));
        }
    }
}

ALWAYS void store_lines(const batch *b, uint32_t *items, vec *x, int rows) {
    UNROLLED for (int r = 0; r < rows; r++) {
        if (rows == 4) {
            store_quarters(b, r, items, x[r]);
#if LANES == 16
        } else if (rows == 8) {
            store_half(items + b->begin[r], b->length[r], items + b->begin[8 + r], b->length[8 + r], x[r]);
#endif
        } else {
            int i = r % LANES, part = r / LANES;
            store_line(items + b->begin[i] + part * LANES, part_length(b, i, part), x[r]);
        }
    }
}

/* Where the line of segment i begins among the words that lines_to_words writes. */
ALWAYS int line_at(int i, int rows) { return rows < LANES ? i % rows * LANES + i / rows * rows : i * rows; }

ALWAYS void lines_to_words(uint32_t *words, vec *x, int rows) {
    UNROLLED for (int r = 0; r < rows; r++) {
        STORE(words + (rows <= LANES ? r * LANES : r % LANES * rows + r / LANES * LANES), x[r]);
    }
}
ALWAYS void words_to_lines(const uint32_t *words, vec *x, int rows) {
    UNROLLED for (int r = 0; r < rows; r++) {
        x[r] = LOAD(words + (rows <= LANES ? r * LANES : r % LANES * rows + r / LANES * LANES));
    }
}

/* Turns lines into columns, and columns into lines. */
ALWAYS void transpose_lines(vec *x, int rows) {
    if (rows >= LANES) {
        UNROLLED for (int part = 0; part < rows / LANES; part++) { transpose(x + part * LANES, LANES); }
        return;
    }
    UNROLLED for (int g = 0; g < rows; g += 4) { transpose_fours(x + g); }
#if LANES == 16
    if (rows == 8) {
        UNROLLED for (int k = 0; k < 4; k++) {
            vec low = x[k], high = x[4 + k];
            const vec even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
                      odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            x[k] = _mm512_permutex2var_epi64(low, even, high);
            x[4 + k] = _mm512_permutex2var_epi64(low, odd, high);
        }
    }
#endif
}

#if LANES == 8
/* Picks the items at the positions in the lowest bits of `word`, from 1, 2 or 4 vectors `stride` apart. */
ALWAYS vec pick_of(const vec *items, int stride, int vectors, vec word) {
    __m256 picked[4];
    UNROLLED for (int i = 0; i < vectors; i++) {
        picked[i] = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(items[i * stride], word));
    }
    UNROLLED for (int step = 1, bit = 3; step < vectors; step *= 2, bit++) {
        const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(word, 31 - bit)); /* the bit becomes the sign */
        UNROLLED for (int i = 0; i < vectors; i += 2 * step) {
            picked[i] = _mm256_blendv_ps(picked[i], picked[i + step], upper);
        }
    }
    return _mm256_castps_si256(picked[0]);
}
#endif

/* Puts the items of each line in the order of the positions, which are the lowest bits of the words. */
ALWAYS void pick_lines(vec *items, const vec *words, int rows) {
#if LANES == 16
    UNROLLED for (int r = 0; r < (rows < 16 ? rows : 16); r++) {
        if (rows == 4) {
            items[r] = _mm512_castps_si512(_mm512_permutevar_ps(_mm512_castsi512_ps(items[r]), words[r]));
        } else if (rows == 8) {
            const vec half = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8);
            items[r] = _mm512_permutexvar_epi32(OR(AND(words[r], SET(7)), half), items[r]);
        } else if (rows == 16) {
            items[r] = _mm512_permutexvar_epi32(words[r], items[r]);
        } else {
            vec low = items[r], high = items[16 + r];
            items[r] = _mm512_permutex2var_epi32(low, words[r], high);
            items[16 + r] = _mm512_permutex2var_epi32(low, words[16 + r], high);
        }
    }
#else
    UNROLLED for (int r = 0; r < (rows < LANES ? rows : LANES); r++) {
        if (rows == 4) {
            items[r] = _mm256_castps_si256(_mm256_permutevar_ps(_mm256_castsi256_ps(items[r]), words[r]));
        } else {
            vec line[4];
            UNROLLED for (int part = 0; part < rows / LANES; part++) {
                line[part] = pick_of(items + r, LANES, rows / LANES, words[r + part * LANES]);
            }
            UNROLLED for (int part = 0; part < rows / LANES; part++) { items[r + part * LANES] = line[part]; }
        }
    }
#endif
}
/* Lane i of the result is lane i - 1 of x; lane 0 is the last lane of `before`. */
ALWAYS vec moved_up(vec x, vec before) {
#if LANES == 16
    return _mm512_alignr_epi32(x, before, 15);
#else
    return _mm256_alignr_epi8(x, _mm256_permute2x128_si256(before, x, 0x21), 12);
#endif
}

/* The lanes of vector r that hold one of n items. */
#define REAL(n, r) EXCEEDS(SET((n) - (r)*LANES), LANE_NUMBERS)

#define CAN_PICK_ROWS (LANES == 16) /* with AVX2 move_pairs is faster */
/* to[i] = the item of `from` at the position in the lowest bits of words[i]; n items in `rows` vectors. */
ALWAYS void pick_rows(const uint32_t *from, const uint32_t *words, int64_t n, int rows, uint32_t *to) {
#if LANES == 16
    vec items[16], t[8];
    UNROLLED for (int r = 0; r < rows; r++) { items[r] = load_lanes(from + r * LANES, REAL(n, r)); }
    for (int r = 0; r * LANES < n; r++) {
        vec word = LOAD(words + r * LANES);
        UNROLLED for (int i = 0; i < rows / 2; i++) {
            t[i] = _mm512_permutex2var_epi32(items[2 * i], word, items[2 * i + 1]);
        }
        UNROLLED for (int step = 1; step < rows / 2; step *= 2) {
            lanes upper = _mm512_test_epi32_mask(word, SET(32 * step));
            UNROLLED for (int i = 0; i < rows / 2; i += 2 * step) { t[i] = CHOOSE(upper, t[i + step], t[i]); }
        }
        store_lanes(to + r * LANES, REAL(n, r), t[0]);
    }
#else
    (void)from, (void)words, (void)n, (void)rows, (void)to;
#endif
}
/* Orders columns of sorted words by the full numbers of the same items, given with the sign bit flipped: an odd-even
 * transposition sort. It takes few rounds, because the words are nearly in order. */
static NOINLINE void straighten_columns(vec *words, vec *numbers, int rows) {
    unsigned changed;
    do {
        changed = 0;
        for (int odd = 0; odd < 2; odd++) {
            for (int i = odd; i + 1 < rows; i += 2) {
                vec a = numbers[i], b = numbers[i + 1], word = words[i];
                lanes falls = EXCEEDS(a, b);
                numbers[i] = CHOOSE(falls, b, a);
                numbers[i + 1] = CHOOSE(falls, a, b);
                words[i] = CHOOSE(falls, words[i + 1], word);
                words[i + 1] = CHOOSE(falls, word, words[i + 1]);
                changed |= LANE_BITS(falls);
            }
        }
    } while (changed != 0);
}
