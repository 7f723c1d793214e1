/* The lanes that sort a listed segment together: what they know of it, and how its items come to shared memory and
 * leave it in sorted order. */
#ifndef LSP_SEGSORT_GPU_GROUP_CUH
#define LSP_SEGSORT_GPU_GROUP_CUH

#include "bucket.cuh"
#include "job.cuh"

/* A segment at work. It lies in shared memory: registers are for words, and what they do not hold too would come and go
 * through slow local memory. */
struct list_segment {
    int64_t begin, at;       /* at: its place in the list */
    unsigned long long next; /* the entry after it that the group will take, once it has come */
    int n, from;
    int low, high; /* the bits in which its keys differ are low .. high-1 */
};

/* Kinds of groups. Narrow: up to 16 lanes, and what a warp's groups do they do in step. The others: 32 lanes or more,
 * which read keys straight to registers and merge through shared memory. Brief: of any class; they have BRIEF_WORDS. */
enum { LIST_NARROW = 0, LIST_WIDE, LIST_LARGE, LIST_BRIEF };

/* The classes of VT words a lane are first, first + 4, ... last; where lists are brief all are sorted alike. */
__host__ __device__ constexpr int lists_first(int VT, int wide) {
    int c = wide == LIST_LARGE ? LARGE_CLASS : wide == LIST_WIDE ? WIDE_CLASS : 0;
    while (wide != LIST_BRIEF && class_words(c) != VT) {
        c++;
    }
    return c;
}
__host__ __device__ constexpr int lists_last(int VT, int wide) {
    int c = (wide == LIST_LARGE ? (int)LIST_CLASSES : wide ? (int)LARGE_CLASS : (int)WIDE_CLASS) - 1;
    while (wide != LIST_BRIEF && class_words(c) != VT) {
        c--;
    }
    return c;
}
/* Lanes of a group, at least and at most; threads of a block. */
__host__ __device__ constexpr int list_fewest(int VT, int wide) {
    return wide == LIST_BRIEF ? (int)WARP : class_lanes(lists_first(VT, wide));
}
__host__ __device__ constexpr int list_most(int VT, int wide) {
    return wide == LIST_BRIEF ? 16 * WARP : class_lanes(lists_last(VT, wide));
}
__host__ __device__ constexpr int list_threads(int VT, int wide) {
    return wide == LIST_NARROW ? 128 : wide == LIST_WIDE ? (VT == 16 ? 512 : 256) : list_most(VT, wide);
}

/* Where place e lies: rows of 32 begin in different banks. */
template <int VT, int WIDE> __host__ __device__ inline int place_at(int e) {
    return WIDE && VT == 32 ? e + e / 64 * 8 : e;
}

