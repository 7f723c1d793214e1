/* The cache model: its formulas beside brute force, its limits, the paper's own formulas beside numbers computed by
 * hand, samples of known patterns, and what is refused. */
#include "cases.h"
#include "paper.h"

/* ---- formulas ---- */

Test(model, the_number_of_distinct_blocks_is_that_of_a_simulation) {
    static const int blocks[] = {1, 2, 7, 100, 5000}, draws[] = {1, 2, 10, 300, 20000};
    uint64_t state = 1;
    for (int b = 0; b < 5; b++) {
        for (int d = 0; d < 5; d++) {
            const int runs = 20 + 40000 / draws[d];
            double mean = 0;
            for (int run = 0; run < runs; run++) {
                bool seen[5000] = {false};
                for (int i = 0; i < draws[d]; i++) {
                    const int64_t block = test_below(&state, blocks[b]);
                    mean += seen[block] ? 0 : 1.0 / runs;
                    seen[block] = true;
                }
            }
            const double told = lsp_cache_distinct(blocks[b], draws[d]);
            cr_assert(fabs(told - mean) <= 0.02 * mean + 1e-9, "%d blocks, %d draws: %g, simulated %g", blocks[b],
                      draws[d], told, mean);
        }
    }
    cr_assert(fabs(lsp_cache_distinct(1e12, 1000) - 1000) < 1e-3, "few draws among very many blocks all differ");
}

Test(model, rates_are_interpolated_and_end_flat) {
    const lsp_cache_figures f = figures_for(LSP_CUDA);
    cr_assert_float_eq(lsp_cache_rate(&f, f.reads, 10), 100e9, 1);
    cr_assert_float_eq(lsp_cache_rate(&f, f.reads, 64 << 20), 40e9, 1);
    cr_assert_float_eq(lsp_cache_rate(&f, f.reads, 1e15), 25e9, 1);
    cr_assert_float_eq(lsp_cache_rate(&f, f.reads, 32 << 20), sqrt(100e9 * 40e9), 1e6);
}

/* ---- limits ---- */

Test(model, all_accesses_hit_while_the_array_fits_the_cache) {
    lsp_ctx *ctx = test_ctx(1);
    const lsp_cache_figures f = figures_for(LSP_CUDA);
    lsp_cache_case what = case_of(1 << 28, false, false);
    what.extent = 1 << 16; /* 512 KiB, used over and over */
    cr_assert(predict(ctx, &f, &what).hit_rate > 0.999);
    what.extent = 1 << 28;
    cr_assert(predict(ctx, &f, &what).hit_rate < 0.02, "2 GiB in a cache of 32 MiB");
    what.extent = INT64_C(1) << 40; /* hardly anything is met twice */
    cr_assert(predict(ctx, &f, &what).hit_rate < 0.001);
    lsp_ctx_destroy(ctx);
}

Test(model, a_direct_call_takes_its_streams_and_its_random_accesses) {
    lsp_ctx *ctx = test_ctx(1);
    const lsp_cache_figures f = figures_for(LSP_CUDA);
    const double n = 1 << 28;
    const lsp_cache_case gather = case_of(1 << 28, false, false), scatter = case_of(1 << 28, true, false);
    const double waits = 0.47 * n / 100e9; /* for its indices; beside the moves */
    cr_assert_float_eq(predict(ctx, &f, &gather).seconds[LSP_STRATEGY_DIRECT],
                       2e-6 + hypot(n / 25e9 + 12 * n / 4e12, waits), 1e-5);
    cr_assert_float_eq(predict(ctx, &f, &scatter).seconds[LSP_STRATEGY_DIRECT],
                       2e-6 + hypot(n / 15e9 + 12 * n / 4e12, waits), 1e-5);
    lsp_ctx_destroy(ctx);
}

Test(model, more_passes_shrink_the_footprint_until_the_indices_cost_more) {
    lsp_ctx *ctx = test_ctx(1);
    const lsp_cache_figures f = figures_for(LSP_CUDA);
    lsp_cache_case what = case_of(1 << 28, true, false);
    double last = 0;
    const lsp_access one = lsp_access_of(&f, &what, 1), many = lsp_access_of(&f, &what, 256);
    cr_assert(256 * lsp_access_seconds(&f, &many) < 0.6 * lsp_access_seconds(&f, &one));
    for (int passes = 1024; passes <= 4096; passes *= 2) {
        double seconds;
        must(ctx, lsp_cache_model_rescan(ctx, &f, &what, passes, &seconds));
        cr_assert(seconds > last, "%d passes take no longer", passes);
        last = seconds;
    }
    lsp_ctx_destroy(ctx);
}

