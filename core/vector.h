/* Vectors of unsigned 32-bit words for the instruction set being compiled (AVX-512: 16 lanes, AVX2: 8), and the parts
 * of sorting networks in registers: exchanges between vectors, exchanges between lanes, transposition. For an
 * instruction set without vectors LANES is not defined. */
#pragma once

#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif
#define ALWAYS static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#define UNROLLED_4 _Pragma("clang loop unroll_count(4)")
#else
#define UNROLLED _Pragma("GCC unroll 32")
#define UNROLLED_4 _Pragma("GCC unroll 4")
#endif

#if defined(__AVX512F__)
#define LANES 16
typedef __m512i vec;
#define LOAD(p) _mm512_loadu_si512(p)
#define STORE(p, x) _mm512_storeu_si512((p), (x))
#define MIN(x, y) _mm512_min_epu32((x), (y))
#define MAX(x, y) _mm512_max_epu32((x), (y))
#define LOW_PAIRS(a, b) _mm512_unpacklo_epi32((a), (b))
#define HIGH_PAIRS(a, b) _mm512_unpackhi_epi32((a), (b))
#define LOW_FOURS(a, b) _mm512_unpacklo_epi64((a), (b))
#define HIGH_FOURS(a, b) _mm512_unpackhi_epi64((a), (b))

/* Lane i of the result is lane i ^ m of x. */
ALWAYS vec across(vec x, int m) {
    switch (m) {
    case 1:
        return _mm512_shuffle_epi32(x, _MM_PERM_CDAB);
    case 2:
        return _mm512_shuffle_epi32(x, _MM_PERM_BADC);
    case 3:
        return _mm512_shuffle_epi32(x, _MM_PERM_ABCD);
    case 4:
        return _mm512_shuffle_i32x4(x, x, 0xB1);
    case 8:
        return _mm512_shuffle_i32x4(x, x, 0x4E);
    case 7:
        return _mm512_permutexvar_epi32(_mm512_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8), x);
    default:
        return _mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), x);
    }
}

/* Lanes whose number has `bit` set get the larger word, the others the smaller one. */
ALWAYS vec either(vec x, vec y, int bit) {
    __mmask16 larger = (__mmask16)(bit == 1 ? 0xAAAA : bit == 2 ? 0xCCCC : bit == 4 ? 0xF0F0 : 0xFF00);
    return _mm512_mask_max_epu32(MIN(x, y), larger, x, y);
}

/* x[i * stride] = the i-th quarters of a, b, c, d. */
ALWAYS void quarters(vec a, vec b, vec c, vec d, vec *x, int stride) {
    vec ab01 = _mm512_shuffle_i32x4(a, b, 0x44), ab23 = _mm512_shuffle_i32x4(a, b, 0xEE);
    vec cd01 = _mm512_shuffle_i32x4(c, d, 0x44), cd23 = _mm512_shuffle_i32x4(c, d, 0xEE);
    x[0] = _mm512_shuffle_i32x4(ab01, cd01, 0x88);
    x[stride] = _mm512_shuffle_i32x4(ab01, cd01, 0xDD);
    x[2 * stride] = _mm512_shuffle_i32x4(ab23, cd23, 0x88);
    x[3 * stride] = _mm512_shuffle_i32x4(ab23, cd23, 0xDD);
}
#elif defined(__AVX2__)
#define LANES 8
typedef __m256i vec;
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define STORE(p, x) _mm256_storeu_si256((__m256i *)(p), (x))
#define MIN(x, y) _mm256_min_epu32((x), (y))
#define MAX(x, y) _mm256_max_epu32((x), (y))
#define LOW_PAIRS(a, b) _mm256_unpacklo_epi32((a), (b))
#define HIGH_PAIRS(a, b) _mm256_unpackhi_epi32((a), (b))
#define LOW_FOURS(a, b) _mm256_unpacklo_epi64((a), (b))
#define HIGH_FOURS(a, b) _mm256_unpackhi_epi64((a), (b))

ALWAYS vec across(vec x, int m) {
    switch (m) {
    case 1:
        return _mm256_shuffle_epi32(x, 0xB1);
    case 2:
        return _mm256_shuffle_epi32(x, 0x4E);
    case 3:
        return _mm256_shuffle_epi32(x, 0x1B);
    case 4:
        return _mm256_permute2x128_si256(x, x, 1);
    default:
        return _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
    }
}

ALWAYS vec either(vec x, vec y, int bit) {
    vec low = MIN(x, y), high = MAX(x, y);
    return bit == 1   ? _mm256_blend_epi32(low, high, 0xAA)
           : bit == 2 ? _mm256_blend_epi32(low, high, 0xCC)
                      : _mm256_blend_epi32(low, high, 0xF0);
}
#endif

#ifdef LANES
/* A comparator: the smaller words to x[a], the larger to x[b]. */
ALWAYS void exchange(vec *x, int a, int b) {
    vec low = MIN(x[a], x[b]);
    x[b] = MAX(x[a], x[b]);
    x[a] = low;
}

