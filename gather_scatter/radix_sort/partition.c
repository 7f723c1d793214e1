/* The partition into buckets: the sort by the bits of the bucket number, of one segment, which moves each item once or
 * twice. Where each bucket begins is found afterwards by binary search in the sorted numbers. */
#include "core/cuda.h"
#include "radix_sort.h"

/* ---- checks ---- */

/* Do the offsets share a byte with an array of n items of `bytes`? */
static bool meets_offsets(const lsp_partition_args *args, int64_t buckets, const void *array, size_t bytes) {
    const uintptr_t a = (uintptr_t)args->offsets, b = (uintptr_t)array;
    const uintptr_t a_bytes = (uintptr_t)(buckets + 1) * lsp_type_bytes(args->offset_type);
    const uintptr_t b_bytes = (uintptr_t)args->n * bytes;
    return a != 0 && b != 0 && b_bytes > 0 && (a < b ? b - a < a_bytes : a - b < b_bytes);
}

static lsp_status check_offsets(lsp_ctx *ctx, const lsp_partition_args *args, int64_t buckets) {
    lsp_status status = LSP_OK;
    const size_t key_bytes = lsp_type_bytes(args->key_type);
    const bool meet = meets_offsets(args, buckets, args->numbers, 4) ||
                      meets_offsets(args, buckets, args->keys, key_bytes) ||
                      meets_offsets(args, buckets, args->keys_out, key_bytes) ||
                      meets_offsets(args, buckets, args->values, args->value_bytes) ||
                      meets_offsets(args, buckets, args->values_out, args->value_bytes);
    LSP_REQUIRE(args->offsets == NULL || args->offset_type == LSP_I32 || args->offset_type == LSP_I64, LSP_ERR_ARGUMENT,
                "offsets of type %s: LSP_I32 or LSP_I64 is needed", lsp_type_name(args->offset_type));
    LSP_REQUIRE(args->offsets == NULL || (uintptr_t)args->offsets % lsp_type_bytes(args->offset_type) == 0,
                LSP_ERR_ARGUMENT, "the offsets of %zu bytes lie at %p, which is no multiple of that",
                lsp_type_bytes(args->offset_type), args->offsets);
    LSP_REQUIRE(args->offsets == NULL || args->offset_type == LSP_I64 || args->n <= INT32_MAX, LSP_ERR_OVERFLOW,
                "offsets of %lld items do not fit LSP_I32", (long long)args->n);
    LSP_REQUIRE(!meet, LSP_ERR_ARGUMENT, "the offsets of %lld buckets and another array overlap", (long long)buckets);
done:
    return status;
}

