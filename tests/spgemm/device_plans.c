/* Plans of C = A*B on the GPU that are used again: they serve changed values and refuse a changed structure. C has the
 * same bits with and without a replay. Skipped without a GPU. */
#include "core/cuda.h"
#include "tests/products.h"

static void copy_values(lsp_ctx *ctx, const lsp_csr *there, const lsp_csr *here) {
    must(ctx, lsp_cuda_copy(ctx, there->val, LSP_CUDA, here->val, LSP_HOST,
                            here->nnz * (int64_t)lsp_type_bytes(here->val_type)));
}

/* Replaces A's values, here and on the GPU, by pseudo-random ones. `wild`: some are NaN or infinite, and so are long
 * sums. */
static void change(lsp_ctx *ctx, lsp_csr *A, const lsp_csr *a, bool wild, uint64_t *state) {
    for (int64_t i = 0; i < A->nnz; i++) {
        const double value = test_value(wild && test_below(state, 50) == 0, state);
        if (A->val_type == LSP_F64) {
            ((double *)A->val)[i] = value;
        } else if (A->val_type == LSP_F32) {
            ((float *)A->val)[i] = (float)value;
        }
    }
    copy_values(ctx, a, A);
}

/* Executes and updates a plan, then does both again by replay, each time with other values. */
static void use_again(lsp_ctx *ctx, lsp_csr *A, lsp_csr *B, lsp_spgemm_options options, bool kept, const char *what) {
    lsp_csr a = upload(ctx, A), b = A == B ? a : upload(ctx, B), C = {0};
    lsp_spgemm_options reference = options;
    lsp_spgemm_plan *plan = NULL;
    uint64_t state = 3;
    reference.method = LSP_SPGEMM_REFERENCE;
    must(ctx, lsp_spgemm_plan_create(ctx, &a, &b, &options, &plan));
    must_fail(ctx, LSP_ERR_ARGUMENT, "no product yet", lsp_spgemm_refill(plan, &a, &b, &C));
    for (int round = 0; round < 4; round++) {
        lsp_csr right = {0};
        must(ctx, round & 1 ? lsp_spgemm_refill(plan, &a, &b, &C) : lsp_spgemm_execute(plan, &a, &b, &C));
        must(ctx, lsp_spgemm(ctx, A, B, &reference, &right, NULL));
        lsp_csr here = download(ctx, &C);
        cr_assert(here.rowptr_type == right.rowptr_type && here.col_type == right.col_type, "%s: types", what);
        same(ctx, &here, &right, what);
        lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &right);
        if (round & 1) {
            lsp_csr_free(ctx, &C);
        }
        cr_assert((plan->gpu->replay.col != NULL) == (kept && round > 0), "%s: a replay in round %d", what, round);
        change(ctx, A, &a, round < 2, &state);
        if (A != B) {
            change(ctx, B, &b, round < 2, &state);
        }
    }
    lsp_spgemm_plan_destroy(plan);
    lsp_csr_free(ctx, &a);
    if (A != B) {
        lsp_csr_free(ctx, &b);
    }
}

