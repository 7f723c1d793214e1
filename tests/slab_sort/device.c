/* The sort of a whole array on a GPU alone: buckets without room, tables, budgets, CUDA graphs. Skipped without one. */
#include "cases.h"
#include "tests/failing.h"

/* With one sample for each bucket, many buckets are too long for their blocks and are split again. Without limits the
 * last shape sorts all, which has two buckets a block for integers alone. */
Test(device_slab_sort, buckets_without_room_are_split_again) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_sort_table table;
    must(ctx, lsp_sort_get_table(ctx, &table));
    for (int s = 0; s < LSP_SORT_SHAPES; s++) {
        table.samples[s] = 1;
    }
    const int64_t lengths[] = {5000, 8192, 60000, 1 << 16, 130000, 1 << 18, 1 << 20, 1 << 21};
    for (int last = 0; last < 2; last++) {
        must(ctx, lsp_sort_set_table(ctx, &table));
        for (int l = 0; l < (is_slow(ctx) ? 2 : 7 + last); l++) {
            const bool direct = lengths[l] > 1 << 20;
            for (int k = 0; k < 36; k += 1 + l / 2 + is_slow(ctx)) {
                check_sort(ctx, (sort_case){.n = lengths[l],
                                            .key_type = direct ? LSP_U32 : key_types[k % KEY_TYPES],
                                            .value_bytes = direct ? 0 : value_sizes[k / KEY_TYPES % 2],
                                            .fill = k * 5 % SORT_FILLS,
                                            .flags = k % 4 == 1 ? LSP_SORT_DESCENDING : 0,
                                            .method = LSP_SORT_SPLIT,
                                            .in_place = k % 2});
            }
        }
        memset(table.shape_longest, 0, sizeof table.shape_longest);
    }
    table.samples[LSP_SORT_SHAPES - 1] = 16;
    must(ctx, lsp_sort_set_table(ctx, &table));
    for (int k = 0; k < SORT_FILLS; k++) {
        check_sort(ctx, (sort_case){.n = is_slow(ctx) ? 9000 + k : (1 << 21) - k,
                                    .key_type = k % 2 ? LSP_U32 : LSP_I32,
                                    .fill = k,
                                    .flags = k % 3 == 1 ? LSP_SORT_DESCENDING : 0,
                                    .method = LSP_SORT_SPLIT});
    }
    lsp_ctx_destroy(ctx);
}

/* The sample sees only large keys: places of samples are fixed, so an input can hide from them. */
Test(device_slab_sort, an_input_that_hides_from_the_sample_is_sorted) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    enum { N = 1 << 14 };
    uint32_t *keys = malloc(N * sizeof *keys), *values = malloc(N * sizeof *values);
    lsp_sort_table table;
    must(ctx, lsp_sort_get_table(ctx, &table));
    for (int s = 0; s < LSP_SORT_SHAPES; s++) {
        table.samples[s] = 1;
    }
    must(ctx, lsp_sort_set_table(ctx, &table));
    const int samples = lsp_sort_cut_of(ctx, N, false).samples;
    for (int i = 0; i < N; i++) {
        keys[i] = (uint32_t)(i * 7919 % 5000), values[i] = (uint32_t)i;
    }
    for (int s = 0; s < samples; s++) { /* as split_sample_at */
        uint32_t x = (uint32_t)s;
        x = (x ^ x >> 16) * 0x7feb352du, x = (x ^ x >> 15) * 0x846ca68bu, x ^= x >> 16;
        const int from = (int)((int64_t)N * s / samples), to = (int)((int64_t)N * (s + 1) / samples);
        keys[from + (int)((uint64_t)x * (uint32_t)(to - from) >> 32)] = UINT32_MAX;
    }
    for (int pairs = 0; pairs < 2; pairs++) {
        uint32_t *there = put_there(ctx, keys, N * 4), *values_there = put_there(ctx, values, N * 4);
        must(ctx, lsp_sort(ctx,
                           &(lsp_sort_args){.n = N,
                                            .key_type = LSP_U32,
                                            .value_bytes = pairs ? 4 : 0,
                                            .keys = there,
                                            .keys_out = there,
                                            .values = pairs ? values_there : NULL,
                                            .values_out = pairs ? values_there : NULL,
                                            .method = LSP_SORT_SPLIT,
                                            .where = LSP_CUDA},
                           NULL));
        uint32_t *sorted = get_back(ctx, there, N * 4), *moved = get_back(ctx, values_there, N * 4);
        for (int i = 1; i < N; i++) {
            cr_assert(sorted[i - 1] <= sorted[i], "key %d", i);
            cr_assert(!pairs || sorted[i - 1] < sorted[i] || moved[i - 1] < moved[i], "value %d", i);
        }
        for (int i = 0; pairs && i < N; i++) {
            cr_assert_eq(keys[moved[i]], sorted[i], "item %d", i);
        }
        free(sorted), free(moved);
        DROP(ctx, there, values_there);
    }
    free(keys), free(values);
    lsp_ctx_destroy(ctx);
}

