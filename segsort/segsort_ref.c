/* The specification of the segmented sort: positions of each segment merged by comparing keys. O(n log n), one thread.
 */
#include "segsort.h"
#include <math.h>
#include <string.h>

/* Does key x stand before key y? Equal keys: no, so that a merge which asks only this is stable. */
#define BEFORE_INTEGER(type)                                                                                           \
    (descending ? ((const type *)keys)[y] < ((const type *)keys)[x] : ((const type *)keys)[x] < ((const type *)keys)[y])

static bool before_real(double x, double y, bool descending) {
    if (isnan(x) || isnan(y)) {
        return !isnan(x) && isnan(y);
    }
    int sign_x = signbit(x) ? -1 : 1, sign_y = signbit(y) ? -1 : 1;
    bool less = x < y || (x == y && sign_x < sign_y), more = x > y || (x == y && sign_x > sign_y);
    return descending ? more : less;
}

static bool before(const void *keys, lsp_type type, int64_t x, int64_t y, bool descending) {
    switch (type) {
    case LSP_I32:
        return BEFORE_INTEGER(int32_t);
    case LSP_U32:
        return BEFORE_INTEGER(uint32_t);
    case LSP_I64:
        return BEFORE_INTEGER(int64_t);
    case LSP_U64:
        return BEFORE_INTEGER(uint64_t);
    case LSP_F32:
        return before_real(((const float *)keys)[x], ((const float *)keys)[y], descending);
    default:
        return before_real(((const double *)keys)[x], ((const double *)keys)[y], descending);
    }
}

/* to[0..n) = the items of from[0..n), already copied elsewhere, in the order of the positions. */
static void permute(char *to, const char *from, size_t bytes, const int64_t *position, int64_t n) {
    for (int64_t i = 0; i < n && bytes > 0; i++) {
        memcpy(to + (size_t)i * bytes, from + (size_t)position[i] * bytes, bytes);
    }
}

/* The stably sorted positions of n keys; `position` and `other` hold n each. Returns the one with the result. */
static int64_t *sorted_positions(const void *keys, lsp_type type, bool descending, int64_t n, int64_t *position,
                                 int64_t *other) {
    for (int64_t i = 0; i < n; i++) {
        position[i] = i;
    }
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * run) {
            int64_t middle = lsp_min(begin + run, n), end = lsp_min(begin + 2 * run, n);
            for (int64_t i = begin, j = middle, k = begin; k < end; k++) {
                bool right = i == middle || (j < end && before(keys, type, position[j], position[i], descending));
                other[k] = position[right ? j++ : i++];
            }
        }
        int64_t *swap = position;
        position = other;
        other = swap;
    }
    return position;
}

lsp_status lsp_segsort_ref(lsp_ctx *ctx, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx), key_bytes = lsp_type_bytes(args->key_type), value_bytes = args->value_bytes;
    int64_t longest = 0, *position, *other;
    char *copy;
    for (int64_t s = 0; s < args->segments; s++) {
        longest = lsp_max(longest, lsp_index_at(args->offsets, args->offset_type, s + 1) -
                                       lsp_index_at(args->offsets, args->offset_type, s));
    }
    LSP_TRY(LSP_SCRATCH(ctx, longest, &position));
    LSP_TRY(LSP_SCRATCH(ctx, longest, &other));
    LSP_TRY(lsp_scratch_bytes(ctx, longest, 16, false, (void **)&copy));
    for (int64_t s = 0; s < args->segments; s++) {
        int64_t begin = lsp_index_at(args->offsets, args->offset_type, s);
        int64_t n = lsp_index_at(args->offsets, args->offset_type, s + 1) - begin;
        if (n == 0) {
            continue;
        }
        size_t key_at = (size_t)begin * key_bytes, value_at = (size_t)begin * value_bytes;
        const int64_t *order = sorted_positions((const char *)args->keys + key_at, args->key_type,
                                                (args->flags & LSP_SORT_DESCENDING) != 0, n, position, other);
        memcpy(copy, (const char *)args->keys + key_at, (size_t)n * key_bytes);
        permute((char *)args->keys_out + key_at, copy, key_bytes, order, n);
        if (value_bytes > 0) {
            memcpy(copy, (const char *)args->values + value_at, (size_t)n * value_bytes);
            permute((char *)args->values_out + value_at, copy, value_bytes, order, n);
        }
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
