/* Pairs of points on the GPU as one writes them: one point a thread, tiles of 256 points in shared memory, a histogram
 * a block in shared memory, rows of a matrix counted and then filled. */
#include "peers.h"
#include "version.cuh"
#include <cub/device/device_scan.cuh>
#include <stdlib.h>

typedef unsigned long long u64;
enum { NT = 256 };

typedef struct plain_pairs {
    peer_pairs_job job;
    uint64_t counts[PEER_MOST_BINS]; /* on the host, as is density */
    void *density;
    void *sums; /* on the GPU: counts or densities */
    lsp_csr C;  /* rowptr int64 */
    void *storage;
    size_t storage_bytes;
} plain_pairs;

template <typename T> struct plain_points {
    const T *at[LSP_MOST_DIMENSIONS];
    int n;
    T box, per_box; /* 0: open space */
};

/* Calls take(d2, j) for the pairs of point i with all points from `begin` on, in order. All threads of a block call. */
template <typename T, int D, typename TAKE>
static __device__ __forceinline__ void each_pair(const plain_points<T> &p, int i, int begin, TAKE take) {
    __shared__ T tile[D][NT];
    T mine[D];
#pragma unroll
    for (int k = 0; k < D; k++) {
        mine[k] = i < p.n ? p.at[k][i] : 0;
    }
    for (int first = begin; first < p.n; first += NT) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < D; k++) {
            tile[k][threadIdx.x] = first + (int)threadIdx.x < p.n ? p.at[k][first + threadIdx.x] : 0;
        }
        __syncthreads();
        const int many = min(NT, p.n - first);
#pragma unroll 8
        for (int l = 0; l < many; l++) {
            T d2 = 0;
#pragma unroll
            for (int k = 0; k < D; k++) {
                T d = mine[k] - tile[k][l];
                if (p.box > 0) {
                    d -= p.box * rint(d * p.per_box);
                }
                d2 = k == 0 ? d * d : fma(d, d, d2);
            }
            take(d2, first + l);
        }
    }
}

/* Each pair once: the first blocks have the most work. */
template <typename T>
static __global__ void __launch_bounds__(NT) radii_kernel(plain_points<T> p, double reach, int radii, u64 *counts) {
    const int i = blockIdx.x * NT + threadIdx.x;
    T limits[PEER_MOST_NEAREST];
    unsigned sums[PEER_MOST_NEAREST] = {0};
#pragma unroll
    for (int k = 0; k < PEER_MOST_NEAREST; k++) {
        const T radius = (T)(reach * (k + 1) / radii);
        limits[k] = radius * radius;
    }
    each_pair<T, 3>(p, i, blockIdx.x * NT, [&](T d2, int j) {
        if (radii == 1) {
            sums[0] += d2 <= limits[0] && j > i;
        } else {
#pragma unroll
            for (int k = 0; k < PEER_MOST_NEAREST; k++) {
                sums[k] += d2 <= limits[k] && j > i;
            }
        }
    });
#pragma unroll
    for (int k = 0; k < PEER_MOST_NEAREST; k++) {
        if (k < radii && i < p.n && sums[k] > 0) {
            atomicAdd(counts + k, (u64)sums[k]);
        }
    }
}

template <typename T>
static __global__ void __launch_bounds__(NT) histogram_kernel(plain_points<T> p, T scale, int bins, u64 *counts) {
    __shared__ unsigned histogram[PEER_MOST_BINS];
    const int i = blockIdx.x * NT + threadIdx.x;
    for (int k = threadIdx.x; k < bins; k += NT) {
        histogram[k] = 0;
    }
    each_pair<T, 3>(p, i, blockIdx.x * NT, [&](T d2, int j) {
        const int bin = (int)(sqrt(d2) * scale);
        if (bin < bins && j > i && i < p.n) {
            atomicAdd(histogram + bin, 1u);
        }
    });
    __syncthreads();
    for (int k = threadIdx.x; k < bins; k += NT) {
        if (histogram[k] > 0) {
            atomicAdd(counts + k, (u64)histogram[k]);
        }
    }
}

template <typename T>
static __global__ void __launch_bounds__(NT) hits_kernel(plain_points<T> p, T limit, int64_t *rowptr) {
    const int i = blockIdx.x * NT + threadIdx.x;
    int hits = -1; /* the point itself */
    each_pair<T, 3>(p, i, 0, [&](T d2, int) { hits += d2 <= limit; });
    if (i < p.n) {
        rowptr[i + 1] = hits;
    }
    if (i == 0) {
        rowptr[0] = 0;
    }
}

