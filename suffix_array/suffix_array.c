/* The public call that sorts suffixes. */
#include "suffix_array.h"

const char *lsp_suffix_method_name(lsp_suffix_method method) {
    static const char *const names[] = {"auto", "doubling", "induced"};
    return (unsigned)method <= LSP_SUFFIX_INDUCED ? names[method] : "?";
}

lsp_status lsp_suffix_array(lsp_ctx *ctx, const lsp_text *text, const lsp_suffix_options *options, lsp_type type,
                            void *suffixes, lsp_suffix_info *info) {
    lsp_suffix_info chosen = {.method = LSP_SUFFIX_DOUBLING};
    const lsp_suffix_method method = options != NULL ? options->method : LSP_SUFFIX_AUTO;
    LSP_ENTER(ctx);
    const lsp_suffix_device *device = lsp_suffix_device_of(ctx->options.device);
    LSP_TRY(lsp_text_check(ctx, text, "text"));
    LSP_TRY(lsp_suffix_check_array(ctx, text->n, type, suffixes));
    LSP_TRY(lsp_suffix_check_apart(ctx, text, type, NULL, "suffixes", suffixes, lsp_type_bytes(type), false));
    LSP_REQUIRE(method >= LSP_SUFFIX_AUTO && method <= LSP_SUFFIX_INDUCED, LSP_ERR_ARGUMENT,
                "method %d of suffix arrays: there is none", (int)method);
    if (options != NULL) {
        LSP_TRY(lsp_check_reserved(ctx, "lsp_suffix_options", options->reserved));
    }
    LSP_REQUIRE(method != LSP_SUFFIX_INDUCED || text->strings == 0, LSP_ERR_UNSUPPORTED,
                "induced sorting takes one text, not a set of %lld strings", (long long)text->strings);
    if (text->n > 0) {
        lsp_space *space = &ctx->space[ctx->options.device];
        const int64_t before = space->used, peak = space->peak;
        space->peak = before;
        const lsp_status status = device->array(ctx, text, method, type, suffixes, &chosen);
        chosen.scratch_bytes = space->peak - before;
        space->peak = lsp_max(peak, space->peak);
        LSP_TRY(status);
    }
    lsp_log(ctx, "suffix array of %lld symbols, method %s: %s", (long long)text->n,
            lsp_suffix_method_name(chosen.method), chosen.reason);
    LSP_TELL(info, chosen);
    return LSP_OK;
}
