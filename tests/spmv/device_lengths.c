/* LSP_SPMV_LENGTHS on a GPU: rows of every length, popular sectors of x held or not, several windows, updates. */
#include "cases.h"

static request request_of(int number) {
    const lsp_type val[] = {LSP_F64, LSP_F32, LSP_F32, LSP_NONE, LSP_NONE};
    const lsp_type type[] = {LSP_F64, LSP_F32, LSP_F64, LSP_F64, LSP_F32};
    return (request){.method = LSP_SPMV_LENGTHS,
                     .val_type = val[number % 5],
                     .type = type[number % 5],
                     .planned = true,
                     .special = number % 3 == 0,
                     .by_columns = number % 7 == 2,
                     .wide_rowptr = number % 2 == 1,
                     .wide_col = number / 2 % 2 == 1,
                     .x_gap = number % 8 == 5 ? 2 : 0,
                     .y_gap = number % 8 == 4 ? 1 : 0,
                     .alpha = number % 5 == 2 ? 3 : 1,
                     .beta = number % 3 == 1 ? -2 : 0,
                     .seed = (uint64_t)number};
}

static lsp_spmv_plan *make_plan(lsp_ctx *ctx, const request *r, const spmv_case *c, int64_t popular) {
    const lsp_spmv_options options = options_of(r);
    lsp_spmv_plan *plan = NULL;
    must_run(ctx, r, lsp_spmv_plan_create(ctx, &c->A, &options, &plan));
    if (popular > 0) {
        must_run(ctx, r, resize(plan, &(lsp_spmv_sizes){.popular = popular}));
    }
    return plan;
}

Test(spmv_lengths, every_matrix_with_and_without_popular_sectors_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t popular[] = {0, 1, 20, 4000};
    for (int number = 0; number < 4 * MATRICES; number += LSP_EMULATED ? 3 : 1) {
        request r = request_of(number);
        r.matrix = matrices[number / 4];
        spmv_case c = make_case(ctx, &r);
        lsp_spmv_plan *plan = make_plan(ctx, &r, &c, popular[number % 4]);
        for (int call = 0; call < 2; call++) {
            must_run(ctx, &r, lsp_spmv_execute(plan, &c.vectors));
            plain_spmv(&r, &c.host, &c.x, &c.y);
            must_equal(ctx, &r, &c);
        }
        lsp_spmv_plan_destroy(plan);
        free_case(ctx, &c);
    }
    lsp_ctx_destroy(ctx);
}

/* Row i has as many entries as the list says: every limit of a class, of a piece and of a window. */
Test(spmv_lengths, rows_of_every_length_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int lengths[] = {0, 1, 23, 24, 25, 127, 128, 129, 511, 512, 513, 1024, 1025, 5000, 9000, 2, 0};
    enum { LENGTHS = sizeof lengths / sizeof *lengths, ROWS = 2049, COLS = 6000 };
    request r = request_of(0);
    spmv_case c = {.host = {0}};
    int64_t nnz = 0, slots = 0;
    r.special = false;
    r.matrix = "every length";
    for (int i = 0; i < ROWS; i++) {
        nnz += i % 97 == 0 ? lengths[i / 97 % LENGTHS] : i % 3;
    }
    must(ctx, lsp_csr_create(ctx, ROWS, COLS, nnz, &(lsp_csr_types){.val_type = LSP_F64}, &c.host));
    for (int i = 0, k = 0; i < ROWS; i++) {
        for (int j = i % 97 == 0 ? lengths[i / 97 % LENGTHS] : i % 3; j > 0; j--, k++) {
            lsp_index_set(c.host.col, c.host.col_type, k, ((int64_t)i * 31 + j * 7) % COLS);
            test_set_value(&c.host, k, (i + j) % 11 - 5, 0);
        }
        lsp_index_set(c.host.rowptr, c.host.rowptr_type, i + 1, k);
    }
    must(ctx, lsp_csr_copy(ctx, &c.host, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &c.A));
    c.x = make_block(&r, COLS, 0, 5), c.y = make_block(&r, ROWS, 0, 6);
    c.x_there = place_block(ctx, &r, &c.x, LSP_CUDA), c.y_there = place_block(ctx, &r, &c.y, LSP_CUDA);
    c.vectors = (lsp_spmv_vectors){.alpha = 1, .x = c.x_there, .y = c.y_there};
    for (int64_t popular = 0; popular <= 64; popular += 64) {
        lsp_spmv_plan *plan = make_plan(ctx, &r, &c, popular);
        lsp_spmv_info info;
        must(ctx, lsp_spmv_plan_get_info(plan, &info));
        slots = plan->facts.length_slots;
        cr_assert(info.stored_entries == slots && slots >= nnz && slots % LSP_SPMV_SLICE == 0, "%lld of %lld entries",
                  (long long)info.stored_entries, (long long)slots);
        must_run(ctx, &r, lsp_spmv_execute(plan, &c.vectors));
        plain_spmv(&r, &c.host, &c.x, &c.y);
        must_equal(ctx, &r, &c);
        for (int64_t k = 0; k < nnz; k++) { /* new values */
            test_set_value(&c.host, k, (double)(k % 9) - 4, 0);
        }
        must(ctx, lsp_csr_free(ctx, &c.A));
        must(ctx, lsp_csr_copy(ctx, &c.host, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &c.A));
        must_run(ctx, &r, lsp_spmv_update(plan, &c.A));
        must_run(ctx, &r, lsp_spmv_execute(plan, &c.vectors));
        plain_spmv(&r, &c.host, &c.x, &c.y);
        must_equal(ctx, &r, &c);
        lsp_spmv_plan_destroy(plan);
    }
    free_case(ctx, &c);
    lsp_ctx_destroy(ctx);
}
