/* Rows of C = A*B for one instruction set. Every sum starts from -0.0 and adds products in the order of A's entries by
 * fused multiply-add, which only rounds the first product. So every way of making a row gives the same bits. */
#include "ahead.h"
#include "core/isa.h"
#include "core/vector.h"
#include "cpu.h"
#include "touched.h"
#include "values.h"
#include <math.h>
#include <string.h>

/* A row of C, or a piece of one: its entries of A, the number of its products, and its first and last column. */
typedef struct row_extent {
    int64_t begin, end, products, low, high;
    bool piece; /* some products of the row lie outside low .. high */
} row_extent;

static inline bool outside(const row_extent *row, int64_t column) {
    return row->piece && (column < row->low || column > row->high);
}

/* The ranks of a row's products. */
typedef struct kept_ranks {
    const char *ranks;
    int bytes; /* of one */
} kept_ranks;

typedef struct b_row {
    int64_t begin, end;
} b_row;

static inline bool fits_window(const lsp_spgemm_pass *pass, const row_extent *row) {
    return row->high - row->low < pass->capacity.window_columns;
}
static inline bool fits_sort(const lsp_spgemm_pass *pass, const row_extent *row) {
    return row->products <= pass->capacity.sort_products;
}
static inline bool in_window(const lsp_spgemm_pass *pass, const row_extent *row) {
    bool prefers = lsp_spgemm_prefers_window(row->products, row->high - row->low + 1);
    return fits_window(pass, row) && (prefers || !fits_sort(pass, row));
}

static inline int64_t rank_at(const char *ranks, int rank_bytes, int64_t slot) {
    return rank_bytes == 1   ? ((const uint8_t *)ranks)[slot]
           : rank_bytes == 2 ? ((const uint16_t *)(const void *)ranks)[slot]
                             : ((const uint32_t *)(const void *)ranks)[slot];
}

/* Copies n columns of C from `from` to `to`, and adds `distance` to each. */
static void move_columns(const lsp_csr *C, int64_t to, int64_t from, int64_t n, int64_t distance) {
    if (C->col_type == LSP_I32) {
        int32_t *restrict out = (int32_t *)C->col + to;
        const int32_t *restrict in = (const int32_t *)C->col + from;
#if defined(__AVX512BW__)
        for (int64_t i = 0; i < n; i += 16) {
            const __mmask16 there = (__mmask16)_bzhi_u32(0xFFFF, (unsigned)lsp_min(n - i, 16));
            const __m512i moved =
                _mm512_add_epi32(_mm512_maskz_loadu_epi32(there, in + i), _mm512_set1_epi32((int)distance));
            _mm512_mask_storeu_epi32(out + i, there, moved);
        }
#else
        for (int64_t i = 0; i < n; i++) {
            out[i] = in[i] + (int32_t)distance;
        }
#endif
    } else {
        int64_t *restrict out = (int64_t *)C->col + to;
        const int64_t *restrict in = (const int64_t *)C->col + from;
        for (int64_t i = 0; i < n; i++) {
            out[i] = in[i] + distance;
        }
    }
}

#if defined(__AVX512BW__)
/* Sorts the lanes of each of one or two vectors. */
ALWAYS void sort_lanes(vec *x, int vectors) {
    UNROLLED for (int size = 1; size < 16; size *= 2) {
        UNROLLED for (int v = 0; v < vectors; v++) { x[v] = either(x[v], across(x[v], 2 * size - 1), size); }
        UNROLLED for (int bit = size / 2; bit > 0; bit /= 2) {
            UNROLLED for (int v = 0; v < vectors; v++) { x[v] = either(x[v], across(x[v], bit), bit); }
        }
    }
}

ALWAYS vec load_few(const uint32_t *words, int64_t n) {
    return _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), (__mmask16)_bzhi_u32(0xFFFF, (unsigned)n), words);
}

