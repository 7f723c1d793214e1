/* The alphabet of a text, and the text as codes: the place of each symbol in the alphabet. */
#include "cpu.h"
#include "suffix_array/bodies.h"

/* ---- symbols, counted in a table ---- */

typedef struct counting {
    const lsp_text *text;
    int64_t symbols, shares, *count; /* a count for each possible symbol, for each share of the text */
} counting;

static void count_share(void *data, int64_t share, int thread) {
    const counting *c = data;
    const int bytes = c->text->symbol_bytes;
    int64_t begin, end, *count = c->count + share * c->symbols;
    (void)thread;
    lsp_share(c->text->n, (int)share, (int)c->shares, &begin, &end);
    if (bytes == 1) {
        for (int64_t i = begin; i < end; i++) {
            count[((const uint8_t *)c->text->symbols)[i]]++;
        }
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        count[lsp_symbol_at(c->text->symbols, bytes, i)]++;
    }
}

/* ---- codes ---- */

typedef struct writing {
    const lsp_text *text;
    const uint32_t *code_of; /* of each symbol; NULL: the codes of the sorted symbols lie in `sorted` */
    const uint32_t *sorted;
    const void *places; /* of the sorted symbols in the text */
    lsp_codes *codes;
} writing;

static inline void put(const lsp_codes *codes, int bytes, int64_t i, uint32_t code) {
    void *at = (void *)(uintptr_t)codes->at;
    if (bytes == 8) {
        ((int64_t *)at)[i] = code;
    } else {
        lsp_symbol_set(at, bytes, i, code);
    }
}

/* The widths are constants where it pays. */
static inline void write_as(const writing *w, int64_t begin, int64_t end, int symbol_bytes, int bytes) {
    for (int64_t i = begin; i < end; i++) {
        put(w->codes, bytes, i, w->code_of[lsp_symbol_at(w->text->symbols, symbol_bytes, i)]);
    }
}

static void write_by_table(void *data, int64_t begin, int64_t end) {
    const writing w = *(const writing *)data;
    if (w.text->symbol_bytes == 1) {
        write_as(&w, begin, end, 1, 1);
    } else {
        write_as(&w, begin, end, w.text->symbol_bytes, w.codes->bytes);
    }
}

static void write_sorted(void *data, int64_t begin, int64_t end) {
    const writing *w = data;
    const lsp_type type = w->codes->wide ? LSP_I64 : LSP_I32;
    for (int64_t i = begin; i < end; i++) {
        put(w->codes, w->codes->bytes, lsp_index_at(w->places, type, i), w->sorted[i]);
    }
}

/* Room for the codes and their counts, once their number is known. */
static lsp_status make_room(lsp_ctx *ctx, lsp_codes *codes) {
    char *at;
    const size_t index_bytes = codes->wide ? sizeof(int64_t) : sizeof(int32_t);
    codes->bytes = codes->kinds <= 1 << 8 ? 1 : codes->kinds <= 1 << 16 ? 2 : (int)index_bytes;
    LSP_TRY(lsp_scratch_bytes(ctx, codes->n + 1, (size_t)codes->bytes, false, (void **)&at));
    memset(at, 0, (size_t)codes->bytes);
    codes->at = at + codes->bytes;
    return lsp_scratch_bytes(ctx, codes->kinds, index_bytes, true, &codes->count);
}

/* By sorting the symbols: any alphabet. */
static lsp_status make_by_sort(lsp_ctx *ctx, const lsp_text *text, lsp_codes *codes) {
    uint32_t *sorted;
    void *places;
    const size_t bytes = codes->wide ? sizeof(int64_t) : sizeof(int32_t);
    LSP_TRY(LSP_SCRATCH(ctx, text->n, &sorted));
    LSP_TRY(lsp_scratch_bytes(ctx, text->n, bytes, false, &places));
    lsp_segsort_args sort = lsp_suffix_sort_of(text->n, 4, 0, sorted, bytes, places);
    sort.keys = text->symbols;
    LSP_TRY(lsp_sort_array(ctx, &sort));
    codes->kinds = 0;
    for (int64_t i = 0; i < text->n; i++) {
        const bool last = i + 1 == text->n || sorted[i + 1] != sorted[i];
        sorted[i] = (uint32_t)codes->kinds;
        codes->kinds += last;
    }
    LSP_TRY(make_room(ctx, codes));
    writing w = {.text = text, .sorted = sorted, .places = places, .codes = codes};
    lsp_for_shares(ctx, text->n, 1 << 16, write_sorted, &w);
    const lsp_type type = codes->wide ? LSP_I64 : LSP_I32;
    for (int64_t i = 0; i < text->n; i++) {
        lsp_index_set(codes->count, type, sorted[i], lsp_index_at(codes->count, type, sorted[i]) + 1);
    }
    return LSP_OK;
}

static lsp_status make_by_table(lsp_ctx *ctx, const lsp_text *text, int64_t symbols, lsp_codes *codes) {
    counting c = {.text = text, .symbols = symbols};
    uint32_t *code_of;
    c.shares = lsp_threads_for(ctx, text->n, 8 * symbols);
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, c.shares * symbols, &c.count));
    lsp_for_parts(ctx, c.shares, (int)c.shares, count_share, &c);
    LSP_TRY(LSP_SCRATCH(ctx, symbols, &code_of));
    codes->kinds = 0;
    for (int64_t s = 0; s < symbols; s++) {
        for (int64_t share = 1; share < c.shares; share++) {
            c.count[s] += c.count[share * symbols + s];
        }
        code_of[s] = (uint32_t)codes->kinds;
        codes->kinds += c.count[s] > 0;
    }
    LSP_TRY(make_room(ctx, codes));
    for (int64_t s = 0; s < symbols; s++) {
        if (c.count[s] > 0) {
            lsp_index_set(codes->count, codes->wide ? LSP_I64 : LSP_I32, code_of[s], c.count[s]);
        }
    }
    writing w = {.text = text, .code_of = code_of, .codes = codes};
    lsp_for_shares(ctx, text->n, 1 << 16, write_by_table, &w);
    return LSP_OK;
}

lsp_status lsp_codes_make(lsp_ctx *ctx, const lsp_text *text, bool wide, lsp_codes *codes) {
    int64_t symbols = text->symbol_bytes == 1 ? 1 << 8 : 1 << 16;
    *codes = (lsp_codes){.n = text->n, .wide = wide};
    if (text->symbol_bytes == 4) {
        lsp_found found;
        const lsp_deriving d = {.symbols = text->symbols};
        LSP_TRY(LSP_EACH(ctx, LSP_HOST, largest_symbol, (lsp_each_job){.args = &d, .n = text->n, .found = &found}));
        symbols = (int64_t)found.most + 1;
    }
    LSP_TRY(symbols <= lsp_max(text->n, 1 << 16) ? make_by_table(ctx, text, symbols, codes)
                                                 : make_by_sort(ctx, text, codes));
    return lsp_text_firsts(ctx, text, &codes->first);
}
