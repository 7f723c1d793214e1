/* The context: options, sentences, memory that is kept, counted and bounded, and requests for a GPU without one. */
#include "core/cuda.h"
#include "core/isa.h"
#include "core/items.h"
#include "core/layout.h"
#include "core/memory.h"
#include "matrices/gpu/gpu.h"
#include "segsort/segsort.h"
#include "tests/support.h"

#include <limits.h>

Test(core, a_context_with_no_options_serves_and_describes_itself) {
    lsp_ctx *ctx = NULL;
    char error[64] = "old";
    cr_assert_eq(lsp_ctx_create(&ctx, NULL, error, sizeof error), LSP_OK);
    cr_assert_str_eq(error, "");
    cr_assert_str_eq(lsp_last_error(ctx), "");
    lsp_ctx_info info;
    must(ctx, lsp_ctx_get_info(ctx, &info));
    cr_assert_eq(info.device, LSP_HOST);
    cr_assert(info.threads >= 1 && info.device_name[0] != 0);
    cr_assert(info.device_total_bytes > 0 && info.device_free_bytes > 0);
    cr_assert(info.device_free_bytes <= info.device_total_bytes);
    cr_assert(strcmp(info.isa, lsp_isa_name(ctx->isa)) == 0);
    must(ctx, lsp_ctx_sync(ctx));
    lsp_ctx_destroy(ctx);
    lsp_ctx_destroy(NULL);
    cr_assert_str_eq(lsp_version(), "0.1.0");
}

