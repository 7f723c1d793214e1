/* Is an array the suffix array of a text? In linear time: it is if each suffix stands once, first symbols never fall,
 * and of neighbours with the same first symbol the rests stand in the same order. */
#include "bodies.h"
#include "core/cuda.h"

/* Names the first place that holds no suffix, or one that stands before it too. */
static lsp_status refuse_place(lsp_ctx *ctx, lsp_where where, const lsp_deriving *d, lsp_type type, int64_t r) {
    int64_t suffix, place;
    LSP_TRY(lsp_read_index(ctx, where, d->suffixes, type, r, &suffix));
    LSP_REQUIRE(lsp_is_suffix(d, suffix), LSP_ERR_FORMAT, "place %lld holds suffix %lld: there are %lld", (long long)r,
                (long long)suffix, (long long)d->n);
    LSP_TRY(lsp_read_index(ctx, where, d->places, d->place_type, suffix, &place));
    return lsp_fail(ctx, LSP_ERR_FORMAT, "suffix %lld stands at places %lld and %lld", (long long)suffix,
                    (long long)place, (long long)r);
}

lsp_status lsp_suffix_check(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes) {
    lsp_deriving d;
    int64_t r, before, suffix;
    LSP_ENTER(ctx);
    LSP_TRY(lsp_text_check(ctx, text, "text"));
    LSP_TRY(lsp_suffix_check_array(ctx, text->n, type, suffixes));
    LSP_TRY(lsp_deriving_begin(ctx, text, suffixes, &d));
    LSP_TRY(lsp_scratch_at(ctx, text->where, d.n, lsp_type_bytes(d.place_type), &d.places));
    const lsp_each_job job = {.args = &d, .n = d.n, .kind = {.index = type}, .stops = true};
    LSP_TRY(LSP_EACH(ctx, text->where, put_place, job));
    LSP_TRY(LSP_EACH_FIRST(ctx, text->where, other_place, &r, job));
    if (r < d.n) {
        LSP_TRY(LSP_EACH(ctx, text->where, lower_place, job));
        LSP_TRY(LSP_EACH_FIRST(ctx, text->where, other_place, &r, job));
        return refuse_place(ctx, text->where, &d, type, r);
    }
    LSP_TRY(LSP_EACH_FIRST(ctx, text->where, out_of_order, &r, job));
    if (r < d.n) {
        LSP_TRY(lsp_read_index(ctx, text->where, suffixes, type, r - 1, &before));
        LSP_TRY(lsp_read_index(ctx, text->where, suffixes, type, r, &suffix));
        return lsp_fail(ctx, LSP_ERR_FORMAT,
                        "suffix %lld stands at place %lld, before suffix %lld, which comes before it",
                        (long long)before, (long long)r - 1, (long long)suffix);
    }
    return LSP_OK;
}
