/* The public calls of the segmented sort: at once, or planned and then executed. The device that holds the
 * arrays sorts them (lsp_segsort_device). Scratch on a GPU belongs to the plan or, without one, ends with the call. */
#include "segsort.h"
#include "core/cuda.h"
#include <stdio.h>

struct lsp_segsort_plan {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_segsort_args shape; /* a pointer in it only tells whether the array exists */
    void *scratch;          /* on the GPU: sort_bytes for the sort, then spare_key_bytes for the sorted keys */
    int64_t sort_bytes;
    lsp_segsort_info info;
};

/* ---- at once ---- */

/* Bytes of scratch for the sort. On a GPU refused while the stream is recorded into a graph: the graph would keep the
 * address of scratch that later calls reuse, so only the scratch of a plan is safe there. */
static lsp_status find_scratch(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes) {
    LSP_REQUIRE(args->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: only a plan made before can sort there");
    LSP_REQUIRE(lsp_segsort_device_at(args->where)->bytes(ctx, args, longest, bytes), LSP_ERR_MEMORY,
                "%lld items in %lld segments, the longest of %lld, need more scratch than can be addressed",
                (long long)args->n, (long long)args->segments, (long long)longest);
    return LSP_OK;
}

/* Bytes for the sorted keys if the caller does not want them: a sort of positions still needs an array for them. */
static int64_t spare_key_bytes(const lsp_segsort_args *args) {
    return args->keys_out == NULL ? args->n * (int64_t)lsp_type_bytes(args->key_type) : 0;
}

static bool is_nothing(const lsp_segsort_args *args) { return args->segments == 0 && args->group_at == NULL; }

/* What is known of a sort. `searched`: the offsets were read to find the longest segment. */
static lsp_segsort_info make_info(const lsp_segsort_args *args, int64_t longest, bool searched, int64_t bytes) {
    const lsp_segsort_device *device = lsp_segsort_device_at(args->where);
    lsp_segsort_info info = {.method = device->method, .longest = longest, .scratch_bytes = bytes};
    snprintf(info.reason, sizeof info.reason, "the arrays are on %s; no segment is longer than %lld, as the %s say",
             device->place, (long long)longest, searched ? "offsets" : "arguments");
    return info;
}

/* Sorts with scratch that ends with the call. */
static lsp_status sort_at_once(lsp_ctx *ctx, lsp_segsort_args args, lsp_segsort_info *info) {
    LSP_SCRATCH_SCOPE(ctx); /* a later call that takes this scratch works after this sort on the same stream */
    const lsp_segsort_device *device = lsp_segsort_device_at(args.where);
    const int64_t longest = lsp_max(lsp_segsort_longest_bound(&args), 1), spare = spare_key_bytes(&args);
    int64_t bytes = 0;
    void *scratch = NULL;
    if (!is_nothing(&args)) {
        if (device->holds_scratch || info != NULL) {
            LSP_TRY(find_scratch(ctx, &args, longest, &bytes));
        }
        LSP_TRY(lsp_scratch_at(ctx, args.where, device->holds_scratch ? bytes : 0, 1, &scratch));
        if (args.keys_out == NULL) {
            LSP_TRY(lsp_scratch_at(ctx, args.where, spare, 1, &args.keys_out));
        }
        LSP_TRY(device->run(ctx, &args, longest, scratch, lsp_split_most(&args)));
    }
    LSP_TELL(info, make_info(&args, longest, false, bytes + spare));
    return LSP_OK;
}

lsp_status lsp_segsort(lsp_ctx *ctx, const lsp_segsort_args *args, lsp_segsort_info *info) {
    LSP_ENTER(ctx);
    LSP_TRY(lsp_segsort_check(ctx, args));
    return sort_at_once(ctx, *args, info);
}

/* ---- plans ---- */

/* Finds the longest segment and the scratch, and takes the scratch that the device wants to be held. */
static lsp_status prepare_plan(lsp_segsort_plan *plan, const lsp_segsort_args *args) {
    lsp_ctx *ctx = plan->ctx;
    lsp_segsort_info *info = &plan->info;
    const lsp_segsort_device *device = lsp_segsort_device_at(args->where);
    const bool search = args->offsets != NULL && args->max_length == 0;
    int64_t longest = lsp_segsort_longest_bound(args);
    if (search) {
        LSP_TRY(device->longest(ctx, args, &longest));
    }
    longest = lsp_max(longest, 1);
    LSP_TRY(find_scratch(ctx, args, longest, &plan->sort_bytes));
    plan->sort_bytes = lsp_ceil_div(plan->sort_bytes, 64) * 64; /* aligns the spare keys behind it */
    *info = make_info(args, longest, search, plan->sort_bytes + spare_key_bytes(args));
    return lsp_alloc(ctx, args->where, device->holds_scratch ? info->scratch_bytes : 0, 1, &plan->scratch);
}

lsp_status lsp_segsort_plan_create(lsp_ctx *ctx, const lsp_segsort_args *args, lsp_segsort_plan **plan) {
    LSP_PLAN_MAKE(lsp_segsort_plan, made, plan);
    LSP_TRY(lsp_segsort_check(ctx, args));
    made->shape = *args;
    LSP_TRY(prepare_plan(made, args));
    lsp_log(ctx, "segsort: %lld items in %lld segments, method %s: %s", (long long)args->n, (long long)args->segments,
            made->info.method, made->info.reason);
    return LSP_PLAN_GIVE(made, plan);
}

void lsp_segsort_plan_destroy(lsp_segsort_plan *plan) { lsp_plan_end(plan); }

lsp_status lsp_segsort_plan_get_info(const lsp_segsort_plan *plan, lsp_segsort_info *info) {
    return LSP_PLAN_TELL(plan, info);
}

/* ---- execution ---- */

/* Refuses arguments whose shape differs from the plan's, and names the first difference. */
static lsp_status check_plan_shape(lsp_ctx *ctx, const lsp_segsort_args *shape, const lsp_segsort_args *args) {
    const lsp_plan_fact facts[] = {
        {"place of the arrays", shape->where, args->where},
        {"number of items", shape->n, args->n},
        {"number of segments", shape->segments, args->segments},
        {"presence of offsets", shape->offsets != NULL, args->offsets != NULL},
        {"presence of ends", shape->ends != NULL, args->ends != NULL},
        {"length of segments", shape->length, args->length},
        {"bytes of a value", (int64_t)shape->value_bytes, (int64_t)args->value_bytes},
        {"set of flags", shape->flags, args->flags},
        {"first bit compared", shape->begin_bit, args->begin_bit},
        {"end of the bits compared", shape->end_bit, args->end_bit},
        {"presence of sorted keys", shape->keys_out != NULL, args->keys_out != NULL},
        {"presence of marks of changes", shape->change != NULL, args->change != NULL},
        {"presence of places of changes", shape->change_at != NULL, args->change_at != NULL},
        {"presence of counts of changes", shape->change_count != NULL, args->change_count != NULL},
        {"presence of starts of groups", shape->group_at != NULL, args->group_at != NULL},
        {"number of first items", shape->first, args->first},
        {0},
    };
    if (shape->offset_type != args->offset_type || shape->key_type != args->key_type) {
        return lsp_fail(ctx, LSP_ERR_ARGUMENT,
                        "offsets are of type %s and keys of type %s, but the plan was made for %s and %s",
                        lsp_type_name(args->offset_type), lsp_type_name(args->key_type),
                        lsp_type_name(shape->offset_type), lsp_type_name(shape->key_type));
    }
    return lsp_plan_check(ctx, facts);
}

/* Sorts with the plan's scratch. */
static lsp_status sort_by_plan(const lsp_segsort_plan *plan, lsp_segsort_args args) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_segsort_device *device = lsp_segsort_device_at(args.where);
    int64_t bytes = 0;
    if (is_nothing(&args)) {
        return LSP_OK;
    }
    LSP_REQUIRE(device->bytes(ctx, &args, plan->info.longest, &bytes) && bytes <= plan->sort_bytes, LSP_ERR_ARGUMENT,
                "the table of the sort has changed since the plan was made: %lld bytes of scratch are needed, the "
                "plan has %lld",
                (long long)bytes, (long long)plan->sort_bytes);
    if (args.keys_out == NULL) {
        args.keys_out = (char *)plan->scratch + plan->sort_bytes;
    }
    return device->run(ctx, &args, plan->info.longest, plan->scratch, lsp_split_most(&args));
}

lsp_status lsp_segsort_execute(lsp_segsort_plan *plan, const lsp_segsort_args *args) {
    LSP_PLAN_USE(plan);
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the segmented sort are NULL");
    lsp_segsort_args bounded = *args;
    bounded.max_length = plan->info.longest;
    LSP_TRY(check_plan_shape(ctx, &plan->shape, args));
    LSP_TRY(lsp_segsort_check(ctx, &bounded));
    return lsp_segsort_device_at(args->where)->holds_scratch ? sort_by_plan(plan, bounded)
                                                             : sort_at_once(ctx, bounded, NULL);
}
