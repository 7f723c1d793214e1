/* pc_ranks.c: the preconditioner lsp of one unknown a node on several ranks: PETSc's multigrid with two grids.
 *
 * A rank makes a hierarchy for its block of A, with what a row has in other blocks added to its diagonal, so that
 * constant vectors stay near-null. The first prolongation of that is the rank's part of P. Let F be A without those
 * blocks: entries of other ranks' columns, and their sums on the diagonal, with the other sign. Then the coarse matrix
 * is P' A P = P' (blocks) P + P' F P, whose first part is level 1 of the hierarchies, and F has few entries. Every rank
 * gathers the coarse matrix and takes a cycle of the library's multigrid for it. */
#include "pc.h"
#include <petscksp.h>

/* As in solve/multigrid. */
static const PetscReal jacobi_damping = 1.6, chebyshev_top = 1.1, chebyshev_share = 0.15, coarse_threshold = 0.02;

/* Of what a row has in other blocks; with all of it a block without a boundary of its own would be singular. */
static const PetscReal moved_share = 0.999;

/* The arrays of a matrix of PETSc, with columns of all ranks. */
typedef struct Rows {
    PetscInt rows, cols; /* of this rank */
    PetscInt *i, *j;
    PetscScalar *a;
} Rows;

/* Frees the arrays. */
static PetscErrorCode to_matrix(MPI_Comm comm, Rows *r, Mat *M) {
    PetscFunctionBegin;
    PetscCall(MatCreateMPIAIJWithArrays(comm, r->rows, r->cols, PETSC_DETERMINE, PETSC_DETERMINE, r->i, r->j, r->a, M));
    PetscCall(PetscFree3(r->i, r->j, r->a));
    PetscFunctionReturn(0);
}

/* The arrays of a matrix of blocks, which hang on it. */
typedef struct Block {
    lsp_csr csr;
    PetscInt *none; /* row pointers of the block off the diagonal, which is empty */
} Block;

static PetscErrorCode destroy_block(void *handed) {
    Block *b = PLUGIN_MEMORY(handed);

    PetscFunctionBegin;
    if (plugin_ctx) /* else it ended with the context */
        LSP_CALL(lsp_csr_free(plugin_ctx, &b->csr));
    PetscCall(PetscFree(b->none));
    PetscCall(PetscFree(b));
    PetscFunctionReturn(0);
}

/* A matrix of blocks, one a rank. */
static PetscErrorCode blocks_to_matrix(MPI_Comm comm, const lsp_csr *block, Mat *M) {
    const lsp_type index = sizeof(PetscInt) == 8 ? LSP_I64 : LSP_I32;
    const lsp_csr_types types = {.rowptr_type = index, .col_type = index, .val_type = LSP_F64, .place = LSP_PLACE_HOST};
    const PetscInt rows = (PetscInt)block->rows, cols = (PetscInt)block->cols;
    lsp_csr here;
    PetscInt *none;
    Block *b;

    PetscFunctionBegin;
    LSP_CALL(lsp_csr_copy(plugin_ctx, block, &types, &here));
    PetscCall(PetscCalloc1((size_t)rows + 1, &none));
    PetscCall(MatCreateMPIAIJWithSplitArrays(comm, rows, cols, PETSC_DETERMINE, PETSC_DETERMINE, here.rowptr, here.col,
                                             here.val, none, none, here.val, M));
    PetscCall(plugin_attached(*M, "lsp_block", sizeof *b, destroy_block, (void **)&b));
    *b = (Block){here, none};
    PetscFunctionReturn(0);
}

/* ---- the block of a rank ----------------------------------------------------------------------------------------- */

/* Makes F. moved[r]: what the diagonal of row r gets in place of it; one that would not be positive stays. touched: not
 * 0 for a row of A that F reads or writes. */
