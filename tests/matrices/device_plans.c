/* Plans of transposes and sums on the GPU: the bits of the host. Skipped without a GPU. */
#include "matrices/csr/plans.h"
#include "tests/planned.h"
#include "tests/there.h"

#if LSP_HAVE_CUDA && !LSP_EMULATED
#include <cuda_runtime_api.h>
#endif

/* Other values for A, also where a lies. */
static void renew(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *a, uint64_t seed) {
    const int64_t bytes = A->nnz * (int64_t)lsp_type_bytes(A->val_type);
    planned_new_values(A, seed);
    if (bytes > 0) {
        must(ctx, lsp_cuda_copy(ctx, a->val, LSP_CUDA, A->val, LSP_HOST, bytes));
    }
}

Test(device_plans, transposes_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < planned_size_count * test_combinations * 4; c += pace()) {
        const int64_t *size = planned_sizes[c / test_combinations / 4];
        lsp_csr A = planned_random(ctx, size, test_types(c % test_combinations), c / test_combinations % 2, 1), right;
        lsp_csr a = upload(ctx, &A), b;
        lsp_csr_transpose_plan *plan;
        must(ctx, lsp_csr_transpose_plan_as(ctx, &a, c / test_combinations % 4 > 1, &plan));
        must(ctx, lsp_csr_transpose(ctx, &A, &right));
        must(ctx, lsp_csr_transpose_execute(plan, &a, &b));
        must_match(ctx, &b, &right);
        renew(ctx, &A, &a, 7);
        lsp_csr_free(ctx, &right);
        must(ctx, lsp_csr_transpose(ctx, &A, &right));
        must(ctx, lsp_csr_transpose_refill(plan, &a, &b));
        must_match(ctx, &b, &right);
        must(ctx, lsp_csr_transpose_execute(plan, &a, &a)); /* in its own place */
        must_match(ctx, &a, &right);
        lsp_csr_transpose_plan_destroy(plan);
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b), lsp_csr_free(ctx, &right);
    }
    lsp_ctx_destroy(ctx);
}

static void check_sum(lsp_ctx *ctx, lsp_csr *A, lsp_csr *B, bool wide, bool equal) {
    lsp_csr right, c, a = upload(ctx, A), b = upload(ctx, B);
    lsp_csr_add_plan *plan;
    must(ctx, lsp_csr_add_plan_as(ctx, &a, &b, wide, &plan));
    cr_assert(plan->equal || !equal);
    must(ctx, lsp_csr_add(ctx, 0.3, A, -7, B, &right));
    must(ctx, lsp_csr_add_execute(plan, 0.3, &a, -7, &b, &c));
    must_match(ctx, &c, &right);
    renew(ctx, A, &a, 11), renew(ctx, B, &b, 12);
    lsp_csr_free(ctx, &right);
    must(ctx, lsp_csr_add(ctx, -1e300, A, 1e-3, B, &right));
    must(ctx, lsp_csr_add_refill(plan, -1e300, &a, 1e-3, &b, &c));
    must_match(ctx, &c, &right);
    must(ctx, lsp_csr_add_execute(plan, -1e300, &a, 1e-3, &b, &b)); /* in its own place */
    must_match(ctx, &b, &right);
    lsp_csr_add_plan_destroy(plan);
    lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &c), lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b);
    lsp_csr_free(ctx, A), lsp_csr_free(ctx, B);
}

Test(device_plans, sums_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < planned_size_count * 144; c += pace()) {
        const int64_t *size = planned_sizes[c / 144];
        lsp_csr A = planned_random(ctx, size, test_types(c % 12), c % 2, 1);
        lsp_csr B = planned_random(ctx, size, test_types(c / 12 % 12), c % 3, 2);
        check_sum(ctx, &A, &B, c % 5 == 0, false);
    }
    lsp_csr X = planned_random(ctx, (int64_t[]){3, 50, 20000}, test_types(8), false, 1); /* a place with many entries */
    lsp_csr Y = planned_random(ctx, (int64_t[]){3, 50, 7}, test_types(4), false, 1);
    check_sum(ctx, &X, &Y, false, false);
    lsp_ctx_destroy(ctx);
}

