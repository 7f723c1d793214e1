/* The kernels of a room's bodies of items. */
#pragma once

#include "each.h"
#include "launch.cuh"

enum { EACH_THREADS = 256 };

/* *to = what the threads of the block found together. */
static __device__ void block_found(const lsp_found &mine, lsp_found *to) {
    __shared__ lsp_found lane[EACH_THREADS];
    lane[threadIdx.x] = mine;
    for (int half = EACH_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) {
            lsp_found_join(&lane[threadIdx.x], &lane[threadIdx.x + half]);
        }
    }
    if (threadIdx.x == 0) {
        *to = lane[0];
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(EACH_THREADS) kernel_found(lsp_found *found, int64_t blocks) {
    lsp_found mine = lsp_found_nothing();
    for (int64_t b = threadIdx.x; b < blocks; b += EACH_THREADS) {
        lsp_found_join(&mine, &found[b]);
    }
    __syncthreads(); /* found[0] was read */
    block_found(mine, found);
}

/* Launches launch(what the blocks find, or NULL) and reads what they found together. */
template <typename LAUNCH>
static lsp_status launch_found(lsp_ctx *ctx, int64_t blocks, lsp_found *found, LAUNCH launch) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_found *there = NULL;
    LSP_TRY(found != NULL ? LSP_SCRATCH_CUDA(ctx, blocks, &there) : LSP_OK);
    LSP_TRY(launch(there));
    if (found != NULL) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_found, 1, EACH_THREADS, 0, there, blocks));
        LSP_TRY(lsp_cuda_read(ctx, found, there, sizeof *found));
    }
    return LSP_OK;
}

/* VAL: the type of values, if it is a constant; ANY. */
enum { ANY = -1 };
template <class BODY, int VAL>
static __global__ void __launch_bounds__(EACH_THREADS)
    kernel_items(const __grid_constant__ typename BODY::arguments a, lsp_kind t, int64_t n, lsp_found *found) {
    t.val = VAL == ANY ? t.val : (lsp_type)VAL;
    lsp_found mine = lsp_found_nothing();
    EACH_ITEM(i, n, EACH_THREADS) { BODY::at(&a, t, i, &mine); }
    if (found != NULL) {
        block_found(mine, &found[blockIdx.x]);
    }
}

template <class BODY, int VAL> static lsp_status launch_items(lsp_ctx *ctx, const lsp_each_job *job) {
    const int64_t blocks =
        job->heavy ? lsp_ceil_div(job->n, EACH_THREADS) : lsp_blocks_for(ctx, job->n, 4 * EACH_THREADS, 16);
    return launch_found(ctx, blocks, job->found, [&](lsp_found *there) {
        return LSP_LAUNCH(ctx, (kernel_items<BODY, VAL>), blocks, EACH_THREADS, 0,
                          *(const typename BODY::arguments *)job->args, job->kind, job->n, there);
    });
}

/* What a line of the list of bodies becomes. */
#define LSP_BODY_STRUCT(name, args)                                                                                    \
    struct name##_struct {                                                                                             \
        typedef args arguments;                                                                                        \
        template <typename... P> static __device__ __forceinline__ auto at(P... p) { return name##_body(p...); }       \
    };
#define LSP_ITEM_CUDA(name, arguments)                                                                                 \
    LSP_BODY_STRUCT(name, arguments)                                                                                   \
    extern "C" lsp_status lsp_body_##name##_cuda(lsp_ctx *ctx, const lsp_each_job *job) {                              \
        return launch_items<name##_struct, ANY>(ctx, job);                                                             \
    }
/* Its values have seldom another type than LSP_F64. */
#define LSP_VALUE_CUDA(name, arguments)                                                                                \
    LSP_BODY_STRUCT(name, arguments)                                                                                   \
    extern "C" lsp_status lsp_body_##name##_cuda(lsp_ctx *ctx, const lsp_each_job *job) {                              \
        return job->kind.val == LSP_F64 ? launch_items<name##_struct, LSP_F64>(ctx, job)                               \
                                        : launch_items<name##_struct, ANY>(ctx, job);                                  \
    }
