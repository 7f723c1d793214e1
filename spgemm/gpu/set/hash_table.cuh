/* A hash table of a row's columns, 32 neighbours a group, in shared memory. A warp adds to it. */
#pragma once

#include "spgemm/gpu/job.cuh"

#define HASH_EMPTY (~0u)

/* 32 neighbouring columns: the key is the column without its last five bits, the marks say which of the 32 occur. */
struct hash_group {
    uint32_t key, marks;
};
template <int BITS> struct hash_table {
    enum { slots = 1 << BITS };
    ull groups[slots]; /* the key in the lower half, the marks in the upper */

    /* Neighbouring keys get neighbouring places, so those of a small range never meet; `factor` shifts the others. */
    __device__ static uint32_t place_of(uint32_t key, uint32_t factor) {
        return (key + (key >> BITS) * factor) & (slots - 1);
    }
    /* Where to go if a place is taken. Keys come in runs of neighbours: a step of 1 would lead through a whole run. */
    __device__ static uint32_t next(uint32_t place) { return (place + 197) & (slots - 1); }
    __device__ hash_group at(uint32_t place) const {
        const ull group = *(const volatile ull *)(groups + place);
        return (hash_group){(uint32_t)group, (uint32_t)(group >> 32)};
    }
    __device__ uint32_t *words(uint32_t place) { return (uint32_t *)(groups + place); }

    __device__ void clear() {
#pragma unroll 4
        for (int i = (int)threadIdx.x % WARP; i < slots / 2; i += WARP) {
            ((uint4 *)groups)[i] = make_uint4(HASH_EMPTY, 0, HASH_EMPTY, 0);
        }
        __syncwarp();
    }
    /* Marks a column, searching from a place on, which becomes that of its group; true if the group is new. The table
     * must not be full. */
    __device__ bool add(uint32_t key, uint32_t bit, uint32_t *place) {
        bool fresh = false;
        for (;; *place = next(*place)) {
            uint32_t here = at(*place).key;
            if (here == HASH_EMPTY) {
                here = atomicCAS(words(*place), HASH_EMPTY, key);
                fresh = here == HASH_EMPTY;
            }
            if (fresh || here == key) {
                break;
            }
        }
        atomicOr(words(*place) + 1, bit);
        return fresh;
    }
};
