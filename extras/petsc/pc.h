/* pc.h: the preconditioner lsp on one rank (pc.c) and on several (pc_ranks.c). */
#ifndef LSP_EXTRAS_PETSC_PC_H
#define LSP_EXTRAS_PETSC_PC_H

#include "plugin.h"

typedef struct Hierarchy {
    lsp_multigrid_options options;
    lsp_multigrid *multigrid; /* one rank; several: NULL */
    PluginState state;        /* of its matrix */
    int64_t rows;
    lsp_array near_null; /* where the hierarchy is */
    lsp_array b, x;      /* there, for vectors that lie elsewhere; made when such come */
    PC grids;            /* several ranks: PETSc's multigrid of two grids; one: NULL */
    bool gathers;        /* several ranks: each has a hierarchy for the whole matrix. Then there are: */
    Mat all;             /* the whole matrix */
    Vec all_b, all_x;    /* vectors of it */
    VecScatter to_all;
} Hierarchy;

/* For pc->pmat of type mpiaij or its kin. _ranks: makes the grids. _gather: the matrix and the vectors of all ranks. */
PetscErrorCode plugin_set_up_ranks(PC pc);
PetscErrorCode plugin_gather(PC pc);

#endif
