/* Sorts suffixes by their first symbols, then groups of equal ones by symbols behind these, or by the ranks of the
 * suffixes that begin there. Included with SYMBOL, INDEX, INDEX_TYPE and T(name). */

/* ---- keys of symbols: the first symbol in the highest bits ---- */

typedef struct T(doubling) {
    const SYMBOL *text;
    int64_t n;
    const uint64_t *first; /* see lsp_codes */
    int bits, symbols;     /* of a code in a key; whole codes of a long key */
    int short_bits;        /* the first bits of a long key that make a short one */
    void *keys;
    bool long_keys;
    T(groups) * groups;
    int64_t offset; /* symbols that are compared already: the next key begins behind them */
    lsp_key_sample *sample;
    int64_t looked; /* the number of first suffixes in the sample */
} T(doubling);

/* In a set of strings code 0 is free and stands behind the end. */
static inline uint64_t T(code)(const T(doubling) * d, int64_t i) { return (uint64_t)d->text[i] + (d->first != NULL); }

/* The key of the symbols from i on; zeros stand behind the end. */
static inline uint64_t T(long_key)(const T(doubling) * d, int64_t i) {
    const int top = d->symbols * d->bits;
    uint64_t key = 0;
    const int64_t begin = i;
    for (int shift = top - d->bits; shift >= 0 && i < d->n; shift -= d->bits, i++) {
        if (d->first != NULL && i > begin && lsp_is_first(d->first, i)) {
            break;
        }
        key |= T(code)(d, i) << shift;
    }
    return key;
}

/* Calls take(i, key) for i from end - 1 down to begin. */
#define EACH_KEY(d, begin, end, take)                                                                                  \
    do {                                                                                                               \
        const int top = (d)->symbols * (d)->bits;                                                                      \
        uint64_t key = (end) < (d)->n ? T(long_key)((d), (end)) : 0;                                                   \
        for (int64_t i = (end)-1; i >= (begin); i--) {                                                                 \
            if ((d)->first != NULL && lsp_is_first((d)->first, i + 1)) {                                               \
                key = 0;                                                                                               \
            }                                                                                                          \
            key = key >> (d)->bits | T(code)((d), i) << (top - (d)->bits);                                             \
            take                                                                                                       \
        }                                                                                                              \
    } while (0)

static void T(first_keys)(void *data, int64_t begin, int64_t end) {
    const T(doubling) *d = data;
    if (d->long_keys) {
        uint64_t *keys = d->keys;
        EACH_KEY(d, begin, end, keys[i] = key;);
    } else {
        uint32_t *keys = d->keys;
        EACH_KEY(d, begin, end, keys[i] = (uint32_t)(key >> (top - d->short_bits)););
    }
}

/* ---- how many suffixes would be equal in their first keys ---- */

/* Looks at all keys whose hash is 0: with a key it sees all suffixes that have it. */
static void T(take_sample)(void *data, int64_t begin, int64_t end) {
    T(doubling) *d = data;
    lsp_key_sample *s = d->sample;
    EACH_KEY(d, begin, end, {
        if (s->less == 0 || (key >> (top - d->short_bits)) * 0x9e3779b97f4a7c15u >> (64 - s->less) == 0) {
            const int64_t at = __atomic_fetch_add(&s->count, 1, __ATOMIC_RELAXED);
            if (at < LSP_SAMPLE_MOST) {
                s->keys[at] = key;
            }
        }
    });
}

