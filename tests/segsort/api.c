/* The arguments and plans of the segmented sort: refusals and their sentences, the information about a plan, failing
 * allocations, several contexts. */
#include "cases.h"
#include "tests/failing.h"
#include <pthread.h>

Test(segsort_api, classes_have_their_capacities_and_tables_are_a_gpus) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_segsort_table table = {0};
    const int32_t most[] = {40, 48, 48, 64, 80, 96, 96, 128, 160}; /* classes 2 and 6 are not offered */
    for (int c = 0; c < (int)(sizeof most / sizeof *most); c++) {
        cr_assert_eq(lsp_segsort_class_most(c), most[c], "class %d", c);
    }
    cr_assert_eq(lsp_segsort_class_most(28), 5120);
    cr_assert_eq(lsp_segsort_class_most(29), 6144);
    cr_assert_eq(lsp_segsort_class_most(30), 7168);
    cr_assert_eq(lsp_segsort_class_most(31), 8192);
    cr_assert_eq(lsp_segsort_class_most(32), 8192);
    cr_assert_eq(lsp_segsort_class_most(33), 12288);
    cr_assert_eq(lsp_segsort_class_most(35), 16384);
    cr_assert_eq(lsp_segsort_class_most(-1), 0);
    cr_assert_eq(lsp_segsort_class_most(36), 0);
    cr_assert_eq(lsp_segsort_set_table(NULL, NULL), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_segsort_get_table(NULL, &table), LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "on the host", lsp_segsort_set_table(ctx, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "on the host", lsp_segsort_get_table(ctx, &table));
    lsp_ctx_destroy(ctx);
}

