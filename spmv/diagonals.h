/* Inside spmv: the format of LSP_SPMV_DIAGONALS and LSP_SPMV_BLOCKS, the same on both devices.
 *
 * A slice is 32 consecutive rows. For each distinct column - row among its entries it has one offset, one mask of the
 * rows that have an entry there, and 32 values. So no index is stored for an entry, and neighbouring rows read
 * neighbouring elements of x. A row outside the mask reads neither a value nor x. For BLOCKS a row is a row of dense
 * b x b blocks, and each of the 32 values is a block. */
#pragma once

#include "job.h"

LSP_BEGIN_DECLS

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

/* Are the entries of the b rows from `row` on, which has the entries begin .. end-1, the rows of dense b x b blocks?
 * Columns fit 32 bits. */
static inline LSP_BOTH_SIDES bool lsp_diagonals_is_dense(const lsp_csr *A, int b, int64_t row, int64_t begin,
                                                         int64_t end) {
    const int64_t n = end - begin;
    bool dense = n % b == 0;
    for (int i = 1; i < b; i++) {
        dense = dense && lsp_index_at(A->rowptr, A->rowptr_type, row + i + 1) == end + i * n;
    }
    for (int64_t k = begin; dense && k < end; k += b) { /* inside the arrays, because the lengths are equal */
        const int corner = (int)lsp_index_at(A->col, A->col_type, k);
        dense = corner % b == 0;
        for (int ij = 0; ij < b * b; ij++) {
            dense = dense && (int)lsp_index_at(A->col, A->col_type, k + ij / b * n + ij % b) == corner + ij % b;
        }
    }
    return dense;
}

/* What counting finds of one block size. */
typedef struct lsp_diagonals_found {
    int64_t limit;  /* given: counting stops beyond. 0: this size is not wanted */
    int64_t total;  /* diagonals of all slices, or some number beyond the limit */
    bool no_blocks; /* A does not consist of such blocks */
} lsp_diagonals_found;
static inline LSP_BOTH_SIDES bool lsp_diagonals_is_offered(const lsp_diagonals_found *found) {
    return found->limit > 0 && !found->no_blocks && found->total <= found->limit;
}
/* Asked after each of the first `count` diagonals of a slice, which have entries in `rows` rows: is it beyond hope? */
static inline LSP_BOTH_SIDES bool lsp_diagonals_are_poor(int64_t count, int64_t rows, int64_t limit) {
    return count % LSP_DIAGONALS_PATIENCE == 0 && limit != INT64_MAX &&
           (double)(count * LSP_SPMV_SLICE) > LSP_DIAGONALS_FILL * (double)rows;
}
enum { LSP_DIAGONALS_SIZES = LSP_SPMV_LARGEST_BLOCK + 1 };

/* What a device does with them. */
typedef struct lsp_diagonals_device {
    /* Counts for all block sizes that are wanted, from the largest one down: once one is within its limit, smaller ones
     * need no count. first: NULL, or the offsets of slices, of the one size that is wanted. A GPU's waits. */
    lsp_status (*count)(lsp_ctx *ctx, const lsp_csr *A, lsp_diagonals_found found[LSP_DIAGONALS_SIZES], int64_t *first);
    /* D->at if `places`, and values, if A has some. Waits for nothing. */
    lsp_status (*fill)(lsp_ctx *ctx, const lsp_csr *A, const lsp_diagonals *D, bool places);
    lsp_status (*multiply)(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_diagonals *D);
} lsp_diagonals_device;
extern const lsp_spmv_engine lsp_spmv_diagonals; /* of both methods and devices */

LSP_END_DECLS
