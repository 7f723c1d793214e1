#include "spgemm_few.h"
#include "core/isa.h"
#include "spgemm.h"

#include <stdio.h>
#include <string.h>

/* Products, in all and of the longest row, and entries at most. False: there are too many. */
static bool count(const lsp_csr *A, const lsp_csr *B, lsp_spgemm_info *info) {
    const int32_t *a_rowptr = A->rowptr, *a_col = A->col, *b_rowptr = B->rowptr;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t products = 0;
        for (int32_t p = a_rowptr[i]; p < a_rowptr[i + 1]; p++) {
            products += b_rowptr[a_col[p] + 1] - b_rowptr[a_col[p]];
        }
        info->products += products;
        info->nnz_bound += lsp_min(products, B->cols);
        info->max_row_products = lsp_max(info->max_row_products, products);
        if (info->products > LSP_FEW_PRODUCTS) {
            return false;
        }
    }
    return true;
}

static bool suits(const lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    const lsp_type type = lsp_spgemm_result_type(A, B, &options->types);
    const bool narrow = A->rowptr_type == LSP_I32 && A->col_type == LSP_I32 && B->rowptr_type == LSP_I32 &&
                        B->col_type == LSP_I32 && options->types.rowptr_type != LSP_I64 &&
                        options->types.col_type != LSP_I64;
    return A->where == LSP_HOST && ctx->options.max_bytes == 0 && options->method == LSP_SPGEMM_AUTO &&
           options->semiring == LSP_PLUS_TIMES && !options->transpose_a && !options->transpose_b && narrow &&
           type != LSP_NONE && A->val_type == type && B->val_type == type && A->nnz <= LSP_FEW_PRODUCTS &&
           A->rows <= LSP_FEW_ROWS && B->cols <= LSP_FEW_COLUMNS;
}

static void describe(lsp_spgemm_info *info, int64_t rows, int64_t nnz, size_t scratch, size_t value) {
    info->method = LSP_SPGEMM_SORT;
    info->method_name = "sort";
    snprintf(info->reason, sizeof info->reason, "%lld products are few: they are added up in a window of all columns",
             (long long)info->products);
    info->nnz = nnz;
    info->blocks = 1;
    info->scratch_bytes = (int64_t)scratch;
    info->bound_bytes = (rows + 1) * 4 + info->nnz_bound * (int64_t)(4 + value);
}

static void clear_window(const lsp_few_job *job, int64_t columns) {
    for (int64_t j = 0; j < columns && job->A.val_type == LSP_F64; j++) {
        ((double *)job->window)[j] = -0.0;
    }
    for (int64_t j = 0; j < columns && job->A.val_type == LSP_F32; j++) {
        ((float *)job->window)[j] = -0.0F;
    }
    memset(job->touched, 0, (size_t)columns);
}

lsp_status lsp_spgemm_few(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                          lsp_csr *C, lsp_spgemm_info *info, bool *done) {
    lsp_status status = LSP_OK;
    lsp_spgemm_info found = {0};
    lsp_csr made = {0};
    *done = false;
    if (!suits(ctx, A, B, options) || !count(A, B, &found)) {
        return LSP_OK;
    }
    size_t mark = lsp_scratch_mark(ctx);
    const size_t value = lsp_type_bytes(A->val_type), products = (size_t)found.products;
    const size_t columns = ((size_t)B->cols + 63) / 64 * 64, rows = ((size_t)A->rows + 64) / 64 * 64;
    const size_t scratch = columns * (value + 1) + products * (value + 4) + rows * 4;
    char *memory;
    LSP_TRY(lsp_scratch_bytes(ctx, (int64_t)scratch, 1, false, (void **)&memory));
    lsp_few_job job = {.A = *A, .B = *B, .window = memory};
    job.touched = (uint8_t *)memory + columns * value;
    job.val = memory + columns * (value + 1);
    job.rowptr = (int32_t *)(void *)(memory + columns * (value + 1) + products * value);
    job.col = job.rowptr + rows;
    clear_window(&job, (int64_t)columns);
    const int64_t nnz = LSP_ISA_PICK(ctx->isa, lsp_spgemm_few_rows)(&job);
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = A->val_type};
    LSP_TRY(lsp_csr_create(ctx, A->rows, B->cols, nnz, &types, &made));
    memcpy(made.rowptr, job.rowptr, ((size_t)A->rows + 1) * 4);
    if (nnz > 0) {
        memcpy(made.col, job.col, (size_t)nnz * 4);
        memcpy(made.val, job.val, (size_t)nnz * value);
    }
    *C = made;
    *done = true;
    if (info != NULL) {
        describe(&found, A->rows, nnz, scratch, value);
        *info = found;
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
