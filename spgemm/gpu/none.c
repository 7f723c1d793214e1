/* C = A*B on a GPU, of a build without CUDA. Never reached: no context of such a build has a GPU. */
#include "spgemm/spgemm.h"

static lsp_status refuse(lsp_ctx *ctx) {
    return lsp_fail(ctx, LSP_ERR_DEVICE, "no GPU can multiply: this libsparse was built without CUDA");
}
lsp_status lsp_spgemm_gpu_inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                  lsp_spgemm_factors *factors) {
    (void)A, (void)B, (void)factors;
    return refuse(plan->ctx);
}
lsp_status lsp_spgemm_gpu_factors(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                  lsp_spgemm_factors *factors) {
    (void)A, (void)B, (void)factors;
    return refuse(plan->ctx);
}
lsp_status lsp_spgemm_gpu_count(lsp_spgemm_plan *plan, const lsp_spgemm_factors *factors) {
    (void)factors;
    return refuse(plan->ctx);
}
lsp_status lsp_spgemm_gpu_fill(lsp_spgemm_plan *plan, const lsp_spgemm_factors *factors, bool update, lsp_csr *C) {
    (void)factors, (void)update, (void)C;
    return refuse(plan->ctx);
}
lsp_status lsp_spgemm_gpu_masked(lsp_spgemm_plan *plan, const lsp_spgemm_factors *factors, lsp_csr *C) {
    (void)factors, (void)C;
    return refuse(plan->ctx);
}
int64_t lsp_spgemm_gpu_fill_bytes(const lsp_spgemm_plan *plan) {
    (void)plan;
    return 0;
}
lsp_status lsp_spgemm_gpu_keep(lsp_spgemm_plan *plan, const lsp_spgemm_factors *factors, const lsp_csr *C) {
    (void)factors, (void)C;
    return refuse(plan->ctx);
}
lsp_status lsp_spgemm_gpu_again(lsp_spgemm_plan *plan, const lsp_spgemm_factors *factors, lsp_csr *C, bool structure) {
    (void)factors, (void)C, (void)structure;
    return refuse(plan->ctx);
}
bool lsp_spgemm_gpu_forget(lsp_spgemm_plan *plan) {
    (void)plan;
    return false;
}
lsp_status lsp_spgemm_gpu_look_at_structure(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B) {
    (void)A, (void)B;
    return refuse(ctx);
}
lsp_status lsp_spgemm_gpu_read_structure(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, uint64_t structure[2]) {
    (void)A, (void)B, (void)structure;
    return refuse(ctx);
}
