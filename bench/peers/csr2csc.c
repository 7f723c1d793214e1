/* The peer csr2csc: cusparseCsr2cscEx2, whose columns are the rows of the transpose. Loaded at run time, as the
 * products of cuSPARSE are. */
#include "csr2csc.h"

#include <cuda_runtime.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS(F) F(Create) F(Destroy) F(SetStream) F(GetVersion) F(Csr2cscEx2_bufferSize) F(Csr2cscEx2)

struct peer_csr2csc {
    void *library;
    cusparseHandle_t handle;
    cudaStream_t stream;
    int version;
    lsp_csr B;
#define MEMBER(name) __typeof__(&cusparse##name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

static bool resolve(peer_csr2csc *p) {
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

peer_csr2csc *peer_csr2csc_open(void) {
    peer_csr2csc *p = calloc(1, sizeof *p);
    if (!p || !resolve(p) || cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking) != cudaSuccess ||
        p->Create(&p->handle) != CUSPARSE_STATUS_SUCCESS ||
        p->SetStream(p->handle, p->stream) != CUSPARSE_STATUS_SUCCESS ||
        p->GetVersion(p->handle, &p->version) != CUSPARSE_STATUS_SUCCESS) {
        peer_csr2csc_close(p);
        return NULL;
    }
    return p;
}

void peer_csr2csc_close(peer_csr2csc *p) {
    if (p) {
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

int peer_csr2csc_version(const peer_csr2csc *p) { return p->version; }

static bool allocate(peer_csr2csc *p, void **memory, size_t bytes) {
    *memory = NULL;
    return cudaMallocAsync(memory, bytes > 0 ? bytes : 1, p->stream) == cudaSuccess;
}

bool peer_csr2csc_run(peer_csr2csc *p, const lsp_csr *A) {
    const cudaDataType type = A->val_type == LSP_F32 ? CUDA_R_32F : CUDA_R_64F;
    void *buffer = NULL;
    size_t bytes = 0;
    p->B = (lsp_csr){.rows = A->cols,
                     .cols = A->rows,
                     .nnz = A->nnz,
                     .rowptr_type = LSP_I32,
                     .col_type = LSP_I32,
                     .val_type = A->val_type,
                     .where = LSP_CUDA};
    const int rows = (int)A->rows, cols = (int)A->cols, nnz = (int)A->nnz;
    const bool ran =
        allocate(p, &p->B.rowptr, (size_t)(A->cols + 1) * 4) && allocate(p, &p->B.col, (size_t)A->nnz * 4) &&
        allocate(p, &p->B.val, (size_t)A->nnz * lsp_type_bytes(A->val_type)) &&
        p->Csr2cscEx2_bufferSize(p->handle, rows, cols, nnz, A->val, A->rowptr, A->col, p->B.val, p->B.rowptr, p->B.col,
                                 type, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT,
                                 &bytes) == CUSPARSE_STATUS_SUCCESS &&
        allocate(p, &buffer, bytes) &&
        p->Csr2cscEx2(p->handle, rows, cols, nnz, A->val, A->rowptr, A->col, p->B.val, p->B.rowptr, p->B.col, type,
                      CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT,
                      buffer) == CUSPARSE_STATUS_SUCCESS;
    if (buffer) {
        cudaFreeAsync(buffer, p->stream);
    }
    return cudaStreamSynchronize(p->stream) == cudaSuccess && ran;
}

void peer_csr2csc_view(const peer_csr2csc *p, lsp_csr *B) { *B = p->B; }

void peer_csr2csc_release(peer_csr2csc *p) {
    void *const arrays[] = {p->B.rowptr, p->B.col, p->B.val};
    for (int i = 0; i < 3; i++) {
        if (arrays[i]) {
            cudaFreeAsync(arrays[i], p->stream);
        }
    }
    p->B = (lsp_csr){.rows = 0};
}
