/* C = A*B with few products and few columns, in one pass without a plan. cpu/small.c decides and makes C;
 * cpu/small_kernel.c, compiled once an instruction set, makes the rows. */
#pragma once

#include "cpu.h"

enum {
    LSP_SMALL_PRODUCTS = 1 << 15,       /* always small */
    LSP_SMALL_NEAR_PRODUCTS = 1 << 18,  /* small if C's rows are long and their columns near each other */
    LSP_SMALL_DENSE_PRODUCTS = 1 << 23, /* small if B's rows are nearly dense */
    LSP_SMALL_ENTRIES = 1 << 18,        /* of A */
    LSP_SMALL_COLUMNS = 64 * 64,
    LSP_SMALL_ROWS = 1 << 14
};

/* Makes C and sets *done if A*B is small, with int32 indices and values of C's type. Otherwise does nothing. Matrices
 * and options were checked. */
lsp_status lsp_spgemm_small(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                            lsp_csr *C, lsp_spgemm_info *info, bool *done);

/* Rows first .. end-1, made by one thread in memory of its own. */
typedef struct lsp_small_job {
    lsp_csr A, B;
    int64_t first, end;
    int32_t *rowptr; /* of all rows, and one more; the job's rows count from 0 */
    int32_t *col;    /* col and val have a place for every entry that the rows can have */
    void *val;
    void *window;         /* a sum for each column, -0.0 between rows (integers: 0) */
    uint8_t *touched;     /* a mark for each column, rounded up to 64; 0 between rows */
    const uint64_t *bits; /* B's columns as bits, `words` words a row; NULL: `touched` is used instead */
    int64_t words;        /* a multiple of 8 */
} lsp_small_job;

/* Makes the rows, and returns the number of their entries. */
#define LSP_SMALL_ROWS(isa)                                                                                            \
    int64_t lsp_spgemm_small_rows_##isa(const lsp_small_job *job);                                                     \
    int64_t lsp_spgemm_small_complex_rows_##isa(const lsp_small_job *job);                                             \
    int64_t lsp_spgemm_small_integer_rows_##isa(const lsp_small_job *job);
LSP_SMALL_ROWS(portable) LSP_SMALL_ROWS(avx2) LSP_SMALL_ROWS(avx512)
