/* PETSc 3 (petsc-dev): MatMatMult of sequential AIJ matrices, rows sorted, and MatMult, on one thread. */
#include "peers.h"
#include <petscmat.h>
#include <stdlib.h>
#include <string.h>

typedef struct petsc {
    Mat A, C;
    lsp_csr copy; /* of A, in arrays that PETSc may keep */
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
    (void)MatDestroy(&p->A);
    free(p->copy.rowptr);
    free(p->copy.col);
    free(p->copy.val);
    free(p);
}

static void *copy_of(const void *array, size_t bytes) {
    void *copy = malloc(bytes + 1);
    if (copy && bytes > 0) {
        memcpy(copy, array, bytes);
    }
    return copy;
}

static void *prepare(const lsp_csr *A, int threads) {
    (void)threads;
    petsc *p = start() ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        return NULL;
    }
    p->copy = *A;
    p->copy.rowptr = copy_of(A->rowptr, ((size_t)A->rows + 1) * sizeof(PetscInt));
    p->copy.col = copy_of(A->col, (size_t)A->nnz * sizeof(PetscInt));
    p->copy.val = copy_of(A->val, (size_t)A->nnz * sizeof(PetscScalar));
    if (!p->copy.rowptr || !p->copy.col || !p->copy.val ||
        MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, (PetscInt)A->rows, (PetscInt)A->cols, p->copy.rowptr, p->copy.col,
                                  p->copy.val, &p->A) != 0) {
        destroy(p);
        return NULL;
    }
    return p;
}

static bool multiply(void *self) {
    petsc *p = self;
    return MatMatMult(p->A, p->A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &p->C) == 0;
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
        C->cols = p->copy.cols;
        C->nnz = rowptr[rows];
        C->rowptr = (void *)rowptr;
        C->col = (void *)col;
        C->val = val;
    }
}

const peer_product peer_petsc = {
    false, false,   prepare, multiply,
    view,  release, destroy, "PETSc " PEER_VERSION(PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR)};

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
    v->p = prepare(A, 1);
    if (!v->p || VecCreateSeqWithArray(PETSC_COMM_SELF, 1, in, job->x, &v->x) != 0 ||
        VecCreateSeqWithArray(PETSC_COMM_SELF, 1, out, job->y, &v->y) != 0) {
        destroy_vectors(v);
        return NULL;
    }
    return v;
}

static const char *run_vectors(void *self) {
    const vectors *v = self;
    const PetscErrorCode code = v->transpose ? MatMultTranspose(v->p->A, v->x, v->y) : MatMult(v->p->A, v->x, v->y);
    return code == 0 ? NULL : "MatMult failed";
}

const peer_spmv peer_petsc_spmv = {
    .offers = offers,
    .prepare = prepare_vectors,
    .run = run_vectors,
    .destroy = destroy_vectors,
    .version = "PETSc " PEER_VERSION(PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR)};
