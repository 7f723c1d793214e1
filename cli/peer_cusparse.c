/* Calls cuSPARSE through dlsym, so that the program runs without it. Its memory comes from the stream-ordered pool, as
 * the library's does, and is counted for the peak. */
#include "peer_cusparse.h"
#include "peer_load.h"

#include <cuda_runtime.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const peer_cusparse_names[PEER_CUSPARSE_WAYS] = {"alg1", "alg2", "alg3", "reuse"};

#define FUNCTIONS(F)                                                                                                   \
    F(Create)                                                                                                          \
    F(Destroy)                                                                                                         \
    F(SetStream)                                                                                                       \
    F(GetVersion)                                                                                                      \
    F(GetErrorString)                                                                                                  \
    F(CreateCsr)                                                                                                       \
    F(DestroySpMat)                                                                                                    \
    F(SpMatGetSize)                                                                                                    \
    F(CsrSetPointers)                                                                                                  \
    F(SpGEMM_createDescr)                                                                                              \
    F(SpGEMM_destroyDescr)                                                                                             \
    F(SpGEMM_workEstimation)                                                                                           \
    F(SpGEMM_estimateMemory)                                                                                           \
    F(SpGEMM_compute)                                                                                                  \
    F(SpGEMM_copy)                                                                                                     \
    F(SpGEMMreuse_workEstimation)                                                                                      \
    F(SpGEMMreuse_nnz)                                                                                                 \
    F(SpGEMMreuse_copy)                                                                                                \
    F(SpGEMMreuse_compute)