Test(model, predictions_grow_with_n_and_the_best_is_never_slower_than_direct) {
    lsp_ctx *ctx = test_ctx(1);
    for (int kind = 0; kind < 8; kind++) {
        const lsp_cache_figures f = figures_for(kind & 4 ? LSP_HOST : LSP_CUDA);
        lsp_cache_prediction before = {0};
        for (int bits = 0; bits <= 40; bits++) {
            const lsp_cache_case what = case_of(INT64_C(1) << bits, kind & 1, kind & 2);
            const lsp_cache_prediction p = predict(ctx, &f, &what);
            for (int s = LSP_STRATEGY_DIRECT; s < LSP_STRATEGIES; s++) {
                cr_assert(isfinite(p.seconds[s]) && p.seconds[s] >= before.seconds[s],
                          "kind %d, 2^%d, %s: %g after %g seconds", kind, bits, lsp_strategy_name((lsp_strategy)s),
                          p.seconds[s], before.seconds[s]);
            }
            cr_assert(p.seconds[p.best] <= p.seconds[LSP_STRATEGY_DIRECT]);
            cr_assert(p.best == LSP_STRATEGY_DIRECT || bits > 10, "a strategy for a few indices");
            cr_assert(p.reason[0] != 0 && p.hit_rate >= 0 && p.hit_rate <= 1);
            before = p;
        }
    }
    lsp_ctx_destroy(ctx);
}

Test(model, partitions_lie_between_sequential_and_random) {
    lsp_ctx *ctx = test_ctx(1);
    const lsp_cache_figures f = figures_for(LSP_CUDA);
    lsp_cache_case what = case_of(1 << 26, true, false);
    const double random = predict(ctx, &f, &what).seconds[LSP_STRATEGY_DIRECT];
    double before = 0;
    what.pattern.kind = LSP_PATTERN_PARTITIONS;
    for (int bits = 0; bits <= 26; bits += 2) {
        what.pattern.partitions = 1 << bits;
        const double seconds = predict(ctx, &f, &what).seconds[LSP_STRATEGY_DIRECT];
        cr_assert(seconds >= before * 0.999 && seconds <= random * 1.2, "2^%d partitions: %g s, before %g, random %g",
                  bits, seconds, before, random);
        before = seconds;
    }
    lsp_ctx_destroy(ctx);
}

Test(model, a_plan_must_pay_within_its_calls) {
    lsp_ctx *ctx = test_ctx(1);
    const lsp_cache_figures f = figures_for(LSP_CUDA);
    lsp_cache_case what = case_of(1 << 26, false, true);
    what.calls = 1;
    const lsp_cache_prediction once = predict(ctx, &f, &what);
    cr_assert(once.seconds[once.best] + once.plan_seconds[once.best] <= once.seconds[LSP_STRATEGY_DIRECT]);
    what.calls = 0;
    cr_assert_eq(predict(ctx, &f, &what).best, LSP_STRATEGY_STAGE);
    lsp_cache_figures slow = f; /* making a plan copies; random accesses cost no more than copies here */
    slow.copy_rate = 2e11;
    what.calls = 1;
    cr_assert_eq(predict(ctx, &slow, &what).best, LSP_STRATEGY_DIRECT);
    lsp_ctx_destroy(ctx);
}

/* ---- the paper ---- */

Test(model, the_papers_formulas_give_the_numbers_computed_by_hand) {
    lsp_cache_figures f = figures_for(LSP_CUDA);
    f.copy_rate = 64e9;
    f.cache_bytes = 64 * 4;                         /* N = 4 lines */
    lsp_cache_case what = case_of(16, true, false); /* k = 16 * 8 / 64 = 2 blocks */
    double seconds, hits;
    paper_predicts(&f, &what, 1, &seconds, &hits);
    /* E = 2 (1 - 1/2^16); m = E / 4; t = 16 (m 64 / 64e9 + h / 100e9) */
    const double e = 2 * (1 - 1 / 65536.0), h = 1 - e / 4;
    cr_assert_float_eq(hits, h, 1e-12);
    cr_assert_float_eq(seconds, (16 * 8 + 16 * 4) / 64e9 + 16 * ((1 - h) * 1e-9 + h * 1e-11), 1e-18);
    what.extent = 80; /* k = 10; 2 passes of 8 accesses: E = 10 (1 - 0.9^8) = 5.695 > 4 */
    paper_predicts(&f, &what, 2, &seconds, &hits);
    const double e2 = 10 * (1 - pow(0.9, 8)), m2 = (e2 + (1 - 4 / e2) * (8 - e2)) / 8;
    cr_assert_float_eq(hits, 1 - m2, 1e-12);
    cr_assert_float_eq(seconds, 2 * 192 / 64e9 + 16 * (m2 * 1e-9 + (1 - m2) * 1e-11), 1e-18);
    what.pattern.kind = LSP_PATTERN_PARTITIONS; /* one partition: D = 1, 4 lines for 32 elements */
    what.pattern.partitions = 1;
    paper_predicts(&f, &what, 2, &seconds, &hits);
    cr_assert_float_eq(hits, 1 - m2 + 1 - 4 / 32.0, 1e-12);
}

