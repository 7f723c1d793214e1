/* cusparseSpMV on CSR, COO and slices of 32 rows, cusparseSpMVOp and cusparseSpMM. Each function is looked up at run
 * time; a way whose functions this cuSPARSE lacks is not offered. */
#include "cusparse_spmv.h"
#include "forms.h"

#include <cuda_runtime.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS(F)                                                                                                   \
    F(Create)                                                                                                          \
    F(SetStream)                                                                                                       \
    F(GetVersion)                                                                                                      \
    F(GetErrorString)                                                                                                  \
    F(CreateCsr)                                                                                                       \
    F(CreateCoo)                                                                                                       \
    F(CreateSlicedEll)                                                                                                 \
    F(DestroySpMat)                                                                                                    \
    F(CreateDnVec)                                                                                                     \
    F(DestroyDnVec)                                                                                                    \
    F(CreateDnMat)                                                                                                     \
    F(DestroyDnMat)                                                                                                    \
    F(SpMV_bufferSize)                                                                                                 \
    F(SpMV)                                                                                                            \
    F(SpMM_bufferSize)                                                                                                 \
    F(SpMM_preprocess)                                                                                                 \
    F(SpMM)

/* SpMVOp, as the headers of cuSPARSE 12.8 declare it; before 12.8.1 it had no algorithm. */
enum { OP_ALG1 = 1, OP_ALG2 = 2, OP_FIRST_VERSION = 12703, OP_WITH_ALGORITHM = 12801 };
typedef void *op_descr, *op_plan;
typedef cusparseStatus_t op_size(cusparseHandle_t, cusparseOperation_t, cusparseSpMatDescr_t, cusparseDnVecDescr_t,
                                 cusparseDnVecDescr_t, cusparseDnVecDescr_t, cudaDataType, int, size_t *);
typedef cusparseStatus_t op_size_old(cusparseHandle_t, cusparseOperation_t, cusparseSpMatDescr_t, cusparseDnVecDescr_t,
                                     cusparseDnVecDescr_t, cusparseDnVecDescr_t, cudaDataType, size_t *);
typedef cusparseStatus_t op_describe(cusparseHandle_t, op_descr *, cusparseOperation_t, cusparseSpMatDescr_t,
                                     cusparseDnVecDescr_t, cusparseDnVecDescr_t, cusparseDnVecDescr_t, cudaDataType,
                                     int, void *);
typedef cusparseStatus_t op_describe_old(cusparseHandle_t, op_descr *, cusparseOperation_t, cusparseSpMatDescr_t,
                                         cusparseDnVecDescr_t, cusparseDnVecDescr_t, cusparseDnVecDescr_t, cudaDataType,
                                         void *);
typedef cusparseStatus_t op_create(cusparseHandle_t, op_descr, op_plan *, const void *, size_t);
typedef cusparseStatus_t op_run(cusparseHandle_t, op_plan, const void *, const void *, cusparseDnVecDescr_t,
                                cusparseDnVecDescr_t, cusparseDnVecDescr_t);
typedef cusparseStatus_t op_destroy(void *);

static struct {
    void *opened;
    cusparseHandle_t handle;
    int version;
    char version_text[48];
#define MEMBER(name) __typeof__(&cusparse##name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
    cusparseStatus_t (*SpMV_preprocess)(cusparseHandle_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
                                        cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType,
                                        cusparseSpMVAlg_t, void *); /* NULL: before 12.4 */
    void *op_size, *op_describe;
    op_create *op_create;
    op_run *op_run;
    op_destroy *op_drop_descr, *op_drop_plan;
} lib;

typedef struct product {
    peer_spmv_job job;
    peer_cusparse_spmv_way way;
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t x, y;
    cusparseDnMatDescr_t X, Y;
    op_descr descr;
    op_plan plan;
    void *buffer, *arrays[3]; /* arrays: another form of A */
    char why[160];
} product;

