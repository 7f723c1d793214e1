/* Sorts the listed segments class by class, long ones first. A group of G lanes, 2 lanes to 16 warps, takes a segment,
 * VT words per lane. Each key becomes a word: the leading bits in which the segment's keys differ, above the position.
 * The words are sorted in registers; the positions go to shared memory, then fetch keys and values, which are written
 * coalesced. Where leading bits tie, short runs are sorted by their full keys. If a longer run is out of order, the
 * segment is sorted again digit by digit from the lowest digit on; a digit has all bits that a word has beside the
 * position. */
#pragma once

#include "giant_shares.cuh"
#include "group.cuh"

enum { LONGEST_REPAIR = 12 }; /* items with equal leading bits that one thread sorts */

/* Resident blocks per multiprocessor; they share its registers. */
__host__ __device__ constexpr int group_blocks(int VT, int wide, int key_bytes) {
    return wide == GROUP_LARGE ? (key_bytes > 4 ? 1 : 2)
           : wide && VT == 16  ? 2
           : wide && VT == 20  ? 4
           : wide              ? (VT == 32 && key_bytes > 4 ? 2 : 3)
           : VT == 10          ? 12
           : VT < 16           ? 10
           : VT == 16          ? 9
           : VT == 20          ? 8
           : VT == 24          ? 7
           : VT == 28          ? 6
                               : 5;
}

/* ---- words and places ---- */

/* Which bits of a number a word holds, above the `bits` bits of the position. */
template <typename K> struct word_digit {
    int bits, left, right; /* the number is shifted right, then left; bits shifted beyond the top are lost */
    uint32_t low;          /* the mask of the position */
    __device__ uint32_t of(K number) const {
        return (uint32_t)((K)((number >> right) << left) >> (8 * sizeof(K) - 32)) & ~low;
    }
};

/* Finds the bits in which the segment's numbers differ, for segment->low and high. Keeps 32-bit keys in w. */
template <int VT, int WIDE, typename KK>
__device__ inline void find_bits(uint32_t (&w)[VT], const seg_job &job, const segment_group<VT, WIDE> &g, int n,
                                 const typename KK::K *keys) {
    typedef typename KK::K K;
    K differ = 0, first = n > 0 ? keys[0] : (K)0;
    auto number = [&](K key) { return KK::plain ? key : KK::number(key, job.order); };
    first = number(first);
    with_rows(g, n, [&](auto rows) {
        const K *key = keys + g.t;
        if (sizeof(K) == 4) {
#pragma unroll
            for (int r = 0; r < VT; r++) {
                w[r] = rows.has(r) ? (uint32_t)key[rows.at(r)] : 0;
            }
        }
#pragma unroll
        for (int r = 0; r < VT; r++) {
            if (rows.has(r)) {
                differ |= number(sizeof(K) == 4 ? (K)w[r] : key[rows.at(r)]) ^ first;
            }
        }
    });
    ull bits = g.all_or(differ, true);
    if (g.t == 0) {
        g.segment->high = 64 - __clzll((long long)bits);
        g.segment->low = bits ? __ffsll((long long)bits) - 1 : 0;
    }
    g.sync();
}

/* Makes words of the keys: from w, where find_bits left 32-bit keys, or from memory, for 64-bit keys or if `again`.
 * Items from n on get the largest words, with different positions, so they stay last. */
template <int VT, int WIDE, typename KK>
__device__ inline void make_words(uint32_t (&w)[VT], const seg_job &job, const segment_group<VT, WIDE> &g, int n,
                                  const typename KK::K *keys, const word_digit<typename KK::K> &digit, bool again) {
    typedef typename KK::K K;
    with_rows(g, n, [&](auto rows) {
        const K *key = keys + g.t;
        if (sizeof(K) > 4 || again) {
#pragma unroll
            for (int r = 0; r < VT; r++) {
                w[r] = rows.has(r) ? digit.of(KK::number(key[rows.at(r)], job.order)) : ~digit.low;
            }
        } else if (KK::plain) {
            const uint32_t bias = digit.of((K)job.order.bias);
#pragma unroll
            for (int r = 0; r < VT; r++) {
                w[r] = rows.has(r) ? ((w[r] << digit.left) & ~digit.low) ^ bias : ~digit.low;
            }
        } else {
#pragma unroll
            for (int r = 0; r < VT; r++) {
                w[r] = rows.has(r) ? digit.of(KK::number((K)w[r], job.order)) : ~digit.low;
            }
        }
#pragma unroll
        for (int r = 0; r < VT; r++) {
            w[r] += (uint32_t)(g.t + rows.at(r));
        }
    });
}

