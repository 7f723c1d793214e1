/* The partition into buckets: the sort by the bits of the bucket number, of one segment, which moves each item once or
 * twice. Where each bucket begins is found afterwards by binary search in the sorted numbers. */
#include "core/arrays.h"
#include "core/cuda.h"
#include "radix_sort.h"

/* ---- checks ---- */

/* Without items an array of bucket numbers may be NULL: then buckets are by numbers if no bits are given. */
static bool by_numbers(const lsp_partition_args *args) {
    return args->numbers != NULL || (args->n == 0 && args->buckets != 0 && args->end_bit == 0);
}

static bool has_keys(const lsp_partition_args *args) {
    return !by_numbers(args) || args->keys != NULL || args->keys_out != NULL;
}

static lsp_status check_offsets(lsp_ctx *ctx, const lsp_partition_args *args) {
    LSP_REQUIRE(args->offsets == NULL || args->offset_type == LSP_I32 || args->offset_type == LSP_I64, LSP_ERR_ARGUMENT,
                "offsets of type %s: LSP_I32 or LSP_I64 is needed", lsp_type_name(args->offset_type));
    LSP_REQUIRE(args->offsets == NULL || args->offset_type == LSP_I64 || args->n <= INT32_MAX, LSP_ERR_OVERFLOW,
                "offsets of %lld items do not fit LSP_I32", (long long)args->n);
    return LSP_OK;
}

/* Refuses sizes of values that are not offered, and arrays that are missing, misaligned or overlap. */
static lsp_status check_items(lsp_ctx *ctx, const lsp_partition_args *args, int64_t buckets) {
    const size_t value = args->value_bytes, key = lsp_type_bytes(args->key_type);
    const bool positions = (args->flags & LSP_SORT_POSITIONS) != 0;
    const int64_t n = args->n, keys = has_keys(args) ? n : 0, values = value > 0 ? n : 0;
    const lsp_named_array arrays[] = {
        {"bucket numbers", args->numbers, by_numbers(args) ? n : 0, 4, false, 0},
        {"keys", args->keys, keys, key, false, 1},
        {"moved keys", args->keys_out, keys, key, true, 1},
        {"values", args->values, positions ? 0 : values, value, false, 2},
        {positions ? "positions" : "moved values", args->values_out, values, value, true, 2},
        {"offsets", args->offsets, args->offsets ? buckets + 1 : 0, lsp_type_bytes(args->offset_type), true, 0},
    };
    LSP_REQUIRE(value == 0 || value == 4 || value == 8 || value == 16, LSP_ERR_ARGUMENT,
                "values of %zu bytes: 0, 4, 8 or 16 are offered", value);
    LSP_REQUIRE(value > 0 || (args->values == NULL && args->values_out == NULL), LSP_ERR_ARGUMENT,
                "values are given, but value_bytes is 0");
    LSP_REQUIRE(!positions || value == 4 || value == 8, LSP_ERR_ARGUMENT, "positions of %zu bytes: 4 or 8 are offered",
                value);
    return lsp_check_arrays(ctx, arrays, (int)(sizeof arrays / sizeof *arrays));
}

