/* Inside C = A*B on the CPU: what the threads (cpu/threads.c) and the serial code of an instruction set
 * (cpu/kernels.c) share.
 *
 * The rank of a product is the place of its column among the columns of its row of C. Counting a row finds the ranks;
 * where they are kept, filling it only adds each product where its rank says. A row may repeat the one above: the same
 * columns, all moved by the same distance, hence the same ranks in the same order of products. */
#ifndef LSP_SPGEMM_CPU_CPU_H
#define LSP_SPGEMM_CPU_CPU_H

#include "spgemm/semiring.h"
#include "spgemm/spgemm.h"

/* The way of a row of C, as bits. */
enum {
    LSP_WAY_WINDOW = 1, /* better done in a window; else sorted */
    LSP_WAY_REPEAT = 2, /* repeats the row above, which is of the same block and keeps its ranks, or repeats too */
    LSP_WAY_KEPT = 4,   /* its ranks are kept, */
    LSP_WAY_RANK = 8    /* times the logarithm of their bytes */
};

/* What is known of a row of B: its columns, none of them twice, are those of the row above, all moved by as many
 * columns as this number says less one; 0 if not. */
enum { LSP_REPEAT_EXACT = 1, LSP_REPEAT_MOST = UINT8_MAX };

/* Scratch of one thread, as the room says. */
typedef struct lsp_spgemm_work {
    void *words, *spare; /* sort_products words each */
    uint32_t *ranks;     /* sort_products */
    void *window;        /* window_columns: ranks when counting; sums when filling, -0.0 between rows */
    uint8_t *touched;    /* window_columns; 0 between rows */
} lsp_spgemm_work;

typedef struct lsp_spgemm_pass {
    const lsp_spgemm_job *job;
    const lsp_word_sort *sort;
    lsp_spgemm_capacity capacity;
    uint8_t *ways;          /* of the rows of A */
    const uint8_t *repeats; /* of the rows of B; NULL if hardly any are */
    bool exact;             /* many of them are together */
    bool far;               /* B is larger than the cache of a core */
} lsp_spgemm_pass;

/* Rows first .. last-1; `ranks`: where those that are kept of these rows stand. */
typedef void (*lsp_spgemm_rows)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, int64_t first, int64_t last,
                                char *ranks);

typedef struct lsp_spgemm_kernels {
    /* repeats[first .. last-1] of B, the first like none; adds up how many are moved, and together. Do all ascend? */
    bool (*find_repeats)(const lsp_csr *B, int64_t first, int64_t last, uint8_t *repeats, int64_t *count,
                         int64_t *exact);
    /* Products of row i to products[i + 1], its way to ways[i]; sums and maxima are the facts. False: too many
     * products. */
    bool (*count_products)(const lsp_spgemm_pass *pass, int64_t first, int64_t last, lsp_spgemm_facts *facts);
    /* Which of a block's rows to keep, in pass->ways; returns the bytes of the ranks. */
    int64_t (*mark)(const lsp_spgemm_pass *pass, int64_t first, int64_t last);
    lsp_spgemm_rows count;   /* products of row i in rowptr[i + 1] become nnz of row i of C */
    lsp_spgemm_rows fill[5]; /* the rows themselves: no values, f32, f64; f32 and f64 in any semiring */
} lsp_spgemm_kernels;

/* Those for the types of the indices. */
const lsp_spgemm_kernels *lsp_spgemm_kernels_portable(const lsp_csr *A, const lsp_csr *B);
const lsp_spgemm_kernels *lsp_spgemm_kernels_avx2(const lsp_csr *A, const lsp_csr *B);
const lsp_spgemm_kernels *lsp_spgemm_kernels_avx512(const lsp_csr *A, const lsp_csr *B);

/* Bytes of the rank of one of so many products, and of all of them where they are kept. */
static inline int lsp_rank_bytes(int64_t products) { return products <= 1 << 8 ? 1 : products <= 1 << 16 ? 2 : 4; }
static inline int64_t lsp_ranks_bytes(int64_t products) { return (products * lsp_rank_bytes(products) + 3) / 4 * 4; }

/* The way of a row of so many products that is to be kept. */
static inline uint8_t lsp_way_kept(uint8_t way, int64_t products) {
    return (uint8_t)(way | LSP_WAY_KEPT | lsp_rank_bytes(products) / 2 * LSP_WAY_RANK);
}

#endif
