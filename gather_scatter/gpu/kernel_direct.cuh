/* Moves elements one by one. A thread starts MOVE_VT independent reads before it waits for the first: a random read
 * beyond the cache takes some hundred cycles, and only their number hides that. Indices and the array that is not
 * indexed are streams; they are read and written evict-first, so that the indexed array keeps the cache. */
#pragma once

#include "gate.cuh"

enum { MOVE_NT = 256, MOVE_VT = 4, MOVE_CHUNK = MOVE_NT * MOVE_VT };

/* A unit is 1, 2, 4, 8 or 16 bytes, an element one unit or several. */
template <typename U, bool SCATTER> __device__ inline U move_read(const U *from) {
    return SCATTER ? __ldcs(from) : __ldg(from);
}
template <typename U, bool SCATTER, bool ADD> __device__ inline void move_write(U *to, U value) {
    if constexpr (ADD) {
        atomicAdd(to, value);
    } else if constexpr (SCATTER) {
        *to = value;
    } else {
        __stcs(to, value);
    }
}

/* The usual case: whole arrays, an element is one unit. It takes fewer registers than kernel_move, so that more reads
 * are under way. A block moves a chunk of MOVE_NT * MOVE_VT elements. */
template <typename U, typename I, bool SCATTER>
static __global__ void __launch_bounds__(MOVE_NT, sizeof(U) < 16 ? 8 : 6)
    kernel_move_whole(gather_move m, const U *from, U *to) {
    const I *const index = (const I *)m.index.at;
    const int64_t first = (int64_t)blockIdx.x * MOVE_CHUNK + threadIdx.x;
    const int left = (int)min(m.n - first, (int64_t)MOVE_CHUNK);
    int bad = -1;
    I at[MOVE_VT]; /* -1: there is none */
    U value[MOVE_VT];
    if (gate_is_closed(m.gate)) {
        return;
    }
#pragma unroll
    for (int r = 0; r < MOVE_VT; r++) {
        at[r] = r * MOVE_NT < left ? __ldcs(index + first + r * MOVE_NT) : (I)-1;
    }
#pragma unroll
    for (int r = 0; r < MOVE_VT; r++) {
        if ((uint64_t)(int64_t)at[r] < (uint64_t)m.extent) {
            value[r] = move_read<U, SCATTER>(from + (SCATTER ? first + r * MOVE_NT : (int64_t)at[r]));
        }
    }
#pragma unroll
    for (int r = 0; r < MOVE_VT; r++) {
        if ((uint64_t)(int64_t)at[r] < (uint64_t)m.extent) {
            to[SCATTER ? (int64_t)at[r] : first + r * MOVE_NT] = value[r];
        } else if (r * MOVE_NT < left) {
            bad = r * MOVE_NT;
        }
    }
    report_bad(m.fault, bad < 0 ? -1 : first + bad);
}

/* ONE: an element is one unit; otherwise `units` of them. I: the type of an index. */
template <typename U, bool ONE, typename I, bool SCATTER, bool ADD>
static __global__ void __launch_bounds__(MOVE_NT) kernel_move(gather_move m, const U *from, U *to, unsigned units) {
    const unsigned w = ONE ? 1 : units, step = MOVE_NT * MOVE_VT / w;
    const I *index = (const I *)m.index.at;
    int64_t bad = -1;
    if (gate_is_closed(m.gate)) {
        return;
    }
    for (int64_t first = (int64_t)blockIdx.x * step; first < m.n; first += (int64_t)gridDim.x * step) {
        const unsigned count = (unsigned)min((int64_t)step, m.n - first) * w;
        int64_t read[MOVE_VT], write[MOVE_VT] = {};
        U value[MOVE_VT] = {};
#pragma unroll
        for (int r = 0; r < MOVE_VT; r++) {
            const unsigned unit = threadIdx.x + (unsigned)r * MOVE_NT, element = ONE ? unit : unit / w;
            const int64_t k = first + element;
            read[r] = -1;
            if (unit < count) {
                const int64_t i = __ldcs(index + k);
                if ((uint64_t)i - (uint64_t)m.low < (uint64_t)(m.high - m.low)) {
                    read[r] = (SCATTER ? k : i) * w + (unit - element * w);
                    write[r] = (SCATTER ? i : k) * w + (unit - element * w);
                } else if ((uint64_t)i >= (uint64_t)m.extent) {
                    bad = k;
                }
            }
        }
#pragma unroll
        for (int r = 0; r < MOVE_VT; r++) {
            if (read[r] >= 0) {
                value[r] = move_read<U, SCATTER>(from + read[r]);
            }
        }
#pragma unroll
        for (int r = 0; r < MOVE_VT; r++) {
            if (read[r] >= 0) {
                move_write<U, SCATTER, ADD>(to + write[r], value[r]);
            }
        }
    }
    report_bad(m.fault, bad);
}