static PetscErrorCode split(Mat A, Mat *F, PetscScalar **moved, Vec *touched) {
    const PetscInt *garray;
    const PetscScalar *d;
    PetscInt first, last, entries = 0;
    PluginState state;
    lsp_csr outer;
    Mat off;
    Vec diagonal;
    Rows r = {0};

    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &off, &garray));
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    PetscCall(MatCreateVecs(A, NULL, &diagonal));
    PetscCall(VecDuplicate(diagonal, touched));
    PetscCall(MatGetDiagonal(A, diagonal));
    PetscCall(VecGetArrayRead(diagonal, &d));
    PetscCall(plugin_view(off, LSP_HOST, &outer, &state));
    const PetscInt *i = outer.rowptr, *j = outer.col;
    const PetscScalar *a = outer.val;
    r.rows = r.cols = last - first;
    const size_t most = (size_t)(outer.nnz + r.rows);
    PetscCall(PetscMalloc3((size_t)r.rows + 1, &r.i, most, &r.j, most, &r.a));
    PetscCall(PetscMalloc1((size_t)r.rows, moved));
    for (PetscInt row = 0; row < r.rows; row++) {
        PetscScalar sum = 0;
        PetscInt k = i[row];

        r.i[row] = entries;
        if (k < i[row + 1])
            PetscCall(VecSetValue(*touched, first + row, 1, INSERT_VALUES));
        for (PetscInt e = i[row]; e < i[row + 1]; e++)
            sum += moved_share * a[e];
        sum = d[row] + sum > 0 ? sum : 0;
        for (; k < i[row + 1] && garray[j[k]] < first; k++)
            r.j[entries] = garray[j[k]], r.a[entries++] = a[k];
        if (sum != 0)
            r.j[entries] = first + row, r.a[entries++] = -sum;
        for (; k < i[row + 1]; k++)
            r.j[entries] = garray[j[k]], r.a[entries++] = a[k];
        (*moved)[row] = sum;
    }
    r.i[r.rows] = entries;
    for (PetscInt k = 0; k < outer.cols; k++)
        PetscCall(VecSetValue(*touched, garray[k], 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(*touched));
    PetscCall(VecAssemblyEnd(*touched));
    PetscCall(VecRestoreArrayRead(diagonal, &d));
    PetscCall(VecDestroy(&diagonal));
    PetscCall(to_matrix(PetscObjectComm((PetscObject)A), &r, F));
    PetscFunctionReturn(0);
}

/* sum = the block and what is moved to its diagonal. */
static PetscErrorCode add_moved(Mat block, const PetscScalar *moved, lsp_csr *sum) {
    PluginState state;
    lsp_array there;
    lsp_csr view, D;

    PetscFunctionBegin;
    PetscCall(plugin_view(block, plugin_device, &view, &state));
    const size_t bytes = (size_t)view.rows * sizeof *moved;
    LSP_CALL(lsp_array_create(plugin_ctx, bytes, plugin_device, &there));
    LSP_CALL(lsp_array_copy(plugin_ctx, there.memory, plugin_device, moved, LSP_HOST, bytes));
    LSP_CALL(lsp_csr_from_diagonal(plugin_ctx, view.rows, there.memory, LSP_F64, plugin_device, &D));
    LSP_CALL(lsp_csr_add(plugin_ctx, 1, &view, 1, &D, sum));
    LSP_CALL(lsp_csr_free(plugin_ctx, &D));
    lsp_array_free(&there);
    PetscFunctionReturn(0);
}

/* P, level 1 as far as blocks have it, and the largest spectral radius of diag(A)^-1 A of a block. */
static PetscErrorCode make_blocks(PC pc, Mat block, const PetscScalar *moved, Mat *P, Mat *level, PetscReal *radius) {
    const Hierarchy *h = pc->data;
    const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
    lsp_multigrid *multigrid = NULL;
    lsp_multigrid_info info = {0};
    lsp_csr sum, one = {0}, prolongation, coarse;

    PetscFunctionBegin;
    PetscCall(add_moved(block, moved, &sum));
    if (sum.rows > 0) {
        LSP_CALL(lsp_multigrid_create(plugin_ctx, &sum, &h->options, &multigrid));
        LSP_CALL(lsp_multigrid_get_info(multigrid, &info));
    }
    if (info.levels > 1) {
        LSP_CALL(lsp_multigrid_get_level(multigrid, 0, NULL, &prolongation));
        LSP_CALL(lsp_multigrid_get_level(multigrid, 1, &coarse, NULL));
    } else { /* too few rows: all of them are in the coarse matrix */
        LSP_CALL(lsp_csr_from_diagonal(plugin_ctx, sum.rows, NULL, LSP_F64, plugin_device, &one));
        prolongation = one, coarse = sum;
    }
    PetscCall(blocks_to_matrix(comm, &prolongation, P));
    PetscCall(blocks_to_matrix(comm, &coarse, level));
    PetscCallMPI(MPI_Allreduce(&info.radius[0], radius, 1, MPIU_REAL, MPIU_MAX, comm));
    *radius = *radius > 0 ? *radius : 2;
    lsp_multigrid_destroy(multigrid);
    LSP_CALL(lsp_csr_free(plugin_ctx, &one));
    LSP_CALL(lsp_csr_free(plugin_ctx, &sum));
    PetscFunctionReturn(0);
}

