/* Many products in one call: what they share is freed once; what makes no sense, or lacks memory, is refused whole. */
#include "tests/batches.h"

/* ---- ownership ---- */

TEST_ON_BOTH(spgemm_batch_faults, products_are_freed_together) {
    batch *x = make_batch(ctx, 9, 4, &plain, false, false, 5);
    const int64_t before = in_use(ctx);
    lsp_csr other[MOST], kept[MOST], stale;
    must(ctx, lsp_spgemm_batch(ctx, x->count, x->a, x->b, NULL, x->C, NULL));
    must(ctx, lsp_spgemm_batch(ctx, x->count, x->a, x->b, NULL, other, NULL));
    memcpy(kept, x->C, sizeof kept);
    for (int64_t i = 0; i < x->count; i++) {
        must_fail(ctx, LSP_ERR_ARGUMENT, "batch of 9", lsp_csr_free(ctx, &x->C[i]));
        cr_assert(memcmp(&x->C[i], &kept[i], sizeof kept[i]) == 0, "product %d was changed", (int)i);
        lsp_array arrays[3];
        must_fail(ctx, LSP_ERR_ARGUMENT, "not detached", lsp_csr_detach(ctx, &x->C[i], arrays));
    }
    must_fail(ctx, LSP_ERR_ARGUMENT,
              "C[0] is one of 9 products that share their memory and are freed together, but 8 are given",
              lsp_spgemm_batch_free(ctx, 8, x->C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "C[0], ", lsp_spgemm_batch_free(ctx, 9, there(ctx) ? x->A : x->a));
    x->C[8] = other[8];
    must_fail(ctx, LSP_ERR_ARGUMENT, "C[8] is of another batch", lsp_spgemm_batch_free(ctx, 9, x->C));
    x->C[8] = kept[8];
    cr_assert_eq(lsp_spgemm_batch_free(NULL, 9, x->C), LSP_ERR_ARGUMENT);
    check(ctx, x, NULL, "after refusals");
    for (int64_t i = 0; i < x->count;
         i += 4) { /* a call whose output is its input: the product is another matrix now */
        must(ctx, lsp_csr_transpose(ctx, &x->C[i], &x->C[i]));
        must(ctx, lsp_csr_transpose(ctx, &x->C[i], &x->C[i]));
    }
    check(ctx, x, NULL, "replaced products");
    stale = x->C[3];
    must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
    for (int64_t i = 0; i < x->count; i++) {
        cr_assert(x->C[i].rowptr == NULL && x->C[i].rows == 0);
    }
    must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
    must(ctx, lsp_spgemm_batch_free(ctx, x->count, other));
    cr_assert_eq(in_use(ctx), before);
    must_fail(ctx, LSP_ERR_ARGUMENT, "is not freed", lsp_csr_free(ctx, &stale));
    drop_batch(ctx, x);
}

/* ---- refusals ---- */

/* Overwrites item `at` of an index array, and puts it back. */
static int64_t poke(lsp_ctx *ctx, void *array, int64_t at, int64_t value) {
    int32_t old, new = (int32_t)value;
    if (there(ctx)) {
        must(ctx, lsp_cuda_copy(ctx, &old, LSP_HOST, (int32_t *)array + at, LSP_CUDA, sizeof old));
        must(ctx, lsp_cuda_copy(ctx, (int32_t *)array + at, LSP_CUDA, &new, LSP_HOST, sizeof new));
    } else {
        old = ((int32_t *)array)[at];
        ((int32_t *)array)[at] = new;
    }
    return old;
}

TEST_ON_BOTH(spgemm_batch_faults, malformed_matrices_are_named) {
    enum { count = 19, wrong = 17 };
    batch *x = make_batch(ctx, count, wrong, &plain, false, false, 12);
    lsp_spgemm_batch_plan *plan = NULL;
    const int64_t before = in_use(ctx);
    for (int f = 0; f < 2; f++) {
        const lsp_csr *of = f == 0 ? &x->a[wrong] : &x->b[wrong];
        const struct {
            void *array;
            int64_t at, value;
            const char *words;
        } faults[] = {{of->rowptr, 0, 1, "rowptr[0] is 1, not 0"},
                      {of->rowptr, of->rows, 3, "is 3, but there are"},
                      {of->rowptr, 5, 1 << 30, "row 5 ends at entry"},
                      {of->rowptr, 7, -5, "ends at entry -5"},
                      {of->col, 11, -1, "column -1 is not in"},
                      {of->col, of->nnz - 1, of->cols, f == 0 ? "column 180 is not in" : "column 222 is not in"}};
        for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
            char expected[60];
            const int64_t old = poke(ctx, faults[k].array, faults[k].at, faults[k].value);
            snprintf(expected, sizeof expected, "%s[%d]", f == 0 ? "A" : "B", wrong);
            memset(x->C, 7, sizeof x->C);
            must_fail(ctx, LSP_ERR_FORMAT, expected, lsp_spgemm_batch(ctx, count, x->a, x->b, NULL, x->C, NULL));
            cr_assert(strstr(lsp_last_error(ctx), faults[k].words) != NULL, "%s", lsp_last_error(ctx));
            cr_assert(((const char *)x->C)[0] == 7 && ((const char *)x->C)[sizeof x->C - 1] == 7);
            must_fail(ctx, LSP_ERR_FORMAT, expected, lsp_spgemm_batch_plan_create(ctx, count, x->a, x->b, NULL, &plan));
            cr_assert(plan == NULL && in_use(ctx) == before);
            (void)poke(ctx, faults[k].array, faults[k].at, old);
        }
    }
    memset(x->C, 0, sizeof x->C);
    must(ctx, lsp_spgemm_batch(ctx, count, x->a, x->b, NULL, x->C, NULL));
    must(ctx, lsp_spgemm_batch_free(ctx, count, x->C));
    drop_batch(ctx, x);
}

