/* The kernels of tiles, compiled once for each instruction set: lanes.h has the vectors, kernel_template.h the loops.
 * Here is what differs in form between instruction sets: sums of lanes, and bins. */
#include "core/isa.h"
#include "core/vector.h"
#include "cpu.h"
#undef LOAD

/* Bins of d2, to the bit those of lsp_bin_f32 and _f64: with AVX-512 a fused product and sum that rounds down cuts the
 * exact product to its whole part; with AVX2 a rounded product that has reached the next whole number is found by the
 * sign of its remainder. What is beyond the last bin goes to the bin `bins`; positive floats order as integers do. */
#if defined(__AVX512F__)
#define DOWN (_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
ALWAYS void put_bins_f32(__m512 d2, __m512 scale, uint32_t bins, int copies, uint32_t *bin) {
    const __m512 magic = _mm512_set1_ps(8388608.f); /* 2^23: its last bit is worth 1 */
    const __m512 whole = _mm512_fmadd_round_ps(_mm512_sqrt_ps(d2), scale, magic, DOWN);
    const __m512i number = _mm512_sub_epi32(_mm512_castps_si512(whole), _mm512_castps_si512(magic));
    const __m512i kept = _mm512_min_epu32(number, _mm512_set1_epi32((int)bins));
    _mm512_storeu_si512(bin, copies == 1 ? kept : _mm512_slli_epi32(kept, LSP_BIN_SHIFT));
}
ALWAYS void put_bins_f64(__m512d d2, __m512d scale, uint32_t bins, int copies, uint32_t *bin) {
    const __m512d magic = _mm512_set1_pd(4503599627370496.); /* 2^52 */
    const __m512d whole = _mm512_fmadd_round_pd(_mm512_sqrt_pd(d2), scale, magic, DOWN);
    const __m512i number = _mm512_sub_epi64(_mm512_castpd_si512(whole), _mm512_castpd_si512(magic));
    const __m256i kept = _mm512_cvtepi64_epi32(_mm512_min_epu64(number, _mm512_set1_epi64(bins)));
    _mm256_storeu_si256((__m256i *)(void *)bin, copies == 1 ? kept : _mm256_slli_epi32(kept, LSP_BIN_SHIFT));
}
ALWAYS void keep_f32(__m512 x, __mmask16 lanes, float *to) { _mm512_storeu_ps(to, _mm512_maskz_compress_ps(lanes, x)); }
ALWAYS void keep_f64(__m512d x, __mmask8 lanes, double *to) {
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd(lanes, x));
}
ALWAYS int64_t keep_ids(const int32_t *id, uint32_t lanes, int count, int32_t *to) {
    const __mmask16 kept = (__mmask16)lanes;
    const __m512i ids = _mm512_maskz_loadu_epi32((__mmask16)((1u << count) - 1), id);
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(kept, ids));
    return __builtin_popcount(lanes);
}
ALWAYS uint64_t whole_tally_f32(__m512i tally) { return (uint32_t)_mm512_reduce_add_epi32(tally); }
ALWAYS uint64_t whole_tally_f64(__m512i tally) { return (uint64_t)_mm512_reduce_add_epi64(tally); }
#elif defined(__AVX2__)
ALWAYS void put_bins_f32(__m256 d2, __m256 scale, uint32_t bins, int copies, uint32_t *bin) {
    const __m256 root = _mm256_sqrt_ps(d2), whole = _mm256_floor_ps(_mm256_mul_ps(root, scale));
    const __m256 over = _mm256_cmp_ps(_mm256_fmsub_ps(root, scale, whole), _mm256_setzero_ps(), _CMP_LT_OQ);
    const __m256i number = _mm256_add_epi32(_mm256_cvttps_epi32(whole), _mm256_castps_si256(over));
    const __m256i kept = _mm256_min_epu32(number, _mm256_set1_epi32((int)bins)); /* 2^31 if it does not fit */
    _mm256_storeu_si256((__m256i *)(void *)bin, copies == 1 ? kept : _mm256_slli_epi32(kept, LSP_BIN_SHIFT));
}
ALWAYS void put_bins_f64(__m256d d2, __m256d scale, uint32_t bins, int copies, uint32_t *bin) {
    const __m256d root = _mm256_sqrt_pd(d2), whole = _mm256_floor_pd(_mm256_mul_pd(root, scale));
    const __m256d over = _mm256_cmp_pd(_mm256_fmsub_pd(root, scale, whole), _mm256_setzero_pd(), _CMP_LT_OQ);
    const __m256d less = _mm256_sub_pd(whole, _mm256_and_pd(over, _mm256_set1_pd(1)));
    const __m128i kept = _mm_min_epu32(_mm256_cvttpd_epi32(less), _mm_set1_epi32((int)bins));
    _mm_storeu_si128((__m128i *)(void *)bin, copies == 1 ? kept : _mm_slli_epi32(kept, LSP_BIN_SHIFT));
}
/* Few lanes are kept as a rule: one by one. */
ALWAYS void keep_f32(__m256 x, __m256i lanes, float *to) {
    float item[8];
    _mm256_storeu_ps(item, x);
    for (uint32_t left = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(lanes)); left != 0; left &= left - 1) {
        *to++ = item[__builtin_ctz(left)];
    }
}
ALWAYS void keep_f64(__m256d x, __m256i lanes, double *to) {
    double item[4];
    _mm256_storeu_pd(item, x);
    for (uint32_t left = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(lanes)); left != 0; left &= left - 1) {
        *to++ = item[__builtin_ctz(left)];
    }
}
ALWAYS int64_t keep_ids(const int32_t *id, uint32_t lanes, int count, int32_t *to) {
    (void)count;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        *to++ = id[__builtin_ctz(left)];
    }
    return __builtin_popcount(lanes);
}
ALWAYS uint64_t whole_tally_f32(__m256i tally) {
    const __m128i half = _mm_add_epi32(_mm256_castsi256_si128(tally), _mm256_extracti128_si256(tally, 1));
    const __m128i quarter = _mm_add_epi32(half, _mm_srli_si128(half, 8));
    return (uint32_t)_mm_extract_epi32(quarter, 0) + (uint32_t)_mm_extract_epi32(quarter, 1);
}
ALWAYS uint64_t whole_tally_f64(__m256i tally) {
    const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(tally), _mm256_extracti128_si256(tally, 1));
    return (uint64_t)_mm_extract_epi64(half, 0) + (uint64_t)_mm_extract_epi64(half, 1);
}
#else
ALWAYS void put_bins_f32(float d2, float scale, uint32_t bins, int copies, uint32_t *bin) {
    const double whole = lsp_bin_f32(d2, scale);
    *bin = (whole < bins ? (uint32_t)whole : bins) * (uint32_t)copies;
}
ALWAYS void put_bins_f64(double d2, double scale, uint32_t bins, int copies, uint32_t *bin) {
    const double whole = lsp_bin_f64(d2, scale);
    *bin = (whole < bins ? (uint32_t)whole : bins) * (uint32_t)copies;
}
ALWAYS void keep_f32(float x, int lanes, float *to) {
    (void)lanes;
    *to = x;
}
ALWAYS void keep_f64(double x, int lanes, double *to) {
    (void)lanes;
    *to = x;
}
ALWAYS int64_t keep_ids(const int32_t *id, uint32_t lanes, int count, int32_t *to) {
    (void)lanes, (void)count;
    *to = *id;
    return 1;
}
ALWAYS uint64_t whole_tally_f32(int64_t tally) { return (uint64_t)tally; }
ALWAYS uint64_t whole_tally_f64(int64_t tally) { return (uint64_t)tally; }
#endif

