/* Nothing of a user's is lost: matrices of another owner, output that is input, plans that outlive contexts. */
#include "tests/diagonal.h"

Test(ownership, a_matrix_that_is_not_the_contexts_is_not_freed) {
    lsp_ctx *ctx = test_ctx(1), *other = test_ctx(1);
    diagonal d = three();
    lsp_csr *own = view(&d), A, before, mixed;
    must(ctx, lsp_csr_copy(ctx, own, NULL, &A));
    const int64_t held = bytes_in_use(ctx);
    before = A;
    must_fail(other, LSP_ERR_ARGUMENT, "3 x 3 with 3 entries", lsp_csr_free(other, &A));
    cr_assert(memcmp(&A, &before, sizeof A) == 0 && bytes_in_use(ctx) == held);
    before = *own;
    must_fail(ctx, LSP_ERR_ARGUMENT, "not this context's", lsp_csr_free(ctx, own));
    cr_assert(memcmp(own, &before, sizeof A) == 0);
    mixed = A;
    mixed.val = d.val;
    must_fail(ctx, LSP_ERR_ARGUMENT, "not this context's", lsp_csr_free(ctx, &mixed));
    cr_assert(mixed.rowptr == A.rowptr && bytes_in_use(ctx) == held, "a part of it was freed");
    before = A;
    must(ctx, lsp_csr_free(ctx, &A));
    cr_assert(A.rowptr == NULL && A.rows == 0 && bytes_in_use(ctx) == 0);
    must(ctx, lsp_csr_free(ctx, &A));
    must(ctx, lsp_csr_free(ctx, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "not this context's", lsp_csr_free(ctx, &before));
    cr_assert_eq(lsp_csr_free(NULL, &A), LSP_ERR_ARGUMENT);
    lsp_ctx_destroy(other);
    lsp_ctx_destroy(ctx);
}

/* A call with its input as output: A becomes the result that another output would get, and nothing leaks. */
#define REPLACED(call, elsewhere)                                                                                      \
    do {                                                                                                               \
        lsp_csr A, Z = {0};                                                                                            \
        lsp_csr_difference difference;                                                                                 \
        must(ctx, lsp_csr_copy(ctx, own, NULL, &A));                                                                   \
        must(ctx, elsewhere);                                                                                          \
        must(ctx, call);                                                                                               \
        must(ctx, lsp_csr_compare(ctx, &A, &Z, &difference));                                                          \
        cr_assert(difference.same_shape &&difference.same_bits, "%s", #call);                                          \
        must(ctx, lsp_csr_free(ctx, &Z));                                                                              \
        must(ctx, lsp_csr_free(ctx, &A));                                                                              \
        cr_assert(bytes_in_use(ctx) == 0, "%s: %lld bytes are lost", #call, (long long)bytes_in_use(ctx));             \
    } while (0)

Test(ownership, an_output_that_is_an_input_is_replaced_and_nothing_is_lost) {
    lsp_ctx *ctx = test_ctx(2);
    diagonal d = three();
    const lsp_csr *own = view(&d);
    const lsp_csr_types narrow = {.val_type = LSP_F32};
    REPLACED(lsp_spgemm(ctx, &A, &A, NULL, &A, NULL), lsp_spgemm(ctx, &A, &A, NULL, &Z, NULL));
    REPLACED(lsp_spgemm(ctx, own, &A, NULL, &A, NULL), lsp_spgemm(ctx, own, &A, NULL, &Z, NULL));
    REPLACED(lsp_spgemm(ctx, own, own, &(lsp_spgemm_options){.filter.mask = &A}, &A, NULL),
             lsp_spgemm(ctx, own, own, &(lsp_spgemm_options){.filter.mask = &A}, &Z, NULL));
    REPLACED(lsp_spgemm_triple(ctx, NULL, &A, own, NULL, &A, NULL),
             lsp_spgemm_triple(ctx, NULL, &A, own, NULL, &Z, NULL));
    REPLACED(lsp_spgemm_triple(ctx, NULL, own, &A, NULL, &A, NULL),
             lsp_spgemm_triple(ctx, NULL, own, &A, NULL, &Z, NULL));
    REPLACED(lsp_csr_add(ctx, 2, own, 3, &A, &A), lsp_csr_add(ctx, 2, own, 3, &A, &Z));
    REPLACED(lsp_csr_copy(ctx, &A, &narrow, &A), lsp_csr_copy(ctx, &A, &narrow, &Z));
    REPLACED(lsp_csr_transpose(ctx, &A, &A), lsp_csr_transpose(ctx, &A, &Z));
    REPLACED(lsp_csr_expand(ctx, &A, LSP_SYMMETRY_SYMMETRIC, &A), lsp_csr_expand(ctx, &A, LSP_SYMMETRY_SYMMETRIC, &Z));
    REPLACED(lsp_csr_filter(ctx, &A, &(lsp_filter){.largest = 1}, &A),
             lsp_csr_filter(ctx, &A, &(lsp_filter){.largest = 1}, &Z));
    lsp_csr A;
    lsp_spgemm_plan *plan;
    must(ctx, lsp_csr_copy(ctx, own, NULL, &A));
    must(ctx, lsp_spgemm_plan_create(ctx, &A, &A, NULL, &plan));
    must(ctx, lsp_spgemm_execute(plan, &A, &A, &A));
    cr_assert_eq(((double *)A.val)[2], 9);
    lsp_spgemm_plan_destroy(plan);
    must(ctx, lsp_csr_free(ctx, &A));
    cr_assert_eq(bytes_in_use(ctx), 0);
    lsp_csr mine = *own; /* a user's own arrays are left to the user */
    must(ctx, lsp_csr_transpose(ctx, &mine, &mine));
    cr_assert(mine.col != own->col && d.val[2] == 3);
    must(ctx, lsp_csr_free(ctx, &mine));
    lsp_ctx_destroy(ctx);
}

/* ---- plans and contexts end in any order ---- */

typedef struct plans {
    lsp_spgemm_plan *product[2];
    lsp_segsort_plan *sort;
    lsp_csr C;
} plans;

static plans make_plans(lsp_ctx *ctx, const lsp_csr *A, const lsp_segsort_args *sort) {
    plans p = {0};
    must(ctx, lsp_spgemm_plan_create(ctx, A, A, NULL, &p.product[0]));
    must(ctx, lsp_segsort_plan_create(ctx, sort, &p.sort));
    must(ctx, lsp_spgemm_plan_create(ctx, A, A, NULL, &p.product[1]));
    must(ctx, lsp_spgemm_execute(p.product[0], A, A, &p.C));
    must(ctx, lsp_segsort_execute(p.sort, sort));
    return p;
}

Test(ownership, plans_and_their_context_end_in_any_order) {
    diagonal d = three();
    const lsp_csr *A = view(&d);
    uint32_t keys[] = {3, 1, 2};
    const lsp_segsort_args sort = {
        .n = 3, .segments = 1, .length = 3, .key_type = LSP_U32, .keys = keys, .keys_out = keys};
    for (int order = 0; order < 16; order++) { /* bits: plans destroyed before the context; own allocator */
        test_memory memory = {.fail_at = -1};
        lsp_ctx *ctx = NULL;
        const lsp_ctx_options own = {.allocator = {test_memory_alloc, test_memory_free, &memory}};
        cr_assert_eq(lsp_ctx_create(&ctx, order & 8 ? &own : NULL, NULL, 0), LSP_OK);
        plans p = make_plans(ctx, A, &sort);
        for (int after = 0; after < 2; after++) {
            for (int i = 0; i < 2; i++) {
                if ((order >> i & 1) == after) {
                    lsp_spgemm_plan_destroy(p.product[i]);
                    p.product[i] = NULL;
                }
            }
            if ((order >> 2 & 1) == after) {
                lsp_segsort_plan_destroy(p.sort);
                p.sort = NULL;
            }
            if (after == 0) {
                lsp_spgemm_info info;
                lsp_segsort_info sort_info;
                lsp_csr C = p.C;
                lsp_ctx_destroy(ctx);
                for (int i = 0; i < 2; i++) {
                    cr_assert_eq(lsp_spgemm_execute(p.product[i], A, A, &C), LSP_ERR_ARGUMENT);
                    cr_assert_eq(lsp_spgemm_refill(p.product[i], A, A, &C), LSP_ERR_ARGUMENT);
                    cr_assert_eq(lsp_spgemm_plan_get_info(p.product[i], &info), LSP_ERR_ARGUMENT);
                }
                cr_assert_eq(lsp_segsort_execute(p.sort, &sort), LSP_ERR_ARGUMENT);
                cr_assert_eq(lsp_segsort_plan_get_info(p.sort, &sort_info), LSP_ERR_ARGUMENT);
            }
        }
        cr_assert_eq(memory.outstanding, 0, "order %d: %ld pieces are lost", order, memory.outstanding);
    }
}
