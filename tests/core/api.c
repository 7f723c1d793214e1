/* Wrong and unusual calls: invalid types, sizes beyond any memory, filters of nothing, words that are reserved. */
#include "tests/diagonal.h"
#include "tests/matrices.h"
#include "tests/pairs.h"

static const int strange[] = {-1, 9, 99, INT32_MAX, INT32_MIN};
enum { STRANGE = sizeof strange / sizeof *strange };

static lsp_status ignore_rows(void *user, int64_t first_row, const lsp_csr *rows) {
    (void)user, (void)first_row, (void)rows;
    return LSP_OK;
}

Test(api, types_have_names) {
    const char *const names[] = {"LSP_NONE", "LSP_I32", "LSP_I64", "LSP_U32", "LSP_U64",
                                 "LSP_F32",  "LSP_F64", "LSP_C64", "LSP_BOOL"};
    for (int t = LSP_NONE; t <= LSP_BOOL; t++) {
        cr_assert_str_eq(lsp_type_name((lsp_type)t), names[t]);
    }
    for (int i = 0; i < STRANGE; i++) {
        cr_assert_str_eq(lsp_type_name((lsp_type)strange[i]), "?");
        cr_assert_eq(lsp_type_bytes((lsp_type)strange[i]), 0);
    }
}

#define REFUSED(call) must_fail(ctx, LSP_ERR_ARGUMENT, "", call)

Test(api, numbers_that_are_no_type_are_refused_by_all_that_take_types) {
    lsp_ctx *ctx = test_ctx(1);
    diagonal d = three();
    lsp_csr *A = view(&d), B = {.rows = 42};
    const int32_t index[] = {0, 1, 2};
    for (int i = 0; i < 3 * STRANGE; i++) {
        const lsp_type t = (lsp_type)strange[i / 3];
        const lsp_csr_types types = {i % 3 == 0 ? t : 0, i % 3 == 1 ? t : 0, i % 3 == 2 ? t : 0, false, LSP_PLACE_HOST};
        lsp_csr_types dropped = types;
        dropped.drop_values = true;
        const lsp_coo coo = {3, 3, 3, index, index, d.val, LSP_I32, LSP_F64, LSP_HOST};
        REFUSED(lsp_csr_create(ctx, 1, 1, 1, &types, &B));
        REFUSED(lsp_csr_create(ctx, 1, 1, 1, &dropped, &B));
        REFUSED(lsp_csr_copy(ctx, A, &types, &B));
        REFUSED(lsp_csr_copy(ctx, A, &dropped, &B));
        REFUSED(lsp_coo_to_csr(ctx, &coo, &types, &B, NULL));
        REFUSED(lsp_coo_to_csr(ctx, &coo, &dropped, &B, NULL));
        REFUSED(lsp_generate(ctx, "poisson2d:2", 1, &types, &B));
        const char text[] = "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n";
        const lsp_mtx_read_options read = {.types = types};
        REFUSED(lsp_mtx_read_memory(ctx, text, sizeof text - 1, "text", &read, &B, NULL));
        for (int drop = 0; drop < 2; drop++) {
            const lsp_spgemm_options product = {.types = drop ? dropped : types};
            lsp_spgemm_plan *plan = NULL;
            REFUSED(lsp_spgemm(ctx, A, A, &product, &B, NULL));
            REFUSED(lsp_spgemm_plan_create(ctx, A, A, &product, &plan));
            REFUSED(lsp_spgemm_stream(ctx, A, A, &product, 0, ignore_rows, NULL, NULL));
            REFUSED(lsp_spgemm_write(ctx, "/nonexistent/C.mtx", A, A, &product, 0, NULL, NULL));
            REFUSED(lsp_spgemm_triple(ctx, A, A, A, &product, &B, NULL));
        }
        lsp_coo wrong = coo; /* the triples' own types */
        *(i % 3 == 0 ? &wrong.index_type : &wrong.val_type) = t;
        REFUSED(lsp_coo_to_csr(ctx, &wrong, NULL, &B, NULL));
        REFUSED(lsp_coo_to_csr(ctx, &wrong, &(lsp_csr_types){.drop_values = true}, &B, NULL));
        uint32_t keys[] = {2, 1};
        lsp_segsort_args sort = {.n = 2, .segments = 1, .length = 2, .key_type = LSP_U32, .keys = keys};
        sort.keys_out = keys, sort.change_count = keys;
        *(i % 3 == 0 ? &sort.key_type : &sort.offset_type) = t;
        REFUSED(lsp_segsort(ctx, &sort, NULL));
        lsp_segsort_plan *plan = NULL;
        REFUSED(lsp_segsort_plan_create(ctx, &sort, &plan));
    }
    cr_assert(B.rows == 42 && B.rowptr == NULL);
    lsp_ctx_destroy(ctx);
}

