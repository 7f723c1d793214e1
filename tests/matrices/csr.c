/* CSR matrices: made, checked, sorted, duplicates summed. */
#include "tests/matrices.h"

#include "core/isa.h"

Test(csr, the_bytes_of_a_type) {
    const size_t bytes[] = {0, 4, 8, 4, 8, 4, 8, 16};
    for (int type = 0; type < 8; type++) {
        cr_assert(lsp_type_bytes((lsp_type)type) == bytes[type], "type %d", type);
    }
    cr_assert(lsp_type_bytes((lsp_type)8) == 0 && lsp_type_bytes((lsp_type)-1) == 0);
}

/* Bytes, alignment, loads, stores and sums of one line of the table. */
static void check_value(lsp_type type) {
    _Alignas(16) char val[64] = {0};
    const size_t bytes = lsp_type_bytes(type);
    const bool complex = type == LSP_C64;
    cr_assert(lsp_is_value(type) && lsp_value_bytes(type) == bytes && 3 * bytes <= sizeof val, "type %d", (int)type);
    cr_assert(lsp_aligned(val, type) && (bytes == 0 || !lsp_aligned(val + 1, type)));
    lsp_value_set(type, val, 0, (lsp_value){1.5, -2});
    lsp_value_set(type, val, 1, (lsp_value){4, 8});
    lsp_value_add(type, val, 1, 0);
    const lsp_value first = lsp_value_of(type, val, 0), sum = lsp_value_of(type, val, 1);
    const lsp_value next = lsp_value_of(type, val, 2);
    cr_assert(bytes == 0 || (first.re == 1.5 && sum.re == 5.5 && next.re == 0 && next.im == 0), "type %d", (int)type);
    cr_assert(bytes > 0 || (first.re == 1 && sum.re == 1 && sum.im == 0), "a pattern stands for ones");
    cr_assert(first.im == (complex ? -2 : 0) && sum.im == (complex ? 6 : 0), "type %d", (int)type);
}

Test(csr, each_line_of_the_table_of_value_types_is_right) {
#define CHECK_VALUE(name, real, reals, unused) check_value(name);
    LSP_VALUE_TYPES(CHECK_VALUE, )
    check_value(LSP_NONE);
    cr_assert(!lsp_is_value(LSP_I32) && !lsp_is_value(LSP_U64) && !lsp_is_value((lsp_type)99));
    cr_assert(lsp_aligned((void *)8, LSP_I64) && !lsp_aligned((void *)4, LSP_I64) && lsp_aligned((void *)4, LSP_I32));
}

Test(csr, create_takes_the_narrowest_types_or_those_asked) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A;
    must(ctx, lsp_csr_create(ctx, 3, 5, 7, NULL, &A));
    cr_assert(A.rows == 3 && A.cols == 5 && A.nnz == 7 && A.where == LSP_HOST);
    cr_assert(A.rowptr_type == LSP_I32 && A.col_type == LSP_I32 && A.val_type == LSP_NONE);
    cr_assert(A.rowptr && A.col && !A.val);
    for (int i = 0; i <= 3; i++) {
        cr_assert(lsp_csr_rowptr(&A, i) == 0);
    }
    lsp_csr_free(ctx, &A);
    cr_assert(!A.rowptr && !A.col && A.rows == 0);
    lsp_csr_free(ctx, &A);
    lsp_csr_free(ctx, NULL);
    lsp_csr_free(NULL, NULL);

    must(ctx, lsp_csr_create(ctx, 1, ((int64_t)1 << 31), 1, NULL, &A));
    cr_assert(A.col_type == LSP_I32);
    must(ctx, lsp_csr_create(ctx, 1, ((int64_t)1 << 31) + 1, 1, NULL, &A));
    cr_assert(A.col_type == LSP_I64);
    must(ctx, lsp_csr_create(ctx, 0, 0, 0, &(lsp_csr_types){.rowptr_type = LSP_I64, .val_type = LSP_F64}, &A));
    cr_assert(A.rowptr_type == LSP_I64 && A.val_type == LSP_F64 && A.rowptr && !A.col && !A.val);
    cr_assert(lsp_csr_rowptr(&A, 0) == 0);
    must(ctx, lsp_csr_create(ctx, 2, 2, 2, &(lsp_csr_types){.val_type = LSP_F64, .drop_values = true}, &A));
    cr_assert(A.val_type == LSP_NONE && !A.val);
    lsp_ctx_destroy(ctx);
}

