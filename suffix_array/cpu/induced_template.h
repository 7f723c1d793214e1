/* Induced sorting. Suffix i is of type S if it comes before suffix i + 1, else of type L. Where a suffix of type S
 * follows one of type L, a local minimum stands (in the literature: LMS). The substrings from one minimum to the next,
 * both included, are sorted and named; sorting the text of names sorts the suffixes that begin at minima; two passes
 * over the array put all others in order. Included with SYMBOL, INDEX, INDEX_TYPE and T(name), SORT_NAMES (sorts a text
 * of names). */

/* ---- minima, and keys of their substrings ---- */

typedef struct T(minima) {
    const SYMBOL *text;
    int64_t n, kinds;
    int bits, symbols; /* of a code in a key; codes of a key */
    uint64_t pads;     /* a key of pads alone. Pads fill the key behind a substring. A pad is larger than every code, so
                          a substring comes behind those that it begins: at its end they have type L, it has type S */
    int64_t shares, count;
    int64_t *from, *found; /* of each share */
    INDEX *at;             /* the minima, in the order of the text */
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

/* Finds the minima begin + 1 .. end, from the right to the left, and writes them to the end of the share's room. */
static void T(find_share)(void *data, int64_t share, int thread) {
    T(minima) *m = data;
    const int top = m->symbols * m->bits;
    int64_t begin, end;
    (void)thread;
    lsp_share(m->n, (int)share, (int)m->shares, &begin, &end);
    const int64_t room = begin / 2 + 2 * share, most = (end - begin) / 2 + 2;
    int64_t out = room + most, next = m->n, i = end - 1;
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
    for (; i >= begin; i--) {
        const SYMBOL symbol = m->text[i], right = m->text[i + 1];
        const bool up = symbol < right || (symbol == right && rises), minimum = !up && rises;
        const int64_t length = next - i; /* from i + 1 to the next minimum, both included */
        const int keep = (int)lsp_min(length, m->symbols) * m->bits;
        const uint64_t rest = ((uint64_t)1 << (top - keep)) - 1;
        m->at[out - 1] = (INDEX)(i + 1); /* without a branch: the next minimum writes over what is none */
        m->keys[out - 1] = (key & ~rest) | (m->pads & rest);
        next = minimum ? i + 1 : next;
        out -= minimum;
        rises = up;
        key = key >> m->bits | ((uint64_t)symbol + 1) << (top - m->bits);
    }
    m->from[share] = out;
    m->found[share] = room + most - out;
}

static lsp_status T(find_minima)(lsp_ctx *ctx, T(minima) * m) {
    lsp_status status = LSP_OK;
    m->shares = lsp_min(4 * (int64_t)lsp_threads_for(ctx, m->n, 1 << 16), 256);
    const int64_t most = m->n / 2 + 2 * m->shares + 2;
    LSP_TRY(LSP_SCRATCH(ctx, most, &m->at));
    LSP_TRY(LSP_SCRATCH(ctx, most, &m->keys));
    LSP_TRY(LSP_SCRATCH(ctx, m->shares, &m->from));
    LSP_TRY(LSP_SCRATCH(ctx, m->shares, &m->found));
    lsp_for_parts(ctx, m->shares, (int)lsp_min(m->shares, ctx->options.threads), T(find_share), m);
    for (int64_t share = 0; share < m->shares; share++) {
        memmove(m->at + m->count, m->at + m->from[share], (size_t)m->found[share] * sizeof(INDEX));
        memmove(m->keys + m->count, m->keys + m->from[share], (size_t)m->found[share] * sizeof(uint64_t));
        m->count += m->found[share];
    }
done:
    return status;
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
        const int64_t id = t->groups->id[i], at = m->at[id] + t->offset;
        const int64_t last = id + 1 < m->count ? m->at[id + 1] : m->n;
        t->keys[i] = T(padded)(m, T(window)(m, at), lsp_max(last + 1 - at, 0));
    }
}

/* Sorts the substrings: `order` gets their numbers, `head` a 1 where one differs from the one before it. Spoils the
 * keys. */
static lsp_status T(sort_substrings)(lsp_ctx *ctx, T(minima) * m, INDEX *order, uint8_t *head, INDEX *starts) {
    lsp_status status = LSP_OK;
    T(groups) g;
    T(naming) t = {.minima = m, .groups = &g, .offset = m->symbols, .keys = m->keys};
    const uint64_t mask = ((uint64_t)1 << m->bits) - 1, pad = (uint64_t)m->kinds + 1;
    const int top = m->symbols * m->bits;
    const lsp_radix_sort_args sort = {.n = m->count,
                                      .key_type = LSP_U64,
                                      .value_bytes = sizeof(INDEX),
                                      .keys = m->keys,
                                      .keys_out = m->keys,
                                      .values_out = order,
                                      .begin_bit = 0,
                                      .end_bit = top,
                                      .flags = LSP_SORT_POSITIONS};
    LSP_TRY(lsp_radix_sort(ctx, &sort, NULL));
    for (int64_t i = 0; i < m->count; i++) {
        starts[(m->keys[i] >> (top - m->bits)) - 1]++;
    }
    LSP_TRY(T(groups_make)(ctx, m->count, order, &g));
    g.head = head;
    T(settle)(ctx, &g, m->keys, 8, mask, pad);
    for (; g.items > 0; t.offset += m->symbols) {
        lsp_for_shares(ctx, g.items, 1 << 14, T(substring_keys), &t);
        LSP_TRY(T(sort_groups)(ctx, &g, m->keys, 8, mask, pad));
    }
done:
    return status;
}

