/* Arrays that change their owner: each is freed once, by whoever owns it, before or after the context's end. */
#include "forms_plainly.h"

static int64_t held(lsp_ctx *ctx) {
    lsp_ctx_info info;
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_get_info(ctx, &info));
    return info.host_bytes;
}

Test(owner, detached_arrays_outlive_the_context) {
    for (int t = 0; t < test_combinations; t++) {
        for (int64_t nnz = 0; nnz <= 2000000; nnz += 1000000) { /* the larger ones ask for huge pages */
            lsp_ctx *ctx = test_ctx(2);
            lsp_csr A = test_random_csr(ctx, 1000, 900, nnz, test_types(t), 2), view = A;
            lsp_array arrays[3];
            const double last = nnz ? lsp_value_at(&A, nnz - 1).re : 0;
            must(ctx, lsp_csr_detach(ctx, &A, arrays));
            cr_assert(A.rowptr == NULL && A.rows == 0 && A.val_type == LSP_NONE && held(ctx) == 0);
            cr_assert(arrays[0].memory == view.rowptr && arrays[1].memory == view.col && arrays[2].memory == view.val);
            cr_assert(arrays[0].bytes >= 1001 * lsp_type_bytes(view.rowptr_type) && arrays[0].where == LSP_HOST);
            must(ctx, lsp_csr_check(ctx, &view, 0)); /* a view of a user's arrays from now on */
            must_fail(ctx, LSP_ERR_ARGUMENT, "not this context's", lsp_csr_free(ctx, &view));
            cr_assert(arrays[0].allocator.user != (void *)ctx, "the allocator needs the context");
            lsp_ctx_destroy(ctx);
            cr_assert(nnz == 0 || lsp_value_at(&view, nnz - 1).re == last);
            for (int a = 0; a < 3; a++) {
                lsp_array_free(&arrays[a]);
                cr_assert(arrays[a].memory == NULL && arrays[a].bytes == 0);
                lsp_array_free(&arrays[a]);
            }
        }
    }
    lsp_array_free(NULL);
}

Test(owner, detached_arrays_go_back_to_the_callers_allocator) {
    test_memory memory = {.fail_at = -1};
    const lsp_ctx_options options = {.threads = 1, .allocator = {test_memory_alloc, test_memory_free, &memory}};
    lsp_ctx *ctx;
    lsp_array arrays[3];
    cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
    lsp_csr A = test_random_csr(ctx, 10, 9, 50, (lsp_csr_types){.val_type = LSP_F64}, 2);
    must(ctx, lsp_csr_detach(ctx, &A, arrays));
    lsp_ctx_destroy(ctx);
    cr_assert_eq(memory.outstanding, 3);
    for (int a = 0; a < 3; a++) {
        cr_assert(arrays[a].allocator.user == &memory);
        lsp_array_free(&arrays[a]);
        cr_assert_eq(memory.outstanding, 2 - a);
    }
}

/* What was detached is not used again by the context. */
Test(owner, a_detached_array_is_not_handed_out_again) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 10, 9, 50, (lsp_csr_types){.val_type = LSP_F64}, 2), B;
    lsp_array arrays[3];
    must(ctx, lsp_csr_detach(ctx, &A, arrays));
    B = test_random_csr(ctx, 10, 9, 50, (lsp_csr_types){.val_type = LSP_F64}, 2);
    cr_assert(B.rowptr != arrays[0].memory && B.col != arrays[1].memory && B.val != arrays[2].memory);
    for (int a = 0; a < 3; a++) {
        lsp_array_free(&arrays[a]);
    }
    lsp_ctx_destroy(ctx);
}

Test(owner, only_the_contexts_own_arrays_are_detached) {
    lsp_ctx *ctx = test_ctx(1), *other = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){.val_type = LSP_F64}, 2), before = A, mixed = A,
            zero = {0};
    lsp_array arrays[3] = {{.bytes = 42}};
    must_fail(other, LSP_ERR_ARGUMENT, "3 x 4 with 6 entries is not detached", lsp_csr_detach(other, &A, arrays));
    mixed.val = &before;
    must_fail(ctx, LSP_ERR_ARGUMENT, "not this context's", lsp_csr_detach(ctx, &mixed, arrays));
    mixed.val = mixed.col;
    must_fail(ctx, LSP_ERR_ARGUMENT, "col and val of A are one array", lsp_csr_detach(ctx, &mixed, arrays));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_detach(ctx, NULL, arrays));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_detach(ctx, &A, NULL));
    cr_assert_eq(lsp_csr_detach(NULL, &A, arrays), LSP_ERR_ARGUMENT);
    cr_assert(arrays[0].bytes == 42 && memcmp(&A, &before, sizeof A) == 0);
    must(ctx, lsp_csr_detach(ctx, &zero, arrays));
    cr_assert(!arrays[0].memory && !arrays[1].memory && !arrays[2].memory);
    must(ctx, lsp_csr_free(ctx, &A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "not this context's", lsp_csr_detach(ctx, &before, arrays));
    lsp_ctx_destroy(other), lsp_ctx_destroy(ctx);
}

