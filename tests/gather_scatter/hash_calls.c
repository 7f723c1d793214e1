/* The calls of hash search: what is refused, two contexts, and allocations that fail. */
#include "gather_scatter/hash/hash.h"
#include "places.h"

Test(hash, wrong_arguments_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    uint32_t keys[] = {3, 1, 3}, values[] = {7, 8, 9}, out[8];
    int64_t offsets[4], cursors[3] = {0, -5, INT64_MAX}, total = 0;
    int32_t counts[3];
    lsp_hash *table = NULL;
    lsp_hash_info info;
    const lsp_hash_args good = {.n = 3, .key_type = LSP_U32, .value_bytes = 4, .keys = keys, .values = values};
    lsp_hash_args args;
    cr_assert_eq(lsp_hash_build(NULL, &good, &table), LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_hash_build(ctx, NULL, &table));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_hash_build(ctx, &good, NULL));
#define REFUSED(part, ...)                                                                                             \
    args = good, __VA_ARGS__;                                                                                          \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_hash_build(ctx, &args, &table));                                        \
    cr_assert(table == NULL)
    REFUSED("reserved", args.reserved[7] = 1);
    REFUSED("-1 keys", args.n = -1);
    REFUSED("keys: 0 to", args.n = INT64_C(1) << 40);
    REFUSED("LSP_F64", args.key_type = LSP_F64);
    REFUSED("12 bytes", args.value_bytes = 12);
    REFUSED("flags: 0x2", args.flags = 2);
    REFUSED("load of 1.5", args.load = 1.5);
    REFUSED("load of 0.01", args.load = 0.01);
    REFUSED("nan: 0.05 to 1", args.load = 0.0 / 0.0);
    REFUSED("place 1", args.where = LSP_CUDA);
    REFUSED("keys, 3 of them, are NULL", args.keys = NULL);
    REFUSED("values, 3 items, are NULL", args.values = NULL);
    REFUSED("no multiple", args.keys = (char *)keys + 1);
    REFUSED("value_bytes is 0", args.value_bytes = 0);
    REFUSED("positions of 16 bytes", args.value_bytes = 16, args.flags = LSP_HASH_POSITIONS);
#undef REFUSED
    must(ctx, lsp_hash_build(ctx, &good, &table));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_hash_get_info(table, NULL));
    cr_assert_eq(lsp_hash_get_info(NULL, &info), LSP_ERR_ARGUMENT);
    const lsp_hash_probes fine = {.n = 3,
                                  .keys = keys,
                                  .values = out,
                                  .offsets = offsets,
                                  .capacity = 5,
                                  .cap = 2,
                                  .cursors = cursors,
                                  .counts = counts};
    lsp_hash_probes p;
    cr_assert_eq(lsp_hash_find(NULL, &fine), LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_hash_find(table, NULL));
#define REFUSED(part, search, ...)                                                                                     \
    p = fine, __VA_ARGS__;                                                                                             \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, search)
    REFUSED("reserved", lsp_hash_find(table, &p), p.reserved[0] = 1);
    REFUSED("-1 probes", lsp_hash_find(table, &p), p.n = -1);
    REFUSED("keys, 3 items, are NULL", lsp_hash_find(table, &p), p.keys = NULL);
    REFUSED("values, 3 items, are NULL", lsp_hash_find(table, &p), p.values = NULL);
    REFUSED("keys and the values overlap", lsp_hash_find(table, &p), p.values = keys);
    REFUSED("no multiple", lsp_hash_find(table, &p), p.values = (char *)out + 2);
    REFUSED("offsets, 4 items, are NULL", lsp_hash_count(table, &p), p.offsets = NULL);
    REFUSED("negative", lsp_hash_find_all(table, &p, &total), p.capacity = -1);
    REFUSED("at most 0 values", lsp_hash_find_some(table, &p), p.cap = 0);
    REFUSED("cursors, 3 items, are NULL", lsp_hash_find_some(table, &p), p.cursors = NULL);
    REFUSED("counts, 3 items, are NULL", lsp_hash_find_some(table, &p), p.counts = NULL);
