/* What the persistent kernel works on: the matrix cut into column blocks and row chunks, vectors, words of the barrier.
 *
 * Block b of the kernel multiplies the columns of column block b / chunks and the rows of its chunk. Its rows are
 * sorted by length, the longest first, and cut into slices of 32 / lanes rows, so that a warp takes a slice. A step is
 * one entry of each lane of a warp. Four steps make a group, which a warp takes by wide loads; the last steps of a
 * slice, fewer than four, are read one by one. */
#pragma once

#include "core/launch.cuh"
#include "shape.h"

#ifndef RESIDENT_NT
#define RESIDENT_NT RESIDENT_THREADS
#endif
#ifndef RESIDENT_DEPTH
#define RESIDENT_DEPTH 2
#endif
#ifndef RESIDENT_READER_FENCE
#define RESIDENT_READER_FENCE 1
#endif
enum {
    GROUP = 4,              /* steps */
    STEP_BYTES = WARP * 10, /* values of 8 bytes and columns of 2 */
    MOST_BLOCKS = RESIDENT_MOST_BLOCKS
};

/* Device memory that create makes and nobody changes later, but for `val`. */
typedef struct resident_matrix {
    int n, columns, chunks, width; /* width: unknowns of a column block, even */
    int *slice_begin;              /* of blocks + 1: slices */
    int *row_begin;                /* of blocks + 1: positions in `row` */
    int *row;                      /* of each block, the longest first */
    unsigned *step_begin;          /* of slices + 1 */
    unsigned *range;               /* of n: first column block of a row, and the one after its last << 16 */
    unsigned *place;               /* columns * n: slice * (32 / lanes) + row in the slice */
    double *val;                   /* group: [2][32 lanes][2]; single step: [32 lanes] */
    uint16_t *col;                 /* group: [32 lanes][4]; single step: [32 lanes]; counted from the start of the
                                      column block. Padding has the column `width`, where p is 0, and the value 0: so
                                      it adds 0 whatever p holds */
} resident_matrix;

/* A rule of the kernel that is the same for all blocks. */
typedef struct resident_job {
    resident_matrix A;
    int share;                  /* rows that a block owns */
    int dots;                   /* as in lsp_resident_shape */
    bool few;                   /* a block's list of rows is so short that it is in shared memory */
    int rows_most, slices_most; /* of a block */
    int stash_steps;            /* that a block keeps in shared memory */
    int ahead;                  /* groups of a warp's first slice that are called into the L2 cache early */
    bool stream;                /* the matrix is larger than the L2 cache */
    double *partial;            /* columns * n: sums of rows */
    double *news;               /* n: what p is made of: r, or r times the inverse diagonal */
    double *own;                /* 5 n, where rows are not in registers; else NULL */
    ulonglong2 *words;
} resident_job;

struct lsp_resident {
    lsp_ctx *ctx;
    lsp_plan_life life;
    lsp_resident_shape shape;
    resident_job job;
    size_t shared; /* dynamic, bytes */
    int64_t steps, slices, rows;
    void *result; /* on the GPU */
};

/* resident.cu: does the driver run all blocks together? Waits. */
lsp_status resident_try(lsp_ctx *ctx, const lsp_resident *plan);

/* ---- words of memory that other blocks write ---- */

#ifdef __CUDACC__
__device__ inline void resident_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ inline void resident_post(ulonglong2 *word, ull x, ull y) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(word), "l"(x), "l"(y) : "memory");
}
__device__ inline ulonglong2 resident_peek(const ulonglong2 *word) {
    ulonglong2 w;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(w.x), "=l"(w.y) : "l"(word) : "memory");
    return w;
}
/* Reads past the L1 cache, which does not see what other multiprocessors write. */
__device__ inline double2 resident_load2(const double2 *from) { return __ldcg(from); }

/* How the L2 cache treats the matrix: as usual, or as the first to go. */
__device__ inline ull resident_policy(bool stream) {
    ull first, normal;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
    return stream ? first : normal;
}
__device__ inline double2 resident_read(const double2 *from, ull policy) {
    double2 v;
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.f64 {%0, %1}, [%2], %3;"
        : "=d"(v.x), "=d"(v.y)
        : "l"(from), "l"(policy));
    return v;
}
__device__ inline uint2 resident_read(const uint2 *from, ull policy) {
    uint2 v;
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
        : "=r"(v.x), "=r"(v.y)
        : "l"(from), "l"(policy));
    return v;
}
__device__ inline double resident_read(const double *from, ull policy) {
    double v;
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(v) : "l"(from), "l"(policy));
    return v;
}
__device__ inline unsigned resident_read(const uint16_t *from, ull policy) {
    unsigned short v;
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(v) : "l"(from), "l"(policy));
    return v;
}
#else
static inline void resident_fence() { __threadfence(); }
static inline void resident_post(ulonglong2 *word, ull x, ull y) {
    __atomic_store_n(&word->x, x, __ATOMIC_RELEASE);
    __atomic_store_n(&word->y, y, __ATOMIC_RELEASE);
}
static inline ulonglong2 resident_peek(const ulonglong2 *word) {
    ulonglong2 w;
    __nanosleep(0);
    w.x = __atomic_load_n(&word->x, __ATOMIC_ACQUIRE);
    w.y = __atomic_load_n(&word->y, __ATOMIC_ACQUIRE);
    return w;
}
static inline double2 resident_load2(const double2 *from) { return *from; }
static inline ull resident_policy(bool) { return 0; }
template <typename T> static inline T resident_read(const T *from, ull) { return *from; }
#endif
