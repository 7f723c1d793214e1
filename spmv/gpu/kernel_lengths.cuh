/* y = A*x by slices of rows of similar length. Each block owns an equal share of the steps; its warps take slices from
 * a counter. The sectors of x that are read most often lie in shared memory. */
#pragma once

#include "kernel_propagate.cuh"
#include "lengths.cuh"

/* The popular sectors, one after the other: copies of 16 bytes where x has no gaps and the address allows. */
template <typename T>
__device__ inline void lengths_load_popular(const lengths_plan &p, const T *x, int64_t step, T *popular) {
    enum { EACH = LENGTHS_SECTOR / sizeof(T), QUAD = 16 / sizeof(T) };
    const bool aligned = step == 1 && (size_t)x % 16 == 0;
#pragma unroll 4
    for (unsigned q = threadIdx.x; q < p.popular * 2; q += blockDim.x) {
        const int64_t c = (int64_t)p.sector[q / 2] * EACH + q % 2 * QUAD;
        if (aligned && c + QUAD <= p.cols) {
            __pipeline_memcpy_async(popular + q * QUAD, x + c, 16);
        } else {
            for (unsigned i = 0; i < QUAD && c + i < p.cols; i++) {
                popular[q * QUAD + i] = x[(c + i) * step];
            }
        }
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

/* The sum of a lane's entries. */
template <typename V, typename T, bool POPULAR>
__device__ inline T lengths_sum(const lengths_plan &p, const lengths_slice &s, unsigned end, const T *x, int64_t step,
                                const T *popular) {
    enum { U = 8 };
    T sum = 0;
    for (unsigned at = s.at; at < end; at += U) {
        unsigned col[U];
        V val[U];
        T other[U];
#pragma unroll
        for (int u = 0; u < U; u++) {
            const int64_t k = ((int64_t)at + u) * WARP + threadIdx.x % WARP;
            col[u] = at + u < end ? p.col[k] : LENGTHS_NONE;
            val[u] = at + u < end ? spmv_value<V>(p.val, k) : V{};
        }
#pragma unroll
        for (int u = 0; u < U; u++) {
            const bool near = POPULAR && (col[u] & LENGTHS_POPULAR) != 0;
            other[u] = col[u] == LENGTHS_NONE ? 0 : near ? popular[col[u] & ~LENGTHS_POPULAR] : x[col[u] * step];
        }
#pragma unroll
        for (int u = 0; u < U; u++) {
            if (col[u] != LENGTHS_NONE) {
                sum = spmv_add<V, T, true>(LSP_PLUS_TIMES, sum, val[u], other[u]);
            }
        }
    }
    return sum;
}

/* A slice that a warp has taken, and where its steps end. */
typedef struct lengths_turn {
    lengths_slice slice;
    unsigned number, stop;
} lengths_turn;
__device__ inline lengths_turn lengths_take(const lengths_plan &p, unsigned *next, unsigned end) {
    lengths_turn turn = {};
    turn.number = threadIdx.x % WARP == 0 ? atomicAdd(next, 1u) : 0;
    turn.number = __shfl_sync(~0u, turn.number, 0);
    if (turn.number < end) {
        turn.slice = p.slice[turn.number];
        turn.stop = p.slice[turn.number + 1].at;
    }
    return turn;
}

template <typename V, typename T, bool POPULAR>
static __global__ void __launch_bounds__(LENGTHS_NT, 1) kernel_lengths_product(lengths_plan p, spmv_job job) {
    LSP_DYNAMIC_SHARED(shared);
    __shared__ unsigned next;
    T *const popular = (T *)shared;
    const T *const x = (const T *)job.x;
    const int64_t step = job.x_row;
    const unsigned lane = threadIdx.x % WARP, end = p.block_slice[blockIdx.x + 1];
    lsp_let_next_begin();
    if (threadIdx.x == 0) {
        next = p.block_slice[blockIdx.x];
    }
    if (POPULAR) {
        lengths_load_popular(p, x, step, popular);
    }
    __syncthreads();
    for (lengths_turn turn = lengths_take(p, &next, end); turn.number < end;) {
        const lengths_turn now = turn;
        const unsigned r = lane / now.slice.lanes, row = r < now.slice.rows ? p.row[now.slice.slot + r] : 0;
        turn = lengths_take(p, &next, end); /* the next slice's head is on its way meanwhile */
        T sum = lengths_sum<V, T, POPULAR>(p, now.slice, now.stop, x, step, popular);
        for (int half = now.slice.lanes / 2; half > 0; half /= 2) {
            sum += __shfl_xor_sync(~0u, sum, half);
        }
        if (now.slice.piece_of_row) {
            if (lane == 0) {
                ((T *)p.sum)[now.number] = sum;
            }
        } else if (lane % now.slice.lanes == 0 && r < now.slice.rows) {
            spmv_finish<T, true>(job, row, 0, sum, false);
        }
    }
}

/* Adds the pieces of long rows: a thread those of a row with few, a warp those of a row with many. */
template <typename T>
static __global__ void __launch_bounds__(LENGTHS_NT) kernel_lengths_join(lengths_plan p, spmv_job job) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const T *const sums = (const T *)p.sum;
    const unsigned lane = threadIdx.x % WARP;
    lengths_slice s = {};
    unsigned pieces = 0, row = 0;
    if (i < p.slices) {
        s = p.slice[i];
    }
    if (s.piece_of_row && s.piece == 0) {
        pieces = (p.length[s.slot] + LENGTHS_PIECE - 1) / LENGTHS_PIECE;
        row = p.row[s.slot];
    }
    lsp_wait_for_previous();
    if (pieces > 0 && pieces <= LENGTHS_FEW_PIECES) {
        T sum = 0;
#pragma unroll 4
        for (unsigned k = 0; k < pieces; k++) {
            sum += sums[i + k];
        }
        spmv_finish<T, true>(job, row, 0, sum, false);
    }
    for (unsigned many = __ballot_sync(~0u, pieces > LENGTHS_FEW_PIECES); many != 0; many &= many - 1) {
        const int from = __ffs((int)many) - 1;
        const unsigned all = __shfl_sync(~0u, pieces, from);
        const int64_t first = i - lane + from;
        T sum = 0;
        for (unsigned k = lane; k < all; k += WARP) {
            sum += sums[first + k];
        }
        sum = warp_sum(sum);
        if ((int)lane == from) {
            spmv_finish<T, true>(job, row, 0, sum, false);
        }
    }
}
