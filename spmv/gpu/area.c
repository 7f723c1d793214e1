/* The work area of products on a GPU: the list of pieces and their sums; and the job as kernels see it. */
#include "core/cuda.h"
#include "core/semiring.h"
#include "gpu.h"

void lsp_spmv_gpu_job(lsp_ctx *ctx, const lsp_spmv_job *given, spmv_job *job) {
    const lsp_csr *A = &given->A;
    const lsp_spmv_vectors *v = &given->vectors;
    const lsp_semiring semiring = given->options.semiring;
    const bool by_columns = given->options.by_columns;
    *job = (spmv_job){.rows = A->rows,
                      .cols = A->cols,
                      .nnz = A->nnz,
                      .cols_narrow = (uint32_t)lsp_min(A->cols, (int64_t)1 << 31),
                      .rowptr = A->rowptr,
                      .col = A->col,
                      .val = A->val,
                      .wide_rowptr = A->rowptr_type == LSP_I64,
                      .wide_col = A->col_type == LSP_I64,
                      .semiring = semiring,
                      .chooses = lsp_semiring_is_minmax(semiring) && !lsp_semiring_counts(semiring) &&
                                 lsp_semiring_product(semiring) != LSP_PRODUCT_BOTH,
                      .empty = lsp_semiring_empty(semiring),
                      .alpha = v->alpha,
                      .beta = v->beta,
                      .alpha_at = v->alpha_at,
                      .beta_at = v->beta_at,
                      .x = v->x,
                      .y = v->y,
                      .vectors = given->options.vectors,
                      .x_row = by_columns ? 1 : v->x_stride,
                      .x_vector = by_columns ? v->x_stride : 1,
                      .y_row = by_columns ? 1 : v->y_stride,
                      .y_vector = by_columns ? v->y_stride : 1,
                      .fault = lsp_cuda_fault(ctx)};
}

/* ---- the area ---- */

enum { STATE_BYTES = 64, PIECE_BYTES = sizeof(spmv_piece) + 2 * sizeof(double) };

static int64_t bytes_of(int64_t pieces) { return STATE_BYTES + pieces * PIECE_BYTES; }

static spmv_area area_in(char *memory, int64_t pieces) {
    spmv_area area = {.state = (spmv_state *)memory, .list = (spmv_piece *)(memory + STATE_BYTES), .capacity = pieces};
    area.head = area.list + pieces;
    area.tail = (double *)area.head + pieces;
    return area;
}

static lsp_status area_of_ctx(lsp_ctx *ctx, int64_t pieces, spmv_area *area) {
    lsp_status status = LSP_OK;
    spmv_area *kept = ctx->tables[LSP_TABLE_SPMV];
    void *memory = NULL;
    int64_t capacity;
    if (kept != NULL && kept->capacity >= pieces) {
        *area = *kept;
        return LSP_OK;
    }
    LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph, and the context has no room for a matrix of this "
                "size: multiply by it once before, or use a plan");
    if (kept == NULL) {
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof *kept, (void **)&kept));
        *kept = (spmv_area){0};
        ctx->tables[LSP_TABLE_SPMV] = kept;
    }
    capacity = lsp_max(pieces, 2 * kept->capacity);
    status = lsp_alloc(ctx, LSP_CUDA, bytes_of(capacity), 1, &memory);
    if (status == LSP_ERR_MEMORY) {
        capacity = pieces;
        status = lsp_alloc(ctx, LSP_CUDA, bytes_of(capacity), 1, &memory);
    }
    LSP_TRY(status);
    *kept = *area = area_in(memory, capacity);
done:
    return status;
}

lsp_status lsp_spmv_area_for(lsp_ctx *ctx, void *parts, int64_t pieces, spmv_area *area) {
    if (parts != NULL) {
        *area = *(const spmv_area *)parts;
        return LSP_OK;
    }
    return area_of_ctx(ctx, pieces, area);
}

lsp_status lsp_spmv_area_prepare(lsp_spmv_plan *plan, int64_t pieces) {
    lsp_status status = LSP_OK;
    void *memory = NULL;
    LSP_TRY(lsp_spmv_make_parts(plan, sizeof(spmv_area)));
    LSP_TRY(lsp_spmv_hold(plan, bytes_of(pieces), 1, &memory));
    *(spmv_area *)plan->parts = area_in(memory, pieces);
done:
    return status;
}