Test(segsort_api, malformed_arguments_are_refused_and_nothing_is_written) {
    lsp_ctx *ctx = test_ctx(2);
    int32_t offsets[] = {0, 2, 4}, falling[] = {0, 3, 2}, negative[] = {-1, 2, 4}, beyond[] = {0, 2, 5}, count[2];
    int32_t ends[] = {2, 4}, one_end_beyond[] = {2, 5}, overlapping[] = {3, 4}, swapped[] = {2, 0},
            swapped_ends[] = {4, 3};
    uint32_t keys[] = {4, 3, 2, 1, 0, 0}, keys_out[6] = {9, 9, 9, 9}, values[8] = {0}, values_out[4] = {0};
    float reals[] = {1, 2, 3, 4};
    uint64_t wide[4] = {0};
    const lsp_segsort_args good = {.n = 4,
                                   .segments = 2,
                                   .offsets = offsets,
                                   .offset_type = LSP_I32,
                                   .key_type = LSP_U32,
                                   .keys = keys,
                                   .keys_out = keys_out};
    lsp_segsort_args args;
    lsp_segsort_plan *plan = NULL;
    cr_assert(lsp_segsort(NULL, &good, NULL) == LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_segsort(ctx, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_segsort_plan_create(ctx, NULL, &plan));
#define REFUSED(part, ...)                                                                                             \
    args = good, __VA_ARGS__;                                                                                          \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_segsort_plan_create(ctx, &args, &plan));                                \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_segsort(ctx, &args, NULL))
    REFUSED("segment 1 begins at item 3, but its end 2 is smaller", args.offsets = falling);
    REFUSED("segment 0 begins at item -1 and ends before item 2, but the number of items is 4",
            args.offsets = negative);
    REFUSED("segment 1 begins at item 2 and ends before item 5, but the number of items is 4", args.offsets = beyond);
    REFUSED("NULL", args.offsets = NULL);
    REFUSED("keys, 4 items, are NULL", args.keys = NULL);
    REFUSED("sorted keys, 4 items, are NULL", args.keys_out = NULL);
    REFUSED("NULL", args.value_bytes = 4);
    REFUSED("the number of items is -3: 0 to 576460752303423487", args.n = -3);
    REFUSED("the number of items is -1:", args.n = -1, args.segments = 0);
    REFUSED("the number of segments is -1: 0 to", args.segments = -1);
    REFUSED("the number of segments is 9223372036854775807:", args.segments = INT64_MAX);
    REFUSED("the number of items is 9223372036854775807:", args.n = INT64_MAX);
    REFUSED("type LSP_NONE", args.key_type = LSP_NONE);
    REFUSED("type LSP_C64", args.key_type = LSP_C64);
    REFUSED("offset_type is LSP_U64", args.offset_type = LSP_U64);
    REFUSED("12 bytes", args.value_bytes = 12);
    REFUSED("unknown flags: 0x10", args.flags = 16 | LSP_SORT_DESCENDING);
    REFUSED("keys and the sorted keys overlap", args.keys_out = keys + 1);
    REFUSED("values and the sorted values overlap", args.value_bytes = 4, args.values = values,
            args.values_out = values + 1);
    REFUSED("multiple of 4", args.keys = (char *)keys + 2);
    /* forms of segments */
    REFUSED("only one of them may be", args.length = 2);
    REFUSED("ends", args.offsets = NULL, args.ends = ends, args.length = 2);
    REFUSED("segment 1 begins at item 2 and ends before item 5", args.ends = one_end_beyond);
    REFUSED("one holds the items 0 to 2, another one the items 2 to 3", args.ends = overlapping);
    REFUSED("segments overlap: one holds the items 0 to 2, another one the items 2 to 3", args.offsets = swapped,
            args.ends = swapped_ends);
    REFUSED("segment 0 has 2 items, but none may be longer than 1", args.max_length = 1);
    REFUSED("length is 0 and max_length -1", args.max_length = -1);
    REFUSED("length is -2 and max_length 0", args.offsets = NULL, args.length = -2);
    REFUSED("the number of segments is 2, not 3", args.offsets = NULL, args.length = 2, args.segments = 3);
    REFUSED("the number of segments is 1, not 2", args.offsets = NULL, args.length = INT64_MAX);
    REFUSED("longer than 1", args.offsets = NULL, args.length = 2, args.max_length = 1);
    /* positions, bits, changes, place */
    REFUSED("both", args.flags = LSP_SORT_POSITIONS | LSP_SORT_GLOBAL_POSITIONS, args.value_bytes = 4,
            args.values_out = values_out);
    REFUSED("positions of 0 bytes", args.flags = LSP_SORT_POSITIONS);
    REFUSED("positions of 16 bytes", args.flags = LSP_SORT_GLOBAL_POSITIONS, args.value_bytes = 16);
    REFUSED("do not fit 4 bytes", args.flags = LSP_SORT_GLOBAL_POSITIONS, args.value_bytes = 4,
            args.n = ((int64_t)1 << 32) + 1);
    REFUSED("sorted values", args.flags = LSP_SORT_POSITIONS, args.value_bytes = 4);
    REFUSED("begin_bit is 5 and end_bit 5:", args.begin_bit = 5, args.end_bit = 5);
    REFUSED("begin_bit is 0 and end_bit 33: keys of type LSP_U32 have bits from 0 to 31", args.end_bit = 33);
    REFUSED("begin_bit is -1 and end_bit 3:", args.begin_bit = -1, args.end_bit = 3);
    REFUSED("keys of type LSP_F32 have no ranges of bits, only integers have", args.key_type = LSP_F32,
            args.keys = reals, args.end_bit = 8);
    REFUSED("changes", args.change = (unsigned char *)keys_out);
    REFUSED("counts of changes", args.change_count = offsets + 1);
    REFUSED("do not fit LSP_I32", args.change_count = count, args.n = (int64_t)1 << 31);
    REFUSED("offset_type is LSP_NONE", args.offsets = NULL, args.length = 2, args.offset_type = LSP_NONE,
            args.change_count = count);
    /* groups and first items */
    int32_t group_at[5], late[] = {1, 2, 4}, early[] = {0, 2, 3}, group_ends[] = {2, 4};
    int64_t group_count = 0;
