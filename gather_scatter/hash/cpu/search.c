/* Hash search on the host. Threads take shares of the probes. Probes are searched in
 * groups: the buckets of a group are prefetched before those of the group before it are read. */
#include "gather_scatter/hash/hash.h"
#include <string.h>

enum {
    WORTH_A_THREAD = 1 << 14, /* probes */
    GROUP = 32                /* probes whose buckets are on their way together */
};

typedef struct search_job {
    const lsp_hash_view *table;
    const lsp_hash_probes *probes;
    int64_t *offsets;
    uint64_t *at;
    int64_t left; /* matches to come, of all probes */
} search_job;

/* Properties of a table that the compiler knows in an instance of the search. */
typedef struct search_form {
    lsp_hash_kind kind;
    bool wide; /* keys of 8 bytes */
    int bytes; /* of a value */
} search_form;

#define INLINED static inline __attribute__((always_inline))

/* The matches of a mixed key. Free slots and keys that are not there are as likely as others, so there is no branch
 * before all slots are compared. */
INLINED lsp_hash_match look(const lsp_hash_view *t, search_form form, uint64_t mixed, uint32_t bucket) {
    enum { NARROW = LSP_HASH_LINE / sizeof(lsp_hash_narrow), WIDE = LSP_HASH_LINE / sizeof(lsp_hash_wide) };
    const uint64_t filler = lsp_hash_filler(bucket, t->buckets);
    uint64_t slot;
    bool hit = false, link;
    if (form.kind == LSP_HASH_NARROW) {
        const lsp_hash_narrow *line = (const lsp_hash_narrow *)t->lines + (int64_t)bucket * NARROW;
        slot = line[NARROW - 1].value;
        link = line[NARROW - 1].key == (uint32_t)filler && slot != UINT32_MAX;
        for (int s = 0; s < NARROW; s++) {
            const bool equal = line[s].key == (uint32_t)mixed;
            slot = equal ? line[s].value : slot;
            hit |= equal;
        }
    } else {
        const lsp_hash_wide *line = (const lsp_hash_wide *)t->lines + (int64_t)bucket * WIDE;
        slot = line[WIDE - 1].value;
        link = line[WIDE - 1].key == filler && slot != UINT64_MAX;
        for (int s = 0; s < WIDE; s++) {
            const bool equal = line[s].key == mixed;
            slot = equal ? line[s].value : slot;
            hit |= equal;
        }
    }
    if (__builtin_expect(link && !hit, 0)) {
        return lsp_hash_beyond(t, (int64_t)slot, mixed);
    }
    lsp_hash_match match = {hit, slot};
    return form.kind == LSP_HASH_RUNS && hit ? lsp_hash_match_of(t, slot) : match;
}

/* A group of probes whose buckets are on their way. */
typedef struct group {
    uint64_t mixed[GROUP];
    uint32_t bucket[GROUP];
} group;

INLINED void begin_group(const lsp_hash_view *t, search_form form, const void *keys, int64_t first, int64_t count,
                         group *g) {
    for (int64_t i = 0; i < count; i++) {
        g->mixed[i] = lsp_hash_mixed(keys, first + i, form.wide, t->seed);
        g->bucket[i] = lsp_hash_bucket(g->mixed[i], form.wide, t->buckets);
        __builtin_prefetch((const char *)t->lines + (int64_t)g->bucket[i] * LSP_HASH_LINE);
    }
}

/* What a search does with the matches of the probes first .. first + count - 1. */
typedef void (*use_matches)(search_job *job, search_form form, int64_t first, int64_t count,
                            const lsp_hash_match *match);

