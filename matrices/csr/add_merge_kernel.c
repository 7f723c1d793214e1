/* The inner loops of C = alpha*A + beta*B for rows that ascend strictly, compiled once for each instruction set: a
 * merge whose steps have no branch on a column, since such branches are mispredicted every other time. */
#include "addition.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* One addend. `narrow`: its indices are 32 bits wide; a constant of the loops. */
typedef struct addend {
    const void *rowptr, *col, *val;
    lsp_type rowptr_type, col_type;
    int64_t nnz; /* 1 or more: there is an entry to be read */
    double factor;
} addend;

LSP_INLINE int64_t row_begin(bool narrow, const addend *A, int64_t i) {
    return lsp_index_at(A->rowptr, narrow ? LSP_I32 : A->rowptr_type, i);
}

/* factor * val[k] if `taken` is 1, -0.0 if it is 0: the one number that changes no sum, not even one of -0.0. */
LSP_INLINE double term_f64(const addend *A, int64_t k, uint64_t taken) {
    const double product = A->factor * ((const double *)A->val)[k];
    uint64_t bits;
    memcpy(&bits, &product, sizeof bits);
    bits = (bits & -taken) | (taken ^ 1) << 63;
    double term;
    memcpy(&term, &bits, sizeof term);
    return term;
}
LSP_INLINE float term_f32(const addend *A, int64_t k, uint32_t taken) {
    const float product = (float)A->factor * ((const float *)A->val)[k];
    uint32_t bits;
    memcpy(&bits, &product, sizeof bits);
    bits = (bits & -taken) | (taken ^ 1) << 31;
    float term;
    memcpy(&term, &bits, sizeof term);
    return term;
}

/* Returns x, but the compiler no longer knows that x is 0 or 1: it would turn a choice by x into a branch. */
LSP_INLINE uint64_t opaque(uint64_t x) {
    __asm__("" : "+r"(x));
    return x;
}

/* The column at entry k of a row that ends before `end`, or the largest number past its end. Reads entry `at`: k, or
 * past the end any entry. The compiler would turn a condition into a branch. */
LSP_INLINE uint64_t key(bool narrow, const addend *A, int64_t k, int64_t at, int64_t end) {
    const uint64_t column = narrow ? ((const uint32_t *)A->col)[at] : (uint64_t)lsp_index_at(A->col, A->col_type, at);
    return column | (uint64_t)((end - 1 - k) >> 63);
}

/* Merges row i into C from entry `to` on. Returns the entry after the last one. *bad is set if columns of the row do
 * not ascend strictly or are out of range: those of C ascend strictly only if those of A and B do. */
LSP_INLINE int64_t merge_row(bool narrow, lsp_type type, bool store, const addend *A, const addend *B, const lsp_csr *C,
                             int64_t i, int64_t to, int64_t cols, uint64_t *bad) {
    const int64_t a_end = row_begin(narrow, A, i + 1), b_end = row_begin(narrow, B, i + 1);
    int64_t a = row_begin(narrow, A, i), b = row_begin(narrow, B, i), last = -1;
    uint64_t falls = 0;
    while ((a < a_end) | (b < b_end)) {
        const int64_t a_at = a < A->nnz ? a : A->nnz - 1, b_at = b < B->nnz ? b : B->nnz - 1;
        const uint64_t x = key(narrow, A, a, a_at, a_end), y = key(narrow, B, b, b_at, b_end);
        const uint64_t of_a = opaque(x <= y), of_b = opaque(y <= x);
        const int64_t column = (int64_t)(y ^ ((x ^ y) & -of_a));
        if (store) {
            lsp_index_set(C->col, narrow ? LSP_I32 : C->col_type, to, column);
        }
        if (store && type == LSP_F64) {
            ((double *)C->val)[to] = lsp_settled(term_f64(A, a_at, of_a) + term_f64(B, b_at, of_b));
        } else if (store && type == LSP_F32) {
            const float sum = term_f32(A, a_at, (uint32_t)of_a) + term_f32(B, b_at, (uint32_t)of_b);
            ((float *)C->val)[to] = isnan(sum) ? NAN : sum;
        } else if (store && type != LSP_NONE) {
            const lsp_value of_row_a = lsp_term(type, type, A->val, a_at, A->factor);
            const lsp_value of_row_b = lsp_term(type, type, B->val, b_at, B->factor);
            lsp_term_set(type, C->val, to,
                         of_a && of_b ? lsp_term_sum(type, of_row_a, of_row_b)
                         : of_a       ? of_row_a
                                      : of_row_b);
        }
        falls |= column <= last;
        last = column;
        to++;
        a += (int64_t)of_a;
        b += (int64_t)of_b;
    }
    *bad |= falls | (uint64_t)(last >= cols);
    return to;
}

