/* The sort of a whole array and the partition into buckets: both are a segmented sort of one segment, which splits a
 * long segment by leading bits, phase by phase, and sorts the parts in shared memory or in the cache. A partition is
 * the sort by the bits of the bucket number; where each bucket begins is found afterwards by binary search. */
#include "core/cuda.h"
#include "radix_sort.h"
#include <stdio.h>

struct lsp_radix_sort_plan {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_radix_sort_args shape; /* of its pointers, only whether they are NULL matters */
    lsp_radix_choice choice;
    void *scratch; /* on the GPU: sort_bytes for the sort, then sorted keys that the caller does not want */
    int64_t sort_bytes;
    lsp_radix_sort_info info;
};

/* ---- the sort ---- */

/* The same request as a segmented sort of one segment. */
static lsp_segsort_args as_segment(const lsp_radix_sort_args *args) {
    return (lsp_segsort_args){.n = args->n,
                              .segments = args->n > 0,
                              .length = args->n,
                              .key_type = args->key_type,
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

/* Refuses wrong arguments; sets the segmented sort that does the work, and on a GPU its bytes of scratch and the choice
 * of phases. */
static lsp_status prepare(lsp_ctx *ctx, const lsp_radix_sort_args *args, lsp_segsort_args *segment, int64_t *bytes,
                          lsp_radix_choice *choice) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the radix sort are NULL");
    LSP_TRY(lsp_check_reserved(ctx, "lsp_radix_sort_args", args->reserved));
    *segment = as_segment(args);
    LSP_TRY(lsp_segsort_check(ctx, segment));
    *bytes = 0;
    lsp_radix_choose(ctx, segment, choice);
    LSP_REQUIRE(args->where == LSP_HOST || lsp_segsort_cuda_bytes(ctx, segment, lsp_max(args->n, 1), bytes),
                LSP_ERR_MEMORY, "%lld items need more scratch than can be addressed", (long long)args->n);
    *bytes = lsp_ceil_div(*bytes, 64) * 64; /* aligns the spare keys behind it */
done:
    return status;
}

/* Bytes for sorted keys that the caller does not want: the sort needs an array for them. */
static int64_t spare_bytes(const lsp_segsort_args *segment) {
    return segment->keys_out == NULL ? segment->n * (int64_t)lsp_type_bytes(segment->key_type) : 0;
}

/* Sorts on the GPU with scratch of `bytes` bytes and, behind it, the spare ones. */
static lsp_status sort_on_gpu(lsp_ctx *ctx, lsp_segsort_args segment, int bits, void *scratch, int64_t bytes) {
    if (segment.keys_out == NULL) {
        segment.keys_out = (char *)scratch + bytes;
    }
    return segment.n == 0 ? LSP_OK : lsp_segsort_cuda_split(ctx, &segment, segment.n, scratch, bits);
}

lsp_status lsp_radix_sort(lsp_ctx *ctx, const lsp_radix_sort_args *args) {
    lsp_status status = LSP_OK;
    lsp_segsort_args segment;
    lsp_radix_choice choice;
    int64_t bytes;
    void *scratch;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    const size_t mark = lsp_scratch_mark(ctx);
    LSP_TRY(prepare(ctx, args, &segment, &bytes, &choice));
    if (args->where == LSP_HOST) {
        return lsp_segsort(ctx, &segment);
    }
    LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: only a plan made before can sort there");
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, bytes + spare_bytes(&segment), 1, &scratch));
    LSP_TRY(sort_on_gpu(ctx, segment, choice.bits, scratch, bytes));
done:
    lsp_scratch_release(ctx, mark); /* a later call that takes this scratch works after this sort on the same stream */
    return status;
}

/* ---- plans ---- */

lsp_status lsp_radix_sort_plan_create(lsp_ctx *ctx, const lsp_radix_sort_args *args, lsp_radix_sort_plan **plan) {
    lsp_status status = LSP_OK;
    lsp_radix_sort_plan *made = NULL;
    lsp_segsort_args segment;
    lsp_radix_choice choice;
    int64_t bytes;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    LSP_REQUIRE(plan != NULL, LSP_ERR_ARGUMENT, "the place for the plan is NULL");
    LSP_TRY(prepare(ctx, args, &segment, &bytes, &choice));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof *made, (void **)&made));
    *made = (lsp_radix_sort_plan){.ctx = ctx, .shape = *args, .choice = choice, .sort_bytes = bytes};
    lsp_plan_begin(&made->life, &made->ctx, made);
    made->info = (lsp_radix_sort_info){.phases = choice.phases, .bits = choice.bits, .seconds = choice.seconds};
    snprintf(made->info.reason, sizeof made->info.reason, "%s", choice.reason);
    if (args->where == LSP_CUDA) {
        made->info.scratch_bytes = bytes + spare_bytes(&segment);
        LSP_TRY(lsp_alloc(ctx, LSP_CUDA, made->info.scratch_bytes, 1, &made->scratch));
    }
    lsp_log(ctx, "radix sort: %lld items, %d phases: %s", (long long)args->n, choice.phases, choice.reason);
    *plan = made;