/* Searches the probes begin .. end-1, a group at a time, while the buckets of the next group are on their way. */
INLINED void each_group(search_job *job, search_form form, int64_t begin, int64_t end, use_matches use) {
    const lsp_hash_view *t = job->table;
    const void *keys = job->probes->keys;
    group groups[2] = {0};
    lsp_hash_match match[GROUP];
    begin_group(t, form, keys, begin, lsp_min(GROUP, end - begin), &groups[0]);
    for (int64_t first = begin, turn = 0; first < end; first += GROUP, turn ^= 1) {
        const int64_t count = lsp_min(GROUP, end - first), next = first + count;
        begin_group(t, form, keys, next, lsp_min(GROUP, end - next), &groups[turn ^ 1]);
        for (int64_t i = 0; i < count; i++) {
            match[i] = look(t, form, groups[turn].mixed[i], groups[turn].bucket[i]);
        }
        use(job, form, first, count, match);
    }
}

/* Searches by the instance for the table's kind of slots and keys. */
INLINED void each_group_of(search_job *job, int bytes, int64_t begin, int64_t end, use_matches use) {
#define EACH(kind, wide) each_group(job, (search_form){(kind), (wide), bytes}, begin, end, use)
    const lsp_hash_view *t = job->table;
    if (t->kind == LSP_HASH_NARROW) {
        EACH(LSP_HASH_NARROW, false);
    } else if (t->kind == LSP_HASH_WIDE) {
        t->wide_keys ? EACH(LSP_HASH_WIDE, true) : EACH(LSP_HASH_WIDE, false);
    } else {
        t->wide_keys ? EACH(LSP_HASH_RUNS, true) : EACH(LSP_HASH_RUNS, false);
    }
}

/* Writes values number `first` .. first + count - 1 of a match to values[to] and following. */
INLINED void put_values(const lsp_hash_view *t, search_form form, void *values, int64_t to, lsp_hash_match match,
                        int64_t first, int64_t count) {
    const size_t bytes = (size_t)form.bytes;
    if (count == 0 || bytes == 0) {
        return;
    }
    if (form.kind == LSP_HASH_RUNS) {
        memcpy((char *)values + (size_t)to * bytes, (const char *)t->values + (match.at + (uint64_t)first) * bytes,
               (size_t)count * bytes);
    } else {
        lsp_index_set(values, bytes == 4 ? LSP_I32 : LSP_I64, to, (int64_t)match.at);
    }
}

/* The begins of runs that will be read soon. */
INLINED void fetch_runs(const lsp_hash_view *t, search_form form, const lsp_hash_match *match, int64_t count) {
    for (int64_t i = 0; form.kind == LSP_HASH_RUNS && form.bytes > 0 && i < count; i++) {
        if (match[i].count > 0) {
            __builtin_prefetch((const char *)t->values + match[i].at * (uint64_t)form.bytes);
        }
    }
}

INLINED void use_first(search_job *job, search_form form, int64_t first, int64_t count, const lsp_hash_match *match) {
    const lsp_hash_view *t = job->table;
    const lsp_hash_probes *probes = job->probes;
    const size_t bytes = (size_t)form.bytes;
    fetch_runs(t, form, match, count);
    for (int64_t i = 0; i < count; i++) {
        const bool found = match[i].count > 0;
        if (form.kind == LSP_HASH_NARROW && bytes == 4) {
            ((uint32_t *)probes->values)[first + i] = found ? (uint32_t)match[i].at : t->positions ? UINT32_MAX : 0;
        } else if (found) {
            put_values(t, form, probes->values, first + i, match[i], 0, 1);
        } else if (bytes > 0) {
            memset((char *)probes->values + (size_t)(first + i) * bytes, t->positions ? 0xFF : 0, bytes);
        }
    }
    for (int64_t i = 0; probes->found && i < count; i++) {
        probes->found[first + i] = match[i].count > 0;
    }
}

static void find_share(void *data, int64_t begin, int64_t end) {
    search_job *job = data;
    switch (job->table->value_bytes) {
    case 0:
        each_group_of(job, 0, begin, end, use_first);
        break;
    case 4:
        each_group_of(job, 4, begin, end, use_first);
        break;
    case 8:
        each_group_of(job, 8, begin, end, use_first);
        break;
    default:
        each_group_of(job, 16, begin, end, use_first);
    }
}