/* Stores the positions of the sorted words, eight, four or two at a time. */
template <int VT, int WIDE>
__device__ inline void put_places(const uint32_t (&w)[VT], const segment_group<VT, WIDE> &g, uint32_t mask) {
    uint16_t *row = &g.place(g.t * VT);
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

/* Sorts the m places from e on, whose items have equal leading bits, by their full keys: a stable insertion sort. */
template <int VT, int WIDE, typename KK>
__device__ inline void repair_run(const seg_job &job, const segment_group<VT, WIDE> &g, const typename KK::K *keys,
                                  int e, int m) {
    for (int i = e + 1; i < e + m; i++) {
        uint16_t place = g.place(i);
        typename KK::K number = KK::number(keys[place], job.order);
        int j = i;
        for (; j > e && KK::number(keys[g.place(j - 1)], job.order) > number; j--) {
            g.place(j) = g.place(j - 1);
        }
        g.place(j) = place;
    }
}

/* The number of set bits of x below its lowest clear bit. */
__device__ inline int ones_of(uint32_t x) { return __clz((int)__brev(~x)); }

/* Each lane finds the runs of equal leading bits that begin among its words, and sorts those of up to LONGEST_REPAIR
 * items. Returns true if it found a longer one. */
template <int VT, int WIDE, typename KK>
__device__ inline bool repair(const uint32_t (&w)[VT], const seg_job &job, const segment_group<VT, WIDE> &g,
                              const typename KK::K *keys, int n, const word_digit<typename KK::K> &digit, bool exact) {
    const int base = g.t * VT;
    const int left = exact ? 0 : n - 1 - base; /* only ties 0 .. left-1 are between two items of the segment */
    auto leading = [&](int e) { return digit.of(KK::number(keys[g.place(e)], job.order)); };
    uint32_t next = __shfl_down_sync(~0u, w[0], 1), ties = 0;
#pragma unroll
    for (int r = 0; r < VT; r++) {
        if ((w[r] ^ (r + 1 < VT ? w[(r + 1) % VT] : next)) <= digit.low) {
            ties |= 1u << r;
        }
    }
    ties &= left <= 0 ? 0 : left < VT ? (1u << left) - 1 : ~0u;
    const uint32_t edge = 1u << (VT - 1);
    const bool last = WIDE && threadIdx.x % WARP == WARP - 1, first = WIDE && threadIdx.x % WARP == 0;
    if (last && left >= VT) { /* shuffles do not reach the next warp */
        ties = (ties & ~edge) | (leading(base + VT - 1) == leading(base + VT) ? edge : 0);
    }
    int after = ones_of(__shfl_down_sync(~0u, ties, 1));     /* ties with which the next lane continues a run */
    after = after < VT ? after : (int)LONGEST_REPAIR;        /* if all its words tie, the run counts as long */
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
    g.sync(); /* all lanes have read places before any lane changes them */
    bool met = false;
    for (uint32_t heads = ties & ~(ties << 1) & ~(uint32_t)begun; heads != 0; heads &= heads - 1) {
        const int r = __ffs((int)heads) - 1, length = ones_of(ties >> r),
                  m = length + 1 + (r + length == VT ? after : 0);
        if (m <= LONGEST_REPAIR) {
            repair_run<VT, WIDE, KK>(job, g, keys, base + r, m);
        }
        met |= m > LONGEST_REPAIR;
    }
    return met;
}

/* Are the pairs of neighbours that this lane checks in order? */
template <int VT, int WIDE, typename KK>
__device__ inline bool places_in_order(const seg_job &job, const segment_group<VT, WIDE> &g,
                                       const typename KK::K *keys) {
    bool right = true;
    const int n = g.segment->n;
    for (int i = g.t + 1; i < n; i += g.G) {
        right &= KK::number(keys[g.place(i - 1)], job.order) <= KK::number(keys[g.place(i)], job.order);
    }
    return right;
}

/* ---- a segment ---- */

/* The digit that words hold. Pass 0: the highest bits in which keys differ. Pass 1 and later: digit by digit from the
 * lowest differing bit up. */
template <int VT, int WIDE, typename K>
__device__ inline word_digit<K> digit_of_pass(const segment_group<VT, WIDE> &g, int pass) {
    enum { wide = 8 * sizeof(K) };
    const int bits = 32 - __clz(VT * g.G - 1), low = g.segment->low + (pass - 1) * (32 - bits);
    return {bits, pass > 0 ? wide - 32 + bits : min(wide - g.segment->high, wide - 1),
            pass > 0 ? min(low, wide - 1) : 0, (1u << bits) - 1};
}

/* The segment's keys: in the input, or in the output where the pass before left them. */
template <typename K, int VT, int WIDE>
__device__ inline const K *segment_keys(const seg_job &job, const segment_group<VT, WIDE> &g) {
    return (const K *)job.arrays[g.segment->from].keys + g.segment->begin;
}

template <typename K, int VT, int WIDE>
__device__ inline const K *stage_keys(const seg_job &job, const segment_group<VT, WIDE> &g) {
    return stage_items(g, (const K *)job.arrays[g.segment->from].keys, job.n, g.segment->begin, g.segment->n);
}

/* Sorts the group's words: lane t brings words t, t + G, ... and ends with the sorted words t*VT .. t*VT + VT-1.
 * Returns false, and leaves them unsorted, if a large segment's words do not fall evenly into buckets. */
template <int VT, int WIDE>
__device__ inline bool sort_words_of(uint32_t (&w)[VT], const segment_group<VT, WIDE> &g, const network_ones &ones) {
    uint32_t *items = (uint32_t *)g.items;
    if constexpr (WIDE != GROUP_NARROW) {
        constexpr int full = WIDE == GROUP_FEW ? VT / 2 : bucket_full_rows(VT);
        if (g.segment->high > g.segment->low &&
            bucket_group<VT, full, segment_group<VT, WIDE>::many>(w, g.segment->n, g.G, g.t, g.id(),
                                                                  bucket_memory<VT>(items, g.G), ones)) {
            return true;
        }
    }
    if constexpr (WIDE != GROUP_LARGE) {
        sort_group<VT, WIDE != 0>(w, g.G, g.t, g.id(), items, ones);
    }
    return WIDE != GROUP_LARGE;
}

/* Sorts the group's segment: by its leading bits, which nearly always suffices; if not, digit by digit. Returns true,
 * and leaves it unsorted, if a large segment needs more: it must be split as a giant. */
template <int VT, int WIDE, typename KK>
__device__ inline bool sort_segment(const seg_job &job, const segment_group<VT, WIDE> &g) {
    typedef typename KK::K K;
    uint32_t w[VT];
    int passes = 0; /* the digits to sort by after pass 0, if leading bits do not suffice */
    for (int pass = 0; pass <= passes; pass++) {
        const K *keys = WIDE ? segment_keys<K>(job, g) : stage_keys<K>(job, g);
        if (!WIDE) {
            copy_group();
            copy_wait<0>();
            g.sync();
        }
        if (pass == 0) {
            if (WIDE == GROUP_NARROW) {
                bring_borders(job, g, (int)sizeof(K));
            }
            find_bits<VT, WIDE, KK>(w, job, g, g.segment->n, keys);
            if (WIDE && !(job.positions && g.segment->from == FROM_INPUT)) {
                bring(g, (const char *)job.arrays[g.segment->from].values + g.segment->begin * job.value_bytes,
                      g.segment->n * job.value_bytes);
            }
        }
        make_words<VT, WIDE, KK>(w, job, g, g.segment->n, keys, digit_of_pass<VT, WIDE, K>(g, pass), pass > 0);
        if (!sort_words_of<VT, WIDE>(w, g, job.ones)) {
            return true;
        }
        const word_digit<K> digit = digit_of_pass<VT, WIDE, K>(g, pass);
        const int n = g.segment->n;
        keys = WIDE ? stage_keys<K>(job, g) : staged_items(g.items, segment_keys<K>(job, g));
        copy_group();
        put_places(w, g, digit.low);
        copy_wait<0>();
        g.sync();
        if (WIDE) {
            const ull next = g.segment->next;
            bring(g, (const char *)job.arrays[entry_from(next)].keys + entry_begin(next) * (int)sizeof(K),
                  entry_length(next) * (int)sizeof(K));
        }
        const bool exact = g.segment->high - g.segment->low <= 32 - digit.bits; /* words hold all differing bits */
        if (pass == 0 && __any_sync(~0u, !exact)) {
            bool doubt = repair<VT, WIDE, KK>(w, job, g, keys, n, digit, exact);
            g.sync();
            if (g.all_or((uint32_t)doubt, false) &&
                g.all_or((uint32_t)!places_in_order<VT, WIDE, KK>(job, g, keys), false)) {
                if (WIDE == GROUP_LARGE) {
                    return true;
                }
                int bits = g.segment->high - g.segment->low;
                passes =
                    (int)g.all_or((uint32_t)((bits + 31 - digit.bits) / (32 - digit.bits)), false); /* or a few more */
                g.sync();
                continue;
            }
        }
        const int written = pass < passes ? n : (int)min((int64_t)n, job.written); /* the next pass reads all */
        write_staged<true>(g, (K *)job.arrays[FROM_OUTPUT].keys + g.segment->begin, keys, w, written);
        if (job.value_bytes > 0) {
            write_values(job, g, w, written);
        }
        g.sync();
        if (g.t == 0) {
            g.segment->from = FROM_OUTPUT;
        }
        g.sync();
    }
    return false;
}

/* Makes the prefetched entry the group's segment, and prefetches the entry `step` behind it. */
template <int VT, int WIDE>
__device__ inline void take_segment(const seg_job &job, const segment_group<VT, WIDE> &g, int c, int64_t step,
                                    int64_t count) {
    if (g.t == 0) { /* no other lane reads `at`; all have finished with the other members */
        const ull entry = g.segment->next;
        const int64_t at = g.segment->at + step;
        g.segment->at = at;
        g.segment->begin = entry_begin(entry);
        g.segment->from = entry_from(entry);
        g.segment->n = at < count ? entry_length(entry) : 0;
        if (at + step < count) {
            fetch_async((ull *)&g.segment->next, job.list[c] + at + step);
            copy_group();
        }
    }
    g.sync();
}

/* Sorts the list of class c: the groups of the grid take its entries in turns. */
template <int VT, int WIDE, typename KK>
__device__ inline void sort_class(const seg_job &job, int c, const ull *count, char *shared, group_segment *segments,
                                  ull *warp_or) {
    segment_group<VT, WIDE> g;
    int item_bytes = group_item_bytes(sizeof(typename KK::K), job.value_bytes);
    g.G = WIDE == GROUP_FEW ? few_lanes(c) : class_lanes(c);
    g.t = (int)threadIdx.x % g.G;
    int group = (int)threadIdx.x / g.G, groups = group_threads(VT, WIDE) / g.G;
    g.segment = segments + group;
    g.warp_or = warp_or;
    g.items = shared + group * group_bytes<VT, WIDE>(g.G, item_bytes);
    g.places = (uint16_t *)(g.items + group_items_bytes(g.G, VT, item_bytes));
    const int64_t step = (int64_t)gridDim.x * groups;
    int64_t first = (int64_t)blockIdx.x * groups + group;
    if (WIDE == GROUP_FEW) { /* spreads the entries of each class over the blocks; each class starts at another block */
        first = (int64_t)group * gridDim.x + (blockIdx.x + c * (gridDim.x / LARGE_CLASS + 1)) % gridDim.x;
    }
    if (g.t == 0) {
        g.segment->next = first < (int64_t)count[c] ? job.list[c][first] : 0;
        g.segment->at = first - step;
    }
    take_segment(job, g, c, step, (int64_t)count[c]);
    /* The groups of a warp go on together. So do the wide groups of a block if their code is long: warps at different
     * places in it would evict each other's instructions from the cache. */
    constexpr bool alone = WIDE && VT == 16;
    while (alone ? g.segment->n > 0 : WIDE ? __syncthreads_or(g.segment->n > 0) : __any_sync(~0u, g.segment->n > 0)) {
        if (sort_segment<VT, WIDE, KK>(job, g)) {
            copy_wait<0>(); /* for the prefetched entry, which sort_segment has not waited for */
            if (g.t == 0) {
                giant_add(job, g.segment->begin, g.segment->begin + g.segment->n);
            }
            g.sync();
        }
        take_segment(job, g, c, step, (int64_t)count[c]);
    }
}

/* Sorts the classes with VT words per lane, long segments first. */
template <int VT, int WIDE, typename KK>
__global__ void __launch_bounds__(group_threads(VT, WIDE), group_blocks(VT, WIDE, sizeof(typename KK::K)))
    kernel_classes(seg_job job) {
    LSP_DYNAMIC_SHARED(shared);
    __shared__ ull count[LIST_CLASSES], warp_or[group_threads(VT, WIDE) / WARP];
    __shared__ group_segment segments[group_threads(VT, WIDE) / (WIDE ? WARP : 4)];
    lsp_let_next_begin();
    if (threadIdx.x < LIST_CLASSES) {
        count[threadIdx.x] = job.counters->listed[threadIdx.x];
    }
    if (WIDE == GROUP_FEW &&
        !__syncthreads_or((int)threadIdx.x >= job.few_first && threadIdx.x < LIST_CLASSES && count[threadIdx.x] > 0)) {
        return lsp_end_after_previous(); /* as is usual if all segments are short */
    }
    __syncthreads();
    constexpr int first = classes_first(VT, WIDE), last = classes_last(VT, WIDE);
    for (int c = last; c >= first; c -= WIDE == GROUP_FEW ? 1 : 4) {
        if (WIDE != GROUP_FEW || (c >= job.few_first && count[c] > 0)) {
            sort_class<VT, WIDE, KK>(job, c, count, shared, segments, warp_or);
        }
        __syncthreads();
    }
    lsp_end_after_previous();
}
