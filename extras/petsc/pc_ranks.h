/* pc_ranks.h: the preconditioner lsp on several ranks. */
#pragma once

#include "pc.h"

/* The x whose P x is nearest to b. */
PetscErrorCode plugin_find_coarse(Mat P, const char *prefix, Vec b, Vec x);

/* The near-null vectors of the coarse matrix, with the rows of all ranks, in the order of the library. */
PetscErrorCode plugin_find_near_null(Mat A, Mat P, PetscInt count, const char *prefix, lsp_array *found);

#define PLUGIN_INDEX (sizeof(PetscInt) == 8 ? LSP_I64 : LSP_I32)

/* Rows of this rank, on the host; the caller frees them. */
PetscErrorCode plugin_make_rows(PetscInt rows, PetscInt cols, PetscInt entries, lsp_csr *r);

/* Where the rows of this rank meet those of others. */
typedef struct Border {
    Mat A;
    PetscInt rows;
    PetscScalar *moved; /* what its block has more on the diagonal, for what a row has in other blocks; the diagonal
                           stays positive */
    char *mark;         /* how near a row is: pc_border.c */
    PetscInt near, all; /* rows near the border, of this rank and of all */
    PetscInt *list;     /* those of this rank */
    PetscInt *place;    /* the number of a row among those of all ranks; -1: it is not near the border */
    PetscInt *outer;    /* the same of the columns in other blocks */
    Vec diagonal;       /* of A */
} Border;

PetscErrorCode plugin_find_border(Mat A, PetscInt unknowns, Border *border); /* unknowns: of a node */
PetscErrorCode plugin_leave_border(Border *border);

/* P, of the blocks, becomes P + W, smoothed by what couples them: W = -factor * D^-1 F P. level, of this rank, for all
 * columns: comes as P' B P, where B are the blocks with what is moved, and becomes (P + W)' A (P + W). */
PetscErrorCode plugin_smooth_border(const Border *border, const lsp_csr *P, PetscReal factor, Mat *W, lsp_csr *level);
