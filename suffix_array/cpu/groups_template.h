/* Groups of suffixes that are equal as far as they were compared, and the step that all rounds share: sort each group
 * by the next keys, find the runs of equal keys, keep those of more than one suffix as the groups of the next round.
 * Included with INDEX (a signed type), INDEX_TYPE, and T(name), which adds a suffix to a name. */

/* Suffixes that are not in their final order yet. Group g has the items begin[g] .. begin[g + 1] - 1; together they own
 * as many places of `order`, from base[g] on. */
typedef struct T(groups) {
    int64_t items, count;
    INDEX *id; /* the suffixes */
    INDEX *begin, *base;
    INDEX *next_begin, *next_base; /* room for those of the next round */
    INDEX *order;                  /* all suffixes, sorted as far as is known */
    INDEX *rank;                   /* NULL, or of each suffix: a place of its group */
    uint8_t *head;                 /* NULL, or for each place of `order`: does it differ from the one before? */
} T(groups);

typedef struct T(settling) {
    T(groups) * groups;
    const void *keys;
    int key_bytes;       /* 4 or 8 */
    uint64_t mask, stop; /* equal keys with (key & mask) == stop belong to suffixes that need no further round */
    int64_t shares;
    int64_t *from, *items, *count; /* of each share: where its survivors lie, and how many items and groups */
} T(settling);

static inline uint64_t T(key_at)(const T(settling) * s, int64_t i) {
    return s->key_bytes == 8 ? ((const uint64_t *)s->keys)[i] : ((const uint32_t *)s->keys)[i];
}

/* The share's runs begin in it. Its survivors are moved to its first run, its groups to half that place. */
static void T(settle_share)(void *data, int64_t share, int thread) {
    const T(settling) *s = data;
    T(groups) *g = s->groups;
    int64_t begin, end, out, groups = 0;
    (void)thread;
    lsp_share(g->items, (int)share, (int)s->shares, &begin, &end);
    int64_t group = LSP_FIRST((int64_t)0, g->count, middle, g->begin[middle] > begin) - 1;
    int64_t i = begin;
    while (i < end && i > g->begin[group] && T(key_at)(s, i) == T(key_at)(s, i - 1)) {
        i++;
        group += i == g->begin[group + 1];
    }
    out = s->from[share] = i;
    INDEX *next_begin = g->next_begin + out / 2 + share, *next_base = g->next_base + out / 2 + share;
    while (i < end) {
        const int64_t first = g->begin[group], last = g->begin[group + 1], base = g->base[group];
        const INDEX old = g->rank != NULL ? g->rank[g->id[i]] : 0;
        for (; i < last && i < end;) {
            int64_t j = i + 1;
            const uint64_t key = T(key_at)(s, i);
            while (j < last && T(key_at)(s, j) == key) {
                j++;
            }
            const int64_t place = base + (i - first);
            if (g->head != NULL) {
                g->head[place] = 1;
            }
            if (g->rank != NULL && (old < place || old >= place + (j - i))) { /* else the rank of before still serves */
                for (int64_t k = i; k < j; k++) {
                    g->rank[g->id[k]] = (INDEX)(place + (j - i) / 2);
                }
            }
            for (int64_t k = i; k < j; k++) {
                g->order[place + (k - i)] = g->id[k];
            }
            if (j - i > 1 && (key & s->mask) != s->stop) {
                next_begin[groups] = (INDEX)out;
                next_base[groups++] = (INDEX)place;
                for (int64_t k = i; k < j; k++) {
                    g->id[out++] = g->id[k];
                }
            }
            i = j;
        }
        group++;
    }
    s->items[share] = out - s->from[share];
    s->count[share] = groups;
}

/* The same for all items, which are one group and lie in `order`: only survivors are moved. `key_bytes`: constant. */
static inline void T(settle_first)(const T(settling) * s, int64_t share, int key_bytes) {
    T(groups) *g = s->groups;
    const T(settling) k = {.keys = s->keys, .key_bytes = key_bytes};
    const int64_t n = g->items;
    int64_t i, end, groups = 0;
    lsp_share(n, (int)share, (int)s->shares, &i, &end);
    while (i > 0 && i < end && T(key_at)(&k, i) == T(key_at)(&k, i - 1)) {
        i++;
    }
    int64_t out = s->from[share] = i;
    INDEX *next_begin = g->next_begin + out / 2 + share, *next_base = g->next_base + out / 2 + share;
    while (i < end) {
        const uint64_t key = T(key_at)(&k, i);
        const int64_t first = i++;
        if (g->head != NULL) {
            g->head[first] = 1;
        }
        if (i == n || T(key_at)(&k, i) != key) {
            continue;
        }
        while (i < n && T(key_at)(&k, i) == key) {
            i++;
        }
        if ((key & s->mask) != s->stop) {
            next_begin[groups] = (INDEX)out;
            next_base[groups++] = (INDEX)first;
            memcpy(&g->id[out], &g->order[first], (size_t)(i - first) * sizeof(INDEX));
            out += i - first;
        }
    }
    s->items[share] = out - s->from[share];
    s->count[share] = groups;
}

