/* Joins in blocks of rows are parts of the matrix of one call, within any budget. */
#include "../there.h"
#include "cases.h"

/* Puts the blocks below one another, and stops after `stop` of them. */
typedef struct pile {
    lsp_ctx *ctx;
    int64_t rows, blocks, stop, most_bytes;
    const lsp_csr *whole; /* what the blocks are parts of */
    bool equal;
} pile;

static lsp_status take_block(void *user, int64_t first_row, const lsp_csr *rows) {
    pile *p = user;
    const lsp_csr *C = p->whole;
    const size_t item = lsp_type_bytes(C->val_type);
    if (p->blocks == p->stop) {
        return LSP_ERR_IO;
    }
    p->equal = p->equal && first_row == p->rows && rows->cols == C->cols && rows->val_type == C->val_type;
    const int64_t start = lsp_index_at(C->rowptr, C->rowptr_type, first_row);
    for (int64_t i = 0; i <= rows->rows && p->equal; i++) {
        p->equal = lsp_index_at(rows->rowptr, rows->rowptr_type, i) ==
                   lsp_index_at(C->rowptr, C->rowptr_type, first_row + i) - start;
    }
    p->equal = p->equal && (rows->nnz == 0 || memcmp(rows->col, (const int32_t *)C->col + start,
                                                     (size_t)rows->nnz * sizeof(int32_t)) == 0);
    p->equal =
        p->equal && (rows->nnz == 0 || item == 0 ||
                     memcmp(rows->val, (const char *)C->val + (size_t)start * item, (size_t)rows->nnz * item) == 0);
    p->most_bytes =
        rows->rows > 1 ? lsp_max(p->most_bytes, rows->nnz * (int64_t)(4 + item) + 8 * (rows->rows + 1)) : p->most_bytes;
    p->rows += rows->rows;
    p->blocks++;
    return LSP_OK;
}

