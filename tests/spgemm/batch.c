/* Many products in one call, and their plans: the bits of the reference of each, on both devices. */
#include "tests/batches.h"

/* ---- products ---- */

TEST_ON_BOTH(spgemm_batch, every_product_has_the_bits_of_the_reference) {
    static const lsp_semiring semirings[] = {LSP_PLUS_TIMES, LSP_PLUS_TIMES, LSP_MIN_PLUS, LSP_PLUS_PAIR, LSP_OR_AND};
    for (int kind = 0; kind < 48; kind += LSP_EMULATED ? 5 : 1) {
        static const lsp_type values[] = {LSP_NONE, LSP_F32, LSP_F64};
        recipe like = plain;
        char what[40];
        like.rowptr_type = kind & 1 ? LSP_I64 : LSP_I32, like.col_type = kind & 2 ? LSP_I64 : LSP_I32;
        like.val_type = values[kind % 3], like.sorted = kind % 5 != 0, like.wild = kind % 7 == 0;
        lsp_spgemm_options options = {.transpose_a = kind & 4, .transpose_b = kind & 8};
        options.semiring = semirings[kind % 5];
        options.types.rowptr_type = kind % 11 == 0 ? LSP_I64 : LSP_NONE;
        options.types.col_type = kind % 11 == 1 ? LSP_I64 : LSP_NONE;
        options.types.val_type = kind % 11 == 2 ? LSP_F32 : kind % 11 == 3 ? LSP_F64 : LSP_NONE;
        options.types.drop_values = kind % 11 == 4;
        const int64_t before = in_use(ctx), count = 1 + kind % MOST;
        batch *x = make_batch(ctx, count, kind % 3 ? count / 2 : -1, &like, kind & 4, kind & 8, (uint64_t)kind);
        snprintf(what, sizeof what, "batch %d", kind);
        must(ctx, lsp_spgemm_batch(ctx, x->count, x->a, x->b, &options, x->C, NULL));
        check(ctx, x, &options, what);
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
        drop_batch(ctx, x);
        cr_assert_eq(in_use(ctx), before, "%s: %lld bytes are lost", what, (long long)(in_use(ctx) - before));
    }
}

/* Threads take shares that begin and end inside of matrices. */
Test(spgemm_batch, many_threads_share_large_matrices) {
    for (int kind = 0; kind < 4; kind += 3) {
        lsp_ctx *ctx = test_ctx(4);
        const lsp_spgemm_options options = {.transpose_a = kind & 1, .transpose_b = kind & 2};
        uint64_t state = (uint64_t)kind;
        recipe like = plain;
        batch *x = calloc(1, sizeof *x);
        like.entries = 6;
        for (x->count = 0; x->count < MOST; x->count++) {
            const bool empty = test_below(&state, 4) == 0;
            like.rows = like.cols = empty ? 0 : 1000 + test_below(&state, 3000);
            x->a[x->count] = x->A[x->count] = make(&like, test_random(&state));
            x->b[x->count] = x->B[x->count] = make(&like, test_random(&state));
        }
        must(ctx, lsp_spgemm_batch(ctx, x->count, x->a, x->b, &options, x->C, NULL));
        check(ctx, x, &options, "shares of threads");
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
        drop_batch(ctx, x);
        lsp_ctx_destroy(ctx);
    }
}

/* Products of few columns are made by one thread each, in room that a sample of every other one bounds: these have one
 * entry a row, the others ten. Products of many columns, or entries, lie among them. */
