/* Plans of gather and scatter: used again on other columns after their map is gone, and ended in any order. */
#include "cases.h"

TEST_ON_BOTH(gather_scatter_plans, a_plan_moves_other_columns_after_its_map_is_gone) {
    for (int number = 0; number < 8 * LSP_STRATEGIES; number++) {
        request r = {.scatter = number % 4 > 0,
                     .planned = true,
                     .rule = (lsp_scatter_rule)(number % 4 > 0 ? number % 4 - 1 : 0),
                     .strategy = (lsp_strategy)(number / 4 % LSP_STRATEGIES),
                     .passes = 2,
                     .index_type = number < 4 * LSP_STRATEGIES ? LSP_I32 : LSP_I64,
                     .pattern = RANDOM,
                     .n = 20000,
                     .extent = 7000,
                     .columns = 3,
                     .bytes = {4, 8, 4},
                     .type = {LSP_F32, LSP_F64, LSP_I32},
                     .seed = (uint64_t)number};
        if (r.scatter && r.rule == LSP_SCATTER_DISTINCT) {
            r.pattern = PERMUTATION, r.n = 6000;
        }
        if (!is_offered(&r)) {
            continue;
        }
        arrays right = make_arrays(&r), ours = copy_arrays(ctx, &right, &r, ctx->options.device);
        lsp_gather_args args = arguments(&r, &ours);
        lsp_gather_plan *plan = NULL;
        lsp_gather_info info;
        must(ctx, plan_create(ctx, &r, &args, &plan));
        must(ctx, lsp_gather_plan_get_info(plan, &info));
        cr_assert(info.strategy > LSP_STRATEGY_AUTO && info.passes >= 1 && info.reason[0] != 0 && info.plan_bytes > 0);
        cr_assert(r.strategy == LSP_STRATEGY_AUTO || info.strategy == r.strategy, "%s: %s", describe(&r).text,
                  info.reason);
        drop(ctx, ours.where, ours.index);
        ours.index = NULL;
        for (int round = 0; round < 3; round++) { /* one column, then all, then all in another order */
            request part = r;
            arrays some = ours, want = right;
            part.columns = round == 0 ? 1 : 3;
            if (round == 2) {
                some.columns[0] = ours.columns[2], some.columns[2] = ours.columns[0];
                want.columns[0] = right.columns[2], want.columns[2] = right.columns[0];
            }
            do_reference(ctx, &part, &want);
            must(ctx, lsp_gather_execute(plan, some.columns, part.columns));
            must(ctx, lsp_ctx_sync(ctx));
            must_equal(ctx, &r, &right, &ours);
        }
        lsp_column column = ours.columns[0];
        column.bytes = 16, column.type = LSP_C64;
        must_fail(ctx, LSP_ERR_ARGUMENT, r.rule == LSP_SCATTER_ADD ? "LSP_C64" : "16 bytes",
                  lsp_gather_execute(plan, &column, 1));
        must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_gather_execute(plan, NULL, 1));
        must_fail(ctx, LSP_ERR_ARGUMENT, "0 columns", lsp_gather_execute(plan, &column, 0));
        column = ours.columns[0], column.to = NULL;
        must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_gather_execute(plan, &column, 1));
        must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_gather_plan_get_info(plan, NULL));
        lsp_gather_plan_destroy(plan);
        free_arrays(ctx, &right, &r);
        free_arrays(ctx, &ours, &r);
    }
    lsp_gather_plan_destroy(NULL);
    cr_assert(lsp_gather_execute(NULL, NULL, 0) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_gather_plan_get_info(NULL, NULL) == LSP_ERR_ARGUMENT);
}

TEST_ON_BOTH(gather_scatter_plans, plans_and_their_context_end_in_any_order) {
    enum { PLANS = LSP_STRATEGIES };
    for (int order = 0; order < 3; order++) { /* the context first, last, or between */
        lsp_ctx *own = NULL;
        const lsp_ctx_options options = {.device = ctx->options.device, .threads = 2};
        cr_assert_eq(lsp_ctx_create(&own, &options, NULL, 0), LSP_OK);
        lsp_gather_plan *plans[PLANS] = {NULL};
        const request shape = {
            .scatter = true, .index_type = LSP_I32, .pattern = PERMUTATION, .n = 3000, .extent = 3000, .bytes = {8}};
        arrays right = make_arrays(&shape), ours = copy_arrays(own, &right, &shape, own->options.device);
        for (int p = 0; p < PLANS; p++) {
            lsp_gather_args args = arguments(&shape, &ours);
            args.strategy = (lsp_strategy)p;
            must(own, lsp_scatter_plan_create(own, &args, &plans[p]));
            must(own, lsp_gather_execute(plans[p], ours.columns, 1));
        }
        must(own, lsp_ctx_sync(own));
        do_reference(own, &shape, &right);
        must_equal(own, &shape, &right, &ours);
        free_arrays(own, &right, &shape);
        free_arrays(own, &ours, &shape);
        for (int p = 0; p < PLANS; p++) {
            if (p == order * PLANS / 2) {
                lsp_ctx_destroy(own);
                own = NULL;
                cr_assert(lsp_gather_execute(plans[p], ours.columns, 1) == LSP_ERR_ARGUMENT);
            }
            lsp_gather_plan_destroy(plans[p]);
        }
        lsp_ctx_destroy(own);
    }
}