Test(core, wrong_options_are_refused_with_their_number_and_leave_the_output_alone) {
    void *(*some_alloc)(void *, size_t, lsp_where) = test_memory_alloc;
    struct {
        lsp_ctx_options options;
        const char *part;
    } cases[] = {{{.device = (lsp_where)7}, "device 7"}, {{.threads = -3}, "threads -3"},
                 {{.threads = INT_MAX}, "2147483647"},   {{.max_bytes = -1}, "-1 bytes"},
                 {{.ordinal = -2}, "number -2"},         {{.allocator = {.alloc = some_alloc}}, "only one"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lsp_ctx *ctx = (lsp_ctx *)&cases;
        char error[128] = "";
        cr_assert_eq(lsp_ctx_create(&ctx, &cases[i].options, error, sizeof error), LSP_ERR_ARGUMENT, "case %zu", i);
        cr_assert_eq((void *)ctx, (void *)&cases, "case %zu wrote its output", i);
        cr_assert(strstr(error, cases[i].part), "case %zu: '%s'", i, error);
    }
    cr_assert_eq(lsp_ctx_create(NULL, NULL, NULL, 0), LSP_ERR_ARGUMENT);
    char tiny[5] = "....";
    cr_assert_eq(lsp_ctx_create(NULL, NULL, tiny, sizeof tiny), LSP_ERR_ARGUMENT);
    cr_assert_eq(strlen(tiny), 4, "the sentence is cut to the room given");
}

Test(core, every_status_has_a_name_and_null_is_answered) {
    for (int s = LSP_OK; s <= LSP_ERR_CANCELLED; s++) {
        cr_assert(strncmp(lsp_status_name((lsp_status)s), s ? "LSP_ERR_" : "LSP_OK", 6) == 0, "status %d", s);
    }
    cr_assert_str_eq(lsp_status_name((lsp_status)99), "?");
    cr_assert(lsp_last_error(NULL)[0] != 0);
    cr_assert_eq(lsp_ctx_get_info(NULL, NULL), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_ctx_set_max_bytes(NULL, 0), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_ctx_trim(NULL), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_ctx_sync(NULL), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_ctx_reset_peak(NULL), LSP_ERR_ARGUMENT);
}

Test(core, a_sentence_too_long_is_cut_and_says_so) {
    lsp_ctx *ctx = test_ctx(1);
    char text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    cr_assert_eq(lsp_fail(ctx, LSP_ERR_IO, "%s", text), LSP_ERR_IO);
    size_t length = strlen(lsp_last_error(ctx));
    cr_assert_eq(length, sizeof ctx->error - 1);
    cr_assert_str_eq(lsp_last_error(ctx) + length - 3, "...");
    lsp_fail(ctx, LSP_ERR_IO, "old");
    lsp_fail(ctx, LSP_ERR_IO, "again: %s", ctx->error);
    cr_assert_str_eq(lsp_last_error(ctx), "again: old");
    lsp_ctx_destroy(ctx);
}

static void keep_line(void *user, const char *line) { snprintf(user, 64, "%s", line); }

Test(core, decisions_reach_the_log_hook) {
    char line[64] = "";
    lsp_ctx *ctx = NULL;
    lsp_ctx_options options = {.log = keep_line, .hook_user = line};
    cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
    lsp_log(ctx, "method %d of %d", 2, 3);
    cr_assert_str_eq(line, "method 2 of 3");
    lsp_ctx_destroy(ctx);
}

Test(core, sizes_that_overflow_are_seen) {
    int64_t r = 7;
    cr_assert(!lsp_mul(INT64_MAX, 2, &r) && r == 7);
    cr_assert(!lsp_add(INT64_MAX, 1, &r) && r == 7);
    cr_assert(lsp_mul(-3, 5, &r) && r == -15);
    cr_assert_eq(lsp_ceil_div(7, 2), 4);
    cr_assert_str_eq(lsp_size(1023).text, "1023 bytes");
    cr_assert_str_eq(lsp_size(3 << 19).text, "1.50 MiB");
    lsp_ctx *ctx = test_ctx(1);
    void *p = &r;
    must_fail(ctx, LSP_ERR_OVERFLOW, "items", lsp_alloc(ctx, LSP_HOST, INT64_MAX / 4, 8, &p));
    must_fail(ctx, LSP_ERR_OVERFLOW, "items", lsp_alloc(ctx, LSP_HOST, -1, 8, &p));
    cr_assert_eq(p, &r);
    must_fail(ctx, LSP_ERR_MEMORY, "needed", lsp_alloc(ctx, LSP_HOST, INT64_MAX / 64, 8, &p));
    cr_assert_eq(p, &r);
    lsp_ctx_destroy(ctx);
}

Test(core, memory_is_aligned_counted_kept_and_given_back) {
    test_memory memory = {.fail_at = -1};
    lsp_ctx *ctx = NULL;
    lsp_ctx_options options = {.allocator = {test_memory_alloc, test_memory_free, &memory}};
    cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
    void *a = NULL, *b = NULL, *none = &memory;
    must(ctx, lsp_alloc(ctx, LSP_HOST, 1000, 8, &a));
    must(ctx, lsp_alloc(ctx, LSP_HOST, 1, 1, &b));
    must(ctx, lsp_alloc(ctx, LSP_HOST, 0, 8, &none));
    cr_assert(none == NULL && (uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0);
    lsp_ctx_info info;
    must(ctx, lsp_ctx_get_info(ctx, &info));
    cr_assert_eq(info.host_peak_bytes, 8000 + 64);
    lsp_free(ctx, a);
    lsp_free(ctx, a); /* these calls do nothing: freed twice; not from the context; NULL */
    lsp_free(ctx, &info);
    lsp_free(ctx, NULL);
    must(ctx, lsp_ctx_reset_peak(ctx));
    must(ctx, lsp_ctx_get_info(ctx, &info));
    cr_assert_eq(info.host_peak_bytes, 64);
#if LSP_KEEP_BLOCKS
    cr_assert_eq(info.host_bytes, 8000 + 64, "what was given back is kept");
    long calls = memory.calls;
    must(ctx, lsp_alloc(ctx, LSP_HOST, 999, 8, &a));
    cr_assert_eq(memory.calls, calls, "kept memory serves the next call");
    lsp_free(ctx, a);
#endif
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_get_info(ctx, &info));
    cr_assert_eq(info.host_bytes, 64);
    lsp_ctx_destroy(ctx);
    cr_assert_eq(memory.outstanding, 0);
}

Test(core, held_memory_is_the_most_in_use_and_a_quarter_at_most) {
    lsp_ctx *ctx = test_ctx(1);
    uint64_t state = 5;
    int64_t used = 0, most = 0, size[8] = {0};
    void *held[8] = {0};
    for (int step = 0; step < 3000; step++) {
        int i = (int)test_below(&state, 8);
        if (held[i]) {
            lsp_free(ctx, held[i]);
            held[i] = NULL;
        } else {
            size[i] = 64 * (1 + test_below(&state, 200000));
            must(ctx, lsp_alloc(ctx, LSP_HOST, size[i], 1, &held[i]));
            memset(held[i], i, (size_t)size[i]);
        }
        used = ctx->space[LSP_HOST].used;
        most = lsp_max(most, used);
        cr_assert(used + ctx->space[LSP_HOST].kept <= most + most / 4 + (16 << 20));
        for (int j = 0; j < 8; j++) {
            cr_assert(!held[j] || (((char *)held[j])[0] == j && ((char *)held[j])[size[j] - 1] == j), "overlap");
        }
    }
    lsp_ctx_destroy(ctx);
}

Test(core, many_pieces_are_found_until_they_are_freed) {
    enum { PIECES = 3000 };
    lsp_ctx *ctx = test_ctx(1);
    static void *pieces[PIECES];
    uint64_t state = 3;
    for (int i = 0; i < 20 * PIECES; i++) { /* taken and freed in any order */
        void **piece = &pieces[test_below(&state, PIECES)];
        if (*piece) {
            cr_assert(lsp_owns(ctx, *piece) && !lsp_owns(ctx, (char *)*piece + 64));
            lsp_free(ctx, *piece);
            cr_assert(!lsp_owns(ctx, *piece));
            *piece = NULL;
        } else {
            must(ctx, lsp_alloc(ctx, LSP_HOST, 1 + test_below(&state, 300), 1, piece));
            memset(*piece, 0xA5, 1);
        }
    }
    for (int i = 0; i < PIECES; i++) {
        cr_assert(!pieces[i] || lsp_owns(ctx, pieces[i]));
        lsp_free(ctx, pieces[i]);
    }
    must(ctx, lsp_ctx_trim(ctx));
    cr_assert(ctx->space[LSP_HOST].used == 0 && ctx->space[LSP_HOST].kept == 0);
    lsp_ctx_destroy(ctx);
}

Test(core, scratch_nests_and_ends_together) {
    lsp_ctx *ctx = test_ctx(1);
    int64_t *a;
    double *b;
    size_t outer = lsp_scratch_mark(ctx);
    must(ctx, LSP_SCRATCH_ZERO(ctx, 100, &a));
    cr_assert(a[0] == 0 && a[99] == 0);
    size_t inner = lsp_scratch_mark(ctx);
    must(ctx, LSP_SCRATCH(ctx, 200, &b));
    lsp_scratch_release(ctx, inner);
    a[99] = 1;
    cr_assert_eq(ctx->space[LSP_HOST].used, 832);
    lsp_scratch_release(ctx, outer);
    cr_assert_eq(ctx->space[LSP_HOST].used, 0);
    lsp_ctx_destroy(ctx);
}

Test(core, the_budget_is_kept_and_the_sentence_has_its_numbers) {
    lsp_ctx *ctx = test_ctx(1);
    must(ctx, lsp_ctx_set_max_bytes(ctx, 1 << 20));
    void *a = NULL, *b = NULL;
    must(ctx, lsp_alloc(ctx, LSP_HOST, 1 << 19, 1, &a));
    cr_assert_eq(lsp_available_bytes(ctx, LSP_HOST), 1 << 19);
    must_fail(ctx, LSP_ERR_MEMORY,
              "512.06 KiB more are needed beside 512.00 KiB in use: 1.00 MiB together, and the budget is 1.00 MiB",
              lsp_alloc(ctx, LSP_HOST, (1 << 19) + 64, 1, &b));
    must(ctx, lsp_alloc(ctx, LSP_HOST, 1 << 19, 1, &b));
    lsp_free(ctx, a);
    must(ctx, lsp_alloc(ctx, LSP_HOST, 1 << 18, 1, &a)); /* kept blocks yield to the budget */
    must_fail(ctx, LSP_ERR_ARGUMENT, "-5", lsp_ctx_set_max_bytes(ctx, -5));
    lsp_ctx_destroy(ctx);
}

Test(core, a_call_repeated_takes_nothing_fresh) {
#if LSP_KEEP_BLOCKS
    test_memory memory = {.fail_at = -1};
    lsp_ctx *ctx = NULL;
    lsp_ctx_options options = {.allocator = {test_memory_alloc, test_memory_free, &memory}};
    cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
    lsp_csr A = {0}, C = {0};
    long calls = 0;
    must(ctx, lsp_generate(ctx, "poisson2d:200", 1, NULL, &A));
    for (int round = 0; round < 6; round++) {
        lsp_csr_free(ctx, &C);
        must(ctx, lsp_spgemm(ctx, &A, &A, NULL, &C, NULL));
        cr_assert(round < 2 || memory.calls == calls, "round %d took %ld fresh pieces", round, memory.calls - calls);
        calls = memory.calls;
    }
    lsp_ctx_destroy(ctx);
#endif
}

static lsp_status take_and_give(lsp_ctx *ctx, void *data) {
    (void)data;
    LSP_SCRATCH_SCOPE(ctx);
    void *out = NULL;
    lsp_array array = {0};
    for (int i = 1; i <= 100; i++) {
        double *piece = NULL;
        LSP_TRY(LSP_SCRATCH(ctx, i * 100, &piece));
    }
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 10, 8, &out));
    LSP_TRY(lsp_array_create(ctx, 100, LSP_HOST, &array));
    lsp_array_free(&array);
    return LSP_OK;
}

