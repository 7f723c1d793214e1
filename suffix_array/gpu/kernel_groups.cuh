/* Groups of suffixes that are equal as far as they were compared. A round sorts each group by keys; then a warp takes
 * GROUPS_ITEMS items, row by row, and finds the runs of equal keys: an item that is a run by itself is finished, the
 * other runs are the groups of the next round. */
#pragma once

#include "kernel_text.cuh"

enum { GROUPS_NT = 256, GROUPS_ROWS = 16, GROUPS_ITEMS = GROUPS_ROWS * WARP };

/* Ranks to be written, first listed and then brought near each other: ranks[id[i]] = rank[i], unless id[i] is
 * LSP_NO_ID. id NULL: ranks are written at once. */
typedef struct rank_list {
    uint32_t *id, *rank;
} rank_list;

#define LSP_NO_ID 0xffffffffu

/* Set in the rank of a group whose suffixes do not have it yet; indices have 31 bits. */
#define LSP_RANK_NEW (1u << 31)

/* Group g has the items begin[g] .. begin[g + 1] - 1 and as many places of the array from base[g] on. */
typedef struct groups {
    int64_t items, count;
    uint32_t *id; /* the suffixes */
    int32_t *begin;
    uint32_t *base;
    uint32_t *rank; /* of each group; not read before ranks are used */
} groups;

/* Which items are finished without being alone: their key has ended with its string. */
typedef struct ended {
    uint64_t mask, stop;
} ended;

/* A warp's walk over its items. */
typedef struct walk {
    int64_t group;    /* of the item before the row */
    unsigned begins;  /* a bit for each item of the row: does a group begin there? */
    bool next_begins; /* does one begin at the next row, or is this the end? */
} walk;

__device__ inline int64_t warp_number() { return ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP; }

__device__ inline walk walk_from(const groups &g, int64_t item) {
    walk w = {};
    w.group = warp_first(0, g.count, [&](int64_t k) { return g.begin[k] >= item; }) - 1;
    return w;
}

/* Looks at the begins in the row of items from `row` on. Groups have two items at least, so 17 begins are the most. */
__device__ inline void walk_row(const groups &g, int64_t row, walk *w) {
    const int lane = threadIdx.x % WARP;
    w->group += __popc(w->begins);
    const int64_t k = w->group + 1 + lane;
    const int64_t at = k <= g.count ? g.begin[k] - row : WARP + 1;
    w->begins = __reduce_or_sync(~0u, at < WARP ? 1u << at : 0);
    w->next_begins = __ballot_sync(~0u, at == WARP) != 0;
}

/* The group of this lane's item. */
__device__ inline int64_t walk_group(const walk &w) {
    return w.group + __popc(w.begins & ((2u << threadIdx.x % WARP) - 1));
}

/* Calls act(i, group) for the items of the warp. */
template <typename A> __device__ inline void each_grouped(const groups &g, A act) {
    const int64_t begin = warp_number() * GROUPS_ITEMS;
    if (begin >= g.items) {
        return;
    }
    walk w = walk_from(g, begin);
#pragma unroll 1
    for (int r = 0; r < GROUPS_ROWS && begin + r * WARP < g.items; r++) {
        const int64_t i = begin + r * WARP + threadIdx.x % WARP;
        walk_row(g, begin + r * WARP, &w);
        if (i < g.items) {
            act(i, walk_group(w));
        }
    }
}

/* What becomes of the row's items: is this lane's item the first of a run, and does it go on to the next round? */
typedef struct fate {
    bool head, goes_on;
} fate;

/* key, next: this lane's keys of this row and of the next one; before: the key before the row. */
template <typename K> __device__ inline fate walk_fate(const walk &w, bool in, K before, K key, K next, ended e) {
    const int lane = threadIdx.x % WARP;
    const K left = __shfl_up_sync(~0u, key, 1), right = __shfl_down_sync(~0u, key, 1);
    const K behind = __shfl_sync(~0u, next, 0);
    const bool head = (w.begins >> lane & 1) || (lane == 0 ? before : left) != key;
    const bool last = lane == WARP - 1 ? w.next_begins || behind != key : (w.begins >> (lane + 1) & 1) || right != key;
    return {head, in && !(head && last) && ((uint64_t)key & e.mask) != e.stop};
}

