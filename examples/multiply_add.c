/* C = 2*A*B - 3*D: a product, then a sum. Two plans repeat both while values change and structures stay. */
#include <libsparse.h>
#include <stdio.h>

int main(void) {
    lsp_ctx *ctx = NULL;
    lsp_csr A = {0}, B = {0}, D = {0}, AB = {0}, C = {0};
    lsp_spgemm_plan *product = NULL;
    lsp_csr_add_plan *sum = NULL;
    double norm[1] = {0};
    if (lsp_ctx_create(&ctx, NULL, NULL, 0) != LSP_OK) {
        return 1;
    }
    lsp_status status = lsp_generate(ctx, "er:2000:8", 1, NULL, &A);
    status = status ? status : lsp_generate(ctx, "er:2000:8", 2, NULL, &B);
    status = status ? status : lsp_generate(ctx, "er:2000:8", 3, NULL, &D);
    /* once */
    status = status ? status : lsp_spgemm(ctx, &A, &B, NULL, &AB, NULL);
    status = status ? status : lsp_csr_add(ctx, 2, &AB, -3, &D, &C);
    lsp_csr_free(ctx, &AB);
    lsp_csr_free(ctx, &C);
    /* again and again */
    status = status ? status : lsp_spgemm_plan_create(ctx, &A, &B, NULL, &product);
    status = status ? status : lsp_spgemm_execute(product, &A, &B, &AB);
    status = status ? status : lsp_csr_add_plan_create(ctx, &AB, &D, &sum);
    status = status ? status : lsp_csr_add_execute(sum, 2, &AB, -3, &D, &C);
    for (int step = 1; step <= 3 && status == LSP_OK; step++) {
        status = lsp_csr_apply(ctx, &A, LSP_APPLY_MULTIPLY, 1.5); /* new values of the same structure */
        status = status ? status : lsp_spgemm_refill(product, &A, &B, &AB);
        status = status ? status : lsp_csr_add_refill(sum, 2, &AB, -3, &D, &C);
        status = status ? status : lsp_csr_reduce(ctx, &C, LSP_REDUCE_NORM1, LSP_REDUCE_ALL, norm);
        printf("step %d: the sum of |c| is %g\n", step, norm[0]);
    }
    if (status != LSP_OK) {
        fprintf(stderr, "%s\n", lsp_last_error(ctx));
    }
    lsp_csr_add_plan_destroy(sum);
    lsp_spgemm_plan_destroy(product);
    lsp_ctx_destroy(ctx);
    return status;
}
