/* What is made of a suffix array: ranks, common prefixes, the Burrows-Wheeler transform and its inverse. */
#include "bodies.h"
#include "core/cuda.h"

/* What the calls check alike, but for the numbers in the array. `out` has items of `bytes` bytes. */
static lsp_status check(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, const void *out,
                        size_t bytes, bool in_place, const char *name) {
    LSP_TRY(lsp_text_check(ctx, text, "text"));
    LSP_TRY(lsp_suffix_check_array(ctx, text->n, type, suffixes));
    LSP_REQUIRE(text->n == 0 || out != NULL, LSP_ERR_ARGUMENT, "the place for the %s is NULL", name);
    return lsp_suffix_check_apart(ctx, text, type, suffixes, name, out, bytes, in_place);
}

/* Scratch where the text lies, each byte of it set. */
static lsp_status take_filled(lsp_ctx *ctx, lsp_where where, int byte, int64_t count, size_t bytes, void **memory) {
    if (where == LSP_CUDA) {
        return lsp_scratch_filled(ctx, byte, count, bytes, memory);
    }
    LSP_TRY(lsp_scratch_bytes(ctx, count, bytes, false, memory));
    memset(*memory, byte, (size_t)count * bytes);
    return LSP_OK;
}

lsp_status lsp_suffix_inverse(lsp_ctx *ctx, int64_t n, lsp_type type, const void *suffixes, lsp_where where,
                              void *ranks) {
    lsp_deriving d;
    lsp_found found;
    LSP_ENTER(ctx);
    const lsp_text text = {.n = n, .symbol_bytes = 1, .symbols = suffixes, .where = where};
    LSP_TRY(check(ctx, &text, type, suffixes, ranks, lsp_type_bytes(type), false, "ranks"));
    LSP_TRY(lsp_deriving_begin(ctx, &text, suffixes, &d));
    LSP_TRY(take_filled(ctx, where, 0, n / 32 + 1, sizeof *d.seen, (void **)&d.seen));
    const lsp_each_job look = {.args = &d, .n = n, .kind = {.index = type}, .found = &found, .stops = true};
    LSP_TRY(LSP_EACH(ctx, where, suffix_twice, look));
    LSP_TRY(lsp_suffix_refuse(ctx, &text, type, suffixes, found.first[0]));
    LSP_REQUIRE(found.first[1] == LSP_NOWHERE, LSP_ERR_ARGUMENT, "suffix %lld stands twice in the suffix array",
                (long long)found.first[1]);
    d.places = ranks, d.place_type = type;
    LSP_TRY(LSP_EACH(ctx, where, put_place, (lsp_each_job){.args = &d, .n = n, .kind = look.kind}));
    return lsp_suffix_end(ctx, where);
}

/* In the order of the text the common prefix of a suffix with the one before it in the array is at most one symbol
 * shorter than that of the suffix before. */
lsp_status lsp_suffix_lcp(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *lcp) {
    lsp_deriving d;
    lsp_found found;
    LSP_ENTER(ctx);
    LSP_TRY(check(ctx, text, type, suffixes, lcp, lsp_type_bytes(type), true, "common prefixes"));
    if (text->n == 0) {
        return LSP_OK;
    }
    LSP_TRY(lsp_deriving_begin(ctx, text, suffixes, &d));
    /* -1 stays where the array is wrong */
    LSP_TRY(take_filled(ctx, text->where, 0xFF, d.n, lsp_type_bytes(d.place_type), &d.places));
    d.out = lcp;
    const lsp_each_job look = {.args = &d, .n = d.n, .kind = {.index = type}, .found = &found, .stops = true};
    LSP_TRY(LSP_EACH(ctx, text->where, put_before, look));
    LSP_TRY(lsp_suffix_refuse(ctx, text, type, suffixes, found.first[0]));
    LSP_TRY(lsp_suffix_device_of(text->where)->prefixes(ctx, &d));
    LSP_TRY(LSP_EACH(ctx, text->where, order_prefix, (lsp_each_job){.args = &d, .n = d.n, .kind = look.kind}));
    return lsp_suffix_end(ctx, text->where);
}

