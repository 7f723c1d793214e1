/* C = alpha A + beta B on the GPU, where rows ascend strictly and are merged. */
#include "kernel_merge.cuh"

typedef struct gpu_sum {
    double alpha, beta;
    lsp_type type; /* of C's values */

    template <lsp_type TYPE>
    __device__ void add_entries(void *val, int64_t to, const gpu_csr &A, int64_t a, const gpu_csr &B, int64_t b) const {
        const lsp_value none = {};
        const lsp_value x = a >= 0 ? lsp_term(TYPE, A.val_type, A.val, a, alpha) : none;
        const lsp_value y = b >= 0 ? lsp_term(TYPE, B.val_type, B.val, b, beta) : none;
        lsp_term_set(TYPE, val, to, a < 0 ? y : b < 0 ? x : lsp_term_sum(TYPE, x, y));
    }
    __device__ void operator()(void *val, int64_t to, const gpu_csr &A, int64_t a, const gpu_csr &B, int64_t b) const {
        if (type == LSP_F64) {
            add_entries<LSP_F64>(val, to, A, a, B, b);
        } else if (type == LSP_F32) {
            add_entries<LSP_F32>(val, to, A, a, B, b);
        } else if (type == LSP_C64) {
            add_entries<LSP_C64>(val, to, A, a, B, b);
        } else if (type == LSP_I64) {
            add_entries<LSP_I64>(val, to, A, a, B, b);
        }
    }
} gpu_sum;

extern "C" lsp_status lsp_csr_add_cuda(lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B,
                                       lsp_csr *C, bool *done) {
    lsp_csr_types types = {};
    types.val_type = lsp_common_type(A->val_type, B->val_type);
    types.place = LSP_PLACE_CUDA;
    return merge_rows(ctx, gpu_merge{view(A), view(B), false}, &types, gpu_sum{alpha, beta, types.val_type}, C, done);
}
