/* Blocks of C = op(A)*op(B): how one is made, for all that cut a product, and how they are put together. And C on a
 * GPU, whose kernels count entries and rows of a factor in 32 bits. Larger factors are cut: op(A) into blocks of rows,
 * op(B) into blocks of columns. Each entry of C lies in one block, and is the sum of the same products in the same
 * order, so its bits are those of the whole product. */
#include "spgemm.h"

#include <stdio.h>

/* ---- a block ---- */

/* *part = the lines bounds[0] .. bounds[1]-1 of M, which are rows or columns: a view if they are rows, else a copy,
 * which *own then holds. M itself if these are all. */
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

/* *part = the mask's part for a block of C. Its columns have the type that the kernels expect: the narrowest. */
static lsp_status take_mask(lsp_ctx *ctx, const lsp_csr *mask, const int64_t rows[2], const int64_t cols[2],
                            lsp_csr *part, lsp_csr *own) {
    lsp_csr of_rows;
    LSP_TRY(take_part(ctx, mask, true, rows, &of_rows, own));
    LSP_TRY(take_part(ctx, &of_rows, false, cols, part, own));
    if (own->rowptr != NULL) {
        LSP_TRY(lsp_csr_retype(ctx, &(lsp_csr_types){.rowptr_type = part->rowptr_type, .drop_values = true}, own));
        *part = *own;
    }
    return LSP_OK;
}

lsp_status lsp_spgemm_make_block(lsp_spgemm_maker *m, const int64_t rows[2], const int64_t cols[2], lsp_csr *C) {
    lsp_ctx *ctx = m->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, own_left);
    LSP_OWNED_CSR(ctx, own_mask);
    lsp_csr left, mask;
    lsp_spgemm_options options = *m->options;
    LSP_TRY(take_part(ctx, m->A, m->by_rows, rows, &left, &own_left));
    if (left.where != m->right->where) {
        LSP_TRY(lsp_csr_copy(ctx, &left, &(lsp_csr_types){.place = lsp_place_of(m->right->where)}, &own_left));
        left = own_left;
    }
    if (options.filter.mask != NULL) {
        LSP_TRY(take_mask(ctx, options.filter.mask, rows, cols, &mask, &own_mask));
        options.filter.mask = &mask;
    }
    LSP_TRY(lsp_spgemm_at_once(ctx, &left, m->right, &options, C, &m->block));
    const lsp_spgemm_info before = m->info;
    m->info = m->block; /* method, reason and passes are those of the last block */
    m->info.blocks = before.blocks + 1;
    m->info.nnz = before.nnz + C->nnz;
    lsp_spgemm_add_info(&m->info, &before);
    return LSP_OK;
}

/* ---- blocks in memory ---- */

lsp_status lsp_spgemm_keep_block(lsp_spgemm_blocks *kept, lsp_csr *block) {
    lsp_ctx *ctx = kept->ctx;
    lsp_csr *longer;
    if (kept->count == kept->capacity) {
        kept->capacity = lsp_max(2 * kept->capacity, 16);
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, kept->capacity, sizeof *longer, (void **)&longer));
        for (int64_t b = 0; b < kept->count; b++) {
            longer[b] = kept->C[b];
        }
        lsp_free(ctx, kept->C);
        kept->C = longer;
    }
    return lsp_csr_put(ctx, &kept->C[kept->count++], block, false);
}

lsp_status lsp_spgemm_join_blocks(const lsp_spgemm_blocks *kept, int64_t rows, int64_t cols, const lsp_csr_types *types,
                                  lsp_csr *C) {
    lsp_ctx *ctx = kept->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr **list;
    LSP_TRY(lsp_scratch_at(ctx, LSP_HOST, kept->count, sizeof(void *), (void **)&list));
    for (int64_t b = 0; b < kept->count; b++) {
        list[b % rows * cols + b / rows] = &kept->C[b];
    }
    return lsp_csr_stack_as(ctx, list, rows, cols, types, C);
}

void lsp_spgemm_drop_blocks(const lsp_spgemm_blocks *kept) {
    for (int64_t b = 0; b < kept->count; b++) {
        lsp_csr_free(kept->ctx, &kept->C[b]);
    }
    lsp_free(kept->ctx, kept->C);
}

/* ---- cuts ---- */

