/* Inside spmv/cpu: the loops of diagonals that are compiled for each instruction set (diagonals_build.c,
 * diagonals_kernel.c), and what diagonals.c hands to them. */
#pragma once

#include "cpu.h"

typedef struct lsp_diagonals_work {
    const lsp_csr *A;
    const lsp_diagonals *D;     /* of the plan; NULL in a count */
    const lsp_spmv_job *job;    /* of a product */
    int block;                  /* of a count */
    int64_t *first;             /* of a count: the plan's, or NULL */
    lsp_diagonals_found *found; /* of a count: `total` is added to, `no_blocks` set atomically */
} lsp_diagonals_work;

/* For slices begin .. end-1:
 * _count adds their diagonals to found->total and, unless `first` is NULL, sets first[s + 1] to those of slice s;
 * _place writes their diagonals, _fill their values; _product computes their rows of Y. */
typedef void lsp_diagonals_do(const lsp_diagonals_work *work, int64_t begin, int64_t end);
#define LSP_DIAGONALS_ISA(isa)                                                                                         \
    lsp_diagonals_do lsp_diagonals_count_##isa, lsp_diagonals_place_##isa, lsp_diagonals_fill_##isa,                   \
        lsp_diagonals_product_##isa;
LSP_DIAGONALS_ISA(portable)
LSP_DIAGONALS_ISA(avx2)
LSP_DIAGONALS_ISA(avx512)
