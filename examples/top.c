/* The two best scores of each group, and who has them: a segmented sort that only needs the first items of a segment.
 */
#include <libsparse.h>
#include <stdio.h>

int main(void) {
    enum { GROUPS = 3, ITEMS = 10, BEST = 2 };
    const float score[ITEMS] = {3, 9, 4, 8, 1, 1, 7, 2, 5, 6};
    const int32_t begin[GROUPS + 1] = {0, 4, 5, 10};
    float sorted[ITEMS];
    uint32_t who[ITEMS];
    const lsp_segsort_args args = {.n = ITEMS,
                                   .segments = GROUPS,
                                   .offsets = begin,
                                   .offset_type = LSP_I32,
                                   .key_type = LSP_F32,
                                   .value_bytes = sizeof *who,
                                   .keys = score,
                                   .keys_out = sorted,
                                   .values_out = who,
                                   .flags = LSP_SORT_DESCENDING | LSP_SORT_GLOBAL_POSITIONS,
                                   .first = BEST};
    lsp_ctx *ctx = NULL;
    int failed = lsp_ctx_create(&ctx, NULL, NULL, 0) || lsp_segsort(ctx, &args, NULL);
    for (int g = 0; g < GROUPS && !failed; g++) {
        for (int k = begin[g]; k < begin[g + 1] && k < begin[g] + BEST; k++) {
            printf("group %d: %g by item %u\n", g, sorted[k], who[k]);
        }
    }
    lsp_ctx_destroy(ctx);
    return failed;
}
