/* pc_ranks.c: the preconditioner lsp of one unknown a node on several ranks: PETSc's multigrid with two grids.
 *
 * A rank makes a hierarchy for its block of A, with what a row has in other blocks added to its diagonal, so that
 * constant vectors stay near-null. The first prolongation of that is the rank's part of P, level 1 its part of the
 * coarse matrix; pc_border.c smooths P where blocks meet, and completes the coarse matrix. Every rank gathers that and
 * takes a cycle of the library's multigrid for it. */
#include "pc_ranks.h"
#include <petscksp.h>

/* As in solve/multigrid. */
static const PetscReal jacobi_damping = 1.6, chebyshev_top = 1.1, chebyshev_share = 0.15, coarse_threshold = 0.02,
                       prolongation_damping = 4.0 / 3;

/* ---- the prolongation -------------------------------------------------------------------------------------------- */

typedef struct Prolongation {
    lsp_where where; /* P lies where vectors do */
    lsp_csr P;
    lsp_spmv_plan *up, *down; /* of P and of its transpose */
    Mat W;                    /* P + W prolongs; NULL: none yet */
} Prolongation;

static PetscErrorCode destroy_prolongation(Mat M) {
    Prolongation *p;

    PetscFunctionBegin;
    PetscCall(MatShellGetContext(M, &p));
    lsp_spmv_plan_destroy(p->up);
    lsp_spmv_plan_destroy(p->down);
    if (plugin_ctx) /* else it ended with the context */
        LSP_CALL(lsp_csr_free(plugin_ctx, &p->P));
    PetscCall(MatDestroy(&p->W));
    PetscCall(PetscFree(p));
    PetscFunctionReturn(0);
}

static PetscErrorCode prolong_add(Mat M, Vec x, Vec y, Vec z) {
    Prolongation *p;

    PetscFunctionBegin;
    PetscCall(MatShellGetContext(M, &p));
    if (y && y != z)
        PetscCall(VecCopy(y, z));
    PetscCall(plugin_execute(p->up, p->where, y != NULL, x, z));
    if (p->W)
        PetscCall(MatMultAdd(p->W, x, z, z));
    PetscFunctionReturn(0);
}

static PetscErrorCode prolong(Mat M, Vec x, Vec z) { return prolong_add(M, x, NULL, z); }

static PetscErrorCode restricts(Mat M, Vec x, Vec z) {
    Prolongation *p;

    PetscFunctionBegin;
    PetscCall(MatShellGetContext(M, &p));
    PetscCall(plugin_execute(p->down, p->where, false, x, z));
    if (p->W)
        PetscCall(MatMultTransposeAdd(p->W, x, z, z));
    PetscFunctionReturn(0);
}

/* A matrix of which PETSc sees no entry; its vectors are like those of A. */
static PetscErrorCode make_shell(Mat A, PetscInt rows, PetscInt cols, void *context, Mat *M) {
    VecType type;

    PetscFunctionBegin;
    PetscCall(
        MatCreateShell(PetscObjectComm((PetscObject)A), rows, cols, PETSC_DETERMINE, PETSC_DETERMINE, context, M));
    PetscCall(MatGetVecType(A, &type));
    PetscCall(MatShellSetVecType(*M, type));
    PetscCall(MatSetUp(*M));
    PetscFunctionReturn(0);
}

/* Takes P from the caller. */
static PetscErrorCode make_prolongation(Mat A, lsp_csr *P, Mat *M) {
    const lsp_spmv_options transposed = {.transpose = true};
    Prolongation *p;

    PetscFunctionBegin;
    PetscCall(PetscNew(&p));
    p->where = P->where, p->P = *P;
    *P = (lsp_csr){0};
    LSP_CALL(lsp_spmv_plan_create(plugin_ctx, &p->P, NULL, &p->up));
    LSP_CALL(lsp_spmv_plan_create(plugin_ctx, &p->P, &transposed, &p->down));
    PetscCall(make_shell(A, (PetscInt)p->P.rows, (PetscInt)p->P.cols, p, M));
    PetscCall(MatShellSetOperation(*M, MATOP_MULT, (void (*)(void))prolong));
    PetscCall(MatShellSetOperation(*M, MATOP_MULT_ADD, (void (*)(void))prolong_add));
    PetscCall(MatShellSetOperation(*M, MATOP_MULT_TRANSPOSE, (void (*)(void))restricts));
    PetscCall(MatShellSetOperation(*M, MATOP_DESTROY, (void (*)(void))destroy_prolongation));
    PetscFunctionReturn(0);
}

/* ---- the block of a rank ----------------------------------------------------------------------------------------- */

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

/* P of this rank, `where` vectors lie, level 1 on the host, and the largest spectral radius of diag(A)^-1 A of a block.
 */