/* ---- cases ---- */

Test(model, cases_that_make_no_sense_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    const lsp_cache_case good = case_of(1000, false, false);
    lsp_cache_prediction p;
    lsp_cache_case c;
    double seconds;
#define WRONG(change, part)                                                                                            \
    c = good;                                                                                                          \
    change;                                                                                                            \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_cache_model_predict(ctx, NULL, &c, &p))
    WRONG(c.n = -1, "-1 indices");
    WRONG(c.extent = INT64_MAX, "2^48");
    WRONG(c.element_bytes = 0, "0 bytes");
    WRONG(c.index_bytes = 2, "2 bytes");
    WRONG(c.calls = -1, "negative");
    WRONG(c.reserved[0] = 1, "lsp_cache_case");
    WRONG(c.pattern.kind = (lsp_pattern_kind)7, "kind 7");
    WRONG(c.pattern.kind = LSP_PATTERN_PARTITIONS, "partitions");
    WRONG(c.pattern.kind = LSP_PATTERN_SAMPLE, "sample");
    WRONG(c.pattern.reserved[7] = 1, "lsp_cache_pattern");
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_cache_model_predict(ctx, NULL, NULL, &p));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_cache_model_predict(ctx, NULL, &good, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "0 passes", lsp_cache_model_rescan(ctx, NULL, &good, 0, &seconds));
    cr_assert_eq(lsp_cache_model_predict(NULL, NULL, &good, &p), LSP_ERR_ARGUMENT);
    c = good;
    c.n = 0;
    must(ctx, lsp_cache_model_predict(ctx, NULL, &c, &p));
    cr_assert_eq(p.best, LSP_STRATEGY_DIRECT);
    lsp_ctx_destroy(ctx);
}

/* ---- samples ---- */

enum { SAMPLED = 1 << 20 };
static int32_t *make_index(const char *pattern) {
    int32_t *index = malloc(SAMPLED * sizeof *index), next[32];
    uint64_t state = 5;
    cr_assert(index);
    for (int p = 0; p < 32; p++) {
        next[p] = p * (SAMPLED / 32);
    }
    for (int i = 0; i < SAMPLED; i++) {
        int p = (int)test_below(&state, 32);
        while (next[p] == (p + 1) * (SAMPLED / 32)) { /* this partition is full */
            p = (p + 1) % 32;
        }
        index[i] = pattern[0] == 's'   ? i
                   : pattern[0] == 'r' ? (int32_t)test_below(&state, SAMPLED)
                   : pattern[0] == 'c' ? 7
                                       : next[p]++;
    }
    return index;
}

static void near(const char *what, double found, double wanted, double tolerance) {
    cr_assert(fabs(found - wanted) <= tolerance * wanted, "%s: %g, expected %g", what, found, wanted);
}

