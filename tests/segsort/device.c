/* Tests of the segmented sort for a GPU alone: malformed segments that kernels find, scratch, CUDA graphs. Skipped
 * without a GPU. */
#include "cases.h"
#include "core/cuda.h"
#if LSP_HAVE_CUDA && !LSP_EMULATED
#include <cuda_runtime_api.h>
#endif

/* Ten segments of 50 items; a case replaces three of them. */
static layout ten_pairs(void) {
    const int64_t lengths[] = {50, 50, 50, 50, 50, 50, 50, 50, 50, 50};
    return layout_of_pairs("malformed pairs", lengths, 10, 3);
}

/* More overlapping segments than any list can hold: one segment repeated, either a giant or a length that several lanes
 * sort; with many items and with few. */
Test(device_segsort, overlapping_segments_are_told_by_sync_and_write_nowhere_else) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    enum { N = 70000, FEW = 6000, SEGMENTS = 500 };
    uint64_t state = 5;
    for (int kind = 0; kind < 16; kind++) {
        const int64_t n = kind < 8 ? N : FEW, length = (const int64_t[]){n, 5000, 300, 150}[kind % 4];
        int64_t offsets[SEGMENTS], ends[SEGMENTS];
        uint32_t *keys = malloc(N * sizeof *keys), *there[2];
        unsigned char *change = NULL;
        for (int64_t s = 0; s < SEGMENTS; s++) {
            offsets[s] = length == n ? 0 : test_below(&state, 100);
            ends[s] = offsets[s] + length;
        }
        for (int64_t i = 0; i < N; i++) {
            keys[i] = (uint32_t)test_random(&state);
        }
        int64_t *pairs[2];
        must(ctx, lsp_alloc(ctx, LSP_CUDA, N, sizeof *keys, (void **)&there[0]));
        must(ctx, lsp_alloc(ctx, LSP_CUDA, N, sizeof *keys, (void **)&there[1]));
        must(ctx, lsp_alloc(ctx, LSP_CUDA, SEGMENTS, sizeof **pairs, (void **)&pairs[0]));
        must(ctx, lsp_alloc(ctx, LSP_CUDA, SEGMENTS, sizeof **pairs, (void **)&pairs[1]));
        must(ctx, lsp_alloc(ctx, LSP_CUDA, N, 1, (void **)&change));
        must(ctx, lsp_cuda_copy(ctx, there[0], LSP_CUDA, keys, LSP_HOST, N * (int64_t)sizeof *keys));
        must(ctx, lsp_cuda_copy(ctx, pairs[0], LSP_CUDA, offsets, LSP_HOST, sizeof offsets));
        must(ctx, lsp_cuda_copy(ctx, pairs[1], LSP_CUDA, ends, LSP_HOST, sizeof ends));
        lsp_segsort_args args = {.n = n,
                                 .segments = SEGMENTS,
                                 .offsets = pairs[0],
                                 .ends = pairs[1],
                                 .offset_type = LSP_I64,
                                 .key_type = LSP_U32,
                                 .keys = there[0],
                                 .keys_out = there[1],
                                 .change = kind % 8 < 4 ? NULL : change,
                                 .where = LSP_CUDA};
        must(ctx, lsp_segsort(ctx, &args, NULL));
        must_fail(ctx, LSP_ERR_ARGUMENT, "segment ", lsp_ctx_sync(ctx));
        args.segments = 1; /* the context still works */
        must(ctx, lsp_segsort(ctx, &args, NULL));
        must(ctx, lsp_ctx_sync(ctx));
        for (int k = 0; k < 2; k++) {
            lsp_free(ctx, there[k]);
            lsp_free(ctx, pairs[k]);
        }
        lsp_free(ctx, change);
        free(keys);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_segsort, malformed_segments_on_the_gpu_are_told_by_sync_and_the_others_are_sorted) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    uint64_t state = 31;
    const int64_t least = INT64_MIN, most = INT64_MAX;
    layout good = ten_pairs();
    const int64_t bad[][2] = {{-1, 3},
                              {5, 2},
                              {good.n - 1, good.n + 1},
                              {good.n + 1, good.n + 1},
                              {-5, good.n},
                              {0, INT32_MAX},
                              {INT32_MIN, INT32_MAX},
                              {INT32_MAX, INT32_MIN},
                              {least, most},
                              {most, least},
                              {0, most},
                              {most, most}};
    for (int i = 0; i < 12; i++) {
        layout where = ten_pairs(), right = ten_pairs();
        for (int s = 2; s < 9; s += 3) {
            where.offsets[s] = bad[i][0], where.ends[s] = bad[i][1];
            right.offsets[s] = right.ends[s] = 0;
        }
        request what = any_request(&state);
        what.fill = FILL_RANDOM, what.narrow = what.narrow && i < 8, what.max_length = i % 2 ? 50 : 0;
        started it = start_case(ctx, &where, &right, &what);
        must_fail(ctx, LSP_ERR_ARGUMENT, "segment ", lsp_ctx_sync(ctx));
        must(ctx, lsp_ctx_sync(ctx)); /* the error is reported once only */
        finish_case(&it);
        layout_free(&where), layout_free(&right);
    }
    layout_free(&good);
    /* offsets that leave the array and come back; a segment longer than max_length */
    int64_t wild[] = {0, 100, most, -3, 200, 260, 1000}, begins[] = {0, 0, 0, 0, 200, 260},
            ends[] = {100, 0, 0, 0, 260, 260};
    layout where = {.name = "wild offsets", .n = 1000, .segments = 6, .offsets = wild};
    layout right = {.name = "wild offsets", .n = 1000, .segments = 6, .offsets = begins, .ends = ends};
    for (int round = 0; round < 6; round++) {
        request what = any_request(&state);
        what.fill = FILL_RANDOM, what.narrow = false, what.max_length = 100;
        started it = start_case(ctx, &where, &right, &what);
        must_fail(ctx, LSP_ERR_ARGUMENT, "segment ", lsp_ctx_sync(ctx));
        finish_case(&it);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_segsort, host_arrays_in_a_gpu_context_are_sorted_by_the_cpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    uint32_t keys[] = {3, 1, 2};
    lsp_segsort_args args = {.n = 3, .segments = 1, .length = 3, .key_type = LSP_U32, .keys = keys, .keys_out = keys};
    must(ctx, lsp_segsort(ctx, &args, NULL));
    cr_assert(keys[0] == 1 && keys[1] == 2 && keys[2] == 3);
    lsp_ctx_destroy(ctx);
}

