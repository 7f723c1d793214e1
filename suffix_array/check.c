/* Refuses wrong arguments of suffix arrays, with a sentence that names the first fault. */
#include "core/arrays.h"
#include "suffix_array.h"

lsp_status lsp_text_check(lsp_ctx *ctx, const lsp_text *text, const char *name) {
    int64_t bytes;
    LSP_REQUIRE(text != NULL, LSP_ERR_ARGUMENT, "the %s is NULL", name);
    LSP_REQUIRE(text->symbol_bytes == 1 || text->symbol_bytes == 2 || text->symbol_bytes == 4, LSP_ERR_ARGUMENT,
                "the %s has symbols of %d bytes: 1, 2 or 4 are needed", name, text->symbol_bytes);
    LSP_REQUIRE(text->n >= 0 && lsp_mul(text->n, 8, &bytes), LSP_ERR_ARGUMENT, "the %s has %lld symbols", name,
                (long long)text->n);
    LSP_REQUIRE(text->n == 0 || text->symbols != NULL, LSP_ERR_ARGUMENT, "the symbols of the %s are NULL", name);
    LSP_REQUIRE((uintptr_t)text->symbols % (uintptr_t)text->symbol_bytes == 0, LSP_ERR_ARGUMENT,
                "the symbols of the %s lie at %p, which is no multiple of %d", name, text->symbols, text->symbol_bytes);
    LSP_REQUIRE(text->where == LSP_HOST || text->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the %s is at place %d: LSP_HOST or LSP_CUDA is needed", name, (int)text->where);
    LSP_REQUIRE(text->where == LSP_HOST || ctx->options.device == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the %s lies on a GPU, but the context works on the host", name);
    LSP_REQUIRE(text->strings >= 0, LSP_ERR_ARGUMENT, "the %s has %lld strings", name, (long long)text->strings);
    LSP_REQUIRE(text->strings == 0 || text->starts != NULL, LSP_ERR_ARGUMENT, "the starts of the %s are NULL", name);
    for (int64_t s = 0; s <= text->strings && text->strings > 0; s++) {
        const int64_t least = s == 0 ? 0 : text->starts[s - 1], most = s == 0 ? 0 : text->n;
        LSP_REQUIRE(text->starts[s] >= least && text->starts[s] <= most, LSP_ERR_ARGUMENT,
                    "string %lld of the %s starts at symbol %lld: %lld to %lld is needed", (long long)s, name,
                    (long long)text->starts[s], (long long)least, (long long)most);
    }
    LSP_REQUIRE(text->strings == 0 || text->starts[text->strings] == text->n, LSP_ERR_ARGUMENT,
                "the last string of the %s ends at symbol %lld, but there are %lld", name,
                (long long)text->starts[text->strings], (long long)text->n);
    return LSP_OK;
}

lsp_status lsp_suffix_check_apart(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes,
                                  const char *name, const void *out, size_t bytes, bool in_place) {
    const lsp_named_array arrays[] = {
        {"suffix array", suffixes, suffixes != NULL ? text->n : 0, lsp_type_bytes(type), false, 1},
        {"symbols of the text", text->symbols, text->n, (size_t)text->symbol_bytes, false, 0},
        {name, out, text->n, bytes, true, in_place}};
    return lsp_check_arrays(ctx, arrays, 3);
}

lsp_status lsp_suffix_check_array(lsp_ctx *ctx, int64_t n, lsp_type type, const void *suffixes) {
    LSP_REQUIRE(type == LSP_I32 || type == LSP_I64, LSP_ERR_ARGUMENT,
                "the suffix array has type %s: LSP_I32 or LSP_I64 is needed", lsp_type_name(type));
    LSP_REQUIRE(type == LSP_I64 || n <= INT32_MAX, LSP_ERR_OVERFLOW,
                "%lld suffixes do not fit type LSP_I32: LSP_I64 is needed", (long long)n);
    LSP_REQUIRE(n == 0 || suffixes != NULL, LSP_ERR_ARGUMENT, "the suffix array is NULL");
    return LSP_OK;
}

lsp_status lsp_suffix_refuse(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, uint64_t r) {
    int64_t suffix;
    if (r == LSP_NOWHERE) {
        return LSP_OK;
    }
    LSP_TRY(lsp_read_index(ctx, text->where, suffixes, type, (int64_t)r, &suffix));
    return lsp_fail(ctx, LSP_ERR_ARGUMENT, "place %lld of the suffix array holds %lld: 0 to %lld is needed",
                    (long long)r, (long long)suffix, (long long)text->n - 1);
}

lsp_status lsp_text_firsts(lsp_ctx *ctx, const lsp_text *text, const uint64_t **bits) {
    uint64_t *made = NULL;
    if (text->strings > 0) {
        LSP_TRY(LSP_SCRATCH_ZERO(ctx, text->n / 64 + 1, &made));
        for (int64_t s = 0; s <= text->strings; s++) {
            made[text->starts[s] >> 6] |= (uint64_t)1 << (text->starts[s] & 63);
        }
    }
    *bits = made;
    return LSP_OK;
}

lsp_status lsp_text_send(lsp_ctx *ctx, lsp_where where, const void *from, int64_t bytes, const void **there) {
    void *copy;
    *there = from;
    if (where == LSP_HOST || from == NULL) {
        return LSP_OK;
    }
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, bytes, 1, &copy));
    *there = copy;
    return lsp_cuda_copy(ctx, copy, LSP_CUDA, from, LSP_HOST, bytes);
}

lsp_status lsp_deriving_begin(lsp_ctx *ctx, const lsp_text *text, const void *suffixes, lsp_deriving *d) {
    *d = (lsp_deriving){.n = text->n,
                        .symbols = text->symbols,
                        .suffixes = suffixes,
                        .symbol_bytes = text->symbol_bytes,
                        .place_type = text->n <= INT32_MAX ? LSP_I32 : LSP_I64};
    LSP_TRY(lsp_text_firsts(ctx, text, &d->first));
    return lsp_text_send(ctx, text->where, d->first, (text->n / 64 + 1) * (int64_t)sizeof *d->first,
                         (const void **)&d->first);
}