/* Lengths around tiles and their powers of two; floats have NaNs of one kind, whose order is that of lsp_segsort. The
 * budget has room for the keys alone. */
Test(device_slab_sort, slabs_are_sorted_and_merged_without_scratch) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const int fills[] = {FILL_RANDOM, FILL_16_DISTINCT, FILL_SORTED, FILL_REVERSED, FILL_EQUAL, FILL_TIES};
    static const int64_t lengths[] = {4096, 4097, 8192, 8193, 12289, 16384, 40001, 65536, 131073, 262144, 1000000};
    int number = 0;
    for (int l = 0; l < (is_slow(ctx) ? 7 : 11); l++) {
        for (int t = 0; t < KEY_TYPES; t += 1 + is_slow(ctx)) {
            const bool is_float = key_types[t] == LSP_F32 || key_types[t] == LSP_F64;
            check_sort(ctx, (sort_case){.n = lengths[l],
                                        .key_type = key_types[t],
                                        .fill = fills[is_float ? 1 + number % 3 : number % 6],
                                        .flags = number % 3 == 1 ? LSP_SORT_DESCENDING : 0,
                                        .method = LSP_SORT_SLAB,
                                        .planned = number % 4 == 3,
                                        .changes = number % 2,
                                        .in_place = number % 5 != 0});
            number++;
        }
    }
    enum { N = 30000 };
    lsp_sort_info info;
    uint32_t *keys = put_there(ctx, NULL, N * 4);
    lsp_sort_args args = {
        .n = N, .key_type = LSP_U32, .keys = keys, .keys_out = keys, .method = LSP_SORT_SLAB, .where = LSP_CUDA};
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_set_max_bytes(ctx, N * 4 + 100));
    must(ctx, lsp_sort(ctx, &args, &info));
    cr_assert_eq(info.scratch_bytes, 0);
    args.n = N / 3, args.value_bytes = 4, args.values = args.values_out = keys + N / 2;
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "slab takes at most 0", lsp_sort(ctx, &args, &info));
    DROP(ctx, keys);
    lsp_ctx_destroy(ctx);
}

Test(device_slab_sort, methods_are_chosen_by_the_table_or_refused) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_sort_table shipped, table, kept;
    lsp_sort_info info;
    must(ctx, lsp_sort_get_table(ctx, &shipped));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_sort_get_table(ctx, NULL));
#define REFUSED(part, ...)                                                                                             \
    table = shipped, __VA_ARGS__;                                                                                      \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_sort_set_table(ctx, &table))
    REFUSED("ranks_longest[1] is 4097", table.ranks_longest[1] = 4097);
    REFUSED("split_longest[0] -1", table.split_longest[0] = -1);
    REFUSED("shape_longest[2] is 3", table.shape_longest[2] = 3);
    REFUSED("samples[4] is 3", table.samples[4] = 3);
    REFUSED("samples[0] is 64", table.samples[0] = 64);
