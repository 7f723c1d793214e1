/* Reading Matrix Market: what is accepted and what it gives; every rejection with its line. */
#include "core/isa.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define REAL "%%MatrixMarket matrix coordinate real general\n"
#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"

static lsp_status read_text(lsp_ctx *ctx, const char *text, const lsp_mtx_read_options *options, lsp_csr *A,
                            lsp_mtx_info *info) {
    return lsp_mtx_read_memory(ctx, text, strlen(text), "t.mtx", options, A, info);
}

/* The matrix of a text is `dense`, by rows (values; NAN: no entry there). */
static void reads_as(const char *text, const lsp_mtx_read_options *options, int rows, int cols, const double *dense) {
    for (int threads = 1; threads < 4; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        lsp_csr A = {0};
        must(ctx, read_text(ctx, text, options, &A, NULL));
        must(ctx, lsp_csr_check(ctx, &A, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE));
        cr_assert(A.rows == rows && A.cols == cols, "%d x %d", (int)A.rows, (int)A.cols);
        cr_assert(A.rowptr_type == LSP_I32 && A.col_type == LSP_I32 && A.val_type == LSP_F64);
        int64_t k = 0;
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < cols; j++) {
                double want = dense[i * cols + j];
                if (isnan(want)) {
                    continue;
                }
                cr_assert(k < ((int32_t *)A.rowptr)[i + 1] && ((int32_t *)A.col)[k] == j, "%s: no entry %d %d", text, i,
                          j);
                cr_assert(memcmp((double *)A.val + k, &want, 8) == 0, "%s: entry %d %d is %g, not %g", text, i, j,
                          ((double *)A.val)[k], want);
                k++;
            }
            cr_assert(((int32_t *)A.rowptr)[i + 1] == k, "%s: row %d", text, i);
        }
        cr_assert(A.nnz == k);
        lsp_ctx_destroy(ctx);
    }
}

#define _ NAN

Test(mtx_read, whatever_writers_do_is_understood) {
    const double two[] = {1, _, _, 2.5};
    static const char *const same[] = {
        REAL "2 2 2\n1 1 1\n2 2 2.5\n",
        REAL "2 2 2\n2 2 2.5\n1 1 1", /* no last newline, any order */
        "%%matrixmarket MATRIX Coordinate REAL General\n2 2 2\n1 1 1\n2 2 2.5\n",
        "%%MatrixMarket matrix coordinate real general\r\n% c\r\n2 2 2\r\n1 1 1\r\n2 2 2.5\r\n",
        "%%MatrixMarket\tmatrix  coordinate\treal general  \n\n%\n  %\n\t2\t2\t2\n\n   1\t1 1.0D+0 \n%c\n\n2 2 "
        "25e-1\t\n",
        REAL "% a\n%b\n\n2 2 2\n% 3 3 3\n\n1 1 1e0\n \t\n  % x\n2 2 +2.5E+0\n\n\n%end",
        REAL "2 2 2\n00000000000001 0000000000000000000000001 1\n2 2 2.5000000000000000000000000000000000000\n",
        "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n2.5\n",
        "%%MatrixMarket matrix array real symmetric\n2 2\n1\n-0.0\n2.5\n",
        SYMMETRIC "2 2 2\n1 1 1\n2 2 2.5\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        reads_as(same[i], NULL, 2, 2, two);
    }
    reads_as(
        "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 -9007199254740993\n2 1 18446744073709551615\n",
        NULL, 2, 2, (double[]){_, -9007199254740992.0, 18446744073709551616.0, _});
    reads_as(REAL "1 5 5\n1 1 inf\n1 2 -Infinity\n1 3 0\n1 4 -0\n1 5 1e999\n", NULL, 1, 5,
             (double[]){INFINITY, -INFINITY, 0, -0.0, INFINITY});
    reads_as(REAL "2 3 0\n", NULL, 2, 3, (double[]){_, _, _, _, _, _});
    reads_as(REAL "0 0 0", NULL, 0, 0, NULL);
    reads_as(REAL "0 7 0\n%\n", NULL, 0, 7, NULL);
    reads_as("%%MatrixMarket matrix array real general\n0 5\n", NULL, 0, 5, NULL);
    reads_as("%%MatrixMarket matrix array real general\n0 2000000000\n", NULL, 0, 2000000000, NULL);
    reads_as("%%MatrixMarket matrix array real skew-symmetric\n1 1\n", NULL, 1, 1, (double[]){_});
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A;
    must(ctx, read_text(ctx, REAL "1 2 2\n1 1 nan\n1 2 NaN\n", NULL, &A, NULL));
    cr_assert(isnan(((double *)A.val)[0]) && isnan(((double *)A.val)[1]));
    lsp_ctx_destroy(ctx);
}

