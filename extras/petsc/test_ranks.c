/* test_ranks.c: the types and the preconditioner of the plug-in on all ranks of the run, beside PETSc's own. */
#include "test.h"

/* The matrix of a grid of k*k points, on all ranks; its blocks of our type if the option says so. */
static PetscErrorCode make_grid(PetscInt k, const char *type, const char *blocks, Mat *A) {
    PetscInt low, high;

    PetscFunctionBegin;
    if (blocks)
        PetscCall(PetscOptionsSetValue(NULL, "-mat_seqaij_type", blocks));
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, k * k, k * k));
    PetscCall(MatSetType(*A, type));
    PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
    PetscCall(MatGetOwnershipRange(*A, &low, &high));
    for (PetscInt r = low; r < high; r++) {
        const PetscInt near[] = {r - k, r % k ? r - 1 : -1, r, (r + 1) % k ? r + 1 : -1, r + k < k * k ? r + k : -1};
        const PetscScalar value[] = {-1, -1, 4.01, -1, -1};
        PetscCall(MatSetValues(*A, 1, &r, 5, near, value, INSERT_VALUES)); /* leaves columns below 0 out */
    }
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(Mat A, const char *type, PetscInt *iterations, Vec *x) {
    KSP solver;
    PC preconditioner;
    Vec b;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, x, &b));
    PetscCall(fill(b));
    PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &solver));
    PetscCall(KSPSetType(solver, KSPCG));
    PetscCall(KSPGetPC(solver, &preconditioner));
    PetscCall(PCSetType(preconditioner, type));
    PetscCall(KSPSetOperators(solver, A, A));
    PetscCall(KSPSetFromOptions(solver));
    PetscCall(KSPSetTolerances(solver, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    PetscCall(KSPSolve(solver, b, *x));
    PetscCall(KSPGetIterationNumber(solver, iterations));
    PetscCall(KSPDestroy(&solver));
    PetscCall(VecDestroy(&b));
    PetscFunctionReturn(0);
}

/* A grid of k*k points with up to eight neighbours and some unknowns each. From point `limit` on, points have none. */
static PetscErrorCode make_system(PetscInt k, PetscInt unknowns, PetscInt limit, Mat *A) {
    PetscInt low, high;

    PetscFunctionBegin;
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, k * k * unknowns, k * k * unknowns));
    PetscCall(MatSetBlockSize(*A, unknowns));
    PetscCall(MatSetType(*A, "aijlsp"));
    PetscCall(MatSeqAIJSetPreallocation(*A, 9 * unknowns, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*A, 9 * unknowns, NULL, 9 * unknowns, NULL));
    PetscCall(MatGetOwnershipRange(*A, &low, &high));
    for (PetscInt row = low; row < high; row++)
        for (PetscInt dy = -1; dy <= 1; dy++)
            for (PetscInt dx = -1; dx <= 1; dx++) {
                const PetscInt r = row / unknowns, x = r % k + dx, y = r / k + dy, c = y * k + x;
                const PetscScalar value = dx == 0 && dy == 0 ? 8.01 : -1;
                if (x < 0 || x >= k || y < 0 || y >= k || (c != r && (r >= limit || c >= limit)))
                    continue;
                for (PetscInt u = 0; u < unknowns; u++)
                    PetscCall(
                        MatSetValue(*A, row, c * unknowns + u, u == row % unknowns ? value : value / 4, INSERT_VALUES));
            }
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

/* Multigrid over ranks takes as many iterations as one rank does for all of the matrix, or `more`. */
static PetscErrorCode test_iterations(PetscInt k, PetscInt unknowns, PetscInt limit, PetscInt more) {
    PetscMPIInt ranks;
    PetscInt several, alone;
    Mat A, whole;
    Vec x, y;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    PetscCall(make_system(k, unknowns, limit, &A));
    PetscCall(solve(A, "lsp", &several, &x));
    if (ranks > 1) {
        PetscCall(MatCreateRedundantMatrix(A, ranks, MPI_COMM_NULL, MAT_INITIAL_MATRIX, &whole));
        PetscCall(MatSetBlockSize(whole, unknowns));
        PetscCall(solve(whole, "lsp", &alone, &y));
        MUST(several <= alone + more, "%d iterations, %d on one rank", (int)several, (int)alone);
        PetscCall(VecDestroy(&y));
        PetscCall(MatDestroy(&whole));
    }
    PetscCall(solve(A, PCGAMG, &alone, &y));
    PetscCall(must_agree_to(1e-8, y, x, "the solution by multigrid of all ranks"));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(0);
}

/* One solver for two matrices of one structure, which need different preconditioners: then as many iterations as a new
 * solver takes, or three more, because on one rank aggregates stay. */
