/* C = A*B with few products: decides if a product is small, shares its rows among threads, and joins their parts to C.
 */
#include "small.h"
#include "core/isa.h"

#include <stdio.h>
#include <string.h>

/* Rows are counted in SHARES shares. A part is a run of shares; parts have about equal products, and each thread makes
 * one. */
enum { SHARES = 64, MOST_PARTS = 16 };

typedef struct product {
    lsp_spgemm_info info;
    int64_t products[SHARES], nnz_bound[SHARES];
    uint64_t *bits; /* of B, or NULL: lsp_small_job has them */
    int64_t words;
    int parts;
    lsp_isa isa;
    lsp_small_job jobs[MOST_PARTS];
    int64_t nnz[MOST_PARTS];
} product;

/* Words that hold a row of B as bits. */
static int64_t words_of(const lsp_csr *B) { return (B->cols + 511) / 512 * 8; }

/* Are B's rows nearly dense? Then the union of their bits costs little beside their products. */
static bool is_dense(const lsp_csr *B) { return B->nnz / 4 >= B->rows * words_of(B); }

/* Are C's rows long and their columns near each other? Measured on 16 rows, as products for each block of 64 columns.
 * Other rows are sorted faster. */
static bool is_near(const lsp_csr *A, const lsp_csr *B) {
    enum { SAMPLE = 16, ROW_PRODUCTS = 32, BLOCK_PRODUCTS = 4 };
    const int32_t *a_rowptr = A->rowptr, *a_col = A->col, *b_rowptr = B->rowptr, *b_col = B->col;
    int64_t products = 0, touched = 0;
    for (int s = 0; s < SAMPLE; s++) {
        const int64_t i = A->rows * s / SAMPLE;
        uint64_t blocks = 0;
        for (int32_t e = a_rowptr[i]; e < a_rowptr[i + 1] && products < LSP_SMALL_PRODUCTS; e++) {
            for (int32_t q = b_rowptr[a_col[e]]; q < b_rowptr[a_col[e] + 1]; q++) {
                blocks |= (uint64_t)1 << (uint32_t)b_col[q] / 64;
                products++;
            }
        }
        touched += __builtin_popcountll(blocks);
    }
    return products >= ROW_PRODUCTS * SAMPLE && products >= BLOCK_PRODUCTS * touched;
}

/* The most products that count as small here. Dense products stay with the plan if there are more threads than parts,
 * and is_near is not asked for products that are small in any case. */
static int64_t most_products(const lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B) {
    const int64_t row_entries = B->rows > 0 ? B->nnz / B->rows + 1 : 0;
    if (A->nnz * lsp_min(row_entries, LSP_SMALL_COLUMNS) <= LSP_SMALL_PRODUCTS) {
        return LSP_SMALL_PRODUCTS;
    }
    if (is_dense(B) && ctx->options.threads <= MOST_PARTS) {
        return LSP_SMALL_DENSE_PRODUCTS;
    }
    return is_near(A, B) ? LSP_SMALL_NEAR_PRODUCTS : LSP_SMALL_PRODUCTS;
}

/* Counts the products of all rows, of each share and of the longest row, and bounds the entries. False if the product
 * is not small. */
static bool count(const lsp_csr *A, const lsp_csr *B, int64_t most, product *p) {
    enum { MOST_ENTRIES = 1 << 20 };
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
            p->nnz_bound[share] += lsp_min(products, B->cols);
            info->max_row_products = lsp_max(info->max_row_products, products);
        }
        info->products += p->products[share];
        info->nnz_bound += p->nnz_bound[share];
        if (info->products > most || info->nnz_bound > MOST_ENTRIES) {
            return false;
        }
    }
    const bool bits = is_dense(B) && info->products / 4 >= B->nnz; /* otherwise making the bits takes too long */
    p->words = bits ? words_of(B) : 0;
    return bits || info->products <= LSP_SMALL_NEAR_PRODUCTS;
}

static bool suits(const lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    const lsp_type type = lsp_wide_type(lsp_spgemm_result_type(A, B, options));
    const bool narrow = A->rowptr_type == LSP_I32 && A->col_type == LSP_I32 && B->rowptr_type == LSP_I32 &&
                        B->col_type == LSP_I32 && options->types.rowptr_type != LSP_I64 &&
                        options->types.col_type != LSP_I64;
    return A->where == LSP_HOST && ctx->options.max_bytes == 0 && options->method == LSP_SPGEMM_AUTO &&
           options->semiring == LSP_PLUS_TIMES && !options->transpose_a && !options->transpose_b && narrow &&
           type != LSP_NONE && A->val_type == type && B->val_type == type && A->nnz <= LSP_SMALL_ENTRIES &&
           A->rows <= LSP_SMALL_ROWS && B->cols > 0 && B->cols <= LSP_SMALL_COLUMNS;
}

static void clear_window(const lsp_small_job *job, int64_t columns) {
    for (int64_t j = 0; j < columns && job->A.val_type == LSP_F64; j++) {
        ((double *)job->window)[j] = -0.0;
    }
    for (int64_t j = 0; j < columns && job->A.val_type == LSP_F32; j++) {
        ((float *)job->window)[j] = -0.0F;
    }
    if (job->A.val_type == LSP_I64) {
        memset(job->window, 0, (size_t)columns * sizeof(int64_t));
    }
    for (int64_t j = 0; j < 2 * columns && job->A.val_type == LSP_C64; j++) {
        ((double *)job->window)[j] = -0.0;
    }
}

