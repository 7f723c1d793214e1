/* The suffix array itself, against ref.c on short texts, and by its check on long ones. */
#include "cases.h"
#include "suffix_array/cpu/cpu.h"

/* On an emulated GPU each case has symbols of one width only. */
static bool is_left_out(const lsp_ctx *ctx, int symbol_bytes, int64_t number) {
    static const int widths[3] = {1, 2, 4};
    return ctx->options.device == LSP_CUDA && reduced(1, 0) && widths[number % 3] != symbol_bytes;
}

static void check_text(lsp_ctx *ctx, const lsp_text *text, const char *name) {
    int64_t *expected = expected_array(text);
    int32_t *narrow = malloc((size_t)(text->n + 2) * sizeof *narrow);
    int64_t *wide = malloc((size_t)(text->n + 1) * sizeof *wide);
    for (int method = LSP_SUFFIX_AUTO; method <= (int)last_method(ctx, text); method++) {
        const lsp_suffix_options options = {.method = (lsp_suffix_method)method};
        lsp_suffix_info info = {0};
        narrow[text->n] = 77;
        must(ctx, lsp_suffix_array(ctx, text, &options, LSP_I32, narrow, &info));
        must(ctx, lsp_suffix_array(ctx, text, &options, LSP_I64, wide, NULL));
        cr_assert(method == LSP_SUFFIX_AUTO || text->n == 0 || info.method == options.method);
        for (int64_t r = 0; r < text->n; r++) {
            cr_assert(narrow[r] == expected[r] && wide[r] == expected[r],
                      "%s, n %lld, %d bytes, %lld strings, method %d, place %lld: %d and %lld, not %lld", name,
                      (long long)text->n, text->symbol_bytes, (long long)text->strings, method, (long long)r, narrow[r],
                      (long long)wide[r], (long long)expected[r]);
        }
        cr_assert(narrow[text->n] == 77);
    }
    must(ctx, lsp_suffix_check(ctx, text, LSP_I64, expected));
    free(expected);
    free(narrow);
    free(wide);
}

TEST_ON_BOTH(suffix_array_arrays, every_kind_of_text_is_sorted) {
    const int64_t lengths[] = {0, 1, 2, 3, 65, 300, 5, 16, 63, 64, 1000, 3000};
    for (int kind = 0; kind < KINDS; kind++) {
        for (int l = 0; l < (int)reduced(ctx->options.device == LSP_CUDA ? 6 : 10, 12); l++) {
            for (int bytes = 1; bytes <= 4; bytes *= 2) {
                if (is_left_out(ctx, bytes, kind + l)) {
                    continue;
                }
                lsp_text text = make_text(kind, lengths[l], bytes, 0, (uint64_t)l);
                check_text(ctx, &text, kind_names[kind]);
                free_text(&text);
            }
        }
    }
}

Test(suffix_array_arrays, every_text_of_two_symbols_and_up_to_eleven_is_sorted) {
    lsp_ctx *ctx = test_ctx(1);
    for (int64_t n = 1; n <= reduced(8, 11); n++) {
        for (int64_t bits = 0; bits < (int64_t)1 << n; bits++) {
            uint8_t symbols[16];
            for (int64_t i = 0; i < n; i++) {
                symbols[i] = bits >> i & 1 ? 'b' : 'a';
            }
            check_text(ctx, &(lsp_text){.n = n, .symbol_bytes = 1, .symbols = symbols}, "two symbols");
        }
    }
    lsp_ctx_destroy(ctx);
}

TEST_ON_BOTH(suffix_array_arrays, sets_of_strings_are_sorted_and_equal_suffixes_keep_the_order_of_strings) {
    const int64_t counts[] = {1, 2, 7, 60, 400};
    for (int kind = 0; kind < KINDS; kind++) {
        for (int c = 0; c < 5; c += is_left_out(ctx, 0, 0) ? 2 : 1) {
            for (int bytes = 1; bytes <= 4; bytes *= 2) {
                for (int64_t n = 0; n <= 300; n += 150) {
                    if (is_left_out(ctx, bytes, kind + c + n / 150)) {
                        continue;
                    }
                    lsp_text text = make_text(kind, n, bytes, counts[c], (uint64_t)(c + kind));
                    check_text(ctx, &text, kind_names[kind]);
                    free_text(&text);
                }
            }
        }
    }
}

/* Long enough for several threads and blocks; the result must not depend on them, nor on the method or the device. */
TEST_ON_BOTH(suffix_array_arrays, long_texts_are_sorted_alike_by_all_methods_and_threads) {
    const int64_t n = reduced(ctx->options.device == LSP_CUDA ? 3000 : 140000, 500000);
    lsp_ctx *one = test_ctx(1);
    int32_t *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int64_t strings = 0; strings <= 3000; strings += 3000) {
            lsp_text text = make_text(kind, n, kind == RANDOM_300 ? 2 : 1, strings, 5);
            const lsp_suffix_options doubling = {.method = LSP_SUFFIX_DOUBLING};
            must(one, lsp_suffix_array(one, &text, &doubling, LSP_I32, a, NULL));
            must(one, lsp_suffix_check(one, &text, LSP_I32, a));
            for (int method = LSP_SUFFIX_AUTO; method <= (int)last_method(ctx, &text); method++) {
                const lsp_suffix_options options = {.method = (lsp_suffix_method)method};
                must(ctx, lsp_suffix_array(ctx, &text, &options, LSP_I32, b, NULL));
                cr_assert(memcmp(a, b, (size_t)n * sizeof *a) == 0, "%s, %lld strings, method %d", kind_names[kind],
                          (long long)strings, method);
            }
            free_text(&text);
        }
    }
    free(a);
    free(b);
    lsp_ctx_destroy(one);
}

