/* What every room takes from core: plans, arrays, searches, the clock. */
#include "core/core.h"
#include "tests/support.h"

typedef struct thing {
    lsp_ctx *ctx;
    lsp_plan_life life;
    void *memory;
    lsp_joint info;
} thing;

Test(plans, tell_their_facts_and_end_before_or_after_their_context) {
    for (int late = 0; late <= 1; late++) {
        lsp_ctx *ctx = test_ctx(1);
        thing *plans[3];
        lsp_joint info;
        for (int i = 0; i < 3; i++) {
            must(ctx, LSP_PLAN_NEW(ctx, &plans[i]));
            must(ctx, lsp_alloc(ctx, LSP_HOST, 10, 8, &plans[i]->memory));
            plans[i]->info.sharers = i;
        }
        must(ctx, LSP_PLAN_TELL(plans[2], &info));
        cr_assert_eq(info.sharers, 2);
        must_fail(ctx, LSP_ERR_ARGUMENT, "the plan's facts", LSP_PLAN_TELL(plans[2], (lsp_joint *)NULL));
        cr_assert_eq(LSP_PLAN_TELL((thing *)NULL, &info), LSP_ERR_ARGUMENT);
        if (late) {
            lsp_ctx_destroy(ctx);
            cr_assert_eq(LSP_PLAN_TELL(plans[0], &info), LSP_ERR_ARGUMENT);
        }
        for (int i = 0; i < 3; i++) {
            cr_assert_eq(plans[i]->ctx == NULL, late == 1);
            lsp_free(plans[i]->ctx, plans[i]->memory);
            lsp_plan_end(plans[i]);
        }
        lsp_plan_end(NULL);
        if (!late) {
            lsp_ctx_destroy(ctx);
        }
    }
}

static lsp_status make_thing(lsp_ctx *ctx, int parts, thing **place) {
    LSP_PLAN_MAKE(thing, made, place);
    void *memory, *scratch;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 16, 8, &memory));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 16, 8, &made->memory));
    LSP_TRY(lsp_scratch_at(ctx, LSP_HOST, 16, 8, &scratch));
    lsp_free(ctx, memory);
    for (int i = 0; i < parts; i++) {
        thing *part;
        LSP_TRY(make_thing(ctx, i, &part));
    }
    LSP_REQUIRE(parts < 4, LSP_ERR_ARGUMENT, "a thing of %d parts", parts);
    return LSP_PLAN_GIVE(made, place);
}

static int closed;
static void count_closed(void *plan) { closed += ((const thing *)plan)->ctx != NULL; }

Test(plans, hold_what_is_allocated_and_made_while_they_are_made) {
    const int64_t bytes = 128 + (int64_t)(sizeof(thing) + 63) / 64 * 64; /* of a thing without parts; 8 have 3 parts */
    for (int late = 0; late <= 1; late++) {
        lsp_ctx *ctx = test_ctx(1);
        thing *plan = NULL;
        void *memory;
        const int64_t before = ctx->space[LSP_HOST].used;
        must_fail(ctx, LSP_ERR_ARGUMENT, "the place for the plan is NULL", make_thing(ctx, 0, NULL));
        must_fail(ctx, LSP_ERR_ARGUMENT, "a thing of 4 parts", make_thing(ctx, 4, &plan));
        cr_assert_eq(ctx->space[LSP_HOST].used, before);
        must(ctx, make_thing(ctx, 3, &plan));
        cr_assert(ctx->space[LSP_HOST].used == before + 8 * bytes && lsp_plan_bytes(plan) == 8 * bytes);
        must(ctx, lsp_alloc(ctx, LSP_HOST, 8, 8, &memory));
        cr_assert_eq(lsp_plan_bytes(plan), 8 * bytes);
        lsp_plan_take(plan, memory);
        cr_assert_eq(lsp_plan_bytes(plan), 8 * bytes + 64);
        lsp_plan_end(plan->life.parts->plan);
        cr_assert_eq(lsp_plan_bytes(plan), 4 * bytes + 64);
        plan->life.close = plan->life.parts->close = count_closed;
        closed = 0;
        if (late) {
            lsp_ctx_destroy(ctx);
            lsp_plan_end(plan);
        } else {
            lsp_plan_end(plan);
            cr_assert_eq(ctx->space[LSP_HOST].used, before);
            lsp_ctx_destroy(ctx);
        }
        cr_assert_eq(closed, 2);
    }
}

