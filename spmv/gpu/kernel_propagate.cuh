/* The two phases of a product by propagation, and the joining of rows that are cut. Phase 1: persistent blocks hold a
 * slice of x in shared memory, and write product k = val[k] * slice[col[k]] in its place: all other accesses are
 * contiguous. Phase 2: a block gathers the products of a bin into shared memory, in CSR order, and sums its rows. */
#pragma once

#include "propagate.cuh"
#include <cuda_pipeline_primitives.h>

/* ---- phase 1 ---- */

/* slice[i] = x[i * step]; copies of 16 bytes where the address allows. Without waiting. */
template <typename T> __device__ inline void propagate_load_slice(T *slice, const T *x, int64_t step, unsigned n) {
    const unsigned each = 16 / sizeof(T), quads = step == 1 && (size_t)x % 16 == 0 ? n / each : 0;
    for (unsigned q = threadIdx.x; q < quads; q += blockDim.x) {
        __pipeline_memcpy_async(slice + q * each, x + q * each, 16);
    }
    for (unsigned i = quads * each + threadIdx.x; i < n; i += blockDim.x) {
        __pipeline_memcpy_async(slice + i, x + i * step, sizeof(T));
    }
    __pipeline_commit();
}

/* Calls n elements into the L2 cache. */
template <typename T> __device__ inline void propagate_call(const T *x, unsigned n) {
    for (unsigned i = threadIdx.x * (128 / sizeof(T)); i < n; i += blockDim.x * (128 / sizeof(T))) {
        lsp_prefetch(x + i);
    }
}

/* U vectors of 16 bytes of products: their columns and values, loaded ahead. */
template <typename V, typename T, int U> struct propagate_batch {
    enum { EACH = 16 / sizeof(T), ONES = std::is_same<V, spmv_one>::value };
    typedef typename std::conditional<ONES, char, V>::type value;
    spmv_pack<uint16_t, EACH> col[U];
    spmv_pack<value, EACH> val[U];

    __device__ inline void load(const propagation &p, unsigned at, unsigned end) {
#pragma unroll
        for (int u = 0; u < U; u++) {
            const unsigned v = at + threadIdx.x + (unsigned)u * blockDim.x;
            if (v < end) {
                col[u] = ((const spmv_pack<uint16_t, EACH> *)p.col)[v];
                if constexpr (!ONES) {
                    val[u] = ((const spmv_pack<value, EACH> *)p.val)[v];
                }
            }
        }
    }

    __device__ inline void multiply(const propagation &p, const T *slice, unsigned at, unsigned stop) const {
#pragma unroll
        for (int u = 0; u < U; u++) {
            const unsigned v = at + threadIdx.x + (unsigned)u * blockDim.x;
            if (v < stop) {
                spmv_pack<T, EACH> product;
#pragma unroll
                for (int i = 0; i < EACH; i++) {
                    product.at[i] = slice[col[u].at[i]];
                    if constexpr (!ONES) {
                        product.at[i] *= (T)val[u].at[i];
                    }
                }
                ((spmv_pack<T, EACH> *)p.product)[v] = product;
            }
        }
    }
};

/* The slice that contains vector `at`. */
__device__ inline unsigned propagate_find_slice(const propagation &p, unsigned at, unsigned each) {
    return LSP_FIRST(1u, p.slices, s, p.slice_at[s] / each > at) - 1;
}

