/* What is made of a suffix array: ranks, common prefixes, the Burrows-Wheeler transform and its inverse. On the host;
 * arrays on a GPU go to gpu/derived.cu. */
#include "suffix_array.h"

enum { LEAST = 1 << 15 }; /* items for which a thread pays */

typedef struct deriving {
    const lsp_ctx *ctx; /* loops that write nothing of the caller end when it is stopped */
    const lsp_text *text;
    lsp_type type;
    const void *suffixes;
    const uint64_t *first; /* see lsp_text_firsts */
    void *out, *before, *common;
    int64_t n, twice; /* a suffix that stands twice, or n */
    uint64_t *seen;
    int64_t *primary;
} deriving;

static inline int64_t suffix_at(const deriving *d, int64_t r) { return lsp_index_at(d->suffixes, d->type, r); }

/* What the calls check alike. `out` has items of `bytes` bytes. */
static lsp_status check(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, const void *out,
                        size_t bytes, bool in_place, const char *name) {
    LSP_TRY(lsp_text_check(ctx, text, "text"));
    LSP_TRY(lsp_suffix_check_array(ctx, text->n, type, suffixes));
    LSP_REQUIRE(text->n == 0 || out != NULL, LSP_ERR_ARGUMENT, "the place for the %s is NULL", name);
    LSP_TRY(lsp_suffix_check_apart(ctx, text, type, suffixes, name, out, bytes, in_place));
    return text->where == LSP_CUDA ? LSP_OK : lsp_suffix_check_range(ctx, text->n, type, suffixes);
}

/* ---- ranks ---- */

static void see(void *data, int64_t begin, int64_t end) {
    deriving *d = data;
    for (int64_t r = begin; r < end && !lsp_stopped(d->ctx); r++) {
        const int64_t i = suffix_at(d, r);
        const uint64_t bit = (uint64_t)1 << (i & 63);
        if (__atomic_fetch_or(&d->seen[i >> 6], bit, __ATOMIC_RELAXED) & bit) {
            lsp_lower(&d->twice, i);
        }
    }
}

static void invert(void *data, int64_t begin, int64_t end) {
    const deriving *d = data;
    for (int64_t r = begin; r < end; r++) {
        lsp_index_set(d->out, d->type, suffix_at(d, r), r);
    }
}

lsp_status lsp_suffix_inverse(lsp_ctx *ctx, int64_t n, lsp_type type, const void *suffixes, lsp_where where,
                              void *ranks) {
    deriving d = {.ctx = ctx, .type = type, .suffixes = suffixes, .out = ranks, .n = n, .twice = n};
    LSP_ENTER(ctx);
    const lsp_text text = {.n = n, .symbol_bytes = 1, .symbols = suffixes, .where = where};
    LSP_TRY(check(ctx, &text, type, suffixes, ranks, lsp_type_bytes(type), false, "ranks"));
    if (where == LSP_CUDA) {
        return n == 0 ? LSP_OK : lsp_suffix_cuda.inverse(ctx, &text, type, suffixes, ranks);
    }
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, n / 64 + 1, &d.seen));
    lsp_for_shares(ctx, n, LEAST, see, &d);
    LSP_TRY(lsp_go_on(ctx));
    LSP_REQUIRE(d.twice == n, LSP_ERR_ARGUMENT, "suffix %lld stands twice in the suffix array", (long long)d.twice);
    lsp_for_shares(ctx, n, LEAST, invert, &d);
    return LSP_OK;
}

/* ---- common prefixes: of each suffix with the one before it in the order; in the order of the text a prefix is at
 * most one symbol shorter than that of the suffix before ---- */

static void find_before(void *data, int64_t begin, int64_t end) {
    const deriving *d = data;
    for (int64_t r = begin; r < end && !lsp_stopped(d->ctx); r++) {
        lsp_index_set(d->before, d->type, suffix_at(d, r), r == 0 ? -1 : suffix_at(d, r - 1));
    }
}

static inline bool is_end(const deriving *d, int64_t i) {
    return i == d->n || (d->first != NULL && lsp_is_first(d->first, i));
}

