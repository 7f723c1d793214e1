/* test.c: the plug-in beside PETSc's own types. It is a program for PETSc alone, which loads the plug-in at run time:
 * test -dll_append .../liblsp_petsc.so. Every check is made with seqaij and with seqaijlsp, or mpiaij of either. */
#include "test.h"
#include <stdbool.h>

static const char help[] = "Compares seqaijlsp with seqaij\n";

static PetscInt random_below(PetscInt bound) { /* the same numbers on every rank and in every run */
    static unsigned long state = 1;
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (PetscInt)((state >> 33) % (unsigned long)bound);
}

/* A random matrix: every fifth row is empty, one is long. */
static PetscErrorCode make(PetscInt m, PetscInt n, PetscInt entries, Mat *A) {
    PetscFunctionBegin;
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, n, 2 * entries + 8, NULL, A));
    PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    for (PetscInt i = 0; i < m; i++)
        for (PetscInt k = i % 5 == 1 ? entries : 0; k < (i == 7 ? n : entries); k++) {
            const PetscInt j = random_below(n); /* first, whatever the compiler */
            PetscCall(MatSetValue(*A, i, j, 1 + (PetscReal)random_below(1000) / 7, INSERT_VALUES));
        }
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode ours(Mat A, Mat *B) { return MatConvert(A, "seqaijlsp", MAT_INITIAL_MATRIX, B); }

static PetscErrorCode count(const char *event, int *calls) {
    PetscLogEvent id;
    PetscEventPerfInfo info;

    PetscFunctionBegin;
    PetscCall(PetscLogEventGetId(event, &id));
    PetscCall(PetscLogEventGetPerfInfo(0, id, &info));
    *calls = info.count;
    PetscFunctionReturn(0);
}

/* ---- products with vectors --------------------------------------------------------------------------------------- */

