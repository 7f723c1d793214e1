/* Refuses wrong arguments of a segmented sort, with a sentence that names the first fault. Offsets on a GPU are not
 * read here, which would wait for the GPU: its kernels check each segment before they sort it. */
#include "core/arrays.h"
#include "segsort.h"

static bool wants_positions(const lsp_segsort_args *args) {
    return (args->flags & (LSP_SORT_POSITIONS | LSP_SORT_GLOBAL_POSITIONS)) != 0;
}

/* ---- segments ---- */

/* Checks how segments are given: by offsets, by begins and ends, or by a length. */
static lsp_status check_form(lsp_ctx *ctx, const lsp_segsort_args *args) {
    bool typed = args->offset_type == LSP_I32 || args->offset_type == LSP_I64;
    LSP_REQUIRE(typed || (args->offsets == NULL && args->change_at == NULL && args->change_count == NULL &&
                          args->group_at == NULL),
                LSP_ERR_ARGUMENT, "offset_type is %s: LSP_I32 or LSP_I64 is needed", lsp_type_name(args->offset_type));
    LSP_REQUIRE(args->length >= 0 && args->max_length >= 0, LSP_ERR_ARGUMENT,
                "length is %lld and max_length %lld: neither can be negative", (long long)args->length,
                (long long)args->max_length);
    if (args->offsets != NULL) {
        LSP_REQUIRE(args->length == 0, LSP_ERR_ARGUMENT,
                    "offsets and a length of %lld items are given: only one of them may be", (long long)args->length);
        return LSP_OK;
    }
    LSP_REQUIRE(args->ends == NULL, LSP_ERR_ARGUMENT, "the ends of %lld segments are given, but their begins are NULL",
                (long long)args->segments);
    if (args->n == 0 && args->segments == 0) {
        return LSP_OK;
    }
    LSP_REQUIRE(args->length > 0, LSP_ERR_ARGUMENT,
                "the offsets of %lld segments are NULL, and no common length is given", (long long)args->segments);
    LSP_REQUIRE(args->segments == lsp_ceil_div(args->n, args->length), LSP_ERR_ARGUMENT,
                "%lld items in segments of %lld: the number of segments is %lld, not %lld", (long long)args->n,
                (long long)args->length, (long long)lsp_ceil_div(args->n, args->length), (long long)args->segments);
    LSP_REQUIRE(args->max_length == 0 || lsp_min(args->length, args->n) <= args->max_length, LSP_ERR_ARGUMENT,
                "segments of %lld items, but none may be longer than %lld", (long long)lsp_min(args->length, args->n),
                (long long)args->max_length);
    return LSP_OK;
}

/* Checks the wishes for groups and for first items against each other and against the form of segments. */
static lsp_status check_extras(lsp_ctx *ctx, const lsp_segsort_args *args) {
    const bool groups = args->group_at != NULL, changes = args->change || args->change_at || args->change_count;
    LSP_REQUIRE(groups == (args->group_count != NULL), LSP_ERR_ARGUMENT,
                "the starts of groups and the number of groups belong together, but one of them is NULL");
    LSP_REQUIRE(!groups || args->ends == NULL, LSP_ERR_ARGUMENT,
                "groups of %lld segments with ends are asked for: only segments without gaps have groups",
                (long long)args->segments);
    LSP_REQUIRE(!groups || args->segments > 0 || args->n == 0, LSP_ERR_ARGUMENT,
                "groups of %lld items in no segment are asked for: all items must lie in segments", (long long)args->n);
    LSP_REQUIRE(args->first >= 0, LSP_ERR_ARGUMENT, "the first %lld items of each segment cannot be had",
                (long long)args->first);
    LSP_REQUIRE(args->first == 0 || (!groups && !changes), LSP_ERR_ARGUMENT,
                "only the first %lld items of each segment are sorted, so changes and groups cannot be told",
                (long long)args->first);
    return LSP_OK;
}

