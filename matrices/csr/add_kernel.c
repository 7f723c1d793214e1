/* The inner loops of C = alpha*A + beta*B, compiled once for each instruction set. Equal patterns: blocks that stay in
 * the cache are compared, checked and summed, and C's stores bypass the cache. Unequal ones: a merge whose steps have
 * no branch on a column, since such branches are mispredicted every other time. */
#include "addition.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { block = 256 }; /* entries; poisson2d:1000 takes 8.1 ms, with 512 9.5, with 1024 10.3 (EPYC, AVX2) */

/* ---- equal patterns ---- */

/* Copies a block. C is not read again soon: stores that bypass the cache need not fetch its lines first. */
LSP_INLINE void store_block(void *restrict to, const void *restrict from, size_t bytes, bool bypass) {
    (void)bypass;
#if defined(__SSE2__)
    char *t = to;
    const char *f = from;
    if (bypass) {
        const size_t to_line = (64 - (uintptr_t)t % 64) % 64, head = to_line < bytes ? to_line : bytes;
        memcpy(t, f, head);
        size_t k = head;
        for (; k + 64 <= bytes; k += 64) {
#if defined(__AVX__)
            for (size_t q = 0; q < 64; q += 32) {
                _mm256_stream_si256((__m256i *)(void *)(t + k + q),
                                    _mm256_loadu_si256((const __m256i *)(const void *)(f + k + q)));
            }
#else
            for (size_t q = 0; q < 64; q += 16) {
                _mm_stream_si128((__m128i *)(void *)(t + k + q),
                                 _mm_loadu_si128((const __m128i *)(const void *)(f + k + q)));
            }
#endif
        }
        memcpy(t + k, f + k, bytes - k);
        return;
    }
#endif
    memcpy(to, from, bytes);
}

