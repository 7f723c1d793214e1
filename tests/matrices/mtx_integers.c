/* Files of integers, read and written exactly. */
#include "tests/integers.h"

static lsp_status read_as(lsp_ctx *ctx, const char *text, lsp_type type, lsp_csr *A) {
    const lsp_mtx_read_options how = {.types.val_type = type};
    return lsp_mtx_read_memory(ctx, text, strlen(text), "file", &how, A, NULL);
}

#define BANNER(symmetry) "%%MatrixMarket matrix coordinate integer " symmetry "\n"

Test(mtx_integers, values_are_read_exactly) {
    static const char text[] = BANNER("general") "% numbers at the limits\n2 4 6\n1 1 9223372036854775807\n1 2 "
                                                 "-9223372036854775808\n1 3 9007199254740993\n2 1 +7\n2 2 0\n2 4 -1\n";
    static const int64_t right[] = {INT64_MAX, INT64_MIN, (1LL << 53) + 1, 7, 0, -1};
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A;
    must(ctx, read_as(ctx, text, LSP_I64, &A));
    cr_assert(A.val_type == LSP_I64 && A.nnz == 6 && memcmp(A.val, right, sizeof right) == 0);
    lsp_csr_free(ctx, &A);
    must(ctx, read_as(ctx, text, LSP_BOOL, &A));
    cr_assert(A.val_type == LSP_BOOL && memcmp(A.val, "\1\1\1\1\0\1", 6) == 0);
    lsp_csr_free(ctx, &A);
    must(ctx, read_as(ctx, text, LSP_NONE, &A));
    cr_assert(A.val_type == LSP_F64 && ((double *)A.val)[0] == 0x1p63);
    lsp_csr_free(ctx, &A);
    must(ctx, read_as(ctx, BANNER("general") "1 2 2\n1 1 2147483647\n1 2 -2147483648\n", LSP_I32, &A));
    cr_assert(((int32_t *)A.val)[0] == INT32_MAX && ((int32_t *)A.val)[1] == INT32_MIN);
    lsp_csr_free(ctx, &A);
    static const char pattern[] = "%%MatrixMarket matrix coordinate pattern general\n1 2 2\n1 1\n1 2\n";
    for (int t = 0; t < 3; t++) {
        must(ctx, read_as(ctx, pattern, integer_types[t], &A));
        cr_assert(A.val_type == integer_types[t] && whole_at(&A, 0) == 1 && whole_at(&A, 1) == 1);
        lsp_csr_free(ctx, &A);
    }
    lsp_ctx_destroy(ctx);
}

Test(mtx_integers, a_value_that_does_not_fit_is_named_with_its_line) {
    static const struct {
        const char *text;
        lsp_type type;
        const char *sentence;
    } wrong[] = {
        {BANNER("general") "1 2 2\n1 1 1\n1 2 2147483648\n", LSP_I32,
         "file:4: the value 2147483648 does not fit LSP_I32"},
        {BANNER("general") "1 1 1\n% c\n\n1 1 -2147483649\n", LSP_I32, "file:5: the value -2147483649 does not fit"},
        {BANNER("general") "1 1 1\n1 1 9223372036854775808\n", LSP_I64,
         "file:3: the value 9223372036854775808 does not"},
        {BANNER("skew-symmetric") "2 2 1\n2 1 -2147483648\n", LSP_I32, "file:3: the value -2147483648 does not fit"},
        {BANNER("skew-symmetric") "2 2 1\n2 1 -9223372036854775808\n", LSP_I64,
         "file:3: the value -9223372036854775808"},
        {"%%MatrixMarket matrix array integer general\n1 2\n1\n3000000000\n", LSP_I32, "file:4: the value 3000000000"}};
    static const char *const malformed[] = {
        BANNER("general") "1 1 1\n1 1 1.5\n", BANNER("general") "1 1 1\n1 1 x\n",
        BANNER("general") "1 1 1\n1 1 1 2\n", BANNER("general") "1 1 1\n1 1\n",
        BANNER("general") "1 1 1\n1 1 -\n",   BANNER("general") "1 1 1\n1 1 99999999999999999999\n"};
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A = {.rows = 4711};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        must_fail(ctx, LSP_ERR_OVERFLOW, wrong[k].sentence, read_as(ctx, wrong[k].text, wrong[k].type, &A));
    }
    for (size_t k = 0; k < 3 * (sizeof malformed / sizeof *malformed); k++) {
        must_fail(ctx, LSP_ERR_FORMAT, "file:3: ", read_as(ctx, malformed[k / 3], integer_types[k % 3], &A));
    }
    static const char *const others[] = {"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n",
                                         "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n"};
    for (int k = 0; k < 6; k++) {
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "cannot be read as integers",
                  read_as(ctx, others[k / 3], integer_types[k % 3], &A));
    }
    cr_assert(A.rows == 4711);
    lsp_ctx_destroy(ctx);
}

