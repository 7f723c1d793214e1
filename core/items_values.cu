/* Values of matrices in another type, integers among them. Each thread takes one item a step of a grid-stride loop. */
#include "items.h"
#include "launch.cuh"

enum { NT = 256, VT = 4, SM_BLOCKS = 16 }; /* VT: items per thread until the grid reaches SM_BLOCKS per SM */

struct truth { /* an LSP_BOOL */
    uint8_t byte;
};
struct one {}; /* an entry of a pattern */
struct pair {  /* an LSP_C64, aligned to 8 bytes */
    double re, im;
};

template <typename From> static __device__ long long whole_of(const From *from, int64_t i) { return from[i]; }
static __device__ long long whole_of(const truth *from, int64_t i) { return from[i].byte != 0; }
static __device__ long long whole_of(const one *, int64_t) { return 1; }

static __device__ void put(int32_t *to, int64_t i, long long x) { to[i] = (int32_t)x; }
static __device__ void put(int64_t *to, int64_t i, long long x) { to[i] = x; }
static __device__ void put(truth *to, int64_t i, long long x) { to[i].byte = x != 0; }
static __device__ void put(float *to, int64_t i, long long x) { to[i] = (float)(double)x; } /* as the host rounds */
static __device__ void put(double *to, int64_t i, long long x) { to[i] = (double)x; }
static __device__ void put(pair *to, int64_t i, long long x) { to[i].re = (double)x, to[i].im = 0; }

template <typename To, typename From> static __global__ void kernel_values(To *to, const From *from, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * NT + threadIdx.x; i < n; i += (int64_t)gridDim.x * NT) {
        put(to, i, whole_of(from, i));
    }
}

template <typename To, typename From> static lsp_status convert(lsp_ctx *ctx, void *to, const void *from, int64_t n) {
    return LSP_LAUNCH(ctx, (kernel_values<To, From>), lsp_blocks_for(ctx, n, NT * VT, SM_BLOCKS), NT, 0, (To *)to,
                      (const From *)from, n);
}

template <typename To>
static lsp_status convert_to(lsp_ctx *ctx, void *to, const void *from, lsp_type from_type, int64_t n) {
    return from_type == LSP_I32    ? convert<To, int32_t>(ctx, to, from, n)
           : from_type == LSP_I64  ? convert<To, int64_t>(ctx, to, from, n)
           : from_type == LSP_BOOL ? convert<To, truth>(ctx, to, from, n)
           : from_type == LSP_NONE ? convert<To, one>(ctx, to, from, n)
                                   : lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "values of type %s cannot become integers",
                                              lsp_type_name(from_type));
}

extern "C" lsp_status lsp_cuda_convert_values(lsp_ctx *ctx, void *to, lsp_type to_type, const void *from,
                                              lsp_type from_type, int64_t n) {
    const bool integers = from_type == LSP_I32 || from_type == LSP_I64 || from_type == LSP_BOOL;
    if (n == 0 || to_type == from_type) {
        return n == 0 ? LSP_OK : lsp_cuda_copy(ctx, to, LSP_CUDA, from, LSP_CUDA, n * (int64_t)lsp_type_bytes(to_type));
    }
    switch (to_type) {
    case LSP_I32:
        return convert_to<int32_t>(ctx, to, from, from_type, n);
    case LSP_I64:
        return convert_to<int64_t>(ctx, to, from, from_type, n);
    case LSP_BOOL:
        return convert_to<truth>(ctx, to, from, from_type, n);
    case LSP_F32:
        return integers ? convert_to<float>(ctx, to, from, from_type, n)
                        : lsp_cuda_convert(ctx, to, to_type, from, from_type, n);
    case LSP_F64:
        return integers ? convert_to<double>(ctx, to, from, from_type, n)
                        : lsp_cuda_convert(ctx, to, to_type, from, from_type, n);
    default:
        return integers && to_type == LSP_C64 ? convert_to<pair>(ctx, to, from, from_type, n)
                                              : lsp_cuda_convert(ctx, to, to_type, from, from_type, n);
    }
}
