/* The calls of the sort of a whole array: what is refused, and allocations that fail. */
#include "cases.h"

Test(slab_sort_calls, wrong_arguments_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    uint32_t keys[] = {3, 1, 2}, out[3], values[3] = {0}, values_out[3];
    lsp_sort_plan *plan = NULL;
    lsp_sort_info info;
    lsp_sort_table table;
    const lsp_sort_args good = {.n = 3, .key_type = LSP_U32, .keys = keys, .keys_out = out};
    lsp_sort_args args;
    cr_assert_eq(lsp_sort(NULL, &good, NULL), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_sort_plan_create(NULL, &good, &plan), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_sort_execute(NULL, &good), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_sort_plan_get_info(NULL, &info), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_sort_set_table(NULL, NULL), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_sort_get_table(NULL, &table), LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "host", lsp_sort_set_table(ctx, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "host", lsp_sort_get_table(ctx, &table));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_sort(ctx, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_sort_plan_create(ctx, NULL, &plan));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_sort_plan_create(ctx, &good, NULL));
#define REFUSED(code, part, ...)                                                                                       \
    args = good, __VA_ARGS__;                                                                                          \
    must_fail(ctx, code, part, lsp_sort(ctx, &args, NULL));                                                            \
    must_fail(ctx, code, part, lsp_sort_plan_create(ctx, &args, &plan))
    REFUSED(LSP_ERR_ARGUMENT, "reserved", args.reserved[2] = 1);
    REFUSED(LSP_ERR_ARGUMENT, "the number of items is -1:", args.n = -1);
    REFUSED(LSP_ERR_ARGUMENT, "LSP_C64", args.key_type = LSP_C64);
    REFUSED(LSP_ERR_ARGUMENT, "12 bytes", args.value_bytes = 12);
    REFUSED(LSP_ERR_ARGUMENT, "keys, 3 items, are NULL", args.keys = NULL);
    REFUSED(LSP_ERR_ARGUMENT, "overlap", args.keys_out = keys + 1);
    REFUSED(LSP_ERR_ARGUMENT, "flags", args.flags = 64);
    REFUSED(LSP_ERR_ARGUMENT, "begin_bit is 3 and end_bit 2:", args.begin_bit = 3, args.end_bit = 2);
    REFUSED(LSP_ERR_ARGUMENT, "changes are of sorted keys", args.change = (unsigned char *)values, args.value_bytes = 4,
            args.values_out = values, args.flags = LSP_SORT_POSITIONS, args.keys_out = NULL);
    REFUSED(LSP_ERR_ARGUMENT, "value_bytes is 0", args.values = values, args.values_out = values_out);
    REFUSED(LSP_ERR_ARGUMENT, "GPU", args.where = LSP_CUDA);
    REFUSED(LSP_ERR_ARGUMENT, "no sort method 5", args.method = LSP_SORT_METHODS);
    REFUSED(LSP_ERR_UNSUPPORTED, "the CPU has no sort method ranks", args.method = LSP_SORT_RANKS);
    REFUSED(LSP_ERR_UNSUPPORTED, "the CPU has no sort method slab", args.method = LSP_SORT_SLAB);
#undef REFUSED
    must(ctx, lsp_sort(ctx, &good, &info));
    cr_assert(info.method == LSP_SORT_RADIX && info.reason[0] != 0 && info.scratch_bytes == 0);
    must(ctx, lsp_sort_plan_create(ctx, &good, &plan));
    must(ctx, lsp_sort_plan_get_info(plan, &info));
    cr_assert(info.method == LSP_SORT_RADIX && info.reason[0] != 0);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_sort_plan_get_info(plan, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_sort_execute(plan, NULL));
#define REFUSED(part, ...)                                                                                             \
    args = good, __VA_ARGS__;                                                                                          \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_sort_execute(plan, &args))
    REFUSED("number of items is 2, but the plan was made for 3", args.n = 2);
    REFUSED("type of the keys", args.key_type = LSP_F32);
    REFUSED("bytes of a value", args.value_bytes = 4, args.values = values, args.values_out = values_out);
    REFUSED("flags", args.flags = LSP_SORT_DESCENDING);
    REFUSED("end of the bits", args.end_bit = 5);
    REFUSED("number of the method", args.method = LSP_SORT_RADIX);
    REFUSED("presence of sorted keys", args.keys_out = NULL);
    REFUSED("presence of changes", args.change = (unsigned char *)values);
#undef REFUSED
    must(ctx, lsp_sort_execute(plan, &good));
    cr_assert(out[0] == 1 && out[1] == 2 && out[2] == 3);
    lsp_ctx_destroy(ctx);
    cr_assert_eq(lsp_sort_execute(plan, &good), LSP_ERR_ARGUMENT);
    lsp_sort_plan_destroy(plan); /* after its context */
    lsp_sort_plan_destroy(NULL);
}

Test(slab_sort_calls, methods_have_names) {
    cr_assert_str_eq(lsp_sort_method_name(LSP_SORT_AUTO), "auto");
    cr_assert_str_eq(lsp_sort_method_name(LSP_SORT_SLAB), "slab");
    cr_assert_str_eq(lsp_sort_method_name(LSP_SORT_METHODS), "?");
}

static lsp_status sort_twice(lsp_ctx *ctx, void *data) {
    enum { N = 300000 };
    uint32_t *keys = data, *out = keys + N, *values = out + N;
    lsp_sort_plan *plan = NULL;
    const lsp_sort_args args = {.n = N,
                                .key_type = LSP_U32,
                                .value_bytes = 4,
                                .keys = keys,
                                .keys_out = out,
                                .values_out = values,
                                .flags = LSP_SORT_POSITIONS};
    lsp_status status = lsp_sort_plan_create(ctx, &args, &plan);
    cr_assert((plan != NULL) == (status == LSP_OK));
    status = status ? status : lsp_sort_execute(plan, &args);
    lsp_sort_plan_destroy(plan);
    return status ? status : lsp_sort(ctx, &args, NULL);
}

Test(slab_sort_calls, failing_allocations_leave_nothing_behind) {
    uint64_t state = 1;
    uint32_t *memory = malloc(4 * 900000);
    for (int i = 0; i < 300000; i++) {
        memory[i] = (uint32_t)test_random(&state);
    }
    test_failing_memory(2, sort_twice, memory);
    free(memory);
}
