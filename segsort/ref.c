/* The specification of the segmented sort: a merge sort of each segment's positions that compares keys as the contract
 * defines their order. O(n log n), one thread. */
#include "segsort.h"
#include <math.h>
#include <string.h>

/* An integer key as an unsigned number in the same order. With a range of bits, only these bits of the number. */
static uint64_t integer_at(const lsp_segsort_args *args, const void *keys, int64_t i) {
    bool wide = lsp_type_bytes(args->key_type) == 8, is_signed = args->key_type == LSP_I32 || args->key_type == LSP_I64;
    uint64_t key = wide ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
    uint64_t sign = (uint64_t)1 << (wide ? 63 : 31), number = is_signed ? key ^ sign : key;
    if (args->end_bit == 0) {
        return number;
    }
    return (args->end_bit < 64 ? number & (((uint64_t)1 << args->end_bit) - 1) : number) >> args->begin_bit;
}

/* Does x come before y? NaNs come last, in either direction; -0 is below +0, unless zeros are equal. */
static bool before_real(double x, double y, unsigned flags) {
    const bool descending = (flags & LSP_SORT_DESCENDING) != 0, signs = (flags & LSP_SORT_EQUAL_ZEROS) == 0;
    if (isnan(x) || isnan(y)) {
        return !isnan(x) && isnan(y);
    }
    int sign_x = signbit(x) ? -1 : 1, sign_y = signbit(y) ? -1 : 1;
    bool less = x < y || (signs && x == y && sign_x < sign_y), more = x > y || (signs && x == y && sign_x > sign_y);
    return descending ? more : less;
}

/* Does key x come before key y? False for equal keys, so a merge by this function is stable. */
static bool before(const lsp_segsort_args *args, const void *keys, int64_t x, int64_t y) {
    bool descending = (args->flags & LSP_SORT_DESCENDING) != 0;
    if (args->key_type == LSP_F32) {
        return before_real(((const float *)keys)[x], ((const float *)keys)[y], args->flags);
    }
    if (args->key_type == LSP_F64) {
        return before_real(((const double *)keys)[x], ((const double *)keys)[y], args->flags);
    }
    uint64_t a = integer_at(args, keys, x), b = integer_at(args, keys, y);
    return descending ? b < a : a < b;
}

/* to[i] = from[position[i]] for n items; the arrays do not overlap. */
static void permute(char *to, const char *from, size_t bytes, const int64_t *position, int64_t n) {
    for (int64_t i = 0; i < n && bytes > 0; i++) {
        memcpy(to + (size_t)i * bytes, from + (size_t)position[i] * bytes, bytes);
    }
}

/* Sorts the positions of n keys stably. `position` and `other` hold n each; returns the array with the result. */
static int64_t *sorted_positions(const lsp_segsort_args *args, const void *keys, int64_t n, int64_t *position,
                                 int64_t *other) {
    for (int64_t i = 0; i < n; i++) {
        position[i] = i;
    }
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * run) {
            int64_t middle = lsp_min(begin + run, n), end = lsp_min(begin + 2 * run, n);
            for (int64_t i = begin, j = middle, k = begin; k < end; k++) {
                bool right = i == middle || (j < end && before(args, keys, position[j], position[i]));
                other[k] = position[right ? j++ : i++];
            }
        }
        int64_t *swap = position;
        position = other;
        other = swap;
    }
    return position;
}

/* Writes the places where the n sorted keys of segment s change. The segment begins at `begin`; its first key is a
 * change, and each change begins a group. */
static void note_changes(const lsp_segsort_args *args, const void *keys, int64_t s, int64_t begin, int64_t n,
                         const int64_t *order) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        bool changed = i == 0 || before(args, keys, order[i - 1], order[i]);
        if (args->change) {
            args->change[begin + i] = changed;
        }
        if (args->change_at && changed) {
            lsp_index_set(args->change_at, args->offset_type, begin + count, begin + i);
        }
        if (args->group_at && changed) {
            lsp_index_set(args->group_at, args->offset_type, (*args->group_count)++, begin + i);
        }
        count += changed;
    }
    if (args->change_count) {
        lsp_index_set(args->change_count, args->offset_type, s, count);
    }
}

/* Writes positions as values: unsigned of 4 bytes, or signed of 8. */
static void write_positions(const lsp_segsort_args *args, int64_t begin, int64_t n, const int64_t *order) {
    int64_t first = args->flags & LSP_SORT_GLOBAL_POSITIONS ? begin : 0;
    for (int64_t i = 0; i < n; i++) {
        if (args->value_bytes == 4) {
            ((uint32_t *)args->values_out)[begin + i] = (uint32_t)(first + order[i]);
        } else {
            ((int64_t *)args->values_out)[begin + i] = first + order[i];
        }
    }
}

lsp_status lsp_segsort_ref(lsp_ctx *ctx, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx), key_bytes = lsp_type_bytes(args->key_type), value_bytes = args->value_bytes;
    bool positions = (args->flags & (LSP_SORT_POSITIONS | LSP_SORT_GLOBAL_POSITIONS)) != 0;
    int64_t longest = 0, *position, *other, begin, end;
    char *copy;
    for (int64_t s = 0; s < args->segments; s++) {
        lsp_segsort_bounds(args, s, &begin, &end);
        longest = lsp_max(longest, end - begin);
    }
    LSP_TRY(LSP_SCRATCH(ctx, longest, &position));
    LSP_TRY(LSP_SCRATCH(ctx, longest, &other));
    LSP_TRY(lsp_scratch_bytes(ctx, longest, 16, false, (void **)&copy));
    if (args->group_at) {
        *args->group_count = 0;
    }
    for (int64_t s = 0; s < args->segments; s++) {
        lsp_segsort_bounds(args, s, &begin, &end);
        int64_t n = end - begin;
        if (n == 0) {
            note_changes(args, NULL, s, begin, 0, NULL);
            continue;
        }
        size_t key_at = (size_t)begin * key_bytes, value_at = (size_t)begin * value_bytes;
        const char *keys = (const char *)args->keys + key_at;
        const int64_t *order = sorted_positions(args, keys, n, position, other);
        note_changes(args, keys, s, begin, n, order);
        memcpy(copy, keys, (size_t)n * key_bytes);
        if (args->keys_out != NULL) {
            permute((char *)args->keys_out + key_at, copy, key_bytes, order, n);
        }
        if (positions) {
            write_positions(args, begin, n, order);
        } else if (value_bytes > 0) {
            memcpy(copy, (const char *)args->values + value_at, (size_t)n * value_bytes);
            permute((char *)args->values_out + value_at, copy, value_bytes, order, n);
        }
    }
    if (args->group_at) {
        lsp_index_set(args->group_at, args->offset_type, *args->group_count, args->n);
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
