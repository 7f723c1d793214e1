/* The arguments of suffix arrays: what is refused and with which sentence; budgets and allocations that fail. */
#include "cases.h"
#include "tests/failing.h"

Test(suffix_array_calls, malformed_arguments_are_refused_and_nothing_is_written) {
    lsp_ctx *ctx = test_ctx(1);
    const int64_t good_starts[] = {0, 3, 8};
    int64_t starts[3], primary = 9, first[2] = {9, 9}, count[2] = {9, 9};
    int32_t array[8], out[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    lsp_text text = {.n = 8, .symbol_bytes = 1, .symbols = "abcdabcd"}, t;
    must(ctx, lsp_suffix_array(ctx, &text, NULL, LSP_I32, array, NULL));
    cr_assert(lsp_suffix_array(NULL, &text, NULL, LSP_I32, out, NULL) == LSP_ERR_ARGUMENT);
#define REFUSED(part, ...)                                                                                             \
    t = text, memcpy(starts, good_starts, sizeof starts), __VA_ARGS__;                                                 \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_suffix_array(ctx, &t, NULL, LSP_I32, out, NULL));                       \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_suffix_check(ctx, &t, LSP_I32, array));                                 \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_suffix_lcp(ctx, &t, LSP_I32, array, out));                              \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_suffix_bwt(ctx, &t, LSP_I32, array, out, &primary));                    \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_suffix_search(ctx, &t, LSP_I32, array, &t, first, count))
    REFUSED("symbols of 3 bytes", t.symbol_bytes = 3);
    REFUSED("-1 symbols", t.n = -1);
    REFUSED("symbols", t.n = INT64_MAX);
    REFUSED("symbols of the text are NULL", t.symbols = NULL);
    REFUSED("no multiple of 4", t.symbol_bytes = 4, t.n = 1, t.symbols = (const char *)array + 1);
    REFUSED("place 7", t.where = (lsp_where)7);
    REFUSED("lies on a GPU", t.where = LSP_CUDA);
    REFUSED("-2 strings", t.strings = -2);
    REFUSED("starts of the text are NULL", t.strings = 2);
    REFUSED("string 0 of the text starts at symbol 1", t.strings = 2, t.starts = starts, starts[0] = 1);
    REFUSED("string 2 of the text starts at symbol 2", t.strings = 2, t.starts = starts, starts[2] = 2);
    REFUSED("string 1 of the text starts at symbol 9", t.strings = 2, t.starts = starts, starts[1] = 9);
    REFUSED("ends at symbol 7, but there are 8", t.strings = 2, t.starts = starts, starts[2] = 7);