Test(mtx_read, symmetric_files_are_expanded_or_kept) {
    const lsp_mtx_read_options keep = {.keep_triangle = true}, lenient = {.lenient = true},
                               both = {.lenient = true, .keep_triangle = true};
    const char *symmetric = SYMMETRIC "3 3 4\n3 1 5\n1 1 1\n3 2 6\n2 1 4\n";
    reads_as(symmetric, NULL, 3, 3, (double[]){1, 4, 5, 4, _, 6, 5, 6, _});
    reads_as(symmetric, &keep, 3, 3, (double[]){1, _, _, 4, _, _, 5, 6, _});
    const char *skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n3 1 5\n3 2 -6\n2 2 0\n";
    reads_as(skew, NULL, 3, 3, (double[]){_, _, -5, _, 0, 6, 5, -6, _});
    reads_as(skew, &keep, 3, 3, (double[]){_, _, _, _, 0, _, 5, -6, _});
    const char *upper = SYMMETRIC "2 2 2\n1 2 3\n2 2 1\n";
    reads_as(upper, &lenient, 2, 2, (double[]){_, 3, 3, 1});
    reads_as(upper, &both, 2, 2, (double[]){_, _, 3, 1});
    reads_as("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n1 2 3\n", &lenient, 2, 2,
             (double[]){_, 3, -3, _});
    reads_as("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", NULL, 3, 3,
             (double[]){1, 2, 3, 2, 4, 5, 3, 5, 6});
    reads_as("%%MatrixMarket matrix array real skew-symmetric\n3 3\n2\n3\n5\n", NULL, 3, 3,
             (double[]){_, -2, -3, 2, _, -5, 3, 5, _});
    reads_as("%%MatrixMarket matrix array real skew-symmetric\n3 3\n2\n3\n5\n", &keep, 3, 3,
             (double[]){_, _, _, 2, _, _, 3, 5, _});
    reads_as("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n", NULL, 2, 3,
             (double[]){1, 3, 5, 2, 4, 6});

    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A;
    must(ctx, lsp_mtx_read(ctx, LSP_SOURCE_DIR "/matrices/data/hermitian.mtx", NULL, &A, NULL));
    const double re[] = {2, 1.5, 1.5, 0, 0, 1}, im[] = {0, 0.5, -0.5, -1, 1, 0};
    cr_assert(A.val_type == LSP_C64 && A.nnz == 6);
    for (int k = 0; k < 6; k++) {
        cr_assert(((double *)A.val)[2 * k] == re[k] && ((double *)A.val)[2 * k + 1] == im[k], "entry %d", k);
    }
    must(ctx, read_text(ctx, "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n1 2 3 4\n", &both, &A, NULL));
    cr_assert(A.nnz == 1 && ((int32_t *)A.rowptr)[1] == 0 && ((double *)A.val)[1] == -4);
    must(ctx, read_text(ctx, "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n3 4\n2 -0\n", NULL, &A, NULL));
    cr_assert(A.nnz == 4 && ((double *)A.val)[3] == -4 && ((double *)A.val)[5] == 4);
    must(ctx, read_text(ctx, "%%MatrixMarket matrix coordinate complex symmetric\n2 2 1\n2 1 3 4\n", NULL, &A, NULL));
    cr_assert(A.nnz == 2 && ((double *)A.val)[1] == 4 && ((double *)A.val)[3] == 4);
    must(ctx,
         read_text(ctx, "%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 3 4\n", NULL, &A, NULL));
    cr_assert(A.nnz == 2 && ((double *)A.val)[0] == -3 && ((double *)A.val)[1] == -4 && ((double *)A.val)[3] == 4);
    lsp_ctx_destroy(ctx);
}