Test(csr, create_refuses_with_a_sentence) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = {.rows = 42};
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_create(ctx, 1, 1, 1, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "-1 rows", lsp_csr_create(ctx, -1, 1, 1, NULL, &A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "-1 columns", lsp_csr_create(ctx, 1, -1, 1, NULL, &A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "-1 entries", lsp_csr_create(ctx, 1, 1, -1, NULL, &A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "type LSP_F32",
              lsp_csr_create(ctx, 1, 1, 1, &(lsp_csr_types){.col_type = LSP_F32}, &A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "type LSP_TYPE_?",
              lsp_csr_create(ctx, 1, 1, 1, &(lsp_csr_types){.rowptr_type = (lsp_type)99}, &A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "values of type LSP_I32",
              lsp_csr_create(ctx, 1, 1, 1, &(lsp_csr_types){.val_type = LSP_I32}, &A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "place 7",
              lsp_csr_create(ctx, 1, 1, 1, &(lsp_csr_types){.where = (lsp_where)7}, &A));
    must_fail(ctx, LSP_ERR_DEVICE, "GPU", lsp_csr_create(ctx, 1, 1, 1, &(lsp_csr_types){.where = LSP_CUDA}, &A));
    must_fail(ctx, LSP_ERR_OVERFLOW, "2147483648 entries",
              lsp_csr_create(ctx, 1, 1, (int64_t)1 << 31, &(lsp_csr_types){.rowptr_type = LSP_I32}, &A));
    must_fail(ctx, LSP_ERR_OVERFLOW, "2147483649 columns",
              lsp_csr_create(ctx, 1, ((int64_t)1 << 31) + 1, 1, &(lsp_csr_types){.col_type = LSP_I32}, &A));
    must_fail(ctx, LSP_ERR_OVERFLOW, "9223372036854775807 rows", lsp_csr_create(ctx, INT64_MAX, 1, 1, NULL, &A));
    must_fail(ctx, LSP_ERR_OVERFLOW, "more bytes", lsp_csr_create(ctx, 1, 1, INT64_MAX, NULL, &A));
    must_fail(ctx, LSP_ERR_MEMORY, "4000000000008 bytes", lsp_csr_create(ctx, 0, 1, 1000000000000, NULL, &A));
    cr_assert(A.rows == 42 && !A.rowptr, "a failed call wrote its output");
    cr_assert(lsp_csr_create(NULL, 1, 1, 1, NULL, &A) == LSP_ERR_ARGUMENT);
    lsp_ctx_destroy(ctx);
}

/* A good matrix of 3 x 4, one thing of it then made wrong. */
typedef struct sample {
    int32_t rowptr[4], col[5];
    double val[5];
    lsp_csr A;
} sample;

static sample good(void) { return (sample){.rowptr = {0, 2, 2, 5}, .col = {0, 3, 1, 2, 3}, .val = {1, 2, 3, 4, 5}}; }
static lsp_csr *view(sample *s) {
    s->A = TEST_CSR(3, 4, s->rowptr, s->col, s->val);
    return &s->A;
}

/* The sample with one change must be refused by the check, and by every function that takes a matrix. */
#define REFUSED(code, part, change)                                                                                    \
    do {                                                                                                               \
        sample s = good();                                                                                             \
        lsp_csr *A = view(&s), before = {.rows = 42}, out = before, fine = good_matrix;                                \
        change;                                                                                                        \
        must_fail(ctx, code, part, lsp_csr_check(ctx, A, 0));                                                          \
        must_fail(ctx, code, part, lsp_csr_copy(ctx, A, NULL, &out));                                                  \
        must_fail(ctx, code, part, lsp_csr_transpose(ctx, A, &out));                                                   \
        must_fail(ctx, code, part, lsp_csr_sort(ctx, A));                                                              \
        must_fail(ctx, code, part, lsp_csr_permute(ctx, A, NULL, NULL, LSP_NONE, &out));                               \
        must_fail(ctx, code, part, lsp_csr_expand(ctx, A, LSP_GENERAL, &out));                                         \
        must_fail(ctx, code, part, lsp_csr_get_stats(ctx, A, &(lsp_csr_stats){0}));                                    \
        must_fail(ctx, code, part, lsp_csr_compare(ctx, A, &fine, &(lsp_csr_difference){0}));                          \
        must_fail(ctx, code, part, lsp_csr_compare(ctx, &fine, A, &(lsp_csr_difference){0}));                          \
        cr_assert(memcmp(&out, &before, sizeof out) == 0, "a failed call wrote its output");                           \
    } while (0)

Test(csr, everything_malformed_is_refused_everywhere) {
    lsp_ctx *ctx = test_ctx(2);
    sample g = good();
    lsp_csr good_matrix = *view(&g);
    must(ctx, lsp_csr_check(ctx, &good_matrix, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE | LSP_CHECK_FINITE));
    REFUSED(LSP_ERR_ARGUMENT, "NULL", A = NULL);
    REFUSED(LSP_ERR_FORMAT, "-1 rows", A->rows = -1);
    REFUSED(LSP_ERR_FORMAT, "columns", A->cols = INT64_MIN);
    REFUSED(LSP_ERR_FORMAT, "-5 entries", A->nnz = -5);
    REFUSED(LSP_ERR_FORMAT, "more than can be addressed", A->rows = INT64_MAX);
    REFUSED(LSP_ERR_FORMAT, "more than can be addressed", A->nnz = INT64_MAX);
    REFUSED(LSP_ERR_OVERFLOW, "2147483648 entries", A->nnz = (int64_t)1 << 31);
    REFUSED(LSP_ERR_OVERFLOW, "columns do not fit", A->cols = INT64_MAX);
    REFUSED(LSP_ERR_ARGUMENT, "row pointers of type LSP_NONE", A->rowptr_type = LSP_NONE);
    REFUSED(LSP_ERR_ARGUMENT, "columns of type LSP_NONE", A->col_type = LSP_NONE);
    REFUSED(LSP_ERR_ARGUMENT, "row pointers of type LSP_F64", A->rowptr_type = LSP_F64);
    REFUSED(LSP_ERR_ARGUMENT, "columns of type LSP_TYPE_?", A->col_type = (lsp_type)77);
    REFUSED(LSP_ERR_ARGUMENT, "values of type LSP_U64", A->val_type = LSP_U64);
    REFUSED(LSP_ERR_ARGUMENT, "values of type LSP_TYPE_?", A->val_type = (lsp_type)-1);
    REFUSED(LSP_ERR_ARGUMENT, "place 2", A->where = (lsp_where)2);
    REFUSED(LSP_ERR_ARGUMENT, "rowptr is NULL", A->rowptr = NULL);
    REFUSED(LSP_ERR_ARGUMENT, "col is NULL", A->col = NULL);
    REFUSED(LSP_ERR_ARGUMENT, "val is NULL", A->val = NULL);
    REFUSED(LSP_ERR_ARGUMENT, "val is not NULL", A->val_type = LSP_NONE);
    REFUSED(LSP_ERR_ARGUMENT, "not aligned", A->rowptr = (char *)A->rowptr + 1);
    REFUSED(LSP_ERR_ARGUMENT, "not aligned", A->col = (char *)A->col + 2);
    REFUSED(LSP_ERR_ARGUMENT, "not aligned", A->val = (char *)A->val + 4);
    REFUSED(LSP_ERR_FORMAT, "rowptr[0] is 1", s.rowptr[0] = 1);
    REFUSED(LSP_ERR_FORMAT, "rowptr[0] is -1", s.rowptr[0] = -1);
    REFUSED(LSP_ERR_FORMAT, "rowptr[3] is 4", s.rowptr[3] = 4);
    REFUSED(LSP_ERR_FORMAT, "rowptr[3] is -2147483648", s.rowptr[3] = INT32_MIN);
    REFUSED(LSP_ERR_FORMAT, "rowptr[2] is 2", A->rows = 2);
    REFUSED(LSP_ERR_FORMAT, "rowptr[0] is 0, but there are 5", A->rows = 0);
    REFUSED(LSP_ERR_FORMAT, "row 1 ends at entry 1, before its start at 2", s.rowptr[2] = 1);
    REFUSED(LSP_ERR_FORMAT, "row 2 ends at entry 5, before its start at 2147483647", s.rowptr[2] = INT32_MAX);
    REFUSED(LSP_ERR_FORMAT, "row 0 ends at entry -7", s.rowptr[1] = -7);
    REFUSED(LSP_ERR_FORMAT, "row 2: column 4 is not in 0 .. 3 (indices are from 0)", s.col[3] = 4);
    REFUSED(LSP_ERR_FORMAT, "row 0: column -1 is not", s.col[1] = -1);
    REFUSED(LSP_ERR_FORMAT, "row 0: column 0 is not in 0 .. -1", A->cols = 0);
    cr_assert(lsp_csr_check(NULL, &good_matrix, 0) == LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "0x8", lsp_csr_check(ctx, &good_matrix, 8));
    good_matrix.where = LSP_CUDA;
    must_fail(ctx, LSP_ERR_ARGUMENT, "GPU", lsp_csr_check(ctx, &good_matrix, 0));
    must_fail(ctx, LSP_ERR_DEVICE, "GPU", lsp_csr_copy(ctx, &good_matrix, NULL, &good_matrix));
    lsp_ctx_destroy(ctx);
}

Test(csr, outputs_and_contexts_that_are_null_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    sample g = good();
    lsp_csr A = *view(&g);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_copy(ctx, &A, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_transpose(ctx, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_permute(ctx, &A, NULL, NULL, LSP_NONE, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_expand(ctx, &A, LSP_GENERAL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_get_stats(ctx, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_compare(ctx, &A, &A, NULL));
    cr_assert(lsp_csr_copy(NULL, &A, NULL, &A) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_transpose(NULL, &A, &A) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_sort(NULL, &A) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_permute(NULL, &A, NULL, NULL, LSP_NONE, &A) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_expand(NULL, &A, LSP_GENERAL, &A) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_get_stats(NULL, &A, &(lsp_csr_stats){0}) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_compare(NULL, &A, &A, &(lsp_csr_difference){0}) == LSP_ERR_ARGUMENT);
    lsp_ctx_destroy(ctx);
}

Test(csr, the_check_answers_what_it_is_asked) {
    lsp_ctx *ctx = test_ctx(2);
    sample s = good();
    lsp_csr *A = view(&s);
    s.col[2] = 3; /* row 2: 3 2 3 */
    must(ctx, lsp_csr_check(ctx, A, 0));
    must_fail(ctx, LSP_ERR_FORMAT, "row 2: its columns do not ascend", lsp_csr_check(ctx, A, LSP_CHECK_SORTED));
    must_fail(ctx, LSP_ERR_FORMAT, "row 2 holds a column twice", lsp_csr_check(ctx, A, LSP_CHECK_UNIQUE));
    cr_assert(s.col[2] == 3 && s.col[3] == 2, "the check changed its input");
    s.col[2] = 2, s.col[3] = 1; /* 2 1 3 */
    must(ctx, lsp_csr_check(ctx, A, LSP_CHECK_UNIQUE));
    s.col[2] = 1; /* 1 1 3 */
    must(ctx, lsp_csr_check(ctx, A, LSP_CHECK_SORTED));
    must_fail(ctx, LSP_ERR_FORMAT, "row 2 holds", lsp_csr_check(ctx, A, LSP_CHECK_UNIQUE | LSP_CHECK_SORTED));
    must(ctx, lsp_csr_check(ctx, A, LSP_CHECK_FINITE));
    const double wrong[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        s.val[4] = wrong[i];
        must(ctx, lsp_csr_check(ctx, A, LSP_CHECK_SORTED));
        must_fail(ctx, LSP_ERR_FORMAT, "row 2: the value at column 3", lsp_csr_check(ctx, A, LSP_CHECK_FINITE));
        lsp_csr B;
        must(ctx, lsp_csr_copy(ctx, A, &(lsp_csr_types){.val_type = LSP_F32}, &B));
        must_fail(ctx, LSP_ERR_FORMAT, "column 3", lsp_csr_check(ctx, &B, LSP_CHECK_FINITE));
    }
    double complex_values[10] = {0};
    complex_values[5] = NAN; /* the imaginary part of entry 2 */
    A->val = complex_values;
    A->val_type = LSP_C64;
    must_fail(ctx, LSP_ERR_FORMAT, "row 2: the value at column 1", lsp_csr_check(ctx, A, LSP_CHECK_FINITE));
    lsp_ctx_destroy(ctx);
}

Test(csr, the_first_offender_is_named_whatever_the_threads) {
    for (int threads = 1; threads <= 8; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int t = 0; t < test_combinations; t++) {
            lsp_csr_types types = test_types(t);
            lsp_csr A = test_random_csr(ctx, 50000, 1000, 300000, types, 1);
            must(ctx, lsp_csr_sort(ctx, &A));
            int64_t k = lsp_csr_rowptr(&A, 20001) - 1;
            cr_assert(lsp_csr_row_of(&A, k) <= 20000);
            char part[64];
            snprintf(part, sizeof part, "row %ld:", (long)lsp_csr_row_of(&A, k));
            int64_t column = lsp_csr_col(&A, k);
            lsp_index_set(A.col, A.col_type, k, 1000);
            lsp_index_set(A.col, A.col_type, 299999, -1);
            must_fail(ctx, LSP_ERR_FORMAT, part, lsp_csr_check(ctx, &A, 0));
            lsp_index_set(A.col, A.col_type, k, column);
            must_fail(ctx, LSP_ERR_FORMAT, "column -1", lsp_csr_check(ctx, &A, 0));
            lsp_csr_free(ctx, &A);
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(csr, shares_cover_all_rows_in_order) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 1000, 10, 3000, (lsp_csr_types){0}, 2);
    for (int parts = 1; parts < 40; parts++) {
        int64_t next = 0;
        for (int p = 0; p < parts; p++) {
            int64_t begin, end;
            lsp_csr_share(&A, p, parts, &begin, &end);
            cr_assert(begin == next && end >= begin, "share %d of %d: %ld..%ld", p, parts, (long)begin, (long)end);
            next = end;
        }
        cr_assert(next == 1000);
    }
    lsp_ctx_destroy(ctx);
}

/* Insertion sort of each row, stable: what lsp_csr_sort must do. */
static void sort_plainly(const lsp_csr *A) {
    size_t bytes = lsp_type_bytes(A->val_type);
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i) + 1; k < lsp_csr_rowptr(A, i + 1); k++) {
            int64_t column = lsp_csr_col(A, k), to = k;
            char value[16];
            lsp_move_value(value, 0, A->val, k, bytes);
            for (; to > lsp_csr_rowptr(A, i) && lsp_csr_col(A, to - 1) > column; to--) {
                lsp_index_set(A->col, A->col_type, to, lsp_csr_col(A, to - 1));
                lsp_move_value(A->val, to, A->val, to - 1, bytes);
            }
            lsp_index_set(A->col, A->col_type, to, column);
            lsp_move_value(A->val, to, value, 0, bytes);
        }
    }
}

Test(csr, rows_are_sorted_stably) {
    for (int threads = 1; threads <= 3; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        const int64_t sizes[][3] = {{0, 0, 0},  {0, 5, 0},       {5, 0, 0},   {1, 1, 1},
                                    {3, 2, 40}, {300, 50, 5000}, {1, 7, 3000}};
        for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
            for (int t = 0; t < test_combinations; t++) {
                lsp_csr_types types = test_types(t);
                lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], types, c), B;
                must(ctx, lsp_csr_copy(ctx, &A, &types, &B));
                sort_plainly(&B);
                must(ctx, lsp_csr_sort(ctx, &A));
                must_be_same(ctx, &A, &B);
                must(ctx, lsp_csr_sort(ctx, &A));
                must_be_same(ctx, &A, &B);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

/* One entry after the other into a fresh matrix: what lsp_csr_sum_duplicates must do. */
static int64_t sum_plainly(lsp_csr *A) {
    int64_t to = 0, start = 0, before = A->nnz;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t row = to, stop = lsp_csr_rowptr(A, i + 1);
        for (int64_t k = start; k < stop; k++) {
            lsp_value v = lsp_value_at(A, k);
            if (to > row && lsp_csr_col(A, to - 1) == lsp_csr_col(A, k)) {
                lsp_value sum = lsp_value_at(A, to - 1);
                test_set_value(A, to - 1, sum.re + v.re, sum.im + v.im);
            } else {
                lsp_index_set(A->col, A->col_type, to, lsp_csr_col(A, k));
                test_set_value(A, to++, v.re, v.im);
            }
        }
        start = stop;
        lsp_index_set(A->rowptr, A->rowptr_type, i + 1, to);
    }
    A->nnz = to;
    return before - to;
}

Test(csr, equal_neighbours_are_summed_in_order) {
    for (int threads = 1; threads <= 7; threads += 2) {
        lsp_ctx *ctx = test_ctx(threads);
        const int64_t sizes[][3] = {{0, 3, 0}, {1, 1, 500}, {40, 9, 300}, {20000, 3, 150000}, {3, 20, 100000}};
        for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
            for (int t = 0; t < test_combinations; t++) {
                lsp_csr_types types = test_types(t);
                lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], types, c + 9), B;
                must(ctx, lsp_csr_sort(ctx, &A));
                for (int64_t k = 0; k < A.nnz; k++) { /* sums that depend on their order */
                    test_set_value(&A, k, 1.0 / (double)(k + 1), 1.0 / (double)(k + 3));
                }
                must(ctx, lsp_csr_copy(ctx, &A, &types, &B));
                int64_t merged = -1, plainly = sum_plainly(&B);
                must(ctx, lsp_csr_sum_duplicates(ctx, &A, &merged));
                cr_assert(merged == plainly && A.nnz == B.nnz, "%ld merged, not %ld", (long)merged, (long)plainly);
                must_be_same(ctx, &A, &B);
                must(ctx, lsp_csr_sum_duplicates(ctx, &A, NULL));
                must_be_same(ctx, &A, &B);
                lsp_csr_free(ctx, &A);
                lsp_csr_free(ctx, &B);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

static lsp_status create_and_sort(lsp_ctx *ctx, void *data) {
    (void)data;
    lsp_csr A = {.rows = 42}, copy;
    lsp_status status = lsp_csr_create(ctx, 30, 30, 900, &(lsp_csr_types){.val_type = LSP_F64}, &A);
    if (status != LSP_OK) {
        cr_assert(A.rows == 42 && !A.rowptr);
        return status;
    }
    for (int k = 0; k < 900; k++) {
        lsp_index_set(A.rowptr, LSP_I32, k / 30 + 1, k / 30 * 30 + 30);
        lsp_index_set(A.col, LSP_I32, k, k * 7 % 15);
        ((double *)A.val)[k] = k;
    }
    int32_t columns[900];
    memcpy(columns, A.col, sizeof columns);
    copy = A;
    if ((status = lsp_csr_check(ctx, &A, LSP_CHECK_UNIQUE)) == LSP_ERR_MEMORY) {
        return status;
    }
    if ((status = lsp_csr_sort(ctx, &A)) != LSP_OK) {
        cr_assert(memcmp(columns, A.col, sizeof columns) == 0, "a failed sort moved entries");
        return status;
    }
    if ((status = lsp_csr_sum_duplicates(ctx, &A, NULL)) != LSP_OK) {
        cr_assert(memcmp(&A, &copy, sizeof A) == 0, "a failed sum changed the matrix");
        return status;
    }
    cr_assert(A.nnz == 450);
    return LSP_OK;
}

Test(csr, failing_memory_leaves_nothing_behind) { test_failing_memory(2, create_and_sort, NULL); }

/* The ways that add equal patterns and strictly ascending rows give the bits of the general one, which 64-bit row
 * pointers take. */
Test(csr, sums_have_the_same_bits_by_every_way) {
    enum { rows = 300 };
    const double special[] = {-0.0, 0.0, INFINITY, -INFINITY, NAN, -NAN, 1e-310, 0.1};
    for (int c = 0; c < 3 * 3 * 2 * 2 * 3; c++) { /* type, B, few columns or many, budget, instruction set */
        const int kind = c / 3 % 3, few = c / 9 % 2, isa = c / 36;
        const bool budget = c / 18 % 2;
        const lsp_csr_types types = {.val_type = c % 3 == 0 ? LSP_NONE : c % 3 == 1 ? LSP_F32 : LSP_F64};
        const int64_t cols = few ? 30 : 100000;
        if (isa > (int)lsp_isa_detect()) {
            continue;
        }
        lsp_ctx *ctx = test_ctx(1);
        lsp_csr A = test_random_csr(ctx, rows, cols, 2000, types, (uint64_t)c), B, C, right, wide;
        must(ctx, lsp_csr_sort(ctx, &A));
        must(ctx, lsp_csr_sum_duplicates(ctx, &A, NULL));
        B = test_random_csr(ctx, rows, cols, 1500, types, 77);
        must(ctx, lsp_csr_sort(ctx, &B)); /* kind 2: columns come twice */
        if (kind == 0) {
            must(ctx, lsp_csr_copy(ctx, &A, NULL, &B));
        } else if (kind == 1) {
            must(ctx, lsp_csr_sum_duplicates(ctx, &B, NULL));
        }
        for (int64_t k = 0; k < lsp_min(A.nnz, B.nnz); k++) {
            test_set_value(&A, k, k % 3 ? special[k % 8] : (double)k / 7, 0);
            test_set_value(&B, k, special[k / 8 % 8], 0);
        }
        must(ctx, lsp_csr_copy(ctx, &A, &(lsp_csr_types){.rowptr_type = LSP_I64}, &wide));
        must(ctx, lsp_csr_add(ctx, 0.3, &wide, -7, &B, &right));
        ctx->isa = (lsp_isa)isa;
        const int64_t entry = 4 + (int64_t)lsp_type_bytes(types.val_type), most = A.nnz + B.nnz;
        ctx->options.max_bytes = budget ? ctx->space[LSP_HOST].used + most * entry * 3 / 2 + rows * 12 + 4096 : 0;
        must(ctx, lsp_csr_add(ctx, 0.3, &A, -7, &B, &C));
        cr_assert(C.nnz == right.nnz && memcmp(C.rowptr, right.rowptr, (rows + 1) * sizeof(int32_t)) == 0 &&
                      memcmp(C.col, right.col, (size_t)C.nnz * 4) == 0 &&
                      (!C.val || memcmp(C.val, right.val, (size_t)(C.nnz * (entry - 4))) == 0),
                  "case %d: values of type %d, kind %d, isa %d", c, (int)types.val_type, kind, isa);
        lsp_ctx_destroy(ctx);
    }
}
