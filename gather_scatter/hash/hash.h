/* Inside hash search: the table and how it is read, for the host and for kernels.
 *
 * Keys are mixed by a bijection, so that equal mixed keys are equal keys, and sorted by their mixed keys. The bucket of
 * a mixed key is its leading bits scaled to the number of buckets: sorted keys are in the order of their buckets. Each
 * bucket is a line of 64 bytes with the first distinct keys of the bucket, ascending. If there are more, the last slot
 * is a link to the rest in the array of sorted keys. So one read answers nearly all probes. */
#pragma once

#include "core/core.h"

LSP_BEGIN_DECLS

enum { LSP_HASH_LINE = 64 }; /* bytes of a bucket */

/* What a slot holds beside the mixed key. */
typedef enum lsp_hash_kind {
    LSP_HASH_NARROW, /* 8 bytes: key of 4 bytes, value of 4. All keys are distinct */
    LSP_HASH_WIDE,   /* 16 bytes: key of 8 bytes, value of 8. All keys are distinct */
    LSP_HASH_RUNS    /* 16 bytes: key of 8 bytes, a run: where the values of the key begin, and their number. On a GPU a
                        key of 4 bytes has the first value beside it, if that has 4 bytes too */
} lsp_hash_kind;
enum { LSP_HASH_BEGIN_BITS = 40 }; /* of a run; its number of values stands above */
#define LSP_HASH_BEGIN_MASK ((UINT64_C(1) << LSP_HASH_BEGIN_BITS) - 1)
#define LSP_HASH_MANY                                                                                                  \
    (UINT64_MAX >> LSP_HASH_BEGIN_BITS) /* values or more: the run's begin is the key's number instead */

typedef struct lsp_hash_narrow {
    uint32_t key, value;
} lsp_hash_narrow;
typedef struct lsp_hash_wide {
    uint64_t key, value;
} lsp_hash_wide;

/* A table as those who read it see it. */
typedef struct lsp_hash_view {
    lsp_hash_kind kind;
    bool wide_keys; /* of 8 bytes */
    bool positions; /* the value of an absent key is -1 */
    int value_bytes;
    uint64_t seed;
    void *lines;
    uint32_t buckets; /* 2 or more */
    void *keys;       /* distinct mixed keys, ascending */
    void *values;     /* in the order of mixed keys, then of positions */
    int64_t *heads;   /* the values of key u are heads[u] .. heads[u + 1] - 1. NULL: it has value u alone */
    int64_t distinct, n;
} lsp_hash_view;

/* Matches of a probe. */
typedef struct lsp_hash_match {
    int64_t count;
    uint64_t at; /* LSP_HASH_RUNS: the first one's place among the values; else the value */
} lsp_hash_match;

struct lsp_hash {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_where where;
    lsp_hash_view view;
    lsp_hash_info info;
};

/* ---- keys and buckets ---- */

/* Bijections whose every result bit depends on every bit of the key. */
static inline LSP_BOTH_SIDES uint32_t lsp_hash_mix32(uint32_t key, uint64_t seed) {
    uint32_t x = key ^ (uint32_t)seed ^ (uint32_t)(seed >> 32);
    x = (x ^ x >> 16) * 0x85EBCA6Bu;
    x = (x ^ x >> 13) * 0xC2B2AE35u;
    return x ^ x >> 16;
}
static inline LSP_BOTH_SIDES uint64_t lsp_hash_mix64(uint64_t key, uint64_t seed) {
    uint64_t x = key ^ seed;
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}
/* The mixed key of keys[i]. */
static inline LSP_BOTH_SIDES uint64_t lsp_hash_mixed(const void *keys, int64_t i, bool wide, uint64_t seed) {
    return wide ? lsp_hash_mix64(((const uint64_t *)keys)[i], seed) : lsp_hash_mix32(((const uint32_t *)keys)[i], seed);
}
/* Element i of mixed keys. */
static inline LSP_BOTH_SIDES uint64_t lsp_hash_key_at(const void *keys, int64_t i, bool wide) {
    return wide ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
}
static inline LSP_BOTH_SIDES uint32_t lsp_hash_bucket(uint64_t mixed, bool wide, uint32_t buckets) {
    return (uint32_t)((wide ? mixed >> 32 : mixed) * buckets >> 32);
}
/* The key of free slots of a bucket, and of its link: it belongs to another bucket, so no probe here equals it. */
static inline LSP_BOTH_SIDES uint64_t lsp_hash_filler(uint32_t bucket, uint32_t buckets) {
    return bucket == buckets - 1 ? 0 : UINT64_MAX;
}

/* The first distinct key at u or behind it that is not below `mixed`. */
static inline LSP_BOTH_SIDES int64_t lsp_hash_lower(const lsp_hash_view *t, int64_t u, uint64_t mixed) {
    enum { NEAR = 8 };
    const int64_t high = t->distinct;
    for (int i = 0; i < NEAR; i++, u++) { /* usually one or two are beyond a bucket */
        if (u >= high || lsp_hash_key_at(t->keys, u, t->wide_keys) >= mixed) {
            return u;
        }
    }
    return LSP_FIRST(u, high, middle, lsp_hash_key_at(t->keys, middle, t->wide_keys) >= mixed);
}

