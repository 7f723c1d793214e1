/* The specification of the segmented sort: each key is ranked as the contract defines the order, and a merge sort
 * orders ranks and positions. O(n log n), one thread. */
#include "segsort.h"
#include <math.h>
#include <string.h>

/* An item of a segment. Smaller ranks come first. */
typedef struct ranked {
    uint64_t rank;
    int64_t position;
} ranked;

/* The rank of an integer: the number itself, above the negative ones; with a range of bits, only these bits of it. */
static uint64_t rank_of_integer(const lsp_segsort_args *args, const void *keys, int64_t i) {
    const bool wide = lsp_type_bytes(args->key_type) == 8;
    const bool is_signed = args->key_type == LSP_I32 || args->key_type == LSP_I64;
    const uint64_t key = wide ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
    const uint64_t rank = is_signed ? key ^ (uint64_t)1 << (wide ? 63 : 31) : key;
    return args->end_bit == 0 ? rank : (rank & UINT64_MAX >> (64 - args->end_bit)) >> args->begin_bit;
}

/* The rank of a real, which is no NaN: IEEE numbers of one sign compare like their bits, and -0 is below +0 unless
 * zeros are equal. */
static uint64_t rank_of_real(double x, bool equal_zeros) {
    uint64_t bits;
    x = equal_zeros && x == 0 ? 0.0 : x;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Equal keys have equal ranks. NaNs come last in either direction. */
static uint64_t rank_of(const lsp_segsort_args *args, const void *keys, int64_t i) {
    const bool descending = (args->flags & LSP_SORT_DESCENDING) != 0, narrow = args->key_type == LSP_F32;
    uint64_t rank;
    if (narrow || args->key_type == LSP_F64) {
        const double x = narrow ? (double)((const float *)keys)[i] : ((const double *)keys)[i];
        if (isnan(x)) {
            return UINT64_MAX;
        }
        rank = rank_of_real(x, (args->flags & LSP_SORT_EQUAL_ZEROS) != 0);
    } else {
        rank = rank_of_integer(args, keys, i);
    }
    return descending ? ~rank : rank;
}

/* to[i] = the item of `from` at the i-th position of the order; the arrays do not overlap. */
static void write_ordered(char *to, const char *from, size_t bytes, const ranked *order, int64_t n) {
    for (int64_t i = 0; i < n && bytes > 0; i++) {
        memcpy(to + (size_t)i * bytes, from + (size_t)order[i].position * bytes, bytes);
    }
}

/* Ranks n keys and sorts them stably. `items` and `other` hold n each; returns the array with the result. */
static ranked *sorted(const lsp_segsort_args *args, const void *keys, int64_t n, ranked *items, ranked *other) {
    enum { RUN = 8 }; /* items sorted by insertion before they are merged */
    for (int64_t i = 0; i < n; i++) {
        const ranked item = {.rank = rank_of(args, keys, i), .position = i};
        int64_t j = i;
        for (; j % RUN > 0 && items[j - 1].rank > item.rank; j--) {
            items[j] = items[j - 1];
        }
        items[j] = item;
    }
    for (int64_t run = RUN; run < n; run *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * run) {
            const int64_t middle = lsp_min(begin + run, n), end = lsp_min(begin + 2 * run, n);
            int64_t i = begin, j = middle, k = begin;
            while (i < middle && j < end) {
                const int64_t right = items[j].rank < items[i].rank; /* a branch would be predicted wrongly */
                other[k++] = items[i + ((j - i) & -right)];
                j += right;
                i += 1 - right;
            }
            for (; i < middle; i++) {
                other[k++] = items[i];
            }
            for (; j < end; j++) {
                other[k++] = items[j];
            }
        }
        ranked *swap = items;
        items = other;
        other = swap;
    }
    return items;
}

/* Writes the places where the n sorted keys of segment s change. The segment begins at `begin`; its first key is a
 * change, and each change begins a group. */
static void note_changes(const lsp_segsort_args *args, int64_t s, int64_t begin, int64_t n, const ranked *order) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        bool changed = i == 0 || order[i - 1].rank != order[i].rank;
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
static void write_ref_positions(const lsp_segsort_args *args, int64_t begin, int64_t n, const ranked *order) {
    int64_t first = args->flags & LSP_SORT_GLOBAL_POSITIONS ? begin : 0;
    for (int64_t i = 0; i < n; i++) {
        lsp_index_set(args->values_out, args->value_bytes == 4 ? LSP_I32 : LSP_I64, begin + i,
                      first + order[i].position);
    }
}

lsp_status lsp_segsort_ref(lsp_ctx *ctx, const lsp_segsort_args *args) {
    LSP_SCRATCH_SCOPE(ctx);
    size_t key_bytes = lsp_type_bytes(args->key_type), value_bytes = args->value_bytes;
    bool positions = (args->flags & (LSP_SORT_POSITIONS | LSP_SORT_GLOBAL_POSITIONS)) != 0;
    int64_t longest = 0, begin, end;
    ranked *items, *other;
    char *copy;
    for (int64_t s = 0; s < args->segments; s++) {
        lsp_segsort_bounds(args, s, &begin, &end);
        longest = lsp_max(longest, end - begin);
    }
    LSP_TRY(LSP_SCRATCH(ctx, longest, &items));
    LSP_TRY(LSP_SCRATCH(ctx, longest, &other));
    LSP_TRY(lsp_scratch_bytes(ctx, longest, 16, false, (void **)&copy));
    if (args->group_at) {
        *args->group_count = 0;
    }
    for (int64_t s = 0; s < args->segments; s++) {
        lsp_segsort_bounds(args, s, &begin, &end);
        int64_t n = end - begin;
        if (n == 0) {
            note_changes(args, s, begin, 0, NULL);
            continue;
        }
        size_t key_at = (size_t)begin * key_bytes, value_at = (size_t)begin * value_bytes;
        const char *keys = (const char *)args->keys + key_at;
        const ranked *order = sorted(args, keys, n, items, other);
        note_changes(args, s, begin, n, order);
        memcpy(copy, keys, (size_t)n * key_bytes);
        if (args->keys_out != NULL) {
            write_ordered((char *)args->keys_out + key_at, copy, key_bytes, order, n);
        }
        if (positions) {
            write_ref_positions(args, begin, n, order);
        } else if (value_bytes > 0) {
            memcpy(copy, (const char *)args->values + value_at, (size_t)n * value_bytes);
            write_ordered((char *)args->values_out + value_at, copy, value_bytes, order, n);
        }
    }
    if (args->group_at) {
        lsp_index_set(args->group_at, args->offset_type, *args->group_count, args->n);
    }
    return LSP_OK;
}
