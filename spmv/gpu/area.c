/* The work area of products on a GPU: the list of pieces and their sums; and the job as kernels see it. */
#include "core/cuda.h"
#include "core/semiring.h"
#include "gpu.h"

void lsp_spmv_gpu_job(lsp_ctx *ctx, const lsp_spmv_job *given, spmv_job *job) {
    const lsp_csr *A = &given->A;
    const lsp_spmv_vectors *v = &given->vectors;
    const lsp_semiring semiring = given->options.semiring;
    const int64_t x_row = given->x_row, item = (int64_t)lsp_type_bytes(given->options.type);
    const bool narrow = A->col_type == LSP_I32 && x_row <= UINT32_MAX / item;
    *job = (spmv_job){.rows = A->rows,
                      .cols = A->cols,
                      .nnz = A->nnz,
                      .cols_narrow = (uint32_t)lsp_min(A->cols, (int64_t)1 << 31),
                      .x_step = (uint32_t)(narrow ? x_row * item : 0),
                      .careful = !narrow || A->cols == 0,
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
                      .x_row = x_row,
                      .x_vector = given->x_vector,
                      .y_row = given->y_row,
                      .y_vector = given->y_vector,
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

/* A matrix that a call has asked about. */
typedef struct asked {
    const void *rowptr;
    int64_t rows, nnz, vectors, shape;
    unsigned long long ticket;
} asked;

/* What the context keeps: the area, and the last matrices. Answers lie in pinned memory, where kernels write them. */
typedef struct kept {
    spmv_area area;
    asked last[LSP_CUDA_ANSWERS];
    unsigned long long tickets;
} kept;

static lsp_status kept_of(lsp_ctx *ctx, kept **k) {
    LSP_PLAN_HOLDS(ctx, NULL);
    *k = ctx->tables[LSP_TABLE_SPMV];
    if (*k == NULL) {
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof **k, (void **)k));
        **k = (kept){0};
        ctx->tables[LSP_TABLE_SPMV] = *k;
    }
    return LSP_OK;
}

lsp_status lsp_spmv_area_for(lsp_ctx *ctx, void *parts, int64_t pieces, spmv_area *area) {
    LSP_PLAN_HOLDS(ctx, NULL);
    kept *k;
    void *memory = NULL;
    if (parts != NULL) {
        *area = *(const spmv_area *)parts;
        return LSP_OK;
    }
    LSP_TRY(kept_of(ctx, &k));
    if (k->area.capacity >= pieces) {
        *area = k->area;
        return LSP_OK;
    }
    LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph, and the context has no room for a matrix of this "
                "size: multiply by it once before, or use a plan");
    int64_t capacity = lsp_max(pieces, 2 * k->area.capacity);
    lsp_status status = lsp_alloc(ctx, LSP_CUDA, bytes_of(capacity), 1, &memory);
    if (status == LSP_ERR_MEMORY) {
        capacity = pieces;
        status = lsp_alloc(ctx, LSP_CUDA, bytes_of(capacity), 1, &memory);
    }
    LSP_TRY(status);
    k->area = *area = area_in(memory, capacity);
    return LSP_OK;
}

lsp_status lsp_spmv_area_prepare(lsp_spmv_plan *plan, int64_t pieces) {
    void *memory = NULL;
    LSP_TRY(plan->parts == NULL ? lsp_spmv_make_parts(plan, sizeof(spmv_area), &memory) : LSP_OK);
    LSP_TRY(lsp_spmv_hold(plan, bytes_of(pieces), 1, &memory));
    *(spmv_area *)plan->parts = area_in(memory, pieces);
    return LSP_OK;
}

/* ---- what was found before ---- */

/* A kernel that has not run yet may write the answer of another matrix to the same place: tickets tell them apart. */
void lsp_spmv_recall(lsp_ctx *ctx, const lsp_spmv_job *given, int64_t shape, spmv_memory *memory) {
    const lsp_csr *A = &given->A;
    kept *k = ctx->tables[LSP_TABLE_SPMV];
    asked now = {
        .rowptr = A->rowptr, .rows = A->rows, .nnz = A->nnz, .vectors = given->options.vectors, .shape = shape};
    const uint64_t sum = (uintptr_t)now.rowptr / 64 + (uint64_t)(now.rows + 3 * now.nnz + 5 * now.vectors + shape);
    const size_t at = (size_t)(sum * UINT64_C(0x9E3779B97F4A7C15) >> 32) % LSP_CUDA_ANSWERS;
    volatile unsigned long long *const here = lsp_cuda_answers(ctx, &memory->answer);
    if (lsp_cuda_recording(ctx)) {
        memory->answer = NULL;
        return;
    }
    if (memcmp(&k->last[at], &now, offsetof(asked, ticket)) != 0) {
        now.ticket = ++k->tickets;
        k->last[at] = now;
    }
    const unsigned long long answer = here[at];
    memory->answer += at;
    memory->ticket = k->last[at].ticket;
    memory->known = answer >> SPMV_FOUND_BITS == memory->ticket;
    memory->found = memory->known ? (unsigned)answer & ((1u << SPMV_FOUND_BITS) - 1) : 0;
}