template <typename T>
static __global__ void __launch_bounds__(NT)
    fill_kernel(plain_points<T> p, T limit, const int64_t *rowptr, int32_t *col, T *val) {
    const int i = blockIdx.x * NT + threadIdx.x;
    int64_t to = i < p.n ? rowptr[i] : 0;
    each_pair<T, 3>(p, i, 0, [&](T d2, int j) {
        if (d2 <= limit && i != j && i < p.n) {
            col[to] = j;
            val[to++] = sqrt(d2);
        }
    });
}

template <typename T, int D>
static __global__ void __launch_bounds__(NT) nearest_kernel(plain_points<T> p, int most, int32_t *col, T *val) {
    const int i = blockIdx.x * NT + threadIdx.x;
    T d2s[PEER_MOST_NEAREST], worst = INFINITY;
    int ids[PEER_MOST_NEAREST], n = 0, last = 0;
    each_pair<T, D>(p, i, 0, [&](T d2, int j) {
        if (d2 < worst && j != i) {
            const int to = n < most ? n++ : last;
            d2s[to] = d2, ids[to] = j;
            if (n == most) {
                last = 0;
                for (int k = 1; k < n; k++) {
                    last = d2s[k] > d2s[last] || (d2s[k] == d2s[last] && ids[k] > ids[last]) ? k : last;
                }
                worst = d2s[last];
            }
        }
    });
    for (int k = 0; k < n && i < p.n; k++) {
        int to = 0;
        for (int q = 0; q < n; q++) {
            to += ids[q] < ids[k];
        }
        col[(int64_t)i * most + to] = ids[k];
        val[(int64_t)i * most + to] = sqrt(d2s[k]);
    }
}

static __device__ __forceinline__ float exp_of(float x) { return __expf(x); }
static __device__ __forceinline__ double exp_of(double x) { return exp(x); }

template <typename T>
static __global__ void __launch_bounds__(NT) density_kernel(plain_points<T> p, T scale, T *density) {
    const int i = blockIdx.x * NT + threadIdx.x;
    T sum = 0;
    each_pair<T, 3>(p, i, 0, [&](T d2, int) { sum += exp_of(d2 * scale); });
    if (i < p.n) {
        density[i] = sum;
    }
}

static __global__ void rows_kernel(int64_t *rowptr, int n, int each) {
    const int i = blockIdx.x * NT + threadIdx.x;
    if (i <= n) {
        rowptr[i] = (int64_t)i * each;
    }
}

static cudaStream_t stream_of(const plain_pairs *p) { return (cudaStream_t)p->job.stream; }

static void release(void *self) {
    plain_pairs *p = (plain_pairs *)self;
    cudaFree(p->C.col);
    cudaFree(p->C.val);
    p->C.col = p->C.val = NULL;
}

static void destroy(void *self) {
    plain_pairs *p = (plain_pairs *)self;
    release(p);
    cudaFree(p->C.rowptr);
    cudaFree(p->sums);
    cudaFree(p->storage);
    free(p->density);
    free(p);
}

static cudaError_t scan(plain_pairs *p) {
    int64_t *counts = (int64_t *)p->C.rowptr + 1;
    return cub::DeviceScan::InclusiveSum(p->storage, p->storage_bytes, counts, counts, (int)p->job.points.n,
                                         stream_of(p));
}

static void *prepare(const peer_pairs_job *job) {
    plain_pairs *p = (plain_pairs *)calloc(1, sizeof *p);
    const int64_t n = job->points.n;
    if (!p) {
        return NULL;
    }
    p->job = *job;
    p->C.rows = p->C.cols = n;
    p->C.rowptr_type = LSP_I64, p->C.col_type = LSP_I32, p->C.val_type = job->points.type;
    p->C.where = LSP_CUDA;
    p->density = malloc((size_t)n * 8 + 1);
    if (!p->density || scan(p) != cudaSuccess || cudaMalloc(&p->storage, p->storage_bytes + 1) != cudaSuccess ||
        cudaMalloc(&p->C.rowptr, (size_t)(n + 1) * 8) != cudaSuccess ||
        cudaMalloc(&p->sums, (size_t)n * 8 + sizeof p->counts) != cudaSuccess) {
        destroy(p);
        (void)cudaGetLastError();
        return NULL;
    }
    return p;
}

static cudaError_t make_entries(plain_pairs *p, size_t item) {
    const cudaError_t error = cudaMalloc(&p->C.col, (size_t)p->C.nnz * 4 + 1);
    return error == cudaSuccess ? cudaMalloc(&p->C.val, (size_t)p->C.nnz * item + 1) : error;
}

