/* Checks, comparisons and statistics of matrices on the GPU: every field and every sentence is that of the host.
 * Skipped without a GPU. */
#include "tests/planned.h"
#include "tests/there.h"

/* ---- statistics ---- */

static void must_tell_the_same(lsp_ctx *ctx, const lsp_csr *A) {
    lsp_csr a = upload(ctx, A);
    lsp_csr_stats here, found;
    memset(&here, 0, sizeof here), memset(&found, 0, sizeof found);
    must(ctx, lsp_csr_get_stats(ctx, A, &here));
    must(ctx, lsp_csr_get_stats(ctx, &a, &found));
#define SAME(field)                                                                                                    \
    cr_assert(here.field == found.field, #field ": %lld, on the GPU %lld", (long long)here.field,                      \
              (long long)found.field)
    SAME(empty_rows);
    SAME(empty_cols);
    SAME(min_row);
    SAME(max_row);
    SAME(max_col);
    SAME(lower_bandwidth);
    SAME(upper_bandwidth);
    SAME(diagonal);
    SAME(unsorted_rows);
    SAME(duplicates);
    SAME(zeros);
    SAME(not_finite);
    SAME(square);
    SAME(pattern_symmetric);
    SAME(symmetric);
    SAME(skew);
    SAME(hermitian);
    SAME(products);
    SAME(product_nnz_bound);
    cr_assert(memcmp(&here.mean_row, &found.mean_row, 8) == 0 && memcmp(&here.stddev_row, &found.stddev_row, 8) == 0);
    cr_assert(memcmp(here.histogram, found.histogram, sizeof here.histogram) == 0);
    cr_assert(memcmp(here.reserved, found.reserved, sizeof here.reserved) == 0);
    lsp_csr_free(ctx, &a);
}

Test(device_facts, statistics_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < planned_size_count * test_combinations * 2; c += pace()) {
        lsp_csr A = planned_random(ctx, planned_sizes[c / test_combinations / 2], test_types(c % test_combinations),
                                   c / test_combinations % 2, 3);
        must_tell_the_same(ctx, &A);
        lsp_csr_free(ctx, &A);
    }
    lsp_ctx_destroy(ctx);
}

/* Symmetric of every kind, and almost. */
Test(device_facts, symmetries_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < test_combinations * 4; c++) {
        const lsp_csr_types types = test_types(c % test_combinations);
        const lsp_symmetry kind = (lsp_symmetry)(c / test_combinations);
        lsp_csr A = test_random_csr(ctx, 40, 40, 200, types, 3), T, S;
        must(ctx, lsp_csr_transpose(ctx, &A, &T));
        for (int64_t k = 0; k < T.nnz && kind != LSP_SYMMETRY_GENERAL;
             k++) { /* the other triangle, as the kind mirrors it */
            const lsp_value v = lsp_value_at(&T, k);
            test_set_value(&T, k, kind == LSP_SYMMETRY_SKEW ? -v.re : v.re,
                           kind == LSP_SYMMETRY_SYMMETRIC ? v.im : -v.im);
        }
        must(ctx, lsp_csr_copy(ctx, &A, NULL, &S));
        if (types.val_type != LSP_C64) {
            lsp_csr_free(ctx, &S);
            must(ctx, lsp_csr_add(ctx, 1, &A, 1, &T, &S));
        }
        must_tell_the_same(ctx, &S);
        if (S.nnz > 50) { /* one value, or one column, is other */
            test_set_value(&S, 50, 1e9, 1e9);
            must_tell_the_same(ctx, &S);
            lsp_index_set(S.col, S.col_type, 50, 39 - lsp_csr_col(&S, 50));
            must_tell_the_same(ctx, &S);
        }
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &T), lsp_csr_free(ctx, &S);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_facts, a_hermitian_matrix_and_a_huge_row) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    int32_t rowptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    double val[] = {1, 0, 2, 3, 2, -3, 5, 0};
    lsp_csr A = TEST_CSR(2, 2, rowptr, col, val);
    A.val_type = LSP_C64;
    must_tell_the_same(ctx, &A);
    const int64_t size[] = {300, 300, 60000}; /* a fifth of the entries in row 0; others reach over many tiles */
    lsp_csr B = planned_random(ctx, size, test_types(8), false, 1);
    must_tell_the_same(ctx, &B);
    static const char *const names[] = {"poisson2d:40", "rmat:8:9", "er:500:3", "perm:900"};
    for (int i = 0; i < 4; i++) {
        lsp_csr_free(ctx, &B);
        must(ctx, lsp_generate(ctx, names[i], 1, NULL, &B));
        must_tell_the_same(ctx, &B);
    }
    lsp_ctx_destroy(ctx);
}