/* Samples of elements of 8 bytes, with sectors and lines of 32 and 64 bytes. */
static void check_samples(lsp_ctx *ctx, lsp_where where) {
    static const char *const patterns[] = {"sequential", "random", "constant", "partitions"};
    lsp_cache_figures f = figures_for(where);
    must(ctx, lsp_cache_model_set_figures(ctx, &f));
    for (int k = 0; k < 4; k++) {
        lsp_cache_pattern p;
        int32_t *index = make_index(patterns[k]);
        void *there = index;
        if (where == LSP_CUDA) {
            must(ctx, lsp_alloc(ctx, LSP_CUDA, SAMPLED, sizeof *index, &there));
            must(ctx, lsp_cuda_copy(ctx, there, LSP_CUDA, index, LSP_HOST, SAMPLED * (int64_t)sizeof *index));
        }
        must(ctx, lsp_cache_model_sample(ctx, there, LSP_I32, SAMPLED, 8, where, &p));
        cr_assert_eq(p.kind, LSP_PATTERN_SAMPLE);
        if (where == LSP_CUDA) { /* a processor counts the same by other means */
            lsp_cache_pattern here;
            must(ctx, lsp_cache_model_sample(ctx, index, LSP_I32, SAMPLED, 8, LSP_HOST, &here));
            for (int w = 0; w < LSP_PATTERN_WINDOWS; w++) {
                cr_assert(here.sectors[w] == p.sectors[w] && here.lines[w] == p.lines[w], "%s, window %d", patterns[k],
                          w);
            }
            cr_assert(here.regions == p.regions && here.touched_bytes == p.touched_bytes, "%s", patterns[k]);
        }
        const double all = SAMPLED * 8.0, e = lsp_cache_distinct(SAMPLED / 8, 16384) / 16384;
        near(patterns[k], p.sectors[0], k == 0 ? 0.25 : k == 1 ? 1 : k == 2 ? 1 / 32.0 : 0.73, 0.06);
        near(patterns[k], p.lines[3], k == 0 ? 0.125 : k == 1 ? e : k == 2 ? 1 / 16384.0 : 0.127, 0.02);
        near(patterns[k], p.lines[7], p.lines[3], 0);
        near(patterns[k], p.regions, k == 0 ? 1.5 : k == 1 ? 64 : k == 2 ? 1 : 32, 0.4);
        near(patterns[k], (double)p.touched_bytes, k == 2 ? 64 : all, 0.1);
        const lsp_cache_case what = {
            .n = SAMPLED, .extent = SAMPLED, .element_bytes = 8, .index_bytes = 4, .pattern = p};
        lsp_cache_case guessed = what; /* the same pattern, told instead of sampled */
        guessed.pattern = (lsp_cache_pattern){.kind = k == 1 ? LSP_PATTERN_UNIFORM : LSP_PATTERN_PARTITIONS,
                                              .partitions = k == 3 ? 32 : 1};
        for (int passes = 1; passes <= 4 && k != 2; passes *= 4) {
            double told, sampled;
            must(ctx, lsp_cache_model_rescan(ctx, &f, &guessed, passes, &told));
            must(ctx, lsp_cache_model_rescan(ctx, &f, &what, passes, &sampled));
            near(patterns[k], sampled, told, 0.15);
        }
        if (where == LSP_CUDA) {
            lsp_free(ctx, there);
        }
        free(index);
    }
}

Test(model, samples_tell_the_pattern) {
    lsp_ctx *ctx = test_ctx(1);
    check_samples(ctx, LSP_HOST);
    lsp_ctx_destroy(ctx);
}

Test(device_model, samples_tell_the_pattern_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    check_samples(ctx, LSP_CUDA);
    lsp_cache_pattern p;
    must(ctx, lsp_cache_model_sample(ctx, NULL, LSP_I32, 0, 8, LSP_CUDA, &p));
    lsp_ctx_destroy(ctx);
}

Test(model, samples_of_few_and_of_wrong_indices) {
    lsp_ctx *ctx = test_ctx(1);
    const int64_t index[] = {3, -1, INT64_MAX, INT64_MIN, 3, 4};
    lsp_cache_pattern p;
    for (int64_t n = 0; n <= 6; n++) {
        must(ctx, lsp_cache_model_sample(ctx, n ? index : NULL, LSP_I64, n, 4096, LSP_HOST, &p));
        const lsp_cache_case what = {.n = n, .extent = 5, .element_bytes = 8, .index_bytes = 8, .pattern = p};
        (void)predict(ctx, NULL, &what);
    }
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_cache_model_sample(ctx, NULL, LSP_I64, 3, 8, LSP_HOST, &p));
    must_fail(ctx, LSP_ERR_ARGUMENT, "-2 indices", lsp_cache_model_sample(ctx, index, LSP_I64, -2, 8, LSP_HOST, &p));
    must_fail(ctx, LSP_ERR_ARGUMENT, "LSP_F64", lsp_cache_model_sample(ctx, index, LSP_F64, 3, 8, LSP_HOST, &p));
    must_fail(ctx, LSP_ERR_ARGUMENT, "0 bytes", lsp_cache_model_sample(ctx, index, LSP_I64, 3, 0, LSP_HOST, &p));
    must_fail(ctx, LSP_ERR_ARGUMENT, "GPU", lsp_cache_model_sample(ctx, index, LSP_I64, 3, 8, LSP_CUDA, &p));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_cache_model_sample(ctx, index, LSP_I64, 3, 8, LSP_HOST, NULL));
    lsp_ctx_destroy(ctx);
}

static lsp_status sample_and_predict(lsp_ctx *ctx, void *data) {
    lsp_cache_case what = case_of(SAMPLED, true, false);
    lsp_cache_prediction p = {.hit_rate = -1};
    lsp_status status = lsp_cache_model_sample(ctx, data, LSP_I32, SAMPLED, 8, LSP_HOST, &what.pattern);
    if (status == LSP_OK) {
        status = lsp_cache_model_predict(ctx, NULL, &what, &p);
    }
    cr_assert((status == LSP_OK) == (p.hit_rate >= 0));
    return status;
}

Test(model, every_allocation_may_fail) {
    int32_t *index = make_index("random");
    test_failing_memory(1, sample_and_predict, index);
    free(index);
}