static void find_common(void *data, int64_t begin, int64_t end) {
    const deriving *d = data;
    const void *symbols = d->text->symbols;
    const int bytes = d->text->symbol_bytes;
    for (int64_t i = begin, length = 0; i < end && !lsp_stopped(d->ctx); i++, length -= length > 0) {
        const int64_t j = lsp_index_at(d->before, d->type, i);
        if (j < 0) {
            length = 0;
        } else {
            length = lsp_min(length, d->n - lsp_max(i, j)); /* shorter only if the array is wrong */
            while ((length == 0 || (!is_end(d, i + length) && !is_end(d, j + length))) &&
                   lsp_symbol_at(symbols, bytes, i + length) == lsp_symbol_at(symbols, bytes, j + length)) {
                length++;
            }
        }
        lsp_index_set(d->common, d->type, i, length);
    }
}

static void order_common(void *data, int64_t begin, int64_t end) {
    const deriving *d = data;
    for (int64_t r = begin; r < end; r++) {
        lsp_index_set(d->out, d->type, r, lsp_index_at(d->common, d->type, suffix_at(d, r)));
    }
}

lsp_status lsp_suffix_lcp(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *lcp) {
    deriving d = {.ctx = ctx, .text = text, .type = type, .suffixes = suffixes, .out = lcp};
    LSP_ENTER(ctx);
    LSP_TRY(check(ctx, text, type, suffixes, lcp, lsp_type_bytes(type), true, "common prefixes"));
    if (text->where == LSP_CUDA) {
        return text->n == 0 ? LSP_OK : lsp_suffix_cuda.lcp(ctx, text, type, suffixes, lcp);
    }
    d.n = text->n;
    LSP_TRY(lsp_text_firsts(ctx, text, &d.first));
    LSP_TRY(lsp_scratch_bytes(ctx, d.n, lsp_type_bytes(type), false, &d.before));
    LSP_TRY(lsp_scratch_bytes(ctx, d.n, lsp_type_bytes(type), false, &d.common));
    for (int64_t i = 0; i < d.n; i++) {
        lsp_index_set(d.before, type, i, -1); /* where the array is wrong */
    }
    lsp_for_shares(ctx, d.n, LEAST, find_before, &d);
    lsp_for_shares(ctx, d.n, LEAST, find_common, &d);
    LSP_TRY(lsp_go_on(ctx));
    lsp_for_shares(ctx, d.n, LEAST, order_common, &d);
    return LSP_OK;
}

/* ---- the Burrows-Wheeler transform ---- */

static void find_primary(void *data, int64_t begin, int64_t end) {
    deriving *d = data;
    for (int64_t r = begin; r < end && !lsp_stopped(d->ctx); r++) {
        if (suffix_at(d, r) == 0) {
            lsp_lower(d->primary, r + 1);
        }
    }
}

static void transform(void *data, int64_t begin, int64_t end) {
    const deriving *d = data;
    const size_t bytes = (size_t)d->text->symbol_bytes;
    const char *symbols = d->text->symbols;
    for (int64_t r = begin; r < end && !lsp_stopped(d->ctx); r++) {
        const int64_t i = suffix_at(d, r), at = r + 1 - (r + 1 > *d->primary);
        if (i > 0) {
            memcpy((char *)d->out + (size_t)at * bytes, symbols + (size_t)(i - 1) * bytes, bytes);
        }
    }
}

