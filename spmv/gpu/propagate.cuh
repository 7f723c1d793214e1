/* What the host and the kernels of LSP_SPMV_PROPAGATE share. The entries of A are numbered twice: in CSR order, cut
 * into bins; and in the order (slice of x, bin), in which products are computed. The entries of one slice and one bin
 * are a run: contiguous in both orders. */
#pragma once

#include "arith.cuh"

enum {
    PROPAGATE_NT = 1024,
    PROPAGATE_ALIGN = 8, /* products: a slice begins at a multiple, so that vectors belong to one slice */
    PROPAGATE_STEP = 64  /* sizes of slices and bins are multiples */
};

/* Bin b owns the rows that begin in it, bin[b].row .. bin[b+1].row-1, and entries bin[b].begin .. bin[b+1].begin-1 of
 * the CSR order. reach: in how many of the next bins its last row has entries. */
typedef struct alignas(16) propagate_bin {
    int64_t row;
    unsigned begin, reach;
} propagate_bin;

/* 32 entries of a bin: a bit for each that begins a run, and the runs of the bin that begin before. */
typedef struct alignas(8) propagate_runs {
    unsigned begins, before;
} propagate_runs;

typedef struct propagation {
    int64_t rows, cols, nnz;
    unsigned columns, slices; /* of a slice of x */
    unsigned target, entries; /* bin b owns rows that begin in target*b .. target*(b+1)-1; it has room for `entries` */
    unsigned bins, run_room;  /* run_room: slices, rounded up */
    int threads;              /* of a block of phase 2 */
    unsigned ahead;           /* blocks of phase 2 that run at the same time */
    bool cuts_rows;           /* a row may go on in the next bins */
    propagate_bin *bin;       /* bins + 1 */
    uint16_t *row_begin;      /* rows: where a row begins in its bin */
    unsigned *slice_at;       /* slices + 1: the first product of each */
    uint16_t *col;            /* of a product: column in the slice */
    void *val, *product;
    uint16_t *place; /* entry k of bin b in CSR order is its entry place[b * entries + k] in the order of products */
    propagate_runs *runs; /* entries / 32 words a bin */
    unsigned *shift;      /* entry i of bin b, in its run r, is product shift[b * run_room + r] + i */
    void *head, *tail;    /* cuts_rows: sums of the row that comes from earlier bins, and of the row that goes on */
} propagation;

/* N elements that are loaded and stored at once. */
template <typename X, int N> struct alignas(sizeof(X) * N) propagate_pack { X at[N]; };
