/* Matrices by name: the expected counts of the workloads, plain serial generators for small matrices, and the NAS
 * benchmark's own verification. LSP_SLOW_TESTS=1 adds classes B and C. */
#include "generate_plainly.h"
#include "libsparse/unstable.h"

/* ---- counts ---- */

typedef struct expected {
    const char *spec;
    int64_t rows, nnz, products; /* products: multiplications of A*A; 0: not checked */
} expected;

static int64_t products_of(const lsp_csr *A) {
    int64_t products = 0;
    for (int64_t k = 0; k < A->nnz; k++) {
        int64_t j = lsp_csr_col(A, k);
        products += lsp_csr_rowptr(A, j + 1) - lsp_csr_rowptr(A, j);
    }
    return products;
}

static void must_have(lsp_ctx *ctx, const expected *e, size_t count) {
    for (size_t i = 0; i < count; i++) {
        lsp_csr A;
        must(ctx, lsp_generate(ctx, e[i].spec, 1, NULL, &A));
        must(ctx, lsp_csr_check(ctx, &A, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE | LSP_CHECK_FINITE));
        cr_assert(A.rows == e[i].rows && A.cols == e[i].rows && A.nnz == e[i].nnz, "%s: %ld rows, %ld entries",
                  e[i].spec, (long)A.rows, (long)A.nnz);
        cr_assert(A.rowptr_type == LSP_I32 && A.col_type == LSP_I32 && A.val_type == LSP_F64);
        cr_assert(e[i].products == 0 || products_of(&A) == e[i].products, "%s: %ld products", e[i].spec,
                  (long)products_of(&A));
        lsp_csr_free(ctx, &A);
    }
}

Test(generate, the_workloads_have_the_counts_of_their_table) {
    lsp_ctx *ctx = test_ctx(0);
    static const expected table[] = {
        {"poisson2d:2048", 4194304, 20963328, 104783880}, {"stencil27:96", 884736, 23393656, 622835864},
        {"er:1048576:8", 1048576, 8388575, 67108322},     {"er:1048576:16", 1048576, 16777092, 268431506},
        {"rmat:17:8", 131072, 999417, 325934799},         {"rmat:19:8", 524288, 4063323, 2278517660},
        {"fem3:40", 192000, 14787288, 1157625000},        {"web:1000000:1.8:5000", 1000000, 10283732, 106763247},
    };
    must_have(ctx, table, sizeof table / sizeof *table);
    lsp_ctx_destroy(ctx);
}

Test(generate, the_workloads_of_a_cpu_have_the_counts_of_their_table) {
    lsp_ctx *ctx = test_ctx(0);
    static const expected table[] = {
        {"poisson2d:1024", 1048576, 5238784, 26177544}, {"stencil27:48", 110592, 2863288, 75151448},
        {"er:262144:8", 262144, 2097123, 16776731},     {"rmat:16:8", 65536, 494249, 122516050},
        {"fem3:20", 24000, 1756008, 132651000},         {"web:300000:1.8:2000", 300000, 2618086, 22938004},
    };
    must_have(ctx, table, sizeof table / sizeof *table);
    lsp_ctx_destroy(ctx);
}

Test(generate, the_nas_matrices_have_the_counts_of_the_benchmark) {
    lsp_ctx *ctx = test_ctx(0);
    static const expected table[] = {
        {"nascg:S", 1400, 78148, 0},     {"nascg:W", 7000, 508402, 0},     {"nascg:A", 14000, 1853104, 0},
        {"nascg:B", 75000, 13708072, 0}, {"nascg:C", 150000, 36121058, 0},
    };
    const char *slow = getenv("LSP_SLOW_TESTS");
    must_have(ctx, table, slow && *slow ? 5 : 3);
    lsp_ctx_destroy(ctx);
}

