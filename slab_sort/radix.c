/* The method radix: a segmented sort of one segment, in phases that gather_scatter/radix_sort.c chooses. */
#include "gather_scatter/radix_sort.h"
#include "slab_sort.h"

lsp_segsort_args lsp_sort_segment(const lsp_sort_args *args) {
    return (lsp_segsort_args){.n = args->n,
                              .segments = args->n > 0,
                              .length = lsp_max(args->n, 0),
                              .key_type = args->key_type,
                              .value_bytes = args->value_bytes,
                              .keys = args->keys,
                              .keys_out = args->keys_out,
                              .values = args->values,
                              .values_out = args->values_out,
                              .begin_bit = args->begin_bit,
                              .end_bit = args->end_bit,
                              .flags = args->flags,
                              .change = args->change,
                              .where = args->where};
}

/* The sort of segments could mark changes too; lsp_sort_mark_changes does it for all methods but slabs. */
static lsp_segsort_args as_radix(const lsp_sort_args *args) {
    lsp_segsort_args radix = lsp_sort_segment(args);
    radix.change = NULL;
    return radix;
}

static int64_t radix_longest(lsp_ctx *ctx, const lsp_sort_args *args) { return (void)ctx, (void)args, INT64_MAX; }
static int64_t radix_bytes(lsp_ctx *ctx, const lsp_sort_args *args) {
    const lsp_segsort_args radix = as_radix(args);
    return lsp_radix_sort_bytes(ctx, &radix);
}
static lsp_status sort_by_radix(lsp_ctx *ctx, const lsp_sort_args *args, void *scratch) {
    const lsp_segsort_args radix = as_radix(args);
    return lsp_radix_sort_run(ctx, &radix, scratch);
}
const lsp_sort_way lsp_sort_by_radix = {radix_longest, radix_bytes, sort_by_radix};