#undef REFUSED
    const lsp_suffix_options unknown = {.method = (lsp_suffix_method)3}, reserved = {.reserved = {1}};
    const lsp_suffix_options induced = {.method = LSP_SUFFIX_INDUCED};
    must_fail(ctx, LSP_ERR_ARGUMENT, "method 3", lsp_suffix_array(ctx, &text, &unknown, LSP_I32, out, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "reserved", lsp_suffix_array(ctx, &text, &reserved, LSP_I32, out, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "LSP_F32", lsp_suffix_array(ctx, &text, NULL, LSP_F32, out, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "is NULL", lsp_suffix_array(ctx, NULL, NULL, LSP_I32, out, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "array is NULL", lsp_suffix_array(ctx, &text, NULL, LSP_I32, NULL, NULL));
    t = text, t.n = (int64_t)INT32_MAX + 1;
    must_fail(ctx, LSP_ERR_OVERFLOW, "2147483648 suffixes", lsp_suffix_array(ctx, &t, NULL, LSP_I32, out, NULL));
    t = text, t.strings = 2, t.starts = good_starts;
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "set of 2 strings", lsp_suffix_array(ctx, &t, &induced, LSP_I32, out, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "set of strings is needed",
              lsp_suffix_search(ctx, &text, LSP_I32, array, &text, first, count));
    must_fail(ctx, LSP_ERR_ARGUMENT, "first suffixes is NULL",
              lsp_suffix_search(ctx, &text, LSP_I32, array, &t, NULL, count));
    must_fail(ctx, LSP_ERR_ARGUMENT, "ranks is NULL", lsp_suffix_inverse(ctx, 8, LSP_I32, array, LSP_HOST, NULL));
    array[5] = array[2];
    must_fail(ctx, LSP_ERR_ARGUMENT, "stands twice", lsp_suffix_inverse(ctx, 8, LSP_I32, array, LSP_HOST, out));
    array[5] = 8;
    must_fail(ctx, LSP_ERR_ARGUMENT, "place 5 of the suffix array holds 8",
              lsp_suffix_inverse(ctx, 8, LSP_I32, array, LSP_HOST, out));
    must_fail(ctx, LSP_ERR_ARGUMENT, "holds 8", lsp_suffix_lcp(ctx, &text, LSP_I32, array, out));
    must_fail(ctx, LSP_ERR_ARGUMENT, "holds 8", lsp_suffix_bwt(ctx, &text, LSP_I32, array, out, &primary));
    must_fail(ctx, LSP_ERR_ARGUMENT, "holds 8", lsp_suffix_search(ctx, &text, LSP_I32, array, &t, first, count));
    for (int i = 0; i < 8; i++) {
        cr_assert(out[i] == 9 && primary == 9 && first[i % 2] == 9 && count[i % 2] == 9);
    }
    cr_assert(strcmp(lsp_suffix_method_name(LSP_SUFFIX_INDUCED), "induced") == 0);
    cr_assert(strcmp(lsp_suffix_method_name((lsp_suffix_method)9), "?") == 0);
    lsp_ctx_destroy(ctx);
}

/* Any array of numbers in range is answered without a read out of bounds, whatever the answer. */
Test(suffix_array_calls, an_array_that_is_wrong_harms_nobody) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_text text = make_text(WORDS, 200, 1, 9, 1), patterns = make_text(WORDS, 60, 1, 12, 2);
    int32_t array[200], out[200];
    int64_t first[12], count[12], primary;
    char bwt[200];
    uint64_t state = 3;
    for (int round = 0; round < 50; round++) {
        for (int r = 0; r < 200; r++) {
            array[r] = (int32_t)test_below(&state, 200);
        }
        must(ctx, lsp_suffix_lcp(ctx, &text, LSP_I32, array, out));
        must(ctx, lsp_suffix_search(ctx, &text, LSP_I32, array, &patterns, first, count));
        text.strings = 0;
        (void)lsp_suffix_bwt(ctx, &text, LSP_I32, array, bwt, &primary);
        text.strings = 9;
    }
    free_text(&text);
    free_text(&patterns);
    lsp_ctx_destroy(ctx);
}

typedef struct call {
    lsp_text text;
    lsp_suffix_method method;
    int verb;
} call;

static lsp_status call_it(lsp_ctx *ctx, void *data) {
    const call *c = data;
    const int64_t n = c->text.n;
    const lsp_suffix_options options = {.method = c->method};
    int32_t *array = malloc((size_t)n * sizeof *array), *out = malloc((size_t)n * sizeof *out);
    int64_t primary = 1;
    lsp_status status = LSP_OK;
    for (int64_t i = 0; i < n; i++) {
        array[i] = (int32_t)i;
        out[i] = -5;
    }
    if (c->verb == 0) {
        status = lsp_suffix_array(ctx, &c->text, &options, LSP_I32, out, NULL);
    } else if (c->verb == 1) {
        status = lsp_suffix_inverse(ctx, n, LSP_I32, array, LSP_HOST, out);
    } else if (c->verb == 2) {
        status = lsp_suffix_lcp(ctx, &c->text, LSP_I32, array, out);
    } else if (c->verb == 3) {
        status = lsp_suffix_check(ctx, &c->text, LSP_I32, array);
        status = status == LSP_ERR_FORMAT ? LSP_OK : status;
    } else {
        status = lsp_suffix_unbwt(ctx, n, 1, c->text.symbols, primary, LSP_HOST, out);
        status = status == LSP_ERR_FORMAT ? LSP_OK : status;
    }
    for (int64_t i = 0; i < n && status != LSP_OK; i++) {
        cr_assert(out[i] == -5);
    }
    free(array);
    free(out);
    return status;
}

Test(suffix_array_calls, a_failing_allocation_leaves_everything_as_it_was) {
    for (int kind = 0; kind < KINDS; kind += 3) {
        for (int verb = 0; verb < 5; verb++) {
            for (int method = LSP_SUFFIX_DOUBLING; method <= (verb == 0 ? LSP_SUFFIX_INDUCED : LSP_SUFFIX_DOUBLING);
                 method++) {
                call c = {make_text(kind, 3000, 1, method == LSP_SUFFIX_DOUBLING ? 40 : 0, 4),
                          (lsp_suffix_method)method, verb};
                test_failing_memory(2, call_it, &c);
                free_text(&c.text);
            }
        }
    }
}

Test(suffix_array_calls, failing_allocations_leave_everything_as_it_was_on_the_gpu) {
    for (int form = 0; form < 4; form++) {
        call c = {make_text(form == 0   ? RANDOM_4
                            : form == 1 ? PERIODIC
                            : form == 2 ? RANDOM_300
                                        : WORDS,
                            1000, form == 2 ? 4 : 1, form == 3 ? 20 : 0, 4),
                  LSP_SUFFIX_AUTO, 0};
        test_failing_gpu(0, 1, call_it, &c);
        free_text(&c.text);
    }
}

/* Each verb on arrays of the GPU, made by another context. */
static lsp_status call_there(lsp_ctx *ctx, int verb, const lsp_text *text, const lsp_text *patterns, const void *array,
                             void *out) {
    int64_t primary = 1;
    return verb == 0   ? lsp_suffix_check(ctx, text, LSP_I32, array)
           : verb == 1 ? lsp_suffix_inverse(ctx, text->n, LSP_I32, array, LSP_CUDA, out)
           : verb == 2 ? lsp_suffix_lcp(ctx, text, LSP_I32, array, out)
           : verb == 3 ? lsp_suffix_bwt(ctx, text, LSP_I32, array, out, &primary)
           : verb == 4 ? lsp_suffix_unbwt(ctx, text->n, 1, text->symbols, text->n, LSP_CUDA, out)
                       : lsp_suffix_search(ctx, text, LSP_I32, array, patterns, out, (int64_t *)out + 2);
}

Test(suffix_array_calls, failing_allocations_of_verbs_on_the_gpu_write_nothing) {
    enum { n = 500 };
    lsp_ctx *maker = test_gpu_ctx_or_skip();
    const int64_t starts[] = {0, 3, 9};
    lsp_text text = make_text(EQUAL, n, 1, 0, 1), there = text, patterns;
    int32_t array[n], before[n], after[n];
    lsp_array symbols = {0}, suffixes = {0}, out = {0};
    must(maker, lsp_suffix_array(maker, &text, NULL, LSP_I32, array, NULL));
    must(maker, lsp_array_create(maker, n, LSP_CUDA, &symbols));
    must(maker, lsp_array_create(maker, sizeof array, LSP_CUDA, &suffixes));
    must(maker, lsp_array_create(maker, sizeof array, LSP_CUDA, &out));
    must(maker, lsp_array_copy(maker, symbols.memory, LSP_CUDA, text.symbols, LSP_HOST, n));
    must(maker, lsp_array_copy(maker, suffixes.memory, LSP_CUDA, array, LSP_HOST, sizeof array));
    memset(before, 7, sizeof before);
    there.symbols = symbols.memory, there.where = LSP_CUDA;
    patterns = there, patterns.n = 9, patterns.strings = 2, patterns.starts = starts;
    for (int verb = 0; verb < 6; verb++) {
        lsp_status status = LSP_ERR_MEMORY;
        must(maker, lsp_array_copy(maker, out.memory, LSP_CUDA, before, LSP_HOST, sizeof before));
        for (long fail_at = 0; status == LSP_ERR_MEMORY; fail_at++) {
            cr_assert(fail_at < 200);
            test_memory memory = {.fail_at = fail_at};
            const lsp_allocator allocator = {failing_alloc, failing_free, &memory};
            lsp_ctx *ctx = NULL;
            char error[256];
            status = lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .allocator = allocator}, error,
                                    sizeof error);
            status = status == LSP_OK ? call_there(ctx, verb, &there, &patterns, suffixes.memory, out.memory) : status;
            lsp_ctx_destroy(ctx);
            cr_assert(memory.outstanding == 0, "verb %d, allocation %ld", verb, fail_at);
            must(maker, lsp_array_copy(maker, after, LSP_HOST, out.memory, LSP_CUDA, sizeof after));
            cr_assert(status != LSP_ERR_MEMORY || memcmp(before, after, sizeof after) == 0, "verb %d", verb);
        }
        cr_assert(status == LSP_OK, "verb %d: status %d", verb, (int)status);
    }
    free_text(&text);
    lsp_array_free(&symbols);
    lsp_array_free(&suffixes);
    lsp_array_free(&out);
    lsp_ctx_destroy(maker);
}

