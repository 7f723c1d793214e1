/* Products in every semiring of the table: the bits of the reference, and answers by hand. */
#include "tests/products.h"

Test(spgemm, semirings_agree_with_the_reference_and_with_what_they_stand_for) {
    const int semirings = LSP_SEMIRINGS;
    for (int isa = 0; isa < 3; isa++) {
        lsp_ctx *ctx = test_ctx(2);
        ctx->isa = (lsp_isa)lsp_min(isa, ctx->isa);
        for (int kind = 0; kind < 12 * semirings; kind++) {
            const recipe r = {70,
                              70,
                              kind % 3 ? 4 : 20,
                              LSP_I32,
                              kind % 2 ? LSP_I32 : LSP_I64,
                              kind % 4 < 2 ? LSP_F32 : LSP_F64,
                              kind % 5 != 0,
                              kind % 7 == 0,
                              kind % 6 == 0 ? 5 : -1,
                              -1,
                              kind % 8 == 0 ? 6 : 0};
            lsp_csr A = make(&r, (uint64_t)kind), expected = {0}, C = {0};
            lsp_spgemm_options options = {.semiring = (lsp_semiring)(kind % semirings), .method = LSP_SPGEMM_REFERENCE};
            must(ctx, lsp_spgemm(ctx, &A, &A, &options, &expected, NULL));
            options.method = LSP_SPGEMM_SORT;
            must(ctx, lsp_spgemm(ctx, &A, &A, &options, &C, NULL));
            same(ctx, &expected, &C, "semiring");
            for (int64_t p = 0; p < C.nnz; p++) {
                const double value = lsp_value_at(&C, p).re;
                cr_assert(options.semiring != LSP_OR_AND || value == 0 || value == 1);
                cr_assert(options.semiring != LSP_PLUS_PAIR || (value >= 1 && value == floor(value)));
            }
            lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &expected);
            drop(&A);
        }
        lsp_ctx_destroy(ctx);
    }
    lsp_ctx *ctx = test_ctx(1);
    int32_t rows[] = {0, 2, 4, 6},
            cols[] = {1, 2, 0, 2, 0, 1}; /* a triangle; the path from 0 to 2 by way of 1 is shorter */
    double lengths[] = {1, 5, 1, 2, 5, 2};
    lsp_csr A = {3, 3, 6, rows, cols, lengths, LSP_I32, LSP_I32, LSP_F64, LSP_HOST}, C;
    const struct {
        lsp_semiring semiring;
        double right[9];
    } known[] = {{LSP_MIN_PLUS, {2, 7, 3, 7, 2, 6, 3, 6, 4}},
                 {LSP_MAX_TIMES, {25, 10, 2, 10, 4, 5, 2, 5, 25}},
                 {LSP_OR_AND, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
                 {LSP_PLUS_PAIR, {2, 1, 1, 1, 2, 1, 1, 1, 2}}};
    for (int k = 0; k < 4; k++) {
        const lsp_spgemm_options options = {.semiring = known[k].semiring};
        must(ctx, lsp_spgemm(ctx, &A, &A, &options, &C, NULL));
        cr_assert_eq(C.nnz, 9);
        for (int p = 0; p < 9; p++) {
            cr_assert(((double *)C.val)[p] == known[k].right[p], "semiring %d, entry %d: %g", (int)known[k].semiring, p,
                      ((double *)C.val)[p]);
        }
        lsp_csr_free(ctx, &C);
    }
    int32_t one_row[] = {0, 2}, places[] = {0, 1}, column[] = {0, 0}, starts[] = {0, 1, 2};
    float zeros[] = {-0.0F, 1e-30F},
          factors[] = {1, 1e-30F}; /* the products round to zeros as floats, and the first one stays */
    lsp_csr X = {1, 2, 2, one_row, places, zeros, LSP_I32, LSP_I32, LSP_F32, LSP_HOST};
    lsp_csr Y = {2, 1, 2, starts, column, factors, LSP_I32, LSP_I32, LSP_F32, LSP_HOST};
    for (int method = LSP_SPGEMM_REFERENCE; method <= LSP_SPGEMM_SORT; method++) {
        const lsp_spgemm_options options = {.semiring = LSP_MAX_TIMES, .method = (lsp_spgemm_method)method};
        must(ctx, lsp_spgemm(ctx, &X, &Y, &options, &C, NULL));
        cr_assert(C.nnz == 1 && ((float *)C.val)[0] == 0 && signbit(((float *)C.val)[0]));
        lsp_csr_free(ctx, &C);
    }
    cr_assert(strcmp(lsp_semiring_name(LSP_PLUS_TIMES), "plus-times") == 0);
    cr_assert(strcmp(lsp_semiring_name(LSP_PLUS_PAIR), "plus-pair") == 0);
    cr_assert_str_eq(lsp_semiring_name((lsp_semiring)-1), "?");
    cr_assert_str_eq(lsp_semiring_name((lsp_semiring)LSP_SEMIRINGS), "?");
    const lsp_spgemm_options wrong = {.semiring = (lsp_semiring)semirings};
    must_fail(ctx, LSP_ERR_ARGUMENT, "no semiring", lsp_spgemm(ctx, &A, &A, &wrong, &C, NULL));
    lsp_ctx_destroy(ctx);
}
