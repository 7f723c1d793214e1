/* Inside C = A*B: the plan, the facts it rests on, the choice made from them, and the job that threads work on. */
#ifndef LSP_SPGEMM_H
#define LSP_SPGEMM_H

#include "segsort/segsort.h"
#include "spgemm_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Products per row are multiplied in one of two ways. "Sort": expand all, sort by column, sum equal neighbours.
 * "Window": an accumulator for each column between the smallest and the largest; pays when products are many for it. */
typedef struct lsp_spgemm_facts {
    int64_t rows, cols;
    int64_t products;
    int64_t nnz_bound;
    int64_t max_row_products;
    int64_t sort_products;  /* most products of a row that is better sorted */
    int64_t window_columns; /* widest window of a row that is better done so */
} lsp_spgemm_facts;

/* What one thread keeps at hand. A row that fits neither is done in several windows. */
typedef struct lsp_spgemm_room {
    int64_t sort_products;
    int64_t window_columns; /* a multiple of 64, at least 64 */
    size_t word_bytes, value_bytes;
} lsp_spgemm_room;

typedef struct lsp_spgemm_choice {
    lsp_spgemm_method method;
    char reason[160];
    int threads;
    lsp_spgemm_room room;
    int64_t thread_bytes;
} lsp_spgemm_choice;

/* The decision, from facts alone: `asked` may be LSP_SPGEMM_AUTO; at most `threads`; scratch within `available` bytes.
 * False if not even the smallest room for one thread fits; the choice is then that smallest one. */
bool lsp_spgemm_choose(const lsp_spgemm_facts *facts, lsp_spgemm_method asked, lsp_type type, int threads,
                       int64_t available, lsp_spgemm_choice *choice);

/* Is a row of `products` in a window of `width` columns done faster in the window? Beyond the second-level cache a
 * window must be fuller. First guesses, to be tuned with
 * sparse-bench spgemm. */
static inline bool lsp_spgemm_prefers_window(int64_t products, int64_t width) {
    enum { COLUMNS_A_PRODUCT = 32, COLUMNS_A_PRODUCT_BEYOND = 8, CACHED_COLUMNS = 1 << 17 };
    int64_t most = width <= CACHED_COLUMNS ? COLUMNS_A_PRODUCT : COLUMNS_A_PRODUCT_BEYOND;
    return width / most < products;
}

/* Scratch of one thread, as the room says. */
typedef struct lsp_spgemm_work {
    void *words, *spare; /* sort_products words each */
    void *a, *b;         /* the factors of each product, by slot */
    void *sum;           /* window_columns; -0.0 between rows, so that adding the first product only rounds it */
    uint8_t *touched;    /* window_columns; 0 between rows */
} lsp_spgemm_work;

typedef struct lsp_spgemm_job {
    lsp_csr A, B;    /* op(A), op(B) */
    lsp_type type;   /* of the arithmetic; B's values have it. LSP_NONE: a pattern */
    bool ascending;  /* B's rows are sorted: their ends bound a row of C */
    bool counting;   /* nnz of row i to rowptr[i + 1]; else fill col and val from rowptr[i] on */
    int64_t *rowptr; /* of C */
    lsp_csr *C;      /* when not counting */
    const lsp_word_sort *sort;
    lsp_spgemm_room room;
} lsp_spgemm_job;

/* Rows first .. last-1, for each type of arithmetic: [0] none, [1] f32, [2] f64. Compiled once an instruction set. */
typedef void (*lsp_spgemm_rows)(const lsp_spgemm_job *job, const lsp_spgemm_work *work, int64_t first, int64_t last);
typedef struct lsp_spgemm_kernels {
    lsp_spgemm_rows rows[2][3]; /* [columns of B are 64 bits wide] */
} lsp_spgemm_kernels;

const lsp_spgemm_kernels *lsp_spgemm_kernels_portable(void);
const lsp_spgemm_kernels *lsp_spgemm_kernels_avx2(void);
const lsp_spgemm_kernels *lsp_spgemm_kernels_avx512(void);

/* A matrix as the plan remembers it: sizes and types, and a number that changes with any pointer or column. */
typedef struct lsp_spgemm_outline {
    int64_t rows, cols, nnz;
    lsp_type rowptr_type, col_type, val_type;
    uint64_t structure;
} lsp_spgemm_outline;

struct lsp_spgemm_plan {
    lsp_ctx *ctx;
    lsp_spgemm_options options;
    lsp_spgemm_info info;
    lsp_spgemm_outline A, B;
    lsp_spgemm_facts facts;
    lsp_type type; /* of the arithmetic and of C */
    bool ascending;
    bool counted;        /* rowptr holds C's; before, the products of rows */
    int64_t *rowptr;     /* rows + 1 */
    int64_t *block_rows; /* info.blocks + 1: pieces of about equal work */
    lsp_where where;     /* of A, B and C. On a GPU `gpu` stands for ascending, rowptr and block_rows */
    lsp_spgemm_gpu gpu;
};

/* The number of lsp_spgemm_outline. Reads all pointers and columns once. */
uint64_t lsp_spgemm_structure(lsp_ctx *ctx, const lsp_csr *A);

/* Facts and blocks of op(A)*op(B) into the plan. */
lsp_status lsp_spgemm_inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B);

/* The two passes of each method: count C's rows into job->rowptr (not yet summed up); fill job->C. */
lsp_status lsp_spgemm_ref(lsp_spgemm_plan *plan, const lsp_spgemm_job *job);
lsp_status lsp_spgemm_cpu(lsp_spgemm_plan *plan, lsp_spgemm_job *job);

/* Entries of A as the arithmetic sees them. */
static inline double lsp_spgemm_value_at(const lsp_csr *A, int64_t i) {
    return A->val_type == LSP_F64   ? ((const double *)A->val)[i]
           : A->val_type == LSP_F32 ? (double)((const float *)A->val)[i]
                                    : 1.0;
}

#ifdef __cplusplus
}
#endif
#endif