/* ---- two grids --------------------------------------------------------------------------------------------------- */

/* Scales the columns of P, and level 1 with them, so that P turns the constant into the constant: as the library does
 * not say which vector does that, it is found by least squares. */
static PetscErrorCode scale(Mat P, Mat level, const char *prefix) {
    PetscInt count;
    PetscScalar *value;
    Vec weights, ones;
    KSP solver;
    PC none;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(P, &weights, &ones));
    PetscCall(VecSet(ones, 1));
    PetscCall(KSPCreate(PetscObjectComm((PetscObject)P), &solver));
    PetscCall(KSPSetOptionsPrefix(solver, prefix));
    PetscCall(KSPAppendOptionsPrefix(solver, "lsp_scale_"));
    PetscCall(KSPSetType(solver, KSPLSQR));
    PetscCall(KSPSetOperators(solver, P, P));
    PetscCall(KSPGetPC(solver, &none));
    PetscCall(PCSetType(none, PCNONE));
    PetscCall(KSPSetTolerances(solver, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 40));
    PetscCall(KSPSolve(solver, ones, weights));
    PetscCall(KSPDestroy(&solver));
    PetscCall(VecGetLocalSize(weights, &count));
    PetscCall(VecGetArray(weights, &value));
    for (PetscInt k = 0; k < count; k++)
        value[k] = value[k] > 0 ? value[k] : 1;
    PetscCall(VecRestoreArray(weights, &value));
    PetscCall(MatDiagonalScale(P, NULL, weights));
    PetscCall(MatDiagonalScale(level, weights, weights));
    PetscCall(VecDestroy(&weights));
    PetscCall(VecDestroy(&ones));
    PetscFunctionReturn(0);
}

/* P' F P, by those rows of P alone that F touches. */
static PetscErrorCode make_couplings(Mat F, Mat P, Vec touched, Mat *product) {
    const PetscScalar *mark;
    PetscInt first, most = 0;
    PluginState state;
    lsp_csr view;
    Mat block, some;
    Rows r = {0};

    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetSeqAIJ(P, &block, NULL, NULL));
    PetscCall(plugin_view(block, LSP_HOST, &view, &state));
    PetscCall(MatGetOwnershipRangeColumn(P, &first, NULL));
    PetscCall(VecGetArrayRead(touched, &mark));
    const PetscInt *i = view.rowptr, *j = view.col;
    const PetscScalar *a = view.val;
    r.rows = (PetscInt)view.rows, r.cols = (PetscInt)view.cols;
    for (PetscInt row = 0; row < r.rows; row++)
        most += mark[row] != 0 ? i[row + 1] - i[row] : 0;
    PetscCall(PetscMalloc3((size_t)r.rows + 1, &r.i, (size_t)most, &r.j, (size_t)most, &r.a));
    r.i[0] = 0;
    for (PetscInt row = 0, entries = 0; row < r.rows; row++) {
        for (PetscInt k = i[row]; k < i[row + 1] && mark[row] != 0; k++)
            r.j[entries] = first + j[k], r.a[entries++] = a[k];
        r.i[row + 1] = entries;
    }
    PetscCall(VecRestoreArrayRead(touched, &mark));
    PetscCall(to_matrix(PetscObjectComm((PetscObject)P), &r, &some));
    PetscCall(MatPtAP(F, some, MAT_INITIAL_MATRIX, 2, product));
    PetscCall(MatDestroy(&some));
    PetscFunctionReturn(0);
}

static PetscErrorCode set_smoother(const Hierarchy *h, PetscReal radius, Mat A, KSP smoother) {
    const bool jacobi = h->options.smoother == LSP_SMOOTHER_JACOBI;
    const PetscInt sweeps = h->options.sweeps > 0 ? h->options.sweeps : jacobi ? 1 : 2;
    PC diagonal;

    PetscFunctionBegin;
    PetscCall(KSPSetType(smoother, jacobi ? KSPRICHARDSON : KSPCHEBYSHEV));
    if (jacobi)
        PetscCall(KSPRichardsonSetScale(smoother, jacobi_damping / radius));
    else
        PetscCall(
            KSPChebyshevSetEigenvalues(smoother, chebyshev_top * radius, chebyshev_share * chebyshev_top * radius));
    PetscCall(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, sweeps));
    PetscCall(KSPSetConvergenceTest(smoother, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPSetNormType(smoother, KSP_NORM_NONE));
    PetscCall(KSPSetOperators(smoother, A, A));
    PetscCall(KSPGetPC(smoother, &diagonal));
    PetscCall(PCSetType(diagonal, PCJACOBI));
    PetscFunctionReturn(0);
}