/* Counts the bytes on the GPU. */
typedef struct counted {
    test_memory memory;
    int64_t bytes, peak;
} counted;
static void *counted_alloc(void *user, size_t bytes, lsp_where where) {
    counted *c = user;
    c->bytes += where == LSP_CUDA ? (int64_t)bytes : 0;
    c->peak = lsp_max(c->peak, c->bytes);
    return failing_alloc(&c->memory, bytes, where);
}
static void counted_free(void *user, void *piece, size_t bytes, lsp_where where) {
    counted *c = user;
    c->bytes -= where == LSP_CUDA ? (int64_t)bytes : 0;
    failing_free(&c->memory, piece, bytes, where);
}

/* Sorts with a budget; *c counts what the call and the context took. */
static lsp_status sort_within(const lsp_text *text, int64_t budget, int32_t *array, lsp_suffix_info *info, counted *c,
                              char *told) {
    *c = (counted){.memory = {.fail_at = -1}};
    lsp_ctx *ctx = NULL;
    char error[256];
    const lsp_allocator allocator = {counted_alloc, counted_free, c};
    cr_assert(lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .allocator = allocator, .max_bytes = budget},
                             error, sizeof error) == LSP_OK);
    const lsp_status status = lsp_suffix_array(ctx, text, NULL, LSP_I32, array, info);
    snprintf(told, 512, "%s", lsp_last_error(ctx));
    lsp_ctx_destroy(ctx);
    return status;
}