Test(core, any_allocation_may_fail_without_a_leak) { test_failing_memory(1, take_and_give, NULL); }

Test(core, prefix_sums_agree_for_any_number_of_threads) {
    enum { n = 300000 };
    int64_t *offsets = malloc((n + 1) * sizeof *offsets);
    for (int threads = 1; threads <= 5; threads += 2) {
        lsp_ctx *ctx = test_ctx(threads);
        int64_t sizes[] = {0, 1, 2, n};
        for (int s = 0; s < 4; s++) {
            uint64_t state = 9, again = 9;
            for (int64_t i = 0; i < sizes[s]; i++) {
                offsets[i + 1] = test_below(&state, 1000);
            }
            offsets[0] = 77;
            lsp_prefix_sum(ctx, offsets, sizes[s]);
            for (int64_t i = 0, sum = 0; i <= sizes[s]; sum += test_below(&again, 1000), i++) {
                cr_assert_eq(offsets[i], sum, "%d threads, item %lld of %lld", threads, (long long)i,
                             (long long)sizes[s]);
            }
        }
        lsp_ctx_destroy(ctx);
    }
    free(offsets);
}

Test(core, shares_are_even_in_order_and_cover_all) {
    for (int64_t n = 0; n < 50; n++) {
        for (int parts = 1; parts < 9; parts++) {
            int64_t begin, end, last = 0;
            for (int part = 0; part < parts; part++, last = end) {
                lsp_share(n, part, parts, &begin, &end);
                cr_assert(begin == last && end - begin >= n / parts && end - begin <= n / parts + 1);
            }
            cr_assert_eq(last, n);
        }
    }
}