/* counts[w] = the items that go on, times 2^32, plus their runs, of warp w. */
template <typename K>
static __global__ void __launch_bounds__(GROUPS_NT)
    kernel_count_groups(groups g, const K *keys, ended e, int64_t *counts) {
    const int lane = threadIdx.x % WARP;
    const int64_t warp = warp_number(), begin = warp * GROUPS_ITEMS;
    if (begin >= g.items) {
        return;
    }
    walk w = walk_from(g, begin);
    K before = begin > 0 ? keys[begin - 1] : 0, key = begin + lane < g.items ? keys[begin + lane] : 0;
    int64_t count = 0;
    for (int r = 0; r < GROUPS_ROWS && begin + r * WARP < g.items; r++) {
        const int64_t i = begin + r * WARP + lane;
        const K next = i + WARP < g.items ? keys[i + WARP] : 0;
        walk_row(g, i - lane, &w);
        const fate f = walk_fate(w, i < g.items, before, key, next, e);
        count +=
            ((int64_t)__popc(__ballot_sync(~0u, f.goes_on)) << 32) + __popc(__ballot_sync(~0u, f.goes_on && f.head));
        before = __shfl_sync(~0u, key, WARP - 1);
        key = next;
    }
    if (lane == 0) {
        counts[warp] = count;
    }
}

/* Finished suffixes go to `order`, and their ranks to `ranks` unless that is NULL, or to the end of `list`; others to
 * `next`. counts: summed. */
template <typename K>
static __global__ void __launch_bounds__(GROUPS_NT)
    kernel_settle(groups g, const K *keys, ended e, const int64_t *counts, uint32_t *order, uint32_t *ranks,
                  rank_list list, groups next) {
    const int lane = threadIdx.x % WARP;
    const int64_t warp = warp_number(), begin = warp * GROUPS_ITEMS;
    if (begin >= g.items) {
        return;
    }
    walk w = walk_from(g, begin);
    K before = begin > 0 ? keys[begin - 1] : 0, key = begin + lane < g.items ? keys[begin + lane] : 0;
    int64_t item = warp > 0 ? counts[warp - 1] >> 32 : 0, run = warp > 0 ? counts[warp - 1] & 0xffffffff : 0;
    for (int r = 0; r < GROUPS_ROWS && begin + r * WARP < g.items; r++) {
        const int64_t i = begin + r * WARP + lane;
        const K behind = i + WARP < g.items ? keys[i + WARP] : 0;
        walk_row(g, i - lane, &w);
        const fate f = walk_fate(w, i < g.items, before, key, behind, e);
        const unsigned go = __ballot_sync(~0u, f.goes_on), starts = __ballot_sync(~0u, f.goes_on && f.head);
        if (i < g.items) {
            const unsigned below = (1u << lane) - 1;
            const int64_t group = walk_group(w);
            const uint32_t id = g.id[i], place = g.base[group] + (uint32_t)(i - g.begin[group]);
            if (f.goes_on) {
                const int64_t at = item + __popc(go & below);
                next.id[at] = id;
                if (f.head) {
                    const int64_t k = run + __popc(starts & below);
                    next.begin[k] = (int32_t)at;
                    next.base[k] = place;
                    if (ranks != NULL) {
                        next.rank[k] = g.rank[group] & ~LSP_RANK_NEW;
                    }
                }
            } else {
                order[place] = id;
                if (list.id != NULL) {
                    const int64_t at = g.items - 1 - (i - item - __popc(go & below));
                    list.id[at] = id;
                    list.rank[at] = place;
                } else if (ranks != NULL) {
                    ranks[id] = place;
                }
            }
        }
        item += __popc(go);
        run += __popc(starts);
        before = __shfl_sync(~0u, key, WARP - 1);
        key = behind;
    }
    if (lane == 0 && begin + GROUPS_ITEMS >= g.items) {
        next.begin[run] = (int32_t)item;
    }
}

