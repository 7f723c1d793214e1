/* Builds tables on the host. Threads take shares of the keys, of the tiles of sorted keys, or of the buckets. */
#include "gather_scatter/hash/hash.h"

enum { WORTH_A_THREAD = 1 << 14 /* keys */ };

/* Sorted keys whose distinct ones are counted, and then listed, tile by tile. */
typedef struct distinct_job {
    const void *sorted;
    bool wide;
    int64_t n;
    int64_t *counts; /* of each tile; when they are listed: of all tiles up to it */
    void *keys;
    int64_t *heads;
} distinct_job;

static bool is_head(const distinct_job *job, int64_t i) {
    return i == 0 || lsp_hash_key_at(job->sorted, i, job->wide) != lsp_hash_key_at(job->sorted, i - 1, job->wide);
}

static void count_share(void *data, int64_t first, int64_t last) {
    const distinct_job *job = data;
    for (int64_t tile = first; tile < last; tile++) {
        const int64_t end = lsp_min((tile + 1) * LSP_HASH_TILE, job->n);
        job->counts[tile] = 0;
        for (int64_t i = tile * LSP_HASH_TILE; i < end; i++) {
            job->counts[tile] += is_head(job, i);
        }
    }
}

static void list_share(void *data, int64_t first, int64_t last) {
    const distinct_job *job = data;
    const lsp_type type = job->wide ? LSP_I64 : LSP_I32;
    for (int64_t tile = first; tile < last; tile++) {
        const int64_t end = lsp_min((tile + 1) * LSP_HASH_TILE, job->n);
        int64_t u = tile > 0 ? job->counts[tile - 1] : 0;
        for (int64_t i = tile * LSP_HASH_TILE; i < end; i++) {
            if (is_head(job, i)) {
                lsp_index_set(job->keys, type, u, lsp_index_at(job->sorted, type, i));
                job->heads[u++] = i;
            }
        }
    }
}

lsp_status lsp_hash_count_distinct_cpu(lsp_ctx *ctx, const void *sorted, const lsp_hash_view *t, int64_t *counts,
                                       int64_t *distinct) {
    distinct_job job = {.sorted = sorted, .wide = t->wide_keys, .n = t->n, .counts = counts};
    const int64_t tiles = lsp_hash_tiles(t->n);
    lsp_for_shares(ctx, tiles, WORTH_A_THREAD / LSP_HASH_TILE, count_share, &job);
    *distinct = 0;
    for (int64_t tile = 0; tile < tiles; tile++) {
        *distinct = counts[tile] += *distinct;
    }
    return LSP_OK;
}

lsp_status lsp_hash_compact_cpu(lsp_ctx *ctx, const void *sorted, const lsp_hash_view *t, const int64_t *counts) {
    distinct_job job = {sorted, t->wide_keys, t->n, (int64_t *)counts, t->keys, t->heads};
    lsp_for_shares(ctx, lsp_hash_tiles(t->n), WORTH_A_THREAD / LSP_HASH_TILE, list_share, &job);
    t->heads[t->distinct] = t->n;
    return LSP_OK;
}

static void set_slot(const lsp_hash_view *t, int64_t slot, uint64_t key, uint64_t value) {
    if (t->kind == LSP_HASH_NARROW) {
        ((lsp_hash_narrow *)t->lines)[slot] = (lsp_hash_narrow){(uint32_t)key, (uint32_t)value};
    } else {
        ((lsp_hash_wide *)t->lines)[slot] = (lsp_hash_wide){key, value};
    }
}

/* The first distinct key whose bucket is `bucket` or a later one. */
static int64_t first_of(const lsp_hash_view *t, int64_t bucket) {
    return LSP_FIRST((int64_t)0, t->distinct, u,
                     lsp_hash_bucket(lsp_hash_key_at(t->keys, u, t->wide_keys), t->wide_keys, t->buckets) >= bucket);
}

static void fill_share(void *data, int64_t begin, int64_t end) {
    const lsp_hash_view *t = data;
    const int slots = lsp_hash_slots(t->kind);
    int64_t u = first_of(t, begin);
    for (int64_t b = begin; b < end; b++) {
        const uint64_t filler = lsp_hash_filler((uint32_t)b, t->buckets);
        int64_t beyond = u; /* the first key of a later bucket, or the first that does not fit and is sure to be one */
        int used = 0;
        while (beyond < t->distinct && used <= slots &&
               lsp_hash_bucket(lsp_hash_key_at(t->keys, beyond, t->wide_keys), t->wide_keys, t->buckets) == b) {
            beyond++, used++;
        }
        const int kept = used > slots ? slots - 1 : used;
        for (int s = 0; s < slots; s++) {
            const bool link = s >= kept && used > slots, taken = s < kept;
            set_slot(t, b * slots + s, taken ? lsp_hash_key_at(t->keys, u + s, t->wide_keys) : filler,
                     taken  ? lsp_hash_slot_of(t, u + s)
                     : link ? (uint64_t)(u + s)
                            : UINT64_MAX);
        }
        u = used > slots ? first_of(t, b + 1) : beyond;
    }
}

lsp_status lsp_hash_fill_cpu(lsp_ctx *ctx, const lsp_hash_view *t) {
    lsp_for_shares(ctx, t->buckets, WORTH_A_THREAD / 8, fill_share, (void *)t);
    return LSP_OK;
}
