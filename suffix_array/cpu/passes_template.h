/* The passes of induced sorting (induced_template.h). Included with SYMBOL, INDEX, UNSIGNED and T(name).
 *
 * A pass goes over the array, up for suffixes of type L, then down for those of type S: each entry puts the suffix
 * before it to the next free place of its symbol's bucket. The sign bit of an entry says that the suffix before it is
 * not for this pass. Entries that are known together make a block: threads read the symbols before them, each for its
 * share, and then put them; the counts of all shares tell each one its places. */

typedef struct T(pass) {
    const SYMBOL *text;
    int64_t n, kinds;
    INDEX *suffixes, **to; /* of each symbol: the next free place; when going down, the one behind it */
    bool down;
    int64_t least, most; /* entries of a block; fewer are taken one after the other */
    int shares;
    int64_t begin, items; /* of the block; `begin` is its first entry in the order of the pass */
    INDEX *values;        /* LSP_BLOCK for each share: what it puts, */
    SYMBOL *symbols;      /* to which buckets, */
    int64_t *found;       /* and how many */
    INDEX *next;          /* `stride` for each share: counts of its buckets, then places */
    int64_t stride;       /* kinds, and cache lines between those of two shares */
} T(pass);

/* What an entry puts to the bucket of *symbol, unless *take is false. Marks the entry for the next pass. */
static inline INDEX T(put_before)(const SYMBOL *text, INDEX *entry, bool down, SYMBOL *symbol, bool *take) {
    const UNSIGNED sign = (UNSIGNED)1 << (8 * sizeof(INDEX) - 1);
    const INDEX suffix = *entry;
    *take = suffix > 0;
    *entry = (INDEX)(down ? (UNSIGNED)suffix & ~sign : (UNSIGNED)suffix ^ sign);
    const INDEX before = (*take ? suffix : 1) - 1;
    *symbol = text[before];
    return (INDEX)((UNSIGNED)before | ((down ? text[before - 1] > *symbol : text[before - 1] < *symbol) ? sign : 0));
}

/* Takes entries begin .. end-1 one after the other, also those that are put there meanwhile. */
static inline void T(take_each)(const T(pass) * p, int64_t begin, int64_t end, bool down) {
    enum { ahead = sizeof(SYMBOL) > 2 ? 48 : 32 };
    const UNSIGNED sign = (UNSIGNED)1 << (8 * sizeof(INDEX) - 1);
    const int64_t n = p->n, step = down ? -1 : 1;
    const SYMBOL *const text = p->text;
    INDEX *const suffixes = p->suffixes, **const to = p->to, nowhere, *unused = &nowhere;
    int64_t i = down ? end - 1 : begin;
    for (int64_t left = end - begin; left > 0; left--, i += step) {
        const int64_t far = i + 2 * ahead * step, near = i + ahead * step;
        __builtin_prefetch(&text[(INDEX)((UNSIGNED)suffixes[lsp_max(lsp_min(far, n - 1), 0)] & ~sign) - 1]);
        if (sizeof(SYMBOL) > 2) {
            const INDEX soon = suffixes[lsp_max(lsp_min(near, n - 1), 0)];
            __builtin_prefetch(&to[text[(soon > 0 && soon < n ? soon : 1) - 1]]);
        }
        SYMBOL symbol;
        bool take;
        const INDEX value = T(put_before)(text, &suffixes[i], down, &symbol, &take);
        INDEX **const bucket = take ? &to[symbol] : &unused; /* no branch: it could not be predicted */
        INDEX *const at = *bucket - (down && take);
        *at = value;
        *bucket = at + (!down && take);
    }
}

static inline void T(read_entries)(const T(pass) * p, int64_t share, bool down) {
    const UNSIGNED sign = (UNSIGNED)1 << (8 * sizeof(INDEX) - 1);
    int64_t first, last, found = 0;
    lsp_share(p->items, (int)share, p->shares, &first, &last);
    const SYMBOL *const text = p->text;
    INDEX *const entries = p->suffixes + p->begin, *const next = p->next + share * p->stride;
    INDEX *const values = p->values + share * LSP_BLOCK;
    SYMBOL *const symbols = p->symbols + share * LSP_BLOCK;
    memset(next, 0, (size_t)p->kinds * sizeof *next);
    for (int64_t k = first; k < last; k++) {
        const int64_t far = lsp_min(k + LSP_FAR_ENTRIES, last - 1);
        bool take;
        SYMBOL symbol;
        __builtin_prefetch(&text[(INDEX)((UNSIGNED)entries[down ? -far : far] & ~sign) - 1]);
        values[found] = T(put_before)(text, &entries[down ? -k : k], down, &symbol, &take);
        symbols[found] = symbol;
        next[symbol] += take;
        found += take;
    }
    p->found[share] = found;
}

static void T(read_share)(void *data, int64_t share, int thread) {
    const T(pass) *p = data;
    (void)thread;
    if (p->down) {
        T(read_entries)(p, share, true);
    } else {
        T(read_entries)(p, share, false);
    }
}

static void T(put_share)(void *data, int64_t share, int thread) {
    const T(pass) *p = data;
    INDEX *const next = p->next + share * p->stride, *const suffixes = p->suffixes;
    const INDEX *const values = p->values + share * LSP_BLOCK;
    const SYMBOL *const symbols = p->symbols + share * LSP_BLOCK;
    const INDEX down = p->down;
    (void)thread;
    for (int64_t k = 0; k < p->found[share]; k++) {
        const INDEX at = next[symbols[k]] - down;
        suffixes[at] = values[k];
        next[symbols[k]] = at + 1 - down;
    }
}