Test(core, a_layout_counts_first_and_then_hands_out_the_same_pieces) {
    _Alignas(64) char memory[256];
    lsp_layout counted = {NULL, 64, 0, false}, taken = {memory, 64, 0, false};
    cr_assert_null(lsp_layout_take(&counted, 3, 8));
    cr_assert_null(lsp_layout_take(&counted, 0, 8));
    cr_assert_null(lsp_layout_take(&counted, 65, 1));
    cr_assert(counted.bytes == 192 && !counted.overflow);
    cr_assert_eq(lsp_layout_take(&taken, 3, 8), memory);
    cr_assert_eq(lsp_layout_take(&taken, 0, 8), memory + 64);
    cr_assert_eq(lsp_layout_take(&taken, 65, 1), memory + 64);
    cr_assert_eq(taken.bytes, 192);
    lsp_layout_take(&counted, INT64_MAX / 2, 4);
    cr_assert(counted.overflow);
    lsp_layout_take(&counted, 1, 1);
    cr_assert(counted.overflow, "it stays so");
}

#if !LSP_HAVE_CUDA
Test(core, without_cuda_the_parts_for_a_gpu_refuse_with_a_sentence) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_segsort_args args = {0};
    int64_t longest = 0;
    must_fail(ctx, LSP_ERR_DEVICE, "without CUDA", lsp_cuda_sync(ctx));
    must_fail(ctx, LSP_ERR_DEVICE, "without CUDA", lsp_cuda_convert(ctx, NULL, LSP_F64, NULL, LSP_F32, 1));
    must_fail(ctx, LSP_ERR_DEVICE, "without CUDA", lsp_segsort_cuda.longest(ctx, &args, &longest));
    lsp_ctx_destroy(ctx);
}
#endif