/* Refuses segments that leave items before the first one or behind the last one, if groups are asked for. */
static lsp_status check_gaps(lsp_ctx *ctx, const lsp_segsort_args *args) {
    int64_t begin = 0, end = args->n, other;
    if (args->group_at != NULL && args->offsets != NULL && args->segments > 0) {
        lsp_segsort_bounds(args, 0, &begin, &other);
        lsp_segsort_bounds(args, args->segments - 1, &other, &end);
    }
    LSP_REQUIRE(
        begin == 0 && end == args->n, LSP_ERR_ARGUMENT,
        "groups are asked for, but the segments begin at item %lld and end before item %lld: they must hold all "
        "%lld items",
        (long long)begin, (long long)end, (long long)args->n);
    return LSP_OK;
}

/* Are segments first .. last-1 all well-formed? Without branches, so that the compiler uses vectors. */
static bool bounds_are_good(const int64_t *offsets, int64_t first, int64_t last, int64_t n, int64_t longest) {
    uint64_t negative = 0;
    for (int64_t s = first; s < last; s++) {
        uint64_t from = (uint64_t)offsets[s], to = (uint64_t)offsets[s + 1], length = to - from;
        negative |= from | to | length | ((uint64_t)n - to) | ((uint64_t)longest - length);
    }
    return negative >> 63 == 0;
}

/* A search for the first segment that is refused, by threads. */
typedef struct segments_check {
    const lsp_segsort_args *args;
    int64_t longest; /* items that a segment may have */
    int64_t bad;     /* the first segment refused so far; the number of segments if there is none */
} segments_check;

enum { CHECKED_SHARE = 1 << 16 /* segments of a thread, at least */ };

static void find_malformed(void *data, int64_t first, int64_t last) {
    enum { PART = 1024 };
    segments_check *c = data;
    const lsp_segsort_args *args = c->args;
    const bool usual = args->offsets && args->ends == NULL && args->offset_type == LSP_I64;
    for (int64_t part = first; part < last; part += PART) {
        const int64_t end = lsp_min(part + PART, last);
        if (usual && bounds_are_good(args->offsets, part, end, args->n, c->longest)) {
            continue;
        }
        for (int64_t s = part; s < end; s++) {
            int64_t from, to;
            lsp_segsort_bounds(args, s, &from, &to);
            if (from < 0 || to < from || to > args->n || to - from > c->longest) {
                lsp_lower(&c->bad, s);
                return;
            }
        }
    }
}

/* Refuses malformed segments and names the first one. */
static lsp_status check_bounds(lsp_ctx *ctx, const lsp_segsort_args *args) {
    int64_t begin, end, longest = args->max_length > 0 ? args->max_length : INT64_MAX;
    segments_check check = {.args = args, .longest = longest, .bad = args->segments};
    lsp_for_shares(ctx, args->segments, CHECKED_SHARE, find_malformed, &check);
    const long long bad = check.bad;
    if (bad == args->segments) {
        return LSP_OK;
    }
    lsp_segsort_bounds(args, bad, &begin, &end);
    LSP_REQUIRE(begin <= end, LSP_ERR_ARGUMENT, "segment %lld begins at item %lld, but its end %lld is smaller", bad,
                (long long)begin, (long long)end);
    LSP_REQUIRE(begin >= 0 && end <= args->n, LSP_ERR_ARGUMENT,
                "segment %lld begins at item %lld and ends before item %lld, but the number of items is %lld", bad,
                (long long)begin, (long long)end, (long long)args->n);
    return lsp_fail(ctx, LSP_ERR_ARGUMENT, "segment %lld has %lld items, but none may be longer than %lld", bad,
                    (long long)(end - begin), (long long)longest);
}

/* Finds the first segment that begins before its neighbour ends. */
static void find_disorder(void *data, int64_t first, int64_t last) {
    segments_check *c = data;
    for (int64_t s = lsp_max(first, 1); s < last; s++) {
        int64_t begin, end, before, before_end;
        lsp_segsort_bounds(c->args, s - 1, &before, &before_end);
        lsp_segsort_bounds(c->args, s, &begin, &end);
        if (before_end > begin) {
            lsp_lower(&c->bad, s);
            return;
        }
    }
}

/* Refuses segments that overlap, because threads would sort them at the same time. Costs one pass over the segments
 * and, if they are not in order, a sort of their begins and ends. */