/* A factor, and where it is cut: block b has the lines bounds[b] .. bounds[b + 1]-1. Lines are the rows of op(A), the
 * columns of op(B). */
typedef struct cut {
    const char *name;
    const lsp_csr *M;
    bool by_rows;             /* the lines are rows of M, else columns */
    int64_t most, most_lines; /* entries and lines of a block */
    int64_t lines;
    int64_t *bounds, count;
} cut;

static cut cut_of(const char *name, const lsp_csr *M, bool by_rows, int64_t most, int64_t most_lines) {
    return (cut){name, M, by_rows, most, most_lines, .lines = by_rows ? M->rows : M->cols};
}

static bool is_too_large(const cut *c) { return c->M->nnz > c->most || c->lines > c->most_lines; }

/* *end: the block that begins at line `first` ends there. It has at most `target` entries, unless one line has more. */
static lsp_status find_end(lsp_ctx *ctx, const cut *c, int64_t first, int64_t target, int64_t *end) {
    int64_t next;
    LSP_TRY(c->by_rows ? lsp_csr_cut_rows(ctx, c->M, first, target, end, &next)
                       : lsp_csr_cut_columns(ctx, c->M, first, target, end, &next));
    if (*end == first) {
        LSP_REQUIRE(next <= c->most, LSP_ERR_UNSUPPORTED,
                    "%s %lld of %s has %lld entries: on a GPU a product cuts its factors there, and each part may have "
                    "up to %lld",
                    c->by_rows ? "row" : "column", (long long)first, c->name, (long long)next, (long long)c->most);
        *end = first + 1;
    }
    *end = lsp_min(*end, first + lsp_min(c->most_lines, c->lines - first));
    return LSP_OK;
}

/* Cuts into as few blocks as the limit allows, of about equally many entries. There is at least one. */
static lsp_status find_bounds(lsp_ctx *ctx, cut *c) {
    const int64_t nnz = c->M->nnz, fewest = lsp_max(lsp_ceil_div(nnz, c->most), 1);
    const int64_t target = lsp_max(lsp_ceil_div(nnz, fewest), 1);
    /* A block that ends for its entries has with the next one more than `target`. */
    const int64_t room = 2 * (nnz / target) + c->lines / c->most_lines + 3;
    LSP_TRY(LSP_SCRATCH(ctx, room, &c->bounds));
    c->bounds[0] = 0;
    c->bounds[1] = c->lines;
    c->count = 1;
    if (is_too_large(c)) {
        c->count = 0;
        for (int64_t first = 0; first < c->lines; first = c->bounds[++c->count]) {
            LSP_TRY(find_end(ctx, c, first, target, &c->bounds[c->count + 1]));
        }
    }
    return LSP_OK;
}

/* ---- the product of factors that are cut ---- */

typedef struct grid {
    lsp_spgemm_maker maker;
    cut A, B;
    lsp_spgemm_blocks kept; /* column by column: block (r, c) is number c * A.count + r */
    int64_t *products;      /* of block row r: the most products of a row, added up over the blocks of columns */
} grid;

static void drop_grid(const grid *g) { lsp_spgemm_drop_blocks(&g->kept); }

/* Checks all that is known before the first block is made. */
static lsp_status check(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    const int64_t inner = options->transpose_a ? A->rows : A->cols, cols = options->transpose_b ? B->rows : B->cols;
    lsp_csr_types fit;
    lsp_spgemm_plan job;
    LSP_TRY(lsp_spgemm_resolve(ctx, (const char *const[]){"A", "B"}, A, B, options, &job));
    LSP_REQUIRE(inner <= INT32_MAX, LSP_ERR_UNSUPPORTED,
                "%lld columns of A meet as many rows of B: on a GPU these may be up to 2^31 - 1, and cannot be cut",
                (long long)inner);
    LSP_TRY(lsp_csr_resolve(ctx, cols, 0, LSP_NONE, &options->types, &fit));
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    return A == B ? LSP_OK : lsp_csr_check_valid(ctx, "B", B);
}

