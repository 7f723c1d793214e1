/* Moves elements through shared memory by a plan, in two phases. A tile of the source is read into shared memory, and
 * its elements are written in the order (tile, bin) without gaps. Then a bin of the destination takes its elements in
 * runs, one run a tile, puts them in their places in shared memory, and is written without gaps. So no sector of
 * memory is fetched or written for one element alone. */
#pragma once

#include "gate.cuh"
#include <cuda_pipeline_primitives.h>

enum { STAGE_NT = 1024, STAGE_VT = 8 };

/* ---- between global and shared memory: 16 bytes at a time where addresses allow ---- */

template <typename U> __device__ inline void stage_load(U *shared, const U *from, unsigned units) {
    const unsigned quads = (size_t)from % 16 == 0 ? units * (unsigned)sizeof(U) / 16 : 0;
    for (unsigned q = threadIdx.x; q < quads; q += blockDim.x) {
        __pipeline_memcpy_async((uint4 *)shared + q, (const uint4 *)from + q, 16);
    }
    for (unsigned u = quads * 16 / (unsigned)sizeof(U) + threadIdx.x; u < units; u += blockDim.x) {
        shared[u] = __ldcs(from + u);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

template <typename U> __device__ inline void stage_store(U *to, const U *shared, unsigned units) {
    const unsigned quads = (size_t)to % 16 == 0 ? units * (unsigned)sizeof(U) / 16 : 0;
    for (unsigned q = threadIdx.x; q < quads; q += blockDim.x) {
        __stcs((uint4 *)to + q, ((const uint4 *)shared)[q]);
    }
    for (unsigned u = quads * 16 / (unsigned)sizeof(U) + threadIdx.x; u < units; u += blockDim.x) {
        __stcs(to + u, shared[u]);
    }
}

/* ---- phase 1 ---- */

/* The elements of one vector of 16 bytes, and their places. */
template <typename U> struct stage_quad {
    enum { EACH = 16 / sizeof(U) };
    struct alignas(16) values {
        U at[EACH];
    };
    struct alignas(2 * EACH > 16 ? 16 : 2 * EACH) places {
        uint16_t at[EACH];
    };
};

/* staged[k] = tile[place[k]] for begin <= k < end, in vectors; those at both ends may belong to two tiles. */
template <typename U>
__device__ inline void stage_pick(U *staged, const U *tile, const uint16_t *place, int64_t begin, int64_t end) {
    typedef stage_quad<U> quad;
    enum { EACH = quad::EACH, AHEAD = EACH > 8 ? 1 : 4 };
    const int64_t first = begin / EACH, last = (end + EACH - 1) / EACH, stride = blockDim.x;
    for (int64_t q = first + threadIdx.x; q < last; q += AHEAD * stride) {
        typename quad::places p[AHEAD] = {};
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            const int64_t k = (q + r * stride) * EACH;
            if (k >= begin && k + EACH <= end) {
                p[r] = ((const typename quad::places *)place)[q + r * stride];
            }
        }
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            const int64_t k = (q + r * stride) * EACH;
            typename quad::values v;
            if (k >= begin && k + EACH <= end) {
#pragma unroll
                for (int i = 0; i < EACH; i++) {
                    v.at[i] = tile[p[r].at[i]];
                }
                ((typename quad::values *)staged)[q + r * stride] = v;
            } else if (k < end) {
                for (int64_t i = k > begin ? k : begin; i < (k + EACH < end ? k + EACH : end); i++) {
                    staged[i] = tile[place[i]];
                }
            }
        }
    }
}

template <typename U, bool ONE>
static __global__ void __launch_bounds__(STAGE_NT, 1)
    kernel_tiles(gather_stage s, const U *from, U *staged, unsigned units) {
    LSP_DYNAMIC_SHARED(shared);
    U *const tile = (U *)shared;
    const unsigned w = ONE ? 1 : units;
    const int64_t first = (int64_t)blockIdx.x * s.sizes.tile;
    const int64_t begin = s.tile_begin[blockIdx.x], end = s.tile_begin[blockIdx.x + 1];
    stage_load(tile, from + first * w, (unsigned)min((int64_t)s.sizes.tile, s.sources - first) * w);
    __syncthreads();
    if constexpr (ONE) {
        stage_pick(staged, tile, s.place_in_tile, begin, end);
    } else {
        for (int64_t u = begin * w + threadIdx.x; u < end * w; u += blockDim.x) {
            const int64_t k = u / w;
            staged[u] = tile[s.place_in_tile[k] * w + (unsigned)(u - k * w)];
        }
    }
}

/* ---- phase 2 ---- */