/* b if of_b is 1, a if it is 0. */
LSP_INLINE const void *chosen(const void *a, const void *b, uint64_t of_b) {
    return (const void *)((uintptr_t)a + (((uintptr_t)b - (uintptr_t)a) & (uintptr_t)-of_b));
}

/* Merges row i into C from entry `to` on, if no column of the row is in both A and B. Returns false if one is, or if
 * columns do not ascend strictly or are out of range. The number of steps is known before the first one, so that the
 * processor begins the next row early. Reads the entry after the row. */
LSP_INLINE bool merge_disjoint_row(lsp_type type, const addend *A, const addend *B, const lsp_csr *C, int64_t i,
                                   int64_t to, int64_t cols) {
    uint32_t *const col = C->col;
    const double factors[2] = {A->factor, B->factor};
    const float narrow_factors[2] = {(float)A->factor, (float)B->factor};
    const int64_t a_end = row_begin(true, A, i + 1), b_end = row_begin(true, B, i + 1);
    int64_t a = row_begin(true, A, i), b = row_begin(true, B, i), last = -1, rises = -1; /* rises < 0: no column fell */
    for (const int64_t stop = to + a_end - a + b_end - b; to < stop; to++) {
        const uint64_t x = key(true, A, a, a, a_end), y = key(true, B, b, b, b_end), of_a = opaque(x <= y),
                       of_b = opaque(y < x);
        const int64_t column = (int64_t)(x ^ ((x ^ y) & -of_b));
        col[to] = (uint32_t)column;
        if (type == LSP_F64) {
            const double value =
                factors[of_b] * *(const double *)chosen((const double *)A->val + a, (const double *)B->val + b, of_b);
            ((double *)C->val)[to] = __builtin_expect(isnan(value), 0) ? (double)NAN : value;
        } else if (type == LSP_F32) {
            const float value = narrow_factors[of_b] *
                                *(const float *)chosen((const float *)A->val + a, (const float *)B->val + b, of_b);
            ((float *)C->val)[to] = __builtin_expect(isnan(value), 0) ? NAN : value;
        }
        rises &= last - column;
        last = column;
        a += (int64_t)of_a;
        b += (int64_t)of_b;
    }
    return rises < 0 && last < cols;
}

/* ---- short rows in vectors ---- */

#if defined(__AVX2__)

enum { lanes = 8, longest_short = 2 * lanes };

/* Up to 16 columns of a row; past its end the largest number, which is no column. */
typedef struct short_row {
    __m256i col[2];
} short_row;