/* ---- adopted ---- */

typedef struct releases {
    int count;
    void *last[8];
} releases;
static void release(void *user, void *array) {
    releases *r = user;
    r->last[r->count++ % 8] = array;
    free(array);
}

/* A matrix of the caller's own arrays, from malloc. */
static lsp_csr malloced(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t nnz, lsp_csr_types types) {
    lsp_csr A = test_random_csr(ctx, rows, cols, nnz, types, 2), B = A;
    const size_t bytes[3] = {(size_t)(rows + 1) * lsp_type_bytes(A.rowptr_type),
                             (size_t)nnz * lsp_type_bytes(A.col_type), (size_t)nnz * lsp_type_bytes(A.val_type)};
    B.rowptr = memcpy(malloc(bytes[0]), A.rowptr, bytes[0]);
    B.col = nnz ? memcpy(malloc(bytes[1]), A.col, bytes[1]) : NULL;
    B.val = bytes[2] ? memcpy(malloc(bytes[2]), A.val, bytes[2]) : NULL;
    lsp_csr_free(ctx, &A);
    return B;
}

Test(owner, an_adopted_matrix_is_released_once) {
    for (int t = 0; t < test_combinations; t++) {
        lsp_ctx *ctx = test_ctx(1);
        releases by_free = {0}, by_end = {0}, by_call = {0};
        lsp_csr A = malloced(ctx, 10, 9, 50, test_types(t)), B = malloced(ctx, 10, 9, 50, test_types(t)), C;
        lsp_csr D = malloced(ctx, 10, 9, 50, test_types(t)), before = A;
        const int arrays = A.val ? 3 : 2;
        const int64_t bytes = held(ctx);
        must(ctx, lsp_csr_adopt(ctx, &A, release, &by_free));
        must(ctx, lsp_csr_adopt(ctx, &B, release, &by_end));
        must(ctx, lsp_csr_adopt(ctx, &D, release, &by_call));
        cr_assert_eq(held(ctx), bytes, "adopted arrays are not the context's memory");
        must(ctx, lsp_csr_transpose(ctx, &A, &C));
        must(ctx, lsp_csr_transpose(ctx, &D, &D)); /* an input that is replaced is freed */
        cr_assert_eq(by_call.count, arrays);
        must_be_same(ctx, &C, &D);
        must(ctx, lsp_csr_free(ctx, &A));
        cr_assert(by_free.count == arrays && by_free.last[0] == before.rowptr && by_free.last[1] == before.col);
        must_fail(ctx, LSP_ERR_ARGUMENT, "not this context's", lsp_csr_free(ctx, &before));
        cr_assert_eq(by_end.count, 0);
        lsp_ctx_destroy(ctx);
        cr_assert(by_end.count == arrays && by_free.count == arrays && by_call.count == arrays);
    }
}

Test(owner, many_adopted_matrices_and_a_budget_that_does_not_count_them) {
    enum { many = 100 };
    lsp_ctx *ctx = test_ctx(1), *small = NULL;
    releases seen = {0};
    lsp_csr A[many];
    const lsp_ctx_options options = {.threads = 1, .max_bytes = 1 << 16};
    must(ctx, lsp_ctx_create(&small, &options, NULL, 0));
    for (int i = 0; i < many; i++) {
        A[i] = malloced(ctx, 100, 90, 2000, (lsp_csr_types){.val_type = LSP_F64});
        must(small, lsp_csr_adopt(small, &A[i], release, &seen));
    }
    for (int i = 0; i < many; i += 2) {
        must(small, lsp_csr_free(small, &A[i]));
    }
    cr_assert(seen.count == 3 * many / 2 && held(small) == 0);
    lsp_ctx_destroy(small), lsp_ctx_destroy(ctx);
    cr_assert_eq(seen.count, 3 * many);
}

