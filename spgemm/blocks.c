/* C = op(A)*op(B) on a GPU, whose kernels count entries and rows of a factor in 32 bits. Larger factors are cut: op(A)
 * into blocks of rows, op(B) into blocks of columns. Each entry of C lies in one block, and is the sum of the same
 * products in the same order, so its bits are those of the whole product. The blocks of C are then put together. */
#include "blocks.h"
#include "spgemm.h"

#include <stdio.h>

/* ---- cuts ---- */

/* A factor, and where it is cut: block b has the lines bounds[b] .. bounds[b + 1]-1. Lines are the rows of op(A), the
 * columns of op(B). */
typedef struct cut {
    const char *name;
    const lsp_csr *M;
    bool by_rows; /* the lines are rows of M, else columns */
    int64_t lines, most_lines;
    int64_t *bounds, count;
} cut;

static cut cut_of_a(const lsp_ctx *ctx, const lsp_csr *A, const lsp_spgemm_options *options) {
    return (cut){.name = "A",
                 .M = A,
                 .by_rows = !options->transpose_a,
                 .lines = options->transpose_a ? A->cols : A->rows,
                 .most_lines = lsp_spgemm_most(ctx) - 1};
}
static cut cut_of_b(const lsp_ctx *ctx, const lsp_csr *B, const lsp_spgemm_options *options) {
    return (cut){.name = "B",
                 .M = B,
                 .by_rows = options->transpose_b,
                 .lines = options->transpose_b ? B->rows : B->cols,
                 .most_lines = options->transpose_b ? lsp_spgemm_most(ctx) : INT64_MAX};
}

static bool is_too_large(const lsp_ctx *ctx, const cut *c) {
    return c->M->nnz > lsp_spgemm_most(ctx) || c->lines > c->most_lines;
}

/* *end: the block that begins at line `first` ends there. It has at most `target` entries, unless one line has more. */
static lsp_status find_end(lsp_ctx *ctx, const cut *c, int64_t first, int64_t target, int64_t *end) {
    int64_t next;
    LSP_TRY(c->by_rows ? lsp_csr_cut_rows(ctx, c->M, first, target, end, &next)
                       : lsp_csr_cut_columns(ctx, c->M, first, target, end, &next));
    if (*end == first) {
        LSP_REQUIRE(next <= lsp_spgemm_most(ctx), LSP_ERR_UNSUPPORTED,
                    "%s %lld of %s has %lld entries: on a GPU a product cuts its factors there, and each part may have "
                    "up to %lld",
                    c->by_rows ? "row" : "column", (long long)first, c->name, (long long)next,
                    (long long)lsp_spgemm_most(ctx));
        *end = first + 1;
    }
    *end = lsp_min(*end, first + lsp_min(c->most_lines, c->lines - first));
    return LSP_OK;
}

/* Cuts into as few blocks as the limit allows, of about equally many entries. There is at least one. */
static lsp_status find_bounds(lsp_ctx *ctx, cut *c) {
    const int64_t nnz = c->M->nnz, most = lsp_spgemm_most(ctx);
    const int64_t target = lsp_max(lsp_ceil_div(nnz, lsp_max(lsp_ceil_div(nnz, most), 1)), 1);
    /* A block that ends for its entries has with the next one more than `target`. */
    const int64_t room = 2 * (nnz / target) + c->lines / c->most_lines + 3;
    LSP_TRY(LSP_SCRATCH(ctx, room, &c->bounds));
    c->bounds[0] = 0;
    c->bounds[1] = c->lines;
    c->count = 1;
    if (is_too_large(ctx, c)) {
        c->count = 0;
        for (int64_t first = 0; first < c->lines; first = c->bounds[++c->count]) {
            LSP_TRY(find_end(ctx, c, first, target, &c->bounds[c->count + 1]));
        }
    }
    return LSP_OK;
}

/* *part = block b of a matrix with these lines: a view if they are its rows, else a copy, which *own then holds. */
static lsp_status take_part(lsp_ctx *ctx, const lsp_csr *M, bool by_rows, const int64_t bounds[2], lsp_csr *part,
                            lsp_csr *own) {
    const int64_t first = bounds[0], lines = bounds[1] - first;
    if (lines == (by_rows ? M->rows : M->cols)) {
        *part = *M;
    } else if (by_rows) {
        LSP_TRY(lsp_csr_view_rows(ctx, M, first, lines, part));
    } else {
        LSP_TRY(lsp_csr_take_columns(ctx, M, first, lines, own));
        *part = *own;
    }
    return LSP_OK;
}