/* Loads row i of n columns; *good becomes false unless they ascend strictly and are in range. */
LSP_INLINE short_row load_row(int vectors, const addend *A, int64_t begin, int n, int64_t cols, bool *good) {
    static const int32_t past[2 * longest_short] = {
        0,         0,         0,         0,         0,         0,         0,         0,
        0,         0,         0,         0,         0,         0,         0,         0,
        INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX,
        INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
    const int32_t *col = (const int32_t *)A->col + begin;
    short_row row;
    unsigned rise = 0;
    for (int v = 0; v < vectors; v++) {
        const __m256i here = _mm256_loadu_si256((const __m256i *)(const void *)(col + lanes * v));
        const __m256i next = _mm256_loadu_si256((const __m256i *)(const void *)(col + lanes * v + 1));
        const __m256i fill = _mm256_loadu_si256((const __m256i *)(const void *)(past + longest_short - n + lanes * v));
        rise |= (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(next, here))) << lanes * v;
        row.col[v] = _mm256_or_si256(here, fill);
    }
    const unsigned pairs = ((1U << n) - 1) >> 1;
    *good &= (rise & pairs) == pairs && (n == 0 || (col[0] >= 0 && col[n - 1] < cols));
    return row;
}

/* Places the n entries of A's row: entry k goes behind the k entries before it and the other row's entries with a lower
 * column. *equal collects the places where columns are equal. */
LSP_INLINE void place_row(lsp_type type, int vectors, const addend *A, int64_t begin, int n, const short_row *other,
                          const lsp_csr *C, int64_t to, __m256i *equal) {
    const int32_t *col = (const int32_t *)A->col + begin;
    for (int k = 0; k < n; k++) {
        const __m256i column = _mm256_set1_epi32(col[k]);
        unsigned below = 0;
        for (int v = 0; v < vectors; v++) {
            const __m256i lower = _mm256_cmpgt_epi32(column, other->col[v]);
            below |= (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(lower)) << lanes * v;
            *equal = _mm256_or_si256(*equal, _mm256_cmpeq_epi32(column, other->col[v]));
        }
        const int64_t at = to + k + __builtin_popcount(below);
        ((int32_t *)C->col)[at] = col[k];
        if (type == LSP_F64) {
            const double value = A->factor * ((const double *)A->val)[begin + k];
            ((double *)C->val)[at] = __builtin_expect(isnan(value), 0) ? (double)NAN : value;
        } else if (type == LSP_F32) {
            const float value = (float)A->factor * ((const float *)A->val)[begin + k];
            ((float *)C->val)[at] = __builtin_expect(isnan(value), 0) ? NAN : value;
        }
    }
}

/* merge_disjoint_row for rows of up to 8 or 16 columns. Reads 17 columns from the row's begin on. */
LSP_INLINE bool merge_short_row(lsp_type type, int vectors, const addend *A, const addend *B, const lsp_csr *C,
                                int64_t i, int64_t to, int64_t cols) {
    const int64_t a = row_begin(true, A, i), b = row_begin(true, B, i);
    const int a_count = (int)(row_begin(true, A, i + 1) - a), b_count = (int)(row_begin(true, B, i + 1) - b);
    bool good = true;
    const short_row of_a = load_row(vectors, A, a, a_count, cols, &good);
    const short_row of_b = load_row(vectors, B, b, b_count, cols, &good);
    __m256i equal = _mm256_setzero_si256();
    place_row(type, vectors, A, a, a_count, &of_b, C, to, &equal);
    place_row(type, vectors, B, b, b_count, &of_a, C, to, &equal);
    return good && _mm256_testz_si256(equal, equal);
}
#endif

/* merge_disjoint_row, by the method that suits the row's length. */
LSP_INLINE bool merge_apart(lsp_type type, const addend *A, const addend *B, const lsp_csr *C, int64_t i, int64_t to,
                            int64_t cols) {
    const int64_t a_end = row_begin(true, A, i + 1), b_end = row_begin(true, B, i + 1);
#if defined(__AVX2__)
    const int64_t a = row_begin(true, A, i), b = row_begin(true, B, i), longest = lsp_max(a_end - a, b_end - b);
    if (longest <= longest_short && a + longest_short < A->nnz && b + longest_short < B->nnz) {
        return longest <= lanes ? merge_short_row(type, 1, A, B, C, i, to, cols)
                                : merge_short_row(type, 2, A, B, C, i, to, cols);
    }
#endif
    return a_end < A->nnz && b_end < B->nnz && merge_disjoint_row(type, A, B, C, i, to, cols);
}