Test(device_plans, of_all_kinds_of_rows_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const recipe squares[] = {
        /* rows, cols, entries, types, sorted, wild, dense row, dense column, band */
        {200, 200, 8, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0},
        {200, 200, 8, LSP_I64, LSP_I64, LSP_F64, false, true, -1, -1, 0},   /* unsorted, duplicates */
        {200, 200, 8, LSP_I32, LSP_I32, LSP_F32, true, false, -1, -1, 9},   /* a band: many products a column */
        {200, 200, 8, LSP_I32, LSP_I32, LSP_F64, false, true, -1, -1, 9},   /* the same with duplicates */
        {260, 260, 16, LSP_I32, LSP_I64, LSP_F64, true, true, -1, -1, 0},   /* rows of C in two blocks */
        {600, 600, 3, LSP_I32, LSP_I32, LSP_F64, false, false, 500, 11, 0}, /* and in three */
        {600, 600, 0, LSP_I32, LSP_I32, LSP_F64, true, false, 300, 17, 0},  /* most rows have at most one entry */
        {1, 1, 1, LSP_I32, LSP_I32, LSP_F64, true, false, 0, -1, 0},
        {200, 200, 25, LSP_I32, LSP_I32, LSP_F64, true, true, -1, -1, 0}, /* strips first */
    };
    static const lsp_spgemm_options options[] = {{.types.rowptr_type = LSP_I64},
                                                 {.transpose_a = true, .types.val_type = LSP_F32},
                                                 {.transpose_b = true, .types.col_type = LSP_I64},
                                                 {.semiring = LSP_MIN_PLUS},
                                                 {.semiring = LSP_PLUS_PAIR}};
    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++) {
        char what[40];
        lsp_csr A = make(&squares[k], 100 + k), B = make(&squares[k], 200 + k);
        snprintf(what, sizeof what, "matrix %d", (int)k);
        use_again(ctx, &A, &A, (lsp_spgemm_options){0}, true, what);
        if (k < sizeof options / sizeof *options) {
            use_again(ctx, &A, &B, options[k], true, what);
        }
        drop(&A), drop(&B);
    }
    static const char *const specs[] = {"perm:700", "poisson2d:12", "rmat:8:8", "web:300:1.8:100"};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        lsp_csr A = {0};
        must(ctx, lsp_generate(ctx, specs[k], 1, NULL, &A));
        use_again(ctx, &A, &A, (lsp_spgemm_options){0}, true, specs[k]);
        lsp_csr_free(ctx, &A);
    }
    lsp_ctx_destroy(ctx);
}

/* A with `more` further rows and columns. Each further row has one entry, in a column of its own. */
static lsp_csr with_singles(const lsp_csr *A, int64_t more) {
    lsp_csr S = *A;
    S.rows += more, S.cols += more, S.nnz += more;
    S.rowptr = malloc((size_t)(S.rows + 1) * 4), S.col = malloc((size_t)S.nnz * 4), S.val = malloc((size_t)S.nnz * 8);
    memcpy(S.rowptr, A->rowptr, (size_t)(A->rows + 1) * 4);
    memcpy(S.col, A->col, (size_t)A->nnz * 4);
    memcpy(S.val, A->val, (size_t)A->nnz * 8);
    for (int64_t i = 0; i < more; i++) {
        ((int32_t *)S.rowptr)[A->rows + i + 1] = (int32_t)(A->nnz + i + 1);
        ((int32_t *)S.col)[A->nnz + i] = (int32_t)(A->cols + i);
        ((double *)S.val)[A->nnz + i] = 1;
    }
    return S;
}

/* The entries of C have few products on average, but some neighbouring entries have many. */
Test(device_plans, of_entries_of_very_many_products_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const recipe a = {6, 200, 150, LSP_I32, LSP_I32, LSP_F64, true, true, -1, -1, 0};
    const recipe b = {200, 260, 130, LSP_I32, LSP_I32, LSP_F64, true, false, 7, 11, 0};
    lsp_csr A = make(&a, 1), B = make(&b, 2), P = with_singles(&A, 4000), Q = with_singles(&B, 4000);
    use_again(ctx, &P, &Q, (lsp_spgemm_options){0}, true, "some of many products");
    use_again(ctx, &P, &Q, (lsp_spgemm_options){.semiring = LSP_MIN_PLUS, .types.col_type = LSP_I64}, true, "the same");
    drop(&A), drop(&B), drop(&P), drop(&Q);
    const recipe row = {3, 3000, 5, LSP_I32, LSP_I32, LSP_F64, true, false, 1, -1, 0};
    const recipe column = {3000, 60000, 1, LSP_I32, LSP_I32, LSP_F64, true, false, -1, 11, 0};
    A = make(&row, 3), B = make(&column, 4);
    use_again(ctx, &A, &B, (lsp_spgemm_options){0}, true, "one of many products");
    use_again(ctx, &A, &B, (lsp_spgemm_options){.semiring = LSP_MAX_TIMES}, true, "the same");
    drop(&A), drop(&B);
    lsp_ctx_destroy(ctx);
}

