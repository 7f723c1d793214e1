/* B = a grid of blocks. The sizes of block rows and block columns are added up first; then the entries of all blocks
 * are counted by rows of B, and the blocks are copied in order, each behind those to its left. */
#include "core/cuda.h"
#include "matrices/bodies.h"

#include <stdio.h>

typedef struct grid {
    const lsp_csr *const *blocks;
    int64_t rows, cols;       /* of blocks */
    int64_t *row_at, *col_at; /* [r + 1] and [c + 1]: the rows and columns of B before block row r+1 and column c+1 */
    int64_t nnz;
    lsp_csr_types types; /* of B */
    const lsp_csr *any;  /* the first block that is not NULL */
} grid;

/* *size = the size of block row (or column) number `at`, that a block of this size belongs to; -1 before. */
static lsp_status same_size(lsp_ctx *ctx, const char *what, const char *sizes, int64_t at, int64_t own, int64_t *size) {
    LSP_REQUIRE(*size < 0 || *size == own, LSP_ERR_ARGUMENT,
                "block %s %lld has blocks of %lld and of %lld %s: they must be equal", what, (long long)at,
                (long long)*size, (long long)own, sizes);
    *size = own;
    return LSP_OK;
}

/* Checks one block, and takes what it tells of B. */
static lsp_status take_block(lsp_ctx *ctx, grid *g, int64_t r, int64_t c) {
    const lsp_csr *block = g->blocks[r * g->cols + c];
    char name[64];
    if (!block) {
        return LSP_OK;
    }
    (void)snprintf(name, sizeof name, "block (%lld, %lld)", (long long)r, (long long)c);
    LSP_TRY(lsp_csr_check_valid(ctx, name, block));
    g->any = g->any ? g->any : block;
    LSP_REQUIRE(block->where == g->any->where, LSP_ERR_ARGUMENT, "%s lies %s, but another block does not", name,
                block->where == LSP_CUDA ? "on the GPU" : "on the host");
    LSP_TRY(same_size(ctx, "row", "rows", r, block->rows, &g->row_at[r + 1]));
    LSP_TRY(same_size(ctx, "column", "columns", c, block->cols, &g->col_at[c + 1]));
    LSP_REQUIRE(lsp_add(g->nnz, block->nnz, &g->nnz), LSP_ERR_OVERFLOW, "the blocks have 2^63 entries or more");
    g->types.val_type = lsp_common_type(g->types.val_type, block->val_type);
    return LSP_OK;
}

/* Turns sizes[1] .. sizes[n] into ends. */
static lsp_status add_sizes(lsp_ctx *ctx, const char *what, const char *sizes, int64_t *ends, int64_t n) {
    ends[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        LSP_REQUIRE(ends[i + 1] >= 0, LSP_ERR_ARGUMENT, "block %s %lld has no block that tells its size", what,
                    (long long)i);
        LSP_REQUIRE(lsp_add(ends[i], ends[i + 1], &ends[i + 1]), LSP_ERR_OVERFLOW,
                    "the blocks together have 2^63 %s or more", sizes);
    }
    return LSP_OK;
}

static lsp_status measure(lsp_ctx *ctx, grid *g) {
    int64_t count;
    LSP_REQUIRE(g->rows > 0 && g->cols > 0 && lsp_mul(g->rows, g->cols, &count), LSP_ERR_ARGUMENT,
                "a grid of %lld x %lld blocks: 1 x 1 or more is needed", (long long)g->rows, (long long)g->cols);
    LSP_REQUIRE(g->rows <= INT64_MAX / 16 && g->cols <= INT64_MAX / 16, LSP_ERR_OVERFLOW,
                "%lld x %lld blocks are more than can be addressed", (long long)g->rows, (long long)g->cols);
    LSP_TRY(LSP_SCRATCH(ctx, g->rows + 1, &g->row_at));
    LSP_TRY(LSP_SCRATCH(ctx, g->cols + 1, &g->col_at));
    memset(g->row_at, 0xff, (size_t)(g->rows + 1) * sizeof *g->row_at);
    memset(g->col_at, 0xff, (size_t)(g->cols + 1) * sizeof *g->col_at);
    for (int64_t r = 0; r < g->rows; r++) {
        for (int64_t c = 0; c < g->cols; c++) {
            LSP_TRY(take_block(ctx, g, r, c));
        }
    }
    LSP_TRY(add_sizes(ctx, "row", "rows", g->row_at, g->rows));
    LSP_TRY(add_sizes(ctx, "column", "columns", g->col_at, g->cols));
    LSP_REQUIRE(g->row_at[g->rows] <= INT64_MAX / 16, LSP_ERR_OVERFLOW,
                "the blocks together have %lld rows: more than can be addressed", (long long)g->row_at[g->rows]);
    return LSP_OK;
}

