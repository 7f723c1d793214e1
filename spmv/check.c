/* Refuses wrong arguments of a product, with a sentence that names the first fault. No array of A is read here. */
#include "core/cuda.h"
#include "matrices/matrices.h"
#include "spmv.h"
#include <inttypes.h>

enum { MOST_VECTORS = 1 << 20, MOST_PASSES = 1024 };

/* ---- options ---- */

static lsp_status check_type(lsp_ctx *ctx, const lsp_csr *A, lsp_spmv_options *options) {
    LSP_REQUIRE(A->val_type != LSP_C64, LSP_ERR_UNSUPPORTED, "complex matrices cannot be multiplied");
    LSP_REQUIRE(!lsp_is_integer(A->val_type), LSP_ERR_UNSUPPORTED,
                "a matrix of integers of type %s cannot be multiplied by a vector: copy it to LSP_F64 first",
                lsp_type_name(A->val_type));
    options->type = options->type != LSP_NONE ? options->type : A->val_type != LSP_NONE ? A->val_type : LSP_F64;
    LSP_REQUIRE(options->type == LSP_F32 || options->type == LSP_F64, LSP_ERR_UNSUPPORTED,
                "vectors of type %s: LSP_F32 or LSP_F64 is needed", lsp_type_name(options->type));
    LSP_REQUIRE(options->type == LSP_F64 || A->val_type != LSP_F64, LSP_ERR_UNSUPPORTED,
                "vectors of type LSP_F32 with values of type LSP_F64: the vectors may be wider, not narrower");
    return LSP_OK;
}

static lsp_status check_options(lsp_ctx *ctx, const lsp_csr *A, lsp_spmv_options *options) {
    LSP_TRY(lsp_check_reserved(ctx, "lsp_spmv_options", options->reserved));
    LSP_REQUIRE((unsigned)options->semiring < LSP_SEMIRINGS, LSP_ERR_ARGUMENT, "there is no semiring %d",
                (int)options->semiring);
    LSP_REQUIRE((unsigned)options->method < LSP_SPMV_METHODS, LSP_ERR_ARGUMENT, "there is no method %d",
                (int)options->method);
    LSP_REQUIRE(options->vectors >= 0 && options->vectors <= MOST_VECTORS, LSP_ERR_ARGUMENT,
                "%lld vectors: 0 to %d are possible", (long long)options->vectors, (int)MOST_VECTORS);
    LSP_REQUIRE(options->passes >= 0 && options->passes <= MOST_PASSES, LSP_ERR_ARGUMENT,
                "%d passes: 0 to %d are possible", options->passes, (int)MOST_PASSES);
    LSP_REQUIRE(options->passes == 0 || options->method == LSP_SPMV_GATHER, LSP_ERR_ARGUMENT,
                "%d passes for the method %s: only gather has passes", options->passes,
                lsp_spmv_method_name(options->method));
    LSP_REQUIRE(options->expected_calls >= 0, LSP_ERR_ARGUMENT, "%lld calls are expected: a negative number",
                (long long)options->expected_calls);
    options->vectors = lsp_max(options->vectors, 1);
    return check_type(ctx, A, options);
}

lsp_status lsp_spmv_check(lsp_ctx *ctx, const lsp_csr *A, const lsp_spmv_options *options, lsp_spmv_job *job) {
    *job = (lsp_spmv_job){0};
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_TRY(A->where == LSP_CUDA ? lsp_csr_check_device(ctx, "A") : LSP_OK);
    job->A = *A;
    job->given_rows = A->rows;
    job->device = A->where == LSP_HOST ? &lsp_spmv_cpu : &lsp_spmv_cuda;
    job->options = options != NULL ? *options : (lsp_spmv_options){0};
    LSP_TRY(check_options(ctx, A, &job->options));
    if (job->options.transpose) { /* the shape of op(A); the arrays come later */
        job->A.rows = A->cols;
        job->A.cols = A->rows;
        job->options.transpose = false;
    }
    return LSP_OK;
}

/* ---- vectors ---- */

/* X or Y: `rows` rows of `vectors` elements, or as many vectors of `rows` elements. */
typedef struct block {
    const char *name;
    uintptr_t begin, end;
    int64_t length, width, stride; /* runs of `width` contiguous elements, `stride` apart */
} block;

static lsp_status check_block(lsp_ctx *ctx, const lsp_spmv_job *job, const void *memory, int64_t rows, int64_t stride,
                              block *b) {
    const lsp_spmv_options *o = &job->options;
    const int64_t item = (int64_t)lsp_type_bytes(o->type);
    int64_t items, bytes;
    b->width = o->by_columns ? rows : o->vectors;
    b->length = o->by_columns ? o->vectors : rows;
    LSP_REQUIRE(stride >= 0 && (stride == 0 || stride >= b->width), LSP_ERR_ARGUMENT,
                "%s has a stride of %lld elements, but %lld are next to each other", b->name, (long long)stride,
                (long long)b->width);
    b->stride = stride == 0 ? b->width : stride;
    LSP_REQUIRE(lsp_mul(lsp_max(b->length - 1, 0), b->stride, &items) && lsp_add(items, b->width, &items) &&
                    lsp_mul(items, item, &bytes),
                LSP_ERR_OVERFLOW, "%s: %lld times %lld elements cannot be in memory", b->name, (long long)b->length,
                (long long)b->stride);
    bytes = rows == 0 ? 0 : bytes;
    LSP_REQUIRE(bytes == 0 || memory != NULL, LSP_ERR_ARGUMENT, "%s, %lld elements, is NULL", b->name,
                (long long)(bytes / item));
    LSP_REQUIRE((uintptr_t)memory % (uintptr_t)item == 0, LSP_ERR_ARGUMENT,
                "%s lies at %p, which is no multiple of %lld", b->name, memory, (long long)item);
    b->begin = (uintptr_t)memory;
    b->end = b->begin + (uintptr_t)bytes;
    LSP_REQUIRE(b->end >= b->begin, LSP_ERR_ARGUMENT, "%s wraps around the address space", b->name);
    return LSP_OK;
}

