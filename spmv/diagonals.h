/* Inside spmv: the format of LSP_SPMV_DIAGONALS and LSP_SPMV_BLOCKS, the same on both devices.
 *
 * A slice is 32 consecutive rows. For each distinct column - row among its entries it has one offset, one mask of the
 * rows that have such an entry, and 32 values. So no index is stored for an entry, and neighbouring rows read
 * neighbouring elements of x. A row outside the mask reads neither a value nor x. For BLOCKS a row is a row of dense
 * b x b blocks, and each of the 32 values is a block. */
#ifndef LSP_SPMV_DIAGONALS_H
#define LSP_SPMV_DIAGONALS_H

#include "spmv.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lsp_diagonal {
    int32_t offset; /* column - row */
    uint32_t rows;  /* bit r: the slice's row r has an entry there */
} lsp_diagonal;

/* The entries of a row are in the order in which the matrix has them. Rows of any order, and rows that have a column
 * twice, are therefore right, and only cost more diagonals. */
typedef struct lsp_diagonals {
    int block;             /* b; 1 for LSP_SPMV_DIAGONALS */
    bool streams;          /* on the CPU: a product reads so much that y need not come to the caches */
    int64_t slices, count; /* slices; diagonals of all slices */
    int64_t *first;        /* the diagonals of slice s are first[s] .. first[s+1]-1 */
    lsp_diagonal *at;
    void *values; /* element (i, j) of the block of row r on diagonal d: values[((d*b + i)*b + j)*32 + r]. NULL: a
                     pattern, all ones */
} lsp_diagonals;

enum {
    LSP_DIAGONALS_VECTORS = 16,   /* the most columns of X */
    LSP_DIAGONALS_SPARE = 256,    /* diagonals that may be beyond LSP_DIAGONALS_FILL: few cost nothing */
    LSP_DIAGONALS_PATIENCE = 1024 /* diagonals of a slice after which counting asks whether it is worth while */
};

/* Beyond this many stored entries for each entry of A the methods are not offered: CSR reads 12 bytes an entry. */
#define LSP_DIAGONALS_FILL 1.5

/* Slices of b x b blocks. */
static inline int64_t lsp_diagonals_slices(const lsp_csr *A, int b) {
    return lsp_ceil_div(lsp_ceil_div(A->rows, b), LSP_SPMV_SLICE);
}

/* The most diagonals that are still offered. */
static inline int64_t lsp_diagonals_limit(const lsp_csr *A, int b) {
    return (int64_t)(LSP_DIAGONALS_FILL * (double)A->nnz / (LSP_SPMV_SLICE * b * b)) + LSP_DIAGONALS_SPARE;
}

/* Could A consist of b x b blocks, by its sizes? */
static inline bool lsp_diagonals_may_have_blocks(const lsp_csr *A, int b) {
    return A->val_type != LSP_NONE && A->rows % b == 0 && A->cols % b == 0 && A->nnz % (b * b) == 0;
}

/* Sets diagonal_slots and block_slots[] of the facts: 0 where more than LSP_DIAGONALS_FILL would be stored, or where A
 * does not consist of such blocks. If A consists of blocks of one size, the others are 0. The GPU's waits. */
lsp_status lsp_spmv_count_slots_cpu(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts);
lsp_status lsp_spmv_count_slots_cuda(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts);

/* Of both devices: plus-times, up to LSP_DIAGONALS_VECTORS vectors, fewer than 2^31 - 1 rows and columns. */
bool lsp_spmv_diagonals_fits(lsp_ctx *ctx, const lsp_spmv_job *job);
bool lsp_spmv_blocks_fits(lsp_ctx *ctx, const lsp_spmv_job *job);
/* Allocates plan->parts, an lsp_diagonals of the choice's block size without arrays, and diagonals.first. */
lsp_status lsp_spmv_diagonals_begin(lsp_spmv_plan *plan, lsp_diagonals **made);
/* With count set: allocates the other arrays, and fills in plan->info. */
lsp_status lsp_spmv_diagonals_allocate(lsp_spmv_plan *plan);
lsp_status lsp_spmv_diagonals_no_blocks(lsp_ctx *ctx, int b);
void lsp_spmv_diagonals_release(lsp_spmv_plan *plan);

extern const lsp_spmv_engine lsp_spmv_diagonals_cpu, lsp_spmv_blocks_cpu;
extern const lsp_spmv_engine lsp_spmv_diagonals_cuda, lsp_spmv_blocks_cuda;

#ifdef __cplusplus
}
#endif
#endif
