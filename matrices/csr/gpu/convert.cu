/* to[i] = from[i] in another type: one element a thread a step, the grid striding over the array. */
#include "convert.h"
#include "core/launch.cuh"

enum { nt = 256, vt = 8 };

template <typename To, typename From>
__global__ void kernel_convert(To *to, const From *from, int64_t n, int *overflow) {
    int64_t stride = (int64_t)gridDim.x * nt;
    for (int64_t i = (int64_t)blockIdx.x * nt + threadIdx.x; i < n; i += stride) {
        From value = from ? from[i] : (From)1;
        to[i] = (To)value;
        if (overflow && (From)to[i] != value) {
            *overflow = 1;
        }
    }
}

template <typename To, typename From>
static lsp_status convert(lsp_ctx *ctx, void *to, const void *from, int64_t n, int *overflow) {
    int64_t blocks = lsp_min(lsp_ceil_div(n, (int64_t)nt * vt), 1 << 20);
    return LSP_LAUNCH(ctx, (kernel_convert<To, From>), blocks, nt, 0, (To *)to, (const From *)from, n, overflow);
}

static lsp_status narrow(lsp_ctx *ctx, void *to, const void *from, int64_t n) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    void *flag = NULL;
    int overflow = 0;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof overflow, &flag));
    LSP_TRY(lsp_cuda_copy(ctx, flag, LSP_CUDA, &overflow, LSP_HOST, sizeof overflow));
    LSP_TRY((convert<int32_t, int64_t>(ctx, to, from, n, (int *)flag)));
    LSP_TRY(lsp_cuda_copy(ctx, &overflow, LSP_HOST, flag, LSP_CUDA, sizeof overflow));
    LSP_REQUIRE(!overflow, LSP_ERR_OVERFLOW, "an index of the matrix does not fit 32 bits");
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

extern "C" lsp_status lsp_convert_cuda(lsp_ctx *ctx, void *to, lsp_type to_type, const void *from, lsp_type from_type,
                                       int64_t n) {
    if (n == 0) {
        return LSP_OK;
    }
    if (to_type == from_type) {
        return lsp_cuda_copy(ctx, to, LSP_CUDA, from, LSP_CUDA, n * (int64_t)lsp_type_bytes(to_type));
    }
    switch (to_type) {
    case LSP_I32:
        return narrow(ctx, to, from, n);
    case LSP_I64:
        return convert<int64_t, int32_t>(ctx, to, from, n, NULL);
    case LSP_F32:
        return from_type == LSP_NONE ? convert<float, float>(ctx, to, NULL, n, NULL)
                                     : convert<float, double>(ctx, to, from, n, NULL);
    case LSP_F64:
        return from_type == LSP_NONE ? convert<double, double>(ctx, to, NULL, n, NULL)
                                     : convert<double, float>(ctx, to, from, n, NULL);
    default:
        return lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "values of type %s cannot become %s", lsp_type_name(from_type),
                        lsp_type_name(to_type));
    }
}