#define GROUPS args.group_at = group_at, args.group_count = &group_count
    REFUSED("one of them is NULL", args.group_at = group_at);
    REFUSED("one of them is NULL", args.group_count = &group_count);
    REFUSED("with ends", GROUPS, args.ends = group_ends);
    REFUSED("the segments begin at item 1 and end before item 4: they must hold all 4 items", GROUPS,
            args.offsets = late);
    REFUSED("the segments begin at item 0 and end before item 3", GROUPS, args.offsets = early);
    REFUSED("in no segment", GROUPS, args.segments = 0);
    REFUSED("do not fit LSP_I32", GROUPS, args.n = (int64_t)1 << 31);
    REFUSED("offset_type is LSP_NONE", GROUPS, args.offsets = NULL, args.length = 2, args.offset_type = LSP_NONE);
    REFUSED("the sorted keys and the starts of groups overlap", GROUPS, args.group_at = keys_out);
    REFUSED("the first -1 items", args.first = -1);
    REFUSED("only the first 2 items", GROUPS, args.first = 2);
    REFUSED("only the first 2 items", args.first = 2, args.change = (unsigned char *)values);
    REFUSED("only the first 2 items", args.first = 2, args.change_at = values);
    REFUSED("only the first 2 items", args.first = 2, args.change_count = count);
#undef GROUPS
    REFUSED("place 2", args.where = (lsp_where)2);
    REFUSED("works on the host", args.where = LSP_CUDA);
#undef REFUSED
    cr_assert(keys_out[0] == 9 && keys_out[3] == 9 && plan == NULL);
    args = good, args.value_bytes = 4, args.values = values, args.values_out = values_out;
    must(ctx, lsp_segsort(ctx, &args, NULL));
    cr_assert(keys_out[0] == 3 && keys_out[1] == 4 && keys_out[2] == 1 && keys_out[3] == 2);
    lsp_segsort_info info = {.longest = -7};
    args.max_length = 2;
    must(ctx, lsp_segsort(ctx, &args, &info));
    cr_assert(strcmp(info.method, "cpu") == 0 && info.longest == 2 && info.scratch_bytes > 0);
    cr_assert(strstr(info.reason, "no segment is longer than 2, as the arguments say") != NULL, "%s", info.reason);
    args.max_length = 1, info.longest = -7;
    must_fail(ctx, LSP_ERR_ARGUMENT, "longer than 1", lsp_segsort(ctx, &args, &info));
    cr_assert_eq(info.longest, -7, "a call that fails tells nothing");
    args = (lsp_segsort_args){.offsets = offsets, .offset_type = LSP_I32, .key_type = LSP_U32, .value_bytes = 8};
    must(ctx, lsp_segsort(ctx, &args, NULL)); /* nothing to sort: no arrays needed */
    args = (lsp_segsort_args){.n = 4, .segments = 1, .length = 9, .key_type = LSP_U64, .keys = wide, .keys_out = wide};
    must(ctx, lsp_segsort(ctx, &args, NULL)); /* a fixed length needs neither offsets nor their type */
    args.n = args.length = INT64_MAX / 32;
    must_fail(ctx, LSP_ERR_MEMORY, "", lsp_segsort(ctx, &args, NULL));
    lsp_ctx_destroy(ctx);
}

/* ---- plans ---- */

