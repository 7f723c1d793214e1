/* Plans of C = A*B on the GPU that replay products by their ranks: C has the bits of the reference in all types,
 * semirings and index widths, and nothing is left behind where memory is short. Skipped without a GPU. */
#include "tests/failing.h"
#include "tests/products.h"

/* Replaces the values, here and on the GPU. */
static void change(lsp_ctx *ctx, lsp_csr *A, const lsp_csr *a, bool wild, uint64_t *state) {
    for (int64_t i = 0; i < A->nnz * (A->val_type == LSP_C64 ? 2 : 1); i++) {
        if (lsp_is_integer(A->val_type)) {
            set_whole(A->val_type, A->val, i, false, state);
        } else if (A->val_type == LSP_F32) {
            ((float *)A->val)[i] = (float)test_value(wild, state);
        } else {
            ((double *)A->val)[i] = test_value(wild, state);
        }
    }
    must(ctx, lsp_cuda_copy(ctx, a->val, LSP_CUDA, A->val, LSP_HOST, A->nnz * (int64_t)lsp_type_bytes(A->val_type)));
}

static lsp_csr make_even(int64_t rows, int64_t cols, int64_t entries, lsp_type index, lsp_type type, uint64_t seed) {
    const recipe r = {rows, cols, entries, index, index, LSP_F64, true, false, -1, -1, 0};
    lsp_csr made = make(&r, seed), typed = made;
    typed.val_type = type;
    typed.val = calloc((size_t)made.nnz, 16);
    free(made.val);
    return typed;
}

/* A product. The plan gives each of its rows `lanes` lanes, and each rank `bytes` bytes. */
typedef struct shape {
    int64_t rows, inner, cols, a_entries, b_entries;
    int lanes, bytes;
} shape;
static const shape shapes[] = {{600, 2000, 34, 4, 3, 1, 1},     {300, 200, 300, 5, 5, 4, 1},
                               {200, 150, 400, 6, 10, 8, 1},    {200, 100, 800, 4, 20, 16, 1},
                               {120, 200, 2000, 25, 10, 16, 2}, {120, 100, 2000, 8, 25, 16, 2}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void check_shape(lsp_ctx *ctx, const shape *s, lsp_type type, lsp_type index, lsp_spgemm_options options) {
    lsp_csr A = make_even(s->rows, s->inner, s->a_entries, index, type, 3);
    lsp_csr B = make_even(s->inner, s->cols, s->b_entries, index, type, 4);
    lsp_csr a = upload(ctx, &A), b = upload(ctx, &B), C = {0};
    lsp_spgemm_options reference = options;
    lsp_spgemm_plan *plan;
    uint64_t state = 5;
    char what[80];
    snprintf(what, sizeof what, "shape %d, type %d, semiring %d", (int)(s - shapes), (int)type, (int)options.semiring);
    reference.method = LSP_SPGEMM_REFERENCE;
    must(ctx, lsp_spgemm_plan_create(ctx, &a, &b, &options, &plan));
    for (int round = 0; round < 4; round++) {
        lsp_csr right;
        change(ctx, &A, &a, round > 1, &state), change(ctx, &B, &b, round > 1, &state);
        must(ctx, round & 1 ? lsp_spgemm_refill(plan, &a, &b, &C) : lsp_spgemm_execute(plan, &a, &b, &C));
        must(ctx, lsp_spgemm(ctx, &A, &B, &reference, &right, NULL));
        lsp_csr here = download(ctx, &C);
        same(ctx, &here, &right, what);
        lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &right);
        if (round & 1) {
            lsp_csr_free(ctx, &C);
        }
    }
    const lsp_spgemm_replay *kept = &plan->gpu->replay;
    cr_assert(kept->ranks != NULL && kept->lanes == s->lanes && kept->rank_bytes == s->bytes, "%s: %d lanes, %d bytes",
              what, kept->lanes, kept->rank_bytes);
    lsp_spgemm_plan_destroy(plan);
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b);
    drop(&A), drop(&B);
}

Test(device_ranks, give_the_bits_of_the_reference_for_all_types_and_semirings) {
    static const struct {
        lsp_type type;
        lsp_semiring semiring;
    } values[] = {{LSP_F64, LSP_PLUS_TIMES}, {LSP_F32, LSP_PLUS_TIMES}, {LSP_C64, LSP_PLUS_TIMES},
                  {LSP_I64, LSP_PLUS_TIMES}, {LSP_I32, LSP_PLUS_TIMES}, {LSP_BOOL, LSP_OR_AND},
                  {LSP_F64, LSP_MIN_PLUS},   {LSP_F32, LSP_MAX_TIMES},  {LSP_I64, LSP_MIN_PLUS},
                  {LSP_F32, LSP_MIN_PLUS},   {LSP_F64, LSP_OR_AND},     {LSP_F64, LSP_PLUS_PAIR}};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        for (size_t s = 0; s < SHAPES; s++) {
            if (getenv("LSP_TEST_REDUCED") == NULL || (s + k) % 3 == 0) {
                check_shape(ctx, &shapes[s], values[k].type, k & 1 ? LSP_I64 : LSP_I32,
                            (lsp_spgemm_options){.semiring = values[k].semiring,
                                                 .types.rowptr_type = k & 2 ? LSP_I64 : LSP_NONE,
                                                 .types.col_type = k & 4 ? LSP_I64 : LSP_NONE});
            }
        }
    }
    lsp_ctx_destroy(ctx);
}

