/* C = alpha A + beta B on the GPU, where rows ascend strictly and are merged. */
#include "kernel_merge.cuh"

typedef struct gpu_sum {
    double alpha, beta;
    lsp_type type; /* of C's values */

    __device__ void operator()(void *val, int64_t to, const gpu_csr &A, int64_t a, const gpu_csr &B, int64_t b) const {
        if (type == LSP_F64) {
            const double x = a >= 0 ? __dmul_rn(alpha, value_at(A, a).re) : 0;
            const double y = b >= 0 ? __dmul_rn(beta, value_at(B, b).re) : 0;
            ((double *)val)[to] = lsp_settled(a < 0 ? y : b < 0 ? x : x + y);
        } else if (type == LSP_F32) {
            const float x = a >= 0 ? __fmul_rn((float)alpha, (float)value_at(A, a).re) : 0;
            const float y = b >= 0 ? __fmul_rn((float)beta, (float)value_at(B, b).re) : 0;
            ((float *)val)[to] = (float)lsp_settled(a < 0 ? y : b < 0 ? x : x + y);
        } else if (type == LSP_C64) {
            for (int part = 0; part < 2; part++) {
                const double x = a >= 0 ? __dmul_rn(alpha, part_at(A, a, part)) : 0;
                const double y = b >= 0 ? __dmul_rn(beta, part_at(B, b, part)) : 0;
                ((double *)val)[2 * to + part] = lsp_settled(a < 0 ? y : b < 0 ? x : x + y);
            }
        } else if (type == LSP_I64) {
            const ull x = a >= 0 ? (ull)(int64_t)alpha * ((const ull *)A.val)[a] : 0;
            const ull y = b >= 0 ? (ull)(int64_t)beta * ((const ull *)B.val)[b] : 0;
            ((ull *)val)[to] = x + y;
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
