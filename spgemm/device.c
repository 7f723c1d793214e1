/* Which functions make a product on the CPU, and which on a GPU. CPU or GPU is asked here once; plan.c calls through
 * the table. */
#include "core/items.h"
#include "matrices/matrices.h"
#include "spgemm.h"

/* ---- the CPU ---- */

static lsp_status cpu_inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_operands *ops) {
    lsp_status status = LSP_OK;
    LSP_TRY(lsp_spgemm_cpu_take_operands(plan, A, B, ops));
    LSP_TRY(lsp_spgemm_inspect(plan, &ops->A, &ops->B));
done:
    return status;
}

static lsp_status cpu_start_structures(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B) {
    (void)ctx, (void)A, (void)B;
    return LSP_OK;
}

static lsp_status cpu_read_structures(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, uint64_t structure[2]) {
    structure[0] = lsp_spgemm_structure(ctx, A);
    structure[1] = A == B ? structure[0] : lsp_spgemm_structure(ctx, B);
    return LSP_OK;
}

static lsp_status cpu_convert(lsp_ctx *ctx, const lsp_csr *C, lsp_type type, void *val) {
    return lsp_spgemm_cpu_convert(ctx, C, type, val);
}

typedef struct judging {
    lsp_type type;
    void *to;
    const void *from;
} judging;

static void judge_share(void *data, int64_t begin, int64_t end) {
    const judging *j = data;
    for (int64_t k = begin; k < end; k++) {
        const lsp_value value = lsp_value_of(j->type, j->from, k);
        const bool truth = lsp_is_integer(j->type) ? value.whole != 0 : value.re != 0;
        lsp_value_set(j->type, j->to, k, (lsp_value){truth, 0, truth});
    }
}

static lsp_status cpu_truth(lsp_ctx *ctx, lsp_type type, void *to, const void *from, int64_t n) {
    lsp_for_shares(ctx, n, 1 << 15, judge_share, &(judging){type, to, from});
    return LSP_OK;
}

/* ---- a GPU ---- */

static lsp_status gpu_inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_operands *ops) {
    return lsp_spgemm_gpu_inspect(plan, A, B, &ops->gpu);
}

static lsp_status gpu_take_operands(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                    lsp_spgemm_operands *ops) {
    return lsp_spgemm_gpu_take_operands(plan, A, B, &ops->gpu);
}

static void gpu_describe(lsp_spgemm_plan *plan, const lsp_csr *B) {
    (void)B;
    lsp_spgemm_gpu_describe(plan);
}

static lsp_status gpu_multiply(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C) {
    return lsp_spgemm_gpu_multiply(plan, &ops->gpu, update, C);
}

static lsp_status gpu_multiply_masked(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, lsp_csr *C) {
    return lsp_spgemm_gpu_masked(plan, &ops->gpu, C);
}

static lsp_status gpu_convert(lsp_ctx *ctx, const lsp_csr *C, lsp_type type, void *val) {
    return C->nnz > 0 ? lsp_cuda_convert_values(ctx, val, type, C->val, C->val_type, C->nnz) : LSP_OK;
}

const lsp_spgemm_device *lsp_spgemm_device_at(lsp_where where) {
    static const lsp_spgemm_device cpu = {.inspect = cpu_inspect,
                                          .take_operands = lsp_spgemm_cpu_take_operands,
                                          .describe = lsp_spgemm_cpu_describe,
                                          .start_structures = cpu_start_structures,
                                          .read_structures = cpu_read_structures,
                                          .multiply = lsp_spgemm_cpu_multiply,
                                          .multiply_masked = lsp_spgemm_cpu_multiply_masked,
                                          .convert = cpu_convert,
                                          .truth = cpu_truth};
    static const lsp_spgemm_device gpu = {.inspect = gpu_inspect,
                                          .take_operands = gpu_take_operands,
                                          .typed_operands = true,
                                          .describe = gpu_describe,
                                          .start_structures = lsp_spgemm_gpu_start_structure,
                                          .read_structures = lsp_spgemm_gpu_read_structure,
                                          .multiply = gpu_multiply,
                                          .multiply_masked = gpu_multiply_masked,
                                          .convert = gpu_convert,
                                          .truth = lsp_spgemm_gpu_truth};
    return where == LSP_CUDA ? &gpu : &cpu;
}
