// device.h on the CUDA runtime. Every call is checked; the first failure is kept as a sentence.
#include "bench/subjects/segments.cuh"
#include "device.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct bench_device {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    bench_verdict *verdict; /* on the device */
    uint4 *sweep;           /* SWEEP_BYTES, taken by the first sweep */
    cudaDeviceProp properties;
    char error[256], told[256];
};

/* True if the call succeeded. Keeps the sentence of the first failure. */
static bool went(bench_device *d, cudaError_t error, const char *what) {
    if (error != cudaSuccess && !d->error[0]) {
        snprintf(d->error, sizeof d->error, "%s: %s", what, cudaGetErrorString(error));
    }
    return error == cudaSuccess;
}
#define WENT(call) went(d, (call), #call)

static bool prepare(bench_device *d) {
    int devices = 0;
    return WENT(cudaGetDeviceCount(&devices)) && WENT(cudaSetDevice(0)) &&
           WENT(cudaGetDeviceProperties(&d->properties, 0)) &&
           WENT(cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking)) && WENT(cudaEventCreate(&d->begin)) &&
           WENT(cudaEventCreate(&d->end)) && WENT(cudaMalloc((void **)&d->verdict, sizeof *d->verdict));
}

bench_device *bench_device_open(char *why, size_t why_bytes) {
    bench_device *d = (bench_device *)calloc(1, sizeof *d);
    if (!d || !prepare(d)) {
        snprintf(why, why_bytes, "no GPU can be used here: %s", d ? d->error : "out of memory");
        bench_device_close(d);
        return NULL;
    }
    return d;
}

void bench_device_close(bench_device *d) {
    if (d) {
        cudaFree(d->verdict);
        cudaFree(d->sweep);
        if (d->begin) {
            cudaEventDestroy(d->begin);
        }
        if (d->end) {
            cudaEventDestroy(d->end);
        }
        if (d->stream) {
            cudaStreamDestroy(d->stream);
        }
        free(d);
    }
}

void *bench_device_stream(const bench_device *d) { return d->stream; }
const char *bench_device_name(const bench_device *d) { return d->properties.name; }

int bench_device_compute(const bench_device *d) { return 10 * d->properties.major + d->properties.minor; }

const char *bench_device_error(bench_device *d) {
    snprintf(d->told, sizeof d->told, "%s", d->error);
    d->error[0] = 0;
    (void)cudaGetLastError(); /* clears it, or the next launch would report it again */
    return d->told;
}

void *bench_device_alloc(bench_device *d, int64_t bytes) {
    void *memory = NULL;
    return WENT(cudaMalloc(&memory, bytes > 0 ? (size_t)bytes : 1)) ? memory : NULL;
}
void bench_device_free(bench_device *d, void *memory) { WENT(cudaFree(memory)); }
bool bench_device_upload(bench_device *d, void *to, const void *from, int64_t bytes) {
    return WENT(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyHostToDevice, d->stream)) &&
           WENT(cudaStreamSynchronize(d->stream));
}
bool bench_device_download(bench_device *d, void *to, const void *from, int64_t bytes) {
    return WENT(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToHost, d->stream)) &&
           WENT(cudaStreamSynchronize(d->stream));
}
bool bench_device_wipe(bench_device *d, void *memory, int64_t bytes) {
    return WENT(cudaMemsetAsync(memory, 0xFF, (size_t)bytes, d->stream)) && WENT(cudaStreamSynchronize(d->stream));
}

bool bench_device_start(bench_device *d) { return WENT(cudaEventRecord(d->begin, d->stream)); }
double bench_device_stop(bench_device *d) {
    float milliseconds;
    const bool timed = WENT(cudaEventRecord(d->end, d->stream)) && WENT(cudaEventSynchronize(d->end)) &&
                       WENT(cudaStreamSynchronize(d->stream)) &&
                       WENT(cudaEventElapsedTime(&milliseconds, d->begin, d->end));
    return timed ? 1e-3 * (double)milliseconds : -1;
}

