/* libsparse/sort/slab.cuh: slab sort on a GPU, in place and without scratch memory. CUDA C++17.
 *
 * Each block sorts a tile of the array: its items lie in registers transposed, so that a lane sorts its own by a
 * network; lanes, then warps are merged by flips and halves (bitonic merges whose every exchange puts the smaller item
 * first), between lanes by shuffles, between warps through shared memory. Then runs of tiles are merged in pairs: far
 * exchanges by passes over the array that take up to 32 rows of a run at once, and what is left within a tile by a
 * merge in shared memory. An item that the array lacks counts as larger than all others; it never moves.
 *
 * ORDER says what is sorted, and is given by value:
 *     typedef stored           an item in memory
 *     typedef item             an item in registers, of as many bytes: a multiple of 4, at most 32
 *     item of(stored) const, stored back(item) const
 *     is_number                1: items are unsigned integers, in their order; 0: in the order of `before`
 *     bool before(const item &a, const item &b) const
 * The sort may change the order of equal items.
 *
 * After the patent US 11,740,868 (MacKinnon, System and method for sorting data elements of slabs of registers): slab
 * load, flip and half merges, streaming merges, report of key changes. */
#ifndef LIBSPARSE_SORT_SLAB_CUH
#define LIBSPARSE_SORT_SLAB_CUH

#include "slab_network.cuh"