/* A plan keeps ranks only where the budget allows; with less, and with them, C is right and the budget is kept. */
Test(device_ranks, are_kept_only_where_the_budget_allows) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_csr A = make_even(300, 300, 5, LSP_I32, LSP_F64, 3), right = {0};
    bool with = false, without = false;
    uint64_t state = 5;
    lsp_csr there = upload(ctx, &A);
    change(ctx, &A, &there, false, &state);
    must(ctx, lsp_spgemm(ctx, &A, &A, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &right, NULL));
    for (int64_t budget = 1 << 16; !with; budget += budget / 8) {
        lsp_ctx *small = NULL;
        lsp_spgemm_plan *plan = NULL;
        lsp_csr a = {0}, C = {0};
        lsp_ctx_info held;
        cr_assert(budget < 1 << 28, "no ranks within %lld bytes", (long long)budget);
        must(ctx, lsp_ctx_create(&small, &(lsp_ctx_options){.device = LSP_CUDA, .max_bytes = budget}, NULL, 0));
        lsp_status status = lsp_csr_copy(small, &A, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &a);
        status = status == LSP_OK ? lsp_spgemm_plan_create(small, &a, &a, NULL, &plan) : status;
        status = status == LSP_OK ? lsp_spgemm_execute(plan, &a, &a, &C) : status;
        for (int use = 0; use < 2 && status == LSP_OK; use++) {
            status = lsp_spgemm_refill(plan, &a, &a, &C);
        }
        cr_assert(status == LSP_OK || status == LSP_ERR_MEMORY, "%s", lsp_last_error(small));
        if (status == LSP_OK) {
            lsp_csr here = download(small, &C);
            same(small, &here, &right, "within a budget");
            lsp_csr_free(small, &here);
            with = plan->gpu->replay.ranks != NULL;
            without |= !with;
        }
        must(small, lsp_ctx_get_info(small, &held));
        cr_assert(held.cuda_peak_bytes <= budget);
        lsp_spgemm_plan_destroy(plan);
        lsp_csr_free(small, &C), lsp_csr_free(small, &a);
        lsp_ctx_destroy(small);
    }
    cr_assert(without);
    lsp_csr_free(ctx, &there), lsp_csr_free(ctx, &right);
    drop(&A);
    lsp_ctx_destroy(ctx);
}

Test(device_ranks, are_not_kept_where_memory_fails_and_nothing_is_left_behind) {
    lsp_ctx_destroy(test_gpu_ctx_or_skip());
    lsp_csr A = make_even(300, 300, 5, LSP_I32, LSP_F64, 3), right = {0};
    bool with = false, without = false;
    uint64_t state = 5;
    for (long fail_at = 0; !with; fail_at++) {
        test_memory memory = {.fail_at = -1};
        const lsp_allocator allocator = {failing_alloc, failing_free, &memory};
        lsp_ctx *ctx = NULL;
        lsp_spgemm_plan *plan = NULL;
        lsp_csr a, C = {0};
        cr_assert(fail_at < 1000, "still failing after %ld allocations", fail_at);
        cr_assert_eq(lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .allocator = allocator}, NULL, 0),
                     LSP_OK);
        a = upload(ctx, &A);
        change(ctx, &A, &a, false, &state);
        must(ctx, lsp_spgemm(ctx, &A, &A, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &right, NULL));
        must(ctx, lsp_spgemm_plan_create(ctx, &a, &a, NULL, &plan));
        must(ctx, lsp_spgemm_execute(plan, &a, &a, &C));
        memory.fail_at = memory.calls + fail_at;
        const lsp_status status = lsp_spgemm_refill(plan, &a, &a, &C);
        const bool failed = memory.calls > memory.fail_at;
        memory.fail_at = -1;
        if (status == LSP_OK) {
            lsp_csr here = download(ctx, &C);
            same(ctx, &here, &right, failed ? "an allocation failed" : "none failed");
            lsp_csr_free(ctx, &here);
            without |= plan->gpu->replay.ranks == NULL;
            with = !failed;
            cr_assert(failed || plan->gpu->replay.ranks != NULL, "no ranks though no allocation failed");
        }
        lsp_spgemm_plan_destroy(plan);
        lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &right);
        lsp_ctx_destroy(ctx);
        cr_assert(memory.outstanding == 0, "%ld pieces leaked when allocation %ld failed", memory.outstanding, fail_at);
    }
    cr_assert(without);
    drop(&A);
}