TEST_ON_BOTH(segsort_api, a_plan_sorts_other_arrays_of_its_shape_and_refuses_others) {
    const int64_t lengths[] = {5, 0, 900, 40, 7, 3000}, others[] = {0, 3000, 2, 50, 899, 1},
                  longer[] = {3001, 0, 0, 0, 0, 951};
    layout where = layout_of("planned", lengths, 6), other = layout_of("executed", others, 6);
    layout too_long = layout_of("too long", longer, 6);
    other.n = too_long.n = where.n;
    request what = {.key_type = LSP_U64, .value_bytes = 4, .fill = FILL_RANDOM, .changes = true, .planned = true};
    started it = start_case(ctx, &where, NULL, &what);
    lsp_segsort_info info;
    must(ctx, lsp_segsort_plan_get_info(it.plan, &info));
    cr_assert(info.longest == 3000 && info.scratch_bytes > 0);
    cr_assert(strcmp(info.method, ctx->options.device == LSP_CUDA ? "cuda" : "cpu") == 0 &&
              strstr(info.reason, "3000") != NULL);
    must(ctx, lsp_ctx_sync(ctx));

    arrays input = make_arrays(&other, &what), right = copy_arrays(ctx, &input, LSP_HOST);
    arrays ours = copy_arrays(ctx, &input, ctx->options.device);
    lsp_segsort_args args = arguments(&other, &what, &right);
    must(ctx, lsp_segsort_ref(ctx, &args));
    const lsp_segsort_args good = arguments(&other, &what, &ours);
    must(ctx, lsp_segsort_execute(it.plan, &good));
    must(ctx, lsp_ctx_sync(ctx));
    arrays back = copy_arrays(ctx, &ours, LSP_HOST);
    must_equal(ctx, &other, &what, &right, &back);

#define REFUSED(part, ...)                                                                                             \
    args = good, __VA_ARGS__;                                                                                          \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_segsort_execute(it.plan, &args))
    REFUSED("number of items", args.n--);
    REFUSED("number of segments is 5, but the plan was made for 6", args.segments--);
    REFUSED("keys of type LSP_I64", args.key_type = LSP_I64);
    REFUSED("bytes of a value", args.value_bytes = 8);
    REFUSED("offsets are of type", args.offset_type = LSP_I32);
    REFUSED("flags", args.flags = LSP_SORT_DESCENDING);
    REFUSED("first bit", args.begin_bit = 1);
    REFUSED("end of the bits", args.end_bit = 64);
    REFUSED("presence of offsets", args.offsets = NULL);
    REFUSED("presence of ends", args.ends = args.offsets);
    REFUSED("marks", args.change = NULL);
    REFUSED("places of changes", args.change_at = NULL);
    REFUSED("counts", args.change_count = NULL);
    int64_t groups = 0;
    REFUSED("presence of starts of groups", args.group_at = args.change_at, args.group_count = &groups);
    REFUSED("number of first items is 3, but the plan was made for 0", args.first = 3);
    REFUSED("place of the arrays", args.where = ctx->options.device == LSP_CUDA ? LSP_HOST : LSP_CUDA);
#undef REFUSED
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_segsort_execute(it.plan, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_segsort_plan_get_info(it.plan, NULL));
    cr_assert(lsp_segsort_execute(NULL, &good) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_segsort_plan_get_info(NULL, &info) == LSP_ERR_ARGUMENT);
    lsp_segsort_plan_destroy(NULL);

    arrays long_ones = make_arrays(&too_long, &what), long_there = copy_arrays(ctx, &long_ones, ctx->options.device);
    args = arguments(&too_long, &what, &long_there);
    if (ctx->options.device == LSP_HOST) {
        must_fail(ctx, LSP_ERR_ARGUMENT, "segment 0 has 3001 items, but none may be longer than 3000",
                  lsp_segsort_execute(it.plan, &args));
    } else {
        must(ctx, lsp_segsort_execute(it.plan, &args));
        must_fail(ctx, LSP_ERR_ARGUMENT, "segment 0,", lsp_ctx_sync(ctx));
    }
    free_arrays(ctx, &long_ones), free_arrays(ctx, &long_there);
    free_arrays(ctx, &input), free_arrays(ctx, &right), free_arrays(ctx, &ours), free_arrays(ctx, &back);
    finish_case(&it);
    layout_free(&where), layout_free(&other), layout_free(&too_long);
}

/* ---- several contexts ---- */

typedef struct worker {
    lsp_ctx *ctx;
    lsp_segsort_args args;
    lsp_status status;
} worker;

