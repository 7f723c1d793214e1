/* C = A*B of few products: is it one, how it is shared out, and C of the parts. */
#include "small.h"
#include "core/isa.h"
#include "spgemm/spgemm.h"

#include <stdio.h>
#include <string.h>

/* Rows are looked at in so many shares; a thread takes one or more of them, if that gives it so many products. */
enum { SHARES = 8, THREAD_PRODUCTS = 1 << 12 };

typedef struct product {
    lsp_spgemm_info info;
    int64_t products[SHARES];
    int parts;
    lsp_isa isa;
    lsp_few_job jobs[SHARES];
    int64_t nnz[SHARES];
} product;

/* Products, in all, of the shares and of the longest row, and entries at most. False: there are too many. */
static bool count(const lsp_csr *A, const lsp_csr *B, product *p) {
    const int32_t *a_rowptr = A->rowptr, *a_col = A->col, *b_rowptr = B->rowptr;
    lsp_spgemm_info *info = &p->info;
    for (int share = 0; share < SHARES; share++) {
        int64_t begin, end;
        lsp_share(A->rows, share, SHARES, &begin, &end);
        for (int64_t i = begin; i < end; i++) {
            int64_t products = 0;
            for (int32_t e = a_rowptr[i]; e < a_rowptr[i + 1]; e++) {
                products += b_rowptr[a_col[e] + 1] - b_rowptr[a_col[e]];
            }
            p->products[share] += products;
            info->nnz_bound += lsp_min(products, B->cols);
            info->max_row_products = lsp_max(info->max_row_products, products);
        }
        info->products += p->products[share];
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
           A->rows <= LSP_FEW_ROWS && B->cols > 0 && B->cols <= LSP_FEW_COLUMNS;
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

/* The job of each thread, and its memory. */
static lsp_status prepare(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, product *p) {
    lsp_status status = LSP_OK;
    const size_t value = lsp_type_bytes(A->val_type), columns = ((size_t)B->cols + 63) / 64 * 64;
    int32_t *rowptr;
    p->parts = (int)lsp_min(lsp_threads_for(ctx, p->info.products, THREAD_PRODUCTS), SHARES);
    LSP_TRY(LSP_SCRATCH(ctx, A->rows + 1, &rowptr));
    p->info.scratch_bytes = (A->rows + 1) * 4;
    for (int part = 0; part < p->parts; part++) {
        const int first = SHARES * part / p->parts, end = SHARES * (part + 1) / p->parts;
        int64_t products = 0, unused;
        lsp_few_job *job = &p->jobs[part];
        *job = (lsp_few_job){.A = *A, .B = *B, .rowptr = rowptr};
        lsp_share(A->rows, first, SHARES, &job->first, &unused);
        lsp_share(A->rows, end - 1, SHARES, &unused, &job->end);
        for (int share = first; share < end; share++) {
            products += p->products[share];
        }
        char *memory;
        const int64_t bytes = (int64_t)(columns * (value + 1) + (size_t)products * (value + 4));
        LSP_TRY(lsp_scratch_bytes(ctx, bytes, 1, false, (void **)&memory));
        p->info.scratch_bytes += bytes;
        job->window = memory;
        job->val = memory + columns * value;
        job->col = (int32_t *)(void *)(memory + (columns + (size_t)products) * value);
        job->touched = (uint8_t *)(job->col + products);
    }
done:
    return status;
}

static void multiply(void *data, int64_t part, int thread) {
    product *p = data;
    (void)thread;
    clear_window(&p->jobs[part], (p->jobs[part].B.cols + 63) / 64 * 64);
    p->nnz[part] = LSP_ISA_PICK(p->isa, lsp_spgemm_few_rows)(&p->jobs[part]);
}

/* The parts one behind the other. */
static void join(const product *p, const lsp_csr *C) {
    const size_t value = lsp_type_bytes(C->val_type);
    int32_t at = 0, *rowptr = C->rowptr;
    for (int part = 0; part < p->parts; part++) {
        const lsp_few_job *job = &p->jobs[part];
        for (int64_t i = job->first; i < job->end; i++) {
            rowptr[i] = at + job->rowptr[i];
        }
        if (p->nnz[part] > 0) {
            memcpy((int32_t *)C->col + at, job->col, (size_t)p->nnz[part] * 4);
            memcpy((char *)C->val + (size_t)at * value, job->val, (size_t)p->nnz[part] * value);
        }
        at += (int32_t)p->nnz[part];
    }
    rowptr[C->rows] = at;
}

static void describe(lsp_spgemm_info *info, const lsp_csr *C) {
    info->method = LSP_SPGEMM_SORT;
    info->method_name = "sort";
    snprintf(info->reason, sizeof info->reason, "%lld products are few: they are added up in a window of all columns",
             (long long)info->products);
    info->nnz = C->nnz;
    info->blocks = 1;
    info->bound_bytes = (C->rows + 1) * 4 + info->nnz_bound * (int64_t)(4 + lsp_type_bytes(C->val_type));
}

lsp_status lsp_spgemm_few(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                          lsp_csr *C, lsp_spgemm_info *info, bool *done) {
    lsp_status status = LSP_OK;
    product p = {.isa = ctx->isa};
    lsp_csr made = {0};
    int64_t nnz = 0;
    *done = false;
    if (!suits(ctx, A, B, options) || !count(A, B, &p)) {
        return LSP_OK;
    }
    size_t mark = lsp_scratch_mark(ctx);
    LSP_TRY(prepare(ctx, A, B, &p));
    lsp_for_parts(ctx, p.parts, p.parts, multiply, &p);
    for (int part = 0; part < p.parts; part++) {
        nnz += p.nnz[part];
    }
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = A->val_type};
    LSP_TRY(lsp_csr_create(ctx, A->rows, B->cols, nnz, &types, &made));
    join(&p, &made);
    describe(&p.info, &made);
    *C = made;
    *done = true;
    if (info != NULL) {
        *info = p.info;
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
