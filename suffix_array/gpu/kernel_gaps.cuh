/* While most suffixes are unfinished they stay in the array that becomes the result, each group at its places, and two
 * bits for each place tell the groups: does a group begin here, and is this suffix unfinished? A warp takes
 * GROUPS_ITEMS places, row by row. Groups are numbered by counts[], the summed counts of the warps. */
#pragma once

#include "kernel_groups.cuh"

/* Bit i % 32 of word i / 32 belongs to place i. */
typedef struct place_bits {
    uint32_t *begins, *open;
} place_bits;

/* Groups by the places where they begin and end. */
typedef struct place_groups {
    int32_t *begin, *end;
    uint32_t *rank;
} place_groups;

__device__ inline unsigned lane_bit(unsigned word) { return word >> threadIdx.x % WARP & 1; }
/* Bits of the lanes up to this one. */
__device__ inline unsigned lanes_to_here() { return (2u << threadIdx.x % WARP) - 1; }
/* The lowest bit of word `row + 1` of n places, or 0 behind the end. */
__device__ inline unsigned next_bit(const uint32_t *words, int64_t row, int64_t n) {
    return (row + 1) * WARP < n ? words[row + 1] & 1 : 0;
}
/* Does the group of this lane's open place end there? */
__device__ inline bool ends_here(unsigned begins, unsigned open, unsigned next_begins, unsigned next_open) {
    const unsigned behind_open = open >> 1 | next_open << 31, behind_begins = begins >> 1 | next_begins << 31;
    return lane_bit(open & (~behind_open | behind_begins));
}

/* Groups before warp `warp`, and behind it. */
__device__ inline int64_t groups_before(const int64_t *counts, int64_t warp) {
    return warp > 0 ? counts[warp - 1] & 0xffffffff : 0;
}

/* Keys of open places: of symbols, or of ranks. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_place_text_keys(lsp_packed t, place_bits at, const uint32_t *order, int64_t offset, uint64_t *keys) {
    EACH_ITEM(i, t.n, TEXT_NT) {
        if (at.open[i / WARP] >> i % WARP & 1) {
            keys[i] = text_key(t, order[i], offset);
        }
    }
}
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_place_keys(lsp_packed t, place_bits at, const uint32_t *order, int64_t offset, const uint32_t *ranks,
                      uint32_t *keys) {
    EACH_ITEM(i, t.n, TEXT_NT) {
        if (at.open[i / WARP] >> i % WARP & 1) {
            keys[i] = rank_key(t, order[i], offset, ranks);
        }
    }
}

/* The keys are sorted within the groups, and the suffixes with them: the groups of the next round. all: there is one
 * group, of all places. Ranks of finished suffixes are written, unless `ranks` is NULL. counts: as of
 * kernel_count_groups. */
template <typename K>
static __global__ void __launch_bounds__(GROUPS_NT)
    kernel_settle_places(int64_t n, bool all, place_bits at, const K *keys, ended e, const uint32_t *order,
                         uint32_t *ranks, place_bits next, int64_t *counts) {
    const int lane = threadIdx.x % WARP;
    const int64_t warp = warp_number(), first = warp * GROUPS_ITEMS;
    if (first >= n) {
        return;
    }
    K before = first > 0 ? keys[first - 1] : 0;
    int64_t count = 0;
    for (int r = 0; r < GROUPS_ROWS && first + r * WARP < n; r++) {
        const int64_t row = first / WARP + r, i = row * WARP + lane;
        const unsigned begins = all ? row == 0 : at.begins[row];
        const unsigned open = all ? __ballot_sync(~0u, i < n) : at.open[row];
        const unsigned next_open = all ? (row + 1) * WARP < n : next_bit(at.open, row, n);
        const unsigned next_begins = all ? 0 : next_bit(at.begins, row, n);
        const K key = i < n ? keys[i] : 0, behind = i + 1 < n ? keys[i + 1] : 0;
        const K left = __shfl_up_sync(~0u, key, 1);
        const bool head = lane_bit(begins) || (lane == 0 ? before : left) != key;
        const bool last = ends_here(begins, open, next_begins, next_open) || behind != key;
        const bool goes_on = lane_bit(open) && !(head && last) && ((uint64_t)key & e.mask) != e.stop;
        const unsigned go = __ballot_sync(~0u, goes_on), starts = __ballot_sync(~0u, goes_on && head);
        if (lane == 0) {
            next.open[row] = go;
            next.begins[row] = starts;
        }
        if (ranks != NULL && lane_bit(open) && !goes_on) {
            ranks[order[i]] = (uint32_t)i;
        }
        count += ((int64_t)__popc(go) << 32) + __popc(starts);
        before = __shfl_sync(~0u, key, WARP - 1);
    }
    if (lane == 0) {
        counts[warp] = count;
    }
}