Test(mtx_integers, sums_of_duplicates_fit_or_are_refused) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A = {.rows = 4711};
#define FILE_WITH(last) (BANNER("general") "2 2 4\n2 1 9223372036854775807\n1 1 7\n2 1 1\n2 1 " last "\n")
    must_fail(ctx, LSP_ERR_OVERFLOW, "file: the sum of the entries at row 2, column 1 does not fit LSP_I64",
              read_as(ctx, FILE_WITH("1"), LSP_I64, &A));
    cr_assert(A.rows == 4711);
    must(ctx, read_as(ctx, FILE_WITH("1"), LSP_BOOL, &A));
    lsp_csr_free(ctx, &A);
    /* what fits at the end may be too large on the way */
    must(ctx, read_as(ctx, FILE_WITH("-1"), LSP_I64, &A));
    cr_assert(A.nnz == 2 && ((int64_t *)A.val)[1] == INT64_MAX);
    lsp_csr_free(ctx, &A);
    lsp_ctx_destroy(ctx);
}

Test(mtx_integers, symmetric_files_arrays_and_duplicates_are_exact) {
    static const struct {
        const char *text;
        int64_t val[4];
    } cases[] = {
        {BANNER("symmetric") "2 2 2\n1 1 5\n2 1 9007199254740993\n", {5, (1LL << 53) + 1, (1LL << 53) + 1}},
        {BANNER("skew-symmetric") "2 2 1\n2 1 9007199254740993\n", {-(1LL << 53) - 1, (1LL << 53) + 1}},
        {BANNER("general") "1 2 3\n1 2 4\n1 1 9007199254740992\n1 1 1\n", {(1LL << 53) + 1, 4}},
        {"%%MatrixMarket matrix array integer general\n2 2\n0\n9007199254740993\n-3\n0\n", {-3, (1LL << 53) + 1}},
        {"%%MatrixMarket matrix array integer symmetric\n2 2\n1\n9007199254740993\n4\n",
         {1, (1LL << 53) + 1, (1LL << 53) + 1, 4}}};
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        must(ctx, read_as(ctx, cases[k].text, LSP_I64, &A));
        cr_assert(memcmp(A.val, cases[k].val, (size_t)A.nnz * 8) == 0, "case %zu", k);
        lsp_csr_free(ctx, &A);
    }
    static const char twice[] = BANNER("general") "1 1 2\n1 1 2147483647\n1 1 1\n";
    A = (lsp_csr){.rows = 4711};
    must_fail(ctx, LSP_ERR_OVERFLOW, "2147483648, which does not fit LSP_I32", read_as(ctx, twice, LSP_I32, &A));
    cr_assert(A.rows == 4711);
    must(ctx, read_as(ctx, twice, LSP_BOOL, &A));
    cr_assert(A.nnz == 1 && *(uint8_t *)A.val == 1);
    lsp_csr_free(ctx, &A);
    const lsp_mtx_read_options how = {.types.val_type = LSP_I64, .lenient = true};
    static const char upper[] = BANNER("skew-symmetric") "2 2 1\n1 2 9007199254740993\n";
    must(ctx, lsp_mtx_read_memory(ctx, upper, sizeof upper - 1, "file", &how, &A, NULL));
    cr_assert(((int64_t *)A.val)[0] == (1LL << 53) + 1 && ((int64_t *)A.val)[1] == -(1LL << 53) - 1);
    lsp_csr_free(ctx, &A);
    lsp_ctx_destroy(ctx);
}

TEST_ON_BOTH(mtx_integers, files_that_are_written_read_back) {
    uint64_t state = 6;
    char folder[] = "/tmp/mtx_integers_XXXXXX", path[sizeof folder + 8], banner[80] = "";
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/A", folder);
    for (int round = 0; round < 30; round++) {
        const lsp_type type = integer_types[round % 3];
        const recipe r = {70, 900, round < 3 ? 300 : 6, LSP_I32, LSP_I32, type, true, type != LSP_BOOL, -1, -1, 0};
        lsp_csr A = make(&r, test_random(&state)), a = take(ctx, &A), B = {0};
        const lsp_mtx_write_options how = {.field = round & 1 ? LSP_MTX_INTEGER : LSP_MTX_REAL};
        const lsp_mtx_read_options as = {.types.val_type = type};
        must(ctx, lsp_mtx_write(ctx, path, &a, &how));
        must(ctx, lsp_mtx_read(ctx, path, &as, &B, NULL));
        same(ctx, &B, &A, "read back");
        FILE *file = fopen(path, "r");
        cr_assert(file && fgets(banner, sizeof banner, file));
        fclose(file);
        cr_assert_str_eq(banner, "%%MatrixMarket matrix coordinate integer general\n");
        lsp_csr_free(ctx, &B), give_back(ctx, &a), drop(&A);
    }
    int32_t rowptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    int64_t val[] = {0, INT64_MAX, INT64_MAX, 0};
    const lsp_mtx_write_options symmetric = {.symmetry = LSP_SYMMETRY_SYMMETRIC},
                                skew = {.symmetry = LSP_SYMMETRY_SKEW};
    lsp_csr S = {2, 2, 4, rowptr, col, val, LSP_I32, LSP_I32, LSP_I64, LSP_HOST};
    must(ctx, lsp_mtx_write(ctx, path, &S, &symmetric));
    must_fail(ctx, LSP_ERR_ARGUMENT, "not skew-symmetric", lsp_mtx_write(ctx, path, &S, &skew));
    val[2] = INT64_MAX - 1; /* the same as a double */
    must_fail(ctx, LSP_ERR_ARGUMENT, "not symmetric", lsp_mtx_write(ctx, path, &S, &symmetric));
    val[2] = -INT64_MAX;
    must(ctx, lsp_mtx_write(ctx, path, &S, &skew));
    remove(path), remove(folder);
}
