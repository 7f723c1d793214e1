/* MKL (`pip install mkl`, or a package), loaded at run time and without its headers, so this file declares the
 * functions it calls, with 32-bit indices. C = A*B is made by mkl_sparse_spmm and mkl_sparse_order. Where the structure
 * of C is known, mkl_sparse_sp2m computes new values alone. Products with vectors are mkl_sparse_d_mv and _mm, as they
 * are and after mkl_sparse_optimize; sums are mkl_sparse_d_add. */
#include "mkl.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The constants of MKL, under its names. */
enum {
    SPARSE_OPERATION_NON_TRANSPOSE = 10,
    SPARSE_OPERATION_TRANSPOSE = 11,
    SPARSE_LAYOUT_ROW_MAJOR = 101,
    SPARSE_MATRIX_TYPE_GENERAL = 20,
    SPARSE_FILL_MODE_LOWER = 40,
    SPARSE_DIAG_NON_UNIT = 50,
    SPARSE_STAGE_FINALIZE_MULT = 92,
    MKL_INTERFACE_LP64 = 0,
    MKL_THREADING_GNU = 3
};
typedef struct matrix_descr {
    int type, mode, diag;
} matrix_descr;
typedef void *matrix;
static const matrix_descr general = {SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_LOWER, SPARSE_DIAG_NON_UNIT};

/* Each function: its name, then the types of its arguments. The functions of mkl_sparse return 0 on success. */
#define FUNCTIONS(F)                                                                                                   \
    F(MKL_Set_Threading_Layer, (int))                                                                                  \
    F(MKL_Set_Interface_Layer, (int))                                                                                  \
    F(MKL_Set_Num_Threads_Local, (int))                                                                                \
    F(MKL_Get_Version_String, (char *, int))                                                                           \
    F(mkl_sparse_d_create_csr, (matrix *, int, int, int, int *, int *, int *, double *))                               \
    F(mkl_sparse_s_create_csr, (matrix *, int, int, int, int *, int *, int *, float *))                                \
    F(mkl_sparse_d_export_csr, (matrix, int *, int *, int *, int **, int **, int **, double **))                       \
    F(mkl_sparse_s_export_csr, (matrix, int *, int *, int *, int **, int **, int **, float **))                        \
    F(mkl_sparse_spmm, (int, matrix, matrix, matrix *))                                                                \
    F(mkl_sparse_sp2m, (int, matrix_descr, matrix, int, matrix_descr, matrix, int, matrix *))                          \
    F(mkl_sparse_d_mv, (int, double, matrix, matrix_descr, const double *, double, double *))                          \
    F(mkl_sparse_s_mv, (int, float, matrix, matrix_descr, const float *, float, float *))                              \
    F(mkl_sparse_d_mm, (int, double, matrix, matrix_descr, int, const double *, int, int, double, double *, int))      \
    F(mkl_sparse_s_mm, (int, float, matrix, matrix_descr, int, const float *, int, int, float, float *, int))          \
    F(mkl_sparse_set_mv_hint, (matrix, int, matrix_descr, int))                                                        \
    F(mkl_sparse_set_mm_hint, (matrix, int, matrix_descr, int, int, int))                                              \
    F(mkl_sparse_optimize, (matrix))                                                                                   \
    F(mkl_sparse_d_add, (int, matrix, double, matrix, matrix *))                                                       \
    F(mkl_sparse_convert_csr, (matrix, int, matrix *))                                                                 \
    F(mkl_sparse_order, (matrix))                                                                                      \
    F(mkl_sparse_destroy, (matrix))

static struct mkl {
    void *handle;
#define MEMBER(name, arguments) int(*name) arguments;
    FUNCTIONS(MEMBER)
#undef MEMBER
} mkl;

typedef struct product {
    lsp_csr from;
    int threads;
    bool update;
    matrix R, A, B, C;
} product;

/* ---- the library ---- */