#define REFUSED(code, part, count, A, B, options)                                                                      \
    do {                                                                                                               \
        lsp_spgemm_batch_plan *plan_ = NULL;                                                                           \
        must_fail(ctx, code, part, lsp_spgemm_batch(ctx, count, A, B, options, x->C, NULL));                           \
        must_fail(ctx, code, part, lsp_spgemm_batch_plan_create(ctx, count, A, B, options, &plan_));                   \
        cr_assert(plan_ == NULL && x->C[0].rows == 42 && in_use(ctx) == before);                                       \
    } while (0)

TEST_ON_BOTH(spgemm_batch_faults, what_makes_no_sense_is_refused) {
    batch *x = make_batch(ctx, 6, 3, &plain, false, false, 21);
    const int64_t before = in_use(ctx);
    lsp_csr odd[MOST];
    x->C[0].rows = 42;
    REFUSED(LSP_ERR_ARGUMENT, "a batch of -1 products", -1, x->a, x->b, NULL);
    REFUSED(LSP_ERR_ARGUMENT, "products: 0 to", INT64_MAX / 8, x->a, x->b, NULL);
    REFUSED(LSP_ERR_ARGUMENT, "batch of 6", 6, NULL, x->b, NULL);
    REFUSED(LSP_ERR_UNSUPPORTED, "no filter", 6, x->a, x->b, &(lsp_spgemm_options){.filter.drop = true});
    REFUSED(LSP_ERR_ARGUMENT, "semiring", 6, x->a, x->b, &(lsp_spgemm_options){.semiring = (lsp_semiring)77});
    REFUSED(LSP_ERR_ARGUMENT, "LSP_F32", 6, x->a, x->b, &(lsp_spgemm_options){.types.rowptr_type = LSP_F32});
    memcpy(odd, x->b, sizeof odd);
    odd[3].rows = 7;
    REFUSED(LSP_ERR_ARGUMENT, "A[3] of 201 x 180 cannot be multiplied by B[3] of 7 x 222", 6, x->a, odd, NULL);
    odd[3] = x->b[3], odd[3].col_type = LSP_I64;
    REFUSED(LSP_ERR_ARGUMENT, "B[3] has types LSP_I32, LSP_I64 and LSP_F64", 6, x->a, odd, NULL);
    odd[3] = x->b[3], odd[3].rowptr = NULL;
    REFUSED(LSP_ERR_ARGUMENT, "B[3] has no row pointers", 6, x->a, odd, NULL);
    odd[3] = x->b[3], odd[3].where = there(ctx) ? LSP_HOST : LSP_CUDA;
    REFUSED(LSP_ERR_ARGUMENT, "B[3] lies", 6, x->a, odd, NULL);
    for (int i = 0; i < 6; i++) {
        odd[i] = x->b[i], odd[i].val_type = LSP_C64;
    }
    REFUSED(LSP_ERR_UNSUPPORTED, "complex", 6, x->a, odd, &(lsp_spgemm_options){.semiring = LSP_MIN_PLUS});
    must_fail(ctx, LSP_ERR_ARGUMENT, "that of the factors", lsp_spgemm_batch(ctx, 6, x->a, x->b, NULL, x->a, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_batch(ctx, 6, x->a, x->b, NULL, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "288230376151711744 products: 0 to ",
              lsp_spgemm_batch(ctx, (int64_t)1 << 58, x->a, x->b, NULL, x->C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "the plan is NULL", lsp_spgemm_batch_plan_create(ctx, 6, x->a, x->b, NULL, NULL));
    cr_assert_eq(lsp_spgemm_batch(NULL, 6, x->a, x->b, NULL, x->C, NULL), LSP_ERR_ARGUMENT);
    for (int i = 0; i < 2; i++) { /* sizes whose sum is too large */
        odd[i] =
            (lsp_csr){0, (int64_t)1 << 62, 0, x->a[3].rowptr, NULL, NULL, LSP_I32, LSP_I64, LSP_F64, x->a[3].where};
    }
    REFUSED(LSP_ERR_OVERFLOW, "A[0] to A[1] together have 2^63 columns or more", 2, odd, odd,
            &(lsp_spgemm_options){.transpose_b = true});
    REFUSED(LSP_ERR_UNSUPPORTED, "inner columns", 1, odd, odd, &(lsp_spgemm_options){.transpose_b = true});
    drop_batch(ctx, x);
}

/* ---- memory ---- */

TEST_ON_BOTH(spgemm_batch_faults, a_budget_that_is_too_small_is_told) {
    for (int planned = 0; planned < 2; planned++) {
        batch *x = make_batch(ctx, 7, 3, &plain, false, true, 4);
        const lsp_spgemm_options options = {.transpose_b = true};
        const int64_t before = in_use(ctx);
        lsp_status status = LSP_ERR_MEMORY;
        int refusals = 0;
        for (int64_t budget = before + 64; status != LSP_OK; budget += budget / 16 + 256) {
            lsp_spgemm_batch_plan *plan = NULL;
            must(ctx, lsp_ctx_trim(ctx));
            must(ctx, lsp_ctx_set_max_bytes(ctx, budget));
            memset(x->C, 7, sizeof x->C);
            if (planned) {
                status = lsp_spgemm_batch_plan_create(ctx, x->count, x->a, x->b, &options, &plan);
                status = status == LSP_OK ? lsp_spgemm_batch_execute(plan, x->a, x->b, x->C) : status;
                lsp_spgemm_batch_plan_destroy(plan);
            } else {
                status = lsp_spgemm_batch(ctx, x->count, x->a, x->b, &options, x->C, NULL);
            }
            if (status != LSP_OK) {
                cr_assert(status == LSP_ERR_MEMORY, "%lld bytes: %s: %s", (long long)budget, lsp_status_name(status),
                          lsp_last_error(ctx));
                cr_assert(((const char *)x->C)[0] == 7 && ((const char *)x->C)[sizeof x->C - 1] == 7);
                cr_assert_eq(in_use(ctx), before);
                refusals++;
            }
        }
        must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
        cr_assert(refusals > 5, "%d refusals", refusals);
        check(ctx, x, &options, "within a budget");
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
        drop_batch(ctx, x);
    }
}

static lsp_status use_batch(lsp_ctx *ctx, void *data) {
    batch *x = data;
    const lsp_spgemm_options options = {.transpose_b = true};
    memset(x->C, 7, sizeof x->C);
    const lsp_status status = lsp_spgemm_batch(ctx, x->count, x->A, x->B, &options, x->C, NULL);
    cr_assert(status == LSP_OK || (((const char *)x->C)[0] == 7 && ((const char *)x->C)[sizeof x->C - 1] == 7));
    if (status == LSP_OK) {
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
    }
    cr_assert_eq(in_use(ctx), 0);
    return status;
}
static lsp_status use_plan(lsp_ctx *ctx, void *data) {
    batch *x = data;
    const lsp_spgemm_options options = {.transpose_b = true};
    lsp_spgemm_batch_plan *plan = NULL;
    memset(x->C, 7, sizeof x->C);
    lsp_status status = lsp_spgemm_batch_plan_create(ctx, x->count, x->A, x->B, &options, &plan);
    cr_assert(status == LSP_OK || plan == NULL);
    status = status == LSP_OK ? lsp_spgemm_batch_execute(plan, x->A, x->B, x->C) : status;
    cr_assert(status == LSP_OK || (((const char *)x->C)[0] == 7 && ((const char *)x->C)[sizeof x->C - 1] == 7));
    const bool made = status == LSP_OK;
    status = made ? lsp_spgemm_batch_refill(plan, x->A, x->B, x->C) : status;
    if (made) {
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
    }
    lsp_spgemm_batch_plan_destroy(plan);
    cr_assert_eq(in_use(ctx), 0);
    return status;
}

Test(spgemm_batch_faults, without_memory_everything_is_left_alone) {
    lsp_ctx *ctx = test_ctx(1);
    batch *x = make_batch(ctx, 7, 3, &plain, false, true, 4);
    test_failing_memory(2, use_batch, x);
    test_failing_memory(2, use_plan, x);
    drop_batch(ctx, x);
    lsp_ctx_destroy(ctx);
}
