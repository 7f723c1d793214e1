/* Sorts the listed segments, class by class, the long ones first: G lanes with VT words each take a segment, G from 2
 * lanes to 8 warps. Keys become words (leading bits that differ, above the position), are sorted in registers, and the
 * positions, left in shared memory, then fetch keys and values for a coalesced sweep out. Where leading bits tie, short
 * runs are put right by their full keys; if that is not enough the segment is sorted again digit by digit, from the
 * lowest, each digit as many bits as a word has beside the position. */
#ifndef LSP_SEGSORT_LISTS_CUH
#define LSP_SEGSORT_LISTS_CUH

#include "segsort_group.cuh"

enum { LONGEST_REPAIR = 12 }; /* items of equal leading bits that one thread puts in order */

/* Threads of a block, and blocks of an SM. */
__host__ __device__ constexpr int list_threads(bool wide) { return wide ? 256 : 128; }
__host__ __device__ constexpr int list_blocks(int VT, bool wide) {
    return wide       ? (VT == 20 ? 4 : 3)
           : VT == 10 ? 12
           : VT < 16  ? 10
           : VT == 16 ? 9
           : VT == 20 ? 8
           : VT == 24 ? 7
           : VT == 28 ? 6
                      : 5;
}

/* ---- words and places ---- */

/* f with the number of lanes as a constant. */
template <int N> struct constant {
    enum { value = N };
};
template <bool WIDE, typename F> __device__ inline void with_lanes(int G, F f) {
    enum { least = WIDE ? WARP : 4 };
    if (G == least) {
        f(constant<least>());
    } else if (G == 2 * least) {
        f(constant<2 * least>());
    } else if (G == 4 * least || !WIDE) {
        f(constant<4 * least>());
    } else {
        f(constant<8 * least>());
    }
}

/* Numbers of 32 bits to w, and the bits in which the segment's keys differ. */
template <int VT, bool WIDE, typename KK>
__device__ inline void find_bits(uint32_t (&w)[VT], const seg_job &job, const list_group<VT, WIDE> &g, int n,
                                 const typename KK::K *keys) {
    typedef typename KK::K K;
    K differ = 0, first = n > 0 ? KK::number(keys[0], job.order) : (K)0;
    with_lanes<WIDE>(g.G, [&](auto lanes) {
        enum { G = decltype(lanes)::value };
        const K *key = keys + g.t;
        int left = n - g.t;
#pragma unroll
        for (int r = 0; r < VT; r++) {
            w[r] = 0;
            if (left > r * G) {
                K mine = key[r * G];
                w[r] = (uint32_t)mine;
                if (sizeof(K) > 4) {
                    differ |= KK::number(mine, job.order) ^ first;
                }
            }
        }
        if (sizeof(K) == 4) {
#pragma unroll
            for (int r = 0; r < VT; r++) {
                w[r] = (uint32_t)KK::number((K)w[r], job.order);
                differ |= left > r * G ? (K)w[r] ^ first : (K)0;
            }
        }
    });
    unsigned long long bits = g.all_or(differ, true);
    if (g.t == 0) {
        g.segment->high = 64 - __clzll(bits);
        g.segment->low = bits ? __ffsll(bits) - 1 : 0;
    }
    g.sync();
}

/* Words of the bits from `shift` on; what does not fit beside the position is shifted out at the top. */
template <int VT, bool WIDE, typename KK>
__device__ inline void make_words(uint32_t (&w)[VT], const seg_job &job, const list_group<VT, WIDE> &g, int n,
                                  const typename KK::K *keys, int shift, int bits, bool again) {
    typedef typename KK::K K;
    with_lanes<WIDE>(g.G, [&](auto lanes) {
        enum { G = decltype(lanes)::value };
        const K *key = keys + g.t;
        int left = n - g.t;
        if (sizeof(K) > 4 || again) { /* the numbers were not kept */
#pragma unroll
            for (int r = 0; r < VT; r++) {
                w[r] = left > r * G ? (uint32_t)(KK::number(key[r * G], job.order) >> shift) : 0;
            }
            shift = 0;
        }
#pragma unroll
        for (int r = 0; r < VT; r++) {
            w[r] = left > r * G ? (w[r] >> shift << bits) + (uint32_t)(g.t + r * G) : ~0u;
        }
    });
}

