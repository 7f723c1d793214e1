/* What a product tells of itself, on both devices: the bytes that a plan holds, and the passes that a call takes,
 * before it is made and after. */
#include "tests/batches.h"

/* The context's memory in use, without a matrix. */
static int64_t used(const lsp_ctx *ctx, const lsp_csr *C) {
    return ctx->space[LSP_HOST].used + ctx->space[LSP_CUDA].used - lsp_bytes_at(ctx, C->rowptr) -
           lsp_bytes_at(ctx, C->col) - lsp_bytes_at(ctx, C->val);
}

TEST_ON_BOTH(spgemm_explain, a_plan_tells_the_bytes_that_it_holds) {
    static const char *const factors[][2] = {
        {"poisson2d:30", "amg:30:P"}, {"amg27:6:R", "stencil27:6"}, {"er:600:9", "er:600:9"}};
    for (int i = 0; i < 3; i++) {
        const lsp_csr_types types = {.place = there(ctx) ? LSP_PLACE_CUDA : LSP_PLACE_HOST};
        lsp_csr A, B, C = {0};
        lsp_spgemm_plan *plan;
        lsp_spgemm_info info, explained;
        must(ctx, lsp_generate(ctx, factors[i][0], 1, &types, &A));
        must(ctx, lsp_generate(ctx, factors[i][1], 1, &types, &B));
        const int64_t before = used(ctx, &C);
        must(ctx, lsp_spgemm_explain(ctx, &A, &B, NULL, &explained));
        cr_assert_eq(used(ctx, &C), before);
        must(ctx, lsp_spgemm_plan_create(ctx, &A, &B, NULL, &plan));
        must(ctx, lsp_spgemm_plan_get_info(plan, &info));
        cr_assert(info.plan_bytes == used(ctx, &C) - before && info.plan_bytes == explained.plan_bytes &&
                  info.passes == 2);
        const int64_t planned = info.plan_bytes;
        for (int use = 0; use < 3; use++) {
            must(ctx, use == 0 ? lsp_spgemm_execute(plan, &A, &B, &C) : lsp_spgemm_refill(plan, &A, &B, &C));
            must(ctx, lsp_spgemm_plan_get_info(plan, &info));
            cr_assert(info.plan_bytes == used(ctx, &C) - before && info.reserved[0] == 0, "use %d of %s", use,
                      factors[i][0]);
        }
        cr_assert(info.plan_bytes > planned);
        lsp_spgemm_plan_destroy(plan);
        cr_assert_eq(used(ctx, &C), before);
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B), lsp_csr_free(ctx, &C);
    }
}

TEST_ON_BOTH(spgemm_explain, plans_of_several_products_count_what_lies_between_them) {
    const lsp_csr_types types = {.place = there(ctx) ? LSP_PLACE_CUDA : LSP_PLACE_HOST};
    lsp_csr A, P, C[2] = {{0}};
    lsp_spgemm_info inner, outer, all;
    lsp_spgemm_triple_plan *triple;
    lsp_spgemm_batch_plan *many;
    must(ctx, lsp_generate(ctx, "poisson2d:30", 1, &types, &A));
    must(ctx, lsp_generate(ctx, "amg:30:P", 1, &types, &P));
    const int64_t before = used(ctx, C);
    must(ctx, lsp_spgemm_triple_plan_create(ctx, NULL, &A, &P, NULL, &triple));
    must(ctx, lsp_spgemm_triple_plan_get_info(triple, &inner, &outer));
    const int64_t held = used(ctx, C) - before; /* the transpose counts what it asked for, not what it got */
    cr_assert(inner.plan_bytes + outer.plan_bytes > held * 9 / 10 && inner.plan_bytes + outer.plan_bytes <= held);
    lsp_spgemm_triple_plan_destroy(triple);
    must(ctx, lsp_spgemm_batch_plan_create(ctx, 2, (lsp_csr[]){A, A}, (lsp_csr[]){P, P}, NULL, &many));
    must(ctx, lsp_spgemm_batch_plan_get_info(many, &all));
    cr_assert_eq(all.plan_bytes, used(ctx, C) - before);
    lsp_spgemm_batch_plan_destroy(many);
    must(ctx, lsp_spgemm_batch_plan_create(ctx, 0, NULL, NULL, NULL, &many));
    must(ctx, lsp_spgemm_batch_plan_get_info(many, &all));
    cr_assert_eq(all.plan_bytes, used(ctx, C) - before);
    lsp_spgemm_batch_plan_destroy(many);
    cr_assert_eq(used(ctx, C), before);
    lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &P);
}