/* Multiplies all blocks of op(A) by block c of op(B). */
static lsp_status make_column(grid *g, int64_t c) {
    lsp_ctx *ctx = g->maker.ctx;
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, own);
    LSP_OWNED_CSR(ctx, made);
    lsp_csr right;
    lsp_spgemm_info *info = &g->maker.info;
    LSP_TRY(take_part(ctx, g->B.M, g->B.by_rows, g->B.bounds + c, &right, &own));
    g->maker.right = &right;
    for (int64_t r = 0; r < g->A.count; r++) {
        LSP_TRY(lsp_spgemm_make_block(&g->maker, g->A.bounds + r, g->B.bounds + c, &made));
        LSP_TRY(lsp_spgemm_keep_block(&g->kept, &made));
        g->products[r] += g->maker.block.max_row_products;
        info->max_row_products = lsp_max(info->max_row_products, g->products[r]);
        lsp_progress(ctx, "multiply", (double)info->blocks / (double)(g->A.count * g->B.count));
    }
    return LSP_OK;
}

/* Is there room for the blocks and C side by side? */
static lsp_status check_memory(const grid *g, const lsp_csr_types *types) {
    lsp_ctx *ctx = g->maker.ctx;
    const int64_t nnz = g->maker.info.nnz;
    const int64_t bytes = lsp_spgemm_matrix_bytes(g->A.lines, g->B.lines, nnz, types, g->kept.C[0].val_type);
    const int64_t available = lsp_spgemm_room(ctx, LSP_CUDA, bytes);
    LSP_REQUIRE(bytes <= available, LSP_ERR_MEMORY,
                "the product has %lld entries and needs %lld bytes (%s) on the GPU beside the %lld blocks that it is "
                "put together from; %lld (%s) are available",
                (long long)nnz, (long long)bytes, lsp_size(bytes).text, (long long)g->kept.count, (long long)available,
                lsp_size(available).text);
    return LSP_OK;
}

static lsp_status multiply(lsp_ctx *ctx, grid *g, const lsp_spgemm_options *options, lsp_csr *C,
                           lsp_spgemm_info *info) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr *A = g->A.M, *B = g->B.M;
    lsp_spgemm_info *all = &g->maker.info;
    lsp_spgemm_options of_block = *options;
    of_block.types.rowptr_type = of_block.types.col_type = LSP_NONE;
    LSP_TRY(check(ctx, A, B, options));
    LSP_TRY(find_bounds(ctx, &g->A));
    LSP_TRY(find_bounds(ctx, &g->B));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, g->A.count, &g->products));
    lsp_log(ctx, "spgemm: factors of %lld and %lld entries in %lld x %lld blocks", (long long)A->nnz, (long long)B->nnz,
            (long long)g->A.count, (long long)g->B.count);
    g->kept.ctx = ctx;
    g->maker = (lsp_spgemm_maker){.ctx = ctx, .options = &of_block, .A = A, .by_rows = g->A.by_rows};
    for (int64_t c = 0; c < g->B.count; c++) {
        LSP_TRY(make_column(g, c));
    }
    LSP_TRY(check_memory(g, &options->types));
    LSP_TRY(lsp_spgemm_join_blocks(&g->kept, g->A.count, g->B.count, &options->types, C));
    /* of blocks of columns, each has kept the largest of its own */
    const lsp_filter rest = {.largest = g->B.count > 1 ? options->filter.largest : 0};
    LSP_TRY(lsp_spgemm_filter_made(ctx, &rest, C, all));
    all->bound_bytes = lsp_spgemm_matrix_bytes(C->rows, C->cols, all->nnz_bound, &options->types, C->val_type);
    snprintf(all->reason, sizeof all->reason,
             "on the GPU, in %lld x %lld blocks: a factor has more than %lld entries or rows", (long long)g->A.count,
             (long long)g->B.count, (long long)g->A.most);
    LSP_TELL(info, *all);
    return LSP_OK;
}

lsp_status lsp_spgemm_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                              lsp_csr *C, lsp_spgemm_info *info) {
    if (A != NULL && B != NULL && A->where == LSP_CUDA) {
        const int64_t most = lsp_spgemm_most(ctx);
        grid g LSP_AT_END(drop_grid) = {0};
        g.A = cut_of("A", A, !options->transpose_a, most, most - 1);
        g.B = cut_of("B", B, options->transpose_b, most, options->transpose_b ? most : INT64_MAX);
        if (is_too_large(&g.A) || is_too_large(&g.B)) {
            return multiply(ctx, &g, options, C, info);
        }
    }
    return lsp_spgemm_uncut(ctx, A, B, options, C, info);
}