/* The positions of the sorted words, eight, four or two at a time. */
template <int VT, bool WIDE>
__device__ inline void put_places(const uint32_t (&w)[VT], const list_group<VT, WIDE> &g, uint32_t mask) {
    uint16_t *row = g.places + g.t * VT;
    auto pair = [&](int r) { return (w[r] & mask) | (w[r + 1] << 16 & mask << 16); };
    if constexpr (VT % 8 == 0) {
#pragma unroll
        for (int r = 0; r < VT; r += 8) {
            ((uint4 *)row)[r / 8] = make_uint4(pair(r), pair(r + 2), pair(r + 4), pair(r + 6));
        }
    } else if constexpr (VT % 4 == 0) {
#pragma unroll
        for (int r = 0; r < VT; r += 4) {
            ((uint2 *)row)[r / 4] = make_uint2(pair(r), pair(r + 2));
        }
    } else {
#pragma unroll
        for (int r = 0; r < VT; r += 2) {
            ((uint32_t *)row)[r / 2] = pair(r);
        }
    }
}

/* Sorts a run of m items with equal leading bits by their keys; equal keys stay as they are. */
template <typename KK>
__device__ inline void repair_run(const seg_job &job, const typename KK::K *keys, uint16_t *places, int m) {
    for (int i = 1; i < m; i++) {
        uint16_t place = places[i];
        typename KK::K number = KK::number(keys[place], job.order);
        int j = i;
        for (; j > 0 && KK::number(keys[places[j - 1]], job.order) > number; j--) {
            places[j] = places[j - 1];
        }
        places[j] = place;
    }
}

/* Lowest bits of x that are all set: how many. */
__device__ inline int ones_of(uint32_t x) { return __clz((int)__brev(~x)); }

/* Each lane looks for runs of equal leading bits that begin among its words, and repairs the short ones. True if it met
 * a long one. */
template <int VT, bool WIDE, typename KK>
__device__ inline bool repair(const uint32_t (&w)[VT], const seg_job &job, const list_group<VT, WIDE> &g,
                              const typename KK::K *keys, int n, int shift, int bits, bool exact) {
    const int base = g.t * VT,
              left = exact ? 0 : n - 1 - base; /* ties 0 .. left-1 are of two items, and may be wrong */
    const uint32_t limit = 1u << bits;
    auto leading = [&](int e) { return (uint32_t)(KK::number(keys[g.places[e]], job.order) >> shift) << bits >> bits; };
    uint32_t next = __shfl_down_sync(~0u, w[0], 1), ties = 0;
#pragma unroll
    for (int r = 0; r < VT; r++) {
        ties |= (w[r] ^ (r + 1 < VT ? w[r + 1 < VT ? r + 1 : 0] : next)) < limit ? 1u << r : 0;
    }
    ties &= left <= 0 ? 0 : left < VT ? (1u << left) - 1 : ~0u;
    const uint32_t edge = 1u << (VT - 1);
    const bool last = WIDE && threadIdx.x % WARP == WARP - 1, first = WIDE && threadIdx.x % WARP == 0;
    if (last && left >= VT) { /* its neighbour is in the next warp */
        ties = (ties & ~edge) | (leading(base + VT - 1) == leading(base + VT) ? edge : 0);
    }
    int after = ones_of(__shfl_down_sync(~0u, ties, 1));     /* ties that go on in the next lane */
    bool begun = (__shfl_up_sync(~0u, ties, 1) & edge) != 0; /* the first run begins in the lane before */
    if (last && (ties & edge)) {
        for (after = 0; after < LONGEST_REPAIR && after < left - VT; after++) {
            if (leading(base + VT + after) != leading(base + VT + after + 1)) {
                break;
            }
        }
    }
    if (first && (ties & 1) && g.t > 0) {
        begun = leading(base - 1) == leading(base);
    }
    begun = begun && g.t > 0;
    g.sync(); /* nobody looks at places that another puts right */
    bool met = false;
    for (uint32_t heads = ties & ~(ties << 1) & ~(uint32_t)begun; heads != 0; heads &= heads - 1) {
        const int r = __ffs((int)heads) - 1, length = ones_of(ties >> r),
                  m = length + 1 + (r + length == VT ? after : 0);
        if (m <= LONGEST_REPAIR) {
            repair_run<KK>(job, keys, g.places + base + r, m);
        }
        met |= m > LONGEST_REPAIR;
    }
    return met;
}

