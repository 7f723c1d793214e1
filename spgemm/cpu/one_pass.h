/* Rows of C = A*B in one pass: what cpu/one_pass.c and cpu/many.c have made by cpu/one_pass_kernel.c.
 *
 * A thread has a sum for each column. A row's columns are found by their marks, which are scanned in order: a byte a
 * column and a byte a block of 64 columns, and a bit a top, one of at most 64 equal parts of all columns. Short rows
 * are made faster by a list of their columns that is sorted by insertion. If rows of B are nearly dense, their columns
 * as bits are united, so that no product marks anything. */
#pragma once

#include "core/top.h"
#include "cpu.h"

typedef enum lsp_spgemm_way {
    LSP_ONE_MARKS,
    LSP_ONE_LIST, /* 32-bit indices only; otherwise marks */
    LSP_ONE_DENSE /* the same, and up to LSP_RUN_NEAR columns */
} lsp_spgemm_way;

enum {
    LSP_RUN_ENTRIES = 1 << 15, /* of C that a thread has memory for, at least */
    LSP_RUN_NEAR = 64 * 64     /* columns whose blocks are the tops; they stay in the nearest cache */
};

/* The top of column j is j >> lsp_top_shift(columns), if its blocks are not the tops. */
static inline int lsp_top_shift(int64_t cols) {
    enum { TOP_BITS = 6, LEAST = 12 };
    const int bits = cols > 1 ? lsp_bits((uint64_t)cols - 1) : 0;
    return bits - TOP_BITS > LEAST ? bits - TOP_BITS : LEAST;
}

/* Rows next .. last-1, to be made by a thread. Between rows all marks are 0. */
typedef struct lsp_spgemm_run {
    const lsp_csr *A, *B;
    lsp_type type; /* of the arithmetic */
    lsp_semiring semiring;
    lsp_spgemm_way way;
    int64_t longest;       /* row of B, or more: INT32_MAX if unknown */
    bool far;              /* B is larger than the cache of a core, and A jumps about in it */
    int64_t window;        /* columns: those of B, or more */
    void *sums;            /* one for each column */
    bool cleared;          /* they have the semiring's value before a first product; a list does not need that */
    uint8_t *marks;        /* one for each column, up to a multiple of 64 */
    uint8_t *blocks;       /* one for each 64 columns, up to a multiple of 64 */
    const uint64_t *dense; /* B's columns as bits, `words` words a row */
    int64_t words;         /* a multiple of 8 */
    int64_t largest;       /* above 0: at most this many entries of a row stay, the largest */
    uint64_t least;        /* then: the smallest rank of an entry that stays (core/top.h) */
    lsp_ranked *heap;      /* then: room for `largest` of them */
    lsp_csr *C;            /* its row pointers i + 1 get the ends of the rows, from `base` on, */
    void *col, *val;       /* its entries are written here, at most `capacity` of them */
    int64_t base, capacity;
    int64_t next, last;
    int64_t products, nnz_bound, max_row_products; /* added up */
} lsp_spgemm_run;

/* A run like another, in memory of its own: a window of `cols` columns, and room for `entries` entries. Returns the
 * bytes, even if `memory` is NULL. _sum_runs: adds up the products of runs. */
size_t lsp_spgemm_open_run(const lsp_spgemm_run *like, int64_t cols, int64_t entries, char *memory,
                           lsp_spgemm_run *run);
void lsp_spgemm_sum_runs(const lsp_spgemm_run *runs, int threads, lsp_spgemm_info *info);
/* Copies the first n entries of a run to entries `at` .. of C. */
static inline void lsp_spgemm_put_entries(const lsp_spgemm_run *run, int64_t n, const lsp_csr *C, int64_t at) {
    if (n > 0) {
        memcpy(lsp_spgemm_at(C->col, at, C->col_type), run->col, (size_t)n * lsp_type_bytes(C->col_type));
    }
    if (n > 0 && C->val_type != LSP_NONE) {
        memcpy(lsp_spgemm_at(C->val, at, C->val_type), run->val, (size_t)n * lsp_type_bytes(C->val_type));
    }
}
/* Moves the first `used` columns and values of C to arrays with room for `room`. _trim: to arrays for its entries
 * alone, if these have much more room. */
lsp_status lsp_spgemm_set_room(lsp_ctx *ctx, int64_t used, int64_t room, lsp_csr *C);
lsp_status lsp_spgemm_trim(lsp_ctx *ctx, int64_t room, lsp_csr *C);

/* Makes rows until the next one may not fit. Returns the number of their entries. */
int64_t lsp_spgemm_one_pass_rows_portable(lsp_spgemm_run *run);
int64_t lsp_spgemm_one_pass_rows_avx2(lsp_spgemm_run *run);
int64_t lsp_spgemm_one_pass_rows_avx512(lsp_spgemm_run *run);
