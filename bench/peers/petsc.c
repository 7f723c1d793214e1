/* PETSc 3 (petsc-dev): MatMatMult and, for R*A*P, MatPtAP of sequential AIJ matrices, and MatMult, on one thread. */
#include "peers.h"
#include <petscmat.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT, FIRST, SECOND, FACTORS }; /* R, A, B */

typedef struct petsc {
    Mat factors[FACTORS], C; /* B^T*A*B where R, which is B^T, is there; else A*B; A alone for products with vectors */
    lsp_csr copies[FACTORS]; /* of the factors, in arrays that PETSc may keep */
} petsc;

static void finish(void) { (void)PetscFinalize(); }

static bool start(void) {
    static bool started;
    if (!started) {
        started = PetscInitializeNoArguments() == 0 && PetscPopSignalHandler() == 0 && atexit(finish) == 0;
    }
    return started;
}

static void release(void *self) { (void)MatDestroy(&((petsc *)self)->C); }

static void destroy(void *self) {
    petsc *p = self;
    release(p);
    for (int f = 0; f < FACTORS; f++) {
        (void)MatDestroy(&p->factors[f]);
        free(p->copies[f].rowptr);
        free(p->copies[f].col);
        free(p->copies[f].val);
    }
    free(p);
}

static void *copy_of(const void *array, size_t bytes) {
    void *copy = malloc(bytes + 1);
    if (copy && bytes > 0) {
        memcpy(copy, array, bytes);
    }
    return copy;
}

static bool take(const lsp_csr *from, lsp_csr *copy, Mat *factor) {
    if (!from) {
        return true;
    }
    *copy = *from;
    copy->rowptr = copy_of(from->rowptr, ((size_t)from->rows + 1) * sizeof(PetscInt));
    copy->col = copy_of(from->col, (size_t)from->nnz * sizeof(PetscInt));
    copy->val = copy_of(from->val, (size_t)from->nnz * sizeof(PetscScalar));
    return copy->rowptr && copy->col && copy->val &&
           MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, (PetscInt)from->rows, (PetscInt)from->cols, copy->rowptr,
                                     copy->col, copy->val, factor) == 0;
}

static void *prepare(const peer_factors *from, int threads) {
    const lsp_csr *all[] = {from->R, from->A, from->B};
    (void)threads;
    petsc *p = start() ? calloc(1, sizeof *p) : NULL;
    for (int f = 0; p && f < FACTORS; f++) {
        if (!take(all[f], &p->copies[f], &p->factors[f])) {
            destroy(p);
            return NULL;
        }
    }
    return p;
}

static bool multiply(void *self) {
    petsc *p = self;
    Mat *m = p->factors;
    return (m[LEFT] ? MatPtAP(m[FIRST], m[SECOND], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &p->C)
                    : MatMatMult(m[FIRST], m[SECOND], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &p->C)) == 0;
}

static void view(void *self, lsp_csr *C) {
    petsc *p = self;
    const PetscInt *rowptr, *col;
    PetscInt rows = 0;
    PetscBool done;
    PetscScalar *val;
    *C = (lsp_csr){.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = LSP_F64};
    if (MatGetRowIJ(p->C, 0, PETSC_FALSE, PETSC_FALSE, &rows, &rowptr, &col, &done) == 0 && done &&
        MatSeqAIJGetArray(p->C, &val) == 0) {
        C->rows = rows;
        C->cols = p->copies[SECOND].cols;
        C->nnz = rowptr[rows];
        C->rowptr = (void *)rowptr;
        C->col = (void *)col;
        C->val = val;
    }
}

const peer_product peer_petsc = {
    false,   false,    true,
    prepare, multiply, view,
    release, destroy,  "PETSc " PEER_VERSION(PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR)};

/* ---- y = op(A) x ---- */

typedef struct vectors {
    petsc *p;
    Vec x, y; /* on the arrays of the job */
    bool transpose;
} vectors;

static bool offers(const peer_spmv_job *job) {
    return job->vectors == 1 && job->type == LSP_F64 && job->A->val_type == LSP_F64;
}

static void destroy_vectors(void *self) {
    vectors *v = self;
    (void)VecDestroy(&v->x);
    (void)VecDestroy(&v->y);
    if (v->p) {
        destroy(v->p);
    }
    free(v);
}

static void *prepare_vectors(const peer_spmv_job *job, char *why, size_t why_bytes) {
    const lsp_csr *A = job->A;
    const PetscInt in = (PetscInt)(job->transpose ? A->rows : A->cols);
    const PetscInt out = (PetscInt)(job->transpose ? A->cols : A->rows);
    vectors *v = calloc(1, sizeof *v);
    (void)why, (void)why_bytes;
    if (!v) {
        return NULL;
    }
    v->transpose = job->transpose;
    v->p = prepare(&(peer_factors){.A = A}, 1);
    if (!v->p || VecCreateSeqWithArray(PETSC_COMM_SELF, 1, in, job->x, &v->x) != 0 ||
        VecCreateSeqWithArray(PETSC_COMM_SELF, 1, out, job->y, &v->y) != 0) {
        destroy_vectors(v);
        return NULL;
    }
    return v;
}

static const char *run_vectors(void *self) {
    const vectors *v = self;
    const PetscErrorCode code =
        v->transpose ? MatMultTranspose(v->p->factors[FIRST], v->x, v->y) : MatMult(v->p->factors[FIRST], v->x, v->y);
    return code == 0 ? NULL : "MatMult failed";
}

const peer_spmv peer_petsc_spmv = {
    .offers = offers,
    .prepare = prepare_vectors,
    .run = run_vectors,
    .destroy = destroy_vectors,
    .version = "PETSc " PEER_VERSION(PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR)};
