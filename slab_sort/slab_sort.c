/* The public calls of the sort of a whole array: at once, or planned and then executed. What is sorted and in which
 * order is that of lsp_segsort with one segment, whose ref.c is the specification. On a GPU one of lsp_sort_ways does
 * it; on a CPU lsp_segsort does. */
#include "slab_sort.h"
#include "segsort/segsort.h"
#include <stdio.h>
#include <string.h>

struct lsp_sort_plan {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_sort_args shape; /* of its pointers, only whether they are NULL matters */
    void *scratch;       /* of the method */
    lsp_sort_info info;
};

const char *lsp_sort_method_name(lsp_sort_method method) {
    static const char *const names[LSP_SORT_METHODS] = {"auto", "ranks", "split", "radix", "slab"};
    return (unsigned)method < LSP_SORT_METHODS ? names[method] : "?";
}

/* ---- arguments ---- */

static lsp_status check_sort(lsp_ctx *ctx, const lsp_sort_args *args) {
    lsp_segsort_args segment;
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the sort are NULL");
    segment = lsp_sort_segment(args);
    segment.change = args->change;
    LSP_TRY(lsp_check_reserved(ctx, "lsp_sort_args", args->reserved));
    LSP_REQUIRE((unsigned)args->method < LSP_SORT_METHODS, LSP_ERR_ARGUMENT, "there is no sort method %d: 0 to %d are",
                (int)args->method, LSP_SORT_METHODS - 1);
    LSP_REQUIRE(args->value_bytes > 0 || (args->values == NULL && args->values_out == NULL), LSP_ERR_ARGUMENT,
                "values are given, but value_bytes is 0");
    LSP_REQUIRE(args->change == NULL || args->keys_out != NULL, LSP_ERR_ARGUMENT,
                "changes are of sorted keys, but keys_out is NULL");
    return lsp_segsort_check(ctx, &segment);
}

/* ---- the choice ---- */

/* The most items that a method of the GPU sorts with these arguments; 0: the GPU lacks it. */
static int64_t longest_by(lsp_ctx *ctx, const lsp_sort_args *args, lsp_sort_method method) {
    return lsp_sort_ways[method] ? lsp_sort_ways[method]->longest(ctx, args) : 0;
}

/* Chooses on a GPU by the length. */
static void choose_by_length(lsp_ctx *ctx, const lsp_sort_args *args, lsp_sort_info *info) {
    const lsp_sort_table *table = lsp_sort_table_of(ctx);
    const int kind = lsp_sort_kind(args);
    const int64_t ranks = lsp_min(table->ranks_longest[kind], longest_by(ctx, args, LSP_SORT_RANKS));
    const int64_t split = lsp_min(table->split_longest[kind], longest_by(ctx, args, LSP_SORT_SPLIT));
    const int64_t least = table->split_shortest[kind];
    info->method = args->n <= ranks                       ? LSP_SORT_RANKS
                   : args->n >= least && args->n <= split ? LSP_SORT_SPLIT
                                                          : LSP_SORT_RADIX;
    snprintf(info->reason, sizeof info->reason,
             "%lld items: ranks are fastest up to %lld, a split from %lld to %lld, a radix sort else",
             (long long)args->n, (long long)ranks, (long long)least, (long long)split);
}

/* Checks the arguments, chooses the method, and finds the scratch of one of lsp_sort_ways. */
static lsp_status prepare_sort(lsp_ctx *ctx, const lsp_sort_args *args, lsp_sort_info *info) {
    LSP_TRY(check_sort(ctx, args));
    const char *name = lsp_sort_method_name(args->method);
    *info = (lsp_sort_info){.method = LSP_SORT_RADIX};
    if (args->where == LSP_HOST) {
        LSP_REQUIRE(args->method == LSP_SORT_AUTO || args->method == LSP_SORT_RADIX, LSP_ERR_UNSUPPORTED,
                    "the CPU has no sort method %s: it has radix, which auto chooses", name);
        snprintf(info->reason, sizeof info->reason, "the arrays are on the host");
        return LSP_OK;
    }
    if (args->method == LSP_SORT_AUTO) {
        choose_by_length(ctx, args, info);
    } else {
        info->method = args->method;
        snprintf(info->reason, sizeof info->reason, "the caller asked for %s", name);
    }
    const lsp_sort_way *way = lsp_sort_ways[info->method];
    LSP_REQUIRE(way != NULL, LSP_ERR_UNSUPPORTED, "the GPU has no sort method %s", name);
    LSP_REQUIRE(args->n <= way->longest(ctx, args), LSP_ERR_UNSUPPORTED,
                "%lld items: the sort method %s takes at most %lld of this kind on this GPU", (long long)args->n, name,
                (long long)way->longest(ctx, args));
    info->scratch_bytes = args->n > 0 ? way->bytes(ctx, args) : 0;
    return LSP_OK;
}

