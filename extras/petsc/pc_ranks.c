/* pc_ranks.c: the preconditioner lsp on several ranks: PETSc's multigrid with two grids.
 *
 * A rank makes a hierarchy for its block of A, with what a row has in other blocks added to its diagonal, so that
 * constant vectors stay near-null. The first prolongation of that is the rank's part of P, level 1 its part of the
 * coarse matrix; pc_border.c smooths P where blocks meet, and completes the coarse matrix. Every rank gathers that and
 * takes a cycle of the library's multigrid for it. The near-null vectors of the coarse matrix are those that P turns
 * into the near-null vectors of A: the library does not tell them, so they are found by least squares. */
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

/* A matrix whose entries PETSc does not see. Its vectors have the type of A's. */
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
static PetscErrorCode make_blocks(PC pc, PetscInt vectors, const PetscScalar *moved, lsp_where where, lsp_csr *P,
                                  lsp_csr *level, PetscReal *radius) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
    const Hierarchy *h = pc->data;
    lsp_csr_types types = {
        .rowptr_type = PLUGIN_INDEX, .col_type = PLUGIN_INDEX, .val_type = LSP_F64, .place = lsp_place_of(where)};
    lsp_multigrid *multigrid = NULL;
    lsp_multigrid_info info = {0};
    lsp_csr sum, one = {0}, prolongation, coarse;
    PetscMPIInt whole, any;
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
    whole = sum.rows > 0 && info.levels <= 1 && vectors != h->options.block;
    PetscCallMPI(MPI_Allreduce(&whole, &any, 1, MPI_INT, MPI_MAX, comm));
    PetscCheck(!any, comm, PETSC_ERR_SUP,
               "-pc_type lsp: a rank has too few rows for %" PetscInt_FMT " near-null vectors of %d unknowns a node",
               vectors, (int)h->options.block);
    LSP_CALL(lsp_csr_copy(plugin_ctx, &prolongation, &types, P));
    types.place = LSP_PLACE_HOST;
    LSP_CALL(lsp_csr_copy(plugin_ctx, &coarse, &types, level));
    PetscCallMPI(MPI_Allreduce(&info.radius[0], radius, 1, MPIU_REAL, MPIU_MAX, comm));
    *radius = *radius > 0 ? *radius : 2;
    lsp_multigrid_destroy(multigrid);
    LSP_CALL(lsp_csr_free(plugin_ctx, &one));
    LSP_CALL(lsp_csr_free(plugin_ctx, &sum));
    PetscFunctionReturn(0);
}

/* ---- the scale of P ---------------------------------------------------------------------------------------------- */

/* One unknown a node: multiplies the columns of P, and level 1 with them, so that P turns the constant into the
 * constant. With the vector that is found as a near-null vector instead, coefficients that jump take 29 iterations
 * for 24. */
static PetscErrorCode scale(Mat M, const lsp_csr *level, const char *prefix) {
    const PetscInt *const begin = level->rowptr, *const col = level->col;
    const PetscScalar *there;
    PetscScalar *value, *const val = level->val;
    Prolongation *p;
    Vec weights, ones;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(M, &weights, &ones));
    PetscCall(VecSet(ones, 1));
    PetscCall(plugin_find_coarse(M, prefix, ones, weights));
    PetscCall(VecDestroy(&ones));
    PetscCall(VecGetArray(weights, &value));
    for (PetscInt r = 0; r < level->rows; r++)
        value[r] = value[r] > 0 ? value[r] : 1;
    for (PetscInt r = 0; r < level->rows; r++)
        for (PetscInt k = begin[r]; k < begin[r + 1]; k++)
            val[k] *= value[r] * value[col[k]];
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

/* Every rank takes a cycle for the whole coarse matrix. C has its sizes; near_null has its `vectors` near-null vectors,
 * which the solver takes from the caller, or no memory: then they are constant. */
static PetscErrorCode set_coarse(const Hierarchy *h, const lsp_csr *level, lsp_array *near_null, PetscInt vectors,
                                 Mat C, KSP coarse) {
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
    all->options.block = vectors;
    all->near_null = *near_null;
    all->options.near_null = near_null->memory, all->options.near_null_vectors = near_null->memory ? vectors : 0;
    *near_null = (lsp_array){0};
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

static PetscErrorCode make_grids(PC pc, Mat P, const lsp_csr *level, lsp_array *near_null, PetscInt vectors,
                                 PetscReal radius, const char *prefix) {
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
    PetscCall(set_coarse(h, level, near_null, vectors, C, coarse));
    PetscCall(MatDestroy(&C));
    PetscCall(PCSetUp(h->grids));
    PetscFunctionReturn(0);
}

/* The columns of level 1 become those of all ranks. */
static PetscErrorCode widen(MPI_Comm comm, lsp_csr *level) {
    PetscInt *const col = level->col, cols = (PetscInt)level->cols, first = 0, all;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Exscan(&cols, &first, 1, MPIU_INT, MPI_SUM, comm));
    PetscCallMPI(MPI_Allreduce(&cols, &all, 1, MPIU_INT, MPI_SUM, comm));
    for (int64_t k = 0; k < level->nnz; k++)
        col[k] += first;
    level->cols = all;
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_set_up_ranks(PC pc) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
    Hierarchy *h = pc->data;
    const char *prefix;
    lsp_array near_null = {0};
    MatNullSpace space;
    PetscBool constant = PETSC_FALSE;
    PetscInt unknowns, count = 0;
    PetscReal radius;
    Prolongation *p;
    lsp_where where;
    lsp_csr P, level;
    Border border;
    Mat M;

    PetscFunctionBegin;
    PetscCall(MatGetBlockSize(pc->pmat, &unknowns));
    PetscCall(MatGetNearNullSpace(pc->pmat, &space));
    if (space)
        PetscCall(MatNullSpaceGetVecs(space, &constant, &count, NULL));
    const PetscInt given = count + (constant ? 1 : 0), vectors = given > 0 ? given : unknowns;
    PetscCall(plugin_get_near_null(pc->pmat, h));
    h->options.block = unknowns;
    PetscCall(PCGetOptionsPrefix(pc, &prefix));
    PetscCall(plugin_find_border(pc->pmat, unknowns, &border));
    PetscCall(plugin_where(border.diagonal, border.diagonal, &where));
    PetscCall(make_blocks(pc, vectors, border.moved, where, &P, &level, &radius));
    PetscCall(make_prolongation(pc->pmat, &P, &M));
    if (unknowns == 1 && given == 0)
        PetscCall(scale(M, &level, prefix));
    else
        PetscCall(plugin_find_near_null(pc->pmat, M, vectors, prefix, &near_null));
    PetscCall(widen(comm, &level));
    PetscCall(MatShellGetContext(M, &p));
    if (border.all > 0)
        PetscCall(plugin_smooth_border(&border, &p->P, prolongation_damping / radius, &p->W, &level));
    PetscCall(plugin_leave_border(&border));
    PetscCall(make_grids(pc, M, &level, &near_null, vectors, radius, prefix));
    LSP_CALL(lsp_csr_free(plugin_ctx, &level));
    PetscCall(MatDestroy(&M));
    PetscFunctionReturn(0);
}
