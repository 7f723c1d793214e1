/* The arguments of gather and scatter: what is refused and with which sentence; several columns; allocations
 * that fail; several contexts. */
#include "cases.h"
#include "tests/failing.h"
#include <pthread.h>

Test(gather_scatter_api, malformed_arguments_are_refused_and_nothing_is_written) {
    lsp_ctx *ctx = test_ctx(2);
    int32_t index[] = {2, 0, 1}, to[] = {9, 9, 9, 9};
    const int32_t from[] = {1, 2, 3, 4};
    double wide[8] = {0};
    const lsp_column good_column = {.from = from, .to = to, .bytes = 4, .type = LSP_I32};
    lsp_column column = good_column;
    const lsp_gather_args good = {
        .n = 3, .extent = 4, .index = index, .index_type = LSP_I32, .columns = &column, .column_count = 1};
    lsp_gather_args args;
    lsp_gather_plan *plan = NULL;
    cr_assert(lsp_gather(NULL, &good, NULL) == LSP_ERR_ARGUMENT && lsp_scatter(NULL, &good, NULL) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_gather_plan_create(NULL, &good, &plan) == LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_gather(ctx, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_scatter_plan_create(ctx, NULL, &plan));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_gather_plan_create(ctx, &good, NULL));
#define REFUSED_BY_CALLS(part, ...)                                                                                    \
    column = good_column, args = good, __VA_ARGS__;                                                                    \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_gather(ctx, &args, NULL));                                              \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_scatter(ctx, &args, NULL))
#define REFUSED(part, ...)                                                                                             \
    REFUSED_BY_CALLS(part, __VA_ARGS__);                                                                               \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_gather_plan_create(ctx, &args, &plan));                                 \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_scatter_plan_create(ctx, &args, &plan))
    REFUSED("-1 indices", args.n = -1);
    REFUSED("-4 elements", args.extent = -4);
    REFUSED("cannot be in memory", args.n = INT64_MAX / 8);
    REFUSED("cannot be in memory", args.extent = INT64_MAX / 2);
    REFUSED("type LSP_U32", args.index_type = LSP_U32);
    REFUSED("type ?", args.index_type = (lsp_type)99);
    REFUSED("index, 3 items, is NULL", args.index = NULL);
    REFUSED("multiple of 4", args.index = (char *)index + 1);
    REFUSED("columns, 1 of them, are NULL", args.columns = NULL);
    REFUSED("0 columns", args.column_count = 0);
    REFUSED("-2 columns", args.column_count = -2);
    REFUSED("7 is no strategy", args.strategy = (lsp_strategy)7);
    REFUSED("-1 is no strategy", args.strategy = (lsp_strategy)-1);
    REFUSED("-3 passes", args.passes = -3);
    REFUSED("passes", args.passes = 1 << 20);
    REFUSED("calls", args.expected_calls = -1);
    REFUSED("unknown flags: 0x6", args.flags = 6);
    REFUSED("place 2", args.where = (lsp_where)2);
    REFUSED("works on the host", args.where = LSP_CUDA);
    REFUSED("reserved", args.reserved[7] = 1);
    REFUSED("elements of 0 bytes", column.bytes = 0);
    REFUSED("elements of 3 bytes", column.bytes = 3);
    REFUSED("elements of 128 bytes", column.bytes = 128);
    REFUSED("at position 1 is 4, but the elements are 0 to 3", args.flags = LSP_GATHER_CHECK, index[1] = 4);
    REFUSED("at position 0 is 2, but there are no elements", args.flags = LSP_GATHER_CHECK, args.extent = 0,
            index[1] = 0);
    REFUSED("at position 1 is -1", args.flags = LSP_GATHER_CHECK, index[1] = -1);
    index[1] = 0;
    REFUSED_BY_CALLS("`from` of column 0 is NULL", column.from = NULL);
    REFUSED_BY_CALLS("`to` of column 0 is NULL", column.to = NULL);
    REFUSED_BY_CALLS("multiple of 4", column.from = (const char *)from + 2);
    REFUSED_BY_CALLS("multiple of 8", column.bytes = 8, column.from = wide, column.to = (char *)wide + 4);
    REFUSED_BY_CALLS("overlap", column.from = to + 1);
    REFUSED_BY_CALLS("the index and `to` of column 0 overlap", column.to = index);
    REFUSED_BY_CALLS("wraps around", column.from = (const void *)(UINTPTR_MAX - 3));