static PetscErrorCode test_new_values(Mat A, const char *smoother) {
    PetscInt low, high, iterations[2], fresh;
    KSP solver;
    PC preconditioner;
    Vec b, x, y, more;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(x, &more));
    PetscCall(MatGetOwnershipRange(A, &low, &high));
    for (PetscInt i = low; i < high; i++)
        PetscCall(VecSetValue(more, i, i % 3 == 0 ? 1000 : 0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(more));
    PetscCall(VecAssemblyEnd(more));
    PetscCall(fill(b));
    PetscCall(PetscOptionsSetValue(NULL, "-pc_lsp_smoother", smoother));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
    PetscCall(KSPSetType(solver, KSPCG));
    PetscCall(KSPGetPC(solver, &preconditioner));
    PetscCall(PCSetType(preconditioner, "lsp"));
    PetscCall(KSPSetFromOptions(solver));
    PetscCall(KSPSetTolerances(solver, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    for (int k = 0; k < 2; k++) {
        PetscCall(KSPSetOperators(solver, A, A));
        PetscCall(KSPSolve(solver, b, x));
        PetscCall(KSPGetIterationNumber(solver, &iterations[k]));
        if (k == 0)
            PetscCall(MatDiagonalSet(A, more, ADD_VALUES));
    }
    PetscCall(solve(A, "lsp", &fresh, &y));
    MUST(iterations[0] < 40 && iterations[1] <= fresh + 3, "%s: %d iterations, %d with new values, %d by a new solver",
         smoother, (int)iterations[0], (int)iterations[1], (int)fresh);
    PetscCall(must_agree_to(1e-9, y, x, "the solution for new values"));
    PetscCall(PetscOptionsClearValue(NULL, "-pc_lsp_smoother"));
    PetscCall(VecScale(more, -1));
    PetscCall(MatDiagonalSet(A, more, ADD_VALUES));
    PetscCall(KSPDestroy(&solver));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&more));
    PetscFunctionReturn(0);
}

PetscErrorCode test_ranks(void) {
    PetscMPIInt ranks;
    PetscInt slow, fast;
    Mat A, B, C, block;
    Vec x, y;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    PetscCall(make_grid(40, MATAIJ, NULL, &A));
    PetscCall(solve(A, PCGAMG, &slow, &x));
    PetscCall(make_grid(40, MATAIJ, "seqaijlsp", &B));
    block = B;
    if (ranks > 1)
        PetscCall(MatMPIAIJGetSeqAIJ(B, &block, NULL, NULL));
    PetscCall(must_be_type(block, "seqaijlsp"));
    for (int round = 0; round < 50; round++)
        PetscCall(compare_vectors(A, B));
    PetscCall(solve(B, PCGAMG, &fast, &y)); /* coarse levels are of our type, too */
    MUST(slow == fast, "%d iterations, %d with seqaij", (int)fast, (int)slow);
    PetscCall(must_agree_to(1e-9, x, y, "the solution"));
    PetscCall(VecDestroy(&y));
    PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_type", "lsp"));
    PetscCall(solve(B, PCBJACOBI, &fast, &y));                         /* our multigrid on the block of each rank */
    PetscCall(must_agree_to(1e-9, x, y, "the solution by multigrid")); /* residual 1e-12, condition below 1e3 */
    PetscCall(PetscOptionsClearValue(NULL, "-sub_pc_type"));
    PetscCall(VecDestroy(&y));
    PetscCall(solve(B, "lsp", &fast, &y)); /* of the whole matrix */
    PetscCall(must_agree_to(1e-9, x, y, "the solution by multigrid of all ranks"));
    MUST(fast <= slow + 4, "%d iterations, %d with gamg", (int)fast, (int)slow);
    PetscCall(test_iterations(100, 1, 10000, 1)); /* where blocks meet without smoothing: 3 more */
    PetscCall(test_iterations(40, 2, 1600, 3));
    PetscCall(test_iterations(40, 1, 500, 1)); /* some ranks have no neighbours */
    PetscCall(test_iterations(30, 1, 0, 1));   /* no rank has */
    PetscCall(test_new_values(B, "jacobi"));
    PetscCall(test_new_values(B, "chebyshev"));
    PetscCall(PetscOptionsClearValue(NULL, "-mat_seqaij_type"));
    PetscCall(MatDestroy(&B));
    PetscCall(make_grid(40, "aijlsp", NULL, &B)); /* the type by its own name, made and converted */
    PetscCall(MatConvert(A, "aijlsp", MAT_INITIAL_MATRIX, &C));
    PetscCall(must_be_type(C, ranks > 1 ? "mpiaijlsp" : "seqaijlsp"));
    for (Mat *one = &B; one; one = one == &B ? &C : NULL) {
        PetscCall(compare_vectors(A, *one));
        PetscCall(VecDestroy(&y));
        PetscCall(solve(*one, PCGAMG, &fast, &y));
        MUST(slow == fast, "%d iterations, %d with seqaij", (int)fast, (int)slow);
        PetscCall(must_agree_to(1e-9, x, y, "the solution"));
    }
    PetscCall(MatConvert(C, ranks > 1 ? MATMPIAIJ : MATSEQAIJ, MAT_INPLACE_MATRIX, &C));
    PetscCall(compare_vectors(A, C));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&C));
    PetscFunctionReturn(0);
}