TEST_ON_BOTH(spgemm_batch, a_sample_that_was_wrong_and_products_of_every_size) {
    enum { COUNT = 512, ROWS = 40, ENTRIES = 10, COLS = 50 };
    const int64_t count = there(ctx) ? 64 : COUNT;
    lsp_csr *A = calloc(COUNT, sizeof *A), *B = calloc(COUNT, sizeof *B), *C = calloc(COUNT, sizeof *C);
    lsp_spgemm_info info;
    const int64_t before = in_use(ctx);
    for (int64_t i = 0; i < count; i++) {
        const bool far = i % 61 == 3, many = i % 127 == 5;
        const recipe of_a = {
            many ? 1200 : ROWS, 60, many ? 60 : ENTRIES, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
        const recipe of_b = {
            60, many ? 2000 : far ? 9000 : COLS, many ? 60 : 1, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
        lsp_csr a = make(&of_a, (uint64_t)i), b = make(&of_b, 1000 + (uint64_t)i);
        for (int64_t k = 0; k < b.nnz && !many && !far; k++) {
            ((int32_t *)b.col)[k] = i % 2 == 0 ? 7 : (int32_t)(k % COLS);
        }
        A[i] = moved(ctx, &a, there(ctx) ? LSP_CUDA : LSP_HOST);
        B[i] = moved(ctx, &b, there(ctx) ? LSP_CUDA : LSP_HOST);
        drop(&a), drop(&b);
    }
    const int64_t held = in_use(ctx);
    must(ctx, lsp_spgemm_batch(ctx, count, A, B, NULL, C, &info));
    int64_t nnz = 0, products = 0;
    for (int64_t i = 0; i < count; i++) {
        lsp_csr right, here = moved(ctx, &C[i], LSP_HOST);
        lsp_spgemm_info one;
        must(ctx, lsp_spgemm(ctx, &A[i], &B[i], NULL, &right, &one));
        lsp_csr expected = moved(ctx, &right, LSP_HOST);
        same(ctx, &here, &expected, "a product of a batch");
        cr_assert(lsp_csr_free(ctx, &C[i]) == LSP_ERR_ARGUMENT && C[i].nnz == right.nnz);
        nnz += right.nnz, products += one.products;
        lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &expected), lsp_csr_free(ctx, &here);
    }
    cr_assert(info.nnz == nnz && info.products == products && info.nnz_bound >= nnz, "%s", info.reason);
    cr_assert_eq(strstr(info.reason, "each by one of") != NULL, !there(ctx));
    must(ctx, lsp_spgemm_batch_free(ctx, count, C));
    cr_assert_eq(in_use(ctx), held);
    for (int64_t i = 0; i < count; i++) {
        lsp_csr_free(ctx, &A[i]), lsp_csr_free(ctx, &B[i]);
    }
    cr_assert_eq(in_use(ctx), before);
    free(A), free(B), free(C);
}

/* Rows of three columns and many products: a thread's memory is filled to its last entry. */
TEST_ON_BOTH(spgemm_batch, products_that_fill_the_memory_of_a_thread) {
    enum { COUNT = 12, ROWS = 1 << 13, COLS = 3 };
    const lsp_where where = there(ctx) ? LSP_CUDA : LSP_HOST;
    for (int wide = 0; wide < 2; wide++) {
        const lsp_type index = wide ? LSP_I64 : LSP_I32;
        const recipe of_a = {ROWS, 5, 4, index, index, LSP_F64, true, false, -1, -1, 0};
        const recipe of_b = {5, COLS, 3, index, index, LSP_F64, true, false, -1, -1, 0};
        lsp_csr A = make(&of_a, 1), B = make(&of_b, 2), a[COUNT], b[COUNT], C[COUNT], right;
        for (int i = 0; i < COUNT; i++) {
            a[i] = moved(ctx, &A, where), b[i] = moved(ctx, &B, where);
        }
        must(ctx, lsp_spgemm(ctx, &A, &B, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &right, NULL));
        must(ctx, lsp_spgemm_batch(ctx, COUNT, a, b, NULL, C, NULL));
        for (int i = 0; i < COUNT; i++) {
            lsp_csr here = moved(ctx, &C[i], LSP_HOST);
            same(ctx, &here, &right, "a product that fills the memory");
            lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &a[i]), lsp_csr_free(ctx, &b[i]);
        }
        must(ctx, lsp_spgemm_batch_free(ctx, COUNT, C));
        lsp_csr_free(ctx, &right);
        drop(&A), drop(&B);
    }
}