#undef REFUSED
#undef REFUSED_BY_CALLS
#define REFUSED_SCATTER(code, part, ...)                                                                               \
    column = good_column, args = good, __VA_ARGS__;                                                                    \
    must_fail(ctx, code, part, lsp_scatter(ctx, &args, NULL));                                                         \
    must_fail(ctx, code, part, lsp_scatter_plan_create(ctx, &args, &plan))
    REFUSED_SCATTER(LSP_ERR_ARGUMENT, "3 is no rule", args.rule = (lsp_scatter_rule)3);
    REFUSED_SCATTER(LSP_ERR_ARGUMENT, "-1 is no rule", args.rule = (lsp_scatter_rule)-1);
    REFUSED_SCATTER(LSP_ERR_ARGUMENT, "12 bytes", column.bytes = 12);
    REFUSED_SCATTER(LSP_ERR_ARGUMENT, "type LSP_U32", args.rule = LSP_SCATTER_ADD, column.type = LSP_U32);
    REFUSED_SCATTER(LSP_ERR_ARGUMENT, "that type has 8", args.rule = LSP_SCATTER_ADD, column.type = LSP_F64);
#undef REFUSED_SCATTER
    column = good_column, args = good;
    args.strategy = LSP_STRATEGY_STAGE;
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "stage", lsp_gather(ctx, &args, NULL));
    args.strategy = LSP_STRATEGY_INVERT;
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "invert", lsp_gather(ctx, &args, NULL));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "invert", lsp_scatter(ctx, &args, NULL));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "invert", lsp_gather_plan_create(ctx, &args, &plan));
    cr_assert(plan == NULL && to[0] == 9 && to[1] == 9 && to[2] == 9 && to[3] == 9);
    lsp_gather_info info = {.passes = 77}, none = info;
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_gather(ctx, NULL, &info));
    cr_assert(memcmp(&info, &none, sizeof info) == 0, "a call that failed told of itself");
    must(ctx, lsp_gather(ctx, &good, &info));
    cr_assert(to[0] == 3 && to[1] == 1 && to[2] == 2 && to[3] == 9);
    cr_assert(info.strategy == LSP_STRATEGY_DIRECT && info.passes == 1 && info.plan_bytes == 0 && info.reason[0]);
    args = good, args.strategy = LSP_STRATEGY_RESCAN, args.passes = 3;
    must(ctx, lsp_scatter(ctx, &args, &info));
    cr_assert(info.strategy == LSP_STRATEGY_RESCAN && info.passes == 3 && strstr(info.reason, "asked for it"));
    must(ctx, lsp_gather(ctx,
                         &(lsp_gather_args){.index_type = LSP_I64, /* nothing to move: no arrays needed */
                                            .columns = &(lsp_column){.bytes = 64},
                                            .column_count = 1},
                         NULL));
    lsp_ctx_destroy(ctx);
}

/* Arrays may touch. Of many columns the overlapping pair is found as well. */
TEST_ON_BOTH(gather_scatter_api, many_columns_move_by_one_map_and_may_not_overlap) {
    for (int kind = 0; kind < 8; kind++) {
        request r = {.scatter = kind & 1,
                     .planned = kind >> 1 & 1,
                     .rule = LSP_SCATTER_LAST,
                     .strategy = kind & 1 ? LSP_STRATEGY_STAGE : LSP_STRATEGY_DIRECT,
                     .index_type = LSP_I32,
                     .pattern = RANDOM,
                     .n = 700,
                     .extent = 900,
                     .columns = kind & 4 ? MOST_COLUMNS : 5};
        static const size_t widths[] = {8, 1, 16, 2, 4};
        for (int c = 0; c < r.columns; c++) {
            r.bytes[c] = widths[c % 5];
        }
        run_case(ctx, &r);
        arrays right = make_arrays(&r), ours = copy_arrays(ctx, &right, &r, ctx->options.device);
        lsp_gather_args args = arguments(&r, &ours);
        void *to = ours.columns[3].to;
        ours.columns[3].to = (char *)ours.columns[2].to + 16;
        must_fail(ctx, LSP_ERR_ARGUMENT, "`to` of column 2 and `to` of column 3 overlap", move_so(ctx, &r, &args));
        ours.columns[3].to = (void *)(uintptr_t)ours.columns[0].from;
        must_fail(ctx, LSP_ERR_ARGUMENT, "overlap", move_so(ctx, &r, &args));
        ours.columns[3].to = to;
        const void *from = ours.columns[1].from;
        ours.columns[1].from = ours.columns[4].from; /* what is only read may be read twice */
        must(ctx, move_so(ctx, &r, &args));
        must(ctx, lsp_ctx_sync(ctx));
        ours.columns[1].from = from;
        free_arrays(ctx, &right, &r);
        free_arrays(ctx, &ours, &r);
    }
}