/* Enough products that plans are made, with new values and new places in between. */
static PetscErrorCode test_vectors(PetscInt m, PetscInt n, PetscInt entries) {
    Mat A, B, D;
    int before, after;

    PetscFunctionBegin;
    PetscCall(make(m, n, entries, &A));
    PetscCall(ours(A, &B));
    PetscCall(must_be_type(B, "seqaijlsp"));
    PetscCall(count("LSP MatMult", &before));
    for (int round = 0; round < 90; round++) {
        if (round == 30 || round == 35 || round == 70) {
            PetscCall(MatScale(A, 1.5));
            PetscCall(MatScale(B, 1.5));
        }
        if (round == 40) { /* the same number of entries more in both, elsewhere */
            for (Mat *M = &A; M; M = M == &A ? &B : NULL) {
                PetscCall(MatSetOption(*M, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
                PetscCall(MatSetOption(*M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
                PetscCall(MatSetValue(*M, m - 1, 0, 5, ADD_VALUES));
                PetscCall(MatSetValue(*M, 1, n - 1, 5, ADD_VALUES));
                PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
                PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
            }
        }
        PetscCall(compare_vectors(A, B));
    }
    PetscCall(count("LSP MatMult", &after));
    MUST(m == 0 || entries < 2 || after > before, "libsparse made no product of a %d x %d matrix", (int)m, (int)n);
    PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &D));
    PetscCall(must_be_type(D, "seqaijlsp"));
    PetscCall(compare_vectors(A, D));
    PetscCall(MatConvert(B, MATSEQAIJ, MAT_INPLACE_MATRIX, &B));
    PetscCall(must_be_type(B, MATSEQAIJ));
    PetscCall(compare_vectors(A, B));
    PetscCall(MatConvert(B, "seqaijlsp", MAT_INPLACE_MATRIX, &B));
    PetscCall(compare_vectors(A, B));
    PetscCall(MatDestroy(&D));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(0);
}

/* ---- products of matrices ---------------------------------------------------------------------------------------- */

static PetscErrorCode must_be_equal(Mat A, Mat B, const char *what) {
    Mat difference;
    MatInfo a, b;
    PetscReal size, off;

    PetscFunctionBegin;
    PetscCall(MatGetInfo(A, MAT_LOCAL, &a));
    PetscCall(MatGetInfo(B, MAT_LOCAL, &b));
    MUST(a.nz_used == b.nz_used, "%s: %g entries, %g expected", what, b.nz_used, a.nz_used);
    PetscCall(MatConvert(B, MATSEQAIJ, MAT_INITIAL_MATRIX, &difference));
    PetscCall(MatAXPY(difference, -1, A, SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(A, NORM_FROBENIUS, &size));
    PetscCall(MatNorm(difference, NORM_FROBENIUS, &off));
    MUST(off <= 1e-12 * (size + 1), "%s is off by %g of %g", what, (double)off, (double)size);
    PetscCall(MatDestroy(&difference));
    PetscFunctionReturn(0);
}

static PetscErrorCode start(MatProductType type, const Mat f[3], Mat *C) {
    PetscFunctionBegin;
    PetscCall(MatProductCreate(f[0], f[1], type == MATPRODUCT_ABC ? f[2] : NULL, C));
    PetscCall(MatProductSetType(*C, type));
    PetscCall(MatProductSetFromOptions(*C));
    PetscCall(MatProductSymbolic(*C));
    PetscFunctionReturn(0);
}

/* The product of today's factors by PETSc's own type, beside C. */
static PetscErrorCode compare_product(MatProductType type, const Mat plain[3], Mat C) {
    Mat expected;

    PetscFunctionBegin;
    PetscCall(start(type, plain, &expected));
    PetscCall(MatProductNumeric(expected));
    PetscCall(MatProductNumeric(C));
    PetscCall(must_be_equal(expected, C, MatProductTypes[type]));
    PetscCall(MatDestroy(&expected));
    PetscFunctionReturn(0);
}

static PetscErrorCode add_place(Mat A) {
    PetscFunctionBegin;
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetValue(A, 1, 0, 5, ADD_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

/* `mixed`: the second factor stays seqaij. */
static PetscErrorCode test_product(MatProductType type, const PetscInt size[6], bool mixed) {
    Mat plain[3], fast[3], C, copy;
    Vec x, y;

    PetscFunctionBegin;
    for (int k = 0; k < 3; k++) {
        PetscCall(make(size[2 * k], size[2 * k + 1], 4, &plain[k]));
        if (mixed && k == 1)
            PetscCall(MatDuplicate(plain[k], MAT_COPY_VALUES, &fast[k]));
        else
            PetscCall(ours(plain[k], &fast[k]));
    }
    PetscCall(start(type, fast, &C));
    for (int round = 0; round < 6; round++) { /* 0: nothing is new; 3: a plan is made */
        PetscCall(compare_product(type, plain, C));
        PetscCall(MatScale(plain[round & 1], 1.25));
        PetscCall(MatScale(fast[round & 1], 1.25));
    }
    PetscCall(compare_product(type, plain, C));
    PetscCall(MatDuplicate(fast[0], MAT_COPY_VALUES, &copy)); /* another matrix of the same structure */
    PetscCall(MatProductReplaceMats(copy, NULL, NULL, C));
    PetscCall(MatDestroy(&fast[0]));
    fast[0] = copy;
    PetscCall(compare_product(type, plain, C));
    PetscCall(add_place(plain[0])); /* other places: C gets another structure */
    PetscCall(add_place(fast[0]));
    PetscCall(compare_product(type, plain, C));
    PetscCall(MatScale(plain[1], 2));
    PetscCall(MatScale(fast[1], 2));
    PetscCall(compare_product(type, plain, C));
    if (!mixed)
        PetscCall(must_be_type(C, "seqaijlsp"));
    PetscCall(MatCreateVecs(C, &x, &y)); /* C is a matrix like any other */
    PetscCall(MatMult(C, x, y));
    PetscCall(MatProductClear(C));
    PetscCall(add_place(C));
    PetscCall(MatDuplicate(C, MAT_COPY_VALUES, &copy));
    PetscCall(MatDestroy(&C));
    PetscCall(MatMult(copy, x, y));
    PetscCall(MatDestroy(&copy));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    for (int k = 0; k < 3; k++) {
        PetscCall(MatDestroy(&plain[k]));
        PetscCall(MatDestroy(&fast[k]));
    }
    PetscFunctionReturn(0);
}

/* The calls that come with values, and factors of other types. */
static PetscErrorCode test_calls(void) {
    Mat A, P, a, p, C, c, D, E, e, M, F, f, G, g;

    PetscFunctionBegin;
    PetscCall(make(60, 60, 4, &A));
    PetscCall(MatShift(A, 1)); /* so that later shifts change no places */
    PetscCall(make(60, 20, 3, &P));
    PetscCall(ours(A, &a));
    PetscCall(ours(P, &p));
    PetscCall(MatSetBlockSizes(P, 2, 2));
    for (int k = 0; k < 6; k++) {
        const MatReuse reuse = k ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX;
        PetscCall(MatPtAP(A, P, reuse, 2, &C));
        PetscCall(MatPtAP(a, p, reuse, 2, &c));
        PetscCall(must_be_equal(C, c, "MatPtAP"));
        PetscCall(MatShift(A, 3));
        PetscCall(MatShift(a, 3));
    }
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 60, 3, NULL, &D));
    PetscCall(MatSetRandom(D, NULL));
    PetscCall(MatMatMult(A, D, MAT_INITIAL_MATRIX, 2, &E));
    PetscCall(MatMatMult(a, D, MAT_INITIAL_MATRIX, 2, &e));
    PetscCall(MatAXPY(E, -1, e, SAME_NONZERO_PATTERN));
    PetscReal off;
    PetscCall(MatNorm(E, NORM_FROBENIUS, &off));
    MUST(off < 1e-8, "a product with a dense matrix is off by %g", (double)off);
    PetscCall(MatCreateMAIJ(P, 2, &M));
    PetscCall(make(120, 120, 4, &F));
    PetscCall(ours(F, &f));
    PetscCall(MatPtAP(F, M, MAT_INITIAL_MATRIX, 2, &G));
    PetscCall(MatPtAP(f, M, MAT_INITIAL_MATRIX, 2, &g));
    PetscCall(must_be_equal(G, g, "MatPtAP with maij"));
    for (Mat *each[] = {&A, &P, &a, &p, &C, &c, &D, &E, &e, &M, &F, &f, &G, &g, NULL}, **one = each; *one; one++)
        PetscCall(MatDestroy(*one));
    PetscFunctionReturn(0);
}

/* ---- multigrid ----------------------------------------------------------------------------------------------------
 */

/* New values and new places in a matrix; each time multigrid must reduce the residual to the tolerance in few steps. */
static PetscErrorCode test_multigrid(void) {
    const PetscInt n = 2500;
    PetscInt steps;
    KSPConvergedReason reason;
    KSP solver;
    PC preconditioner;
    Mat A;
    Vec x, b;

    PetscFunctionBegin;
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 6, NULL, &A));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(fill(b));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &solver));
    PetscCall(KSPSetType(solver, KSPCG));
    PetscCall(KSPGetPC(solver, &preconditioner));
    PetscCall(PCSetType(preconditioner, "lsp"));
    PetscCall(PetscOptionsSetValue(NULL, "-pc_lsp_smoother", "chebyshev"));
    PetscCall(KSPSetFromOptions(solver));
    PetscCall(PetscOptionsClearValue(NULL, "-pc_lsp_smoother"));
    for (int round = 0; round < 4; round++) {
        for (PetscInt r = 0; r < n; r++) {
            const PetscInt near[] = {r - 50, r % 50 ? r - 1 : -1, r, (r + 1) % 50 ? r + 1 : -1,
                                     r + 50 < n ? r + 50 : -1};
            const PetscScalar y = 1 + round, value[] = {-y, -1, 2 + 2 * y, -1, -y};
            PetscCall(MatSetValues(A, 1, &r, 5, near, value, INSERT_VALUES));
        }
        if (round == 3)
            PetscCall(MatSetValue(A, 0, n - 1, 0, INSERT_VALUES));
        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
        if (round == 1) {
            MatNullSpace constant;
            PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &constant));
            PetscCall(MatSetNearNullSpace(A, constant));
            PetscCall(MatNullSpaceDestroy(&constant));
        }
        PetscCall(KSPSetOperators(solver, A, A));
        PetscCall(KSPSetTolerances(solver, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 60));
        PetscCall(KSPSolve(solver, b, x));
        PetscCall(KSPGetConvergedReason(solver, &reason));
        PetscCall(KSPGetIterationNumber(solver, &steps));
        MUST(reason > 0, "round %d: multigrid has not converged in %d steps", round, (int)steps);
    }
    PetscCall(KSPDestroy(&solver));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscFunctionReturn(0);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static PetscErrorCode keep(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                           PetscErrorType kind, const char *message, void *text) {
    (void)comm, (void)line, (void)function, (void)file;
    if (kind == PETSC_ERROR_INITIAL)
        PetscStrncpy(text, message, 256);
    return code;
}