Test(generate, the_factors_of_a_multigrid_are_those_of_their_definition) {
    static const struct {
        const char *grid, *name;
        double box, weight; /* box: nodes of an aggregate */
        int64_t columns;    /* of T and P, for K = 8 */
    } cases[] = {{"poisson2d:8", "amg:8", 9, 0.1, 9},
                 {"stencil27:8", "amg27:8", 27, 0.4 / 26, 27},
                 {"fem3:8", "amgfem3:8", 27, 0.4 / 26, 81}};
    lsp_ctx *ctx = test_ctx(2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lsp_csr A, factor[3], AT, P, R;
        must(ctx, lsp_generate(ctx, cases[i].grid, 1, NULL, &A));
        for (int part = 0; part < 3; part++) {
            char spec[32];
            snprintf(spec, sizeof spec, "%s:%c", cases[i].name, "TPR"[part]);
            must(ctx, lsp_generate(ctx, spec, 1, NULL, &factor[part]));
        }
        const lsp_csr *T = &factor[0];
        cr_assert(T->rows == A.rows && T->cols == cases[i].columns && T->nnz == T->rows);
        const int64_t unknowns = i == 2 ? 3 : 1;
        for (int64_t row = 0; row < T->rows; row++) {
            const int64_t node = row / unknowns, x = node % 8, y = node / 8 % 8, z = i == 0 ? 0 : node / 64;
            const int64_t aggregate = (z / 3 * 3 + y / 3) * 3 + x / 3;
            cr_assert_eq(lsp_csr_col(T, row), aggregate * unknowns + row % unknowns);
            cr_assert_eq(((double *)T->val)[row], 1 / sqrt(cases[i].box));
        }
        must(ctx, lsp_spgemm(ctx, &A, T, NULL, &AT, NULL));
        must(ctx, lsp_csr_add(ctx, 1, T, -cases[i].weight, &AT, &P));
        must(ctx, lsp_csr_transpose(ctx, &P, &R));
        must_be_same(ctx, &P, &factor[1]);
        must_be_same(ctx, &R, &factor[2]);
        lsp_csr_free(ctx, &AT), lsp_csr_free(ctx, &A);
    }
    lsp_ctx_destroy(ctx);
}

/* ---- entries ---- */