/* Are the keys in order, as far as this lane can see? */
template <int VT, bool WIDE, typename KK>
__device__ inline bool in_order(const seg_job &job, const list_group<VT, WIDE> &g, const typename KK::K *keys) {
    bool right = true;
    const int n = g.segment->n;
    for (int i = g.t + 1; i < n; i += g.G) {
        right &= KK::number(keys[g.places[i - 1]], job.order) <= KK::number(keys[g.places[i]], job.order);
    }
    return right;
}

/* ---- a segment ---- */

/* Where words of the segment begin in the keys, and how many bits a position needs. */
struct list_word {
    int n, bits, shift;
    bool exact; /* the words hold all bits in which the keys differ */
    __device__ list_word(volatile list_segment *s, int pass) {
        int low = s->low, high = s->high;
        n = s->n;
        bits = n > 1 ? 32 - __clz(n - 1) : 0;
        exact = high - low <= 32 - bits;
        shift = pass > 0 ? min(low + (pass - 1) * (32 - bits), 63) : exact ? low : high - (32 - bits);
    }
};

/* Keys of the segment: as they came, or as the digit before left them. */
template <typename K, int VT, bool WIDE>
__device__ inline const K *segment_keys(const seg_job &job, const list_group<VT, WIDE> &g) {
    return (const K *)job.arrays[g.segment->from].keys + g.segment->begin;
}

/* By its leading bits, which nearly always will do; else digit by digit. */
template <int VT, bool WIDE, typename KK>
__device__ inline void sort_segment(const seg_job &job, const list_group<VT, WIDE> &g) {
    typedef typename KK::K K;
    uint32_t w[VT];
    int passes = 0; /* digits, once all are needed */
    for (int pass = 0; pass <= passes; pass++) {
        const K *keys = segment_keys<K>(job, g);
        if (!WIDE) {
            keys = stage(g.items, keys, g.segment->n, g.t, g.G);
            copy_group();
            copy_wait<0>();
            g.sync();
        }
        if (pass == 0) {
            find_bits<VT, WIDE, KK>(w, job, g, g.segment->n, keys);
        }
        {
            const list_word word(g.segment, pass);
            make_words<VT, WIDE, KK>(w, job, g, word.n, keys, min(word.shift, (int)sizeof(K) * 8 - 1), word.bits,
                                     pass > 0);
        }
        sort_group<VT, WIDE>(w, g.G, g.t, g.id(), (uint32_t *)g.items, job.ones);
        const list_word word(g.segment, pass);
        keys = segment_keys<K>(job, g);
        if (WIDE) {
            keys = stage(g.items, keys, word.n, g.t, g.G);
            copy_group();
        } else {
            keys = staged(g.items, keys);
        }
        put_places(w, g, (1u << word.bits) - 1);
        copy_wait<0>();
        g.sync();
        if (pass == 0 && __any_sync(~0u, !word.exact)) {
            bool doubt = repair<VT, WIDE, KK>(w, job, g, keys, word.n, word.shift, word.bits, word.exact);
            g.sync();
            if (g.all_or(doubt, false) && g.all_or(!in_order<VT, WIDE, KK>(job, g, keys), false)) {
                int bits = g.segment->high - g.segment->low;
                passes = (int)g.all_or((bits + 31 - word.bits) / (32 - word.bits), false); /* or a few more */
                g.sync();
                continue;
            }
        }
        write_out((K *)job.arrays[FROM_OUTPUT].keys + g.segment->begin, keys, g.places, word.n, g.t, g.G);
        if (job.value_bytes > 0) {
            write_values(job, g);
        }
        g.sync();
        if (g.t == 0) {
            g.segment->from = FROM_OUTPUT;
        }
        g.sync();
    }
}

