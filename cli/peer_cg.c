/* Conjugate gradients by cusparseSpMV and cuBLAS. All factors stay on the device, so that an iteration is eight calls
 * and no wait. In the graph STEPS iterations are captured once; what is left over is streamed. */
#include "peer_cg.h"
#include "peer_cg_scalars.h"
#include "peer_load.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

const char *const peer_cg_names[PEER_CG_WAYS] = {"streamed", "graph"};

#define SPARSE(F)                                                                                                      \
    F(Create)                                                                                                          \
    F(Destroy)                                                                                                         \
    F(SetStream)                                                                                                       \
    F(GetErrorString)                                                                                                  \
    F(CreateCsr)                                                                                                       \
    F(DestroySpMat)                                                                                                    \
    F(CreateDnVec)                                                                                                     \
    F(DestroyDnVec)                                                                                                    \
    F(DnVecSetValues)                                                                                                  \
    F(SpMV_bufferSize)                                                                                                 \
    F(SpMV)
#define DENSE(F)                                                                                                       \
    F(Create_v2)                                                                                                       \
    F(Destroy_v2)                                                                                                      \
    F(SetStream_v2)                                                                                                    \
    F(SetPointerMode_v2)                                                                                               \
    F(GetStatusString)                                                                                                 \
    F(DotEx)                                                                                                           \
    F(AxpyEx)                                                                                                          \
    F(ScalEx)                                                                                                          \
    F(Sdgmm)                                                                                                           \
    F(Ddgmm)

enum { STEPS = 25 };                                          /* of a graph, and of an inner solve of the benchmark */
enum { R, P, Q, Z, VECTORS };                                 /* vectors that the iterations need besides x */
enum { RHO, NEXT, PQ, STEP, MINUS_STEP, BETA, ONE, SCALARS }; /* numbers on the device */

struct peer_cg {
    void *libraries[2];
    cusparseHandle_t sparse;
    cublasHandle_t dense;
    cudaStream_t stream;
    lsp_csr A;
    const void *inverse;
    cudaDataType_t kind;
    size_t bytes; /* of a number */
    void *vectors[VECTORS], *scalars, *buffer;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t from, to;
    cudaGraphExec_t graph; /* of STEPS iterations on `graph_x` */
    void *graph_x;
    char why[256];
    cusparseStatus_t (*preprocess)(cusparseHandle_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
                                   cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType,
                                   cusparseSpMVAlg_t, void *); /* since CUDA 12.4; NULL before */
#define SPARSE_MEMBER(name) __typeof__(&cusparse##name) s_##name;
#define DENSE_MEMBER(name) __typeof__(&cublas##name) d_##name;
    SPARSE(SPARSE_MEMBER)
    DENSE(DENSE_MEMBER)
};

/* ---- calls that may fail ---- */

static bool sparse_done(peer_cg *c, cusparseStatus_t status, const char *what) {
    if (status != CUSPARSE_STATUS_SUCCESS) {
        snprintf(c->why, sizeof c->why, "%s: %s", what, c->s_GetErrorString(status));
    }
    return status == CUSPARSE_STATUS_SUCCESS;
}
static bool dense_done(peer_cg *c, cublasStatus_t status, const char *what) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        snprintf(c->why, sizeof c->why, "%s: %s", what, c->d_GetStatusString(status));
    }
    return status == CUBLAS_STATUS_SUCCESS;
}
static bool cuda_done(peer_cg *c, cudaError_t error) {
    if (error != cudaSuccess) {
        snprintf(c->why, sizeof c->why, "CUDA: %s", cudaGetErrorString(error));
        (void)cudaGetLastError(); /* clears the error; otherwise the next call would return it again */
    }
    return error == cudaSuccess;
}
#define CALL_SPARSE(name, ...) sparse_done(c, c->s_##name(__VA_ARGS__), "cusparse" #name)
#define CALL_DENSE(name, ...) dense_done(c, c->d_##name(__VA_ARGS__), "cublas" #name)

/* ---- opening ---- */

static bool resolve(peer_cg *c, char *why, size_t why_bytes) {
#define SPARSE_FIND(name) peer_resolve(c->libraries[0], "cusparse" #name, &c->s_##name, why, why_bytes) &&
#define DENSE_FIND(name) peer_resolve(c->libraries[1], "cublas" #name, &c->d_##name, why, why_bytes) &&
    char missing[80];
    (void)peer_resolve(c->libraries[0], "cusparseSpMV_preprocess", &c->preprocess, missing, sizeof missing);
    return SPARSE(SPARSE_FIND) DENSE(DENSE_FIND) true;
}