/* ---- indices outside ---- */

TEST_ON_BOTH(gather_scatter_api, an_index_outside_is_named_and_never_followed) {
    enum { N = 9000, EXTENT = 5000 };
    static const int64_t outside[] = {-1, EXTENT, INT64_MIN, INT64_MAX};
    for (int number = 0; number < 16 * LSP_STRATEGIES; number++) {
        request r = {.scatter = number % 4 > 0,
                     .rule = (lsp_scatter_rule)(number % 4 > 0 ? number % 4 - 1 : 0),
                     .strategy = (lsp_strategy)(number / 4 % LSP_STRATEGIES),
                     .passes = 3,
                     .flags = number / (4 * LSP_STRATEGIES) % 2 ? LSP_GATHER_CHECK : 0,
                     .index_type = LSP_I64,
                     .pattern = RANDOM,
                     .n = N,
                     .extent = EXTENT,
                     .columns = 2,
                     .bytes = {8, 4},
                     .type = {LSP_F64, LSP_I32},
                     .seed = (uint64_t)number};
        r.pattern = r.scatter && r.rule == LSP_SCATTER_DISTINCT ? PERMUTATION : RANDOM;
        r.n = r.pattern == PERMUTATION ? EXTENT : N;
        if (!is_offered(&r)) {
            continue;
        }
        arrays right = make_arrays(&r);
        const int64_t first = number * 37 % 4000;
        ((int64_t *)right.index)[first] = outside[number / (4 * LSP_STRATEGIES)];
        ((int64_t *)right.index)[first + 900] = -7; /* a later one, of another thread's share */
        arrays ours = copy_arrays(ctx, &right, &r, ctx->options.device);
        const lsp_gather_args args = arguments(&r, &ours);
        char sentence[64];
        snprintf(sentence, sizeof sentence, "position %lld", (long long)first);
        lsp_status status = move_so(ctx, &r, &args);
        if (ctx->options.device == LSP_CUDA && !(r.flags & LSP_GATHER_CHECK)) {
            status = status == LSP_OK ? lsp_ctx_sync(ctx) : status;
            snprintf(sentence, sizeof sentence, "position "); /* of one of them */
        }
        cr_assert(status == LSP_ERR_ARGUMENT && strstr(lsp_last_error(ctx), sentence), "%s: %s: %s", describe(&r).text,
                  lsp_status_name(status), lsp_last_error(ctx));
        if (!(r.flags & LSP_GATHER_CHECK)) {
            cr_assert_eq(do_reference(ctx, &r, &right), first);
        }
        must_equal(ctx, &r, &right, &ours);
        lsp_gather_plan *plan = NULL;
        snprintf(sentence, sizeof sentence, "position %lld", (long long)first);
        must_fail(ctx, LSP_ERR_ARGUMENT, sentence, plan_create(ctx, &r, &args, &plan));
        cr_assert(plan == NULL);
        free_arrays(ctx, &right, &r);
        free_arrays(ctx, &ours, &r);
    }
}