namespace lsp_slab {

enum { FAR_THREADS = 256 };

/* ---- a tile ---- */

template <typename ORDER, bool WHOLE> struct tile {
    typedef typename ORDER::stored stored;
    typedef typename ORDER::item item;
    typedef held<ORDER, WHOLE> ITEM;
    enum {
        WORDS = sizeof(item) / 4,
        R = slab_rows(WORDS),
        THREADS = slab_threads(WORDS),
        WARPS = THREADS / LANES,
        SLAB = LANES * R,
        SIZE = THREADS * R,
        FAR_ROWS = WORDS == 1 ? 32 : R /* of a far merge */
    };
    static_assert(sizeof(item) % 4 == 0 && sizeof(item) <= 32 && sizeof(item) == sizeof(stored),
                  "an item has 4, 8, .. 32 bytes");

    const ORDER &order;
    uint32_t *shared; /* WORDS x SIZE words */
    int count, t;     /* items of the tile that the array has; the thread */

    static __device__ __forceinline__ ITEM hold(const item &x, bool real) {
        if constexpr (WHOLE) {
            return x;
        } else if constexpr (ORDER::is_number) {
            return real ? x : (item) ~(item)0;
        } else {
            return {x, real};
        }
    }
    /* item e of an array of `left` items */
    static __device__ __forceinline__ ITEM load(const ORDER &order, const stored *items, int64_t e, int64_t left) {
        item x = {};
        if (WHOLE || e < left) {
            x = order.of(items[e]);
        }
        return hold(x, e < left);
    }
    __device__ __forceinline__ void put(int e, const ITEM &x) const {
        words_of<item> words;
        memcpy(words.w, &bare(x), sizeof words.w);
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            shared[k * SIZE + slab_place(e, R)] = words.w[k];
        }
    }
    __device__ __forceinline__ ITEM get(int e) const {
        words_of<item> words;
        item x;
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            words.w[k] = shared[k * SIZE + slab_place(e, R)];
        }
        memcpy(&x, words.w, sizeof words.w);
        return hold(x, e < count);
    }
    __device__ __forceinline__ void put_rows(const ITEM (&v)[R]) const {
#pragma unroll
        for (int r = 0; r < R; r++) {
            put(t * R + r, v[r]);
        }
    }
    __device__ __forceinline__ void get_rows(ITEM (&v)[R]) const {
#pragma unroll
        for (int r = 0; r < R; r++) {
            v[r] = get(t * R + r);
        }
    }

    /* ends a merge of up to a slab: exchanges between lanes `from` apart, and nearer */
    __device__ __forceinline__ void merge_lanes(ITEM (&v)[R], int from) const {
#pragma unroll 1
        for (int mask = from; mask >= 1; mask /= 2) {
#pragma unroll
            for (int r = 0; r < R; r++) {
                keep(order, v[r], shuffle(v[r], mask), (t & mask) != 0);
            }
        }
        merge_rows<R, false>(order, v);
    }
    __device__ __forceinline__ void sort_slab(ITEM (&v)[R]) const {
        sort_rows<1, 1>(order, v);
#pragma unroll 1
        for (int g = 2; g <= LANES; g *= 2) {
            const bool upper = (t & g / 2) != 0;
#pragma unroll
            for (int r = 0; r < R / 2; r++) {
                const ITEM x = shuffle(v[R - 1 - r], g - 1), y = shuffle(v[r], g - 1);
                keep(order, v[r], x, upper);
                keep(order, v[R - 1 - r], y, upper);
            }
            merge_lanes(v, g / 4);
        }
    }

    /* Merges K rows of `step` items in shared memory, in each group of K rows. The run of `run` items begins at
     * `first`; run / R threads share it, and this one is number u of them. */
    template <int K, bool FLIP> __device__ __forceinline__ void columns(int first, int run, int u, int step) const {
#pragma unroll
        for (int j = 0; j < R / K; j++) {
            const int x = u + j * (run / R), c = x & (step - 1), base = first + (x - c) * K;
            ITEM v[K];
#pragma unroll
            for (int a = 0; a < K; a++) {
                v[a] = get(base + a * step + (FLIP && a >= K / 2 ? step - 1 - c : c));
            }
            merge_rows<K, FLIP>(order, v);
#pragma unroll
            for (int a = 0; a < K; a++) {
                put(base + a * step + (FLIP && a >= K / 2 ? step - 1 - c : c), v[a]);
            }
        }
    }
    /* The same over groups of `slabs` slabs; returns the slabs of the groups that are left. */
    template <bool FLIP> __device__ __forceinline__ int halve_slabs(int first, int run, int u, int slabs) const {
        if (slabs == 2) {
            columns<2, FLIP>(first, run, u, SLAB);
        } else if (R == 4 || slabs < 8) {
            columns<4, FLIP>(first, run, u, slabs / 4 * SLAB);
            return slabs / 4;
        } else if (R == 8 || slabs < 16) {
            columns<(R > 4 ? 8 : 4), FLIP>(first, run, u, slabs / 8 * SLAB);
            return slabs / 8;
        } else {
            columns<(R > 8 ? 16 : R), FLIP>(first, run, u, slabs / 16 * SLAB);
            return slabs / 16;
        }
        return 1;
    }
    /* Merges bitonic groups of `slabs` slabs, whose items lie in shared memory, into rows. */
    __device__ __forceinline__ void merge_slabs(ITEM (&v)[R], int first, int run, int u, int slabs) const {
        while (slabs > 1) {
            slabs = halve_slabs<false>(first, run, u, slabs);
            __syncthreads();
        }
        get_rows(v);
        merge_lanes(v, LANES / 2);
    }

    /* v: items in any order. Leaves the sorted tile in shared memory. */
    __device__ __forceinline__ void sort(ITEM (&v)[R]) const {
        sort_slab(v);
#pragma unroll 1
        for (int warps = 2; warps <= WARPS && warps / 2 * SLAB < count; warps *= 2) {
            const int run = warps * SLAB, u = t & (warps * LANES - 1), first = (t - u) * R;
            __syncthreads();
            put_rows(v);
            __syncthreads();
            const int left = halve_slabs<true>(first, run, u, warps);
            __syncthreads();
            merge_slabs(v, first, run, u, left);
        }
        __syncthreads();
        put_rows(v);
        __syncthreads();
    }

    /* Merges the tile, a bitonic sequence in memory. Leaves it sorted in shared memory. */
    __device__ __forceinline__ void merge(const stored *items) const {
        ITEM v[R];
#pragma unroll
        for (int a = 0; a < R; a++) {
            v[a] = load(order, items, a * THREADS + t, count);
        }
        merge_rows<R, false>(order, v);
#pragma unroll
        for (int a = 0; a < R; a++) {
            put(a * THREADS + t, v[a]);
        }
        __syncthreads();
        if constexpr (THREADS >= SLAB) {
            merge_slabs(v, (t & ~(THREADS / R - 1)) * R, THREADS, t & (THREADS / R - 1), THREADS / SLAB);
        } else {
            get_rows(v);
            merge_lanes(v, THREADS / R / 2);
        }
        __syncthreads();
        put_rows(v);
        __syncthreads();
    }

    __device__ __forceinline__ void store(stored *items, unsigned char *change) const {
#pragma unroll 4
        for (int e = t; e < SIZE; e += THREADS) {
            if (WHOLE || e < count) {
                const ITEM x = get(e);
                items[e] = order.back(bare(x));
                if (change != NULL && e > 0) {
                    change[e] = order.before(bare(get(e - 1)), bare(x));
                }
            }
        }
    }
};