lsp_status lsp_csr_join(lsp_ctx *ctx, const lsp_part *parts, int64_t count, int64_t rows, int64_t cols,
                        const lsp_csr_types *types, bool numbered, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_where where = parts->A->where;
    int64_t nnz = 0;
    void *next; /* counts at [i + 1], then where the next entry of row i goes */
    LSP_TRY(where == LSP_CUDA ? lsp_scratch_filled(ctx, 0, rows + 1, sizeof(int64_t), &next)
                              : lsp_scratch_bytes(ctx, rows + 1, sizeof(int64_t), true, &next));
    for (int pass = 0; pass < 2; pass++) {
        for (const lsp_part *p = parts; p < parts + count; p++) {
            const copying a = {.A = *p->A,
                               .B = *B,
                               .next = (int64_t *)next + p->row + (pass == 0),
                               .offset = p->col,
                               .numbered = numbered,
                               .number = p->number};
            const lsp_each_job lengths = {.args = &a, .n = a.A.rows};
            nnz += pass == 0 ? a.A.nnz : 0;
            LSP_TRY(pass == 1 ? LSP_EACH_ENTRY(ctx, stack_entry, (lsp_entry_job){.args = &a, .A = &a.A}) : LSP_OK);
            LSP_TRY(LSP_EACH(ctx, where, add_length, lengths));
        }
        LSP_TRY(pass == 0 ? lsp_csr_make_rows(ctx, where, rows, cols, next, nnz, types, B) : LSP_OK);
    }
    return LSP_OK;
}

lsp_status lsp_csr_stack_as(lsp_ctx *ctx, const lsp_csr *const *blocks, int64_t block_rows, int64_t block_cols,
                            const lsp_csr_types *types, lsp_csr *B) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, made);
    grid g = {.blocks = blocks,
              .rows = block_rows,
              .cols = block_cols,
              .types = {.rowptr_type = types->rowptr_type, .col_type = types->col_type}};
    lsp_part *parts;
    int64_t count = 0;
    bool is_input = false;
    LSP_REQUIRE(blocks && B, LSP_ERR_ARGUMENT, "the blocks, or the place for the matrix, are NULL");
    LSP_TRY(measure(ctx, &g));
    LSP_TRY(LSP_SCRATCH(ctx, g.rows * g.cols, &parts));
    for (int64_t b = 0; b < g.rows * g.cols; b++) {
        if (blocks[b] != NULL) {
            parts[count++] = (lsp_part){blocks[b], g.row_at[b / g.cols], g.col_at[b % g.cols], 0};
            is_input |= blocks[b] == B;
        }
    }
    LSP_TRY(lsp_csr_join(ctx, parts, count, g.row_at[g.rows], g.col_at[g.cols], &g.types, false, &made));
    return lsp_csr_put(ctx, B, &made, is_input);
}

lsp_status lsp_csr_stack(lsp_ctx *ctx, const lsp_csr *const *blocks, int64_t block_rows, int64_t block_cols,
                         lsp_csr *B) {
    return lsp_csr_stack_as(ctx, blocks, block_rows, block_cols, &(lsp_csr_types){0}, B);
}