/* Makes B's columns as bits, if `count` decided to use them. */
static lsp_status make_bits(lsp_ctx *ctx, const lsp_csr *B, product *p) {
    const int32_t *rowptr = B->rowptr, *col = B->col;
    if (p->words == 0) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, B->rows * p->words, &p->bits));
    p->info.scratch_bytes += B->rows * p->words * 8;
    for (int64_t k = 0; k < B->rows; k++) {
        uint64_t *bits = p->bits + k * p->words;
        for (int32_t q = rowptr[k]; q < rowptr[k + 1]; q++) {
            bits[(uint32_t)col[q] / 64] |= (uint64_t)1 << (uint32_t)col[q] % 64;
        }
    }
    return LSP_OK;
}

/* The first row of a share; for SHARES, the number of rows. */
static int64_t first_row(const lsp_csr *A, int share) {
    int64_t begin = A->rows, end;
    if (share < SHARES) {
        lsp_share(A->rows, share, SHARES, &begin, &end);
    }
    return begin;
}

/* Makes the job of each thread, and allocates its memory. */
static lsp_status prepare(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, product *p) {
    const size_t value = lsp_type_bytes(A->val_type), columns = ((size_t)B->cols + 63) / 64 * 64;
    int32_t *rowptr;
    int64_t done = 0;
    int share = 0;
    p->parts = (int)lsp_min(lsp_spgemm_threads(ctx, p->info.products), MOST_PARTS);
    LSP_TRY(LSP_SCRATCH(ctx, A->rows + 1, &rowptr));
    p->info.scratch_bytes = (A->rows + 1) * 4;
    LSP_TRY(make_bits(ctx, B, p));
    for (int part = 0; part < p->parts; part++) {
        const int64_t goal = p->info.products * (part + 1) / p->parts;
        int64_t most = 0; /* entries */
        lsp_small_job *job = &p->jobs[part];
        *job = (lsp_small_job){
            .A = *A, .B = *B, .first = first_row(A, share), .rowptr = rowptr, .bits = p->bits, .words = p->words};
        for (; share < SHARES && (done < goal || part == p->parts - 1); share++) {
            done += p->products[share];
            most += p->nnz_bound[share];
        }
        job->end = first_row(A, share);
        char *memory;
        const int64_t bytes = (int64_t)(columns * (value + 1) + (size_t)most * (value + 4));
        LSP_TRY(lsp_scratch_bytes(ctx, bytes, 1, false, (void **)&memory));
        p->info.scratch_bytes += bytes;
        job->window = memory;
        job->touched = (uint8_t *)memory + columns * value;
        job->val = job->touched + columns;
        job->col = (int32_t *)(void *)((char *)job->val + (size_t)most * value);
    }
    return LSP_OK;
}

static void multiply(void *data, int64_t part, int thread) {
    product *p = data;
    const int64_t columns = (p->jobs[part].B.cols + 63) / 64 * 64;
    (void)thread;
    clear_window(&p->jobs[part], columns);
    memset(p->jobs[part].touched, 0, (size_t)columns);
    const lsp_type type = p->jobs[part].A.val_type;
    p->nnz[part] = type == LSP_C64   ? LSP_ISA_PICK(p->isa, lsp_spgemm_small_complex_rows)(&p->jobs[part])
                   : type == LSP_I64 ? LSP_ISA_PICK(p->isa, lsp_spgemm_small_integer_rows)(&p->jobs[part])
                                     : LSP_ISA_PICK(p->isa, lsp_spgemm_small_rows)(&p->jobs[part]);
}

/* Copies the parts to C, one after the other. */
static void join(const product *p, const lsp_csr *C) {
    const size_t value = lsp_type_bytes(C->val_type);
    int32_t at = 0, *rowptr = C->rowptr;
    for (int part = 0; part < p->parts; part++) {
        const lsp_small_job *job = &p->jobs[part];
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

static void describe(const product *p, lsp_spgemm_info *info, const lsp_csr *C) {
    info->method = LSP_SPGEMM_SORT;
    info->method_name = "sort";
    snprintf(info->reason, sizeof info->reason,
             "one pass: %lld products %s, and are added up in a window of all columns", (long long)info->products,
             p->words > 0 ? "of rows that are nearly dense" : "are few");
    info->nnz = C->nnz;
    info->blocks = info->passes = 1;
    info->bound_bytes = (C->rows + 1) * 4 + info->nnz_bound * (int64_t)(4 + lsp_type_bytes(C->val_type));
}

/* Makes C by the jobs. */
static lsp_status make(lsp_ctx *ctx, product *p, lsp_csr *C) {
    const lsp_csr *A = &p->jobs->A, *B = &p->jobs->B;
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = A->val_type};
    int64_t nnz = 0;
    lsp_for_parts(ctx, p->parts, p->parts, multiply, p);
    for (int part = 0; part < p->parts; part++) {
        nnz += p->nnz[part];
    }
    LSP_TRY(lsp_csr_create(ctx, A->rows, B->cols, nnz, &types, C));
    join(p, C);
    return LSP_OK;
}

lsp_status lsp_spgemm_small(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                            lsp_csr *C, lsp_spgemm_info *info, bool *done) {
    product p = {.isa = ctx->isa};
    lsp_csr made = {.rows = A->rows, .val_type = A->val_type};
    *done = false;
    if (!suits(ctx, A, B, options) || !count(A, B, most_products(ctx, A, B), &p)) {
        return LSP_OK;
    }
    LSP_SCRATCH_SCOPE(ctx);
    LSP_TRY(prepare(ctx, A, B, &p));
    LSP_TRY(C != NULL ? make(ctx, &p, &made) : LSP_OK);
    describe(&p, &p.info, &made);
    *info = p.info;
    *done = true;
    if (C != NULL) {
        *C = made;
    }
    return LSP_OK;
}
