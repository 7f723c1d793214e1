/* Samples the indices of a call that the host does not see: how many distinct lines of 128 bytes the accesses of a
 * window touch. The windows are spread evenly. The sum of their counts opens one gate and closes the other, so the host
 * needs no answer. A window is long: a line that takes several accesses of it takes them while the cache holds it. */
#pragma once

#include "core/block.cuh"
#include <stdint.h>

enum { SAMPLE_NT = 1024, SAMPLE_WINDOW = 4096, SAMPLE_WINDOWS = 32, SAMPLE_SLOT_BITS = 13, LINE_BYTES = 128 };
enum { SAMPLE_SLOTS = 1 << SAMPLE_SLOT_BITS, SAMPLE_TRIES = 64 };

/* *count += distinct lines of all windows, one a block: how many enter an open-addressing table. Two lines whose
 * numbers have the same lower 32 bits count as one. */
template <typename I>
static __global__ void __launch_bounds__(SAMPLE_NT)
    kernel_sample(const I *index, int64_t n, unsigned element_bytes, unsigned *count) {
    __shared__ unsigned table[SAMPLE_SLOTS];
    const unsigned empty = ~0u, size = (unsigned)min((int64_t)SAMPLE_WINDOW, n);
    const int64_t first = (n - size) / SAMPLE_WINDOWS * blockIdx.x;
    unsigned entered = 0;
    for (unsigned s = threadIdx.x; s < SAMPLE_SLOTS; s += SAMPLE_NT) {
        table[s] = empty;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < size; i += SAMPLE_NT) {
        const unsigned line = (unsigned)((uint64_t)index[first + i] * element_bytes / LINE_BYTES);
        const unsigned key = line == empty ? 0 : line;
        unsigned slot = key * 0x9E3779B1u >> (32 - SAMPLE_SLOT_BITS), held = key + 1;
        for (int tries = 0; tries < SAMPLE_TRIES && held != empty && held != key; tries++) {
            held = atomicCAS(table + slot, empty, key);
            slot = (slot + 1) % SAMPLE_SLOTS;
        }
        entered += held != key; /* a line that finds no slot counts as a new one */
    }
    const unsigned sum = (unsigned)__reduce_add_sync(~0u, entered);
    if (threadIdx.x % WARP == 0) {
        atomicAdd(count, sum);
    }
}