lsp_status lsp_suffix_bwt(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *bwt,
                          int64_t *primary) {
    lsp_deriving d;
    lsp_found found;
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
    const bool here = text->where == LSP_HOST;
    const size_t bytes = (size_t)text->symbol_bytes;
    LSP_TRY(lsp_deriving_begin(ctx, text, suffixes, &d));
    lsp_each_job job = {.args = &d, .n = d.n, .kind = {.index = type}, .found = &found, .stops = true};
    LSP_TRY(LSP_EACH(ctx, text->where, find_primary, job));
    LSP_TRY(lsp_suffix_refuse(ctx, text, type, suffixes, found.first[0]));
    LSP_REQUIRE(found.first[1] != LSP_NOWHERE, LSP_ERR_ARGUMENT, "suffix 0 stands nowhere in the suffix array");
    d.primary = (int64_t)found.first[1];
    d.out = bwt;
    LSP_TRY(here ? lsp_scratch_bytes(ctx, d.n, bytes, false, &d.out) : LSP_OK); /* until the call cannot be stopped */
    job.found = NULL;
    LSP_TRY(LSP_EACH(ctx, text->where, transform, job));
    if (here) {
        memcpy(bwt, d.out, (size_t)d.n * bytes);
    }
    LSP_TRY(lsp_suffix_end(ctx, text->where));
    *primary = d.primary;
    return LSP_OK;
}

/* Row 0 is the end of the text alone; row k of the sorted rows begins with the k-th smallest symbol of the transform,
 * and what follows it is the row where this symbol stands at the end. */
lsp_status lsp_suffix_unbwt(lsp_ctx *ctx, int64_t n, int symbol_bytes, const void *bwt, int64_t primary,
                            lsp_where where, void *symbols) {
    int64_t rows;
    LSP_ENTER(ctx);
    const lsp_text text = {.n = n, .symbol_bytes = symbol_bytes, .symbols = bwt, .where = where};
    const lsp_type type = n <= UINT32_MAX ? LSP_U32 : LSP_U64;
    LSP_TRY(lsp_text_check(ctx, &text, "transform"));
    LSP_REQUIRE(n == 0 || symbols != NULL, LSP_ERR_ARGUMENT, "the place for the text is NULL");
    LSP_TRY(lsp_suffix_check_apart(ctx, &text, type, NULL, "text", symbols, (size_t)symbol_bytes, false));
    LSP_REQUIRE(primary >= (n > 0) && primary <= n, LSP_ERR_ARGUMENT, "the primary index is %lld: %d to %lld is needed",
                (long long)primary, n > 0, (long long)n);
    LSP_REQUIRE(where == LSP_HOST || n <= INT32_MAX, LSP_ERR_UNSUPPORTED,
                "a transform of %lld symbols: a GPU inverts %d at most", (long long)n, INT32_MAX);
    if (n == 0) {
        return LSP_OK;
    }
    lsp_deriving d = {
        .n = n, .symbols = bwt, .symbol_bytes = symbol_bytes, .place_type = type, .primary = primary, .out = symbols};
    LSP_TRY(lsp_scratch_at(ctx, where, n, sizeof *d.keys, (void **)&d.keys));
    LSP_TRY(lsp_scratch_at(ctx, where, n, lsp_type_bytes(type), &d.places));
    LSP_TRY(LSP_EACH(ctx, where, widen_symbol, (lsp_each_job){.args = &d, .n = n}));
    lsp_segsort_args sort = lsp_suffix_sort_of(n, 4, 8 * symbol_bytes, d.keys, lsp_type_bytes(type), d.places);
    sort.where = where;
    LSP_TRY(lsp_sort_array(ctx, &sort));
    LSP_TRY(lsp_suffix_device_of(where)->invert(ctx, &d, &rows));
    LSP_REQUIRE(rows == n, LSP_ERR_FORMAT, "no text has this transform: after %lld of %lld symbols its end is reached",
                (long long)rows, (long long)n);
    return LSP_OK;
}
