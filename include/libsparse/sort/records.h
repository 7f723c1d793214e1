/* libsparse/sort/records.h: sorts an array of records in place, without scratch memory, by a comparison of one's own.
 * C11, or CUDA C++17. It needs no library. The settings, before it is included; several times if wanted:
 *
 *     typedef struct particle { uint32_t cell, id; float x, y; } particle;
 *     #define SORT_NAME sort_particles
 *     #define SORT_RECORD particle    // of at most 32 bytes on a GPU, a multiple of 4; aligned to 16 is faster
 *     #define SORT_BEFORE(a, b) (a.cell != b.cell ? a.cell < b.cell : a.id < b.id)
 *     #include <libsparse/sort/records.h>
 *
 * It defines a function for the host and, in a CUDA file, one for a GPU. The latter starts kernels on the stream, and
 * neither allocates nor waits:
 *
 *     void sort_particles(particle *records, int64_t n, unsigned char *change);
 *     cudaError_t sort_particles_on_gpu(particle *records, int64_t n, unsigned char *change, cudaStream_t stream);
 *
 * change: NULL, or n bytes, which become 1 for the first record and where a record differs from the one before it, and
 * 0 elsewhere. The sort is not stable: it may change the order of equal records. For a stable sort give each record its
 * number, and compare the numbers last. The host sorts with the threads of OpenMP if the file is compiled for it. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#include "slab.cuh"
#define SORT_BOTH static __host__ __device__ __forceinline__
#else
#define SORT_BOTH static inline
#endif
#define SORT_JOIN_NAMES(a, b) a##b
#define SORT_JOIN(a, b) SORT_JOIN_NAMES(a, b)
#define SORT_OF(suffix) SORT_JOIN(SORT_NAME, suffix)

SORT_BOTH bool SORT_OF(_before)(const SORT_RECORD *p, const SORT_RECORD *q) {
    const SORT_RECORD a = *p, b = *q;
    return SORT_BEFORE(a, b);
}

static inline void SORT_OF(_swap)(SORT_RECORD *p, SORT_RECORD *q) {
    const SORT_RECORD x = *p;
    *p = *q;
    *q = x;
}

/* Puts x into the heap of n records whose root is free. */
static inline void SORT_OF(_sift)(SORT_RECORD *records, int64_t root, int64_t n, SORT_RECORD x) {
    for (int64_t child; (child = 2 * root + 1) < n; root = child) {
        child += child + 1 < n && SORT_OF(_before)(&records[child], &records[child + 1]);
        if (!SORT_OF(_before)(&x, &records[child])) {
            break;
        }
        records[root] = records[child];
    }
    records[root] = x;
}
static inline void SORT_OF(_heap)(SORT_RECORD *records, int64_t n) {
    for (int64_t i = n / 2 - 1; i >= 0; i--) {
        SORT_OF(_sift)(records, i, n, records[i]);
    }
    for (int64_t i = n - 1; i > 0; i--) {
        const SORT_RECORD x = records[i];
        records[i] = records[0];
        SORT_OF(_sift)(records, 0, i, x);
    }
}

/* Quicksort by the middle of three; after `depth` poor splits a heap, so that no input is slow. */
static inline void SORT_OF(_part)(SORT_RECORD *records, int64_t n, int depth) {
    while (n > 24) {
        if (depth-- == 0) {
            SORT_OF(_heap)(records, n);
            return;
        }
        SORT_RECORD *const last = records + n - 1, *const middle = records + n / 2;
        if (SORT_OF(_before)(middle, records)) {
            SORT_OF(_swap)(middle, records);
        }
        if (SORT_OF(_before)(last, middle)) {
            SORT_OF(_swap)(last, middle);
            if (SORT_OF(_before)(middle, records)) {
                SORT_OF(_swap)(middle, records);
            }
        }
        const SORT_RECORD pivot = *middle;
        int64_t i = 0, j = n - 1;
        while (i <= j) { /* records before i are not after the pivot, those behind j not before it */
            for (; SORT_OF(_before)(&records[i], &pivot); i++) {
            }
            for (; SORT_OF(_before)(&pivot, &records[j]); j--) {
            }
            if (i <= j) {
                SORT_OF(_swap)(&records[i++], &records[j--]);
            }
        }
#ifdef _OPENMP
#pragma omp task if (j > 10000) firstprivate(records, j, depth)
#endif
        SORT_OF(_part)(records, j + 1, depth);
        records += i;
        n -= i;
    }
    for (int64_t i = 1; i < n; i++) {
        const SORT_RECORD x = records[i];
        int64_t k = i;
        for (; k > 0 && SORT_OF(_before)(&x, &records[k - 1]); k--) {
            records[k] = records[k - 1];
        }
        records[k] = x;
    }
}

static inline void SORT_NAME(SORT_RECORD *records, int64_t n, unsigned char *change) {
    int depth = 2;
    for (int64_t k = n; k > 1; k /= 2) {
        depth += 2;
    }
#ifdef _OPENMP
#pragma omp parallel if (n > 20000)
#pragma omp single
#endif
    SORT_OF(_part)(records, n, depth);
    for (int64_t i = 0; change != NULL && i < n; i++) {
        change[i] = i == 0 || SORT_OF(_before)(&records[i - 1], &records[i]);
    }
}

#ifdef __CUDACC__
struct SORT_OF(_order) {
    typedef SORT_RECORD stored, item;
    enum { is_number = 0 };
    __device__ item of(const stored &x) const { return x; }
    __device__ stored back(const item &x) const { return x; }
    __device__ bool before(const item &a, const item &b) const { return SORT_OF(_before)(&a, &b); }
};
static inline cudaError_t SORT_OF(_on_gpu)(SORT_RECORD *records, int64_t n, unsigned char *change,
                                           cudaStream_t stream) {
    return lsp_slab::sort(records, records, n, change, SORT_OF(_order)(), stream);
}
#endif

#undef SORT_BOTH
#undef SORT_OF
#undef SORT_JOIN
#undef SORT_JOIN_NAMES
#undef SORT_NAME
#undef SORT_RECORD
#undef SORT_BEFORE
