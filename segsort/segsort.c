/* The calls of the segmented sort: at once, or planned and then executed. Arrays of the host are sorted by the CPU,
 * arrays of a GPU by that GPU, whose scratch is the plan's or, without a plan, ends with the call. */
#include "core/cuda.h"
#include "segsort.h"
#include <stdio.h>

struct lsp_segsort_plan {
    lsp_ctx *ctx; /* NULL: it has ended */
    lsp_plan_life life;
    lsp_segsort_args shape; /* of its pointers only whether they are NULL matters */
    void *scratch;          /* on the GPU */
    lsp_segsort_info info;
};

/* Bytes on the GPU. A graph would keep on using scratch that others take meanwhile: it must be a plan's. */
static lsp_status scratch_bytes(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: only a plan made before can sort there");
    LSP_REQUIRE(lsp_segsort_cuda_bytes(ctx, args, longest, bytes), LSP_ERR_MEMORY,
                "%lld items in %lld segments need more scratch than can be addressed", (long long)args->n,
                (long long)args->segments);
done:
    return status;
}

lsp_status lsp_segsort(lsp_ctx *ctx, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    size_t mark = lsp_scratch_mark(ctx);
    LSP_TRY(lsp_segsort_check(ctx, args));
    if (args->where == LSP_HOST) {
        LSP_TRY(lsp_segsort_cpu(ctx, args));
    } else if (args->segments > 0) {
        int64_t longest = lsp_max(lsp_segsort_said_longest(args), 1), bytes = 0;
        void *scratch;
        LSP_TRY(scratch_bytes(ctx, args, longest, &bytes));
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, bytes, 1, &scratch));
        LSP_TRY(lsp_segsort_cuda(ctx, args, longest, scratch));
    }
done:
    lsp_scratch_release(ctx, mark); /* work that takes it next comes later on the same stream */
    return status;
}

/* ---- plans ---- */

typedef struct longest_search {
    const lsp_segsort_args *args;
    int64_t below; /* the length of the longest, negative */
} longest_search;

static void look_for_longest(void *data, int64_t first, int64_t last) {
    longest_search *search = data;
    int64_t longest = 0;
    for (int64_t s = first; s < last; s++) {
        int64_t begin, end;
        lsp_segsort_bounds(search->args, s, &begin, &end);
        longest = lsp_max(longest, end - begin);
    }
    lsp_lower(&search->below, -longest);
}

/* The longest segment of host arrays that were checked. */
static int64_t host_longest(const lsp_ctx *ctx, const lsp_segsort_args *args) {
    longest_search search = {.args = args};
    lsp_for_shares(ctx, args->segments, 1 << 16, look_for_longest, &search);
    return -search.below;
}

static lsp_status find_longest(lsp_segsort_plan *plan, const lsp_segsort_args *args) {
    lsp_status status = LSP_OK;
    lsp_segsort_info *info = &plan->info;
    const char *place = args->where == LSP_HOST ? "the host" : "the GPU", *how = "as was said";
    info->method = args->where == LSP_HOST ? "cpu" : "cuda";
    info->longest = lsp_max(lsp_segsort_said_longest(args), 1);
    if (args->offsets != NULL && args->max_length == 0) {
        how = "as the offsets say";
        if (args->where == LSP_HOST) {
            info->longest = host_longest(plan->ctx, args);
        } else {
            LSP_TRY(lsp_segsort_cuda_longest(plan->ctx, args, &info->longest));
        }
        info->longest = lsp_max(info->longest, 1);
    }
    snprintf(info->reason, sizeof info->reason, "the arrays are on %s; no segment is longer than %lld, %s", place,
             (long long)info->longest, how);
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
    LSP_TRY(find_longest(made, args));
    if (args->where == LSP_HOST) {
        LSP_REQUIRE(lsp_segsort_cpu_bytes(ctx, args, made->info.longest, &made->info.scratch_bytes), LSP_ERR_MEMORY,
                    "a segment of %lld items cannot be sorted in any memory", (long long)made->info.longest);
    } else {
        LSP_TRY(scratch_bytes(ctx, args, made->info.longest, &made->info.scratch_bytes));
        LSP_TRY(lsp_alloc(ctx, LSP_CUDA, made->info.scratch_bytes, 1, &made->scratch));
    }
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

/* The first thing in which `args` are not of the plan's shape is named. */
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
        {"first bit that decides", shape->begin_bit, args->begin_bit},
        {"end of the bits that decide", shape->end_bit, args->end_bit},
        {"presence of marks of changes", shape->change != NULL, args->change != NULL},
        {"presence of places of changes", shape->change_at != NULL, args->change_at != NULL},
        {"presence of counts of changes", shape->change_count != NULL, args->change_count != NULL},
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
    if (args->where == LSP_HOST) {
        LSP_TRY(lsp_segsort_cpu(ctx, &bounded));
    } else if (args->segments > 0) {
        int64_t bytes = 0;
        LSP_REQUIRE(lsp_segsort_cuda_bytes(ctx, &bounded, plan->info.longest, &bytes) &&
                        bytes <= plan->info.scratch_bytes,
                    LSP_ERR_ARGUMENT,
                    "the table of the sort has changed since the plan was made: %lld bytes of scratch are needed, the "
                    "plan has %lld",
                    (long long)bytes, (long long)plan->info.scratch_bytes);
        LSP_TRY(lsp_segsort_cuda(ctx, &bounded, plan->info.longest, plan->scratch));
    }
done:
    return status;
}
