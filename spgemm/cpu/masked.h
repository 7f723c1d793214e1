/* C<M> = A*B on the CPU: shared by the threads (cpu/masked.c) and the serial kernels of an instruction set
 * (cpu/masked_kernel.c). */
#pragma once

#include "cpu.h"

/* A hash table from column to entry of the mask's row at hand: a slot holds `base` plus the number of an entry. Values
 * left by earlier rows are below `base`, so nothing is cleared between rows. */
typedef struct lsp_mask_table {
    uint32_t *slots;
    uint32_t base;
    int64_t size;
} lsp_mask_table;

typedef struct lsp_masked_pass {
    const lsp_spgemm_job *job;
    const lsp_csr *mask; /* rows ascend; a column may come twice */
    void *sums;          /* by entry of the mask */
    uint8_t *touched;    /* by entry of the mask: 1 if a product was added there */
} lsp_masked_pass;

/* Rows first .. last-1. */
typedef void lsp_masked_rows(const lsp_masked_pass *pass, lsp_mask_table *table, int64_t first, int64_t last);
lsp_masked_rows lsp_spgemm_masked_rows_portable, lsp_spgemm_masked_rows_avx2, lsp_spgemm_masked_rows_avx512;