/* Transposes, in each quarter of the four vectors, the 4 x 4 matrix of their words. */
ALWAYS void transpose_fours(vec *x) {
    vec a = LOW_PAIRS(x[0], x[1]), b = HIGH_PAIRS(x[0], x[1]), c = LOW_PAIRS(x[2], x[3]), d = HIGH_PAIRS(x[2], x[3]);
    x[0] = LOW_FOURS(a, c);
    x[1] = HIGH_FOURS(a, c);
    x[2] = LOW_FOURS(b, d);
    x[3] = HIGH_FOURS(b, d);
}

/* Transposes a matrix of `rows` (4, 8 or 16) vectors and reads it line by line into the vectors: columns that ascend
 * one after the other become one ascending array. With rows == LANES it is its own inverse. */
ALWAYS void transpose(vec *x, int rows) {
    vec t[16]; /* t[4 g + k]: its q-th quarter is column 4 q + k of rows 4 g to 4 g + 3 */
    UNROLLED for (int i = 0; i < rows; i++) { t[i] = x[i]; }
    UNROLLED for (int g = 0; g < rows; g += 4) { transpose_fours(t + g); }
    const int vectors = rows / 4; /* needed to hold four columns */
#if LANES == 16
    UNROLLED for (int k = 0; k < vectors; k++) {
        if (rows == 16) {
            quarters(t[k], t[4 + k], t[8 + k], t[12 + k], x + k, vectors);
        } else if (rows == 8) {
            quarters(t[2 * k], t[4 + 2 * k], t[2 * k + 1], t[5 + 2 * k], x + k, vectors);
        } else {
            quarters(t[0], t[1], t[2], t[3], x, vectors);
        }
    }
#else
    UNROLLED for (int i = 0; i < 2 * vectors; i++) {
        vec a = rows == 8 ? t[i] : t[2 * i], b = rows == 8 ? t[4 + i] : t[2 * i + 1];
        x[i] = _mm256_permute2x128_si256(a, b, 0x20);
        x[2 * vectors + i] = _mm256_permute2x128_si256(a, b, 0x31);
    }
#endif
}

/* Sorts each lane over `rows` (4, 8, 16 or 32) vectors by the shortest networks known. That for 32 is two sorts of 16
 * and an odd-even merge. */
#define X(a, b) exchange(x, a, b);
ALWAYS void sort_rows_4(vec *x){X(0, 2) X(1, 3) X(0, 1) X(2, 3) X(1, 2)}

ALWAYS void sort_rows_8(vec *x) {
    X(0, 2) X(1, 3) X(4, 6) X(5, 7) X(0, 4) X(1, 5) X(2, 6) X(3, 7) X(0, 1) X(2, 3) X(4, 5) X(6, 7);
    X(2, 4) X(3, 5) X(1, 4) X(3, 6) X(1, 2) X(3, 4) X(5, 6)
}

ALWAYS void sort_rows_16(vec *x) {
    X(0, 13) X(1, 12) X(2, 15) X(3, 14) X(4, 8) X(5, 6) X(7, 11) X(9, 10);
    X(0, 5) X(1, 7) X(2, 9) X(3, 4) X(6, 13) X(8, 14) X(10, 15) X(11, 12);
    X(0, 1) X(2, 3) X(4, 5) X(6, 8) X(7, 9) X(10, 11) X(12, 13) X(14, 15);
    X(0, 2) X(1, 3) X(4, 10) X(5, 11) X(6, 7) X(8, 9) X(12, 14) X(13, 15);
    X(1, 2) X(3, 12) X(4, 6) X(5, 7) X(8, 10) X(9, 11) X(13, 14);
    X(1, 4) X(2, 6) X(5, 8) X(7, 10) X(9, 13) X(11, 14);
    X(2, 4) X(3, 6) X(9, 12) X(11, 13) X(3, 5) X(6, 8) X(7, 9) X(10, 12);
    X(3, 4) X(5, 6) X(7, 8) X(9, 10) X(11, 12) X(6, 7) X(8, 9)
}

ALWAYS void sort_rows_32(vec *x) {
    sort_rows_16(x);
    sort_rows_16(x + 16);
    UNROLLED for (int i = 0; i < 16; i++) { exchange(x, i, i + 16); }
    UNROLLED for (int i = 8; i < 16; i++) { exchange(x, i, i + 8); }
    UNROLLED for (int k = 4; k < 28; k += 8) {
        UNROLLED for (int i = k; i < k + 4; i++) { exchange(x, i, i + 4); }
    }
    UNROLLED for (int k = 2; k < 30; k += 4) {
        exchange(x, k, k + 2);
        exchange(x, k + 1, k + 3);
    }
    UNROLLED for (int k = 1; k < 31; k += 2) { exchange(x, k, k + 1); }
}
#undef X

ALWAYS void sort_rows(vec *x, int rows) {
    switch (rows) {
    case 4:
        sort_rows_4(x);
        break;
    case 8:
        sort_rows_8(x);
        break;
    case 16:
        sort_rows_16(x);
        break;
    default:
        sort_rows_32(x);
    }
}
#endif