/* Takes `items` entries from `begin` on, at most p->most, in the order of the pass; all are known. */
static void T(take_block)(lsp_ctx *ctx, T(pass) * p, int64_t begin, int64_t items) {
    p->begin = begin;
    p->items = items;
    lsp_for_parts(ctx, p->shares, p->shares, T(read_share), p);
    for (int64_t s = 0; s < p->kinds; s++) {
        INDEX at = (INDEX)(p->to[s] - p->suffixes);
        for (int64_t share = 0; share < p->shares; share++) {
            INDEX *const next = &p->next[share * p->stride + s];
            const INDEX count = *next;
            *next = at;
            at += p->down ? -count : count;
        }
        p->to[s] = p->suffixes + at;
    }
    lsp_for_parts(ctx, p->shares, p->shares, T(put_share), p);
}

/* In a bucket lie those of type L, then those of type S; of these, before this pass, the minima at the end. */
static void T(pass_up)(lsp_ctx *ctx, T(pass) * p, const INDEX *count, const INDEX *starts) {
    int64_t begin = 0, end = 0;
    for (int64_t s = 0; s < p->kinds; s++, begin = end) {
        for (end += count[s]; count[s] < p->least && s + 1 < p->kinds && count[s + 1] < p->least; s++) {
            end += count[s + 1]; /* small buckets are taken together */
        }
        if (count[s] < p->least) {
            T(take_each)(p, begin, end, false);
            continue;
        }
        const int64_t minima = end - starts[s];
        for (int64_t i = begin, items; i < end; i += items) {
            const int64_t known = lsp_min((i < minima ? p->to[s] - p->suffixes : end) - i, p->most);
            items = known >= p->least ? known : lsp_min(p->least, (i < minima ? minima : end) - i);
            if (known >= p->least) {
                T(take_block)(ctx, p, i, items);
            } else if (known > 0) {
                T(take_each)(p, i, i + items, false);
            } else {
                items = minima - i; /* the others of type S are put by the other pass */
            }
        }
    }
}

static void T(pass_down)(lsp_ctx *ctx, T(pass) * p, const INDEX *count) {
    int64_t begin = p->n, end = p->n;
    for (int64_t s = p->kinds - 1; s >= 0; s--, end = begin) {
        for (begin -= count[s]; count[s] < p->least && s > 0 && count[s - 1] < p->least; s--) {
            begin -= count[s - 1];
        }
        if (count[s] < p->least) {
            T(take_each)(p, begin, end, true);
            continue;
        }
        for (int64_t i = end, items; i > begin; i -= items) {
            const int64_t put = p->to[s] - p->suffixes; /* behind it all are known, and where type L begins, all are */
            items = lsp_min(i - (put < i ? put : begin), p->most);
            if (items >= p->least) {
                T(take_block)(ctx, p, i - 1, items);
            } else {
                items = lsp_min(p->least, i - begin);
                T(take_each)(p, i - items, i, true);
            }
        }
    }
}

static void T(clear_share)(void *data, int64_t begin, int64_t end) {
    memset((INDEX *)data + begin, 0xff, (size_t)(end - begin) * sizeof(INDEX));
}

/* Puts all suffixes in order. sorted: the suffixes that begin at minima; starts: how many of them begin with each
 * symbol. */
static lsp_status T(induce)(lsp_ctx *ctx, const SYMBOL *text, int64_t n, int64_t kinds, const INDEX *count,
                            const INDEX *starts, const INDEX *sorted, INDEX *suffixes) {
    const UNSIGNED sign = (UNSIGNED)1 << (8 * sizeof(INDEX) - 1);
    LSP_SCRATCH_SCOPE(ctx);
    int64_t largest = 0;
    T(pass) p = {.text = text, .n = n, .kinds = kinds, .suffixes = suffixes};
    p.shares = lsp_threads_for(ctx, n, LSP_BLOCK);
    p.most = p.shares * LSP_BLOCK;
    p.stride = kinds + 32;
    p.least = p.shares > 1 ? lsp_max(LSP_BLOCK_LEAST, 2 * kinds * p.shares) : n + 1;
    for (int64_t s = 0; s < kinds; s++) {
        largest = lsp_max(largest, count[s]);
    }
    LSP_TRY(LSP_SCRATCH(ctx, kinds, &p.to));
    if (largest >= p.least) {
        LSP_TRY(LSP_SCRATCH(ctx, p.most, &p.values));
        LSP_TRY(LSP_SCRATCH(ctx, p.most, &p.symbols));
        LSP_TRY(LSP_SCRATCH(ctx, p.shares, &p.found));
        LSP_TRY(LSP_SCRATCH(ctx, p.shares * p.stride, &p.next));
    }
    lsp_for_shares(ctx, n, 1 << 16, T(clear_share), suffixes);
    INDEX *place = suffixes;
    for (int64_t s = 0; s < kinds; s++) { /* minima to the ends of their buckets */
        p.to[s] = place;
        place += count[s];
        if (starts[s] > 0) {
            memcpy(place - starts[s], sorted, (size_t)starts[s] * sizeof(INDEX));
            sorted += starts[s];
        }
    }
    *p.to[text[n - 1]]++ = (INDEX)((UNSIGNED)(n - 1) | (text[n - 2] < text[n - 1] ? sign : 0));
    T(pass_up)(ctx, &p, count, starts);
    place = suffixes;
    for (int64_t s = 0; s < kinds; s++) {
        p.to[s] = place += count[s];
    }
    p.down = true;
    T(pass_down)(ctx, &p, count);
    return LSP_OK;
}