TEST_ON_BOTH(spgemm_batch, batches_of_nothing) {
    static const int64_t sizes[][3] = {{0, 0, 0}, {0, 5, 3}, {4, 0, 6}, {3, 4, 0}, {2, 2, 2}};
    lsp_spgemm_batch_plan *plan;
    must(ctx, lsp_spgemm_batch(ctx, 0, NULL, NULL, NULL, NULL, NULL));
    must(ctx, lsp_spgemm_batch_free(ctx, 0, NULL));
    must(ctx, lsp_spgemm_batch_plan_create(ctx, 0, NULL, NULL, NULL, &plan));
    must(ctx, lsp_spgemm_batch_execute(plan, NULL, NULL, NULL));
    must(ctx, lsp_spgemm_batch_refill(plan, NULL, NULL, NULL));
    lsp_spgemm_batch_plan_destroy(plan);
    for (int flips = 0; flips < 4; flips++) {
        const lsp_spgemm_options options = {.transpose_a = flips & 1, .transpose_b = flips & 2};
        for (int only = 0; only <= 5; only++) { /* matrices without entries: of one size, then of all */
            batch *x = calloc(1, sizeof *x);
            for (int s = only < 5 ? only : 0; s < (only < 5 ? only + 1 : 5); s++) {
                recipe a = plain, b = plain;
                const int64_t i = x->count++, m = sizes[s][0], k = sizes[s][1], n = sizes[s][2];
                a.rows = flips & 1 ? k : m, a.cols = flips & 1 ? m : k;
                b.rows = flips & 2 ? n : k, b.cols = flips & 2 ? k : n;
                x->A[i] = make(&a, 1), x->B[i] = make(&b, 1);
                x->a[i] = there(ctx) ? upload(ctx, &x->A[i]) : x->A[i];
                x->b[i] = there(ctx) ? upload(ctx, &x->B[i]) : x->B[i];
            }
            must(ctx, lsp_spgemm_batch(ctx, x->count, x->a, x->b, &options, x->C, NULL));
            check(ctx, x, &options, "no entries");
            must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
            must(ctx, lsp_spgemm_batch_plan_create(ctx, x->count, x->a, x->b, &options, &plan));
            must(ctx, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C));
            must(ctx, lsp_spgemm_batch_refill(plan, x->a, x->b, x->C));
            check(ctx, x, &options, "no entries, by a plan");
            must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
            lsp_spgemm_batch_plan_destroy(plan);
            drop_batch(ctx, x);
        }
    }
}

TEST_ON_BOTH(spgemm_batch, complex_matrices) {
    uint64_t state = 7;
    for (int kind = 0; kind < 4; kind++) { /* values or a pattern of C; two complex factors, or one */
        const lsp_spgemm_options options = {.types.drop_values = kind & 1, .transpose_b = kind & 2};
        batch *x = make_batch(ctx, 5, 2, &plain, false, kind & 2, (uint64_t)kind);
        for (int64_t i = 0; i < x->count; i++) {
            lsp_csr *A = &x->A[i];
            free(A->val);
            A->val = calloc((size_t)A->nnz + 1, 16);
            A->val_type = LSP_C64;
            for (int64_t k = 0; k < 2 * A->nnz; k++) {
                ((double *)A->val)[k] = test_value(false, &state);
            }
            if (there(ctx)) {
                must(ctx, lsp_csr_free(ctx, &x->a[i]));
            }
            x->a[i] = there(ctx) ? upload(ctx, A) : *A;
        }
        must(ctx, lsp_spgemm_batch(ctx, x->count, x->a, x->b, &options, x->C, NULL));
        check(ctx, x, &options, "complex");
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
        drop_batch(ctx, x);
    }
}

/* ---- plans ---- */

/* Other values in the same places. */
static void change(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *a, uint64_t seed) {
    for (int64_t k = 0; k < A->nnz; k++) {
        lsp_value_set(A->val_type, A->val, k, lsp_value_from(test_value(false, &seed), 0));
    }
    if (there(ctx) && A->nnz > 0 && A->val_type != LSP_NONE) {
        must(ctx,
             lsp_cuda_copy(ctx, a->val, LSP_CUDA, A->val, LSP_HOST, A->nnz * (int64_t)lsp_type_bytes(A->val_type)));
    }
}

