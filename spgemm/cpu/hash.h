/* C = A*B whose rows have few columns, in one pass without a plan: the products of a row are added up in a hash table
 * that stays in the first-level cache. cpu/hash.c decides and puts the rows together; cpu/hash_kernel.c, compiled once
 * an instruction set, makes them. */
#ifndef LSP_SPGEMM_CPU_HASH_H
#define LSP_SPGEMM_CPU_HASH_H

#include "cpu.h"

enum {
    LSP_HASH_SLOTS = 1 << 10, /* 8 KiB of keys and 2 KiB of places */
    LSP_HASH_COLUMNS = 512    /* most columns of a row, so that half of the slots stay empty */
};

/* Makes C and sets *done if a sample of its rows says that they have few columns, all indices are int32 and all values
 * have C's type. Otherwise, if the sample was wrong, or if memory does not suffice, does nothing. Matrices and options
 * were checked. */
lsp_status lsp_spgemm_hash(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                           lsp_csr *C, lsp_spgemm_info *info, bool *done);

/* Scratch of one thread. The current row's columns are numbered in the order in which they come up. */
typedef struct lsp_hash_table {
    uint64_t rows;                      /* made so far: the stamp of the last one. All zero at first */
    uint64_t keys[LSP_HASH_SLOTS];      /* stamp of a row, and column; those of earlier rows count as empty */
    uint16_t numbers[LSP_HASH_SLOTS];   /* of the columns in keys[] */
    uint64_t columns[LSP_HASH_COLUMNS]; /* column and number */
    double sums[2 * LSP_HASH_COLUMNS];  /* by number; floats for LSP_F32, pairs for LSP_C64, integers for
                                           LSP_I64 */
} lsp_hash_table;

/* Rows next .. last-1, to be made in arrays with a place for `capacity` entries. */
typedef struct lsp_hash_job {
    const lsp_csr *A, *B;
    lsp_hash_table *table;
    bool far; /* rows of B are prefetched */
    int64_t next, last;
    int32_t *ends; /* of row `next` and those after it: base + the entries made up to there */
    int32_t base;
    int32_t *col;
    void *val;
    int64_t capacity;
    int64_t products, nnz_bound, max_row_products; /* of the rows made so far */
} lsp_hash_job;

/* Makes rows from job->next on, and moves job->next and job->ends behind the last one: all, or as many as surely fit.
 * Returns the number of their entries; -1 if a row has too many columns. */
#define LSP_HASH_ROWS(isa)                                                                                             \
    int64_t lsp_spgemm_hash_rows_##isa(lsp_hash_job *job);                                                             \
    int64_t lsp_spgemm_hash_complex_rows_##isa(lsp_hash_job *job);                                                     \
    int64_t lsp_spgemm_hash_integer_rows_##isa(lsp_hash_job *job);
LSP_HASH_ROWS(portable) LSP_HASH_ROWS(avx2) LSP_HASH_ROWS(avx512)

#endif
