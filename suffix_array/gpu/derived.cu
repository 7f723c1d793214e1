/* What is made of a suffix array on a GPU: checks, ranks, common prefixes, the Burrows-Wheeler transform and its
 * inverse, searches. Each is a few passes of one thread an item. All calls wait. */
#include "kernel_derived.cuh"

enum {
    FOUND = 2,        /* numbers that a pass can report */
    WALKERS = 1 << 17 /* at most; see kernel_walk */
};

typedef struct deriving {
    derived_text t;
    bool wide; /* numbers of places and suffixes have 8 bytes in scratch */
    ull *found;
} deriving;

/* found[0], found[1]; -1: nothing. */
static lsp_status read_found(lsp_ctx *ctx, const deriving *d, int64_t found[FOUND]) {
    return lsp_cuda_read(ctx, found, d->found, FOUND * sizeof *d->found);
}

static lsp_status begin(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, deriving *d) {
    const uint64_t *bits;
    *d = deriving{};
    d->t.n = text->n, d->t.symbols = text->symbols, d->t.symbol_bytes = text->symbol_bytes;
    d->t.suffixes = suffixes, d->t.wide = type == LSP_I64;
    d->wide = text->n > INT32_MAX;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0xFF, FOUND, &d->found)); /* nothing yet */
    LSP_TRY(lsp_text_firsts(ctx, text, &bits));
    if (bits != NULL) {
        const int64_t words = text->n / 64 + 1;
        uint64_t *first;
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, words, &first));
        LSP_TRY(lsp_cuda_copy(ctx, first, LSP_CUDA, bits, LSP_HOST, words * (int64_t)sizeof *first));
        d->t.first = first;
    }
    return LSP_OK;
}

static lsp_status check_range(lsp_ctx *ctx, const deriving *d) {
    int64_t found[FOUND], suffix;
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_check_range, d->t.n, TEXT_NT, d->t, d->found));
    LSP_TRY(read_found(ctx, d, found));
    if (found[0] >= 0) {
        LSP_TRY(lsp_cuda_read_index(ctx, d->t.suffixes, d->t.wide ? LSP_I64 : LSP_I32, found[0], &suffix));
        LSP_TRY(lsp_suffix_refuse(ctx, d->t.n, found[0], suffix));
    }
    return LSP_OK;
}

static size_t place_bytes(const deriving *d) { return d->wide ? sizeof(int64_t) : sizeof(int32_t); }

/* *places = the first place of each suffix, in scratch; found[0] = the first place whose suffix is none or stands
 * before it, found[1] = the lowest suffix that stands twice. */
static lsp_status find_places(lsp_ctx *ctx, const deriving *d, void **places, int64_t found[FOUND]) {
    LSP_TRY(lsp_scratch_filled(ctx, 0xFF, d->t.n, place_bytes(d), places));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_find_places, d->t.n, TEXT_NT, d->t, *places, d->wide));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_check_once, d->t.n, TEXT_NT, d->t, *places, d->wide, d->found, d->found + 1));
    return read_found(ctx, d, found);
}

static lsp_status check(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes) {
    LSP_SCRATCH_SCOPE(ctx);
    deriving d;
    void *places;
    int64_t found[FOUND], i, j, place;
    LSP_TRY(begin(ctx, text, type, suffixes, &d));
    LSP_TRY(find_places(ctx, &d, &places, found));
    if (found[0] >= 0) {
        LSP_TRY(lsp_cuda_read_index(ctx, suffixes, type, found[0], &i));
        LSP_REQUIRE(i >= 0 && i < text->n, LSP_ERR_FORMAT, "place %lld holds suffix %lld: there are %lld",
                    (long long)found[0], (long long)i, (long long)text->n);
        LSP_TRY(lsp_cuda_read_index(ctx, places, d.wide ? LSP_I64 : LSP_I32, i, &place));
        LSP_REQUIRE(false, LSP_ERR_FORMAT, "suffix %lld stands at places %lld and %lld", (long long)i, (long long)place,
                    (long long)found[0]);
    }
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_check_order, text->n, TEXT_NT, d.t, places, d.wide, d.found));
    LSP_TRY(read_found(ctx, &d, found));
    if (found[0] >= 0) {
        LSP_TRY(lsp_cuda_read_index(ctx, suffixes, type, found[0] - 1, &i));
        LSP_TRY(lsp_cuda_read_index(ctx, suffixes, type, found[0], &j));
        LSP_REQUIRE(false, LSP_ERR_FORMAT,
                    "suffix %lld stands at place %lld, before suffix %lld, which comes before it", (long long)i,
                    (long long)found[0] - 1, (long long)j);
    }
    return LSP_OK;
}

static lsp_status inverse(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *ranks) {
    LSP_SCRATCH_SCOPE(ctx);
    deriving d;
    void *places;
    int64_t found[FOUND];
    LSP_TRY(begin(ctx, text, type, suffixes, &d));
    LSP_TRY(check_range(ctx, &d));
    LSP_TRY(find_places(ctx, &d, &places, found));
    LSP_REQUIRE(found[0] < 0, LSP_ERR_ARGUMENT, "suffix %lld stands twice in the suffix array", (long long)found[1]);
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_copy_indices, d.t.n, TEXT_NT, d.t.n, places, d.wide, ranks, d.t.wide));
    return lsp_cuda_wait(ctx);
}

