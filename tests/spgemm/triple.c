/* R*A*P where the order of the products, or the type of one factor, must not show: by the call, by a plan and its
 * updates, on both devices. */
#include "tests/batches.h"

/* ---- the type of the inner product ---- */

static lsp_csr full(int64_t rows, int64_t cols, lsp_type type, double value) {
    const recipe r = {rows, cols, 0, LSP_I32, LSP_I32, type, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 1);
    free(A.col), free(A.val);
    A.nnz = rows * cols;
    A.col = calloc((size_t)A.nnz + 1, 4);
    A.val = type == LSP_NONE ? NULL : calloc((size_t)A.nnz + 1, 16);
    for (int64_t k = 0; k < A.nnz; k++) {
        ((int32_t *)A.rowptr)[k / cols + 1] = (int32_t)(k + 1);
        ((int32_t *)A.col)[k] = (int32_t)(k % cols);
        if (type != LSP_NONE) {
            lsp_value_set(type, A.val, k, (lsp_value){value, 0, (int64_t)value});
        }
    }
    return A;
}

/* All entries of R*A*P must have this value and type, by the call, a plan and an update. */
static void must_all_be(lsp_ctx *ctx, const lsp_csr factors[3], const lsp_spgemm_options *options, lsp_type type,
                        double value) {
    const lsp_where where = there(ctx) ? LSP_CUDA : LSP_HOST;
    lsp_csr f[3], C;
    lsp_spgemm_triple_plan *plan;
    for (int k = 0; k < 3; k++) {
        f[k] = moved(ctx, &factors[k], where);
    }
    for (int way = 0; way < 2; way++) {
        if (way == 0) {
            must(ctx, lsp_spgemm_triple(ctx, &f[0], &f[1], &f[2], options, &C, NULL));
        } else {
            must(ctx, lsp_spgemm_triple_plan_create(ctx, &f[0], &f[1], &f[2], options, &plan));
            must(ctx, lsp_spgemm_triple_execute(plan, &f[0], &f[1], &f[2], &C));
            must(ctx, lsp_spgemm_triple_refill(plan, &f[0], &f[1], &f[2], &C));
            lsp_spgemm_triple_plan_destroy(plan);
        }
        lsp_csr here = moved(ctx, &C, LSP_HOST);
        cr_assert(here.val_type == type && here.nnz == factors[0].rows * factors[2].cols);
        for (int64_t k = 0; k < here.nnz; k++) {
            cr_assert(lsp_value_at(&here, k).re == value, "way %d, P of %lld columns: %.17g, not %.17g", way,
                      (long long)factors[2].cols, lsp_value_at(&here, k).re, value);
        }
        lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C);
    }
    for (int k = 0; k < 3; k++) {
        lsp_csr_free(ctx, &f[k]);
    }
}

/* A P of 1 column makes R*(A*P) the cheaper order, a P of 40 columns (R*A)*P. */
TEST_ON_BOTH(spgemm_triple, the_inner_product_has_the_type_of_the_result) {
    static const struct {
        lsp_type types[3];
        double values[3];
        int64_t inner; /* of R and A */
        lsp_type asked, type;
        double value;
    } cases[] = {
        {{LSP_NONE, LSP_NONE, LSP_F64}, {1, 1, 3}, 2, LSP_NONE, LSP_F64, 6},
        {{LSP_F64, LSP_NONE, LSP_NONE}, {3, 1, 1}, 2, LSP_NONE, LSP_F64, 6},
        {{LSP_BOOL, LSP_BOOL, LSP_I32}, {1, 1, 1}, 2, LSP_NONE, LSP_I32, 2},
        {{LSP_I32, LSP_BOOL, LSP_BOOL}, {1, 1, 1}, 2, LSP_NONE, LSP_I32, 2},
        {{LSP_I32, LSP_I32, LSP_I64}, {65536, 65536, 3}, 1, LSP_NONE, LSP_I64, 3 * 0x1p32},
        {{LSP_I64, LSP_I32, LSP_I32}, {3, 65536, 65536}, 1, LSP_NONE, LSP_I64, 3 * 0x1p32},
        {{LSP_I32, LSP_I32, LSP_I32}, {65536, 65536, 0}, 1, LSP_NONE, LSP_I32, 0},
        {{LSP_F32, LSP_F32, LSP_F64}, {0x1.000002p0, 0x1.000002p0, 1}, 1, LSP_NONE, LSP_F64, 0x1.00000400000400p0},
        {{LSP_F64, LSP_F32, LSP_F32}, {1, 0x1.000002p0, 0x1.000002p0}, 1, LSP_NONE, LSP_F64, 0x1.00000400000400p0},
        {{LSP_I32, LSP_I32, LSP_I32}, {65536, 65536, 3}, 1, LSP_I64, LSP_I64, 3 * 0x1p32},
        {{LSP_NONE, LSP_NONE, LSP_NONE}, {1, 1, 1}, 2, LSP_F64, LSP_F64, 2},
        {{LSP_NONE, LSP_NONE, LSP_NONE}, {1, 1, 1}, 2, LSP_NONE, LSP_NONE, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int64_t cols = 1; cols <= 40; cols += 39) {
            const lsp_csr f[] = {full(cols == 1 ? 40 : 1, cases[k].inner, cases[k].types[0], cases[k].values[0]),
                                 full(cases[k].inner, 1, cases[k].types[1], cases[k].values[1]),
                                 full(1, cols, cases[k].types[2], cases[k].values[2])};
            must_all_be(ctx, f, &(lsp_spgemm_options){.types.val_type = cases[k].asked}, cases[k].type, cases[k].value);
            for (int i = 0; i < 3; i++) {
                lsp_csr factor = f[i];
                drop(&factor);
            }
        }
    }
}