/* Makes stores that bypass the cache visible to other threads. */
static void end_stores(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* Are the columns begin .. end-1 of A and B equal and in range? */
LSP_INLINE bool same_columns(lsp_type type, const addition *s, int64_t begin, int64_t end) {
    if (type == LSP_I32) {
        const uint32_t *a = s->A->col, *b = s->B->col;
        const uint32_t most = (uint32_t)s->A->cols - 1; /* cols > 0: there are entries */
        uint32_t differ = 0;
        for (int64_t k = begin; k < end; k++) {
            differ |= (a[k] ^ b[k]) | (uint32_t)(a[k] > most);
        }
        return differ == 0;
    }
    const uint64_t *a = s->A->col, *b = s->B->col;
    uint64_t differ = 0;
    for (int64_t k = begin; k < end; k++) {
        differ |= (a[k] ^ b[k]) | (uint64_t)(a[k] >= (uint64_t)s->A->cols);
    }
    return differ == 0;
}

/* The number of columns in begin .. end-1 that are not above the previous column. */
LSP_INLINE int64_t falls(lsp_type type, const void *col, int64_t begin, int64_t end) {
    if (type == LSP_I32) {
        const int32_t *c = col;
        int32_t count = 0; /* of a block */
        for (int64_t k = begin; k < end; k++) {
            count += c[k] <= c[k - 1];
        }
        return count;
    }
    int64_t count = 0;
    for (int64_t k = begin; k < end; k++) {
        count += lsp_index_at(col, LSP_I64, k) <= lsp_index_at(col, LSP_I64, k - 1);
    }
    return count;
}

/* Float and double alone: a pattern has nothing to sum. */
LSP_INLINE void sum_values(lsp_type type, const addition *s, int64_t begin, int64_t end) {
    const int64_t n = end - begin;
    if (type == LSP_F64) {
        const double *a = (const double *)s->A->val + begin, *b = (const double *)s->B->val + begin;
        const double alpha = s->alpha, beta = s->beta;
        double sums[block];
        for (int64_t k = 0; k < n; k++) {
            sums[k] = lsp_settled(alpha * a[k] + beta * b[k]);
        }
        store_block((double *)s->C->val + begin, sums, (size_t)n * sizeof *sums, s->bypass);
    } else if (type == LSP_F32) {
        const float *a = (const float *)s->A->val + begin, *b = (const float *)s->B->val + begin;
        const float alpha = (float)s->alpha, beta = (float)s->beta;
        float sums[block];
        for (int64_t k = 0; k < n; k++) {
            const float sum = alpha * a[k] + beta * b[k];
            sums[k] = isnan(sum) ? NAN : sum;
        }
        store_block((float *)s->C->val + begin, sums, (size_t)n * sizeof *sums, s->bypass);
    }
}

/* Within a row columns ascend if all falls are where a row begins. */
LSP_INLINE bool add_equal_of(lsp_type index, const addition *s, int64_t begin, int64_t end) {
    const size_t bytes = lsp_type_bytes(index);
    const lsp_csr *A = s->A;
    const int64_t first = lsp_index_at(A->rowptr, index, begin), stop = lsp_index_at(A->rowptr, index, end);
    int64_t row = begin, start = first;
    for (int64_t k = first; k < stop && __atomic_load_n(&s->bad, __ATOMIC_RELAXED) == 0; k += block) {
        const int64_t to = lsp_min(k + block, stop);
        int64_t fallen = falls(index, A->col, lsp_max(k, first + 1), to);
        while (row < end && start < to) {
            const int64_t next = lsp_index_at(A->rowptr, index, row + 1);
            if (start > first && start < next) {
                fallen -= lsp_index_at(A->col, index, start) <= lsp_index_at(A->col, index, start - 1);
            }
            start = next;
            row++;
        }
        if (!same_columns(index, s, k, to) || fallen != 0) {
            return false;
        }
        store_block((char *)s->C->col + (size_t)k * bytes, (const char *)A->col + (size_t)k * bytes,
                    (size_t)(to - k) * bytes, s->bypass);
        sum_values(s->C->val_type, s, k, to);
    }
    memcpy((char *)s->C->rowptr + (size_t)(begin + 1) * bytes, (const char *)A->rowptr + (size_t)(begin + 1) * bytes,
           (size_t)(end - begin) * bytes);
    end_stores();
    return true;
}

bool LSP_ISA_NAME(lsp_add_equal)(const addition *s, int64_t begin, int64_t end) {
    return s->A->col_type == LSP_I32 ? add_equal_of(LSP_I32, s, begin, end) : add_equal_of(LSP_I64, s, begin, end);
}

void LSP_ISA_NAME(lsp_add_values)(const addition *s, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k += block) {
        sum_values(s->C->val_type, s, k, lsp_min(k + block, end));
    }
    end_stores();
}

/* ---- merges ---- */

/* One addend. */
typedef struct addend {
    const int32_t *rowptr;
    const uint32_t *col;
    const void *val;
    int64_t nnz;
    double factor;
} addend;

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
LSP_INLINE uint64_t key(const addend *A, int64_t k, int64_t at, int64_t end) {
    return A->col[at] | (uint64_t)((end - 1 - k) >> 63);
}

/* Merges row i into C from entry `to` on. Returns the entry after the last one. *bad is set if columns of the row do
 * not ascend strictly or are out of range: those of C ascend strictly only if those of A and B do. */
