/* C = A*B on a GPU, behind plain C: gpu/inspect.cu, _factors.cu, _count.cu, _fill.cu, _fill_extreme.cu, _masked.cu
 * _places.cu and _strips.cu, or gpu/none.c in a build without CUDA. */
#ifndef LSP_SPGEMM_GPU_GPU_H
#define LSP_SPGEMM_GPU_GPU_H

#include "choose.h"
#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the operands of each entry of C lie, and C's structure: all there, or all NULL, but for `large`. See
 * gpu/kernel_replay.cuh. */
typedef struct lsp_spgemm_replay {
    void *pairs;
    uint16_t *counts;
    int64_t *ends;
    uint32_t *col;
    void *rowptr;    /* of C's type */
    uint32_t *large; /* groups of entries of many products; NULL if there are none */
    int64_t large_count;
} lsp_spgemm_replay;

/* Which columns of each strip of 32 the rows have: there once C was counted so. See gpu/kernel_dense_b.cuh. */
typedef struct lsp_spgemm_dense_b {
    uint32_t strips; /* of a row; 0: C is made in other ways */
    int64_t bytes;   /* that both take */
    void *B, *C;
} lsp_spgemm_dense_b;

/* What a plan keeps of a product on the GPU. */
typedef struct lsp_spgemm_gpu {
    int64_t *rowptr;           /* there, rows + 1: nnz of row i at i + 1, or (summed) where C's rows begin */
    uint32_t *products;        /* there: of every row, saturated */
    uint8_t *groups;           /* there: of every row of C that was counted in groups, a window or a run, which */
    uint8_t *repeats;          /* there, or NULL: of every row of B, whether it has the columns of the one before */
    void *pieces;              /* there, or NULL: of the rows that are filled in pieces */
    void *tiles;               /* there: where the rows of C begin that a block makes */
    void *report;              /* there: what the kernels learn */
    bool counting, filling;    /* parts of it are in use, and must be cleared before they are again */
    bool all_short, summed;    /* every row is made by a warp, and nnz(C) known: rowptr need not be summed up */
    int64_t nnz;               /* then, of C */
    bool duplicates, unsorted; /* B: a column twice in a row; rows that do not ascend */
    uint32_t shared_from;      /* see lsp_shared_bin */
    uint32_t short_repeats;    /* rows of C, see gpu/short_repeat.cuh */
    uint32_t count_bins[LSP_BINS], fill_bins[LSP_BINS]; /* rows of each bin */
    lsp_spgemm_replay replay;
    lsp_spgemm_dense_b dense_b;
} lsp_spgemm_gpu;

/* op(A) and op(B) as the kernels take them: 32 bits an index, values of the type of the arithmetic, B's rows sorted. In
 * scratch where the user's arrays are not so. */
typedef struct lsp_spgemm_gpu_operands {
    lsp_csr A, B;
    int64_t *names; /* NULL, or the columns that B's are numbers of: they need more than 31 bits */
} lsp_spgemm_gpu_operands;

struct lsp_spgemm_plan;

/* Checks A and B, brings them to form and leaves facts in the plan. Waits for the GPU. */
lsp_status lsp_spgemm_gpu_inspect(struct lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                  lsp_spgemm_gpu_operands *operands);
/* Brings operands that were checked to form. */
lsp_status lsp_spgemm_gpu_take_operands(struct lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                        lsp_spgemm_gpu_operands *operands);
/* nnz(C) to the plan, and where its rows begin. Waits for the GPU, unless all rows are short. */
lsp_status lsp_spgemm_gpu_count(struct lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands);
/* Fills C, allocated but for its row pointers not set. */
lsp_status lsp_spgemm_gpu_fill(struct lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, bool update,
                               lsp_csr *C);
/* Bytes of scratch that lsp_spgemm_gpu_fill takes. */
int64_t lsp_spgemm_gpu_fill_bytes(const struct lsp_spgemm_plan *plan);
/* Finds the places of all products, C being filled, if that is worth it and memory allows. Waits for the GPU. */
lsp_status lsp_spgemm_gpu_replay_build(struct lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands,
                                       const lsp_csr *C);
/* Fills C by them: its values, or all of it. */
lsp_status lsp_spgemm_gpu_replay_run(struct lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, lsp_csr *C,
                                     bool structure);
bool lsp_spgemm_gpu_replay_drop(struct lsp_spgemm_plan *plan); /* frees the places; false: there are none */
/* C of the entries of the mask, whose rows ascend. Waits for nnz(C). */
lsp_status lsp_spgemm_gpu_masked(struct lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, lsp_csr *C);
/* The numbers of lsp_spgemm_outline of both: the first call has the GPU look, the second one waits for that alone. */
lsp_status lsp_spgemm_gpu_start_structure(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B);
lsp_status lsp_spgemm_gpu_read_structure(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, uint64_t structure[2]);

#ifdef __cplusplus
}
#endif
#endif
