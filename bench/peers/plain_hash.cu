// Hash search on the GPU as one writes it: a power of two of slots, twice as many as keys, linear probing, a thread a
// key. Equal keys take a slot each, so a search for all matches goes on to the first free slot.
#include "peers.h"
#include "version.cuh"
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>
#include <stdlib.h>

enum { NT = 256 };

typedef unsigned long long slot; /* key in the upper half, value in the lower; all ones: free */

typedef struct plain_table {
    peer_hash_job job;
    slot *slots, mask;
    void *storage; /* of CUB */
    size_t storage_bytes;
} plain_table;

__device__ inline slot home_of(slot mask, uint32_t key) {
    uint32_t x = (key ^ key >> 16) * 0x85EBCA6Bu;
    x = (x ^ x >> 13) * 0xC2B2AE35u;
    return (x ^ x >> 16) & mask;
}

static __global__ void __launch_bounds__(NT) insert_kernel(plain_table t) {
    const int64_t i = (int64_t)blockIdx.x * NT + threadIdx.x;
    if (i < t.job.n) {
        const slot item = (slot)t.job.keys[i] << 32 | t.job.values[i];
        slot s = home_of(t.mask, t.job.keys[i]);
        while (atomicCAS(t.slots + s, ~0ull, item) != ~0ull) {
            s = (s + 1) & t.mask;
        }
    }
}

static __global__ void __launch_bounds__(NT) find_kernel(plain_table t) {
    const int64_t i = (int64_t)blockIdx.x * NT + threadIdx.x;
    if (i < t.job.probes) {
        const uint32_t key = t.job.searched[i];
        slot s = home_of(t.mask, key), item = t.slots[s];
        while (item != ~0ull && item >> 32 != key) {
            s = (s + 1) & t.mask;
            item = t.slots[s];
        }
        t.job.found[i] = (uint32_t)item;
    }
}

/* Counts the matches, or writes them. */
template <bool WRITE> static __global__ void __launch_bounds__(NT) all_kernel(plain_table t) {
    const int64_t i = (int64_t)blockIdx.x * NT + threadIdx.x;
    if (i == 0 && !WRITE) {
        t.job.offsets[0] = 0;
    }
    if (i < t.job.probes) {
        const uint32_t key = t.job.searched[i];
        int64_t at = WRITE ? t.job.offsets[i] : 0;
        slot s = home_of(t.mask, key);
        for (slot item = t.slots[s]; item != ~0ull; item = t.slots[s]) {
            if (item >> 32 == key) {
                if (WRITE) {
                    t.job.found[at] = (uint32_t)item;
                }
                at++;
            }
            s = (s + 1) & t.mask;
        }
        if (!WRITE) {
            t.job.offsets[i + 1] = at;
        }
    }
}

static const char *words(cudaError_t error) { return error == cudaSuccess ? NULL : cudaGetErrorString(error); }
static cudaStream_t stream_of(const plain_table *t) { return (cudaStream_t)t->job.stream; }
static unsigned blocks_for(int64_t n) { return (unsigned)((n + NT - 1) / NT); }

static void destroy(void *self) {
    plain_table *t = (plain_table *)self;
    cudaFree(t->slots);
    cudaFree(t->storage);
    free(t);
}

static cudaError_t scan(plain_table *t) {
    return cub::DeviceScan::InclusiveSum(t->storage, t->storage_bytes, t->job.offsets + 1, t->job.offsets + 1,
                                         (int)t->job.probes, stream_of(t));
}

static void *prepare(const peer_hash_job *job) {
    plain_table *t = (plain_table *)calloc(1, sizeof *t);
    slot slots = 2;
    while (slots < 2 * (slot)job->n) {
        slots *= 2;
    }
    if (!t) {
        return NULL;
    }
    t->job = *job;
    t->mask = slots - 1;
    if (scan(t) != cudaSuccess || cudaMalloc(&t->storage, t->storage_bytes + 1) != cudaSuccess ||
        cudaMalloc((void **)&t->slots, slots * sizeof *t->slots) != cudaSuccess) {
        destroy(t);
        (void)cudaGetLastError();
        return NULL;
    }
    return t;
}

static const char *build(void *self) {
    plain_table *t = (plain_table *)self;
    const cudaError_t cleared = cudaMemsetAsync(t->slots, 0xFF, (t->mask + 1) * sizeof *t->slots, stream_of(t));
    insert_kernel<<<blocks_for(t->job.n), NT, 0, stream_of(t)>>>(*t);
    return words(cleared == cudaSuccess ? cudaGetLastError() : cleared);
}

static const char *find(void *self) {
    plain_table *t = (plain_table *)self;
    find_kernel<<<blocks_for(t->job.probes), NT, 0, stream_of(t)>>>(*t);
    return words(cudaGetLastError());
}

static const char *all(void *self) {
    plain_table *t = (plain_table *)self;
    all_kernel<false><<<blocks_for(t->job.probes), NT, 0, stream_of(t)>>>(*t);
    const cudaError_t summed = scan(t);
    all_kernel<true><<<blocks_for(t->job.probes), NT, 0, stream_of(t)>>>(*t);
    return words(summed == cudaSuccess ? cudaGetLastError() : summed);
}

static constexpr peer_version VERSION =
    peer_version_of("CUB", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
const peer_hash peer_plain_hash_gpu = {prepare, build, find, all, destroy, VERSION.text};
