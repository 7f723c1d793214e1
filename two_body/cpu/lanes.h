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

#if REAL_BITS == 32
#define REAL float
#else
#define REAL double
#endif

#if defined(__AVX512F__) && REAL_BITS == 32
#define LANES 16
#define NUMBER __m512
#define PLACE __m512i
#define MASK __mmask16
#define TALLY __m512i
#define LOAD(p, i) _mm512_loadu_si512((const int32_t *)(p) + (i))
#define SPREAD(p, i) _mm512_set1_epi32(((const int32_t *)(p))[i])
#define VALUE(x) _mm512_set1_ps((float)(x))
#define AWAY(x, y) _mm512_sub_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y))
#define NEAREST(x, y) _mm512_cvtepi32_ps(_mm512_sub_epi32((x), (y)))
#define LOWER(x, y) lower_32(NEAREST(x, y))
#define LEAST(x, y) _mm512_min_ps((x), (y))
#define MUL(x, y) _mm512_mul_ps((x), (y))
#define FMA(x, y, z) _mm512_fmadd_ps((x), (y), (z))
#define WITHIN(d2, limit) _mm512_cmp_ps_mask((d2), (limit), _CMP_LE_OQ)
#define FIRST_LANES(n) ((__mmask16)((1u << (n)) - 1))
#define BOTH(x, y) ((MASK)((x) & (y)))
#define ROOT(x) _mm512_sqrt_ps(x)
#define LANES_OF(m) (m)
#define NO_TALLY() _mm512_setzero_si512()
#define TALLY_UP(t, m) _mm512_mask_add_epi32((t), (m), (t), _mm512_set1_epi32(1))
#define ADD(x, y) _mm512_add_ps((x), (y))
#define MAX(x, y) _mm512_max_ps((x), (y))
#define AS_EXPONENT(x) _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(x), 23))
#define LOAD_NUMBERS(p, i) _mm512_loadu_ps((const float *)(p) + (i))
static inline __m512 lower_32(__m512 d) {
    const __mmask16 tied = _mm512_cmp_ps_mask(d, _mm512_set1_ps((float)(LSP_TIE * 0x1p32)), _CMP_GE_OQ);
    return _mm512_mask_sub_ps(d, tied, d, _mm512_set1_ps(0x1p32f));
}
#elif defined(__AVX512F__)
#define LANES 8
#define NUMBER __m512d
#define PLACE __m512d
#define MASK __mmask8
#define TALLY __m512i
#define LOAD(p, i) _mm512_loadu_pd((const double *)(p) + (i))
#define SPREAD(p, i) _mm512_set1_pd(((const double *)(p))[i])
#define VALUE(x) _mm512_set1_pd(x)
#define AWAY(x, y) _mm512_sub_pd((x), (y))
#define NEAREST(x, y) nearest_64(_mm512_sub_pd((x), (y)))
#define LOWER(x, y) lower_64(_mm512_sub_pd((x), (y)))
#define LEAST(x, y) _mm512_min_pd((x), (y))
#define MUL(x, y) _mm512_mul_pd((x), (y))
#define FMA(x, y, z) _mm512_fmadd_pd((x), (y), (z))
#define WITHIN(d2, limit) _mm512_cmp_pd_mask((d2), (limit), _CMP_LE_OQ)
#define FIRST_LANES(n) ((__mmask8)((1u << (n)) - 1))
#define BOTH(x, y) ((MASK)((x) & (y)))
#define ROOT(x) _mm512_sqrt_pd(x)
#define LANES_OF(m) (m)
#define NO_TALLY() _mm512_setzero_si512()
#define TALLY_UP(t, m) _mm512_mask_add_epi64((t), (m), (t), _mm512_set1_epi64(1))
#define ADD(x, y) _mm512_add_pd((x), (y))
#define MAX(x, y) _mm512_max_pd((x), (y))
#define AS_EXPONENT(x) _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_castpd_si512(x), 52))
#define LOAD_NUMBERS(p, i) _mm512_loadu_pd((const double *)(p) + (i))
static inline __m512d nearest_64(__m512d d) { return _mm512_sub_pd(d, _mm512_roundscale_pd(d, 8)); }
static inline __m512d lower_64(__m512d d) {
    return _mm512_sub_pd(d, _mm512_roundscale_pd(_mm512_add_pd(d, _mm512_set1_pd(1 - LSP_TIE)), 9));
}
#elif defined(__AVX2__) && REAL_BITS == 32
#define LANES 8
#define NUMBER __m256
#define PLACE __m256i
#define MASK __m256i
#define TALLY __m256i
#define LOAD(p, i) _mm256_loadu_si256((const __m256i *)(const void *)((const int32_t *)(p) + (i)))
#define SPREAD(p, i) _mm256_set1_epi32(((const int32_t *)(p))[i])
#define VALUE(x) _mm256_set1_ps((float)(x))
#define AWAY(x, y) _mm256_sub_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(y))
#define NEAREST(x, y) _mm256_cvtepi32_ps(_mm256_sub_epi32((x), (y)))
#define LOWER(x, y) lower_32(NEAREST(x, y))
#define LEAST(x, y) _mm256_min_ps((x), (y))
#define MUL(x, y) _mm256_mul_ps((x), (y))
#define FMA(x, y, z) _mm256_fmadd_ps((x), (y), (z))
#define WITHIN(d2, limit) _mm256_castps_si256(_mm256_cmp_ps((d2), (limit), _CMP_LE_OQ))
#define FIRST_LANES(n) _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define BOTH(x, y) _mm256_and_si256((x), (y))
#define ROOT(x) _mm256_sqrt_ps(x)
#define LANES_OF(m) _mm256_movemask_ps(_mm256_castsi256_ps(m))
#define NO_TALLY() _mm256_setzero_si256()
#define TALLY_UP(t, m) _mm256_sub_epi32((t), (m))
#define ADD(x, y) _mm256_add_ps((x), (y))
#define MAX(x, y) _mm256_max_ps((x), (y))
#define AS_EXPONENT(x) _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x), 23))
#define LOAD_NUMBERS(p, i) _mm256_loadu_ps((const float *)(p) + (i))
static inline __m256 lower_32(__m256 d) {
    const __m256 tied = _mm256_cmp_ps(d, _mm256_set1_ps((float)(LSP_TIE * 0x1p32)), _CMP_GE_OQ);
    return _mm256_sub_ps(d, _mm256_and_ps(tied, _mm256_set1_ps(0x1p32f)));
}
#elif defined(__AVX2__)
#define LANES 4
#define NUMBER __m256d
#define PLACE __m256d
#define MASK __m256i
#define TALLY __m256i
#define LOAD(p, i) _mm256_loadu_pd((const double *)(p) + (i))
#define SPREAD(p, i) _mm256_set1_pd(((const double *)(p))[i])
#define VALUE(x) _mm256_set1_pd(x)
#define AWAY(x, y) _mm256_sub_pd((x), (y))
#define NEAREST(x, y) nearest_64(_mm256_sub_pd((x), (y)))
#define LOWER(x, y) lower_64(_mm256_sub_pd((x), (y)))
#define LEAST(x, y) _mm256_min_pd((x), (y))
#define MUL(x, y) _mm256_mul_pd((x), (y))
#define FMA(x, y, z) _mm256_fmadd_pd((x), (y), (z))
#define WITHIN(d2, limit) _mm256_castpd_si256(_mm256_cmp_pd((d2), (limit), _CMP_LE_OQ))
#define FIRST_LANES(n) _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3))
#define BOTH(x, y) _mm256_and_si256((x), (y))
#define ROOT(x) _mm256_sqrt_pd(x)
#define LANES_OF(m) _mm256_movemask_pd(_mm256_castsi256_pd(m))
#define NO_TALLY() _mm256_setzero_si256()
#define TALLY_UP(t, m) _mm256_sub_epi64((t), (m))
#define ADD(x, y) _mm256_add_pd((x), (y))
#define MAX(x, y) _mm256_max_pd((x), (y))
#define AS_EXPONENT(x) _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(x), 52))
#define LOAD_NUMBERS(p, i) _mm256_loadu_pd((const double *)(p) + (i))
static inline __m256d nearest_64(__m256d d) { return _mm256_sub_pd(d, _mm256_round_pd(d, 8)); }
static inline __m256d lower_64(__m256d d) {
    return _mm256_sub_pd(d, _mm256_round_pd(_mm256_add_pd(d, _mm256_set1_pd(1 - LSP_TIE)), 9));
}
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
#define CONSTANT(x) VALUE(x)
