/* The GPU side of C = A*B, in plain C: what a plan keeps, and the functions of the .cu files. multiply.c has the
 * device's table; in a build without CUDA none.c has none. Five folders hold the ways in which rows of C are made; what
 * serves all of them, inspects, counts or lists, is here.
 * - one_pass/: without a plan. A thread has the columns of its row in registers.
 * - sort/: a row's products are sorted by column, or merged.
 * - set/: a row's columns are marked in a set, or given by a mask, and products are added to the sums of their columns.
 * - dense/: B is nearly dense. 32 neighbouring columns of a row are made together.
 * - replay/: values alone, by the places of products, which the plan remembers. */
#pragma once

#include "choose.h"
#include "spgemm/job.h"

LSP_BEGIN_DECLS

/* Structs of kernels: replay/kernel_pairs.cuh, dense/kernel_strips.cuh, report.cuh. */
typedef struct spg_pair spg_pair;
typedef struct spg_strip spg_strip;
typedef struct spg_report spg_report;

/* What a replay needs to compute C's values again: C's structure, and what places each product. `col` is NULL where
 * there is no replay. */
typedef struct lsp_spgemm_replay {
    lsp_plan *holder; /* of its arrays */
    uint32_t *col;
    void *rowptr; /* of the type that C's row pointers have */
    /* either, for each product, its place in its row of C (replay/kernel_ranks.cuh), */
    void *ranks, *lengths; /* items of rank_bytes */
    uint32_t *begins;
    void *rows;
    int rank_bytes, lanes; /* lanes that make a row of C */
    uint32_t tile;         /* most entries of C that a block makes */
    bool values_only;      /* C's structure comes sooner by making C anew */
    /* or, for each entry of C, the pairs of entries of A and B whose products it sums (replay/kernel_pairs.cuh) */
    spg_pair *pairs;
    uint16_t *counts; /* products of each entry of C; zeros up to a whole block */
    int64_t *ends;    /* where the pairs of each group of entries end */
    int64_t nnz;      /* of C */
} lsp_spgemm_replay;

/* Which columns the rows of B and of C have in each strip of 32 columns: `strips` items a row, fewer than 2^32 in all.
 * Allocated while C is counted. See dense/kernel_strips.cuh. */
typedef struct lsp_spgemm_dense_b {
    uint32_t strips; /* strips in a row; 0: B is not treated as dense */
    int64_t bytes;   /* size of both tables together */
    spg_strip *B, *C;
} lsp_spgemm_dense_b;

/* What a plan keeps of a product on the GPU. Unless said otherwise, pointers lead to GPU memory. */
typedef struct lsp_spgemm_gpu {
    int64_t *rowptr;           /* rows + 1 items: the nnz of row i at i + 1, or, once `summed`, C's row pointers */
    uint32_t *products;        /* of each row of C; UINT32_MAX stands for that many or more */
    uint8_t *groups;           /* of each row of C: LSP_GROUPS_..., what counting learned */
    uint8_t *repeats;          /* of each row of B: REPEAT_..., does it repeat the row before? NULL if nobody asked */
    uint32_t *known;           /* of each row of C: where its columns begin in this array, if counting has kept them for
                                  filling; then these columns. NULL unless C is made at once */
    void *pieces;              /* pieces of the rows in LSP_BIN_LONG; NULL if the plan keeps none */
    unsigned long long *tiles; /* for each block of the short rows' kernels: where its rows begin in C */
    spg_report *report;        /* what kernels write and the host reads */
    bool counting, filling;    /* this part of the report is no longer zero: clear it before the next use */
    bool all_short, summed;    /* all rows have at most 256 products; rowptr holds C's row pointers */
    int64_t nnz;               /* of C, if all_short */
    bool duplicates, unsorted; /* B has a column twice in some row; B has rows that do not ascend */
    uint32_t shared_from;      /* rows with more products than this are long: see lsp_shared_bin */
    uint32_t short_repeats;    /* how many rows of C are short repeats: see sort/short_repeat.cuh */
    uint32_t count_bins[LSP_BINS], fill_bins[LSP_BINS]; /* how many rows each bin has */
    lsp_spgemm_replay replay;
    lsp_spgemm_dense_b dense_b;
} lsp_spgemm_gpu;

/* Can kernels read and write this array of values? They move a complex value at once. */
static inline bool lsp_spgemm_gpu_aligned(lsp_type type, const void *val) {
    return type != LSP_C64 || (uintptr_t)val % 16 == 0;
}

/* ---- of the device's table (job.h) ---- */

lsp_status lsp_spgemm_gpu_one_pass(lsp_spgemm_plan *job, const lsp_csr *A, const lsp_csr *B, lsp_csr *C, bool *done);
lsp_status lsp_spgemm_gpu_count_products(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, int64_t *products);
lsp_status lsp_spgemm_gpu_inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                  lsp_spgemm_operands *operands);
lsp_status lsp_spgemm_gpu_take_operands(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                        lsp_spgemm_operands *operands);
lsp_status lsp_spgemm_gpu_masked(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, lsp_csr *C);
/* The second call waits for the kernel that the first starts, and for nothing that was queued later. */
lsp_status lsp_spgemm_gpu_start_structure(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B);
lsp_status lsp_spgemm_gpu_read_structure(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, uint64_t structure[2]);

/* ---- the two passes ---- */

/* Writes nnz(C) and C's row pointers to the plan. Waits for the GPU, unless all rows are short. */
lsp_status lsp_spgemm_gpu_count(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands);
/* Fills C, whose arrays are allocated. If `update`, C has its structure already. */
lsp_status lsp_spgemm_gpu_fill(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, bool update, lsp_csr *C);
/* Bytes of scratch that lsp_spgemm_gpu_fill takes. */
int64_t lsp_spgemm_gpu_fill_bytes(const lsp_spgemm_plan *plan);
/* Prepares a replay of C, which is filled already. Does nothing if a replay would not pay or memory is short. Waits for
 * the GPU. */
lsp_status lsp_spgemm_gpu_replay_build(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, const lsp_csr *C);
/* Fills C by replay: its values, and if `structure` its columns and row pointers. */
lsp_status lsp_spgemm_gpu_replay_run(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, lsp_csr *C,
                                     bool structure);
bool lsp_spgemm_gpu_replay_drop(lsp_spgemm_plan *plan); /* frees it; false: there is none */

LSP_END_DECLS
