/* Induced sorting. Suffix i is of type S if it comes before suffix i + 1, else of type L. Where a suffix of type S
 * follows one of type L, a local minimum stands (in the literature: LMS). The substrings from one minimum to the next,
 * both included, are sorted and named; sorting the text of names sorts the suffixes that begin at minima; two passes
 * over the array put all others in order (passes_template.h). Included with SYMBOL, INDEX, INDEX_TYPE and T(name),
 * SORT_NAMES (sorts a text of names). */

/* ---- minima, and keys of their substrings ---- */

typedef struct T(minima) {
    const SYMBOL *text;
    int64_t n, kinds;
    int bits, symbols; /* of a code in a key; codes of a key */
    uint64_t pads;     /* a key of pads alone. Pads fill the key behind a substring. A pad is larger than every code, so
                          a substring comes behind those that it begins: at its end they have type L, it has type S */
    int64_t shares, count;
    int64_t *end; /* of each share: where its minima end */
    INDEX *at;    /* the minima, in the order of the text */
    uint64_t *keys;
} T(minima);

/* In keys: 0 the end of the text, codes plus 1, kinds + 1 a pad. */
static inline uint64_t T(window)(const T(minima) * m, int64_t i) {
    uint64_t key = 0;
    int shift = m->symbols * m->bits;
    for (; shift > 0 && i < m->n; i++) {
        shift -= m->bits;
        key |= ((uint64_t)m->text[i] + 1) << shift;
    }
    return key;
}

static inline uint64_t T(padded)(const T(minima) * m, uint64_t key, int64_t length) {
    const int keep = (int)lsp_min(length, m->symbols) * m->bits, top = m->symbols * m->bits;
    const uint64_t rest = keep == 0 ? ~(uint64_t)0 >> (64 - top) : ((uint64_t)1 << (top - keep)) - 1;
    return (key & ~rest) | (m->pads & rest);
}

/* Is suffix i of type S? The last one is of type L. */
static inline bool T(rises)(const T(minima) * m, int64_t i) {
    while (i + 1 < m->n && m->text[i] == m->text[i + 1]) {
        i++;
    }
    return i + 1 < m->n && m->text[i] < m->text[i + 1];
}

/* The first minimum behind i, or n. */
static int64_t T(next_minimum)(const T(minima) * m, int64_t i) {
    int64_t fell = -1;
    for (i++; i < m->n; i++) {
        if (m->text[i - 1] > m->text[i]) {
            fell = i;
        } else if (m->text[i - 1] < m->text[i] && fell >= 0) {
            return fell;
        }
    }
    return m->n;
}

/* Counts the minima begin + 1 .. end of a share. */
static void T(count_share)(void *data, int64_t share, int thread) {
    const T(minima) *m = data;
    int64_t begin, end, found = 0;
    (void)thread;
    lsp_share(m->n, (int)share, (int)m->shares, &begin, &end);
    bool rises = end < m->n && T(rises)(m, end);
    for (int64_t i = lsp_min(end, m->n - 1) - 1; i >= begin; i--) {
        const SYMBOL symbol = m->text[i], right = m->text[i + 1];
        const bool up = (symbol < right) | ((symbol == right) & rises); /* no branch */
        found += !up & rises;
        rises = up;
    }
    m->end[share] = found;
}

/* Finds them, from the right to the left. */
static void T(find_share)(void *data, int64_t share, int thread) {
    T(minima) *m = data;
    const int top = m->symbols * m->bits;
    int64_t begin, end;
    (void)thread;
    lsp_share(m->n, (int)share, (int)m->shares, &begin, &end);
    int64_t out = m->end[share], next = m->n, i = end - 1;
    const int64_t first = share > 0 ? m->end[share - 1] : 0;
    bool rises = false;
    uint64_t key = 0;
    if (end < m->n) {
        rises = T(rises)(m, end);
        next = T(next_minimum)(m, end);
        key = T(window)(m, end);
    } else {
        key = ((uint64_t)m->text[i] + 1) << (top - m->bits);
        i--;
    }
    for (; out > first; i--) {
        const SYMBOL symbol = m->text[i], right = m->text[i + 1];
        const bool up = (symbol < right) | ((symbol == right) & rises), minimum = !up & rises;
        const int64_t length = next - i; /* from i + 1 to the next minimum, both included */
        const int keep = (int)lsp_min(length, m->symbols) * m->bits;
        const uint64_t rest = ((uint64_t)1 << (top - keep)) - 1;
        m->at[out - 1] = (INDEX)(i + 1); /* without a branch: the next minimum writes over what is none */
        m->keys[out - 1] = (key & ~rest) | (m->pads & rest);
        next += (i + 1 - next) & -(int64_t)minimum;
        out -= minimum;
        rises = up;
        key = key >> m->bits | ((uint64_t)symbol + 1) << (top - m->bits);
    }
}