static lsp_status check_partition(lsp_ctx *ctx, const lsp_partition_args *args, int64_t *buckets) {
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the partition are NULL");
    const bool numbered = by_numbers(args);
    LSP_TRY(lsp_check_reserved(ctx, "lsp_partition_args", args->reserved));
    LSP_REQUIRE(args->n >= 0, LSP_ERR_ARGUMENT, "%lld items cannot be partitioned", (long long)args->n);
    LSP_REQUIRE((args->flags & ~(unsigned)LSP_SORT_POSITIONS) == 0, LSP_ERR_ARGUMENT, "unknown flags: 0x%x",
                args->flags);
    LSP_REQUIRE(!numbered || (args->buckets >= 1 && args->buckets <= LSP_PARTITION_MOST), LSP_ERR_ARGUMENT,
                "%lld buckets: 1 to %d are offered", (long long)args->buckets, (int)LSP_PARTITION_MOST);
    LSP_REQUIRE(!numbered || (args->begin_bit == 0 && args->end_bit == 0), LSP_ERR_ARGUMENT,
                "bucket numbers are given, begin_bit is %d and end_bit %d: buckets have either", args->begin_bit,
                args->end_bit);
    LSP_REQUIRE(numbered ||
                    (args->begin_bit >= 0 && args->end_bit > args->begin_bit && args->end_bit - args->begin_bit <= 16),
                LSP_ERR_ARGUMENT, "begin_bit is %d and end_bit %d: that makes no buckets, 1 to 16 bits are needed",
                args->begin_bit, args->end_bit);
    LSP_REQUIRE(numbered || args->buckets == 0, LSP_ERR_ARGUMENT, "%lld buckets, but no bucket numbers are given",
                (long long)args->buckets);
    LSP_REQUIRE(!has_keys(args) || (args->key_type >= LSP_I32 && args->key_type <= LSP_U64), LSP_ERR_ARGUMENT,
                "keys of type %s cannot be partitioned: integers are needed", lsp_type_name(args->key_type));
    LSP_REQUIRE(numbered || args->end_bit <= 8 * (int)lsp_type_bytes(args->key_type), LSP_ERR_ARGUMENT,
                "begin_bit is %d and end_bit %d: keys of type %s have %d bits", args->begin_bit, args->end_bit,
                lsp_type_name(args->key_type), 8 * (int)lsp_type_bytes(args->key_type));
    LSP_REQUIRE(args->where == LSP_HOST || (args->where == LSP_CUDA && ctx->options.device == LSP_CUDA),
                LSP_ERR_ARGUMENT, "arrays at place %d: the context does not work there", (int)args->where);
    LSP_REQUIRE(args->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: a partition cannot be recorded");
    *buckets = numbered ? args->buckets : INT64_C(1) << (args->end_bit - args->begin_bit);
    LSP_TRY(check_offsets(ctx, args));
    return check_items(ctx, args, *buckets);
}

/* ---- moving ---- */

/* The sort that moves the items, by the bits that decide. */
static lsp_segsort_args sort_of(const lsp_partition_args *args) {
    return (lsp_segsort_args){.n = args->n,
                              .segments = args->n > 0,
                              .length = args->n,
                              .key_type = lsp_type_bytes(args->key_type) == 8 ? LSP_U64 : LSP_U32,
                              .value_bytes = args->value_bytes,
                              .keys = args->keys,
                              .keys_out = args->keys_out,
                              .values = args->values,
                              .values_out = args->values_out,
                              .begin_bit = args->begin_bit,
                              .end_bit = args->end_bit,
                              .flags = args->flags,
                              .where = args->where};
}

/* Moves keys by their bits; offsets follow from the moved keys. */
static lsp_status partition_by_bits(lsp_ctx *ctx, const lsp_partition_args *args, lsp_bucket_search search) {
    const lsp_segsort_args sort = sort_of(args);
    LSP_TRY(lsp_segsort(ctx, &sort, NULL));
    search.sorted = args->keys_out;
    search.wide = sort.key_type == LSP_U64;
    search.shift = args->begin_bit;
    search.mask = (uint64_t)search.buckets - 1;
    return lsp_bucket_offsets(ctx, &search, args->where);
}

/* Moves keys and values by their positions in the order of the buckets. */
static lsp_status move_both(lsp_ctx *ctx, const lsp_partition_args *args, const void *position, lsp_type type) {
    const bool values = (args->flags & LSP_SORT_POSITIONS) == 0;
    const lsp_column columns[] = {
        {.from = args->keys, .to = args->keys_out, .bytes = lsp_type_bytes(args->key_type)},
        {.from = args->values, .to = args->values_out, .bytes = args->value_bytes},
    };
    return lsp_gather(ctx,
                      &(lsp_gather_args){.n = args->n,
                                         .extent = args->n,
                                         .index = position,
                                         .index_type = type,
                                         .columns = columns,
                                         .column_count = values ? 2 : 1,
                                         .where = args->where},
                      NULL);
}

/* Sorts the bucket numbers, with the keys, the values or positions as their values. Keys and values together move by
 * positions. */
static lsp_status partition_by_numbers(lsp_ctx *ctx, const lsp_partition_args *args, lsp_bucket_search search) {
    const bool both = has_keys(args) && args->value_bytes > 0;
    const bool wanted = (args->flags & LSP_SORT_POSITIONS) != 0;
    const size_t width = wanted ? args->value_bytes : args->n <= INT32_MAX ? 4 : 8;
    lsp_segsort_args sort = sort_of(args);
    void *numbers, *position = args->values_out;
    sort.key_type = LSP_U32;
    sort.keys = args->numbers;
    LSP_REQUIRE(!both || args->n == 0 || (args->keys != args->keys_out && (wanted || args->values != args->values_out)),
                LSP_ERR_ARGUMENT, "keys and values that move by bucket numbers cannot be replaced in place");
    LSP_REQUIRE(!both || !wanted || width == 8 || args->n <= INT32_MAX, LSP_ERR_UNSUPPORTED,
                "keys of %lld items cannot move beside positions of 4 bytes", (long long)args->n);
    LSP_TRY(lsp_scratch_at(ctx, args->where, args->n, 4, &numbers));
    if (both && !wanted) {
        LSP_TRY(lsp_scratch_at(ctx, args->where, args->n, width, &position));
    }
    sort.keys_out = numbers;
    if (both) {
        sort.flags = LSP_SORT_POSITIONS;
        sort.value_bytes = width;
        sort.values = NULL;
        sort.values_out = position;
    } else if (has_keys(args)) {
        sort.value_bytes = lsp_type_bytes(args->key_type);
        sort.values = args->keys;
        sort.values_out = args->keys_out;
    }
    LSP_TRY(lsp_segsort(ctx, &sort, NULL));
    if (both && args->n > 0) {
        LSP_TRY(move_both(ctx, args, position, width == 4 ? LSP_I32 : LSP_I64));
    }
    search.sorted = numbers;
    search.mask = UINT64_MAX;
    return lsp_bucket_offsets(ctx, &search, args->where);
}

lsp_status lsp_partition(lsp_ctx *ctx, const lsp_partition_args *args) {
    int64_t buckets = 0;
    LSP_ENTER(ctx);
    LSP_TRY(check_partition(ctx, args, &buckets));
    const lsp_bucket_search search = {
        .n = args->n, .buckets = buckets, .offsets = args->offsets, .offset_type = args->offset_type};
    return by_numbers(args) ? partition_by_numbers(ctx, args, search) : partition_by_bits(ctx, args, search);
}

/* ---- offsets of buckets ---- */

static void search_share(void *data, int64_t begin, int64_t end) {
    const lsp_bucket_search *search = data;
    for (int64_t b = begin; b < end; b++) {
        lsp_index_set(search->offsets, search->offset_type, b, lsp_bucket_begin(search, b));
    }
}

lsp_status lsp_bucket_offsets(lsp_ctx *ctx, const lsp_bucket_search *search, lsp_where where) {
    if (search->offsets == NULL) {
        return LSP_OK;
    }
    if (where == LSP_CUDA) {
        return lsp_bucket_offsets_cuda(ctx, search);
    }
    lsp_bucket_search own = *search;
    lsp_for_shares(ctx, search->buckets + 1, 1 << 10, search_share, &own);
    return LSP_OK;
}