lsp_status lsp_suffix_bwt(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *bwt,
                          int64_t *primary) {
    int64_t found = INT64_MAX;
    deriving d = {.ctx = ctx, .text = text, .type = type, .suffixes = suffixes, .primary = &found};
    LSP_ENTER(ctx);
    LSP_REQUIRE(primary != NULL, LSP_ERR_ARGUMENT, "the place for the primary index is NULL");
    LSP_TRY(lsp_text_check(ctx, text, "text"));
    LSP_TRY(check(ctx, text, type, suffixes, bwt, (size_t)text->symbol_bytes, false, "transforms"));
    LSP_REQUIRE(text->strings == 0, LSP_ERR_UNSUPPORTED, "a transform takes one text, not a set of %lld strings",
                (long long)text->strings);
    if (text->n == 0) {
        *primary = 0;
        return LSP_OK;
    }
    if (text->where == LSP_CUDA) {
        return lsp_suffix_cuda.bwt(ctx, text, type, suffixes, bwt, primary);
    }
    lsp_for_shares(ctx, text->n, LEAST, find_primary, &d);
    LSP_TRY(lsp_go_on(ctx));
    LSP_REQUIRE(found <= text->n, LSP_ERR_ARGUMENT, "suffix 0 stands nowhere in the suffix array");
    const size_t bytes = (size_t)text->symbol_bytes;
    LSP_TRY(lsp_scratch_bytes(ctx, text->n, bytes, false, &d.out)); /* the caller's array stays until all is there */
    memcpy(d.out, (const char *)text->symbols + (size_t)(text->n - 1) * bytes, bytes);
    lsp_for_shares(ctx, text->n, LEAST, transform, &d);
    LSP_TRY(lsp_go_on(ctx));
    memcpy(bwt, d.out, (size_t)text->n * bytes);
    *primary = found;
    return LSP_OK;
}

/* Row 0 is the end of the text alone; row k of the sorted rows begins with the k-th smallest symbol of the transform,
 * and what follows it is the row where this symbol stands at the end. */
lsp_status lsp_suffix_unbwt(lsp_ctx *ctx, int64_t n, int symbol_bytes, const void *bwt, int64_t primary,
                            lsp_where where, void *symbols) {
    uint32_t *keys, *out;
    void *places;
    LSP_ENTER(ctx);
    const lsp_text text = {.n = n, .symbol_bytes = symbol_bytes, .symbols = bwt, .where = where};
    const lsp_type type = n <= UINT32_MAX ? LSP_U32 : LSP_U64;
    LSP_TRY(lsp_text_check(ctx, &text, "transform"));
    LSP_REQUIRE(n == 0 || symbols != NULL, LSP_ERR_ARGUMENT, "the place for the text is NULL");
    LSP_TRY(lsp_suffix_check_apart(ctx, &text, type, NULL, "text", symbols, (size_t)symbol_bytes, false));
    LSP_REQUIRE(primary >= (n > 0) && primary <= n, LSP_ERR_ARGUMENT, "the primary index is %lld: %d to %lld is needed",
                (long long)primary, n > 0, (long long)n);
    if (where == LSP_CUDA) {
        return n == 0 ? LSP_OK : lsp_suffix_cuda.unbwt(ctx, n, symbol_bytes, bwt, primary, symbols);
    }
    LSP_TRY(LSP_SCRATCH(ctx, n, &keys));
    LSP_TRY(LSP_SCRATCH(ctx, n, &out));
    LSP_TRY(lsp_scratch_bytes(ctx, n, lsp_type_bytes(type), false, &places));
    for (int64_t i = 0; i < n; i++) {
        keys[i] = lsp_symbol_at(bwt, symbol_bytes, i);
    }
    const lsp_segsort_args sort = {.n = n,
                                   .key_type = LSP_U32,
                                   .value_bytes = lsp_type_bytes(type),
                                   .keys = keys,
                                   .keys_out = keys,
                                   .values_out = places,
                                   .end_bit = 8 * symbol_bytes,
                                   .flags = LSP_SORT_POSITIONS};
    LSP_TRY(lsp_sort_array(ctx, &sort));
    for (int64_t i = 0, row = primary; i < n; i++) {
        LSP_REQUIRE(row > 0, LSP_ERR_FORMAT,
                    "no text has this transform: after %lld of %lld symbols its end is reached", (long long)i,
                    (long long)n);
        const int64_t at = type == LSP_U32 ? ((const uint32_t *)places)[row - 1] : ((const int64_t *)places)[row - 1];
        out[i] = keys[row - 1];
        row = at + (at >= primary);
    }
    for (int64_t i = 0; i < n; i++) {
        lsp_symbol_set(symbols, symbol_bytes, i, out[i]);
    }
    return LSP_OK;
}