static PetscErrorCode make_blocks(PC pc, const PetscScalar *moved, lsp_where where, lsp_csr *P, lsp_csr *level,
                                  PetscReal *radius) {
    const Hierarchy *h = pc->data;
    lsp_csr_types types = {
        .rowptr_type = PLUGIN_INDEX, .col_type = PLUGIN_INDEX, .val_type = LSP_F64, .place = lsp_place_of(where)};
    lsp_multigrid *multigrid = NULL;
    lsp_multigrid_info info = {0};
    lsp_csr sum, one = {0}, prolongation, coarse;
    Mat block;

    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetSeqAIJ(pc->pmat, &block, NULL, NULL));
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
    LSP_CALL(lsp_csr_copy(plugin_ctx, &prolongation, &types, P));
    types.place = LSP_PLACE_HOST;
    LSP_CALL(lsp_csr_copy(plugin_ctx, &coarse, &types, level));
    PetscCallMPI(MPI_Allreduce(&info.radius[0], radius, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)pc)));
    *radius = *radius > 0 ? *radius : 2;
    lsp_multigrid_destroy(multigrid);
    LSP_CALL(lsp_csr_free(plugin_ctx, &one));
    LSP_CALL(lsp_csr_free(plugin_ctx, &sum));
    PetscFunctionReturn(0);
}

/* Multiplies the columns of P, and level 1 with them, so that P turns the constant into the constant: as the library
 * does not say which vector does that, it is found by least squares. Level 1 then has columns of all ranks. */
static PetscErrorCode scale(Mat M, lsp_csr *level, const char *prefix) {
    const PetscScalar *there;
    PetscInt first;
    PetscScalar *value, *val = level->val;
    Prolongation *p;
    Vec weights, ones;
    KSP solver;
    PC none;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(M, &weights, &ones));
    PetscCall(VecSet(ones, 1));
    PetscCall(KSPCreate(PetscObjectComm((PetscObject)M), &solver));
    PetscCall(KSPSetOptionsPrefix(solver, prefix));
    PetscCall(KSPAppendOptionsPrefix(solver, "lsp_scale_"));
    PetscCall(KSPSetType(solver, KSPLSQR));
    PetscCall(KSPSetOperators(solver, M, M));
    PetscCall(KSPGetPC(solver, &none));
    PetscCall(PCSetType(none, PCNONE));
    PetscCall(KSPSetTolerances(solver, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 40));
    PetscCall(KSPSolve(solver, ones, weights));
    PetscCall(KSPDestroy(&solver));
    PetscCall(VecDestroy(&ones));
    PetscCall(VecGetOwnershipRange(weights, &first, NULL));
    PetscCall(VecGetArray(weights, &value));
    for (PetscInt r = 0; r < level->rows; r++)
        value[r] = value[r] > 0 ? value[r] : 1;
    const PetscInt *begin = level->rowptr;
    PetscInt *col = level->col;
    for (PetscInt r = 0; r < level->rows; r++)
        for (PetscInt k = begin[r]; k < begin[r + 1]; k++)
            val[k] *= value[r] * value[col[k]], col[k] += first;
    PetscCall(VecGetSize(weights, &first));
    level->cols = first;
    PetscCall(VecRestoreArray(weights, &value));
    PetscCall(MatShellGetContext(M, &p));
    PetscCall(p->where == LSP_CUDA ? VecGetArrayReadAndMemType(weights, &there, NULL)
                                   : VecGetArrayRead(weights, &there));
    LSP_CALL(lsp_csr_scale(plugin_ctx, &p->P, NULL, there));
    PetscCall(p->where == LSP_CUDA ? VecRestoreArrayReadAndMemType(weights, &there)
                                   : VecRestoreArrayRead(weights, &there));
    LSP_CALL(lsp_spmv_update(p->up, &p->P));
    LSP_CALL(lsp_spmv_update(p->down, &p->P));
    PetscCall(VecDestroy(&weights));
    PetscFunctionReturn(0);
}

/* ---- the coarse matrix ------------------------------------------------------------------------------------------- */

/* The rows of all ranks, on the host of each. */
static PetscErrorCode gather(MPI_Comm comm, const lsp_csr *mine, lsp_csr *all) {
    const PetscInt own[] = {(PetscInt)mine->rows, (PetscInt)mine->nnz};
    PetscInt *sizes, before[2] = {0, 0};
    PetscMPIInt ranks, *count[2], *at[2];
    PetscInt64 total[2] = {0, 0};

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(comm, &ranks));
    PetscCall(PetscMalloc5(2 * ranks, &sizes, ranks, &count[0], ranks, &count[1], ranks, &at[0], ranks, &at[1]));
    PetscCallMPI(MPI_Allgather(own, 2, MPIU_INT, sizes, 2, MPIU_INT, comm));
    for (PetscMPIInt r = 0; r < ranks; r++)
        for (int k = 0; k < 2; k++) {
            count[k][r] = (PetscMPIInt)sizes[2 * r + k], at[k][r] = (PetscMPIInt)total[k];
            total[k] += sizes[2 * r + k];
        }
    PetscCheck(total[0] <= INT32_MAX && total[1] <= INT32_MAX, comm, PETSC_ERR_SUP,
               "The coarse matrix of -pc_type lsp has %lld rows and %lld entries, and every rank needs all of it: at "
               "most 2^31 - 1 are possible",
               (long long)total[0], (long long)total[1]);
    PetscCall(plugin_make_rows((PetscInt)total[0], (PetscInt)mine->cols, (PetscInt)total[1], all));
    PetscInt *begin = all->rowptr;
    begin[0] = 0;
    PetscCallMPI(MPI_Allgatherv((const PetscInt *)mine->rowptr + 1, (PetscMPIInt)own[0], MPIU_INT, begin + 1, count[0],
                                at[0], MPIU_INT, comm));
    PetscCallMPI(MPI_Allgatherv(mine->col, (PetscMPIInt)own[1], MPIU_INT, all->col, count[1], at[1], MPIU_INT, comm));
    PetscCallMPI(
        MPI_Allgatherv(mine->val, (PetscMPIInt)own[1], MPIU_SCALAR, all->val, count[1], at[1], MPIU_SCALAR, comm));
    for (PetscMPIInt r = 0; r < ranks; before[0] += sizes[2 * r], before[1] += sizes[2 * r + 1], r++)
        for (PetscInt row = 0; row < sizes[2 * r]; row++)
            begin[1 + before[0] + row] += before[1];
    PetscCall(PetscFree5(sizes, count[0], count[1], at[0], at[1]));
    PetscFunctionReturn(0);
}