/* Takes the class's entry `step` further on; none beyond the last one. */
template <int VT, bool WIDE>
__device__ inline void take_segment(const seg_job &job, const list_group<VT, WIDE> &g, int c, int64_t step,
                                    int64_t count) {
    if (g.t == 0) {
        const int64_t at = g.segment->at + step;
        unsigned long long entry = at < count ? job.list[c][at] : 0;
        g.segment->at = at;
        g.segment->begin = entry_begin(entry);
        g.segment->from = entry_from(entry);
        g.segment->n = at < count ? entry_length(entry) : 0;
    }
    g.sync();
}

template <int VT, bool WIDE, typename KK>
__device__ inline void sort_class(const seg_job &job, int c, const unsigned long long *count, char *shared,
                                  list_segment *segments, unsigned long long *warp_or) {
    list_group<VT, WIDE> g;
    int item_bytes = list_item_bytes(sizeof(typename KK::K), job.value_bytes);
    g.G = class_lanes(c);
    g.t = (int)threadIdx.x % g.G;
    int group = (int)threadIdx.x / g.G, groups = list_threads(WIDE) / g.G;
    g.segment = segments + group;
    g.warp_or = warp_or;
    g.items = shared + group * list_group_bytes(g.G, VT, item_bytes);
    g.places = (uint16_t *)(g.items + list_items_bytes(g.G, VT, item_bytes));
    if (g.t == 0) {
        g.segment->at = 0;
    }
    take_segment(job, g, c, (int64_t)blockIdx.x * groups + group, (int64_t)count[c]);
    while (__any_sync(~0u, g.segment->n > 0)) { /* the groups of a warp go on together */
        sort_segment<VT, WIDE, KK>(job, g);
        take_segment(job, g, c, (int64_t)gridDim.x * (list_threads(WIDE) / g.G), (int64_t)count[c]);
    }
}

/* The classes of VT words a lane are first, first + 4, ... before end. */
__host__ __device__ constexpr int lists_first(int VT, bool wide) {
    return wide ? WIDE_CLASS + VT / 4 - 5 : VT < 20 ? VT / 2 - 5 : NARROW_CLASS + VT / 4 - 5;
}
__host__ __device__ constexpr int lists_end(int VT, bool wide) {
    return wide ? (int)LIST_CLASSES : VT < 20 ? (int)NARROW_CLASS : (int)WIDE_CLASS;
}

/* Takes the classes of VT words a lane or (all, VT = 32) all of 32 lanes or more, WIDE, or of fewer. */
template <int VT, bool WIDE, typename KK>
__global__ void __launch_bounds__(list_threads(WIDE), list_blocks(VT, WIDE)) kernel_lists(seg_job job, bool all) {
    LSP_DYNAMIC_SHARED(shared);
    __shared__ unsigned long long count[LIST_CLASSES], warp_or[list_threads(WIDE) / WARP];
    __shared__ list_segment segments[list_threads(WIDE) / (WIDE ? WARP : 4)];
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion(); /* the next kernel of lists may begin where this one has ended */
#endif
    if (threadIdx.x < LIST_CLASSES) {
        count[threadIdx.x] = job.counters->listed[threadIdx.x];
    }
    __syncthreads();
    const int first = lists_first(VT, WIDE), lowest = !all ? first : WIDE ? (int)WIDE_CLASS : 0;
    for (int c = lists_end(VT, WIDE) - 4 + first % 4; c >= lowest; c -= all ? 1 : 4) {
        sort_class<VT, WIDE, KK>(job, c, count, shared, segments, warp_or);
        __syncthreads();
    }
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize(); /* whoever waits for this kernel waits for the one before too */
#endif
}

#endif
