/* Rows of C = A*B for one instruction set. All sums run in the order of A's entries, by fused multiply-add upon -0.0
 * (which only rounds the first product), so the two ways of doing a row give the same bits. */
#include "core/isa.h"
#include "spgemm.h"
#include <math.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* A row of C, or a piece of it: the entries of A that make it, its products, the columns between which they lie. */
typedef struct row_extent {
    int64_t begin, end, products, low, high;
    bool piece; /* some products lie outside */
} row_extent;

static inline bool outside(const row_extent *row, int64_t column) {
    return row->piece && (column < row->low || column > row->high);
}

typedef struct b_row {
    int64_t begin, end;
} b_row;

/* The row of B that entry e of A asks for. */
static inline b_row b_row_of(const lsp_spgemm_job *job, int64_t e) {
    int64_t k = lsp_index_at(job->A.col, job->A.col_type, e);
    return (b_row){lsp_index_at(job->B.rowptr, job->B.rowptr_type, k),
                   lsp_index_at(job->B.rowptr, job->B.rowptr_type, k + 1)};
}

static inline row_extent extent_of(const lsp_spgemm_job *job, int64_t i) {
    row_extent row = {.begin = lsp_index_at(job->A.rowptr, job->A.rowptr_type, i),
                      .end = lsp_index_at(job->A.rowptr, job->A.rowptr_type, i + 1),
                      .low = job->ascending ? INT64_MAX : 0,
                      .high = job->ascending ? -1 : job->B.cols - 1};
    for (int64_t e = row.begin; e < row.end; e++) {
        const b_row b = b_row_of(job, e);
        row.products += b.end - b.begin;
        if (job->ascending && b.begin < b.end) {
            row.low = lsp_min(row.low, lsp_index_at(job->B.col, job->B.col_type, b.begin));
            row.high = lsp_max(row.high, lsp_index_at(job->B.col, job->B.col_type, b.end - 1));
        }
    }
    return row;
}

static inline bool fits_window(const lsp_spgemm_job *job, const row_extent *row) {
    return row->high - row->low < job->room.window_columns;
}
static inline bool fits_sort(const lsp_spgemm_job *job, const row_extent *row) {
    return row->products <= job->room.sort_products;
}

/* Bit k: is touched[k] 1? For 64 of them. */
static inline uint64_t touched_mask(const uint8_t *touched) {
#if defined(__AVX512BW__)
    __m512i flags = _mm512_loadu_si512(touched);
    return _mm512_test_epi8_mask(flags, flags);
#else
    uint64_t mask = 0;
    for (int k = 0; k < 64; k += 8) {
        uint64_t flags;
        memcpy(&flags, touched + k, 8);
        mask |= (flags * 0x0102040810204080u >> 56) << k;
    }
    return mask;
#endif
}

static inline float settled_f32(float x) { return x != x ? (float)NAN : x; }
static inline double settled_f64(double x) { return x != x ? (double)NAN : x; }

#define COL int32_t
#define COL_SUFFIX _c32
#include "spgemm_values.h"
#define COL int64_t
#define COL_SUFFIX _c64
#include "spgemm_values.h"

const lsp_spgemm_kernels *LSP_ISA_NAME(lsp_spgemm_kernels)(void) {
    static const lsp_spgemm_kernels kernels = {
        .rows = {{rows_c32_none, rows_c32_f32, rows_c32_f64}, {rows_c64_none, rows_c64_f32, rows_c64_f64}}};
    return &kernels;
}
