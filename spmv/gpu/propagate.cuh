/* What the host and the kernels of LSP_SPMV_PROPAGATE share. The entries of A are numbered twice: in CSR order, cut
 * into bins; and in the order (slice of x, bin), in which products are computed. The entries of one slice and one bin
 * are a run: contiguous in both orders. */
#pragma once

#include "arith.cuh"
#include "gather_scatter/gpu/runs.cuh"
#include "spmv/bodies.h"

enum {
    PROPAGATE_NT = 1024,
    PROPAGATE_ALIGN = 8, /* products: a slice begins at a multiple, so that vectors belong to one slice */
    PROPAGATE_STEP = 64  /* sizes of slices and bins are multiples */
};

typedef struct propagation {
    int64_t rows, cols, nnz;
    unsigned columns, slices; /* of a slice of x */
    unsigned target, entries; /* see lsp_spmv_cutting; a bin has room for `entries` */
    unsigned bins, run_room;  /* run_room: slices, rounded up */
    int threads;              /* of a block of phase 2 */
    unsigned ahead;           /* blocks of phase 2 that run at the same time */
    bool cuts_rows;           /* a row may go on in the next bins */
    lsp_spmv_bin *bin;        /* bins + 1 */
    uint16_t *row_begin;      /* rows: where a row begins in its bin */
    unsigned *slice_at;       /* slices + 1: the first product of each */
    uint16_t *col;            /* of a product: column in the slice */
    void *val, *product;
    uint16_t *place;   /* entry k of bin b in CSR order is its entry place[b * entries + k] in the order of products */
    gather_runs *runs; /* entries / 32 words a bin */
    unsigned *shift;   /* entry i of bin b, in its run r, is product shift[b * run_room + r] + i */
    void *head, *tail; /* cuts_rows: sums of the row that comes from earlier bins, and of the row that goes on */
} propagation;