Test(api, numbers_that_are_no_place_symmetry_semiring_or_method_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    diagonal d = three();
    lsp_csr *A = view(&d), B = {.rows = 42};
    for (int i = 0; i < STRANGE; i++) {
        lsp_csr away = *A;
        away.where = (lsp_where)strange[i];
        const lsp_filter masked = {.mask = &away};
        const lsp_spgemm_options options[] = {{.types.place = (lsp_place)strange[i]},
                                              {.semiring = (lsp_semiring)strange[i]},
                                              {.method = (lsp_spgemm_method)strange[i]},
                                              {.filter.mask = &away}};
        for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
            REFUSED(lsp_spgemm(ctx, A, A, &options[o], &B, NULL));
            REFUSED(lsp_spgemm_stream(ctx, A, A, &options[o], 0, ignore_rows, NULL, NULL));
            REFUSED(lsp_spgemm_triple(ctx, A, A, A, &options[o], &B, NULL));
        }
        REFUSED(lsp_spgemm(ctx, &away, &away, NULL, &B, NULL));
        REFUSED(lsp_spgemm_stream(ctx, &away, A, NULL, 0, ignore_rows, NULL, NULL));
        REFUSED(lsp_csr_add(ctx, 1, A, 1, &away, &B));
        REFUSED(lsp_csr_filter(ctx, A, &masked, &B));
        REFUSED(lsp_csr_filter(ctx, &away, &(lsp_filter){0}, &B));
        const lsp_csr_types no_place = {.place = (lsp_place)strange[i]};
        char sentence[64];
        (void)snprintf(sentence, sizeof sentence, "there is no place %d for a", strange[i]);
        must_fail(ctx, LSP_ERR_ARGUMENT, sentence, lsp_csr_create(ctx, 1, 1, 1, &no_place, &B));
        must_fail(ctx, LSP_ERR_ARGUMENT, sentence, lsp_csr_copy(ctx, A, &no_place, &B));
        must_fail(ctx, LSP_ERR_ARGUMENT, sentence, lsp_generate(ctx, "poisson2d:2", 1, &no_place, &B));
        must_fail(ctx, LSP_ERR_ARGUMENT, sentence, lsp_spgemm(ctx, A, A, &options[0], &B, NULL));
        must_fail(ctx, LSP_ERR_ARGUMENT, sentence,
                  lsp_csr_from_diagonal(ctx, 1, NULL, LSP_F64, (lsp_where)strange[i], &B));
        REFUSED(lsp_csr_expand(ctx, A, (lsp_symmetry)strange[i], &B));
        const lsp_mtx_write_options write = {.symmetry = (lsp_symmetry)strange[i]};
        REFUSED(lsp_mtx_write(ctx, "/nonexistent/A.mtx", A, &write));
        REFUSED(lsp_segsort(ctx, &(lsp_segsort_args){.key_type = LSP_U32, .where = (lsp_where)strange[i]}, NULL));
    }
    cr_assert(B.rows == 42 && B.rowptr == NULL);
    lsp_ctx_destroy(ctx);
}