static void *work(void *data) {
    worker *w = data;
    for (int round = 0; round < 5 && w->status == LSP_OK; round++) {
        w->status = lsp_segsort(w->ctx, &w->args, NULL);
    }
    return NULL;
}

TEST_ON_BOTH(segsort_api, contexts_in_two_threads_do_not_meet) {
    lsp_ctx *ctxs[] = {ctx, NULL};
    const lsp_ctx_options options = {.device = ctx->options.device, .threads = 2};
    cr_assert_eq(lsp_ctx_create(&ctxs[1], &options, NULL, 0), LSP_OK);
    const int64_t lengths[] = {30, 5000, 0, 100000, 64, 700}, others[] = {60000, 8, 800, 2000, 1};
    layout places[] = {layout_of("one thread's", lengths, 6), layout_of("the other thread's", others, 5)};
    request whats[] = {{.key_type = LSP_F64, .value_bytes = 8, .fill = FILL_SPECIAL, .planned = true},
                       {.key_type = LSP_U32, .value_bytes = 4, .fill = FILL_TIES, .seed = 2}};
    started cases[2];
    worker workers[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        cases[i] = start_case(ctxs[i], &places[i], NULL, &whats[i]);
    }
    for (int i = 0; i < 2; i++) {
        workers[i] = (worker){ctxs[i], arguments(&places[i], &whats[i], &cases[i].ours), LSP_OK};
        cr_assert(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        cr_assert(workers[i].status == LSP_OK, "%s", lsp_last_error(ctxs[i]));
        must(ctxs[i], lsp_ctx_sync(ctxs[i]));
        finish_case(&cases[i]);
        layout_free(&places[i]);
    }
    lsp_ctx_destroy(ctxs[1]);
}

/* ---- allocations that fail: on the host and on the GPU, every one in turn ---- */

/* Sorts while allocation `fail_at` fails; returns the status. A sort that fails must write nothing and leak nothing. */
static lsp_status sort_failing(lsp_where device, const layout *where, const request *what, long fail_at) {
    test_memory memory = {.fail_at = -1};
    const lsp_ctx_options options = {
        .device = device, .threads = 2, .allocator = {failing_alloc, failing_free, &memory}};
    lsp_ctx *ctx = NULL;
    lsp_segsort_plan *plan = NULL;
    cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
    arrays input = make_arrays(where, what), ours = copy_arrays(ctx, &input, device);
    lsp_segsort_args args = arguments(where, what, &ours);
    memory.calls = 0, memory.fail_at = fail_at;
    lsp_status status = what->planned ? lsp_segsort_plan_create(ctx, &args, &plan) : lsp_segsort(ctx, &args, NULL);
    if (what->planned && status == LSP_OK) {
        status = lsp_segsort_execute(plan, &args);
    }
    memory.fail_at = -1;
    must(ctx, lsp_ctx_sync(ctx));
    if (status != LSP_OK) {
        arrays back = copy_arrays(ctx, &ours, LSP_HOST);
        cr_assert(status == LSP_ERR_MEMORY && lsp_last_error(ctx)[0] != 0, "allocation %ld: %s: %s", fail_at,
                  lsp_status_name(status), lsp_last_error(ctx));
        must_equal(ctx, where, what, &input, &back);
        free_arrays(ctx, &back);
    }
    free_arrays(ctx, &input), free_arrays(ctx, &ours);
    lsp_ctx_destroy(ctx);
    lsp_segsort_plan_destroy(plan); /* its context is destroyed already */
    cr_assert(memory.outstanding == 0, "%ld pieces leaked when allocation %ld failed", memory.outstanding, fail_at);
    return status;
}

TEST_ON_BOTH(segsort_api, a_failing_allocation_leaves_everything_as_it_was) {
    const int64_t lengths[] = {300000, 5, 0, 7000};
    layout places[] = {layout_of("memory fails", lengths, 4), layout_of_pairs("memory fails", lengths, 4, 9)};
    const int64_t whole[12] = {300000, 5, 0, 7000};
    layout without_gaps = layout_of("memory fails", whole, 12);
    for (int number = 0; number < 8; number++) {
        request what = {.key_type = LSP_F32, .value_bytes = 4, .in_place = number / 2 % 2, .planned = number % 2};
        const layout *where = number / 2 == 2 ? &without_gaps : &places[number / 2 % 2];
        what.groups = number / 2 == 2, what.first = number / 2 == 3 ? 10 : 0;
        long fail_at = 0;
        while (sort_failing(ctx->options.device, where, &what, fail_at) != LSP_OK) {
            cr_assert(++fail_at < 1000, "still failing after %ld allocations", fail_at);
        }
        cr_assert(fail_at > 0, "nothing was allocated through the hook");
    }
    layout_free(&without_gaps);
    layout_free(&places[0]), layout_free(&places[1]);
}

/* Sorts at once, or twice by a plan. */
static void sort_so(lsp_ctx *ctx, const lsp_segsort_args *args, bool planned) {
    lsp_segsort_plan *plan = NULL;
    if (!planned) {
        must(ctx, lsp_segsort(ctx, args, NULL));
        return;
    }
    must(ctx, lsp_segsort_plan_create(ctx, args, &plan));
    must(ctx, lsp_segsort_execute(plan, args));
    must(ctx, lsp_segsort_execute(plan, args));
    lsp_segsort_args others = *args;
    others.keys_out = args->keys_out ? NULL : (void *)(uintptr_t)args->keys;
    must_fail(ctx, LSP_ERR_ARGUMENT, "presence of sorted keys", lsp_segsort_execute(plan, &others));
    lsp_segsort_plan_destroy(plan);
}

TEST_ON_BOTH(segsort_api, positions_come_without_keys) {
    const int64_t lengths[] = {5, 0, 900, 40, 7, 3000};
    layout places[] = {layout_of("argsort", lengths, 6), layout_of_pairs("argsort", lengths, 6, 3)};
    for (int kind = 0; kind < 16; kind++) {
        const layout *where = &places[kind / 8];
        const request what = {.key_type = kind & 2 ? LSP_F64 : LSP_U32,
                              .value_bytes = kind & 4 ? 8 : 4,
                              .flags = kind & 4 ? LSP_SORT_POSITIONS : LSP_SORT_GLOBAL_POSITIONS,
                              .fill = FILL_RANDOM,
                              .changes = true,
                              .seed = (uint64_t)kind};
        const int64_t used = ctx->space[ctx->options.device].used;
        arrays input = make_arrays(where, &what);
        arrays with = copy_arrays(ctx, &input, ctx->options.device);
        arrays without = copy_arrays(ctx, &input, ctx->options.device);
        lsp_segsort_args args = arguments(where, &what, &with);
        sort_so(ctx, &args, kind & 1);
        args = arguments(where, &what, &without);
        args.keys_out = NULL;
        sort_so(ctx, &args, kind & 1);
        must(ctx, lsp_ctx_sync(ctx));
        arrays expected = copy_arrays(ctx, &with, LSP_HOST), found = copy_arrays(ctx, &without, LSP_HOST);
        for (int i = 0; i < PARTS; i++) {
            const part *right = &(i == KEYS_OUT ? input : expected).parts[i];
            const size_t bytes = (size_t)part_bytes(&found, i);
            cr_assert(bytes == 0 || memcmp(right->memory, found.parts[i].memory, bytes) == 0, "kind %d, array %d", kind,
                      i);
        }
        free_arrays(ctx, &input), free_arrays(ctx, &with), free_arrays(ctx, &without);
        free_arrays(ctx, &expected), free_arrays(ctx, &found);
        cr_assert_eq(ctx->space[ctx->options.device].used, used, "bytes are lost");
    }
    layout_free(&places[0]), layout_free(&places[1]);
}
