/* The same sorts for arrays on the host, on a GPU: 77 if there is none, 1 on an error, else 0. */
#include "particle.h"

template <typename RECORD, typename SORT>
static int on_gpu(SORT sort, RECORD *records, int64_t n, unsigned char *change) {
    RECORD *there = NULL;
    unsigned char *change_there = NULL;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        return 77;
    }
    const size_t bytes = (size_t)n * sizeof(RECORD);
    const bool done = cudaMalloc(&there, bytes) == cudaSuccess && cudaMalloc(&change_there, (size_t)n) == cudaSuccess &&
                      cudaMemcpy(there, records, bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
                      sort(there, n, change_there, (cudaStream_t)NULL) == cudaSuccess &&
                      cudaMemcpy(records, there, bytes, cudaMemcpyDeviceToHost) == cudaSuccess &&
                      cudaMemcpy(change, change_there, (size_t)n, cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(there);
    cudaFree(change_there);
    return done ? 0 : 1;
}

extern "C" {
int particles_on_gpu(particle *records, int64_t n, unsigned char *change) {
    return on_gpu(sort_particles_on_gpu, records, n, change);
}
int magnitudes_on_gpu(int32_t *records, int64_t n, unsigned char *change) {
    return on_gpu(sort_magnitudes_on_gpu, records, n, change);
}
int triples_on_gpu(triple *records, int64_t n, unsigned char *change) {
    return on_gpu(sort_triples_on_gpu, records, n, change);
}
int events_on_gpu(event *records, int64_t n, unsigned char *change) {
    return on_gpu(sort_events_on_gpu, records, n, change);
}
}