Test(mtx_read, duplicates_are_summed_in_file_order_and_counted) {
    /* (1e16 + 1) + 1 and 1e16 + (1 + 1) differ */
    const char *text = REAL "2 2 6\n1 2 1e16\n1 1 3\n1 2 1\n2 2 5\n1 2 1\n1 1 4\n";
    reads_as(text, NULL, 2, 2, (double[]){7, 1e16, _, 5});
    reads_as(REAL "1 1 3\n1 1 1\n1 1 1\n1 1 1e16\n", NULL, 1, 1, (double[]){1e16 + 2});
    struct {
        const char *text;
        int64_t duplicates, nnz;
    } cases[] = {
        {text, 3, 3},
        {SYMMETRIC "2 2 4\n2 1 1\n1 1 2\n2 1 3\n1 1 1\n", 2, 3},
        {"%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 1\n2 1\n1 1\n", 1, 2},
        {"%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1 2\n1 1 3 4\n", 1, 1},
        {REAL "2 2 1\n1 1 1\n", 0, 1},
    };
    lsp_ctx *ctx = test_ctx(2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lsp_mtx_info info;
        lsp_csr A;
        must(ctx, read_text(ctx, cases[i].text, NULL, &A, &info));
        cr_assert(info.duplicates == cases[i].duplicates && A.nnz == cases[i].nnz, "%s: %d, %d", cases[i].text,
                  (int)info.duplicates, (int)A.nnz);
        lsp_csr_free(ctx, &A);
    }
    lsp_ctx_destroy(ctx);
}

Test(mtx_read, types_are_as_asked) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A, before;
    const char *real = REAL "2 2 2\n2 1 0.1\n1 2 3\n", *pattern = "%%MatrixMarket matrix coordinate pattern general\n"
                                                                  "2 2 3\n2 1\n1 2\n1 2\n";
    const char *complex = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n";
    must(ctx, read_text(ctx, real, &(lsp_mtx_read_options){.types = {LSP_I64, LSP_I64, LSP_F32, false, LSP_HOST}}, &A,
                        NULL));
    cr_assert(A.rowptr_type == LSP_I64 && A.col_type == LSP_I64 && A.val_type == LSP_F32);
    cr_assert(((int64_t *)A.rowptr)[2] == 2 && ((int64_t *)A.col)[0] == 1 && ((float *)A.val)[1] == 0.1F);
    must(ctx, read_text(ctx, real, &(lsp_mtx_read_options){.types.drop_values = true}, &A, NULL));
    cr_assert(A.val_type == LSP_NONE && A.val == NULL && A.nnz == 2);
    must(ctx, read_text(ctx, real, &(lsp_mtx_read_options){.types.val_type = LSP_C64}, &A, NULL));
    cr_assert(A.val_type == LSP_C64 && ((double *)A.val)[0] == 3 && ((double *)A.val)[1] == 0);
    must(ctx, read_text(ctx, pattern, NULL, &A, NULL));
    cr_assert(A.val_type == LSP_NONE && A.val == NULL && A.nnz == 2);
    must(ctx, read_text(ctx, pattern, &(lsp_mtx_read_options){.types.val_type = LSP_F32}, &A, NULL));
    cr_assert(A.val_type == LSP_F32 && A.nnz == 2 && ((float *)A.val)[0] == 1 && ((float *)A.val)[1] == 1);
    must(ctx, read_text(ctx, complex, &(lsp_mtx_read_options){.types.drop_values = true}, &A, NULL));
    cr_assert(A.val_type == LSP_NONE && A.nnz == 1);
    memset(&A, 0x5a, sizeof A);
    before = A;
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "complex",
              read_text(ctx, complex, &(lsp_mtx_read_options){.types.val_type = LSP_F64}, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "",
              read_text(ctx, real, &(lsp_mtx_read_options){.types.col_type = LSP_F64}, &A, NULL));
    must_fail(ctx, LSP_ERR_OVERFLOW, "columns",
              read_text(ctx, REAL "1 4000000000 0\n", &(lsp_mtx_read_options){.types.col_type = LSP_I32}, &A, NULL));
    cr_assert(memcmp(&A, &before, sizeof A) == 0);
    must(ctx, read_text(ctx, REAL "1 4000000000 1\n1 3999999999 5\n", NULL, &A, NULL));
    cr_assert(A.col_type == LSP_I64 && ((int64_t *)A.col)[0] == 3999999998);
    lsp_ctx_destroy(ctx);
}