static bool start(peer_cg *c, int ordinal) {
    return cuda_done(c, cudaSetDevice(ordinal)) &&
           cuda_done(c, cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking)) &&
           CALL_SPARSE(Create, &c->sparse) && CALL_SPARSE(SetStream, c->sparse, c->stream) &&
           CALL_DENSE(Create_v2, &c->dense) && CALL_DENSE(SetStream_v2, c->dense, c->stream) &&
           CALL_DENSE(SetPointerMode_v2, c->dense, CUBLAS_POINTER_MODE_DEVICE);
}

peer_cg *peer_cg_open(int ordinal, char *why, size_t why_bytes) {
    static const char *const names[] = {"cusparse", "cublas"};
    peer_cg *c = calloc(1, sizeof *c);
    snprintf(why, why_bytes, "cuSPARSE cannot be used here");
    bool ok = c != NULL;
    for (int i = 0; i < 2 && ok; i++) {
        c->libraries[i] = peer_load(names[i], why, why_bytes);
        ok = c->libraries[i] != NULL;
    }
    ok = ok && resolve(c, why, why_bytes);
    if (ok && !start(c, ordinal)) {
        snprintf(why, why_bytes, "%s", c->why);
        ok = false;
    }
    if (!ok) {
        peer_cg_close(c);
        return NULL;
    }
    return c;
}

/* Frees what _prepare made. */
static void forget(peer_cg *c) {
    if (c->graph) {
        cudaGraphExecDestroy(c->graph);
    }
    if (c->a) {
        c->s_DestroySpMat(c->a);
    }
    if (c->from) {
        c->s_DestroyDnVec(c->from);
    }
    if (c->to) {
        c->s_DestroyDnVec(c->to);
    }
    for (int i = 0; i < VECTORS; i++) {
        cudaFree(c->vectors[i]);
        c->vectors[i] = NULL;
    }
    cudaFree(c->scalars);
    cudaFree(c->buffer);
    c->graph = NULL;
    c->a = NULL;
    c->from = c->to = NULL;
    c->scalars = c->buffer = NULL;
}

void peer_cg_close(peer_cg *c) {
    if (!c) {
        return;
    }
    forget(c);
    if (c->sparse) {
        c->s_Destroy(c->sparse);
    }
    if (c->dense) {
        c->d_Destroy_v2(c->dense);
    }
    if (c->stream) {
        cudaStreamDestroy(c->stream);
    }
    for (int i = 0; i < 2; i++) {
        if (c->libraries[i]) {
            dlclose(c->libraries[i]);
        }
    }
    free(c);
}

const char *peer_cg_why(const peer_cg *c) { return c->why; }

/* ---- preparing ---- */

static const double one64 = 1, zero64 = 0;
static const float one32 = 1, zero32 = 0;
#define ONE_OF(c) ((c)->kind == CUDA_R_32F ? (const void *)&one32 : (const void *)&one64)
#define ZERO_OF(c) ((c)->kind == CUDA_R_32F ? (const void *)&zero32 : (const void *)&zero64)
#define SPMV(c)                                                                                                        \
    (c)->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, ONE_OF(c), (c)->a, (c)->from, ZERO_OF(c), (c)->to, (c)->kind,       \
        CUSPARSE_SPMV_ALG_DEFAULT

static void *scalar(const peer_cg *c, int which) { return (char *)c->scalars + (size_t)which * c->bytes; }

bool peer_cg_prepare(peer_cg *c, const lsp_csr *A, const void *inverse) {
    forget(c);
    size_t room = 0;
    c->A = *A;
    c->inverse = inverse;
    c->kind = A->val_type == LSP_F32 ? CUDA_R_32F : CUDA_R_64F;
    c->bytes = A->val_type == LSP_F32 ? 4 : 8;
    if (A->rows > INT32_MAX) {
        snprintf(c->why, sizeof c->why, "cuBLAS takes at most 2^31 - 1 rows");
        return false;
    }
    bool ok = cuda_done(c, cudaMalloc(&c->scalars, SCALARS * c->bytes));
    for (int i = 0; i < VECTORS && ok; i++) {
        ok = cuda_done(c, cudaMalloc(&c->vectors[i], (size_t)A->rows * c->bytes + 8));
    }
    const cusparseIndexType_t index = A->rowptr_type == LSP_I32 ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I;
    return ok &&
           CALL_SPARSE(CreateCsr, &c->a, A->rows, A->cols, A->nnz, A->rowptr, A->col, A->val, index, index,
                       CUSPARSE_INDEX_BASE_ZERO, c->kind) &&
           CALL_SPARSE(CreateDnVec, &c->from, A->rows, c->vectors[P], c->kind) &&
           CALL_SPARSE(CreateDnVec, &c->to, A->rows, c->vectors[Q], c->kind) &&
           CALL_SPARSE(SpMV_bufferSize, SPMV(c), &room) && cuda_done(c, cudaMalloc(&c->buffer, room + 8)) &&
           (!c->preprocess || sparse_done(c, c->preprocess(SPMV(c), c->buffer), "cusparseSpMV_preprocess")) &&
           cuda_done(c, cudaMemcpyAsync(scalar(c, ONE), ONE_OF(c), c->bytes, cudaMemcpyHostToDevice, c->stream)) &&
           cuda_done(c, cudaStreamSynchronize(c->stream));
}

