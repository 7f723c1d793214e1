/* The alphabet of a text, and the text as codes: the place of each symbol in the alphabet. */
#include "cpu.h"

/* ---- symbols that occur, marked in a table ---- */

typedef struct marking {
    const lsp_text *text;
    uint8_t *seen; /* a byte for each possible symbol */
    uint32_t *largest;
} marking;

static void find_largest(void *data, int64_t begin, int64_t end) {
    marking *m = data;
    uint32_t largest = 0;
    for (int64_t i = begin; i < end; i++) {
        const uint32_t symbol = ((const uint32_t *)m->text->symbols)[i];
        largest = symbol > largest ? symbol : largest;
    }
    uint32_t before = __atomic_load_n(m->largest, __ATOMIC_RELAXED);
    while (before < largest &&
           !__atomic_compare_exchange_n(m->largest, &before, largest, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void mark(void *data, int64_t begin, int64_t end) {
    marking *m = data;
    for (int64_t i = begin; i < end; i++) {
        uint8_t *seen = &m->seen[lsp_symbol_at(m->text->symbols, m->text->symbol_bytes, i)];
        if (__atomic_load_n(seen, __ATOMIC_RELAXED) == 0) {
            __atomic_store_n(seen, 1, __ATOMIC_RELAXED);
        }
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

static inline void put(const lsp_codes *codes, int64_t i, uint32_t code) {
    void *at = (void *)(uintptr_t)codes->at;
    if (codes->bytes == 1) {
        ((uint8_t *)at)[i] = (uint8_t)code;
    } else if (codes->bytes == 2) {
        ((uint16_t *)at)[i] = (uint16_t)code;
    } else {
        lsp_index_set(at, codes->wide ? LSP_I64 : LSP_I32, i, code);
    }
}

static void write_by_table(void *data, int64_t begin, int64_t end) {
    const writing *w = data;
    for (int64_t i = begin; i < end; i++) {
        put(w->codes, i, w->code_of[lsp_symbol_at(w->text->symbols, w->text->symbol_bytes, i)]);
    }
}

static void write_sorted(void *data, int64_t begin, int64_t end) {
    const writing *w = data;
    const lsp_type type = w->codes->wide ? LSP_I64 : LSP_I32;
    for (int64_t i = begin; i < end; i++) {
        put(w->codes, lsp_index_at(w->places, type, i), w->sorted[i]);
    }
}

static void count(const lsp_codes *codes) {
    const lsp_type type = codes->wide ? LSP_I64 : LSP_I32;
    for (int64_t i = 0; i < codes->n; i++) {
        const int64_t code = codes->bytes == 1   ? ((const uint8_t *)codes->at)[i]
                             : codes->bytes == 2 ? ((const uint16_t *)codes->at)[i]
                                                 : lsp_index_at(codes->at, type, i);
        lsp_index_set(codes->count, type, code, lsp_index_at(codes->count, type, code) + 1);
    }
}

/* Room for the codes and their counts, once their number is known. */
static lsp_status make_room(lsp_ctx *ctx, lsp_codes *codes) {
    lsp_status status = LSP_OK;
    char *at;
    const size_t index_bytes = codes->wide ? sizeof(int64_t) : sizeof(int32_t);
    codes->bytes = codes->kinds <= 1 << 8 ? 1 : codes->kinds <= 1 << 16 ? 2 : (int)index_bytes;
    LSP_TRY(lsp_scratch_bytes(ctx, codes->n + 1, (size_t)codes->bytes, false, (void **)&at));
    memset(at, 0, (size_t)codes->bytes);
    codes->at = at + codes->bytes;
    LSP_TRY(lsp_scratch_bytes(ctx, codes->kinds, index_bytes, true, &codes->count));
done:
    return status;
}

/* By sorting the symbols: any alphabet. */
static lsp_status make_by_sort(lsp_ctx *ctx, const lsp_text *text, lsp_codes *codes) {
    lsp_status status = LSP_OK;
    uint32_t *sorted;
    void *places;
    const size_t bytes = codes->wide ? sizeof(int64_t) : sizeof(int32_t);
    LSP_TRY(LSP_SCRATCH(ctx, text->n, &sorted));
    LSP_TRY(lsp_scratch_bytes(ctx, text->n, bytes, false, &places));
    const lsp_radix_sort_args sort = {.n = text->n,
                                      .key_type = LSP_U32,
                                      .value_bytes = bytes,
                                      .keys = text->symbols,
                                      .keys_out = sorted,
                                      .values_out = places,
                                      .flags = LSP_SORT_POSITIONS};
    LSP_TRY(lsp_radix_sort(ctx, &sort, NULL));
    codes->kinds = 0;
    for (int64_t i = 0; i < text->n; i++) {
        const bool last = i + 1 == text->n || sorted[i + 1] != sorted[i];
        sorted[i] = (uint32_t)codes->kinds;
        codes->kinds += last;
    }
    LSP_TRY(make_room(ctx, codes));
    writing w = {.text = text, .sorted = sorted, .places = places, .codes = codes};
    lsp_for_shares(ctx, text->n, 1 << 16, write_sorted, &w);
done:
    return status;
}

static lsp_status make_by_table(lsp_ctx *ctx, const lsp_text *text, int64_t symbols, lsp_codes *codes) {
    lsp_status status = LSP_OK;
    marking m = {.text = text};
    uint32_t *code_of;
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, symbols, &m.seen));
    lsp_for_shares(ctx, text->n, 1 << 16, mark, &m);
    LSP_TRY(LSP_SCRATCH(ctx, symbols, &code_of));
    codes->kinds = 0;
    for (int64_t s = 0; s < symbols; s++) {
        code_of[s] = (uint32_t)codes->kinds;
        codes->kinds += m.seen[s];
    }
    LSP_TRY(make_room(ctx, codes));
    writing w = {.text = text, .code_of = code_of, .codes = codes};
    lsp_for_shares(ctx, text->n, 1 << 16, write_by_table, &w);
done:
    return status;
}

lsp_status lsp_codes_make(lsp_ctx *ctx, const lsp_text *text, bool wide, lsp_codes *codes) {
    lsp_status status = LSP_OK;
    int64_t symbols = text->symbol_bytes == 1 ? 1 << 8 : 1 << 16;
    *codes = (lsp_codes){.n = text->n, .wide = wide};
    if (text->symbol_bytes == 4) {
        uint32_t largest = 0;
        marking m = {.text = text, .largest = &largest};
        lsp_for_shares(ctx, text->n, 1 << 16, find_largest, &m);
        symbols = (int64_t)largest + 1;
    }
    if (symbols <= lsp_max(text->n, 1 << 16)) {
        LSP_TRY(make_by_table(ctx, text, symbols, codes));
    } else {
        LSP_TRY(make_by_sort(ctx, text, codes));
    }
    count(codes);
    LSP_TRY(lsp_text_firsts(ctx, text, &codes->first));
done:
    return status;
}