#undef REFUSED
    must_fail(ctx, LSP_ERR_OVERFLOW, "5 matches do not fit an array for 4",
              lsp_hash_find_all(table, (p = fine, p.capacity = 4, &p), &total));
    cr_assert_eq(total, 5);
    must(ctx, lsp_hash_find_all(table, &fine, &total));
    cr_assert(out[0] == 7 && out[1] == 9 && out[2] == 8 && out[3] == 7 && out[4] == 9);
    must(ctx, lsp_hash_find_some(table, &fine)); /* cursors outside are moved inside */
    cr_assert(counts[0] == 2 && counts[1] == 1 && counts[2] == 0 && cursors[2] == 2);
    lsp_ctx_destroy(ctx);
    cr_assert_eq(lsp_hash_find(table, &fine), LSP_ERR_ARGUMENT);
    lsp_hash_destroy(table); /* after its context */
}

TEST_ON_BOTH(hash, tables_of_two_contexts_do_not_meet) {
    lsp_ctx *ctxs[] = {ctx, NULL};
    lsp_hash *tables[2] = {NULL, NULL};
    uint32_t keys[2][64], out[64];
    void *there[2][2];
    cr_assert_eq(lsp_ctx_create(&ctxs[1], &(lsp_ctx_options){.device = ctx->options.device, .threads = 2}, NULL, 0),
                 LSP_OK);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 64; k++) {
            keys[i][k] = (uint32_t)(k * (i + 2));
        }
        there[i][0] = put_there(ctxs[i], keys[i], sizeof keys[i]);
        there[i][1] = put_there(ctxs[i], NULL, sizeof out);
        must(ctxs[i], lsp_hash_build(ctxs[i],
                                     &(lsp_hash_args){.n = 64,
                                                      .key_type = LSP_U32,
                                                      .value_bytes = 4,
                                                      .keys = there[i][0],
                                                      .flags = LSP_HASH_POSITIONS,
                                                      .where = ctx->options.device},
                                     &tables[i]));
    }
    for (int i = 0; i < 2; i++) {
        must(ctxs[i],
             lsp_hash_find(tables[i], &(lsp_hash_probes){.n = 64, .keys = there[i][0], .values = there[i][1]}));
    }
    for (int i = 0; i < 2; i++) {
        uint32_t *back = get_back(ctxs[i], there[i][1], sizeof out);
        for (uint32_t k = 0; k < 64; k++) {
            cr_assert_eq(back[k], k);
        }
        free(back);
        DROP(ctxs[i], there[i][0], there[i][1]);
        lsp_hash_destroy(tables[i]);
    }
    lsp_ctx_destroy(ctxs[1]);
}

static lsp_status build_and_search(lsp_ctx *ctx, void *data) {
    enum { N = 5000 };
    uint64_t *keys = data;
    int64_t *offsets = (int64_t *)data + N, total;
    uint32_t *values = (uint32_t *)(void *)(offsets + N + 1);
    lsp_hash *table = NULL;
    lsp_status status = lsp_hash_build(
        ctx, &(lsp_hash_args){.n = N, .key_type = LSP_U64, .value_bytes = 4, .keys = keys, .flags = LSP_HASH_POSITIONS},
        &table);
    cr_assert((table != NULL) == (status == LSP_OK));
    if (status == LSP_OK) {
        status = lsp_hash_find_all(
            table, &(lsp_hash_probes){.n = N, .keys = keys, .offsets = offsets, .values = values, .capacity = 8 * N},
            &total);
    }
    lsp_hash_destroy(table);
    return status;
}

Test(hash, failing_allocations_leave_nothing_behind) {
    uint64_t *memory = malloc(8 * 50000);
    for (uint64_t i = 0; i < 5000; i++) {
        memory[i] = i / 4;
    }
    test_failing_memory(2, build_and_search, memory);
    free(memory);
}