/* Few products; a sample that is promising; one that is not; products that no sample is taken of. */
TEST_ON_BOTH(spgemm_explain, passes_are_told_before_and_after_in_the_same_words) {
    static const struct {
        const char *A, *B;
        lsp_spgemm_options options;
        int passes[2]; /* host, GPU */
        const char *says[2];
    } cases[] = {{"er:40:3",
                  "er:40:3",
                  {.method = LSP_SPGEMM_AUTO},
                  {1, 2},
                  {"one pass: 3", "two passes: few rows; on the GPU"}},
                 {"er:20000:2",
                  "er:20000:2",
                  {.method = LSP_SPGEMM_AUTO},
                  {1, 1},
                  {"a row in a sample of", "a row in a sample of"}},
                 {"poisson2d:100",
                  "poisson2d:100",
                  {.transpose_a = true},
                  {2, 2},
                  {"a factor is transposed", "a factor is transposed"}},
                 {"er:20000:2",
                  "er:20000:2",
                  {.types.val_type = LSP_F32},
                  {1, 1},
                  {"one pass: 4.0 products", "one pass: 4.0 products"}},
                 {"er:20000:6",
                  "er:20000:6",
                  {.method = LSP_SPGEMM_AUTO},
                  {2, 2},
                  {"two passes: 36.0 products and", "two passes: "}},
                 {"er:20000:2", "er:20000:2", {.method = LSP_SPGEMM_SORT}, {2, 2}, {"asked for", "on the GPU"}},
                 {"perm:20000",
                  "perm:20000",
                  {.semiring = LSP_PLUS_PAIR, .types.val_type = LSP_F32},
                  {2, 2},
                  {"counts may exceed", "counts may exceed"}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool gpu = there(ctx);
        const lsp_csr_types types = {.place = gpu ? LSP_PLACE_CUDA : LSP_PLACE_HOST};
        lsp_csr A, B, C;
        lsp_spgemm_info before, after;
        must(ctx, lsp_generate(ctx, cases[i].A, 1, &types, &A));
        must(ctx, lsp_generate(ctx, cases[i].B, 2, &types, &B));
        must(ctx, lsp_spgemm_explain(ctx, &A, &B, &cases[i].options, &before));
        must(ctx, lsp_spgemm(ctx, &A, &B, &cases[i].options, &C, &after));
        cr_assert_str_eq(before.reason, after.reason);
        cr_assert(strstr(after.reason, cases[i].says[gpu]) != NULL, "case %zu: %s", i, after.reason);
        cr_assert(after.passes == cases[i].passes[gpu], "case %zu: %d, %s", i, after.passes, after.reason);
        cr_assert(before.passes == after.passes && before.products == after.products && before.method == after.method &&
                      before.nnz_bound == after.nnz_bound && before.max_row_products == after.max_row_products &&
                      before.bound_bytes == after.bound_bytes && before.blocks == after.blocks &&
                      before.scratch_bytes == after.scratch_bytes,
                  "case %zu: the facts differ", i);
        cr_assert(before.nnz == -1 && after.nnz == C.nnz && before.plan_bytes > 0 && after.plan_bytes == 0);
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B), lsp_csr_free(ctx, &C);
    }
}

TEST_ON_BOTH(spgemm_explain, what_cannot_be_multiplied_is_not_explained) {
    const lsp_where where = there(ctx) ? LSP_CUDA : LSP_HOST;
    lsp_csr A, a;
    lsp_spgemm_info info = {.products = 42};
    must(ctx, lsp_generate(ctx, "er:40:3", 1, &(lsp_csr_types){.place = LSP_PLACE_HOST}, &A));
    a = moved(ctx, &A, where);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_explain(ctx, &a, &a, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_explain(ctx, &a, NULL, NULL, &info));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "filter",
              lsp_spgemm_explain(ctx, &a, &a, &(lsp_spgemm_options){.filter.largest = 1}, &info));
    cr_assert(info.products == 42 && lsp_spgemm_explain(NULL, &a, &a, NULL, &info) == LSP_ERR_ARGUMENT);
    must(ctx, lsp_spgemm_explain(ctx, &a, &a, &(lsp_spgemm_options){.types.val_type = LSP_F32}, &info));
    cr_assert(info.products > 0);
    lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a);
}
