/* Plans, products of three, sums, blocks and files of complex matrices, on the CPU and on a GPU; what is refused. */
#include "tests/complex.h"
#include "tests/stream_sink.h"

/* ---- plans ---- */

/* Executes and updates a plan in turn, each time with other values. */
static void use_again(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options, const char *what) {
    lsp_csr a = take(ctx, A), b = A == B ? a : take(ctx, B), C = {0};
    lsp_spgemm_plan *plan = NULL;
    must(ctx, lsp_spgemm_plan_create(ctx, &a, &b, &options, &plan));
    for (int round = 0; round < 5; round++) {
        lsp_csr right = reference(ctx, A, B, options), kept = {0};
        must(ctx, round & 1 ? lsp_spgemm_refill(plan, &a, &b, &C) : lsp_spgemm_execute(plan, &a, &b, &C));
        must(ctx, lsp_csr_copy(ctx, &C, &(lsp_csr_types){.rowptr_type = C.rowptr_type, .col_type = C.col_type}, &kept));
        must_equal(ctx, &kept, &right, what);
        lsp_csr_free(ctx, &right);
        if (round != 0 && round != 2) {
            lsp_csr_free(ctx, &C);
        }
        change(ctx, A, &a, (uint64_t)round);
        if (A != B) {
            change(ctx, B, &b, (uint64_t)round + 20);
        }
    }
    lsp_spgemm_plan_destroy(plan);
    give_back(ctx, &a);
    if (A != B) {
        give_back(ctx, &b);
    }
}

TEST_ON_BOTH(spgemm_complex, plans_serve_other_values) {
    static const recipe recipes[] = {
        /* rows, cols, entries, types, sorted, wild, dense row, dense column, band */
        {200, 200, 8, LSP_I32, LSP_I32, LSP_C64, true, false, -1, -1, 0},
        {200, 200, 8, LSP_I64, LSP_I64, LSP_C64, false, true, -1, -1, 0},
        {200, 200, 20, LSP_I32, LSP_I32, LSP_C64, true, false, -1, -1, 30},
        {600, 600, 3, LSP_I32, LSP_I32, LSP_C64, false, false, 500, 11, 0},
        {90, 90, 40, LSP_I32, LSP_I32, LSP_C64, true, true, -1, -1, 0},
    };
    static const lsp_spgemm_options options[] = {
        {0}, {.transpose_a = true}, {.transpose_b = true, .types.col_type = LSP_I64}, {.types.rowptr_type = LSP_I64}};
    for (size_t k = 0; k < sizeof recipes / sizeof *recipes; k++) {
        recipe other = recipes[k];
        other.val_type = k % 3 == 0 ? LSP_C64 : k % 3 == 1 ? LSP_F64 : LSP_NONE;
        lsp_csr A = make(&recipes[k], 100 + k), B = make(&other, 200 + k);
        use_again(ctx, &A, &B, options[k % 4], "complex times another type");
        use_again(ctx, &B, &A, options[(k + 1) % 4], "another type times complex");
        drop(&A), drop(&B);
    }
    lsp_csr A = generated(ctx, "poisson2d:14");
    use_again(ctx, &A, &A, (lsp_spgemm_options){0}, "a grid");
    lsp_csr_free(ctx, &A);
}

/* A pair of doubles is aligned to 8 bytes alone. */
TEST_ON_BOTH(spgemm_complex, values_may_begin_at_any_double) {
    const recipe r = {150, 150, 9, LSP_I32, LSP_I32, LSP_C64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 1), a = take(ctx, &A), right = reference(ctx, &A, &A, (lsp_spgemm_options){0}), C = {0};
    lsp_spgemm_plan *plan = NULL;
    char *memory[2] = {NULL};
    const int64_t sizes[] = {16 * A.nnz, 16 * right.nnz};
    for (int k = 0; k < 2; k++) {
        must(ctx, lsp_alloc(ctx, ctx->options.device, sizes[k] + 8, 1, (void **)&memory[k]));
    }
    lsp_csr odd = a, odd_c, here;
    odd.val = memory[0] + 8;
    if (on_gpu(ctx)) {
        must(ctx, lsp_cuda_copy(ctx, odd.val, LSP_CUDA, a.val, LSP_CUDA, sizes[0]));
    } else {
        memcpy(odd.val, a.val, (size_t)sizes[0]);
    }
    must(ctx, lsp_spgemm_plan_create(ctx, &odd, &a, NULL, &plan));
    must(ctx, lsp_spgemm_execute(plan, &odd, &a, &C));
    for (int round = 0; round < 3; round++) {
        odd_c = C, odd_c.val = memory[1] + 8;
        must(ctx, lsp_spgemm_refill(plan, &odd, &a, &odd_c));
        must(ctx, lsp_csr_copy(ctx, &odd_c, NULL, &here));
        must_equal(ctx, &here, &right, "an update");
    }
    must_equal(ctx, &C, &right, "the product");
    lsp_spgemm_plan_destroy(plan);
    lsp_free(ctx, memory[0]), lsp_free(ctx, memory[1]);
    lsp_csr_free(ctx, &right), give_back(ctx, &a), drop(&A);
}

