/* Searches many patterns in a text at once, each by binary search in the suffix array. */
#include "bodies.h"
#include "core/arrays.h"

lsp_status lsp_suffix_search(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes,
                             const lsp_text *patterns, int64_t *first, int64_t *count) {
    lsp_searching s;
    lsp_found found;
    LSP_ENTER(ctx);
    LSP_TRY(lsp_text_check(ctx, text, "text"));
    LSP_TRY(lsp_suffix_check_array(ctx, text->n, type, suffixes));
    LSP_TRY(lsp_text_check(ctx, patterns, "set of patterns"));
    LSP_REQUIRE(patterns->strings > 0 || patterns->n == 0, LSP_ERR_ARGUMENT,
                "the patterns are a text of %lld symbols: a set of strings is needed", (long long)patterns->n);
    LSP_REQUIRE(patterns->symbol_bytes == text->symbol_bytes, LSP_ERR_ARGUMENT,
                "the patterns have symbols of %d bytes, the text has symbols of %d", patterns->symbol_bytes,
                text->symbol_bytes);
    LSP_REQUIRE(patterns->strings == 0 || (first != NULL && count != NULL), LSP_ERR_ARGUMENT,
                "the place for the %s is NULL", first == NULL ? "first suffixes" : "counts");
    const lsp_named_array arrays[] = {
        {"symbols of the text", text->symbols, text->n, (size_t)text->symbol_bytes, false, 0},
        {"symbols of the patterns", patterns->symbols, patterns->n, (size_t)patterns->symbol_bytes, false, 0},
        {"starts of the text", text->starts, text->strings > 0 ? text->strings + 1 : 0, sizeof *first, false, 0},
        {"starts of the patterns", patterns->starts, patterns->strings > 0 ? patterns->strings + 1 : 0, sizeof *first,
         false, 0},
        {"suffix array", suffixes, text->n, lsp_type_bytes(type), false, 0},
        {"first suffixes", first, patterns->strings, sizeof *first, true, 0},
        {"counts", count, patterns->strings, sizeof *count, true, 0}};
    LSP_TRY(lsp_check_arrays(ctx, arrays, (int)(sizeof arrays / sizeof *arrays)));
    LSP_REQUIRE(text->where == patterns->where, LSP_ERR_ARGUMENT,
                "the text lies %s, the patterns lie %s: both must lie at one place",
                text->where == LSP_CUDA ? "on a GPU" : "on the host",
                patterns->where == LSP_CUDA ? "on a GPU" : "on the host");
    const lsp_each_job look = {.args = &s.text, .n = text->n, .kind = {.index = type}, .found = &found, .stops = true};
    LSP_TRY(lsp_deriving_begin(ctx, text, suffixes, &s.text));
    LSP_TRY(LSP_EACH(ctx, text->where, no_suffix, look));
    LSP_TRY(lsp_suffix_refuse(ctx, text, type, suffixes, found.first[0]));
    if (patterns->strings == 0) {
        return LSP_OK;
    }
    LSP_TRY(lsp_text_send(ctx, text->where, patterns->starts, (patterns->strings + 1) * (int64_t)sizeof *s.starts,
                          (const void **)&s.starts));
    s.symbols = patterns->symbols, s.first = first, s.count = count;
    LSP_TRY(LSP_EACH(ctx, text->where, search_pattern,
                     (lsp_each_job){.args = &s, .n = patterns->strings, .kind = look.kind, .heavy = true}));
    return lsp_suffix_end(ctx, text->where);
}