done:
    if (status != LSP_OK) {
        lsp_radix_sort_plan_destroy(made);
    }
    return status;
}

void lsp_radix_sort_plan_destroy(lsp_radix_sort_plan *plan) {
    if (plan != NULL) {
        if (plan->ctx != NULL) {
            lsp_free(plan->ctx, plan->scratch);
        }
        lsp_plan_free(&plan->life);
    }
}

lsp_status lsp_radix_sort_plan_get_info(const lsp_radix_sort_plan *plan, lsp_radix_sort_info *info) {
    if (plan == NULL || plan->ctx == NULL || info == NULL) {
        return plan == NULL ? LSP_ERR_ARGUMENT
                            : lsp_fail(plan->ctx, LSP_ERR_ARGUMENT, "the place for the plan's facts is NULL");
    }
    *info = plan->info;
    return LSP_OK;
}

/* Refuses arguments whose shape differs from the plan's, and names the first difference. */
static lsp_status check_shape(lsp_ctx *ctx, const lsp_radix_sort_args *shape, const lsp_radix_sort_args *args) {
    const struct {
        const char *what;
        int64_t planned, given;
    } parts[] = {
        {"place of the arrays", shape->where, args->where},
        {"number of items", shape->n, args->n},
        {"type of the keys", shape->key_type, args->key_type},
        {"bytes of a value", (int64_t)shape->value_bytes, (int64_t)args->value_bytes},
        {"set of flags", shape->flags, args->flags},
        {"first bit that decides", shape->begin_bit, args->begin_bit},
        {"end of the bits that decide", shape->end_bit, args->end_bit},
        {"presence of sorted keys", shape->keys_out != NULL, args->keys_out != NULL},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].planned != parts[i].given) {
            return lsp_fail(ctx, LSP_ERR_ARGUMENT, "the %s is %lld, but the plan was made for %lld", parts[i].what,
                            (long long)parts[i].given, (long long)parts[i].planned);
        }
    }
    return LSP_OK;
}

lsp_status lsp_radix_sort_execute(lsp_radix_sort_plan *plan, const lsp_radix_sort_args *args) {
    lsp_status status = LSP_OK;
    lsp_segsort_args segment;
    lsp_radix_choice choice;
    int64_t bytes;
    if (plan == NULL || plan->ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    lsp_ctx *ctx = plan->ctx;
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the radix sort are NULL");
    LSP_TRY(check_shape(ctx, &plan->shape, args));
    LSP_TRY(prepare(ctx, args, &segment, &bytes, &choice));
    if (args->where == LSP_HOST) {
        return lsp_segsort(ctx, &segment);
    }
    LSP_REQUIRE(bytes <= plan->sort_bytes, LSP_ERR_ARGUMENT,
                "the table of the sort has changed since the plan was made: %lld bytes of scratch are needed, the plan "
                "has %lld",
                (long long)bytes, (long long)plan->sort_bytes);
    LSP_TRY(sort_on_gpu(ctx, segment, plan->choice.bits, plan->scratch, plan->sort_bytes));
done:
    return status;
}

/* ---- partition ---- */

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
    LSP_REQUIRE(args->offsets == NULL || args->offset_type == LSP_I32 || args->offset_type == LSP_I64,
                LSP_ERR_ARGUMENT, "offsets of type %s: LSP_I32 or LSP_I64 is needed", lsp_type_name(args->offset_type));
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
    LSP_REQUIRE(args->numbers != NULL || (args->begin_bit >= 0 && args->end_bit > args->begin_bit &&
                                          args->end_bit - args->begin_bit <= 16),
                LSP_ERR_ARGUMENT, "the bits %d to %d of keys make no buckets: 1 to 16 bits are needed",
                args->begin_bit, args->end_bit);
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
    int64_t buckets;
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