/* ---- three factors, sums ---- */

typedef struct operands {
    lsp_csr R, A, P, D; /* D has the shape of A*P */
} operands;

static operands make_operands(int kind) {
    static const lsp_type others[] = {LSP_C64, LSP_F64, LSP_NONE, LSP_F32};
    const lsp_type type = others[kind % 4];
    const int64_t coarse = kind & 4 ? 3 : 40;
    const recipe r = {coarse, 200, 7, LSP_I32, LSP_I32, type, true, false, -1, -1, 0};
    const recipe a = {200, 200, 6, LSP_I32, LSP_I64, LSP_C64, kind & 1, kind & 2, -1, -1, 0};
    const recipe p = {200, 43 - coarse, 4, LSP_I64, LSP_I32, type, true, false, -1, -1, 0};
    const recipe d = {200, 43 - coarse, 5, LSP_I32, LSP_I32, type, kind & 2, kind & 4, -1, -1, 0};
    return (operands){make(&r, 1), make(&a, 2), make(&p, 3), make(&d, 4)};
}
static void drop_operands(operands *o) { drop(&o->R), drop(&o->A), drop(&o->P), drop(&o->D); }

TEST_ON_BOTH(spgemm_complex, products_of_three_are_two_products) {
    for (int kind = 0; kind < 8; kind += getenv("LSP_TEST_REDUCED") ? 3 : 1) {
        operands o = make_operands(kind);
        lsp_csr r = take(ctx, &o.R), a = take(ctx, &o.A), p = take(ctx, &o.P), C = {0}, D = {0}, inner, right;
        lsp_spgemm_triple_plan *plan = NULL;
        for (int given = 0; given < 2; given++) {
            lsp_csr turned = {0};
            must(ctx, lsp_csr_transpose(ctx, &o.P, &turned));
            const lsp_csr *left = given ? &o.R : &turned;
            lsp_triple_order order;
            must(ctx, lsp_spgemm_order(ctx, left, &o.A, &o.P, &(lsp_spgemm_options){0}, &order));
            inner =
                order.left_first ? reference(ctx, left, &o.A, order.inner) : reference(ctx, &o.A, &o.P, order.inner);
            right = order.left_first ? reference(ctx, &inner, &o.P, order.outer)
                                     : reference(ctx, left, &inner, order.outer);
            must(ctx, lsp_spgemm_triple(ctx, given ? &r : NULL, &a, &p, NULL, &C, NULL));
            must_equal(ctx, &C, &right, "R*A*P");
            must(ctx, lsp_spgemm_triple_plan_create(ctx, given ? &r : NULL, &a, &p, NULL, &plan));
            must(ctx, lsp_spgemm_triple_execute(plan, given ? &r : NULL, &a, &p, &C));
            must(ctx, lsp_spgemm_triple_refill(plan, given ? &r : NULL, &a, &p, &C));
            must(ctx, lsp_spgemm_triple_execute(plan, given ? &r : NULL, &a, &p, &D));
            must_equal(ctx, &C, &right, "an update"), must_equal(ctx, &D, &right, "an execution");
            lsp_spgemm_triple_plan_destroy(plan);
            lsp_csr_free(ctx, &turned), lsp_csr_free(ctx, &inner), lsp_csr_free(ctx, &right);
        }
        give_back(ctx, &r), give_back(ctx, &a), give_back(ctx, &p);
        drop_operands(&o);
    }
}

/* What lsp_csr_add must give for a complex sum, entry by entry of the union, which is `sum` already. */
static void check_sum(const lsp_csr *sum, double alpha, const lsp_csr *A, double beta, const lsp_csr *B) {
    const lsp_csr *addends[] = {A, B};
    const double factors[] = {alpha, beta};
    int64_t found = 0;
    for (int64_t i = 0; i < sum->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(sum, i); k < lsp_csr_rowptr(sum, i + 1); k++) {
            lsp_value expected = lsp_value_from(-0.0, -0.0), is = lsp_value_at(sum, k);
            for (int x = 0; x < 2; x++) {
                for (int64_t e = lsp_csr_rowptr(addends[x], i); e < lsp_csr_rowptr(addends[x], i + 1); e++) {
                    if (lsp_csr_col(addends[x], e) == lsp_csr_col(sum, k)) {
                        const lsp_value value = lsp_value_at(addends[x], e);
                        expected =
                            lsp_value_from(expected.re + factors[x] * value.re, expected.im + factors[x] * value.im);
                        found++;
                    }
                }
            }
            cr_assert(lsp_same_number(is.re, expected.re) && lsp_same_number(is.im, expected.im), "row %lld: %g + %gi",
                      (long long)i, is.re, is.im);
        }
    }
    cr_assert(found == A->nnz + B->nnz && sum->val_type == LSP_C64);
}