/* Counts n bins. They were written long enough before: a load of part of a vector that is still on its way to the cache
 * waits. */
ALWAYS void count_bins(const uint32_t *bin, int n, int copies, uint32_t *table) {
    int l = 0;
    for (; l + LSP_BIN_COPIES <= n; l += LSP_BIN_COPIES) {
        UNROLLED for (int c = 0; c < LSP_BIN_COPIES; c++) { table[bin[l + c] + (uint32_t)(c & (copies - 1))]++; }
    }
    for (; l < n; l++) {
        table[bin[l]]++;
    }
}

#define REAL_BITS 32
#define NAME(f) f##_f32
#include "kernel_template.h"
#undef REAL_BITS
#undef NAME
#define REAL_BITS 64
#define NAME(f) f##_f64
#include "kernel_template.h"

/* Whole blocks of 64 bytes: short runs of neighbouring cells are copied without a loop over their items. */
static void copy(void *to, const void *from, int64_t n, size_t bytes) {
    for (size_t at = 0; at < (size_t)n * bytes; at += 64) {
        memcpy((char *)to + at, (const char *)from + at, 64);
    }
}

/* Loops over all dimensions of an lsp_box, so that vectors do them whole. */
static void apart(const lsp_box_bounds *bounds, const lsp_box *a, const lsp_box *b, double *low, double *high) {
    const double rounding = 1e-15;
    double near[LSP_MOST_DIMENSIONS], far[LSP_MOST_DIMENSIONS];
    for (int k = 0; k < LSP_MOST_DIMENSIONS; k++) {
        const double difference = a->middle[k] - b->middle[k], half = a->half[k] + b->half[k];
        const double away = fabs(difference - bounds->side * rint(difference * bounds->per_side));
        const double least = away * (1 - rounding) - half * (1 + rounding), most = away + half;
        near[k] = (least > 0 ? least : 0) * bounds->near[k];
        far[k] = (most < bounds->half_side ? most : bounds->half_side) * bounds->far[k];
        near[k] *= near[k], far[k] *= far[k];
    }
    for (int step = LSP_MOST_DIMENSIONS / 2; step > 0; step /= 2) {
        for (int k = 0; k < step; k++) {
            near[k] += near[k + step], far[k] += far[k + step];
        }
    }
    *low = near[0] * bounds->least - bounds->tiny;
    *high = far[0] * bounds->most + bounds->tiny;
}