/* ---- values ---- */

/* Value i of the table's values, of up to 8 bytes; 0 if it has none. */
static inline LSP_BOTH_SIDES uint64_t lsp_hash_value_at(const lsp_hash_view *t, int64_t i) {
    return t->value_bytes == 4   ? ((const uint32_t *)t->values)[i]
           : t->value_bytes == 8 ? ((const uint64_t *)t->values)[i]
                                 : 0;
}
/* What the slot of distinct key u holds beside the key. */
static inline LSP_BOTH_SIDES uint64_t lsp_hash_slot_of(const lsp_hash_view *t, int64_t u) {
    if (t->kind != LSP_HASH_RUNS) {
        return lsp_hash_value_at(t, u);
    }
    const uint64_t begin = (uint64_t)(t->heads ? t->heads[u] : u);
    const uint64_t count = t->heads ? (uint64_t)t->heads[u + 1] - begin : 1;
    return count < LSP_HASH_MANY ? count << LSP_HASH_BEGIN_BITS | begin
                                 : LSP_HASH_MANY << LSP_HASH_BEGIN_BITS | (uint64_t)u;
}
/* The matches that a slot tells. */
static inline LSP_BOTH_SIDES lsp_hash_match lsp_hash_match_of(const lsp_hash_view *t, uint64_t slot) {
    lsp_hash_match match = {1, slot};
    if (t->kind == LSP_HASH_RUNS) {
        match.count = (int64_t)(slot >> LSP_HASH_BEGIN_BITS);
        match.at = slot & LSP_HASH_BEGIN_MASK;
        if ((uint64_t)match.count == LSP_HASH_MANY) {
            const int64_t u = (int64_t)match.at;
            match.at = (uint64_t)t->heads[u];
            match.count = t->heads[u + 1] - t->heads[u];
        }
    }
    return match;
}
/* The matches among the keys beyond a bucket, from key `link` on. */
static inline LSP_BOTH_SIDES lsp_hash_match lsp_hash_beyond(const lsp_hash_view *t, int64_t link, uint64_t mixed) {
    const int64_t u = lsp_hash_lower(t, link, mixed);
    if (u < t->distinct && lsp_hash_key_at(t->keys, u, t->wide_keys) == mixed) {
        return lsp_hash_match_of(t, lsp_hash_slot_of(t, u));
    }
    const lsp_hash_match none = {0, 0};
    return none;
}

/* A cursor of the caller's, among `count` matches. */
static inline LSP_BOTH_SIDES int64_t lsp_hash_cursor(int64_t cursor, int64_t count) {
    return cursor < 0 ? 0 : cursor > count ? count : cursor;
}

/* ---- cpu/search.c, cpu/build.c and gpu/hash.cu ---- */

typedef struct lsp_hash_backend {
    /* The number of distinct ones of n sorted keys; `counts` has lsp_hash_tiles(n) words where the keys are, which
     * `compact` needs. Waits. */
    lsp_status (*count_distinct)(lsp_ctx *ctx, const void *sorted, const lsp_hash_view *t, int64_t *counts,
                                 int64_t *distinct);
    /* Sets the distinct keys and heads. */
    lsp_status (*compact)(lsp_ctx *ctx, const void *sorted, const lsp_hash_view *t, const int64_t *counts);
    lsp_status (*fill_lines)(lsp_ctx *ctx, const lsp_hash_view *t);
    lsp_status (*find)(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes);
    /* offsets[0 .. n]: prefix sums of the matches; at: NULL, or each probe's lsp_hash_match.at. */
    lsp_status (*count)(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes, int64_t *offsets,
                        uint64_t *at);
    lsp_status (*fetch)(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes, const int64_t *offsets,
                        const uint64_t *at, int64_t total);
    lsp_status (*some)(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes);
} lsp_hash_backend;
lsp_status lsp_hash_count_distinct_cpu(lsp_ctx *ctx, const void *sorted, const lsp_hash_view *t, int64_t *counts,
                                       int64_t *distinct);
lsp_status lsp_hash_compact_cpu(lsp_ctx *ctx, const void *sorted, const lsp_hash_view *t, const int64_t *counts);
lsp_status lsp_hash_fill_cpu(lsp_ctx *ctx, const lsp_hash_view *t);
extern const lsp_hash_backend lsp_hash_cpu, lsp_hash_cuda;
static inline const lsp_hash_backend *lsp_hash_backend_of(lsp_where where) {
    return where == LSP_CUDA ? &lsp_hash_cuda : &lsp_hash_cpu;
}

/* Sorted keys are counted by tiles. */
enum { LSP_HASH_TILE = 2048 };
static inline LSP_BOTH_SIDES int64_t lsp_hash_tiles(int64_t n) { return (n + LSP_HASH_TILE - 1) / LSP_HASH_TILE; }

static inline int lsp_hash_slots(lsp_hash_kind kind) {
    return LSP_HASH_LINE / (int)(kind == LSP_HASH_NARROW ? sizeof(lsp_hash_narrow) : sizeof(lsp_hash_wide));
}

LSP_END_DECLS
