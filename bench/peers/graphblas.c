/* SuiteSparse:GraphBLAS 7 (libgraphblas-dev): GrB_mxm over (+, *), by rows, on all threads; it chooses the method. The
 * product is unpacked with `jumbled` NULL, which makes GraphBLAS finish the sort that it would postpone. Products with
 * vectors are GrB_mxv, or GrB_mxm with a full matrix. */
#include "peers.h"
#include <GraphBLAS.h>
#include <stdlib.h>
#include <string.h>

typedef struct graphblas {
    GrB_Matrix A, B; /* B empty: products with vectors alone */
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
    GrB_Matrix_free(&g->B);
    GrB_Descriptor_free(&g->sorted);
    free(g);
}

/* Gives GraphBLAS a copy of A with 64-bit indices; it owns the copy from then on. */
static GrB_Info pack(GrB_Matrix packed, const lsp_csr *A) {
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
        info = GxB_Matrix_pack_CSR(packed, &rowptr, &col, &val, bytes[0], bytes[1], bytes[2], false, false, NULL);
    }
    free(rowptr);
    free(col);
    free(val);
    return info;
}

static bool start(void) {
    static bool started;
    if (!started) {
        started = GrB_init(GrB_NONBLOCKING) == GrB_SUCCESS && atexit(finish) == 0;
    }
    return started;
}

static bool take(graphblas *g, const lsp_csr *from, GrB_Matrix *to) {
    return GrB_Matrix_new(to, g->type, (GrB_Index)from->rows, (GrB_Index)from->cols) == GrB_SUCCESS &&
           pack(*to, from) == GrB_SUCCESS;
}

static void *prepare(const peer_factors *f, int threads) {
    const lsp_csr *A = f->A;
    graphblas *g = start() ? calloc(1, sizeof *g) : NULL;
    if (!g) {
        return NULL;
    }
    g->type = A->val_type == LSP_F64 ? GrB_FP64 : GrB_FP32;
    g->semiring = A->val_type == LSP_F64 ? GxB_PLUS_TIMES_FP64 : GxB_PLUS_TIMES_FP32;
    if (GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads) != GrB_SUCCESS ||
        GrB_Descriptor_new(&g->sorted) != GrB_SUCCESS || GxB_Desc_set(g->sorted, GxB_SORT, true) != GrB_SUCCESS ||
        !take(g, A, &g->A) || (f->B && !take(g, f->B, &g->B))) {
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
    GrB_Matrix_ncols(&cols, g->B);
    const bool went_well =
        GrB_Matrix_new(&C, g->type, rows, cols) == GrB_SUCCESS &&
        GrB_mxm(C, NULL, NULL, g->semiring, g->A, g->B, g->sorted) == GrB_SUCCESS &&
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
    true,
    true,
    false,
    prepare,
    multiply,
    view,
    release,
    destroy,
    "GraphBLAS " PEER_VERSION(GxB_IMPLEMENTATION_MAJOR, GxB_IMPLEMENTATION_MINOR, GxB_IMPLEMENTATION_SUB)};

/* ---- Y = op(A) X ---- */

typedef struct vectors {
    graphblas *g;
    peer_spmv_job job;
    GrB_Matrix X, Y; /* full; of one column too */
    GrB_Descriptor descriptor;
} vectors;

static bool offers(const peer_spmv_job *job) { return job->type == job->A->val_type; }

static void destroy_vectors(void *self) {
    vectors *v = self;
    GrB_Matrix_free(&v->X);
    GrB_Matrix_free(&v->Y);
    GrB_Descriptor_free(&v->descriptor);
    if (v->g) {
        destroy(v->g);
    }
    free(v);
}