Test(device_plans, go_without_a_replay_where_it_does_not_pay_or_cannot_be) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    recipe narrow = {60, 60, 120, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    recipe empty = {300, 300, 0, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    recipe pattern = {300, 300, 4, LSP_I32, LSP_I32, LSP_NONE, true, false, -1, -1, 0};
    lsp_csr A = make(&narrow, 1), E = make(&empty, 2), P = make(&pattern, 3);
    use_again(ctx, &A, &A, (lsp_spgemm_options){0}, false, "many products an entry: strips");
    use_again(ctx, &A, &A, (lsp_spgemm_options){.semiring = LSP_MIN_PLUS}, false, "the same");
    use_again(ctx, &A, &A, (lsp_spgemm_options){.types.val_type = LSP_F32}, false, "narrower");
    use_again(ctx, &E, &E, (lsp_spgemm_options){0}, false, "nothing");
    use_again(ctx, &P, &P, (lsp_spgemm_options){0}, false, "a pattern");
    drop(&A), drop(&E), drop(&P);
    lsp_ctx_destroy(ctx);
}

Test(device_plans, keep_to_the_budget_with_a_replay_and_give_it_back_when_memory_is_short) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    recipe r = {200, 200, 8, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 7), a = upload(ctx, &A), C = {0}, D = {0}, right = {0};
    lsp_spgemm_plan *plan = NULL;
    lsp_ctx_info held;
    must(ctx, lsp_spgemm_plan_create(ctx, &a, &a, NULL, &plan));
    must(ctx, lsp_spgemm_execute(plan, &a, &a, &C));
    must(ctx, lsp_spgemm_refill(plan, &a, &a, &C));
    cr_assert(plan->gpu->replay.col != NULL);
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_get_info(ctx, &held));
    must(ctx, lsp_ctx_set_max_bytes(ctx, held.cuda_bytes + C.nnz * 6)); /* half of another C */
    must(ctx, lsp_spgemm_execute(plan, &a, &a, &D));
    cr_assert(plan->gpu->replay.col == NULL, "the replay was not given back");
    must(ctx, lsp_spgemm_refill(plan, &a, &a, &D));
    must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
    must(ctx, lsp_spgemm(ctx, &A, &A, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &right, NULL));
    lsp_csr here = download(ctx, &C), there = download(ctx, &D);
    same(ctx, &here, &right, "by replay");
    same(ctx, &there, &right, "without them");
    lsp_spgemm_plan_destroy(plan);
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &D), lsp_csr_free(ctx, &right);
    lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &there), drop(&A);
    lsp_ctx_destroy(ctx);
}

Test(device_plans, refuse_to_update_what_they_have_not_made) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    recipe r = {300, 300, 5, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 8), a = upload(ctx, &A), C = {0};
    lsp_spgemm_plan *plan = NULL;
    must(ctx, lsp_spgemm_plan_create(ctx, &a, &a, NULL, &plan));
    must(ctx, lsp_spgemm_execute(plan, &a, &a, &C));
    lsp_csr other = C, here = download(ctx, &C);
    other.nnz--;
    must_fail(ctx, LSP_ERR_ARGUMENT, "C is 300 x 300", lsp_spgemm_refill(plan, &a, &a, &other));
    other = C, other.val_type = LSP_F32;
    must_fail(ctx, LSP_ERR_ARGUMENT, "types of C", lsp_spgemm_refill(plan, &a, &a, &other));
    other = C, other.val = a.val;
    must_fail(ctx, LSP_ERR_ARGUMENT, "those of a factor", lsp_spgemm_refill(plan, &a, &a, &other));
    must_fail(ctx, LSP_ERR_ARGUMENT, "C has left", lsp_spgemm_refill(plan, &a, &a, &here));
    must(ctx, lsp_spgemm_refill(plan, &a, &a, &C));
    lsp_spgemm_plan_destroy(plan);
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &here), drop(&A);
    lsp_ctx_destroy(ctx);
}