Test(core, a_gpu_that_cannot_be_used_is_answered_with_a_sentence) {
    lsp_ctx *ctx = NULL;
    char error[256] = "";
    int count = lsp_cuda_device_count();
    lsp_status status = lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .ordinal = count}, error, 256);
    cr_assert_eq(status, LSP_ERR_DEVICE);
    cr_assert_null(ctx);
    cr_assert(strstr(error, "GPU") && strlen(error) > 20, "'%s'", error);
    ctx = test_ctx(1); /* a host context holds no GPU memory */
    void *p = NULL;
    char byte = 0;
    must_fail(ctx, LSP_ERR_MEMORY, "GPU", lsp_alloc(ctx, LSP_CUDA, 1, 1, &p));
    must_fail(ctx, LSP_ERR_DEVICE, "GPU", lsp_cuda_copy(ctx, &byte, LSP_CUDA, &byte, LSP_HOST, 1));
    lsp_ctx_destroy(ctx);
}

Test(core, memory_travels_to_the_gpu_and_back) {
    if (lsp_cuda_device_count() == 0) {
        cr_skip_test("no GPU here");
    }
    lsp_ctx *ctx = NULL;
    char error[256] = "";
    cr_assert_eq(lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA}, error, sizeof error), LSP_OK, "%s",
                 error);
    lsp_ctx_info info;
    must(ctx, lsp_ctx_get_info(ctx, &info));
    cr_assert(info.device == LSP_CUDA && info.device_name[0] && info.device_total_bytes > info.device_free_bytes / 2);
    int64_t sizes[] = {1, 4097, (8 << 20) - 1, 8 << 20, (8 << 20) + 1, 16 << 20, (40 << 20) + 3};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t n = sizes[s];
        size_t mark = lsp_scratch_mark(ctx);
        unsigned char *from = NULL, *to = NULL;
        void *device = NULL, *other = NULL;
        must(ctx, LSP_SCRATCH(ctx, n, &from));
        must(ctx, LSP_SCRATCH_ZERO(ctx, n, &to));
        must(ctx, lsp_scratch_at(ctx, LSP_CUDA, n, 1, &device));
        must(ctx, lsp_scratch_at(ctx, LSP_CUDA, n, 1, &other));
        uint64_t state = (uint64_t)n;
        for (int64_t i = 0; i < n; i++) {
            from[i] = (unsigned char)test_random(&state);
        }
        must(ctx, lsp_cuda_copy(ctx, device, LSP_CUDA, from, LSP_HOST, n));
        must(ctx, lsp_cuda_copy(ctx, other, LSP_CUDA, device, LSP_CUDA, n));
        must(ctx, lsp_cuda_copy(ctx, to, LSP_HOST, other, LSP_CUDA, n));
        cr_assert(memcmp(from, to, (size_t)n) == 0, "%lld bytes changed on the way", (long long)n);
        lsp_scratch_release(ctx, mark);
    }
    must(ctx, lsp_ctx_set_max_bytes(ctx, 1 << 20));
    void *p = NULL;
    must(ctx, lsp_ctx_trim(ctx));
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_alloc(ctx, LSP_CUDA, 1 << 21, 1, &p));
    must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
    must_fail(ctx, LSP_ERR_MEMORY, "GPU", lsp_alloc(ctx, LSP_CUDA, info.device_total_bytes + 64, 1, &p));
    must(ctx, lsp_ctx_sync(ctx));
    lsp_ctx_destroy(ctx);
}