/* info tells the bytes; a budget of these bytes suffices; with one less short keys are taken, or it is refused. */
Test(suffix_array_calls, memory_on_the_gpu_is_what_info_tells_and_within_20_n) {
    lsp_ctx_destroy(test_gpu_ctx_or_skip());
    const int kinds[] = {RANDOM_4, WORDS, PERIODIC, EQUAL, TWICE, NEARLY_PERIODIC};
    const int64_t n = reduced(3000, 1 << 21);
    int32_t *array = malloc((size_t)n * sizeof *array), *again = malloc((size_t)n * sizeof *again);
    lsp_ctx *host = test_ctx(2);
    for (int k = 0; k < 6; k++) {
        lsp_text text = make_text(kinds[k], n, 1, k == 5 ? 30 : 0, 4);
        lsp_suffix_info info, small;
        counted c;
        char told[512];
        cr_assert(sort_within(&text, 0, array, &info, &c, told) == LSP_OK, "%s", told);
        must(host, lsp_suffix_check(host, &text, LSP_I32, array));
        cr_assert(c.peak >= info.scratch_bytes);
        for (int64_t bytes = info.scratch_bytes;; bytes = small.scratch_bytes) {
            again[0] = -5;
            cr_assert(sort_within(&text, bytes, again, &small, &c, told) == LSP_OK, "%s", told);
            cr_assert(c.peak <= bytes && small.scratch_bytes == bytes, "%lld counted, %lld told, budget %lld",
                      (long long)c.peak, (long long)small.scratch_bytes, (long long)bytes);
            cr_assert(memcmp(array, again, (size_t)n * sizeof *array) == 0);
            again[0] = -5;
            if (sort_within(&text, bytes - 1, again, &small, &c, told) != LSP_OK) {
                cr_assert(strstr(told, "the budget is") != NULL && again[0] == -5, "%s", told);
                /* the text and the array of the host have copies there */
                cr_assert(bytes <= 25 * n + (4 << 20) || n < 1 << 21, "%lld bytes for %lld", (long long)bytes,
                          (long long)n);
                break;
            }
            cr_assert(strstr(small.reason, "budget") != NULL && small.bits <= 32, "%s", small.reason);
        }
        free_text(&text);
    }
    free(array);
    free(again);
    lsp_ctx_destroy(host);
}

Test(suffix_array_calls, a_budget_that_is_too_small_is_told) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_text text = make_text(RANDOM_4, 100000, 1, 0, 1);
    int32_t *array = malloc((size_t)text.n * sizeof *array);
    lsp_suffix_info info;
    array[0] = -5;
    must(ctx, lsp_ctx_set_max_bytes(ctx, ctx->space[LSP_HOST].used + 500000));
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_suffix_array(ctx, &text, NULL, LSP_I32, array, NULL));
    cr_assert(array[0] == -5);
    must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
    must(ctx, lsp_suffix_array(ctx, &text, NULL, LSP_I32, array, &info));
    cr_assert(info.alphabet == 4 && info.scratch_bytes > 500000 && info.bits > 0 && info.reason[0] != 0);
    free(array);
    free_text(&text);
    lsp_ctx_destroy(ctx);
}