Test(device_plans, serve_changed_values_and_refuse_a_changed_structure) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int turned = 0; turned < 4; turned++) { /* as they are; B transposed; unsorted; B nearly dense, so in strips */
        const bool strips = turned == 3;
        recipe r = {400, 400, 6, LSP_I32, LSP_I32, LSP_F64, turned != 2, false, -1, -1, 0};
        r = strips ? (recipe){99, 99, 50, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0} : r;
        lsp_csr A = make(&r, 5), B = make(&r, 6), right = {0}, C = {0}, a = upload(ctx, &A), b = upload(ctx, &B);
        lsp_spgemm_options options = {.transpose_b = turned == 1}, reference = options;
        reference.method = LSP_SPGEMM_REFERENCE;
        lsp_spgemm_plan *plan = NULL;
        lsp_spgemm_info info;
        must(ctx, lsp_spgemm_plan_create(ctx, &a, &b, &options, &plan));
        must(ctx, lsp_spgemm_plan_get_info(plan, &info));
        cr_assert(info.nnz == -1 && info.products > 0 && info.reason[0] != 0 && info.blocks > 0);
        for (int round = 0; round < 3; round++) {
            must(ctx, lsp_spgemm_execute(plan, &a, &b, &C));
            must(ctx, lsp_spgemm(ctx, &A, &B, &reference, &right, NULL));
            lsp_csr here = download(ctx, &C);
            same(ctx, &here, &right, "reused");
            must(ctx, lsp_spgemm_plan_get_info(plan, &info));
            cr_assert(info.nnz == C.nnz);
            lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &here);
            ((double *)A.val)[round] += 1, ((double *)B.val)[3 * round] *= -2;
            copy_values(ctx, &a, &A), copy_values(ctx, &b, &B);
        }
        int32_t *col = B.col, *row = A.rowptr;
        row[7]++;
        must(ctx, lsp_cuda_copy(ctx, a.rowptr, LSP_CUDA, row, LSP_HOST, 4 * (A.rows + 1)));
        must_fail(ctx, LSP_ERR_ARGUMENT, "of A have changed", lsp_spgemm_execute(plan, &a, &b, &C));
        row[7]--;
        must(ctx, lsp_cuda_copy(ctx, a.rowptr, LSP_CUDA, row, LSP_HOST, 4 * (A.rows + 1)));
        for (int k = 8; k >= 1; k--) { /* each part of the hash */
            col[B.nnz - k] ^= 1;
            must(ctx, lsp_cuda_copy(ctx, b.col, LSP_CUDA, col, LSP_HOST, 4 * B.nnz));
            must_fail(ctx, LSP_ERR_ARGUMENT, "of B have changed", lsp_spgemm_execute(plan, &a, &b, &C));
            col[B.nnz - k] ^= k > 1;
        }
        must_fail(ctx, LSP_ERR_ARGUMENT, "GPU", lsp_spgemm_execute(plan, &A, &b, &C));
        cr_assert(C.rowptr == NULL);
        col[B.nnz - 1] ^= 1; /* an update may start before the change is found; columns are then out of range */
        must(ctx, lsp_cuda_copy(ctx, b.col, LSP_CUDA, col, LSP_HOST, 4 * B.nnz));
        must(ctx, lsp_spgemm_execute(plan, &a, &b, &C));
        cr_assert(strips ? plan->gpu->dense_b.C != NULL : plan->gpu->replay.col != NULL);
        for (int64_t p = 0; p < B.nnz; p++) {
            col[p] ^= INT32_MIN;
        }
        must(ctx, lsp_cuda_copy(ctx, b.col, LSP_CUDA, col, LSP_HOST, 4 * B.nnz));
        must_fail(ctx, LSP_ERR_ARGUMENT, "of B have changed", lsp_spgemm_refill(plan, &a, &b, &C));
        int32_t *a_col = A.col;
        for (int64_t p = 0; p < A.nnz; p++) {
            a_col[p] ^= 0x12345678;
        }
        must(ctx, lsp_cuda_copy(ctx, a.col, LSP_CUDA, a_col, LSP_HOST, 4 * A.nnz));
        must_fail(ctx, LSP_ERR_ARGUMENT, "of A have changed", lsp_spgemm_refill(plan, &a, &b, &C));
        for (int64_t p = 0; p < A.nnz; p++) {
            a_col[p] ^= 0x12345678;
        }
        must(ctx, lsp_cuda_copy(ctx, a.col, LSP_CUDA, a_col, LSP_HOST, 4 * A.nnz));
        for (int64_t i = 0; i <= A.rows; i++) {
            row[i] ^= INT32_MIN;
        }
        must(ctx, lsp_cuda_copy(ctx, a.rowptr, LSP_CUDA, row, LSP_HOST, 4 * (A.rows + 1)));
        must_fail(ctx, LSP_ERR_ARGUMENT, "of A have changed", lsp_spgemm_refill(plan, &a, &b, &C));
        for (int64_t i = 0; i <= A.rows; i++) {
            row[i] ^= INT32_MIN;
        }
        for (int64_t p = 0; p < B.nnz; p++) {
            col[p] ^= INT32_MIN;
        }
        must(ctx, lsp_cuda_copy(ctx, a.rowptr, LSP_CUDA, row, LSP_HOST, 4 * (A.rows + 1)));
        must(ctx, lsp_cuda_copy(ctx, b.col, LSP_CUDA, col, LSP_HOST, 4 * B.nnz));
        must(ctx, lsp_spgemm_refill(plan, &a, &b, &C));
        must(ctx, lsp_spgemm(ctx, &A, &B, &reference, &right, NULL));
        lsp_csr here = download(ctx, &C);
        same(ctx, &here, &right, "updated at last");
        lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &here);
        lsp_spgemm_plan_destroy(plan);
        lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b);
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