void *bench_device_record(bench_device *d, const char *(*work)(void *data), void *data, int times) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t recorded = NULL;
    const char *wrong = NULL;
    bool sound = WENT(cudaStreamBeginCapture(d->stream, cudaStreamCaptureModeThreadLocal));
    for (int k = 0; k < times && sound && !wrong; k++) {
        wrong = work(data);
    }
    sound = sound && WENT(cudaStreamEndCapture(d->stream, &graph)) && !wrong &&
            WENT(cudaGraphInstantiateWithFlags(&recorded, graph, 0));
    if (graph) {
        cudaGraphDestroy(graph);
    }
    return sound ? recorded : NULL;
}
bool bench_device_replay(bench_device *d, void *graph) {
    return WENT(cudaGraphLaunch((cudaGraphExec_t)graph, d->stream));
}
void bench_device_forget(void *graph) {
    if (graph) {
        cudaGraphExecDestroy((cudaGraphExec_t)graph);
    }
}

double bench_device_copy_speed(bench_device *d, bool quick) {
    const int64_t bytes = quick ? (int64_t)256 << 20 : (int64_t)1 << 30;
    void *from = bench_device_alloc(d, bytes), *to = bench_device_alloc(d, bytes);
    double fastest = -1;
    bool sound = from && to && bench_device_wipe(d, from, bytes);
    for (int r = -2; sound && r < 9; r++) { /* the first two warm up */
        sound = bench_device_start(d) &&
                WENT(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToDevice, d->stream));
        const double seconds = bench_device_stop(d);
        sound = sound && seconds > 0;
        fastest = sound && r >= 0 && (fastest < 0 || seconds < fastest) ? seconds : fastest;
    }
    bench_device_free(d, from);
    bench_device_free(d, to);
    return sound ? 2.0 * (double)bytes / fastest : 0;
}

__global__ static void fill(lsp_segsort_args a, bench_keys keys, int64_t draws) {
    each_item(a, [&](int64_t s, int64_t i) {
        bench_put_item(&a, bench_key(keys, draws, (const int32_t *)a.offsets, s, i), i);
    });
}

bool bench_device_fill(bench_device *d, const lsp_segsort_args *a, bench_keys keys, int64_t draws) {
    fill<<<item_blocks(a->n), ITEM_THREADS, 0, d->stream>>>(*a, keys, draws);
    return WENT(cudaGetLastError()) && WENT(cudaStreamSynchronize(d->stream));
}

__device__ static unsigned long long warp_sum(unsigned long long x) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        x += __shfl_xor_sync(0xFFFFFFFF, x, lanes);
    }
    return x;
}

__global__ static void check(lsp_segsort_args a, bool stable, bench_verdict *verdict) {
    unsigned long long in = 0, out = 0;
    each_item(a, [&](int64_t s, int64_t i) {
        const int fault = bench_fault(&a, stable, s, i);
        if (fault != BENCH_NO_FAULT) {
            atomicMin(&verdict->first[fault], (long long)i);
        }
        in += bench_hash(&a, stable, false, s, i);
        out += bench_hash(&a, stable, true, s, i);
    });
    in = warp_sum(in);
    out = warp_sum(out);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&verdict->hash_in, in);
        atomicAdd(&verdict->hash_out, out);
    }
}

bool bench_device_check(bench_device *d, const lsp_segsort_args *a, bool stable, bench_verdict *verdict) {
    *verdict = bench_verdict{{LLONG_MAX, LLONG_MAX, LLONG_MAX}, 0, 0};
    if (!bench_device_upload(d, d->verdict, verdict, sizeof *verdict)) {
        return false;
    }
    check<<<item_blocks(a->n), ITEM_THREADS, 0, d->stream>>>(*a, stable, d->verdict);
    return WENT(cudaGetLastError()) &&
           WENT(cudaMemcpyAsync(verdict, d->verdict, sizeof *verdict, cudaMemcpyDeviceToHost, d->stream)) &&
           WENT(cudaStreamSynchronize(d->stream));
}

