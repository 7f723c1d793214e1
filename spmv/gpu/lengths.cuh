/* What the host and the kernels of LSP_SPMV_LENGTHS share. Rows are sorted by length within windows; a slice is a
 * warp's work: 32 short rows with a lane each, 8 longer ones with four lanes each, or a piece of a long one. */
#pragma once

#include "propagate.cuh"

/* Tuned on an H200. The window is small because nearby rows share x. */
enum {
    LENGTHS_NT = 1024,
    LENGTHS_WINDOW = 1024, /* rows: one a thread of the kernels that make slices */
    LENGTHS_SHORT = 24,    /* entries: rows up to this have one lane, */
    LENGTHS_MIDDLE = 128,  /* rows up to this four lanes; longer ones are cut into pieces */
    LENGTHS_FEW = 4,       /* lanes of a middle row */
    LENGTHS_PIECE = 512,
    LENGTHS_FEW_PIECES = 16, /* of a row: up to this one thread adds them, else a warp */
    LENGTHS_SECTOR = 32      /* bytes of x that are popular, or not, together */
};

/* Entries of a slice: step t of lane l is 32 * (at + t) + l. They end where the next slice begins. */
typedef struct alignas(16) lengths_slice {
    unsigned at, slot;           /* slot: the first row's place in the sorted order */
    unsigned piece;              /* of the row; 0 for a whole one */
    unsigned char lanes, rows;   /* lanes of a row; rows */
    unsigned short piece_of_row; /* the row has several pieces, whose sums are added later */
} lengths_slice;

/* A column of an entry: of x, or with this bit a place among the popular sectors. All bits: no entry. */
#define LENGTHS_POPULAR 0x80000000u
#define LENGTHS_NONE 0xFFFFFFFFu

typedef struct lengths_plan {
    int64_t rows, cols, nnz, windows, slices, steps;
    unsigned *row, *begin, *length; /* of each slot: its row, where that begins in A, its entries */
    lengths_slice *slice;           /* slices + 1 */
    unsigned *block_slice;          /* blocks + 1: the first slice of each block of the product */
    int64_t blocks;
    unsigned *col; /* 32 a step */
    void *val;
    void *sum;        /* of each slice that is a piece */
    unsigned *sector; /* popular sectors of x */
    unsigned popular; /* how many; 0: none */
    bool has_pieces;
} lengths_plan;