/* Every rank takes a cycle for the whole coarse matrix. */
static PetscErrorCode set_coarse(const Hierarchy *h, Mat C, KSP coarse) {
    PC cycle;

    PetscFunctionBegin;
    PetscCall(KSPSetType(coarse, KSPPREONLY));
    PetscCall(KSPSetOperators(coarse, C, C));
    PetscCall(KSPGetPC(coarse, &cycle));
    PetscCall(PCSetType(cycle, PCLSP));
    Hierarchy *all = cycle->data;
    all->gathers = true;
    all->options = h->options;
    all->options.threshold = PetscMax(all->options.threshold, coarse_threshold);
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_gather(PC pc) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
    Hierarchy *h = pc->data;
    PetscMPIInt ranks;
    Vec part;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(comm, &ranks));
    PetscCall(MatCreateRedundantMatrix(pc->pmat, ranks, MPI_COMM_NULL, MAT_INITIAL_MATRIX, &h->all));
    PetscCall(MatCreateVecs(pc->pmat, &part, NULL));
    PetscCall(VecScatterCreateToAll(part, &h->to_all, &h->all_b));
    PetscCall(VecDuplicate(h->all_b, &h->all_x));
    PetscCall(VecDestroy(&part));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_grids(PC pc, Mat P, Mat C, PetscReal radius, const char *prefix) {
    Hierarchy *h = pc->data;
    KSP smoother, coarse;

    PetscFunctionBegin;
    PetscCall(PCDestroy(&h->grids));
    PetscCall(PCCreate(PetscObjectComm((PetscObject)pc), &h->grids));
    PetscCall(PCSetOptionsPrefix(h->grids, prefix)); /* else options of another PCMG would change this one */
    PetscCall(PCAppendOptionsPrefix(h->grids, "lsp_"));
    PetscCall(PCSetOperators(h->grids, pc->pmat, pc->pmat));
    PetscCall(PCSetType(h->grids, PCMG));
    PetscCall(PCMGSetLevels(h->grids, 2, NULL));
    PetscCall(PCMGSetInterpolation(h->grids, 1, P));
    PetscCall(PCMGGetSmoother(h->grids, 1, &smoother));
    PetscCall(set_smoother(h, radius, pc->pmat, smoother));
    PetscCall(PCMGGetCoarseSolve(h->grids, &coarse));
    PetscCall(set_coarse(h, C, coarse));
    PetscCall(PCSetUp(h->grids));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_set_up_ranks(PC pc) {
    const char *prefix;
    MatNullSpace space;
    PetscInt unknowns;
    PetscReal radius;
    PetscScalar *moved;
    Vec touched;
    Mat block, F, P, level, C;

    PetscFunctionBegin;
    PetscCall(MatGetBlockSize(pc->pmat, &unknowns));
    PetscCall(MatGetNearNullSpace(pc->pmat, &space));
    PetscCheck(unknowns == 1 && !space, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "-pc_type lsp on several ranks takes one unknown a node and no near-null space, not %" PetscInt_FMT
               " unknowns%s. It serves the blocks of ranks: -pc_type bjacobi -sub_pc_type lsp, or asm",
               unknowns, space ? " and a near-null space" : "");
    PetscCall(MatMPIAIJGetSeqAIJ(pc->pmat, &block, NULL, NULL));
    PetscCall(split(pc->pmat, &F, &moved, &touched));
    PetscCall(make_blocks(pc, block, moved, &P, &level, &radius));
    PetscCall(PetscFree(moved));
    PetscCall(MatConvert(P, MATMPIAIJLSP, MAT_INPLACE_MATRIX, &P));
    PetscCall(PCGetOptionsPrefix(pc, &prefix));
    PetscCall(scale(P, level, prefix));
    PetscCall(make_couplings(F, P, touched, &C));
    PetscCall(VecDestroy(&touched));
    PetscCall(MatAXPY(C, 1, level, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatConvert(C, MATMPIAIJLSP, MAT_INPLACE_MATRIX, &C)); /* so that its vectors lie on the GPU */
    PetscCall(make_grids(pc, P, C, radius, prefix));
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&P));
    PetscCall(MatDestroy(&level));
    PetscCall(MatDestroy(&C));
    PetscFunctionReturn(0);
}