/* The shares of the first n suffixes that are equal to another of them in their long and in their short keys. */
static lsp_status T(equal_shares)(lsp_ctx *ctx, T(doubling) * d, int64_t n, double *in_long, double *in_short) {
    lsp_key_sample s = {.less = 0};
    const int top = d->symbols * d->bits;
    int64_t same[2] = {0, 0};
    LSP_SCRATCH_SCOPE(ctx);
    while (n >> s.less > LSP_SAMPLE_WANTED) {
        s.less++;
    }
    LSP_TRY(LSP_SCRATCH(ctx, LSP_SAMPLE_MOST, &s.keys));
    d->sample = &s;
    d->looked = n;
    lsp_for_shares(ctx, n, 1 << 16, T(take_sample), d);
    *in_long = *in_short = 1; /* of a few keys with many suffixes each, the sample catches none or too many suffixes */
    if (s.count > LSP_SAMPLE_WANTED / 8 * (s.less > 0) && s.count <= LSP_SAMPLE_MOST) {
        const lsp_segsort_args sort = {.n = s.count, .key_type = LSP_U64, .keys = s.keys, .keys_out = s.keys};
        LSP_TRY(lsp_sort_array(ctx, &sort));
        for (int part = 0; part < 2; part++) {
            const int shift = part == 0 ? 0 : top - d->short_bits;
            for (int64_t i = 0; i < s.count; i++) {
                const uint64_t key = s.keys[i] >> shift;
                same[part] +=
                    (i > 0 && s.keys[i - 1] >> shift == key) || (i + 1 < s.count && s.keys[i + 1] >> shift == key);
            }
        }
        *in_long = (double)same[0] / (double)s.count;
        *in_short = (double)same[1] / (double)s.count;
    }
    return LSP_OK;
}

/* ---- rounds ---- */

/* Keys of the symbols at `offset` behind each unfinished suffix. */
static void T(text_keys)(void *data, int64_t begin, int64_t end) {
    const T(doubling) *d = data;
    const INDEX *id = d->groups->id;
    for (int64_t i = begin; i < end; i++) {
        __builtin_prefetch(&d->text[id[lsp_min(i + 16, end - 1)]] + d->offset);
        const int64_t at = id[i] + d->offset;
        /* In a set nothing unfinished has ended, so this may be the begin of the next string: then all has ended. */
        ((uint64_t *)d->keys)[i] =
            at >= d->n || (d->first != NULL && lsp_is_first(d->first, at)) ? 0 : T(long_key)(d, at);
    }
}

/* Keys that compare what follows: ranks, behind which those lie that have ended: before them all, in their order. */
static void T(rank_keys)(void *data, int64_t begin, int64_t end) {
    const T(doubling) *d = data;
    const INDEX *id = d->groups->id, *rank = d->groups->rank;
    UNSIGNED *keys = d->keys;
    const int64_t n = d->n, last = n - 1;
    for (int64_t i = begin; i < end; i++) {
        __builtin_prefetch(&rank[lsp_min(id[lsp_min(i + 32, end - 1)] + d->offset, last)]);
        const int64_t at = id[i] + d->offset;
        if (d->first != NULL && (at == n || lsp_is_first(d->first, at))) {
            keys[i] = (UNSIGNED)id[i];
        } else {
            keys[i] = (UNSIGNED)(at < n ? n + rank[at] : n - id[i]);
        }
    }
}

static void T(rank_all)(void *data, int64_t begin, int64_t end) {
    const T(doubling) *d = data;
    const T(groups) *g = d->groups;
    for (int64_t i = begin; i < end; i++) {
        g->rank[g->order[i]] = (INDEX)i;
    }
}

static void T(rank_groups)(void *data, int64_t begin, int64_t end) {
    const T(doubling) *d = data;
    const T(groups) *g = d->groups;
    for (int64_t k = begin; k < end; k++) {
        const INDEX items = g->begin[k + 1] - g->begin[k];
        for (INDEX i = g->begin[k]; i < g->begin[k + 1]; i++) {
            g->rank[g->id[i]] = g->base[k] + items / 2;
        }
    }
}

/* Rounds while few suffixes are left and each round at least halves them: symbols need no ranks. */
static lsp_status T(text_rounds)(lsp_ctx *ctx, T(doubling) * d, uint64_t mask, uint64_t stop, int *rounds) {
    T(groups) *g = d->groups;
    int64_t before = INT64_MAX;
    if (g->items > 0 && g->items <= d->n / LSP_FEW) {
        LSP_TRY(lsp_scratch_bytes(ctx, g->items, sizeof(uint64_t), false, &d->keys));
    }
    while (g->items > 0 && g->items <= d->n / LSP_FEW && g->items <= before / 2) {
        before = g->items;
        LSP_TRY(lsp_go_on(ctx));
        lsp_for_shares(ctx, g->items, 1 << 14, T(text_keys), d);
        LSP_TRY(T(sort_groups)(ctx, g, d->keys, 8, mask, stop));
        d->offset += d->symbols;
        ++*rounds;
    }
    return LSP_OK;
}