static lsp_status check_no_overlap(lsp_ctx *ctx, const lsp_segsort_args *args) {
    LSP_SCRATCH_SCOPE(ctx);
    int64_t *begins, *ends, count = 0;
    segments_check check = {.args = args, .bad = args->segments};
    if (args->ends == NULL) {
        return LSP_OK;
    }
    lsp_for_shares(ctx, args->segments, CHECKED_SHARE, find_disorder, &check);
    if (check.bad == args->segments) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH(ctx, args->segments, &begins));
    LSP_TRY(LSP_SCRATCH(ctx, args->segments, &ends));
    for (int64_t s = 0; s < args->segments; s++) {
        lsp_segsort_bounds(args, s, &begins[count], &ends[count]);
        count += begins[count] < ends[count];
    }
    const int64_t whole[] = {0, count};
    LSP_TRY(lsp_segsort_cpu.run(ctx,
                                &(lsp_segsort_args){.n = count,
                                                    .segments = 1,
                                                    .offsets = whole,
                                                    .offset_type = LSP_I64,
                                                    .key_type = LSP_I64,
                                                    .value_bytes = 8,
                                                    .keys = begins,
                                                    .keys_out = begins,
                                                    .values = ends,
                                                    .values_out = ends},
                                count, NULL, 0));
    for (int64_t s = 1; s < count; s++) {
        LSP_REQUIRE(ends[s - 1] <= begins[s], LSP_ERR_ARGUMENT,
                    "segments overlap: one holds the items %lld to %lld, another one the items %lld to %lld",
                    (long long)begins[s - 1], (long long)ends[s - 1] - 1, (long long)begins[s], (long long)ends[s] - 1);
    }
    return LSP_OK;
}

/* ---- arrays ---- */

enum { ARRAYS = 11 };

/* Lists the arrays that are used, and returns their number: fewer arrays are fewer pairs to compare. */
static int list_arrays(const lsp_segsort_args *args, lsp_named_array list[ARRAYS]) {
    int count = 0;
    size_t key = lsp_type_bytes(args->key_type), index = lsp_type_bytes(args->offset_type);
    size_t value = args->value_bytes;
    const int64_t sorted = args->keys_out == NULL && wants_positions(args) ? 0 : args->n;
    int64_t n = args->n, outs = value > 0 ? n : 0, ins = wants_positions(args) ? 0 : outs, segments = args->segments;
    const lsp_named_array all[ARRAYS] = {
        {"keys", args->keys, n, key, false, 1},
        {"sorted keys", args->keys_out, sorted, key, true, 1},
        {"values", args->values, ins, value, false, 2},
        {"sorted values", args->values_out, outs, value, true, 2},
        {"offsets", args->offsets, args->offsets ? segments + (args->ends == NULL) : 0, index, false, 0},
        {"ends", args->ends, args->ends ? segments : 0, index, false, 0},
        {"marks of changes", args->change, args->change ? n : 0, 1, true, 0},
        {"places of changes", args->change_at, args->change_at ? n : 0, index, true, 0},
        {"counts of changes", args->change_count, args->change_count ? segments : 0, index, true, 0},
        {"starts of groups", args->group_at, args->group_at ? n + 1 : 0, index, true, 0},
        {"number of groups", args->group_count, args->group_count ? 1 : 0, sizeof *args->group_count, true, 0},
    };
    for (int i = 0; i < ARRAYS; i++) {
        if (all[i].items > 0) {
            list[count++] = all[i];
        }
    }
    return count;
}

/* ---- everything ---- */