Test(owner, what_cannot_be_adopted_keeps_its_owner) {
    lsp_ctx *ctx = test_ctx(1);
    releases seen = {0};
    lsp_array arrays[3];
    lsp_csr own = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){.val_type = LSP_F64}, 2);
    lsp_csr A = malloced(ctx, 3, 4, 6, (lsp_csr_types){.val_type = LSP_F64}), bad = A, mixed = A, twice = A;
    mixed.val = own.val;
    twice.val = A.rowptr;
    twice.val_type = LSP_F32;
    twice.rows = 0, twice.nnz = 0;
    int32_t none[] = {0};
    twice.rowptr = none, twice.val = none, twice.col = NULL;
    bad.nnz = 5;
    must_fail(ctx, LSP_ERR_FORMAT, "rowptr[3] is 6", lsp_csr_adopt(ctx, &bad, release, &seen));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_csr_adopt(ctx, NULL, release, &seen));
    must_fail(ctx, LSP_ERR_ARGUMENT, "releases the arrays of A is NULL", lsp_csr_adopt(ctx, &A, NULL, &seen));
    must_fail(ctx, LSP_ERR_ARGUMENT, "is this context's already", lsp_csr_adopt(ctx, &own, release, &seen));
    must_fail(ctx, LSP_ERR_ARGUMENT, "is this context's already", lsp_csr_adopt(ctx, &mixed, release, &seen));
    must_fail(ctx, LSP_ERR_ARGUMENT, "rowptr and val of A are one array", lsp_csr_adopt(ctx, &twice, release, &seen));
    cr_assert_eq(lsp_csr_adopt(NULL, &A, release, &seen), LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "not this context's", lsp_csr_free(ctx, &A));
    must(ctx, lsp_csr_adopt(ctx, &A, release, &seen));
    must_fail(ctx, LSP_ERR_ARGUMENT, "is this context's already", lsp_csr_adopt(ctx, &A, release, &seen));
    must_fail(ctx, LSP_ERR_ARGUMENT, "its arrays were adopted", lsp_csr_detach(ctx, &A, arrays));
    cr_assert_eq(seen.count, 0);
    lsp_ctx_destroy(ctx);
    cr_assert_eq(seen.count, 3);
}

Test(owner, products_of_a_batch_are_not_adopted) {
    lsp_ctx *ctx = test_ctx(1);
    releases seen = {0};
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){.val_type = LSP_F64}, 2), later = A;
    void *const arrays[3] = {A.rowptr, A.col, A.val};
    lsp_make_joint(ctx, arrays, 3, 2);
    later.rowptr = malloc(4 * sizeof(int32_t)); /* a product behind the first one: only some arrays are the group's */
    memcpy(later.rowptr, A.rowptr, 4 * sizeof(int32_t));
    must_fail(ctx, LSP_ERR_ARGUMENT, "which the products of a batch share", lsp_csr_adopt(ctx, &A, release, &seen));
    must_fail(ctx, LSP_ERR_ARGUMENT, "which the products of a batch share", lsp_csr_adopt(ctx, &later, release, &seen));
    lsp_free_joint(ctx, A.rowptr);
    cr_assert(held(ctx) == 0 && seen.count == 0);
    free(later.rowptr);
    lsp_ctx_destroy(ctx);
}

static lsp_csr foreign;
static lsp_status adopt_and_detach(lsp_ctx *ctx, void *data) {
    lsp_csr A = {0};
    lsp_array arrays[3] = {{0}};
    LSP_TRY(lsp_csr_adopt(ctx, &foreign, release, data));
    foreign = (lsp_csr){0};
    LSP_TRY(lsp_generate(ctx, "er:60:5", 1, NULL, &A));
    LSP_TRY(lsp_csr_detach(ctx, &A, arrays));
    for (int a = 0; a < 3; a++) {
        lsp_array_free(&arrays[a]);
    }
    return LSP_OK;
}

Test(owner, memory_that_does_not_suffice_changes_no_owner) {
    lsp_ctx *ctx = test_ctx(1);
    releases seen = {0};
    for (long fail_at = 0;; fail_at++) { /* the loop of test_failing_memory, with a new matrix for each try */
        foreign = foreign.rowptr ? foreign : malloced(ctx, 3, 4, 6, (lsp_csr_types){.val_type = LSP_F64});
        test_memory memory = {.fail_at = fail_at};
        const lsp_ctx_options options = {.threads = 1, .allocator = {test_memory_alloc, test_memory_free, &memory}};
        lsp_ctx *small = NULL;
        const int before = seen.count;
        lsp_status status = lsp_ctx_create(&small, &options, NULL, 0);
        status = status == LSP_OK ? adopt_and_detach(small, &seen) : status;
        const bool adopted = foreign.rowptr == NULL;
        cr_assert_eq(seen.count, before);
        lsp_ctx_destroy(small);
        cr_assert(seen.count == before + (adopted ? 3 : 0) && memory.outstanding == 0);
        cr_assert(status == LSP_OK || status == LSP_ERR_MEMORY);
        if (status == LSP_OK) {
            break;
        }
    }
    lsp_ctx_destroy(ctx);
}