/* Where the groups number `low` .. high-1 begin and end. */
static __global__ void __launch_bounds__(GROUPS_NT)
    kernel_find_groups(int64_t n, place_bits at, const int64_t *counts, int64_t low, int64_t high, place_groups g) {
    const int64_t warp = warp_number(), first = warp * GROUPS_ITEMS;
    if (first >= n) {
        return;
    }
    int64_t group = groups_before(counts, warp);
    if (group > high || groups_before(counts, warp + 1) < low) {
        return;
    }
    for (int r = 0; r < GROUPS_ROWS && first + r * WARP < n; r++) {
        const int64_t row = first / WARP + r, i = row * WARP + threadIdx.x % WARP;
        const unsigned begins = at.begins[row], open = at.open[row];
        const bool end = ends_here(begins, open, next_bit(at.begins, row, n), next_bit(at.open, row, n));
        const int64_t mine = group + __popc(begins & lanes_to_here()) - 1;
        if (mine >= low && mine < high) {
            if (lane_bit(begins)) {
                g.begin[mine - low] = (int32_t)i;
            }
            if (end) {
                g.end[mine - low] = (int32_t)i + 1;
            }
        }
        group += __popc(begins);
    }
}

/* As kernel_rank_groups. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_rank_places(int64_t count, place_groups g, const uint32_t *order, const uint32_t *ranks) {
    EACH_ITEM(k, count, TEXT_NT) {
        const uint32_t low = (uint32_t)g.begin[k], items = (uint32_t)g.end[k] - low;
        const uint32_t rank = ranks != NULL ? ranks[order[low]] : 0;
        g.rank[k] = ranks != NULL && rank - low < items ? rank : (low + items / 2) | LSP_RANK_NEW;
    }
}

/* all: as ranks of the suffixes in `order`, their places, or the ranks of their groups. Else new ranks of groups go to
 * their suffixes. */
static __global__ void __launch_bounds__(GROUPS_NT)
    kernel_write_places(int64_t n, bool all, place_bits at, const int64_t *counts, const uint32_t *rank,
                        const uint32_t *order, uint32_t *ranks) {
    const int64_t warp = warp_number(), first = warp * GROUPS_ITEMS;
    if (first >= n) {
        return;
    }
    int64_t group = groups_before(counts, warp);
    for (int r = 0; r < GROUPS_ROWS && first + r * WARP < n; r++) {
        const int64_t row = first / WARP + r, i = row * WARP + threadIdx.x % WARP;
        const unsigned begins = at.begins[row];
        const bool open = lane_bit(at.open[row]);
        const uint32_t of_group = open ? rank[group + __popc(begins & lanes_to_here()) - 1] : 0;
        if (all && i < n) {
            ranks[i] = open ? of_group & ~LSP_RANK_NEW : (uint32_t)i;
        } else if (!all && (of_group & LSP_RANK_NEW)) {
            ranks[order[i]] = of_group & ~LSP_RANK_NEW;
        }
        group += __popc(begins);
    }
}

/* Brings the open suffixes together. Groups have ranks already, unless `ranks` is NULL. */
static __global__ void __launch_bounds__(GROUPS_NT)
    kernel_leave_places(int64_t n, place_bits at, const int64_t *counts, const uint32_t *order, const uint32_t *ranks,
                        groups next) {
    const int64_t warp = warp_number(), first = warp * GROUPS_ITEMS;
    if (first >= n) {
        return;
    }
    int64_t item = warp > 0 ? counts[warp - 1] >> 32 : 0, group = groups_before(counts, warp);
    for (int r = 0; r < GROUPS_ROWS && first + r * WARP < n; r++) {
        const int64_t row = first / WARP + r, i = row * WARP + threadIdx.x % WARP;
        const unsigned begins = at.begins[row], open = at.open[row];
        if (lane_bit(open)) {
            const int64_t to = item + __popc(open & lanes_to_here()) - 1;
            const int64_t mine = group + __popc(begins & lanes_to_here()) - 1;
            next.id[to] = order[i];
            if (lane_bit(begins)) {
                next.begin[mine] = (int32_t)to;
                next.base[mine] = (uint32_t)i;
                next.rank[mine] = ranks != NULL ? ranks[order[i]] : 0;
            }
        }
        item += __popc(open);
        group += __popc(begins);
    }
    if (threadIdx.x % WARP == 0 && first + GROUPS_ITEMS >= n) {
        next.begin[group] = (int32_t)item;
    }
}