Test(plans, refuse_what_differs_from_what_they_were_made_for) {
    lsp_ctx *ctx = test_ctx(1);
    must(ctx, lsp_plan_check(ctx, (lsp_plan_fact[]){{"number of rows", 3, 3}, {0}}));
    const lsp_plan_fact facts[] = {{"number of rows", 3, 3}, {"number of columns", 4, 5}, {0}};
    must_fail(ctx, LSP_ERR_ARGUMENT, "the number of columns is 5, but the plan was made for 4",
              lsp_plan_check(ctx, facts));
    lsp_ctx_destroy(ctx);
}

Test(searches, find_the_first_for_which_a_condition_holds) {
    for (int64_t n = 0; n < 70; n++) {
        for (int64_t first = 0; first <= n; first++) {
            cr_assert_eq(LSP_FIRST(0, n, i, i >= first), first);
            cr_assert_eq(LSP_FIRST(7u, (uint32_t)n + 7, i, i - 7 >= (uint32_t)first), first + 7);
        }
    }
    cr_assert_eq(LSP_FIRST(5, 3, i, i > 0), 5); /* no places */
}

Test(clock, goes_forward) {
    const double start = lsp_now();
    cr_assert(start > 0 && lsp_now() >= start);
}

static void try_array(lsp_ctx *ctx, lsp_where where) {
    enum { n = 1000 };
    double out[n], back[n];
    lsp_array array, empty;
    for (int i = 0; i < n; i++) {
        out[i] = i, back[i] = 0;
    }
    must(ctx, lsp_array_create(ctx, sizeof out, where, &array));
    must(ctx, lsp_array_create(ctx, 0, where, &empty));
    cr_assert(array.bytes >= sizeof out && array.where == where && (uintptr_t)array.memory % 64 == 0);
    cr_assert_null(empty.memory);
    must(ctx, lsp_array_copy(ctx, array.memory, where, out, LSP_HOST, sizeof out));
    must(ctx, lsp_array_copy(ctx, back, LSP_HOST, array.memory, where, sizeof out));
    cr_assert(memcmp(out, back, sizeof out) == 0);
    must(ctx, lsp_array_copy(ctx, NULL, where, NULL, LSP_HOST, 0));
    must_fail(ctx, LSP_ERR_ARGUMENT, "one of the arrays is NULL",
              lsp_array_copy(ctx, NULL, where, out, LSP_HOST, sizeof out));
    must_fail(ctx, LSP_ERR_ARGUMENT, "no place 7 for an array", lsp_array_create(ctx, 8, (lsp_where)7, &empty));
    lsp_array_free(&empty);
    lsp_ctx_destroy(ctx);
    lsp_array_free(&array); /* it outlives its context */
    cr_assert_null(array.memory);
}

Test(arrays, hold_what_is_copied_to_them_and_outlive_their_context) { try_array(test_ctx(1), LSP_HOST); }
Test(device_arrays, hold_what_is_copied_to_them_and_outlive_their_context) {
    try_array(test_gpu_ctx_or_skip(), LSP_CUDA);
}
Test(arrays, on_a_gpu_need_a_context_with_one) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_array array;
    must_fail(ctx, LSP_ERR_ARGUMENT, "works on the host", lsp_array_create(ctx, 8, LSP_CUDA, &array));
    lsp_ctx_destroy(ctx);
}