const char *const peer_cusparse_spmv_names[PEER_SPMV_WAYS] = {"cusparse:csr1",  "cusparse:csr2", "cusparse:coo",
                                                              "cusparse:sell",  "cusparse:op1",  "cusparse:op2",
                                                              "cusparse:spmm2", "cusparse:spmm3"};

/* ---- the library ---- */

static void *symbol(const char *name) { return dlsym(lib.opened, name); }

static bool load(char *why, size_t why_bytes) {
    static const char *const names[] = {"libcusparse.so.12", "/usr/local/cuda/lib64/libcusparse.so.12",
                                        "libcusparse.so"};
    if (lib.handle) {
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names && !lib.opened; i++) {
        lib.opened = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!lib.opened) {
        snprintf(why, why_bytes, "cuSPARSE cannot be loaded: %s", dlerror());
        return false;
    }
#define RESOLVE(name)                                                                                                  \
    if (!(lib.name = (__typeof__(lib.name))(uintptr_t)symbol("cusparse" #name))) {                                     \
        snprintf(why, why_bytes, "this cuSPARSE has no function cusparse%s", #name);                                   \
        return false;                                                                                                  \
    }
    FUNCTIONS(RESOLVE)
#undef RESOLVE
    *(void **)&lib.SpMV_preprocess = symbol("cusparseSpMV_preprocess");
    lib.op_size = symbol("cusparseSpMVOp_bufferSize");
    lib.op_describe = symbol("cusparseSpMVOp_createDescr");
    *(void **)&lib.op_create = symbol("cusparseSpMVOp_createPlan");
    *(void **)&lib.op_run = symbol("cusparseSpMVOp");
    *(void **)&lib.op_drop_descr = symbol("cusparseSpMVOp_destroyDescr");
    *(void **)&lib.op_drop_plan = symbol("cusparseSpMVOp_destroyPlan");
    if (lib.Create(&lib.handle) != CUSPARSE_STATUS_SUCCESS ||
        lib.GetVersion(lib.handle, &lib.version) != CUSPARSE_STATUS_SUCCESS) {
        snprintf(why, why_bytes, "cuSPARSE does not start");
        lib.handle = NULL;
        return false;
    }
    snprintf(lib.version_text, sizeof lib.version_text, "cuSPARSE %d.%d.%d", lib.version / 1000, lib.version / 100 % 10,
             lib.version % 100);
    return true;
}

const char *peer_cusparse_spmv_version(void) { return lib.handle ? lib.version_text : NULL; }

static bool has_op(void) {
    return lib.version >= OP_FIRST_VERSION && lib.op_size && lib.op_describe && lib.op_create && lib.op_run &&
           lib.op_drop_descr && lib.op_drop_plan;
}

/* ---- forms of A ---- */

static bool succeeded(product *p, cusparseStatus_t status, const char *what) {
    if (status != CUSPARSE_STATUS_SUCCESS && !p->why[0]) {
        snprintf(p->why, sizeof p->why, "%s: %s", what, lib.GetErrorString(status));
    }
    return status == CUSPARSE_STATUS_SUCCESS;
}
#define CALL(name, ...) succeeded(p, lib.name(__VA_ARGS__), "cusparse" #name)

static bool went(product *p, cudaError_t error) {
    if (error != cudaSuccess && !p->why[0]) {
        snprintf(p->why, sizeof p->why, "cuSPARSE: %s", cudaGetErrorString(error));
        (void)cudaGetLastError();
    }
    return error == cudaSuccess;
}

enum { MOST_FILL = 8 }; /* entries that slices may store for one */

static cudaDataType kind(lsp_type type) { return type == LSP_F32 ? CUDA_R_32F : CUDA_R_64F; }

/* Puts an array of the host on the GPU; the product owns it. */
static bool upload(product *p, int slot, const void *from, size_t bytes) {
    return went(p, cudaMalloc(&p->arrays[slot], bytes > 0 ? bytes : 1)) &&
           went(p, cudaMemcpy(p->arrays[slot], from, bytes, cudaMemcpyHostToDevice));
}

/* Copies A to the host; without `entries` its row pointers alone. */
static bool download(product *p, bool entries, lsp_csr *here) {
    const lsp_csr *A = p->job.A;
    const size_t row_bytes = (size_t)(A->rows + 1) * 4, val_bytes = (size_t)A->nnz * lsp_type_bytes(A->val_type);
    *here = *A;
    here->rowptr = malloc(row_bytes);
    here->col = malloc(entries ? (size_t)A->nnz * 4 + 4 : 1);
    here->val = malloc(entries ? val_bytes + 8 : 1);
    return here->rowptr && here->col && here->val &&
           went(p, cudaMemcpy(here->rowptr, A->rowptr, row_bytes, cudaMemcpyDeviceToHost)) &&
           (!entries || (went(p, cudaMemcpy(here->col, A->col, (size_t)A->nnz * 4, cudaMemcpyDeviceToHost)) &&
                         went(p, cudaMemcpy(here->val, A->val, val_bytes, cudaMemcpyDeviceToHost))));
}
static void forget(const lsp_csr *here) {
    free(here->rowptr);
    free(here->col);
    free(here->val);
}

static bool make_coo(product *p) {
    const lsp_csr *A = p->job.A;
    lsp_csr here;
    int32_t *row = download(p, false, &here) ? peer_rows_of_entries(here.rowptr, A->rows) : NULL;
    const bool made = row && upload(p, 0, row, (size_t)A->nnz * 4) &&
                      CALL(CreateCoo, &p->A, A->rows, A->cols, A->nnz, p->arrays[0], A->col, A->val, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, kind(A->val_type));
    free(row);
    forget(&here);
    return made;
}

static bool make_sell(product *p) {
    const lsp_csr *A = p->job.A;
    lsp_csr here;
    peer_slices s = {.count = 0};
    bool made = download(p, true, &here) && peer_slices_make(&here, MOST_FILL * A->nnz, &s);
    if (!made && s.stored > MOST_FILL * A->nnz) {
        snprintf(p->why, sizeof p->why, "slices would store %lld entries for %lld", (long long)s.stored,
                 (long long)A->nnz);
    }
    made = made && upload(p, 0, s.offsets, (size_t)(s.count + 1) * 4) && upload(p, 1, s.col, (size_t)s.stored * 4) &&
           upload(p, 2, s.val, (size_t)s.stored * lsp_type_bytes(A->val_type)) &&
           CALL(CreateSlicedEll, &p->A, A->rows, A->cols, A->nnz, s.stored, PEER_SLICE, p->arrays[0], p->arrays[1],
                p->arrays[2], CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kind(A->val_type));
    peer_slices_free(&s);
    forget(&here);
    return made;
}

static bool make_csr(product *p) {
    const lsp_csr *A = p->job.A;
    return CALL(CreateCsr, &p->A, A->rows, A->cols, A->nnz, A->rowptr, A->col, A->val, CUSPARSE_INDEX_32I,
                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kind(A->val_type));
}

/* ---- the calls ---- */

static const double one64 = 1, zero64 = 0;
static const float one32 = 1, zero32 = 0;
#define ONE (p->job.type == LSP_F32 ? (const void *)&one32 : &one64)
#define ZERO (p->job.type == LSP_F32 ? (const void *)&zero32 : &zero64)
#define AS_IS CUSPARSE_OPERATION_NON_TRANSPOSE
#define OP (p->job.transpose ? CUSPARSE_OPERATION_TRANSPOSE : AS_IS)
#define VECTOR lib.handle, OP, ONE, p->A, p->x, ZERO, p->y, kind(p->job.type), spmv_algorithm(p)
#define MATRIX lib.handle, AS_IS, AS_IS, ONE, p->A, p->X, ZERO, p->Y, kind(p->job.type), spmm_algorithm(p)

static cusparseSpMVAlg_t spmv_algorithm(const product *p) {
    return p->way == PEER_SPMV_CSR1   ? CUSPARSE_SPMV_CSR_ALG1
           : p->way == PEER_SPMV_CSR2 ? CUSPARSE_SPMV_CSR_ALG2
           : p->way == PEER_SPMV_COO  ? CUSPARSE_SPMV_COO_ALG2
                                      : CUSPARSE_SPMV_SELL_ALG1;
}
static cusparseSpMMAlg_t spmm_algorithm(const product *p) {
    return p->way == PEER_SPMV_SPMM2 ? CUSPARSE_SPMM_CSR_ALG2 : CUSPARSE_SPMM_CSR_ALG3;
}

static bool is_op(const product *p) { return p->way == PEER_SPMV_OP1 || p->way == PEER_SPMV_OP2; }
static bool is_spmm(peer_cusparse_spmv_way way) { return way == PEER_SPMV_SPMM2 || way == PEER_SPMV_SPMM3; }

static bool take_buffer(product *p, size_t bytes) { return went(p, cudaMalloc(&p->buffer, bytes > 0 ? bytes : 1)); }

static bool prepare_op(product *p) {
    size_t bytes = 0;
    const int algorithm = p->way == PEER_SPMV_OP1 ? OP_ALG1 : OP_ALG2;
    const bool old = lib.version < OP_WITH_ALGORITHM;
    const cudaDataType type = kind(p->job.type);
    const cusparseStatus_t sized =
        old ? ((op_size_old *)(uintptr_t)lib.op_size)(lib.handle, OP, p->A, p->x, p->y, p->y, type, &bytes)
            : ((op_size *)(uintptr_t)lib.op_size)(lib.handle, OP, p->A, p->x, p->y, p->y, type, algorithm, &bytes);
    if (!succeeded(p, sized, "cusparseSpMVOp_bufferSize") || !take_buffer(p, bytes)) {
        return false;
    }
    const cusparseStatus_t described =
        old ? ((op_describe_old *)(uintptr_t)lib.op_describe)(lib.handle, &p->descr, OP, p->A, p->x, p->y, p->y, type,
                                                              p->buffer)
            : ((op_describe *)(uintptr_t)lib.op_describe)(lib.handle, &p->descr, OP, p->A, p->x, p->y, p->y, type,
                                                          algorithm, p->buffer);
    return succeeded(p, described, "cusparseSpMVOp_createDescr") &&
           CALL(op_create, lib.handle, p->descr, &p->plan, NULL, 0);
}

static bool prepare_vectors(product *p) {
    const lsp_csr *A = p->job.A;
    const int64_t in = p->job.transpose ? A->rows : A->cols, out = p->job.transpose ? A->cols : A->rows;
    const cudaDataType type = kind(p->job.type);
    if (is_spmm(p->way)) {
        const int64_t vectors = p->job.vectors;
        return CALL(CreateDnMat, &p->X, in, vectors, vectors, (void *)p->job.x, type, CUSPARSE_ORDER_ROW) &&
               CALL(CreateDnMat, &p->Y, out, vectors, vectors, p->job.y, type, CUSPARSE_ORDER_ROW);
    }
    return CALL(CreateDnVec, &p->x, in, (void *)p->job.x, type) && CALL(CreateDnVec, &p->y, out, p->job.y, type);
}

static bool prepare_run(product *p) {
    size_t bytes = 0;
    if (is_op(p)) {
        return prepare_op(p);
    }
    if (is_spmm(p->way)) {
        return CALL(SpMM_bufferSize, MATRIX, &bytes) && take_buffer(p, bytes) &&
               CALL(SpMM_preprocess, MATRIX, p->buffer);
    }
    const bool known = p->way == PEER_SPMV_CSR1 || p->way == PEER_SPMV_CSR2;
    return CALL(SpMV_bufferSize, VECTOR, &bytes) && take_buffer(p, bytes) &&
           (!known || !lib.SpMV_preprocess || CALL(SpMV_preprocess, VECTOR, p->buffer));
}

static void destroy(void *self) {
    product *p = self;
    if (p->plan) {
        lib.op_drop_plan(p->plan);
    }
    if (p->descr) {
        lib.op_drop_descr(p->descr);
    }
    if (p->x) {
        lib.DestroyDnVec(p->x);
    }
    if (p->y) {
        lib.DestroyDnVec(p->y);
    }
    if (p->X) {
        lib.DestroyDnMat(p->X);
    }
    if (p->Y) {
        lib.DestroyDnMat(p->Y);
    }
    if (p->A) {
        lib.DestroySpMat(p->A);
    }
    cudaFree(p->buffer);
    for (int i = 0; i < 3; i++) {
        cudaFree(p->arrays[i]);
    }
    free(p);
}

static void *prepare(peer_cusparse_spmv_way way, const peer_spmv_job *job, char *why, size_t why_bytes) {
    product *p = load(why, why_bytes) ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        return NULL;
    }
    p->job = *job;
    p->way = way;
    const bool offered = !is_op(p) || (has_op() && (way == PEER_SPMV_OP1 || lib.version >= OP_WITH_ALGORITHM));
    const bool made = offered &&
                      succeeded(p, lib.SetStream(lib.handle, (cudaStream_t)job->stream), "cusparseSetStream") &&
                      (way == PEER_SPMV_COO    ? make_coo(p)
                       : way == PEER_SPMV_SELL ? make_sell(p)
                                               : make_csr(p)) &&
                      prepare_vectors(p) && prepare_run(p) && went(p, cudaStreamSynchronize((cudaStream_t)job->stream));
    if (!made) {
        snprintf(why, why_bytes, "%s", p->why);
        destroy(p);
        return NULL;
    }
    return p;
}

static const char *run(void *self) {
    product *p = self;
    const bool ran = is_op(p)          ? CALL(op_run, lib.handle, p->plan, ONE, ZERO, p->x, p->y, p->y)
                     : is_spmm(p->way) ? CALL(SpMM, MATRIX, p->buffer)
                                       : CALL(SpMV, VECTOR, p->buffer);
    return ran ? NULL : p->why;
}

static bool offers_vector(const peer_spmv_job *job) { return job->vectors == 1; }
static bool offers_forward(const peer_spmv_job *job) { return job->vectors == 1 && !job->transpose; }
static bool offers_same(const peer_spmv_job *job) { return offers_forward(job) && job->type == job->A->val_type; }
static bool offers_several(const peer_spmv_job *job) {
    return job->vectors > 1 && !job->transpose && job->type == job->A->val_type;
}

#define WAY(way, may)                                                                                                  \
    static void *prepare_##way(const peer_spmv_job *job, char *why, size_t why_bytes) {                                \
        return prepare(PEER_SPMV_##way, job, why, why_bytes);                                                          \
    }
#define ROW(way, may)                                                                                                  \
    [PEER_SPMV_##way] = {.planned = PEER_SPMV_##way >= PEER_SPMV_COO && PEER_SPMV_##way <= PEER_SPMV_OP2,              \
                         .offers = (may),                                                                              \
                         .prepare = prepare_##way,                                                                     \
                         .run = run,                                                                                   \
                         .destroy = destroy},
#define WAYS(F)                                                                                                        \
    F(CSR1, offers_vector)                                                                                             \
    F(CSR2, offers_vector)                                                                                             \
    F(COO, offers_forward)                                                                                             \
    F(SELL, offers_forward)                                                                                            \
    F(OP1, offers_same)                                                                                                \
    F(OP2, offers_same)                                                                                                \
    F(SPMM2, offers_several)                                                                                           \
    F(SPMM3, offers_several)
WAYS(WAY)
const peer_spmv peer_cusparse_spmv[PEER_SPMV_WAYS] = {WAYS(ROW)};
