/* The sort of a whole array is a segmented sort of one segment, which splits a long segment by leading bits, phase by
 * phase, and sorts the parts in shared memory or in the cache. The number of phases is chosen here. */
#include "radix_sort.h"
#include "core/cuda.h"
#include <string.h>

struct lsp_radix_sort_plan {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_radix_sort_args shape; /* of its pointers, only whether they are NULL matters */
    lsp_radix_choice choice;
    void *scratch; /* on the GPU: sort_bytes for the sort, then sorted keys that the caller does not want */
    int64_t sort_bytes;
    lsp_radix_sort_info info;
};
LSP_DROP(lsp_radix_sort_plan)

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
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the radix sort are NULL");
    LSP_TRY(lsp_check_reserved(ctx, "lsp_radix_sort_args", args->reserved));
    LSP_REQUIRE(args->value_bytes > 0 || (args->values == NULL && args->values_out == NULL), LSP_ERR_ARGUMENT,
                "values are given, but value_bytes is 0");
    *segment = as_segment(args);
    LSP_TRY(lsp_segsort_check(ctx, segment));
    *bytes = 0;
    LSP_TRY(lsp_radix_choose(ctx, segment, choice));
    LSP_REQUIRE(args->where == LSP_HOST || lsp_segsort_cuda.bytes(ctx, segment, lsp_max(args->n, 1), bytes),
                LSP_ERR_MEMORY, "%lld items need more scratch than can be addressed", (long long)args->n);
    *bytes = lsp_ceil_div(*bytes, 64) * 64; /* aligns the spare keys behind it */
    return LSP_OK;
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
    return segment.n == 0 ? LSP_OK : lsp_segsort_cuda.run(ctx, &segment, segment.n, scratch, bits);
}

static lsp_radix_sort_info info_of(const lsp_radix_choice *choice) {
    lsp_radix_sort_info info = {.phases = choice->phases, .bits = choice->bits, .seconds = choice->seconds};
    memcpy(info.reason, choice->reason, sizeof info.reason);
    return info;
}

/* Sorts on the GPU with scratch of the call. */
static lsp_status sort_with_scratch(lsp_ctx *ctx, const lsp_segsort_args *segment, int bits, int64_t bytes) {
    LSP_SCRATCH_SCOPE(ctx); /* a later call that takes this scratch works after this sort on the same stream */
    void *scratch;
    LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: only a plan made before can sort there");
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, bytes + spare_bytes(segment), 1, &scratch));
    return sort_on_gpu(ctx, *segment, bits, scratch, bytes);
}

lsp_status lsp_radix_sort(lsp_ctx *ctx, const lsp_radix_sort_args *args, lsp_radix_sort_info *info) {
    lsp_segsort_args segment;
    lsp_radix_choice choice;
    int64_t bytes;
    LSP_ENTER(ctx);
    LSP_TRY(prepare(ctx, args, &segment, &bytes, &choice));
    LSP_TRY(args->where == LSP_HOST ? lsp_segsort(ctx, &segment, NULL)
                                    : sort_with_scratch(ctx, &segment, choice.bits, bytes));
    if (info != NULL) {
        *info = info_of(&choice);
    }
    return LSP_OK;
}

/* ---- plans ---- */

lsp_status lsp_radix_sort_plan_create(lsp_ctx *ctx, const lsp_radix_sort_args *args, lsp_radix_sort_plan **plan) {
    lsp_radix_sort_plan *made LSP_AT_END(lsp_radix_sort_plan_drop) = NULL;
    lsp_segsort_args segment;
    lsp_radix_choice choice;
    int64_t bytes;
    LSP_ENTER(ctx);
    LSP_REQUIRE(plan != NULL, LSP_ERR_ARGUMENT, "the place for the plan is NULL");
    LSP_TRY(prepare(ctx, args, &segment, &bytes, &choice));
    LSP_TRY(LSP_PLAN_NEW(ctx, &made));
    made->shape = *args;
    made->choice = choice;
    made->sort_bytes = bytes;
    made->info = info_of(&choice);
    if (args->where == LSP_CUDA) {
        made->info.scratch_bytes = bytes + spare_bytes(&segment);
        LSP_TRY(lsp_alloc(ctx, LSP_CUDA, made->info.scratch_bytes, 1, &made->scratch));
    }
    lsp_log(ctx, "radix sort: %lld items, %d phases: %s", (long long)args->n, choice.phases, choice.reason);
    *plan = made, made = NULL;
    return LSP_OK;
}

void lsp_radix_sort_plan_destroy(lsp_radix_sort_plan *plan) {
    if (plan != NULL) {
        lsp_free(plan->ctx, plan->scratch);
    }
    lsp_plan_end(plan);
}

lsp_status lsp_radix_sort_plan_get_info(const lsp_radix_sort_plan *plan, lsp_radix_sort_info *info) {
    return LSP_PLAN_TELL(plan, info);
}

/* Refuses arguments whose shape differs from the plan's, and names the first difference. */
static lsp_status check_shape(lsp_ctx *ctx, const lsp_radix_sort_args *shape, const lsp_radix_sort_args *args) {
    const lsp_plan_fact facts[] = {
        {"place of the arrays", shape->where, args->where},
        {"number of items", shape->n, args->n},
        {"type of the keys", shape->key_type, args->key_type},
        {"bytes of a value", (int64_t)shape->value_bytes, (int64_t)args->value_bytes},
        {"set of flags", shape->flags, args->flags},
        {"first bit that decides", shape->begin_bit, args->begin_bit},
        {"end of the bits that decide", shape->end_bit, args->end_bit},
        {"presence of sorted keys", shape->keys_out != NULL, args->keys_out != NULL},
        {NULL, 0, 0},
    };
    return lsp_plan_check(ctx, facts);
}

lsp_status lsp_radix_sort_execute(lsp_radix_sort_plan *plan, const lsp_radix_sort_args *args) {
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
        return lsp_segsort(ctx, &segment, NULL);
    }
    LSP_REQUIRE(bytes <= plan->sort_bytes, LSP_ERR_ARGUMENT,
                "the table of the sort has changed since the plan was made: %lld bytes of scratch are needed, the plan "
                "has %lld",
                (long long)bytes, (long long)plan->sort_bytes);
    return sort_on_gpu(ctx, segment, plan->choice.bits, plan->scratch, plan->sort_bytes);
}
