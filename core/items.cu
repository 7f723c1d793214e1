/* Converts and gathers arrays. Each thread takes one item a step of a grid-stride loop. */
#include "items.h"
#include "launch.cuh"

enum { NT = 256, VT = 4, SM_BLOCKS = 16 }; /* VT: items per thread until the grid reaches SM_BLOCKS per SM */

static int64_t blocks_for(lsp_ctx *ctx, int64_t n) { return lsp_blocks_for(ctx, n, NT * VT, SM_BLOCKS); }

/* from NULL: writes ones. *overflow becomes 1 if an item does not fit; NULL: no check. */
template <typename To, typename From>
__global__ void kernel_convert(To *to, const From *from, int64_t n, int *overflow) {
    for (int64_t i = (int64_t)blockIdx.x * NT + threadIdx.x; i < n; i += (int64_t)gridDim.x * NT) {
        const From value = from ? from[i] : (From)1;
        to[i] = (To)value;
        if (overflow && (From)(To)value != value) {
            *overflow = 1;
        }
    }
}

/* Complex values are pairs of doubles. from NULL: writes ones. */
template <typename From> __global__ void kernel_complex(double *to, const From *from, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * NT + threadIdx.x; i < n; i += (int64_t)gridDim.x * NT) {
        to[2 * i] = from ? (double)from[i] : 1.0;
        to[2 * i + 1] = 0;
    }
}

static __global__ void kernel_gather_pairs(double *to, const double *from, const uint32_t *places, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * NT + threadIdx.x; i < 2 * n; i += (int64_t)gridDim.x * NT) {
        to[i] = from[2 * (int64_t)places[i / 2] + i % 2];
    }
}

template <typename T> __global__ void kernel_gather(T *to, const T *from, const uint32_t *places, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * NT + threadIdx.x; i < n; i += (int64_t)gridDim.x * NT) {
        to[i] = from[places[i]];
    }
}

template <typename To, typename From>
static lsp_status convert(lsp_ctx *ctx, void *to, const void *from, int64_t n, int *overflow) {
    return n > 0 ? LSP_LAUNCH(ctx, (kernel_convert<To, From>), blocks_for(ctx, n), NT, 0, (To *)to, (const From *)from,
                              n, overflow)
                 : LSP_OK;
}

static lsp_status to_complex(lsp_ctx *ctx, double *to, const void *from, lsp_type from_type, int64_t n) {
    const int64_t blocks = blocks_for(ctx, n);
    return from_type == LSP_F32 ? LSP_LAUNCH(ctx, kernel_complex<float>, blocks, NT, 0, to, (const float *)from, n)
                                : LSP_LAUNCH(ctx, kernel_complex<double>, blocks, NT, 0, to,
                                             from_type == LSP_NONE ? NULL : (const double *)from, n);
}

static lsp_status narrow_checked(lsp_ctx *ctx, void *to, const void *from, int64_t n) {
    LSP_SCRATCH_SCOPE(ctx);
    void *flag = NULL;
    int overflow = 0;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof overflow, &flag));
    LSP_TRY(lsp_cuda_copy(ctx, flag, LSP_CUDA, &overflow, LSP_HOST, sizeof overflow));
    LSP_TRY((convert<int32_t, int64_t>(ctx, to, from, n, (int *)flag)));
    LSP_TRY(lsp_cuda_copy(ctx, &overflow, LSP_HOST, flag, LSP_CUDA, sizeof overflow));
    LSP_REQUIRE(!overflow, LSP_ERR_OVERFLOW, "an index of the matrix does not fit 32 bits");
    return LSP_OK;
}

extern "C" lsp_status lsp_cuda_convert(lsp_ctx *ctx, void *to, lsp_type to_type, const void *from, lsp_type from_type,
                                       int64_t n) {
    if (n == 0) {
        return LSP_OK;
    }
    if (to_type == from_type) {
        return lsp_cuda_copy(ctx, to, LSP_CUDA, from, LSP_CUDA, n * (int64_t)lsp_type_bytes(to_type));
    }
    switch (to_type) {
    case LSP_I32:
        return narrow_checked(ctx, to, from, n);
    case LSP_I64:
        return convert<int64_t, int32_t>(ctx, to, from, n, NULL);
    case LSP_F32:
        return from_type == LSP_NONE ? convert<float, float>(ctx, to, NULL, n, NULL)
                                     : convert<float, double>(ctx, to, from, n, NULL);
    case LSP_F64:
        return from_type == LSP_NONE ? convert<double, double>(ctx, to, NULL, n, NULL)
                                     : convert<double, float>(ctx, to, from, n, NULL);
    case LSP_C64:
        return to_complex(ctx, (double *)to, from, from_type, n);
    default:
        return lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "values of type %s cannot become %s", lsp_type_name(from_type),
                        lsp_type_name(to_type));
    }
}

extern "C" lsp_status lsp_cuda_narrow(lsp_ctx *ctx, void *to, const void *from, int64_t n) {
    return convert<int32_t, int64_t>(ctx, to, from, n, NULL);
}

extern "C" lsp_status lsp_cuda_gather(lsp_ctx *ctx, void *to, const void *from, size_t item_bytes,
                                      const uint32_t *places, int64_t n) {
    if (n == 0) {
        return LSP_OK;
    }
    if (item_bytes == 16) {
        return LSP_LAUNCH(ctx, kernel_gather_pairs, blocks_for(ctx, 2 * n), NT, 0, (double *)to, (const double *)from,
                          places, n);
    }
    return item_bytes == 4 ? LSP_LAUNCH(ctx, kernel_gather<uint32_t>, blocks_for(ctx, n), NT, 0, (uint32_t *)to,
                                        (const uint32_t *)from, places, n)
                           : LSP_LAUNCH(ctx, kernel_gather<uint64_t>, blocks_for(ctx, n), NT, 0, (uint64_t *)to,
                                        (const uint64_t *)from, places, n);
}