/* ---- blocks of C ---- */

typedef struct blocks {
    lsp_ctx *ctx;
    cut A, B;
    const lsp_spgemm_options *options;
    lsp_csr *C;        /* block (r, c) is number r * B.count + c; all zero before it is made */
    int64_t *products; /* of block row r: the most products of a row, added up over the blocks of columns */
    int64_t nnz, done; /* of the blocks made; their number */
    lsp_spgemm_info info;
} blocks;

/* *part = the mask's part for a block of C. Its columns have the type that the kernels expect: the narrowest. */
static lsp_status take_mask(const blocks *p, const int64_t rows[2], const int64_t cols[2], lsp_csr *part,
                            lsp_csr *own) {
    lsp_ctx *ctx = p->ctx;
    lsp_csr of_rows;
    LSP_TRY(take_part(ctx, p->options->filter.mask, true, rows, &of_rows, own));
    LSP_TRY(take_part(ctx, &of_rows, false, cols, part, own));
    if (own->rowptr != NULL) {
        LSP_TRY(lsp_csr_retype(ctx, &(lsp_csr_types){.rowptr_type = part->rowptr_type, .drop_values = true}, own));
        *part = *own;
    }
    return LSP_OK;
}

/* Multiplies block r of op(A) by `right`, block c of op(B). */
static lsp_status make_block(blocks *p, int64_t r, int64_t c, const lsp_csr *right) {
    lsp_ctx *ctx = p->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, own_left);
    LSP_OWNED_CSR(ctx, own_mask);
    const int64_t *rows = p->A.bounds + r, *cols = p->B.bounds + c;
    lsp_spgemm_options options = *p->options;
    lsp_spgemm_info info;
    lsp_csr left, mask, *C = &p->C[r * p->B.count + c];
    options.types.rowptr_type = options.types.col_type = LSP_NONE;
    LSP_TRY(take_part(ctx, p->A.M, p->A.by_rows, rows, &left, &own_left));
    if (options.filter.mask != NULL) {
        LSP_TRY(take_mask(p, rows, cols, &mask, &own_mask));
        options.filter.mask = &mask;
    }
    LSP_TRY(lsp_spgemm_uncut(ctx, &left, right, &options, C, &info));
    p->nnz += C->nnz;
    p->done++;
    lsp_spgemm_add_info(&p->info, &info);
    p->products[r] += info.max_row_products;
    p->info.max_row_products = lsp_max(p->info.max_row_products, p->products[r]);
    lsp_progress(ctx, "multiply", (double)p->done / (double)(p->A.count * p->B.count));
    return LSP_OK;
}

static lsp_status make_blocks(blocks *p) {
    lsp_ctx *ctx = p->ctx;
    for (int64_t c = 0; c < p->B.count; c++) {
        LSP_SCRATCH_SCOPE(ctx);
        LSP_OWNED_CSR(ctx, own);
        lsp_csr right;
        LSP_TRY(take_part(ctx, p->B.M, p->B.by_rows, p->B.bounds + c, &right, &own));
        for (int64_t r = 0; r < p->A.count; r++) {
            LSP_TRY(make_block(p, r, c, &right));
        }
    }
    return LSP_OK;
}

/* ---- the product ---- */

static void drop_blocks(blocks *p) {
    for (int64_t b = 0; p->C != NULL && b < p->A.count * p->B.count; b++) {
        lsp_csr_free(p->ctx, &p->C[b]);
    }
}

