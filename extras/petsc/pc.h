/* pc.h: the preconditioner lsp on one rank (pc.c) and on several (pc_ranks.c). */
#pragma once

#include "plugin.h"

typedef struct Hierarchy {
    lsp_multigrid_options options;
    lsp_multigrid *multigrid; /* of one rank, or of a coarse grid; several: NULL */
    PluginState state;        /* of its matrix */
    int64_t rows;
    lsp_array near_null; /* where the hierarchy is */
    lsp_array b, x;      /* there, for vectors that lie elsewhere; made when such come */
    PC grids;            /* several ranks: PETSc's multigrid of two grids; one: NULL */
    lsp_csr all;         /* of a coarse grid, whose hierarchy every rank has: its matrix, and vectors for all ranks */
    Vec all_b, all_x;
    VecScatter to_all;
} Hierarchy;

/* The near-null vectors of this rank's rows become those of the options, in the order of the library: those of an
 * unknown beside each other. */
PetscErrorCode plugin_get_near_null(Mat A, Hierarchy *h);
PetscErrorCode plugin_set_up_ranks(PC pc); /* for pc->pmat of type mpiaij or its kin: makes the grids */