static lsp_status find(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes) {
    search_job job = {.table = t, .probes = probes};
    lsp_for_shares(ctx, probes->n, WORTH_A_THREAD, find_share, &job);
    return LSP_OK;
}

INLINED void use_counts(search_job *job, search_form form, int64_t first, int64_t count, const lsp_hash_match *match) {
    (void)form;
    for (int64_t i = 0; i < count; i++) {
        job->offsets[first + i + 1] = match[i].count;
        if (job->at) {
            job->at[first + i] = match[i].at;
        }
    }
}

static void matches_share(void *data, int64_t begin, int64_t end) {
    search_job *job = data;
    each_group_of(job, job->table->value_bytes, begin, end, use_counts);
}

static lsp_status count(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes, int64_t *offsets,
                        uint64_t *at) {
    search_job job = {.table = t, .probes = probes, .offsets = offsets, .at = at};
    lsp_for_shares(ctx, probes->n, WORTH_A_THREAD, matches_share, &job);
    lsp_prefix_sum(ctx, offsets, probes->n);
    return LSP_OK;
}

static void gather_share(void *data, int64_t begin, int64_t end) {
    enum { AHEAD = 16 };
    const search_job *job = data;
    const lsp_hash_view *t = job->table;
    const search_form form = {t->kind, t->wide_keys, t->value_bytes};
    for (int64_t i = begin; i < end; i++) {
        const int64_t ahead = lsp_min(i + AHEAD, end - 1);
        if (t->kind == LSP_HASH_RUNS) {
            __builtin_prefetch((const char *)t->values + job->at[ahead] * (uint64_t)t->value_bytes);
        }
        put_values(t, form, job->probes->values, job->offsets[i], (lsp_hash_match){1, job->at[i]}, 0,
                   job->offsets[i + 1] - job->offsets[i]);
    }
}

static lsp_status fetch(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes, const int64_t *offsets,
                        const uint64_t *at, int64_t total) {
    search_job job = {.table = t, .probes = probes, .offsets = (int64_t *)offsets, .at = (uint64_t *)at};
    (void)total;
    lsp_for_shares(ctx, probes->n, WORTH_A_THREAD, gather_share, &job);
    return LSP_OK;
}

INLINED void use_some(search_job *job, search_form form, int64_t first, int64_t count, const lsp_hash_match *match) {
    const lsp_hash_probes *probes = job->probes;
    int64_t left = 0;
    fetch_runs(job->table, form, match, count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t from = lsp_hash_cursor(probes->cursors[first + i], match[i].count);
        const int64_t taken = lsp_min(match[i].count - from, probes->cap);
        put_values(job->table, form, probes->values, (first + i) * probes->cap, match[i], from, taken);
        probes->counts[first + i] = (int32_t)taken;
        probes->cursors[first + i] = from + taken;
        left += match[i].count - from - taken;
    }
    __atomic_fetch_add(&job->left, left, __ATOMIC_RELAXED);
}

static void some_share(void *data, int64_t begin, int64_t end) {
    search_job *job = data;
    each_group_of(job, job->table->value_bytes, begin, end, use_some);
}

static lsp_status some(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes) {
    search_job job = {.table = t, .probes = probes};
    lsp_for_shares(ctx, probes->n, WORTH_A_THREAD, some_share, &job);
    LSP_TELL(probes->left, job.left);
    return LSP_OK;
}

const lsp_hash_backend lsp_hash_cpu = {.count_distinct = lsp_hash_count_distinct_cpu,
                                       .compact = lsp_hash_compact_cpu,
                                       .fill_lines = lsp_hash_fill_cpu,
                                       .find = find,
                                       .count = count,
                                       .fetch = fetch,
                                       .some = some};