TEST_ON_BOTH(spgemm_complex, sums_add_each_part) {
    for (int kind = 0; kind < 8; kind++) {
        operands o = make_operands(kind);
        lsp_csr product = reference(ctx, &o.A, &o.P, (lsp_spgemm_options){0});
        lsp_csr p = take(ctx, &product), d = take(ctx, &o.D), C = {0}, D = {0}, right = {0};
        lsp_csr_add_plan *plan = NULL;
        must(ctx, lsp_csr_add(ctx, 0.3, &product, -7, &o.D, &right));
        check_sum(&right, 0.3, &product, -7, &o.D);
        must(ctx, lsp_csr_add(ctx, 0.3, &p, -7, &d, &C));
        must_equal(ctx, &C, &right, "a sum");
        must(ctx, lsp_csr_add_plan_create(ctx, &p, &d, &plan));
        must(ctx, lsp_csr_add_execute(plan, 1, &p, 2, &d, &C));
        must(ctx, lsp_csr_add_refill(plan, 0.3, &p, -7, &d, &C));
        must(ctx, lsp_csr_add_execute(plan, 0.3, &p, -7, &d, &D));
        must_equal(ctx, &C, &right, "an update"), must_equal(ctx, &D, &right, "an execution");
        lsp_csr_add_plan_destroy(plan);
        give_back(ctx, &p), give_back(ctx, &d);
        lsp_csr_free(ctx, &product), lsp_csr_free(ctx, &right);
        drop_operands(&o);
    }
}

TEST_ON_BOTH(spgemm_complex, equal_patterns_are_added_in_place_by_a_plan) {
    const recipe r = {90, 70, 6, LSP_I32, LSP_I32, LSP_C64, true, true, -1, -1, 0};
    lsp_csr A = make(&r, 1), B = make(&r, 1), right = {0}, a, b;
    uint64_t seed = 9;
    for (int64_t k = 0; k < B.nnz; k++) {
        lsp_value_set(LSP_C64, B.val, k, lsp_value_from(test_value(false, &seed), test_value(false, &seed)));
    }
    lsp_csr_add_plan *plan = NULL;
    must(ctx, lsp_csr_add(ctx, 2, &A, -0.7, &B, &right));
    check_sum(&right, 2, &A, -0.7, &B);
    a = take(ctx, &A), b = take(ctx, &B);
    must(ctx, lsp_csr_add_plan_create(ctx, &a, &b, &plan));
    must(ctx, lsp_csr_add_refill(plan, 2, &a, -0.7, &b, &a));
    lsp_csr here = on_gpu(ctx) ? download(ctx, &a) : a;
    same(ctx, &here, &right, "in place");
    lsp_csr_add_plan_destroy(plan);
    if (on_gpu(ctx)) {
        lsp_csr_free(ctx, &here);
    }
    lsp_csr_free(ctx, &right), give_back(ctx, &a), give_back(ctx, &b), drop(&A), drop(&B);
}

/* ---- blocks and files ---- */

TEST_ON_BOTH(spgemm_complex, blocks_and_files_are_those_of_the_whole) {
    const recipe r = {120, 120, 5, LSP_I32, LSP_I32, LSP_C64, false, false, 7, -1, 0};
    lsp_csr A = make(&r, 1), a = take(ctx, &A), right, turned = {0};
    char path[] = "/tmp/complex_XXXXXX", whole[sizeof path + 8];
    cr_assert(mkdtemp(path) != NULL);
    must(ctx, lsp_csr_transpose(ctx, &A, &turned));
    right = reference(ctx, &A, &turned, (lsp_spgemm_options){0});
    const lsp_spgemm_options options = {.transpose_b = true};
    for (int64_t bytes = 1; bytes < 1 << 20; bytes *= 64) {
        received all = receiver(right.rows, right.nnz);
        all.gpu = on_gpu(ctx) ? ctx : NULL;
        must(ctx, lsp_spgemm_stream(ctx, &a, &a, &options, bytes, receive, &all, NULL));
        same(ctx, &all.C, &right, "in blocks");
        drop(&all.C);
    }
    if (on_gpu(ctx)) { /* factors on the host, multiplied on the GPU */
        const lsp_spgemm_options there = {.transpose_b = true, .types.place = LSP_PLACE_CUDA};
        received all = receiver(right.rows, right.nnz);
        must(ctx, lsp_spgemm_stream(ctx, &A, &A, &there, 5000, receive, &all, NULL));
        same(ctx, &all.C, &right, "in blocks, from the host");
        drop(&all.C);
    }
    char file[sizeof whole];
    snprintf(file, sizeof file, "%s/blocks", path), snprintf(whole, sizeof whole, "%s/whole", path);
    must(ctx, lsp_spgemm_write(ctx, file, &a, &a, &options, 3000, NULL, NULL));
    must(ctx, lsp_mtx_write(ctx, whole, &right, NULL));
    same_files(file, whole);
    remove(file), remove(whole), remove(path);
    lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &turned), give_back(ctx, &a), drop(&A);
}