Test(generate, every_matrix_is_that_of_its_definition) {
    static const char *const specs[] = {
        "poisson2d:1",     "poisson2d:2",     "poisson2d:13", "stencil27:1", "stencil27:2",
        "stencil27:5",     "fem3:1",          "fem3:2",       "fem3:4",      "er:1:0",
        "er:1:9",          "er:7:30",         "er:1000:12",   "rmat:0:0",    "rmat:0:5",
        "rmat:1:3",        "rmat:9:20",       "web:1:1:1",    "web:1:0:50",  "web:150:1.8:40",
        "web:3000:.5:300", "web:2000:2.25:1", "perm:1",       "perm:2",      "perm:5000",
    };
    for (int threads = 1; threads <= 5; threads += 2) {
        lsp_ctx *ctx = test_ctx(threads);
        for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
            for (uint64_t seed = 0; seed < 3; seed++) {
                lsp_csr A, plain = plain_matrix(ctx, specs[i], seed);
                must(ctx, lsp_generate(ctx, specs[i], seed, NULL, &A));
                lsp_csr_difference d;
                must(ctx, lsp_csr_compare(ctx, &A, &plain, &d));
                cr_assert(d.same_bits, "%s, seed %d, %d threads: differs at (%ld, %ld)", specs[i], (int)seed, threads,
                          (long)d.row, (long)d.col);
                lsp_csr_free(ctx, &A);
                lsp_csr_free(ctx, &plain);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(generate, the_bits_do_not_depend_on_the_threads) {
    static const char *const specs[] = {"poisson2d:200", "stencil27:20",     "fem3:10",    "er:20000:9",
                                        "rmat:13:9",     "web:9000:1.8:900", "perm:90000", "nascg:S"};
    lsp_ctx *one = test_ctx(1);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        lsp_csr A, B;
        must(one, lsp_generate(one, specs[i], UINT64_MAX, NULL, &A));
        for (int threads = 2; threads <= 16; threads += 7) {
            lsp_ctx *ctx = test_ctx(threads);
            must(ctx, lsp_generate(ctx, specs[i], UINT64_MAX, NULL, &B));
            must_be_same(ctx, &A, &B);
            lsp_ctx_destroy(ctx);
        }
        lsp_csr_free(one, &A);
    }
    lsp_ctx_destroy(one);
}

Test(generate, a_matrix_comes_in_the_types_asked) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A, B, C;
    must(ctx, lsp_generate(ctx, "er:300:7", 1, NULL, &A));
    for (int t = 0; t < test_combinations; t++) {
        lsp_csr_types types = test_types(t);
        if (types.val_type == LSP_C64) {
            must_fail(ctx, LSP_ERR_UNSUPPORTED, "LSP_C64", lsp_generate(ctx, "er:300:7", 1, &types, &B));
            continue;
        }
        must(ctx, lsp_generate(ctx, "er:300:7", 1, &types, &B));
        must(ctx, lsp_csr_copy(ctx, &A, &types, &C));
        must_be_same(ctx, &B, &C);
    }
    must(ctx, lsp_generate(ctx, "er:300:7", 1, &(lsp_csr_types){.drop_values = true}, &B));
    cr_assert(B.val_type == LSP_NONE && B.nnz == A.nnz && !B.val);
    must(ctx, lsp_generate(ctx, "er:300:7", 2, NULL, &B));
    lsp_csr_difference d;
    must(ctx, lsp_csr_compare(ctx, &A, &B, &d));
    cr_assert(!d.same_pattern, "another seed gave the same matrix");
    lsp_ctx_destroy(ctx);
}

/* ---- the NAS benchmark's own check ---- */

/* `iterations` steps of inverse power iteration, each 25 steps of conjugate gradients. */
static double zeta_of(const lsp_csr *A, const lsp_nas_class *params) {
    int64_t n = A->rows;
    double *work = calloc((size_t)(5 * n), sizeof *work), zeta = 0;
    double *x = work, *z = x + n, *p = z + n, *q = p + n, *r = q + n;
    for (int64_t i = 0; i < n; i++) {
        x[i] = 1;
    }
    for (int step = 0; step < params->iterations; step++) {
        double rho = 0, xz = 0, zz = 0;
        for (int64_t i = 0; i < n; i++) {
            z[i] = 0, r[i] = p[i] = x[i], rho += r[i] * r[i];
        }
        for (int cg = 0; cg < 25; cg++) {
            double d = 0, rho_before = rho;
            for (int64_t i = 0; i < n; i++) {
                q[i] = 0;
                for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
                    q[i] += ((double *)A->val)[k] * p[lsp_csr_col(A, k)];
                }
                d += p[i] * q[i];
            }
            rho = 0;
            for (int64_t i = 0; i < n; i++) {
                z[i] += rho_before / d * p[i], r[i] -= rho_before / d * q[i], rho += r[i] * r[i];
            }
            for (int64_t i = 0; i < n; i++) {
                p[i] = r[i] + rho / rho_before * p[i];
            }
        }
        for (int64_t i = 0; i < n; i++) {
            xz += x[i] * z[i], zz += z[i] * z[i];
        }
        zeta = params->shift + 1 / xz;
        for (int64_t i = 0; i < n; i++) {
            x[i] = z[i] / sqrt(zz);
        }
    }
    free(work);
    return zeta;
}

Test(generate, the_nas_matrices_give_the_zeta_of_the_benchmark) {
    lsp_ctx *ctx = test_ctx(0);
    for (const char *name = "SW"; *name; name++) {
        lsp_csr A;
        lsp_nas_class params;
        char spec[] = "nascg:?";
        spec[6] = *name;
        must(ctx, lsp_nas_get_class(ctx, *name, &params));
        must(ctx, lsp_generate(ctx, spec, 1, NULL, &A));
        double zeta = zeta_of(&A, &params);
        cr_assert(fabs(zeta - params.zeta) <= 1e-12 * params.zeta, "%s: %.13f, not %.13f", spec, zeta, params.zeta);
    }
    lsp_ctx_destroy(ctx);
}