/* Puts the blocks together. Until then they and C lie side by side. */
static lsp_status join(blocks *p, lsp_csr *C) {
    enum { ASKED_FROM = 64 << 20 }; /* bytes; for fewer, the call does not ask for the free memory, which is slow */
    lsp_ctx *ctx = p->ctx;
    const int64_t rows = p->A.lines, cols = p->B.lines, count = p->A.count * p->B.count;
    const int64_t bytes = lsp_spgemm_matrix_bytes(rows, cols, p->nnz, &p->options->types, p->C[0].val_type);
    const lsp_csr **list;
    if (bytes >= ASKED_FROM || ctx->options.max_bytes > 0) {
        const int64_t available = lsp_available_bytes(ctx, LSP_CUDA);
        LSP_REQUIRE(bytes <= available, LSP_ERR_MEMORY,
                    "the product has %lld entries and needs %lld bytes (%s) on the GPU beside the %lld blocks that it "
                    "is put together from; %lld (%s) are available",
                    (long long)p->nnz, (long long)bytes, lsp_size(bytes).text, (long long)count, (long long)available,
                    lsp_size(available).text);
    }
    LSP_TRY(lsp_scratch_at(ctx, LSP_HOST, count, sizeof(void *), (void **)&list));
    for (int64_t b = 0; b < count; b++) {
        list[b] = &p->C[b];
    }
    return lsp_csr_stack_as(ctx, list, p->A.count, p->B.count, &p->options->types, C);
}

/* Of blocks of columns, each has kept the largest of its own. */
static lsp_status keep_largest(blocks *p, lsp_csr *C) {
    lsp_csr left = {0};
    const lsp_filter filter = {.largest = p->options->filter.largest};
    if (p->B.count > 1 && filter.largest > 0) {
        LSP_TRY(lsp_filter_rows(p->ctx, C, &filter, &left));
        lsp_csr_free(p->ctx, C);
        *C = left;
    }
    return LSP_OK;
}

/* Checks all that is known before the first block is made. */
static lsp_status check(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    static const char *const names[] = {"A", "B"};
    const int64_t inner = options->transpose_a ? A->rows : A->cols, cols = options->transpose_b ? B->rows : B->cols;
    lsp_csr_types fit;
    LSP_TRY(lsp_spgemm_check_operands(ctx, names, A, B, options));
    LSP_REQUIRE(inner <= INT32_MAX, LSP_ERR_UNSUPPORTED,
                "%lld columns of A meet as many rows of B: on a GPU these may be up to 2^31 - 1, and cannot be cut",
                (long long)inner);
    LSP_TRY(lsp_csr_resolve(ctx, cols, 0, LSP_NONE, &options->types, &fit));
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    return A == B ? LSP_OK : lsp_csr_check_valid(ctx, "B", B);
}

static lsp_status multiply(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                           lsp_csr *C, lsp_spgemm_info *info) {
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, made);
    blocks p LSP_AT_END(drop_blocks) = {.ctx = ctx, .options = options};
    LSP_TRY(check(ctx, A, B, options));
    p.A = cut_of_a(ctx, A, options);
    p.B = cut_of_b(ctx, B, options);
    LSP_TRY(find_bounds(ctx, &p.A));
    LSP_TRY(find_bounds(ctx, &p.B));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, p.A.count, &p.products));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, p.A.count * p.B.count, &p.C));
    lsp_log(ctx, "spgemm: factors of %lld and %lld entries in %lld x %lld blocks", (long long)A->nnz, (long long)B->nnz,
            (long long)p.A.count, (long long)p.B.count);
    LSP_TRY(make_blocks(&p));
    LSP_TRY(join(&p, &made));
    LSP_TRY(keep_largest(&p, &made));
    if (info != NULL) {
        p.info.nnz = made.nnz;
        p.info.bound_bytes =
            lsp_spgemm_matrix_bytes(made.rows, made.cols, p.info.nnz_bound, &options->types, made.val_type);
        snprintf(p.info.reason, sizeof p.info.reason,
                 "on the GPU, in %lld x %lld blocks: a factor has more than %lld entries or rows", (long long)p.A.count,
                 (long long)p.B.count, (long long)lsp_spgemm_most(ctx));
        *info = p.info;
    }
    return lsp_csr_put(ctx, C, &made, false);
}

lsp_status lsp_spgemm_in_blocks(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                lsp_csr *C, lsp_spgemm_info *info) {
    const cut a = cut_of_a(ctx, A, options), b = cut_of_b(ctx, B, options);
    return is_too_large(ctx, &a) || is_too_large(ctx, &b) ? multiply(ctx, A, B, options, C, info)
                                                          : lsp_spgemm_uncut(ctx, A, B, options, C, info);
}
