/* Slab sort of keys alone, in place and without scratch (libsparse/sort/slab.cuh), and the report of key changes. */
#include "job.cuh"
#include "libsparse/sort/slab.cuh"

/* Keys as numbers that tell all keys apart: those of lsp_key_order, lowered so that NaNs of either sign come last. */
template <typename K> struct slab_keys {
    typedef K stored;
    typedef K item;
    enum { is_number = 1, TOP = 8 * sizeof(K) - 1 };
    K bias, flip, lower;
    __device__ K of(K key) const { return (key ^ (((K)0 - (key >> TOP)) & flip) ^ bias) - lower; }
    __device__ K back(K number) const {
        const K key = (number + lower) ^ bias;
        return key ^ (((K)0 - (key >> TOP)) & flip);
    }
    __device__ bool before(K a, K b) const { return a < b; }
};

template <typename K> static lsp_status sort_slabs(lsp_ctx *ctx, const lsp_sort_args *args) {
    const lsp_key_order order = slab_make_job(args).order;
    const K lower = order.is_float ? (K)(((K)1 << slab_keys<K>::TOP) - 1 - (K)order.nan_above) : 0;
    const slab_keys<K> keys = {(K)order.bias, (K)order.flip, lower};
    unsigned char *const change = order.is_float ? NULL : args->change; /* NaNs of all bits are equal */
    LSP_TRY(LSP_CUDA_CALL(ctx, lsp_slab::sort((const K *)args->keys, (K *)args->keys_out, args->n, change, keys,
                                              (cudaStream_t)lsp_cuda_stream(ctx))));
    return order.is_float && args->change != NULL ? lsp_sort_mark_changes(ctx, args) : LSP_OK;
}

/* Keys alone, compared by all their bits. A launch has at most 2^31 blocks. */
static int64_t slab_longest(lsp_ctx *, const lsp_sort_args *args) {
    const bool keys_alone = args->value_bytes == 0 && (args->flags & LSP_SORT_EQUAL_ZEROS) == 0 && args->end_bit == 0;
    return keys_alone ? (int64_t)1 << 40 : 0;
}
static int64_t slab_scratch(lsp_ctx *, const lsp_sort_args *) { return 0; }
static lsp_status sort_by_slabs(lsp_ctx *ctx, const lsp_sort_args *args, void *) {
    return lsp_type_bytes(args->key_type) == 8 ? sort_slabs<ull>(ctx, args) : sort_slabs<uint32_t>(ctx, args);
}
const lsp_sort_way lsp_sort_by_slabs = {slab_longest, slab_scratch, sort_by_slabs};

/* ---- changes, after the other methods ---- */

template <typename K>
__global__ void slab_mark_changes(const K *keys, int64_t n, lsp_key_order order, unsigned char *change) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        change[i] = i == 0 || number_of_key(keys[i - 1], order) != number_of_key(keys[i], order);
    }
}
extern "C" lsp_status lsp_sort_mark_changes(lsp_ctx *ctx, const lsp_sort_args *args) {
    enum { THREADS = 256 };
    const lsp_key_order order = slab_make_job(args).order;
    const int64_t blocks = lsp_ceil_div(args->n, THREADS);
    return args->n == 0 ? LSP_OK
           : lsp_type_bytes(args->key_type) == 8
               ? LSP_LAUNCH(ctx, slab_mark_changes<ull>, blocks, THREADS, 0, (const ull *)args->keys_out, args->n,
                            order, args->change)
               : LSP_LAUNCH(ctx, slab_mark_changes<uint32_t>, blocks, THREADS, 0, (const uint32_t *)args->keys_out,
                            args->n, order, args->change);
}
