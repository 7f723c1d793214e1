/* Inside spmv/cpu: the loops of diagonals that are compiled for each instruction set (diagonals_build.c,
 * diagonals_kernel.c), and what diagonals.c hands to them. */
#pragma once

#include "cpu.h"

/* The making of a plan, or the count before it. */
typedef struct lsp_diagonals_build {
    const lsp_csr *A;
    const lsp_diagonals *D; /* where the making goes */
    int block;
    int64_t *first;             /* of the count: D->first, or NULL */
    lsp_diagonals_found *found; /* `total` is added to, `no_blocks` set atomically */
} lsp_diagonals_build;

typedef struct lsp_diagonals_product {
    const lsp_csr *A;
    const lsp_diagonals *D;
    const lsp_spmv_vectors *vectors;
    lsp_type type;                            /* of x and y */
    int64_t count;                            /* vectors */
    int64_t x_row, x_vector, y_row, y_vector; /* steps, in elements */
} lsp_diagonals_product;

/* For slices begin .. end-1:
 * _count adds their diagonals to found->total and, unless build->first is NULL, sets first[s + 1] to those of slice s;
 * _place writes their diagonals, _fill their values; _product computes their rows of Y. */
#define LSP_DIAGONALS_ISA(isa)                                                                                         \
    void lsp_diagonals_count_##isa(lsp_diagonals_build *build, int64_t begin, int64_t end);                            \
    void lsp_diagonals_place_##isa(lsp_diagonals_build *build, int64_t begin, int64_t end);                            \
    void lsp_diagonals_fill_##isa(lsp_diagonals_build *build, int64_t begin, int64_t end);                             \
    void lsp_diagonals_product_##isa(const lsp_diagonals_product *product, int64_t begin, int64_t end);
LSP_DIAGONALS_ISA(portable)
LSP_DIAGONALS_ISA(avx2)
LSP_DIAGONALS_ISA(avx512)