TEST_ON_BOTH(two_body_join_blocks, blocks_of_rows_are_parts_of_the_matrix) {
    const cloud a = make_cloud(1, 300, 3, LSP_F32, 1), b = make_cloud(0, 200, 3, LSP_F32, 2);
    const lsp_points points = points_at(ctx, &a, false), others = points_at(ctx, &b, false);
    const lsp_join_options kinds[] = {{0},
                                      {.half = true},
                                      {.self_pairs = true},
                                      {.half = true, .self_pairs = true},
                                      {.values = LSP_JOIN_PATTERN},
                                      {.values = LSP_JOIN_SQUARED, .half = true}};
    for (int space = 0; space < 2; space++) {
        const lsp_pair_options options = space_of(space, 3);
        for (size_t k = 0; k < 2 * sizeof kinds / sizeof *kinds; k++) {
            const lsp_join_options *join = &kinds[k / 2];
            const lsp_points *second = k % 2 == 0 ? NULL : &others;
            if (second != NULL && (join->half || join->self_pairs)) {
                continue;
            }
            lsp_csr C = {0};
            must(ctx, lsp_radius_join(ctx, &points, second, &options, 0.2, join, &C, NULL));
            pile p = {.ctx = ctx, .whole = &C, .stop = -1, .equal = true};
            must(ctx, lsp_radius_join_stream(ctx, &points, second, &options, 0.2, join, 0, 4000, take_block, &p, NULL));
            cr_assert(p.equal && p.rows == 300 && p.blocks > 1 && p.most_bytes <= 4000,
                      "kind %zu in space %d: %lld rows in %lld blocks of up to %lld bytes", k, space, (long long)p.rows,
                      (long long)p.blocks, (long long)p.most_bytes);
            pile q = {.ctx = ctx, .whole = &C, .stop = 2, .equal = true};
            cr_assert_eq(
                lsp_radius_join_stream(ctx, &points, second, &options, 0.2, join, 0, 4000, take_block, &q, NULL),
                LSP_ERR_IO);
            q.stop = -1;
            must(ctx,
                 lsp_radius_join_stream(ctx, &points, second, &options, 0.2, join, q.rows, 0, take_block, &q, NULL));
            cr_assert(q.equal && q.rows == 300 && q.blocks >= 3);
            must(ctx, lsp_csr_free(ctx, &C));
        }
    }
    lsp_csr none = {0};
    pile p = {.ctx = ctx, .whole = &none, .stop = 0};
    must_fail(ctx, LSP_ERR_ARGUMENT, "the function is NULL",
              lsp_radius_join_stream(ctx, &points, NULL, NULL, 0.2, NULL, 0, 0, NULL, &p, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "the first row is 301",
              lsp_radius_join_stream(ctx, &points, NULL, NULL, 0.2, NULL, 301, 0, take_block, &p, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "-1 bytes",
              lsp_radius_join_stream(ctx, &points, NULL, NULL, 0.2, NULL, 0, -1, take_block, &p, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL",
              lsp_radius_join_stream(ctx, NULL, NULL, NULL, 0.2, NULL, 0, 0, take_block, &p, NULL));
    free(a.memory);
    free(b.memory);
}

/* A block that finds no memory is tried again with half the rows; so the call may succeed all the same. */
Test(two_body_join_blocks, blocks_survive_a_failing_allocation_or_tell_it) {
    cloud a = make_cloud(UNIFORM, 200, 3, LSP_F32, 1);
    lsp_ctx *whole = test_ctx(2);
    lsp_csr C = {0};
    must(whole, lsp_radius_join(whole, &a.points, NULL, NULL, 0.2, NULL, &C, NULL));
    for (long fail_at = 0; fail_at < 250; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        const lsp_ctx_options options = {.threads = 2, .allocator = {test_memory_alloc, test_memory_free, &memory}};
        lsp_ctx *ctx = NULL;
        pile p = {.whole = &C, .stop = -1, .equal = true};
        lsp_status status = lsp_ctx_create(&ctx, &options, NULL, 0);
        if (status == LSP_OK) {
            status = lsp_radius_join_stream(ctx, &a.points, NULL, NULL, 0.2, NULL, 0, 8000, take_block, &p, NULL);
        }
        lsp_ctx_destroy(ctx);
        cr_assert(memory.outstanding == 0, "%ld pieces leaked when allocation %ld failed", memory.outstanding, fail_at);
        cr_assert(status == LSP_ERR_MEMORY || (status == LSP_OK && p.rows == 200), "allocation %ld: %s", fail_at,
                  lsp_status_name(status));
        cr_assert(p.equal, "allocation %ld: wrong rows", fail_at);
    }
    must(whole, lsp_csr_free(whole, &C));
    lsp_ctx_destroy(whole);
    free(a.memory);
}

/* Blocks of rows of points that do not fit the budget: columns are joined in pieces. */
Test(two_body_join_blocks, blocks_of_points_beyond_the_budget_are_parts_of_the_matrix_on_the_gpu) {
    lsp_ctx *whole = test_gpu_ctx_or_skip();
    const int64_t n = reduced(700, 4001);
    const cloud a = make_cloud(UNIFORM, n, 3, LSP_F32, 1), b = make_cloud(BLOBS, n, 3, LSP_F32, 2);
    for (int kind = 0; kind < 3; kind++) {
        const lsp_points *second = kind == 2 ? &b.points : NULL;
        const lsp_join_options join = {.half = kind == 1};
        lsp_ctx *ctx = test_gpu_ctx_or_skip();
        lsp_csr C = {0};
        must(whole, lsp_radius_join(whole, &a.points, second, NULL, 0.2, &join, &C, NULL));
        must(ctx, lsp_ctx_set_max_bytes(ctx, ctx->space[LSP_CUDA].used + 150000 + 120 * n));
        cr_assert_eq(lsp_radius_join(ctx, &a.points, second, NULL, 2, &join, &(lsp_csr){0}, NULL), LSP_ERR_MEMORY);
        pile p = {.ctx = ctx, .whole = &C, .stop = -1, .equal = true};
        must(ctx, lsp_radius_join_stream(ctx, &a.points, second, NULL, 0.2, &join, 0, 40000, take_block, &p, NULL));
        cr_assert(p.equal && p.rows == n && p.blocks > 1 && p.most_bytes <= 40000, "kind %d: %lld rows in %lld blocks",
                  kind, (long long)p.rows, (long long)p.blocks);
        lsp_ctx_destroy(ctx);
        must(whole, lsp_csr_free(whole, &C));
    }
    free(a.memory);
    free(b.memory);
    lsp_ctx_destroy(whole);
}