/* Every rank takes a cycle for the whole coarse matrix, of which C has the sizes. */
static PetscErrorCode set_coarse(const Hierarchy *h, const lsp_csr *level, Mat C, KSP coarse) {
    const lsp_csr_types types = {.place = lsp_place_of(plugin_device)};
    Hierarchy *all;
    lsp_csr here;
    PC cycle;
    Vec part;

    PetscFunctionBegin;
    PetscCall(KSPSetType(coarse, KSPPREONLY));
    PetscCall(KSPSetOperators(coarse, C, C));
    PetscCall(KSPGetPC(coarse, &cycle));
    PetscCall(PCSetType(cycle, PCLSP));
    all = cycle->data;
    all->options = h->options;
    all->options.threshold = PetscMax(h->options.threshold, coarse_threshold);
    PetscCall(gather(PetscObjectComm((PetscObject)C), level, &here));
    LSP_CALL(lsp_csr_copy(plugin_ctx, &here, &types, &all->all));
    LSP_CALL(lsp_csr_free(plugin_ctx, &here));
    all->rows = all->all.rows;
    LSP_CALL(lsp_multigrid_create(plugin_ctx, &all->all, &all->options, &all->multigrid));
    PetscCall(MatCreateVecs(C, &part, NULL));
    PetscCall(VecScatterCreateToAll(part, &all->to_all, &all->all_b));
    PetscCall(VecDuplicate(all->all_b, &all->all_x));
    PetscCall(VecDestroy(&part));
    PetscFunctionReturn(0);
}

/* ---- two grids --------------------------------------------------------------------------------------------------- */

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

static PetscErrorCode make_grids(PC pc, Mat P, const lsp_csr *level, PetscReal radius, const char *prefix) {
    const PetscInt rows = (PetscInt)level->rows;
    Hierarchy *h = pc->data;
    KSP smoother, coarse;
    Mat C;

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
    PetscCall(make_shell(pc->pmat, rows, rows, NULL, &C));
    PetscCall(set_coarse(h, level, C, coarse));
    PetscCall(MatDestroy(&C));
    PetscCall(PCSetUp(h->grids));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_set_up_ranks(PC pc) {
    const char *prefix;
    MatNullSpace space;
    PetscInt unknowns;
    PetscReal radius;
    Prolongation *p;
    lsp_where where;
    lsp_csr P, level;
    Border border;
    Mat M;

    PetscFunctionBegin;
    PetscCall(MatGetBlockSize(pc->pmat, &unknowns));
    PetscCall(MatGetNearNullSpace(pc->pmat, &space));
    PetscCheck(unknowns == 1 && !space, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "-pc_type lsp on several ranks takes one unknown a node and no near-null space, not %" PetscInt_FMT
               " unknowns%s. It serves the blocks of ranks: -pc_type bjacobi -sub_pc_type lsp, or asm",
               unknowns, space ? " and a near-null space" : "");
    PetscCall(PCGetOptionsPrefix(pc, &prefix));
    PetscCall(plugin_find_border(pc->pmat, &border));
    PetscCall(plugin_where(border.diagonal, border.diagonal, &where));
    PetscCall(make_blocks(pc, border.moved, where, &P, &level, &radius));
    PetscCall(make_prolongation(pc->pmat, &P, &M));
    PetscCall(scale(M, &level, prefix));
    PetscCall(MatShellGetContext(M, &p));
    PetscCall(plugin_smooth_border(&border, &p->P, prolongation_damping / radius, &p->W, &level));
    PetscCall(plugin_leave_border(&border));
    PetscCall(make_grids(pc, M, &level, radius, prefix));
    LSP_CALL(lsp_csr_free(plugin_ctx, &level));
    PetscCall(MatDestroy(&M));
    PetscFunctionReturn(0);
}
