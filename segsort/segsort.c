/* The public calls of the segmented sort: at once, or planned and then executed. Each call checks once where the arrays
 * are: the CPU sorts arrays on the host, the GPU those on the GPU. Scratch on the GPU belongs to the plan or, without a
 * plan, ends with the call. */
#include "segsort.h"
#include "core/cuda.h"
#include <stdio.h>

struct lsp_segsort_plan {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_segsort_args shape; /* a pointer in it only tells whether the array exists */
    void *scratch;          /* on the GPU: sort_bytes for the sort, then spare_bytes for the sorted keys */
    int64_t sort_bytes;
    lsp_segsort_info info;
};

/* ---- at once ---- */

/* Bytes of scratch for the sort on the GPU. Refused while the stream is recorded into a graph: the graph would keep the
 * address of scratch that later calls reuse, so only the scratch of a plan is safe there. */
static lsp_status gpu_scratch_bytes(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: only a plan made before can sort there");
    LSP_REQUIRE(lsp_segsort_cuda_bytes(ctx, args, longest, bytes), LSP_ERR_MEMORY,
                "%lld items in %lld segments need more scratch than can be addressed", (long long)args->n,
                (long long)args->segments);
done:
    return status;
}

/* Bytes for the sorted keys if the caller does not want them: a sort of positions still needs an array for them. */
static int64_t spare_bytes(const lsp_segsort_args *args) {
    return args->keys_out == NULL ? args->n * (int64_t)lsp_type_bytes(args->key_type) : 0;
}

/* If the caller does not want the sorted keys, sorts them into an array in scratch. */
static lsp_status add_keys_out(lsp_ctx *ctx, lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    if (args->keys_out == NULL) {
        LSP_TRY(lsp_scratch_at(ctx, args->where, spare_bytes(args), 1, &args->keys_out));
    }
done:
    return status;
}

static lsp_status sort_on_host(lsp_ctx *ctx, lsp_segsort_args args) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    LSP_TRY(add_keys_out(ctx, &args));
    LSP_TRY(lsp_segsort_cpu(ctx, &args));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

static lsp_status sort_on_gpu(lsp_ctx *ctx, lsp_segsort_args args) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    int64_t longest = lsp_max(lsp_segsort_longest_bound(&args), 1), bytes = 0;
    void *scratch;
    if (args.segments == 0 && args.group_at == NULL) {
        return LSP_OK;
    }
    LSP_TRY(gpu_scratch_bytes(ctx, &args, longest, &bytes));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, bytes, 1, &scratch));
    LSP_TRY(add_keys_out(ctx, &args));
    LSP_TRY(lsp_segsort_cuda(ctx, &args, longest, scratch));
done:
    lsp_scratch_release(ctx, mark); /* a later call that takes this scratch works after this sort on the same stream */
    return status;
}

lsp_status lsp_segsort(lsp_ctx *ctx, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    LSP_TRY(lsp_segsort_check(ctx, args));
    LSP_TRY(args->where == LSP_HOST ? sort_on_host(ctx, *args) : sort_on_gpu(ctx, *args));
done:
    return status;
}

/* ---- plans ---- */

typedef struct longest_search {
    const lsp_segsort_args *args;
    int64_t negative; /* minus the longest length: lsp_lower finds minima */
} longest_search;

static void search_share(void *data, int64_t first, int64_t last) {
    longest_search *search = data;
    int64_t longest = 0;
    for (int64_t s = first; s < last; s++) {
        int64_t begin, end;
        lsp_segsort_bounds(search->args, s, &begin, &end);
        longest = lsp_max(longest, end - begin);
    }
    lsp_lower(&search->negative, -longest);
}

/* Must the offsets be read to know the longest segment? */
static bool must_search(const lsp_segsort_args *args) { return args->offsets != NULL && args->max_length == 0; }

static void note_choice(lsp_segsort_plan *plan, const char *method, const char *place, int64_t longest) {
    lsp_segsort_info *info = &plan->info;
    info->method = method;
    info->longest = lsp_max(longest, 1);
    snprintf(info->reason, sizeof info->reason, "the arrays are on %s; no segment is longer than %lld, %s", place,
             (long long)info->longest, must_search(&plan->shape) ? "as the offsets say" : "as the arguments say");
}

static lsp_status plan_on_host(lsp_segsort_plan *plan, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_segsort_info *info = &plan->info;
    int64_t longest = lsp_segsort_longest_bound(args);
    if (must_search(args)) {
        longest_search search = {.args = args};
        lsp_for_shares(ctx, args->segments, 1 << 16, search_share, &search);
        longest = -search.negative;
    }
    note_choice(plan, "cpu", "the host", longest);
    LSP_REQUIRE(lsp_segsort_cpu_bytes(ctx, args, info->longest, &info->scratch_bytes), LSP_ERR_MEMORY,
                "a segment of %lld items cannot be sorted in any memory", (long long)info->longest);
    info->scratch_bytes += spare_bytes(args);
done:
    return status;
}