static const char *resolve(void) {
#define RESOLVE(name, arguments)                                                                                       \
    if (!(mkl.name = (int(*) arguments)(uintptr_t)dlsym(mkl.handle, #name))) {                                         \
        return "has no function " #name;                                                                               \
    }
    FUNCTIONS(RESOLVE)
#undef RESOLVE
    return NULL;
}

bool peer_mkl_load(char *why, size_t why_bytes) {
    static const char *const names[] = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"};
    const char *asked = getenv("LSP_BENCH_MKL"), *missing;
    if (mkl.handle) {
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names && !mkl.handle; i++) {
        mkl.handle = dlopen(asked ? asked : names[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!mkl.handle) {
        snprintf(why, why_bytes, "%s", asked ? dlerror() : "");
        return false;
    }
    if ((missing = resolve())) {
        snprintf(why, why_bytes, "MKL %s", missing);
        dlclose(mkl.handle);
        mkl.handle = NULL;
        return false;
    }
    mkl.MKL_Set_Interface_Layer(MKL_INTERFACE_LP64);
    if (!getenv("MKL_THREADING_LAYER")) {
        mkl.MKL_Set_Threading_Layer(MKL_THREADING_GNU); /* the OpenMP runtime of the library and the other peers */
    }
    return true;
}

const char *peer_mkl_version(void) {
    static char version[200];
    if (mkl.handle) {
        mkl.MKL_Get_Version_String(version, sizeof version - 1);
    }
    return version[0] ? version : NULL;
}

/* ---- the product ---- */

static void release_fresh(product *p) {
    if (p->C) {
        mkl.mkl_sparse_destroy(p->C);
        p->C = NULL;
    }
}

static void destroy(void *self) {
    product *p = self;
    release_fresh(p);
    const matrix factors[] = {p->R, p->A, p->B};
    for (int f = 0; f < 3; f++) {
        if (factors[f]) {
            mkl.mkl_sparse_destroy(factors[f]);
        }
    }
    free(p);
}

/* Describes A's arrays to MKL. */
static bool wrap(const lsp_csr *A, matrix *wrapped) {
    int *begin = A->rowptr, rows = (int)A->rows, cols = (int)A->cols;
    return (A->val_type == LSP_F64
                ? mkl.mkl_sparse_d_create_csr(wrapped, 0, rows, cols, begin, begin + 1, A->col, A->val)
                : mkl.mkl_sparse_s_create_csr(wrapped, 0, rows, cols, begin, begin + 1, A->col, A->val)) == 0;
}

static product *take(const peer_factors *f, int threads) {
    product *p = calloc(1, sizeof *p);
    if (!p) {
        return NULL;
    }
    *p = (product){.from = *f->A, .threads = threads};
    if (!wrap(f->A, &p->A) || (f->B && !wrap(f->B, &p->B)) || (f->R && !wrap(f->R, &p->R))) {
        destroy(p);
        return NULL;
    }
    return p;
}

static bool multiply_two(matrix A, matrix B, matrix *C) {
    return mkl.mkl_sparse_spmm(SPARSE_OPERATION_NON_TRANSPOSE, A, B, C) == 0;
}

static bool multiply(void *self) {
    product *p = self;
    mkl.MKL_Set_Num_Threads_Local(p->threads);
    matrix inner = NULL;
    bool made = multiply_two(p->A, p->B, p->R ? &inner : &p->C);
    if (p->R) {
        made = made && multiply_two(p->R, inner, &p->C);
        if (inner) {
            mkl.mkl_sparse_destroy(inner);
        }
    }
    return made && mkl.mkl_sparse_order(p->C) == 0;
}

static bool update(void *self) {
    product *p = self;
    mkl.MKL_Set_Num_Threads_Local(p->threads);
    return mkl.mkl_sparse_sp2m(SPARSE_OPERATION_NON_TRANSPOSE, general, p->A, SPARSE_OPERATION_NON_TRANSPOSE, general,
                               p->B, SPARSE_STAGE_FINALIZE_MULT, &p->C) == 0;
}

static void *prepare(const peer_factors *f, int threads) { return take(f, threads); }

static void *prepare_update(const peer_factors *f, int threads) {
    product *p = take(f, threads);
    if (p && !multiply(p)) {
        destroy(p);
        return NULL;
    }
    return p;
}

static void view(void *self, lsp_csr *C) {
    const product *p = self;
    int base, rows, cols, *end;
    *C = (lsp_csr){.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = p->from.val_type};
    int **begin = (int **)&C->rowptr, **col = (int **)&C->col;
    const int status =
        p->from.val_type == LSP_F64
            ? mkl.mkl_sparse_d_export_csr(p->C, &base, &rows, &cols, begin, &end, col, (double **)&C->val)
            : mkl.mkl_sparse_s_export_csr(p->C, &base, &rows, &cols, begin, &end, col, (float **)&C->val);
    if (status == 0) {
        C->rows = rows, C->cols = cols, C->nnz = ((const int *)C->rowptr)[rows];
    }
}

static void release(void *self) { release_fresh(self); }
static void keep(void *self) { (void)self; }

const peer_product peer_mkl = {true, true, true, prepare, multiply, view, release, destroy, NULL};
const peer_product peer_mkl_update = {true, true, false, prepare_update, update, view, keep, destroy, NULL};

/* ---- functions of matrices: sums and transposes ---- */

typedef struct function {
    product *p;
    bool transpose;
} function;

static void destroy_function(void *self) {
    function *f = self;
    if (f->p) {
        destroy(f->p);
    }
    free(f);
}

static void *prepare_function(const peer_matrices_job *job) {
    const bool add = job->function == PEER_ADD || job->function == PEER_ADD_TRANSPOSED;
    function *f = add || job->function == PEER_TRANSPOSE ? calloc(1, sizeof *f) : NULL;
    if (f) {
        *f = (function){.p = take(&(peer_factors){.A = job->A, .B = add ? job->B : NULL}, job->threads),
                        .transpose = !add};
    }
    if (f && !f->p) {
        destroy_function(f);
        return NULL;
    }
    return f;
}

static bool run_function(void *self) {
    const function *f = self;
    mkl.MKL_Set_Num_Threads_Local(f->p->threads);
    const int status = f->transpose
                           ? mkl.mkl_sparse_convert_csr(f->p->A, SPARSE_OPERATION_TRANSPOSE, &f->p->C)
                           : mkl.mkl_sparse_d_add(SPARSE_OPERATION_NON_TRANSPOSE, f->p->A, 1, f->p->B, &f->p->C);
    return status == 0 && mkl.mkl_sparse_order(f->p->C) == 0;
}

static void view_function(void *self, lsp_csr *C, const double **out) {
    const function *f = self;
    view(f->p, C);
    *out = NULL;
}

static void release_function(void *self) {
    const function *f = self;
    release_fresh(f->p);
}

const peer_matrices peer_mkl_matrices = {
    true, prepare_function, run_function, view_function, release_function, destroy_function, NULL};

/* ---- Y = op(A) X ---- */

typedef struct vectors {
    product *p;
    peer_spmv_job job;
} vectors;

enum { CALLS = 1000 }; /* announced to mkl_sparse_optimize */

static int operation(const peer_spmv_job *job) {
    return job->transpose ? SPARSE_OPERATION_TRANSPOSE : SPARSE_OPERATION_NON_TRANSPOSE;
}

static bool offers(const peer_spmv_job *job) { return job->type == job->A->val_type; }

static void destroy_vectors(void *self) {
    vectors *v = self;
    if (v->p) {
        destroy(v->p);
    }
    free(v);
}

static void *prepare_vectors(const peer_spmv_job *job, char *why, size_t why_bytes) {
    vectors *v = peer_mkl_load(why, why_bytes) ? calloc(1, sizeof *v) : NULL;
    if (v) {
        *v = (vectors){.p = take(&(peer_factors){.A = job->A}, job->threads), .job = *job};
    }
    if (v && !v->p) {
        destroy_vectors(v);
        return NULL;
    }
    return v;
}

static void *prepare_optimized(const peer_spmv_job *job, char *why, size_t why_bytes) {
    vectors *v = prepare_vectors(job, why, why_bytes);
    if (v) {
        mkl.MKL_Set_Num_Threads_Local(job->threads);
        const int hinted = job->vectors == 1 ? mkl.mkl_sparse_set_mv_hint(v->p->A, operation(job), general, CALLS)
                                             : mkl.mkl_sparse_set_mm_hint(v->p->A, operation(job), general,
                                                                          SPARSE_LAYOUT_ROW_MAJOR, job->vectors, CALLS);
        (void)hinted; /* a hint that is not supported costs nothing */
        (void)mkl.mkl_sparse_optimize(v->p->A);
    }
    return v;
}

static const char *run_vectors(void *self) {
    const vectors *v = self;
    const peer_spmv_job *job = &v->job;
    const int op = operation(job), n = job->vectors;
    int status;
    mkl.MKL_Set_Num_Threads_Local(job->threads);
    if (job->type == LSP_F64) {
        status =
            n == 1 ? mkl.mkl_sparse_d_mv(op, 1, v->p->A, general, job->x, 0, job->y)
                   : mkl.mkl_sparse_d_mm(op, 1, v->p->A, general, SPARSE_LAYOUT_ROW_MAJOR, job->x, n, n, 0, job->y, n);
    } else {
        status =
            n == 1 ? mkl.mkl_sparse_s_mv(op, 1, v->p->A, general, job->x, 0, job->y)
                   : mkl.mkl_sparse_s_mm(op, 1, v->p->A, general, SPARSE_LAYOUT_ROW_MAJOR, job->x, n, n, 0, job->y, n);
    }
    return status == 0 ? NULL : "mkl_sparse_?_mv or _mm failed";
}

const peer_spmv peer_mkl_spmv = {
    .parallel = true, .offers = offers, .prepare = prepare_vectors, .run = run_vectors, .destroy = destroy_vectors};
const peer_spmv peer_mkl_spmv_plan = {.parallel = true,
                                      .planned = true,
                                      .offers = offers,
                                      .prepare = prepare_optimized,
                                      .run = run_vectors,
                                      .destroy = destroy_vectors};
