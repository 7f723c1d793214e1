/* C = A*B on one thread by plain accumulators, with the library's bits: the first product of a sum is rounded, then
 * each is added by fma, in A's order. Both know the number of C's entries beforehand, so they show what is possible.
 *   list: marks, and a list of the columns met, sorted at the end of a row
 *   bits: a bit a column and a bit a word of 64 of them, which give the columns in order, so that nothing is sorted */
#include "peers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct plain {
    lsp_csr A, B, C;
    int64_t nnz; /* of C */
    void *sums;
    int32_t *list;
    bool *marks;
    uint64_t *bit, *word;
} plain;

static void sort_list(int32_t *a, int64_t n) { /* quicksort, and insertion for short ones */
    int64_t i = 0, j = n - 1;
    const int32_t pivot = a[n / 2];
    if (n <= 24) {
        for (i = 1; i < n; i++) {
            const int32_t x = a[i];
            for (j = i; j > 0 && a[j - 1] > x; j--) {
                a[j] = a[j - 1];
            }
            a[j] = x;
        }
        return;
    }
    while (i <= j) {
        for (; a[i] < pivot; i++) {
        }
        for (; a[j] > pivot; j--) {
        }
        if (i <= j) {
            const int32_t t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    if (j > 0) {
        sort_list(a, j + 1);
    }
    if (i < n) {
        sort_list(a + i, n - i);
    }
}

#define EACH_PRODUCT(...)                                                                                              \
    for (int32_t e = a_rowptr[i]; e < a_rowptr[i + 1]; e++) {                                                          \
        for (int32_t q = b_rowptr[a_col[e]]; q < b_rowptr[a_col[e] + 1]; q++) {                                        \
            const int32_t j = b_col[q];                                                                                \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
#define WAYS(VALUE, FMA)                                                                                               \
    static int64_t list_##VALUE(plain *p) {                                                                            \
        ARRAYS(VALUE)                                                                                                  \
        for (int64_t i = 0; i < p->A.rows; i++, c_rowptr[i] = (int32_t)k) {                                            \
            int64_t n = 0;                                                                                             \
            EACH_PRODUCT({                                                                                             \
                sum[j] = p->marks[j] ? FMA(a_val[e], b_val[q], sum[j]) : a_val[e] * b_val[q];                          \
                p->list[n] = j;                                                                                        \
                n += !p->marks[j];                                                                                     \
                p->marks[j] = true;                                                                                    \
            })                                                                                                         \
            sort_list(p->list, n);                                                                                     \
            for (int64_t r = 0; r < n; r++, k++) {                                                                     \
                c_col[k] = p->list[r];                                                                                 \
                c_val[k] = sum[c_col[k]];                                                                              \
                p->marks[c_col[k]] = false;                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        return k;                                                                                                      \
    }                                                                                                                  \
    static int64_t bits_##VALUE(plain *p) {                                                                            \
        ARRAYS(VALUE)                                                                                                  \
        for (int64_t i = 0; i < p->A.rows; i++, c_rowptr[i] = (int32_t)k) {                                            \
            int64_t low = INT64_MAX, high = -1; /* words of `word` */                                                  \
            EACH_PRODUCT({                                                                                             \
                p->bit[j >> 6] |= (uint64_t)1 << (j & 63);                                                             \
                p->word[j >> 12] |= (uint64_t)1 << (j >> 6 & 63);                                                      \
                sum[j] = FMA(a_val[e], b_val[q], sum[j]);                                                              \
                low = j >> 12 < low ? j >> 12 : low;                                                                   \
                high = j >> 12 > high ? j >> 12 : high;                                                                \
            })                                                                                                         \
            for (int64_t x = low; x <= high; p->word[x++] = 0) {                                                       \
                for (uint64_t words = p->word[x]; words != 0; words &= words - 1) {                                    \
                    const int64_t w = 64 * x + __builtin_ctzll(words);                                                 \
                    for (uint64_t columns = p->bit[w]; columns != 0; columns &= columns - 1, k++) {                    \
                        c_col[k] = (int32_t)(64 * w + __builtin_ctzll(columns));                                       \
                        c_val[k] = sum[c_col[k]];                                                                      \
                        sum[c_col[k]] = (VALUE)-0.0;                                                                   \
                    }                                                                                                  \
                    p->bit[w] = 0;                                                                                     \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        return k;                                                                                                      \
    }
#define ARRAYS(VALUE)                                                                                                  \
    const int32_t *a_rowptr = p->A.rowptr, *a_col = p->A.col, *b_rowptr = p->B.rowptr, *b_col = p->B.col;              \
    const VALUE *a_val = p->A.val, *b_val = p->B.val;                                                                  \
    VALUE *sum = p->sums, *c_val = p->C.val;                                                                           \
    int32_t *c_rowptr = p->C.rowptr, *c_col = p->C.col;                                                                \
    int64_t k = 0;
WAYS(double, fma)
WAYS(float, fmaf)

static void release(void *self) {
    plain *p = self;
    free(p->C.rowptr);
    free(p->C.col);
    free(p->C.val);
    p->C.rowptr = p->C.col = p->C.val = NULL;
}

static void destroy(void *self) {
    plain *p = self;
    release(p);
    free(p->sums);
    free(p->list);
    free(p->marks);
    free(p->bit);
    free(p->word);
    free(p);
}

static bool take(plain *p, int64_t nnz) {
    const size_t value = p->A.val_type == LSP_F64 ? 8 : 4;
    p->C = (lsp_csr){p->A.rows, p->B.cols, nnz, NULL, NULL, NULL, LSP_I32, LSP_I32, p->A.val_type, LSP_HOST};
    p->C.rowptr = calloc((size_t)p->A.rows + 1, 4);
    p->C.col = malloc(((size_t)nnz + 1) * 4);
    p->C.val = malloc(((size_t)nnz + 1) * value);
    return p->C.rowptr && p->C.col && p->C.val;
}

/* Counts C's entries by marks. */
static int64_t count(plain *p) {
    const int32_t *a_rowptr = p->A.rowptr, *a_col = p->A.col, *b_rowptr = p->B.rowptr, *b_col = p->B.col;
    int64_t nnz = 0;
    for (int64_t i = 0; i < p->A.rows; i++) {
        int64_t n = 0;
        EACH_PRODUCT({
            p->list[n] = j;
            n += !p->marks[j];
            p->marks[j] = true;
        })
        for (int64_t r = 0; r < n; r++) {
            p->marks[p->list[r]] = false;
        }
        nnz += n;
    }
    return nnz;
}

static void *prepare(const peer_factors *f, int threads) {
    plain *p = calloc(1, sizeof *p);
    const size_t cols = (size_t)f->B->cols + 4096;
    (void)threads;
    if (p == NULL) {
        return NULL;
    }
    p->A = *f->A;
    p->B = *f->B;
    p->sums = malloc(cols * 8);
    p->list = malloc(cols * 4);
    p->marks = calloc(cols, 1);
    p->bit = calloc(cols / 64 + 1, 8);
    p->word = calloc(cols / 4096 + 1, 8);
    if (!p->sums || !p->list || !p->marks || !p->bit || !p->word) {
        destroy(p);
        return NULL;
    }
    for (size_t j = 0; j < cols; j++) {
        if (p->A.val_type == LSP_F64) {
            ((double *)p->sums)[j] = -0.0;
        } else {
            ((float *)p->sums)[j] = -0.0F;
        }
    }
    p->nnz = count(p);
    return p;
}

static bool multiply_by(plain *p, int64_t (*f64)(plain *), int64_t (*f32)(plain *)) {
    return take(p, p->nnz) && (p->A.val_type == LSP_F64 ? f64 : f32)(p) == p->nnz;
}
static bool by_list(void *self) { return multiply_by(self, list_double, list_float); }
static bool by_bits(void *self) { return multiply_by(self, bits_double, bits_float); }
static void view(void *self, lsp_csr *C) { *C = ((plain *)self)->C; }

const peer_product peer_list = {
    .f32 = true, .prepare = prepare, .multiply = by_list, .view = view, .release = release, .destroy = destroy};
const peer_product peer_bits = {
    .f32 = true, .prepare = prepare, .multiply = by_bits, .view = view, .release = release, .destroy = destroy};