/* Sorts 1 to 32 words in registers. Overwrites the words up to the next multiple of 16 by padding. */
ALWAYS void sort_few_words(uint32_t *words, int64_t n) {
    vec x[2];
    if (n <= 16) {
        x[0] = load_few(words, n);
        sort_lanes(x, 1);
        STORE(words, x[0]);
        return;
    }
    x[0] = LOAD(words);
    x[1] = load_few(words + 16, n - 16);
    sort_lanes(x, 2);
    const vec turned = across(x[1], 15);
    x[1] = MAX(x[0], turned);
    x[0] = MIN(x[0], turned);
    UNROLLED for (int bit = 8; bit > 0; bit /= 2) {
        UNROLLED for (int v = 0; v < 2; v++) { x[v] = either(x[v], across(x[v], bit), bit); }
    }
    STORE(words, x[0]);
    STORE(words + 16, x[1]);
}

/* Writes the words of n columns, with slots from `slot` on. Returns their end. May overwrite one vector beyond it. */
#define EXPAND_RUN(load)                                                                                               \
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);                     \
    const __m512i base = _mm512_set1_epi32((int)low), slots = slot_bits > 0 ? lanes : _mm512_setzero_si512();          \
    const __m128i bits = _mm_cvtsi32_si128(slot_bits);                                                                 \
    for (int64_t q = 0; q < n; q += 16) {                                                                              \
        const __mmask16 there = (__mmask16)_bzhi_u32(0xFFFF, n - q < 16 ? (unsigned)(n - q) : 16);                     \
        const __m512i column = _mm512_sll_epi32(_mm512_sub_epi32(load, base), bits);                                   \
        const uint32_t at = slot_bits > 0 ? slot + (uint32_t)q : 0;                                                    \
        _mm512_storeu_si512(words + q, _mm512_or_si512(column, _mm512_add_epi32(slots, _mm512_set1_epi32((int)at))));  \
    }                                                                                                                  \
    return words + n
ALWAYS uint32_t *expand_run_32(const int32_t *col, int64_t n, uint32_t low, int slot_bits, uint32_t slot,
                               uint32_t *words) {
    EXPAND_RUN(_mm512_maskz_loadu_epi32(there, col + q));
}
ALWAYS uint32_t *expand_run_64(const int64_t *col, int64_t n, uint32_t low, int slot_bits, uint32_t slot,
                               uint32_t *words) {
    EXPAND_RUN(_mm512_inserti64x4(
        _mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_maskz_loadu_epi64((__mmask8)there, col + q))),
        _mm512_cvtepi64_epi32(_mm512_maskz_loadu_epi64((__mmask8)(there >> 8), col + q + 8)), 1));
}
#define expand_run(col, n, low, slot_bits, slot, words)                                                                \
    _Generic((col), const int32_t *: expand_run_32, const int64_t *: expand_run_64)(col, n, low, slot_bits, slot, words)
#endif

static inline void set_rank(char *ranks, int rank_bytes, int64_t slot, uint32_t rank) {
    if (rank_bytes == 1) {
        ((uint8_t *)ranks)[slot] = (uint8_t)rank;
    } else if (rank_bytes == 2) {
        ((uint16_t *)(void *)ranks)[slot] = (uint16_t)rank;
    } else {
        ((uint32_t *)(void *)ranks)[slot] = rank;
    }
}

/* Three versions: all indices of 32 bits; columns of B of 32 bits, other indices of either size; columns of B of 64. */
#define COL int32_t
#define COL_SUFFIX _all32
#define INDEX_TYPE(type) LSP_I32
#include "count_template.h"
#define COL int32_t
#define COL_SUFFIX _c32
#define INDEX_TYPE(type) (type)
#include "count_template.h"
#define COL int64_t
#define COL_SUFFIX _c64
#define INDEX_TYPE(type) (type)
#include "count_template.h"

#define KERNELS(columns)                                                                                               \
    { find_repeats##columns, count_products##columns, count##columns, LSP_BY_VALUE(fill##columns) }

const lsp_spgemm_kernels *LSP_ISA_NAME(lsp_spgemm_kernels)(const lsp_csr *A, const lsp_csr *B) {
    static const lsp_spgemm_kernels all32 = KERNELS(_all32), c32 = KERNELS(_c32), c64 = KERNELS(_c64);
    bool narrow = A->rowptr_type == LSP_I32 && A->col_type == LSP_I32 && B->rowptr_type == LSP_I32;
    return B->col_type == LSP_I64 ? &c64 : narrow ? &all32 : &c32;
}