/* change[i] of the first items of tiles: does item i differ from the one before it? */
template <typename ORDER>
__global__ void mark_tiles(const typename ORDER::stored *items, int64_t n, int size, unsigned char *change,
                           ORDER order) {
    const int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * size;
    if (i < n) {
        change[i] = i == 0 || order.before(order.of(items[i - 1]), order.of(items[i]));
    }
}

/* MERGE: each tile is a bitonic sequence. */
template <typename ORDER, bool MERGE, bool WHOLE>
__device__ __forceinline__ void do_tile(const typename ORDER::stored *from, typename ORDER::stored *to, int count,
                                        unsigned char *change, const ORDER &order, uint32_t *shared) {
    typedef tile<ORDER, WHOLE> T;
    const T of = {order, shared, count, (int)threadIdx.x};
    if constexpr (MERGE) {
        of.merge(from);
    } else {
        held<ORDER, WHOLE> v[T::R];
        const int lane = of.t & (LANES - 1);
#pragma unroll
        for (int r = 0; r < T::R;
             r++) { /* any order within a slab will do, but items that are lacking stay at the end */
            const int e = WHOLE || ORDER::is_number ? (of.t - lane) * T::R + r * LANES + lane : of.t * T::R + r;
            v[r] = T::load(order, from, e, count);
        }
        of.sort(v);
    }
    of.store(to, change);
}
template <typename ORDER, bool MERGE>
__global__ void __launch_bounds__(slab_threads(sizeof(typename ORDER::item) / 4))
    do_tiles(const typename ORDER::stored *from, typename ORDER::stored *to, int64_t n, unsigned char *change,
             ORDER order) {
    typedef tile<ORDER, true> T;
    __shared__ uint32_t shared[T::WORDS * T::SIZE];
    const int64_t first = (int64_t)blockIdx.x * T::SIZE;
    unsigned char *const marks = change != NULL ? change + first : NULL;
    if (n - first >= T::SIZE) {
        do_tile<ORDER, MERGE, true>(from + first, to + first, T::SIZE, marks, order, shared);
    } else {
        do_tile<ORDER, MERGE, false>(from + first, to + first, (int)(n - first), marks, order, shared);
    }
}

/* ---- far merges ---- */

/* Merges what is K rows of `step` items, a group, to bitonic sequences of `step` items; FLIP: the halves of a group are
 * sorted runs, else it is bitonic. A thread takes column c of a group. */