/* ---- gather and scatter ---- */

enum { SWEEP_BYTES = 256 << 20 };

__global__ static void fill_moves(bench_move m) {
    for (int64_t i = (int64_t)blockIdx.x * ITEM_THREADS + threadIdx.x; i < m.n;
         i += (int64_t)gridDim.x * ITEM_THREADS) {
        bench_move_put((uint32_t *)m.from, m.bytes, i);
    }
}

bool bench_device_fill_moves(bench_device *d, const bench_move *m) {
    fill_moves<<<item_blocks(m->n), ITEM_THREADS, 0, d->stream>>>(*m);
    return WENT(cudaGetLastError()) && WENT(cudaStreamSynchronize(d->stream));
}

__global__ static void check_moves(bench_move m, unsigned long long *faults) {
    for (int64_t i = (int64_t)blockIdx.x * ITEM_THREADS + threadIdx.x; i < m.n;
         i += (int64_t)gridDim.x * ITEM_THREADS) {
        if (bench_move_fault(&m, i)) {
            atomicAdd(faults, 1ull);
        }
    }
}

bool bench_device_check_moves(bench_device *d, const bench_move *m, long long *faults) {
    unsigned long long *there = &d->verdict->hash_in;
    static_assert(sizeof *there == sizeof *faults, "both are counts of 64 bits");
    if (!WENT(cudaMemsetAsync(there, 0, sizeof *there, d->stream))) {
        return false;
    }
    check_moves<<<item_blocks(m->n), ITEM_THREADS, 0, d->stream>>>(*m, there);
    return WENT(cudaGetLastError()) &&
           WENT(cudaMemcpyAsync(faults, there, sizeof *there, cudaMemcpyDeviceToHost, d->stream)) &&
           WENT(cudaStreamSynchronize(d->stream));
}

__global__ static void hash_words(const uint32_t *words, int64_t count, unsigned long long *sum) {
    unsigned long long own = 0;
    for (int64_t i = (int64_t)blockIdx.x * ITEM_THREADS + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * ITEM_THREADS) {
        own += bench_mix((uint64_t)words[i] << 32 ^ (uint64_t)(i + 1) * BENCH_GAMMA);
    }
    own = warp_sum(own);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sum, own);
    }
}

bool bench_device_hash(bench_device *d, const void *memory, int64_t bytes, uint64_t *hash) {
    unsigned long long *there = &d->verdict->hash_in;
    static_assert(sizeof *there == sizeof *hash, "both have 64 bits");
    if (!WENT(cudaMemsetAsync(there, 0, sizeof *there, d->stream))) {
        return false;
    }
    hash_words<<<item_blocks(bytes / 4) + 1, ITEM_THREADS, 0, d->stream>>>((const uint32_t *)memory, bytes / 4, there);
    return WENT(cudaGetLastError()) &&
           WENT(cudaMemcpyAsync(hash, there, sizeof *there, cudaMemcpyDeviceToHost, d->stream)) &&
           WENT(cudaStreamSynchronize(d->stream));
}

__global__ static void sweep(uint4 *memory, int64_t count) {
    unsigned sum = 0;
    for (int64_t i = (int64_t)blockIdx.x * ITEM_THREADS + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * ITEM_THREADS) {
        sum += memory[i].x;
    }
    if (sum == 1) { /* never so, since the memory is zero: keeps the loads */
        memory[0].x = sum;
    }
}

bool bench_device_sweep(bench_device *d) {
    if (!d->sweep && !(WENT(cudaMalloc((void **)&d->sweep, SWEEP_BYTES)) &&
                       WENT(cudaMemsetAsync(d->sweep, 0, SWEEP_BYTES, d->stream)))) {
        return false;
    }
    for (int64_t round = 0; round < 2; round++) {
        sweep<<<1024, ITEM_THREADS, 0, d->stream>>>(d->sweep, SWEEP_BYTES / sizeof(uint4));
    }
    return WENT(cudaGetLastError());
}