/* ---- semirings that do not associate ---- */

TEST_ON_BOTH(spgemm_triple, semirings_that_do_not_associate_have_one_order) {
    static const lsp_semiring semirings[] = {LSP_PLUS_PAIR, LSP_MAX_TIMES};
    for (int s = 0; s < 2; s++) {
        const lsp_spgemm_options options = {.semiring = semirings[s]};
        for (int64_t cols = 1; cols <= 80; cols += 79) {
            const recipe r = {30, 50, 5, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
            const recipe a = {50, 40, 5, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
            const recipe p = {40, cols, 1, LSP_I32, LSP_I32, LSP_F64, true, false, 3, -1, 0};
            const lsp_where where = there(ctx) ? LSP_CUDA : LSP_HOST;
            lsp_csr R = make(&r, 1), A = make(&a, 2), P = make(&p, 3), C, inner, right;
            lsp_csr x = moved(ctx, &R, where), y = moved(ctx, &A, where), z = moved(ctx, &P, where);
            lsp_spgemm_triple_plan *plan;
            must(ctx, lsp_spgemm(ctx, &x, &y, &options, &inner, NULL));
            must(ctx, lsp_spgemm(ctx, &inner, &z, &options, &right, NULL));
            must(ctx, lsp_spgemm_triple(ctx, &x, &y, &z, &options, &C, NULL));
            must_be_same(ctx, &right, &C);
            lsp_csr_free(ctx, &C);
            must(ctx, lsp_spgemm_triple_plan_create(ctx, &x, &y, &z, &options, &plan));
            must(ctx, lsp_spgemm_triple_execute(plan, &x, &y, &z, &C));
            must(ctx, lsp_spgemm_triple_refill(plan, &x, &y, &z, &C));
            must_be_same(ctx, &right, &C);
            lsp_spgemm_triple_plan_destroy(plan);
            lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &inner), lsp_csr_free(ctx, &right);
            lsp_csr_free(ctx, &x), lsp_csr_free(ctx, &y), lsp_csr_free(ctx, &z);
            drop(&R), drop(&A), drop(&P);
        }
    }
}

/* ---- info ---- */

TEST_ON_BOTH(spgemm_triple, infos_are_of_the_products) {
    const lsp_where where = there(ctx) ? LSP_CUDA : LSP_HOST;
    for (int64_t cols = 1; cols <= 40; cols += 39) { /* R*(A*P), then (R*A)*P */
        lsp_csr R = full(cols == 1 ? 40 : 1, 2, LSP_F64, 1), A = full(2, 3, LSP_F64, 1);
        lsp_csr P = full(3, cols, LSP_F64, 1), C, products[2];
        lsp_csr r = moved(ctx, &R, where), a = moved(ctx, &A, where), p = moved(ctx, &P, where);
        lsp_spgemm_info info, inner, outer;
        lsp_spgemm_triple_plan *triple;
        lsp_spgemm_batch_plan *many;
        must(ctx, lsp_spgemm_triple(ctx, &r, &a, &p, NULL, &C, &info));
        must(ctx, lsp_spgemm_triple_plan_create(ctx, &r, &a, &p, NULL, &triple));
        must(ctx, lsp_spgemm_triple_plan_get_info(triple, &inner, &outer));
        must(ctx, lsp_spgemm_triple_plan_get_info(triple, NULL, NULL));
        cr_assert(info.products == inner.products + outer.products && info.nnz == R.rows * cols);
        cr_assert_eq(inner.products, 2 * 3);
        cr_assert(strncmp(info.reason, cols == 1 ? "A*P first; " : "R*A first; ", 11) == 0, "%s", info.reason);
        lsp_csr_free(ctx, &C);
        must(ctx, lsp_spgemm_batch(ctx, 2, (lsp_csr[]){a, a}, (lsp_csr[]){p, p}, NULL, products, &info));
        must(ctx, lsp_spgemm_batch_plan_create(ctx, 2, (lsp_csr[]){a, a}, (lsp_csr[]){p, p}, NULL, &many));
        must(ctx, lsp_spgemm_batch_plan_get_info(many, &inner));
        cr_assert(info.products == 2 * 2 * 3 * cols && inner.products == info.products && info.nnz == 4 * cols);
        must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_batch_plan_get_info(many, NULL));
        cr_assert_eq(lsp_spgemm_triple_plan_get_info(NULL, &inner, &outer), LSP_ERR_ARGUMENT);
        lsp_spgemm_triple_plan_destroy(triple), lsp_spgemm_batch_plan_destroy(many);
        must(ctx, lsp_spgemm_batch(ctx, 0, NULL, NULL, NULL, NULL, &info));
        cr_assert(info.products == 0 && info.nnz == 0);
        must(ctx, lsp_spgemm_batch_free(ctx, 2, products));
        lsp_csr_free(ctx, &r), lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &p);
        drop(&R), drop(&A), drop(&P);
    }
}