Test(api, triples_that_no_memory_can_hold_are_refused_unread) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr B = {.rows = 42};
    const int64_t index[] = {0};
    const double val[] = {1};
    const int64_t counts[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX / 8 + 1};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char number[32];
        snprintf(number, sizeof number, "%lld triples", (long long)counts[i]);
        const lsp_coo coo = {1, 1, counts[i], index, index, val, LSP_I64, LSP_F64, LSP_HOST};
        must_fail(ctx, LSP_ERR_ARGUMENT, number, lsp_coo_to_csr(ctx, &coo, NULL, &B, NULL));
    }
    const lsp_coo pairs = {1, 1, INT64_MAX / 16 + 1, index, index, val, LSP_I32, LSP_C64, LSP_HOST};
    must_fail(ctx, LSP_ERR_ARGUMENT, "triples", lsp_coo_to_csr(ctx, &pairs, NULL, &B, NULL));
    cr_assert(B.rows == 42 && B.rowptr == NULL);
    lsp_ctx_destroy(ctx);
}

Test(api, a_sentence_names_the_matrix_that_is_wrong) {
    lsp_ctx *ctx = test_ctx(1);
    diagonal d = three(), e = three(), f = three();
    lsp_csr *A = view(&d), *B = view(&e), *bad = view(&f), C = {0};
    f.col[2] = 100;
    const char *a = "A, row 2: column 100 is not in 0 .. 2 (indices are from 0)", *b = "B, row 2: column 100";
    const lsp_filter masked = {.mask = bad};
    const lsp_spgemm_options transposed = {.transpose_a = true, .transpose_b = true};
    must_fail(ctx, LSP_ERR_FORMAT, a, lsp_csr_check(ctx, bad, 0));
    must_fail(ctx, LSP_ERR_FORMAT, a, lsp_spgemm(ctx, bad, B, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, b, lsp_spgemm(ctx, A, bad, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, b, lsp_spgemm(ctx, A, bad, &transposed, &C, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, b, lsp_spgemm_stream(ctx, A, bad, NULL, 0, ignore_rows, NULL, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, b, lsp_spgemm_stream(ctx, A, bad, &transposed, 0, ignore_rows, NULL, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, b, lsp_csr_add(ctx, 1, A, 1, bad, &C));
    must_fail(ctx, LSP_ERR_FORMAT, b, lsp_csr_compare(ctx, A, bad, &(lsp_csr_difference){0}));
    must_fail(ctx, LSP_ERR_FORMAT, "the mask, row 2", lsp_csr_filter(ctx, A, &masked, &C));
    must_fail(ctx, LSP_ERR_FORMAT, "R, row 2", lsp_spgemm_triple(ctx, bad, A, B, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "A, row 2", lsp_spgemm_triple(ctx, A, bad, B, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "P, row 2", lsp_spgemm_triple(ctx, A, A, bad, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "P, row 2", lsp_spgemm_triple(ctx, NULL, A, bad, NULL, &C, NULL));
    bad->rowptr = NULL;
    must_fail(ctx, LSP_ERR_ARGUMENT, "B has no row pointers", lsp_spgemm(ctx, A, bad, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "B is NULL", lsp_csr_add(ctx, 1, A, 1, NULL, &C));
    lsp_ctx_destroy(ctx);
}

/* ---- nothing is silently void ---- */

Test(api, filters_that_would_do_nothing_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    diagonal d = three();
    const lsp_csr *A = view(&d);
    lsp_csr B = {.rows = 42};
    lsp_spgemm_plan *plan = NULL;
    const struct {
        lsp_filter filter;
        const char *part;
    } cases[] = {{{.complement = true}, "the mask is NULL"},
                 {{.complement = true, .drop = true}, "the mask is NULL"},
                 {{.tolerance = 0.5}, "drop is false"},
                 {{.mask = A, .tolerance = 1e-9}, "drop is false"},
                 {{.tolerance = -1}, "-1"},
                 {{.drop = true, .tolerance = -1}, "-1"},
                 {{.drop = true, .tolerance = NAN}, "nan"},
                 {{.tolerance = NAN}, "nan"},
                 {{.largest = -3}, "-3 entries"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lsp_spgemm_options options = {.filter = cases[i].filter};
        must_fail(ctx, LSP_ERR_ARGUMENT, cases[i].part, lsp_csr_filter(ctx, A, &cases[i].filter, &B));
        must_fail(ctx, LSP_ERR_ARGUMENT, cases[i].part, lsp_spgemm(ctx, A, A, &options, &B, NULL));
        must_fail(ctx, LSP_ERR_ARGUMENT, cases[i].part, lsp_spgemm_triple(ctx, A, A, A, &options, &B, NULL));
        must_fail(ctx, LSP_ERR_ARGUMENT, cases[i].part,
                  lsp_spgemm_stream(ctx, A, A, &options, 0, ignore_rows, NULL, NULL));
        cr_assert(lsp_spgemm_plan_create(ctx, A, A, &options, &plan) != LSP_OK && plan == NULL);
    }
    cr_assert(B.rows == 42 && B.rowptr == NULL);
    lsp_ctx_destroy(ctx);
}

Test(api, pairs_beyond_the_integers_of_a_float_are_counted_exactly_and_rounded_once) {
    for (int threads = 1; threads < 3; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        check_counts(ctx, LSP_HOST, false);
        lsp_ctx_destroy(ctx);
    }
    lsp_ctx *ctx = test_ctx(1);
    int32_t rows[] = {0, 2}, cols[] = {0, 0};
    lsp_csr A = {1, 1, 2, rows, cols, NULL, LSP_I32, LSP_I32, LSP_NONE, LSP_HOST}, C;
    for (int method = LSP_SPGEMM_AUTO; method <= LSP_SPGEMM_SORT; method++) {
        const lsp_spgemm_options options = {.semiring = LSP_PLUS_PAIR, .method = (lsp_spgemm_method)method};
        must(ctx, lsp_spgemm(ctx, &A, &A, &options, &C, NULL)); /* two patterns give counts */
        cr_assert(C.nnz == 1 && C.val_type == LSP_F64 && ((double *)C.val)[0] == 4);
        lsp_csr_free(ctx, &C);
    }
    lsp_ctx_destroy(ctx);
}

/* ---- orders and progress ---- */

Test(api, orders_have_a_type_of_their_own) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A, B, C;
    lsp_csr_difference difference;
    must(ctx, lsp_generate(ctx, "er:200:5", 1, NULL, &A));
    cr_assert_eq(A.col_type, LSP_I32);
    int64_t wide[200];
    int32_t narrow[200];
    for (int i = 0; i < 200; i++) {
        wide[i] = narrow[i] = (i * 7 + 3) % 200;
    }
    must(ctx, lsp_csr_permute(ctx, &A, narrow, narrow, LSP_NONE, &B));
    const lsp_csr_types types[] = {{.col_type = LSP_I32}, {.col_type = LSP_I64}};
    for (int t = 0; t < 4; t++) {
        lsp_csr typed;
        must(ctx, lsp_csr_copy(ctx, &A, &types[t / 2], &typed));
        must(ctx, t % 2 ? lsp_csr_permute(ctx, &typed, wide, wide, LSP_I64, &C)
                        : lsp_csr_permute(ctx, &typed, narrow, narrow, LSP_I32, &C));
        must(ctx, lsp_csr_compare(ctx, &B, &C, &difference));
        cr_assert(difference.same_bits && C.col_type == typed.col_type);
        must(ctx, lsp_csr_permute(ctx, &typed, wide, NULL, LSP_I64, &typed)); /* replaced; nothing is lost */
        lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &typed);
    }
    must_fail(ctx, LSP_ERR_ARGUMENT, "LSP_F32", lsp_csr_permute(ctx, &A, narrow, NULL, LSP_F32, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "?", lsp_csr_permute(ctx, &A, narrow, NULL, (lsp_type)99, &C));
    wide[7] = (int64_t)1 << 40;
    must_fail(ctx, LSP_ERR_ARGUMENT, "1099511627776", lsp_csr_permute(ctx, &A, NULL, wide, LSP_I64, &C));
    lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B);
    cr_assert_eq(bytes_in_use(ctx), 0);
    lsp_ctx_destroy(ctx);
}

typedef struct progress { /* what one call reported */
    char phase[16];
    double fraction;
    int phases;
    const char *wanted;
} progress;

static void watch(void *user, const char *phase, double fraction) {
    progress *p = user;
    if (p->phases == 0 || (p->fraction == 1 && fraction < 1)) { /* a phase begins */
        p->phases++;
        p->fraction = 0;
        snprintf(p->phase, sizeof p->phase, "%s", phase);
    }
    cr_assert(strcmp(phase, p->phase) == 0, "%s within %s, at %g", phase, p->phase, p->fraction);
    cr_assert(strcmp(phase, p->wanted) == 0, "%s, not %s", phase, p->wanted);
    cr_assert(fraction >= p->fraction && fraction <= 1, "%s: %g after %g", phase, fraction, p->fraction);
    p->fraction = fraction;
}

#define ENDS_AT_1(name, most, call)                                                                                    \
    do {                                                                                                               \
        p = (progress){.wanted = (name)};                                                                              \
        must(ctx, call);                                                                                               \
        cr_assert(p.phases >= 1 && p.phases <= (most) && p.fraction == 1, "%s: %d phases, %g", #call, p.phases,        \
                  p.fraction);                                                                                         \
    } while (0)

Test(api, every_phase_of_progress_ends_at_1) {
    progress p = {.wanted = ""};
    for (int threads = 1; threads < 3; threads++) {
        lsp_ctx *ctx = NULL;
        const lsp_ctx_options options = {.threads = threads, .progress = watch, .hook_user = &p};
        cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
        char path[64];
        snprintf(path, sizeof path, "api_progress_%d.mtx", threads);
        lsp_csr A, C, none = {0};
        must(ctx, lsp_generate(ctx, "poisson2d:120", 1, NULL, &A));
        must(ctx, lsp_csr_create(ctx, 3, 3, 0, &(lsp_csr_types){.val_type = LSP_F64}, &none));
        ENDS_AT_1("multiply", 1, lsp_spgemm(ctx, &A, &A, NULL, &C, NULL));
        lsp_csr_free(ctx, &C);
        const lsp_spgemm_options masked = {.filter.mask = &A};
        ENDS_AT_1("multiply", 1, lsp_spgemm(ctx, &A, &A, &masked, &C, NULL));
        lsp_csr_free(ctx, &C);
        ENDS_AT_1("stream", 1, lsp_spgemm_stream(ctx, &A, &A, NULL, 200000, ignore_rows, NULL, NULL));
        ENDS_AT_1("stream", 2, lsp_spgemm_write(ctx, path, &A, &A, NULL, 200000, NULL, NULL));
        ENDS_AT_1("stream", 1, lsp_spgemm_stream(ctx, &none, &none, NULL, 0, ignore_rows, NULL, NULL));
        ENDS_AT_1("write", 1, lsp_mtx_write(ctx, path, &none, NULL));
        const lsp_mtx_write_options lower = {.symmetry = LSP_SYMMETRY_SYMMETRIC};
        ENDS_AT_1("write", 1, lsp_mtx_write(ctx, path, &A, &lower));
        ENDS_AT_1("write", 1, lsp_mtx_write(ctx, path, &A, NULL));
        ENDS_AT_1("read", 1, lsp_mtx_read(ctx, path, NULL, &C, NULL));
        lsp_csr_free(ctx, &C);
        const char array[] = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
        ENDS_AT_1("read", 1, lsp_mtx_read_memory(ctx, array, sizeof array - 1, "text", NULL, &C, NULL));
        remove(path);
        lsp_ctx_destroy(ctx);
    }
}

/* ---- room for later versions ---- */

Test(api, words_reserved_for_later_versions_must_be_zero) {
    diagonal d = three();
    lsp_csr *A = view(&d), C = {0};
    for (int i = 0; i < LSP_RESERVED; i++) {
        char part[64], error[256];
        snprintf(part, sizeof part, "reserved[%d] of lsp_", i);
        lsp_ctx *ctx = NULL;
        lsp_ctx_options options = {0};
        options.reserved[i] = -1;
        cr_assert_eq(lsp_ctx_create(&ctx, &options, error, sizeof error), LSP_ERR_ARGUMENT);
        cr_assert(strstr(error, part) != NULL && ctx == NULL);
        ctx = test_ctx(1);
        lsp_filter filter = {.largest = 1};
        lsp_spgemm_options product = {0};
        lsp_mtx_read_options read = {0};
        lsp_mtx_write_options write = {0};
        uint32_t keys[] = {2, 1};
        lsp_segsort_args sort = {.n = 2, .segments = 1, .length = 2, .key_type = LSP_U32, .keys = keys};
        sort.keys_out = keys;
        filter.reserved[i] = product.reserved[i] = read.reserved[i] = write.reserved[i] = sort.reserved[i] = 7;
        must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_csr_filter(ctx, A, &filter, &C));
        must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_spgemm(ctx, A, A, &product, &C, NULL));
        must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_spgemm_stream(ctx, A, A, &product, 0, ignore_rows, NULL, NULL));
        product = (lsp_spgemm_options){.filter = filter};
        must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_spgemm(ctx, A, A, &product, &C, NULL));
        must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_mtx_read_memory(ctx, "", 0, "text", &read, &C, NULL));
        must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_mtx_write(ctx, "/nonexistent/A.mtx", A, &write));
        must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_segsort(ctx, &sort, NULL));
        cr_assert(C.rowptr == NULL && keys[0] == 2);
        lsp_ctx_destroy(ctx);
    }
}

Test(api, what_the_library_fills_has_its_reserved_words_zero) {
    lsp_ctx *ctx = test_ctx(1);
    diagonal d = three();
    lsp_csr *A = view(&d), C;
    lsp_ctx_info about;
    lsp_csr_stats stats;
    lsp_mtx_info file;
    lsp_spgemm_info product;
    lsp_segsort_info sorted;
    lsp_segsort_plan *plan;
    memset(&about, 0x55, sizeof about), memset(&stats, 0x55, sizeof stats), memset(&file, 0x55, sizeof file);
    memset(&product, 0x55, sizeof product), memset(&sorted, 0x55, sizeof sorted);
    const char text[] = "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n";
    const lsp_segsort_args sort = {.key_type = LSP_U32};
    must(ctx, lsp_ctx_get_info(ctx, &about));
    must(ctx, lsp_csr_get_stats(ctx, A, &stats));
    must(ctx, lsp_mtx_read_memory(ctx, text, sizeof text - 1, "text", NULL, &C, &file));
    lsp_csr_free(ctx, &C);
    must(ctx, lsp_spgemm(ctx, A, A, NULL, &C, &product));
    must(ctx, lsp_segsort_plan_create(ctx, &sort, &plan));
    must(ctx, lsp_segsort_plan_get_info(plan, &sorted));
    for (int i = 0; i < LSP_RESERVED; i++) {
        cr_assert(about.reserved[i] == 0 && stats.reserved[i] == 0 && file.reserved[i] == 0);
        cr_assert((i >= (int)(sizeof product.reserved / 8) || product.reserved[i] == 0) && sorted.reserved[i] == 0);
    }
    lsp_segsort_plan_destroy(plan);
    lsp_ctx_destroy(ctx);
}
