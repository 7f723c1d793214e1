/* Checks whether an operand is a valid CSR matrix, and hashes its structure. */
#pragma once

#include "report.cuh"

enum { CHECK_NT = 256, STRUCTURE_NT = 1024, STRUCTURE_BLOCKS = 256 };

/* ---- the check ---- */

/* Compares all pairs of neighbouring entries k-1, k, including those that lie in different rows, and then subtracts
 * what the pairs at row starts have added. So no thread needs to know the row of an entry. */
template <typename R, typename C>
__global__ void __launch_bounds__(CHECK_NT)
    kernel_check(const R *rowptr, const C *col, int64_t rows, int64_t cols, int64_t nnz, spg_check *check) {
    int64_t descents = 0, duplicates = 0;
    bool fault = blockIdx.x == 0 && threadIdx.x == 0 && (rowptr[0] != 0 || (int64_t)rowptr[rows] != nnz);
    EACH_ITEM(i, rows, CHECK_NT) {
        const int64_t begin = rowptr[i], end = rowptr[i + 1];
        fault |= begin > end;
        if (begin > 0 && begin < end && begin < nnz) {
            descents -= col[begin - 1] > col[begin];
            duplicates -= col[begin - 1] == col[begin];
        }
    }
    EACH_ITEM(k, nnz, CHECK_NT) {
        const C here = col[k], before = k > 0 ? col[k - 1] : (C)-1;
        fault |= here < 0 || here >= cols;
        descents += before > here;
        duplicates += before == here;
    }
    if (fault) {
        check->fault = 1;
    }
    descents = warp_sum((long long)descents), duplicates = warp_sum((long long)duplicates);
    if (threadIdx.x % WARP == 0 && (descents != 0 || duplicates != 0)) {
        atomicAdd(&check->descents, (ull)descents);
        atomicAdd(&check->duplicates, (ull)duplicates);
    }
}

/* ---- the hash of a structure ---- */

__device__ inline ull mixed(ull x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

/* The row pointers and columns of a matrix as arrays of 32-bit words. */
typedef struct structure_words {
    const uint32_t *rowptr, *col;
    int64_t pointers, columns;
} structure_words;

/* The hash of four words with the key of their place. */
__device__ inline ull quad_hash(uint4 quad, ull key) {
    const ull x = ((quad.x | (ull)quad.y << 32) + key) * 0xD6E8FEB86659FD93ull;
    return mixed((x ^ x >> 32) + (quad.z | (ull)quad.w << 32));
}

/* Adds up the hashes of the quads of words first, first + step, ..., and of the words behind the last quad. */
__device__ inline ull structure_sum(const uint32_t *words, int64_t n, ull seed, int64_t first, int64_t step) {
    const ull spread = 0x9E3779B97F4A7C15ull, next = (ull)step * spread;
    const bool aligned = (uintptr_t)words % sizeof(uint4) == 0;
    ull sum = 0, key = (seed + (ull)first) * spread;
#pragma unroll 2
    for (int64_t i = first; i < n / 4; i += step, key += next) {
        const uint32_t *its = words + 4 * i;
        sum += quad_hash(aligned ? __ldg((const uint4 *)its) : make_uint4(its[0], its[1], its[2], its[3]), key);
    }
    for (int64_t i = n - n % 4; first == 0 && i < n; i++) {
        sum += quad_hash(make_uint4(words[i], 0, 0, 1), (seed + (ull)i) * spread);
    }
    return sum;
}

/* Leaves one sum a block for A, and behind them, unless B is the `same`, one a block for B; their totals are the
 * hashes. Each block hashes a part of both, so that all end together. */
static __global__ void __launch_bounds__(STRUCTURE_NT, 2)
    kernel_structure(structure_words A, structure_words B, bool same, ull *sums) {
    __shared__ ull warp_sums[2][STRUCTURE_NT / WARP];
    const structure_words both[2] = {A, B};
    const int64_t first = (int64_t)blockIdx.x * STRUCTURE_NT + threadIdx.x;
    const int64_t step = (int64_t)STRUCTURE_BLOCKS * STRUCTURE_NT; /* with fewer blocks nobody takes a second step */
#pragma unroll
    for (int m = 0; m < 2; m++) {
        if (m == 0 || !same) {
            const ull sum = structure_sum(both[m].rowptr, both[m].pointers, 1, first, step) +
                            structure_sum(both[m].col, both[m].columns, (ull)1 << 40, first, step);
            ull all;
            block_scan(sum, warp_sums[m], &all);
            if (threadIdx.x == 0) {
                sums[m * gridDim.x + blockIdx.x] = all;
            }
        }
    }
}
