/* Reading Matrix Market: every rejection with its line and its reason, and texts with sizes beyond any memory. */
#include "mtx_texts.h"

typedef struct rejection {
    const char *text, *where, *why;
} rejection;

static const rejection rejections[] = {
    {"", "t.mtx:1:", "empty"},
    {"2 2 1\n1 1 1\n", "t.mtx:1:", "%%MatrixMarket"},
    {"%MatrixMarket matrix coordinate real general\n", "t.mtx:1:", "%%MatrixMarket"},
    {"\n" REAL "1 1 0\n", "t.mtx:1:", "%%MatrixMarket"},
    {"%%MatrixMarket vector coordinate real general\n1 1 0\n", "t.mtx:1:", "'vector'"},
    {"%%MatrixMarket matrix dense real general\n1 1 0\n", "t.mtx:1:", "'dense'"},
    {"%%MatrixMarket matrix coordinate float general\n1 1 0\n", "t.mtx:1:", "'float'"},
    {"%%MatrixMarket matrix coordinate real upper\n1 1 0\n", "t.mtx:1:", "'upper'"},
    {"%%MatrixMarket matrix coordinate real\n1 1 0\n", "t.mtx:1:", "banner"},
    {"%%MatrixMarket matrix coordinate real general more\n1 1 0\n", "t.mtx:1:", "'more'"},
    {"%%MatrixMarket matrix array pattern general\n1 1\n", "t.mtx:1:", "pattern"},
    {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", "t.mtx:1:", "skew"},
    {"%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", "t.mtx:1:", "hermitian"},
    {REAL, "t.mtx:1:", "size line"},
    {REAL "% only\n\n%\n", "t.mtx:4:", "size line"},
    {REAL "% c\n3 3\n", "t.mtx:3:", "number of entries"},
    {REAL "3\n", "t.mtx:2:", "number of columns"},
    {REAL "3 3 1 1\n1 1 1\n", "t.mtx:2:", "'1' follows"},
    {REAL "3 -3 1\n", "t.mtx:2:", "'-3'"},
    {REAL "3 x 1\n", "t.mtx:2:", "'x'"},
    {REAL "3 3 1.5\n", "t.mtx:2:", "'1.5'"},
    {REAL "99999999999999999999 1 0\n", "t.mtx:2:", "99999999999999999999"},
    {REAL "1 1 9223372036854775808\n", "t.mtx:2:", "9223372036854775808"},
    {"%%MatrixMarket matrix array real general\n4 4 16\n", "t.mtx:2:", "'16' follows"},
    {"%%MatrixMarket matrix array real general\n9000000000000000000 9000000000000000000\n", "t.mtx:2:", "counted"},
    {SYMMETRIC "2 3 0\n", "t.mtx:2:", "2 rows and 3 columns"},
    {REAL "2 2 2\n1 1 1\n0 1 1\n", "t.mtx:4:", "row index 0"},
    {REAL "2 2 2\n\n1 1 1\n% c\n1 0 1\n", "t.mtx:6:", "column index 0"},
    {REAL "2 2 1\n-1 1 1\n", "t.mtx:3:", "row index -1"},
    {REAL "2 2 1\n3 1 1\n", "t.mtx:3:", "row index 3 is outside 1 .. 2"},
    {REAL "2 2 1\n1 3 1\n", "t.mtx:3:", "column index 3 is outside 1 .. 2"},
    {REAL "2 2 1\n1 18446744073709551617 1\n", "t.mtx:3:", "column index 18446744073709551617"},
    {REAL "2 2 1\n4294967297 1 1\n", "t.mtx:3:", "row index 4294967297"},
    {REAL "2 2 1\n1.0 1 1\n", "t.mtx:3:", "'1.0' is no row index"},
    {REAL "2 2 1\n1 b 1\n", "t.mtx:3:", "'b' is no column index"},
    {REAL "2 2 1\n1,1,1\n", "t.mtx:3:", "'1,1,1'"},
    {REAL "2 2 2\n1 1 1\n", "t.mtx:3:", "after 1 of 2"},
    {REAL "2 2 2\n1 1 1\n%\n\n", "t.mtx:5:", "after 1 of 2"},
    {REAL "2 2 1\n", "t.mtx:2:", "after 0 of 1"},
    {REAL "2 2 1\n1 1 1\n%\n2 2 1\n", "t.mtx:5:", "more than the 1"},
    {REAL "2 2 0\n2 2 1\n", "t.mtx:3:", "more than the 0"},
    {REAL "2 2 1\n1 1 1 2\n", "t.mtx:3:", "'2' follows"},
    {REAL "2 2 1\n1 1 1.5abc\n", "t.mtx:3:", "'1.5abc'"},
    {REAL "2 2 1\n1 1 0x10\n", "t.mtx:3:", "'0x10' is no number: 'x10' follows '0' without a blank"},
    {REAL "2 2 1\n1 1 1,5\n", "t.mtx:3:", "'1,5' is no number: ',5' follows '1' without a blank"},
    {REAL "2 2 1\n1 1 1,5 6\n", "t.mtx:3:", "'1,5' is no number"},
    {REAL "2 2 1\n+1 1 1\n", "t.mtx:3:", "'+1' is no row index, which is written in digits alone"},
    {REAL "2 2 1\n1 1 1 % c\n", "t.mtx:3:", "'%' follows"},
    {REAL "2 2 1\n1 1 abc\n", "t.mtx:3:", "'abc' is no number"},
    {REAL "2 2 2\n1 1 1\n2 2", "t.mtx:4:", "ends before the value"},
    {REAL "2 2 2\n1 1 1\n2 2 \n", "t.mtx:4:", "ends before the value"},
    {REAL "2 2 2\n1 1 1\n2", "t.mtx:4:", "ends before the column"},
    {REAL "2 2 2\n1 1 1\n2 2 1e", "t.mtx:4:", "'1e'"},
    {REAL "2 2 2\n1 1 1\n2 2 -", "t.mtx:4:", "'-'"},
    {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1\n", "t.mtx:3:", "imaginary"},
    {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 x\n", "t.mtx:3:", "'x' is no number"},
    {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1+2\n",
     "t.mtx:3:", "'+2' follows '1' without a blank"},
    {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2 3\n", "t.mtx:3:", "'3' follows"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", "t.mtx:3:", "'1.5'"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 18446744073709551616\n", "t.mtx:3:", "64 bits"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -9223372036854775809\n", "t.mtx:3:", "64 bits"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 x\n", "t.mtx:3:", "'x'"},
    {"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n", "t.mtx:3:", "'1' follows"},
    {SYMMETRIC "3 3 2\n1 1 1\n1 2 1\n", "t.mtx:4:", "above the diagonal"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1\n2 2 1e-5\n", "t.mtx:4:", "1e-5"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 nan\n", "t.mtx:3:", "nan"},
    {"%%MatrixMarket matrix coordinate complex skew-symmetric\n3 3 1\n2 2 0 1\n", "t.mtx:3:", "diagonal"},
    {"%%MatrixMarket matrix coordinate complex hermitian\n3 3 1\n2 2 1 0.5\n", "t.mtx:3:", "imaginary"},
    {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "t.mtx:5:", "after 3 of 4"},
    {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n%\n4\n5\n", "t.mtx:8:", "more than the 4"},
    {"%%MatrixMarket matrix array real general\n2 2\n1\n2\nx\n4\n", "t.mtx:5:", "'x'"},
    {"%%MatrixMarket matrix array real general\n2 2\n1 2\n3 4\n", "t.mtx:3:", "'2' follows"},
    {"%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n\n1 2\n5 1\n", "t.mtx:6:", "diagonal"},
    {"%%MatrixMarket matrix array real skew-symmetric\n2 2\n1\n0\n", "t.mtx:4:", "more than the 1"},
    {"%%MatrixMarket matrix array real general\n0 9000000000000000000\n1\n", "t.mtx:3:", "more than the 0"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1,5\n",
     "t.mtx:3:", "'1,5' is no integer: ',5' follows '1'"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 0x10\n",
     "t.mtx:3:", "'0x10' is no integer: 'x10' follows '0'"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.0\n",
     "t.mtx:3:", "'1.0' is no integer, and the banner says 'integer': it would have to say 'real'"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -2e3\n", "t.mtx:3:", "it would have to say 'real'"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 nan\n", "t.mtx:3:", "it would have to say 'real'"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 k\n", "t.mtx:3:", "'k' is no integer"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 +99999999999999999999\n",
     "t.mtx:3:", "+99999999999999999999 is no integer of 64 bits"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 7 8\n", "t.mtx:3:", "'8' follows the entry"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 18446744073709551615 8\n",
     "t.mtx:3:", "'8' follows the entry"},
    {"%%MatrixMarket matrix array integer general\n1 1\n1.0\n", "t.mtx:3:", "1.0"},
};

Test(mtx_reject, every_rejection_names_its_line) {
    for (size_t i = 0; i < sizeof rejections / sizeof *rejections; i++) {
        const rejection *r = &rejections[i];
        for (int threads = 1; threads < 4; threads += 2) {
            lsp_ctx *ctx = test_ctx(threads);
            lsp_csr A, before;
            lsp_mtx_info info, info_before;
            memset(&A, 0x5a, sizeof A);
            memset(&info, 0x5a, sizeof info);
            before = A;
            info_before = info;
            lsp_status status = read_text(ctx, r->text, NULL, &A, &info);
            cr_assert(status == LSP_ERR_FORMAT, "'%s': %s: %s", r->text, lsp_status_name(status), lsp_last_error(ctx));
            cr_assert(strncmp(lsp_last_error(ctx), r->where, strlen(r->where)) == 0, "'%s': not at %s: %s", r->text,
                      r->where, lsp_last_error(ctx));
            cr_assert(strstr(lsp_last_error(ctx), r->why) != NULL, "'%s': no %s: %s", r->text, r->why,
                      lsp_last_error(ctx));
            cr_assert(memcmp(&A, &before, sizeof A) == 0 && memcmp(&info, &info_before, sizeof info) == 0);
            lsp_ctx_destroy(ctx);
        }
    }
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = {0};
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_mtx_read(ctx, NULL, NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_mtx_read_memory(ctx, NULL, 5, "t", NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_mtx_read_memory(ctx, "x", 1, "t", NULL, NULL, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "t.mtx:1:", lsp_mtx_read_memory(ctx, NULL, 0, "t.mtx", NULL, &A, NULL));
    cr_assert(lsp_mtx_read(NULL, "x", NULL, &A, NULL) == LSP_ERR_ARGUMENT);
    char nul[] = REAL "1 1 1\n1 1 1\0002\n"; /* a NUL byte */
    must_fail(ctx, LSP_ERR_FORMAT, "t.mtx:3:", lsp_mtx_read_memory(ctx, nul, sizeof nul - 1, "t.mtx", NULL, &A, NULL));
    lsp_ctx_destroy(ctx);
}

Test(mtx_reject, the_first_fault_is_reported_whatever_the_threads) {
    enum { n = 200000 };
    uint64_t state = 3;
    for (int trial = 0; trial < 12; trial++) {
        long_text t = {0};
        int64_t first = test_below(&state, n), second = test_below(&state, n), line = 2;
        int64_t bad = first < second ? first : second, bad_line = 0;
        bool array = trial % 4 == 3;
        append(&t, array ? "%%MatrixMarket matrix array real general\n400 500\n" : REAL "1000 1000 200000\n");
        for (int64_t k = 0; k < n; k++) {
            char entry[80];
            if (test_below(&state, 50) == 0) {
                append(&t, "% comment\n");
                line++;
            }
            line++;
            if (array) {
                snprintf(entry, sizeof entry, k == first || k == second ? "0.5 x\n" : "%d.25\n", (int)k);
            } else if (k == first) { /* a wrong index, which the first pass finds, or a wrong value, which the second
                                        one finds */
                snprintf(entry, sizeof entry, trial % 2 ? "1001 5 1\n" : "5 1001 1\n");
            } else if (k == second) {
                snprintf(entry, sizeof entry, trial % 3 ? "5 5 1x\n" : "0 5 1\n");
            } else {
                snprintf(entry, sizeof entry, "%d %d %.17g\n", (int)test_below(&state, 1000) + 1,
                         (int)test_below(&state, 1000) + 1, (double)k / 7);
            }
            bad_line = k == bad ? line : bad_line;
            append(&t, entry);
        }
        char where[64];
        snprintf(where, sizeof where, "t.mtx:%lld:", (long long)bad_line);
        for (int threads = 1; threads < 6; threads++) {
            lsp_ctx *ctx = test_ctx(threads);
            lsp_csr A;
            must_fail(ctx, LSP_ERR_FORMAT, where, lsp_mtx_read_memory(ctx, t.start, t.bytes, "t.mtx", NULL, &A, NULL));
            lsp_ctx_destroy(ctx);
        }
        free(t.start);
    }
}

Test(mtx_reject, long_lines_are_read_up_to_a_bound) {
    lsp_ctx *ctx = test_ctx(3);
    enum { most = 1 << 20 };
    for (int extra = -1; extra <= 1; extra++) {
        long_text t = {0};
        append(&t, REAL "2 2 60001\n%");
        char *fill = malloc(most + 16);
        memset(fill, 'c', most + 16);
        fill[most - 1 + extra] = 0;
        append(&t, fill);
        append(&t, "\n");
        for (int k = 0; k < 60000; k++) {
            append(&t, "1 1 0.000000000000000000000001\n");
        }
        memset(fill, '0', 300000); /* a number of 300,000 digits */
        fill[300000] = 0;
        append(&t, "2 2 1.");
        append(&t, fill);
        append(&t, "5e2\n");
        lsp_csr A;
        lsp_status status = lsp_mtx_read_memory(ctx, t.start, t.bytes, "t.mtx", NULL, &A, NULL);
        if (extra <= 0) {
            must(ctx, status);
            cr_assert(A.nnz == 2 && ((double *)A.val)[1] == 100);
            lsp_csr_free(ctx, &A);
        } else {
            must_fail(ctx, LSP_ERR_FORMAT, "t.mtx:3: the line is longer", status);
        }
        free(fill);
        free(t.start);
    }
    lsp_ctx_destroy(ctx);
}

Test(mtx_reject, absurd_sizes_are_refused_with_the_bytes) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A;
    must_fail(ctx, LSP_ERR_MEMORY, "1000000000000 rows",
              read_text(ctx, REAL "1000000000000 5 1\n1 1 1\n", NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_MEMORY, "9223372036854775807 rows",
              read_text(ctx, REAL "9223372036854775807 5 1\n1 1 1\n", NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "t.mtx:3:", read_text(ctx, REAL "5 5 9223372036854775807\n1 1 1\n", NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "after 1 of",
              read_text(ctx, "%%MatrixMarket matrix array real general\n1000 1000000000\n1\n", NULL, &A, NULL));
    must(ctx, read_text(ctx, REAL "5000000 9223372036854775807 1\n4999999 9223372036854775807 1\n", NULL, &A, NULL));
    cr_assert(A.nnz == 1 && ((int64_t *)A.col)[0] == INT64_MAX - 1);
    lsp_csr_free(ctx, &A);
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_set_max_bytes(ctx, 4 << 20));
    must_fail(ctx, LSP_ERR_MEMORY, "5000000 rows", read_text(ctx, REAL "5000000 5 1\n1 1 1\n", NULL, &A, NULL));
    must(ctx, read_text(ctx, REAL "5 5 1\n1 1 1\n", NULL, &A, NULL));
    lsp_ctx_destroy(ctx);
}