template <typename ORDER, int K, bool FLIP, bool WHOLE>
__device__ __forceinline__ void do_column(typename ORDER::stored *items, int64_t left, int64_t step, int64_t c,
                                          const ORDER &order) {
    typedef tile<ORDER, WHOLE> T;
    held<ORDER, WHOLE> v[K];
#pragma unroll
    for (int a = 0; a < K; a++) {
        const int64_t e = a * step + (FLIP && a >= K / 2 ? step - 1 - c : c);
        v[a] = T::load(order, items, e, left);
    }
    merge_rows<K, FLIP>(order, v);
#pragma unroll
    for (int a = 0; a < K; a++) {
        const int64_t e = a * step + (FLIP && a >= K / 2 ? step - 1 - c : c);
        if (WHOLE || e < left) {
            items[e] = order.back(bare(v[a]));
        }
    }
}
template <typename ORDER, int K, bool FLIP>
__global__ void __launch_bounds__(FAR_THREADS)
    do_columns(typename ORDER::stored *items, int64_t n, int64_t step, ORDER order) {
    const int64_t x = (int64_t)blockIdx.x * FAR_THREADS + threadIdx.x, c = x & (step - 1), base = (x - c) * K;
    const int64_t left = n - base;
    if (left >= K * step) {
        do_column<ORDER, K, FLIP, true>(items + base, left, step, c, order);
    } else if (left > (FLIP ? K / 2 * step : 0)) {
        do_column<ORDER, K, FLIP, false>(items + base, left, step, c, order);
    }
}

template <typename ORDER, typename... P>
static cudaError_t start(void (*kernel)(P...), int64_t blocks, int threads, cudaStream_t stream, P... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* One pass of K rows or, if K is too many for the levels that are left, of fewer. Halves *step as often as levels were
 * done. */
template <typename ORDER, int K, bool FLIP>
static cudaError_t pass(typename ORDER::stored *items, int64_t n, int64_t *group, int size, const ORDER &order,
                        cudaStream_t stream) {
    if constexpr (K > 2) {
        if (*group / K < size) {
            return pass<ORDER, K / 2, FLIP>(items, n, group, size, order, stream);
        }
    }
    const int64_t step = *group / K, columns = (n + *group - 1) / *group * step;
    *group = step;
    return start<ORDER>(do_columns<ORDER, K, FLIP>, (columns + FAR_THREADS - 1) / FAR_THREADS, FAR_THREADS, stream,
                        items, n, step, order);
}

/* Sorts n items from `from` to `to`, which may be `from`. change: NULL, or n bytes, 1 where an item differs from the
 * one before it, and for the first. Starts kernels on the stream; nothing waits. */
template <typename ORDER>
static cudaError_t sort(const typename ORDER::stored *from, typename ORDER::stored *to, int64_t n,
                        unsigned char *change, const ORDER &order, cudaStream_t stream) {
    typedef tile<ORDER, true> T;
    const int64_t tiles = (n + T::SIZE - 1) / T::SIZE;
    unsigned char *const none = NULL;
    if (n <= 0) {
        return n < 0 ? cudaErrorInvalidValue : cudaSuccess;
    }
    cudaError_t error = start<ORDER>(do_tiles<ORDER, false>, tiles, T::THREADS, stream, from, to, n,
                                     n <= T::SIZE ? change : none, order);
    for (int64_t run = T::SIZE; run < n && error == cudaSuccess; run *= 2) {
        int64_t group = 2 * run;
        error = pass<ORDER, T::FAR_ROWS, true>(to, n, &group, T::SIZE, order, stream);
        while (group > T::SIZE && error == cudaSuccess) {
            error = pass<ORDER, T::FAR_ROWS, false>(to, n, &group, T::SIZE, order, stream);
        }
        if (error == cudaSuccess) {
            error = start<ORDER>(do_tiles<ORDER, true>, tiles, T::THREADS, stream, (const typename ORDER::stored *)to,
                                 to, n, 2 * run >= n ? change : none, order);
        }
    }
    if (error == cudaSuccess && change != NULL) {
        error = start<ORDER>(mark_tiles<ORDER>, (tiles + FAR_THREADS - 1) / FAR_THREADS, FAR_THREADS, stream,
                             (const typename ORDER::stored *)to, n, (int)T::SIZE, change, order);
    }
    return error;
}

} // namespace lsp_slab

#endif