/* Puts the elements of a bin in their places. */
template <typename U, bool MARKS>
__device__ inline void stage_place(const gather_stage &s, const U *staged, U *bin, unsigned char *written,
                                   int64_t begin, unsigned count) {
    const gather_runs *const runs = s.runs ? s.runs + begin / 32 + blockIdx.x : NULL;
    const unsigned *const shift = s.runs ? s.shift + (int64_t)blockIdx.x * s.tiles : NULL;
    for (unsigned first = threadIdx.x; first < count; first += STAGE_VT * blockDim.x) {
        unsigned at[STAGE_VT] = {}, place[STAGE_VT] = {};
        gather_runs word[STAGE_VT] = {};
        U value[STAGE_VT] = {};
#pragma unroll
        for (int r = 0; r < STAGE_VT; r++) {
            const unsigned i = first + (unsigned)r * blockDim.x;
            if (i < count) {
                word[r] = runs ? runs[i / 32] : word[r];
                place[r] = __ldcs(s.place_in_bin + begin + i);
            }
        }
#pragma unroll
        for (int r = 0; r < STAGE_VT; r++) {
            const unsigned i = first + (unsigned)r * blockDim.x;
            if (i < count) {
                at[r] = i + (runs ? shift[runs_find(word[r], i)] : (unsigned)begin);
            }
        }
#pragma unroll
        for (int r = 0; r < STAGE_VT; r++) {
            if (first + (unsigned)r * blockDim.x < count) {
                value[r] = runs ? lsp_read_around(staged + at[r]) : __ldcs(staged + at[r]);
            }
        }
#pragma unroll
        for (int r = 0; r < STAGE_VT; r++) {
            if (first + (unsigned)r * blockDim.x < count) {
                bin[place[r]] = value[r];
                if (MARKS) {
                    written[place[r]] = 1;
                }
            }
        }
    }
}

/* The same for elements of w units. */
template <typename U, bool MARKS>
__device__ inline void stage_place_units(const gather_stage &s, const U *staged, U *bin, unsigned char *written,
                                         int64_t begin, unsigned count, unsigned w) {
    const gather_runs *const runs = s.runs ? s.runs + begin / 32 + blockIdx.x : NULL;
    const unsigned *const shift = s.runs ? s.shift + (int64_t)blockIdx.x * s.tiles : NULL;
    for (unsigned u = threadIdx.x; u < count * w; u += blockDim.x) {
        const unsigned i = u / w, part = u % w, place = s.place_in_bin[begin + i];
        const int64_t at = i + (runs ? shift[runs_find(runs[i / 32], i)] : (unsigned)begin);
        bin[place * w + part] = staged[at * w + part];
        if (MARKS && part == 0) {
            written[place] = 1;
        }
    }
}

/* Each place gets the highest of its positions, or -1. */
static __global__ void __launch_bounds__(STAGE_NT, 1) kernel_own(gather_stage s, const unsigned *position, int *owner) {
    LSP_DYNAMIC_SHARED(shared);
    int *const bin = (int *)shared;
    const int64_t first = (int64_t)blockIdx.x * s.sizes.bin;
    const unsigned count = (unsigned)min((int64_t)s.sizes.bin, s.dests - first);
    if (gate_is_closed(s.gate)) {
        return;
    }
    for (unsigned d = threadIdx.x; d < count; d += blockDim.x) {
        bin[d] = -1;
    }
    __syncthreads();
    const int64_t begin = s.bin_begin[blockIdx.x], end = s.bin_begin[blockIdx.x + 1];
#pragma unroll 4
    for (int64_t j = begin + threadIdx.x; j < end; j += blockDim.x) {
        atomicMax(bin + __ldcs(s.place_in_bin + j), (int)__ldcs(position + j));
    }
    __syncthreads();
    stage_store(owner + first, bin, count);
}

/* MARKS: a byte for each place tells whether it is written; the others stay as they are in `to`. */
template <typename U, bool ONE, bool MARKS>
static __global__ void __launch_bounds__(STAGE_NT, 1)
    kernel_bins(gather_stage s, const U *staged, U *to, unsigned units) {
    LSP_DYNAMIC_SHARED(shared);
    U *const bin = (U *)shared;
    const unsigned w = ONE ? 1 : units;
    unsigned char *const written = (unsigned char *)(bin + s.sizes.bin * w);
    const int64_t first = (int64_t)blockIdx.x * s.sizes.bin;
    const unsigned count = (unsigned)min((int64_t)s.sizes.bin, s.dests - first);
    if (gate_is_closed(s.gate)) {
        return;
    }
    if (MARKS) {
        for (unsigned i = threadIdx.x; i < s.sizes.bin / 4; i += blockDim.x) {
            ((unsigned *)written)[i] = 0;
        }
        __syncthreads();
    }
    const int64_t begin = s.bin_begin[blockIdx.x];
    const unsigned moved = (unsigned)(s.bin_begin[blockIdx.x + 1] - begin);
    if constexpr (ONE) {
        stage_place<U, MARKS>(s, staged, bin, written, begin, moved);
    } else {
        stage_place_units<U, MARKS>(s, staged, bin, written, begin, moved, w);
    }
    __syncthreads();
    if (MARKS) {
        for (unsigned u = threadIdx.x; u < count * w; u += blockDim.x) {
            if (written[ONE ? u : u / w]) {
                __stcs(to + first * w + u, bin[u]);
            }
        }
    } else {
        stage_store(to + first * w, bin, count * w);
    }
}