/* A full matrix by rows, or with one column, from a copy of X. */
static bool make_x(vectors *v, int64_t rows) {
    const size_t bytes = (size_t)rows * (size_t)v->job.vectors * lsp_type_bytes(v->job.type);
    void *copy = malloc(bytes + 1);
    if (!copy) {
        return false;
    }
    memcpy(copy, v->job.x, bytes);
    const bool packed = GrB_Matrix_new(&v->X, v->g->type, (GrB_Index)rows, (GrB_Index)v->job.vectors) == GrB_SUCCESS &&
                        GxB_Matrix_pack_FullR(v->X, &copy, bytes, false, NULL) == GrB_SUCCESS;
    free(copy);
    return packed;
}

static void *prepare_vectors(const peer_spmv_job *job, char *why, size_t why_bytes) {
    vectors *v = calloc(1, sizeof *v);
    (void)why, (void)why_bytes;
    if (!v) {
        return NULL;
    }
    v->job = *job;
    v->g = prepare(&(peer_factors){.A = job->A}, job->threads);
    if (!v->g || !make_x(v, job->transpose ? job->A->rows : job->A->cols) ||
        GrB_Descriptor_new(&v->descriptor) != GrB_SUCCESS ||
        (job->transpose && GrB_Descriptor_set(v->descriptor, GrB_INP0, GrB_TRAN) != GrB_SUCCESS)) {
        destroy_vectors(v);
        return NULL;
    }
    return v;
}

static const char *run_vectors(void *self) {
    vectors *v = self;
    const peer_spmv_job *job = &v->job;
    GrB_Matrix_free(&v->Y);
    const GrB_Index rows = (GrB_Index)(job->transpose ? job->A->cols : job->A->rows);
    const bool ran = GrB_Matrix_new(&v->Y, v->g->type, rows, (GrB_Index)job->vectors) == GrB_SUCCESS &&
                     GrB_mxm(v->Y, NULL, NULL, v->g->semiring, v->g->A, v->X, v->descriptor) == GrB_SUCCESS &&
                     GrB_Matrix_wait(v->Y, GrB_MATERIALIZE) == GrB_SUCCESS;
    return ran ? NULL : "GrB_mxm failed";
}

/* Copies what Y holds into the result; an empty row has no entry. */
static const char *finish_vectors(void *self) {
    vectors *v = self;
    const peer_spmv_job *job = &v->job;
    const size_t bytes = lsp_type_bytes(job->type);
    const int64_t rows = job->transpose ? job->A->cols : job->A->rows;
    GrB_Index count = (GrB_Index)(rows * job->vectors);
    GrB_Index *row = malloc((size_t)count * sizeof *row + 8), *col = malloc((size_t)count * sizeof *col + 8);
    void *val = malloc((size_t)count * bytes + 8);
    const GrB_Info info = !row || !col || !val   ? GrB_OUT_OF_MEMORY
                          : job->type == LSP_F64 ? GrB_Matrix_extractTuples_FP64(row, col, val, &count, v->Y)
                                                 : GrB_Matrix_extractTuples_FP32(row, col, val, &count, v->Y);
    if (info == GrB_SUCCESS) {
        memset(job->y, 0, (size_t)(rows * job->vectors) * bytes);
        for (GrB_Index k = 0; k < count; k++) {
            const size_t at = (size_t)row[k] * (size_t)job->vectors + (size_t)col[k];
            memcpy((char *)job->y + at * bytes, (char *)val + (size_t)k * bytes, bytes);
        }
    }
    free(row);
    free(col);
    free(val);
    return info == GrB_SUCCESS ? NULL : "GraphBLAS does not give its result";
}

const peer_spmv peer_graphblas_spmv = {
    .parallel = true,
    .offers = offers,
    .prepare = prepare_vectors,
    .run = run_vectors,
    .finish = finish_vectors,
    .destroy = destroy_vectors,
    .version = "GraphBLAS " PEER_VERSION(GxB_IMPLEMENTATION_MAJOR, GxB_IMPLEMENTATION_MINOR, GxB_IMPLEMENTATION_SUB)};