/* ---- ranks: the rank of a suffix is a place of its group, so that ranks compare as groups do ---- */

/* A group keeps the rank it has if that is one of its places; else it gets the middle one. all: none has a rank yet.
 * *changed += the suffixes that get another rank. */
static __global__ void __launch_bounds__(TEXT_NT) kernel_rank_groups(groups g, bool all, ull *changed) {
    ull sum = 0;
    EACH_ITEM(k, g.count, TEXT_NT) {
        const uint32_t low = g.base[k], items = (uint32_t)(g.begin[k + 1] - g.begin[k]);
        if (all || g.rank[k] - low >= items) {
            g.rank[k] = (low + items / 2) | LSP_RANK_NEW;
            sum += items;
        }
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0 && sum > 0) {
        atomicAdd(changed, sum);
    }
}

/* Unfinished suffixes go to their places too: in no certain order within a group. */
static __global__ void __launch_bounds__(GROUPS_NT) kernel_place(groups g, uint32_t *order) {
    each_grouped(g, [&](int64_t i, int64_t group) { order[g.base[group] + (uint32_t)(i - g.begin[group])] = g.id[i]; });
}

/* As ranks of the suffixes in `order`: their places. */
static __global__ void __launch_bounds__(TEXT_NT) kernel_list_places(int64_t n, uint32_t *ranks) {
    EACH_ITEM(r, n, TEXT_NT) { ranks[r] = (uint32_t)r; }
}

/* The same for unfinished suffixes: the ranks of their groups. */
static __global__ void __launch_bounds__(GROUPS_NT) kernel_list_groups(groups g, uint32_t *ranks) {
    each_grouped(g, [&](int64_t i, int64_t group) {
        ranks[g.base[group] + (uint32_t)(i - g.begin[group])] = g.rank[group] & ~LSP_RANK_NEW;
    });
}

static __global__ void __launch_bounds__(TEXT_NT) kernel_write_list(rank_list list, int64_t n, uint32_t *ranks) {
    EACH_ITEM(i, n, TEXT_NT) {
        const uint32_t id = list.id[i];
        if (id != LSP_NO_ID) {
            ranks[id] = list.rank[i];
        }
    }
}

/* Writes the new ranks of groups to their suffixes, or to the begin of the list. */
static __global__ void __launch_bounds__(GROUPS_NT) kernel_write_ranks(groups g, uint32_t *ranks, rank_list list) {
    each_grouped(g, [&](int64_t i, int64_t group) {
        const uint32_t rank = g.rank[group];
        if (list.id != NULL) {
            list.id[i] = rank & LSP_RANK_NEW ? g.id[i] : LSP_NO_ID;
            list.rank[i] = rank & ~LSP_RANK_NEW;
        } else if (rank & LSP_RANK_NEW) {
            ranks[g.id[i]] = rank & ~LSP_RANK_NEW;
        }
    });
}

/* ---- keys of the unfinished ---- */

static __global__ void __launch_bounds__(TEXT_NT)
    kernel_text_keys(lsp_packed t, groups g, int64_t offset, uint64_t *keys) {
    EACH_ITEM(i, g.items, TEXT_NT) { keys[i] = text_key(t, g.id[i], offset); }
}

/* The rank of what begins `offset` behind suffix `id`; before them those that have ended: one text, the shorter first;
 * a set, all have the same length, in their order. */
__device__ inline uint32_t rank_key(const lsp_packed &t, uint32_t id, int64_t offset, const uint32_t *ranks) {
    const uint32_t n = (uint32_t)t.n;
    const int64_t at = id + offset;
    return t.first != NULL && lsp_is_first(t.first, min(at, t.n)) ? id : at < t.n ? n + ranks[at] : n - id;
}

static __global__ void __launch_bounds__(TEXT_NT)
    kernel_rank_keys(lsp_packed t, groups g, int64_t offset, const uint32_t *ranks, uint32_t *keys) {
    EACH_ITEM(i, g.items, TEXT_NT) { keys[i] = rank_key(t, g.id[i], offset, ranks); }
}