Test(device_segsort, tables_are_kept_or_refused) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_segsort_table shipped, table, kept;
    must(ctx, lsp_segsort_get_table(ctx, &shipped));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_segsort_get_table(ctx, NULL));
    table = shipped, table.small_items = LSP_SORT_SMALL_ITEMS + 1;
    must_fail(ctx, LSP_ERR_ARGUMENT, "small_items is 65537", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.few_items = -1;
    must_fail(ctx, LSP_ERR_ARGUMENT, "few_items is -1", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.select_first = LSP_SORT_SELECT_FIRST + 1;
    must_fail(ctx, LSP_ERR_ARGUMENT, "select_first is 2049: 0 to 2048", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.select_shortest = 8193;
    must_fail(ctx, LSP_ERR_ARGUMENT, "select_shortest is 8193: 64 to 8192", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.tile_longest = 65;
    must_fail(ctx, LSP_ERR_ARGUMENT, "tile_longest is 65", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.tile_longest = 0;
    must_fail(ctx, LSP_ERR_ARGUMENT, "tile_longest is 0", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.class_longest[3] = 65;
    must_fail(ctx, LSP_ERR_ARGUMENT, "class_longest[3] is 65", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.class_longest[7] = 3;
    must_fail(ctx, LSP_ERR_ARGUMENT, "class_longest[7] is 3", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.class_longest[6] = 112;
    must_fail(ctx, LSP_ERR_ARGUMENT, "class_longest[6] is 112: 96 to 96", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.class_longest[LSP_SORT_CLASSES - 1] = 16383;
    must_fail(ctx, LSP_ERR_ARGUMENT, "class_longest[35] is 16383", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.class_longest[31] = table.class_longest[32] = 8191;
    must_fail(ctx, LSP_ERR_ARGUMENT, "class_longest[31] is 8191", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.class_longest[33] = table.class_longest[32], table.class_longest[34] = 12288;
    must_fail(ctx, LSP_ERR_ARGUMENT, "class_longest[34] is 12288", lsp_segsort_set_table(ctx, &table));
    table = shipped, table.small_items = 100, table.class_longest[19] = table.class_longest[18];
    must(ctx, lsp_segsort_set_table(ctx, &table));
    must(ctx, lsp_segsort_get_table(ctx, &kept));
    cr_assert(memcmp(&table, &kept, sizeof kept) == 0);
    must(ctx, lsp_segsort_set_table(ctx, NULL));
    must(ctx, lsp_segsort_get_table(ctx, &kept));
    cr_assert(memcmp(&shipped, &kept, sizeof kept) == 0);
    lsp_ctx_destroy(ctx);
}

Test(device_segsort, a_plan_whose_table_was_changed_is_refused_if_its_scratch_is_too_small) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    layout where = layout_of_length("one length", 10000, 100);
    request what = {.key_type = LSP_U32};
    arrays input = make_arrays(&where, &what), ours = copy_arrays(ctx, &input, LSP_CUDA);
    lsp_segsort_args args = arguments(&where, &what, &ours);
    lsp_segsort_plan *plan = NULL;
    lsp_segsort_table table;
    must(ctx, lsp_segsort_get_table(ctx, &table));
    must(ctx, lsp_segsort_plan_create(ctx, &args, &plan));
    table.small_items = table.few_items = 0, table.tile_longest = 1;
    for (int c = 0; c < LSP_SORT_CLASSES - 1; c++) {
        table.class_longest[c] = lsp_segsort_class_most(c);
    }
    must(ctx, lsp_segsort_set_table(ctx, &table));
    must_fail(ctx, LSP_ERR_ARGUMENT, "scratch", lsp_segsort_execute(plan, &args));
    must(ctx, lsp_segsort_set_table(ctx, NULL));
    must(ctx, lsp_segsort_execute(plan, &args));
    must(ctx, lsp_ctx_sync(ctx));
    lsp_segsort_plan_destroy(plan);
    free_arrays(ctx, &input), free_arrays(ctx, &ours);
    lsp_ctx_destroy(ctx);
}

Test(device_segsort, scratch_on_the_gpu_is_small_beside_the_data_without_giants_and_obeys_the_budget) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    layout where = layout_of_length("one length", 1 << 20, 1000);
    request what = {.key_type = LSP_U32, .value_bytes = 4, .planned = true};
    started it = start_case(ctx, &where, NULL, &what);
    lsp_segsort_info info;
    must(ctx, lsp_ctx_sync(ctx));
    must(ctx, lsp_segsort_plan_get_info(it.plan, &info));
    cr_assert(info.scratch_bytes < where.n, "%lld bytes of scratch for %lld pairs", (long long)info.scratch_bytes,
              (long long)where.n);
    finish_case(&it);
    where.length = where.n, where.segments = 1;
    arrays input = make_arrays(&where, &what), ours = copy_arrays(ctx, &input, LSP_CUDA);
    lsp_segsort_args args = arguments(&where, &what, &ours);
    lsp_segsort_plan *plan = NULL;
    must(ctx, lsp_ctx_set_max_bytes(ctx, 20 << 20)); /* the arrays take 16 MiB of it */
    must(ctx, lsp_ctx_trim(ctx));
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_segsort_plan_create(ctx, &args, &plan));
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_segsort(ctx, &args, NULL));
    free_arrays(ctx, &input), free_arrays(ctx, &ours);
    lsp_ctx_destroy(ctx);
}

#if LSP_HAVE_CUDA && !LSP_EMULATED
/* Overwrites arrays on a GPU. */
static void reload(lsp_ctx *ctx, const arrays *there, const arrays *from) {
    for (int i = 0; i < PARTS; i++) {
        must(ctx, lsp_cuda_copy(ctx, there->parts[i].memory, LSP_CUDA, from->parts[i].memory, LSP_HOST,
                                part_bytes(from, i)));
    }
}

#define must_cuda(call) cr_assert((call) == cudaSuccess, "%s", #call)

Test(device_segsort, a_sort_in_a_graph_is_replayed_on_changed_keys_and_offsets) {
    lsp_ctx_destroy(test_gpu_ctx_or_skip());
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    lsp_ctx *ctx = NULL;
    must_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cr_assert_eq(lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .stream = stream}, NULL, 0), LSP_OK);
    int64_t lengths[2000], giants[] = {60000, 100000};
    uint64_t state = 41;
    for (int kind = 0; kind < 4; kind++) {
        request what = any_request(&state);
        what.planned = false, what.narrow = true, what.max_length = 100000, what.changes = kind > 1, what.seed = 4;
        arrays ours = {0};
        lsp_segsort_plan *plan = NULL;
        for (int replay = 0; replay < 3; replay++) {
            for (int s = 0; s < 2000; s++) {
                lengths[s] = test_below(&state, 60);
            }
            lengths[replay * 700] = giants[kind % 2];
            layout where = layout_of("graph", lengths, 2000);
            where.n = 2000 * 60 + 100000;
            what.fill = (key_fill)test_below(&state, FILL_KINDS), what.seed += 4;
            arrays input = make_arrays(&where, &what), right = copy_arrays(ctx, &input, LSP_HOST);
            lsp_segsort_args args = arguments(&where, &what, &right);
            must(ctx, lsp_segsort_ref(ctx, &args));
            if (replay == 0) {
                ours = copy_arrays(ctx, &input, LSP_CUDA);
                args = arguments(&where, &what, &ours);
                must(ctx, lsp_segsort_plan_create(ctx, &args, &plan));
                must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
                must(ctx, lsp_segsort_execute(plan, &args));
                must_fail(ctx, LSP_ERR_ARGUMENT, "plan", lsp_segsort(ctx, &args, NULL));
                must_cuda(cudaStreamEndCapture(stream, &graph));
                must_cuda(cudaGraphInstantiateWithFlags(&run, graph, 0));
            } else {
                reload(ctx, &ours, &input);
            }
            must_cuda(cudaGraphLaunch(run, stream));
            must(ctx, lsp_ctx_sync(ctx));
            arrays back = copy_arrays(ctx, &ours, LSP_HOST);
            must_equal(ctx, &where, &what, &right, &back);
            free_arrays(ctx, &input), free_arrays(ctx, &right), free_arrays(ctx, &back);
            layout_free(&where);
        }
        must_cuda(cudaGraphExecDestroy(run));
        must_cuda(cudaGraphDestroy(graph));
        lsp_segsort_plan_destroy(plan);
        free_arrays(ctx, &ours);
    }
    lsp_ctx_destroy(ctx);
    must_cuda(cudaStreamDestroy(stream));
}
#endif

/* Segments of every kind of kernel, behind 2^31 items that no segment holds. */
Test(device_segsort, segments_that_begin_beyond_2_31_items_are_sorted) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    enum { SEGMENTS = 6, TAIL = 1 << 13 };
    static const int64_t lengths[SEGMENTS] = {3, 20, 100, 333, 1300, 5000}, skipped = (int64_t)1 << 31;
    int64_t begins[2][SEGMENTS], ends[2][SEGMENTS], *offsets_there, *ends_there; /* of the tail; of the whole array */
    uint32_t keys[TAIL], sorted[TAIL], *all;
    uint64_t state = 7;
    for (int64_t s = 0, at = 5; s < SEGMENTS; s++, at += lengths[s - 1]) {
        begins[0][s] = at, begins[1][s] = skipped + at;
        ends[0][s] = at + lengths[s], ends[1][s] = skipped + at + lengths[s];
    }
    for (int i = 0; i < TAIL; i++) {
        keys[i] = (uint32_t)test_random(&state);
    }
    if (lsp_alloc(ctx, LSP_CUDA, skipped + TAIL, sizeof *all, (void **)&all) != LSP_OK) {
        cr_skip("the GPU has no 8 GiB left");
    }
    must(ctx, lsp_alloc(ctx, LSP_CUDA, SEGMENTS, sizeof *begins[0], (void **)&offsets_there));
    must(ctx, lsp_alloc(ctx, LSP_CUDA, SEGMENTS, sizeof *ends[0], (void **)&ends_there));
    must(ctx, lsp_cuda_copy(ctx, all + skipped, LSP_CUDA, keys, LSP_HOST, sizeof keys));
    must(ctx, lsp_cuda_copy(ctx, offsets_there, LSP_CUDA, begins[1], LSP_HOST, sizeof begins[1]));
    must(ctx, lsp_cuda_copy(ctx, ends_there, LSP_CUDA, ends[1], LSP_HOST, sizeof ends[1]));
    lsp_segsort_args args = {.n = skipped + TAIL,
                             .segments = SEGMENTS,
                             .offsets = offsets_there,
                             .ends = ends_there,
                             .offset_type = LSP_I64,
                             .key_type = LSP_U32,
                             .keys = all,
                             .keys_out = all,
                             .where = LSP_CUDA};
    must(ctx, lsp_segsort(ctx, &args, NULL));
    must(ctx, lsp_cuda_copy(ctx, sorted, LSP_HOST, all + skipped, LSP_CUDA, sizeof sorted));
    args.n = TAIL, args.offsets = begins[0], args.ends = ends[0];
    args.keys = args.keys_out = keys, args.where = LSP_HOST;
    must(ctx, lsp_segsort_ref(ctx, &args));
    cr_assert(memcmp(keys, sorted, sizeof keys) == 0);
    lsp_free(ctx, all);
    lsp_free(ctx, offsets_there);
    lsp_free(ctx, ends_there);
    lsp_ctx_destroy(ctx);
}