Test(suffix_array_arrays, a_text_on_the_gpu_has_its_array_there) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_text text = make_text(WORDS, 5000, 2, 9, 1), there = text;
    int64_t *expected = expected_array(&text), *found = malloc((size_t)text.n * sizeof *found);
    lsp_array symbols = {0}, array = {0};
    must(ctx, lsp_array_create(ctx, 2 * (size_t)text.n, LSP_CUDA, &symbols));
    must(ctx, lsp_array_create(ctx, 8 * (size_t)text.n, LSP_CUDA, &array));
    must(ctx, lsp_array_copy(ctx, symbols.memory, LSP_CUDA, text.symbols, LSP_HOST, 2 * (size_t)text.n));
    there.symbols = symbols.memory, there.where = LSP_CUDA;
    must(ctx, lsp_suffix_array(ctx, &there, NULL, LSP_I64, array.memory, NULL));
    must(ctx, lsp_array_copy(ctx, found, LSP_HOST, array.memory, LSP_CUDA, 8 * (size_t)text.n));
    cr_assert(memcmp(expected, found, 8 * (size_t)text.n) == 0);
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "induced",
              lsp_suffix_array(ctx, &there, &(lsp_suffix_options){.method = LSP_SUFFIX_INDUCED}, LSP_I64, array.memory,
                               NULL));
    free(expected);
    free(found);
    free_text(&text);
    lsp_array_free(&symbols);
    lsp_array_free(&array);
    lsp_ctx_destroy(ctx);
}

/* Texts of more than 2^31 symbols have indices of 64 bits; here a short one is sorted as they are. */
Test(suffix_array_arrays, indices_of_64_bits_give_the_same_order) {
    lsp_ctx *ctx = test_ctx(2);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int bytes = 1; bytes <= 4; bytes *= 2) {
            for (int64_t strings = 0; strings <= 20; strings += 20) {
                lsp_text text = make_text(kind, kind == RANDOM_2 || (kind == RISING && bytes == 4) ? 200000 : 900,
                                          bytes, strings, 3);
                int64_t *expected = malloc((size_t)text.n * sizeof *expected);
                int64_t *found = malloc((size_t)text.n * sizeof *found);
                must(ctx, lsp_suffix_array(ctx, &text, NULL, LSP_I64, expected, NULL));
                must(ctx, lsp_suffix_check(ctx, &text, LSP_I64, expected));
                for (int method = 0; method <= (strings > 0 ? LSP_SUFFIX_DOUBLING : LSP_SUFFIX_INDUCED); method++) {
                    lsp_codes codes;
                    lsp_suffix_info info = {0};
                    const size_t mark = lsp_scratch_mark(ctx);
                    must(ctx, lsp_codes_make(ctx, &text, true, &codes));
                    must(ctx, lsp_codes_sort(ctx, &codes, (lsp_suffix_method)method, found, &info));
                    lsp_scratch_release(ctx, mark);
                    cr_assert(memcmp(expected, found, (size_t)text.n * sizeof *found) == 0, "%s, %d bytes, method %d",
                              kind_names[kind], bytes, method);
                }
                free(expected);
                free(found);
                free_text(&text);
            }
        }
    }
    lsp_ctx_destroy(ctx);
}

Test(suffix_array_arrays, the_check_finds_what_is_wrong) {
    lsp_ctx *ctx = test_ctx(1);
    const char *words = "missmississ";
    const int64_t starts[] = {0, 4, 4, 11};
    lsp_text text = {.n = 11, .symbol_bytes = 1, .symbols = words};
    int32_t array[11];
    for (int sets = 0; sets < 2; sets++) {
        text.strings = sets ? 3 : 0;
        text.starts = sets ? starts : NULL;
        must(ctx, lsp_suffix_array(ctx, &text, NULL, LSP_I32, array, NULL));
        must(ctx, lsp_suffix_check(ctx, &text, LSP_I32, array));
        for (int r = 0; r < 11; r++) {
            const int32_t kept = array[r];
            for (int32_t value = -1; value <= 11; value++) {
                array[r] = value;
                if (value != kept) {
                    must_fail(ctx, LSP_ERR_FORMAT, value < 0 || value == 11 ? "there are 11" : "stands at places",
                              lsp_suffix_check(ctx, &text, LSP_I32, array));
                }
            }
            array[r] = kept;
            for (int other = 0; other < r; other++) {
                array[r] = array[other], array[other] = kept;
                must_fail(ctx, LSP_ERR_FORMAT, "which comes before it", lsp_suffix_check(ctx, &text, LSP_I32, array));
                array[other] = array[r], array[r] = kept;
            }
        }
    }
    const lsp_text twins = {.n = 2, .symbol_bytes = 1, .symbols = "aa", .strings = 2, .starts = (int64_t[]){0, 1, 2}};
    must_fail(ctx, LSP_ERR_FORMAT, "comes before it", lsp_suffix_check(ctx, &twins, LSP_I32, (int32_t[]){1, 0}));
    lsp_ctx_destroy(ctx);
}
