/* Expanded symmetric matrices, compared with plain dense results. */
#include "tests/matrices.h"

Test(expand, an_expansion_mirrors_what_is_off_the_diagonal) {
    for (int threads = 1; threads <= 4; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        const int64_t squares[][2] = {{0, 0}, {1, 3}, {5, 4}, {40, 400}, {300, 2000}, {90, 70000}};
        for (size_t c = 0; c < sizeof squares / sizeof *squares; c++) {
            int64_t n = squares[c][0];
            for (int t = 0; t < test_combinations; t++) {
                lsp_csr A = test_random_csr(ctx, n, n, squares[c][1], test_types(t), 7);
                double *a = test_dense(&A);
                for (int symmetry = LSP_SYMMETRY_GENERAL; symmetry <= LSP_SYMMETRY_HERMITIAN; symmetry++) {
                    double re = symmetry == LSP_SYMMETRY_GENERAL ? 0 : symmetry == LSP_SYMMETRY_SKEW ? -1 : 1;
                    double im = symmetry == LSP_SYMMETRY_HERMITIAN ? -re : re;
                    lsp_csr B;
                    must(ctx, lsp_csr_expand(ctx, &A, (lsp_symmetry)symmetry, &B));
                    must(ctx, lsp_csr_check(ctx, &B, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE));
                    cr_assert(B.val_type == A.val_type && B.col_type == A.col_type);
                    double *b = test_dense(&B);
                    int64_t places = 0;
                    for (int64_t i = 0; i < n; i++) {
                        for (int64_t j = 0; j < n; j++) {
                            const double *x = &a[2 * (i * n + j)], *y = &a[2 * (j * n + i)], *z = &b[2 * (i * n + j)];
                            double mirror = i == j ? 0 : 1;
                            bool right = A.val_type == LSP_NONE
                                             ? (z[0] == 1) == (x[0] > 0 || mirror * re * y[0] != 0)
                                             : z[0] == x[0] + mirror * re * y[0] && z[1] == x[1] + mirror * im * y[1];
                            cr_assert(right, "case %zu, types %d, symmetry %d, at (%ld, %ld)", c, t, symmetry, (long)i,
                                      (long)j);
                            places += z[0] != 0 || z[1] != 0;
                        }
                    }
                    cr_assert(B.nnz >= places && (A.val_type != LSP_NONE || B.nnz == places));
                    free(b);
                    lsp_csr_free(ctx, &B);
                }
                free(a);
                lsp_csr_free(ctx, &A);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(expand, an_expansion_needs_a_square_and_a_symmetry) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){0}, 1), B = {.rows = 42};
    must_fail(ctx, LSP_ERR_ARGUMENT, "3 rows and 4 columns", lsp_csr_expand(ctx, &A, LSP_SYMMETRY_SYMMETRIC, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "4 is no symmetry", lsp_csr_expand(ctx, &A, (lsp_symmetry)4, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "-1 is no symmetry", lsp_csr_expand(ctx, &A, (lsp_symmetry)-1, &B));
    cr_assert(B.rows == 42 && !B.rowptr);
    must(ctx, lsp_csr_expand(ctx, &A, LSP_SYMMETRY_GENERAL, &B));
    lsp_ctx_destroy(ctx);
}