/* ---- comparison ---- */

static void must_compare_alike(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B) {
    lsp_csr a = upload(ctx, A), b = upload(ctx, B);
    lsp_csr_difference here, found;
    must(ctx, lsp_csr_compare(ctx, A, B, &here));
    must(ctx, lsp_csr_compare(ctx, &a, &b, &found));
    cr_assert(here.same_shape == found.same_shape && here.same_pattern == found.same_pattern &&
                  here.same_bits == found.same_bits && here.row == found.row && here.col == found.col &&
                  memcmp(&here.max_rel, &found.max_rel, 8) == 0,
              "%d %d %d (%lld, %lld) %a; on the GPU %d %d %d (%lld, %lld) %a", here.same_shape, here.same_pattern,
              here.same_bits, (long long)here.row, (long long)here.col, here.max_rel, found.same_shape,
              found.same_pattern, found.same_bits, (long long)found.row, (long long)found.col, found.max_rel);
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b);
}

Test(device_facts, comparisons_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < planned_size_count * test_combinations * 2; c += pace()) {
        const int64_t *size = planned_sizes[c / test_combinations / 2];
        const bool tidy = c / test_combinations % 2;
        const lsp_csr_types types = test_types(c % test_combinations), others = test_types((c + 7) % test_combinations);
        lsp_csr A = planned_random(ctx, size, types, tidy, 3), B = planned_random(ctx, size, others, tidy, 4), C;
        must_compare_alike(ctx, &A, &A);
        must_compare_alike(ctx, &A, &B); /* other places, other types */
        must(ctx, lsp_csr_copy(ctx, &A, NULL, &C));
        for (int round = 0; round < 3 && C.nnz > 0; round++) {
            must_compare_alike(ctx, &A, &C);
            for (int64_t k = round; k < C.nnz && round < 2; k += 1 + C.nnz / 4) { /* few values, near and far */
                test_set_value(&C, k, 1 + (double)k * 1e-9, 3e-200);
                test_set_value(&A, k, 1 + (double)(k + round) * 1e-9, 1e-200);
            }
            if (round == 1) { /* and one column: the patterns differ in a row, but not in the rowptr */
                lsp_index_set(C.col, C.col_type, C.nnz / 2, C.cols - 1 - lsp_csr_col(&C, C.nnz / 2));
            }
        }
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B), lsp_csr_free(ctx, &C);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_facts, a_difference_is_told_wherever_it_is) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    int32_t rowptr[] = {0, 2, 2, 5}, shorter[] = {0, 2, 2, 4}, moved[] = {0, 1, 2, 5}, later[] = {0, 2, 3, 5};
    int32_t col[] = {0, 3, 1, 1, 3}, other[] = {0, 3, 1, 2, 3};
    double val[] = {1, 2, 3, 4, 5}, val2[] = {1, 2.5, 3, -4, 5.5};
    int32_t *const rows[] = {rowptr, shorter, moved, later}, *const cols[] = {col, other};
    for (int i = 0; i < 64; i++) {
        lsp_csr A = TEST_CSR(3, 4, rows[i % 4], cols[i / 4 % 2], val);
        lsp_csr B = TEST_CSR(3, 4 + (i == 63), rows[i / 8 % 4], cols[i / 32 % 2], val2);
        must_compare_alike(ctx, &A, &B);
    }
    lsp_ctx_destroy(ctx);
}

