/* C = A*B on the CPU: shared by the threads (cpu/threads.c) and the serial kernels of an instruction set
 * (cpu/kernels.c).
 *
 * The rank of a product is the place of its column among the columns of its row of C. Counting a row finds the ranks;
 * where they are kept, filling it only adds each product where its rank says. A row repeats the row above if it has
 * the same columns, all shifted by one distance: its products then have the same ranks. */
#pragma once

#include "spgemm/job.h"

/* What a plan keeps on the CPU. */
typedef struct lsp_spgemm_cpu {
    bool ascending;          /* rows of B */
    bool exact;              /* many rows of B are exact repeats */
    int64_t *rowptr;         /* rows + 1: C's row pointers, once `counted`; before, the products of row i in i + 1 */
    int64_t *block_rows;     /* info.blocks + 1: pieces of about equal work */
    uint8_t *ways, *repeats; /* of A's rows, of B's rows */
    char *ranks;
    int64_t *block_ranks; /* where the ranks of each block begin */
    /* Made when the plan was, and taken by each pass; the choice, if memory suffices for it. */
    lsp_spgemm_choice choice;
    const struct lsp_spgemm_kernels *kernels; /* for the index types of op(A) and op(B) */
    const lsp_word_sort *sort;
} lsp_spgemm_cpu;

/* inspect.c: the facts, the ways of rows, and blocks of about equal work. */
lsp_status lsp_spgemm_cpu_inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B);
/* Hashes of the structures of A and B. */
lsp_status lsp_spgemm_cpu_structures(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, uint64_t structure[2]);

/* threads.c: a pass, with scratch of this choice; `available` bounds the ranks that counting keeps. */
lsp_status lsp_spgemm_cpu_pass(lsp_spgemm_plan *plan, const lsp_spgemm_job *job, const lsp_spgemm_choice *choice,
                               int64_t available);
bool lsp_spgemm_cpu_drop_ranks(lsp_spgemm_plan *plan); /* frees the kept ranks; false: there are none */

/* masked.c: C's entries in the mask. */
lsp_status lsp_spgemm_cpu_masked(lsp_spgemm_plan *plan, const lsp_spgemm_job *job, lsp_csr *C);

/* one_pass.c, many.c: of the device's table (job.h). */
lsp_status lsp_spgemm_one_pass(lsp_spgemm_plan *job, const lsp_csr *A, const lsp_csr *B, lsp_csr *C, bool *done);
lsp_status lsp_batch_at_once_cpu(lsp_spgemm_plan *job, int64_t count, const lsp_csr *A, const lsp_csr *B,
                                 lsp_spgemm_call by_all, lsp_csr *C, bool *done);

/* The kernels read B's values in the type of the arithmetic. A's they read in any type of reals, if they sum reals. */
static inline lsp_status lsp_spgemm_convert(lsp_ctx *ctx, lsp_type type, lsp_csr *A, lsp_csr *B) {
    const bool any = (type == LSP_F32 || type == LSP_F64) && !lsp_is_integer(A->val_type);
    const bool same = A->col == B->col && A->val == B->val && A->nnz == B->nnz && A->val_type == B->val_type;
    LSP_TRY(type != LSP_NONE ? lsp_csr_widen(ctx, B, type, B) : LSP_OK);
    if (type != LSP_NONE && !any) {
        LSP_TRY(same ? LSP_OK : lsp_csr_widen(ctx, A, type, A));
        A->val = same ? B->val : A->val;
        A->val_type = type;
    }
    return LSP_OK;
}

/* Is a matrix larger than the cache of a core? */
static inline bool lsp_is_far(const lsp_csr *B) {
    enum { NEAR = 1 << 16 };
    return B->nnz > NEAR;
}

/* The next part of a thread's memory; each begins at a cache line. */
static inline void *lsp_spgemm_take(char **at, size_t bytes) {
    void *part = *at;
    *at += (bytes + 63) / 64 * 64;
    return part;
}

/* A value of A; 1 for a pattern. */
static inline double lsp_spgemm_value_at(const lsp_csr *A, int64_t i) {
    return A->val_type == LSP_F64   ? ((const double *)A->val)[i]
           : A->val_type == LSP_F32 ? (double)((const float *)A->val)[i]
                                    : 1.0;
}