template <typename T> static cudaError_t join(plain_pairs *p, plain_points<T> points, unsigned blocks) {
    const T limit = (T)p->job.reach * (T)p->job.reach;
    int64_t *rowptr = (int64_t *)p->C.rowptr;
    hits_kernel<<<blocks, NT, 0, stream_of(p)>>>(points, limit, rowptr);
    cudaError_t error = scan(p);
    if (error == cudaSuccess) {
        error = cudaMemcpyAsync(&p->C.nnz, rowptr + points.n, 8, cudaMemcpyDeviceToHost, stream_of(p));
    }
    error = error == cudaSuccess ? cudaStreamSynchronize(stream_of(p)) : error;
    error = error == cudaSuccess ? make_entries(p, sizeof(T)) : error;
    if (error == cudaSuccess) {
        fill_kernel<<<blocks, NT, 0, stream_of(p)>>>(points, limit, rowptr, (int32_t *)p->C.col, (T *)p->C.val);
    }
    return error;
}

template <typename T> static cudaError_t nearest(plain_pairs *p, plain_points<T> points, unsigned blocks) {
    const int most = points.n - 1 < p->job.bins ? points.n - 1 : p->job.bins;
    p->C.nnz = (int64_t)points.n * most;
    const cudaError_t error = make_entries(p, sizeof(T));
    if (error == cudaSuccess && p->job.points.dimensions == 3) {
        nearest_kernel<T, 3><<<blocks, NT, 0, stream_of(p)>>>(points, most, (int32_t *)p->C.col, (T *)p->C.val);
    } else if (error == cudaSuccess) {
        nearest_kernel<T, 8><<<blocks, NT, 0, stream_of(p)>>>(points, most, (int32_t *)p->C.col, (T *)p->C.val);
    }
    rows_kernel<<<blocks + 1, NT, 0, stream_of(p)>>>((int64_t *)p->C.rowptr, points.n, most);
    return error;
}

template <typename T> static cudaError_t start(plain_pairs *p) {
    const peer_pairs_job *job = &p->job;
    const int bins = job->kind == PEER_PAIRS_COUNT ? 1 : job->bins;
    const unsigned blocks = (unsigned)((job->points.n + NT - 1) / NT);
    plain_points<T> points = {{}, (int)job->points.n, (T)job->box, job->box > 0 ? (T)(1 / job->box) : (T)0};
    for (int k = 0; k < job->points.dimensions; k++) {
        points.at[k] = (const T *)job->points.at[k];
    }
    const size_t bytes = job->kind == PEER_PAIRS_DENSITY ? (size_t)job->points.n * sizeof(T) : (size_t)bins * 8;
    cudaError_t error = cudaMemsetAsync(p->sums, 0, bytes, stream_of(p));
    switch (job->kind) {
    case PEER_PAIRS_COUNT:
    case PEER_PAIRS_RADII:
        radii_kernel<<<blocks, NT, 0, stream_of(p)>>>(points, job->reach, bins, (u64 *)p->sums);
        break;
    case PEER_PAIRS_HISTOGRAM:
    case PEER_PAIRS_GR:
        histogram_kernel<<<blocks, NT, 0, stream_of(p)>>>(points, (T)(bins / job->reach), bins, (u64 *)p->sums);
        break;
    case PEER_PAIRS_JOIN:
        return join(p, points, blocks);
    case PEER_PAIRS_NEAREST:
        return nearest(p, points, blocks);
    default:
        density_kernel<<<blocks, NT, 0, stream_of(p)>>>(points, (T)(-0.5 / (job->reach * job->reach)), (T *)p->sums);
    }
    void *to = job->kind == PEER_PAIRS_DENSITY ? p->density : p->counts;
    return error == cudaSuccess ? cudaMemcpyAsync(to, p->sums, bytes, cudaMemcpyDeviceToHost, stream_of(p)) : error;
}

static const char *run(void *self) {
    plain_pairs *p = (plain_pairs *)self;
    cudaError_t error = p->job.points.type == LSP_F32 ? start<float>(p) : start<double>(p);
    error = error == cudaSuccess ? cudaStreamSynchronize(stream_of(p)) : error;
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

static void view(void *self, const uint64_t **counts, const void **density, lsp_csr *C) {
    plain_pairs *p = (plain_pairs *)self;
    *counts = p->counts;
    *density = p->density;
    *C = p->C;
}

static constexpr peer_version VERSION =
    peer_version_of("CUB", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
const peer_pairs peer_plain_pairs_gpu = {prepare, run, view, release, destroy, VERSION.text};