TEST_ON_BOTH(gather_scatter_api, every_index_into_nothing_is_outside) {
    for (int kind = 0; kind < 4; kind++) {
        const request r = {.scatter = kind & 1, .flags = kind & 2 ? LSP_GATHER_CHECK : 0, .index_type = LSP_I32};
        request some = r;
        some.n = 50, some.extent = 1, some.bytes[0] = 8;
        arrays right = make_arrays(&some), ours = copy_arrays(ctx, &right, &some, ctx->options.device);
        lsp_gather_args args = arguments(&some, &ours);
        args.extent = 0;
        lsp_status status = move_so(ctx, &some, &args);
        status = status == LSP_OK ? lsp_ctx_sync(ctx) : status;
        cr_assert(status == LSP_ERR_ARGUMENT && strstr(lsp_last_error(ctx), "position "), "%s", lsp_last_error(ctx));
        must_equal(ctx, &some, &right, &ours);
        free_arrays(ctx, &right, &some);
        free_arrays(ctx, &ours, &some);
    }
}

/* ---- several contexts ---- */

typedef struct worker {
    lsp_ctx *ctx;
    const request *what;
    lsp_gather_args args;
    lsp_status status;
} worker;

static void *work(void *data) {
    worker *w = data;
    for (int round = 0; round < 5 && w->status == LSP_OK; round++) {
        w->status = move_so(w->ctx, w->what, &w->args);
    }
    return NULL;
}

