/* C = alpha*A + beta*B where the rows of A and of B ascend strictly; the inner loops are in add_equal_kernel.c and
 * add_merge_kernel.c. Equal patterns take one pass, which compares, checks and copies the columns and sums the values.
 * For others one thread merges in one pass into arrays of nnz(A)+nnz(B) entries and trims them if much is left over.
 * Several threads count first, so that each knows where its rows of C begin. One thread counts first too if these
 * arrays do not fit the memory. */
#include "addition.h"

enum {
    bypass_from = 4 << 20, /* bytes; a C of equal pattern of this size or more is stored past the cache */
    asked_from = 64 << 20, /* bytes; arrays of this size or more are first compared with the free memory */
    slack = 8,             /* up to an 8th of C's arrays may stay unused */
};

/* ---- equal patterns ---- */

static void add_rows(void *data, int64_t begin, int64_t end) {
    addition *s = data;
    if (!LSP_ISA_PICK(s->isa, lsp_add_equal)(s, begin, end)) {
        __atomic_store_n(&s->bad, 1, __ATOMIC_RELAXED);
    }
}

static lsp_status add_equal(lsp_ctx *ctx, addition *s, const lsp_csr_types *types, bool *done) {
    const lsp_csr *A = s->A;
    lsp_csr_types fit;
    *done = false;
    LSP_TRY(lsp_csr_resolve(ctx, A->cols, A->nnz, LSP_NONE, types, &fit));
    if (!s->equal_rowptr || A->nnz == 0 || A->cols == 0 || A->val_type == LSP_C64 || A->val_type == LSP_I64 ||
        A->rowptr_type != A->col_type || A->rowptr_type != fit.rowptr_type || A->col_type != fit.col_type ||
        s->B->col_type != fit.col_type) {
        return LSP_OK;
    }
    LSP_TRY(lsp_csr_create(ctx, A->rows, A->cols, A->nnz, types, s->C));
    s->bypass = A->nnz * (int64_t)(lsp_type_bytes(A->col_type) + lsp_type_bytes(A->val_type)) >= bypass_from;
    lsp_csr_for_rows(ctx, A, add_rows, s);
    *done = s->bad == 0;
    if (!*done) {
        lsp_csr_free(ctx, s->C);
        s->bad = 0;
    }
    return LSP_OK;
}

/* ---- others ---- */

/* Do arrays of `most` entries and arrays of C's true size fit the memory together? */
static bool fits_twice(lsp_ctx *ctx, const addition *s, int64_t most) {
    const double entry = (double)(lsp_type_bytes(s->A->col_type) + lsp_type_bytes(s->A->val_type));
    const double bytes = 2 * ((double)most * entry + (double)s->A->rows * sizeof(int64_t));
    return (bytes < asked_from && ctx->options.max_bytes == 0) || bytes <= (double)lsp_available_bytes(ctx, LSP_HOST);
}

static lsp_status add_once(lsp_ctx *ctx, addition *s, int64_t most, const lsp_csr_types *types, bool *done) {
    LSP_TRY(lsp_csr_create(ctx, s->A->rows, s->A->cols, most, types, s->C));
    const int64_t nnz = LSP_ISA_PICK(s->isa, lsp_add_merge)(s, 0, s->A->rows);
    *done = nnz >= 0;
    if (!*done) {
        lsp_csr_free(ctx, s->C);
        return LSP_OK;
    }
    s->C->nnz = nnz;
    /* to arrays of the true size; fewer entries may have narrower row pointers */
    return most - nnz > most / slack ? lsp_csr_copy_checked(ctx, s->C, types, s->C) : LSP_OK;
}

static void count_rows(void *data, int64_t begin, int64_t end) {
    addition *s = data;
    if (LSP_ISA_PICK(s->isa, lsp_add_count)(s, begin, end) < 0) {
        __atomic_store_n(&s->bad, 1, __ATOMIC_RELAXED);
    }
}

LSP_SHARE(fill_rows, const addition, s, (void)LSP_ISA_PICK(s->isa, lsp_add_fill)(s, begin, end))

static lsp_status add_twice(lsp_ctx *ctx, addition *s, const lsp_csr *shared, const lsp_csr_types *types, bool *done) {
    LSP_SCRATCH_SCOPE(ctx);
    LSP_TRY(LSP_SCRATCH(ctx, s->A->rows + 1, &s->starts));
    lsp_csr_for_rows(ctx, shared, count_rows, s);
    *done = s->bad == 0;
    s->bad = 0;
    if (*done) {
        LSP_TRY(lsp_csr_make_rows(ctx, LSP_HOST, s->A->rows, s->A->cols, s->starts, -1, types, s->C));
        lsp_csr_for_rows(ctx, shared, fill_rows, s);
    }
    return LSP_OK;
}

lsp_status lsp_csr_add_strict(lsp_ctx *ctx, addition *s, const lsp_csr_types *types, bool *done) {
    const lsp_csr *A = s->A, *B = s->B, *shared = A->nnz > B->nnz ? A : B;
    const int64_t most = A->nnz + B->nnz;
    LSP_TRY(add_equal(ctx, s, types, done));
    return *done                                                           ? LSP_OK
           : lsp_csr_threads(ctx, shared) == 1 && fits_twice(ctx, s, most) ? add_once(ctx, s, most, types, done)
                                                                           : add_twice(ctx, s, shared, types, done);
}