/* ---- sorting ---- */

static lsp_status run_sort(lsp_ctx *ctx, const lsp_sort_args *args, lsp_sort_method method, void *scratch) {
    if (args->where == LSP_HOST) {
        lsp_segsort_args segment = lsp_sort_segment(args);
        segment.change = args->change;
        return lsp_segsort(ctx, &segment, NULL);
    }
    if (args->n == 0) {
        return LSP_OK;
    }
    LSP_TRY(lsp_sort_ways[method]->run(ctx, args, scratch));
    if (args->change != NULL && method != LSP_SORT_SLAB) {
        LSP_TRY(lsp_sort_mark_changes(ctx, args));
    }
    return LSP_OK;
}

/* ---- at once ---- */

lsp_status lsp_sort(lsp_ctx *ctx, const lsp_sort_args *args, lsp_sort_info *info) {
    lsp_sort_info chosen;
    void *scratch = NULL;
    LSP_ENTER(ctx); /* a later call that takes this scratch works after this sort on the same stream */
    LSP_TRY(prepare_sort(ctx, args, &chosen));
    if (args->where == LSP_CUDA) {
        LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                    "work on the stream is being recorded into a graph: only a plan made before can sort there");
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, chosen.scratch_bytes, 1, &scratch));
    }
    LSP_TRY(run_sort(ctx, args, chosen.method, scratch));
    LSP_TELL(info, chosen);
    return LSP_OK;
}

/* ---- plans ---- */

lsp_status lsp_sort_plan_create(lsp_ctx *ctx, const lsp_sort_args *args, lsp_sort_plan **plan) {
    LSP_PLAN_MAKE(lsp_sort_plan, made, plan);
    LSP_TRY(prepare_sort(ctx, args, &made->info));
    made->shape = *args;
    LSP_TRY(lsp_alloc(ctx, args->where, made->info.scratch_bytes, 1, &made->scratch));
    lsp_log(ctx, "sort: %lld items, method %s: %s", (long long)args->n, lsp_sort_method_name(made->info.method),
            made->info.reason);
    return LSP_PLAN_GIVE(made, plan);
}

void lsp_sort_plan_destroy(lsp_sort_plan *plan) { lsp_plan_end(plan); }

lsp_status lsp_sort_plan_get_info(const lsp_sort_plan *plan, lsp_sort_info *info) { return LSP_PLAN_TELL(plan, info); }

/* Refuses arguments whose shape differs from the plan's, and names the first difference. */
static lsp_status check_sort_shape(lsp_ctx *ctx, const lsp_sort_args *shape, const lsp_sort_args *args) {
    const lsp_plan_fact facts[] = {
        {"place of the arrays", shape->where, args->where},
        {"number of items", shape->n, args->n},
        {"type of the keys", shape->key_type, args->key_type},
        {"bytes of a value", (int64_t)shape->value_bytes, (int64_t)args->value_bytes},
        {"set of flags", shape->flags, args->flags},
        {"first bit compared", shape->begin_bit, args->begin_bit},
        {"end of the bits compared", shape->end_bit, args->end_bit},
        {"number of the method", shape->method, args->method},
        {"presence of sorted keys", shape->keys_out != NULL, args->keys_out != NULL},
        {"presence of changes", shape->change != NULL, args->change != NULL},
        {NULL, 0, 0},
    };
    return lsp_plan_check(ctx, facts);
}

lsp_status lsp_sort_execute(lsp_sort_plan *plan, const lsp_sort_args *args) {
    LSP_PLAN_USE(plan);
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the sort are NULL");
    LSP_TRY(check_sort_shape(ctx, &plan->shape, args));
    LSP_TRY(check_sort(ctx, args));
    if (args->where == LSP_CUDA && args->n > 0) {
        const lsp_sort_way *way = lsp_sort_ways[plan->info.method];
        const int64_t bytes = way->bytes(ctx, args);
        LSP_REQUIRE(args->n <= way->longest(ctx, args) && bytes <= plan->info.scratch_bytes, LSP_ERR_ARGUMENT,
                    "the table of the sort has changed since the plan was made: %lld bytes of scratch are needed, the "
                    "plan has %lld",
                    (long long)bytes, (long long)plan->info.scratch_bytes);
    }
    return run_sort(ctx, args, plan->info.method, plan->scratch);
}