Test(mtx_read, info_and_header_only_say_what_the_file_says) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_mtx_info info;
    lsp_csr A, before;
    memset(&A, 0x5a, sizeof A);
    before = A;
    const char *text = "%%MatrixMarket matrix coordinate integer skew-symmetric\n7 7 2\n2 1 broken";
    must(ctx, read_text(ctx, text, &(lsp_mtx_read_options){.header_only = true}, &A, &info));
    cr_assert(memcmp(&A, &before, sizeof A) == 0);
    cr_assert(info.format == LSP_MTX_COORDINATE && info.field == LSP_MTX_INTEGER && info.symmetry == LSP_SKEW);
    cr_assert(info.rows == 7 && info.cols == 7 && info.entries == 2 && info.duplicates == 0 && !info.compressed);
    cr_assert(info.bytes == (int64_t)strlen(text));
    must(ctx, read_text(ctx, "%%MatrixMarket matrix array complex hermitian\n4 4\n",
                        &(lsp_mtx_read_options){.header_only = true}, NULL, &info));
    cr_assert(info.format == LSP_MTX_ARRAY && info.field == LSP_MTX_COMPLEX && info.symmetry == LSP_HERMITIAN);
    cr_assert(info.entries == 10);
    lsp_ctx_destroy(ctx);
}

