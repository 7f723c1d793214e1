/* Vectors of places and numbers for the instruction set being compiled. REAL_BITS is 32 or 64; the file is included for
 * each. NUMBER, PLACE; MASK: lanes that are chosen; TALLY: a count for each lane; LANES. */
#undef NUMBER
#undef PLACE
#undef AWAY
#undef NEAREST
#undef LOWER
#undef LEAST
#undef MUL
#undef FMA
#undef CONSTANT
#undef LANES
#undef LOAD
#undef SPREAD
#undef VALUE
#undef WITHIN
#undef FIRST_LANES
#undef BOTH
#undef NO_TALLY
#undef ROOT
#undef ADD
#undef MAX
#undef AS_EXPONENT
#undef LOAD_NUMBERS
#undef LANES_OF
#undef TALLY_UP
#undef TALLY
#undef MASK
#undef REAL
#undef ROUND
#undef REAL_OP
#undef WORD_OP

#if REAL_BITS == 32
#define REAL float
#else
#define REAL double
#endif

#if defined(__AVX512F__)
#define LANES (512 / REAL_BITS)
#define TALLY __m512i
#define WORD_OP(f) _mm512_##f
#define BOTH(x, y) ((MASK)((x) & (y)))
#define FIRST_LANES(n) ((MASK)((1u << (n)) - 1))
#define LANES_OF(m) (m)
#define NO_TALLY() _mm512_setzero_si512()
#if REAL_BITS == 32
#define NUMBER __m512
#define PLACE __m512i
#define MASK __mmask16
#define REAL_OP(f) _mm512_##f##_ps
#define LOAD(p, i) _mm512_loadu_si512((const int32_t *)(p) + (i))
#define AWAY(x, y) _mm512_sub_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y))
#define WITHIN(d2, limit) _mm512_cmp_ps_mask((d2), (limit), _CMP_LE_OQ)
#define TALLY_UP(t, m) _mm512_mask_add_epi32((t), (m), (t), _mm512_set1_epi32(1))
#define AS_EXPONENT(x) _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(x), 23))
static inline __m512 lower_32(__m512 d) {
    const __mmask16 tied = _mm512_cmp_ps_mask(d, _mm512_set1_ps((float)(LSP_TIE * 0x1p32)), _CMP_GE_OQ);
    return _mm512_mask_sub_ps(d, tied, d, _mm512_set1_ps(0x1p32f));
}
#else
#define NUMBER __m512d
#define MASK __mmask8
#define REAL_OP(f) _mm512_##f##_pd
#define ROUND(d, how) _mm512_roundscale_pd((d), (how))
#define WITHIN(d2, limit) _mm512_cmp_pd_mask((d2), (limit), _CMP_LE_OQ)
#define TALLY_UP(t, m) _mm512_mask_add_epi64((t), (m), (t), _mm512_set1_epi64(1))
#define AS_EXPONENT(x) _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_castpd_si512(x), 52))
#endif
#elif defined(__AVX2__)
#define LANES (256 / REAL_BITS)
#define MASK __m256i
#define TALLY __m256i
#define WORD_OP(f) _mm256_##f
#define BOTH(x, y) _mm256_and_si256((x), (y))
#define NO_TALLY() _mm256_setzero_si256()
#if REAL_BITS == 32
#define NUMBER __m256
#define PLACE __m256i
#define REAL_OP(f) _mm256_##f##_ps
#define LOAD(p, i) _mm256_loadu_si256((const __m256i *)(const void *)((const int32_t *)(p) + (i)))
#define AWAY(x, y) _mm256_sub_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(y))
#define WITHIN(d2, limit) _mm256_castps_si256(_mm256_cmp_ps((d2), (limit), _CMP_LE_OQ))
#define FIRST_LANES(n) _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define LANES_OF(m) _mm256_movemask_ps(_mm256_castsi256_ps(m))
#define TALLY_UP(t, m) _mm256_sub_epi32((t), (m))
#define AS_EXPONENT(x) _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x), 23))
static inline __m256 lower_32(__m256 d) {
    const __m256 tied = _mm256_cmp_ps(d, _mm256_set1_ps((float)(LSP_TIE * 0x1p32)), _CMP_GE_OQ);
    return _mm256_sub_ps(d, _mm256_and_ps(tied, _mm256_set1_ps(0x1p32f)));
}
#else
#define NUMBER __m256d
#define REAL_OP(f) _mm256_##f##_pd
#define ROUND(d, how) _mm256_round_pd((d), (how))
#define WITHIN(d2, limit) _mm256_castpd_si256(_mm256_cmp_pd((d2), (limit), _CMP_LE_OQ))
#define FIRST_LANES(n) _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3))
#define LANES_OF(m) _mm256_movemask_pd(_mm256_castsi256_pd(m))
#define TALLY_UP(t, m) _mm256_sub_epi64((t), (m))
#define AS_EXPONENT(x) _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(x), 52))
#endif
#else
#define LANES 1
#define NUMBER REAL
#define MASK int
#define TALLY int64_t
#define VALUE(x) ((REAL)(x))
#define MUL(x, y) ((x) * (y))
#define LEAST(x, y) ((x) < (y) ? (x) : (y))
#define WITHIN(d2, limit) ((d2) <= (limit))
#define FIRST_LANES(n) ((n) > 0)
#define BOTH(x, y) ((x) & (y))
#define LANES_OF(m) (m)
#define NO_TALLY() 0
#define TALLY_UP(t, m) ((t) + (m))
#define ADD(x, y) ((x) + (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define LOAD_NUMBERS(p, i) (((const REAL *)(p))[i])
#if REAL_BITS == 32
#define PLACE uint32_t
#define LOAD(p, i) (((const uint32_t *)(p))[i])
#define AWAY(x, y) (lsp_float_of(x) - lsp_float_of(y))
#define NEAREST(x, y) ((float)(int32_t)((x) - (y)))
#define LOWER(x, y) lsp_lower_f32(NEAREST(x, y))
#define FMA(x, y, z) fmaf((x), (y), (z))
#define ROOT(x) sqrtf(x)
#define AS_EXPONENT(x) as_exponent_32(x)
static inline float as_exponent_32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return lsp_float_of(bits << 23);
}
#else
#define PLACE double
#define LOAD(p, i) (((const double *)(p))[i])
#define AWAY(x, y) ((x) - (y))
#define NEAREST(x, y) lsp_nearest_of((x) - (y))
#define LOWER(x, y) lsp_lower_f64((x) - (y))
#define FMA(x, y, z) fma((x), (y), (z))
#define ROOT(x) sqrt(x)
#define AS_EXPONENT(x) as_exponent_64(x)
static inline double as_exponent_64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits <<= 52;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#endif
#define SPREAD(p, i) LOAD(p, i)
#endif