/* ---- the passes ---- */

typedef enum merge_pass { MERGE, COUNT, FILL } merge_pass;

LSP_INLINE addend addend_of(const lsp_csr *A, double factor) {
    static const lsp_value nothing;
    const bool empty = A->nnz == 0;
    return (addend){A->rowptr,
                    empty ? &nothing : A->col,
                    empty ? &nothing : A->val,
                    A->rowptr_type,
                    A->col_type,
                    lsp_max(A->nnz, 1),
                    factor};
}

LSP_INLINE int64_t merge_rows(bool narrow, merge_pass pass, lsp_type type, const addition *s, int64_t begin,
                              int64_t end) {
    const addend A = addend_of(s->A, s->alpha), B = addend_of(s->B, s->beta);
    const bool apart = narrow && type != LSP_C64 && type != LSP_I64;
    const lsp_csr C = *s->C;
    const int64_t cols = s->A->cols;
    int64_t to = 0;
    uint64_t bad = 0;
    bool disjoint = true; /* was the previous row disjoint? Then this row is first tried as one */
    for (int64_t i = begin; i < end && bad == 0; i++) {
        if (pass == FILL) {
            to = s->starts[i];
        }
        const int64_t of_a = row_begin(narrow, &A, i + 1) - row_begin(narrow, &A, i);
        const int64_t from = to, steps = of_a + row_begin(narrow, &B, i + 1) - row_begin(narrow, &B, i);
        const bool room = pass == MERGE || (pass == FILL && s->starts[i + 1] - to == steps);
        if (apart && room && disjoint && merge_apart(type, &A, &B, &C, i, to, cols)) {
            to += steps;
        } else {
            to = merge_row(narrow, type, pass != COUNT, &A, &B, &C, i, to, cols, &bad);
            disjoint = pass == FILL || to - from == steps;
        }
        if (pass == MERGE) {
            lsp_index_set(C.rowptr, narrow ? LSP_I32 : C.rowptr_type, i + 1, to);
        } else if (pass == COUNT) {
            s->starts[i + 1] = to - from;
        }
    }
    return bad ? -1 : to;
}

LSP_INLINE bool is_narrow(const lsp_csr *A) { return A->rowptr_type == LSP_I32 && A->col_type == LSP_I32; }

LSP_INLINE int64_t merge_any(merge_pass pass, const addition *s, int64_t begin, int64_t end) {
    const lsp_type type = s->C->val_type;
    return !is_narrow(s->A) || !is_narrow(s->B) || !is_narrow(s->C) ? merge_rows(false, pass, type, s, begin, end)
           : type == LSP_F64                                        ? merge_rows(true, pass, LSP_F64, s, begin, end)
           : type == LSP_F32                                        ? merge_rows(true, pass, LSP_F32, s, begin, end)
           : type == LSP_C64                                        ? merge_rows(true, pass, LSP_C64, s, begin, end)
           : type == LSP_I64                                        ? merge_rows(true, pass, LSP_I64, s, begin, end)
                                                                    : merge_rows(true, pass, LSP_NONE, s, begin, end);
}

int64_t LSP_ISA_NAME(lsp_add_merge)(const addition *s, int64_t begin, int64_t end) {
    return merge_any(MERGE, s, begin, end);
}

int64_t LSP_ISA_NAME(lsp_add_count)(const addition *s, int64_t begin, int64_t end) {
    return is_narrow(s->A) && is_narrow(s->B) ? merge_rows(true, COUNT, LSP_NONE, s, begin, end)
                                              : merge_rows(false, COUNT, LSP_NONE, s, begin, end);
}

int64_t LSP_ISA_NAME(lsp_add_fill)(const addition *s, int64_t begin, int64_t end) {
    return merge_any(FILL, s, begin, end);
}