static lsp_status lcp(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *lcp) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t n = text->n, warps = lsp_ceil_div(n, PREFIX_ITEMS), blocks = lsp_ceil_div(warps, TEXT_NT / WARP);
    deriving d;
    void *common;
    int64_t *most;
    LSP_TRY(begin(ctx, text, type, suffixes, &d));
    LSP_TRY(lsp_scratch_filled(ctx, 0xFF, n, place_bytes(&d), &common)); /* -1 stays where the array is wrong */
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, warps, &most));
    LSP_TRY(check_range(ctx, &d));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_find_before, n, TEXT_NT, d.t, common, d.wide));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_find_prefixes, blocks, TEXT_NT, 0, d.t, common, d.wide, most));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_reach_before, 1, TEXT_NT, 0, most, warps));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_spread_prefixes, blocks, TEXT_NT, 0, n, common, d.wide, (const int64_t *)most));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_order_prefixes, n, TEXT_NT, d.t, common, d.wide, lcp));
    return lsp_cuda_wait(ctx);
}

static lsp_status bwt(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *bwt,
                      int64_t *primary) {
    LSP_SCRATCH_SCOPE(ctx);
    deriving d;
    int64_t found[FOUND];
    LSP_TRY(begin(ctx, text, type, suffixes, &d));
    LSP_TRY(check_range(ctx, &d));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_find_primary, text->n, TEXT_NT, d.t, d.found));
    LSP_TRY(read_found(ctx, &d, found));
    LSP_REQUIRE(found[0] > 0, LSP_ERR_ARGUMENT, "suffix 0 stands nowhere in the suffix array");
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_transform, text->n, TEXT_NT, d.t, found[0], bwt));
    LSP_TRY(lsp_cuda_wait(ctx));
    *primary = found[0];
    return LSP_OK;
}

static lsp_status search(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes,
                         const lsp_text *patterns, int64_t *first, int64_t *count) {
    LSP_SCRATCH_SCOPE(ctx);
    deriving d;
    int64_t *starts;
    LSP_TRY(begin(ctx, text, type, suffixes, &d));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, patterns->strings + 1, &starts));
    LSP_TRY(check_range(ctx, &d));
    LSP_TRY(lsp_cuda_copy(ctx, starts, LSP_CUDA, patterns->starts, LSP_HOST,
                          (patterns->strings + 1) * (int64_t)sizeof *starts));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_search, lsp_ceil_div(patterns->strings, TEXT_NT), TEXT_NT, 0, d.t,
                       derived_patterns{patterns->strings, patterns->symbols, starts}, first, count));
    return lsp_cuda_wait(ctx);
}

/* The walkers of row d->primary and those behind it: begin[w] = the symbols before walker w; -1: not among them. */
static lsp_status order_walkers(lsp_ctx *ctx, const derived_rows *d, int64_t n, const int32_t *device_lengths,
                                int32_t *device_after) {
    const int64_t bytes = d->walkers * (int64_t)sizeof(int32_t);
    int32_t *lengths, *after, *begin;
    int64_t symbols = 0;
    LSP_TRY(LSP_SCRATCH(ctx, d->walkers, &lengths));
    LSP_TRY(LSP_SCRATCH(ctx, d->walkers, &after));
    LSP_TRY(LSP_SCRATCH(ctx, d->walkers, &begin));
    LSP_TRY(lsp_cuda_copy(ctx, lengths, LSP_HOST, device_lengths, LSP_CUDA, bytes));
    LSP_TRY(lsp_cuda_copy(ctx, after, LSP_HOST, device_after, LSP_CUDA, bytes));
    memset(begin, 0xff, (size_t)bytes);
    for (int32_t w = d->walkers - 1; w >= 0; w = after[w]) {
        begin[w] = (int32_t)symbols;
        symbols += lengths[w];
    }
    LSP_REQUIRE(symbols == n, LSP_ERR_FORMAT,
                "no text has this transform: after %lld of %lld symbols its end is reached", (long long)symbols,
                (long long)n);
    return lsp_cuda_copy(ctx, device_after, LSP_CUDA, begin, LSP_HOST, bytes);
}

static lsp_status unbwt(lsp_ctx *ctx, int64_t n, int symbol_bytes, const void *bwt, int64_t primary, void *symbols) {
    LSP_SCRATCH_SCOPE(ctx);
    uint32_t *keys, *places;
    int32_t *lengths, *after;
    derived_rows d = {};
    LSP_REQUIRE(n <= INT32_MAX, LSP_ERR_UNSUPPORTED, "a transform of %lld symbols: a GPU inverts %d at most",
                (long long)n, INT32_MAX);
    while (n >> d.shift >= WALKERS) {
        d.shift++;
    }
    d.walkers = (int32_t)((n - 1) >> d.shift) + 2;
    d.primary = (uint32_t)primary;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, n, &keys));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, n, &places));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, d.walkers, &lengths));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, d.walkers, &after));
    d.keys = keys, d.places = places;
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_widen, n, TEXT_NT, n, bwt, symbol_bytes, keys));
    {
        lsp_segsort_args sort;
        memset(&sort, 0, sizeof sort);
        sort.n = n, sort.key_type = LSP_U32, sort.value_bytes = sizeof *places, sort.end_bit = 8 * symbol_bytes;
        sort.keys = keys, sort.keys_out = keys, sort.values_out = places, sort.flags = LSP_SORT_POSITIONS;
        sort.where = LSP_CUDA;
        LSP_TRY(lsp_sort_array(ctx, &sort));
    }
    LSP_TRY(LSP_LAUNCH(ctx, kernel_walk, lsp_ceil_div(d.walkers, TEXT_NT), TEXT_NT, 0, d, lengths, after));
    LSP_TRY(order_walkers(ctx, &d, n, lengths, after));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_write_rows, lsp_ceil_div(d.walkers, TEXT_NT), TEXT_NT, 0, d,
                       (const int32_t *)lengths, (const int32_t *)after, symbol_bytes, symbols));
    return lsp_cuda_wait(ctx);
}

const lsp_suffix_device lsp_suffix_cuda = {lsp_suffix_array_cuda, check, inverse, lcp, bwt, unbwt, search};
