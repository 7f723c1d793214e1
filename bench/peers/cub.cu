// CUB of the CUDA toolkit: its segmented sort (its stable sort is the same code), its segmented radix sort, and its
// radix sort of the whole array by (segment, key), or by key if there is one segment; its merge sort of one segment.
// Their memory is allocated before the timing starts; making the (segment, key) is timed.
#include "bench/subjects/segments.cuh"
#include "peers.h"
#include "version.cuh"
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/version.cuh>
#include <stdlib.h>
#include <type_traits>

typedef struct entry {
    lsp_segsort_args args;
    cudaStream_t stream;
    void *storage; /* of CUB; NULL: the call only computes storage_bytes */
    size_t storage_bytes;
    void *composite[2]; /* (segment, key), unsorted and sorted; NULL: one segment */
    cudaError_t (*sort)(struct entry *e);
} entry;

enum { SEGSORT, SEGRADIX, RADIX, MERGE };

/* Each sort takes keys K with values V, or alone. */
typedef cub::NullType no_values;
template <typename V> constexpr bool alone = std::is_same<V, no_values>::value;

/* The radix sort of n keys of any type, with the values of the entry if it has some. */
template <typename K, typename V> static cudaError_t radix(entry *e, const K *keys, K *keys_out, int bits) {
    const int n = (int)e->args.n; /* an int64_t would make CUB count in 64 bits */
    if constexpr (alone<V>) {
        return cub::DeviceRadixSort::SortKeys(e->storage, e->storage_bytes, keys, keys_out, n, 0, bits, e->stream);
    } else {
        return cub::DeviceRadixSort::SortPairs(e->storage, e->storage_bytes, keys, keys_out, (const V *)e->args.values,
                                               (V *)e->args.values_out, n, 0, bits, e->stream);
    }
}

template <typename C> __global__ static void compose(lsp_segsort_args a, C *composite) {
    const int key_bits = a.key_type == LSP_U64 ? 64 : 32;
    each_item(a, [&](int64_t s, int64_t i) { composite[i] = (C)s << key_bits | bench_number(a.key_type, a.keys, i); });
}

/* keys_out[i] = the key in the lower bits of composite i. */
template <typename K, typename C> __global__ static void take_keys(lsp_segsort_args a, const C *composite) {
    const int64_t i = (int64_t)blockIdx.x * ITEM_THREADS + threadIdx.x;
    if (i < a.n) {
        const K key = (K)composite[i];
        const bool negative = a.key_type == LSP_F32 && key >> 31 == 0;
        ((K *)a.keys_out)[i] = a.key_type != LSP_F32 ? key : negative ? (K)~key : (K)(key ^ (K)1 << 31);
    }
}

template <typename K, typename V, typename C> static cudaError_t radix_composite(entry *e) {
    int bits = 8 * (int)sizeof(K);
    for (int64_t last = e->args.segments - 1; last > 0; last /= 2) {
        bits++;
    }
    C *from = (C *)e->composite[0], *to = (C *)e->composite[1];
    if (e->storage) {
        compose<<<item_blocks(e->args.n), ITEM_THREADS, 0, e->stream>>>(e->args, from);
    }
    return radix<C, V>(e, from, to, bits);
}

template <typename K, typename V> static cudaError_t radix_plain(entry *e) {
    return radix<K, V>(e, (const K *)e->args.keys, (K *)e->args.keys_out, 8 * (int)sizeof(K));
}

template <typename K, typename V> static cudaError_t segsort(entry *e) {
    const K *keys = (const K *)e->args.keys;
    K *keys_out = (K *)e->args.keys_out;
    const int32_t *offsets = (const int32_t *)e->args.offsets;
    if constexpr (alone<V>) {
        return cub::DeviceSegmentedSort::SortKeys(e->storage, e->storage_bytes, keys, keys_out, e->args.n,
                                                  e->args.segments, offsets, offsets + 1, e->stream);
    } else {
        return cub::DeviceSegmentedSort::SortPairs(e->storage, e->storage_bytes, keys, keys_out,
                                                   (const V *)e->args.values, (V *)e->args.values_out, e->args.n,
                                                   e->args.segments, offsets, offsets + 1, e->stream);
    }
}

template <typename K, typename V> static cudaError_t segradix(entry *e) {
    const K *keys = (const K *)e->args.keys;
    K *keys_out = (K *)e->args.keys_out;
    const int32_t *offsets = (const int32_t *)e->args.offsets;
    const int n = (int)e->args.n, segments = (int)e->args.segments, bits = 8 * (int)sizeof(K);
    if constexpr (alone<V>) {
        return cub::DeviceSegmentedRadixSort::SortKeys(e->storage, e->storage_bytes, keys, keys_out, n, segments,
                                                       offsets, offsets + 1, 0, bits, e->stream);
    } else {
        return cub::DeviceSegmentedRadixSort::SortPairs(e->storage, e->storage_bytes, keys, keys_out,
                                                        (const V *)e->args.values, (V *)e->args.values_out, n, segments,
                                                        offsets, offsets + 1, 0, bits, e->stream);
    }
}

struct less {
    template <typename K> __device__ bool operator()(const K &a, const K &b) const { return a < b; }
};
template <typename K, typename V> static cudaError_t merge(entry *e) {
    const K *keys = (const K *)e->args.keys;
    K *keys_out = (K *)e->args.keys_out;
    const int n = (int)e->args.n;
    if constexpr (alone<V>) {
        return cub::DeviceMergeSort::SortKeysCopy(e->storage, e->storage_bytes, keys, keys_out, n, less(), e->stream);
    } else {
        return cub::DeviceMergeSort::SortPairsCopy(e->storage, e->storage_bytes, keys, (const V *)e->args.values,
                                                   keys_out, (V *)e->args.values_out, n, less(), e->stream);
    }
}

