/* C = A*B of few products and few columns: cpu/small.c decides and makes C; cpu/small_kernel.c, compiled once an
 * instruction set, does the rows. */
#ifndef LSP_SPGEMM_CPU_SMALL_H
#define LSP_SPGEMM_CPU_SMALL_H

#include "spgemm/spgemm.h"

enum {
    LSP_SMALL_PRODUCTS = 1 << 15,       /* so many are always done so; */
    LSP_SMALL_NEAR_PRODUCTS = 1 << 18,  /* these if rows are long and their columns near each other; */
    LSP_SMALL_DENSE_PRODUCTS = 1 << 23, /* these if B's rows are nearly dense */
    LSP_SMALL_ENTRIES = 1 << 18,        /* of A */
    LSP_SMALL_COLUMNS = 64 * 64,
    LSP_SMALL_ROWS = 1 << 14
};

/* If A*B is so small, and of int32 indices and values of one type, as C's are to be: makes it, and sets *done. Matrices
 * and options were checked. */
lsp_status lsp_spgemm_small(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                            lsp_csr *C, lsp_spgemm_info *info, bool *done);

/* The same by a plan, whose first use makes C in the plan's way and keeps C's columns, if its product is that small.
 * The next ones compute values alone. */
lsp_status lsp_spgemm_small_reserve(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B);
void lsp_spgemm_small_keep_columns(lsp_spgemm_plan *plan, const lsp_csr *C);
static inline bool lsp_spgemm_small_knows_columns(const lsp_spgemm_plan *plan) {
    return plan->uses > 0 && plan->route.c_col != NULL;
}
/* C has its row pointers; its columns are written unless they are there (update). */
lsp_status lsp_spgemm_small_replay(const lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, bool update,
                                   const lsp_csr *C);

/* Rows first .. end-1, with memory of their own. */
typedef struct lsp_small_job {
    lsp_csr A, B;
    int64_t first, end;
    int32_t *rowptr;      /* of all rows: where those of the job begin, from 0 on, and one more */
    const int64_t *known; /* instead, for values alone: C's row pointers; col is C's then */
    int32_t *col;         /* as many as the rows may have entries, and val too */
    void *val;
    void *window;         /* of the values' type, one a column, all -0.0 */
    uint8_t *touched;     /* one a column, rounded up to 64, all 0 */
    const uint64_t *bits; /* B's columns as bits, `words` words a row; NULL: columns are marked in `touched` instead */
    int64_t words;        /* a multiple of 8 */
} lsp_small_job;

/* Returns how many entries the rows have. */
int64_t lsp_spgemm_small_rows_portable(const lsp_small_job *job);
int64_t lsp_spgemm_small_rows_avx2(const lsp_small_job *job);
int64_t lsp_spgemm_small_rows_avx512(const lsp_small_job *job);

/* The values alone, of a C whose structure is known. `touched` is not used. */
void lsp_spgemm_small_values_portable(const lsp_small_job *job);
void lsp_spgemm_small_values_avx2(const lsp_small_job *job);
void lsp_spgemm_small_values_avx512(const lsp_small_job *job);

#endif