TEST_ON_BOTH(gather_scatter_api, contexts_in_two_threads_do_not_meet) {
    lsp_ctx *ctxs[] = {ctx, NULL};
    const lsp_ctx_options options = {.device = ctx->options.device, .threads = 2};
    cr_assert_eq(lsp_ctx_create(&ctxs[1], &options, NULL, 0), LSP_OK);
    const request whats[] = {{.scatter = true,
                              .rule = LSP_SCATTER_LAST,
                              .strategy = LSP_STRATEGY_STAGE,
                              .index_type = LSP_I32,
                              .pattern = RANDOM,
                              .n = 70000,
                              .extent = 90000,
                              .bytes = {8}},
                             {.planned = true,
                              .strategy = LSP_STRATEGY_STAGE,
                              .index_type = LSP_I64,
                              .pattern = ZIPF,
                              .n = 80000,
                              .extent = 60000,
                              .bytes = {4}}};
    arrays right[2], ours[2];
    worker workers[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        right[i] = make_arrays(&whats[i]);
        ours[i] = copy_arrays(ctxs[i], &right[i], &whats[i], ctx->options.device);
        workers[i] = (worker){ctxs[i], &whats[i], arguments(&whats[i], &ours[i]), LSP_OK};
    }
    for (int i = 0; i < 2; i++) {
        cr_assert(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        cr_assert(workers[i].status == LSP_OK, "%s", lsp_last_error(ctxs[i]));
        must(ctxs[i], lsp_ctx_sync(ctxs[i]));
        do_reference(ctxs[i], &whats[i], &right[i]);
        must_equal(ctxs[i], &whats[i], &right[i], &ours[i]);
        free_arrays(ctxs[i], &right[i], &whats[i]);
        free_arrays(ctxs[i], &ours[i], &whats[i]);
    }
    lsp_ctx_destroy(ctxs[1]);
}

/* ---- memory ---- */

/* Moves while allocation `fail_at` fails; returns the status. A call that fails writes nothing and leaks nothing. */
static lsp_status move_failing(lsp_where device, const request *r, long fail_at) {
    test_memory memory = {.fail_at = -1};
    const lsp_ctx_options options = {
        .device = device, .threads = 2, .allocator = {failing_alloc, failing_free, &memory}};
    lsp_ctx *ctx = NULL;
    cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
    arrays right = make_arrays(r), ours = copy_arrays(ctx, &right, r, device);
    const lsp_gather_args args = arguments(r, &ours);
    memory.calls = 0, memory.fail_at = fail_at;
    const lsp_status status = move_so(ctx, r, &args);
    memory.fail_at = -1;
    cr_assert(status == LSP_OK || (status == LSP_ERR_MEMORY && lsp_last_error(ctx)[0] != 0), "allocation %ld: %s: %s",
              fail_at, lsp_status_name(status), lsp_last_error(ctx));
    must(ctx, lsp_ctx_sync(ctx));
    if (status == LSP_OK) {
        do_reference(ctx, r, &right);
    }
    must_equal(ctx, r, &right, &ours);
    free_arrays(ctx, &right, r);
    free_arrays(ctx, &ours, r);
    lsp_ctx_destroy(ctx);
    cr_assert(memory.outstanding == 0, "%s: %ld pieces leaked when allocation %ld failed", describe(r).text,
              memory.outstanding, fail_at);
    return status;
}

TEST_ON_BOTH(gather_scatter_api, a_failing_allocation_leaves_everything_as_it_was) {
    for (int number = 0; number < 8 * LSP_STRATEGIES; number++) {
        request r = {.scatter = number % 4 > 0,
                     .planned = number / 4 % 2,
                     .rule = (lsp_scatter_rule)(number % 4 > 0 ? number % 4 - 1 : 0),
                     .strategy = (lsp_strategy)(number / 8),
                     .passes = 2,
                     .index_type = number % 3 ? LSP_I32 : LSP_I64,
                     .pattern = PERMUTATION,
                     .n = 70000,
                     .extent = 70000,
                     .columns = number % 5 == 0 ? MOST_COLUMNS : 1,
                     .bytes = {8},
                     .type = {LSP_F64}};
        for (int c = 0; c < column_count(&r); c++) {
            r.bytes[c] = 8, r.type[c] = LSP_I64;
            r.n = r.extent = r.columns > 1 ? 3000 : 70000;
        }
        long fail_at = 0;
        while (is_offered(&r) && move_failing(ctx->options.device, &r, fail_at) != LSP_OK) {
            cr_assert(++fail_at < 1000, "still failing after %ld allocations", fail_at);
        }
    }
}

TEST_ON_BOTH(gather_scatter_api, a_budget_that_is_too_small_is_told) {
    request r = {.scatter = true,
                 .strategy = LSP_STRATEGY_STAGE,
                 .index_type = LSP_I32,
                 .pattern = PERMUTATION,
                 .n = 300000,
                 .extent = 300000,
                 .bytes = {8}};
    for (int planned = 0; planned < 2; planned++) {
        r.planned = planned;
        arrays right = make_arrays(&r), ours = copy_arrays(ctx, &right, &r, ctx->options.device);
        const lsp_gather_args args = arguments(&r, &ours);
        must(ctx, lsp_ctx_trim(ctx));
        must(ctx, lsp_ctx_set_max_bytes(ctx, ctx->space[ctx->options.device].used + 100000));
        must_fail(ctx, LSP_ERR_MEMORY, "budget", move_so(ctx, &r, &args));
        must_equal(ctx, &r, &right, &ours);
        must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
        must(ctx, move_so(ctx, &r, &args));
        must(ctx, lsp_ctx_sync(ctx));
        do_reference(ctx, &r, &right);
        must_equal(ctx, &r, &right, &ours);
        free_arrays(ctx, &right, &r);
        free_arrays(ctx, &ours, &r);
    }
}

/* A gather on the host in one call has one way, so a sample of its indices would only cost time. */
Test(gather_scatter_api, one_gather_on_the_host_is_direct_without_a_prediction_and_a_scatter_is_predicted) {
    enum { INDICES = 1 << 17, ELEMENTS = 1 << 22 };
    lsp_ctx *ctx = test_ctx(1);
    int32_t *index = malloc(INDICES * sizeof *index);
    double *many = calloc(ELEMENTS, sizeof *many), *few = calloc(INDICES, sizeof *few);
    cr_assert(index && many && few);
    for (int i = 0; i < INDICES; i++) {
        index[i] = (int32_t)((int64_t)i * 1234577 % ELEMENTS);
    }
    lsp_column column = {.from = many, .to = few, .bytes = 8};
    const lsp_gather_args args = {
        .n = INDICES, .extent = ELEMENTS, .index = index, .index_type = LSP_I32, .columns = &column, .column_count = 1};
    lsp_gather_info info;
    must(ctx, lsp_gather(ctx, &args, &info));
    cr_assert(info.strategy == LSP_STRATEGY_DIRECT && info.predicted_seconds == 0, "%s", info.reason);
    column = (lsp_column){.from = few, .to = many, .bytes = 8};
    must(ctx, lsp_scatter(ctx, &args, &info));
    cr_assert(info.predicted_seconds > 0, "%s", info.reason);
    lsp_ctx_destroy(ctx);
    free(index), free(many), free(few);
}
