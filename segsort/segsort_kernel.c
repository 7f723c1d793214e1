/* The serial building blocks of the segmented sort, for one instruction set: words made, sorted, merged, undone. */
#include "core/isa.h"
#include "segsort.h"
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

typedef struct lsp_value16 {
    uint64_t half[2];
} lsp_value16;

/* Longest arrays for the network (or merges), by word; beyond, radix. First guesses. */
enum { RADIX_BITS = 8 };

#define WORD uint32_t
#define WORD_SUFFIX _w32
#if defined(__AVX512F__)
#define LANES 16
#define SHORT 512
#define VEC __m512i
#define LANE_IDS _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define LOAD(p) _mm512_loadu_si512(p)
#define STORE(p, x) _mm512_storeu_si512((p), (x))
#define MIN(x, y) _mm512_min_epu32((x), (y))
#define MAX(x, y) _mm512_max_epu32((x), (y))
#define REVERSED(x, m) _mm512_permutexvar_epi32(_mm512_xor_si512(LANE_IDS, _mm512_set1_epi32(m)), (x))
#define WITH_BIT(bit) ((__mmask16)((bit) == 1 ? 0xAAAA : (bit) == 2 ? 0xCCCC : (bit) == 4 ? 0xF0F0 : 0xFF00))
#define EXCHANGE(x, y, bit) _mm512_mask_max_epu32(MIN(x, y), WITH_BIT(bit), (x), (y))
#elif defined(__AVX2__)
#define LANES 8
#define SHORT 256
#define VEC __m256i
#define LANE_IDS _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define STORE(p, x) _mm256_storeu_si256((__m256i *)(p), (x))
#define MIN(x, y) _mm256_min_epu32((x), (y))
#define MAX(x, y) _mm256_max_epu32((x), (y))
#define REVERSED(x, m) _mm256_permutevar8x32_epi32((x), _mm256_xor_si256(LANE_IDS, _mm256_set1_epi32(m)))
#define WITH_BIT(bit) ((bit) == 1 ? 0xAA : (bit) == 2 ? 0xCC : 0xF0)
#define EXCHANGE(x, y, bit) _mm256_blend_epi32(MIN(x, y), MAX(x, y), WITH_BIT(bit))
#else
#define SHORT 128
#endif
#include "segsort_words.h"
#undef LANE_IDS
#undef WITH_BIT

#define WORD uint64_t
#define WORD_SUFFIX _w64
#if defined(__AVX512F__)
#define LANES 8
#define SHORT 256
#define VEC __m512i
#define LANE_IDS _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7)
#define LOAD(p) _mm512_loadu_si512(p)
#define STORE(p, x) _mm512_storeu_si512((p), (x))
#define MIN(x, y) _mm512_min_epu64((x), (y))
#define MAX(x, y) _mm512_max_epu64((x), (y))
#define REVERSED(x, m) _mm512_permutexvar_epi64(_mm512_xor_si512(LANE_IDS, _mm512_set1_epi64(m)), (x))
#define WITH_BIT(bit) ((__mmask8)((bit) == 1 ? 0xAA : (bit) == 2 ? 0xCC : 0xF0))
#define EXCHANGE(x, y, bit) _mm512_mask_max_epu64(MIN(x, y), WITH_BIT(bit), (x), (y))
#else
#define SHORT 128
#endif
#include "segsort_words.h"
#undef LANE_IDS
#undef WITH_BIT

#define WORD lsp_u128
#define WORD_SUFFIX _w128
#define SHORT 192
#include "segsort_words.h"

#define KEY uint32_t
#define KEY_SUFFIX _k32
#include "segsort_segment.h"
#define KEY uint64_t
#define KEY_SUFFIX _k64
#include "segsort_segment.h"

const lsp_segsort_kernels *LSP_ISA_NAME(lsp_segsort_kernels)(void) {
    static const lsp_segsort_kernels kernels = {
        .sort = {sort_w32, sort_w64, sort_w128},
        .merge = {merge_w32, merge_w64, merge_w128},
        .range = {range_k32, range_k64},
        .build = {{build_k32_w32, build_k32_w64, build_k32_w128}, {build_k64_w32, build_k64_w64, build_k64_w128}},
        .finish = {{finish_k32_w32, finish_k32_w64, finish_k32_w128},
                   {finish_k64_w32, finish_k64_w64, finish_k64_w128}},
    };
    return &kernels;
}
