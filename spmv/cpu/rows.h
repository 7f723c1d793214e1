/* The kernels of CSR as it is on the CPU: cpu/rows_kernel.c, compiled for each instruction set. */
#ifndef LSP_SPMV_CPU_ROWS_H
#define LSP_SPMV_CPU_ROWS_H

#include "core/isa.h"
#include "spmv/ref.h"

/* A row is summed in pieces of this many entries, counted from its begin; the sums of the pieces are added in order.
 * So threads may share a long row, and the bits do not depend on how. */
enum { LSP_SPMV_PIECE = 1 << 16 };

/* rows.c: the first row before which there are at least `weight` rows and entries. */
int64_t lsp_spmv_row_at(const lsp_csr *A, int64_t weight);

typedef struct lsp_spmv_rows {
    const lsp_spmv_job *job;
    bool prefetch;    /* lsp_spmv_reads_at_random */
    int64_t *outside; /* the lowest entry whose column is outside the matrix */
} lsp_spmv_rows;

/* y of the rows begin .. end-1. */
void lsp_spmv_rows_avx512(const lsp_spmv_rows *r, int64_t begin, int64_t end);
void lsp_spmv_rows_avx2(const lsp_spmv_rows *r, int64_t begin, int64_t end);
void lsp_spmv_rows_portable(const lsp_spmv_rows *r, int64_t begin, int64_t end);

/* sums[v], in the type of the vectors: the entries begin .. end-1, at most LSP_SPMV_PIECE of one row. */
void lsp_spmv_piece_avx512(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums);
void lsp_spmv_piece_avx2(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums);
void lsp_spmv_piece_portable(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums);

/* The same in a semiring other than plus-times: cpu/semirings.c. */
void lsp_spmv_rows_semiring(const lsp_spmv_rows *r, int64_t begin, int64_t end);
void lsp_spmv_piece_semiring(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums);
/* y[i] from the sums of the pieces of row i, in any semiring: `count` times `vectors` numbers, which are joined in
 * order. They are overwritten. */
void lsp_spmv_join_pieces(const lsp_spmv_job *job, int64_t i, void *sums, int64_t count);

#endif