/* Blocks take equal shares of all vectors. The first vectors of a slice are loaded before the slice has arrived. */
template <typename V, typename T, int U>
static __global__ void __launch_bounds__(PROPAGATE_NT, 1) kernel_propagate(propagation p, const T *x, int64_t step) {
    LSP_DYNAMIC_SHARED(shared);
    T *const slice = (T *)shared;
    typedef propagate_batch<V, T, U> batch;
    const unsigned total = p.slice_at[p.slices] / batch::EACH, each_step = blockDim.x * U;
    unsigned at = (unsigned)((uint64_t)total * blockIdx.x / gridDim.x);
    const unsigned end = (unsigned)((uint64_t)total * (blockIdx.x + 1) / gridDim.x);
    batch next;
    next.load(p, at, end);
    for (unsigned s = propagate_find_slice(p, at, batch::EACH); at < end; s++) {
        const unsigned stop = min(end, p.slice_at[s + 1] / batch::EACH);
        const int64_t first = (int64_t)s * p.columns, left = p.cols - first;
        if (at >= stop) {
            continue;
        }
        propagate_load_slice(slice, x + first * step, step, (unsigned)min((int64_t)p.columns, left));
        if (stop < end && step == 1) {
            propagate_call(x + first + p.columns, (unsigned)min((int64_t)p.columns, left - p.columns));
        }
        __pipeline_wait_prior(0);
        __syncthreads();
        while (at < stop) {
            const batch now = next;
            const unsigned following = min(at + each_step, stop);
            next.load(p, following, end);
            now.multiply(p, slice, at, stop);
            at = following;
        }
        __syncthreads();
    }
}

/* ---- phase 2 ---- */

/* Shared memory of a bin. */
template <typename T> struct propagate_tile {
    T *product;
    gather_runs *runs;
    unsigned *shift, *longer; /* longer: rows that a warp sums */
};
template <typename T> __device__ inline propagate_tile<T> propagate_lay_out(const propagation &p, char *shared) {
    propagate_tile<T> t;
    t.product = (T *)shared;
    t.runs = (gather_runs *)(t.product + p.entries);
    t.shift = (unsigned *)(t.runs + p.entries / 32);
    t.longer = t.shift + p.run_room;
    return t;
}

template <typename U> __device__ inline void propagate_copy(U *shared, const U *from, unsigned n) {
    for (unsigned q = threadIdx.x; q < n * sizeof(U) / 16; q += blockDim.x) {
        __pipeline_memcpy_async((uint4 *)shared + q, (const uint4 *)from + q, 16);
    }
}

/* Copies what finds the products of a bin. Its places, which are read later, and the words of the bin `later` are
 * called into the L2 cache. */
template <typename T>
__device__ inline void propagate_find(const propagation &p, const propagate_tile<T> &t, unsigned later) {
    const int64_t b = blockIdx.x;
    propagate_copy(t.runs, p.runs + b * (p.entries / 32), p.entries / 32);
    propagate_copy(t.shift, p.shift + b * p.run_room, p.run_room);
    __pipeline_commit();
    propagate_call(p.place + b * p.entries, p.entries);
    if (later < p.bins) {
        propagate_call(p.runs + (int64_t)later * (p.entries / 32), p.entries / 32);
        propagate_call(p.shift + (int64_t)later * p.run_room, p.run_room);
    }
}

/* Starts the copies of a bin's products into shared memory, run by run. */
template <typename T>
__device__ inline void propagate_fetch(const propagation &p, const propagate_tile<T> &t, unsigned count) {
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        const unsigned at = i + t.shift[runs_find(t.runs[i / 32], i)];
        __pipeline_memcpy_async(t.product + i, (const T *)p.product + at, sizeof(T));
    }
    __pipeline_commit();
}

/* The bin's sum of row r, counted from its first one; r = -1: of the row that comes from earlier bins. */
template <typename T>
__device__ inline void propagate_put(const propagation &p, const spmv_job &job, int r, int rows, T sum) {
    const lsp_spmv_bin &bin = p.bin[blockIdx.x];
    if (r < 0) {
        ((T *)p.head)[blockIdx.x] = sum;
    } else if (p.cuts_rows && r == rows - 1 && bin.reach > 0) {
        ((T *)p.tail)[blockIdx.x] = sum;
    } else {
        spmv_finish<T, true>(job, bin.row + r, 0, sum, false);
    }
}

/* The entries begin .. end-1, added by `lanes` lanes and then in pairs; the sum is in each of them. */
template <typename T>
__device__ inline T propagate_sum(const propagate_tile<T> &t, const uint16_t *place, unsigned begin, unsigned end,
                                  unsigned lane, unsigned lanes) {
    T sum = 0;
#pragma unroll 4
    for (unsigned k = begin + lane; k < end; k += lanes) {
        sum += t.product[place[k]];
    }
    for (unsigned half = lanes / 2; half > 0; half /= 2) {
        sum += __shfl_xor_sync(~0u, sum, half);
    }
    return sum;
}