/* names[i] = the name of substring i of the text. Returns how many names there are. */
static int64_t T(name)(const T(minima) * m, const INDEX *order, const uint8_t *head, INDEX *names) {
    int64_t name = -1;
    for (int64_t i = 0; i < m->count; i++) {
        name += head[i];
        names[order[i]] = (INDEX)name;
    }
    return name + 1;
}

/* ---- the passes ---- */

/* Puts all suffixes in order. sorted: the suffixes that begin at minima; starts: how many of them begin with each
 * symbol. In `suffixes` the sign bit of an entry says that the suffix before it is not for this pass. */
static lsp_status T(induce)(lsp_ctx *ctx, const SYMBOL *text, int64_t n, int64_t kinds, const INDEX *count,
                            const INDEX *starts, const INDEX *sorted, INDEX *suffixes) {
    lsp_status status = LSP_OK;
    enum { ahead = sizeof(SYMBOL) > 2 ? 48 : 32 };
    const UNSIGNED sign = (UNSIGNED)1 << (8 * sizeof(INDEX) - 1);
    const size_t mark = lsp_scratch_mark(ctx);
    INDEX nowhere, *unused = &nowhere, **to;
    LSP_TRY(LSP_SCRATCH(ctx, kinds, &to));
    memset(suffixes, 0xff, (size_t)n * sizeof(INDEX));
    INDEX *place = suffixes;
    for (int64_t s = 0; s < kinds; s++) { /* minima to the ends of their buckets */
        to[s] = place;
        place += count[s];
        if (starts[s] > 0) {
            memcpy(place - starts[s], sorted, (size_t)starts[s] * sizeof(INDEX));
            sorted += starts[s];
        }
    }
    *to[text[n - 1]]++ = (INDEX)((UNSIGNED)(n - 1) | (text[n - 2] < text[n - 1] ? sign : 0));
    for (int64_t i = 0; i < n; i++) {
        __builtin_prefetch(&text[(INDEX)((UNSIGNED)suffixes[lsp_min(i + 2 * ahead, n - 1)] & ~sign) - 1]);
        if (sizeof(SYMBOL) > 2) {
            const INDEX soon = suffixes[lsp_min(i + ahead, n - 1)];
            __builtin_prefetch(&to[text[(soon > 0 ? soon : 1) - 1]]);
        }
        const INDEX entry = suffixes[i];
        const bool take = entry > 0;
        suffixes[i] = (INDEX)((UNSIGNED)entry ^ sign);
        const INDEX before = (take ? entry : 1) - 1;
        const SYMBOL symbol = text[before];
        INDEX **const bucket = take ? &to[symbol] : &unused; /* no branch: it could not be predicted */
        INDEX *const at = *bucket;
        *at = (INDEX)((UNSIGNED)before | (text[before - 1] < symbol ? sign : 0));
        *bucket = at + take;
    }
    place = suffixes;
    for (int64_t s = 0; s < kinds; s++) {
        to[s] = place += count[s];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        __builtin_prefetch(&text[(INDEX)((UNSIGNED)suffixes[lsp_max(i - 2 * ahead, 0)] & ~sign) - 1]);
        if (sizeof(SYMBOL) > 2) {
            const INDEX soon = suffixes[lsp_max(i - ahead, 0)];
            __builtin_prefetch(&to[text[(soon > 0 && soon < n ? soon : 1) - 1]]);
        }
        const INDEX entry = suffixes[i];
        const bool take = entry > 0;
        suffixes[i] = (INDEX)((UNSIGNED)entry & ~sign);
        const INDEX before = (take ? entry : 1) - 1;
        const SYMBOL symbol = text[before];
        INDEX **const bucket = take ? &to[symbol] : &unused;
        INDEX *const at = *bucket - take;
        *at = (INDEX)((UNSIGNED)before | (text[before - 1] > symbol ? sign : 0));
        *bucket = at;
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
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
    lsp_status status = LSP_OK;
    const size_t all = lsp_scratch_mark(ctx);
    const int bits = lsp_bits((uint64_t)kinds + 1);
    T(minima) m = {.text = text, .n = n, .kinds = kinds, .bits = bits, .symbols = 64 / bits};
    INDEX *order, *names, *starts;
    uint8_t *head;
    for (int k = 0; k < m.symbols; k++) {
        m.pads = m.pads << bits | ((uint64_t)kinds + 1);
    }
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, kinds, &starts));
    LSP_TRY(T(find_minima)(ctx, &m));
    LSP_TRY(LSP_SCRATCH(ctx, m.count, &order));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, m.count + 1, &names));
    names++; /* the passes read one item before the first */
    const size_t some = lsp_scratch_mark(ctx);
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, m.count, &head));
    if (m.count > 0) {
        LSP_TRY(T(sort_substrings)(ctx, &m, order, head, starts));
    }
    const int64_t kinds_below = T(name)(&m, order, head, names);
    if (kinds_below < m.count) {
        INDEX *count_below;
        LSP_TRY(LSP_SCRATCH_ZERO(ctx, kinds_below, &count_below));
        for (int64_t i = 0, name = -1; i < m.count; i++) {
            name += head[i];
            count_below[name]++;
        }
        info->rounds++;
        LSP_TRY(SORT_NAMES(ctx, names, m.count, kinds_below, count_below, NULL, LSP_SUFFIX_AUTO, order, info));
    }
    lsp_scratch_release(ctx, some);
    lsp_for_shares(ctx, m.count, 1 << 16, T(minima_by_rank), (void *[]){&m, order});
    LSP_TRY(T(induce)(ctx, text, n, kinds, count, starts, order, suffixes));
done:
    lsp_scratch_release(ctx, all);
    return status;
}
