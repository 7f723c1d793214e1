/* test_compare.c: what a matrix and its products with vectors must be, for the tests of one rank and of several. */
#include "test.h"

PetscErrorCode must_be_type(Mat A, const char *type) {
    MatType found;
    PetscBool same;

    PetscFunctionBegin;
    PetscCall(MatGetType(A, &found));
    PetscCall(PetscStrcmp(found, type, &same));
    MUST(same, "the type is %s, not %s", found, type);
    PetscFunctionReturn(0);
}

PetscErrorCode must_agree_to(PetscReal tolerance, Vec a, Vec b, const char *what) {
    PetscReal size, off;
    Vec difference;

    PetscFunctionBegin;
    PetscCall(VecDuplicate(a, &difference));
    PetscCall(VecCopy(a, difference));
    PetscCall(VecAXPY(difference, -1, b));
    PetscCall(VecNorm(a, NORM_INFINITY, &size));
    PetscCall(VecNorm(difference, NORM_INFINITY, &off));
    MUST(off <= tolerance * (size + 1), "%s is off by %g of %g", what, (double)off, (double)size);
    PetscCall(VecDestroy(&difference));
    PetscFunctionReturn(0);
}

static PetscErrorCode must_agree(Vec a, Vec b, const char *what) { return must_agree_to(1e-12, a, b, what); }

PetscErrorCode fill(Vec x) {
    PetscInt low, high;

    PetscFunctionBegin;
    PetscCall(VecGetOwnershipRange(x, &low, &high));
    for (PetscInt i = low; i < high; i++)
        PetscCall(VecSetValue(x, i, PetscSinReal((PetscReal)(3 * i + 1)), INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscFunctionReturn(0);
}

PetscErrorCode compare_vectors(Mat A, Mat B) {
    Vec right[4], left[4];
    PetscInt rows, cols;

    PetscFunctionBegin;
    for (int k = 0; k < 4; k++) {
        PetscCall(MatCreateVecs(B, &right[k], &left[k]));
        PetscCall(fill(right[k]));
        PetscCall(fill(left[k]));
    }
    PetscCall(MatMult(A, right[0], left[2]));
    PetscCall(MatMult(B, right[0], left[3]));
    PetscCall(must_agree(left[2], left[3], "MatMult"));
    PetscCall(MatMultAdd(A, right[0], left[0], left[2]));
    PetscCall(MatMultAdd(B, right[0], left[0], left[3]));
    PetscCall(must_agree(left[2], left[3], "MatMultAdd"));
    PetscCall(MatMultAdd(A, right[0], left[2], left[2]));
    PetscCall(MatMultAdd(B, right[0], left[3], left[3]));
    PetscCall(must_agree(left[2], left[3], "MatMultAdd in place"));
    PetscCall(MatMultTranspose(A, left[0], right[2]));
    PetscCall(MatMultTranspose(B, left[0], right[3]));
    PetscCall(must_agree(right[2], right[3], "MatMultTranspose"));
    PetscCall(MatMultTransposeAdd(A, left[0], right[0], right[2]));
    PetscCall(MatMultTransposeAdd(B, left[0], right[0], right[3]));
    PetscCall(must_agree(right[2], right[3], "MatMultTransposeAdd"));
    PetscCall(MatGetSize(A, &rows, &cols));
    if (rows == cols) {
        PetscCall(MatGetDiagonal(A, left[2]));
        PetscCall(MatGetDiagonal(B, left[3]));
        PetscCall(must_agree(left[2], left[3], "MatGetDiagonal"));
    }
    for (int k = 0; k < 4; k++) {
        PetscCall(VecDestroy(&right[k]));
        PetscCall(VecDestroy(&left[k]));
    }
    PetscFunctionReturn(0);
}
