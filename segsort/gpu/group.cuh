/* The group of lanes that sorts a listed segment: its data about the segment, its copies of items to shared memory, and
 * its writes of the sorted items. */
#pragma once

#include "bucket.cuh"
#include "job.cuh"

/* The segment that a group sorts. It is in shared memory, because registers are needed for the words: members in
 * registers would be spilled to local memory. */
struct group_segment {
    int64_t begin, at; /* at: its place in the list */
    ull next;          /* the entry that the group takes next, copied here asynchronously */
    int n, from;
    int low, high; /* its keys differ in bits low .. high-1 only */
};

/* Kinds of groups. Narrow: up to 16 lanes; the groups of a warp go through the same code in step. Wide, large and few:
 * 32 lanes or more; they read keys straight to registers and merge through shared memory. Few: any class below
 * LARGE_CLASS, with FEW_WORDS words per lane, for inputs with few items in all. */
enum { GROUP_NARROW = 0, GROUP_WIDE, GROUP_LARGE, GROUP_FEW };

/* Classes with VT words per lane are first, first + 4, ..., last; those of GROUP_FEW first, first + 1, ..., last. */
__host__ __device__ constexpr int classes_first(int VT, int wide) {
    int c = wide == GROUP_LARGE ? LARGE_CLASS : wide == GROUP_WIDE ? WIDE_CLASS : 0;
    while (wide != GROUP_FEW && class_words(c) != VT) {
        c++;
    }
    return c;
}
__host__ __device__ constexpr int classes_last(int VT, int wide) {
    int c = (wide == GROUP_LARGE ? (int)LIST_CLASSES : wide ? (int)LARGE_CLASS : (int)WIDE_CLASS) - 1;
    while (wide != GROUP_FEW && class_words(c) != VT) {
        c--;
    }
    return c;
}
/* Fewest and most lanes of a group; threads of a block. */
__host__ __device__ constexpr int group_fewest(int VT, int wide) {
    return wide == GROUP_FEW ? (int)WARP : class_lanes(classes_first(VT, wide));
}
__host__ __device__ constexpr int group_most(int VT, int wide) {
    return wide == GROUP_FEW ? 16 * WARP : class_lanes(classes_last(VT, wide));
}
__host__ __device__ constexpr int group_threads(int VT, int wide) {
    return wide == GROUP_NARROW ? 128 : wide == GROUP_WIDE ? (VT == 16 ? 512 : 256) : group_most(VT, wide);
}

/* The index of place e: gaps make rows of 32 places begin in different banks. */
template <int VT, int WIDE> __host__ __device__ inline int place_at(int e) {
    return WIDE && VT == 32 ? e + e / 64 * 8 : e;
}