TEST_ON_BOTH(spgemm_batch, plans_serve_new_values) {
    for (int kind = 0; kind < 24; kind += LSP_EMULATED ? 5 : 1) {
        static const lsp_type values[] = {LSP_F32, LSP_F64, LSP_NONE};
        recipe like = plain;
        lsp_spgemm_batch_plan *plan;
        like.rowptr_type = kind & 1 ? LSP_I64 : LSP_I32, like.col_type = kind & 2 ? LSP_I64 : LSP_I32;
        like.val_type = values[kind % 3], like.sorted = kind % 5 != 0;
        const lsp_spgemm_options options = {.transpose_a = kind & 4, .transpose_b = kind & 8};
        const int64_t before = in_use(ctx);
        batch *x = make_batch(ctx, 9, kind & 1 ? 4 : -1, &like, kind & 4, kind & 8, 99 + (uint64_t)kind);
        lsp_csr first[MOST];
        must(ctx, lsp_spgemm_batch_plan_create(ctx, x->count, x->a, x->b, &options, &plan));
        must_fail(ctx, LSP_ERR_ARGUMENT, "no products yet", lsp_spgemm_batch_refill(plan, x->a, x->b, x->C));
        for (int round = 0; round < 4; round++) {
            for (int64_t i = 0; i < x->count; i++) {
                change(ctx, &x->A[i], &x->a[i], (uint64_t)(round * 100 + i));
                change(ctx, &x->B[i], &x->b[i], (uint64_t)(round * 100 + i + 50));
            }
            if (round % 2 == 1) {
                must(ctx, lsp_spgemm_batch_refill(plan, x->a, x->b, x->C));
                check(ctx, x, &options, "an update");
                must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
            } else {
                must(ctx, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C));
                check(ctx, x, &options, "an execution");
            }
        }
        must(ctx, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C)); /* products of both executions can be updated */
        memcpy(first, x->C, sizeof first);
        must(ctx, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C));
        change(ctx, &x->A[0], &x->a[0], 7);
        must(ctx, lsp_spgemm_batch_refill(plan, x->a, x->b, first));
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
        memcpy(x->C, first, sizeof first);
        check(ctx, x, &options, "an update of the products before");
        lsp_spgemm_batch_plan_destroy(plan); /* products outlive the plan */
        check(ctx, x, &options, "the plan is gone");
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
        drop_batch(ctx, x);
        cr_assert_eq(in_use(ctx), before, "%lld bytes are lost", (long long)(in_use(ctx) - before));
    }
}

TEST_ON_BOTH(spgemm_batch, plans_refuse_other_matrices) {
    batch *x = make_batch(ctx, 9, 4, &plain, false, false, 3);
    lsp_spgemm_batch_plan *plan;
    lsp_csr other[MOST];
    must(ctx, lsp_spgemm_batch_plan_create(ctx, x->count, x->a, x->b, NULL, &plan));
    must(ctx, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C));
    memcpy(other, x->a, sizeof other);
    other[4].cols++;
    must_fail(ctx, LSP_ERR_ARGUMENT, "A[4] is 201 x 181 with", lsp_spgemm_batch_refill(plan, other, x->b, x->C));
    other[4] = x->a[4], other[4].val_type = LSP_F32;
    must_fail(ctx, LSP_ERR_ARGUMENT, "A[4] has types LSP_I32, LSP_I32 and LSP_F32",
              lsp_spgemm_batch_refill(plan, other, x->b, x->C));
    memcpy(other, x->C, sizeof other);
    other[4].val = x->a[4].val;
    must_fail(ctx, LSP_ERR_ARGUMENT, "C[4] is 201 x 222", lsp_spgemm_batch_refill(plan, x->a, x->b, other));
    memset(other, 0, sizeof other);
    must_fail(ctx, LSP_ERR_ARGUMENT, "C[0] is 0 x 0", lsp_spgemm_batch_refill(plan, x->a, x->b, other));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_batch_refill(plan, x->a, x->b, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_batch_execute(plan, NULL, x->b, other));
    must_fail(ctx, LSP_ERR_ARGUMENT, "that of the factors", lsp_spgemm_batch_execute(plan, x->a, x->b, x->b + 3));
    must(ctx, lsp_spgemm_batch_refill(plan, x->a, x->b, x->C));
    check(ctx, x, NULL, "an update after refusals");
    must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
    lsp_spgemm_batch_plan_destroy(plan);
    drop_batch(ctx, x);
}

static void plan_outlives(lsp_ctx *ctx) {
    lsp_ctx *own = there(ctx) ? test_gpu_ctx_or_skip() : test_ctx(2);
    batch *x = make_batch(ctx, 5, -1, &plain, false, true, 8);
    lsp_spgemm_batch_plan *plan;
    must(own, lsp_spgemm_batch_plan_create(own, 5, x->a, x->b, &(lsp_spgemm_options){.transpose_b = true}, &plan));
    must(own, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C));
    lsp_ctx_destroy(own); /* with its products */
    cr_assert_eq(lsp_spgemm_batch_execute(plan, x->a, x->b, x->C), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_spgemm_batch_refill(plan, x->a, x->b, x->C), LSP_ERR_ARGUMENT);
    lsp_spgemm_batch_plan_destroy(plan);
    lsp_spgemm_batch_plan_destroy(NULL);
    drop_batch(ctx, x);
}
TEST_ON_BOTH(spgemm_batch, plans_and_their_context_end_in_any_order) { plan_outlives(ctx); }
