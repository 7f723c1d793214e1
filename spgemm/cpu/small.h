/* C = A*B of few products and few columns: cpu/small.c decides and makes C; cpu/small_kernel.c, compiled once an
 * instruction set, does the rows. */
#ifndef LSP_SPGEMM_CPU_SMALL_H
#define LSP_SPGEMM_CPU_SMALL_H

#include "core/core.h"

enum { LSP_FEW_PRODUCTS = 1 << 15, LSP_FEW_COLUMNS = 64 * 64, LSP_FEW_ROWS = 1 << 14 };

/* If A*B is so small, and of int32 indices and values of one type, as C's are to be: makes it, and sets *done. Matrices
 * and options were checked. */
lsp_status lsp_spgemm_few(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                          lsp_csr *C, lsp_spgemm_info *info, bool *done);

/* Rows first .. end-1, with memory of their own. */
typedef struct lsp_few_job {
    lsp_csr A, B;
    int64_t first, end;
    int32_t *rowptr; /* of all rows: where those of the job begin, from 0 on, and one more */
    int32_t *col;    /* as many as there are products, and val too */
    void *val;
    void *window;     /* of the values' type, one a column, all -0.0 */
    uint8_t *touched; /* one a column, rounded up to 64, all 0 */
} lsp_few_job;

/* Returns how many entries the rows have. */
int64_t lsp_spgemm_few_rows_portable(const lsp_few_job *job);
int64_t lsp_spgemm_few_rows_avx2(const lsp_few_job *job);
int64_t lsp_spgemm_few_rows_avx512(const lsp_few_job *job);

#endif
