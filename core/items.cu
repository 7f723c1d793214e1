/* Converts and gathers arrays. Each thread takes one item a step of a grid-stride loop. */
#include "items.h"
#include "launch.cuh"

enum { NT = 256 };

struct truth { /* an LSP_BOOL */
    uint8_t byte;
};
struct one {}; /* an entry of a pattern */
struct pair {  /* an LSP_C64, aligned to 8 bytes */
    double re, im;
};

template <typename From> static __device__ From number_of(const From *from, int64_t i) { return from[i]; }
static __device__ int32_t number_of(const truth *from, int64_t i) { return from[i].byte != 0; }
static __device__ int32_t number_of(const one *, int64_t) { return 1; }

template <typename To, typename X> static __device__ void put(To *to, int64_t i, X x) { to[i] = (To)x; }
template <typename X> static __device__ void put(truth *to, int64_t i, X x) { to[i].byte = x != 0; }
template <typename X> static __device__ void put(pair *to, int64_t i, X x) { to[i].re = (double)x, to[i].im = 0; }
static __device__ void put(float *to, int64_t i, int64_t x) { to[i] = (float)(double)x; } /* as the host rounds */

template <typename To, typename From> static __global__ void kernel_convert(To *to, const From *from, int64_t n) {
    EACH_ITEM(i, n, NT) { put(to, i, number_of(from, i)); }
}

/* *overflow becomes 1 if an index does not fit. */
static __global__ void kernel_narrow(int32_t *to, const int64_t *from, int64_t n, int *overflow) {
    EACH_ITEM(i, n, NT) {
        const int64_t index = from[i];
        to[i] = (int32_t)index;
        if ((int32_t)index != index) {
            *overflow = 1;
        }
    }
}

static __global__ void kernel_gather_pairs(double *to, const double *from, const uint32_t *places, int64_t n) {
    EACH_ITEM(i, 2 * n, NT) { to[i] = from[2 * (int64_t)places[i / 2] + i % 2]; }
}

template <typename T> __global__ void kernel_gather(T *to, const T *from, const uint32_t *places, int64_t n) {
    EACH_ITEM(i, n, NT) { to[i] = from[places[i]]; }
}

template <typename To, typename From> static lsp_status convert(lsp_ctx *ctx, void *to, const void *from, int64_t n) {
    return LSP_LAUNCH_EACH(ctx, (kernel_convert<To, From>), n, NT, (To *)to, (const From *)from, n);
}

static lsp_status refuse(lsp_ctx *ctx, lsp_type from, lsp_type to) {
    return lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "values of type %s cannot become %s", lsp_type_name(from),
                    lsp_type_name(to));
}

/* REALS: values of real types become these, too. */
template <typename To, bool REALS>
static lsp_status convert_to(lsp_ctx *ctx, lsp_type to_type, void *to, const void *from, lsp_type from_type,
                             int64_t n) {
    if constexpr (REALS) {
        if (from_type == LSP_F32 || from_type == LSP_F64) {
            return from_type == LSP_F32 ? convert<To, float>(ctx, to, from, n) : convert<To, double>(ctx, to, from, n);
        }
    }
    return from_type == LSP_I32    ? convert<To, int32_t>(ctx, to, from, n)
           : from_type == LSP_I64  ? convert<To, int64_t>(ctx, to, from, n)
           : from_type == LSP_BOOL ? convert<To, truth>(ctx, to, from, n)
           : from_type == LSP_NONE ? convert<To, one>(ctx, to, from, n)
                                   : refuse(ctx, from_type, to_type);
}

extern "C" lsp_status lsp_cuda_convert_values(lsp_ctx *ctx, void *to, lsp_type to_type, const void *from,
                                              lsp_type from_type, int64_t n) {
    if (n == 0 || to_type == from_type) {
        return n == 0 ? LSP_OK : lsp_cuda_copy(ctx, to, LSP_CUDA, from, LSP_CUDA, n * (int64_t)lsp_type_bytes(to_type));
    }
    return to_type == LSP_I32    ? convert_to<int32_t, false>(ctx, to_type, to, from, from_type, n)
           : to_type == LSP_I64  ? convert_to<int64_t, false>(ctx, to_type, to, from, from_type, n)
           : to_type == LSP_BOOL ? convert_to<truth, false>(ctx, to_type, to, from, from_type, n)
           : to_type == LSP_F32  ? convert_to<float, true>(ctx, to_type, to, from, from_type, n)
           : to_type == LSP_F64  ? convert_to<double, true>(ctx, to_type, to, from, from_type, n)
           : to_type == LSP_C64  ? convert_to<pair, true>(ctx, to_type, to, from, from_type, n)
                                 : refuse(ctx, from_type, to_type);
}

extern "C" lsp_status lsp_cuda_convert(lsp_ctx *ctx, void *to, lsp_type to_type, const void *from, lsp_type from_type,
                                       int64_t n) {
    LSP_SCRATCH_SCOPE(ctx);
    int *flag = NULL, overflow = 0;
    if (n == 0 || to_type != LSP_I32 || from_type != LSP_I64) {
        return lsp_cuda_convert_values(ctx, to, to_type, from, from_type, n);
    }
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &flag));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_narrow, n, NT, (int32_t *)to, (const int64_t *)from, n, flag));
    LSP_TRY(lsp_cuda_copy(ctx, &overflow, LSP_HOST, flag, LSP_CUDA, sizeof overflow));
    LSP_REQUIRE(!overflow, LSP_ERR_OVERFLOW, "an index of the matrix does not fit 32 bits");
    return LSP_OK;
}

extern "C" lsp_status lsp_cuda_gather(lsp_ctx *ctx, void *to, const void *from, size_t item_bytes,
                                      const uint32_t *places, int64_t n) {
    if (n == 0) {
        return LSP_OK;
    }
#define GATHER(T) LSP_LAUNCH_EACH(ctx, kernel_gather<T>, n, NT, (T *)to, (const T *)from, places, n)
    return item_bytes == 16
               ? LSP_LAUNCH_EACH(ctx, kernel_gather_pairs, 2 * n, NT, (double *)to, (const double *)from, places, n)
           : item_bytes == 4 ? GATHER(uint32_t)
                             : GATHER(uint64_t);
#undef GATHER
}