/* Checks types, sizes, flags and the range of bits. */
static lsp_status check_sort_kinds(lsp_ctx *ctx, const lsp_segsort_args *args) {
    enum { ALL_POSITIONS = LSP_SORT_POSITIONS | LSP_SORT_GLOBAL_POSITIONS };
    const int64_t narrow = (int64_t)1 << 32;
    int key_bits = (int)(8 * lsp_type_bytes(args->key_type)), begin = args->begin_bit, end = args->end_bit;
    bool is_float = args->key_type == LSP_F32 || args->key_type == LSP_F64, positions = wants_positions(args);
    LSP_REQUIRE(args->value_bytes == 0 || args->value_bytes == 4 || args->value_bytes == 8 || args->value_bytes == 16,
                LSP_ERR_ARGUMENT, "values of %zu bytes: 0, 4, 8 or 16 are offered", args->value_bytes);
    const unsigned unknown = args->flags & ~(unsigned)(LSP_SORT_DESCENDING | LSP_SORT_EQUAL_ZEROS | ALL_POSITIONS);
    LSP_REQUIRE(unknown == 0, LSP_ERR_ARGUMENT, "unknown flags: 0x%x", unknown);
    LSP_REQUIRE((args->flags & ALL_POSITIONS) != ALL_POSITIONS, LSP_ERR_ARGUMENT,
                "positions in the segment and in the used_array are both asked for: only one kind is offered");
    LSP_REQUIRE(!positions || args->value_bytes == 4 || args->value_bytes == 8, LSP_ERR_ARGUMENT,
                "positions of %zu bytes: 4 or 8 are offered", args->value_bytes);
    int64_t counted = args->flags & LSP_SORT_GLOBAL_POSITIONS ? args->n : lsp_segsort_longest_bound(args);
    LSP_REQUIRE(!positions || args->value_bytes == 8 || counted <= narrow, LSP_ERR_ARGUMENT,
                "positions among %lld items do not fit 4 bytes", (long long)counted);
    LSP_REQUIRE((begin == 0 && end == 0) || !is_float, LSP_ERR_ARGUMENT,
                "begin_bit is %d and end_bit %d: keys of type %s have no ranges of bits, only integers have", begin,
                end, lsp_type_name(args->key_type));
    LSP_REQUIRE((begin == 0 && end == 0) || (begin >= 0 && begin < end && end <= key_bits), LSP_ERR_ARGUMENT,
                "begin_bit is %d and end_bit %d: keys of type %s have bits from 0 to %d, and end_bit is one more than "
                "the last bit compared",
                begin, end, lsp_type_name(args->key_type), key_bits - 1);
    LSP_REQUIRE((args->change_at == NULL && args->change_count == NULL && args->group_at == NULL) ||
                    args->offset_type != LSP_I32 || args->n <= INT32_MAX,
                LSP_ERR_ARGUMENT, "the places and counts of changes among %lld items do not fit LSP_I32",
                (long long)args->n);
    return LSP_OK;
}

lsp_status lsp_segsort_check(lsp_ctx *ctx, const lsp_segsort_args *args) {
    const int64_t most_on_gpu = (int64_t)1 << 45;
    lsp_named_array arrays[ARRAYS];
    int64_t bytes;
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the segmented sort are NULL");
    LSP_REQUIRE(args->n >= 0 && lsp_mul(args->n, 16, &bytes), LSP_ERR_ARGUMENT,
                "the number of items is %lld: 0 to %lld are offered", (long long)args->n, (long long)INT64_MAX / 16);
    LSP_REQUIRE(args->segments >= 0 && args->segments < INT64_MAX / 16, LSP_ERR_ARGUMENT,
                "the number of segments is %lld: 0 to %lld are offered", (long long)args->segments,
                (long long)INT64_MAX / 16 - 1);
    LSP_REQUIRE(args->key_type >= LSP_I32 && args->key_type <= LSP_F64, LSP_ERR_ARGUMENT,
                "keys of type %s cannot be sorted", lsp_type_name(args->key_type));
    LSP_REQUIRE(args->where == LSP_HOST || args->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "arrays at place %d: LSP_HOST or LSP_CUDA is needed", (int)args->where);
    LSP_REQUIRE(args->where == LSP_HOST || ctx->options.device == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the arrays are on a GPU, but the context works on the host");
    LSP_REQUIRE(args->where == LSP_HOST || (args->n <= most_on_gpu && args->segments <= most_on_gpu), LSP_ERR_ARGUMENT,
                "%lld items in %lld segments: a GPU sorts at most %lld of either", (long long)args->n,
                (long long)args->segments, (long long)most_on_gpu);
    LSP_TRY(lsp_check_reserved(ctx, "lsp_segsort_args", args->reserved));
    LSP_TRY(check_form(ctx, args));
    LSP_TRY(check_sort_kinds(ctx, args));
    LSP_TRY(check_extras(ctx, args));
    LSP_TRY(lsp_check_arrays(ctx, arrays, list_arrays(args, arrays)));
    if (args->where == LSP_HOST) {
        LSP_TRY(check_bounds(ctx, args));
        LSP_TRY(check_gaps(ctx, args));
        LSP_TRY(check_no_overlap(ctx, args));
    }
    return LSP_OK;
}
