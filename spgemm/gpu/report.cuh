/* report */
#ifndef LSP_SPGEMM_GPU_REPORT_CUH
#define LSP_SPGEMM_GPU_REPORT_CUH

#include "job.cuh"

/* What a check found. All zero before. */
typedef struct spg_check {
    ull start_wrong, stop_wrong; /* 1 if rowptr[0], rowptr[rows] are so */
    ull falls;                   /* ~ the first row that ends before it starts; 0: none */
    ull outside;                 /* ~ the first entry with such a column; 0: none */
    ull descents, duplicates;    /* neighbours in a row of which the second column is smaller; is the same */
} spg_check;

/* What each of the three steps learns on the device; read back once it is complete. All zero before. */
typedef struct spg_facts {
    spg_check check[2];
    ull products, nnz_bound, max_products;
    ull nnz;                      /* of C, if all rows are short */
    uint32_t bins[LSP_BINS];      /* rows by who counts them */
    uint32_t many[LSP_MANY_BINS]; /* of these, see lsp_shared_from */
    uint32_t unfit;               /* 1: a short row is not filled as one */
    uint32_t repeats;             /* rows, see gpu/short_repeat.cuh */
    uint32_t blocks;              /* that have reported */
} spg_facts;

typedef struct spg_counting {
    ull nnz;
    uint32_t bins[LSP_BINS];        /* rows by who fills them */
    uint32_t placed[LSP_BINS];      /* rows of each bin that are in the list already */
    uint32_t retry[LSP_COUNT_BINS]; /* rows that fit no window */
    uint32_t again;                 /* rows given up, to be counted by bits */
    uint32_t merged;                /* rows that are merged */
    ull taken;                      /* pieces of work that a block has taken */
} spg_counting;

typedef struct spg_filling {
    uint32_t placed[LSP_BINS];
    ull rows_taken, pieces_taken;
} spg_filling;

typedef struct spg_report {
    spg_facts facts;
    spg_counting counting;
    spg_filling filling;
} spg_report;

__host__ __device__ inline bool check_failed(const spg_check &c) {
    return c.start_wrong != 0 || c.stop_wrong != 0 || c.falls != 0 || c.outside != 0;
}

#endif
