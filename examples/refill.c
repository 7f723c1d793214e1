/* Multiplies again and again while values change and structures stay, as solvers of nonlinear problems do: a plan finds
 * the structure of C = A*A once, and refills its values. */
#include <libsparse.h>
#include <stdio.h>

int main(void) {
    lsp_ctx *ctx = NULL;
    lsp_csr A = {0}, C = {0};
    lsp_spgemm_plan *plan = NULL;
    double trace[1] = {0};
    if (lsp_ctx_create(&ctx, NULL, NULL, 0) != LSP_OK) {
        return 1;
    }
    lsp_status status = lsp_generate(ctx, "poisson2d:200", 1, NULL, &A);
    status = status ? status : lsp_spgemm_plan_create(ctx, &A, &A, NULL, &plan);
    status = status ? status : lsp_spgemm_execute(plan, &A, &A, &C);
    for (int step = 1; step <= 3 && status == LSP_OK; step++) {
        status = lsp_csr_apply(ctx, &A, LSP_APPLY_MULTIPLY, 1.5); /* new values of the same structure */
        status = status ? status : lsp_spgemm_refill(plan, &A, &A, &C);
        status = status ? status : lsp_csr_reduce(ctx, &C, LSP_REDUCE_NORM1, LSP_REDUCE_ALL, trace);
        printf("step %d: the sum of |c| is %g\n", step, trace[0]);
    }
    if (status != LSP_OK) {
        fprintf(stderr, "%s\n", lsp_last_error(ctx));
    }
    lsp_spgemm_plan_destroy(plan);
    lsp_ctx_destroy(ctx);
    return status;
}