#undef REFUSED
    uint32_t *keys = put_there(ctx, NULL, 4 << 14);
    lsp_sort_args args = {.n = 1000, .key_type = LSP_U32, .keys = keys, .keys_out = keys, .where = LSP_CUDA};
    must(ctx, lsp_sort(ctx, &args, &info));
    cr_assert(info.method == LSP_SORT_RANKS && info.scratch_bytes == 0);
    args.n = 1 << 14;
    must(ctx, lsp_sort(ctx, &args, &info));
    cr_assert(info.method == LSP_SORT_SPLIT && info.scratch_bytes > 4 << 14);
    lsp_sort_plan *plan = NULL;
    args.n = 1000;
    must(ctx, lsp_sort_plan_create(ctx, &args, &plan));
    table = shipped, table.ranks_longest[0] = table.split_longest[0] = 0;
    must(ctx, lsp_sort_set_table(ctx, &table));
    must(ctx, lsp_sort_get_table(ctx, &kept));
    cr_assert(memcmp(&table, &kept, sizeof kept) == 0);
    must(ctx, lsp_sort(ctx, &args, &info));
    cr_assert_eq(info.method, LSP_SORT_RADIX);
    must(ctx, lsp_sort_execute(plan, &args)); /* still by ranks */
    lsp_sort_plan_destroy(plan);
    lsp_sort_args places = args;
    places.value_bytes = 4, places.flags = LSP_SORT_POSITIONS, places.method = LSP_SORT_RADIX;
    places.keys_out = NULL, places.values_out = keys + args.n;
    must(ctx, lsp_sort(ctx, &places, &info));
    const int64_t taken = info.scratch_bytes;
    must(ctx, lsp_sort_plan_create(ctx, &places, &plan));
    must(ctx, lsp_sort_plan_get_info(plan, &info));
    cr_assert(info.method == LSP_SORT_RADIX && taken >= 4 * args.n && info.scratch_bytes == taken);
    must(ctx, lsp_sort_execute(plan, &places));
    lsp_sort_plan_destroy(plan);
    must(ctx, lsp_sort_set_table(ctx, NULL));
    must(ctx, lsp_sort_get_table(ctx, &kept));
    cr_assert(memcmp(&shipped, &kept, sizeof kept) == 0);
    args.n = LSP_SORT_RANKS_MOST + 1, args.method = LSP_SORT_RANKS;
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "ranks takes at most", lsp_sort(ctx, &args, &info));
    args.n = INT64_C(1) << 31, args.method = LSP_SORT_SPLIT;
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "split takes at most", lsp_sort_plan_create(ctx, &args, &plan));
    must(ctx, lsp_ctx_sync(ctx));
    DROP(ctx, keys);
    lsp_ctx_destroy(ctx);
}

enum { N = 10000 };

static lsp_status sort_twice(lsp_ctx *ctx, void *data) {
    lsp_sort_plan *plan = NULL;
    void *keys = NULL;
    lsp_status status = lsp_alloc(ctx, LSP_CUDA, N, 8, &keys);
    const lsp_sort_args args = {.n = N,
                                .key_type = LSP_U64,
                                .keys = keys,
                                .keys_out = keys,
                                .method = *(const lsp_sort_method *)data,
                                .where = LSP_CUDA};
    status = status ? status : lsp_sort(ctx, &args, NULL);
    status = status ? status : lsp_sort_plan_create(ctx, &args, &plan);
    cr_assert((plan != NULL) == (status == LSP_OK));
    status = status ? status : lsp_sort_execute(plan, &args);
    lsp_sort_plan_destroy(plan);
    return status;
}

/* A plan whose allocations fail one after another leaves nothing behind, and a budget is kept. */
Test(device_slab_sort, failing_allocations_and_budgets) {
    lsp_sort_method methods[] = {LSP_SORT_SPLIT, LSP_SORT_RADIX};
    test_failing_gpu(0, 1, sort_twice, &methods[0]);
    test_failing_gpu(0, 1, sort_twice, &methods[1]);
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    uint64_t *keys = put_there(ctx, NULL, N * 8);
    const lsp_sort_args args = {
        .n = N, .key_type = LSP_U64, .keys = keys, .keys_out = keys, .method = LSP_SORT_SPLIT, .where = LSP_CUDA};
    lsp_sort_plan *plan = NULL;
    must(ctx, lsp_ctx_set_max_bytes(ctx, N * 8 + 1000));
    must(ctx, lsp_ctx_trim(ctx));
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_sort(ctx, &args, NULL));
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_sort_plan_create(ctx, &args, &plan));
    cr_assert(plan == NULL);
    lsp_ctx_destroy(ctx);
}

#if LSP_HAVE_CUDA && !LSP_EMULATED
#define must_cuda(call) cr_assert((call) == cudaSuccess, "%s", #call)