#if LANES > 1 /* REAL_OP(f), WORD_OP(f): the instruction f for numbers, for integers */
#define VALUE(x) REAL_OP(set1)((REAL)(x))
#define LEAST(x, y) REAL_OP(min)((x), (y))
#define MUL(x, y) REAL_OP(mul)((x), (y))
#define FMA(x, y, z) REAL_OP(fmadd)((x), (y), (z))
#define ROOT(x) REAL_OP(sqrt)(x)
#define ADD(x, y) REAL_OP(add)((x), (y))
#define MAX(x, y) REAL_OP(max)((x), (y))
#define LOAD_NUMBERS(p, i) REAL_OP(loadu)((const REAL *)(p) + (i))
#if REAL_BITS == 32
#define SPREAD(p, i) WORD_OP(set1_epi32)(((const int32_t *)(p))[i])
#define NEAREST(x, y) WORD_OP(cvtepi32_ps)(WORD_OP(sub_epi32)((x), (y)))
#define LOWER(x, y) lower_32(NEAREST(x, y))
#else
#define PLACE NUMBER
#define LOAD(p, i) LOAD_NUMBERS(p, i)
#define SPREAD(p, i) VALUE(((const double *)(p))[i])
#define AWAY(x, y) REAL_OP(sub)((x), (y))
#define NEAREST(x, y) nearest_64(AWAY(x, y))
#define LOWER(x, y) lower_64(AWAY(x, y))
static inline NUMBER nearest_64(NUMBER d) { return REAL_OP(sub)(d, ROUND(d, 8)); }
static inline NUMBER lower_64(NUMBER d) { return REAL_OP(sub)(d, ROUND(ADD(d, VALUE(1 - LSP_TIE)), 9)); }
#endif
#endif
#define CONSTANT(x) VALUE(x)
