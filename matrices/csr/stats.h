/* What the rows and entries of a matrix tell for its statistics, on both devices. All facts are sums and maxima of
 * whole numbers, which are the same in any order. */
#pragma once

#include "core/each.h"
#include "facts.h"

LSP_BEGIN_DECLS

enum {
    DIAGONAL, /* entries on it */
    REPEATS,  /* entries whose column is not above the one before it in the row */
    FALLING,  /* rows that do not ascend */
    ZEROS,
    INFINITE,
    SUMS
};
enum { SQUARES, PRODUCTS, BOUND, WIDE_SUMS }; /* of two words: the low one first */
enum {
    LONGEST,
    SHORTEST, /* INT64_MAX less the length: the largest is the shortest row's */
    LOWER,
    UPPER,
    MAXIMA
};
typedef struct lsp_facts {
    uint64_t sum[SUMS], wide[WIDE_SUMS][2], histogram[64];
    int64_t most[MAXIMA]; /* 0 or more */
} lsp_facts;

LSP_BODY_FUNCTION void add_wide(lsp_facts *f, int which, uint64_t low, uint64_t high) {
    f->wide[which][0] += low;
    f->wide[which][1] += high + (f->wide[which][0] < low);
}
LSP_BODY_FUNCTION void raise_most(lsp_facts *f, int which, int64_t x) {
    f->most[which] = x > f->most[which] ? x : f->most[which];
}

/* Takes entry k of row i, which begins at `start`. Is its column below the one before it? */
LSP_BODY_FUNCTION bool take_entry(const lsp_kind t, const lsp_csr *A, int64_t i, int64_t start, int64_t k,
                                  lsp_facts *f) {
    const int64_t j = lsp_index_at(A->col, t.index, k), before = k > start ? lsp_index_at(A->col, t.index, k - 1) : -1;
    f->sum[DIAGONAL] += i == j;
    f->sum[REPEATS] += j <= before;
    raise_most(f, LOWER, i - j);
    raise_most(f, UPPER, j - i);
    if (t.val != LSP_NONE) {
        const lsp_value v = lsp_value_of(t.val, A->val, k);
        f->sum[ZEROS] += v.re == 0 && v.im == 0;
        f->sum[INFINITE] += !isfinite(v.re) || !isfinite(v.im);
    }
    return j < before;
}

/* Takes row i: its length, and what its entries told together, if they were asked: does a column fall, and the
 * multiplications of the row in A*A. Returns its place in the histogram. */
LSP_BODY_FUNCTION int take_row(const lsp_csr *A, int64_t i, bool falls, uint64_t products, lsp_facts *f) {
    const uint64_t length = (uint64_t)(lsp_csr_rowptr(A, i + 1) - lsp_csr_rowptr(A, i));
    const unsigned __int128 square = (unsigned __int128)length * length;
    const uint64_t count = products > (uint64_t)INT64_MAX ? (uint64_t)INT64_MAX : products;
    raise_most(f, LONGEST, (int64_t)length);
    raise_most(f, SHORTEST, INT64_MAX - (int64_t)length);
    add_wide(f, SQUARES, (uint64_t)square, (uint64_t)(square >> 64));
    add_wide(f, PRODUCTS, count, 0);
    add_wide(f, BOUND, count > (uint64_t)A->cols ? (uint64_t)A->cols : count, 0);
    f->sum[FALLING] += falls;
#ifdef __CUDA_ARCH__
    return 64 - __clzll((long long)length);
#else
    return lsp_bits(length);
#endif
}

LSP_END_DECLS
