/* Rows of C = A*B in one pass. A run is rows that a thread makes (cpu/one_pass_kernel.c), parts are the rows of one
 * product or of many, which threads share (cpu/parts.c). cpu/one_pass.c and cpu/many.c decide for one pass, and how.
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
    LSP_RUN_NEAR = 64 * 64,    /* columns whose blocks are the tops; they stay in the nearest cache */
    LSP_RUN_SAMPLE = 8         /* neighbouring rows in a sample */
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
    lsp_csr C;             /* its row pointers i + 1 get the ends of the rows, from `base` on, */
    void *col, *val;       /* its entries are written here, at most `capacity` of them */
    int64_t base, capacity;
    void *held[2]; /* columns and values in memory of the thread */
    int64_t next, last;
    int64_t products, nnz_bound, max_row_products; /* added up */
} lsp_spgemm_run;

/* Makes rows until the next one may not fit. Returns the number of their entries. */
int64_t lsp_spgemm_one_pass_rows_portable(lsp_spgemm_run *run);
int64_t lsp_spgemm_one_pass_rows_avx2(lsp_spgemm_run *run);
int64_t lsp_spgemm_one_pass_rows_avx512(lsp_spgemm_run *run);

/* The rows of one product or of many. Threads share the rows of one product. Each of many is made by one thread. */
typedef struct lsp_spgemm_parts {
    const lsp_csr *A, *B; /* the factors of each product */
    lsp_csr C;            /* row pointers, of one product after the other; types */
    int64_t capacity;     /* columns and values that have a place in C */
    int64_t count;        /* of parts */
    int64_t *first;       /* the first product of each part, and their number; NULL: there is one. Of many: */
    int64_t *row_at;      /* where the row pointers of each begin, */
    int64_t *most;        /* its entries, or more; below 0: it is left out; */
    int64_t *at;          /* where its entries begin */
    lsp_spgemm_run like;  /* what all runs have in common */
    lsp_isa isa;
    int threads;
    lsp_spgemm_run *runs; /* one a thread */
    char *memory;         /* of all threads */
    size_t thread_bytes;
    int64_t columns, entries; /* most columns of B; most entries of C that the memory of a thread holds */
    int64_t done;             /* parts of one product */
    int64_t *ends;            /* atomic: where they begin in C; -1: not known yet */
    int64_t filled;           /* atomic: entries of many products that have a place */
    bool full;                /* atomic: some have none */
} lsp_spgemm_parts;

/* Takes memory for the threads. `columns`: the most columns of a B. `entries`: the most entries of a row of C; if there
 * are many products, of any of them. */
lsp_status lsp_spgemm_open_runs(lsp_ctx *ctx, int64_t columns, int64_t entries, lsp_spgemm_parts *p);
/* Returns how many entries A*B can have: a row has no more than its products, and no more than `most`. *products: of
 * all rows. */
int64_t lsp_spgemm_bound(const lsp_csr *A, const lsp_csr *B, int64_t most, int64_t *products);
/* Makes rows first .. last-1 of A*B, at most LSP_RUN_SAMPLE, and only counts them. *bound: how many entries their
 * products could have made. */
lsp_spgemm_sample lsp_spgemm_sample_rows(lsp_spgemm_parts *p, int thread, const lsp_csr *A, const lsp_csr *B,
                                         int64_t first, int64_t last, int64_t *bound);
/* Makes all parts, in columns and values that are taken for p->capacity entries at first. Sets p->C.nnz. *fits =
 * false if row pointers cannot count the entries. */
lsp_status lsp_spgemm_make_parts(lsp_ctx *ctx, lsp_spgemm_parts *p, bool *fits);
/* Adds up the facts of all rows that were made. */
void lsp_spgemm_sum_runs(const lsp_spgemm_parts *p, lsp_spgemm_info *info);