Test(device_plans, sums_of_equal_patterns_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < planned_size_count * 144; c += pace()) {
        lsp_csr A = planned_random(ctx, planned_sizes[c / 144], test_types(c % 12), true, 1), B;
        lsp_csr_types types = test_types(c / 12 % 12);
        types.drop_values = types.val_type == LSP_NONE;
        must(ctx, lsp_csr_copy(ctx, &A, &types, &B));
        planned_new_values(&B, 5);
        check_sum(ctx, &A, &B, false, true);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_plans, what_is_not_planned_is_refused) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip(), *host = test_ctx(1);
    lsp_csr A = planned_random(ctx, (int64_t[]){20, 30, 99}, test_types(8), true, 1), a = upload(ctx, &A), B, C;
    lsp_csr D = planned_random(ctx, (int64_t[]){20, 30, 50}, test_types(8), true, 9), d = upload(ctx, &D);
    lsp_csr_transpose_plan *plan = NULL;
    lsp_csr_add_plan *sum = NULL;
    must_fail(host, LSP_ERR_DEVICE, "A lies on the GPU", lsp_csr_transpose_plan_create(host, &a, &plan));
    must_fail(host, LSP_ERR_DEVICE, "A lies on the GPU", lsp_csr_add_plan_create(host, &a, &d, &sum));
    must_fail(ctx, LSP_ERR_ARGUMENT, "one of the matrices", lsp_csr_add_plan_create(ctx, &a, &D, &sum));
    must(ctx, lsp_csr_transpose_plan_create(ctx, &a, &plan));
    must(ctx, lsp_csr_add_plan_create(ctx, &a, &d, &sum));
    must(ctx, lsp_csr_transpose_execute(plan, &a, &B));
    must(ctx, lsp_csr_add_execute(sum, 1, &a, 1, &d, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A lies on the host, the plan was made for a matrix on the GPU",
              lsp_csr_transpose_refill(plan, &A, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "B lies on the host", lsp_csr_add_refill(sum, 1, &a, 1, &D, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "the plan was made for", lsp_csr_add_refill(sum, 1, &a, 1, &d, &a));
    int32_t beyond = 30;
    must(ctx, lsp_cuda_copy(ctx, (int32_t *)d.col + 3, LSP_CUDA, &beyond, LSP_HOST, 4));
    lsp_csr_add_plan *none = NULL;
    must_fail(ctx, LSP_ERR_FORMAT, "B, row", lsp_csr_add_plan_create(ctx, &a, &d, &none));
    cr_assert(!none);
    lsp_ctx_destroy(ctx); /* before its plans */
    cr_assert(lsp_csr_transpose_refill(plan, &a, &B) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_add_execute(sum, 1, &a, 1, &d, &C) == LSP_ERR_ARGUMENT);
    lsp_csr_transpose_plan_destroy(plan), lsp_csr_add_plan_destroy(sum);
    lsp_ctx_destroy(host);
}

/* ---- a budget that ends anywhere ---- */

static lsp_status use_plans(lsp_ctx *ctx, const lsp_csr *a, const lsp_csr *b, lsp_csr *T, lsp_csr *C) {
    lsp_csr_transpose_plan *plan = NULL;
    lsp_csr_add_plan *sum = NULL;
    lsp_status status = lsp_csr_transpose_plan_create(ctx, a, &plan);
    status = status != LSP_OK ? status : lsp_csr_transpose_execute(plan, a, T);
    status = status != LSP_OK ? status : lsp_csr_add_plan_create(ctx, a, b, &sum);
    status = status != LSP_OK ? status : lsp_csr_add_execute(sum, 1, a, 2, b, C);
    cr_assert(status == LSP_OK || status == LSP_ERR_MEMORY, "%s", lsp_last_error(ctx));
    cr_assert(status == LSP_OK || (C->rows == 42 && !C->rowptr));
    cr_assert(T->rowptr || T->rows == 42);
    lsp_csr_transpose_plan_destroy(plan), lsp_csr_add_plan_destroy(sum);
    return status;
}

Test(device_plans, memory_that_does_not_suffice_leaves_the_output_alone) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_csr A = planned_random(ctx, (int64_t[]){90, 90, 900}, test_types(8), false, 1), a = upload(ctx, &A);
    lsp_csr B = planned_random(ctx, (int64_t[]){90, 90, 700}, test_types(8), false, 2), b = upload(ctx, &B);
    lsp_status status = LSP_ERR_MEMORY;
    for (int64_t budget = 4096; status != LSP_OK; budget += budget / 8) {
        const lsp_ctx_options options = {.device = LSP_CUDA, .max_bytes = budget};
        lsp_ctx *small = NULL;
        lsp_csr T = {.rows = 42}, C = {.rows = 42};
        cr_assert(budget < 1 << 30);
        must(ctx, lsp_ctx_create(&small, &options, NULL, 0));
        status = use_plans(small, &a, &b, &T, &C);
        lsp_ctx_destroy(small);
    }
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b);
    lsp_ctx_destroy(ctx);
}

