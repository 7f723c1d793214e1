/* test.h: what the tests of one rank (test.c) and of several (test_ranks.c) share: test_compare.c. */
#pragma once

#include <petscksp.h>

#define MUST(condition, ...) PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_PLIB, __VA_ARGS__)

PetscErrorCode must_be_type(Mat A, const char *type);
PetscErrorCode must_agree_to(PetscReal tolerance, Vec a, Vec b, const char *what);
PetscErrorCode fill(Vec x);
PetscErrorCode compare_vectors(Mat A, Mat B); /* all four products of A and B, B of our type, with vectors */

PetscErrorCode test_ranks(void);