static lsp_status T(rank_rounds)(lsp_ctx *ctx, T(doubling) * d, int *rounds) {
    T(groups) *g = d->groups;
    if (g->items == 0) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH(ctx, d->n, &g->rank));
    LSP_TRY(lsp_scratch_bytes(ctx, g->items, sizeof(INDEX), false, &d->keys));
    lsp_for_shares(ctx, d->n, 1 << 16, T(rank_all), d);
    lsp_for_shares(ctx, g->count, 1 << 12, T(rank_groups), d);
    while (g->items > 0) {
        LSP_TRY(lsp_go_on(ctx));
        lsp_for_shares(ctx, g->items, 1 << 14, T(rank_keys), d);
        LSP_TRY(T(sort_groups)(ctx, g, d->keys, sizeof(INDEX), 0, 1));
        d->offset *= 2;
        ++*rounds;
    }
    return LSP_OK;
}

/* Looks at the keys of a text. */
static lsp_status T(doubling_look)(lsp_ctx *ctx, const SYMBOL *text, int64_t n, int64_t kinds, const uint64_t *first,
                                   T(doubling) * d, double *in_long, double *in_short) {
    const int bits = (int)lsp_max(lsp_bits((uint64_t)(kinds - (first == NULL))), 1);
    *d = (T(doubling)){.text = text, .n = n, .first = first, .bits = bits, .symbols = 64 / bits};
    d->short_bits = (int)lsp_max(32 / bits, 1) * bits;
    if (n >= LSP_LOOK_PART) { /* all together share no fewer keys than those of a part among themselves */
        LSP_TRY(T(equal_shares)(ctx, d, n / 8, in_long, in_short));
    }
    return n < LSP_LOOK_PART || is_doubling_cheaper(*in_long) ? T(equal_shares)(ctx, d, n, in_long, in_short) : LSP_OK;
}

/* `d` from doubling_look. On failure `suffixes` is untouched. */
static lsp_status T(doubling_run)(lsp_ctx *ctx, T(doubling) * d, bool long_keys, INDEX *suffixes, int *bits,
                                  int *rounds) {
    T(groups) g;
    INDEX *order;
    LSP_SCRATCH_SCOPE(ctx);
    /* Sets only: equal keys whose last code is 0 belong to equal suffixes that have ended; they keep their order. */
    const uint64_t mask = d->first != NULL ? ((uint64_t)1 << d->bits) - 1 : 0, stop = d->first != NULL ? 0 : 1;
    d->long_keys = long_keys || d->short_bits > 32;
    *bits = d->long_keys ? d->symbols * d->bits : d->short_bits;
    LSP_TRY(lsp_scratch_bytes(ctx, d->n, d->long_keys ? 8 : 4, false, &d->keys));
    LSP_TRY(LSP_SCRATCH(ctx, d->n, &order));
    lsp_for_shares(ctx, d->n, 1 << 16, T(first_keys), d);
    const lsp_segsort_args sort = lsp_suffix_sort_of(d->n, d->long_keys ? 8 : 4, *bits, d->keys, sizeof(INDEX), order);
    LSP_TRY(lsp_sort_array(ctx, &sort));
    LSP_TRY(T(groups_make)(ctx, d->n, order, &g));
    d->groups = &g;
    d->offset = *bits / d->bits;
    T(settle)(ctx, &g, d->keys, d->long_keys ? 8 : 4, mask, stop);
    LSP_TRY(T(text_rounds)(ctx, d, mask, stop, rounds));
    LSP_TRY(T(rank_rounds)(ctx, d, rounds));
    lsp_for_shares(ctx, d->n, 1 << 16, T(copy_order), &(T(groups)){.id = suffixes, .order = order});
    return LSP_OK;
}
#undef EACH_KEY