/* A wrong column is refused by the library, in PETSc's way. */
static PetscErrorCode test_errors(void) {
    PetscInt i[] = {0, 1, 2}, j[] = {0, 7};
    PetscScalar v[] = {1, 2};
    char text[256] = "";
    char *found;
    Mat A, B, C;

    PetscFunctionBegin;
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 2, 2, i, j, v, &A));
    PetscCall(ours(A, &B));
    PetscCall(PetscPushErrorHandler(keep, text));
    const PetscErrorCode code = MatMatMult(B, B, MAT_INITIAL_MATRIX, 2, &C);
    PetscCall(PetscPopErrorHandler());
    MUST(code == PETSC_ERR_ARG_WRONG, "a wrong column gives the error %d", (int)code);
    PetscCall(PetscStrstr(text, "libsparse:", &found));
    MUST(found, "a wrong column gives the sentence '%s'", text);
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(0);
}

static PetscErrorCode test_one_rank(void) {
    /* of the factors: rows, columns, rows, ... */
    static const PetscInt sizes[][6] = {
        [MATPRODUCT_AB] = {50, 40, 40, 60, 3, 3},   [MATPRODUCT_AtB] = {50, 40, 50, 30, 3, 3},
        [MATPRODUCT_ABt] = {50, 40, 30, 40, 3, 3},  [MATPRODUCT_PtAP] = {50, 50, 50, 20, 3, 3},
        [MATPRODUCT_RARt] = {50, 50, 20, 50, 3, 3}, [MATPRODUCT_ABC] = {50, 40, 40, 30, 30, 20}};

    PetscFunctionBegin;
    PetscCall(test_vectors(50, 50, 4));
    PetscCall(test_vectors(300, 120, 6));
    PetscCall(test_vectors(120, 300, 3));
    PetscCall(test_vectors(40, 9, 0)); /* one row alone */
    for (MatProductType type = MATPRODUCT_AB; type <= MATPRODUCT_ABC; type++) {
        PetscCall(test_product(type, sizes[type], false));
        if (type != MATPRODUCT_ABC)
            PetscCall(test_product(type, sizes[type], true));
    }
    PetscCall(test_calls());
    PetscCall(test_multigrid());
    PetscCall(test_errors());
    PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
    PetscMPIInt ranks;

    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, help));
    PetscCall(PetscLogDefaultBegin());
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    if (ranks == 1)
        PetscCall(test_one_rank());
    PetscCall(test_ranks());
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all is equal\n"));
    PetscCall(PetscFinalize());
    return 0;
}