/* As `apart`, vectors of points at a time. */
static void below(const lsp_box_bounds *bounds, int dimensions, const double (*point)[LSP_LEAF], const lsp_box *box,
                  double *low) {
    const double rounding = 1e-15, side = bounds->side, per_side = bounds->per_side;
    double sum[LSP_LEAF] = {0};
    for (int k = 0; k < dimensions; k++) {
        const double middle = box->middle[k], half = box->half[k] * (1 + rounding), factor = bounds->near[k];
        double away[LSP_LEAF];
        for (int q = 0; q < LSP_LEAF && side == 0; q++) {
            away[q] = fabs(point[k][q] - middle);
        }
        for (int q = 0; q < LSP_LEAF && side > 0; q++) {
            const double difference = point[k][q] - middle;
            away[q] = fabs(difference - side * rint(difference * per_side));
        }
        for (int q = 0; q < LSP_LEAF; q++) {
            const double least = away[q] * (1 - rounding) - half, near = (least > 0 ? least : 0) * factor;
            sum[q] += near * near;
        }
    }
    for (int q = 0; q < LSP_LEAF; q++) {
        low[q] = sum[q] * bounds->least - bounds->tiny;
    }
}

const lsp_pair_kernels *LSP_ISA_NAME(lsp_pair_kernels)(int wide) {
    static const lsp_pair_kernels kernels[2] = {{count_f32, histogram_f32, hits_f32, density_f32, apart, below, copy},
                                                {count_f64, histogram_f64, hits_f64, density_f64, apart, below, copy}};
    return &kernels[wide];
}