/* How a row of C is made, as bits. */
enum {
    LSP_WAY_WINDOW = 1, /* in a window; otherwise it is sorted */
    LSP_WAY_REPEAT = 2, /* repeats the row above, which lies in the same block, and uses its ranks */
    LSP_WAY_KEPT = 4,   /* its ranks are kept */
    LSP_WAY_RANK = 8    /* times log2 of the bytes of a rank */
};

/* A code for each row of B. 0: it does not repeat the row above. d + 1: its columns are those of the row above plus d,
 * and none comes twice. An exact repeat has d = 0. */
enum { LSP_REPEAT_EXACT = 1, LSP_REPEAT_MOST = UINT8_MAX };

/* Scratch of one thread, as large as its capacity. */
typedef struct lsp_spgemm_work {
    void *words, *spare; /* sort_products words each */
    uint32_t *ranks;     /* sort_products */
    void *window;        /* window_columns: ranks when counting; sums when filling, -0.0 between rows */
    uint8_t *touched;    /* window_columns; 0 between rows */
} lsp_spgemm_work;

typedef struct lsp_spgemm_pass {
    const lsp_spgemm_job *job;
    const lsp_word_sort *sort;
    lsp_spgemm_capacity capacity;
    uint8_t *ways;    /* of the rows of A */
    uint8_t *repeats; /* codes of the rows of B; NULL if few rows repeat */
    bool exact;       /* many rows of B are exact repeats */
    bool replay;      /* C has its columns; entries of A are taken one by one, and A has the values' type */
} lsp_spgemm_pass;

/* Counts or fills rows first .. last-1. `ranks` holds the kept ranks of these rows, one after the other. */
typedef void (*lsp_spgemm_rows)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, int64_t first, int64_t last,
                                char *ranks);

/* What inspection finds in rows of B and of A. */
typedef struct lsp_spgemm_findings {
    int64_t repeats, exact; /* rows of B that repeat the row above, and those that do so exactly */
    bool falls;             /* some row of B does not ascend */
    bool overflows;         /* an int64_t cannot hold the products */
    lsp_spgemm_facts facts;
} lsp_spgemm_findings;
typedef void (*lsp_spgemm_look)(const lsp_spgemm_pass *pass, int64_t first, int64_t last, lsp_spgemm_findings *found);

typedef struct lsp_spgemm_kernels {
    lsp_spgemm_look find_repeats;   /* writes repeats[] of rows of B, with 0 for the first one */
    lsp_spgemm_look count_products; /* writes the products of A's row i to rowptr[i + 1], and its way to ways[i] */
    lsp_spgemm_rows count;          /* products of row i in rowptr[i + 1] become nnz of row i of C */
    lsp_spgemm_rows fill[8];        /* LSP_BY_VALUE */
} lsp_spgemm_kernels;

/* The kernels for the index types of A and B. */
const lsp_spgemm_kernels *lsp_spgemm_kernels_portable(const lsp_csr *A, const lsp_csr *B);
const lsp_spgemm_kernels *lsp_spgemm_kernels_avx2(const lsp_csr *A, const lsp_csr *B);
const lsp_spgemm_kernels *lsp_spgemm_kernels_avx512(const lsp_csr *A, const lsp_csr *B);

/* The functions of a template by cpu/each_value.h, and the number of the one for this arithmetic. */
#define LSP_BY_VALUE(f)                                                                                                \
    { f##_none, f##_f32, f##_f64, f##_any_f32, f##_any_f64, f##_complex, f##_i64, f##_any_i64 }
static inline int lsp_value_number(lsp_type type, lsp_semiring semiring) {
    const bool any = semiring != LSP_PLUS_TIMES;
    return type == LSP_NONE  ? 0
           : type == LSP_F32 ? 1 + 2 * any
           : type == LSP_F64 ? 2 + 2 * any
           : type == LSP_C64 ? 5
                             : 6 + any;
}

/* Bytes of one rank of a row with this many products, and of all ranks of the row. */
static inline int lsp_rank_bytes(int64_t products) { return products <= 1 << 8 ? 1 : products <= 1 << 16 ? 2 : 4; }
static inline int64_t lsp_ranks_bytes(int64_t products) { return (products * lsp_rank_bytes(products) + 3) / 4 * 4; }

/* The way of a row with this many products whose ranks are kept. */
static inline uint8_t lsp_way_kept(uint8_t way, int64_t products) {
    return (uint8_t)(way | LSP_WAY_KEPT | lsp_rank_bytes(products) / 2 * LSP_WAY_RANK);
}
