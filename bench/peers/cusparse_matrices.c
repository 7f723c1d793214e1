/* cuSPARSE: transposes by cusparseCsr2cscEx2, whose columns are the rows of the transpose, and sums by
 * cusparseDcsrgeam2. Loaded at run time, as the products of cuSPARSE are. */
#include "cusparse_matrices.h"

#include <cuda_runtime.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS(F)                                                                                                   \
    F(Create)                                                                                                          \
    F(Destroy)                                                                                                         \
    F(SetStream)                                                                                                       \
    F(GetVersion)                                                                                                      \
    F(CreateMatDescr)                                                                                                  \
    F(DestroyMatDescr)                                                                                                 \
    F(Csr2cscEx2_bufferSize)                                                                                           \
    F(Csr2cscEx2)                                                                                                      \
    F(Dcsrgeam2_bufferSizeExt)                                                                                         \
    F(Xcsrgeam2Nnz)                                                                                                    \
    F(Dcsrgeam2)

struct peer_cusparse_matrices {
    void *library;
    cusparseHandle_t handle;
    cudaStream_t stream;
    cusparseMatDescr_t general; /* indices from 0 */
    int version;
    lsp_csr C; /* the result */
#define MEMBER(name) __typeof__(&cusparse##name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

static bool resolve(peer_cusparse_matrices *p) {
    static const char *const names[] = {"libcusparse.so.12", "/usr/local/cuda/lib64/libcusparse.so.12",
                                        "libcusparse.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !p->library; i++) {
        p->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!p->library) {
        return false;
    }
#define RESOLVE(name)                                                                                                  \
    if (!(p->name = (__typeof__(p->name))(uintptr_t)dlsym(p->library, "cusparse" #name))) {                            \
        return false;                                                                                                  \
    }
    FUNCTIONS(RESOLVE)
#undef RESOLVE
    return true;
}

peer_cusparse_matrices *peer_cusparse_matrices_open(void) {
    uint64_t all = UINT64_MAX; /* a warm pool: freed memory stays */
    cudaMemPool_t pool;
    peer_cusparse_matrices *p = calloc(1, sizeof *p);
    if (!p || !resolve(p) || cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking) != cudaSuccess ||
        p->Create(&p->handle) != CUSPARSE_STATUS_SUCCESS ||
        p->SetStream(p->handle, p->stream) != CUSPARSE_STATUS_SUCCESS ||
        cudaDeviceGetDefaultMemPool(&pool, 0) != cudaSuccess ||
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all) != cudaSuccess ||
        p->CreateMatDescr(&p->general) != CUSPARSE_STATUS_SUCCESS ||
        p->GetVersion(p->handle, &p->version) != CUSPARSE_STATUS_SUCCESS) {
        peer_cusparse_matrices_close(p);
        return NULL;
    }
    return p;
}

void peer_cusparse_matrices_close(peer_cusparse_matrices *p) {
    if (p) {
        if (p->general) {
            p->DestroyMatDescr(p->general);
        }
        if (p->handle) {
            p->Destroy(p->handle);
        }
        if (p->stream) {
            cudaStreamDestroy(p->stream);
        }
        if (p->library) {
            dlclose(p->library);
        }
        free(p);
    }
}

int peer_cusparse_matrices_version(const peer_cusparse_matrices *p) { return p->version; }

static bool allocate(peer_cusparse_matrices *p, void **memory, size_t bytes) {
    *memory = NULL;
    return cudaMallocAsync(memory, bytes > 0 ? bytes : 1, p->stream) == cudaSuccess;
}

bool peer_cusparse_matrices_transpose(peer_cusparse_matrices *p, const lsp_csr *A) {
    const cudaDataType type = A->val_type == LSP_F32 ? CUDA_R_32F : CUDA_R_64F;
    void *buffer = NULL;
    size_t bytes = 0;
    p->C = (lsp_csr){.rows = A->cols,
                     .cols = A->rows,
                     .nnz = A->nnz,
                     .rowptr_type = LSP_I32,
                     .col_type = LSP_I32,
                     .val_type = A->val_type,
                     .where = LSP_CUDA};
    const int rows = (int)A->rows, cols = (int)A->cols, nnz = (int)A->nnz;
    const bool ran =
        allocate(p, &p->C.rowptr, (size_t)(A->cols + 1) * 4) && allocate(p, &p->C.col, (size_t)A->nnz * 4) &&
        allocate(p, &p->C.val, (size_t)A->nnz * lsp_type_bytes(A->val_type)) &&
        p->Csr2cscEx2_bufferSize(p->handle, rows, cols, nnz, A->val, A->rowptr, A->col, p->C.val, p->C.rowptr, p->C.col,
                                 type, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT,
                                 &bytes) == CUSPARSE_STATUS_SUCCESS &&
        allocate(p, &buffer, bytes) &&
        p->Csr2cscEx2(p->handle, rows, cols, nnz, A->val, A->rowptr, A->col, p->C.val, p->C.rowptr, p->C.col, type,
                      CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT,
                      buffer) == CUSPARSE_STATUS_SUCCESS;
    if (buffer) {
        cudaFreeAsync(buffer, p->stream);
    }
    return cudaStreamSynchronize(p->stream) == cudaSuccess && ran;
}

bool peer_cusparse_matrices_add(peer_cusparse_matrices *p, const lsp_csr *A, const lsp_csr *B) {
    static const double one = 1;
    const cusparseMatDescr_t d = p->general;
    const int rows = (int)A->rows, cols = (int)A->cols, nnz_a = (int)A->nnz, nnz_b = (int)B->nnz;
    void *buffer = NULL;
    size_t bytes = 0;
    int nnz = 0;
    p->C = (lsp_csr){.rows = A->rows,
                     .cols = A->cols,
                     .rowptr_type = LSP_I32,
                     .col_type = LSP_I32,
                     .val_type = LSP_F64,
                     .where = LSP_CUDA};
    bool ran = allocate(p, &p->C.rowptr, (size_t)(A->rows + 1) * 4) &&
               p->Dcsrgeam2_bufferSizeExt(p->handle, rows, cols, &one, d, nnz_a, A->val, A->rowptr, A->col, &one, d,
                                          nnz_b, B->val, B->rowptr, B->col, d, NULL, p->C.rowptr, NULL,
                                          &bytes) == CUSPARSE_STATUS_SUCCESS &&
               allocate(p, &buffer, bytes) &&
               p->Xcsrgeam2Nnz(p->handle, rows, cols, d, nnz_a, A->rowptr, A->col, d, nnz_b, B->rowptr, B->col, d,
                               p->C.rowptr, &nnz, buffer) == CUSPARSE_STATUS_SUCCESS;
    p->C.nnz = nnz;
    ran = ran && allocate(p, &p->C.col, (size_t)nnz * 4) && allocate(p, &p->C.val, (size_t)nnz * 8) &&
          p->Dcsrgeam2(p->handle, rows, cols, &one, d, nnz_a, A->val, A->rowptr, A->col, &one, d, nnz_b, B->val,
                       B->rowptr, B->col, d, p->C.val, p->C.rowptr, p->C.col, buffer) == CUSPARSE_STATUS_SUCCESS;
    if (buffer) {
        cudaFreeAsync(buffer, p->stream);
    }
    return cudaStreamSynchronize(p->stream) == cudaSuccess && ran;
}

void peer_cusparse_matrices_view(const peer_cusparse_matrices *p, lsp_csr *C) { *C = p->C; }

void peer_cusparse_matrices_release(peer_cusparse_matrices *p) {
    void *const arrays[] = {p->C.rowptr, p->C.col, p->C.val};
    for (int i = 0; i < 3; i++) {
        if (arrays[i]) {
            cudaFreeAsync(arrays[i], p->stream);
        }
    }
    p->C = (lsp_csr){.rows = 0};
}