/* Picks the function that sorts by `method`; C is the type of a (segment, key). */
template <typename K, typename C, typename V> static void pick(entry *e, int method) {
    e->sort = method == SEGSORT       ? segsort<K, V>
              : method == SEGRADIX    ? segradix<K, V>
              : method == MERGE       ? merge<K, V>
              : e->args.segments == 1 ? radix_plain<K, V>
                                      : radix_composite<K, V, C>;
}
template <typename K, typename C> static void pick_value(entry *e, int method) {
    const size_t bytes = e->args.value_bytes;
    (bytes == 0 ? pick<K, C, no_values> : bytes == 8 ? pick<K, C, uint64_t> : pick<K, C, uint32_t>)(e, method);
}
/* Floats: only what the subjects sort (offers_all). A composite holds their bits as a number. */
static void pick_float(entry *e, int method) {
    e->sort = method == SEGSORT    ? segsort<float, uint32_t>
              : method == SEGRADIX ? segradix<float, uint32_t>
                                   : radix_composite<uint32_t, uint32_t, uint64_t>;
}

static void destroy(void *self) {
    entry *e = (entry *)self;
    cudaFree(e->storage);
    cudaFree(e->composite[0]);
    cudaFree(e->composite[1]);
    free(e);
}

static void *prepare(const lsp_segsort_args *args, void *stream, int method, int64_t *scratch_bytes) {
    entry *e = (entry *)calloc(1, sizeof *e);
    if (!e) {
        return NULL;
    }
    const bool wide = args->key_type == LSP_U64;
    const size_t composite_bytes = method == RADIX && args->segments > 1 ? (size_t)args->n * (wide ? 16 : 8) : 0;
    e->args = *args;
    e->stream = (cudaStream_t)stream;
    if (wide) {
        pick_value<uint64_t, unsigned __int128>(e, method);
    } else if (args->key_type == LSP_F32) {
        pick_float(e, method);
    } else {
        pick_value<uint32_t, uint64_t>(e, method);
    }
    bool sound = e->sort(e) == cudaSuccess;
    for (int i = 0; i < 2 && composite_bytes > 0; i++) {
        sound = sound && cudaMalloc(&e->composite[i], composite_bytes) == cudaSuccess;
    }
    e->storage_bytes = e->storage_bytes > 0 ? e->storage_bytes : 1;
    if (!sound || cudaMalloc(&e->storage, e->storage_bytes) != cudaSuccess) {
        destroy(e);
        (void)cudaGetLastError();
        return NULL;
    }
    *scratch_bytes = (int64_t)(e->storage_bytes + 2 * composite_bytes);
    return e;
}

static const char *words(cudaError_t error) { return error == cudaSuccess ? NULL : cudaGetErrorString(error); }

static const char *sort(void *self) {
    entry *e = (entry *)self;
    return words(e->sort(e));
}

static const char *finish(void *self) {
    const entry *e = (const entry *)self;
    const unsigned blocks = (unsigned)((e->args.n + ITEM_THREADS - 1) / ITEM_THREADS);
    if (e->composite[1] && e->args.key_type == LSP_U64) {
        take_keys<uint64_t><<<blocks, ITEM_THREADS, 0, e->stream>>>(e->args, (unsigned __int128 *)e->composite[1]);
    } else if (e->composite[1]) {
        take_keys<uint32_t><<<blocks, ITEM_THREADS, 0, e->stream>>>(e->args, (uint64_t *)e->composite[1]);
    }
    const cudaError_t launched = cudaGetLastError();
    return words(launched == cudaSuccess ? cudaStreamSynchronize(e->stream) : launched);
}

static void *prepare_segsort(const lsp_segsort_args *args, void *stream, int64_t *scratch_bytes) {
    return prepare(args, stream, SEGSORT, scratch_bytes);
}
static void *prepare_segradix(const lsp_segsort_args *args, void *stream, int64_t *scratch_bytes) {
    return prepare(args, stream, SEGRADIX, scratch_bytes);
}
static void *prepare_radix(const lsp_segsort_args *args, void *stream, int64_t *scratch_bytes) {
    return prepare(args, stream, RADIX, scratch_bytes);
}

static void *prepare_merge(const lsp_segsort_args *args, void *stream, int64_t *scratch_bytes) {
    return prepare(args, stream, MERGE, scratch_bytes);
}

/* No workload has floats alone, or in one segment. A type of items takes long to compile. */
static bool offers_all(const lsp_segsort_args *args) {
    return args->n <= INT32_MAX && (args->key_type != LSP_F32 || (args->value_bytes == 4 && args->segments > 1));
}
/* CUB uses one block for each segment and pass, which is far too slow for short segments. */
static bool offers_long(const lsp_segsort_args *args) { return offers_all(args) && args->n / args->segments >= 500; }

static constexpr peer_version VERSION =
    peer_version_of("CUB", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
const peer_gpu_segments peer_cub_segsort = {offers_all, prepare_segsort, sort, finish, destroy, VERSION.text};
const peer_gpu_segments peer_cub_segradix = {offers_long, prepare_segradix, sort, finish, destroy, VERSION.text};
const peer_gpu_segments peer_cub_radix = {offers_all, prepare_radix, sort, finish, destroy, VERSION.text};
const peer_gpu_segments peer_cub_merge = {offers_all, prepare_merge, sort, finish, destroy, VERSION.text};