/* In unsorted rows of different patterns the r-th entry at a place belongs to the r-th there. */
Test(device_facts, unsorted_rows_are_compared_by_place) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    int32_t a_rowptr[] = {0, 4}, a_col[] = {3, 1, 3, 0}, b_rowptr[] = {0, 3}, b_col[] = {0, 3, 3};
    double a_val[] = {8, 7, 5, 1}, b_val[] = {1, 8, 4};
    lsp_csr A = TEST_CSR(1, 4, a_rowptr, a_col, a_val), B = TEST_CSR(1, 4, b_rowptr, b_col, b_val);
    lsp_csr_difference d;
    must(ctx, lsp_csr_compare(ctx, &A, &B, &d));
    cr_assert(!d.same_pattern && d.row == 0 && d.col == 0 && d.max_rel == 0.2, "%g", d.max_rel);
    must_compare_alike(ctx, &A, &B);
    must_compare_alike(ctx, &B, &A);
    lsp_ctx_destroy(ctx);
}

/* ---- checks ---- */

/* Both places must answer alike, with one sentence. */
static void must_answer_alike(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *a, const char *part, unsigned flags) {
    char sentence[256];
    const lsp_status status = lsp_csr_check(ctx, A, flags);
    snprintf(sentence, sizeof sentence, "%s", lsp_last_error(ctx));
    const lsp_status found = lsp_csr_check(ctx, a, flags);
    cr_assert(status == found, "%s; on the GPU %s", lsp_status_name(status), lsp_status_name(found));
    cr_assert(status == LSP_OK || strcmp(sentence, lsp_last_error(ctx)) == 0, "%s; on the GPU %s", sentence,
              lsp_last_error(ctx));
    cr_assert(!part || (status == LSP_ERR_FORMAT && strstr(sentence, part)), "%s", sentence);
}

Test(device_facts, checks_have_the_sentences_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < planned_size_count * test_combinations * 2; c += pace()) {
        lsp_csr A = planned_random(ctx, planned_sizes[c / test_combinations / 2], test_types(c % test_combinations),
                                   c / test_combinations % 2, 5);
        lsp_csr a = upload(ctx, &A);
        for (unsigned flags = 0; flags < 8; flags++) {
            must_answer_alike(ctx, &A, &a, NULL, flags);
        }
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a);
    }
    lsp_ctx_destroy(ctx);
}

typedef struct sample { /* 3 x 5 */
    int64_t rowptr[4];
    int32_t col[5];
    float val[5];
    unsigned flags;
    const char *part;
} sample;

