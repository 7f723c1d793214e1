/* libsparse/hash.h: tables of keys that are searched. Part of libsparse.h, which states the rules for all functions. */
#ifndef LIBSPARSE_HASH_H
#define LIBSPARSE_HASH_H

#include "core.h"

LSP_BEGIN_DECLS

enum {
    LSP_HASH_POSITIONS = 1 /* the value of a key is its position in the array of keys; no values are read */
};

/* What a table is made of: n keys, and a value for each of them or none. */
typedef struct lsp_hash_args {
    int64_t n;                 /* fewer than 2^40 */
    lsp_type key_type;         /* LSP_I32, LSP_U32, LSP_I64 or LSP_U64; every pattern of bits is an ordinary key */
    size_t value_bytes;        /* 0 (no values), 4, 8 or 16; of a position 4 (unsigned) or 8 */
    const void *keys, *values; /* values: NULL when value_bytes is 0, and for positions */
    unsigned flags;            /* LSP_HASH_... */
    double load;     /* distinct keys over slots, 0.05 to 1; 0: 0.5. A fuller table is smaller, and slower where more
                        buckets overflow */
    uint64_t seed;   /* of the hash function; never changes a result */
    lsp_where where; /* where keys and values lie, and the table will */
    int64_t reserved[LSP_RESERVED];
} lsp_hash_args;

typedef struct lsp_hash_info {
    int64_t n, distinct;  /* keys; different ones */
    int64_t buckets;      /* each is a line of 64 bytes */
    int slots;            /* of a bucket */
    int64_t bytes;        /* held by the table */
    size_t value_bytes;   /* as asked for */
    const char *contents; /* of a slot: "values", or "runs": where the values of a key begin, and how many there are */
    int64_t reserved[LSP_RESERVED];
} lsp_hash_info;

typedef struct lsp_hash lsp_hash;

/* Builds a table. All keys are kept; the values of equal keys stay in the order of their positions. The arrays may be
 * freed or changed afterwards. The table belongs to the context. Waits for a GPU once, for the number of distinct keys.
 *     lsp_hash_args args = {.n = n, .key_type = LSP_U32, .value_bytes = 4, .keys = keys, .flags = LSP_HASH_POSITIONS};
 *     lsp_hash_build(ctx, &args, &table); */
LSP_API lsp_status lsp_hash_build(lsp_ctx *ctx, const lsp_hash_args *args, lsp_hash **table);
LSP_API void lsp_hash_destroy(lsp_hash *table);
LSP_API lsp_status lsp_hash_get_info(const lsp_hash *table, lsp_hash_info *info);

/* What is searched: n probes, keys of the table's type that lie where the table does, and where results go. */
typedef struct lsp_hash_probes {
    int64_t n;
    const void *keys;
    void *values;         /* results. Their number is said at each function. NULL if the table has no values */
    unsigned char *found; /* lsp_hash_find: NULL, or n bytes: 1 if the key is in the table, else 0 */
    int64_t *offsets;     /* lsp_hash_count, lsp_hash_find_all: n + 1 */
    int64_t capacity;     /* lsp_hash_find_all: values that fit */
    int64_t cap;          /* lsp_hash_find_some: most values of a probe, at least 1 */
    int64_t *cursors;     /* lsp_hash_find_some: n */
    int32_t *counts;      /* lsp_hash_find_some: n */
    int64_t *left;        /* lsp_hash_find_some: NULL, or one */
    int64_t reserved[LSP_RESERVED];
} lsp_hash_probes;

/* values[i] = the value of the first one (by position) of the keys that equal probe i. Of a key that is not in the
 * table it is -1 if values are positions, else 0. On a GPU nothing waits, nothing is allocated, and the call can be
 * captured in a CUDA graph. */
LSP_API lsp_status lsp_hash_find(lsp_hash *table, const lsp_hash_probes *probes);

/* offsets[i] = the number of matches of all probes before i; offsets[n] of all. Does not wait. */
LSP_API lsp_status lsp_hash_count(lsp_hash *table, const lsp_hash_probes *probes);

/* Sets offsets as lsp_hash_count does; values[offsets[i]] .. values[offsets[i + 1] - 1] = those of all matches of probe
 * i, in the order of positions. *total: NULL, or all matches, known even if they do not fit the capacity: then
 * LSP_ERR_OVERFLOW, and nothing else is written. Waits for a GPU once, for the total. */
LSP_API lsp_status lsp_hash_find_all(lsp_hash *table, const lsp_hash_probes *probes, int64_t *total);

/* The next matches of each probe, at most `cap`: values[i * cap] and following get those from number cursors[i] on,
 * counts[i] is how many they are, and cursors[i] grows by it. Cursors begin at 0. *left becomes the number of matches
 * that are still to come: call again until it is 0. On a GPU `left` is device memory, nothing waits, nothing is
 * allocated, and the call can be captured. */
LSP_API lsp_status lsp_hash_find_some(lsp_hash *table, const lsp_hash_probes *probes);

LSP_END_DECLS
#endif