/* ---- an iteration ---- */

static bool multiply(peer_cg *c, void *x, void *y) {
    return CALL_SPARSE(DnVecSetValues, c->from, x) && CALL_SPARSE(DnVecSetValues, c->to, y) &&
           CALL_SPARSE(SpMV, SPMV(c), c->buffer);
}

static bool dot(peer_cg *c, const void *x, const void *y, int result) {
    return CALL_DENSE(DotEx, c->dense, (int)c->A.rows, x, c->kind, 1, y, c->kind, 1, scalar(c, result), c->kind,
                      c->kind);
}

/* y += factor x */
static bool add(peer_cg *c, int factor, const void *x, void *y) {
    return CALL_DENSE(AxpyEx, c->dense, (int)c->A.rows, scalar(c, factor), c->kind, x, c->kind, 1, y, c->kind, 1,
                      c->kind);
}

/* z = r divided by the diagonal, if there is one to divide by. */
static bool precondition(peer_cg *c) {
    const int n = (int)c->A.rows;
    if (!c->inverse) {
        return true;
    }
    return c->kind == CUDA_R_32F
               ? CALL_DENSE(Sdgmm, c->dense, CUBLAS_SIDE_LEFT, n, 1, c->vectors[R], n, c->inverse, 1, c->vectors[Z], n)
               : CALL_DENSE(Ddgmm, c->dense, CUBLAS_SIDE_LEFT, n, 1, c->vectors[R], n, c->inverse, 1, c->vectors[Z], n);
}

static bool iterate(peer_cg *c, void *x) {
    const bool f32 = c->kind == CUDA_R_32F;
    void *r = c->vectors[R], *p = c->vectors[P], *q = c->vectors[Q], *z = c->inverse ? c->vectors[Z] : r;
    if (!multiply(c, p, q) || !dot(c, p, q, PQ)) {
        return false;
    }
    peer_cg_step(c->stream, f32, scalar(c, RHO), scalar(c, PQ), scalar(c, STEP));
    if (!add(c, STEP, p, x) || !add(c, MINUS_STEP, q, r) || !precondition(c) || !dot(c, r, z, NEXT)) {
        return false;
    }
    peer_cg_turn(c->stream, f32, scalar(c, NEXT), scalar(c, RHO), scalar(c, BETA));
    return CALL_DENSE(ScalEx, c->dense, (int)c->A.rows, scalar(c, BETA), c->kind, p, c->kind, 1, c->kind) &&
           add(c, ONE, z, p);
}

/* Captures STEPS iterations on x. */
static bool capture(peer_cg *c, void *x) {
    cudaGraph_t graph = NULL;
    if (c->graph && c->graph_x == x) {
        return true;
    }
    if (c->graph) {
        cudaGraphExecDestroy(c->graph);
        c->graph = NULL;
    }
    if (!cuda_done(c, cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal))) {
        return false;
    }
    bool ok = true;
    for (int i = 0; i < STEPS && ok; i++) {
        ok = iterate(c, x);
    }
    ok = cuda_done(c, cudaStreamEndCapture(c->stream, &graph)) && ok;
    ok = ok && cuda_done(c, cudaGraphInstantiateWithFlags(&c->graph, graph, 0));
    if (graph) {
        cudaGraphDestroy(graph);
    }
    c->graph_x = x;
    return ok;
}

static bool copy(peer_cg *c, void *to, const void *from) {
    return cuda_done(c, cudaMemcpyAsync(to, from, (size_t)c->A.rows * c->bytes, cudaMemcpyDeviceToDevice, c->stream));
}

/* x = 0, r = b, p = z, and then a number of iterations. */
static bool iterations(peer_cg *c, peer_cg_way way, const void *b, void *x, int64_t count) {
    void *r = c->vectors[R], *z = c->inverse ? c->vectors[Z] : r;
    bool ok = cuda_done(c, cudaMemsetAsync(x, 0, (size_t)c->A.rows * c->bytes, c->stream)) && copy(c, r, b) &&
              precondition(c) && copy(c, c->vectors[P], z) && dot(c, r, z, RHO);
    for (; way == PEER_CG_GRAPH && ok && count >= STEPS; count -= STEPS) {
        ok = cuda_done(c, cudaGraphLaunch(c->graph, c->stream));
    }
    for (; ok && count > 0; count--) {
        ok = iterate(c, x);
    }
    return ok;
}

