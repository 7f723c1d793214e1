/* One call of each kind that way.sh follows. The name of what is called next is told to lsp_part. */
#include <libsparse.h>

static __attribute__((noinline)) void lsp_part(const char *name) { __asm__ volatile("" : : "r"(name)); }

int main(void) {
    static double x[400], y[400];
    const lsp_spmv_vectors vectors = {.x = x, .y = y, .alpha = 1};
    const lsp_ctx_options one = {.threads = 1};
    lsp_ctx *ctx;
    lsp_spgemm_plan *plan;
    lsp_spmv_plan *spmv;
    lsp_csr A = {0}, C = {0}, D = {0};
    const bool failed = lsp_ctx_create(&ctx, &one, NULL, 0) || lsp_generate(ctx, "poisson2d:20", 1, NULL, &A) ||
                        (lsp_part("product"), lsp_spgemm(ctx, &A, &A, NULL, &C, NULL)) ||
                        (lsp_part("plan"), lsp_spgemm_plan_create(ctx, &A, &A, NULL, &plan)) ||
                        (lsp_part("execute"), lsp_spgemm_execute(plan, &A, &A, &D)) ||
                        (lsp_part("spmv_plan"), lsp_spmv_plan_create(ctx, &A, NULL, &spmv)) ||
                        (lsp_part("spmv_execute"), lsp_spmv_execute(spmv, &vectors));
    lsp_part("end");
    return failed;
}
