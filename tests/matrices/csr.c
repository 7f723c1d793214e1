/* CSR matrices: made and checked. */
#include "tests/matrices.h"

Test(csr, the_bytes_of_a_type) {
    const size_t bytes[] = {0, 4, 8, 4, 8, 4, 8, 16, 1};
    for (int type = 0; type < 9; type++) {
        cr_assert(lsp_type_bytes((lsp_type)type) == bytes[type], "type %d", type);
    }
    cr_assert(lsp_type_bytes((lsp_type)9) == 0 && lsp_type_bytes((lsp_type)-1) == 0);
}

/* Bytes, alignment, loads, stores and sums of one line of the table. */
static void check_value(lsp_type type) {
    _Alignas(16) char val[64] = {0};
    const size_t bytes = lsp_type_bytes(type);
    const bool complex = type == LSP_C64;
    cr_assert(lsp_is_value(type) && lsp_value_bytes(type) == bytes && 3 * bytes <= sizeof val, "type %d", (int)type);
    cr_assert(lsp_aligned(val, type) && (bytes == 0 || !lsp_aligned(val + 1, type)));
    lsp_value_set(type, val, 0, lsp_value_from(1.5, -2));
    lsp_value_set(type, val, 1, lsp_value_from(4, 8));
    lsp_value_add(type, val, 1, val, 0);
    const lsp_value first = lsp_value_of(type, val, 0), sum = lsp_value_of(type, val, 1);
    const lsp_value next = lsp_value_of(type, val, 2);
    cr_assert(bytes == 0 || (first.re == 1.5 && sum.re == 5.5 && next.re == 0 && next.im == 0), "type %d", (int)type);
    cr_assert(bytes > 0 || (first.re == 1 && sum.re == 1 && sum.im == 0), "a pattern stands for ones");
    cr_assert(first.im == (complex ? -2 : 0) && sum.im == (complex ? 6 : 0), "type %d", (int)type);
}

static void check_integer(lsp_type type, size_t bytes) {
    _Alignas(16) char val[64] = {0};
    const int64_t least = type == LSP_BOOL ? 1 : type == LSP_I32 ? INT32_MIN : INT64_MIN;
    cr_assert(lsp_is_value(type) && lsp_is_integer(type) && lsp_value_bytes(type) == bytes);
    cr_assert(lsp_type_bytes(type) == bytes && lsp_aligned(val, type) && lsp_aligned(val + 1, type) == (bytes == 1));
    lsp_value_set(type, val, 1, (lsp_value){0, 0, least});
    const lsp_value zero = lsp_value_of(type, val, 0), x = lsp_value_of(type, val, 1),
                    next = lsp_value_of(type, val, 2);
    cr_assert(x.whole == least && x.re == (double)least && x.im == 0, "type %d", (int)type);
    cr_assert(zero.whole == 0 && zero.re == 0 && next.whole == 0, "type %d", (int)type);
    memset(val, 2, sizeof val);
    cr_assert(type != LSP_BOOL || lsp_value_of(type, val, 3).whole == 1, "every byte but 0 is read as 1");
}

Test(csr, two_integers_of_64_bits_are_added_modulo_2_to_the_64) {
    int64_t val[] = {INT64_MAX, 1};
    lsp_value_add(LSP_I64, val, 0, val, 1);
    cr_assert(val[0] == INT64_MIN && val[1] == 1);
}

Test(csr, each_line_of_the_table_of_value_types_is_right) {
#define CHECK_VALUE(name, real, reals, unused) check_value(name);
    LSP_FLOAT_TYPES(CHECK_VALUE, )
    check_value(LSP_NONE);
#define CHECK_INTEGER(name, integer, one, unused) check_integer(name, sizeof(integer));
    LSP_INTEGER_TYPES(CHECK_INTEGER, )
    cr_assert(!lsp_is_value(LSP_U32) && !lsp_is_value(LSP_U64) && !lsp_is_value((lsp_type)99));
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
    must_fail(ctx, LSP_ERR_ARGUMENT, "type ?",
              lsp_csr_create(ctx, 1, 1, 1, &(lsp_csr_types){.rowptr_type = (lsp_type)99}, &A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "values of type LSP_U32",
              lsp_csr_create(ctx, 1, 1, 1, &(lsp_csr_types){.val_type = LSP_U32}, &A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "place 7",
              lsp_csr_create(ctx, 1, 1, 1, &(lsp_csr_types){.place = (lsp_place)7}, &A));
    must_fail(ctx, LSP_ERR_DEVICE, "GPU", lsp_csr_create(ctx, 1, 1, 1, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &A));
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
        must_fail(ctx, code, part, lsp_csr_expand(ctx, A, LSP_SYMMETRY_GENERAL, &out));                                \
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
    REFUSED(LSP_ERR_ARGUMENT, "columns of type ?", A->col_type = (lsp_type)77);
    REFUSED(LSP_ERR_ARGUMENT, "values of type LSP_U64", A->val_type = LSP_U64);
    REFUSED(LSP_ERR_ARGUMENT, "values of type ?", A->val_type = (lsp_type)-1);
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
    must_fail(ctx, LSP_ERR_DEVICE, "GPU", lsp_csr_check(ctx, &good_matrix, 0));
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
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_expand(ctx, &A, LSP_SYMMETRY_GENERAL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_get_stats(ctx, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_compare(ctx, &A, &A, NULL));
    cr_assert(lsp_csr_copy(NULL, &A, NULL, &A) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_transpose(NULL, &A, &A) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_sort(NULL, &A) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_permute(NULL, &A, NULL, NULL, LSP_NONE, &A) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_expand(NULL, &A, LSP_SYMMETRY_GENERAL, &A) == LSP_ERR_ARGUMENT);
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