/* Two blocks of one stride may lie within each other: the runs of one in the gaps of the other. */
static bool interleave(const block *a, const block *b, uintptr_t item) {
    const uintptr_t stride = (uintptr_t)a->stride * item;
    if (a->stride != b->stride || stride == 0) {
        return false;
    }
    const block *low = a->begin <= b->begin ? a : b, *high = low == a ? b : a;
    const uintptr_t apart = (high->begin - low->begin) % stride;
    return apart >= (uintptr_t)low->width * item && apart + (uintptr_t)high->width * item <= stride;
}

static bool meet(const block *y, const void *array, int64_t items, lsp_type type) {
    const uintptr_t begin = (uintptr_t)array, end = begin + (uintptr_t)items * lsp_type_bytes(type);
    return y->begin < end && begin < y->end;
}

static lsp_status check_overlap(lsp_ctx *ctx, const lsp_spmv_job *job, const block *x, const block *y) {
    const lsp_csr *A = &job->A;
    LSP_REQUIRE(x->end <= y->begin || y->end <= x->begin || interleave(x, y, lsp_type_bytes(job->options.type)),
                LSP_ERR_ARGUMENT,
                "x and y overlap: x lies at %#" PRIxPTR " to %#" PRIxPTR ", y at %#" PRIxPTR " to %#" PRIxPTR, x->begin,
                x->end, y->begin, y->end);
    LSP_REQUIRE(!meet(y, A->val, A->nnz, A->val_type) && !meet(y, A->col, A->nnz, A->col_type) &&
                    (job->planned || !meet(y, A->rowptr, job->given_rows + 1, A->rowptr_type)),
                LSP_ERR_ARGUMENT, "y overlaps an array of A");
    return LSP_OK;
}

/* ---- factors ---- */

static lsp_status check_factors(lsp_ctx *ctx, lsp_spmv_job *job) {
    lsp_spmv_vectors *v = &job->vectors;
    const lsp_type type = job->options.type;
    const lsp_semiring semiring = job->options.semiring;
    const uintptr_t item = lsp_type_bytes(type);
    LSP_REQUIRE((uintptr_t)v->alpha_at % item == 0 && (uintptr_t)v->beta_at % item == 0, LSP_ERR_ARGUMENT,
                "a factor lies at %p or %p, which is no multiple of %d", v->alpha_at, v->beta_at, (int)item);
    if (job->A.where == LSP_HOST) {
        v->alpha = v->alpha_at != NULL ? lsp_value_of(type, v->alpha_at, 0).re : v->alpha;
        v->beta = v->beta_at != NULL ? lsp_value_of(type, v->beta_at, 0).re : v->beta;
        v->alpha_at = v->beta_at = NULL;
    }
    if (semiring != LSP_PLUS_TIMES) {
        LSP_REQUIRE(v->alpha_at == NULL && v->beta_at == NULL, LSP_ERR_UNSUPPORTED,
                    "the semiring %s takes its factors by value", lsp_semiring_name(semiring));
        LSP_REQUIRE(v->alpha == 1 && (v->beta == 0 || v->beta == 1), LSP_ERR_UNSUPPORTED,
                    "the semiring %s takes alpha = 1 and beta = 0 or 1, not %g and %g", lsp_semiring_name(semiring),
                    v->alpha, v->beta);
    }
    return LSP_OK;
}

lsp_status lsp_spmv_check_vectors(lsp_ctx *ctx, const lsp_spmv_vectors *vectors, lsp_spmv_job *job) {
    block x = {.name = "x"}, y = {.name = "y"};
    LSP_REQUIRE(vectors != NULL, LSP_ERR_ARGUMENT, "the vectors are NULL");
    LSP_TRY(lsp_check_reserved(ctx, "lsp_spmv_vectors", vectors->reserved));
    job->vectors = *vectors;
    LSP_TRY(check_block(ctx, job, vectors->x, job->A.cols, vectors->x_stride, &x));
    LSP_TRY(check_block(ctx, job, vectors->y, job->A.rows, vectors->y_stride, &y));
    job->x_row = job->options.by_columns ? 1 : x.stride;
    job->x_vector = job->options.by_columns ? x.stride : 1;
    job->y_row = job->options.by_columns ? 1 : y.stride;
    job->y_vector = job->options.by_columns ? y.stride : 1;
    LSP_TRY(check_overlap(ctx, job, &x, &y));
    return check_factors(ctx, job);
}