/* ---- rejections ---- */

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
    {REAL "2 2 1\n1 1 0x10\n", "t.mtx:3:", "'0x10'"},
    {REAL "2 2 1\n1 1 1,5\n", "t.mtx:3:", "'1,5'"},
    {REAL "2 2 1\n1 1 1 % c\n", "t.mtx:3:", "'%' follows"},
    {REAL "2 2 1\n1 1 abc\n", "t.mtx:3:", "'abc' is no number"},
    {REAL "2 2 2\n1 1 1\n2 2", "t.mtx:4:", "ends before the value"},
    {REAL "2 2 2\n1 1 1\n2 2 \n", "t.mtx:4:", "ends before the value"},
    {REAL "2 2 2\n1 1 1\n2", "t.mtx:4:", "ends before the column"},
    {REAL "2 2 2\n1 1 1\n2 2 1e", "t.mtx:4:", "'1e'"},
    {REAL "2 2 2\n1 1 1\n2 2 -", "t.mtx:4:", "'-'"},
    {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1\n", "t.mtx:3:", "imaginary"},
    {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 x\n", "t.mtx:3:", "'1 x'"},
    {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1+2\n", "t.mtx:3:", "imaginary"},
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
    {"%%MatrixMarket matrix array integer general\n1 1\n1.0\n", "t.mtx:3:", "1.0"},
};

Test(mtx_read, every_rejection_names_its_line) {
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
    char nul[] = REAL "1 1 1\n1 1 1\0002\n"; /* a byte that is no text */
    must_fail(ctx, LSP_ERR_FORMAT, "t.mtx:3:", lsp_mtx_read_memory(ctx, nul, sizeof nul - 1, "t.mtx", NULL, &A, NULL));
    lsp_ctx_destroy(ctx);
}

/* ---- large texts, cut into parts ---- */

typedef struct long_text {
    char *start;
    size_t bytes, room;
} long_text;

static void append(long_text *t, const char *line) {
    size_t length = strlen(line);
    if (t->bytes + length + 1 > t->room) {
        t->room = 2 * t->room + length + 4096;
        t->start = realloc(t->start, t->room);
        cr_assert(t->start != NULL);
    }
    memcpy(t->start + t->bytes, line, length + 1);
    t->bytes += length;
}

Test(mtx_read, the_first_fault_is_reported_whatever_the_threads) {
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
            } else if (k == first) { /* an index that the first pass sees, or a value that the second one sees */
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

/* Indices and numbers of every length and form, with each instruction set: as the C library reads them. */
Test(mtx_read, every_instruction_set_reads_alike) {
    enum { n = 60000 };
    static const int64_t sizes[] = {9, 99, 12345, 9999999, 99999999, 5000000000, INT64_MAX};
    uint64_t state = 17;
    for (int size = 0; size < 7; size++) {
        long_text t = {0};
        char line[200], number[100];
        int64_t cols = sizes[size], *col = malloc(n * sizeof *col);
        double *val = malloc(n * sizeof *val);
        append(&t, REAL);
        snprintf(line, sizeof line, "%d %lld %d\n", n, (long long)cols, n);
        append(&t, line);
        for (int k = 0; k < n; k++) {
            uint64_t bits = test_random(&state);
            int64_t digits = test_below(&state, 22);
            bits = k % 3 ? (bits & 0x800fffffffffffff) | (uint64_t)(1013 + test_below(&state, 60)) << 52 : bits;
            double value;
            memcpy(&value, &bits, sizeof value);
            value = isfinite(value) ? value : 0.5;
            col[k] = (int64_t)(test_random(&state) >> (1 + test_below(&state, 62))) % cols;
            snprintf(number, sizeof number, k % 2 ? "%.*e" : k % 3 ? "%+.*f" : "%.*g", (int)digits, value);
            val[k] = strtod(number, NULL);
            snprintf(line, sizeof line, k % 5 ? "%d %lld %s\n" : "%d  %lld\t%s \n", k + 1, (long long)col[k] + 1,
                     number);
            append(&t, line);
        }
        for (int isa = LSP_ISA_PORTABLE; isa <= (int)lsp_isa_detect(); isa++) {
            lsp_ctx *ctx = test_ctx(2);
            lsp_csr A;
            ctx->isa = (lsp_isa)isa;
            must(ctx, lsp_mtx_read_memory(ctx, t.start, t.bytes, "t.mtx", NULL, &A, NULL));
            for (int k = 0; k < n; k++) {
                int64_t got = A.col_type == LSP_I32 ? ((int32_t *)A.col)[k] : ((int64_t *)A.col)[k];
                cr_assert(got == col[k] && memcmp((double *)A.val + k, val + k, 8) == 0,
                          "isa %d: line %d: column %lld, not %lld; %a, not %a", isa, k + 3, (long long)got + 1,
                          (long long)col[k] + 1, ((double *)A.val)[k], val[k]);
            }
            lsp_ctx_destroy(ctx);
        }
        free(col), free(val), free(t.start);
    }
}

/* Random entries, some at the same place, of every kind of file: the same bits for any number of threads, and the same
 * as through lsp_coo_to_csr and lsp_csr_expand. */
Test(mtx_read, large_files_agree_with_the_plain_way) {
    enum { n = 120000, size = 3000 };
    static const char *const banners[] = {"real general", "real symmetric", "pattern symmetric", "complex hermitian",
                                          "integer skew-symmetric"};
    static const lsp_symmetry symmetries[] = {LSP_GENERAL, LSP_SYMMETRIC, LSP_SYMMETRIC, LSP_HERMITIAN, LSP_SKEW};
    static const lsp_type types[] = {LSP_F64, LSP_F64, LSP_NONE, LSP_C64, LSP_F64};
    int32_t *row = malloc(n * sizeof *row), *col = malloc(n * sizeof *col);
    double *val = malloc(2 * n * sizeof *val);
    uint64_t state = 5;
    for (int kind = 0; kind < 5; kind++) {
        long_text t = {0};
        char line[160];
        snprintf(line, sizeof line, "%%%%MatrixMarket matrix coordinate %s\n%d %d %d\n", banners[kind], size, size, n);
        append(&t, line);
        for (int k = 0; k < n; k++) {
            row[k] = (int32_t)test_below(&state, size);
            col[k] = (int32_t)test_below(&state, kind == 0 ? size : row[k] + 1);
            if (kind == 4 && row[k] == col[k]) {
                row[k] = 5, col[k] = 1;
            }
            double re = kind == 4 ? (double)test_below(&state, 1000) : (double)test_random(&state) * 0x1p-60;
            double im = row[k] == col[k] ? 0 : -(double)test_random(&state) * 0x1p-70;
            if (types[kind] == LSP_C64) {
                val[2 * k] = re, val[2 * k + 1] = im;
                snprintf(line, sizeof line, "%d %d %.17g %.17g\n", row[k] + 1, col[k] + 1, re, im);
            } else {
                val[k] = re;
                snprintf(line, sizeof line, types[kind] == LSP_NONE ? "%d %d\n" : "%d %d %.17g\n", row[k] + 1,
                         col[k] + 1, re);
            }
            append(&t, line);
        }
        lsp_ctx *ctx = test_ctx(2);
        lsp_coo triples = {size, size, n, row, col, types[kind] == LSP_NONE ? NULL : val, LSP_I32, types[kind]};
        lsp_csr lower, want;
        int64_t duplicates = -1;
        must(ctx, lsp_coo_to_csr(ctx, &triples, NULL, &lower, &duplicates));
        must(ctx, lsp_csr_expand(ctx, &lower, symmetries[kind], &want));
        for (int threads = 1; threads < 6; threads++) {
            lsp_ctx *other = test_ctx(threads);
            lsp_csr got;
            lsp_mtx_info info;
            lsp_csr_difference difference;
            must(other, lsp_mtx_read_memory(other, t.start, t.bytes, "t.mtx", NULL, &got, &info));
            must(ctx, lsp_csr_compare(ctx, &got, symmetries[kind] ? &want : &lower, &difference));
            cr_assert(difference.same_bits, "%s, %d threads: row %d", banners[kind], threads, (int)difference.row);
            cr_assert(info.duplicates == duplicates, "%s: %d duplicates, not %d", banners[kind], (int)info.duplicates,
                      (int)duplicates);
            lsp_ctx_destroy(other);
        }
        lsp_ctx_destroy(ctx);
        free(t.start);
    }
    free(row), free(col), free(val);
}

Test(mtx_read, long_lines_are_read_up_to_a_bound) {
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

/* ---- memory ---- */

Test(mtx_read, absurd_sizes_are_refused_with_the_bytes) {
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

static lsp_status read_for_memory(lsp_ctx *ctx, void *data) {
    lsp_csr A, before;
    memset(&A, 0x5a, sizeof A);
    before = A;
    lsp_status status = lsp_mtx_read(ctx, data, NULL, &A, NULL);
    cr_assert(status == LSP_OK || memcmp(&A, &before, sizeof A) == 0);
    if (status == LSP_OK) {
        lsp_csr_free(ctx, &A);
    }
    return status;
}
static lsp_status read_memory_for_memory(lsp_ctx *ctx, void *data) {
    lsp_csr A, before;
    memset(&A, 0x5a, sizeof A);
    before = A;
    lsp_status status = read_text(ctx, data, &(lsp_mtx_read_options){.types.val_type = LSP_F32}, &A, NULL);
    cr_assert(status == LSP_OK || memcmp(&A, &before, sizeof A) == 0);
    return status;
}

static void write_file(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}
static size_t pack(const void *bytes, size_t count, unsigned char *packed, size_t room) {
    z_stream stream = {0};
    cr_assert(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_in = (z_const Bytef *)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    cr_assert(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

static char folder[64];
static const char *in_folder(const char *name) {
    static char path[128];
    if (!folder[0]) {
        strcpy(folder, "/tmp/test_mtx_XXXXXX");
        cr_assert(mkdtemp(folder) != NULL);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}
static void remove_folder(void) {
    if (folder[0]) {
        char command[128];
        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        cr_assert(system(command) == 0);
    }
}

Test(mtx_read, failing_memory_leaves_nothing_behind, .fini = remove_folder) {
    /* duplicates, unsorted rows, a symmetric file, gzip: every path that allocates */
    const char *text = SYMMETRIC "3 3 5\n3 1 5\n1 1 1\n3 2 6\n3 1 4\n2 1 1\n";
    unsigned char packed[512];
    size_t count = pack(text, strlen(text), packed, sizeof packed);
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("a.mtx"));
    write_file(path, packed, count);
    test_failing_memory(2, read_for_memory, path);
    write_file(path, text, strlen(text));
    test_failing_memory(2, read_for_memory, path);
    test_failing_memory(2, read_memory_for_memory,
                        "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 1\n");
}

/* ---- files ---- */

Test(mtx_read, gzip_is_known_by_content, .fini = remove_folder) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A;
    lsp_mtx_info info;
    const char *text = REAL "2 2 2\n1 1 1\n2 2 2.5\n";
    unsigned char packed[4096];
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("plain.name"));
    size_t half = 60, length = strlen(text), first = pack(text, half, packed, sizeof packed);
    size_t all = first + pack(text + half, length - half, packed + first, sizeof packed - first); /* two members */
    memset(packed + all, 0, 100);
    for (size_t zeros = 0; zeros < 101; zeros += 50) {
        write_file(path, packed, all + zeros);
        must(ctx, lsp_mtx_read(ctx, path, NULL, &A, &info));
        cr_assert(A.nnz == 2 && info.compressed && info.bytes == (int64_t)length);
        lsp_csr_free(ctx, &A);
    }
    must(ctx, lsp_mtx_read_memory(ctx, packed, all, "m", NULL, &A, NULL));
    cr_assert(A.nnz == 2);
    for (size_t cut = 2; cut < all; cut++) {
        lsp_status status = lsp_mtx_read_memory(ctx, packed, cut, "m", NULL, &A, NULL);
        cr_assert(status == LSP_ERR_FORMAT, "cut at %zu: %s", cut, lsp_status_name(status));
    }
    must_fail(ctx, LSP_ERR_FORMAT, "m:5: the gzip data ends too early",
              lsp_mtx_read_memory(ctx, packed, all - 1, "m", NULL, &A, NULL));
    packed[all] = 'x';
    must_fail(ctx, LSP_ERR_FORMAT, "not gzip", lsp_mtx_read_memory(ctx, packed, all + 1, "m", NULL, &A, NULL));
    packed[all - 6] ^= 1; /* the checksum */
    must_fail(ctx, LSP_ERR_FORMAT, "damaged", lsp_mtx_read_memory(ctx, packed, all, "m", NULL, &A, NULL));
    char magic[] = "\x1f\x8b";
    must_fail(ctx, LSP_ERR_FORMAT, "", lsp_mtx_read_memory(ctx, magic, 2, "m", NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "", lsp_mtx_read_memory(ctx, magic, 1, "m", NULL, &A, NULL));
    lsp_ctx_destroy(ctx);
}

Test(mtx_read, a_decompression_bomb_meets_the_budget) {
    enum { bytes = 32 << 20 };
    char *blanks = malloc(bytes);
    memset(blanks, '\n', bytes);
    memcpy(blanks, REAL, strlen(REAL));
    unsigned char *packed = malloc(1 << 20);
    size_t count = pack(blanks, bytes, packed, 1 << 20);
    lsp_ctx *ctx = test_ctx(1);
    must(ctx, lsp_ctx_set_max_bytes(ctx, 8 << 20));
    lsp_csr A;
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_mtx_read_memory(ctx, packed, count, "bomb", NULL, &A, NULL));
    must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
    must_fail(ctx, LSP_ERR_FORMAT, "size line", lsp_mtx_read_memory(ctx, packed, count, "bomb", NULL, &A, NULL));
    lsp_ctx_destroy(ctx);
    free(packed);
    free(blanks);
}

Test(mtx_read, files_that_cannot_be_read_are_told_apart, .fini = remove_folder) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A;
    must_fail(ctx, LSP_ERR_IO, "No such file", lsp_mtx_read(ctx, in_folder("missing"), NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_IO, "is a directory", lsp_mtx_read(ctx, in_folder(""), NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_IO, "", lsp_mtx_read(ctx, "", NULL, &A, NULL));
    write_file(in_folder("empty"), "", 0);
    must_fail(ctx, LSP_ERR_FORMAT, "empty:1: the file is empty", lsp_mtx_read(ctx, in_folder("empty"), NULL, &A, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "the file is empty", lsp_mtx_read(ctx, "/dev/null", NULL, &A, NULL));
    write_file(in_folder("closed"), "x", 1);
    cr_assert(chmod(in_folder("closed"), 0) == 0);
    if (geteuid() != 0) {
        must_fail(ctx, LSP_ERR_IO, "Permission denied", lsp_mtx_read(ctx, in_folder("closed"), NULL, &A, NULL));
    }
    lsp_ctx_destroy(ctx);
}

Test(mtx_read, standard_input_and_pipes_are_read) {
    const char *text = REAL "2 2 2\n1 1 1\n2 2 2.5\n";
    unsigned char packed[512];
    size_t count = pack(text, strlen(text), packed, sizeof packed);
    for (int way = 0; way < 3; way++) {
        int ends[2];
        cr_assert(pipe(ends) == 0);
        const char *bytes = way == 2 ? (const char *)packed : text;
        size_t left = way == 2 ? count : strlen(text);
        pid_t child = fork();
        if (child == 0) {
            for (; left > 0; bytes++, left--) { /* byte by byte: the first read sees half of what tells gzip */
                if (write(ends[1], bytes, 1) != 1) {
                    _exit(1);
                }
                usleep(way > 0 && left > strlen(text) - 2 ? 20000 : 0);
            }
            _exit(0);
        }
        close(ends[1]);
        lsp_ctx *ctx = test_ctx(2);
        lsp_csr A;
        lsp_mtx_info info;
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
        if (way == 0) {
            cr_assert(dup2(ends[0], 0) == 0);
        }
        must(ctx, lsp_mtx_read(ctx, way == 0 ? "-" : path, NULL, &A, &info));
        cr_assert(A.nnz == 2 && info.compressed == (way == 2) && info.bytes == (int64_t)strlen(text));
        lsp_ctx_destroy(ctx);
        close(ends[0]);
    }
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A;
    int fd = open(LSP_SOURCE_DIR "/matrices/data/general.mtx", O_RDONLY); /* a file as standard input */
    cr_assert(fd >= 0 && dup2(fd, 0) == 0);
    must(ctx, lsp_mtx_read(ctx, "-", NULL, &A, NULL));
    cr_assert(A.nnz == 8);
    close(0);
    must_fail(ctx, LSP_ERR_IO, "standard input", lsp_mtx_read(ctx, "-", NULL, &A, NULL));
    lsp_ctx_destroy(ctx);
}

/* ---- a file that changes while it is read ---- */

static void spoil(void *path, const char *phase, double fraction) { /* between the passes */
    (void)phase;
    if (path && fraction > 0.29 && fraction < 0.31) {
        int fd = open(path, O_WRONLY);
        const char *other = "9 9 9\n9 9 9\n9 9 9\n";
        cr_assert(fd >= 0 && pwrite(fd, other, 18, (off_t)strlen(REAL "9 9 4000\n") + 6 * 400) == 18 && close(fd) == 0);
    }
}
static void shrink(void *path, const char *phase, double fraction) {
    (void)phase;
    if (path && fraction > 0.29 && fraction < 0.31) {
        cr_assert(truncate(path, 3000) == 0);
    }
}

Test(mtx_read, a_file_that_changes_meanwhile_is_an_error, .fini = remove_folder) {
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("changing"));
    for (int way = 0; way < 2; way++) {
        long_text t = {0};
        append(&t, REAL "9 9 4000\n");
        for (int k = 0; k < 4000; k++) {
            append(&t, "1 1 1\n");
        }
        write_file(path, t.start, t.bytes);
        lsp_ctx *ctx;
        lsp_csr A;
        lsp_ctx_options options = {.threads = 1, .progress = way ? shrink : spoil, .hook_user = path};
        cr_assert(lsp_ctx_create(&ctx, &options, NULL, 0) == LSP_OK);
        must_fail(ctx, LSP_ERR_IO, way ? "shorter" : "changed", lsp_mtx_read(ctx, path, NULL, &A, NULL));
        lsp_ctx_destroy(ctx);
        free(t.start);
    }
}

/* ---- real matrices ---- */

Test(mtx_read, real_matrices_have_their_known_sizes) {
    FILE *index = fopen(TEST_REAL_MATRICES "/INDEX.tsv", "r");
    char line[2048], path[4096];
    int count = 0;
    if (!index) {
        cr_skip_test("no real matrices at %s", TEST_REAL_MATRICES);
    }
    while (fgets(line, sizeof line, index)) {
        char *field[7] = {line};
        for (int i = 1; i < 7; i++) {
            field[i] = strchr(field[i - 1], '\t');
            cr_assert(field[i] != NULL);
            *field[i]++ = 0;
        }
        if (strcmp(field[0], "file") == 0) {
            continue;
        }
        *strchrnul(field[6], '\t') = 0;
        snprintf(path, sizeof path, "%s/%s", TEST_REAL_MATRICES, field[0]);
        for (int threads = 1; threads < 3; threads++) {
            lsp_ctx *ctx = test_ctx(threads);
            lsp_csr A;
            must(ctx, lsp_mtx_read(ctx, path, NULL, &A, NULL));
            must(ctx, lsp_csr_check(ctx, &A, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE | LSP_CHECK_FINITE));
            cr_assert(A.rows == atoll(field[2]) && A.cols == atoll(field[3]), "%s: %d x %d", path, (int)A.rows,
                      (int)A.cols);
            cr_assert(A.nnz == atoll(field[5]), "%s: %d entries, not %s", path, (int)A.nnz, field[5]);
            lsp_ctx_destroy(ctx);
        }
        count++;
    }
    fclose(index);
    cr_assert(count > 0);
}