static lsp_status T(find_minima)(lsp_ctx *ctx, T(minima) * m) {
    const int threads = lsp_threads_for(ctx, m->n, 1 << 16);
    m->shares = lsp_min(4 * (int64_t)threads, 256);
    LSP_TRY(LSP_SCRATCH(ctx, m->shares, &m->end));
    lsp_for_parts(ctx, m->shares, threads, T(count_share), m);
    for (int64_t share = 0; share < m->shares; share++) {
        m->end[share] = m->count += m->end[share];
    }
    LSP_TRY(LSP_SCRATCH(ctx, m->count, &m->at));
    LSP_TRY(LSP_SCRATCH(ctx, m->count, &m->keys));
    lsp_for_parts(ctx, m->shares, threads, T(find_share), m);
    return LSP_OK;
}

/* ---- names ---- */

typedef struct T(naming) {
    const T(minima) * minima;
    const T(groups) * groups;
    int64_t offset;
    uint64_t *keys;
} T(naming);

/* Keys of what stands `offset` symbols behind the begins of the unfinished substrings. */
static void T(substring_keys)(void *data, int64_t begin, int64_t end) {
    const T(naming) *t = data;
    const T(minima) *m = t->minima;
    for (int64_t i = begin; i < end; i++) {
        __builtin_prefetch(&m->at[t->groups->id[lsp_min(i + 48, end - 1)]]);
        __builtin_prefetch(&m->text[m->at[t->groups->id[lsp_min(i + 24, end - 1)]] + t->offset]);
        const int64_t id = t->groups->id[i], at = m->at[id] + t->offset;
        const int64_t last = id + 1 < m->count ? m->at[id + 1] : m->n;
        t->keys[i] = T(padded)(m, T(window)(m, at), lsp_max(last + 1 - at, 0));
    }
}

/* Sorts the substrings: `order` gets their numbers, `head` a 1 where one differs from the one before it. Spoils the
 * keys. */
static lsp_status T(sort_substrings)(lsp_ctx *ctx, T(minima) * m, INDEX *order, uint8_t *head, INDEX *starts) {
    T(groups) g;
    T(naming) t = {.minima = m, .groups = &g, .offset = m->symbols, .keys = m->keys};
    const uint64_t mask = ((uint64_t)1 << m->bits) - 1, pad = (uint64_t)m->kinds + 1;
    const int top = m->symbols * m->bits;
    const lsp_segsort_args sort = lsp_suffix_sort_of(m->count, 8, top, m->keys, sizeof(INDEX), order);
    LSP_TRY(lsp_sort_array(ctx, &sort));
    for (int64_t i = 0, before = 0; i < m->count; before = i) { /* sorted: a sum for each symbol, not each minimum */
        const uint64_t symbol = m->keys[i] >> (top - m->bits);
        while (++i < m->count && m->keys[i] >> (top - m->bits) == symbol) {
        }
        starts[symbol - 1] = (INDEX)(i - before);
    }
    LSP_TRY(T(groups_make)(ctx, m->count, order, &g));
    g.head = head;
    T(settle)(ctx, &g, m->keys, 8, mask, pad);
    for (; g.items > 0; t.offset += m->symbols) {
        lsp_for_shares(ctx, g.items, 1 << 14, T(substring_keys), &t);
        LSP_TRY(T(sort_groups)(ctx, &g, m->keys, 8, mask, pad));
    }
    return LSP_OK;
}