/* The lanes that sort a segment together; WIDE: of which kind. */
template <int VT, int WIDE> struct list_group {
    int G, t; /* lanes, which of them this is */
    volatile list_segment *segment;
    char *items;      /* shared memory: keys, later values; in WIDE groups words on their way */
    uint16_t *places; /* positions in sorted order */
    unsigned long long *warp_or;

    __device__ int id() const { return (int)threadIdx.x / G + 1; } /* of the barrier */
    static constexpr bool many = list_fewest(VT, WIDE) > WARP;     /* they are several warps, whatever the class */
    __device__ bool is_many() const { return WIDE && (many || G > WARP); }
    __device__ void sync() const { is_many() ? lsp_barrier(id(), G) : __syncwarp(); }

    __device__ uint16_t &place(int e) const { return places[place_at<VT, WIDE>(e)]; }

    /* The OR of everyone's x: of the segment, or of all that work in step. */
    template <typename T> __device__ T all_or(T x, bool of_segment) const {
        if (WIDE || !of_segment) {
            x = sizeof(T) > 4
                    ? (T)__reduce_or_sync(~0u, (uint32_t)((unsigned long long)x >> 32)) << (sizeof(T) * 8 - 32) |
                          __reduce_or_sync(~0u, (uint32_t)x)
                    : (T)__reduce_or_sync(~0u, (uint32_t)x);
        } else {
            for (int mask = 1; mask < G; mask *= 2) {
                x |= __shfl_xor_sync(~0u, x, mask);
            }
        }
        if (is_many()) {
            int warp = threadIdx.x / WARP, first = ((int)threadIdx.x - t) / WARP;
            if (threadIdx.x % WARP == 0) {
                warp_or[warp] = x;
            }
            sync();
            x = 0;
            for (int k = 0; k < G / WARP; k++) {
                x |= (T)warp_or[first + k];
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
template <int VT, int WIDE> __host__ __device__ inline int list_group_bytes(int G, int item_bytes) {
    const int places = list_items_bytes(G, VT, item_bytes) + place_at<VT, WIDE>(G * VT) * 2;
    const int spread = WIDE ? spread_bytes(VT, G) : 0;
    return places > spread ? places : spread;
}

/* ---- the items of a lane: t, t + G, t + 2G, ... ---- */

/* Those of n items that are there: where SURE the first rows are, so that only the last ones need be asked for. */
template <int VT, int LANES, bool SURE> struct group_rows {
    enum { sure = !SURE ? 0 : VT < 16 ? VT - 2 : VT < 32 ? VT - 4 : VT - 8 };
    int left, lanes;
    __device__ int at(int r) const { return r * (LANES > 0 ? LANES : lanes); }
    __device__ bool has(int r) const { return r < sure || left > at(r); }
};

/* f of the number of lanes as a constant. */
template <int N> struct constant {
    enum { value = N };
};
template <int LEAST, int MOST, typename F> __device__ inline void with_lanes(int G, F f) {
    if (LEAST == MOST || G == LEAST) {
        f(constant<LEAST>());
    } else if constexpr (LEAST < MOST) {
        with_lanes<2 * LEAST, MOST>(G, f);
    }
}
/* f of the rows of n items, of which this lane has the `first` of each: mostly n is what the class lets expect. */
template <int VT, int WIDE, typename F>
__device__ inline void with_rows(const list_group<VT, WIDE> &g, int n, int first, F f) {
    const bool expected = n >= group_rows<VT, 0, true>::sure * g.G;
    if constexpr (WIDE == LIST_BRIEF) { /* any n */
        f(group_rows<VT, 0, false>{n - first, fresh(g.G)});
    } else if (WIDE ? expected : __all_sync(~0u, expected)) {
        with_lanes<list_fewest(VT, WIDE), list_most(VT, WIDE)>(g.G, [&](auto lanes) {
            f(group_rows<VT, decltype(lanes)::value, true>{n - first, 0});
        });
    } else {
        f(group_rows<VT, 0, false>{n - first, fresh(g.G)});
    }
}
template <int VT, int WIDE, typename F> __device__ inline void with_rows(const list_group<VT, WIDE> &g, int n, F f) {
    with_rows(g, n, g.t, f);
}

/* ---- in and out: a group's lanes read 16 bytes at a time, aligned as global memory is, and those that share one of
 * its sectors, of 32 bytes, do so at the same time ---- */

enum { SECTOR = 32 };

/* Where the first item of `from` lies once it is staged. */
template <typename T> __device__ inline T *staged(char *shared, const T *from) {
    return (T *)shared + (uintptr_t)from / sizeof(T) % (16 / sizeof(T));
}
/* n items of an array, of `all`, from `begin` on, on their way to shared memory; returns where the first one comes to
 * lie. A narrow group takes along what shares the first and the last 16 bytes, where that is of the array too. */
template <int VT, int WIDE, typename T>
__device__ inline T *stage(const list_group<VT, WIDE> &g, const T *array, int64_t all, int64_t begin, int n) {
    enum { Q = 16 / sizeof(T) };
    const T *from = array + begin;
    T *to = staged(g.items, from);
    int head = min((int)((0 - (uintptr_t)from / sizeof(T)) % Q), n), whole = (n - head) / Q, rest = head + whole * Q;
    if (!WIDE && begin >= Q && begin + n + Q <= all) {
        const int before = (int)((uintptr_t)from / sizeof(T) % Q);
        head = -before, whole = (before + n + Q - 1) / Q, rest = n;
    }
    const int at = g.t - (WIDE ? 0 : (int)((uintptr_t)(from + head) / 16 % (SECTOR / 16)));
    uint4 *place = (uint4 *)(to + head) + at;
    const uint4 *four = (const uint4 *)(from + head) + at;
#pragma unroll 4
    for (int left = whole - at; left > 0; left -= g.G, place += g.G, four += g.G) {
        if (WIDE || left <= whole) {
            copy_async(place, four);
        }
    }
    if (g.t < head) {
        copy_async(to + g.t, from + g.t);
    }
    if (g.t < n - rest) {
        copy_async(to + rest + g.t, from + rest + g.t);
    }
    return to;
}

/* Brings from[0..n) near. */
template <int VT, int WIDE> __device__ inline void bring(const list_group<VT, WIDE> &g, const char *from, int bytes) {
    enum { line = 128 };
    for (int i = g.t * line; i < bytes; i += g.G * line) {
        lsp_prefetch(from + i);
    }
}

/* And what the output shares with its neighbours. */
template <int VT, int WIDE>
__device__ inline void bring_borders(const seg_job &job, const list_group<VT, WIDE> &g, int key_bytes) {
    const seg_arrays &to = job.arrays[FROM_OUTPUT];
    const int64_t border = g.segment->begin + (g.t % 2 ? g.segment->n : 0);
    if (g.t < 2) {
        lsp_prefetch_border((const char *)to.keys + border * key_bytes);
    } else if (g.t < 4 && job.value_bytes > 0) {
        lsp_prefetch_border((const char *)to.values + border * job.value_bytes);
    }
}

/* 16 bytes of items that will not be read soon. */
__device__ inline void store_16(uint32_t *to, const uint32_t (&x)[4]) {
    __stcs((uint4 *)to, make_uint4(x[0], x[1], x[2], x[3]));
}
__device__ inline void store_16(unsigned long long *to, const unsigned long long (&x)[2]) {
    __stcs((ulonglong2 *)to, make_ulonglong2(x[0], x[1]));
}
/* to[i] = items[places[i]]: a narrow group writes 16 bytes a lane. */
template <typename T>
__device__ inline void write_out(T *to, const T *items, const uint16_t *places, int n, int t, int G) {
    enum { Q = 16 / sizeof(T) };
    const int before = (int)((uintptr_t)to % SECTOR / sizeof(T));
    const uint32_t last = (uint32_t)(n - 1);
#pragma unroll 2
    for (int i = n > 0 ? t * Q - before : 0; i < n; i += G * Q) {
        T x[Q];
#pragma unroll
        for (int k = 0; k < Q; k++) { /* in the place of what is not there the last one is read */
            x[k] = items[places[min((uint32_t)(i + k), last)]];
        }
        if (i >= 0 && i + Q <= n) {
            store_16(to + i, x);
        } else {
#pragma unroll
            for (int k = 0; k < Q; k++) {
                if ((uint32_t)(i + k) <= last) {
                    __stcs(to + i + k, x[k]);
                }
            }
        }
    }
}
/* A wide one an item a lane, in rows that begin where sectors do (if arrays do), unless that makes a row more. Places,
 * which it reads with the keys (FIRST), stay in registers for the values; what is not there has places too, and is not
 * written. */
template <bool FIRST, int VT, int WIDE, typename T>
__device__ inline void write_rows(const list_group<VT, WIDE> &g, T *to, const T *items, uint32_t (&place)[VT], int n) {
    enum { sweep = 4, shifted = VT < 32 }; /* of 32 words places have gaps */
    const int before = shifted ? (int)g.segment->begin % (SECTOR / 4) : 0;
    const int first = g.t - (n + before <= g.G * VT ? before : 0);
    with_rows(g, n, first, [&](auto rows) {
        const uint16_t *places = g.places + place_at<VT, WIDE>(first);
        T *mine = to + first;
#pragma unroll
        for (int r0 = 0; r0 < VT; r0 += sweep) {
            T x[sweep];
#pragma unroll
            for (int r = r0; r < min(r0 + sweep, VT); r++) {
                if (FIRST) {
                    place[r] = places[shifted && r == 0 ? max(-first, 0) : place_at<VT, WIDE>(rows.at(r))];
                }
                lsp_settle(place[r]); /* what is computed from it is not kept */
                x[r - r0] = items[place[r]];
            }
#pragma unroll
            for (int r = r0; r < min(r0 + sweep, VT); r++) {
                if (rows.has(r) && (!shifted || r > 0 || first >= 0)) {
                    __stcs(mine + rows.at(r), x[r - r0]);
                }
            }
        }
    });
}
template <bool FIRST, int VT, int WIDE, typename T>
__device__ inline void write_staged(const list_group<VT, WIDE> &g, T *to, const T *items, uint32_t (&place)[VT],
                                    int n) {
    if constexpr (WIDE) {
        write_rows<FIRST>(g, to, items, place, n);
    } else {
        write_out(to, items, g.places, n, g.t, g.G);
    }
}

/* Values of 16 bytes go in two halves of 8. */
template <int VT, int WIDE>
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
        to[i * 2] = items[g.place(i)];
    }
}
template <int VT, int WIDE, typename T>
__device__ inline void write_whole(const seg_job &job, const list_group<VT, WIDE> &g, uint32_t (&place)[VT]) {
    const int n = g.segment->n, from = g.segment->from;
    const int64_t begin = g.segment->begin;
    T *to = (T *)job.arrays[FROM_OUTPUT].values + begin, *items = NULL;
    const bool made = job.positions && from == FROM_INPUT; /* buckets of giants have theirs already */
    if (!made) {
        items = stage(g, (const T *)job.arrays[from].values, job.n, begin, n);
    }
    copy_group();
    copy_wait<0>();
    g.sync();
    if (!made) {
        write_staged<false>(g, to, items, place, n);
    }
    for (int i = g.t; made && i < n; i += g.G) {
        to[i] = (T)((job.global_positions ? begin : 0) + g.place(i));
    }
}
template <int VT, int WIDE>
__device__ inline void write_values(const seg_job &job, const list_group<VT, WIDE> &g, uint32_t (&place)[VT]) {
    g.sync();
    if (job.value_bytes == 4) {
        write_whole<VT, WIDE, uint32_t>(job, g, place);
    } else if (job.value_bytes == 8) {
        write_whole<VT, WIDE, unsigned long long>(job, g, place);
    } else {
        write_halves(job, g, 0);
        g.sync();
        write_halves(job, g, 1);
    }
}

#endif