Test(device_facts, malformed_ones_are_refused_with_the_sentences_of_the_host) {
    static const sample samples[] = {
        {{1, 2, 3, 5}, {0, 1, 2, 3, 4}, {0}, 0, "A: rowptr[0] is 1, not 0"},
        {{0, 2, 3, 6}, {0, 1, 2, 3, 4}, {0}, 0, "A: rowptr[3] is 6, but there are 5 entries"},
        {{0, 4, 3, 5}, {0, 1, 2, 3, 4}, {0}, 0, "A, row 1 ends at entry 3, before its start at 4"},
        {{0, INT64_MIN, INT64_MAX, 5}, {0, 1, 2, 3, 4}, {0}, 7, "A, row 0 ends at entry -9223372036854775808"},
        {{0, 2, 2, 5}, {0, 1, 2, 5, -1}, {0}, 7, "A, row 2: column 5 is not in 0 .. 4 (indices are from 0)"},
        {{0, 2, 2, 5}, {0, -7, 2, 5, -1}, {0}, 0, "A, row 0: column -7"},
        {{0, 2, 2, 5}, {0, 1, 2, 4, 3}, {0}, LSP_CHECK_SORTED, "A, row 2: its columns do not ascend"},
        {{0, 2, 2, 5}, {4, 1, 2, 2, 3}, {0}, LSP_CHECK_UNIQUE, "A, row 2 holds a column twice"},
        {{0, 2, 2, 5}, {0, 1, 2, 1, 2}, {0}, LSP_CHECK_UNIQUE, "A, row 2 holds a column twice"},
        {{0, 2, 2, 5}, {0, 1, 2, 1, 2}, {NAN}, 7, "A, row 2: its columns do not ascend"},
        {{0, 2, 2, 5}, {0, 1, 1, 2, 3}, {0, 1, 2, -INFINITY, NAN}, 7, "A, row 2: the value at column 2 is not finite"}};
    lsp_ctx *ctx = test_gpu_ctx_or_skip(), *host = test_ctx(1);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        sample s = samples[i];
        int64_t fine[] = {0, 2, 2, 5};
        int32_t columns[] = {0, 1, 2, 3, 4};
        lsp_csr A = {3, 5, 5, fine, columns, s.val, LSP_I64, LSP_I32, LSP_F32, LSP_HOST}, a = upload(ctx, &A);
        A.rowptr = s.rowptr, A.col = s.col;
        must(ctx, lsp_cuda_copy(ctx, a.rowptr, LSP_CUDA, s.rowptr, LSP_HOST, sizeof s.rowptr));
        must(ctx, lsp_cuda_copy(ctx, a.col, LSP_CUDA, s.col, LSP_HOST, sizeof s.col));
        must_answer_alike(ctx, &A, &a, s.part, s.flags);
        if (i < 6) { /* no matrix at all */
            lsp_csr_stats stats = {.zeros = 42};
            lsp_csr_difference d = {.row = 42};
            must_fail(ctx, LSP_ERR_FORMAT, s.part, lsp_csr_get_stats(ctx, &a, &stats));
            must_fail(ctx, LSP_ERR_FORMAT, s.part, lsp_csr_compare(ctx, &a, &a, &d));
            cr_assert(stats.zeros == 42 && d.row == 42);
        }
        must_fail(host, LSP_ERR_DEVICE, "A lies on the GPU, and this context is on the host",
                  lsp_csr_check(host, &a, 0));
        must_fail(host, LSP_ERR_DEVICE, "A lies on the GPU", lsp_csr_get_stats(host, &a, &(lsp_csr_stats){0}));
        must_fail(host, LSP_ERR_DEVICE, "A lies on the GPU", lsp_csr_compare(host, &a, &a, &(lsp_csr_difference){0}));
        must_fail(ctx, LSP_ERR_ARGUMENT, "one of the matrices to be compared lies on the GPU",
                  lsp_csr_compare(ctx, &a, &A, &(lsp_csr_difference){0}));
        must_fail(ctx, LSP_ERR_ARGUMENT, "0x8 are not flags", lsp_csr_check(ctx, &a, 8));
        lsp_csr_free(ctx, &a);
    }
    lsp_ctx_destroy(host), lsp_ctx_destroy(ctx);
}

/* ---- a budget that ends anywhere ---- */

Test(device_facts, memory_that_does_not_suffice_is_told) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_csr A = planned_random(ctx, (int64_t[]){90, 90, 900}, test_types(8), false, 1), a = upload(ctx, &A);
    lsp_csr B = planned_random(ctx, (int64_t[]){90, 90, 800}, test_types(8), false, 2), b = upload(ctx, &B);
    for (int step = 0; step < 3; step++) {
        lsp_status status = LSP_ERR_MEMORY;
        for (int64_t budget = 64; status != LSP_OK; budget += budget / 8) {
            const lsp_ctx_options options = {.device = LSP_CUDA, .max_bytes = budget};
            lsp_ctx *small = NULL;
            lsp_csr_stats stats = {.zeros = 42};
            lsp_csr_difference d = {.row = 42};
            cr_assert(budget < 1 << 30);
            if (lsp_ctx_create(&small, &options, NULL, 0) != LSP_OK) {
                continue;
            }
            status = step == 0   ? lsp_csr_get_stats(small, &a, &stats)
                     : step == 1 ? lsp_csr_compare(small, &a, &b, &d)
                                 : lsp_csr_check(small, &a, LSP_CHECK_UNIQUE);
            status = step == 2 && status == LSP_ERR_FORMAT ? LSP_OK : status; /* there are duplicates */
            cr_assert(status == LSP_OK || (status == LSP_ERR_MEMORY && stats.zeros == 42 && d.row == 42), "%s",
                      lsp_last_error(small));
            lsp_ctx_destroy(small);
        }
    }
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b);
    lsp_ctx_destroy(ctx);
}