#if LSP_HAVE_CUDA && !LSP_EMULATED
#define must_cuda(call) cr_assert((call) == cudaSuccess, "%s", #call)

Test(device_plans, updates_in_a_graph_are_replayed) {
    lsp_ctx_destroy(test_gpu_ctx_or_skip());
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    lsp_ctx *ctx = NULL;
    must_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cr_assert_eq(lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .stream = stream}, NULL, 0), LSP_OK);
    lsp_csr A = planned_random(ctx, (int64_t[]){90, 90, 900}, test_types(8), false, 1), a = upload(ctx, &A), right;
    lsp_csr B = planned_random(ctx, (int64_t[]){90, 90, 700}, test_types(8), false, 2), b = upload(ctx, &B), t, c;
    lsp_csr_transpose_plan *plan;
    lsp_csr_add_plan *sum;
    must(ctx, lsp_csr_transpose_plan_create(ctx, &a, &plan));
    must(ctx, lsp_csr_add_plan_create(ctx, &a, &b, &sum));
    must(ctx, lsp_csr_transpose_execute(plan, &a, &t));
    must(ctx, lsp_csr_add_execute(sum, 2, &a, 3, &b, &c));
    must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    must(ctx, lsp_csr_transpose_refill(plan, &a, &t));
    must(ctx, lsp_csr_add_refill(sum, 2, &a, 3, &b, &c));
    must_cuda(cudaStreamEndCapture(stream, &graph));
    must_cuda(cudaGraphInstantiateWithFlags(&run, graph, 0));
    for (uint64_t round = 0; round < 3; round++) {
        renew(ctx, &A, &a, round), renew(ctx, &B, &b, round + 9);
        must_cuda(cudaGraphLaunch(run, stream));
        must(ctx, lsp_csr_transpose(ctx, &A, &right));
        must_match(ctx, &t, &right);
        lsp_csr_free(ctx, &right);
        must(ctx, lsp_csr_add(ctx, 2, &A, 3, &B, &right));
        must_match(ctx, &c, &right);
        lsp_csr_free(ctx, &right);
    }
    must_cuda(cudaGraphExecDestroy(run));
    must_cuda(cudaGraphDestroy(graph));
    lsp_csr_transpose_plan_destroy(plan), lsp_csr_add_plan_destroy(sum);
    lsp_ctx_destroy(ctx);
    must_cuda(cudaStreamDestroy(stream));
}
#endif