/* Sorts of several lengths in one graph, on branches that run at the same time, replayed. */
Test(device_slab_sort, sorts_of_several_lengths_run_in_one_graph) {
    lsp_ctx_destroy(test_gpu_ctx_or_skip());
    enum { SORTS = 6, BRANCHES = 3 };
    static const int64_t lengths[SORTS] = {3000, 9000, 40000, 100000, 200000, 2000000};
    cudaStream_t stream[BRANCHES];
    cudaEvent_t forked, joined[BRANCHES];
    lsp_ctx *ctx[BRANCHES] = {NULL};
    lsp_sort_plan *plan[SORTS];
    uint32_t *keys[SORTS], *there[SORTS], *out[SORTS];
    uint64_t state = 3;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    must_cuda(cudaEventCreate(&forked));
    for (int b = 0; b < BRANCHES; b++) {
        must_cuda(cudaStreamCreateWithFlags(&stream[b], cudaStreamNonBlocking));
        must_cuda(cudaEventCreate(&joined[b]));
        cr_assert_eq(lsp_ctx_create(&ctx[b], &(lsp_ctx_options){.device = LSP_CUDA, .stream = stream[b]}, NULL, 0),
                     LSP_OK);
    }
    for (int s = 0; s < SORTS; s++) {
        keys[s] = malloc((size_t)lengths[s] * 4);
        for (int64_t i = 0; i < lengths[s]; i++) {
            keys[s][i] = (uint32_t)test_random(&state);
        }
        there[s] = put_there(ctx[s % BRANCHES], keys[s], lengths[s] * 4);
        out[s] = put_there(ctx[s % BRANCHES], NULL, lengths[s] * 4);
        const lsp_sort_args args = {
            .n = lengths[s], .key_type = LSP_U32, .keys = there[s], .keys_out = out[s], .where = LSP_CUDA};
        must(ctx[s % BRANCHES], lsp_sort_plan_create(ctx[s % BRANCHES], &args, &plan[s]));
    }
    must_cuda(cudaDeviceSynchronize());
    must_cuda(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal));
    must_cuda(cudaEventRecord(forked, stream[0]));
    for (int s = 0; s < SORTS; s++) {
        const int b = s % BRANCHES;
        const lsp_sort_args args = {
            .n = lengths[s], .key_type = LSP_U32, .keys = there[s], .keys_out = out[s], .where = LSP_CUDA};
        if (s > 0 && s < BRANCHES) {
            must_cuda(cudaStreamWaitEvent(stream[b], forked, 0));
        }
        must(ctx[b], lsp_sort_execute(plan[s], &args));
        must_fail(ctx[b], LSP_ERR_ARGUMENT, "plan", lsp_sort(ctx[b], &args, NULL));
    }
    for (int b = 1; b < BRANCHES; b++) {
        must_cuda(cudaEventRecord(joined[b], stream[b]));
        must_cuda(cudaStreamWaitEvent(stream[0], joined[b], 0));
    }
    must_cuda(cudaStreamEndCapture(stream[0], &graph));
    must_cuda(cudaGraphInstantiateWithFlags(&run, graph, 0));
    for (int replay = 0; replay < 20; replay++) {
        must_cuda(cudaGraphLaunch(run, stream[0]));
    }
    must_cuda(cudaStreamSynchronize(stream[0]));
    for (int s = 0; s < SORTS; s++) {
        uint32_t *sorted = get_back(ctx[s % BRANCHES], out[s], lengths[s] * 4), *right = malloc((size_t)lengths[s] * 4);
        const lsp_sort_args args = {.n = lengths[s], .key_type = LSP_U32, .keys = keys[s], .keys_out = right};
        sort_by_reference(ctx[0], &args);
        cr_assert(memcmp(right, sorted, (size_t)lengths[s] * 4) == 0, "%lld items", (long long)lengths[s]);
        free(sorted), free(right), free(keys[s]);
        lsp_sort_plan_destroy(plan[s]);
        DROP(ctx[s % BRANCHES], there[s], out[s]);
    }
    must_cuda(cudaGraphExecDestroy(run));
    must_cuda(cudaGraphDestroy(graph));
    for (int b = 0; b < BRANCHES; b++) {
        lsp_ctx_destroy(ctx[b]);
        must_cuda(cudaEventDestroy(joined[b]));
        must_cuda(cudaStreamDestroy(stream[b]));
    }
    must_cuda(cudaEventDestroy(forked));
}
#endif
