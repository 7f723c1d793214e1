/* The method radix: a segmented sort of one segment, in phases that gather_scatter/radix_sort.c chooses. */
#include "gather_scatter/radix_sort.h"
#include "slab_sort.h"

lsp_segsort_args lsp_sort_segment(const lsp_sort_args *args) {
    lsp_segsort_args segment = {.n = args->n, .segments = args->n > 0, .length = args->n};
    segment.key_type = args->key_type, segment.value_bytes = args->value_bytes;
    segment.keys = args->keys, segment.keys_out = args->keys_out;
    segment.values = args->values, segment.values_out = args->values_out;
    segment.begin_bit = args->begin_bit, segment.end_bit = args->end_bit;
    segment.flags = args->flags, segment.where = args->where;
    return segment;
}

static int64_t radix_longest(lsp_ctx *ctx, const lsp_sort_args *args) { return (void)ctx, (void)args, INT64_MAX; }
static int64_t radix_bytes(lsp_ctx *ctx, const lsp_sort_args *args) {
    const lsp_segsort_args segment = lsp_sort_segment(args);
    return lsp_radix_sort_bytes(ctx, &segment);
}
static lsp_status sort_by_radix(lsp_ctx *ctx, const lsp_sort_args *args, void *scratch) {
    const lsp_segsort_args segment = lsp_sort_segment(args);
    return lsp_radix_sort_run(ctx, &segment, scratch);
}
const lsp_sort_way lsp_sort_by_radix = {radix_longest, radix_bytes, sort_by_radix};