/* ---- several factors ---- */

/* R NULL: P transposed. */
static void must_repeat_three(lsp_ctx *ctx, lsp_csr *R, lsp_csr *A, lsp_csr *P) {
    lsp_csr r = {0}, a = upload(ctx, A), p = upload(ctx, P), C = {0}, right, here;
    lsp_spgemm_triple_plan *plan;
    uint64_t state = 5;
    if (R) {
        r = upload(ctx, R);
    }
    must(ctx, lsp_spgemm_triple_plan_create(ctx, R ? &r : NULL, &a, &p, NULL, &plan));
    for (int round = 0; round < 4; round++) {
        must(ctx, round & 1 ? lsp_spgemm_triple_refill(plan, R ? &r : NULL, &a, &p, &C)
                            : lsp_spgemm_triple_execute(plan, R ? &r : NULL, &a, &p, &C));
        must(ctx, lsp_spgemm_triple(ctx, R, A, P, NULL, &right, NULL));
        here = download(ctx, &C);
        same(ctx, &here, &right, "three factors");
        lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &right);
        if (round & 1) {
            lsp_csr_free(ctx, &C);
        }
        change(ctx, A, &a, false, &state), change(ctx, P, &p, false, &state);
    }
    lsp_spgemm_triple_plan_destroy(plan);
    lsp_csr_free(ctx, R ? &r : NULL), lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &p);
}

Test(device_plans, of_three_factors_have_the_bits_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int kind = 0; kind < 8; kind += getenv("LSP_TEST_REDUCED") ? 3 : 1) {
        const lsp_type type = kind & 1 ? LSP_F32 : LSP_F64, index = kind & 2 ? LSP_I64 : LSP_I32;
        const int64_t coarse = kind & 4 ? 9 : 80; /* few rows in R make (R*A)*P the cheaper order */
        const recipe of_r = {coarse, 300, 9, index, index, type, true, false, -1, -1, 0};
        const recipe of_a = {300, 300, 5, index, index, type, true, false, -1, -1, 0};
        const recipe of_p = {300, 89 - coarse, 3, index, index, type, true, false, -1, -1, 0};
        lsp_csr R = make(&of_r, 1), A = make(&of_a, 2), P = make(&of_p, 3);
        must_repeat_three(ctx, kind & 1 ? &R : NULL, &A, &P);
        drop(&R), drop(&A), drop(&P);
    }
    lsp_ctx_destroy(ctx);
}
