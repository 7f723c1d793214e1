/* One level: a text of codes or of names. Included by levels.c with KIND. */
#include "groups_template.h"
#include "passes_template.h"
/* These two use them. */
#include "doubling_template.h"
#include "induced_template.h"

static lsp_status T(level)(lsp_ctx *ctx, const SYMBOL *text, int64_t n, int64_t kinds, const INDEX *count,
                           const uint64_t *first, lsp_suffix_method method, INDEX *suffixes, lsp_suffix_info *info) {
    T(doubling) d;
    double in_long, in_short;
    LSP_TRY(T(doubling_look)(ctx, text, n, kinds, first, &d, &in_long, &in_short));
    const bool induced =
        method == LSP_SUFFIX_INDUCED || (method == LSP_SUFFIX_AUTO && first == NULL && !is_doubling_cheaper(in_long));
    if (info->bits == 0 || induced) {
        info->method = induced ? LSP_SUFFIX_INDUCED : LSP_SUFFIX_DOUBLING;
    }
    if (info->reason[0] == 0) {
        snprintf(info->reason, sizeof info->reason,
                 "%.0f %% of the first %lld suffixes share their first %d symbols with others%s", 100 * in_long,
                 (long long)d.looked, d.symbols, first != NULL ? "; a set of strings" : "");
    }
    if (induced) {
        info->bits = 64 / lsp_bits((uint64_t)kinds + 1) * lsp_bits((uint64_t)kinds + 1);
        LSP_TRY(T(induced)(ctx, text, n, kinds, count, suffixes, info));
    } else {
        int bits, *rounds = info->method == LSP_SUFFIX_INDUCED ? &(int){0} : &info->rounds;
        LSP_TRY(T(doubling_run)(ctx, &d, !are_short_keys_enough(in_short), suffixes, &bits, rounds));
        info->bits = info->bits == 0 ? bits : info->bits;
    }
    return LSP_OK;
}
#undef KIND