struct peer_cusparse {
    void *library;
    cusparseHandle_t handle;
    cudaStream_t stream;
    cudaMemPool_t pool; /* keeps freed memory for the next allocation, as the library does */
    int version;
#define MEMBER(name) __typeof__(&cusparse##name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

enum { BUFFERS = 5 };

struct peer_cusparse_product {
    peer_cusparse *c;
    peer_cusparse_way way;
    lsp_csr A, B, C;
    cusparseSpMatDescr_t a, b, to;
    cusparseSpGEMMDescr_t description;
    void *buffers[BUFFERS];
    size_t bytes[BUFFERS];      /* sizes that cuSPARSE asked for; later calls change them */
    int64_t allocated[BUFFERS]; /* sizes that were allocated */
    int64_t c_bytes, live, peak;
    bool has_structure; /* REUSE: the structure of C is known */
    char why[200];
};

/* ---- the library ---- */

static bool resolve(peer_cusparse *c, char *why, size_t why_bytes) {
#define RESOLVE(name)                                                                                                  \
    if (!peer_resolve(c->library, "cusparse" #name, &c->name, why, why_bytes)) {                                       \
        return false;                                                                                                  \
    }
    FUNCTIONS(RESOLVE)
#undef RESOLVE
    return true;
}

static bool start(peer_cusparse *c, int ordinal, char *why, size_t why_bytes) {
    size_t available = 0, total = 0;
    cudaError_t error = cudaSetDevice(ordinal);
    error = error ? error : cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking);
    error = error ? error : cudaDeviceGetDefaultMemPool(&c->pool, ordinal);
    error = error ? error : cudaMemGetInfo(&available, &total);
    uint64_t kept = total / 2; /* more goes back to the device, or those who share it would have none */
    error = error ? error : cudaMemPoolSetAttribute(c->pool, cudaMemPoolAttrReleaseThreshold, &kept);
    if (error != cudaSuccess) {
        snprintf(why, why_bytes, "cuSPARSE cannot be used: %s", cudaGetErrorString(error));
        return false;
    }
    const cusparseStatus_t status = c->Create(&c->handle);
    if (status != CUSPARSE_STATUS_SUCCESS) {
        snprintf(why, why_bytes, "cuSPARSE does not start: %s", c->GetErrorString(status));
        return false;
    }
    return c->SetStream(c->handle, c->stream) == CUSPARSE_STATUS_SUCCESS &&
           c->GetVersion(c->handle, &c->version) == CUSPARSE_STATUS_SUCCESS;
}

peer_cusparse *peer_cusparse_open(int ordinal, char *why, size_t why_bytes) {
    peer_cusparse *c = calloc(1, sizeof *c);
    snprintf(why, why_bytes, "cuSPARSE cannot be used here");
    if (c) {
        c->library = peer_load("cusparse", why, why_bytes);
    }
    if (!c || !c->library || !resolve(c, why, why_bytes) || !start(c, ordinal, why, why_bytes)) {
        peer_cusparse_close(c);
        return NULL;
    }
    return c;
}

void peer_cusparse_close(peer_cusparse *c) {
    if (c) {
        if (c->handle) {
            c->Destroy(c->handle);
        }
        if (c->pool) {
            cudaMemPoolTrimTo(c->pool, 0);
        }
        if (c->stream) {
            cudaStreamDestroy(c->stream);
        }
        if (c->library) {
            dlclose(c->library);
        }
        free(c);
    }
}

int peer_cusparse_version(const peer_cusparse *c) { return c->version; }

/* ---- a product: calls, memory, descriptions ---- */

static bool succeeded(peer_cusparse_product *p, cusparseStatus_t status, const char *what) {
    if (status != CUSPARSE_STATUS_SUCCESS) {
        snprintf(p->why, sizeof p->why, "%s: %s", what, p->c->GetErrorString(status));
    }
    return status == CUSPARSE_STATUS_SUCCESS;
}
#define CALL(name, ...) succeeded(p, p->c->name(__VA_ARGS__), "cusparse" #name)

static bool cuda_succeeded(peer_cusparse_product *p, cudaError_t error) {
    if (error != cudaSuccess) {
        snprintf(p->why, sizeof p->why, "cuSPARSE: %s", cudaGetErrorString(error));
        (void)cudaGetLastError(); /* clears the error; otherwise the next call would return it again */
    }
    return error == cudaSuccess;
}

static bool allocate(peer_cusparse_product *p, void **memory, int64_t bytes) {
    const cudaError_t error = cudaMallocAsync(memory, bytes > 0 ? (size_t)bytes : 1, p->c->stream);
    if (error != cudaSuccess) {
        *memory = NULL;
        snprintf(p->why, sizeof p->why, "cuSPARSE needs %lld bytes besides the %lld that it has: %s", (long long)bytes,
                 (long long)p->live, cudaGetErrorString(error));
        (void)cudaGetLastError();
        return false;
    }
    p->live += bytes;
    p->peak = p->live > p->peak ? p->live : p->peak;
    return true;
}
static void release(peer_cusparse_product *p, void *memory, int64_t bytes) {
    if (memory) {
        cudaFreeAsync(memory, p->c->stream);
        p->live -= bytes;
    }
}

static bool allocate_buffer(peer_cusparse_product *p, int i) {
    p->allocated[i] = (int64_t)p->bytes[i];
    return allocate(p, p->buffers + i, p->allocated[i]);
}
static void release_buffer(peer_cusparse_product *p, int i) {
    release(p, p->buffers[i], p->allocated[i]);
    p->buffers[i] = NULL;
}

static bool describe(peer_cusparse_product *p, lsp_csr *A, cusparseSpMatDescr_t *to) {
    return CALL(CreateCsr, to, A->rows, A->cols, A->nnz, A->rowptr, A->col, A->val, CUSPARSE_INDEX_32I,
                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, A->val_type == LSP_F32 ? CUDA_R_32F : CUDA_R_64F);
}

static void drop_product(peer_cusparse_product *p) {
    if (p->to) {
        p->c->DestroySpMat(p->to);
        p->to = NULL;
    }
    const int64_t value = (int64_t)lsp_type_bytes(p->A.val_type);
    release(p, p->C.rowptr, (p->C.rows + 1) * 4);
    release(p, p->C.col, p->C.nnz * 4);
    release(p, p->C.val, p->C.nnz * value);
    p->C.rowptr = p->C.col = p->C.val = NULL;
}

static void drop_work(peer_cusparse_product *p) {
    for (int i = 0; i < BUFFERS; i++) {
        release_buffer(p, i);
    }
    if (p->description) {
        p->c->SpGEMM_destroyDescr(p->description);
        p->description = NULL;
    }
    p->has_structure = false;
}

/* Allocates the row pointers of C and creates the descriptions of C and of the product. */
static bool begin(peer_cusparse_product *p) {
    p->C = (lsp_csr){.rows = p->A.rows, .cols = p->B.cols, .rowptr_type = LSP_I32, .col_type = LSP_I32};
    p->C.val_type = p->A.val_type;
    p->C.where = LSP_CUDA;
    return allocate(p, &p->C.rowptr, (p->C.rows + 1) * 4) && describe(p, &p->C, &p->to) &&
           CALL(SpGEMM_createDescr, &p->description);
}

/* Allocates the entries of C, whose number is now known. */
static bool enlarge(peer_cusparse_product *p) {
    int64_t rows, cols, nnz;
    if (!CALL(SpMatGetSize, p->to, &rows, &cols, &nnz) || !allocate(p, &p->C.col, nnz * 4)) {
        return false;
    }
    p->C.nnz = nnz;
    return allocate(p, &p->C.val, nnz * (int64_t)lsp_type_bytes(p->A.val_type)) &&
           CALL(CsrSetPointers, p->to, p->C.rowptr, p->C.col, p->C.val);
}

/* ---- the ways ---- */

static const double one64 = 1, zero64 = 0;
static const float one32 = 1, zero32 = 0;
#define AS_IS CUSPARSE_OPERATION_NON_TRANSPOSE
#define ONE (p->A.val_type == LSP_F32 ? (const void *)&one32 : &one64)
#define ZERO (p->A.val_type == LSP_F32 ? (const void *)&zero32 : &zero64)
#define KIND (p->A.val_type == LSP_F32 ? CUDA_R_32F : CUDA_R_64F)
#define OPERANDS p->c->handle, AS_IS, AS_IS, ONE, p->a, p->b, ZERO, p->to, KIND

static bool multiply(peer_cusparse_product *p) {
    static const cusparseSpGEMMAlg_t algorithms[] = {CUSPARSE_SPGEMM_ALG1, CUSPARSE_SPGEMM_ALG2, CUSPARSE_SPGEMM_ALG3};
    const cusparseSpGEMMAlg_t algorithm = algorithms[p->way];
    const float chunk = 0.2f; /* share of the products computed at a time; only ALG3 uses it */
    if (!begin(p) || !CALL(SpGEMM_workEstimation, OPERANDS, algorithm, p->description, &p->bytes[0], NULL) ||
        !allocate_buffer(p, 0) ||
        !CALL(SpGEMM_workEstimation, OPERANDS, algorithm, p->description, &p->bytes[0], p->buffers[0])) {
        return false;
    }
    if (p->way == PEER_CUSPARSE_ALG1) {
        if (!CALL(SpGEMM_compute, OPERANDS, algorithm, p->description, &p->bytes[1], NULL)) {
            return false;
        }
    } else {
        if (!CALL(SpGEMM_estimateMemory, OPERANDS, algorithm, p->description, chunk, &p->bytes[2], NULL, NULL) ||
            !allocate_buffer(p, 2) ||
            !CALL(SpGEMM_estimateMemory, OPERANDS, algorithm, p->description, chunk, &p->bytes[2], p->buffers[2],
                  &p->bytes[1])) {
            return false;
        }
        release_buffer(p, 2);
    }
    return allocate_buffer(p, 1) &&
           CALL(SpGEMM_compute, OPERANDS, algorithm, p->description, &p->bytes[1], p->buffers[1]) && enlarge(p) &&
           CALL(SpGEMM_copy, OPERANDS, algorithm, p->description);
}

#define STRUCTURE p->c->handle, AS_IS, AS_IS, p->a, p->b, p->to, CUSPARSE_SPGEMM_DEFAULT, p->description
/* Computes the structure of C. Buffers 0 and 1 are freed before the copy and 2 after it; 3 and 4 stay, because
 * SpGEMMreuse_compute needs them. */
static bool find_structure(peer_cusparse_product *p) {
    p->has_structure = begin(p) && CALL(SpGEMMreuse_workEstimation, STRUCTURE, &p->bytes[0], NULL) &&
                       allocate_buffer(p, 0) &&
                       CALL(SpGEMMreuse_workEstimation, STRUCTURE, &p->bytes[0], p->buffers[0]) &&
                       CALL(SpGEMMreuse_nnz, STRUCTURE, &p->bytes[1], NULL, &p->bytes[2], NULL, &p->bytes[3], NULL) &&
                       allocate_buffer(p, 1) && allocate_buffer(p, 2) && allocate_buffer(p, 3) &&
                       CALL(SpGEMMreuse_nnz, STRUCTURE, &p->bytes[1], p->buffers[1], &p->bytes[2], p->buffers[2],
                            &p->bytes[3], p->buffers[3]);
    if (p->has_structure) {
        release_buffer(p, 0);
        release_buffer(p, 1);
        p->has_structure = enlarge(p) && CALL(SpGEMMreuse_copy, STRUCTURE, &p->bytes[4], NULL) &&
                           allocate_buffer(p, 4) && CALL(SpGEMMreuse_copy, STRUCTURE, &p->bytes[4], p->buffers[4]);
        release_buffer(p, 2);
    }
    return p->has_structure;
}

/* Frees all but the operands, and returns the pool's memory to the device: of a product that failed it may be all. */
static void give_back(peer_cusparse_product *p) {
    drop_work(p);
    drop_product(p);
    cudaStreamSynchronize(p->c->stream);
    cudaMemPoolTrimTo(p->c->pool, 0);
}

/* ---- the functions of peer_cusparse.h ---- */

peer_cusparse_product *peer_cusparse_product_create(peer_cusparse *c, peer_cusparse_way way, const lsp_csr *A,
                                                    const lsp_csr *B) {
    peer_cusparse_product *p = calloc(1, sizeof *p);
    if (!p) {
        return NULL;
    }
    *p = (peer_cusparse_product){.c = c, .way = way, .A = *A, .B = *B};
    if (describe(p, &p->A, &p->a) && describe(p, &p->B, &p->b) && way == PEER_CUSPARSE_REUSE && !find_structure(p)) {
        give_back(p);
    }
    return p;
}

void peer_cusparse_product_destroy(peer_cusparse_product *p) {
    if (p) {
        give_back(p);
        if (p->a) {
            p->c->DestroySpMat(p->a);
        }
        if (p->b) {
            p->c->DestroySpMat(p->b);
        }
        free(p);
    }
}

bool peer_cusparse_product_run(peer_cusparse_product *p) {
    bool ok = p->a && p->b;
    if (p->way == PEER_CUSPARSE_REUSE) {
        ok = ok && p->has_structure && CALL(SpGEMMreuse_compute, OPERANDS, CUSPARSE_SPGEMM_DEFAULT, p->description);
    } else {
        ok = ok && multiply(p);
        drop_work(p);
    }
    ok = cuda_succeeded(p, cudaStreamSynchronize(p->c->stream)) && ok;
    if (!ok && p->way != PEER_CUSPARSE_REUSE) {
        give_back(p);
    }
    return ok;
}

void peer_cusparse_product_view(peer_cusparse_product *p, lsp_csr *C) { *C = p->C; }
void peer_cusparse_product_release(peer_cusparse_product *p) {
    if (p->way != PEER_CUSPARSE_REUSE) {
        drop_product(p);
    }
}
const char *peer_cusparse_product_why(const peer_cusparse_product *p) { return p->why; }
int64_t peer_cusparse_product_peak(const peer_cusparse_product *p) { return p->peak; }