static lsp_status check_partition(lsp_ctx *ctx, const lsp_partition_args *args, int64_t *buckets) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the partition are NULL");
    LSP_TRY(lsp_check_reserved(ctx, "lsp_partition_args", args->reserved));
    LSP_REQUIRE(args->n >= 0, LSP_ERR_ARGUMENT, "%lld items cannot be partitioned", (long long)args->n);
    LSP_REQUIRE((args->flags & ~(unsigned)LSP_SORT_POSITIONS) == 0, LSP_ERR_ARGUMENT, "unknown flags: 0x%x",
                args->flags);
    LSP_REQUIRE(args->numbers == NULL || (args->buckets >= 1 && args->buckets <= LSP_PARTITION_MOST), LSP_ERR_ARGUMENT,
                "%lld buckets: 1 to %d are offered", (long long)args->buckets, (int)LSP_PARTITION_MOST);
    LSP_REQUIRE(args->numbers == NULL || (args->begin_bit == 0 && args->end_bit == 0), LSP_ERR_ARGUMENT,
                "bucket numbers and the bits %d to %d of keys are given: buckets have either", args->begin_bit,
                args->end_bit);
    LSP_REQUIRE(args->numbers != NULL ||
                    (args->begin_bit >= 0 && args->end_bit > args->begin_bit && args->end_bit - args->begin_bit <= 16),
                LSP_ERR_ARGUMENT, "the bits %d to %d of keys make no buckets: 1 to 16 bits are needed", args->begin_bit,
                args->end_bit);
    LSP_REQUIRE(args->numbers != NULL || args->buckets == 0, LSP_ERR_ARGUMENT,
                "%lld buckets, but no bucket numbers are given", (long long)args->buckets);
    LSP_REQUIRE((args->numbers != NULL && args->keys == NULL && args->keys_out == NULL) ||
                    (args->key_type >= LSP_I32 && args->key_type <= LSP_U64),
                LSP_ERR_ARGUMENT, "keys of type %s cannot be partitioned: integers are needed",
                lsp_type_name(args->key_type));
    LSP_REQUIRE(args->where == LSP_HOST || (args->where == LSP_CUDA && ctx->options.device == LSP_CUDA),
                LSP_ERR_ARGUMENT, "arrays at place %d: the context does not work there", (int)args->where);
    LSP_REQUIRE(args->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: a partition cannot be recorded");
    *buckets = args->numbers ? args->buckets : INT64_C(1) << (args->end_bit - args->begin_bit);
    LSP_TRY(check_offsets(ctx, args, *buckets));
done:
    return status;
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
    lsp_status status = LSP_OK;
    const lsp_segsort_args sort = sort_of(args);
    LSP_REQUIRE(args->n == 0 || args->keys_out != NULL, LSP_ERR_ARGUMENT, "the sorted keys, %lld items, are NULL",
                (long long)args->n);
    LSP_TRY(lsp_segsort(ctx, &sort));
    search.sorted = args->keys_out;
    search.wide = sort.key_type == LSP_U64;
    search.shift = args->begin_bit;
    search.mask = (uint64_t)search.buckets - 1;
    LSP_TRY(lsp_bucket_offsets(ctx, &search, args->where));
done:
    return status;
}

/* Moves keys and values by their positions in the order of the buckets. */
static lsp_status move_both(lsp_ctx *ctx, const lsp_partition_args *args, const void *position, lsp_type type) {
    const bool values = (args->flags & LSP_SORT_POSITIONS) == 0;
    const lsp_column columns[] = {
        {.from = args->keys, .to = args->keys_out, .bytes = lsp_type_bytes(args->key_type)},
        {.from = args->values, .to = args->values_out, .bytes = args->value_bytes},
    };
    return lsp_gather(ctx, &(lsp_gather_args){.n = args->n,
                                              .extent = args->n,
                                              .index = position,
                                              .index_type = type,
                                              .columns = columns,
                                              .column_count = values ? 2 : 1,
                                              .where = args->where});
}

/* Sorts the bucket numbers, with the keys, the values or positions as their values. Keys and values together move by
 * positions. */
static lsp_status partition_by_numbers(lsp_ctx *ctx, const lsp_partition_args *args, lsp_bucket_search search) {
    lsp_status status = LSP_OK;
    const bool has_keys = args->keys != NULL || args->keys_out != NULL, both = has_keys && args->value_bytes > 0;
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
    } else if (has_keys) {
        sort.value_bytes = lsp_type_bytes(args->key_type);
        sort.values = args->keys;
        sort.values_out = args->keys_out;
    }
    LSP_TRY(lsp_segsort(ctx, &sort));
    if (both && args->n > 0) {
        LSP_TRY(move_both(ctx, args, position, width == 4 ? LSP_I32 : LSP_I64));
    }
    search.sorted = numbers;
    search.mask = UINT64_MAX;
    LSP_TRY(lsp_bucket_offsets(ctx, &search, args->where));
done:
    return status;
}

lsp_status lsp_partition(lsp_ctx *ctx, const lsp_partition_args *args) {
    lsp_status status = LSP_OK;
    int64_t buckets = 0;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    const size_t mark = lsp_scratch_mark(ctx);
    LSP_TRY(check_partition(ctx, args, &buckets));
    const lsp_bucket_search search = {
        .n = args->n, .buckets = buckets, .offsets = args->offsets, .offset_type = args->offset_type};
    LSP_TRY(args->numbers || args->n == 0 ? partition_by_numbers(ctx, args, search)
                                          : partition_by_bits(ctx, args, search));
done:
    lsp_scratch_release(ctx, mark);
    return status;
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