typedef struct T(names) {
    const T(minima) * minima;
    const INDEX *order;
    const uint8_t *head;
    INDEX *names, *count;   /* of each substring of the text; of each name: its substrings */
    int64_t shares, *first; /* of each share: the number of names in earlier ones */
} T(names);

static void T(count_names)(void *data, int64_t share, int thread) {
    const T(names) *t = data;
    int64_t begin, end, heads = 0;
    (void)thread;
    lsp_share(t->minima->count, (int)share, (int)t->shares, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        heads += t->head[i];
    }
    t->first[share + 1] = heads;
}

/* A share has the names that begin in it. */
static void T(write_names)(void *data, int64_t share, int thread) {
    const T(names) *t = data;
    const int64_t count = t->minima->count;
    int64_t i, end, name = t->first[share];
    (void)thread;
    lsp_share(count, (int)share, (int)t->shares, &i, &end);
    while (i < end && !t->head[i]) {
        i++;
    }
    while (i < end) {
        const int64_t begin = i;
        do {
            t->names[t->order[i++]] = (INDEX)name;
        } while (i < count && !t->head[i]);
        t->count[name++] = (INDEX)(i - begin);
    }
}

/* ---- all together ---- */

static void T(minima_by_rank)(void *data, int64_t begin, int64_t end) {
    const T(minima) *m = ((void **)data)[0];
    INDEX *order = ((void **)data)[1];
    for (int64_t i = begin; i < end; i++) {
        __builtin_prefetch(&m->at[order[lsp_min(i + 32, end - 1)]]);
        order[i] = m->at[order[i]];
    }
}

/* Sorts a text of names; has the arguments of a level. */
static lsp_status SORT_NAMES(lsp_ctx *ctx, const INDEX *text, int64_t n, int64_t kinds, const INDEX *count,
                             const uint64_t *first, lsp_suffix_method method, INDEX *suffixes, lsp_suffix_info *info);

/* `suffixes` is untouched until nothing can fail any more. */
static lsp_status T(induced)(lsp_ctx *ctx, const SYMBOL *text, int64_t n, int64_t kinds, const INDEX *count,
                             INDEX *suffixes, lsp_suffix_info *info) {
    LSP_SCRATCH_SCOPE(ctx);
    const int bits = lsp_bits((uint64_t)kinds + 1);
    T(minima) m = {.text = text, .n = n, .kinds = kinds, .bits = bits, .symbols = 64 / bits};
    INDEX *order, *names, *starts;
    T(names) t = {.minima = &m};
    uint8_t *head;
    for (int k = 0; k < m.symbols; k++) {
        m.pads = m.pads << bits | ((uint64_t)kinds + 1);
    }
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, kinds, &starts));
    LSP_TRY(T(find_minima)(ctx, &m));
    LSP_TRY(LSP_SCRATCH(ctx, m.count, &order));
    LSP_TRY(LSP_SCRATCH(ctx, m.count + 1, &names));
    *names++ = 0; /* the passes read one item before the first */
    const size_t some = lsp_scratch_mark(ctx);
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, m.count, &head));
    if (m.count > 0) {
        LSP_TRY(T(sort_substrings)(ctx, &m, order, head, starts));
    }
    t.order = order, t.head = head, t.names = names;
    t.shares = lsp_threads_for(ctx, m.count, 1 << 16);
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, t.shares + 1, &t.first));
    lsp_for_parts(ctx, t.shares, (int)t.shares, T(count_names), &t);
    lsp_prefix_sum(ctx, t.first, t.shares);
    const int64_t kinds_below = t.first[t.shares];
    if (kinds_below < m.count) {
        LSP_TRY(LSP_SCRATCH(ctx, kinds_below, &t.count));
        lsp_for_parts(ctx, t.shares, (int)t.shares, T(write_names), &t);
        info->rounds++;
        LSP_TRY(SORT_NAMES(ctx, names, m.count, kinds_below, t.count, NULL, LSP_SUFFIX_AUTO, order, info));
    }
    lsp_scratch_release(ctx, some);
    lsp_for_shares(ctx, m.count, 1 << 16, T(minima_by_rank), (void *[]){&m, order});
    return T(induce)(ctx, text, n, kinds, count, starts, order, suffixes);
}