static bool read_scalar(peer_cg *c, int which, double *value) {
    float narrow = 0;
    void *to = c->kind == CUDA_R_32F ? (void *)&narrow : (void *)value;
    const bool ok = cuda_done(c, cudaMemcpyAsync(to, scalar(c, which), c->bytes, cudaMemcpyDeviceToHost, c->stream)) &&
                    cuda_done(c, cudaStreamSynchronize(c->stream));
    *value = c->kind == CUDA_R_32F ? (double)narrow : *value;
    return ok;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* |b - A x| / |b|. The factors of the iterations serve as places. */
static bool find_residual(peer_cg *c, const void *b, void *x, double *residual) {
    double b_b = 0, r_r = 0;
    const double minus64 = -1;
    const float minus32 = -1;
    const void *minus = c->kind == CUDA_R_32F ? (const void *)&minus32 : (const void *)&minus64;
    void *r = c->vectors[R], *q = c->vectors[Q];
    const bool ok =
        multiply(c, x, q) && copy(c, r, b) &&
        cuda_done(c, cudaMemcpyAsync(scalar(c, STEP), minus, c->bytes, cudaMemcpyHostToDevice, c->stream)) &&
        add(c, STEP, q, r) && dot(c, r, r, NEXT) && dot(c, b, b, PQ) && read_scalar(c, NEXT, &r_r) &&
        read_scalar(c, PQ, &b_b);
    *residual = b_b > 0 ? sqrt(r_r / b_b) : 0;
    return ok;
}

bool peer_cg_solve(peer_cg *c, peer_cg_way way, const void *b, void *x, int64_t count, peer_cg_result *result) {
    if ((way == PEER_CG_GRAPH && !capture(c, x)) || !cuda_done(c, cudaStreamSynchronize(c->stream))) {
        return false;
    }
    const double begun = now();
    const bool ok = iterations(c, way, b, x, count) && cuda_done(c, cudaStreamSynchronize(c->stream));
    result->seconds = now() - begun;
    return ok && find_residual(c, b, x, &result->residual);
}

/* One iteration of the benchmark: solves A z = x by STEPS steps, finds the residual and zeta, and x = z / |z|. */
static bool outer(peer_cg *c, peer_cg_way way, double shift, void *x, void *z, double *zeta) {
    double x_z = 0, z_z = 0, scale;
    bool ok = iterations(c, way, x, z, STEPS) && multiply(c, z, c->vectors[Q]) && dot(c, c->vectors[Q], x, NEXT) &&
              dot(c, x, z, PQ) && dot(c, z, z, NEXT) && read_scalar(c, PQ, &x_z) && read_scalar(c, NEXT, &z_z);
    scale = 1 / sqrt(z_z);
    *zeta = shift + 1 / x_z;
    return ok && copy(c, x, z) &&
           cuda_done(c, cudaMemcpyAsync(scalar(c, STEP), &scale, sizeof scale, cudaMemcpyHostToDevice, c->stream)) &&
           CALL_DENSE(ScalEx, c->dense, (int)c->A.rows, scalar(c, STEP), c->kind, x, c->kind, 1, c->kind);
}

static bool set_ones(peer_cg *c, void *x) {
    const size_t n = (size_t)c->A.rows;
    double *ones = malloc(n * sizeof *ones);
    for (size_t i = 0; ones && i < n; i++) {
        ones[i] = 1;
    }
    const bool ok = ones && cuda_done(c, cudaMemcpy(x, ones, n * sizeof *ones, cudaMemcpyHostToDevice));
    free(ones);
    return ok;
}

bool peer_cg_nas(peer_cg *c, peer_cg_way way, const lsp_nas_class *params, peer_cg_result *result) {
    void *x = NULL, *z = c->vectors[Z]; /* free: the benchmark has no preconditioner */
    double begun = 0;
    bool ok = cuda_done(c, cudaMalloc(&x, (size_t)c->A.rows * c->bytes)) && set_ones(c, x) &&
              (way == PEER_CG_STREAMED || capture(c, z)) && outer(c, way, params->shift, x, z, &result->zeta) &&
              set_ones(c, x) && cuda_done(c, cudaStreamSynchronize(c->stream));
    begun = now();
    for (int i = 0; i < params->iterations && ok; i++) {
        ok = outer(c, way, params->shift, x, z, &result->zeta);
    }
    ok = cuda_done(c, cudaStreamSynchronize(c->stream)) && ok;
    result->seconds = now() - begun;
    cudaFree(x);
    return ok;
}
