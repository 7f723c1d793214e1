/* The calls of the sort of an array and of the partition: what is refused, and allocations that fail. */
#include "gather_scatter/radix_sort/radix_sort.h"
#include "places.h"

Test(radix_sort, wrong_arguments_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    uint32_t keys[] = {3, 1, 2}, out[3], values[3] = {0}, values_out[3];
    lsp_radix_sort_plan *plan = NULL;
    lsp_radix_sort_info info;
    const lsp_radix_sort_args good = {.n = 3, .key_type = LSP_U32, .keys = keys, .keys_out = out};
    lsp_radix_sort_args args;
    cr_assert_eq(lsp_radix_sort(NULL, &good, NULL), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_radix_sort_plan_create(NULL, &good, &plan), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_radix_sort_execute(NULL, &good), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_radix_sort_plan_get_info(NULL, &info), LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_radix_sort(ctx, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_radix_sort_plan_create(ctx, &good, NULL));
#define REFUSED(part, ...)                                                                                             \
    args = good, __VA_ARGS__;                                                                                          \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_radix_sort(ctx, &args, NULL));                                          \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_radix_sort_plan_create(ctx, &args, &plan))
    REFUSED("reserved", args.reserved[2] = 1);
    REFUSED("the number of items is -1:", args.n = -1);
    REFUSED("LSP_C64", args.key_type = LSP_C64);
    REFUSED("12 bytes", args.value_bytes = 12);
    REFUSED("keys, 3 items, are NULL", args.keys = NULL);
    REFUSED("overlap", args.keys_out = keys + 1);
    REFUSED("flags", args.flags = 64);
    REFUSED("begin_bit is 3 and end_bit 2:", args.begin_bit = 3, args.end_bit = 2);
    REFUSED("value_bytes is 0", args.values = values, args.values_out = values_out);
    REFUSED("value_bytes is 0", args.values_out = values_out);
    REFUSED("GPU", args.where = LSP_CUDA);
#undef REFUSED
    info.phases = 77;
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_radix_sort(ctx, NULL, &info));
    cr_assert_eq(info.phases, 77);
    must(ctx, lsp_radix_sort(ctx, &good, &info));
    cr_assert(info.phases == 0 && info.reason[0] != 0 && info.scratch_bytes == 0);
    must(ctx, lsp_radix_sort_plan_create(ctx, &good, &plan));
    must(ctx, lsp_radix_sort_plan_get_info(plan, &info));
    cr_assert(info.phases == 0 && info.reason[0] != 0 && info.scratch_bytes == 0);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_radix_sort_plan_get_info(plan, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_radix_sort_execute(plan, NULL));
#define REFUSED(part, ...)                                                                                             \
    args = good, __VA_ARGS__;                                                                                          \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_radix_sort_execute(plan, &args))
    REFUSED("number of items is 2, but the plan was made for 3", args.n = 2);
    REFUSED("type of the keys", args.key_type = LSP_F32);
    REFUSED("bytes of a value", args.value_bytes = 4, args.values = values, args.values_out = values_out);
    REFUSED("flags", args.flags = LSP_SORT_DESCENDING);
    REFUSED("end of the bits", args.end_bit = 5);
    REFUSED("presence of sorted keys", args.keys_out = NULL);
#undef REFUSED
    must(ctx, lsp_radix_sort_execute(plan, &good));
    cr_assert(out[0] == 1 && out[1] == 2 && out[2] == 3);
    lsp_ctx_destroy(ctx);
    cr_assert_eq(lsp_radix_sort_execute(plan, &good), LSP_ERR_ARGUMENT);
    lsp_radix_sort_plan_destroy(plan); /* after its context */
    lsp_radix_sort_plan_destroy(NULL);
}

