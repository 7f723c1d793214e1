/* Reading Matrix Market: the accepted texts and their matrices. */
#include "core/isa.h"
#include "mtx_texts.h"

#include <math.h>
#include <unistd.h>

/* Reads the text and compares its matrix with `dense`, row by row (NAN: no entry there). */
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
    must(ctx, read_text(ctx, real, &(lsp_mtx_read_options){.types = {LSP_I64, LSP_I64, LSP_F32, false, LSP_PLACE_HOST}},
                        &A, NULL));
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
    cr_assert(info.format == LSP_MTX_COORDINATE && info.field == LSP_MTX_INTEGER && info.symmetry == LSP_SYMMETRY_SKEW);
    cr_assert(info.rows == 7 && info.cols == 7 && info.entries == 2 && info.duplicates == 0 && !info.compressed);
    cr_assert(info.bytes == (int64_t)strlen(text));
    must(ctx, read_text(ctx, "%%MatrixMarket matrix array complex hermitian\n4 4\n",
                        &(lsp_mtx_read_options){.header_only = true}, NULL, &info));
    cr_assert(info.format == LSP_MTX_ARRAY && info.field == LSP_MTX_COMPLEX && info.symmetry == LSP_SYMMETRY_HERMITIAN);
    cr_assert(info.entries == 10);
    lsp_ctx_destroy(ctx);
}

/* Each instruction set must read indices and numbers of every length and form as the C library does. */
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

/* Files of every kind with random entries, some at the same place. Every number of threads must give the bits that
 * lsp_coo_to_csr and lsp_csr_expand give. */
Test(mtx_read, large_files_agree_with_the_plain_way) {
    enum { n = 120000, size = 3000 };
    static const char *const banners[] = {"real general", "real symmetric", "pattern symmetric", "complex hermitian",
                                          "integer skew-symmetric"};
    static const lsp_symmetry symmetries[] = {LSP_SYMMETRY_GENERAL, LSP_SYMMETRY_SYMMETRIC, LSP_SYMMETRY_SYMMETRIC,
                                              LSP_SYMMETRY_HERMITIAN, LSP_SYMMETRY_SKEW};
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
        lsp_coo triples = {size,    size,        n,       row, col, types[kind] == LSP_NONE ? NULL : val,
                           LSP_I32, types[kind], LSP_HOST};
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
