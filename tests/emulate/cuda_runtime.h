/* Replaces CUDA's header of this name in the emulated build: the part of the language and of the runtime that the
 * project's device code uses. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>

#include "emulate.h"

/* ---- the language ---- */

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static thread_local /* a block is an OS thread */
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* Vectors are aligned to their size, as on the GPU. */
#define EMU_VECTOR2(type, name)                                                                                        \
    struct alignas(2 * sizeof(type)) name {                                                                            \
        type x, y;                                                                                                     \
    };                                                                                                                 \
    static inline name make_##name(type x, type y) { return {x, y}; }
#define EMU_VECTOR4(type, name)                                                                                        \
    struct alignas(4 * sizeof(type)) name {                                                                            \
        type x, y, z, w;                                                                                               \
    };                                                                                                                 \
    static inline name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }
EMU_VECTOR2(int, int2)
EMU_VECTOR2(unsigned, uint2)
EMU_VECTOR2(float, float2)
EMU_VECTOR2(double, double2)
EMU_VECTOR2(long long, longlong2)
EMU_VECTOR2(unsigned long long, ulonglong2)
EMU_VECTOR4(int, int4)
EMU_VECTOR4(unsigned, uint4)
EMU_VECTOR4(float, float4)
#undef EMU_VECTOR2
#undef EMU_VECTOR4

#include "intrinsics.h"

/* ---- the runtime ---- */

typedef int cudaError_t;
typedef void *cudaStream_t;
enum {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorCooperativeLaunchTooLarge = 720
};
enum cudaLaunchAttributeID {
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {
        int cooperative, programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

enum cudaFuncAttribute { cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
template <typename Kernel> static inline cudaError_t cudaFuncSetAttribute(Kernel *, cudaFuncAttribute, int) {
    return cudaSuccess;
}

static inline cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t) {
    memset(to, byte, bytes);
    return cudaSuccess;
}

/* Gives a parameter the kernel's type: arguments are converted and do not take part in template deduction. */
template <typename T> struct emu_same { typedef T type; };

template <typename... P>
static inline cudaError_t emu_start(void (*kernel)(P...), unsigned blocks, unsigned threads, size_t shared,
                                    bool together, typename emu_same<P>::type... arguments) {
    return emu_launch((const void *)kernel, blocks, threads, shared, together, [=] { kernel(arguments...); });
}

template <typename... P>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...),
                                             typename emu_same<P>::type... arguments) {
    bool together = false;
    for (unsigned a = 0; a < config->numAttrs; a++) {
        together |= config->attrs[a].id == cudaLaunchAttributeCooperative && config->attrs[a].val.cooperative;
    }
    return emu_start<P...>(kernel, config->gridDim.x, config->blockDim.x, config->dynamicSmemBytes, together,
                           arguments...);
}