static lsp_status plan_on_gpu(lsp_segsort_plan *plan, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_segsort_info *info = &plan->info;
    int64_t longest = lsp_segsort_longest_bound(args);
    if (must_search(args)) {
        LSP_TRY(lsp_segsort_cuda_longest(ctx, args, &longest));
    }
    note_choice(plan, "cuda", "the GPU", longest);
    LSP_TRY(gpu_scratch_bytes(ctx, args, info->longest, &plan->sort_bytes));
    plan->sort_bytes = lsp_ceil_div(plan->sort_bytes, 64) * 64; /* aligns the spare keys behind it */
    info->scratch_bytes = plan->sort_bytes + spare_bytes(args);
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, info->scratch_bytes, 1, &plan->scratch));
done:
    return status;
}

lsp_status lsp_segsort_plan_create(lsp_ctx *ctx, const lsp_segsort_args *args, lsp_segsort_plan **plan) {
    lsp_status status = LSP_OK;
    lsp_segsort_plan *made = NULL;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    LSP_REQUIRE(plan != NULL, LSP_ERR_ARGUMENT, "the place for the plan is NULL");
    LSP_TRY(lsp_segsort_check(ctx, args));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof *made, (void **)&made));
    *made = (lsp_segsort_plan){.ctx = ctx, .shape = *args};
    lsp_plan_begin(&made->life, &made->ctx, made);
    LSP_TRY(args->where == LSP_HOST ? plan_on_host(made, args) : plan_on_gpu(made, args));
    lsp_log(ctx, "segsort: %lld items in %lld segments, method %s: %s", (long long)args->n, (long long)args->segments,
            made->info.method, made->info.reason);
    *plan = made;
done:
    if (status != LSP_OK) {
        lsp_segsort_plan_destroy(made);
    }
    return status;
}

void lsp_segsort_plan_destroy(lsp_segsort_plan *plan) {
    if (plan != NULL) {
        if (plan->ctx != NULL) {
            lsp_free(plan->ctx, plan->scratch);
        }
        lsp_plan_free(&plan->life);
    }
}

lsp_status lsp_segsort_plan_get_info(const lsp_segsort_plan *plan, lsp_segsort_info *info) {
    if (plan == NULL || plan->ctx == NULL || info == NULL) {
        return plan == NULL ? LSP_ERR_ARGUMENT
                            : lsp_fail(plan->ctx, LSP_ERR_ARGUMENT, "the place for the plan's facts is NULL");
    }
    *info = plan->info;
    return LSP_OK;
}

/* ---- execution ---- */

/* Refuses arguments whose shape differs from the plan's, and names the first difference. */
static lsp_status check_shape(lsp_ctx *ctx, const lsp_segsort_args *shape, const lsp_segsort_args *args) {
    const struct {
        const char *what;
        int64_t planned, given;
    } parts[] = {
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
    };
    if (shape->offset_type != args->offset_type || shape->key_type != args->key_type) {
        return lsp_fail(ctx, LSP_ERR_ARGUMENT,
                        "offsets are of type %s and keys of type %s, but the plan was made for %s and %s",
                        lsp_type_name(args->offset_type), lsp_type_name(args->key_type),
                        lsp_type_name(shape->offset_type), lsp_type_name(shape->key_type));
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].planned != parts[i].given) {
            return lsp_fail(ctx, LSP_ERR_ARGUMENT, "the %s is %lld, but the plan was made for %lld", parts[i].what,
                            (long long)parts[i].given, (long long)parts[i].planned);
        }
    }
    return LSP_OK;
}

static lsp_status execute_on_gpu(const lsp_segsort_plan *plan, lsp_segsort_args args) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    int64_t bytes = 0;
    if (args.segments == 0 && args.group_at == NULL) {
        return LSP_OK;
    }
    LSP_REQUIRE(lsp_segsort_cuda_bytes(ctx, &args, plan->info.longest, &bytes) && bytes <= plan->sort_bytes,
                LSP_ERR_ARGUMENT,
                "the table of the sort has changed since the plan was made: %lld bytes of scratch are needed, the "
                "plan has %lld",
                (long long)bytes, (long long)plan->sort_bytes);
    if (args.keys_out == NULL) {
        args.keys_out = (char *)plan->scratch + plan->sort_bytes;
    }
    LSP_TRY(lsp_segsort_cuda(ctx, &args, plan->info.longest, plan->scratch));
done:
    return status;
}

lsp_status lsp_segsort_execute(lsp_segsort_plan *plan, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    if (plan == NULL || plan->ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    lsp_ctx *ctx = plan->ctx;
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the segmented sort are NULL");
    lsp_segsort_args bounded = *args;
    bounded.max_length = plan->info.longest;
    LSP_TRY(check_shape(ctx, &plan->shape, args));
    LSP_TRY(lsp_segsort_check(ctx, &bounded));
    LSP_TRY(args->where == LSP_HOST ? sort_on_host(ctx, bounded) : execute_on_gpu(plan, bounded));
done:
    return status;
}
