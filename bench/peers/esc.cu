// C = A*B on a GPU by expand, sort, compress with CUB: write every product to memory, sort all products by (row,
// column), add the products with equal row and column.
#include "peers.h"
#include "version.cuh"
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>
#include <stdio.h>
#include <stdlib.h>

namespace {

enum { THREADS = 256, LANES = 8 }; // a group of lanes expands an entry of A

struct work {
    lsp_csr A, B, C;
    cudaStream_t stream;
    cudaMemPool_t pool; // keeps freed memory, as the library does
    int column_bits, key_bits;
    int64_t live, peak;
    char why[200];
};

bool ran(work *w, cudaError_t error) {
    if (error != cudaSuccess) {
        snprintf(w->why, sizeof w->why, "expand, sort, compress: %s after %lld bytes", cudaGetErrorString(error),
                 (long long)w->live);
        (void)cudaGetLastError();
    }
    return error == cudaSuccess;
}

template <typename T> bool take_memory(work *w, T **memory, int64_t count) {
    *memory = NULL;
    const int64_t bytes = count * (int64_t)sizeof(T);
    w->live += bytes;
    w->peak = w->live > w->peak ? w->live : w->peak;
    return ran(w, cudaMallocAsync((void **)memory, bytes > 0 ? (size_t)bytes : 1, w->stream));
}
template <typename T> void give(work *w, T *memory, int64_t count) {
    if (memory) {
        cudaFreeAsync(memory, w->stream);
    }
    w->live -= count * (int64_t)sizeof(T);
}

// Calls a function of CUB twice: call(NULL, bytes) computes the storage, the second call does the work.
template <typename F> bool with_storage(work *w, F call) {
    size_t bytes = 0;
    char *storage;
    if (!ran(w, call((void *)NULL, bytes))) {
        return false;
    }
    const int64_t taken = bytes > 0 ? (int64_t)bytes : 1;
    const bool sound = take_memory(w, &storage, taken) && ran(w, call((void *)storage, bytes));
    give(w, storage, taken);
    return sound;
}

__global__ void count_row_products(const int32_t *b_rowptr, const int32_t *col, int64_t nnz, int64_t *counts) {
    const int64_t p = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (p <= nnz) {
        counts[p] = p < nnz ? b_rowptr[col[p] + 1] - b_rowptr[col[p]] : 0;
    }
}

__global__ void mark_rows(const int32_t *rowptr, int64_t rows, int32_t *row_of) {
    const int64_t i = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / LANES;
    if (i < rows) {
        for (int p = rowptr[i] + (int)threadIdx.x % LANES; p < rowptr[i + 1]; p += LANES) {
            row_of[p] = (int32_t)i;
        }
    }
}

template <typename V>
__global__ void expand(const int32_t *col, const V *val, const int32_t *row_of, int64_t nnz, const int32_t *b_rowptr,
                       const int32_t *b_col, const V *b_val, const int64_t *first, int column_bits, uint64_t *keys,
                       V *products) {
    const int64_t p = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / LANES;
    if (p < nnz) {
        const int64_t begin = b_rowptr[col[p]], length = b_rowptr[col[p] + 1] - begin;
        const uint64_t row = (uint64_t)row_of[p] << column_bits;
        for (int64_t k = threadIdx.x % LANES; k < length; k += LANES) {
            keys[first[p] + k] = row | (uint64_t)b_col[begin + k];
            products[first[p] + k] = val[p] * b_val[begin + k];
        }
    }
}

__global__ void unpack(const uint64_t *keys, int64_t nnz, int column_bits, int64_t rows, int32_t *rowptr,
                       int32_t *col) {
    const int64_t p = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (p < nnz) {
        col[p] = (int32_t)(keys[p] & (((uint64_t)1 << column_bits) - 1));
    }
    if (p <= nnz) { // p begins this row and the empty rows before it
        const int64_t row = p < nnz ? (int64_t)(keys[p] >> column_bits) : rows;
        for (int64_t i = p > 0 ? (int64_t)(keys[p - 1] >> column_bits) + 1 : 0; i <= row; i++) {
            rowptr[i] = (int32_t)p;
        }
    }
}

unsigned blocks_for(int64_t threads) { return (unsigned)((threads + THREADS - 1) / THREADS); }

bool fetch_number(work *w, int64_t *to, const int64_t *from) {
    return ran(w, cudaMemcpyAsync(to, from, sizeof *to, cudaMemcpyDeviceToHost, w->stream)) &&
           ran(w, cudaStreamSynchronize(w->stream));
}

// first[p]: place of the first product of entry p; first[nnz]: number of products.
bool count(work *w, int64_t *first, int64_t *total) {
    const int64_t nnz = w->A.nnz;
    count_row_products<<<blocks_for(nnz + 1), THREADS, 0, w->stream>>>((int32_t *)w->B.rowptr, (int32_t *)w->A.col, nnz,
                                                                       first);
    return with_storage(w,
                        [&](void *storage, size_t &bytes) {
                            return cub::DeviceScan::ExclusiveSum(storage, bytes, first, nnz + 1, w->stream);
                        }) &&
           fetch_number(w, total, first + nnz);
}

// Sorts the products (keys[0], sums[0]), adds those with equal keys, and makes C from the sums.
template <typename V> bool compress_products(work *w, int64_t total, uint64_t *const keys[2], V *const sums[2]) {
    cub::DoubleBuffer<uint64_t> sorted(keys[0], keys[1]);
    cub::DoubleBuffer<V> sum(sums[0], sums[1]);
    int64_t *found;
    if (!take_memory(w, &found, 1)) {
        return false;
    }
    bool sound = with_storage(w, [&](void *storage, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(storage, bytes, sorted, sum, total, 0, w->key_bits, w->stream);
    });
    sound =
        sound && with_storage(w, [&](void *storage, size_t &bytes) {
            return cub::DeviceReduce::ReduceByKey(storage, bytes, sorted.Current(), sorted.Alternate(), sum.Current(),
                                                  sum.Alternate(), found, ::cuda::std::plus<>(), total, w->stream);
        });
    sound = sound && fetch_number(w, &w->C.nnz, found);
    give(w, found, 1);
    int32_t *rowptr, *col;
    V *val;
    if (!sound || !take_memory(w, &rowptr, w->A.rows + 1)) {
        w->C.nnz = 0;
        return false;
    }
    sound = take_memory(w, &col, w->C.nnz);
    sound = take_memory(w, &val, w->C.nnz) && sound;
    w->C.rowptr = rowptr, w->C.col = col, w->C.val = val;
    if (sound) {
        unpack<<<blocks_for(w->C.nnz + 1), THREADS, 0, w->stream>>>(sorted.Alternate(), w->C.nnz, w->column_bits,
                                                                    w->A.rows, rowptr, col);
        sound = ran(w, cudaMemcpyAsync(val, sum.Alternate(), (size_t)w->C.nnz * sizeof(V), cudaMemcpyDeviceToDevice,
                                       w->stream));
    }
    return sound && ran(w, cudaGetLastError());
}

template <typename V> bool multiply_all(work *w) {
    const lsp_csr *A = &w->A, *B = &w->B;
    int64_t *first, total = 0;
    int32_t *row_of;
    uint64_t *keys[2] = {NULL, NULL};
    V *products[2] = {NULL, NULL};
    bool sound = take_memory(w, &first, A->nnz + 1);
    sound = take_memory(w, &row_of, A->nnz) && sound && count(w, first, &total);
    for (int i = 0; i < 2; i++) {
        sound = take_memory(w, keys + i, total) && sound;
        sound = take_memory(w, products + i, total) && sound;
    }
    if (sound) {
        const int32_t *col = (int32_t *)A->col;
        mark_rows<<<blocks_for(A->rows * LANES), THREADS, 0, w->stream>>>((int32_t *)A->rowptr, A->rows, row_of);
        expand<V><<<blocks_for(A->nnz * LANES), THREADS, 0, w->stream>>>(
            col, (V *)A->val, row_of, A->nnz, (int32_t *)B->rowptr, (int32_t *)B->col, (V *)B->val, first,
            w->column_bits, keys[0], products[0]);
        sound = ran(w, cudaGetLastError()) && compress_products<V>(w, total, keys, products);
    }
    for (int i = 0; i < 2; i++) {
        give(w, keys[i], total);
        give(w, products[i], total);
    }
    give(w, row_of, A->nnz);
    give(w, first, A->nnz + 1);
    return ran(w, cudaStreamSynchronize(w->stream)) && sound;
}

bool esc_multiply(void *self) {
    work *w = (work *)self;
    return w->A.val_type == LSP_F32 ? multiply_all<float>(w) : multiply_all<double>(w);
}

void esc_release(void *self) {
    work *w = (work *)self;
    if (w->C.rowptr) {
        give(w, (int32_t *)w->C.rowptr, w->C.rows + 1);
        give(w, (int32_t *)w->C.col, w->C.nnz);
        give(w, (char *)w->C.val, w->C.nnz * (int64_t)lsp_type_bytes(w->A.val_type));
    }
    w->C.rowptr = w->C.col = w->C.val = NULL;
}

void esc_destroy(void *self) {
    work *w = (work *)self;
    if (w->stream) {
        esc_release(w);
        cudaStreamSynchronize(w->stream);
        cudaStreamDestroy(w->stream);
    }
    if (w->pool) {
        cudaMemPoolTrimTo(w->pool, 0);
    }
    free(w);
}

int bits_for(int64_t count) {
    int bits = 0;
    while (((int64_t)1 << bits) < count) {
        bits++;
    }
    return bits;
}

void *esc_prepare(const peer_factors *f) {
    work *w = (work *)calloc(1, sizeof *w);
    size_t available = 0, total = 0;
    int device = 0;
    if (!w) {
        return NULL;
    }
    w->A = w->C = *f->A;
    w->B = *f->B;
    w->C.cols = f->B->cols;
    w->C.rowptr = w->C.col = w->C.val = NULL;
    w->column_bits = bits_for(f->B->cols);
    w->key_bits = w->column_bits + bits_for(f->A->rows);
    const bool known = ran(w, cudaMemGetInfo(&available, &total));
    uint64_t kept = total / 2; // more goes back to the device, or those who share it would have none
    if (!known || !ran(w, cudaGetDevice(&device)) ||
        !ran(w, cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking)) ||
        !ran(w, cudaDeviceGetDefaultMemPool(&w->pool, device)) ||
        !ran(w, cudaMemPoolSetAttribute(w->pool, cudaMemPoolAttrReleaseThreshold, &kept))) {
        esc_destroy(w);
        return NULL;
    }
    return w;
}

void esc_view(void *self, lsp_csr *C) { *C = ((work *)self)->C; }
const char *esc_why(void *self) { return ((work *)self)->why; }
int64_t esc_peak(void *self) { return ((work *)self)->peak; }

} // namespace

static constexpr peer_version VERSION =
    peer_version_of("CUB", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
const peer_gpu_product peer_esc = {esc_prepare, esc_multiply, esc_view, esc_release,
                                   esc_destroy, esc_why,      esc_peak, VERSION.text};