/* Where row r of a bin begins and ends; `rows` and more: an empty one. */
typedef struct propagate_bounds {
    unsigned short begin, end;
} propagate_bounds;
__device__ inline propagate_bounds propagate_row(const uint16_t *begin, int r, int rows, unsigned count) {
    propagate_bounds b = {};
    if (r < rows) {
        b.begin = begin[r];
        b.end = (unsigned short)(r + 1 < rows ? begin[r + 1] : count);
    }
    return b;
}

/* LANES lanes sum a row; the long rows are left to whole warps, which take them in any order. Launched without
 * programmatic dependent launch. With it, multiprocessors would keep phase 1's split of shared memory and L1, and this
 * phase needs more L1. */
template <typename T, int LANES>
static __global__ void __launch_bounds__(PROPAGATE_NT, 2) kernel_propagate_rows(propagation p, spmv_job job) {
    enum { AHEAD = 4, LONG = 32 * LANES };
    LSP_DYNAMIC_SHARED(shared);
    __shared__ unsigned longer;
    const propagate_tile<T> t = propagate_lay_out<T>(p, shared);
    propagate_find(p, t, blockIdx.x + p.ahead);
    const int64_t row = p.bin[blockIdx.x].row;
    const unsigned count = p.bin[blockIdx.x + 1].begin - p.bin[blockIdx.x].begin;
    const int rows = (int)(p.bin[blockIdx.x + 1].row - row), groups = (int)blockDim.x / LANES;
    const uint16_t *const begin = p.row_begin + row, *const place = p.place + (int64_t)blockIdx.x * p.entries;
    const unsigned lane = threadIdx.x % LANES;
    propagate_bounds bounds[AHEAD];
    if (threadIdx.x == 0) {
        longer = 0;
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    propagate_fetch(p, t, count);
    for (int a = 0; a < AHEAD; a++) {
        bounds[a] = propagate_row(begin, (int)threadIdx.x / LANES + a * groups, rows, count);
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int first = 0; first < rows; first += AHEAD * groups) {
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int r = first + (int)threadIdx.x / LANES + a * groups;
            propagate_bounds b = bounds[a];
            bounds[a] = propagate_row(begin, r + AHEAD * groups, rows, count);
            const bool is_long = b.end - b.begin > LONG;
            const T sum = propagate_sum(t, place, b.begin, is_long ? b.begin : b.end, lane, LANES);
            if (lane == 0 && is_long) {
                t.longer[atomicAdd(&longer, 1u)] = (unsigned)r;
            } else if (lane == 0 && r < rows) {
                propagate_put<T>(p, job, r, rows, sum);
            }
        }
    }
    __syncthreads();
    for (unsigned k = threadIdx.x / WARP; k < longer + p.cuts_rows; k += blockDim.x / WARP) {
        const int r = k < longer ? (int)t.longer[k] : -1;
        propagate_bounds b = propagate_row(begin, max(r, 0), rows, count);
        b = r >= 0 ? b : propagate_bounds{0, (unsigned short)(rows > 0 ? b.begin : count)};
        const T sum = propagate_sum(t, place, b.begin, b.end, threadIdx.x % WARP, WARP);
        if (threadIdx.x % WARP == 0) {
            propagate_put<T>(p, job, r, rows, sum);
        }
    }
}

/* ---- rows that are cut ---- */

/* A warp takes a bin whose last row goes on, and adds the heads of the bins that it reaches. */
template <typename T>
static __global__ void __launch_bounds__(PROPAGATE_NT) kernel_propagate_join(propagation p, spmv_job job) {
    const unsigned b = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    const unsigned reach = b < p.bins ? p.bin[b].reach : 0;
    T sum = 0;
    for (unsigned k = lane; k < reach; k += WARP) {
        sum += ((const T *)p.head)[b + 1 + k];
    }
    sum = warp_sum(sum);
    if (lane == 0 && reach > 0) {
        spmv_finish<T, true>(job, p.bin[b + 1].row - 1, 0, ((const T *)p.tail)[b] + sum, false);
    }
}
