/* lsp_segsort: sorts every segment of an array of keys and moves values along. Checks, then the CPU's code. */
#include "segsort.h"

/* The bytes [a, a+n) and [b, b+n) are the same or apart. */
static bool same_or_apart(const void *a, const void *b, int64_t n, size_t item_bytes) {
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b, bytes = (uintptr_t)n * item_bytes;
    return x == y || (x < y ? y - x >= bytes : x - y >= bytes);
}

/* Offsets never fall and stay within 0 .. n. */
static lsp_status check_offsets(lsp_ctx *ctx, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    int64_t bad = args->segments;
#pragma omp parallel for num_threads(lsp_threads_for(ctx, args->segments, 1 << 16)) reduction(min : bad)
    for (int64_t s = 0; s < args->segments; s++) {
        if (lsp_index_at(args->offsets, args->offset_type, s) > lsp_index_at(args->offsets, args->offset_type, s + 1)) {
            bad = lsp_min(bad, s);
        }
    }
    LSP_REQUIRE(bad == args->segments, LSP_ERR_ARGUMENT,
                "segment %lld begins at %lld and ends before that, at %lld: offsets must never fall", (long long)bad,
                (long long)lsp_index_at(args->offsets, args->offset_type, bad),
                (long long)lsp_index_at(args->offsets, args->offset_type, bad + 1));
    int64_t begin = lsp_index_at(args->offsets, args->offset_type, 0);
    int64_t end = lsp_index_at(args->offsets, args->offset_type, args->segments);
    LSP_REQUIRE(begin >= 0 && end <= args->n, LSP_ERR_ARGUMENT,
                "the segments cover the items %lld to %lld, but there are only the items 0 to %lld", (long long)begin,
                (long long)end, (long long)args->n);
done:
    return status;
}

lsp_status lsp_segsort_check(lsp_ctx *ctx, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    int64_t bytes;
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the segmented sort are NULL");
    LSP_REQUIRE(args->n >= 0 && args->segments >= 0 && args->segments < INT64_MAX / 16, LSP_ERR_ARGUMENT,
                "%lld items in %lld segments: that cannot be sorted", (long long)args->n, (long long)args->segments);
    LSP_REQUIRE(args->key_type >= LSP_I32 && args->key_type <= LSP_F64, LSP_ERR_ARGUMENT,
                "keys of type %d cannot be sorted", (int)args->key_type);
    LSP_REQUIRE(args->offset_type == LSP_I32 || args->offset_type == LSP_I64, LSP_ERR_ARGUMENT,
                "offsets of type %d: LSP_I32 or LSP_I64 is needed", (int)args->offset_type);
    LSP_REQUIRE(args->value_bytes == 0 || args->value_bytes == 4 || args->value_bytes == 8 || args->value_bytes == 16,
                LSP_ERR_ARGUMENT, "values of %zu bytes: 0, 4, 8 or 16 are offered", args->value_bytes);
    LSP_REQUIRE((args->flags & ~(unsigned)LSP_SORT_DESCENDING) == 0, LSP_ERR_ARGUMENT, "unknown flags: 0x%x",
                args->flags);
    LSP_REQUIRE(lsp_mul(args->n, 16, &bytes), LSP_ERR_ARGUMENT, "%lld items cannot be in memory", (long long)args->n);
    LSP_REQUIRE(args->offsets != NULL, LSP_ERR_ARGUMENT, "the offsets of %lld segments are NULL",
                (long long)args->segments);
    if (args->n > 0) {
        LSP_REQUIRE(args->keys != NULL && args->keys_out != NULL, LSP_ERR_ARGUMENT,
                    "the keys, or the place for the sorted ones, are NULL");
        LSP_REQUIRE(args->value_bytes == 0 || (args->values != NULL && args->values_out != NULL), LSP_ERR_ARGUMENT,
                    "the values, or the place for the sorted ones, are NULL");
        LSP_REQUIRE(same_or_apart(args->keys, args->keys_out, args->n, lsp_type_bytes(args->key_type)),
                    LSP_ERR_ARGUMENT, "the sorted keys would overlap the keys, but not be in their place");
        LSP_REQUIRE(args->value_bytes == 0 || same_or_apart(args->values, args->values_out, args->n, args->value_bytes),
                    LSP_ERR_ARGUMENT, "the sorted values would overlap the values, but not be in their place");
    }
    LSP_TRY(check_offsets(ctx, args));
done:
    return status;
}

lsp_status lsp_segsort(lsp_ctx *ctx, const lsp_segsort_args *args) {
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    lsp_status status = lsp_segsort_check(ctx, args);
    return status == LSP_OK ? lsp_segsort_cpu(ctx, args) : status;
}