LSP_INLINE int64_t merge_row(lsp_type type, bool store, const addend *A, const addend *B, const lsp_csr *C, int64_t i,
                             int64_t to, int64_t cols, uint64_t *bad) {
    uint32_t *const col = C->col;
    const int64_t a_end = A->rowptr[i + 1], b_end = B->rowptr[i + 1];
    int64_t a = A->rowptr[i], b = B->rowptr[i], last = -1;
    uint64_t falls = 0;
    while ((a < a_end) | (b < b_end)) {
        const int64_t a_at = a < A->nnz ? a : A->nnz - 1, b_at = b < B->nnz ? b : B->nnz - 1;
        const uint64_t x = key(A, a, a_at, a_end), y = key(B, b, b_at, b_end);
        const uint64_t of_a = opaque(x <= y), of_b = opaque(y <= x);
        const int64_t column = (int64_t)(y ^ ((x ^ y) & -of_a));
        if (store) {
            col[to] = (uint32_t)column;
        }
        if (store && type == LSP_F64) {
            ((double *)C->val)[to] = lsp_settled(term_f64(A, a_at, of_a) + term_f64(B, b_at, of_b));
        } else if (store && type == LSP_F32) {
            const float sum = term_f32(A, a_at, (uint32_t)of_a) + term_f32(B, b_at, (uint32_t)of_b);
            ((float *)C->val)[to] = isnan(sum) ? NAN : sum;
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
    const int64_t a_end = A->rowptr[i + 1], b_end = B->rowptr[i + 1];
    int64_t a = A->rowptr[i], b = B->rowptr[i], last = -1, rises = -1; /* rises < 0: no column fell */
    for (const int64_t stop = to + a_end - a + b_end - b; to < stop; to++) {
        const uint64_t x = key(A, a, a, a_end), y = key(B, b, b, b_end), of_a = opaque(x <= y), of_b = opaque(y < x);
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
    const int64_t a = A->rowptr[i], b = B->rowptr[i];
    const int a_count = (int)(A->rowptr[i + 1] - a), b_count = (int)(B->rowptr[i + 1] - b);
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
#if defined(__AVX2__)
    const int64_t longest = lsp_max(A->rowptr[i + 1] - A->rowptr[i], B->rowptr[i + 1] - B->rowptr[i]);
    if (longest <= longest_short && A->rowptr[i] + longest_short < A->nnz && B->rowptr[i] + longest_short < B->nnz) {
        return longest <= lanes ? merge_short_row(type, 1, A, B, C, i, to, cols)
                                : merge_short_row(type, 2, A, B, C, i, to, cols);
    }
#endif
    return A->rowptr[i + 1] < A->nnz && B->rowptr[i + 1] < B->nnz && merge_disjoint_row(type, A, B, C, i, to, cols);
}

/* ---- the passes ---- */

typedef enum merge_pass { MERGE, COUNT, FILL } merge_pass;

LSP_INLINE int64_t merge_rows(merge_pass pass, lsp_type type, const addition *s, int64_t begin, int64_t end) {
    const addend A = {s->A->rowptr, s->A->col, s->A->val, s->A->nnz, s->alpha};
    const addend B = {s->B->rowptr, s->B->col, s->B->val, s->B->nnz, s->beta};
    const lsp_csr C = *s->C;
    const int64_t cols = s->A->cols;
    int64_t to = 0;
    uint64_t bad = 0;
    bool disjoint = true; /* was the previous row disjoint? Then this row is first tried as one */
    for (int64_t i = begin; i < end && bad == 0; i++) {
        if (pass == FILL) {
            to = s->starts[i];
        }
        const int64_t from = to, steps = A.rowptr[i + 1] - A.rowptr[i] + B.rowptr[i + 1] - B.rowptr[i];
        const bool room = pass == MERGE || (pass == FILL && s->starts[i + 1] - to == steps);
        if (room && disjoint && merge_apart(type, &A, &B, &C, i, to, cols)) {
            to += steps;
        } else {
            to = merge_row(type, pass != COUNT, &A, &B, &C, i, to, cols, &bad);
            disjoint = pass == FILL || to - from == steps;
        }
        if (pass == MERGE) {
            ((int32_t *)C.rowptr)[i + 1] = (int32_t)to;
        } else if (pass == COUNT) {
            s->starts[i + 1] = to - from;
        }
    }
    return bad ? -1 : to;
}

LSP_INLINE int64_t merge_any(merge_pass pass, const addition *s, int64_t begin, int64_t end) {
    return s->C->val_type == LSP_F64   ? merge_rows(pass, LSP_F64, s, begin, end)
           : s->C->val_type == LSP_F32 ? merge_rows(pass, LSP_F32, s, begin, end)
                                       : merge_rows(pass, LSP_NONE, s, begin, end);
}

int64_t LSP_ISA_NAME(lsp_add_merge)(const addition *s, int64_t begin, int64_t end) {
    return merge_any(MERGE, s, begin, end);
}

int64_t LSP_ISA_NAME(lsp_add_count)(const addition *s, int64_t begin, int64_t end) {
    return merge_rows(COUNT, LSP_NONE, s, begin, end);
}

int64_t LSP_ISA_NAME(lsp_add_fill)(const addition *s, int64_t begin, int64_t end) {
    return merge_any(FILL, s, begin, end);
}