Test(partition, wrong_arguments_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    uint32_t numbers[] = {1, 0, 1}, keys[] = {7, 8, 9}, out[3];
    int32_t values[] = {1, 2, 3}, values_out[3];
    int64_t offsets[257];
    const lsp_partition_args good = {.n = 3,
                                     .numbers = numbers,
                                     .buckets = 2,
                                     .value_bytes = 4,
                                     .values = values,
                                     .values_out = values_out,
                                     .offsets = offsets,
                                     .offset_type = LSP_I64};
    lsp_partition_args args;
    cr_assert_eq(lsp_partition(NULL, &good), LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_partition(ctx, NULL));
#define REFUSED(part, ...)                                                                                             \
    args = good, __VA_ARGS__;                                                                                          \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_partition(ctx, &args))
    REFUSED("reserved", args.reserved[0] = 1);
    REFUSED("-2 items", args.n = -2);
    REFUSED("0 buckets", args.buckets = 0);
    REFUSED("65537 buckets", args.buckets = 65537);
    REFUSED("either", args.end_bit = 3);
    REFUSED("flags", args.flags = LSP_SORT_DESCENDING);
    REFUSED("12 bytes", args.value_bytes = 12);
    REFUSED("offsets of type", args.offset_type = LSP_U32);
    REFUSED("no multiple", args.offsets = (char *)offsets + 4);
    REFUSED("overlap", args.offsets = values, args.offset_type = LSP_I32);
    REFUSED("NULL", args.values = NULL);
    REFUSED("in place", args.keys = keys, args.keys_out = keys, args.key_type = LSP_U32);
    REFUSED("type LSP_F32", args.keys = keys, args.keys_out = out, args.key_type = LSP_F32);
    REFUSED("place 1", args.where = LSP_CUDA);
    REFUSED("makes no buckets", args.numbers = NULL, args.buckets = 0);
    REFUSED("makes no buckets", args.numbers = NULL, args.buckets = 0, args.end_bit = 17);
    REFUSED("no bucket numbers", args.numbers = NULL, args.end_bit = 1);
    REFUSED("moved keys, 3 items, are NULL", args.numbers = NULL, args.buckets = 0, args.key_type = LSP_U32,
            args.keys = keys, args.end_bit = 8);
    REFUSED("begin_bit is 30 and end_bit 40: keys of type LSP_U32 have 32", args.numbers = NULL, args.buckets = 0,
            args.key_type = LSP_U32, args.keys = keys, args.keys_out = out, args.begin_bit = 30, args.end_bit = 40);
    REFUSED("the keys, 3 items, are NULL", args.keys_out = out, args.key_type = LSP_U32, args.value_bytes = 0,
            args.values = NULL, args.values_out = NULL);
    REFUSED("the bucket numbers and the moved keys overlap", args.keys = keys, args.keys_out = numbers,
            args.key_type = LSP_U32, args.value_bytes = 0, args.values = NULL, args.values_out = NULL);
    REFUSED("values, 3 items, are NULL", args.values = NULL, args.keys = keys, args.keys_out = out,
            args.key_type = LSP_U32);
    REFUSED("value_bytes is 0", args.value_bytes = 0);
    REFUSED("positions of 0 bytes", args.value_bytes = 0, args.values = NULL, args.values_out = NULL, args.keys = keys,
            args.keys_out = out, args.key_type = LSP_U32, args.flags = LSP_SORT_POSITIONS);
    REFUSED("12 bytes", args.value_bytes = 12, args.keys = keys, args.keys_out = out, args.key_type = LSP_U32);
#undef REFUSED
    must(ctx, lsp_partition(ctx, &good));
    cr_assert(values_out[0] == 2 && values_out[1] == 1 && values_out[2] == 3 && offsets[1] == 1 && offsets[2] == 3);
    lsp_ctx_destroy(ctx);
}

/* Any bits, and bucket numbers at NULL. */
Test(partition, no_items_are_buckets_without_items) {
    lsp_ctx *ctx = test_ctx(1);
    int64_t offsets[257];
    lsp_partition_args kinds[] = {
        {.numbers = NULL, .buckets = 4},
        {.numbers = NULL, .buckets = 256, .value_bytes = 8},
        {.key_type = LSP_U64, .begin_bit = 40, .end_bit = 48},
        {.key_type = LSP_I64, .begin_bit = 30, .end_bit = 38, .flags = LSP_SORT_POSITIONS, .value_bytes = 4},
        {.key_type = LSP_U32, .begin_bit = 24, .end_bit = 32},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        memset(offsets, 0xA5, sizeof offsets);
        kinds[k].offsets = offsets;
        kinds[k].offset_type = LSP_I64;
        must(ctx, lsp_partition(ctx, &kinds[k]));
        const int buckets = kinds[k].buckets ? (int)kinds[k].buckets : 256;
        for (int b = 0; b <= buckets; b++) {
            cr_assert_eq(offsets[b], 0, "case %zu: bucket %d begins at %lld", k, b, (long long)offsets[b]);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* ---- memory ---- */

static lsp_status sort_and_partition(lsp_ctx *ctx, void *data) {
    enum { N = 300000 };
    uint32_t *keys = data, *out = keys + N, *values = out + N;
    lsp_radix_sort_plan *plan = NULL;
    const lsp_radix_sort_args args = {.n = N,
                                      .key_type = LSP_U32,
                                      .value_bytes = 4,
                                      .keys = keys,
                                      .keys_out = out,
                                      .values_out = values,
                                      .flags = LSP_SORT_POSITIONS};
    lsp_status status = lsp_radix_sort_plan_create(ctx, &args, &plan);
    cr_assert((plan != NULL) == (status == LSP_OK));
    status = status ? status : lsp_radix_sort_execute(plan, &args);
    lsp_radix_sort_plan_destroy(plan);
    if (status == LSP_OK) {
        int64_t *offsets = (int64_t *)(void *)(values + N);
        status = lsp_partition(ctx, &(lsp_partition_args){.n = N,
                                                          .numbers = keys,
                                                          .buckets = 1000,
                                                          .value_bytes = 4,
                                                          .values = values,
                                                          .values_out = out,
                                                          .offsets = offsets,
                                                          .offset_type = LSP_I64});
    }
    return status;
}

Test(radix_sort, failing_allocations_leave_nothing_behind) {
    uint64_t state = 1;
    uint32_t *memory = malloc(4 * 1000000);
    for (int i = 0; i < 300000; i++) {
        memory[i] = (uint32_t)test_random(&state);
    }
    test_failing_memory(2, sort_and_partition, memory);
    free(memory);
}
