/* What kernels report to the host: faults of A and B, products and entries of C, how many rows each bin has. */
#pragma once

#include "job.cuh"

/* What the check of a matrix found. All zero before. */
typedef struct spg_check {
    ull fault;                /* not 0: it is no matrix; the host finds out why */
    ull descents, duplicates; /* pairs of neighbours in a row whose second column is smaller; is equal */
} spg_check;

/* What each of the three steps (inspect, count, fill) reports. The host reads a part once it is complete. All zero
 * before. */
typedef struct spg_facts {
    spg_check check[2];
    ull products, nnz_bound, max_products;
    ull nnz;                      /* of C, if all rows are short */
    uint32_t bins[LSP_BINS];      /* rows by the bin that counts them */
    uint32_t many[LSP_MANY_BINS]; /* those with many entries of A: see lsp_shared_from */
    uint32_t unfit;               /* 1: some short row must be filled by a kernel for longer rows */
    uint32_t repeats;             /* short rows that repeat their neighbours: see sort/short_repeat.cuh */
    uint32_t blocks;              /* blocks that have finished */
} spg_facts;

typedef struct spg_counting {
    ull nnz;
    uint32_t bins[LSP_BINS];        /* rows by the bin that fills them */
    uint32_t placed[LSP_BINS];      /* rows of each bin that are already in the list */
    uint32_t retry[LSP_COUNT_BINS]; /* rows of each bin that fit no window */
    uint32_t again;                 /* rows that overflowed the hash table: LONG counts them */
    uint32_t merged;                /* rows that are merged */
    uint32_t kept;                  /* columns that are kept */
    ull taken;                      /* tasks that blocks have taken */
} spg_counting;

typedef struct spg_filling {
    uint32_t placed[LSP_BINS];
    ull rows_taken, pieces_taken;
} spg_filling;

struct spg_report {
    spg_facts facts;
    spg_counting counting;
    spg_filling filling;
};