/* A group of lanes; WIDE is its kind, GROUP_*. */
template <int VT, int WIDE> struct segment_group {
    int G, t; /* lanes, and the number of this one */
    volatile group_segment *segment;
    char *items;      /* shared memory: keys, later values; while wide groups sort, words */
    uint16_t *places; /* positions in sorted order */
    ull *warp_or;

    __device__ int id() const { return (int)threadIdx.x / G + 1; } /* of the group's barrier */
    static constexpr bool many = group_fewest(VT, WIDE) > WARP;    /* several warps in every class */
    __device__ bool is_many() const { return WIDE && (many || G > WARP); }
    __device__ void sync() const { is_many() ? lsp_barrier(id(), G) : __syncwarp(); }

    __device__ uint16_t &place(int e) const { return places[place_at<VT, WIDE>(e)]; }

    /* The OR of x over the group or, if not of_segment, over all groups that work in step. */
    template <typename T> __device__ T all_or(T x, bool of_segment) const {
        if (WIDE || !of_segment) {
            x = sizeof(T) > 4 ? (T)__reduce_or_sync(~0u, (uint32_t)((ull)x >> 32)) << (sizeof(T) * 8 - 32) |
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

/* Shared memory of a group: items, with space to align them as in global memory, and places. */
__host__ __device__ inline int group_item_bytes(int key_bytes, int value_bytes) {
    int value = value_bytes > 8 ? 8 : value_bytes;
    return value > key_bytes ? value : key_bytes;
}
__host__ __device__ inline int group_items_bytes(int G, int VT, int item_bytes) {
    return (G * VT + (G < 4 ? 4 : G > 16 ? 16 : G)) * item_bytes;
}
template <int VT, int WIDE> __host__ __device__ inline int group_bytes(int G, int item_bytes) {
    const int places = group_items_bytes(G, VT, item_bytes) + place_at<VT, WIDE>(G * VT) * 2;
    const int buckets = WIDE ? bucket_bytes(VT, G) : 0;
    return places > buckets ? places : buckets;
}

/* ---- the items of a lane: t, t + G, t + 2G, ... ---- */

/* Tells which of a lane's VT items are in the segment. SURE: the first `sure` items always are, so only the last need
 * a test. */
template <int VT, int LANES, bool SURE> struct group_rows {
    enum { sure = !SURE ? 0 : VT < 16 ? VT - 2 : VT < 32 ? VT - 4 : VT - 8 };
    int left, lanes;
    __device__ int at(int r) const { return r * (LANES > 0 ? LANES : lanes); }
    __device__ bool has(int r) const { return r < sure || left > at(r); }
};

/* Calls f with the number of lanes as a compile-time constant. */
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
/* Calls f with the group_rows of n items, where this lane's items are first, first + G, ... The fast instance is for
 * lengths that are usual in the class. */
template <int VT, int WIDE, typename F>
__device__ inline void with_rows(const segment_group<VT, WIDE> &g, int n, int first, F f) {
    const bool expected = n >= group_rows<VT, 0, true>::sure * g.G;
    if constexpr (WIDE == GROUP_FEW) { /* any length is usual */
        f(group_rows<VT, 0, false>{n - first, fresh(g.G)});
    } else if (WIDE ? expected : __all_sync(~0u, expected)) {
        with_lanes<group_fewest(VT, WIDE), group_most(VT, WIDE)>(g.G, [&](auto lanes) {
            f(group_rows<VT, decltype(lanes)::value, true>{n - first, 0});
        });
    } else {
        f(group_rows<VT, 0, false>{n - first, fresh(g.G)});
    }
}
template <int VT, int WIDE, typename F> __device__ inline void with_rows(const segment_group<VT, WIDE> &g, int n, F f) {
    with_rows(g, n, g.t, f);
}

/* ---- in and out: lanes copy 16 aligned bytes at a time; the two lanes that share a 32-byte sector of global memory do
 * so at the same time ---- */

enum { SECTOR = 32 };

/* The place of the item at `from` in shared memory after stage_items(): its address is the same modulo 16. */
template <typename T> __device__ inline T *staged_items(char *shared, const T *from) {
    return (T *)shared + (uintptr_t)from / sizeof(T) % (16 / sizeof(T));
}
/* Starts to copy items begin .. begin+n-1 of the array (of `all` items) to shared memory; returns where the first one
 * goes. A narrow group copies whole pieces of 16 bytes, with neighbours, unless they are outside the array. */
template <int VT, int WIDE, typename T>
__device__ inline T *stage_items(const segment_group<VT, WIDE> &g, const T *array, int64_t all, int64_t begin, int n) {
    enum { Q = 16 / sizeof(T) };
    const T *from = array + begin;
    T *to = staged_items(g.items, from);
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
            fetch_async(place, four);
        }
    }
    if (g.t < head) {
        fetch_async(to + g.t, from + g.t);
    }
    if (g.t < n - rest) {
        fetch_async(to + rest + g.t, from + rest + g.t);
    }
    return to;
}

/* Prefetches `bytes` bytes to the L2 cache. */
template <int VT, int WIDE>
__device__ inline void bring(const segment_group<VT, WIDE> &g, const char *from, int bytes) {
    enum { line = 128 };
    for (int i = g.t * line; i < bytes; i += g.G * line) {
        lsp_prefetch(from + i);
    }
}

/* Prefetches the sectors that the segment's output shares with its neighbours; see lsp_prefetch_border. */
template <int VT, int WIDE>
__device__ inline void bring_borders(const seg_job &job, const segment_group<VT, WIDE> &g, int key_bytes) {
    const seg_arrays &to = job.arrays[FROM_OUTPUT];
    const int64_t border = g.segment->begin + (g.t % 2 ? g.segment->n : 0);
    if (g.t < 2) {
        lsp_prefetch_border((const char *)to.keys + border * key_bytes);
    } else if (g.t < 4 && job.value_bytes > 0) {
        lsp_prefetch_border((const char *)to.values + border * job.value_bytes);
    }
}

/* Writes 16 bytes that are not read soon: streaming stores keep them from evicting others. */
__device__ inline void store_16(uint32_t *to, const uint32_t (&x)[4]) {
    __stcs((uint4 *)to, make_uint4(x[0], x[1], x[2], x[3]));
}
__device__ inline void store_16(ull *to, const ull (&x)[2]) { __stcs((ulonglong2 *)to, make_ulonglong2(x[0], x[1])); }
/* to[i] = items[places[i]] for a narrow group; each lane writes 16 aligned bytes at a time. */
template <typename T>
__device__ inline void write_out(T *to, const T *items, const uint16_t *places, int n, int t, int G) {
    enum { Q = 16 / sizeof(T) };
    const int before = (int)((uintptr_t)to % SECTOR / sizeof(T));
    const uint32_t last = (uint32_t)(n - 1);
#pragma unroll 2
    for (int i = n > 0 ? t * Q - before : 0; i < n; i += G * Q) {
        T x[Q];
#pragma unroll
        for (int k = 0; k < Q; k++) { /* past the end the last item is read again: no predication */
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
/* As write_out, for a wide group; each lane writes one item at a time. Rows begin at sectors of the output (if the
 * array does), unless that takes one more row. FIRST: reads the places, which then stay in registers for the values.
 * Items from n on have places too, but are not written. */
template <bool FIRST, int VT, int WIDE, typename T>
__device__ inline void write_staged_rows(const segment_group<VT, WIDE> &g, T *to, const T *items, uint32_t (&place)[VT],
                                         int n) {
    enum { sweep = 4, shifted = VT < 32 }; /* not with 32 words: their places have gaps */
    const int before = shifted ? (int)(g.segment->begin % (SECTOR / 4)) : 0;
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
                lsp_settle(place[r]); /* or the compiler would keep addresses in registers */
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
__device__ inline void write_staged(const segment_group<VT, WIDE> &g, T *to, const T *items, uint32_t (&place)[VT],
                                    int n) {
    if constexpr (WIDE) {
        write_staged_rows<FIRST>(g, to, items, place, n);
    } else {
        write_out(to, items, g.places, n, g.t, g.G);
    }
}

/* Writes one half, 8 bytes, of the 16-byte values. */
template <int VT, int WIDE>
__device__ inline void write_halves(const seg_job &job, const segment_group<VT, WIDE> &g, int written, int part) {
    typedef ull T;
    const int64_t begin = g.segment->begin;
    const T *from = (const T *)job.arrays[g.segment->from].values + begin * 2 + part;
    T *to = (T *)job.arrays[FROM_OUTPUT].values + begin * 2 + part, *items = (T *)g.items;
    const int n = g.segment->n;
    for (int i = g.t; i < n; i += g.G) {
        items[i] = from[i * 2];
    }
    g.sync();
    for (int i = g.t; i < written; i += g.G) {
        to[i * 2] = items[g.place(i)];
    }
}
template <int VT, int WIDE, typename T>
__device__ inline void write_whole(const seg_job &job, const segment_group<VT, WIDE> &g, uint32_t (&place)[VT],
                                   int written) {
    const int n = g.segment->n, from = g.segment->from;
    const int64_t begin = g.segment->begin;
    T *to = (T *)job.arrays[FROM_OUTPUT].values + begin, *items = NULL;
    const bool made = job.positions && from == FROM_INPUT; /* buckets of giants have their positions already */
    if (!made) {
        items = stage_items(g, (const T *)job.arrays[from].values, job.n, begin, n);
    }
    copy_group();
    copy_wait<0>();
    g.sync();
    if (!made) {
        write_staged<false>(g, to, items, place, written);
    }
    for (int i = g.t; made && i < written; i += g.G) {
        to[i] = (T)((job.global_positions ? begin : 0) + g.place(i));
    }
}
template <int VT, int WIDE>
__device__ inline void write_values(const seg_job &job, const segment_group<VT, WIDE> &g, uint32_t (&place)[VT],
                                    int written) {
    g.sync();
    if (job.value_bytes == 4) {
        write_whole<VT, WIDE, uint32_t>(job, g, place, written);
    } else if (job.value_bytes == 8) {
        write_whole<VT, WIDE, ull>(job, g, place, written);
    } else {
        write_halves(job, g, written, 0);
        g.sync();
        write_halves(job, g, written, 1);
    }
}
