/* The inner loops of C = alpha*A + beta*B for equal patterns, compiled once for each instruction set: blocks that stay
 * in the cache are compared, checked and summed, and C's stores bypass the cache. */
#include "addition.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { block = 256 }; /* entries; poisson2d:1000 takes 8.1 ms, with 512 9.5, with 1024 10.3 (EPYC, AVX2) */

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
LSP_INLINE int64_t count_falls(lsp_type type, const void *col, int64_t begin, int64_t end) {
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
        int64_t fallen = count_falls(index, A->col, lsp_max(k, first + 1), to);
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