Test(generate, the_nas_classes) {
    lsp_ctx *ctx = test_ctx(1);
    static const struct {
        char name;
        lsp_nas_class params;
    } classes[] = {{'S', {1400, 7, 15, 10, 8.5971775078648}},       {'W', {7000, 8, 15, 12, 10.362595087124}},
                   {'A', {14000, 11, 15, 20, 17.130235054029}},     {'B', {75000, 13, 75, 60, 22.712745482631}},
                   {'C', {150000, 15, 75, 110, 28.973605592845}},   {'D', {1500000, 21, 100, 500, 52.514532105794}},
                   {'E', {9000000, 26, 100, 1500, 77.522164599383}}};
    for (int i = 0; i < 7; i++) {
        lsp_nas_class p, q = classes[i].params;
        must(ctx, lsp_nas_get_class(ctx, classes[i].name, &p));
        cr_assert(p.n == q.n && p.nonzer == q.nonzer && p.iterations == q.iterations && p.shift == q.shift &&
                  p.zeta == q.zeta);
    }
    lsp_nas_class p = {.n = 42};
    must_fail(ctx, LSP_ERR_ARGUMENT, "CLASS is 'Q'", lsp_nas_get_class(ctx, 'Q', &p));
    must_fail(ctx, LSP_ERR_ARGUMENT, "CLASS is 's'", lsp_nas_get_class(ctx, 's', &p));
    must_fail(ctx, LSP_ERR_ARGUMENT, "CLASS", lsp_nas_get_class(ctx, 0, &p));
    must_fail(ctx, LSP_ERR_ARGUMENT, "CLASS", lsp_nas_get_class(ctx, '\n', &p));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_nas_get_class(ctx, 'S', NULL));
    cr_assert(lsp_nas_get_class(NULL, 'S', &p) == LSP_ERR_ARGUMENT && p.n == 42);
    lsp_ctx_destroy(ctx);
}

/* ---- names that are wrong ---- */

Test(generate, a_wrong_name_gets_a_sentence_that_names_the_parameter) {
    lsp_ctx *ctx = test_ctx(1);
    static const char *const wrong[][2] = {
        {"", "no generator ''; there are poisson2d:K"},
        {":", "no generator ''"},
        {"poisson3d:5", "no generator 'poisson3d'; there are poisson2d:K, stencil27:K, fem3:K, er:N:D"},
        {"poisson2", "web:N:ALPHA:DMAX, perm:N, amg:K:PART, amg27:K:PART, amgfem3:K:PART, nascg:CLASS"},
        {"Poisson2d:5", "no generator 'Poisson2d'"},
        {"poisson2d ", "no generator 'poisson2d '"},
        {"poisson2d", "poisson2d needs the parameter K"},
        {"poisson2d:", "K is ''"},
        {"poisson2d:0", "K is '0', and must be a whole number of 1 .. 268435456"},
        {"poisson2d:-3", "K is '-3'"},
        {"poisson2d:+3", "K is '+3'"},
        {"poisson2d: 3", "K is ' 3'"},
        {"poisson2d:3 ", "K is '3 '"},
        {"poisson2d:3x", "K is '3x'"},
        {"poisson2d:3.0", "K is '3.0'"},
        {"poisson2d:0x3", "K is '0x3'"},
        {"poisson2d:268435457", "K is '268435457'"},
        {"poisson2d:99999999999999999999999999", "K is '99999999999999999999999999'"},
        {"poisson2d:3:4", "more than poisson2d takes: ':4'"},
        {"poisson2d:3:", "more than poisson2d takes: ':'"},
        {"stencil27:300000", "K is '300000'"},
        {"fem3:0", "K is '0'"},
        {"er:5", "er needs the parameter D"},
        {"er::5", "N is ''"},
        {"er:0:5", "N is '0'"},
        {"er:5:-1", "D is '-1'"},
        {"er:5:9223372036854775808", "D is '9223372036854775808'"},
        {"rmat:-1:3", "SCALE is '-1'"},
        {"rmat:49:3", "SCALE is '49', and must be a whole number of 0 .. 48"},
        {"rmat:4", "rmat needs the parameter EF"},
        {"rmat:4:4:4", "more than rmat takes"},
        {"web:5:1.8", "web needs the parameter DMAX"},
        {"web:5:x:3", "ALPHA is 'x', and must be a number of 0 .. 100"},
        {"web:5:1.8.1:3", "ALPHA is '1.8.1'"},
        {"web:5:.:3", "ALPHA is '.'"},
        {"web:5:1e2:3", "ALPHA is '1e2'"},
        {"web:5:nan:3", "ALPHA is 'nan'"},
        {"web:5:100.5:3", "ALPHA is '100.5'"},
        {"web:5:0.00000000001:3", "ALPHA is '0.00000000001'"},
        {"web:5:1.8:0", "DMAX is '0'"},
        {"web:5.5:1.8:3", "N is '5.5'"},
        {"perm:", "N is ''"},
        {"nascg", "nascg needs the parameter CLASS"},
        {"nascg:", "CLASS is ''"},
        {"nascg:X", "CLASS is 'X', and must be one of S W A B C D E"},
        {"nascg:SS", "CLASS is 'SS'"},
        {"nascg:S:1", "more than nascg takes: ':1'"},
        {"amg:9", "amg needs the parameter PART"},
        {"amg:9:A", "PART is 'A', and must be one of T P R"},
        {"amg:0:T", "K is '0'"},
    };
    lsp_csr A = {.rows = 42};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        must_fail(ctx, LSP_ERR_ARGUMENT, wrong[i][1], lsp_generate(ctx, wrong[i][0], 1, NULL, &A));
    }
    char *endless = malloc(100001);
    memset(endless, '9', 100000);
    endless[100000] = 0;
    memcpy(endless, "perm:", 5);
    must_fail(ctx, LSP_ERR_ARGUMENT, "N is '9999", lsp_generate(ctx, endless, 1, NULL, &A));
    memset(endless, 'a', 100000);
    must_fail(ctx, LSP_ERR_ARGUMENT, "no generator 'aaaa", lsp_generate(ctx, endless, 1, NULL, &A));
    free(endless);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_generate(ctx, NULL, 1, NULL, &A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_generate(ctx, "perm:3", 1, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "type LSP_U32",
              lsp_generate(ctx, "perm:3", 1, &(lsp_csr_types){.col_type = LSP_U32}, &A));
    must_fail(ctx, LSP_ERR_DEVICE, "GPU",
              lsp_generate(ctx, "perm:3", 1, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &A));
    cr_assert(lsp_generate(NULL, "perm:3", 1, NULL, &A) == LSP_ERR_ARGUMENT);
    cr_assert(A.rows == 42 && !A.rowptr);
    lsp_ctx_destroy(ctx);
}