static void T(settle_first_share)(void *data, int64_t share, int thread) {
    const T(settling) *s = data;
    (void)thread;
    if (s->key_bytes == 8) {
        T(settle_first)(s, share, 8);
    } else {
        T(settle_first)(s, share, 4);
    }
}

enum { T(settle_least) = 1 << 15 };

static inline int64_t T(settle_shares)(const lsp_ctx *ctx, int64_t items) {
    return lsp_min(4 * (int64_t)lsp_threads_for(ctx, items, T(settle_least)), 256);
}

/* The keys are sorted within the groups, and id with them. */
static void T(settle)(lsp_ctx *ctx, T(groups) * g, const void *keys, int key_bytes, uint64_t mask, uint64_t stop) {
    int64_t from[256], items[256], count[256], all = 0, groups = 0;
    T(settling)
    s = {.groups = g,
         .keys = keys,
         .key_bytes = key_bytes,
         .mask = mask,
         .stop = stop,
         .from = from,
         .items = items,
         .count = count,
         .shares = T(settle_shares)(ctx, g->items)};
    lsp_for_parts(ctx, s.shares, (int)lsp_min(s.shares, ctx->options.threads),
                  g->count == 0 ? T(settle_first_share) : T(settle_share), &s);
    for (int64_t share = 0; share < s.shares; share++) {
        const INDEX *begin = g->next_begin + from[share] / 2 + share, *base = g->next_base + from[share] / 2 + share;
        const int64_t moved = from[share] - all;
        memmove(g->id + all, g->id + from[share], (size_t)items[share] * sizeof(INDEX));
        for (int64_t k = 0; k < count[share]; k++) {
            g->next_begin[groups] = (INDEX)(begin[k] - moved);
            g->next_base[groups++] = base[k];
        }
        all += items[share];
    }
    g->next_begin[groups] = (INDEX)all;
    g->items = all;
    g->count = groups;
    INDEX *begin = g->begin, *base = g->base;
    g->begin = g->next_begin, g->base = g->next_base;
    g->next_begin = begin, g->next_base = base;
}

/* Sorts each group by its keys, in place, and settles. */
static lsp_status T(sort_groups)(lsp_ctx *ctx, T(groups) * g, void *keys, int key_bytes, uint64_t mask, uint64_t stop) {
    const lsp_segsort_args sort = {.n = g->items,
                                   .segments = g->count,
                                   .offsets = g->begin,
                                   .offset_type = INDEX_TYPE,
                                   .key_type = key_bytes == 8 ? LSP_U64 : LSP_U32,
                                   .value_bytes = sizeof(INDEX),
                                   .keys = keys,
                                   .keys_out = keys,
                                   .values = g->id,
                                   .values_out = g->id};
    LSP_TRY(lsp_segsort(ctx, &sort, NULL));
    T(settle)(ctx, g, keys, key_bytes, mask, stop);
    return LSP_OK;
}

static void T(copy_order)(void *data, int64_t begin, int64_t end) {
    const T(groups) *g = data;
    memcpy(g->id + begin, g->order + begin, (size_t)(end - begin) * sizeof(INDEX));
}

/* Scratch for n items (not 0), all in one group: count is 0 until they settle. `order` is given. */
static lsp_status T(groups_make)(lsp_ctx *ctx, int64_t n, INDEX *order, T(groups) * g) {
    const int64_t most = n / 2 + 2 + T(settle_shares)(ctx, n);
    *g = (T(groups)){.items = n, .order = order};
    LSP_TRY(LSP_SCRATCH(ctx, n, &g->id));
    LSP_TRY(LSP_SCRATCH(ctx, most, &g->begin));
    LSP_TRY(LSP_SCRATCH(ctx, most, &g->base));
    LSP_TRY(LSP_SCRATCH(ctx, most, &g->next_begin));
    return LSP_SCRATCH(ctx, most, &g->next_base);
}
