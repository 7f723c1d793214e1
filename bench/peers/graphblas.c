/* SuiteSparse:GraphBLAS 7 (libgraphblas-dev): GrB_mxm over (+, *), by rows, on all threads; it chooses the method. The
 * product is unpacked with `jumbled` NULL, which makes GraphBLAS finish the sort that it would postpone. */
#include "peers.h"
#include <GraphBLAS.h>
#include <stdlib.h>
#include <string.h>

typedef struct graphblas {
    GrB_Matrix A;
    GrB_Type type;
    GrB_Semiring semiring;
    GrB_Descriptor sorted;
    lsp_csr C;
} graphblas;

static void finish(void) { GrB_finalize(); }

static void release(void *self) {
    graphblas *g = self;
    free(g->C.rowptr);
    free(g->C.col);
    free(g->C.val);
    g->C = (lsp_csr){.rows = 0};
}

static void destroy(void *self) {
    graphblas *g = self;
    release(g);
    GrB_Matrix_free(&g->A);
    GrB_Descriptor_free(&g->sorted);
    free(g);
}

/* Gives GraphBLAS a copy of A with 64-bit indices; it owns the copy from then on. */
static GrB_Info pack(graphblas *g, const lsp_csr *A) {
    const size_t bytes[] = {((size_t)A->rows + 1) * 8, (size_t)A->nnz * 8 + 8,
                            (size_t)A->nnz * lsp_type_bytes(A->val_type) + 8};
    GrB_Index *rowptr = malloc(bytes[0]), *col = malloc(bytes[1]);
    void *val = malloc(bytes[2]);
    GrB_Info info = GrB_OUT_OF_MEMORY;
    if (rowptr && col && val) {
        for (int64_t i = 0; i <= A->rows; i++) {
            rowptr[i] = (GrB_Index)((const int32_t *)A->rowptr)[i];
        }
        for (int64_t p = 0; p < A->nnz; p++) {
            col[p] = (GrB_Index)((const int32_t *)A->col)[p];
        }
        memcpy(val, A->val, (size_t)A->nnz * lsp_type_bytes(A->val_type));
        info = GxB_Matrix_pack_CSR(g->A, &rowptr, &col, &val, bytes[0], bytes[1], bytes[2], false, false, NULL);
    }
    free(rowptr);
    free(col);
    free(val);
    return info;
}

static void *prepare(const lsp_csr *A, int threads) {
    static bool started;
    if (!started) {
        started = GrB_init(GrB_NONBLOCKING) == GrB_SUCCESS && atexit(finish) == 0;
    }
    graphblas *g = started ? calloc(1, sizeof *g) : NULL;
    if (!g) {
        return NULL;
    }
    g->type = A->val_type == LSP_F64 ? GrB_FP64 : GrB_FP32;
    g->semiring = A->val_type == LSP_F64 ? GxB_PLUS_TIMES_FP64 : GxB_PLUS_TIMES_FP32;
    if (GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads) != GrB_SUCCESS ||
        GrB_Descriptor_new(&g->sorted) != GrB_SUCCESS || GxB_Desc_set(g->sorted, GxB_SORT, true) != GrB_SUCCESS ||
        GrB_Matrix_new(&g->A, g->type, (GrB_Index)A->rows, (GrB_Index)A->cols) != GrB_SUCCESS ||
        pack(g, A) != GrB_SUCCESS) {
        destroy(g);
        return NULL;
    }
    return g;
}

static bool multiply(void *self) {
    graphblas *g = self;
    GrB_Matrix C = NULL;
    GrB_Index rows, cols, *rowptr = NULL, *col = NULL, bytes[3];
    void *val = NULL;
    bool iso = false;
    GrB_Matrix_nrows(&rows, g->A);
    GrB_Matrix_ncols(&cols, g->A);
    const bool went_well =
        GrB_Matrix_new(&C, g->type, rows, cols) == GrB_SUCCESS &&
        GrB_mxm(C, NULL, NULL, g->semiring, g->A, g->A, g->sorted) == GrB_SUCCESS &&
        GxB_Matrix_unpack_CSR(C, &rowptr, &col, &val, bytes, bytes + 1, bytes + 2, &iso, NULL, NULL) == GrB_SUCCESS;
    GrB_Matrix_free(&C);
    g->C = (lsp_csr){.rows = (int64_t)rows,
                     .cols = (int64_t)cols,
                     .rowptr = rowptr,
                     .col = col,
                     .val = val,
                     .rowptr_type = LSP_I64,
                     .col_type = LSP_I64,
                     .val_type = g->type == GrB_FP64 ? LSP_F64 : LSP_F32};
    if (went_well) {
        g->C.nnz = (int64_t)rowptr[rows];
    }
    return went_well && !iso;
}

static void view(void *self, lsp_csr *C) { *C = ((graphblas *)self)->C; }

const peer_product peer_graphblas = {
    true,    true,
    prepare, multiply,
    view,    release,
    destroy, "GraphBLAS " PEER_VERSION(GxB_IMPLEMENTATION_MAJOR, GxB_IMPLEMENTATION_MINOR, GxB_IMPLEMENTATION_SUB)};
