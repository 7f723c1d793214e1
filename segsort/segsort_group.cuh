/* The lanes that sort a listed segment together: what they know of it, and how its items come to shared memory and
 * leave it in sorted order. */
#ifndef LSP_SEGSORT_GROUP_CUH
#define LSP_SEGSORT_GROUP_CUH

#include "segsort_device.cuh"
#include "segsort_move.cuh"
#include "segsort_network.cuh"

/* A segment at work. It lies in shared memory: registers are for words, and what they do not hold too would come and go
 * through slow local memory. */
struct list_segment {
    int64_t begin, at; /* at: its place in the list */
    int n, from;
    int low, high; /* the bits in which its keys differ are low .. high-1 */
};

/* The lanes that sort a segment together. WIDE: 32 lanes or more, which read keys straight to registers and merge
 * through shared memory; else up to 16, and what a warp's groups do they do in step. */
template <int VT, bool WIDE> struct list_group {
    int G, t; /* lanes, which of them this is */
    volatile list_segment *segment;
    char *items;      /* shared memory: keys, later values; in WIDE groups words on their way */
    uint16_t *places; /* positions in sorted order */
    unsigned long long *warp_or;

    __device__ int id() const { return (int)threadIdx.x / G + 1; } /* of the barrier */
    __device__ void sync() const { WIDE ? group_sync(G, id()) : __syncwarp(); }

    /* The OR of everyone's x: of the segment, or of all that work in step. */
    __device__ unsigned long long all_or(unsigned long long x, bool of_segment) const {
        int lanes = of_segment && !WIDE ? G : (int)WARP;
        for (int mask = 1; mask < lanes; mask *= 2) {
            x |= __shfl_xor_sync(~0u, x, mask);
        }
        if (WIDE && G > WARP) {
            int warp = threadIdx.x / WARP, first = ((int)threadIdx.x - t) / WARP;
            if (threadIdx.x % WARP == 0) {
                warp_or[warp] = x;
            }
            sync();
            x = 0;
            for (int k = 0; k < G / WARP; k++) {
                x |= warp_or[first + k];
            }
            sync();
        }
        return x;
    }
};

/* Shared memory of a group: items with room to lie aligned as in global memory, and places. */
__host__ __device__ inline int list_item_bytes(int key_bytes, int value_bytes) {
    int value = value_bytes > 8 ? 8 : value_bytes;
    return value > key_bytes ? value : key_bytes;
}
__host__ __device__ inline int list_items_bytes(int G, int VT, int item_bytes) {
    return (G * VT + (G < 4 ? 4 : G > 16 ? 16 : G)) * item_bytes;
}
__host__ __device__ inline int list_group_bytes(int G, int VT, int item_bytes) {
    return list_items_bytes(G, VT, item_bytes) + G * VT * 2;
}

/* ---- in and out: a group's lanes move 16 bytes at a time, aligned as global memory is ---- */

/* Where the first item of `from` lies once it is staged. */
template <typename T> __device__ inline const T *staged(const char *shared, const T *from) {
    return (const T *)shared + (uintptr_t)from / sizeof(T) % (16 / sizeof(T));
}
/* from[0..n) on its way to shared memory; returns where its first item comes to lie. */
template <typename T> __device__ inline T *stage(char *shared, const T *from, int n, int t, int G) {
    enum { Q = 16 / sizeof(T) };
    int phase = (int)((uintptr_t)from / sizeof(T) % Q);
    T *to = (T *)shared;
    from -= phase; /* from here on items phase .. phase+n-1 */
    for (int i = t * Q; i < phase + n; i += G * Q) {
        if (i >= phase && i + Q <= phase + n) {
            copy_async((uint4 *)(to + i), (const uint4 *)(from + i));
        } else {
            for (int k = i; k < i + Q; k++) {
                if (k >= phase && k < phase + n) {
                    copy_async(to + k, from + k);
                }
            }
        }
    }
    return to + phase;
}

/* 16 bytes of items that will not be read soon. */
__device__ inline void store_16(uint32_t *to, const uint32_t (&x)[4]) {
    __stcs((uint4 *)to, make_uint4(x[0], x[1], x[2], x[3]));
}
__device__ inline void store_16(unsigned long long *to, const unsigned long long (&x)[2]) {
    __stcs((ulonglong2 *)to, make_ulonglong2(x[0], x[1]));
}
/* to[i] = items[places[i]]. */
template <typename T>
__device__ inline void write_out(T *to, const T *items, const uint16_t *places, int n, int t, int G) {
    enum { Q = 16 / sizeof(T) };
    int phase = (int)((uintptr_t)to / sizeof(T) % Q);
    to -= phase, places -= phase;
#pragma unroll 2
    for (int i = t * Q; i < phase + n; i += G * Q) {
        if (i >= phase && i + Q <= phase + n) {
            T x[Q];
#pragma unroll
            for (int k = 0; k < Q; k++) {
                x[k] = items[places[i + k]];
            }
            store_16(to + i, x);
        } else {
            for (int k = i; k < i + Q; k++) {
                if (k >= phase && k < phase + n) {
                    to[k] = items[places[k]];
                }
            }
        }
    }
}

/* Values of 16 bytes go in two halves of 8. */
template <int VT, bool WIDE>
__device__ inline void write_halves(const seg_job &job, const list_group<VT, WIDE> &g, int part) {
    typedef unsigned long long T;
    const int64_t begin = g.segment->begin;
    const T *from = (const T *)job.arrays[g.segment->from].values + begin * 2 + part;
    T *to = (T *)job.arrays[FROM_OUTPUT].values + begin * 2 + part, *items = (T *)g.items;
    const int n = g.segment->n;
    for (int i = g.t; i < n; i += g.G) {
        items[i] = from[i * 2];
    }
    g.sync();
    for (int i = g.t; i < n; i += g.G) {
        to[i * 2] = items[g.places[i]];
    }
}
template <int VT, bool WIDE, typename T>
__device__ inline void write_whole(const seg_job &job, const list_group<VT, WIDE> &g) {
    const int n = g.segment->n, from = g.segment->from;
    const int64_t begin = g.segment->begin;
    T *to = (T *)job.arrays[FROM_OUTPUT].values + begin, *items = NULL;
    const bool made = job.positions && from == FROM_INPUT; /* buckets of giants have theirs already */
    if (!made) {
        items = stage(g.items, (const T *)job.arrays[from].values + begin, n, g.t, g.G);
    }
    copy_group();
    copy_wait<0>();
    g.sync();
    if (!made) {
        write_out(to, items, g.places, n, g.t, g.G);
    }
    for (int i = g.t; made && i < n; i += g.G) {
        to[i] = (T)((job.global_positions ? begin : 0) + g.places[i]);
    }
}
template <int VT, bool WIDE> __device__ inline void write_values(const seg_job &job, const list_group<VT, WIDE> &g) {
    g.sync();
    if (job.value_bytes == 4) {
        write_whole<VT, WIDE, uint32_t>(job, g);
    } else if (job.value_bytes == 8) {
        write_whole<VT, WIDE, unsigned long long>(job, g);
    } else {
        write_halves(job, g, 0);
        g.sync();
        write_halves(job, g, 1);
    }
}

#endif