/* ---- what cannot be ---- */

static lsp_status nothing(void *user, int64_t first_row, const lsp_csr *rows) {
    (void)user, (void)first_row, (void)rows;
    return LSP_OK;
}

TEST_ON_BOTH(spgemm_complex, other_semirings_and_real_results_are_refused) {
    const recipe r = {20, 20, 3, LSP_I32, LSP_I32, LSP_C64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 1), a = take(ctx, &A), C = {.rows = 4711};
    lsp_spgemm_plan *plan = NULL;
    static const struct {
        lsp_spgemm_options options;
        const char *sentence;
    } wrong[] = {{{.semiring = LSP_MIN_PLUS}, "plus-times only, not in min-plus"},
                 {{.semiring = LSP_PLUS_PAIR}, "plus-times only, not in plus-pair"},
                 {{.types.val_type = LSP_F64}, "cannot have the type LSP_F64"},
                 {{.semiring = LSP_OR_AND, .types.val_type = LSP_F32}, "cannot have the type LSP_F32"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const lsp_spgemm_options *o = &wrong[k].options;
        must_fail(ctx, LSP_ERR_UNSUPPORTED, wrong[k].sentence, lsp_spgemm(ctx, &a, &a, o, &C, NULL));
        must_fail(ctx, LSP_ERR_UNSUPPORTED, wrong[k].sentence, lsp_spgemm_plan_create(ctx, &a, &a, o, &plan));
        must_fail(ctx, LSP_ERR_UNSUPPORTED, wrong[k].sentence,
                  lsp_spgemm_stream(ctx, &a, &a, o, 0, nothing, NULL, NULL));
        must_fail(ctx, LSP_ERR_UNSUPPORTED, wrong[k].sentence,
                  lsp_spgemm_write(ctx, "/tmp/never", &a, &a, o, 0, NULL, NULL));
        must_fail(ctx, LSP_ERR_UNSUPPORTED, wrong[k].sentence, lsp_spgemm_triple(ctx, NULL, &a, &a, o, &C, NULL));
    }
    cr_assert(C.rows == 4711 && C.rowptr == NULL && plan == NULL);
    const lsp_spgemm_options pattern = {.semiring = LSP_MIN_PLUS, .types.drop_values = true};
    must(ctx, lsp_spgemm(ctx, &a, &a, &pattern, &C, NULL)); /* no values, no rules */
    cr_assert(C.val_type == LSP_NONE);
    lsp_csr_free(ctx, &C), give_back(ctx, &a), drop(&A);
}

static lsp_status use_all(lsp_ctx *ctx, void *data) {
    const operands *o = data;
    lsp_spgemm_plan *plan = NULL;
    lsp_csr C = {.rows = 42}, D = {.rows = 42};
    lsp_status status = lsp_spgemm(ctx, &o->A, &o->P, NULL, &C, NULL);
    cr_assert(status == LSP_OK || (C.rows == 42 && C.rowptr == NULL));
    status = status == LSP_OK
                 ? lsp_spgemm_plan_create(ctx, &o->P, &o->D, &(lsp_spgemm_options){.transpose_a = true}, &plan)
                 : status;
    for (int k = 0; k < 2 && status == LSP_OK; k++) {
        lsp_csr E = {0};
        status = lsp_spgemm_execute(plan, &o->P, &o->D, &E);
        lsp_csr_free(ctx, &E);
    }
    lsp_spgemm_plan_destroy(plan);
    status = status == LSP_OK ? lsp_csr_add(ctx, 2, &C, 3, &o->D, &D) : status;
    cr_assert(status == LSP_OK || (D.rows == 42 && D.rowptr == NULL));
    lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &D);
    return status;
}

Test(spgemm_complex, failing_allocations_leave_nothing_behind) {
    for (int kind = 0; kind < 2; kind++) {
        operands o = make_operands(kind);
        test_failing_memory(2, use_all, &o);
        drop_operands(&o);
    }
}