Test(generate, what_does_not_fit_is_refused_before_it_starts) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A = {.rows = 42};
    static const char *const large[][2] = {
        {"er:1000000000000:8", "need 136000000000008 bytes"},
        {"poisson2d:268435456", "72057594037927936 rows"},
        {"stencil27:200000", "8000000000000000 rows"},
        {"fem3:100000", "3000000000000000 rows"},
        {"rmat:48:8", "281474976710656 rows"},
        {"rmat:3:200000000000000", "1600000000000000 entries"},
        {"web:1000000000000:1.8:5", "1000000000000 rows"},
        {"perm:1000000000000", "1000000000000 rows"},
        {"web:5:1.8:200000000000000", "1.42 PiB"},
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        must_fail(ctx, LSP_ERR_MEMORY, large[i][1], lsp_generate(ctx, large[i][0], 1, NULL, &A));
    }
    must_fail(ctx, LSP_ERR_OVERFLOW, "N = 281474976710656",
              lsp_generate(ctx, "er:281474976710656:281474976710656", 1, NULL, &A));
    must_fail(ctx, LSP_ERR_OVERFLOW, "EF = 281474976710656", lsp_generate(ctx, "rmat:48:281474976710656", 1, NULL, &A));
    must(ctx, lsp_ctx_set_max_bytes(ctx, 100000000));
    must_fail(ctx, LSP_ERR_MEMORY, "only 95.37 MiB are available", lsp_generate(ctx, "nascg:B", 1, NULL, &A));
    cr_assert(A.rows == 42 && !A.rowptr);
    must(ctx, lsp_generate(ctx, "er:1000:8", 1, NULL, &A));
    lsp_ctx_destroy(ctx);
}

static lsp_status generate_all(lsp_ctx *ctx, void *data) {
    lsp_csr A = {.rows = 42};
    lsp_csr_types types = {.rowptr_type = LSP_I64, .col_type = LSP_I64, .val_type = LSP_F32};
    lsp_status status = lsp_generate(ctx, data, 1, &types, &A);
    cr_assert(status == LSP_OK || (A.rows == 42 && !A.rowptr));
    return status;
}

Test(generate, failing_memory_leaves_nothing_behind) {
    static char specs[][20] = {"poisson2d:40", "stencil27:7",     "fem3:6",    "er:2000:7",
                               "rmat:11:8",    "web:3000:1.5:90", "perm:4000", "nascg:S"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        test_failing_memory(3, generate_all, specs[i]);
    }
}
